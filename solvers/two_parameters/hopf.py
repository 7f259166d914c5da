r"""Curves of Hopf bifurcations: states of which a pair of complex growth rates is imaginary.

The linearised equation L of a state is that of all perturbations in one class, :mod:`solvers.circle.waves`, and the
condition is the trace of its restriction to the plane of the pair, :mod:`solvers.linear_algebra.invariant_planes`,

.. math:: h = \tfrac12\operatorname{tr}\bigl((W^TV)^{-1} W^T L V\bigr)/D, \qquad
          dh = \tfrac12\operatorname{tr}\bigl((W^TV)^{-1} W^T\,dL\,V\bigr)/D,

with bases V and W of the plane and of that of the transpose. The changes of L are central differences. The
determinant of the restriction is the square of the frequency, and vanishes where the pair becomes real: there the
curve ends in one of folds or of branch points.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from meanfield import InvalidInput

from ..bases import EPS, Basis, Floats
from ..branches.continuation import End, Point
from ..equations.law_eigenvalues import rounding_in
from ..execution.computed import computed_once
from ..linear_algebra.invariant_planes import half_trace, invariant_plane, square_of_frequency, upper_eigenvalue
from .at_place import state_at
from .extended import ExtendedEquation
from .plane import Plane
from .stability import stationary_point
from .starts import Start, first_point, located
from .states import AtState
from .system import ConditionedSystem, System, followed_by
from .tested import DOUBLE_RATE, Tests

# Steps of central differences, at which truncation and rounding are alike.
DIFFERENCE = EPS ** (1.0 / 3.0)
# The pair is renewed where it has moved by this share of its distance from zero, or of the noise.
MOVED = 0.2
# Real parts of pairs at starts are rounding up to this, over the noise.
NEUTRAL = 1e-6


class HopfSystem(ConditionedSystem):
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

    def __init__(self, state: AtState, number: int, near: complex, moved: Callable[..., AtState]) -> None:
        self._number, self._moved = number, moved
        matrix, self._degree = linearised(state, number)
        self._pair = invariant_plane(matrix, np.linalg.eigvals(matrix), near)
        self._restricted = self._pair.restriction(matrix @ self._pair.right)
        super().__init__((state,), followed_by(state.residual, half_trace(self._restricted)))

    @property
    def square(self) -> float:
        """The square of the frequency over the noise."""
        return square_of_frequency(self._restricted)

    @property
    def rate(self) -> complex:
        """The growth rate of the pair with a positive imaginary part, over the noise."""
        return upper_eigenvalue(self._restricted)

    @computed_once
    def condition_slopes(self) -> tuple[Floats, Floats]:
        """The derivatives of the condition in the unknowns of the state, and in x and q."""
        (state,) = self.states
        own, found = np.append(state.unknown, state.place), []
        for unit in np.eye(own.size):
            after, before = (self._image(own + side * DIFFERENCE * unit) for side in (1.0, -1.0))
            found.append(half_trace(self._pair.restriction((after - before) / (2.0 * DIFFERENCE))))
        return np.array(found[:-2]), np.array(found[-2:])

    def _image(self, place: Floats) -> Floats:
        """Return the image of the plane of the pair under L at unknowns, x and q beside the state."""
        state = self._moved(place=(float(place[-2]), float(place[-1])), b=place[:-2])
        matrix, _ = linearised(state, self._number, self._degree)
        return np.asarray(matrix @ self._pair.right)


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
        return {DOUBLE_RATE: self._square}

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
