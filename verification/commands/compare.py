"""The command ``compare``: particles beside the equation."""

import argparse
import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from meanfield import Comparison, Equation, InvalidInput, Outcome
from meanfield.command_line import (
    Parser,
    add_common,
    add_coupling,
    add_figure,
    add_files,
    add_problem,
    add_workers,
    at_coupling,
    check_targets,
    draw_record,
    exit_code,
    number,
    origin,
    problem_from,
    progress_bar,
    publish,
    require_coupling,
    require_workers,
    whole,
    worker_processes,
)
from meanfield.export import RECORD_KINDS, check_comparison_target, to_json_object
from solvers.commands import add_initial, initial_of

from ..defaults import DEGREES, REPLICAS, SIZES, TIMES


def compare(argv: Sequence[str]) -> int:
    """Compare particles with the equation: moments, Wasserstein distances and how they shrink with N."""
    parser = _parser(argv)
    settings = parser.settings()
    problem = at_coupling(problem_from(parser, settings), settings)
    require_coupling(parser, problem)
    if settings.until is None:
        raise InvalidInput(f"{parser.prog} needs a final time; add --until 1")
    require_workers(settings)
    from ..comparison import checked_sizes

    settings.particles = checked_sizes(settings.particles)
    figures = [settings.plot] if settings.plot else []
    check_targets(settings.to, figures, settings.force, check_comparison_target)
    comparison = _compared(problem, settings)
    comparison = dataclasses.replace(comparison, provenance=comparison.provenance | origin(parser, settings))
    as_object = partial(to_json_object, comparison)
    publish(_writers(comparison, settings), comparison.warnings, as_object, comparison.summary, settings)
    return exit_code(comparison.outcome, comparison.outcome is Outcome.PARTIAL)


def _parser(argv: Sequence[str]) -> Parser:
    parser = Parser("compare", "Compare systems of particles with their mean-field limit.", argv)
    add_coupling(parser)
    sizes = " ".join(map(str, SIZES))
    parser.add_argument(
        "--particles", nargs="+", type=whole, default=list(SIZES), metavar="N", help=f"sizes (default: {sizes})"
    )
    parser.add_argument("--until", type=number, metavar="T", help="final time, at which distances are measured")
    parser.add_argument(
        "--replicas", type=whole, default=REPLICAS, metavar="R", help=f"systems of every size (default: {REPLICAS})"
    )
    parser.add_argument("--seed", type=whole, default=1, metavar="S", help="seed of all randomness (default: 1)")
    add_workers(parser)
    add_initial(parser, "von-mises:mean=0,concentration=1")
    parser.add_argument("--step", type=number, metavar="H", help="longest time step (default: from the potential)")
    parser.add_argument(
        "--times",
        type=whole,
        default=TIMES,
        metavar="N",
        help=f"moments after N equal intervals (default: {TIMES})",
    )
    parser.add_argument(
        "--degrees", type=whole, default=DEGREES, metavar="K", help=f"moments to compare (default: {DEGREES})"
    )
    add_files(parser, ", ".join(RECORD_KINDS))
    add_figure(parser, "--plot", "distances over N and the order parameter over time")
    add_common(parser, quiet="the summary, progress and the names of the files written")
    add_problem(parser)
    return parser


def _compared(problem: Equation, settings: argparse.Namespace) -> Comparison:
    from ..comparison import compare as compared

    with contextlib.ExitStack() as stack:
        executor = stack.enter_context(worker_processes(settings.workers, settings.replicas))
        advance = stack.enter_context(progress_bar(not settings.quiet, "particles", "steps"))
        return compared(
            problem,
            initial_of(settings),
            float(settings.until),
            particles=settings.particles,
            replicas=settings.replicas,
            seed=settings.seed,
            step=None if settings.step is None else float(settings.step),
            times=settings.times,
            degrees=settings.degrees,
            executor=executor,
            on_failure="return",
            watch=advance,
        )


def _writers(comparison: Comparison, settings: argparse.Namespace) -> list[Callable[[], Sequence[Path]]]:
    writers: list[Callable[[], Sequence[Path]]]
    writers = [partial(comparison.save, target, force=settings.force) for target in settings.to]
    if settings.plot is not None:
        writers.append(lambda: [draw_record(comparison, settings.plot, force=settings.force)])
    return writers
