"""Which curves there are in a window: those of the uniform branch, and those that diagrams at fixed values meet.

Every fold, every point of equal free energy and every secondary branch point of a bifurcation diagram lies on a
curve. Diagrams are taken on both sides of every organising point of the uniform branch, where curves begin, and at
a few values between; a special point that lies on no known curve starts one.
"""

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.interpolate import KroghInterpolator

from meanfield import Curve, CurvePoint, Domain, MeanfieldError, OrganisingPoint, SpecialPoint
from meanfield.harmonics import Layout, moments_of

from ..curves import curve
from ..two_parameters import STARTS, triple_point, zero_field_point
from ..watching import Watch
from .plane import crossings, graphs_of, walls_of
from .sections import Section
from .uniform import organising_point, threshold_curves, threshold_modes, uniform_points, unresolved
from .window import BESIDE, Window, evenly

Floats = npt.NDArray[np.float64]

# A special point nearer to a curve than this, in units of the window, is on it: cubics between points say no more.
ON_CURVE = 1e-5
# Within this the question is put to the polynomial through four points of the curve and their tangents.
NEARBY = 1e-3
# A curve is about to turn where the rate of the parameter is below this share of its mean.
TURNING = 1e-3
# Curves whose ends are nearer than this are one.
SAME_END = 1e-8
# So many times a line may pass a place at which it crosses another.
PASSING = 3
# Organising points nearer than this are one.
SAME_POINT = 1e-6
# The heights, as shares of the way to the strongest coupling of the window, at which states on two sides of zero
# field are taken; their moments are those of a known line within this, between the points of that.
HEIGHTS, SAME_STATE = (0.99, 0.75, 0.5, 0.25, 0.1), 0.02
# So do those of a triple point, by the moments of so many degrees.
COMPARED = 4
# Distance of a section from an organising point, in windows, and its largest share of the way to the next one.
ASIDE, SHARE = 0.02, 0.4


@dataclass
class Found:
    """Curves with their origins, organising points, the sections that met them, and warnings."""

    window: Window
    curves: list[Curve] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    points: list[OrganisingPoint] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unfollowed: dict[str, list[float]] = field(default_factory=dict)
    tracks: list[Floats] = field(default_factory=list)

    def add(self, found: Curve, origin: str) -> None:
        """Add a curve, its organising points and its warnings, unless it has the ends of one that is known."""
        if any(known.type == found.type and self._same_ends(known, found) for known in self.curves):
            return
        self.curves.append(found)
        self.tracks.append(self.window.track(found))
        for point in found.special_points:
            if self.window.contains(float(point.values[0]), float(point.coupling)):
                self.add_point(point)
        known = [
            point
            for point in self.points
            if point.type == "tricritical" and any(self.same_place(point, own) for own in found.special_points)
        ]
        if found.type == "branch point":
            # It passes them.
            known = []
        self.origins.append(f"from the tricritical point at {known[0].values[0]:.6g}" if known else origin)
        self.warnings += [f"{found.label}: {warning}" for warning in found.warnings]

    def add_point(self, point: OrganisingPoint) -> None:
        """Add an organising point, or the curves through it to those of a point known already."""
        for index, other in enumerate(self.points):
            # Lines end in points of other curves.
            types = {other.type, point.type}
            one = len(types) == 1 or ("end point" in types and "triple point" not in types)
            if one and self.same_place(other, point):
                kept = other if point.type == "end point" else point
                joined = tuple(dict.fromkeys(other.curves + point.curves))
                self.points[index] = dataclasses.replace(kept, curves=joined)
                return
        self.points.append(point)

    def join_births(self) -> None:
        """Add the branch points on which they lie to the points at which states are born without a confinement."""
        for index, point in enumerate(self.points):
            if point.type == "mode interaction" and not np.any(point.cosine[1:]):
                place = float(point.values[0]), float(point.coupling)
                known = zip(self.curves, self.tracks, strict=True)
                through = [each.label for each, track in known if self._times_on(each, track, *place)]
                joined = tuple(dict.fromkeys((*point.curves, *through)))
                self.points[index] = dataclasses.replace(point, curves=joined)

    def knows(self, kind: str, value: float, coupling: float) -> bool:
        """Return whether a point lies on a curve of a type."""
        return self.passing(kind, value, coupling) > 0

    def passing(self, kind: str, value: float, coupling: float) -> int:
        """Return how often curves of a type pass a point."""
        tracks = zip(self.curves, self.tracks, strict=True)
        return sum(self._times_on(known, track, value, coupling) for known, track in tracks if known.type == kind)

    def _times_on(self, curve: Curve, track: Floats, value: float, coupling: float) -> int:
        """Return how often a curve with a track passes a point."""
        x, y = self.window.scaled(value, coupling)
        walls = sum(abs(wall.x - x) <= ON_CURVE and wall.low <= y <= wall.high for wall in walls_of(track))
        graphs = [graph for graph in graphs_of(0, track) if graph.x[0] <= x <= graph.x[-1]]
        distances = np.array([abs(float(graph.at(np.array([x]))[0]) - y) for graph in graphs])
        near = int(np.count_nonzero(distances <= NEARBY))
        is_on = bool((distances <= ON_CURVE).any()) or (near > 0 and self._passes(curve, value, coupling))
        return walls + (near if is_on else 0)

    def _passes(self, curve: Curve, value: float, coupling: float) -> bool:
        """Return whether a curve passes through a point, by the polynomial in the parameter about it."""
        height = self.window.scaled(value, coupling)[1]
        ratios = np.asarray(curve.second / coupling, dtype=float)
        slopes = np.asarray(curve.tangent[:, 1] / curve.second, dtype=float)
        for place in np.flatnonzero((curve.first[:-1] - value) * (curve.first[1:] - value) <= 0.0).tolist():
            around = slice(max(0, place - 1), place + 3)
            places, rates = curve.first[around], curve.tangent[around, 0]
            mean = np.ptp(places) / np.ptp(curve.arclength[around]) * np.sign(places[-1] - places[0])
            if np.any(rates * mean <= TURNING * mean**2) or np.any(ratios[around] <= 0.0):
                # The curve turns, or passes zero.
                continue
            logarithms = np.column_stack([np.log(ratios[around]), slopes[around] / rates]).ravel()
            there = float(KroghInterpolator(np.repeat(places, 2), logarithms)(value))
            # Of a polynomial that does not fit the exponential may overflow.
            if (
                abs(there) < 1.0
                and abs(self.window.scaled(value, coupling * np.exp(there))[1] - height) <= ON_CURVE
            ):
                return True
        return False

    def same_place(self, one: OrganisingPoint, other: OrganisingPoint) -> bool:
        """Return whether two organising points are at one place."""
        return bool(np.max(np.abs(self._scaled(one) - self._scaled(other))) <= SAME_POINT)

    def _same_ends(self, one: Curve, other: Curve) -> bool:
        """Return whether two curves, both followed as far as they go, have the same ends and states there."""
        ends = [
            np.column_stack([curve.first[[0, -1]], np.log(np.abs(curve.second[[0, -1]])), curve.moment(1)[[0, -1]]])
            for curve in (one, other)
        ]
        if not np.isfinite(ends).all():
            return False
        return any(np.max(np.abs(ends[0] - each)) <= SAME_END for each in (ends[1], ends[1][::-1]))

    def _scaled(self, point: OrganisingPoint) -> Floats:
        return np.array(self.window.scaled(float(point.values[0]), float(point.coupling)))


def curves_of(window: Window, count: int, search: bool, watch: Watch) -> Found:
    """Return all curves in a window.

    Parameters
    ----------
    count
        Number of sections besides those about organising points.
    search
        Whether sections look for branches connected to no other.
    """
    watch(0, None, "thresholds")
    uniform = window.problem.confinement is None
    modes = threshold_modes(window) if uniform else []
    organising = uniform_points(window, modes)
    window = dataclasses.replace(window, kinks=tuple(p.value for p in organising if p.type == "mode interaction"))
    found = Found(window, warnings=unresolved(window, modes))
    for mode in modes:
        for threshold in threshold_curves(window, mode, organising):
            found.add(threshold, "in closed form")
    for point in organising:
        found.add_point(organising_point(window, point))
    stops = [point.value for point in organising]
    values = _values(window, [*stops, *window.zero_fields], count)
    for number, value in enumerate(values):
        watch(number, len(values), f"{window.parameter} = {value:.4g}")
        section = Section(window, value, search)
        found.sections.append(section)
        _follow(found, section, watch)
        _follow_exchanges(found, section)
    _follow_tricritical(found)
    for value in window.zero_fields:
        follow_zero_field(found, value)
    _follow_triple(found)
    found.warnings += _warnings(found)
    found.points.sort(key=lambda point: float(point.values[0]))
    return found


def _follow_exchanges(found: Found, section: Section) -> None:
    """Follow the points of equal free energy of two stable states of one branch that are on no known curve."""
    window = found.window
    for point in section.exchanges():
        if window.contains(section.value, point.coupling) and not found.knows(
            "transition", section.value, point.coupling
        ):
            _add_curve(found, _from(section), point, "the line on which two states of one branch exchange")


def _follow_tricritical(found: Found) -> None:
    """Follow the curves of folds and of equal free energy that begin where branches of clustered states turn."""
    for point in [point for point in found.points if point.type == "tricritical" and np.any(point.cosine[1:])]:
        known = {each.type for each in found.curves if each.label in point.curves}
        for kind in ("fold", "transition"):
            if kind not in known:
                origin = f"from the tricritical point at {point.values[0]:.6g}"
                _add_curve(found, origin, point, f"the {kind} of the branch born at a branch point", type=kind)


def follow_zero_field(found: Found, value: float) -> None:
    """Follow the lines of equal free energy of states that are lowest on the two sides of where none confines.

    They are one state in two orientations, so that a line has one value of the parameter; at each of some heights
    they may be others.
    """
    window = found.window
    near = value + BESIDE * (window.interval[1] - window.interval[0])
    origin = "where the confinement vanishes"
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
        except MeanfieldError as error:
            said.add(str(error))
            continue
        if start is not None and not any(_has_state(line, start) for line in found.curves):
            # It does not leave the window and return, as others may.
            farthest = highest + (highest - lowest)
            _add_curve(found, origin, start, f"the line {origin}", largest_coupling=farthest)
            found.join_births()
    where = f"{window.parameter} = {value:.6g}"
    found.warnings += [f"a line {origin}, at {where}, is not followed: {each}" for each in sorted(said)]


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


def _follow_triple(found: Found) -> None:
    """Locate the triple points at which first-order lines cross, and follow their lines that are not known."""
    crossed: set[tuple[int, int]] = set()
    completed: list[OrganisingPoint] = []
    while True:
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
    """Follow the lines of a triple point that are not known, unless three are known to pass it."""
    value, coupling = float(point.values[0]), float(point.coupling)
    if found.passing("transition", value, coupling) >= 3:
        return
    for pair in ((0, 1), (0, 2), (1, 2)):
        if any(_has_pair(line, point, pair) for line in found.curves):
            continue
        _add_curve(found, f"from the triple point at {value:.6g}", point, "a line of a triple point", between=pair)


def _has_pair(line: Curve, point: OrganisingPoint, pair: tuple[int, int]) -> bool:
    """Return whether a first-order line has two states of a triple point there, in any orientation and order."""
    if line.type != "transition" or point.other_cosine is None or point.other_sine is None:
        return False
    states = [(point.cosine, point.sine), *zip(point.other_cosine, point.other_sine, strict=True)]
    domain = line.problem.domain
    own = np.stack([_lengths(domain, point.layout, *states[number]) for number in pair])
    known = np.zeros((2, len(line), COMPARED))
    known[0] = _lengths(domain, line.layout, line.cosine, line.sine)
    if line.other_cosine is not None and line.other_sine is not None:
        known[1] = _lengths(domain, line.layout, line.other_cosine, line.other_sine)
    value = float(point.values[0])
    for place in np.flatnonzero((line.first[:-1] - value) * (line.first[1:] - value) <= 0.0).tolist():
        before, after = line.first[place : place + 2].tolist()
        share = (value - before) / (after - before) if after != before else 0.5
        there = (1.0 - share) * known[:, place] + share * known[:, place + 1]
        if min(float(np.abs(each - own).max()) for each in (there, there[::-1])) <= SAME_STATE:
            return True
    return False


def _lengths(domain: Domain, layout: Layout, cosine: Floats, sine: Floats) -> Floats:
    """Return the lengths of the moments of the first degrees, (..., COMPARED)."""
    known = moments_of(domain, layout, cosine, sine).lengths[..., 1 : COMPARED + 1]
    return np.concatenate([known, np.zeros((*known.shape[:-1], COMPARED - known.shape[-1]))], axis=-1)


def _warnings(found: Found) -> list[str]:
    """Return what the sections warn of, once what differs in numbers only, and the curves that are not followed."""
    said: dict[str, list[tuple[float, str]]] = {}
    for section in found.sections:
        for warning in section.diagram.warnings:
            said.setdefault(re.sub(r"[\d.e+-]*\d", "#", warning), []).append((section.value, warning))
    parameter = found.window.parameter
    return [
        f"at {parameter} = {', '.join(f'{value:.6g}' for value, _ in own)}: {own[0][1]}" for own in said.values()
    ] + [
        f"the curve of the {name} at {parameter} = {', '.join(f'{value:.6g}' for value in values)} is not followed"
        for name, values in found.unfollowed.items()
    ]


def _values(window: Window, organising: Sequence[float], count: int) -> list[float]:
    """Return the parameters of sections: evenly spaced, and one on each side of every organising point."""
    low, high = window.interval
    stops = [low, *sorted(set(organising)), high]
    aside = ASIDE * (high - low)
    beside = [
        own + side * min(aside, SHARE * abs(stops[place + side] - own))
        for place, own in enumerate(stops)
        if 0 < place < len(stops) - 1
        for side in (-1, 1)
    ]
    values = sorted({*beside, *evenly(window.interval, count, (0.0, *window.zero_fields))})
    return [value for last, value in pairwise([-np.inf, *values]) if value - last > SAME_END * (high - low)]


def _follow(found: Found, section: Section, watch: Watch) -> None:
    """Follow the special points of a section that are on no known curve."""
    window, diagram = found.window, section.diagram
    for event in diagram.special_points:
        born = event.type == "branch point" and diagram.branches[event.branch].symmetry == 0
        if event.type == "endpoint" or born:
            continue
        if not window.contains(section.value, float(event.coupling)) or found.knows(
            event.type, section.value, float(event.coupling)
        ):
            continue
        name = f"{event.type} on {diagram.branches[event.branch].label}"
        if event.type not in STARTS:
            found.unfollowed.setdefault(name, []).append(section.value)
            continue
        watch(0, None, name)
        _add_curve(found, _from(section), event, f"the curve of the {name}")


def _from(section: Section) -> str:
    return f"from the diagram at {section.parameter} = {section.value:.6g}"


def _add_curve(
    found: Found,
    origin: str,
    start: SpecialPoint | OrganisingPoint | CurvePoint,
    words: str,
    **chosen: Any,
) -> None:
    """Add the curve through a point, or a warning that it is not followed.

    Parameters
    ----------
    chosen
        Which of several curves, as :func:`solvers.curve` has it, and how far it is followed.
    """
    window = found.window
    chosen.setdefault("largest_coupling", window.farthest)
    try:
        followed = curve(start, window.parameter, window.interval, **chosen)
    except MeanfieldError as error:
        assert start.problem is not None
        place = float(start.problem.parameters[window.parameter])
        where = f"{window.parameter} = {place:.6g}, coupling = {float(start.coupling):.6g}"
        found.warnings.append(f"{words} at {where} is not followed: {error}")
        return
    found.add(followed, origin)
