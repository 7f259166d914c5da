"""Following a curve of special points from its start to both of its ends, with the organising points on the way."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import brentq, minimize_scalar

from meanfield import Outcome

from ...bases import EPS, Floats
from ...branches.arclength import Arclength
from ...branches.continuation import End, Point, length, trace
from ...branches.hermite import hermite
from ...branches.stepping import PREDICTED_FROM
from ...root_finding.newton import POLISHED, Newton, correct
from ...root_finding.solution import Solution
from ..in_plane.coefficients import Place, is_double
from ..in_plane.plane import COUPLING, Plane
from ..systems.arc import ROUNDINGS, Arc
from ..systems.extended import ExtendedEquation
from ..systems.hopf import double_error
from ..systems.tested import DOUBLE_RATE
from .approaching import come_nearer, meets
from .closing import closing_point
from .events import KNOWN, events_between
from .knots import Event, Knot, Side, between, extended, rounding_at, vertical

# A loop has at least so many points.
FEWEST_IN_LOOP = 8
# Share of the size of a state that the first step takes at most.
CAREFUL = 0.25
# A chord misses the curve by less than this share of its length.
CHORD_DEVIATION = 0.3
# Points at which the turn of the last arc, where states meet, is looked for before it is refined.
SAMPLES = 9
# A side that ends so near to the end of its interval, in its own coordinates, ends there.
LEFT_OVER = 1e-6
# The cubic tells the height of a turn to this share of it, above which the curve is asked.
TURN_ERROR = 0.05
# At a given parameter they are found beside them up to this, along a branch on which the coupling is stationary.
BLURRED = Newton(last_step=1e-7)
TOO_STRONG = "the coupling leaves the range of doubles, and the curve ends before"
STRENGTH = "the coupling in units of a critical one, or the confinement in units of the noise, exceeds"


def follow(
    start: Point,
    method: Arclength,
    first_step: float,
    largest_coupling: float | None = None,
    behind: Sequence[Point] = (),
    ends: bool = False,
) -> Side:
    """Return a curve from its start along the tangent there, to the end of the interval, a coupling or its own.

    Points behind the start, as :func:`behind_start` has them, predict the first ones, which are then as far apart;
    where states are small, and about to meet, by a share of their size. A curve of Hopf bifurcations may end at the
    start.
    """
    side = Side([_end_of_pair(start) if ends else Knot.at(start)])
    farthest = max((start.arclength - point.arclength for point in behind), default=0.0)
    first_step = max(first_step, min(farthest, CAREFUL * float(np.linalg.norm(start.b[:-1]))))
    for item in trace(start, method, first_step, behind):
        if isinstance(item, End):
            _stops(side, item.outcome)
            break
        last = side.knots[-1]
        arc = Arc(last.point, item)
        if meets(side, last.point, item):
            outside = _outside(arc)
            if outside is None or _meets_inside(side, last, outside):
                side.beyond, side.outcome = item if outside is None else outside, Outcome.JOINED_BRANCH
                come_nearer(side)
                break
            side.arrival, side.merged, side.halved = None, False, None
            arc = Arc(last.point, outside)
        limits = _beyond_limits(arc.second, largest_coupling)
        if limits is not None:
            side.outcome = Outcome.PARTIAL if TOO_STRONG in limits else Outcome.LEFT_INTERVAL
            side.warnings += limits
            break
        known = len(side.knots)
        if _left(arc, last, side):
            side.outcome = Outcome.LEFT_INTERVAL
            _ends_at_event(side, known)
            break
        knot = Knot.at(arc.second)
        if _goes_back(last, knot):
            side.outcome = Outcome.FOLDED
            break
        side.knots += [*events_between(arc, last, knot, side), knot]
        # The last step may have brought several.
        long_enough = len(side.knots) >= FEWEST_IN_LOOP
        if largest_coupling is None and known < FEWEST_IN_LOOP and long_enough and vertical(side.knots):
            side.outcome = Outcome.VERTICAL
            name = extended(item).plane.names[0]
            side.warnings.append(
                f"{name} does not change along the curve, which was not followed farther; give largest_coupling to "
                "go on"
            )
            break
        if _ends_at_event(side, known) or (long_enough and _closes(side, start, arc)):
            break
    return side


def _stops(side: Side, outcome: Outcome) -> None:
    """End a side beyond which no point was found: at the end of its interval if there is none beyond that."""
    side.outcome = outcome
    knot, last = side.knots[-1], side.knots[-1].point
    equation = extended(last)
    low, high = equation.plane.interval
    end = high if knot.row.tangent[0] > 0.0 else low
    near = abs(end - float(knot.place.values[0])) <= LEFT_OVER * equation.plane.length
    aim = _aim(equation.plane, end) if near and outcome is Outcome.STEP_TOO_SMALL else None
    reached = None if aim is None else _fixed(equation, last.b, last.q, aim)
    if reached is None:
        return
    step = length(reached.b - last.b, reached.q - last.q)
    if step <= LEFT_OVER:
        along = last.solution.tangent_b, last.solution.tangent_q
        side.knots.append(Knot.at(Point(equation, reached, last.arclength + step).oriented(*along), Event("end")))
        side.outcome = Outcome.LEFT_INTERVAL


def ended(start: Point) -> Side:
    """Return the side of a curve of Hopf bifurcations from a point at which it ends on which nothing of it is."""
    return Side([_end_of_pair(start)], Outcome.REAL_PAIR)


def _end_of_pair(point: Point) -> Knot:
    """Return the knot of a point at which a curve of Hopf bifurcations ends."""
    knot = Knot.at(point, Event(DOUBLE_RATE[0], double_error(point)))
    # What rounding leaves of it is no zero beside the point.
    knot.tests[DOUBLE_RATE] = 0.0
    return knot


def _ends_at_event(side: Side, known: int) -> bool:
    """Return whether a curve of Hopf bifurcations ends behind a number of knots, at an event, and end it if so.

    It does where the pair of growth rates becomes real.
    """
    ends = (each for each in side.knots[known:] if each.event is not None and each.event.type == "Bogdanov-Takens")
    end = next(ends, None)
    if end is None or extended(end.point).kind != "Hopf":
        return False
    _cut(side, end.point.arclength + KNOWN)
    side.outcome = Outcome.REAL_PAIR
    return True


def _closes(side: Side, start: Point, arc: Arc) -> bool:
    """Return whether a side comes back to its first point or an image of it on its last arc, and end it if so."""
    closing = closing_point(start, arc)
    if closing is not None:
        # Organising points behind it are known from the beginning, and one at it is the first point.
        _cut(side, closing.arclength - KNOWN)
        side.knots.append(Knot.at(closing))
        side.outcome = Outcome.CLOSED_LOOP
        return True
    returned = closing_point(start, arc, -1.0)
    if returned is None:
        return False
    # What has been passed backwards is images from half of the way on.
    middle = 0.5 * (start.arclength + returned.arclength)
    beyond = next(each for each in side.knots if each.point.arclength > middle)
    _cut(side, middle)
    side.outcome = Outcome.JOINED_BRANCH
    side.warnings.append(
        f"the curve ends where a state and its image become one, {between(side.knots[-1], beyond)}, at a point "
        "that was not located"
    )
    return True


def _cut(side: Side, arclength: float) -> None:
    """Remove from a side what is beyond an arclength."""

    def kept(knots: list[Knot]) -> list[Knot]:
        return [each for each in knots if each.point.arclength < arclength]

    side.knots, side.changing = kept(side.knots), kept(side.changing)
    side.untold = {kind: there for kind, knots in side.untold.items() if (there := kept(knots))}


def _meets_inside(side: Side, last: Knot, outside: Point) -> bool:
    """Return whether states meet before a curve leaves its interval on the way to a point outside of it."""
    over = None if side.merged else _end(Arc(last.point, outside), last)
    return over is not None and meets(side, last.point, over.point)


def _goes_back(last: Knot, knot: Knot) -> bool:
    """Return whether a curve on which the first parameter does not change turns between two knots.

    There both states of a line end in folds, and it goes on back over itself, between two others.
    """
    return last.row.tangent[1] * knot.row.tangent[1] < 0.0 and vertical([last, knot])


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


def _beyond_limits(point: Point, largest_coupling: float | None) -> list[str] | None:
    """Return warnings of a point that is farther than curves are followed, None of one that is not.

    It is if the coupling exceeds the largest; where none is given, or the coupling is bounded already as the first
    parameter, if the interaction is too strong for a state.
    """
    equation = extended(point)
    system, most = equation.system(point.b, point.q), equation.strongest
    coupling = system.place.problem.fixed_coupling
    if not is_double(coupling):
        return [TOO_STRONG]
    names, values = equation.plane.names, system.place.values
    if largest_coupling is not None and abs(coupling) > largest_coupling:
        return []
    bounded = largest_coupling is not None and names[0] != COUPLING
    if bounded or system.states[0].coefficients.largest <= most:
        return None
    hint = "; give largest_coupling to go on" if largest_coupling is None and names[0] != COUPLING else ""
    place = " and ".join(f"{n} = {float(v):.6g}" for n, v in zip(names, values, strict=True))
    return [f"the curve ends before {place}, where {STRENGTH} {most:g}{hint}"]


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


def _left(arc: Arc, last: Knot, side: Side) -> bool:
    """Return whether a side leaves its interval on an arc; what is there up to the end is added to it."""
    over = _end(arc, last)
    if over is None:
        return False
    if over is not last:
        side.knots += [*events_between(Arc(last.point, over.point), last, over, side), over]
    elif not _is_end(last):
        side.cut = True
    return True


def _end(arc: Arc, last: Knot) -> Knot | None:
    """Return the point at which the first parameter leaves its interval, None if it does not."""
    equation = extended(arc.second)
    low, high = equation.plane.interval
    place = equation.system(arc.second.b, arc.second.q).place
    value = place.values[0]
    if low <= value <= high:
        turn = _turn(arc, last.place, place)
        doubt = TURN_ERROR * abs(turn - value)
        outside = None if low + doubt <= turn <= high - doubt else _outside(arc)
        if outside is None:
            return None
        arc = Arc(arc.first, outside)
        value = _first(outside)
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


def _turn(arc: Arc, first: Place, second: Place) -> float:
    """Return the first parameter where it turns between two points, about; at the second if it does not."""
    ends = (arc.first, first), (arc.second, second)
    values = [float(place.values[0]) for _, place in ends]
    rates = [
        float(place.slopes[0] @ (point.solution.tangent_b[-1], point.solution.tangent_q)) for point, place in ends
    ]
    if rates[0] * rates[1] >= 0.0:
        return values[1]
    cubic = CubicHermiteSpline([arc.first.arclength, arc.second.arclength], values, rates)
    turns = cubic.derivative().roots(extrapolate=False)
    return float(cubic(turns[0])) if turns.size else values[1]


def _is_end(knot: Knot) -> bool:
    """Return whether the first parameter of a knot is at an end of its interval."""
    return any(_is_at(knot, end) for end in extended(knot.point).plane.interval)


def _is_at(knot: Knot, value: float) -> bool:
    """Return whether the first parameter of a knot has a value to rounding."""
    return bool(abs(knot.place.values[0] - value) <= rounding_at(knot.point, knot.place))


def _at_end(arc: Arc, end: float) -> Point | None:
    """Return the point where the first parameter has a value; None if it is no coordinate or none is found."""
    first, second = arc.first, arc.second
    equation = extended(second)
    plane = equation.plane
    aim = _aim(plane, end)
    if aim is None:
        return None

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
    solution = _fixed(equation, b, q, aim)
    if solution is None:
        solution = _fixed(equation, b, q, aim, BLURRED)
        rounding = max(EPS, first.solution.residual, second.solution.residual)
        if solution is None or solution.residual > ROUNDINGS * rounding:
            return None
    if length(solution.b - b, solution.q - q) > CHORD_DEVIATION * (second.arclength - first.arclength):
        return None
    return Point(equation, solution, arclength).oriented(second.solution.tangent_b, second.solution.tangent_q)


def _aim(plane: Plane, end: float) -> float | None:
    """Return the coordinate at a value of the first parameter, None if that is none."""
    if plane.in_coupling:
        return end / plane.unit if plane.names[0] == plane.other else None
    return 1.0 + (end - plane.interval[0]) / plane.length


def _fixed(
    equation: ExtendedEquation, b: Floats, q: float, aim: float, method: Newton = POLISHED
) -> Solution | None:
    """Return the solution near a place at which the coordinate of the first parameter has a value."""
    b, border = b.copy(), np.zeros_like(b)
    if equation.plane.in_coupling:
        b[-1], border[-1] = aim, 1.0
        return correct(equation, b, q, border, 0.0, method)
    return correct(equation, b, aim, border, 1.0, method)
