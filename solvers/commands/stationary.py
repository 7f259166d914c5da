"""The command ``stationary``."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from meanfield import Equation, State
from meanfield.command_line import (
    Parser,
    add_common,
    add_coupling,
    add_figure,
    add_files,
    add_problem,
    at_coupling,
    check_targets,
    draw_states,
    formatted,
    origin,
    problem_from,
    progress_bar,
    require_coupling,
    say,
    say_json,
    set_verbosity,
    table,
    write_all,
)
from meanfield.export import STATE_KINDS, check_states_target, save_states, states_to_json_object
from meanfield.records import StationaryStates, observable_named
from meanfield.summary import leading_degree
from meanfield.theory import transition_coupling

from ..execution.watching import Watch
from .wording import EACH_BRANCH, add_on_failure, heading


def stationary(argv: Sequence[str]) -> int:
    """Find the stationary states at one coupling and say which minimises the free energy."""
    parser = Parser("stationary", "Find the stationary states at one coupling.", argv)
    add_coupling(parser)
    add_on_failure(parser)
    add_files(parser, ", ".join(STATE_KINDS))
    add_figure(parser, "--plot", "the densities")
    add_common(parser, quiet="the table and the names of the files written", verbose=EACH_BRANCH)
    add_problem(parser)
    settings = parser.settings()
    problem = at_coupling(problem_from(parser, settings), settings)
    require_coupling(parser, problem)
    from ..execution.provenance import provenance
    from ..stationary import SEARCH, stationary_states

    check_targets(settings.to, [settings.plot] if settings.plot else [], settings.force, check_states_target)
    set_verbosity(settings.verbose)
    with progress_bar(not settings.quiet and not settings.verbose, "states", "states") as advance:
        states = stationary_states(problem, on_failure=settings.on_failure, watch=advance)
        if settings.to or settings.json:
            _compute_rates(states, advance)
    where = provenance(problem, {}, 0.0) | origin(parser, settings)
    where |= {name: states[0].provenance[name] for name in SEARCH}
    try:
        write_all(_state_writers(problem, states, where, settings), settings.quiet)
    finally:
        _print_states(problem, states, where, settings)
    return 0


def _compute_rates(states: Sequence[State], advance: Watch) -> None:
    """Compute the slowest rates, which files have and the table has not, in sight of a progress bar."""
    for index, state in enumerate(states):
        advance(index, len(states), "rates")
        _ = state.slowest_rate


def _state_writers(
    problem: Equation, states: Sequence[State], where: dict[str, Any], settings: argparse.Namespace
) -> list[Callable[[], Sequence[Path]]]:
    critical = transition_coupling(problem)
    writers: list[Callable[[], Sequence[Path]]] = []
    for target in settings.to:
        writers.append(
            lambda target=target: [save_states(states, target, critical, where, settings.force)]  # type: ignore[misc]
        )
    if settings.plot is not None:
        writers.append(lambda: [draw_states(states, settings.plot, where, settings.force)])
    return writers


def _print_states(
    problem: Equation, states: StationaryStates, where: dict[str, Any], settings: argparse.Namespace
) -> None:
    if settings.json:
        say_json(states_to_json_object(states, transition_coupling(problem), where))
    elif not settings.quiet:
        say(_states_text(problem, states))


def _states_text(problem: Equation, states: StationaryStates) -> str:
    names = [f"m{degree}" for degree in sorted({1, 2, *(leading_degree(state) for state in states)})]
    columns = {
        "state": [state.label for state in states],
        **{name: [formatted(_moment(state, name)) for state in states] for name in names},
        **_observed(states),
        "unstable": ["?" if state.unstable is None else str(state.unstable) for state in states],
        "residual": [formatted(state.residual, 2) for state in states],
        "": ["minimiser" if state.minimiser else "" for state in states],
    }
    reason = states[0].minimiser_reason.removeprefix("theorem: ")
    searched = [states.searched, *([] if reason in states.searched else [f"minimiser: {reason}"])]
    warnings = ["", "Warnings", *(f"  - {warning}" for warning in states.warnings)] if states.warnings else []
    return "\n".join([*heading(problem, states), "", table(columns, "  "), "", *searched, *warnings])


def _observed(states: Sequence[State]) -> dict[str, list[str]]:
    """Return the columns of the observables that all states have."""
    common = [name for name in states[0].observables if all(name in state.observables for state in states)]
    return {
        observable_named(name).heading: [formatted(state.observables[name]) for state in states] for name in common
    }


def _moment(state: State, name: str) -> float:
    """Return a moment of a state, or zero if it is the rounding of one that vanishes by symmetry."""
    from ..bases import EPS

    moment = float(state.moments.named(name))
    return moment if abs(moment) > 4.0 * EPS else 0.0
