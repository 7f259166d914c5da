"""Following one branch from its departure to its end, with every event on the way.

The trace is consumed point by point: each new pair of points is counted, searched for events, and checked for the
three ways a branch ends inside its interval: on a more symmetric branch, back at its own start, or unresolved.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, pairwise

import numpy as np

from meanfield import Outcome
from meanfield.equations import Capability

from ..bases import Floats
from ..equations.counts import Counts
from ..equations.equation import StationaryEquation
from ..execution.compiling import continuation_compiled
from ..root_finding.newton import NEUTRAL
from .arclength import Arclength
from .arrivals import Arrival
from .continuation import End, Point, length, point_between, trace
from .detection import Event
from .first_steps import first_point, leaves_at_end
from .junctions import Departure
from .steps import Passage, Step, hidden_crossing, nearly_crosses, passage_between, quiet_along, step_between

# A vertical family is followed until its largest moment passes this: nothing new happens before its collapse.
VERTICAL_END = 0.9
# Eigenvalues of J below this are zero on such a family, whose states are known to half of the digits along it.
VERTICAL_NEUTRAL = 1e-9
# A branch that ends so may go on beyond its last point.
UNFINISHED = (Outcome.STEP_TOO_SMALL, Outcome.MAX_STEPS)
# Loops have at least so many points; the first points of a branch are not a return to its start.
FEWEST_IN_LOOP = 8
# So often a step in which two directions may change their stability is divided.
DEPTH = 4
# Compiled code takes several steps in the time of a call, and so many points are the first stretch to be counted.
FIRST_COMPILED = 12
# A chord misses the curve by less than this share of its length, the tangents turning by up to 25 degrees.
MISSED = 0.3


@dataclass(slots=True)
class Knot:
    """A point of a followed branch with its unstable count and the event there, if any.

    ``counts`` are what the unstable count is the sum of, where the point is none of an event.
    """

    point: Point
    unstable: int | None
    event: Event | None = None
    counts: Counts | None = None

    @property
    def counted(self) -> tuple[float, Counts] | None:
        """Arclength and counts; None if these are not known."""
        return None if self.counts is None else (self.point.arclength, self.counts)


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
    followed.knots.append(Knot(first, sum(counts), counts=counts))
    if leaves:
        followed.outcome = Outcome.LEFT_INTERVAL
        return followed
    if vertical:
        _climb(followed, trace(first, method, first.arclength))
    else:
        # A branch born above may turn up and down again on its way.
        _extend(followed, method, first.arclength, counts, max(highest, departure.q))
        _insert_hidden(followed)
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
    followed = Followed(None, [Knot(start, sum(counts), counts=counts)], Outcome.MAX_STEPS)
    _extend(followed, method, method.max_step / 4, counts, highest)
    _insert_hidden(followed)
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


def _extend(followed: Followed, method: Arclength, first_step: float, counts: Counts, highest: float) -> None:
    """Append the points of a trace with their counts and events until the branch ends.

    Where a change of the count is not explained by events that are located, the step may have passed over a sharp
    turn onto another branch, and is taken again in smaller ones. So it is where there may be two folds in one step,
    or one beside a more symmetric state through which the branch passes.
    """
    last = followed.knots[-1].point
    points = _counted(last, counts, method, first_step, highest)
    while True:
        # Every trace counts its own points; taken again and again, they must not go on for ever.
        within = len(followed.knots) <= method.max_points
        point, new, quiet = next(points) if within else (End(Outcome.MAX_STEPS), counts, True)
        if isinstance(point, End):
            _stop(followed, point)
            return
        step = None if quiet else step_between(last, point, counts, new)
        if step is not None:
            if step.doubtful:
                points = _counted(last, counts, method, (point.arclength - last.arclength) / 4, highest)
                continue
            _append(followed, step)
            if step.end is not point:
                followed.outcome = Outcome.JOINED_BRANCH
                return
        counts = new
        followed.knots.append(Knot(point, sum(counts), counts=new))
        if _left(point, highest):
            followed.outcome = Outcome.LEFT_INTERVAL
            return
        if _returned(followed, last, point):
            followed.outcome = Outcome.CLOSED_LOOP
            return
        last = point


def _append(followed: Followed, step: Step) -> None:
    """Append the events of a step, and its arrival."""
    followed.knots += _knots(step.events, step.first, step.end)
    if step.arrival is not None:
        followed.arrivals.append(step.arrival)
    _say(followed, step)


def _say(followed: Followed, step: Step) -> None:
    """Warn of what a step leaves open."""
    if step.unlocated:
        followed.warn(
            f"the free energy passes that of the uniform state between {step.first.place} and "
            f"{float(step.end.value):.12g}, at a point that was not located"
        )
    for passage in step.passages:
        _say_imperfect(followed, passage)
        if passage.missing != 0:
            _say_unexplained(followed, passage)


def _insert_hidden(followed: Followed) -> None:
    """Insert the events of steps between whose ends two directions change their stability one after the other."""
    knots = followed.knots
    places = [place for place, knot in enumerate(knots) if knot.counts is not None]
    row = [None, *(knots[place] for place in places), None]
    counted = [None if knot is None else knot.counted for knot in row]
    for step in reversed(range(len(places) - 1)):
        if hidden_crossing(counted[step : step + 4]) is None:
            continue
        first, second = places[step : step + 2]
        known = [knot.event for knot in knots[first + 1 : second] if knot.event is not None]
        if all(_is_regular(event) for event in known):
            found = _hidden(followed, row[step : step + 4], len(known), DEPTH)
            knots[first + 1 : second] = found or knots[first + 1 : second]


def _is_regular(event: Event) -> bool:
    """Return whether an event is not that of a more symmetric state, on both sides of which a step is searched.

    That is of no block, or a fold, at which a branch turns back as its own image, that changes no direction.
    """
    return (
        bool(event.blocks)
        or event.kind in ("transition", "Hopf")
        or (event.kind == "fold" and event.before != event.after)
    )


def _hidden(followed: Followed, knots: Sequence[Knot | None], known: int, depth: int) -> list[Knot]:
    """Return the knots between the middle two of four, if more events are there than are known; else none."""
    place = hidden_crossing([None if knot is None else knot.counted for knot in knots])
    before, first, second, after = knots
    if place is None or first is None or second is None:
        return []
    point = point_between(first.point, second.point, place)
    if point is None:
        return []
    counts = point.equation.densities.unstable_counts(point)
    middle = Knot(point, sum(counts), counts=counts)
    steps, halves = list[Step](), list[list[Knot]]()
    for one, other in pairwise((first, middle, second)):
        assert one.counts is not None
        assert other.counts is not None
        passage = passage_between(one.point, other.point, one.counts, other.counts)
        steps.append(Step(one.point, other.point, [passage]))
        halves.append(_knots(passage.events, one.point, other.point))
    if sum(len(step.events) for step in steps) > known:
        for step in steps:
            _say(followed, step)
        return [*halves[0], middle, *halves[1]]
    windows = ((before, first, middle, second), (first, middle, second, after))
    for half, (step, window) in enumerate(zip(steps, windows, strict=True)):
        found = _hidden(followed, window, len(step.events), depth - 1) if depth else []
        if found:
            halves[half] = found
            return [*halves[0], middle, *halves[1]]
    return []


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
    start: Point, counts: Counts, method: Arclength, first_step: float, highest: float
) -> Iterator[tuple[Point | End, Counts, bool]]:
    """Yield the points of a trace with their unstable counts and whether the way there is quiet, and its end.

    Points are counted in stretches, each twice as long as the one before: where the branch ends or a step is taken
    again, no more points have been traced in vain than were used, or than the first stretch has in compiled code.

    Parameters
    ----------
    counts
        Those at the start.
    """
    densities = start.equation.densities
    points = trace(start, method, first_step, highest=highest)
    last, stretch, longest = start, list[Point](), FIRST_COMPILED // 2 if continuation_compiled() else 1
    while True:
        stretch, end, longest = [], None, min(2 * longest, densities.counted_together(last))
        for point in points:
            if isinstance(point, End):
                end = point
                break
            stretch.append(point)
            if len(stretch) >= longest or _left(point, highest):
                break
        if stretch:
            found = densities.unstable_along(stretch)
            quiet = quiet_along([last, *stretch], [counts, *found])
            yield from zip(stretch, found, quiet, strict=True)
            last, counts = stretch[-1], found[-1]
        if end is not None:
            yield end, counts, True
            return


def _left(point: Point, highest: float) -> bool:
    """Return whether a point is beyond q with rising q along the branch, or at an end of where q is known."""
    if point.equation.ends is None:
        return point.solution.q > highest and point.solution.tangent_q > 0.0
    low, high = point.equation.ends
    return (point.q >= high and point.solution.tangent_q > 0.0) or (
        point.q <= low and point.solution.tangent_q < 0.0
    )


def _say_imperfect(followed: Followed, passage: Passage) -> None:
    """Warn of branches in a confinement that seem to cross without a symmetry that makes them cross."""
    for event in passage.events:
        confined = event.point.equation.problem.confinement is not None
        if confined and event.kind == "branch point" and nearly_crosses(event):
            followed.warn(
                f"branches pass each other at {event.point.place} more closely than steps "
                "tell apart, and are shown as crossing there; no symmetry of the confinement makes them cross, and "
                "beside it each goes on along the other",
                event.point,
            )


def _say_unexplained(followed: Followed, passage: Passage) -> None:
    """Warn of a change of the unstable count that no located event explains."""
    last, point = passage.first, passage.second
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


def _returned(followed: Followed, last: Point, point: Point) -> bool:
    """Return whether the step between two points passed the first point of the branch again, or an image of it."""
    # Events are none of these: behind few points the step may be the one from the first.
    points = (knot for knot in followed.knots if knot.counts is not None)
    if len(list(islice(points, FEWEST_IN_LOOP))) < FEWEST_IN_LOOP:
        return False
    start, step = followed.knots[1].point, point.arclength - last.arclength
    if abs(point.solution.q - start.solution.q) > step:
        return False
    after = followed.knots[2].point
    images = (_images(known, point.equation) for known in (start, after))
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


# The same two points are compared with every step of a branch.
@lru_cache(maxsize=4)
def _images(point: Point, equation: StationaryEquation) -> list[Floats]:
    """Return the images of a state under the symmetries of the domain, in the unknowns of a refined equation."""
    return equation.basis.images(point.on(equation).b)


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
