"""The command ``particles``."""

import argparse
import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from meanfield import Ensemble, Equation, InvalidInput
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
    draw_ensemble,
    exit_code,
    number,
    origin,
    problem_from,
    progress_bar,
    publish,
    require_coupling,
    require_workers,
    whole,
    word,
    worker_processes,
)
from meanfield.export import RECORD_KINDS, check_ensemble_target, to_json_object

from ..execution.defaults import DEGREES, SCHEME, SCHEME_WITHOUT_NOISE, SCHEMES
from .initial_option import add_initial, initial_of


def particles(argv: Sequence[str]) -> int:
    """Simulate replicas of a system of interacting particles and record their moments over time."""
    parser = _parser(argv)
    settings = parser.settings()
    problem = at_coupling(problem_from(parser, settings), settings)
    require_coupling(parser, problem)
    _require_given(parser, settings)
    figures = [settings.plot] if settings.plot else []
    check_targets(settings.to, figures, settings.force, check_ensemble_target)
    ensemble = _simulated(problem, settings)
    ensemble = dataclasses.replace(ensemble, provenance=ensemble.provenance | origin(parser, settings))
    warnings = (*ensemble.failures, *ensemble.warnings)
    as_object = partial(_as_object, ensemble)
    publish(_writers(ensemble, settings), warnings, as_object, ensemble.summary, settings)
    return exit_code(ensemble.outcome, ensemble.partial)


def _parser(argv: Sequence[str]) -> Parser:
    parser = Parser("particles", "Simulate replicas of a system of interacting particles.", argv)
    add_coupling(parser)
    parser.add_argument("--particles", type=whole, default=10_000, metavar="N", help="particles (default: 10000)")
    parser.add_argument("--until", type=number, metavar="T", help="final time")
    parser.add_argument("--step", type=number, metavar="H", help="longest time step (default: from the potential)")
    parser.add_argument("--seed", type=whole, default=1, metavar="S", help="seed of all randomness (default: 1)")
    parser.add_argument("--replicas", type=whole, default=1, metavar="R", help="independent systems (default: 1)")
    add_workers(parser)
    add_initial(parser, "uniform")
    parser.add_argument(
        "--scheme",
        type=word,
        metavar="NAME",
        help=f"{', '.join(SCHEMES)} (default: {SCHEME}; without noise {SCHEME_WITHOUT_NOISE})",
    )
    parser.add_argument("--times", type=whole, metavar="N", help="record after each of N equal intervals")
    parser.add_argument(
        "--degrees",
        type=whole,
        default=DEGREES,
        metavar="K",
        help=f"moments to record (default: {DEGREES})",
    )
    parser.add_argument("--pairs", action="store_true", help="sum forces over all pairs: exact, and slow")
    parser.add_argument("--positions", action="store_true", help="keep the positions at the end, as without noise")
    parser.add_argument("--checkpoint", type=word, metavar="NAME", help="save the run there and go on from there")
    parser.add_argument("--every", type=number, metavar="T", help="time between checkpoints (default: a tenth)")
    add_files(parser, ", ".join(RECORD_KINDS))
    add_figure(parser, "--plot", "the particles at the end and the moments over time")
    add_common(parser, quiet="the summary, progress and the names of the files written")
    add_problem(parser)
    return parser


def _require_given(parser: Parser, settings: argparse.Namespace) -> None:
    if settings.until is None:
        raise InvalidInput(f"{parser.prog} needs a final time; add --until 3")
    require_workers(settings)
    if settings.every is not None and settings.checkpoint is None:
        raise InvalidInput("--every belongs to --checkpoint NAME, which is not given")


def _simulated(problem: Equation, settings: argparse.Namespace) -> Ensemble:
    from ..ensemble import simulate
    from ..execution.checkpoints import Checkpoint
    from ..particles import PairDrift
    from ..particles.schemes import scheme_named

    checkpoint = None
    if settings.checkpoint is not None:
        every = float(settings.until) / 10 if settings.every is None else float(settings.every)
        checkpoint = Checkpoint(settings.checkpoint, every)
    bar = progress_bar(not settings.quiet, "particles", "steps")
    with worker_processes(settings.workers, settings.replicas) as executor, bar as advance:
        return simulate(
            problem,
            settings.particles,
            float(settings.until),
            settings.seed,
            initial=initial_of(settings),
            step=None if settings.step is None else float(settings.step),
            replicas=settings.replicas,
            scheme=None if settings.scheme is None else scheme_named(settings.scheme),
            times=settings.times,
            degrees=settings.degrees,
            drift=PairDrift() if settings.pairs else None,
            executor=executor,
            checkpoint=checkpoint,
            # Without noise particles gather in atoms, which are counted from their positions.
            keep_positions=settings.positions or problem.noise == 0.0,
            on_failure="return",
            watch=advance,
        )


def _as_object(ensemble: Ensemble) -> dict[str, Any]:
    """Return the record as it is printed: with its atoms, if it has any."""
    atoms = ensemble.gathered
    return to_json_object(ensemble) | ({} if atoms is None else {"atoms": atoms.to_dict()})


def _writers(ensemble: Ensemble, settings: argparse.Namespace) -> list[Callable[[], Sequence[Path]]]:
    writers: list[Callable[[], Sequence[Path]]]
    writers = [partial(ensemble.save, target, force=settings.force) for target in settings.to]
    if settings.plot is not None:
        writers.append(lambda: [draw_ensemble(ensemble, settings.plot, settings.force)])
    return writers
