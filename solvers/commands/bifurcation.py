"""The command ``bifurcation``."""

import argparse
import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from meanfield import Diagram, InvalidInput
from meanfield.command_line import (
    Parser,
    add_common,
    add_figure,
    add_files,
    add_problem,
    add_range,
    at_fixed_coupling,
    check_targets,
    draw,
    number,
    origin,
    problem_over,
    progress_bar,
    publish,
    range_from,
    relative_range,
    set_verbosity,
    whole,
)
from meanfield.export import KINDS, diagram_to_json_object, save

from ..branches.arclength import Arclength
from .wording import EACH_BRANCH

SMALLEST_STEP = 1e-9


def bifurcation(argv: Sequence[str]) -> int:
    """Compute the bifurcation diagram in the coupling or another parameter, save it and draw it."""
    parser = _bifurcation_parser(argv)
    settings = parser.settings()
    along = range_from(settings)
    problem = at_fixed_coupling(problem_over(parser, settings, along), settings, along)
    method = _method(settings)
    figures = [name for name in (settings.plot, settings.panels) if name is not None]
    check_targets(settings.to, figures, settings.force)
    set_verbosity(settings.verbose)
    from ..diagram import bifurcation_diagram

    with progress_bar(not settings.quiet and not settings.verbose, "branches") as advance:
        diagram = bifurcation_diagram(
            problem,
            along.interval,
            parameter=along.parameter,
            relative=relative_range(settings, along),
            depth=settings.depth,
            search=settings.search,
            method=method,
            rates=_rates_shown(settings),
            watch=advance,
        )
    diagram = _with_origin(diagram, origin(parser, settings))
    as_object = partial(diagram_to_json_object, diagram)
    publish(_diagram_writers(diagram, settings), diagram.warnings, as_object, diagram.summary, settings)
    return 0


def _bifurcation_parser(argv: Sequence[str]) -> Parser:
    parser = Parser(
        "bifurcation", "Compute all stationary states over a range of couplings or of another parameter.", argv
    )
    add_range(parser)
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
    parser.add_argument(
        "--no-rates", action="store_true", help="leave the decay rates out, which are in files, panels and JSON"
    )
    add_files(parser, ", ".join(KINDS))
    add_figure(parser, "--plot", "the diagram")
    add_figure(parser, "--panels", "amplitude, energy, rate and densities")
    add_common(parser, quiet="progress, summary and names of files; warnings stay", verbose=EACH_BRANCH)
    add_problem(parser)
    return parser


def _rates_shown(settings: argparse.Namespace) -> bool:
    """Return whether decay rates are wanted and shown: the summary and the diagram's own picture have none."""
    return not settings.no_rates and bool(settings.to or settings.panels or settings.json)


def _method(settings: argparse.Namespace) -> Arclength:
    require_step("tolerance", settings.tolerance)
    require_step("max-step", settings.max_step)
    return Arclength(tolerance=float(settings.tolerance), max_step=float(settings.max_step))


def require_step(option: str, value: float) -> None:
    """Refuse a tolerance or a longest step that branches cannot be followed with."""
    if not SMALLEST_STEP <= value <= 1.0:
        raise InvalidInput(f"--{option} must be from {SMALLEST_STEP:g} to 1, not {value:g}; try --{option} 0.001")


def _with_origin(diagram: Diagram, where: dict[str, Any]) -> Diagram:
    return dataclasses.replace(diagram, provenance=diagram.provenance | where)


def _diagram_writers(diagram: Diagram, settings: argparse.Namespace) -> list[Callable[[], Sequence[Path]]]:
    writers: list[Callable[[], Sequence[Path]]] = []
    for target in settings.to:
        writers.append(partial(save, diagram, target, force=settings.force))
    if settings.plot is not None:
        writers.append(lambda: [draw(diagram, settings.plot, force=settings.force)])
    if settings.panels is not None:
        writers.append(lambda: [draw(diagram, settings.panels, panels=True, force=settings.force)])
    return writers
