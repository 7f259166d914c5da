"""A curve from its start: both directions followed, its organising points located, and its record."""

from collections.abc import Callable
from typing import Any

import numpy as np

from meanfield import Curve, InvalidInput, OrganisingPoint, Outcome
from meanfield.records import CurveType

from ..bases import Floats
from ..branches.arclength import Arclength
from ..branches.continuation import End, Point, length
from ..execution.watching import Watch
from .ends.directions import direction_at, direction_of_resonance
from .ends.meetings import folded_end, is_blurred, meeting_of, meeting_short_of, separation
from .ends.threshold_parts import UniformEnd
from .ends.uniform_ends import STOPPED, drop_rounding, passed_uniform, uniform_end, zero_field_end
from .following.following import behind_start, ended, follow, turned_back
from .following.knots import Knot, Side, extended, vertical
from .in_plane.plane import Plane
from .in_plane.stability import stationary_point
from .systems.branch_points import branch_point_start
from .systems.extended import ExtendedEquation
from .systems.folds import fold_start
from .systems.hopf import ends_along, hopf_start
from .systems.line_starts import transition_start
from .systems.recording import Row, is_located, organising, recorded, row_of, threshold_label, uniform_row
from .systems.starts import Start, plane_of
from .systems.thresholds import threshold_start

# Length of the first steps.
FIRST_STEP = 0.01
# A side whose states are of this size may have stopped beside the uniform one.
SMALL = 0.1
# On the way to it, at states of this size, what vanishes with a power of them is rounding.
BESIDE_UNIFORM = 0.02
# A curve that stops because of values that are not admissible is nearer to them than this, by halved steps.
BEYOND = 1e-8
BEFORE_END = "the curve ends less than a step before the end of the interval, beyond which its states meet others"
# The moments of the uniform state.
UNIFORM = np.ones(1), np.zeros(1)
WORDS = {
    "cusp": "two folds end in each other",
    "triple point": "three states have equal free energy",
    "end point": "a state of the line becomes unstable, and another is born",
    "tricritical": "the branch born there turns from continuous to discontinuous",
    "mode interaction": "two modes are critical together",
    "Bogdanov-Takens": "a curve of Hopf bifurcations ends in this one",
}
PAIR = "the pair of growth rates becomes real, and the curve ends in one of folds or branch points"
NO_FIELD = "states of all orientations are born there, where nothing confines"


def curve_from(
    start: Start,
    names: tuple[str, str],
    interval: tuple[float, float],
    largest_coupling: float | None,
    method: Arclength,
    watch: Watch,
    describe: Callable[[], dict[str, Any]],
) -> Curve:
    """Return the record of the curve through a start.

    Raises
    ------
    InvalidInput
        If none is found through it, or none of what is found lies in the interval.
    """
    plane = plane_of(start, names, interval)
    try:
        first = STARTS[start.kind](start, plane)
    except np.linalg.LinAlgError as error:
        raise InvalidInput(
            f"no {start.kind} was found through the start, where its equations are singular ({error}): other "
            "curves pass there; start from another point of it"
        ) from error
    if isinstance(first, End):
        raise InvalidInput(f"no curve was followed from the start: {first.outcome}")
    equation = extended(first)
    found = equation.system(first.b, first.q)
    states = [stationary_point(state, found.place.problem) for state in found.states]
    label = equation.label([state.equation.densities.name_of(state) for state in states])
    # Curves of Hopf bifurcations end at such points.
    ends = start.kind == "Hopf" and start.organising == "Bogdanov-Takens"
    sides: dict[int, Side] = {}
    for done, direction in enumerate((1, -1)):
        watch(done, 2, label)
        begin, step = _turned(first, direction), min(FIRST_STEP, method.max_step)
        behind = behind_start(sides[1]) if sides else []
        over = ends and ends_along(begin)
        sides[direction] = ended(begin) if over else follow(begin, method, step, largest_coupling, behind, ends)
        if sides[direction].outcome is Outcome.CLOSED_LOOP:
            # It is the whole curve.
            sides = {direction: sides[direction]}
            break
    watch(2, 2, label)
    _require_held(start, equation, sides)
    values = [knot.row.values[0] for side in sides.values() for knot in side.knots]
    if not any(map(plane.contains, values)):
        raise InvalidInput(
            f"no point of the {equation.kind} that was found at the start is in the interval [{interval[0]:g}, "
            f"{interval[1]:g}] of {names[0]}: beside the start it has {names[0]} = {values[0]:.6g}; give one that "
            "contains that"
        )
    return _joined(sides, label, equation, plane, describe)


def _require_held(start: Start, equation: ExtendedEquation, sides: dict[int, Side]) -> None:
    """Refuse branch points where the confinement has an axis that it has not beside them.

    Such a field unfolds them. What is followed are states that can be turned about the axis.
    """
    turned = equation.kind == "branch point" and start.problem.zonal and not equation.plane.zonal
    if turned and vertical([knot for side in sides.values() for knot in side.knots]):
        names = equation.plane.names
        raise InvalidInput(
            f"no branch point beside the start was found: at {names[0]} = "
            f"{float(start.problem.parameters[names[0]]):.6g} the confinement has an axis, and without one the "
            "branches there pass each other; start from a fold, or from a branch point at another value"
        )


STARTS: dict[str, Callable[[Start, Plane], Point | End]] = {
    "fold": fold_start,
    "transition": transition_start,
    "threshold": threshold_start,
    "branch point": branch_point_start,
    "Hopf": hopf_start,
}


def _turned(point: Point, direction: int) -> Point:
    """Return the first point with its tangent towards larger or smaller values of the first parameter."""
    place = extended(point).system(point.b, point.q).place
    first, _ = place.slopes @ [point.solution.tangent_b[-1], point.solution.tangent_q]
    if first * direction < 0.0 or (first == 0.0 and direction < 0):
        return turned_back(point, point.arclength)
    return point


def _joined(
    sides: dict[int, Side],
    label: str,
    equation: ExtendedEquation,
    plane: Plane,
    describe: Callable[[], dict[str, Any]],
) -> Curve:
    """Return the record of the sides of a curve by direction, one alone if it is closed."""
    closed = len(sides) == 1
    rows: list[Row] = []
    points: list[OrganisingPoint] = []
    warnings: list[str] = []
    if not closed:
        # The row of the start is that of the first side.
        (first, second) = (sides[direction].knots[0] for direction in (-1, 1))
        first.event, second.event = first.event or second.event, None
    for direction, side in sorted(sides.items()):
        if side.outcome is Outcome.FOLDED:
            warnings += _end_folded(side, plane)
        found = _rows(side, direction, label, equation.kind, plane, points, warnings)
        rows += found[::-1] if direction < 0 else found[(0 if closed else 1) :]
    origin = rows[0].arclength
    for row in rows:
        row.arclength -= origin
    if not closed:
        for end in (rows[0], rows[-1]):
            end.label = end.label or "EP"
    points.sort(key=lambda point: float(point.values[0]))
    if equation.untested:
        warnings.append(f"tricritical points of the curve are not looked for: {equation.untested}")
    return recorded(
        rows,
        label,
        equation.kind,
        plane.problem,
        plane.names,
        interval=(float(plane.interval[0]), float(plane.interval[1])),
        outcome=sides[max(sides)].outcome,
        first_outcome=sides[min(sides)].outcome,
        symmetry=equation.basis.symmetry,
        special_points=tuple(points),
        warnings=tuple(dict.fromkeys(warnings)),
        provenance=describe(),
        **equation.record_fields,
    )


def _end_folded(side: Side, plane: Plane) -> list[str]:
    """Add to a side that goes back over itself the point at which it does, or say that it is not located.

    That is one in which both states end in folds or, where the confinement vanishes, are born of the uniform one,
    beside which rounding turns other curves back too.
    """
    of_two = extended(side.knots[-1].point).kind == "transition"
    folded = folded_end(side, plane) if of_two else []
    if folded:
        side.knots += folded
        return []
    born = zero_field_end(side, plane) if plane.confined else None
    if born is not None:
        side.arrival, side.outcome = born.modes[0], Outcome.JOINED_BRANCH
        return []
    side.outcome = Outcome.STEP_TOO_SMALL
    if not of_two or (not plane.confined and _small(side, plane) is not None):
        return []
    side.outcome = Outcome.FOLDED
    return ["the line ends where both of its states do, at a point not located"]


def _rows(
    side: Side,
    direction: int,
    label: str,
    kind: CurveType,
    plane: Plane,
    points: list[OrganisingPoint],
    warnings: list[str],
) -> list[Row]:
    """Return the rows of a side, from the start on, and add its organising points and warnings."""
    _set_arrival(side, plane)
    meeting = meeting_short_of(side, plane) if side.arrival is None and side.outcome in STOPPED else None
    rows = []
    for knot in side.knots:
        row = knot.row
        if direction < 0:
            row.tangent, row.arclength = (-row.tangent[0], -row.tangent[1]), 2.0 - row.arclength
        if side.arrival is not None and not plane.confined and _is_rounding(knot, plane):
            knot.event = None
        found = _told(knot, kind, label, plane, points)
        rows += [] if found is None else [found]
    warnings += side.warnings
    warnings += _untold(side, plane.names[0])
    if meeting is not None:
        side.outcome = Outcome.JOINED_BRANCH
        _append_meeting(meeting, side, rows, direction, label, plane, points, warnings)
        return rows
    if side.arrival is None:
        warnings += _stopped_short(side, plane)
    if side.merged or side.halved is not None:
        _add_meeting(side, rows, direction, label, plane, points, warnings)
    if side.arrival is not None:
        _add_uniform(side, rows, direction, label, plane, points, warnings)
        if side.outcome in STOPPED or side.cut:
            side.outcome = Outcome.JOINED_BRANCH
    return rows


def _told(knot: Knot, kind: CurveType, label: str, plane: Plane, points: list[OrganisingPoint]) -> Row | None:
    """Return the row of a knot, and add its organising point, if any; None if it is told already."""
    row, event = knot.row, knot.event
    if event is None or event.type == "end":
        return row
    passed = passed_uniform(knot, plane)
    if passed is not None:
        return _passing(passed, row, label, plane, points)
    row.label = event.type
    through = (label,) if event.mode is None else (label, threshold_label(event.mode))
    text = PAIR if kind == "Hopf" else WORDS[event.type]
    points.append(organising(row, event.type, plane, knot.bounds, through, text, _further(knot, kind)))
    return row


def _passing(
    passed: UniformEnd, beside: Row, label: str, plane: Plane, points: list[OrganisingPoint]
) -> Row | None:
    """Return the row of a threshold that a curve passes, in the place of one beside it; None if it is told."""
    if points and np.array_equal(points[-1].values, np.array(passed.values, dtype=float)):
        return None
    row = uniform_row(passed.problem, passed.values, beside.tangent, beside.arclength)
    row.label, row.layout = passed.type, beside.layout
    row.second = None if beside.second is None else row.moments
    points.append(organising(row, passed.type, plane, passed.bounds, (label,), NO_FIELD))
    return row


def _untold(side: Side, name: str) -> list[str]:
    """Return warnings of the organising points of a side that rounding hides, or that are not located."""
    found = [
        f"{kind}s between {_range(knots, name)} are not told: what vanishes at them is rounding there"
        for kind, knots in side.untold.items()
        if side.arrival is None
    ]
    # On the way to the uniform state counts of small ones are rounding.
    changing = [knot for knot in side.changing if side.arrival is None or _size(knot) > SMALL]
    if changing:
        found.append(
            f"the number of unstable directions changes between {_range(changing, name)}, at points that are "
            "not located or by rounding"
        )
    return found


def _is_rounding(knot: Knot, plane: Plane) -> bool:
    """Return whether rounding may make the organising point at a knot, beside the uniform state of a side."""
    if knot.event is None or knot.event.type == "end" or _size(knot) > BESIDE_UNIFORM:
        return False
    return not is_located(knot.bounds, plane)


def _size(knot: Knot) -> float:
    """Return the largest unknown of the first state of a knot."""
    unknown = knot.point.b[: extended(knot.point).bases[0].degrees.size]
    return float(np.abs(unknown).max(initial=0.0))


def _range(knots: list[Knot], name: str) -> str:
    """Return the range of the first parameter of some knots in words."""
    values = [float(knot.place.values[0]) for knot in knots]
    return f"{name} = {min(values):.6g} and {max(values):.6g}"


def _set_arrival(side: Side, plane: Plane) -> None:
    """Say of a side that stopped, or was cut, at which mode it arrives where it leads to the uniform state."""
    if (side.outcome in STOPPED or side.cut) and extended(side.knots[-1].point).kind != "threshold":
        side.arrival = _small(side, plane)
    if plane.confined and side.arrival is not None:
        drop_rounding(side, plane)


def _stopped_short(side: Side, plane: Plane) -> list[str]:
    """Return warnings of a side that ends where nothing does."""
    if side.cut:
        return ["no point was found at the end of the interval, and the curve is cut before it"]
    if side.outcome not in STOPPED:
        return []
    values = zip(plane.names, side.knots[-1].place.values, strict=True)
    place = ", ".join(f"{name} = {float(value):.6g}" for name, value in values)
    if why := _inadmissible_beyond(side, plane):
        return [f"the curve ends at {place}, beyond which there is no such problem: {why}"]
    return [f"the curve ends at {place}: {side.outcome}"]


def _inadmissible_beyond(side: Side, plane: Plane) -> str:
    """Return why the two parameters are not admissible right beyond a side, empty if they are."""
    point = side.knots[-1].point
    x = float(point.b[-1] + BEYOND * point.solution.tangent_b[-1])
    q = float(point.q + BEYOND * point.solution.tangent_q)
    try:
        plane.law_at(x, q)
        plane.noise_at(x, q)
        plane.at(x, q)
    except InvalidInput as error:
        return str(error)
    return ""


def _small(side: Side, plane: Plane) -> int | None:
    """Return the largest mode of a side that stopped short of the interaction it leads to, None if it does not.

    There states are so nearly one, differing by powers of their amplitude, that rounding decides between them.
    """
    point = side.knots[-1].point
    equation = extended(point)
    sizes = np.abs(point.b[: equation.bases[0].degrees.size])
    if not 0.0 < sizes.max(initial=0.0) <= SMALL:
        return None
    if plane.confined:
        born = zero_field_end(side, plane)
        return None if born is None else born.modes[0]
    degree = int(equation.bases[0].degrees[np.argmax(sizes)])
    return None if uniform_end(side, plane, degree) is None else degree


def _further(knot: Knot, kind: CurveType) -> list[tuple[Floats, Floats]]:
    """Return the states at a located point of a line that have the free energy of its first one."""
    assert knot.event is not None
    if kind != "transition":
        return []
    second = UNIFORM if knot.row.second is None else knot.row.second
    return [second, UNIFORM] if knot.event.type == "triple point" else [second]


def _add_uniform(
    side: Side,
    rows: list[Row],
    direction: int,
    label: str,
    plane: Plane,
    points: list[OrganisingPoint],
    warnings: list[str],
) -> None:
    """Add the point at which a side meets the uniform state: a tricritical point or an interaction of modes."""
    assert side.arrival is not None
    found = uniform_end(side, plane, side.arrival)
    if found is None:
        warnings.append("the curve ends at the uniform state, at an organising point that was not located")
        return
    first, second = found.values
    if not plane.contains(float(first)):
        warnings.append(BEFORE_END)
        return
    last, end = side.knots[-1].point, np.array([float(first), float(second)])
    on_circle = extended(last).basis.cosines is not None
    resonant = on_circle and 2 * min(found.modes) == max(found.modes)
    interacts = found.type == "mode interaction"
    if not interacts:
        assert found.tangent is not None
        tangent = found.tangent
    else:
        tangent = direction_of_resonance(plane, end, rows, found.modes) if resonant else direction_at(end, rows)
    x, q = plane.coordinates(first, second)
    step = direction * length(np.append(last.b[:-1], last.b[-1] - x), last.q - q)
    arclength = rows[-1].arclength + step
    units = np.abs(end - rows[-1].values)
    units[units == 0.0] = units.max() or 1.0
    onward = float((tangent / units) @ (np.array(rows[-1].tangent) / units))
    tangent = tangent * np.copysign(1.0, onward) / length(tangent, 0.0)
    if interacts and (resonant or not on_circle):
        # Both parameters change like the amplitude, not its square: to leading order the last arc is a parabola.
        speed = float(tangent @ (2.0 * (end - rows[-1].values) / step - rows[-1].tangent))
        tangent *= speed if speed > 0.0 else 1.0
    row = uniform_row(found.problem, (first, second), (float(tangent[0]), float(tangent[1])), arclength)
    row.second, row.label = None if rows[-1].second is None else row.moments, found.type
    rows.append(row)
    through, text = (label, *(threshold_label(mode) for mode in found.modes)), WORDS[found.type]
    if plane.confined:
        through, text = (label,), NO_FIELD
    points.append(organising(row, found.type, plane, found.bounds, through, text))


def _add_meeting(
    side: Side,
    rows: list[Row],
    direction: int,
    label: str,
    plane: Plane,
    points: list[OrganisingPoint],
    warnings: list[str],
) -> None:
    """Add the point at which two states of a side, or one and its image, become one."""
    last = side.knots[-1].point
    knot = meeting_of(side, plane)
    if knot is None:
        degree = extended(last).bases[0 if side.halved is None else side.halved.state].symmetry
        if uniform_end(side, plane, degree) is not None:
            # Beside the interaction of a mode with its double the moments vanish at different rates.
            side.arrival = degree
            return
        what = "its two states" if side.halved is None else "a state and its image"
        warnings.append(f"the curve ends where {what} become one, at a point that was not located")
        return
    _append_meeting(knot, side, rows, direction, label, plane, points, warnings)


def _append_meeting(
    knot: Knot,
    side: Side,
    rows: list[Row],
    direction: int,
    label: str,
    plane: Plane,
    points: list[OrganisingPoint],
    warnings: list[str],
) -> None:
    """Add a located point at which states of a side become one."""
    last = side.knots[-1].point
    assert knot.event is not None
    found = extended(knot.point).system(knot.point.b, knot.point.q)
    row = row_of(knot.point, found, extended(last).layout)
    row.values = knot.row.values
    kind = "end point" if extended(last).kind == "transition" else knot.event.type
    if not plane.contains(row.values[0]):
        warnings.append(BEFORE_END)
        return
    while len(rows) > 1 and rows[-1] is side.knots[-1].row and not rows[-1].label and is_blurred(side):
        rows.pop()
        side.knots.pop()
    last = side.knots[-1].point
    bounds, further = knot.bounds, []
    if side.merged:
        row.second = row.moments
    elif len(extended(last).bases) > 1:
        # The other state is the first there.
        born = UNIFORM if row.second is None else row.second
        row.moments, row.second = (
            (born, row.moments) if side.halved and side.halved.state == 0 else (row.moments, born)
        )
        further = [row.second]
    elif kind == "end point":
        further = [UNIFORM]
    text = WORDS[kind] if not side.merged else "the two states become one"
    row.label = kind
    slope = np.array(row.tangent)
    slope *= np.copysign(1.0, slope @ rows[-1].tangent)
    row.tangent = float(slope[0]), float(slope[1])
    row.arclength = rows[-1].arclength + direction * length(separation(side, last), 0.0)
    rows.append(row)
    points.append(organising(row, kind, plane, bounds, (label,), text, further))
