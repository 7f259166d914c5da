"""The commands about diagrams that are in a file already: show, plot and export."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..diagrams import Diagram
from ..errors import InvalidInput
from ..export import KINDS, diagram_to_json_object, open_diagram, save
from .options import Parser, add_common, add_files, check_targets
from .readers import word
from .terminal import note, say, say_json

WRITTEN = "the names of the files written"


def show(argv: Sequence[str]) -> int:
    """Summarise a diagram in a file."""
    parser = Parser("show", "Summarise a diagram written by meanfield bifurcation.", argv)
    _add_file(parser)
    add_common(parser)
    settings = parser.settings()
    diagram = _open(parser, settings)
    if settings.json:
        say_json(diagram_to_json_object(diagram))
    else:
        say(diagram.summary())
    return 0


def plot(argv: Sequence[str]) -> int:
    """Draw a diagram in a file."""
    parser = Parser("plot", "Draw a diagram written by meanfield bifurcation.", argv)
    _add_file(parser)
    add_files(parser, ".png, .pdf or .svg", "FIGURE")
    drawing = parser.add_mutually_exclusive_group()
    drawing.add_argument(
        "--y",
        type=word,
        default="amplitude",
        metavar="QUANTITY",
        help="amplitude (largest |m_k|, default), m1, m2, ..., norm, free_energy_gap or slowest_rate",
    )
    drawing.add_argument("--panels", action="store_true", help="four panels instead of one quantity")
    add_common(parser, quiet=WRITTEN)
    settings = parser.settings()
    diagram = _open(parser, settings)
    _require_target(parser, settings.to, settings.file, "diagram.pdf")
    check_targets([], settings.to, settings.force)
    for target in settings.to:
        draw(diagram, target, settings.y, settings.panels, settings.force)
    _report_written(settings, settings.to)
    return 0


def export(argv: Sequence[str]) -> int:
    """Convert a diagram in a file to other formats."""
    parser = Parser("export", "Convert a diagram to the formats chosen by the suffixes.", argv)
    _add_file(parser)
    add_files(parser, ", ".join(KINDS))
    add_common(parser, quiet=WRITTEN)
    settings = parser.settings()
    diagram = _open(parser, settings)
    _require_target(parser, settings.to, settings.file, "diagram.csv")
    check_targets(settings.to, [], settings.force)
    written = [path for target in settings.to for path in save(diagram, target, force=settings.force)]
    _report_written(settings, written)
    return 0


def draw(diagram: Diagram, target: str, y: str = "amplitude", panels: bool = False, force: bool = False) -> Path:
    """Draw a diagram into a file, one quantity or the four panels."""
    from matplotlib.figure import Figure

    from ..plotting import save_figure

    if panels:
        figure = diagram.plot_panels()
    else:
        figure = Figure(figsize=(6.0, 4.0), layout="constrained")
        diagram.plot(y, figure.subplots())
    return save_figure(figure, target, force, diagram.provenance)


def _add_file(parser: Parser) -> None:
    parser.add_argument("file", nargs="?", type=word, metavar="FILE", help="a .nc, .json, .npz or .auto file")


def _open(parser: Parser, settings: argparse.Namespace) -> Diagram:
    if settings.file is None:
        raise InvalidInput(f"no file is given; try {parser.prog} diagram.nc")
    return open_diagram(settings.file)


def _require_target(parser: Parser, targets: list[str], file: str, example: str) -> None:
    if not targets:
        raise InvalidInput(f"no file to write is given; try {parser.prog} {file} --to {example}")


def _report_written(settings: argparse.Namespace, written: Sequence[str | Path]) -> None:
    if settings.json:
        say_json({"written": [str(path) for path in written]})
    elif not settings.quiet:
        note(f"wrote {', '.join(str(path) for path in written)}")
