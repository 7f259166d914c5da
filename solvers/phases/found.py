"""The curves of a window that are known, and whether a point lies on one of them."""

import dataclasses
import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.interpolate import KroghInterpolator

from meanfield import Curve, CurvePoint, MeanfieldError, OrganisingPoint, SpecialPoint

from ..curves import curve
from .plane import graphs_of, walls_of
from .sections import Section
from .window import Window

Floats = npt.NDArray[np.float64]

# A special point nearer to a curve than this, in units of the window, is on it: cubics between points say no more.
ON_CURVE = 1e-5
# Within this the question is put to the polynomial through six points of the curve and their tangents, or through
# four where the curve turns at the others.
NEARBY, SIDES = 1e-3, (3, 2)
# A curve is about to turn where the rate of the parameter is below this share of its mean.
TURNING = 1e-3
# A curve along which the parameter changes by less, in units of the window, is one at which it has one value.
UPRIGHT = 1e-10
# Curves whose ends are nearer than this are one.
SAME_END = 1e-8
# Organising points nearer than this are one.
SAME_POINT = 1e-6


@dataclass
class Found:
    """Curves with their origins, organising points, the sections that met them, and warnings.

    ``unfollowed`` has the places of curves that are not followed by their names and the reason.
    """

    window: Window
    curves: list[Curve] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    points: list[OrganisingPoint] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unfollowed: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    tracks: list[Floats] = field(default_factory=list)

    def add(self, found: Curve, origin: str) -> None:
        """Add a curve, its organising points and its warnings, unless it has the ends of one that is known."""
        if any(known.type == found.type and self._same_ends(known, found) for known in self.curves):
            return
        self.curves.append(found)
        self.tracks.append(_upright(self.window.track(found)))
        for point in found.special_points:
            if self.window.contains(float(point.values[0]), float(point.coupling)):
                self.add_point(point)
        self.origins.append(self._origin(found) or origin)
        self.warnings += [f"{found.label}: {warning}" for warning in found.warnings]

    @property
    def borders(self) -> list[Floats]:
        """The pieces of the tracks on which no direction of a state is unstable but those that change there.

        Elsewhere no stable state begins, ends or becomes the lowest. All tracks where one of the sections left a
        stable branch: a region with what is not known of it is the smaller.
        """
        if any(section.leaves_stable_states for section in self.sections):
            return self.tracks
        return [piece for pair in zip(self.curves, self.tracks, strict=True) for piece in _stable_pieces(*pair)]

    def _origin(self, found: Curve) -> str:
        """Return the tricritical point in which a curve of folds or a line begins, in words; empty if in none."""
        # Curves of branch points and thresholds pass theirs.
        if found.type not in ("fold", "transition"):
            return ""
        known = (point for point in self.points if point.type == "tricritical")
        ends = (point for point in known if any(self.same_place(point, own) for own in found.special_points))
        return next((f"from the tricritical point at {point.values[0]:.6g}" for point in ends), "")

    def add_point(self, point: OrganisingPoint) -> None:
        """Add an organising point, or the curves through it to those of a point known already."""
        for index, other in enumerate(self.points):
            # Lines end in points of other curves.
            types = {other.type, point.type}
            one = len(types) == 1 or ("end point" in types and "triple point" not in types)
            # Where a state is born without a confinement that acts on its mode two folds end in each other.
            cusp = types == {"cusp", "mode interaction"} and _is_uniform(other) and _is_uniform(point)
            if (one or cusp) and self.same_place(other, point):
                kept = other if point.type == "end point" or (cusp and other.type == "cusp") else point
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
        # Where a curve ends its parameter is known to rounding.
        beside = [(graph, min(max(x, graph.x[0]), graph.x[-1])) for graph in graphs_of(0, track)]
        distances = np.array(
            [
                abs(float(graph.at(np.array([inside]))[0]) - y)
                for graph, inside in beside
                if abs(inside - x) <= ON_CURVE
            ]
        )
        near = int(np.count_nonzero(distances <= NEARBY))
        is_on = bool((distances <= ON_CURVE).any()) or (near > 0 and self._passes(curve, value, coupling))
        return walls + (near if is_on else 0)

    def _passes(self, curve: Curve, value: float, coupling: float) -> bool:
        """Return whether a curve passes through a point, by polynomials in the parameter about it."""
        height = self.window.scaled(value, coupling)[1]
        ratios = np.asarray(curve.second / coupling, dtype=float)
        slopes = np.asarray(curve.tangent[:, 1] / curve.second, dtype=float)
        before = np.flatnonzero((curve.first[:-1] - value) * (curve.first[1:] - value) <= 0.0).tolist()
        for place, side in itertools.product(before, SIDES):
            around = slice(max(0, place + 1 - side), place + 1 + side)
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
        """Return whether two curves, both followed as far as they go, have the same ends and states there.

        States are the same up to a turn by half of a circle.
        """
        last = [0, -1]
        ends = [
            np.column_stack([each.first[last], np.log(np.abs(each.second[last])), np.abs(each.moment(1)[last])])
            for each in (one, other)
        ]
        if not np.isfinite(ends).all():
            return False
        return any(np.max(np.abs(ends[0] - each)) <= SAME_END for each in (ends[1], ends[1][::-1]))

    def _scaled(self, point: OrganisingPoint) -> Floats:
        return np.array(self.window.scaled(float(point.values[0]), float(point.coupling)))


def add_curve(
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
        place = window.shown(start.problem)
        where = f"{window.parameter} = {place:.6g}, coupling = {float(start.coupling):.6g}"
        found.unfollowed.setdefault((words, f": {error}"), []).append(where)
        return
    found.add(followed, origin)


def _upright(track: Floats) -> Floats:
    """Return a track on which the parameter differs by rounding only with one value of it."""
    x = track[:, 0]
    if np.ptp(x) <= UPRIGHT:
        return np.column_stack([np.full_like(x, np.median(x)), track[:, 1]])
    return track


def _is_uniform(point: OrganisingPoint) -> bool:
    """Return whether the state of an organising point is the uniform one up to rounding."""
    return float(np.abs(point.cosine[1:]).max()) <= SAME_POINT


def _stable_pieces(curve: Curve, track: Floats) -> list[Floats]:
    """Return the pieces of the track of a curve beside points without unstable directions, or not counted ones."""
    stable = curve.unstable <= 0
    # Kinks of the critical coupling put a few further places into the track.
    beside = np.convolve(stable, np.ones(3))[1:-1] > 0.0
    rows = np.linspace(0.0, len(curve) - 1, len(track))
    kept = beside[np.floor(rows).astype(int)] | beside[np.ceil(rows).astype(int)]
    cuts = np.flatnonzero(np.diff(kept)) + 1
    return [piece for piece, own in zip(np.split(track, cuts), np.split(kept, cuts), strict=True) if own[0]]
