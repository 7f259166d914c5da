r"""Curves of Hopf bifurcations: states of which a pair of complex growth rates is imaginary.

The linearised equation L of a state is that of all perturbations in one class, :mod:`solvers.circle.waves`, and the
condition is the trace of its restriction to the invariant plane of the pair,

.. math:: h = \tfrac12\operatorname{tr}\bigl((W^TV)^{-1} W^T L V\bigr)/D, \qquad
          dh = \tfrac12\operatorname{tr}\bigl((W^TV)^{-1} W^T\,dL\,V\bigr)/D,

with bases V and W of the plane and of that of the transpose. The changes of L are central differences. The
determinant of the restriction is the square of the frequency, and vanishes where the pair becomes real: there the
curve ends in one of folds or of branch points.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from meanfield import InvalidInput

from ..bases import EPS, Basis, Floats
from ..branches.continuation import End, Point
from ..equations.law_eigenvalues import rounding_in
from ..execution.computed import computed_once
from .at_place import state_at
from .extended import ExtendedEquation
from .plane import Plane
from .stability import stationary_point
from .starts import Start, first_point, located
from .states import AtState
from .system import Borders, System, followed_by
from .tested import Tests

# Steps of central differences, at which truncation and rounding are alike.
DIFFERENCE = EPS ** (1.0 / 3.0)
# Iterations for the invariant plane.
ITERATIONS = 4
# The pair is renewed where it has moved by this share of its distance from zero, or of the noise.
MOVED = 0.2
# A pair nearer to each other than this share of the distance of the next rate is found together.
CLOSE = 0.1
# Real parts of pairs at starts are rounding up to this, over the noise.
NEUTRAL = 1e-6


class HopfSystem(System):
    """The extended system of Hopf bifurcations at one point.

    Parameters
    ----------
    state
        The stationary equation at the state.
    number
        The number of the class of perturbations.
    near
        A growth rate near that of the pair, over the noise.
    moved
        The state at other unknowns, and x and q.
    """

    def __init__(self, state: AtState, number: int, near: complex, moved: "partial[AtState]") -> None:
        self._number, self._moved = number, moved
        self.matrix, self.degree = linearised(state, number)
        self._planes = invariant_planes(self.matrix, near)
        self.restricted = self._restriction(self.matrix @ self._planes[0])
        super().__init__((state,), followed_by(state.residual, 0.5 * float(np.trace(self.restricted))))

    def _restriction(self, image: Floats) -> Floats:
        """Return the restriction to the plane of the pair of a matrix by the image of its basis."""
        right, left = self._planes
        return np.asarray(np.linalg.solve(left.T @ right, left.T @ image))

    @property
    def square(self) -> float:
        """The square of the frequency over the noise."""
        return float(np.linalg.det(self.restricted)) - 0.25 * float(np.trace(self.restricted)) ** 2

    @property
    def rate(self) -> complex:
        """The growth rate of the pair with a positive imaginary part, over the noise."""
        return complex(0.5 * float(np.trace(self.restricted)), math.sqrt(max(self.square, 0.0)))

    @computed_once
    def derivatives(self) -> tuple[Floats, Floats]:
        """The derivatives of the residual in the unknowns, (size, size), and in q, (size,)."""
        (state,) = self.states
        along_x, along_q = state.slopes
        *in_unknowns, in_x, in_q = self._condition_slopes()
        matrix = np.empty((self.residual.size, self.residual.size), order="F")
        matrix[:-1, :-1], matrix[-1, :-1] = state.matrix, in_unknowns
        matrix[:-1, -1], matrix[-1, -1] = along_x, in_x
        return matrix, followed_by(along_q, in_q)

    def _condition_slopes(self) -> list[float]:
        """Return the derivatives of the condition in the unknowns of the state, x and q."""
        (state,) = self.states
        own, found = np.append(state.unknown, state.place), []
        for unit in np.eye(own.size):
            after, before = (self._image(own + side * DIFFERENCE * unit) for side in (1.0, -1.0))
            change = self._restriction((after - before) / (2.0 * DIFFERENCE))
            found.append(0.5 * float(np.trace(change)))
        return found

    def _image(self, place: Floats) -> Floats:
        """Return the image of the plane of the pair under L at unknowns, x and q beside the state."""
        state = self._moved(place=(float(place[-2]), float(place[-1])), b=place[:-2])
        matrix, _ = linearised(state, self._number, self.degree)
        return np.asarray(matrix @ self._planes[0])

    @property
    def normal(self) -> Floats:
        """The normal in x and q to the null vector of the derivatives, (2,)."""
        along_x, along_q = self.tangent[-2:]
        return np.array([along_q, -along_x])


class HopfEquation(ExtendedEquation):
    """The extended system of Hopf bifurcations.

    Parameters
    ----------
    plane
        The two parameters.
    bases
        The basis of the state.
    number
        The number of the class of perturbations.
    rate
        A growth rate near that of the pair, over the noise.
    """

    kind = "Hopf"

    def __init__(self, plane: Plane, bases: tuple[Basis, ...], number: int, rate: complex) -> None:
        super().__init__(plane, bases)
        self.number, self.rate = number, rate

    def _system(self, states: tuple[AtState, ...], b: Floats) -> HopfSystem:
        (state,) = states
        return HopfSystem(state, self.number, self.rate, partial(state_at, self.plane, self.basis))

    def label(self, names: Sequence[str]) -> str:
        """Return the name of the curve of Hopf bifurcations of a branch."""
        return f"Hopf of the {names[0]}"

    @property
    def tests(self) -> Tests:
        """The square of the frequency, which vanishes where the pair becomes real."""
        return {("Bogdanov-Takens", None): self._square}

    def _square(self, point: Point) -> float:
        found = self.system(point.unknowns_on(self)[0], point.q)
        assert isinstance(found, HopfSystem)
        return found.square

    def _borders_fit(self, found: System) -> bool:
        """Return whether the pair is near that by which it is looked for."""
        assert isinstance(found, HopfSystem)
        return abs(found.rate - self.rate) <= MOVED * max(1.0, abs(self.rate))

    def in_bases(self, bases: tuple[Basis, ...]) -> "HopfEquation":
        """Return the same system with another basis of the state."""
        return HopfEquation(self.plane, bases, self.number, self.rate)

    def bordered_by(self, found: System) -> "HopfEquation":
        """Return the same system with the pair at a point."""
        assert isinstance(found, HopfSystem)
        return HopfEquation(self.plane, self.bases, self.number, found.rate)


def linearised(state: AtState, number: int, degree: int | None = None) -> tuple[Floats, int]:
    """Return the linearised equation over the noise at a state in a class of perturbations, and its degree."""
    point = stationary_point(state, state.coefficients.place.problem)
    found = point.equation.densities.growth_matrices(point, degree)[number]
    return found.matrix / point.equation.problem.positive_noise, found.degree


def invariant_planes(matrix: Floats, near: complex) -> Borders:
    """Return bases of the invariant plane of a pair of eigenvalues near one, and of that of the transpose."""
    values = np.linalg.eigvals(matrix)
    one = int(np.argmin(np.abs(values - near)))
    distances = np.abs(values - values[one].conjugate())
    distances[one] = np.inf
    other = int(np.argmin(distances))
    rest = np.delete(values, [one, other])
    mean, apart = 0.5 * (values[one] + values[other]), abs(values[one] - values[other])
    if apart <= CLOSE * float(np.abs(rest - mean).min()):
        start = np.eye(len(matrix), 2) + 1.0 / (1.0 + np.arange(2 * len(matrix)).reshape(-1, 2))
        return _inverse_iteration(matrix, float(mean.real), start, 3 * ITERATIONS)
    start = 1.0 + np.eye(len(matrix), 1)
    if values[one].imag == 0.0:
        # Real rates have an eigenvector each.
        pairs = [_inverse_iteration(matrix, float(values[at].real), start, ITERATIONS) for at in (one, other)]
        right, left = (np.linalg.qr(np.column_stack(each))[0] for each in zip(*pairs, strict=True))
        return right, left
    found = _inverse_iteration(matrix, complex(values[one]), start.astype(complex), ITERATIONS)
    right, left = (np.linalg.qr(np.column_stack([each.real, each.imag]))[0] for each in found)
    return right, left


def _inverse_iteration(
    matrix: Floats, value: complex, start: npt.NDArray[Any], iterations: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return bases of the invariant space of the eigenvalues nearest to a value, and of that of the transpose."""
    shifted = matrix - (value + rounding_in(matrix)) * np.eye(len(matrix))
    factors = scipy.linalg.lu_factor(shifted, check_finite=False)
    right = left = start
    for _ in range(iterations):
        right = np.linalg.qr(scipy.linalg.lu_solve(factors, right, check_finite=False))[0]
        left = np.linalg.qr(scipy.linalg.lu_solve(factors, left, trans=1, check_finite=False))[0]
    return right, left


def hopf_start(start: Start, plane: Plane) -> Point | End:
    """Return the first point of the curve of Hopf bifurcations through a start.

    Raises
    ------
    InvalidInput
        If no pair of complex growth rates of the state is imaginary.
    """
    place, basis, b = located(start, plane, start.first)
    point = stationary_point(state_at(plane, basis, place, b), start.problem)
    nearest: tuple[float, int, complex] | None = None
    for number, found in enumerate(point.equation.densities.growth_matrices(point)):
        matrix = found.matrix / point.equation.problem.positive_noise
        rates = np.linalg.eigvals(matrix)
        for rate in rates[rates.imag > math.sqrt(rounding_in(matrix))]:
            if nearest is None or abs(rate.real) < nearest[0]:
                nearest = abs(float(rate.real)), number, complex(rate)
    if nearest is None or nearest[0] > NEUTRAL:
        raise InvalidInput("no pair of complex growth rates is imaginary at the start, so no such curve passes it")
    _, number, rate = nearest
    return first_point(HopfEquation(plane, (basis,), number, rate), np.append(b, place[0]), place[1])
