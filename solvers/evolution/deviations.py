r"""The equation in time for the deviation from a stationary state, accurate relative to the deviation.

A system :math:`y' = Ly + N(y)` of moments has a quadratic N. About its stationary point Y, with
:math:`y = Y + \epsilon x`,

.. math::

    x' = Lx + A x + \epsilon\, Q(x), \qquad
    A x = \tfrac12[N(Y + x) - N(Y - x)], \quad Q(x) = \tfrac12[N(Y + x) + N(Y - x)] - N(Y),

without an error, since N is quadratic. Taken at x of size one and scaled, both are as accurate relative to x as N
itself is, and x = 0 is stationary exactly.
"""

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from meanfield import ComputationFailed

from ..bases import EPS, Floats, resolved
from ..bases.base import RESOLUTION_TOLERANCE
from .march import March, needed_degree
from .system import System

Complexes = NDArray[np.complex128]

# Unknowns of a state up to which the exponential of a dense matrix is affordable, and of the deviations from it;
# about the seconds it takes over the cube.
AFFORDABLE, LARGEST = 1536, 2048
EXPONENTIAL = 2e-9
# Parts of a matrix that are worth keeping apart, at most.
MOST_PARTS = 16
# Steps in each interval of a path, one if it is a coarser one. No power of two: exponentials by repeated squaring
# would have the same errors.
FINER = 3
# The tolerance of a coarser path over that of another, where it is adapted.
COARSER = 10.0


class DeviationSystem(System):
    """Deviations from a stationary state; the attributes are those of the system.

    Parameters
    ----------
    system
        The system of the densities; its smallest symmetry, since a deviation need not have that of the state.
    cosine, sine
        Moments of the stationary state, in the layout of the system.
    scale
        Epsilon, the size of deviations of size one.
    """

    def __init__(self, system: System, cosine: Floats, sine: Floats, scale: float) -> None:
        self.system, self.cosine, self.sine, self.scale = system, cosine, sine, scale
        self.problem, self.degree, self.size = system.problem, system.degree, system.size
        self.symmetry, self.even, self.largest = system.symmetry, system.even, system.largest
        self.multistep, self.weights = system.multistep, system.weights
        self.unit, self.linear = system.unit, system.linear
        self.point = system.pack(cosine, sine)
        self._rest = system.nonlinear(self.point)

    def nonlinear(self, unknown: Floats) -> Floats:
        """Return the part of the derivative linear in the deviation and not diagonal, plus the quadratic part."""
        size = float(np.abs(unknown).max())
        if size == 0.0:
            return np.zeros_like(unknown)
        unit = unknown / size
        ahead, behind = self.system.nonlinear(self.point + unit), self.system.nonlinear(self.point - unit)
        curved = 0.5 * (ahead + behind) - self._rest
        return np.asarray(size * (0.5 * (ahead - behind) + self.scale * size * curved))

    def jacobian(self, time: float, unknown: Floats) -> Floats:
        """Return the Jacobian of the derivative in the unknowns."""
        return self.system.jacobian(time, self.point + self.scale * unknown)

    def pack(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the unknowns of a deviation from its moments, truncated at K."""
        return self.system.pack(cosine, sine)

    def unpack(self, unknowns: Floats) -> tuple[Floats, Floats]:
        """Return cosine and sine moments of a deviation, which has no mass, from its unknowns."""
        cosine, sine = self.system.unpack(unknowns)
        cosine[..., 0] = 0.0
        return cosine, sine

    def tail(self, unknown: Floats) -> float:
        """Return the largest modulus of the last eighth of the moments."""
        return self.system.tail(unknown)

    def sizes(self, unknown: Floats) -> Floats:
        """Return the size of the moments of each cell, (K,)."""
        return self.system.sizes(unknown)

    def beyond(self, unknown: Floats, share: float) -> Floats:
        """Return the unknowns of the cells beyond a share of K."""
        return self.system.beyond(unknown, share)

    def costs(self, duration: float) -> tuple[float, float]:
        """Return estimates of the seconds that LSODA and exponential formulas take for a duration."""
        multistep, exponential = self.system.costs(duration)
        return 2.0 * multistep, 2.0 * exponential

    def resized(self, degree: int) -> "DeviationSystem":
        """Return the same system with another K."""
        return DeviationSystem(self.system.resized(degree), self.cosine, self.sine, self.scale)


class DeviationPaths:
    r"""Paths of deviations from one stationary state, accurate relative to their size.

    Where a dense matrix is affordable, the exponential of :math:`J = L + A` takes the path forward, and the part of
    the derivative f(x) of the deviation beside Jx is added in the middle of a step: with
    :math:`E = e^{hJ/2}`,

    .. math:: x(t+h) = E\,\bigl(\bar x + h\,[f(\bar x) - J\bar x]\bigr), \qquad \bar x = E\,x(t).

    The error of a step is of third order in h and in proportion to what it adds: quadratic terms and rounding. More
    unknowns are followed by exponential formulas with L alone.

    Parameters
    ----------
    system
        The system of the densities; its smallest symmetry, as for :class:`DeviationSystem`.
    target : complex
        Moments of the state, cosine minus i sine, in the layout of the system.
    tolerance : float
        Local accuracy relative to the deviation, where the step is adapted to it.
    """

    def __init__(self, system: System, target: Complexes, tolerance: float) -> None:
        self._system, self._tolerance = system, tolerance
        self._dense = system.multistep and system.size <= AFFORDABLE
        self._cosine, self._sine = target.real.copy(), -target.imag
        self._propagator: Propagator | None = None
        # A rotation of the state by a small angle is its derivative, resolved so much worse than the state.
        last = np.abs(target[1:][-(target.size // 8 + 1) :]).max(initial=0.0)
        self._tail = max(RESOLUTION_TOLERANCE, 2.0 * target.size * float(last))

    def __call__(self, start: Complexes, degree: int, times: Floats, coarser: bool = False) -> list[Complexes]:
        """Return the deviations at times, the first of which is the start.

        Parameters
        ----------
        start : complex
            Moments of the first deviation, in the layout of the state.
        degree
            Its largest degree.
        times : (T,) float
            Equal intervals from zero.
        coarser
            Whether to make larger errors, to be estimated by comparison with a path without them.

        Raises
        ------
        ComputationFailed
            If they need more moments than are affordable, while the state did not.
        """
        size = float(np.abs(start).max())
        cosine, sine = start.real / size, -start.imag / size
        system = self._system if degree <= self._system.degree else self._system.resized(degree)
        if not self._dense:
            whole = DeviationSystem(system, self._cosine, self._sine, size)
            tolerance = COARSER * self._tolerance if coarser else self._tolerance
            march = March(whole, 0.0, whole.pack(cosine, sine), float(times[-1]), None, tolerance)
            followed = ((march.to(float(time)), march.system) for time in times[1:])
            return [start, *(size * _moments(grown, unknown) for unknown, grown in followed)]
        while system.size <= LARGEST:
            self._system, whole = system, DeviationSystem(system, self._cosine, self._sine, size)
            path = self._propagated(whole, whole.pack(cosine, sine), times, coarser)
            unresolved = next((unknown for unknown in path[1:] if not resolved(whole, unknown, self._tail)), None)
            if unresolved is None:
                return [start, *(size * _moments(whole, unknown) for unknown in path[1:])]
            system = system.resized(needed_degree(system, unresolved, self._tail))
        raise ComputationFailed(f"what is left of a perturbation needs about {system.degree} moments")

    @property
    def rounding(self) -> float:
        """Error of rates by rounding: eps times the fastest, as of the eigenvalues of the matrix."""
        return EPS * float(np.abs(self._system.linear).max())

    def seconds(self, duration: float) -> float:
        """Return an estimate of the seconds that a path takes for a duration."""
        system = self._system
        return EXPONENTIAL * system.size**3 if self._dense else min(system.costs(duration))

    def _propagated(self, whole: DeviationSystem, unknown: Floats, times: Floats, coarser: bool) -> list[Floats]:
        propagator = self._propagator
        if propagator is None or propagator.size != whole.size:
            self._propagator = propagator = Propagator(whole.system.jacobian(0.0, whole.point))
        parts = 1 if coarser else FINER
        step, path = float(times[1] - times[0]) / parts, [unknown]
        for _ in times[1:]:
            for _ in range(parts):
                middle = propagator.forward(0.5 * step, unknown)
                beside = whole.derivative(0.0, middle) - propagator.derivative(middle)
                unknown = propagator.forward(0.5 * step, middle + step * beside)
            path.append(unknown)
        return path


class Propagator:
    """A Jacobian and its exponentials, each computed once, separately for unknowns that are not coupled.

    Parameters
    ----------
    matrix : (n, n) float
        The matrix.
    """

    def __init__(self, matrix: Floats) -> None:
        count, labels = connected_components(matrix != 0.0, directed=False)
        if count > MOST_PARTS:
            count, labels = 1, np.zeros_like(labels)
        self.size = len(matrix)
        self._places = [np.flatnonzero(labels == label) for label in range(count)]
        self._parts = [matrix[np.ix_(places, places)] for places in self._places]
        self._exponentials: dict[float, list[Floats]] = {}

    def derivative(self, unknown: Floats) -> Floats:
        """Return the Jacobian times the unknowns."""
        return self._product(self._parts, unknown)

    def forward(self, time: float, unknown: Floats) -> Floats:
        """Return the unknowns after a time under the linear equation, by the exponential."""
        if time not in self._exponentials:
            self._exponentials[time] = [scipy.linalg.expm(time * part) for part in self._parts]
        return self._product(self._exponentials[time], unknown)

    def _product(self, parts: list[Floats], unknown: Floats) -> Floats:
        result = np.empty(self.size)
        for places, part in zip(self._places, parts, strict=True):
            result[places] = part @ unknown[places]
        return result


def _moments(system: System, unknown: Floats) -> Complexes:
    cosine, sine = system.unpack(unknown)
    return np.asarray(cosine - 1j * sine, dtype=complex)
