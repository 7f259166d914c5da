"""Parts of the threshold of a degree, on which organising points beside the end of a curve are looked for."""

from typing import NamedTuple, Protocol

import numpy as np

from meanfield import Equation, InvalidInput, Number, critical_couplings
from meanfield.equations import at_uniform
from meanfield.theory import UniformPoint

from ...bases import EPS, Floats
from ...branches.continuation import Point
from ...root_finding.newton import POLISHED, correct
from ..following.knots import Event, Knot
from ..in_plane.plane import COUPLING, Plane

# Roundings of a place on a threshold.
ROUNDINGS = 16


class UniformEnd(NamedTuple):
    """An organising point of the uniform state at which a curve ends.

    Attributes
    ----------
    type, modes
        Its type, and the modes that are critical there.
    problem, values
        The equation there, and the two parameters.
    bounds : (float, float)
        An interval of the first parameter that contains it.
    tangent : (2,) float or None
        The direction of the threshold, which is that of curves at its tricritical points; None if it is not needed.
    """

    type: str
    modes: tuple[int, ...]
    problem: Equation
    values: tuple[Number, Number]
    bounds: tuple[float, float]
    tangent: Floats | None = None


class ThresholdPart(Protocol):
    """Protocol of a part of a threshold.

    Attributes
    ----------
    around : (float, float)
        The interval of the number that counts its places.
    """

    around: tuple[float, float]

    def problem(self, place: float) -> Equation:
        """Return the equation at a place.

        Raises
        ------
        InvalidInput
            If there is none.
        """

    def end(self, kind: str, place: float, slope: float) -> UniformEnd:
        """Return the organising point at the root of a function, of size one, that changes by a slope."""


class InCoupling:
    """The threshold where the coupling is one of the two parameters: its places are values of the other one."""

    def __init__(self, plane: Plane, degree: int, around: tuple[float, float]) -> None:
        self._plane, self._degree, self.around = plane, degree, around

    def problem(self, place: float) -> Equation:
        """Return the equation at a value of the parameter, at any coupling."""
        return self._plane.problem.with_parameter(self._plane.other, place)

    def end(self, kind: str, place: float, slope: float) -> UniformEnd:
        """Return the organising point at a root."""
        error = _error(place, slope)
        coupling = critical_couplings(self.problem(place), self._degree)[self._degree]
        return self.of_closed_form(
            UniformPoint(kind, (self._degree,), place, place - error, place + error, coupling)
        )

    def of_closed_form(self, point: UniformPoint) -> UniformEnd:
        """Return an organising point of the uniform branch as the end of a curve."""
        plane = self._plane
        problem = plane.problem.keeping_parameter(plane.other, point.value).at(coupling=point.coupling)
        by_name = {plane.other: point.value, COUPLING: point.coupling}
        first, second = (by_name[name] for name in plane.names)
        lower, upper = point.lower, point.upper
        slope = _threshold_slope(problem, plane.other, self._degree)
        if plane.names[0] != plane.other:
            spread = abs(slope) * (upper - lower) + plane.rounding(float(first))
            lower, upper = float(first) - spread, float(first) + spread
        tangent = np.array((1.0, slope) if plane.names[0] == plane.other else (slope, 1.0))
        return UniformEnd(point.type, point.modes, problem, (first, second), (lower, upper), tangent)


class AtOneCoupling:
    """The threshold where neither parameter is the coupling: its places are lengths along the tangent at a point.

    Parameters
    ----------
    start
        The point, on the curve of the threshold.
    degree
        The degree.
    reach
        The length to both sides.
    """

    def __init__(self, start: Point, degree: int, reach: float) -> None:
        self._start, self._degree, self.around = start, degree, (-reach, reach)

    def problem(self, place: float) -> Equation:
        """Return the equation at a length."""
        return self._knot(place).place.problem

    def end(self, kind: str, place: float, slope: float) -> UniformEnd:
        """Return the organising point at a root."""
        error = _error(place, slope)
        return of_knot(self._knot(place, Event(kind, error=(error, error))), (self._degree,))

    def _knot(self, place: float, event: Event | None = None) -> Knot:
        solution = self._start.solution
        along, along_q = solution.tangent_b, solution.tangent_q
        b, q = self._start.b + place * along, self._start.q + place * along_q
        found = correct(self._start.equation, b, q, along, along_q, POLISHED)
        if found is None:
            raise InvalidInput(f"the threshold of degree {self._degree} has no point there")
        point = Point(self._start.equation, found, self._start.arclength + place)
        return Knot.at(point.oriented(along, along_q), event)


def of_knot(knot: Knot, modes: tuple[int, ...]) -> UniformEnd:
    """Return a point located on a threshold as the end of a curve, with the modes that are critical there."""
    assert knot.event is not None
    place, tangent = knot.place, np.array(knot.row.tangent)
    return UniformEnd(knot.event.type, modes, place.problem, place.values, knot.bounds, tangent)


def _error(place: float, slope: float) -> float:
    """Return how well the root of a function of size one is known at a place."""
    return ROUNDINGS * EPS * (1.0 / slope + abs(place))


def _threshold_slope(problem: Equation, parameter: str, degree: int) -> float:
    """Return the derivative of the critical coupling of a degree in another parameter of a problem at it."""
    interaction = at_uniform(problem)
    strengths = interaction.strength_derivatives(parameter, degree)
    return float(-strengths[degree] / interaction.strength_derivatives(COUPLING, degree)[degree])
