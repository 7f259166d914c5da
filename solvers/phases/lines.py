"""First-order lines that meet others: where a confinement vanishes, in triple points, and in end points."""

from itertools import combinations, product

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from meanfield import Curve, CurvePoint, Domain, MeanfieldError, OrganisingPoint, Outcome
from meanfield.harmonics import Layout, moments_of

from ..curves import curve
from ..two_parameters import oriented_line, states_of, triple_point, zero_field_point
from .found import ON_CURVE, Found, add_curve
from .plane import crossings, graphs_of, walls_of
from .window import BESIDE

Floats = npt.NDArray[np.float64]

# So many times a line may pass a place at which it crosses another.
PASSING = 3
# The heights, as shares of the way to the strongest coupling of the window, at which states on two sides of zero
# field are taken; their moments are those of a known line within this, between the points of that.
HEIGHTS, SAME_STATE = (0.99, 0.75, 0.5, 0.25, 0.1), 0.02
# So do those of a triple point, by the moments of so many degrees.
COMPARED = 4


def follow_zero_field(found: Found, value: float) -> None:
    """Follow the lines of equal free energy of states that are lowest on the two sides of where they turn freely.

    They are one state in two orientations, so that a line has one value of the parameter; at each of some heights
    they may be others.
    """
    window = found.window
    near = value + BESIDE * (window.interval[1] - window.interval[0])
    origin = "where the confinement vanishes or has an axis"
    sections = [
        min(known, key=lambda section: abs(section.value - value))
        for known in (
            [section for section in found.sections if section.value < value],
            [section for section in found.sections if section.value > value],
        )
    ]
    weakest, strongest = sorted(window.heights, key=abs)
    lowest, highest = sorted(map(abs, window.couplings(near)))
    said: set[str] = set()
    for share in HEIGHTS:
        height = weakest + share * (strongest - weakest)
        problem = window.at(near).at(coupling=height * window.unit(near))
        states = [section.lowest(height, problem) for section in sections]
        if states[0] is None or states[1] is None:
            continue
        try:
            start = zero_field_point(states[0], states[1], window.interval)
            if start is None or any(_has_state(line, start) for line in found.curves):
                continue
            # It does not leave the window and return, as others may.
            farthest = highest + (highest - lowest)
            _add_line(found, start, value, farthest, origin)
        except MeanfieldError as error:
            said.add(str(error))
            continue
        found.join_births()
    where = f"{window.parameter} = {value:.6g}"
    found.warnings += [f"a line {origin}, at {where}, is not followed: {each}" for each in sorted(said)]


def _add_line(found: Found, start: CurvePoint, value: float, farthest: float, origin: str) -> None:
    """Add the line of a state in two orientations, held in both or, in one about an axis, leaning from it in one.

    Raises
    ------
    MeanfieldError
        If neither is followed.
    """
    window = found.window
    line: Curve | None = None
    reason = "no point of it is found but the first"
    try:
        line = curve(start, window.parameter, window.interval, largest_coupling=farthest)
    except MeanfieldError as error:
        reason = str(error)
    # Of states that turn as the confinement vanishes with a power, the system of both is singular.
    if line is None or len(line) < 2 or Outcome.STEP_TOO_SMALL in (line.first_outcome, line.outcome):
        try:
            oriented = _oriented(found, start, value, farthest)
            line = line if oriented is None or len(oriented) < 2 else oriented
        except MeanfieldError as error:
            reason += f", and {error}"
    if line is None or len(line) < 2:
        raise MeanfieldError(reason)
    found.add(line, origin)


def _oriented(found: Found, start: CurvePoint, value: float, farthest: float) -> Curve | None:
    """Return the line of a state with an axis that leans from a confinement of one angle; None of others."""
    window = found.window
    if not (window.zonal and window.vanishes(value)):
        return None
    return oriented_line(start, value, window.interval, farthest)


def _has_state(line: Curve, start: CurvePoint) -> bool:
    """Return whether a line at the parameter of a point has its state there, in any orientation."""
    assert start.problem is not None
    distance = float(np.abs(line.first - float(start.problem.parameters[line.parameters[0]])).max())
    if line.type != "transition" or distance > ON_CURVE * (line.interval[1] - line.interval[0]):
        return False
    order = np.argsort(line.coupling)
    domain = start.problem.domain
    known = moments_of(domain, line.layout, line.cosine[order], line.sine[order]).lengths
    own = moments_of(domain, start.layout, start.cosine, start.sine).lengths
    coupling = float(start.coupling)
    if not line.coupling[order[0]] <= coupling <= line.coupling[order[-1]]:
        return False
    count = min(known.shape[1], own.size)
    there = np.array([np.interp(coupling, line.coupling[order], known[:, degree]) for degree in range(count)])
    return bool(np.abs(there - own[:count]).max() <= SAME_STATE)


def follow_meetings(found: Found) -> None:
    """Follow the lines that are not known from triple points, which are located, and from end points of lines.

    At these a state of a line becomes unstable, and the line goes on with the one that is born.
    """
    crossed: set[tuple[int, int]] = set()
    completed: list[OrganisingPoint] = []
    ended: list[OrganisingPoint] = []
    while True:
        _follow_ends(found, ended)
        lines = [index for index, each in enumerate(found.curves) if each.type == "transition"]
        for pair in sorted(set(combinations(lines, 2)) - crossed):
            crossed.add(pair)
            for point in _triple_points(found, *pair):
                found.add_point(point)
        waiting = [
            point
            for point in found.points
            if point.type == "triple point" and not any(found.same_place(point, known) for known in completed)
        ]
        if not waiting:
            return
        for point in waiting:
            completed.append(point)
            _complete(found, point)


def _follow_ends(found: Found, ended: list[OrganisingPoint]) -> None:
    """Follow the lines that meet those of stable states in their end points, unless they are known.

    Where a state of a line becomes unstable one goes on with that which is born there, and where a line ends with a
    state that is born, one with the state it is born of.
    """
    for line in [each for each in found.curves if each.type == "transition"]:
        for point in line.special_points:
            if point.type != "end point" or any(found.same_place(point, known) for known in ended):
                continue
            ended.append(point)
            value, coupling = float(point.values[0]), float(point.coupling)
            passes = _passes_stable(line, point)
            if passes is None or not found.window.contains(value, coupling):
                continue
            if found.passing("transition", value, coupling) < 2:
                origin = f"from the end point at {value:.6g}"
                add_curve(found, origin, point, "the line that goes on from an end point", born=passes)


def _passes_stable(line: Curve, point: OrganisingPoint) -> bool | None:
    """Return whether a line goes on with an unstable state behind an end point of it, True, or ends there, False.

    None where its states are stable on neither side, or are one.
    """
    row = int(np.argmin(np.abs(line.values - point.values).max(axis=1)))
    around = [line.unstable[place] for place in (row - 1, row + 1) if 0 <= place < len(line)]
    if 0 not in around:
        return None
    if len(around) == 2:
        return True
    own, *others = states_of(point)
    domain = line.problem.domain
    lengths = [_lengths(domain, point.layout, *state) for state in (own, *others)]
    one = not others or any(np.abs(lengths[0] - each).max() <= SAME_STATE for each in lengths[1:])
    return None if one else False


def _triple_points(found: Found, first: int, second: int) -> list[OrganisingPoint]:
    """Return the triple points in the window at which two lines, by number, cross."""
    lines = found.curves[first], found.curves[second]
    graphs = (graphs_of(0, found.tracks[index]) for index in (first, second))
    points = []
    places = {
        (x, float(one.at(np.array([x]))[0])) for one, other in product(*graphs) for x in crossings(one, other)
    }
    for place in places | _on_walls(found.tracks[first], found.tracks[second]):
        pairs = product(_beside(found, first, place), _beside(found, second, place))
        labels = lines[0].label, lines[1].label
        tried = (_triple_point(found, one, other, labels, place) for one, other in pairs)
        point = next((point for point in tried if point is not None), None)
        if point is not None and found.window.contains(float(point.values[0]), float(point.coupling)):
            points.append(point)
    return points


def _triple_point(
    found: Found, one: CurvePoint, other: CurvePoint, labels: tuple[str, str], place: tuple[float, float]
) -> OrganisingPoint | None:
    """Return the triple point at a place, in the window as the unit square, beside points of two lines; or None."""
    window = found.window
    value, height = window.unscaled(*place)
    try:
        return triple_point(one, other, window.interval, labels, (value, height * window.unit(value)))
    except MeanfieldError as error:
        where = f"{window.parameter} = {value:.6g}"
        found.warnings.append(f"a triple point where lines cross at {where} was not looked for: {error}")
        return None


def _on_walls(one: Floats, other: Floats) -> set[tuple[float, float]]:
    """Return the places at which one of two tracks crosses a vertical piece of the other."""
    return {
        (wall.x, y)
        for walled, crossing in ((one, other), (other, one))
        for wall, graph in product(walls_of(walled), graphs_of(0, crossing))
        if graph.x[0] < wall.x < graph.x[-1]
        and wall.low <= (y := float(graph.at(np.array([wall.x]))[0])) <= wall.high
    }


def _beside(found: Found, index: int, place: tuple[float, float]) -> list[CurvePoint]:
    """Return the points of a line, by number, nearest to a place each time that the line passes it.

    Those whose state is not uniform, as it may be at the ends.
    """
    line, track = found.curves[index], found.tracks[index]
    clustered = np.flatnonzero(np.any(line.cosine[:, 1:], axis=1) | np.any(line.sine[:, 1:], axis=1))
    distances = np.linalg.norm(track - place, axis=1)
    around = np.concatenate([[np.inf], distances, [np.inf]])
    passing = np.flatnonzero((distances <= around[:-2]) & (distances <= around[2:]))
    passing = passing[np.argsort(distances[passing])][:PASSING]
    nearest = passing * (len(line) - 1) / (len(track) - 1)
    chosen = [int(clustered[np.argmin(np.abs(clustered - share))]) for share in nearest.tolist()]
    return [line.point(number) for number in dict.fromkeys(chosen)]


def _complete(found: Found, point: OrganisingPoint) -> None:
    """Follow the lines of a triple point that are not known: three that pass it may have other states there."""
    value = float(point.values[0])
    for pair in ((0, 1), (0, 2), (1, 2)):
        if any(_has_pair(line, point, pair) for line in found.curves):
            continue
        add_curve(found, f"from the triple point at {value:.6g}", point, "a line of a triple point", between=pair)


def _has_pair(line: Curve, point: OrganisingPoint, pair: tuple[int, int]) -> bool:
    """Return whether a first-order line has two states of a triple point there, in any orientation and order."""
    states = states_of(point)
    if line.type != "transition" or len(states) <= max(pair) or len(line) < 2:
        return False
    domain = line.problem.domain
    own = np.stack([_lengths(domain, point.layout, *states[number]) for number in pair])
    known = np.zeros((2, len(line), COMPARED))
    known[0] = _lengths(domain, line.layout, line.cosine, line.sine)
    if line.other_cosine is not None and line.other_sine is not None:
        known[1] = _lengths(domain, line.layout, line.other_cosine, line.other_sine)
    # Along a vertical line the coupling changes alone.
    column = int(line.vertical)
    along = CubicHermiteSpline(line.arclength, line.values[:, column], line.tangent[:, column])
    passed = along.solve((float(point.values[0]), float(point.coupling))[column], extrapolate=False)
    found = np.moveaxis(CubicSpline(line.arclength, known, axis=1)(passed), 1, 0)
    return any(np.abs(each - own).max() <= SAME_STATE for there in found for each in (there, there[::-1]))


def _lengths(domain: Domain, layout: Layout, cosine: Floats, sine: Floats) -> Floats:
    """Return the lengths of the moments of the first degrees, (..., COMPARED)."""
    known = moments_of(domain, layout, cosine, sine).lengths[..., 1 : COMPARED + 1]
    return np.concatenate([known, np.zeros((*known.shape[:-1], COMPARED - known.shape[-1]))], axis=-1)
