"""The command ``phase``."""

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from meanfield.command_line import (
    Parser,
    add_common,
    add_figure,
    add_files,
    add_plane,
    add_problem,
    check_targets,
    draw_record,
    origin,
    plane_from,
    problem_over,
    progress_bar,
    publish,
    require_potential,
    set_verbosity,
    whole,
)
from meanfield.export import check_phase_diagram_target, to_json_object


def phase(argv: Sequence[str]) -> int:
    """Compute the phase diagram in a parameter and the coupling, save it and draw it."""
    parser = _phase_parser(argv)
    settings = parser.settings()
    require_potential(parser, settings, "--over beta 1 10")
    along, coupling, relative = plane_from(settings)
    problem = problem_over(parser, settings, along)
    figures = [] if settings.plot is None else [settings.plot]
    check_targets(settings.to, figures, settings.force, check=check_phase_diagram_target)
    set_verbosity(settings.verbose)
    from ..phase import phase_diagram

    with progress_bar(not settings.quiet and not settings.verbose, "steps") as advance:
        diagram = phase_diagram(
            problem,
            (along.parameter, along.interval),  # type: ignore[arg-type]
            coupling=coupling,
            relative=relative,
            sections=settings.sections,
            search=settings.search,
            examine=not settings.no_examination,
            seed=settings.seed,
            watch=advance,
        )
    diagram = dataclasses.replace(diagram, provenance=diagram.provenance | origin(parser, settings))
    writers: list[Callable[[], Sequence[Path]]] = []
    for target in settings.to:
        writers.append(partial(diagram.save, target, force=settings.force))
    if settings.plot is not None:
        writers.append(lambda: [draw_record(diagram, settings.plot, force=settings.force)])
    publish(writers, diagram.warnings, partial(to_json_object, diagram), diagram.summary, settings)
    return 0


def _phase_parser(argv: Sequence[str]) -> Parser:
    parser = Parser(
        "phase",
        "Compute the phase diagram in a parameter and the coupling: folds, first-order lines, thresholds, Hopf\n"
        "bifurcations, the points at which they meet, and the regions between them.",
        argv,
    )
    add_plane(parser)
    parser.add_argument(
        "--sections",
        type=whole,
        default=5,
        metavar="N",
        help="diagrams at fixed values of the parameter, beside those about organising points (default: 5)",
    )
    parser.add_argument("--search", action="store_true", help="let them look for branches connected to no other")
    parser.add_argument("--no-examination", action="store_true", help="leave out the check of every region")
    parser.add_argument(
        "--seed", type=whole, default=0, metavar="S", help="of the points at which regions are checked (default: 0)"
    )
    add_files(parser, ".nc, .json, .csv or .auto")
    add_figure(parser, "--plot", "the phase diagram")
    add_common(parser, quiet="progress, summary and names of files; warnings stay", verbose="each step")
    add_problem(parser)
    return parser
