"""The whole bifurcation diagram: walk through the branches, record them, add rates and provenance."""

import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import TypeVar

import numpy as np

from meanfield import Diagram, Equation, InvalidInput, Number
from meanfield.arguments import checked
from meanfield.equations import Capability, has_free_energy, require
from meanfield.theory import transition_coupling

from .arguments import require_depth
from .branches.arclength import Arclength
from .branches.exchange import mark_exchanges
from .branches.following import Followed
from .branches.omissions import warn_of_omissions
from .branches.rates import Failures, unknown_rates, with_rates
from .branches.recording import Part, Register, largest_modulus, record
from .branches.walk import Task, walk
from .domains import solvers_of
from .provenance import provenance
from .significant import confining_degree
from .threads import one_thread
from .watching import Watch, unwatched

logger = logging.getLogger(__name__)

DEFAULT_RELATIVE = (0.5, 3.0)
Result = TypeVar("Result")


@checked
@one_thread()
def bifurcation_diagram(
    problem: Equation,
    interval: tuple[float, float] | None = None,
    *,
    relative: tuple[float, float] | None = None,
    depth: int = 2,
    search: bool = False,
    method: Arclength | None = None,
    rates: bool = True,
    watch: Watch | None = None,
) -> Diagram:
    """Return the diagram of the stationary states of a problem for all couplings in an interval.

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
        If the interval is empty, reversed or not finite, or relative to a critical coupling and none exists, or
        if a search is asked for without a free energy.

    Examples
    --------
    >>> from meanfield import Circle, Kuramoto, McKeanVlasov
    >>> diagram = bifurcation_diagram(McKeanVlasov(Circle(), Kuramoto()), (1.0, 4.0), rates=False)
    >>> [branch.label for branch in diagram.branches]
    ['uniform', '1-cluster']
    """
    started = time.process_time()
    require_depth(depth)
    require(problem, Capability.STATIONARY_MAP, "bifurcation diagrams")
    if search:
        require(problem, Capability.FREE_ENERGY, "searches for states that no branch leads to")
    problem = problem.at(coupling=None)
    frame = solvers_of(problem).geometry.frame(problem)
    if frame is not None:
        again = partial(bifurcation_diagram, frame.problem, interval, relative=relative, depth=depth)
        return frame.diagram(again(search=search, method=method, rates=rates, watch=watch))
    method = Arclength() if method is None else method
    critical = transition_coupling(problem)
    register = Register(_interval(interval, relative, critical), critical)
    _tell(watch or unwatched, "uniform" if problem.confinement is None else "no interaction", 1, 1)
    geometry = solvers_of(problem).geometry
    search_too = search or (problem.confinement is not None and has_free_energy(problem))
    branches = walk(problem, geometry, register, depth, method, search_too)
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
    name = partial(warn_of_omissions, problem, geometry, depth, register)
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
        critical_coupling=critical,
        branches=recorded,
        special_points=tuple(register.special_points),
        provenance=(_beside("the provenance is not known", register, describe) or {"options": options})
        | {"searched": register.searched},
        warnings=register.sentences(),
    )


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
        low, high = _checked(DEFAULT_RELATIVE if relative is None else relative, "relative interval")
        return low * critical, high * critical
    return _checked(interval, "coupling interval")


def _checked(interval: tuple[Number, Number], what: str) -> tuple[Number, Number]:
    low, high = interval
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InvalidInput(f"the {what} must be finite and increasing, not [{low:g}, {high:g}]")
    return low, high
