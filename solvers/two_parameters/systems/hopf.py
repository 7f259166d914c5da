r"""Curves of Hopf bifurcations: states of which a pair of complex growth rates is imaginary.

The linearised equation L of a state is that of all perturbations in one class, :mod:`solvers.circle.waves`, and the
condition is the trace of its restriction to the plane of the pair, :mod:`solvers.linear_algebra.invariant_planes`,

.. math:: h = \tfrac12\operatorname{tr}\bigl((W^TV)^{-1} W^T L V\bigr)/D, \qquad
          dh = \tfrac12\operatorname{tr}\bigl((W^TV)^{-1} W^T\,dL\,V\bigr)/D,

with bases V and W of the plane and of that of the transpose. The changes of L are central differences. The
determinant of the restriction is the square of the frequency, and vanishes where the pair becomes real: there the
curve ends in one of folds or of branch points. Its equations are regular there, and beyond they hold of two real
rates of opposite signs, so that curves can begin there, on the side on which the square grows.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from meanfield import InvalidInput

from ...bases import EPS, Basis, Floats
from ...branches.continuation import End, Point
from ...equations.law_eigenvalues import rounding_in
from ...execution.computed import computed_once
from ...linear_algebra.invariant_planes import half_trace, invariant_plane, square_of_frequency, upper_eigenvalue
from ...root_finding.newton import POLISHED, correct
from ..in_plane.at_place import state_at
from ..in_plane.plane import Plane
from ..in_plane.stability import stationary_point
from ..in_plane.states import AtState
from .arc import moved_by, strayed_by
from .extended import ExtendedEquation
from .starts import MOVED, Start, first_point, located
from .system import ConditionedSystem, System, followed_by
from .tested import DOUBLE_RATE, Tests

# Steps of central differences, at which truncation and rounding are alike.
DIFFERENCE = EPS ** (1.0 / 3.0)
# The pair is renewed where it has moved by this share of its distance from zero, or of the noise.
PAIR_MOVED = 0.2
# Real parts of pairs at starts are rounding up to this, over the noise.
NEUTRAL = 1e-6
# Steps of Newton's method along a curve to where it ends.
POLISHINGS = 8


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

    def square_along(self, direction: Floats) -> float:
        """Return the derivative of the square of the frequency along a direction in the unknowns, x and q.

        That of the determinant of the restriction R is tr(adj(R) dR).
        """
        restricted = self._restricted
        change = self._change(direction)
        adjugate = np.trace(restricted) * np.eye(2) - restricted
        return float(np.trace(adjugate @ change)) - 2.0 * half_trace(restricted) * half_trace(change)

    @computed_once
    def condition_slopes(self) -> tuple[Floats, Floats]:
        """The derivatives of the condition in the unknowns of the state, and in x and q."""
        (state,) = self.states
        size = state.unknown.size + len(state.place)
        found = np.array([half_trace(self._change(unit)) for unit in np.eye(size)])
        return found[:-2], found[-2:]

    def _change(self, direction: Floats) -> Floats:
        """Return the derivative of the restriction of L to the plane of the pair along a direction, (2, 2)."""
        (state,) = self.states
        own = np.append(state.unknown, state.place)
        after, before = (self._image(own + side * DIFFERENCE * direction) for side in (1.0, -1.0))
        return self._pair.restriction((after - before) / (2.0 * DIFFERENCE))

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
        return abs(found.rate - self.rate) <= PAIR_MOVED * max(1.0, abs(self.rate))

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


def _matrices(point: Point) -> list[Floats]:
    """Return the linearised equation over the noise at a state in all classes of perturbations."""
    noise = point.equation.problem.positive_noise
    return [found.matrix / noise for found in point.equation.densities.growth_matrices(point)]


def hopf_start(start: Start, plane: Plane) -> Point | End:
    """Return the first point of the curve of Hopf bifurcations through a start, or that ends at it.

    Raises
    ------
    InvalidInput
        If no pair of complex growth rates of the state is imaginary, and none vanishes at a Bogdanov-Takens point.
    """
    place, basis, b = located(start, plane, start.first)
    point = stationary_point(state_at(plane, basis, place, b), start.problem)
    if start.organising == "Bogdanov-Takens":
        return _double_start(point, plane, basis, np.append(b, place[0]), place[1])
    nearest: tuple[float, int, complex] | None = None
    for number, matrix in enumerate(_matrices(point)):
        rates = np.linalg.eigvals(matrix)
        for rate in rates[rates.imag > math.sqrt(rounding_in(matrix))]:
            if nearest is None or abs(rate.real) < nearest[0]:
                nearest = abs(float(rate.real)), number, complex(rate)
    if nearest is None or nearest[0] > NEUTRAL:
        raise InvalidInput("no pair of complex growth rates is imaginary at the start, so no such curve passes it")
    _, number, rate = nearest
    return first_point(HopfEquation(plane, (basis,), number, rate), np.append(b, place[0]), place[1])


def _double_start(point: Point, plane: Plane, basis: Basis, b: Floats, q: float) -> Point | End:
    """Return the point at which a curve ends, from a place beside it with a state of two growth rates near zero.

    On a curve of folds or branch points it was located to the rounding of that one.
    """
    # A class may have fewer than two.
    sizes = [np.sort([*np.abs(np.linalg.eigvals(matrix)), np.inf, np.inf])[1] for matrix in _matrices(point)]
    number = int(np.argmin(sizes))
    # Two rates with a small product are known to its root.
    if not sizes[number] <= math.sqrt(NEUTRAL):
        raise InvalidInput("no second growth rate vanishes at the start, so that no curve ends there")
    first = first_point(HopfEquation(plane, (basis,), number, 0.0), b, q)
    return first if isinstance(first, End) else _polished(first)


def _polished(point: Point) -> Point:
    """Return the point at which the square of the frequency vanishes, by Newton's method along the curve.

    Raises
    ------
    InvalidInput
        If it leads elsewhere.
    """
    for _ in range(POLISHINGS):
        square, slope = _square_and_slope(point)
        step = -square / slope if slope else math.inf
        found = _beside(point, step) if abs(step) <= MOVED else None
        if found is None:
            raise InvalidInput("no curve of Hopf bifurcations was found to end at the start")
        if abs(_square_and_slope(found)[0]) >= abs(square):
            # It is rounding.
            return point
        point = found
    return point


def _beside(point: Point, distance: float) -> Point | None:
    """Return the point at a distance along the tangent of another, with its arclength; None if none is found."""
    solution = point.solution
    b, q = solution.b + distance * solution.tangent_b, solution.q + distance * solution.tangent_q
    found = correct(point.equation, b, q, solution.tangent_b, solution.tangent_q, POLISHED)
    if found is None:
        return None
    return Point(point.equation, found, point.arclength).oriented(solution.tangent_b, solution.tangent_q)


def _square_and_slope(point: Point) -> tuple[float, float]:
    """Return the square of the frequency at a point, and its derivative along the tangent."""
    equation, solution = point.equation, point.solution
    assert isinstance(equation, HopfEquation)
    found = equation.system(solution.b, solution.q)
    assert isinstance(found, HopfSystem)
    return found.square, found.square_along(np.append(solution.tangent_b, solution.tangent_q))


def ends_along(point: Point) -> bool:
    """Return whether a curve ends at a point of a double rate towards its tangent, where the pair is real."""
    return _square_and_slope(point)[1] < 0.0


def double_error(point: Point) -> tuple[float, float]:
    """Return how well x and q are known of the point of a curve at which it ends.

    Rounding moves it across the curve, and along by what that changes the square of the frequency by.
    """
    shift, shift_q = strayed_by(point)
    square, slope = _square_and_slope(point)
    changed, _ = _square_and_slope(moved_by(point, shift, shift_q))
    along = (abs(square) + abs(changed - square)) / abs(slope)
    solution = point.solution
    in_x, in_q = along * abs(float(solution.tangent_b[-1])), along * abs(solution.tangent_q)
    return abs(float(shift[-1])) + in_x, abs(shift_q) + in_q
