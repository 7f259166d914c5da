"""The whole bifurcation diagram: walk through the branches, record them, add rates and provenance."""

import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import TypeVar

from meanfield import Diagram, Equation, InvalidInput, Number
from meanfield.arguments import checked
from meanfield.equations import Capability, has_free_energy, require
from meanfield.records import COUPLING
from meanfield.theory import transition_coupling

from .branches.arclength import Arclength
from .branches.exchange import mark_exchanges
from .branches.following import Followed
from .branches.rates import Failures, unknown_rates, with_rates
from .branches.recording import Part, Register, largest_modulus, record
from .branches.walk import Course, InCoupling, Task, walk
from .domains import solvers_of
from .equations.rotating import rotates_freely
from .equations.significant import confining_degree
from .execution.arguments import require_depth, require_parameter_range, require_range
from .execution.provenance import provenance
from .execution.threads import one_thread
from .execution.watching import Watch, unwatched
from .parameters import InParameter, ParameterRegister, Path

logger = logging.getLogger(__name__)

DEFAULT_RELATIVE = (0.5, 3.0)
Result = TypeVar("Result")


@checked
@one_thread()
def bifurcation_diagram(
    problem: Equation,
    interval: tuple[float, float] | None = None,
    *,
    parameter: str = COUPLING,
    relative: tuple[float, float] | None = None,
    depth: int = 2,
    search: bool = False,
    method: Arclength | None = None,
    rates: bool = True,
    watch: Watch | None = None,
) -> Diagram:
    """Return the diagram of the stationary states of a problem for all values of a parameter in an interval.

    Parameters
    ----------
    problem
        The equation; the value that it has of the parameter is ignored.
    interval
        Lowest and highest value of the parameter, by default the coupling.
    parameter
        One of ``problem.parameters``, at a fixed coupling, or ``"coupling"``.
    relative
        That of couplings in units of the smallest positive critical coupling; (0.5, 3) if neither is given.
    depth
        Generations of branches: 0 the uniform branch alone, 1 the branches born on it, 2 those born on them.
    search
        Whether to look, at the ends of the interval, for states that no followed branch reaches, and to follow
        them back: branches that are not connected to the others. Always done with a confinement, where there is a
        free energy, which the search descends.
    method
        Step control.
    rates
        Whether to compute the slowest decay rate at every point.
    watch
        Called at the start and after every branch with the number of branches done, that of all known so far, and
        the name of the one just finished.

    Returns
    -------
    Diagram
        Branches, located special points and everything a reader must be warned of.

    Raises
    ------
    InvalidInput
        If the interval is empty, reversed or not finite, or relative to a critical coupling and none exists, if
        a search is asked for without a free energy, or if there is no such parameter, or it is not admissible
        somewhere in the interval.

    Examples
    --------
    >>> from meanfield import Circle, Kuramoto, McKeanVlasov
    >>> diagram = bifurcation_diagram(McKeanVlasov(Circle(), Kuramoto()), (1.0, 4.0), rates=False)
    >>> [branch.label for branch in diagram.branches]
    ['uniform', '1-cluster']
    """
    started = time.process_time()
    require_depth(depth)
    _require_capabilities(problem, parameter, search)
    method = Arclength() if method is None else method
    search_too = search or (problem.confinement is not None and has_free_energy(problem))
    if parameter == COUPLING:
        problem = problem.at(coupling=None)
    geometry = solvers_of(problem).geometry
    path = None if parameter == COUPLING else _path(problem, parameter, interval, relative)
    frame = geometry.frame(problem, path.samples if path is not None and path.moves_forces else ())
    if frame is not None:
        again = partial(bifurcation_diagram, frame.problem, interval, parameter=parameter, relative=relative)
        return frame.diagram(again(depth=depth, search=search, method=method, rates=rates, watch=watch))
    register, course = _course(problem, path, (interval, relative), depth, search=search_too)
    _tell(watch or unwatched, "uniform" if problem.confinement is None else "no interaction", 1, 1)
    branches = walk(course, register, depth, method)
    followed: list[tuple[Task, Followed]] = []
    for task, branch, waiting in branches:
        followed.append((task, branch))
        _tell(watch or unwatched, task.label, len(followed) + 1, waiting)
    parts = [part for task, _ in followed for part in task.parts]
    mark = partial(_mark_exchanges, parts, problem, register)
    if has_free_energy(problem):
        _beside("couplings of equal free energy may be missing", register, mark)
    for task, _ in followed:
        for part in task.parts:
            record(part, task.symmetry, task.parent, register)
    name = partial(course.omissions, depth, register)
    _beside("branches left out may not all be named", register, name)
    recorded, failures = tuple(register.branches), Failures()
    if rates:
        recorded = with_rates(problem, geometry, register.branches, failures)
        rough = geometry.takes_kinks and confining_degree(problem) is None
        register.warnings += unknown_rates(recorded, failures, rough)
    options = {"depth": depth, "search": search, **asdict(method)}
    describe = partial(provenance, problem, options, time.process_time() - started)
    return Diagram(
        problem=problem,
        interval=register.interval,
        critical_coupling=register.critical,
        branches=recorded,
        special_points=tuple(register.special_points),
        provenance=(_beside("the provenance is not known", register, describe) or {"options": options})
        | {"searched": register.searched},
        warnings=register.sentences(),
        parameter=parameter,
    )


def _require_capabilities(problem: Equation, parameter: str, search: bool) -> None:
    if not rotates_freely(problem):
        require(problem, Capability.STATIONARY_MAP, "bifurcation diagrams")
    if search and problem.confinement is None and not solvers_of(problem).geometry.searches(problem):
        require(problem, Capability.FREE_ENERGY, "searches for states that no branch leads to")


def _tell(watch: Watch, label: str, done: int, waiting: int) -> None:
    logger.info("%s: %d done, %d waiting", label, done, waiting)
    watch(done, done + waiting, label)


def _mark_exchanges(parts: list[Part], problem: Equation, register: Register) -> None:
    curves, labels = [part.curve for part in parts], [part.label for part in parts]
    mark_exchanges(curves, labels, largest_modulus(register.interval), uniform=problem.confinement is None)


def _beside(lost: str, register: Register, compute: Callable[[], Result]) -> Result | None:
    """Return the result of an optional computation; None, with a warning in the register, if it raises an error."""
    try:
        return compute()
    except Exception as error:
        register.warnings.append(f"{lost} ({type(error).__name__}: {error})")
        return None


def _course(
    problem: Equation,
    path: Path | None,
    intervals: tuple[tuple[float, float] | None, tuple[float, float] | None],
    depth: int,
    *,
    search: bool,
) -> tuple[Register, Course]:
    """Return what branches are followed along, and the register of what is found.

    Parameters
    ----------
    path
        The problem along a parameter; None in the coupling.
    intervals
        That of couplings, and that relative to the critical one.
    """
    geometry = solvers_of(problem).geometry
    if path is None:
        critical = transition_coupling(problem)
        return Register(_interval(*intervals, critical), critical), InCoupling(problem, geometry, search)
    register = ParameterRegister((path.low, path.high), None, parameter=path.name, path=path)
    return register, InParameter(path, geometry, depth, search)


def _path(
    problem: Equation, parameter: str, interval: tuple[float, float] | None, relative: tuple[float, float] | None
) -> Path:
    """Return the problem along a parameter other than the coupling."""
    if relative is not None or interval is None:
        raise InvalidInput(
            f"give the interval of {parameter} by its values, such as --over {parameter} 1 8 or "
            f'parameter="{parameter}", interval=(1.0, 8.0)'
        )
    low, high = require_parameter_range(interval, parameter)
    problem = problem.having(parameter)
    if not problem.fixed_coupling:
        raise InvalidInput(
            f"at coupling 0 no state depends on the interaction; fix another one to vary {parameter}"
        )
    return Path(problem, parameter, (low, high))


def _interval(
    interval: tuple[float, float] | None,
    relative: tuple[float, float] | None,
    critical: Number | None,
) -> tuple[Number, Number]:
    if interval is not None and relative is not None:
        raise InvalidInput("give the interval either in couplings or relative to the critical one, not both")
    if interval is None:
        if critical is None:
            raise InvalidInput(
                "there is no positive critical coupling to be relative to; give the interval in couplings, "
                "such as --coupling 0 5 or interval=(0.0, 5.0)"
            )
        low, high = require_range(DEFAULT_RELATIVE if relative is None else relative, "relative interval")
        return low * critical, high * critical
    return require_range(interval, "coupling interval")
