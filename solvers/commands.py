"""The commands that solve: bifurcation, stationary and rate."""

import argparse
import contextlib
import dataclasses
import logging
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from meanfield import (
    Diagram,
    InvalidInput,
    McKeanVlasov,
    MeanfieldError,
    Spectrum,
    State,
    critical_coupling,
    growth_rates,
)
from meanfield.command_line import (
    Parser,
    add_common,
    add_coupling,
    add_coupling_range,
    add_figure,
    add_files,
    add_problem,
    at_coupling,
    check_targets,
    draw,
    formatted,
    note,
    number,
    problem_from,
    require_coupling,
    resolved_configuration,
    say,
    say_json,
    set_verbosity,
    table,
    whole,
    word,
)
from meanfield.export import KINDS, diagram_to_json_object, save
from meanfield.export.states import STATE_KINDS, check_states_target, save_states, states_to_json_object
from meanfield.summary import describe

from .continuation import Arclength
from .diagram import Progress, explore
from .provenance import provenance
from .spectra import spectrum
from .stationary import stationary_states

logger = logging.getLogger(__name__)

# Seconds until the bar appears and between its updates.
SHOWN_AFTER = 1.0
BETWEEN = 0.2
BETWEEN_IN_FILE = 10.0
SMALLEST_STEP = 1e-9
LARGEST_DEGREE = 2**17
EACH_BRANCH = "one line a branch"


def bifurcation(argv: Sequence[str]) -> int:
    """Compute the bifurcation diagram in the coupling, save it and draw it."""
    parser = _bifurcation_parser(argv)
    settings = parser.settings()
    problem = problem_from(parser, settings)
    method = _method(settings)
    figures = [name for name in (settings.plot, settings.panels) if name is not None]
    check_targets(settings.to, figures, settings.force)
    set_verbosity(settings.verbose)
    exploration = explore(
        problem,
        _pair(settings.coupling),
        relative=_pair(settings.relative),
        depth=settings.depth,
        search=settings.search,
        method=method,
        rates=not settings.no_rates,
    )
    diagram = _watched(exploration, shown=not settings.quiet and not settings.verbose)
    diagram = _with_origin(diagram, parser, settings)
    try:
        _write_all(_diagram_writers(diagram, settings), settings.quiet)
    finally:
        _print_diagram(diagram, settings)
    return 0


def stationary(argv: Sequence[str]) -> int:
    """Find the stationary states at one coupling and say which minimises the free energy."""
    parser = Parser("stationary", "Find the stationary states at one coupling.", argv)
    add_coupling(parser)
    _add_on_failure(parser)
    add_files(parser, ", ".join(STATE_KINDS))
    add_figure(parser, "--plot", "the densities")
    add_common(parser, quiet="the table and the names of the files written", verbose=EACH_BRANCH)
    add_problem(parser)
    settings = parser.settings()
    problem = at_coupling(problem_from(parser, settings), settings)
    require_coupling(parser, problem)
    for target in settings.to:
        check_states_target(target, settings.force)
    check_targets([], [settings.plot] if settings.plot else [], settings.force)
    set_verbosity(settings.verbose)
    states = stationary_states(problem, on_failure=settings.on_failure)
    origin = provenance(problem, {}, 0.0) | _origin(parser, settings)
    try:
        _write_all(_state_writers(problem, states, origin, settings), settings.quiet)
    finally:
        _print_states(problem, states, origin, settings)
    return 0


def rate(argv: Sequence[str]) -> int:
    """Compute the spectral gap of the stable states at one coupling, rotation set apart."""
    parser = Parser("rate", "Compute the slowest decay rate at the stable states, rotation set apart.", argv)
    add_coupling(parser)
    _add_on_failure(parser)
    add_common(parser, verbose=EACH_BRANCH)
    add_problem(parser)
    settings = parser.settings()
    problem = at_coupling(problem_from(parser, settings), settings)
    require_coupling(parser, problem)
    set_verbosity(settings.verbose)
    states = stationary_states(problem, rates=False, on_failure=settings.on_failure)
    spectra = [spectrum(state) for state in states if state.stable is not False]
    if settings.json:
        say_json(_rate_object(problem, spectra) | {"provenance": _origin(parser, settings)})
    else:
        say(_rate_text(problem, states, spectra))
    return 0


def uniform_rate(problem: McKeanVlasov) -> float:
    """Return min_k D k^2 (1 - lambda_k), the decay rate to the uniform state over all modes.

    Raises
    ------
    InvalidInput
        If the coupling is free, the problem has a confinement or the coupling is too large to tell.
    """
    degree = 16
    while degree <= LARGEST_DEGREE:
        slowest = -float(growth_rates(problem, degree)[1:].max())
        tail = problem.potential.tail_bound(problem.domain, degree)
        drift = float(abs(problem.fixed_coupling) * tail / (2 * problem.noise))
        # Every mode beyond decays at least this fast.
        if problem.noise * (degree + 1) ** 2 * (1 - drift) >= slowest and drift < 1:
            return slowest
        degree *= 2
    raise InvalidInput(f"modes beyond {LARGEST_DEGREE} are critical at coupling {problem.fixed_coupling:g}")


def _bifurcation_parser(argv: Sequence[str]) -> Parser:
    parser = Parser("bifurcation", "Compute all stationary states over a range of couplings.", argv)
    add_coupling_range(parser)
    parser.add_argument(
        "--depth",
        type=whole,
        default=2,
        metavar="N",
        help="generations of branches: 0 uniform, 1 primary, ... (default: 2)",
    )
    parser.add_argument("--search", action="store_true", help="look for branches connected to no other as well")
    parser.add_argument(
        "--tolerance",
        type=number,
        default=Arclength.tolerance,
        metavar="T",
        help="spacing of the points; located points are at rounding level for every T "
        f"(default: {Arclength.tolerance:g})",
    )
    parser.add_argument(
        "--max-step",
        type=number,
        default=Arclength.max_step,
        metavar="S",
        help=f"longest step (default: {Arclength.max_step:g})",
    )
    parser.add_argument("--no-rates", action="store_true", help="leave the decay rates out")
    add_files(parser, ", ".join(KINDS))
    add_figure(parser, "--plot", "the diagram")
    add_figure(parser, "--panels", "amplitude, energy, rate and densities")
    add_common(parser, quiet="progress, summary and names of files; warnings stay", verbose=EACH_BRANCH)
    add_problem(parser)
    return parser


def _add_on_failure(parser: Parser) -> None:
    parser.add_argument(
        "--on-failure",
        choices=("raise", "return"),
        default="raise",
        type=word,
        help="if a branch cannot be followed to the coupling: raise an error (default), or return the states that "
        "can be had, naming no minimiser",
    )


def _method(settings: argparse.Namespace) -> Arclength:
    for option, value in (("tolerance", settings.tolerance), ("max-step", settings.max_step)):
        if not SMALLEST_STEP <= value <= 1.0:
            raise InvalidInput(
                f"--{option} must be from {SMALLEST_STEP:g} to 1, not {value:g}; try --{option} 0.001"
            )
    return Arclength(tolerance=float(settings.tolerance), max_step=float(settings.max_step))


def _pair(values: list[Any] | None) -> tuple[Any, Any] | None:
    return None if values is None else (values[0], values[1])


def _watched(exploration: Any, shown: bool) -> Diagram:
    """Run an exploration to its end; the bar appears when it takes longer than a second."""
    with _bar(shown) as advance:
        while True:
            try:
                progress = next(exploration)
            except StopIteration as stop:
                diagram: Diagram = stop.value
                return diagram
            logger.info("%s: %d done, %d waiting", progress.label, progress.done, progress.waiting)
            advance(progress)


@contextlib.contextmanager
def _bar(shown: bool) -> Iterator[Callable[[Progress], None]]:
    """Show a bar once it has taken long; a thread of its own keeps it alive during a long branch."""
    from tqdm import tqdm

    bar = tqdm(
        desc="branches", unit=" branches", file=sys.stderr, disable=not shown, delay=SHOWN_AFTER, leave=False
    )
    finished = threading.Event()

    def keep_alive() -> None:
        wait = SHOWN_AFTER
        while not finished.wait(wait):
            # A delay that is over lets close() wipe the bar.
            bar.delay = 0.0
            bar.refresh()
            wait = BETWEEN if sys.stderr.isatty() else BETWEEN_IN_FILE

    def advance(progress: Progress) -> None:
        bar.total = progress.done + progress.waiting
        bar.set_postfix_str(progress.label, refresh=False)
        bar.update(progress.done - bar.n)

    thread = threading.Thread(target=keep_alive, daemon=True)
    if shown:
        thread.start()
    try:
        yield advance
    finally:
        finished.set()
        if shown:
            thread.join()
        bar.close()


def _origin(parser: Parser, settings: argparse.Namespace) -> dict[str, Any]:
    return {"command": parser.command_line, "configuration": resolved_configuration(settings)}


def _with_origin(diagram: Diagram, parser: Parser, settings: argparse.Namespace) -> Diagram:
    return dataclasses.replace(diagram, provenance=diagram.provenance | _origin(parser, settings))


def _diagram_writers(diagram: Diagram, settings: argparse.Namespace) -> list[Callable[[], Sequence[Path]]]:
    writers: list[Callable[[], Sequence[Path]]] = []
    for target in settings.to:
        writers.append(lambda target=target: save(diagram, target, force=settings.force))  # type: ignore[misc]
    if settings.plot is not None:
        writers.append(lambda: [draw(diagram, settings.plot, force=settings.force)])
    if settings.panels is not None:
        writers.append(lambda: [draw(diagram, settings.panels, panels=True, force=settings.force)])
    return writers


def _state_writers(
    problem: McKeanVlasov, states: Sequence[State], origin: dict[str, Any], settings: argparse.Namespace
) -> list[Callable[[], Sequence[Path]]]:
    critical = critical_coupling(problem)
    writers: list[Callable[[], Sequence[Path]]] = []
    for target in settings.to:
        writers.append(
            lambda target=target: [save_states(states, target, critical, origin, settings.force)]  # type: ignore[misc]
        )
    if settings.plot is not None:
        writers.append(lambda: [_draw_states(states, settings.plot, origin, settings.force)])
    return writers


def _write_all(writers: Sequence[Callable[[], Sequence[Path]]], quiet: bool) -> None:
    """Write every file, also when one fails; the first failure is raised at the end."""
    failures: list[MeanfieldError] = []
    for write in writers:
        try:
            for path in write():
                if not quiet:
                    note(f"wrote {path}")
        except MeanfieldError as error:
            failures.append(error)
    if failures:
        raise failures[0]


def _print_diagram(diagram: Diagram, settings: argparse.Namespace) -> None:
    if settings.json or settings.quiet:
        for warning in diagram.warnings:
            note(f"meanfield: warning: {warning}")
    if settings.json:
        say_json(diagram_to_json_object(diagram))
    elif not settings.quiet:
        say(diagram.summary())


def _draw_states(states: Sequence[State], target: str, origin: dict[str, Any], force: bool) -> Path:
    from matplotlib.figure import Figure

    from meanfield.plotting import COLOURS, UNIFORM_COLOUR, save_figure

    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    ax = figure.subplots()
    for index, state in enumerate(states):
        colour = UNIFORM_COLOUR if state.symmetry == 0 else COLOURS[index % len(COLOURS)]
        state.plot(ax, color=colour, linestyle="-" if state.stable else "--")
    ax.legend(frameon=False, fontsize=8)
    return save_figure(figure, target, force, origin)


def _print_states(
    problem: McKeanVlasov, states: Sequence[State], origin: dict[str, Any], settings: argparse.Namespace
) -> None:
    if settings.json:
        say_json(states_to_json_object(states, critical_coupling(problem), origin))
    elif not settings.quiet:
        say(_states_text(problem, states))


def _states_text(problem: McKeanVlasov, states: Sequence[State]) -> str:
    columns = {
        "state": [state.label for state in states],
        "m1": [formatted(state.cosine[1]) for state in states],
        "m2": [formatted(state.cosine[2]) for state in states],
        "(F-F0)/D": [formatted(state.free_energy_gap) for state in states],
        "unstable": ["?" if state.unstable is None else str(state.unstable) for state in states],
        "residual": [formatted(state.residual, 2) for state in states],
        "": ["minimiser" if state.minimiser else "" for state in states],
    }
    return "\n".join([*_heading(problem, states), "", table(columns, "  ")])


def _heading(problem: McKeanVlasov, states: Sequence[State]) -> Iterator[str]:
    yield describe(problem)
    critical = critical_coupling(problem)
    if critical is not None:
        ratio = np.longdouble(problem.fixed_coupling) / np.longdouble(critical)
        yield f"critical coupling {formatted(critical, 12)}, relative coupling {formatted(float(ratio), 12)}"
    minimiser = next((state.label for state in states if state.minimiser), None)
    count = f"{len(states)} stationary state{'' if len(states) == 1 else 's'}"
    yield f"{count}; the minimiser of the free energy is {minimiser or 'not known'}"


def _rate_object(problem: McKeanVlasov, spectra: Sequence[Spectrum]) -> dict[str, Any]:
    minimiser = next((result for result in spectra if result.state.minimiser), None)
    stationary = states_to_json_object([result.state for result in spectra], critical_coupling(problem))
    rows = [row | _spectral_row(result) for row, result in zip(stationary["states"], spectra, strict=True)]
    return {
        "problem": problem.to_dict() | {"coupling": problem.coupling},
        "critical_coupling": critical_coupling(problem),
        "gap": None if minimiser is None else minimiser.slowest_rate,
        "theory": None if minimiser is None else _theory(minimiser.state),
        "states": rows,
    }


def _spectral_row(result: Spectrum) -> dict[str, Any]:
    return {
        "slowest_rate": result.slowest_rate,
        "error": result.error,
        "rotation": result.rotation,
        "rotation_overlap": result.rotation_overlap,
        "theory": _theory(result.state),
    }


def _theory(state: State) -> float | None:
    """Return the closed form of the rate where there is one: at the uniform state."""
    return uniform_rate(state.problem) if state.symmetry == 0 else None


def _rate_text(problem: McKeanVlasov, states: Sequence[State], spectra: Sequence[Spectrum]) -> str:
    left_out = len(states) - len(spectra)
    lines = [*_heading(problem, states), ""]
    lines.append(_rate_table(spectra) if spectra else "no stable state was found, so there is no decay rate")
    if left_out:
        count = f"{left_out} unstable state{'' if left_out == 1 else 's'}"
        lines += ["", f"{count} left out; meanfield stationary lists all"]
    return "\n".join(lines)


def _rate_table(spectra: Sequence[Spectrum]) -> str:
    columns = {
        "state": [result.state.label for result in spectra],
        "slowest rate": [formatted(result.slowest_rate) for result in spectra],
        "error": [formatted(result.error, 2) for result in spectra],
        "closed form": [formatted(_theory(result.state)) for result in spectra],
        "rotation": [formatted(result.rotation, 2) for result in spectra],
        "overlap": [formatted(result.rotation_overlap, 6) for result in spectra],
        "": ["minimiser" if result.state.minimiser else "" for result in spectra],
    }
    return table(columns, "  ")
