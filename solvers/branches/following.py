"""Following one branch from its departure to its end, with every event on the way.

The trace is consumed point by point: each new pair of points is counted, searched for events, and checked for the
three ways a branch ends inside its interval: on a more symmetric branch, back at its own start, or unresolved.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from meanfield import Outcome
from meanfield.equations import Capability

from ..bases import Floats
from ..equation import StationaryEquation
from ..inertia import nearly_null
from ..newton import NEUTRAL, ROUNDING
from .arclength import Arclength
from .arrivals import Arrival
from .continuation import End, Point, hermite, length, point_between, trace, turns_twice
from .detection import CERTAIN, Event, events_between
from .first_steps import first_point, leaves_at_end
from .junctions import INSEPARABLE, Departure, branch_end, slope_towards

# A vertical family is followed until its largest moment passes this: nothing new happens before its collapse.
VERTICAL_END = 0.9
# Eigenvalues of J below this are zero on such a family, whose states are known to half of the digits along it.
VERTICAL_NEUTRAL = 1e-9
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
# A branch that ends so may go on beyond its last point.
UNFINISHED = (Outcome.STEP_TOO_SMALL, Outcome.MAX_STEPS)
# Loops have at least so many points; the first points of a branch are not a return to its start.
FEWEST_IN_LOOP = 8
# A chord misses the curve by less than this share of its length, the tangents turning by up to 25 degrees.
MISSED = 0.3
# A branch turns at a state if its slope there is below this share of those beside it.
TURNING = 1e-2
# Eigenvalues of J below this at a located branch point belong to its kernel.
KERNEL = 1e-7


@dataclass(slots=True)
class Knot:
    """A point of a followed branch with its unstable count and the event there, if any."""

    point: Point
    unstable: int | None
    event: Event | None = None


@dataclass(slots=True)
class Followed:
    """A followed branch: its knots, outcome, arrivals and warnings."""

    departure: Departure | None
    knots: list[Knot]
    outcome: Outcome
    arrivals: list[Arrival] = field(default_factory=list)
    warnings: list[tuple[float, str]] = field(default_factory=list)
    vertical: bool = False

    def warn(self, text: str, point: Point | None = None) -> None:
        """Add a warning, once, with the arclength of a point, by default the end of the branch."""
        if all(text != known for _, known in self.warnings):
            self.warnings.append((self.knots[-1].point.arclength if point is None else point.arclength, text))


def own_count(point: Point, followed: Followed) -> int:
    """Return the number of unstable directions at a point of a branch; one of a vertical branch is neutral."""
    return own_counts([point], followed)[0]


def own_counts(points: list[Point], followed: Followed) -> list[int]:
    """Return the numbers of unstable directions at points of a branch."""
    densities = points[0].equation.densities
    if followed.vertical:
        return [sum(densities.unstable_counts(point, VERTICAL_NEUTRAL)) for point in points]
    return [sum(counts) for counts in densities.unstable_along(points)]


def follow(departure: Departure, method: Arclength, highest: float) -> Followed | None:
    """Return the branch of a departure, followed until it exceeds ``highest`` with rising coupling or ends.

    Parameters
    ----------
    highest
        Largest dimensionless coupling of interest.

    Returns
    -------
    Followed or None
        None if no state was found on the branch; without knots if no part of it is below ``highest``.
    """
    if departure.order == 0:
        return _follow_regular(departure, method, highest)
    if leaves_at_end(departure):
        return Followed(departure, [], Outcome.LEFT_INTERVAL)
    first, complete = first_point(departure)
    if first is None:
        return None
    base = departure.base(first)
    vertical = abs(first.q - departure.q) <= 1e-12 and abs(first.solution.tangent_q) <= 1e-10
    leaves = not vertical and _left(first, highest)
    if leaves and departure.q >= highest:
        return Followed(departure, [], Outcome.LEFT_INTERVAL)
    counts = first.equation.densities.unstable_counts(first, VERTICAL_NEUTRAL if vertical else NEUTRAL)
    followed = Followed(departure, [Knot(base.on(first.equation), sum(counts))], Outcome.MAX_STEPS)
    if not complete:
        followed.warn(
            f"the branch does not leave its branch point at {departure.place} in the way "
            f"its symmetry demands; something closer than an amplitude of {first.arclength:.1e} may be missing"
        )
    followed.vertical = vertical
    followed.knots.append(Knot(first, sum(counts)))
    if leaves:
        followed.outcome = Outcome.LEFT_INTERVAL
        return followed
    if vertical:
        _climb(followed, trace(first, method, first.arclength))
    else:
        # A branch born above may turn up and down again on its way.
        _extend(followed, method, first.arclength, counts, max(highest, departure.q))
    return followed


def _follow_regular(departure: Departure, method: Arclength, highest: float) -> Followed | None:
    """Return the branch through a regular state, followed upwards from the lowest q or downwards from the top."""
    start = departure.regular()
    if start is None:
        return None
    lowest = 0.0 if departure.equation.ends is None else departure.equation.ends[0]
    start.oriented(np.zeros_like(start.b), 1.0 if departure.q == lowest else -1.0)
    return follow_from(start, method, highest)


def follow_from(start: Point, method: Arclength, highest: float) -> Followed:
    """Return the branch from a regular state along its tangent, until it exceeds ``highest`` rising or ends."""
    counts = start.equation.densities.unstable_counts(start)
    followed = Followed(None, [Knot(start, sum(counts))], Outcome.MAX_STEPS)
    _extend(followed, method, method.max_step / 4, counts, highest)
    return followed


def _climb(followed: Followed, points: Iterator[Point | End]) -> None:
    """Append the points of a vertical family, along which there are no events before its collapse."""
    for point in points:
        if isinstance(point, End):
            _stop(followed, point)
            return
        followed.knots.append(Knot(point, followed.knots[-1].unstable))
        if float(np.abs(point.moments[1:]).max()) > VERTICAL_END:
            followed.outcome = Outcome.VERTICAL
            return


def _extend(
    followed: Followed, method: Arclength, first_step: float, counts: tuple[int, int], highest: float
) -> None:
    """Append the points of a trace with their counts and events until the branch ends.

    Where a change of the count is not explained by events that are located, the step may have passed over a sharp
    turn onto another branch, and is taken again in smaller ones. So it is where there may be two folds in one step,
    or one beside a more symmetric state through which the branch passes.
    """
    last = followed.knots[-1].point
    densities = last.equation.densities
    points = _counted(last, method, first_step, highest)
    while True:
        # Every trace counts its own points; taken again and again, they must not go on for ever.
        point, new = next(points) if len(followed.knots) <= method.max_points else (End(Outcome.MAX_STEPS), counts)
        if isinstance(point, End):
            _stop(followed, point)
            return
        arrival = densities.meeting(last, point)
        if arrival is not None:
            step = point.arclength - last.arclength
            certain = _through(arrival, last, point) and not _folds_beside(arrival, last, point)
            if not certain and step > _finest(last):
                points = _counted(last, method, step / 4, highest)
                continue
            followed.arrivals.append(arrival)
            if arrival.reflecting:
                followed.outcome = Outcome.JOINED_BRANCH
                _append_arrival(followed, arrival)
                return
            _append_crossing(followed, arrival, point, (sum(counts), sum(new)))
        else:
            passage = _passage(last, point, counts, new)
            step = point.arclength - last.arclength
            divisible = step > FINEST or (step > _finest(point) and _leaps(last, point))
            if divisible and (passage.doubtful or turns_twice(last, point)):
                points = _counted(last, method, step / 4, highest)
                continue
            followed.knots += _knots(passage.events, last, point)
            _say_imperfect(followed, passage)
            if passage.missing != 0:
                _say_unexplained(followed, last, point, passage)
        counts = new
        followed.knots.append(Knot(point, sum(counts)))
        if _left(point, highest):
            followed.outcome = Outcome.LEFT_INTERVAL
            return
        if _returned(followed, last, point):
            followed.outcome = Outcome.CLOSED_LOOP
            return
        last = point


def _knots(events: list[Event], last: Point, point: Point) -> list[Knot]:
    """Return the events between two points, and between two that change the count a state that has it there."""
    knots: list[Knot] = []
    before: Event | None = None
    for event in events:
        if before is not None and before.before != before.after and event.before != event.after:
            middle = 0.5 * (before.point.arclength + event.point.arclength)
            between = point_between(last, point, middle)
            if between is not None:
                knots.append(Knot(between, event.before))
        knots.append(Knot(event.point, event.unstable, event))
        before = event
    return knots


def _counted(
    start: Point, method: Arclength, first_step: float, highest: float
) -> Iterator[tuple[Point | End, tuple[int, int]]]:
    """Yield the points of a trace with their unstable counts, and its end with zeros.

    Points are counted in stretches, each twice as long as the one before: where the branch ends or a step is taken
    again, no more points have been traced in vain than were used.
    """
    densities = start.equation.densities
    points = trace(start, method, first_step)
    stretch, longest = [start], 1
    while True:
        stretch, end, longest = [], None, min(2 * longest, densities.counted_together(stretch[-1]))
        for point in points:
            if isinstance(point, End):
                end = point
                break
            stretch.append(point)
            if len(stretch) >= longest or _left(point, highest):
                break
        yield from zip(stretch, densities.unstable_along(stretch), strict=True)
        if end is not None:
            yield end, (0, 0)
            return


def _left(point: Point, highest: float) -> bool:
    """Return whether a point is beyond q with rising q along the branch, or at an end of where q is known."""
    if point.equation.ends is None:
        return point.q > highest and point.solution.tangent_q > 0.0
    low, high = point.equation.ends
    return (point.q >= high and point.solution.tangent_q > 0.0) or (
        point.q <= low and point.solution.tangent_q < 0.0
    )


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


@dataclass(slots=True)
class _Passage:
    """Events between two points, and the change of the unstable count that they do not explain.

    ``neutral``: as many eigenvalues as change their sign without an event are within rounding of zero;
    ``aside``: an event is off the cubic through the two points.
    """

    events: list[Event]
    missing: int
    neutral: bool
    aside: bool

    @property
    def doubtful(self) -> bool:
        """Whether the two points may be on two branches.

        Where the state's own block becomes singular without a fold, as on two branches that nearly cross, it may,
        unless they cross to rounding.
        """
        unexplained = self.missing != 0 and not self.neutral
        return (
            unexplained
            or self.aside
            or any(event.error > DOUBTFUL * event.point.q or _nearly_crosses(event) for event in self.events)
        )


def _passage(last: Point, point: Point, counts: tuple[int, int], new: tuple[int, int]) -> _Passage:
    events = events_between(last, point, (counts, new))
    running, whole = sum(counts), sum(new) - sum(counts)
    for event in events:
        change = _change(event, last, point)
        if not point.equation.symmetric and len(events) == 1 and change == -whole:
            # Matrices that are not similar to the linearised equation are singular where it is; the signs beside
            # that need not agree.
            change = whole
        event.before, running = running, running + change
        event.after = running
    missing = sum(new) - running
    neutral = missing != 0 and abs(missing) <= max(_nearly_neutral(last), _nearly_neutral(point))
    return _Passage(events, missing, neutral, any(_aside(event.point, last, point) for event in events))


def _nearly_crosses(event: Event) -> bool:
    """Return whether the own block becomes singular at a point that is no crossing to rounding."""
    if event.meets or not any(block.own for block in event.blocks):
        return False
    return not event.point.equation.densities.turns_freely(event.point, event.error)


def _aside(between: Point, last: Point, point: Point) -> bool:
    """Return whether a point between two points is off the cubic through them, as on an arm of another curve."""
    b, q = hermite((last, point), between.arclength)
    missed = length(between.on(point.equation).b - b, between.q - q)
    return missed > LEAP * (point.arclength - last.arclength) + ROUNDING


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


def _say_imperfect(followed: Followed, passage: _Passage) -> None:
    """Warn of branches in a confinement that seem to cross without a symmetry that makes them cross."""
    for event in passage.events:
        confined = event.point.equation.problem.confinement is not None
        if confined and event.kind == "branch point" and _nearly_crosses(event):
            followed.warn(
                f"branches pass each other at {event.point.place} more closely than steps "
                "tell apart, and are shown as crossing there; no symmetry of the confinement makes them cross, and "
                "beside it each goes on along the other",
                event.point,
            )


def _say_unexplained(followed: Followed, last: Point, point: Point, passage: _Passage) -> None:
    """Warn of a change of the unstable count that no located event explains."""
    text = (
        f"the unstable count changes by {passage.missing:+d} between {last.place} and "
        f"{float(point.value):.12g} without a located event"
    )
    if point.equation.problem.lacks(Capability.GIBBS_MAP) and abs(passage.missing) > 1:
        text += "; pairs of complex growth rates may cross the imaginary axis there (Hopf)"
    if passage.neutral:
        text = (
            "a direction is neutral to rounding on part of the branch; whether it counts as unstable there "
            "is not known"
        )
    followed.warn(text)


def _nearly_neutral(point: Point) -> int:
    """Return the number of eigenvalues, over all blocks, that are within rounding of zero."""
    densities = point.equation.densities
    matrices = (densities.block_matrix(point, block) for block in densities.blocks_of(point))
    counts = (matrix.below_and_above(CERTAIN) for matrix in matrices)
    return sum(above - below for below, above in counts)


def _change(event: Event, last: Point, point: Point) -> int:
    """Return the change of the unstable count at an event; at a fold one even direction changes."""
    if event.kind != "fold":
        return event.change
    return point.unstable - last.unstable if abs(point.unstable - last.unstable) == 1 else 0


def _append_arrival(followed: Followed, arrival: Arrival) -> None:
    """Append the more symmetric state at which a branch ends."""
    last = followed.knots[-1].point
    end = _met(last, arrival)
    end.arclength = last.arclength + length(end.b - last.b, end.q - last.q)
    event = Event("endpoint", end, arrival.error, description=f"joins {arrival.met}")
    event.before = event.after = followed.knots[-1].unstable
    followed.knots.append(Knot(end, followed.knots[-1].unstable, event))


def _append_crossing(followed: Followed, arrival: Arrival, point: Point, counts: tuple[int, int]) -> None:
    """Append the more symmetric state through which a branch passes before a point."""
    last = followed.knots[-1].point.on(point.equation)
    crossing = _met(last, arrival)
    sizes = [length(crossing.b - end.b, crossing.q - end.q) for end in (last, point)]
    crossing.arclength = last.arclength + (point.arclength - last.arclength) * sizes[0] / sum(sizes)
    event = Event("branch point", crossing, arrival.error, description=f"crosses {arrival.met}")
    event.before, event.after = counts
    event.kernel_dimension = arrival.kernel_dimension
    followed.knots.append(Knot(crossing, event.unstable, event))


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


def _returned(followed: Followed, last: Point, point: Point) -> bool:
    """Return whether the step between two points passed the first point of the branch again, or an image of it."""
    if len(followed.knots) < FEWEST_IN_LOOP:
        return False
    start, after = (knot.point for knot in followed.knots[1:3])
    step = point.arclength - last.arclength
    if abs(point.q - start.q) > step:
        return False
    images = (point.equation.basis.images(known.on(point.equation).b) for known in (start, after))
    before = last.on(point.equation).b
    way_b, way_q = point.b - before, point.q - last.q
    square = float(way_b @ way_b) + way_q**2
    for b, beyond in zip(*images, strict=True):
        share = (float(way_b @ (b - before)) + way_q * (start.q - last.q)) / square
        missed = length(before + share * way_b - b, last.q + share * way_q - start.q)
        forwards = float(way_b @ (beyond - b)) + way_q * (after.q - start.q) > 0.0
        if 0.0 <= share <= 1.0 and missed <= MISSED * step and forwards:
            return True
    return False


def _stop(followed: Followed, end: End) -> None:
    followed.outcome = end.outcome
    if end.outcome is Outcome.NOT_RESOLVED:
        last = followed.knots[-1].point
        followed.warn(
            f"the branch was left at {last.equation.parameter} {float(last.value):.6g}: its density needs about "
            f"{end.needed_modes} modes, more than allowed"
        )
    elif end.outcome in UNFINISHED:
        last = followed.knots[-1].point
        place = f"{last.equation.parameter} {float(last.value):.6g}"
        followed.warn(f"the branch was left unfinished at {place}: {end.outcome}")
