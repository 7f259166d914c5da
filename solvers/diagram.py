"""The whole bifurcation diagram: a loop over a work list of departures.

The uniform branch is exact; its branch points are closed forms. Every branch is followed once: a branch that ends
on a more symmetric one is remembered there, and the departure that would follow it backwards is dropped. Branches
that are rotations or reflections of each other are one.
"""

import time
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass

import numpy as np

from meanfield import Diagram, InvalidInput, McKeanVlasov, Outcome, SpecialPoint
from meanfield.theory import BranchShape, branch_shape
from meanfield.thresholds import CriticalPoint, critical_coupling, critical_modes

from .bases import Floats
from .branching import STEPS, Departure, departures, from_no_interaction, from_uniform
from .continuation import Arclength, Point
from .detection import interval_end
from .deflation import same_orbit, search_all, symmetry_of
from .following import Arrival, Followed, follow
from .provenance import provenance
from .rates import with_rates
from .resonance import resonant_departures, symmetries
from .recording import Register, record, uniform_branch

DEFAULT_RELATIVE = (0.5, 3.0)
# Branches born this far above the interval are looked at too: a subcritical one reaches into it from above.
REACH = 2.0
# A fold closer to its branch point than this is not separated from it by arithmetic of 16 digits.
INSEPARABLE = 1e-11


@dataclass(frozen=True)
class Progress:
    """What has been done: the branch just finished, branches finished and branches waiting."""

    label: str
    done: int
    waiting: int


@dataclass(slots=True)
class Task:
    """A branch to follow: where it departs, its name, symmetry and generation, and its recorded parent."""

    departure: Departure
    label: str
    symmetry: int
    depth: int
    parent: int | None


def bifurcation_diagram(
    problem: McKeanVlasov,
    interval: tuple[float, float] | None = None,
    *,
    relative: tuple[float, float] | None = None,
    depth: int = 2,
    search: bool = False,
    method: Arclength | None = None,
    rates: bool = True,
) -> Diagram:
    """Compute the stationary states of a problem for all couplings in an interval.

    Parameters
    ----------
    problem
        The equation; its coupling is ignored.
    interval
        Lowest and highest coupling.
    relative
        The same in units of the smallest positive critical coupling; (0.5, 3) if neither is given.
    depth
        Generations of branches: 0 the uniform branch alone, 1 the branches born on it, 2 those born on them.
    search
        Whether to look, at the ends of the interval, for states that no followed branch reaches, and to follow
        them back: branches that are not connected to the others.
    method
        Step control.
    rates
        Whether to compute the slowest decay rate at every point.

    Returns
    -------
    Diagram
        Branches, located special points and everything a reader must be warned of.

    Raises
    ------
    InvalidInput
        If the interval is empty, reversed or not finite, or relative to a critical coupling that is not there.

    Examples
    --------
    >>> from meanfield import Circle, Kuramoto, McKeanVlasov
    >>> diagram = bifurcation_diagram(McKeanVlasov(Circle(), Kuramoto()), (1.0, 4.0), rates=False)
    >>> [branch.label for branch in diagram.branches]
    ['uniform', '1-cluster']
    """
    exploration = explore(problem, interval, relative=relative, depth=depth, search=search, method=method, rates=rates)
    while True:
        try:
            next(exploration)
        except StopIteration as stop:
            diagram: Diagram = stop.value
            return diagram


def explore(
    problem: McKeanVlasov,
    interval: tuple[float, float] | None = None,
    *,
    relative: tuple[float, float] | None = None,
    depth: int = 2,
    search: bool = False,
    method: Arclength | None = None,
    rates: bool = True,
) -> Generator[Progress, None, Diagram]:
    """Compute a diagram like :func:`bifurcation_diagram`, yielding after every branch; returns the diagram."""
    started = time.process_time()
    problem = problem.at(coupling=None)
    method = method or Arclength()
    critical = None if problem.confinement is not None else critical_coupling(problem)
    register = Register(_interval(interval, relative, critical, depth), critical)
    branches = walk(problem, register, depth, method, search)
    for done, (task, followed, waiting) in enumerate(branches, start=2):
        record(followed, task.label, task.symmetry, task.parent, register)
        yield Progress(task.label, done, waiting)
    recorded = with_rates(problem, register.branches) if rates else tuple(register.branches)
    options = {"depth": depth, "search": search, **asdict(method)}
    return Diagram(
        problem=problem,
        interval=register.interval,
        critical_coupling=critical,
        branches=recorded,
        special_points=tuple(register.special_points),
        warnings=tuple(register.warnings),
        provenance=provenance(problem, options, time.process_time() - started),
    )


def walk(
    problem: McKeanVlasov, register: Register, depth: int, method: Arclength, search: bool = False
) -> Iterator[tuple[Task, Followed, int]]:
    """Yield every branch followed, with its task and the number of branches waiting.

    The consumer records a branch before it asks for the next, so that branches born on it know their parent.
    """
    tasks = _start(problem, register, depth)
    known: list[Arrival] = []
    ends: list[tuple[str, Point]] = []
    searched = False
    while tasks:
        task = tasks.popleft()
        if task.departure.order == 0 and _reached(task.departure, ends):
            continue
        if any(_same_place(task, arrival) for arrival in known):
            continue
        followed = _follow(task, register, method)
        if followed is None:
            continue
        known += [arrival for arrival in followed.arrivals if arrival.point is not None]
        end = _end(followed, register)
        if end is not None:
            twin = next((label for label, other in ends if same_orbit(end, other)), None)
            if twin is not None:
                register.warnings.append(
                    f"{task.label}: the branch born at coupling {float(task.departure.coupling):.12g} runs into "
                    f"{twin} and is reported there; how the two connect was passed in one step"
                )
                continue
            ends.append((task.label, end))
        yield task, followed, len(tasks)
        if task.depth < depth:
            tasks += _children(task, followed)
        if not tasks and search and not searched:
            searched = True
            tasks += _strays(problem, register, ends)


def _interval(
    interval: tuple[float, float] | None,
    relative: tuple[float, float] | None,
    critical: float | None,
    depth: int,
) -> tuple[float, float]:
    if depth < 0:
        raise InvalidInput(f"depth must be 0 or more, not {depth!r}; depth=2 follows secondary branches")
    if interval is not None and relative is not None:
        raise InvalidInput("give the interval either in couplings or relative to the critical one, not both")
    if interval is None:
        if critical is None:
            raise InvalidInput(
                "there is no positive critical coupling to be relative to; give the interval in couplings, "
                "such as --coupling 0 5 or interval=(0.0, 5.0)"
            )
        low, high = relative or DEFAULT_RELATIVE
        _check(low, high, "relative interval")
        return low * critical, high * critical
    _check(*interval, "coupling interval")
    return interval


def _check(low: float, high: float, what: str) -> None:
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InvalidInput(f"the {what} must be finite and increasing, not [{low:g}, {high:g}]")


def _start(problem: McKeanVlasov, register: Register, depth: int) -> deque[Task]:
    if problem.confinement is not None:
        return _start_confined(problem, register)
    low, high = register.interval
    reach = (min(low, REACH * low, 0.0), max(high, REACH * high, 0.0))
    criticals = critical_modes(problem, *reach)
    inside = [point for point in criticals if low <= point.coupling <= high]
    _record_uniform(problem, inside, register)
    tasks: deque[Task] = deque()
    if depth == 0:
        return tasks
    for point in criticals:
        parent = inside.index(point) if point in inside else None
        if parent is None and abs(point.coupling) > max(abs(low), abs(high)) and not _subcritical(problem, point):
            continue
        for symmetry in symmetries(point.modes):
            tasks += _primary(problem, symmetry, point, parent, register)
    return tasks


def _start_confined(problem: McKeanVlasov, register: Register) -> deque[Task]:
    """Start from the Gibbs density of the confinement, upwards and downwards in the coupling."""
    tasks: deque[Task] = deque()
    for sign, edge in ((1, register.interval[1]), (-1, -register.interval[0])):
        departure = from_no_interaction(problem, sign) if edge > 0 else None
        if departure is not None:
            tasks.append(Task(departure, "primary", departure.equation.basis.symmetry, 1, None))
    return tasks


def _strays(problem: McKeanVlasov, register: Register, ends: list[tuple[str, Point]]) -> Iterator[Task]:
    """Yield the states at the ends of the interval that no followed branch reaches, to be followed back."""
    for sign, edge in ((1, register.interval[1]), (-1, register.interval[0])):
        if sign * edge <= 0:
            continue
        for point in search_all(problem, sign, edge, [point for _, point in ends]):
            departure = Departure(point.equation, point.b, point.q, np.zeros_like(point.b), 0)
            symmetry = symmetry_of(point)
            yield Task(departure, f"disconnected {symmetry}-cluster", symmetry, 1, None)


def _subcritical(problem: McKeanVlasov, point: CriticalPoint) -> bool:
    return any(branch_shape(problem, mode).type != "supercritical" for mode in point.modes)


def _primary(
    problem: McKeanVlasov, symmetry: int, point: CriticalPoint, parent: int | None, register: Register
) -> list[Task]:
    """Return the branches of one symmetry born at a critical point of the uniform state."""
    label = f"{symmetry}-cluster"
    if sum(mode % symmetry == 0 for mode in point.modes) > 1:
        found = resonant_departures(problem, point.modes, point.coupling, symmetry)
        return [Task(departure, label, symmetry, 1, parent) for departure in found]
    shape = branch_shape(problem, symmetry)
    order, amplitude = _leading_order(shape, register, parent is not None)
    least = _unstable_uniform(problem, point.coupling, register, point)
    counts = (least, least + 1) if order == 4 else (least + int(shape.curvature < 0.0),)
    if len(point.modes) > 1:
        counts = ()
    departure = from_uniform(problem, symmetry, point.coupling, order, amplitude, counts)
    return [] if departure is None else [Task(departure, label, symmetry, 1, parent)]


def _leading_order(shape: BranchShape, register: Register, inside: bool) -> tuple[int, float]:
    """Return the leading power of kappa/kappa_n = 1 + b1 x + b2 x^2 and an amplitude well inside its fold.

    The fold is at x = -b1/(2 b2). Where its distance b1^2/(4 b2) from the branch point is lost in rounding, the
    branch starts beyond it, and says so.
    """
    curvature, quartic = shape.curvature, shape.quartic
    if not curvature * quartic < 0.0:
        return (4 if curvature == 0.0 else 2), STEPS[0]
    window = curvature**2 / (4.0 * abs(quartic))
    if window > INSEPARABLE:
        return 2, float(min(STEPS[0], 0.3 * np.sqrt(-curvature / (2.0 * quartic))))
    if inside:
        register.warnings.append(
            f"{shape.mode}-cluster: a fold lies within a relative distance {window:.1e} of its branch point, "
            "too close to be separated in double precision"
        )
    return 4, STEPS[0]


def _record_uniform(problem: McKeanVlasov, inside: list[CriticalPoint], register: Register) -> None:
    low, high = register.interval
    grid = np.linspace(low, high, 61)
    criticals = np.array([point.coupling for point in inside], dtype=grid.dtype)
    couplings = np.unique(np.concatenate([grid, criticals]))
    labels = ["" for _ in couplings]
    labels[0] = labels[-1] = "EP"
    unstable = np.array([_unstable_uniform(problem, value, register) for value in couplings])
    branch_points = []
    for point in inside:
        index = int(np.searchsorted(couplings, point.coupling))
        labels[index] = "BP"
        unstable[index] = _unstable_uniform(problem, point.coupling * (1 - 4e-16), register, point)
        branch_points.append((index, point))
    register.branches.append(uniform_branch(problem, couplings, tuple(labels), unstable, register))
    for index, point in branch_points:
        register.special_points.append(_uniform_special(problem, index, point, register))


def _unstable_uniform(
    problem: McKeanVlasov, coupling: float, register: Register, apart: CriticalPoint | None = None
) -> int:
    """Count the modes beyond their threshold, twice each; those critical at a given point are left out."""
    if coupling == 0.0:
        return 0
    span = (0.0, coupling) if coupling > 0.0 else (coupling, 0.0)
    modes = {mode for point in critical_modes(problem, *span) for mode in point.modes if point.coupling != coupling}
    return 2 * len(modes - set(apart.modes if apart is not None else ()))


def _uniform_special(problem: McKeanVlasov, index: int, point: CriticalPoint, register: Register) -> SpecialPoint:
    branch = register.branches[0]
    coupling = point.coupling
    before = int(branch.unstable[index])
    grows = coupling > 0
    error = 8 * np.finfo(float).eps * abs(coupling)
    modes = ", ".join(str(mode) for mode in point.modes)
    return SpecialPoint(
        branch=0,
        point=index,
        type="branch point",
        coupling=coupling,
        relative_coupling=register.relative(coupling),
        lower=coupling - error,
        upper=coupling + error,
        unstable_before=before if grows else before + point.kernel_dimension,
        unstable_after=before + point.kernel_dimension if grows else before,
        kernel_dimension=point.kernel_dimension,
        status="exact",
        cosine=branch.cosine[index],
        sine=branch.sine[index],
        description=f"critical: mode {modes} at the uniform state",
    )


def _same_place(task: Task, arrival: Arrival) -> bool:
    """Whether a departure starts at a place where another branch has arrived."""
    departure = task.departure
    point = arrival.point
    if point is None or not np.any(departure.b):
        return False
    if abs(departure.coupling - arrival.coupling) > 1e-7 * abs(arrival.coupling):
        return False
    cosine, _ = departure.equation.basis.expand(departure.base().moments)
    other, _ = point.equation.basis.expand(point.moments)
    count = min(cosine.size, other.size)
    return bool(np.abs(cosine[:count] - other[:count]).max() <= 1e-5)


def _follow(task: Task, register: Register, method: Arclength) -> Followed | None:
    equation = task.departure.equation
    end = register.interval[1] if equation.sign > 0 else -register.interval[0]
    followed = follow(task.departure, method, float(end / equation.unit))
    if followed is None and task.parent is not None:
        register.warnings.append(
            f"{task.label}: no state was found beside its branch point at coupling "
            f"{float(task.departure.coupling):.12g}"
        )
    return followed


def _reached(departure: Departure, ends: list[tuple[str, Point]]) -> bool:
    """Whether a branch followed meanwhile has led to the state of a departure."""
    state = departure.regular()
    return state is not None and departure.q > 0.0 and any(same_orbit(state, other) for _, other in ends)


def _end(followed: Followed, register: Register) -> Point | None:
    """Return the point at which a branch leaves the interval upwards, solved there."""
    if followed.outcome is not Outcome.LEFT_INTERVAL:
        return None
    one, other = followed.knots[-2].point, followed.knots[-1].point
    equation = other.equation
    edge = register.interval[1] if equation.sign > 0 else register.interval[0]
    crossing = interval_end(one, other, float(edge / (equation.sign * equation.unit)))
    return None if crossing is None else crossing.point


def _children(task: Task, followed: Followed) -> list[Task]:
    """Return the branches born on a branch, at recorded branch points and at those outside the interval."""
    born = []
    for event in (knot.event for knot in followed.knots):
        if event is None or event.kind != "branch point":
            continue
        for departure in departures(event):
            symmetry = departure.equation.basis.symmetry
            label = f"{symmetry}-cluster from {task.label}"
            born.append(Task(departure, label, symmetry, task.depth + 1, event.recorded))
    return born
