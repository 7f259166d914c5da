"""The walk through all branches: a work list of departures, each followed once.

A branch that ends on a more symmetric one is remembered there, and the departure that would follow it backwards is
dropped. Branches that are rotations or reflections of each other are one.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from meanfield import Equation, Number, Outcome, critical_modes

from ..equations.geometry import Geometry, Threshold
from .arclength import Arclength
from .arrivals import SAME_VALUE, same_place
from .births import births_on_uniform
from .continuation import Point
from .detection import Event
from .first_steps import AT_END
from .following import Followed, follow
from .interval_ends import LOCATED, interval_ends
from .junctions import Departure, from_no_interaction
from .newton_search import search_states
from .omissions import warn_of_omissions
from .orbits import same_orbit, symmetry_of
from .recording import Part, Register, largest_modulus, nearest_part, parts_of
from .resonance import joined, merged
from .uniform import counts_below, record_uniform

# Branches born this far above the interval are looked at too: a subcritical one reaches into it from above. The
# first branch of all is always looked at, since in high dimension it may fall by decades.
REACH = 2.0
# Where two branches seem to be one, so many times smaller steps are taken.
FINER = 10.0
# What happens where the confinement that holds a state in place vanishes.
FREELY = "the confinement vanishes or has an axis: the state turns freely, and all its rotations are stationary"
# States at which a branch crosses the upper end of the interval, with the index of the knot before.
Crossings = list[tuple[int, Point]]


@dataclass(slots=True)
class Task:
    """A branch to follow: its departure, name, symmetry, generation and branch point.

    ``origin`` is the event the branch is born at, or the index of the special point on the uniform branch. Once it
    has been followed, ``parts`` are those inside the interval.
    """

    departure: Departure
    label: str
    symmetry: int
    depth: int
    origin: Event | int | None
    parts: list[Part] = field(default_factory=list)

    @property
    def parent(self) -> int | None:
        """Index of the branch point among the special points, None before it is recorded."""
        return self.origin.recorded if isinstance(self.origin, Event) else self.origin

    def label_at(self, arclength: float) -> str:
        """Return the label in the diagram of the part that contains an arclength, or is next to it."""
        return nearest_part(self.parts, arclength).label if self.parts else self.label


# Branches that have been followed, with their tasks.
Walked = list[tuple[Task, Followed]]


class Course(Protocol):
    """What branches are followed along: where they begin."""

    def start(self, register: Register, depth: int) -> "deque[Task | Threshold]":
        """Return the first tasks and the critical points of the uniform state, and record what is known of it."""

    def born(self, threshold: Threshold, register: Register) -> list[Task]:
        """Return the tasks for the branches born at a critical point of the uniform state."""

    def unreached(self, register: Register, ends: list[tuple[Task, Point]]) -> Iterator[Task]:
        """Yield tasks for the states at the ends of the interval that no followed branch reaches."""

    def omissions(self, depth: int, register: Register) -> None:
        """Add warnings of the branches that were not followed to the register."""


@dataclass(frozen=True, eq=False)
class InCoupling(Course):
    """The coupling as what branches are followed along, from the uniform state or no interaction."""

    problem: Equation
    geometry: Geometry
    search: bool = False

    def start(self, register: Register, depth: int) -> "deque[Task | Threshold]":
        """Return the first tasks and thresholds."""
        return _start(self.problem, self.geometry, register, depth)

    def born(self, threshold: Threshold, register: Register) -> list[Task]:
        """Return the tasks for the branches born at a threshold."""
        births = births_on_uniform(self.geometry, self.problem, threshold, register)
        return [Task(departure, name, symmetry, 1, threshold.parent) for departure, name, symmetry in births]

    def unreached(self, register: Register, ends: list[tuple[Task, Point]]) -> Iterator[Task]:
        """Yield tasks for what a search finds, where there is one."""
        return _unreached_states(self.problem, self.geometry, register, ends) if self.search else iter(())

    def omissions(self, depth: int, register: Register) -> None:
        """Add warnings of the branches that were not followed."""
        warn_of_omissions(self.problem, self.geometry, depth, register)


def walk(course: Course, register: Register, depth: int, method: Arclength) -> Iterator[tuple[Task, Followed, int]]:
    """Yield every branch followed, with its task and the number of branches waiting; parents come first."""
    tasks = course.start(register, depth)
    known = register.arrivals
    ends: list[tuple[Task, Point]] = []
    walked: Walked = []
    searched = False
    while tasks or not searched:
        if not tasks:
            searched = True
            tasks += course.unreached(register, ends)
            continue
        task = tasks.popleft()
        if isinstance(task, Threshold):
            # Where a potential has hundreds of critical degrees, finding the equations of all their branches takes
            # minutes, and the first branch may show that the coupling is out of reach: only when it is their turn.
            tasks.extendleft(reversed(course.born(task, register)))
            continue
        if task.departure.order == 0 and _reached(task.departure, ends):
            continue
        if any(same_place(task.departure, arrival) for arrival in known):
            continue
        found = _followed(task, ends, walked, register, method)
        if found is None:
            continue
        followed, crossings = found
        known += followed.arrivals
        if not _is_new(task, followed, crossings, ends, walked, register):
            continue
        if _retraces(task, followed, walked, register):
            continue
        walked.append((task, followed))
        task.parts = parts_of(followed, task.label, register)
        if task.parts and task.origin is None and task.departure.order != 0:
            register.distant_births.add(task.departure.equation.sign)
        yield task, followed, len(tasks)
        tasks += _branching_off(task, followed, walked, depth, register)


def _two_sides(task: Task, twin: Task) -> bool:
    """Return whether two branches leave one branch point, so that they may be rotated copies of each other."""
    return task.origin is not None and task.origin is twin.origin


def _crosses(task: Task, known: Followed) -> bool:
    """Return whether a known branch passes the branch point of a task, beside the one on which that was found."""
    if not isinstance(task.origin, Event) or any(knot.event is task.origin for knot in known.knots):
        return False
    return _passes(known, task.origin.point)


def _meets(task: Task, twin: Task, walked: Walked) -> bool:
    """Return whether a branch that ends where another one does has to: it leaves a point of that."""
    return _two_sides(task, twin) or any(each is twin and _crosses(task, followed) for each, followed in walked)


def _say_twin(task: Task, twin: Task, state: Point, register: Register) -> None:
    """Warn that two branches are one."""
    register.warnings.append(
        f"{task.label}: the branch born at {task.departure.place} runs into "
        f"{twin.label_at(state.arclength)} and is reported there; how the two connect was passed in one step, "
        "and another branch through that point, stable states on it included, may be missing from there on"
    )


def _start(problem: Equation, geometry: Geometry, register: Register, depth: int) -> deque[Task | Threshold]:
    if problem.confinement is not None:
        return _start_confined(problem, geometry, register)
    low, high = register.interval
    first = geometry.first_threshold(problem)
    reach = (min(low, REACH * low, 0.0), max(high, REACH * high, 0.0 if high <= 0.0 or first is None else first))
    register.reach = reach
    criticals = critical_modes(problem, *reach)
    inside = [point for point in criticals if low <= point.coupling <= high]
    record_uniform(problem, criticals, inside, register)
    tasks: deque[Task | Threshold] = deque()
    if depth == 0:
        return tasks
    groups = merged(criticals, register)
    points = [joined(group) if len(group) > 1 else group[0] for group in groups]
    counts = counts_below(criticals, np.array([point.coupling for point in points]))
    for group, point, count in zip(groups, points, counts, strict=True):
        parent = next((inside.index(member) for member in group if member in inside), None)
        if (
            parent is None
            and np.abs(point.coupling) > largest_modulus(register.interval)
            and not geometry.reaches_down(problem, point)
        ):
            continue
        tasks.append(Threshold(point, int(count), parent))
    return tasks


def _start_confined(problem: Equation, geometry: Geometry, register: Register) -> deque[Task | Threshold]:
    """Return the first tasks in a confinement: from its Gibbs density upwards and downwards in the coupling."""
    tasks: deque[Task | Threshold] = deque()
    for sign, edge in ((1, register.interval[1]), (-1, -register.interval[0])):
        departure = from_no_interaction(geometry, problem, sign) if edge > 0 else None
        if departure is not None:
            tasks.append(Task(departure, "primary", departure.equation.basis.symmetry, 1, None))
    return tasks


def _followed(
    task: Task, ends: list[tuple[Task, Point]], walked: Walked, register: Register, method: Arclength
) -> tuple[Followed, Crossings] | None:
    """Return a followed branch and its crossings of the upper end of the interval, or None if it has no point.

    Two branches with different beginnings are one only if a step has missed an event: where one seems to be
    another that is known, it is followed once more in smaller steps.
    """
    followed = _follow(task, register, method)
    if followed is None:
        return None
    crossings = _cut_where_mirrored(followed, _crossings(followed, register))
    twin = _twin(followed, crossings, ends)
    if twin is None or _meets(task, twin[0], walked):
        return followed, crossings
    finer = replace(method, max_step=method.max_step / FINER, tolerance=method.tolerance / FINER)
    followed = _follow(task, register, finer)
    return None if followed is None else (followed, _cut_where_mirrored(followed, _crossings(followed, register)))


def _cut_where_mirrored(followed: Followed, crossings: Crossings) -> Crossings:
    """Cut a branch that comes back as its own image in the middle, and say so; return the crossings that are left.

    It does where it is at one end of the interval twice, in images of one state: in between it passes a more
    symmetric state, at which it ends, but which was not found.
    """
    if len(crossings) < 2:
        return crossings
    (_, one), (_, other) = crossings[0], crossings[-1]
    if abs(one.q - other.q) > LOCATED * one.q or not same_orbit(one, other):
        return crossings
    middle = 0.5 * (one.arclength + other.arclength)
    followed.knots = [knot for knot in followed.knots if knot.point.arclength <= middle]
    followed.outcome = Outcome.JOINED_BRANCH
    followed.warn(
        f"the branch turns back as its own image beyond {followed.knots[-1].point.place}, where it ends; the more "
        "symmetric state there was not found"
    )
    return crossings[:1]


def _follow(task: Task, register: Register, method: Arclength) -> Followed | None:
    equation, place = task.departure.equation, task.departure.place
    highest = equation.q_at(register.interval[1] if equation.sign > 0 else register.interval[0])
    followed = follow(task.departure, method, highest)
    at_end = any(abs(task.departure.q - end) <= AT_END * abs(end) for end in equation.ends or (highest,))
    if followed is None and task.departure.order != 0 and not at_end:
        register.warnings.append(
            f"{task.label}: no state was found beside its branch point at {place}, and the "
            "branch, stable states on it included, may be missing from there on"
        )
    if followed is None and task.departure.order == 0:
        register.warnings.append(
            f"{task.label}: the state at {place} from which it is to be followed was not found or is not resolved"
        )
    return followed if followed is not None and followed.knots else None


def _branching_off(task: Task, followed: Followed, walked: Walked, depth: int, register: Register) -> list[Task]:
    """Return the branches born on a branch, except where it crosses another; register those left out."""
    born: list[Task] = []
    for event in (knot.event for knot in followed.knots):
        if event is None or event.kind != "branch point" or not event.blocks:
            continue
        if event.point.equation.densities.turns_freely(event.point, event.error):
            # Its images under rotations are the branch that leaves it, at one value of the parameter.
            event.description = FREELY
            continue
        crossed = _crossed(event, followed, walked)
        if crossed is not None:
            event.description = f"crosses {crossed}"
            continue
        children = _children(task, event) if task.depth < depth else []
        born += children
        if not children:
            left_out = register.childless if task.depth < depth else register.beyond_depth
            left_out.append((task.label_at(event.point.arclength), event))
    return born


def _crossed(event: Event, followed: Followed, walked: Walked) -> str | None:
    """Return the name of a known branch that a branch crosses at its branch point, None if there is none."""
    if not any(block.own for block in event.blocks):
        return None
    for task, known in walked:
        places = [
            knot.event for knot in known.knots if knot.event is not None and knot.event.kind == "branch point"
        ]
        for place in places if known is not followed else ():
            if event.point.equation.apart(event.point.value, place.point.value) <= SAME_VALUE and same_orbit(
                event.point, place.point
            ):
                return task.label_at(place.point.arclength)
    return None


def _children(task: Task, event: Event) -> list[Task]:
    """Return the tasks for the branches born at a branch point of a branch, inside the interval or not."""
    births = event.point.equation.densities.births_on_branch(event)
    parent = task.label_at(event.point.arclength)
    return [
        Task(departure, f"{name} from {parent}", symmetry, task.depth + 1, event)
        for departure, name, symmetry in births
    ]


def _twin(followed: Followed, crossings: Crossings, ends: list[tuple[Task, Point]]) -> tuple[Task, Point] | None:
    """Return the known branch, and its state, at which a branch leaves the interval, or None if it is new."""
    if followed.outcome is not Outcome.LEFT_INTERVAL or not crossings:
        return None
    _, end = crossings[-1]
    return next((known for known in ends if _at_one_end(end, known[1]) and same_orbit(end, known[1])), None)


def _is_new(
    task: Task,
    followed: Followed,
    crossings: Crossings,
    ends: list[tuple[Task, Point]],
    walked: Walked,
    register: Register,
) -> bool:
    """Return whether a branch has new states in the interval, and add its crossings of the upper end to ``ends``.

    Where it comes back into the interval along another branch it is cut.
    """
    edge = _edge(followed, register)
    for index, crossing in crossings:
        before = followed.knots[index].point
        lowest = 0.0 if before.equation.ends is None else before.equation.ends[0]
        comes_in = not lowest <= before.q <= edge
        if comes_in and any(same_orbit(crossing, state) for _, state in ends):
            del followed.knots[index + 1 :]
            ends += [(task, earlier) for place, earlier in crossings if place < index]
            return any(knot.point.q <= edge for knot in followed.knots)
    twin = _twin(followed, crossings, ends)
    if twin is not None:
        if not _meets(task, twin[0], walked):
            _say_twin(task, *twin, register)
        return False
    ends += [(task, crossing) for _, crossing in crossings]
    return True


def _retraces(task: Task, followed: Followed, walked: Walked, register: Register) -> bool:
    """Return whether a branch that ends on another one is one known, in any orientation.

    It is if two of its states, a third of the way from its ends, are on the known one: followed from its other end
    if that ends on a branch as well, one that crosses its parent where it is born, or else one that it ran into.
    """
    if followed.outcome is not Outcome.JOINED_BRANCH:
        return False
    knots = followed.knots
    states = [knots[place].point for place in (len(knots) // 3, len(knots) - 1 - len(knots) // 3)]
    known = next((each for each in walked if all(_passes(each[1], state) for state in states)), None)
    if known is None:
        return False
    meets = _two_sides(task, known[0]) or _crosses(task, known[1])
    if known[1].outcome is not Outcome.JOINED_BRANCH and not meets:
        _say_twin(task, known[0], states[0], register)
    return True


def _passes(followed: Followed, state: Point) -> bool:
    """Return whether a branch has a state, up to symmetry."""
    q = followed.knots[-1].point.equation.q_at(state.value)
    points = [knot.point for knot in followed.knots]
    # A branch followed again has the same knots to rounding, and near a fold it may not reach the coupling of one.
    there = [point for point in points if abs(point.q - q) <= LOCATED * abs(q)]
    return any(same_orbit(point, state) for point in [*there, *(end.point for _, end in interval_ends(points, q))])


def _edge(followed: Followed, register: Register) -> float:
    """Return the upper end of the interval as the dimensionless coupling q of a branch."""
    equation = followed.knots[-1].point.equation
    edge = register.interval[1] if equation.sign > 0 else register.interval[0]
    return equation.q_at(edge)


def _crossings(followed: Followed, register: Register) -> Crossings:
    """Return the states at which a branch crosses the upper end of the interval, with the knot before, in order.

    One that was found there is its first point. Where its equation ends with the interval, those are its states at
    both ends: the first and the last one, and others where a step leads over an end and back.
    """
    knots, within = followed.knots, followed.knots[-1].point.equation.ends
    edges = (_edge(followed, register),) if within is None else within
    at_knots = [k for k in sorted({0, len(knots) - 1}) if knots[k].point.q in edges]
    found = [(index, knots[index].point) for index in at_knots]
    points = [knot.point for knot in knots]
    for edge in edges:
        found += [(index, end.point) for index, end in interval_ends(points, edge)]
    return sorted(found, key=lambda each: each[1].arclength)


def _reached(departure: Departure, ends: list[tuple[Task, Point]]) -> bool:
    """Return whether a branch followed in the meantime has led to the state of a departure."""
    state = departure.regular()
    if state is None or departure.q <= 0.0:
        return False
    return any(same_orbit(state, other) for _, other in ends if _at_one_end(state, other))


def _at_one_end(one: Point, other: Point) -> bool:
    """Return whether two states at ends of an interval may be at the same one."""
    return one.equation.ends is None or one.q == other.q


def _unreached_states(
    problem: Equation, geometry: Geometry, register: Register, ends: list[tuple[Task, Point]]
) -> Iterator[Task]:
    """Yield tasks for the states at the ends of the interval that no followed branch reaches."""
    for sign, edge in ((1, register.interval[1]), (-1, register.interval[0])):
        if sign * edge <= 0:
            continue
        known = [point for _, point in ends if point.equation.sign == sign]
        for point in _searched_states(problem, geometry, sign, edge, known, register):
            departure = Departure(point.equation, point.b, point.q, np.zeros_like(point.b), 0)
            label = f"{point.equation.densities.name_of(point)} from the search"
            yield Task(departure, label, symmetry_of(point), 1, None)


def _searched_states(
    problem: Equation, geometry: Geometry, sign: int, edge: Number, known: list[Point], register: Register
) -> list[Point]:
    """Return the states at a coupling that a search finds beside the known ones."""
    try:
        searched = search_states(geometry, problem, sign, edge, known)
    except Exception as error:
        register.warnings.append(
            f"the search for states at coupling {float(edge):.12g} that no branch leads to was left unfinished "
            f"({type(error).__name__}: {error})"
        )
        return []
    register.searched.append(f"at coupling {float(edge):.6g} {searched.words}")
    if searched.doubt:
        register.warnings.append(f"of the states at coupling {float(edge):.6g} {searched.doubt}")
    return searched.points
