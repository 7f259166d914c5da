"""Points of followed curves with their rows in records, and the sides of a curve that consist of them."""

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np

from meanfield import Outcome

from ...bases import EPS
from ...branches.continuation import Point
from ..in_plane.coefficients import Place
from ..systems.arc import ROUNDINGS, strayed_by
from ..systems.extended import ExtendedEquation, Halving
from ..systems.recording import Row, row_of
from ..systems.tested import Margins

# The first parameter is the same at several points to this share of the ends of its interval.
SAME_VALUE = 1e-12
# Where it is not known so well, as where states are small, it is looked how well it is, up to this.
BLURRED_VALUE = 1e-7


@dataclass(slots=True)
class Event:
    """A located point of a curve: its type, ``end`` at the end of the interval, and how well x and q are known.

    ``mode`` is the degree that becomes critical at it beside that of the curve, and ``singular`` tells whether
    Newton's method finds no point there.
    """

    type: str
    error: tuple[float, float] = (0.0, 0.0)
    mode: int | None = None
    singular: bool = False


@dataclass(slots=True)
class Knot:
    """A point of a followed curve, its place in the plane, its row in the record, and what it is.

    ``tests`` are the values of the functions that vanish at organising points.
    """

    point: Point
    place: Place
    row: Row
    tests: dict[tuple[str, Hashable], float]
    event: Event | None = None
    known_margins: Margins = field(default_factory=dict)

    @classmethod
    def at(cls, point: Point, event: Event | None = None) -> "Knot":
        """Return the knot of a point, whose system Newton's method has just left."""
        equation = extended(point)
        system = equation.system(point.b, point.q)
        place = system.place
        tests = {each: function(point) for each, function in equation.tests.items()}
        row = row_of(point, system)
        tolerance = rounding_at(point, place) + abs(row.values[0] - float(place.values[0]))
        for end in equation.plane.interval:
            # The coordinates leave a rounding.
            if abs(row.values[0] - end) <= tolerance:
                row.values = end, row.values[1]
        return cls(point, place, row, tests, event)

    @property
    def margins(self) -> Margins:
        """Those of the equation at the point."""
        if not self.known_margins:
            self.known_margins = extended(self.point).margins(self.point)
        return self.known_margins

    @property
    def bounds(self) -> tuple[float, float]:
        """An interval of the first parameter that contains a located point."""
        assert self.event is not None
        value = float(self.place.values[0])
        spread = self.first_within(*self.event.error) + extended(self.point).plane.rounding(value)
        return value - spread, value + spread

    def first_within(self, in_x: float, in_q: float) -> float:
        """Return by how much the first parameter changes with x and q at the most, known to errors."""
        slopes = np.abs(self.place.slopes[0])
        return float(slopes @ np.abs([in_x, in_q]))


@dataclass(slots=True)
class Side:
    """One direction of a followed curve: the knots from the start on, and how it ended.

    ``arrival`` is the critical degree where it met the uniform state beyond the last knot; ``merged`` says that its
    two states become one there, ``halved`` names that which becomes one with an image of it;
    ``beyond`` is the point behind, and ``approach`` the last two points on the way there, if that was followed
    nearer than the last step leaves it. ``cut`` says that it left the interval at a point that was not found.
    ``untold`` has knots between which rounding decides the sign of a test, and ``changing`` pairs between which the
    number of unstable directions changes at a point that is not located.
    """

    knots: list[Knot]
    outcome: Outcome = Outcome.MAX_STEPS
    arrival: int | None = None
    merged: bool = False
    halved: Halving | None = None
    beyond: Point | None = None
    approach: tuple[Point, Point] | None = None
    cut: bool = False
    warnings: list[str] = field(default_factory=list)
    untold: dict[str, list[Knot]] = field(default_factory=dict)
    changing: list[Knot] = field(default_factory=list)


def rounding_at(point: Point, place: Place) -> float:
    """Return how well the first parameter of a point is known: to roundings of it and of the unknowns."""
    in_x, in_q = np.abs(place.slopes[0])
    largest = max(map(abs, extended(point).plane.interval))
    return float(ROUNDINGS * EPS * max(largest, in_x * max(1.0, abs(point.b[-1])), in_q * max(1.0, point.q)))


def extended(point: Point) -> ExtendedEquation:
    """Return the extended system of a point."""
    equation = point.equation
    assert isinstance(equation, ExtendedEquation)
    return equation


def vertical(knots: list[Knot]) -> bool:
    """Return whether the first parameter is the same at all points, as well as it is known there."""
    values = np.array([knot.place.values[0] for knot in knots])
    low, high = extended(knots[0].point).plane.interval
    spread, largest = float(np.ptp(values)), max(abs(low), abs(high))
    if spread <= SAME_VALUE * largest:
        return True
    if spread > BLURRED_VALUE * largest:
        return False
    strayed = [(knot, *strayed_by(knot.point)) for knot in knots]
    return spread <= 2.0 * max(knot.first_within(float(shift[-1]), in_q) for knot, shift, in_q in strayed)


def between(last: Knot, knot: Knot) -> str:
    """Return the range of the first parameter between two knots in words."""
    ends = " and ".join(f"{float(each.place.values[0]):.6g}" for each in (last, knot))
    return f"between {extended(knot.point).plane.names[0]} = {ends}"
