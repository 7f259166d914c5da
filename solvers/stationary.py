"""All stationary states at a fixed coupling, by a search and along branches, and which of them is the minimiser.

Three sources: the closed forms (the uniform state), a search from random starts, which reports its completeness,
and, in a confinement or where that leaves anything open, the branches of the bifurcation diagram that pass the
coupling, beside which it is made once more. On S^2, where it goes through all symmetries, the only branch that is
followed in a confinement is the one that begins without interaction, unless the confinement is weak.
States that are rotations or reflections of each other are one. A state is named the minimiser with a reason only: a
theorem, or a search that is settled.
"""

import logging
import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from meanfield import (
    ComputationFailed,
    Equation,
    InvalidInput,
    NotResolved,
    Number,
    Outcome,
    State,
    critical_coupling,
    critical_modes,
    global_criterion,
)
from meanfield.arguments import checked
from meanfield.base import deferred
from meanfield.equations import Capability, has_free_energy, require
from meanfield.records import FREE_ENERGY_GAP, StationaryStates

from .bases import EPS
from .branches.continuation import Point
from .branches.following import UNFINISHED, Followed
from .branches.junctions import from_no_interaction
from .branches.labels import told_apart
from .branches.newton_search import search_states
from .branches.orbits import same_orbit, symmetry_of
from .branches.passing import BEYOND, FAMILY, passing_branches, register_about
from .branches.recording import Register, state_of
from .branches.uniform import uniform_state
from .domains import solvers_of
from .equations.bounds import bounded_below
from .equations.rotating import rotates_freely
from .execution.arguments import require_depth, require_on_failure
from .execution.provenance import provenance
from .execution.threads import one_thread
from .execution.watching import Watch, unwatched
from .root_finding.searched import Searched
from .spectra import spectral_gap

logger = logging.getLogger(__name__)

# Nearer to a threshold, relative to it, a search may take a state born there for the uniform one: of transcritical
# branches the moments are of the order of this distance, and states of a search are the same within 1e-6.
AT_THRESHOLD = 1e-4
# Numbers of modes from here on are given by their order of magnitude.
SPELLED_OUT = 1e9
# The error of a state moves no rate by more than so many roots of its residual, in units of D.
ROOTS_OF_RESIDUAL = 1e4
# With so many generations only the branch that begins without interaction is followed.
PRIMARY = 1
# What is kept of the search in the provenance.
SEARCH = ("searched", "complete", "minimiser_reason", "warnings")
BRANCHES_ONLY = (
    "it would descend a free energy and there is none; these are states of the branches that were followed"
)
WITH_AXIS = f"{BRANCHES_ONLY}, all with an axis of symmetry, for others are computed for laws with a Gibbs map only"
ALONE = "without interaction exp(-V/D)/Z is the only state"


@checked
@one_thread()
def stationary_states(
    problem: Equation,
    *,
    depth: int = 3,
    rates: bool = True,
    on_failure: str = "raise",
    watch: Watch | None = None,
) -> StationaryStates:
    """Return the stationary states at the problem's coupling, lowest free energy first.

    Parameters
    ----------
    problem
        The equation, its coupling fixed.
    depth
        Generations of branches followed to the coupling, which is done in a confinement, where states are named
        after them, beside a threshold, for d > 3, and on the circle where the search alone is not settled.
        In a confinement of S^2 whose coefficients amount to a tenth of the noise it is only the one that begins
        without interaction, ``primary``.
    rates
        Whether the states have slowest decay rates, each of which is computed when it is first read; else None.
    on_failure
        ``"raise"``, or ``"return"`` for the states that were found, with no minimiser named, if a
        branch cannot be followed to the coupling.
    watch
        Called, before a search and before every branch, with the number of states found, None and a name.

    Returns
    -------
    StationaryStates
        A tuple of states, each once up to rotation and reflection; without a free energy the most stable is first.
        A density without a moment above 1e-8 counts as the uniform one. Under a phase lag on the circle the states
        are rotating waves, at rest in a frame with the observable ``angular_velocity``.
        Its ``searched`` says what was searched, and how often each state was met; ``complete`` is True where a
        theorem says that there are no others, False where some are known to be missing, else None. The first state
        has ``minimiser`` True where that has a reason, ``minimiser_reason``: a theorem, or relaxations from random
        starts that met every stable state twice and by Boender and Rinnooy Kan's rule leave less than a quarter of
        one unseen. Else all have None: there is no free energy, it is unbounded below, a branch was lost, or the
        search is not settled.

    Raises
    ------
    InvalidInput
        If the coupling is free.
    NotResolved
        If a branch gets too concentrated before it reaches the coupling; the message names the modes it needs.

    Examples
    --------
    >>> from meanfield import Circle, Kuramoto, McKeanVlasov
    >>> states = stationary_states(McKeanVlasov(Circle(), Kuramoto(), coupling=3.0), rates=False)
    >>> [(state.label, state.unstable) for state in states]
    [('1-cluster', 0), ('uniform', 2)]
    """
    started = time.process_time()
    watch = watch or unwatched
    require_depth(depth)
    waves = solvers_of(problem).waves
    if waves is not None and rotates_freely(problem):
        return _rotating(*waves(problem), rates, time.process_time() - started)
    require(problem, Capability.STATIONARY_MAP, "stationary states")
    frame = solvers_of(problem).geometry.frame(problem)
    if frame is not None:
        solved = stationary_states(frame.problem, depth=depth, rates=False, on_failure=on_failure, watch=watch)
        return _rated(frame.states(solved), solved) if rates else frame.states(solved)
    coupling = problem.fixed_coupling
    if not np.isfinite(BEYOND * coupling):
        raise InvalidInput(
            f"coupling {coupling:g} is too large to look for branches around it; measure in other units"
        )
    require_on_failure(on_failure)
    register = register_about(problem)
    alone = _alone(problem, register, on_failure, watch)
    states = _sorted(problem, alone.states) if alone is not None and _enough(problem, alone.searched) else []
    if alone is not None and states and (not states[0].unstable or alone.searched.unresolved):
        searched, followed = alone.searched, alone.followed
    else:
        points = None if alone is None or problem.confinement is not None else alone.searched
        register = register_about(problem)
        found, searched, followed = _beside_branches(problem, points, register, depth, on_failure, watch)
        states = _sorted(problem, found)
    minimiser, reason = _minimiser(states[0], searched, followed)
    complete = False if searched.doubt or not followed else True if searched.theorem else None
    warnings = tuple(dict.fromkeys(register.warnings))
    search = dict(zip(SEARCH, (searched.words, complete, reason, list(warnings)), strict=True))
    source = provenance(problem, {"depth": depth}, time.process_time() - started) | search
    known = (
        state.replace(
            minimiser=index == 0 if minimiser else None,
            minimiser_reason=reason,
            provenance=source,
        )
        for index, state in enumerate(states)
    )
    result = StationaryStates(known, searched.words, complete, warnings)
    return _rated(result, result) if rates else result


def _rotating(found: list[State], searched: Searched, rates: bool, seconds: float) -> StationaryStates:
    """Return the uniform state and rotating waves, the most stable first."""
    problem = found[0].problem
    _, reason = _minimiser(found[0], searched, True)
    source = provenance(problem, {}, seconds) | dict(
        zip(SEARCH, (searched.words, False if searched.doubt else None, reason, []), strict=True)
    )
    states = (
        state.replace(minimiser_reason=reason, provenance=source)
        for state in told_apart(sorted(found, key=_energy_and_stability))
    )
    result = StationaryStates(states, searched.words, False if searched.doubt else None)
    return _rated(result, result) if rates else result


def _rated(states: StationaryStates, solved: Sequence[State]) -> StationaryStates:
    """Return states whose slowest rates, where they are read, are those of the states as they were solved for."""
    rated = (
        deferred(state, slowest_rate=partial(_rate, original))
        for state, original in zip(states, solved, strict=True)
    )
    return StationaryStates(rated, states.searched, states.complete, states.warnings)


class _Alone(NamedTuple):
    """Named states of a search beside no branch but that without interaction, and whether this was followed."""

    states: list[tuple[str, Point]]
    searched: Searched
    followed: bool


def _alone(problem: Equation, register: Register, on_failure: str, watch: Watch) -> _Alone | None:
    """Return the result of the search without branches, or None if that cannot tell all states apart.

    In a confinement the branch that begins without interaction has a name, which only following it tells.
    """
    coupling = problem.fixed_coupling
    if coupling == 0.0 or not has_free_energy(problem) or not _covered(problem):
        return None
    known: list[tuple[str, Point]] = []
    followed = True
    if problem.confinement is not None:
        known, followed = _on_branches(problem, register, PRIMARY, on_failure, watch)
    watch(len(known), None, "search")
    searched = _searched(problem, known)
    return _Alone(known + _named(searched.points), searched, followed)


def _covered(problem: Equation) -> bool:
    """Return whether the search has all states of an equation, and branches would not tell them apart better."""
    coupling, geometry = problem.fixed_coupling, solvers_of(problem).geometry
    if problem.confinement is not None:
        return geometry.search_resolves(problem, coupling)
    around = sorted(coupling * (1.0 + side * AT_THRESHOLD) for side in (-1.0, 1.0))
    return geometry.search_covers(problem, coupling) and not critical_modes(problem, *around)


def _enough(problem: Equation, searched: Searched) -> bool:
    """Return whether a search leaves nothing that branches might add."""
    return searched.settled or solvers_of(problem).geometry.search_resolves(problem, problem.fixed_coupling)


def _named(points: list[Point]) -> list[tuple[str, Point]]:
    """Return points with the names of their states."""
    return [(point.equation.densities.name_of(point), point) for point in points]


def _beside_branches(
    problem: Equation, alone: Searched | None, register: Register, depth: int, on_failure: str, watch: Watch
) -> tuple[list[tuple[str, Point]], Searched, bool]:
    """Return the states of branches and of a search beside them, its result, and whether no branch was lost.

    The search is made again where the branches have led to states that it did not meet.
    """
    found: list[tuple[str, Point]] = []
    sources, followed = (
        _on_branches(problem, register, depth, on_failure, watch)
        if problem.fixed_coupling
        else _without_interaction(problem)
    )
    for label, point in sources:
        _add(found, label, point)
    searched = alone
    if searched is None or not all(any(same_orbit(point, met) for met in searched.points) for _, point in found):
        watch(len(found), None, "search")
        searched = _searched(problem, found)
    for label, point in _named(searched.points):
        _add(found, label, point)
    return found, searched, followed


def _sorted(problem: Equation, found: list[tuple[str, Point]]) -> list[State]:
    """Return the states found and the uniform one, lowest free energy first."""
    states = [state_of(problem, point, label, vertical=label.endswith(FAMILY)) for label, point in found]
    if problem.confinement is None:
        states.insert(0, uniform_state(problem))
    if not states:
        raise NotResolved(
            f"no stationary state at coupling {float(problem.fixed_coupling):.6g} is resolved by the modes that "
            "are allowed: the confinement or the coupling is too strong for this noise; take a larger noise"
        )
    states.sort(key=_energy_and_stability)
    if problem.confinement is not None and has_free_energy(problem):
        _stable_first(states)
    return told_apart(states)


def _minimiser(lowest: State, searched: Searched, followed: bool) -> tuple[bool, str]:
    """Return whether the lowest state is known to be the minimiser, and why, or why not."""
    problem = lowest.problem
    if lacking := problem.lacks(Capability.FREE_ENERGY):
        return False, f"there is no free energy: {lacking}"
    if not bounded_below(problem):
        return False, "the free energy is unbounded below"
    if not followed:
        return False, "a branch could not be followed to the coupling"
    if lowest.unstable:
        return False, "the lowest state found is unstable, so that a lower one is missing"
    if searched.theorem:
        return True, f"theorem: {searched.theorem}"
    if lowest.symmetry == 0 and (statement := _continuous(problem)):
        return True, f"theorem: {statement}"
    if searched.minima is None:
        return False, "no relaxations from random starts were made"
    counts = searched.minima.words("relaxations", "stable state")
    if not searched.minima.settled:
        return False, f"the search among {searched.among} is not settled: {counts}"
    return True, f"lowest of a search among {searched.among}, no proof: {counts}"


def _continuous(problem: Equation) -> str:
    """Return the theorem by which uniform minimises the free energy at the coupling, empty if none applies."""
    if problem.confinement is not None or problem.fixed_coupling < 0:
        return ""
    criterion = global_criterion(problem)
    critical = critical_coupling(problem)
    if not criterion.holds or not criterion.certain or critical is None or problem.fixed_coupling > critical:
        return ""
    return criterion.statement


def _energy_and_stability(state: State) -> tuple[float, bool, int]:
    """Return the sort key of a state: free energy gap, zero without one or in a tie with uniform, and stability.

    Where the unstable directions are not counted the state comes after those where they are.
    """
    gap = state.observables.get(FREE_ENERGY_GAP, 0.0)
    return (gap if abs(gap) > 4.0 * EPS else 0.0), state.unstable is None, state.unstable or 0


def _stable_first(states: list[State]) -> None:
    """Move the most stable of the states that tie for the lowest free energy to the front, in place.

    A weak confinement lifts the degeneracy of rotations by less than the rounding of their free energy.
    """
    lowest = states[0].free_energy_gap
    rounding = 8.0 * EPS * max(1.0, abs(lowest))
    count = sum(state.free_energy_gap - lowest <= rounding for state in states)
    states[:count] = sorted(states[:count], key=lambda state: state.unstable or 0)


@one_thread()
def _rate(state: State) -> float | None:
    """Return the slowest decay rate of a state, None if it is not computable or its sign is lost in rounding."""
    try:
        rate = _slowest_rate(state)
    except ComputationFailed:
        return None
    if state.unstable is None:
        return rate or None
    return rate if (rate < 0.0) == (state.unstable > 0) else None


def _slowest_rate(state: State) -> float:
    """Return the slowest decay rate of a state, by its spectrum if it may be zero to within its error."""
    rate = solvers_of(state.problem).geometry.slowest_rate(state)
    certain = abs(rate) > ROOTS_OF_RESIDUAL * np.sqrt(max(state.residual, EPS)) * state.problem.noise
    if certain and (state.unstable is None or (rate < 0.0) == (state.unstable > 0)):
        return rate
    return spectral_gap(state)


def _without_interaction(problem: Equation) -> tuple[list[tuple[str, Point]], bool]:
    """Return the only state at zero coupling, the Gibbs density of the confinement, and True: no branch is lost."""
    point = None if problem.confinement is None else _gibbs_state(problem, 1)
    return ([] if point is None else [("primary", point)]), True


def _gibbs_state(problem: Equation, sign: int) -> Point | None:
    """Return the Gibbs density of the confinement, or None if the potential does not act on its symmetry.

    Raises
    ------
    NotResolved
        If it is too concentrated.
    """
    departure = from_no_interaction(solvers_of(problem).geometry, problem, sign)
    point = None if departure is None else departure.regular()
    if departure is not None and point is None:
        raise NotResolved(
            "the density without interaction, exp(-V/D), is too concentrated to be resolved by the modes that are "
            "allowed, or it has a kink that a potential with a kink acts on in all of its modes; take a larger "
            f"noise than {problem.noise:g}, a weaker confinement or a smooth one"
        )
    return point


def _on_branches(
    problem: Equation, register: Register, depth: int, on_failure: str, watch: Watch
) -> tuple[list[tuple[str, Point]], bool]:
    """Return the states of all branches at the coupling, and whether no branch was lost before it.

    Branches are followed to beyond the coupling, since some that pass it are born above it.
    """
    coupling, free = problem.fixed_coupling, problem.at(coupling=None)
    found: list[tuple[str, Point]] = []
    complete = True
    if problem.confinement is not None and on_failure == "raise":
        _gibbs_state(free, 1 if coupling > 0 else -1)
    for task, followed, label, points in passing_branches(problem, solvers_of(free).geometry, register, depth):
        equation = task.departure.equation
        logger.info("%s: %s", task.label, followed.outcome)
        watch(len(found), None, task.label)
        if not label:
            continue
        found += [(label, point) for point in points]
        below = followed.knots[-1].point.q < float(abs(coupling) / equation.unit)
        if followed.outcome is Outcome.NOT_RESOLVED and below:
            complete = False
            if on_failure == "raise":
                raise NotResolved(_lost(task.label, followed, coupling))
        elif followed.outcome in UNFINISHED and below:
            register.warnings.append(
                f"the {task.label} was followed to coupling {float(followed.knots[-1].point.coupling):.6g} only, "
                f"not to {float(coupling):.6g}: {followed.outcome}; beyond it states come from the search"
            )
    return found, complete


def _lost(label: str, followed: Followed, coupling: Number) -> str:
    last = followed.knots[-1].point
    # The width of a cluster goes with the inverse root of the coupling.
    resolved = last.equation.basis.symmetry * last.equation.basis.nodes
    needed = resolved * np.sqrt(float(coupling / last.coupling))
    number = f"{needed:.0f}" if needed < SPELLED_OUT else f"{needed:.1e}"
    return (
        f"the {label} could be followed to coupling {float(last.coupling):.6g} only, not to {float(coupling):.6g}: "
        f"it needs about {number} modes, more than the {resolved} it had there; ask for a smaller coupling, or for "
        "the states that can be had with on_failure='return' (--on-failure return)"
    )


def _searched(problem: Equation, found: list[tuple[str, Point]]) -> Searched:
    if not problem.fixed_coupling:
        return Searched([], "", theorem=ALONE)
    sign = 1 if problem.fixed_coupling > 0 else -1
    known = [point for _, point in found]
    geometry = solvers_of(problem).geometry
    if problem.confinement is None and not geometry.searches(problem):
        return Searched([], "", omitted=WITH_AXIS if problem.lacks(Capability.GIBBS_MAP) else BRANCHES_ONLY)
    return search_states(geometry, problem.at(coupling=None), sign, problem.fixed_coupling, known)


def _add(found: list[tuple[str, Point]], label: str, point: Point) -> None:
    """Add a labelled state to those found unless a rotation or reflection of it is among them."""
    if symmetry_of(point) and not any(same_orbit(point, other) for _, other in found):
        found.append((label, point))
