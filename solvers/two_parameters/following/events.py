"""Organising points between two points of a followed curve, where functions of its points vanish."""

from collections.abc import Callable, Hashable
from functools import partial

from meanfield import InvalidInput

from ...bases import EPS
from ...branches.continuation import Point, length
from ..systems.arc import ROUNDINGS, Arc, Zero, moved_by, strayed_by
from ..systems.extended import ExtendedEquation
from ..systems.tested import DOUBLE_RATE, Blurred
from .knots import Event, Knot, Side, between, extended, vertical

# The type of an organising point, the degree of its mode if it has one, and the function that vanishes there.
Vanishing = tuple[str, int | None, Callable[[Point], float]]
# Of a curve that passes where nothing fixes the angle of its states.
LET_GO = (
    "where the confinement vanishes nothing holds states without an axis: beside it points are known less well, "
    "and organising points are not told"
)
# Organising points at which a direction of a clustered state is neutral beside those of its curve.
NEUTRAL = ("mode interaction", "end point", "tricritical")
# Unknowns at a point of a curve are known to this: near organising points equations are ill-conditioned.
KNOWN = 1e-9
# States of a curve below this vanish at an event where the confinement does.
VANISHED = 1e-3


def events_between(arc: Arc, last: Knot, knot: Knot, side: Side) -> list[Knot]:
    """Return the organising points between two knots, and where the first parameter turns.

    Those that are not located are warned of.
    """
    changed = _vanishing(last, knot)
    if not changed and _unexplained(last, knot) and not _lets_go(last, knot):
        side.changing += [last, knot]
    changed = _held(last, knot, side, changed)
    located = [_located_if_admissible(arc, last, knot, side, *each) for each in changed]
    found: list[Knot] = []
    for each in sorted((each for each in located if each is not None), key=_error):
        # Of one multiple direction several classes are singular.
        if not any(_same_event(each, other) for other in found):
            found.append(each)
    if last.row.tangent[0] * knot.row.tangent[0] < 0.0 and not vertical([last, knot]):
        turn = arc.zero(_first_rate)
        # At a cusp both parameters turn.
        if turn is not None and not _is_known(turn[0], last, knot, found):
            found.append(Knot.at(turn[0]))
    return sorted(found, key=lambda each: each.point.arclength)


def _held(last: Knot, knot: Knot, side: Side, changed: list[Vanishing]) -> list[Vanishing]:
    """Return those of functions that vanish between two knots that tell something where rotations may be free."""
    equation = extended(knot.point)
    if equation.kind != "threshold" and all(turns_freely(each.point) for each in (last, knot)):
        # Rotations are neutral all along.
        return [each for each in changed if each[0] not in NEUTRAL]
    uneven = any(basis.fourier is not None for basis in equation.bases)
    free = uneven or any(basis.phase_conditions is not None for basis in equation.bases)
    if not free or not _lets_go(last, knot):
        return changed
    told = [] if uneven else [each for each in changed if each[0] not in NEUTRAL]
    side.warnings += [LET_GO] if uneven or len(told) < len(changed) else []
    return told


def _located_if_admissible(
    arc: Arc, last: Knot, knot: Knot, side: Side, kind: str, mode: int | None, function: Callable[[Point], float]
) -> Knot | None:
    """Return what :func:`_located` does; the side says where rounding moves points to no admissible parameters."""
    try:
        return _located(arc, last, knot, side, kind, mode, function)
    except InvalidInput:
        side.untold.setdefault(kind, []).extend([last, knot])
        return None


def _located(
    arc: Arc, last: Knot, knot: Knot, side: Side, kind: str, mode: int | None, function: Callable[[Point], float]
) -> Knot | None:
    """Return the organising point at which a function vanishes between two knots.

    None if it is one of the two, and marked there, if rotations are neutral there, or if it is not located, which
    the side says then.
    """
    rounding = [each for each in (last, knot) if _is_rounding(each.point, kind, function)]
    located = None if len(rounding) == 2 else _zero(arc, function)
    at_end = None if located is None else _known_knot(located, last, knot, rounding)
    hidden = any(located is None or not _is_told(arc, located[0], each, kind, function) for each in rounding)
    if located is None or (at_end is None and hidden):
        if rounding:
            side.untold.setdefault(kind, []).extend([last, knot])
        else:
            article = "an" if kind[0] in "aeiou" else "a"
            side.warnings.append(f"{article} {kind} {between(last, knot)} was not located")
        return None
    point, error = located
    if at_end is not None:
        at_end.event = at_end.event or Event(kind, error, mode)
        return None
    singular = arc(point.arclength) is None
    free = kind in NEUTRAL and extended(knot.point).kind != "threshold" and turns_freely(point)
    # States that vanish with the confinement are at a threshold, where Newton's method fails.
    free = free and not (singular and length(point.b[:-1], 0.0) <= VANISHED)
    return None if free else Knot.at(point, Event(kind, error, mode, singular))


def _known_knot(located: Zero, last: Knot, knot: Knot, rounding: list[Knot]) -> Knot | None:
    """Return the knot that a located point is, as well as that is known where rounding decides; None if neither."""
    point, (in_x, in_q) = located
    near = (
        each
        for each in rounding
        if abs(float(each.point.b[-1] - point.b[-1])) <= in_x and abs(each.point.q - point.q) <= in_q
    )
    return _same_knot(point, (last, knot)) or next(near, None)


def _is_told(arc: Arc, point: Point, knot: Knot, kind: str, function: Callable[[Point], float]) -> bool:
    """Return whether a function has a sign between its zero and a knot at which rounding decides it.

    Where it has none, as beside a state at whose birth it vanishes with all its slopes, it has no zero either.
    """
    middle = arc(0.5 * (point.arclength + knot.point.arclength))
    return middle is not None and not _is_rounding(middle, kind, function)


def _vanishing(last: Knot, knot: Knot) -> list[Vanishing]:
    """Return the functions that change their signs between two knots: their types, the modes and themselves."""
    equation = extended(knot.point)
    found: list[Vanishing] = [
        (kind, None, function)
        for (kind, each), function in equation.tests_between(last.point, knot.point).items()
        if _tested(last, (kind, each), function) * _tested(knot, (kind, each), function) < 0.0
    ]
    # Two classes may become singular, and numbers of unstable directions be what they were.
    states = equation.states_with_margins(last.row.counts, knot.row.counts)
    return found + [
        (equation.of_margins, _mode(equation, mode), partial(_margin, (place, mode)))
        for (place, mode), margin in (knot.margins if states else {}).items()
        if place in states and last.margins.get((place, mode), margin) * margin < 0.0
    ]


def _tested(knot: Knot, name: tuple[str, Hashable], function: Callable[[Point], float]) -> float:
    """Return the value of a function at a knot, which the equation there may not have had."""
    return knot.tests[name] if name in knot.tests else function(knot.point)


def _changed_states(last: Knot, knot: Knot) -> set[int]:
    """Return the states of which margins may vanish between two knots."""
    return extended(knot.point).changed_states(last.row.counts, knot.row.counts)


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


def _same_knot(point: Point, knots: tuple[Knot, Knot]) -> Knot | None:
    """Return the knot that a located point is to rounding, as where a curve starts at it; None if it is neither."""
    tolerance = ROUNDINGS * EPS * max(1.0, abs(point.arclength))
    return next((knot for knot in knots if abs(knot.point.arclength - point.arclength) <= tolerance), None)


def _error(knot: Knot) -> float:
    """Return how well a located point is known along the curve."""
    assert knot.event is not None
    return sum(knot.event.error)


def _same_event(one: Knot, other: Knot) -> bool:
    """Return whether two located points are one, as well as they are known."""
    assert one.event is not None
    assert other.event is not None
    alike = (one.event.type, one.event.mode) == (other.event.type, other.event.mode)
    both_singular = one.event.singular and other.event.singular
    apart = abs(one.point.arclength - other.point.arclength)
    # Two points of one arc at which the curve is singular are one if their intervals of x have a value in common.
    in_x = abs(float(one.point.b[-1] - other.point.b[-1])) - one.event.error[0] - other.event.error[0]
    return alike and (apart <= KNOWN + _error(one) + _error(other) or (in_x <= 0.0 and both_singular))


def _unexplained(last: Knot, knot: Knot) -> bool:
    """Return whether the number of unstable directions changes between two knots, by other than a fold.

    States of a line pass through folds, at which one direction changes. At a point with a double growth rate zero,
    such as the first of a curve that starts there, either number is right.
    """
    if any(abs(each.tests.get(DOUBLE_RATE, 1.0)) <= KNOWN for each in (last, knot)):
        return False
    equation, states = extended(knot.point), _changed_states(last, knot)
    if equation.kind != "transition":
        return equation.kind in ("fold", "branch point") and bool(states)
    changes = [abs(sum(knot.row.counts[place]) - sum(last.row.counts[place])) for place in states]
    return any(
        change > 1 and equation.bases[place].invariants is not None
        for place, change in zip(states, changes, strict=True)
    )


def _is_known(turn: Point, last: Knot, knot: Knot, found: list[Knot]) -> bool:
    """Return whether a turn of the first parameter is one of two knots, or an organising point between them."""
    near = any(abs(turn.arclength - each.point.arclength) <= KNOWN for each in found)
    return near or _same_knot(turn, (last, knot)) is not None


def _first_rate(point: Point) -> float:
    """Return a multiple of the rate of the first parameter along the curve, which vanishes where that turns."""
    system = extended(point).system(point.b, point.q)
    across, down = system.normal
    in_x, in_q = system.place.slopes[0]
    return float(in_q * across - in_x * down)


def turns_freely(point: Point) -> bool:
    """Return whether the confinement vanishes at a point, where rotations are neutral and no mode is critical."""
    equation = extended(point)
    # Without a confinement the system, which may be that of another point, is not asked for.
    return equation.plane.confined and equation.system(point.b, point.q).states[0].coefficients.forces_vanish


def _is_rounding(point: Point, kind: str, function: Callable[[Point], float]) -> bool:
    """Return whether the rounding of the unknowns, or its own error, decides the sign of a function of a point."""
    value, moved = function(point), function(moved_by(point, *strayed_by(point)))
    # Free energies are sums of terms of size one.
    own = ROUNDINGS * EPS if kind == "triple point" else 0.0
    return abs(value) <= own or abs(moved - value) + _error_of(function, point) >= abs(value)


def _zero(arc: Arc, function: Callable[[Point], float]) -> Zero | None:
    """Return where a function vanishes on an arc, known to what its own error moves it as well; None if nowhere."""
    located = arc.zero(function)
    if located is None:
        return None
    point, (in_x, in_q) = located
    blur = _blur(arc, function, point)
    return point, (in_x + blur[0], in_q + blur[1])


def _error_of(function: Callable[[Point], float], point: Point) -> float:
    """Return the error of a function of a point by itself."""
    return function.error(point) if isinstance(function, Blurred) else 0.0


def _blur(arc: Arc, function: Callable[[Point], float], point: Point) -> tuple[float, float]:
    """Return how far the error of a function moves its zero in x and q."""
    error = _error_of(function, point)
    if error == 0.0:
        return 0.0, 0.0
    one, other = arc.first, arc.second
    slope = abs(function(other) - function(one)) / abs(other.arclength - one.arclength)
    moved = error / slope
    return moved * abs(float(point.solution.tangent_b[-1])), moved * abs(point.solution.tangent_q)


def _mode(equation: ExtendedEquation, number: Hashable) -> int | None:
    """Return the degree that a margin is of, None if it is of a class of directions."""
    return number if equation.kind == "threshold" and isinstance(number, int) else None


def _margin(key: tuple[int, Hashable], point: Point) -> float:
    """Return the number that vanishes where a mode is critical."""
    return extended(point).margin(point, key)
