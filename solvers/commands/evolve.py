"""The command ``evolve``: a density in time, its free energy and how it ends."""

import argparse
import dataclasses
import math
import time as clock
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from meanfield import Equation, InvalidInput, Trajectory
from meanfield.command_line import (
    TRAJECTORY_QUANTITIES,
    Parser,
    add_common,
    add_coupling,
    add_figure,
    add_files,
    add_problem,
    at_coupling,
    check_targets,
    draw_trajectory,
    exit_code,
    number,
    origin,
    problem_from,
    progress_bar,
    publish,
    require_coupling,
    whole,
    word,
)
from meanfield.equations import Capability, require
from meanfield.export import RECORD_KINDS, check_trajectory_target, to_json_object

from ..execution.defaults import TIMES
from .initial_option import add_initial, add_initial_parameters, initial_of

if TYPE_CHECKING:
    from ..evolution.direct import DirectMethod
    from ..evolution.integrators import Integrator

    Method = Integrator | DirectMethod

METHODS = ("lsoda", "etdrk4")
WITHOUT_NOISE = ("watanabe-strogatz", "characteristics")
# Seconds between two messages to the progress bar.
BETWEEN = 0.05


def evolve(argv: Sequence[str]) -> int:
    """Evolve a density in time, record its free energy and say whether it came to rest."""
    parser = _parser(argv)
    settings = parser.settings()
    problem = at_coupling(problem_from(parser, settings), settings)
    require_coupling(parser, problem)
    method = _method(parser, settings)
    _check(problem, settings)
    trajectory = _evolved(problem, method, settings)
    trajectory = dataclasses.replace(trajectory, provenance=trajectory.provenance | origin(parser, settings))
    as_object = partial(to_json_object, trajectory)
    publish(_writers(trajectory, settings), trajectory.warnings, as_object, trajectory.summary, settings)
    return exit_code(trajectory.outcome, trajectory.partial)


def _parser(argv: Sequence[str]) -> Parser:
    parser = Parser("evolve", "Evolve a density in time.", argv)
    add_coupling(parser)
    parser.add_argument("--until", type=number, metavar="T", help="final time; inf together with --stop")
    parser.add_argument(
        "--times",
        type=whole,
        metavar="N",
        help=f"record after each of N equal intervals (default: {TIMES})",
    )
    parser.add_argument("--stop", action="store_true", help="end once the density has settled at a stable state")
    add_initial(parser, "perturbed")
    add_initial_parameters(parser)
    parser.add_argument(
        "--tolerance", type=number, default=1e-8, metavar="R", help="relative accuracy (default: 1e-8)"
    )
    parser.add_argument(
        "--method",
        type=word,
        metavar="NAME",
        help=f"{' or '.join(METHODS)} (default: the faster); without noise also {' or '.join(WITHOUT_NOISE)}",
    )
    parser.add_argument("--step", type=number, metavar="H", help="fixed step of etdrk4")
    parser.add_argument("--modes", type=whole, metavar="K", help="moments to begin with; more are taken as needed")
    parser.add_argument(
        "--full", action="store_true", help="follow all moments, even those that symmetry keeps zero"
    )
    parser.add_argument("--checkpoint", type=word, metavar="NAME", help="save the run there and go on from there")
    parser.add_argument("--every", type=number, metavar="T", help="time between checkpoints (default: a tenth)")
    add_files(parser, ", ".join(RECORD_KINDS))
    add_figure(parser, "--plot", "the density over time and angle")
    add_figure(parser, "--energy", "the free energy, without noise the energy, and its rate of decrease")
    add_figure(parser, "--moments", "the order parameters")
    add_figure(parser, "--characteristics", "the paths of labelled points, with --method characteristics")
    add_figure(parser, "--tail", "the density at some times, logarithmically, with --method characteristics")
    parser.add_argument("--animate", type=word, metavar="FILM", help="write the density as a film: .gif")
    add_common(parser, quiet="the summary, progress and the names of the files written")
    add_problem(parser)
    return parser


def _method(parser: Parser, settings: argparse.Namespace) -> "Method | None":
    from ..evolution import ETDRK4, LSODA, Characteristics, WatanabeStrogatz

    if settings.until is None:
        raise InvalidInput(f"{parser.prog} needs a final time; add --until 30")
    if settings.every is not None and settings.checkpoint is None:
        raise InvalidInput("--every belongs to --checkpoint NAME, which is not given")
    if settings.checkpoint is not None and settings.every is None and settings.until == math.inf:
        raise InvalidInput("--checkpoint with an infinite final time needs --every T")
    if settings.method is not None and settings.method not in (*METHODS, *WITHOUT_NOISE):
        raise InvalidInput(
            f"unknown method {settings.method!r}; use {' or '.join(METHODS)}, or without noise "
            f"{' or '.join(WITHOUT_NOISE)}"
        )
    if settings.step is not None and settings.method != "etdrk4":
        raise InvalidInput("--step belongs to --method etdrk4; lsoda chooses its steps itself")
    if settings.method == "etdrk4":
        return ETDRK4(None if settings.step is None else float(settings.step))
    if settings.method == "watanabe-strogatz":
        return WatanabeStrogatz()
    if settings.method == "characteristics":
        return Characteristics()
    return LSODA() if settings.method == "lsoda" else None


def _check(problem: Equation, settings: argparse.Namespace) -> None:
    """Check before computing that every file could be written, and that there is what figures show."""
    from meanfield.plotting import check_film

    if settings.energy is not None and (problem.noise > 0.0 or problem.lacks(Capability.GRADIENT)):
        require(problem, Capability.FREE_ENERGY, "figures of the free energy (--energy)")
    _require_characteristics(settings)
    figures = [settings.plot, settings.energy, settings.moments, settings.characteristics, settings.tail]
    figures = [name for name in figures if name is not None]
    check_targets(settings.to, figures, settings.force, check_trajectory_target)
    if settings.animate is not None:
        check_film(settings.animate, settings.force)


def _require_characteristics(settings: argparse.Namespace) -> None:
    for name in ("characteristics", "tail"):
        if getattr(settings, name) is not None and settings.method != "characteristics":
            raise InvalidInput(
                f"--{name} draws densities without noise along their characteristics; add --noise 0 --method "
                "characteristics"
            )


def _evolved(problem: Equation, method: "Method | None", settings: argparse.Namespace) -> Trajectory:
    from ..execution.checkpoints import Checkpoint
    from ..trajectory import evolve as evolved

    until = float(settings.until)
    checkpoint = None
    if settings.checkpoint is not None:
        checkpoint = Checkpoint(
            settings.checkpoint, until / 10 if settings.every is None else float(settings.every)
        )
    with progress_bar(not settings.quiet, "evolution", "%") as advance:
        last = clock.monotonic()

        def progress(time: float) -> None:
            nonlocal last
            if clock.monotonic() - last >= BETWEEN:
                last = clock.monotonic()
                known = 0.0 < until < math.inf
                advance(int(100 * time / until) if known else 0, 100 if known else None, f"time {time:.4g}")

        return evolved(
            problem,
            initial_of(settings),
            until,
            times=settings.times,
            tolerance=float(settings.tolerance),
            stop_at_stationarity=settings.stop,
            method=method,
            checkpoint=checkpoint,
            modes=settings.modes,
            full=settings.full,
            on_failure="return",
            progress=progress,
        )


def _writers(trajectory: Trajectory, settings: argparse.Namespace) -> list[Callable[[], Sequence[Path]]]:
    force = settings.force
    writers: list[Callable[[], Sequence[Path]]]
    writers = [partial(trajectory.save, target, force=force) for target in settings.to]
    for kind in TRAJECTORY_QUANTITIES:
        target = getattr(settings, "plot" if kind == "density" else kind)
        if target is not None:
            writers.append(lambda target=target, kind=kind: [draw_trajectory(trajectory, target, kind, force)])  # type: ignore[misc]
    if settings.animate is not None:
        writers.append(lambda: [trajectory.animate(settings.animate, force=force)])
    return writers
