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
from numpy.typing import NDArray

from ..bases import Floats
from .march import March
from .multistep import LSODA
from .system import System

Complexes = NDArray[np.complex128]

# Unknowns up to which multistep formulas are the faster ones at the small tolerances of deviations.
AFFORDABLE = 512


class DeviationSystem:
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
        self.noise, self.linear = system.noise, system.linear
        self.point = system.pack(cosine, sine)
        self._rest = system.nonlinear(self.point)

    def nonlinear(self, unknown: Floats) -> Floats:
        """Return the part linear in the deviation that is not diagonal, and the quadratic one."""
        size = float(np.abs(unknown).max())
        if size == 0.0:
            return np.zeros_like(unknown)
        unit = unknown / size
        ahead, behind = self.system.nonlinear(self.point + unit), self.system.nonlinear(self.point - unit)
        curved = 0.5 * (ahead + behind) - self._rest
        return np.asarray(size * (0.5 * (ahead - behind) + self.scale * size * curved))

    def derivative(self, time: float, unknown: Floats) -> Floats:
        """Return the time derivative of the deviation."""
        return self.nonlinear(unknown) + self.linear * unknown

    def jacobian(self, time: float, unknown: Floats) -> Floats:
        """Return its matrix of partial derivatives."""
        return self.system.jacobian(time, self.point + self.scale * unknown)

    def pack(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the unknowns of a deviation with these moments, those beyond K left out."""
        return self.system.pack(cosine, sine)

    def unpack(self, unknowns: Floats) -> tuple[Floats, Floats]:
        """Return the moments of a deviation, which has no mass."""
        cosine, sine = self.system.unpack(unknowns)
        cosine[..., 0] = 0.0
        return cosine, sine

    def tail(self, unknown: Floats) -> float:
        """Return the largest of the last eighth of the moments."""
        return self.system.tail(unknown)

    def sizes(self, unknown: Floats) -> Floats:
        """Return the size of the moments of each cell."""
        return self.system.sizes(unknown)

    def beyond(self, unknown: Floats, share: float) -> Floats:
        """Return the unknowns of the cells beyond a share of all."""
        return self.system.beyond(unknown, share)

    def costs(self, duration: float) -> tuple[float, float]:
        """Estimate the seconds that LSODA and exponential formulas take for a time."""
        multistep, exponential = self.system.costs(duration)
        return 2.0 * multistep, 2.0 * exponential

    def resized(self, degree: int) -> "DeviationSystem":
        """Return the same system with another K."""
        return DeviationSystem(self.system.resized(degree), self.cosine, self.sine, self.scale)


def deviations(
    system: System, target: Complexes, start: Complexes, times: Floats, tolerance: float
) -> list[Complexes]:
    """Return the deviations from a state at times that begin with the start, accurate relative to their size.

    Parameters
    ----------
    system
        The system of the densities; its smallest symmetry, as for :class:`DeviationSystem`.
    target, start : complex
        Moments of the state and of the first deviation, cosine minus i sine, in the layout of the system.
    times : (T,) float
        Increasing times.
    tolerance : float
        Accuracy relative to the deviation.
    """
    size = float(np.abs(start).max())
    whole = DeviationSystem(system, target.real.copy(), -target.imag, size)
    method = LSODA() if whole.multistep and whole.size <= AFFORDABLE else None
    unknown = whole.pack(start.real / size, -start.imag / size)
    march = March(whole, 0.0, unknown, float(times[-1]), method, tolerance)
    path = [start]
    for instant in times[1:]:
        unknown = march.to(float(instant)).copy()
        cosine, sine = march.system.unpack(unknown)
        path.append(np.asarray(size * (cosine - 1j * sine), dtype=complex))
    return path
