"""What a branch passes in one step between two points: events, and a more symmetric state.

The step is searched on both sides of such a state, at which the branch's own direction is neutral.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

from ..bases import EPS, Floats
from ..equations.counts import Counts
from ..equations.equation import StationaryEquation
from ..linear_algebra.inertia import nearly_null
from ..root_finding.newton import ROUNDING
from .arrivals import Arrival
from .continuation import Point, length, point_between, turns_twice
from .detection import (
    CurveBetween,
    Event,
    around_zero,
    energy_passes,
    events_between,
    is_quiet,
    transitions_between,
)
from .hermite import hermite
from .junctions import INSEPARABLE, branch_end, slope_towards
from .oscillations import hopf_between

# Where events are known only to this share of the coupling or worse, points of two branches may have been taken for
# neighbours; steps are not divided below the other number.
DOUBTFUL, FINEST = 1e-6, 1e-4
# Near the uniform state branches are as close to each other as it is: steps that seem to leap are divided further,
# down to this share of its size. They do if a chord of length one misses the mean of its tangents by the other one:
# on a smooth curve by a twelfth of the change of curvature along it times its squared length, here 14 degrees.
FINEST_SHARE, LEAP = 1e-3, 0.02
# A branch has met the uniform state at an amplitude of this share of the distance of further critical couplings:
# what its square excites of their modes is then as small a share of it.
SMALL = 0.1
# The cubic through two points at a distance h is off the curve by h^4/384 times its fourth derivative: a state off
# it by this share of h, 0.05 at the most, is on another branch, or h is too long for a curve that bends so sharply.
OFF_CURVE = 1e-3
# A branch turns at a state if its slope there is below this share of those beside it.
TURNING = 1e-2
# Eigenvalues of J below this at a located branch point belong to its kernel.
KERNEL = 1e-7
# The way to a more symmetric state is searched up to this share of it or this distance: the eigenvalue of the
# branch's own direction, which vanishes there as the square of the distance, is then far above rounding.
BESIDE, NEAREST = 1.0 / 64.0, 1e-3
# Pairs of complex rates are looked for up to this share of a step from where a real one vanishes.
APART = 1e-4
# How often the distance to a more symmetric state is halved.
HALVINGS = 20
# Determinants are not quite convex: their lines may miss each other by this share of a step.
MARGIN = 0.1


@dataclass(slots=True)
class Passage:
    """Events between two points, and the change of the unstable count that they do not explain.

    ``neutral``: as many eigenvalues as change their sign without an event are within rounding of zero;
    ``aside``: an event is off the cubic through the two points, or a fold changes no direction between them.
    """

    first: Point
    second: Point
    counts: tuple[Counts, Counts]
    events: list[Event]
    missing: int
    neutral: bool
    aside: bool

    @property
    def doubtful(self) -> bool:
        """Whether the two points may be on two branches, or two folds be between them.

        Where the state's own block becomes singular without a fold, as on two branches that nearly cross, it may,
        unless they cross to rounding.
        """
        unexplained = self.missing != 0 and not self.neutral
        return (
            unexplained
            or self.aside
            or any(event.error > DOUBTFUL * event.point.q or nearly_crosses(event) for event in self.events)
            or turns_twice(self.first, self.second)
        )


@dataclass(slots=True)
class Step:
    """Two neighbouring points of a branch, and what it passes between them.

    ``passages`` are one, or those on the two sides of a more symmetric state that is met, which is the event
    ``meeting``; if the branch ends there, it is searched up to it only. ``transitions`` are between a passage and
    that state; with ``unlocated`` there is one more that was not found.
    """

    first: Point
    second: Point
    passages: list[Passage]
    arrival: Arrival | None = None
    meeting: Event | None = None
    transitions: Sequence[Event] = ()
    unlocated: bool = False

    @property
    def doubtful(self) -> bool:
        """Whether the step may have missed something that smaller ones would not."""
        way = self.second.arclength - self.first.arclength
        if self.arrival is not None and way > _finest(self.first):
            certain = _through(self.arrival, self.first, self.second)
            if not certain or self.elsewhere or _folds_beside(self.arrival, self.first, self.second):
                return True
        divisible = way > FINEST or (
            self.arrival is None and way > _finest(self.second) and _leaps(self.first, self.second)
        )
        return divisible and any(passage.doubtful for passage in self.passages)

    @property
    def elsewhere(self) -> bool:
        """Whether the more symmetric state is beside the curve: that of another branch, near this one."""
        if self.meeting is None or not np.any(self.meeting.point.b):
            return False
        way = self.second.arclength - self.first.arclength
        return _missed(self.first, self.second, self.meeting.point) > OFF_CURVE * way

    @property
    def events(self) -> list[Event]:
        """The events on the way, in order."""
        events = [event for passage in self.passages for event in passage.events]
        events += [*self.transitions] if self.meeting is None else [*self.transitions, self.meeting]
        return sorted(events, key=lambda event: event.point.arclength)

    @property
    def end(self) -> Point:
        """The state at which the branch ends, by default the second point."""
        return self.meeting.point if self.meeting is not None and self.meeting.kind == "endpoint" else self.second


def hidden_crossing(knots: Sequence[tuple[float, Counts] | None]) -> float | None:
    """Return the arclength beside which two directions may change their stability and back; None if none does.

    A determinant that vanishes twice between two points is convex there, and so the lines through those on either
    side of the step vanish in it, one after the other.

    Parameters
    ----------
    knots
        Arclengths and counts at four points in a row, the step in the middle; None for one that is not known.
    """
    before, first, second, after = knots
    if first is None or second is None:
        return None
    (low, one), (high, two) = first, second
    slack = MARGIN * (high - low)
    for name, value in one.determinants.items():
        if not value * two.determinants.get(name, 0.0) > 0.0:
            continue
        falls = low if before is None else _vanishing(first, before, name)
        if not low <= falls < high:
            continue
        rises = high if after is None else _vanishing(second, after, name)
        if falls < rises + slack <= high + slack and (before is not None or after is not None):
            return min(max(0.5 * (falls + rises), low + slack), high - slack)
    return None


def _vanishing(inner: tuple[float, Counts], outer: tuple[float, Counts], name: Hashable) -> float:
    """Return the arclength at which the line of a determinant through two points vanishes beyond the inner one.

    Infinity with the sign of the way if it does not.
    """
    value, other = inner[1].determinants[name], outer[1].determinants.get(name, np.nan)
    way = inner[0] - outer[0]
    share = value / (other - value) if other != value else np.inf
    return inner[0] + way * share if share > 0.0 else np.inf * way


def quiet_along(points: Sequence[Point], counts: Sequence[Counts]) -> list[bool]:
    """Return for neighbouring points of a branch whether many at once show that nothing is passed between them.

    Then :func:`step_between` returns None; elsewhere it is to be asked.
    """
    equation = points[0].equation
    if any(point.equation is not equation for point in points):
        return [False] * (len(points) - 1)
    none_met = equation.densities.meets_none(points)
    return [
        alone and is_quiet(*pair, both) and not turns_twice(*pair)
        for alone, pair, both in zip(none_met, pairwise(points), pairwise(counts), strict=True)
    ]


def step_between(first: Point, second: Point, counts: Counts, new: Counts) -> Step | None:
    """Return what a branch passes between two neighbouring points with their unstable counts; None for nothing."""
    arrival = second.equation.densities.meeting(first, second)
    if arrival is None and is_quiet(first, second, (counts, new)) and not turns_twice(first, second):
        return None
    if arrival is None:
        return Step(first, second, [passage_between(first, second, counts, new)])
    if arrival.reflecting:
        return _joining(first, second, counts, arrival)
    return _crossing(first.on(second.equation), second, counts, new, arrival)


def _joining(first: Point, second: Point, counts: Counts, arrival: Arrival) -> Step:
    """Return the step in which a branch ends at a more symmetric state."""
    met = _met(first, arrival)
    met.arclength = first.arclength + length(met.b - first.b, met.q - first.q)
    before = _before(first, met, counts)
    event = Event("endpoint", met, arrival.error, description=f"joins {arrival.met}")
    event.before = event.after = sum(counts if before is None else before.counts[1])
    found = [_compared(first if before is None else before.second, met, event.before)]
    return Step(first, second, [] if before is None else [before], arrival, event, *_transitions(found))


def _crossing(first: Point, second: Point, counts: Counts, new: Counts, arrival: Arrival) -> Step:
    """Return the step in which a branch passes through a more symmetric state."""
    met = _met(first, arrival)
    sizes = [length(met.b - end.b, met.q - end.q) for end in (first, second)]
    met.arclength = first.arclength + (second.arclength - first.arclength) * sizes[0] / sum(sizes)
    before, after = _before(first, met, counts), _after(met, second, new)
    event = Event("branch point", met, arrival.error, description=f"crosses {arrival.met}")
    event.before = sum(counts if before is None else before.counts[1])
    event.after = sum(new if after is None else after.counts[0])
    event.kernel_dimension = arrival.kernel_dimension
    sides = first if before is None else before.second, second if after is None else after.first
    found = [_compared(sides[0], met, event.before), _compared(sides[1], met, event.after)]
    return Step(
        first, second, [each for each in (before, after) if each is not None], arrival, event, *_transitions(found)
    )


def _before(first: Point, met: Point, counts: Counts) -> Passage | None:
    """Return what is passed on the way to a more symmetric state; None if it is beside that, or no point is."""
    beside = _beside(first, met, met.arclength, -1.0)
    return None if beside is None else _certain(passage_between(first, beside, counts, _counts(beside)))


def _after(met: Point, second: Point, counts: Counts) -> Passage | None:
    """Return what is passed on the way from a more symmetric state; None if it is beside that, or no point is."""
    beside = _beside(met, second, met.arclength, 1.0)
    return None if beside is None else _certain(passage_between(beside, second, _counts(beside), counts))


def _beside(first: Point, second: Point, arclength: float, side: float) -> Point | None:
    """Return the point between two on a side of one of them; None if the other is nearer, or it is not found."""
    way = second.arclength - first.arclength
    distance = max(BESIDE * way, NEAREST)
    return point_between(first, second, arclength + side * distance) if distance < way else None


def _transitions(found: Sequence[list[Event] | None]) -> tuple[list[Event], bool]:
    """Return the transitions on the sides of a more symmetric state, and whether one was not found."""
    return [event for each in found for event in each or ()], None in found


def _compared(known: Point, met: Point, count: int | None) -> list[Event] | None:
    """Return where the free energy is that of the uniform state between a point and a more symmetric state nearby.

    At that the tangent is not known as elsewhere: points are taken nearer to it until none is between. None if it
    is somewhere there that was not found.
    """
    if not energy_passes(known, met):
        return []
    distance = known.arclength - met.arclength
    for _ in range(HALVINGS):
        distance *= 0.5
        ends = (known, met) if distance < 0.0 else (met, known)
        nearer = point_between(*ends, met.arclength + distance)
        if nearer is None:
            return None
        if nearer.invariant * met.invariant > 0.0:
            found = transitions_between(*((known, nearer) if distance < 0.0 else (nearer, known)))
            for event in found:
                event.before = event.after = count
            return found or None
    return None


def _counts(point: Point) -> Counts:
    return point.equation.densities.unstable_counts(point)


def _is_counted(point: Point) -> bool:
    return point.equation.densities.is_counted(point)


def _certain(passage: Passage) -> Passage | None:
    """Return a passage to or from a more symmetric state, or None if that is so near that signs are rounding."""
    return None if passage.missing != 0 and passage.neutral else passage


def passage_between(last: Point, point: Point, counts: Counts, new: Counts) -> Passage:
    """Return the events between two neighbouring points with their unstable counts, and what these leave open."""
    events = events_between(last, point, (counts, new))
    running, whole = sum(counts), sum(new) - sum(counts)
    if not point.equation.symmetric:
        explained = sum(_change(event, last, point) for event in events)
        if abs(whole - explained) > 1 or any(event.kind == "fold" for event in events):
            events = sorted([*events, *_oscillations(last, point, events)], key=lambda event: event.point.arclength)
    for event in events:
        change = _change(event, last, point)
        if not point.equation.symmetric and len(events) == 1 and change == -whole:
            # Matrices that are not similar to the linearised equation are singular where it is; the signs beside
            # that need not agree.
            change = whole
        event.before, running = running, running + change
        event.after = running
    missing = sum(new) - running
    neutral = missing != 0 and (
        abs(missing) <= max(_nearly_neutral(last), _nearly_neutral(point))
        or not (_is_counted(last) and _is_counted(point))
    )
    aside = any(_aside(event.point, last, point) for event in events)
    if point.equation.symmetric and any(event.kind == "fold" for event in events):
        # A fold changes the stability of one direction of the branch's own symmetry; another event changes it back.
        aside |= last.unstable == point.unstable and not _nearly_neutral(last) and not _nearly_neutral(point)
    return Passage(last, point, (counts, new), events, missing, neutral, aside)


def _oscillations(last: Point, point: Point, events: Sequence[Event]) -> list[Event]:
    """Return the Hopf bifurcations between two points, on both sides of the other events there.

    A real rate that vanishes there is one of those by whose order pairs are told: one that rises and a pair that
    falls leave the count as a single one that falls does.
    """
    room, begin, parts = APART * (point.arclength - last.arclength), last, []
    for event in events:
        sides = (point_between(last, point, event.point.arclength + side * room) for side in (-1.0, 1.0))
        before, after = (event.point if beside is None else beside for beside in sides)
        parts.append((begin, before))
        begin = after
    parts.append((begin, point))
    return [
        found
        for first, second in parts
        if first.arclength < second.arclength
        for found in hopf_between(CurveBetween(first, second))
    ]


def nearly_crosses(event: Event) -> bool:
    """Return whether the own block becomes singular at a point that is no crossing to rounding."""
    if event.meets or not any(block.own for block in event.blocks):
        return False
    return not event.point.equation.densities.turns_freely(event.point, event.error)


def _aside(between: Point, last: Point, point: Point) -> bool:
    """Return whether a point between two points is off the cubic through them, as on an arm of another curve."""
    b, q = hermite((last, point), between.arclength)
    missed = length(between.on(point.equation).b - b, between.q - q)
    return missed > LEAP * (point.arclength - last.arclength) + ROUNDING


def _nearly_neutral(point: Point) -> int:
    """Return the number of directions, over all blocks, whose eigenvalues are within rounding of zero."""
    blocks = point.equation.densities.blocks_of(point)
    counts = ((block.multiplicity, around_zero(point, block)) for block in blocks)
    return sum(multiplicity * (above - below) for multiplicity, (below, above) in counts)


def _change(event: Event, last: Point, point: Point) -> int:
    """Return the change of the unstable count at an event; at a fold one even direction changes."""
    if event.kind != "fold":
        return event.change
    return point.unstable - last.unstable if abs(point.unstable - last.unstable) == 1 else 0


def _missed(first: Point, second: Point, met: Point) -> float:
    """Return the distance of a state, turned to the branch, from the cubic through two points across the chord."""
    first, met = first.on(second.equation), met.on(second.equation)
    met_b = second.equation.unturned(met.b, second.b, second.moments)
    way_b, way_q = second.b - first.b, second.q - first.q

    def ahead(arclength: float) -> float:
        b, q = hermite((first, second), arclength)
        return float(way_b @ (b - met_b)) + way_q * (q - met.q)

    ends = first.arclength, second.arclength
    if not ahead(ends[0]) < 0.0 < ahead(ends[1]):
        return min(length(met_b - end.b, met.q - end.q) for end in (first, second))
    b, q = hermite((first, second), float(brentq(ahead, *ends, xtol=4 * EPS * max(1.0, ends[1]), rtol=4 * EPS)))
    return length(b - met_b, q - met.q)


def _finest(point: Point) -> float:
    """Return the smallest step at a point, which is not divided any more."""
    return min(FINEST, FINEST_SHARE * length(point.b, 0.0))


def _leaps(last: Point, point: Point) -> bool:
    """Return whether a chord departs from its tangents by more than the order of the angle squared."""
    older = last.on(point.equation)
    chord_b, chord_q = point.b - older.b, point.q - older.q
    mean_b = older.solution.tangent_b + point.solution.tangent_b
    mean_q = older.solution.tangent_q + point.solution.tangent_q
    size, whole = length(chord_b, chord_q), length(mean_b, mean_q)
    return length(chord_b / size - mean_b / whole, chord_q / size - mean_q / whole) > LEAP


def _through(arrival: Arrival, last: Point, point: Point) -> bool:
    """Return whether an arrival is certain: at the uniform state, whether no other branch is between two points.

    That is so at amplitudes small against the distance of the thresholds next to its own: there the equation off
    the kernel is regular, and the branch along the kernel is the only one.
    """
    end = arrival.point
    if end.leaving is None or np.any(end.b):
        return True
    others = np.abs(end.equation.distances(end.q))
    nearest = float(others[others > INSEPARABLE].min(initial=1.0))
    return max(length(last.b, 0.0), length(point.b, 0.0)) <= SMALL * nearest


def _folds_beside(arrival: Arrival, last: Point, point: Point) -> bool:
    """Return whether a branch that passes through a more symmetric state between two points turns there as well.

    Not at the state itself, at which it does where its two sides differ in higher order only.
    """
    slopes = last.solution.tangent_q, point.solution.tangent_q
    if arrival.reflecting or slopes[0] * slopes[1] >= 0.0:
        return False
    there = _met(last.on(point.equation), arrival).solution.tangent_q
    return abs(there) > TURNING * max(map(abs, slopes))


def _met(last: Point, arrival: Arrival) -> Point:
    """Return the more symmetric state that a branch meets, with the tangent of the branch."""
    equation = last.equation
    b = equation.densities.nearest_image(arrival.point, last)
    q = equation.q_at(arrival.value)
    kernel = _kernel(equation, b, q, last)
    return branch_end(equation, b, q, kernel, 0.0 if arrival.reflecting else slope_towards(last, b, q, kernel))


def _kernel(equation: StationaryEquation, b: Floats, q: float, last: Point) -> Floats:
    """Return the unit kernel vector of J nearest to the tangent of an arriving branch."""
    jacobian, _ = equation.linearise(b, q, equation.evaluate(b, q).gibbs.moments)
    near = nearly_null(jacobian, KERNEL, equation.symmetric)
    kernel = near @ (near.T @ last.solution.tangent_b)
    return np.asarray(kernel / np.linalg.norm(kernel))
