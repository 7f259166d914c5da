"""Following a curve of special points from its start to both of its ends, with the organising points on the way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from meanfield import Outcome

from ..bases import EPS, Floats
from ..branches.arclength import Arclength
from ..branches.continuation import PREDICTED_FROM, End, Point, hermite, length, trace
from ..newton import POLISHED, Newton, correct
from .arc import ROUNDINGS, Arc, strayed_by
from .extended import ExtendedEquation, Halving, Margins
from .plane import Place, is_double
from .recording import Row, row_of

# A loop has at least so many points.
FEWEST_IN_LOOP = 8
# Share of the size of a state that the first step takes at most.
CAREFUL = 0.25
# A chord misses the curve by less than this share of its length.
MISSED = 0.3
# Of a curve that passes where nothing fixes the angle of its states.
LET_GO = (
    "where the confinement vanishes nothing holds states without an axis: beside it points are known less well, "
    "and organising points are not told"
)
# Organising points at which a direction of a clustered state is neutral beside those of its curve.
NEUTRAL = ("mode interaction", "end point", "tricritical")
# Points at which the turn of the last arc, where states meet, is looked for before it is refined.
SAMPLES = 9
# Unknowns at a point of a curve are known to this: near organising points equations are ill-conditioned.
KNOWN = 1e-9
# At a given parameter they are found beside them up to this, along a branch on which the coupling is stationary.
BLURRED = Newton(last_step=1e-7)
# The first parameter is the same at several points to this share of the ends of its interval.
SAME_VALUE = 1e-12
TOO_STRONG = "the coupling leaves the range of doubles, and the curve ends before"
STRENGTH = "the coupling in units of a critical one, or the confinement in units of the noise, exceeds"


@dataclass(slots=True)
class Event:
    """A located point of a curve: its type, ``end`` at the end of the interval, and how well x and q are known.

    ``mode`` is the degree that becomes critical at it beside that of the curve.
    """

    type: str
    error: tuple[float, float] = (0.0, 0.0)
    mode: int | None = None


@dataclass(slots=True)
class Knot:
    """A point of a followed curve, its place in the plane, its row in the record, and what it is.

    ``tests`` are the values of the functions that vanish at organising points.
    """

    point: Point
    place: Place
    row: Row
    tests: list[float]
    event: Event | None = None
    known_margins: Margins = field(default_factory=dict)

    @classmethod
    def at(cls, point: Point, event: Event | None = None) -> "Knot":
        """Return the knot of a point, whose system Newton's method has just left."""
        equation = extended(point)
        system = equation.system(point.b, point.q)
        place = system.place
        tests = [function(point) for _, function in equation.tests]
        row, tolerance = row_of(point, system), _rounding_at(point, place)
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
        value, (in_x, in_q) = self.place.values[0], self.place.slopes[0]
        rounding = extended(self.point).plane.rounding(float(value))
        spread = abs(in_x) * self.event.error[0] + abs(in_q) * self.event.error[1] + rounding
        return float(value) - spread, float(value) + spread


@dataclass(slots=True)
class Side:
    """One direction of a followed curve: the knots from the start on, and how it ended.

    ``arrival`` is the critical degree where it met the uniform state beyond the last knot; ``merged`` says that its
    two states become one there, ``halved`` names that which becomes one with an image of it;
    ``beyond`` is the point behind. ``untold`` has knots between which rounding decides the sign of a test, and
    ``changing`` pairs between which the number of unstable directions changes at a point that is not located.
    """

    knots: list[Knot]
    outcome: Outcome = Outcome.MAX_STEPS
    arrival: int | None = None
    merged: bool = False
    halved: Halving | None = None
    beyond: Point | None = None
    warnings: list[str] = field(default_factory=list)
    untold: dict[str, list[Knot]] = field(default_factory=dict)
    changing: list[Knot] = field(default_factory=list)


def _rounding_at(point: Point, place: Place) -> float:
    """Return how well the first parameter of a point is known: to roundings of it and of the unknowns."""
    in_x, in_q = np.abs(place.slopes[0])
    largest = max(map(abs, extended(point).plane.interval))
    return float(ROUNDINGS * EPS * max(largest, in_x * max(1.0, abs(point.b[-1])), in_q * max(1.0, point.q)))


def extended(point: Point) -> ExtendedEquation:
    """Return the extended system of a point."""
    equation = point.equation
    assert isinstance(equation, ExtendedEquation)
    return equation


def follow(
    start: Point,
    method: Arclength,
    first_step: float,
    largest_coupling: float | None = None,
    behind: Sequence[Point] = (),
) -> Side:
    """Return a curve from its start along the tangent there, to the end of the interval, a coupling or its own.

    Points behind the start, as :func:`behind_start` has them, predict the first ones, which are then as far apart;
    where states are small, and about to meet, by a share of their size.
    """
    side = Side([Knot.at(start)])
    farthest = max((start.arclength - point.arclength for point in behind), default=0.0)
    first_step = max(first_step, min(farthest, CAREFUL * float(np.linalg.norm(start.b[:-1]))))
    for item in trace(start, method, first_step, behind):
        if isinstance(item, End):
            side.outcome = item.outcome
            break
        last = side.knots[-1]
        arc = Arc(last.point, item)
        arrival = extended(item).arrival(last.point, item)
        merged = arrival is None and extended(item).merges(last.point, item)
        halved = None if arrival is not None or merged else extended(item).halved(last.point, item)
        if arrival is not None or merged or halved is not None:
            outside = _outside(arc)
            if outside is None:
                side.arrival, side.merged, side.halved = arrival, merged, halved
                side.beyond, side.outcome = item, Outcome.JOINED_BRANCH
                break
            arc = Arc(last.point, outside)
        knot = Knot.at(arc.second)
        limits = _beyond_limits(knot, largest_coupling)
        if limits is not None:
            side.outcome = Outcome.PARTIAL if TOO_STRONG in limits else Outcome.LEFT_INTERVAL
            side.warnings += limits
            break
        if _left(arc, last, knot, side):
            side.outcome = Outcome.LEFT_INTERVAL
            break
        if _goes_back(last, knot):
            side.outcome = Outcome.FOLDED
            break
        side.knots += [*_events(arc, last, knot, side), knot]
        if largest_coupling is None and len(side.knots) == FEWEST_IN_LOOP and _vertical(side.knots):
            side.outcome = Outcome.VERTICAL
            name = extended(item).plane.names[0]
            side.warnings.append(
                f"{name} does not change along the curve, which was not followed farther; give largest_coupling to "
                "go on"
            )
            break
        if _returned(side.knots):
            side.outcome = Outcome.CLOSED_LOOP
            break
    return side


def _goes_back(last: Knot, knot: Knot) -> bool:
    """Return whether a curve on which the first parameter does not change turns between two knots.

    There both states of a line end in folds, and it goes on back over itself, between two others.
    """
    return last.row.tangent[1] * knot.row.tangent[1] < 0.0 and _vertical([last, knot])


def _lets_go(last: Knot, knot: Knot) -> bool:
    """Return whether the confinement vanishes between two knots, or is rounding at one.

    Where it does rotations of a state are free, and of one without an axis of it the system is singular.
    """
    equation = extended(knot.point)
    if not equation.plane.confined:
        return False
    basis = equation.basis
    before, after = (
        equation.plane.coefficients(float(each.point.b[-1]), each.point.q, basis.degrees, basis).forces
        for each in (last, knot)
    )
    return bool(before @ after <= 0.0)


def _between(last: Knot, knot: Knot) -> str:
    """Return the range of the first parameter between two knots in words."""
    ends = " and ".join(f"{float(each.place.values[0]):.6g}" for each in (last, knot))
    return f"between {extended(knot.point).plane.names[0]} = {ends}"


def _at(knot: Knot) -> str:
    """Return the two parameters of a knot in words."""
    names = extended(knot.point).plane.names
    return " and ".join(f"{n} = {float(v):.6g}" for n, v in zip(names, knot.place.values, strict=True))


def behind_start(side: Side) -> list[Point]:
    """Return points after the start of a side as points before that of the other side, the farthest first."""
    start = side.knots[0].point
    others = [knot.point for knot in side.knots[1 : PREDICTED_FROM + 1] if knot.event is None]
    alike = [point for point in others if point.equation is start.equation]
    return [turned_back(point, 2.0 * start.arclength - point.arclength) for point in alike[:-PREDICTED_FROM:-1]]


def turned_back(point: Point, arclength: float) -> Point:
    """Return a point with its tangent reversed, at another arclength."""
    solution = replace(point.solution)
    solution.reverse()
    return Point(point.equation, solution, arclength)


def _beyond_limits(knot: Knot, largest_coupling: float | None) -> list[str] | None:
    """Return warnings of a point that is farther than curves are followed, None of one that is not.

    It is if the coupling exceeds the largest; where none is given, if the interaction is too strong for a state.
    """
    coupling = knot.place.problem.fixed_coupling
    if not is_double(coupling):
        return [TOO_STRONG]
    if largest_coupling is not None:
        return [] if abs(coupling) > largest_coupling else None
    equation = extended(knot.point)
    (state, *_), most = equation.system(knot.point.b, knot.point.q).states, equation.strongest
    if state.coefficients.largest <= most:
        return None
    return [f"the curve ends before {_at(knot)}, where {STRENGTH} {most:g}; give largest_coupling to go on"]


def _events(arc: Arc, last: Knot, knot: Knot, side: Side) -> list[Knot]:
    """Return the organising points between two knots, and where the first parameter turns.

    Those that are not located are warned of.
    """
    equation, let_go, changed = extended(knot.point), _lets_go(last, knot), _vanishing(last, knot)
    if not (changed or let_go) and equation.kind in ("fold", "branch point") and _changed_states(last, knot):
        side.changing += [last, knot]
    if changed and equation.kind != "threshold" and all(turns_freely(each.point) for each in (last, knot)):
        # Rotations are neutral all along.
        changed = [each for each in changed if each[0] not in NEUTRAL]
    if let_go and any(basis.fourier is not None for basis in equation.bases):
        side.warnings.append(LET_GO)
        changed = []
    located = [_located(arc, last, knot, side, *each) for each in changed]
    found = [each for each in located if each is not None]
    if last.row.tangent[0] * knot.row.tangent[0] < 0.0 and not _vertical([last, knot]):
        turn = arc.zero(_first_rate)
        # At a cusp both parameters turn.
        if turn is not None and all(abs(turn[0].arclength - each.point.arclength) > KNOWN for each in found):
            found.append(Knot.at(turn[0]))
    return sorted(found, key=lambda each: each.point.arclength)


def _located(
    arc: Arc, last: Knot, knot: Knot, side: Side, kind: str, mode: int | None, function: Callable[[Point], float]
) -> Knot | None:
    """Return the organising point at which a function vanishes between two knots.

    None if it is one of the two, and marked there, if rotations are neutral there, or if it is not located, of which
    the side is told.
    """
    rounding = [_is_rounding(each.point, function) for each in (last, knot)]
    located = None if all(rounding) else arc.zero(function)
    if located is None:
        if any(rounding):
            side.untold.setdefault(kind, []).extend([last, knot])
        else:
            article = "an" if kind[0] in "aeiou" else "a"
            side.warnings.append(f"{article} {kind} {_between(last, knot)} was not located")
        return None
    point, error = located
    at_end = _same_knot(point, (last, knot))
    if at_end is not None:
        at_end.event = at_end.event or Event(kind, error, mode)
        return None
    free = kind in NEUTRAL and extended(knot.point).kind != "threshold" and turns_freely(point)
    return None if free else Knot.at(point, Event(kind, error, mode))


def _vanishing(last: Knot, knot: Knot) -> list[tuple[str, int | None, Callable[[Point], float]]]:
    """Return the functions that change their signs between two knots: their types, the modes and themselves."""
    equation = extended(knot.point)
    found: list[tuple[str, int | None, Callable[[Point], float]]] = [
        (kind, None, function)
        for (kind, function), before, after in zip(equation.tests, last.tests, knot.tests, strict=True)
        if before * after < 0.0
    ]
    states = _changed_states(last, knot)
    return found + [
        (equation.of_margins, mode if equation.kind == "threshold" else None, partial(_margin, (place, mode)))
        for (place, mode), margin in (knot.margins if states else {}).items()
        if place in states and last.margins.get((place, mode), margin) * margin < 0.0
    ]


def _changed_states(last: Knot, knot: Knot) -> set[int]:
    """Return the states of which margins may vanish between two knots."""
    return extended(knot.point).changed_states(last.row.counts, knot.row.counts)


def _same_knot(point: Point, knots: tuple[Knot, Knot]) -> Knot | None:
    """Return the knot that a located point is to rounding, as where a curve starts at it; None if it is neither."""
    tolerance = ROUNDINGS * EPS * max(1.0, abs(point.arclength))
    return next((knot for knot in knots if abs(knot.point.arclength - point.arclength) <= tolerance), None)


def _first_rate(point: Point) -> float:
    """Return a multiple of the rate of the first parameter along the curve, which vanishes where that turns."""
    system = extended(point).system(point.b, point.q)
    across, down = system.normal
    in_x, in_q = system.place.slopes[0]
    return float(in_q * across - in_x * down)


def turns_freely(point: Point) -> bool:
    """Return whether the confinement vanishes at a point, where rotations are neutral and no mode is critical."""
    return extended(point).system(point.b, point.q).states[0].coefficients.forces_vanish


def _is_rounding(point: Point, function: Callable[[Point], float]) -> bool:
    """Return whether the rounding of the unknowns decides the sign of a function of a point."""
    solution, (shift, shift_q) = point.solution, strayed_by(point)
    moved = replace(point, solution=replace(solution, b=solution.b + shift, q=solution.q + shift_q))
    return abs(function(moved) - function(point)) >= abs(function(point))


def _margin(key: tuple[int, int], point: Point) -> float:
    """Return the number that vanishes where a mode is critical."""
    return extended(point).margins(point)[key]


def _outside(arc: Arc) -> Point | None:
    """Return a point of an arc outside of the interval, before the curve turns back; None if none is found.

    Where states meet, the curve goes back through their images, so that both ends of a arc can be inside.
    """
    plane = extended(arc.second).plane
    low, high = plane.interval

    def excess(arclength: float) -> float:
        point = arc(arclength)
        value = np.nan if point is None else _first(point)
        return max(low - value, value - high)

    places = np.linspace(arc.first.arclength, arc.second.arclength, SAMPLES)
    sizes = np.array([excess(place) for place in places.tolist()])
    if np.isnan(sizes).all():
        return None
    largest = int(np.nanargmax(sizes))
    bounds = places[max(largest - 1, 0)], places[min(largest + 1, SAMPLES - 1)]
    turn = float(minimize_scalar(lambda place: -excess(place), bounds=bounds, method="bounded").x)
    tried = [*places[: largest + 1].tolist(), turn]
    return next((arc(place) for place in tried if excess(place) > 0.0), None)


def _first(point: Point) -> float:
    """Return the first parameter at a point."""
    return extended(point).plane.first_at(float(point.b[-1]), point.q)


def _left(arc: Arc, last: Knot, knot: Knot, side: Side) -> bool:
    """Return whether a side leaves its interval between two knots; what is there up to the end is added to it."""
    over = _end(arc, last, knot)
    if over is None:
        return False
    if over is not last:
        side.knots += [*_events(Arc(last.point, over.point), last, over, side), over]
    elif not _is_end(last):
        side.warnings.append("no point was found at the end of the interval, and the curve is cut before it")
    return True


def _end(arc: Arc, last: Knot, knot: Knot) -> Knot | None:
    """Return the point at which the first parameter leaves its interval, None if it does not."""
    plane = extended(knot.point).plane
    low, high = plane.interval
    value = knot.place.values[0]
    if low <= value <= high:
        return None
    end = low if value < low else high
    if _is_at(last, end):
        return last
    point = _at_end(arc, end)
    if point is None:
        located = arc.zero(lambda point: _first(point) - end)
        if located is None:
            return last
        point = located[0]
    over = Knot.at(point, Event("end"))
    return over if _is_end(over) else last


def _is_end(knot: Knot) -> bool:
    """Return whether the first parameter of a knot is at an end of its interval."""
    return any(_is_at(knot, end) for end in extended(knot.point).plane.interval)


def _is_at(knot: Knot, value: float) -> bool:
    """Return whether the first parameter of a knot has a value to rounding."""
    return bool(abs(knot.place.values[0] - value) <= _rounding_at(knot.point, knot.place))


def _at_end(arc: Arc, end: float) -> Point | None:
    """Return the point where the first parameter has a value; None if it is no coordinate or none is found."""
    first, second = arc.first, arc.second
    equation = extended(second)
    plane = equation.plane
    if plane.in_coupling and plane.names[0] != plane.other:
        return None
    aim = end / plane.unit if plane.in_coupling else 1.0 + (end - plane.interval[0]) / plane.length

    def beyond(arclength: float) -> float:
        b, q = hermite((first, second), arclength)
        return plane.first_at(float(b[-1]), q) - end

    low, high = first.arclength, second.arclength
    values = beyond(low), beyond(high)
    if values[0] == values[1]:
        return None
    if values[0] * values[1] < 0.0:
        arclength = float(brentq(beyond, low, high))
    else:
        # A start beside an organising point can be outside itself.
        arclength = low + values[0] / (values[0] - values[1]) * (high - low)
    b, q = hermite((first, second), arclength)
    border = np.zeros_like(b)
    if plane.in_coupling:
        b[-1], border[-1] = aim, 1.0
    else:
        q = aim
    border_q = 0.0 if plane.in_coupling else 1.0
    solution = correct(equation, b, q, border, border_q, POLISHED)
    if solution is None:
        solution = correct(equation, b, q, border, border_q, BLURRED)
        rounding = max(EPS, first.solution.residual, second.solution.residual)
        if solution is None or solution.residual > ROUNDINGS * rounding:
            return None
    if length(solution.b - b, solution.q - q) > MISSED * (second.arclength - first.arclength):
        return None
    return Point(equation, solution, arclength).oriented(second.solution.tangent_b, second.solution.tangent_q)


def _vertical(knots: list[Knot]) -> bool:
    """Return whether the first parameter is the same at all points."""
    values = np.array([knot.place.values[0] for knot in knots])
    low, high = extended(knots[0].point).plane.interval
    return float(np.ptp(values)) <= SAME_VALUE * max(abs(low), abs(high))


def _returned(knots: list[Knot]) -> bool:
    """Return whether the last chord passes the first point."""
    if len(knots) < FEWEST_IN_LOOP:
        return False
    start, last, end = (_vector(knots[place].point, knots[-1].point) for place in (0, -2, -1))
    chord, ahead = end - last, start - last
    size = length(chord, 0.0)
    if size == 0.0:
        return False
    along = float(ahead @ chord) / size**2
    return 0.0 < along <= 1.0 and length(ahead - along * chord, 0.0) <= MISSED * size * along * (1 - along) + KNOWN


def _vector(point: Point, other: Point) -> Floats:
    """Return the unknowns of a point, those of another, and q."""
    return np.append(point.unknowns_on(other.equation)[0], point.q)
