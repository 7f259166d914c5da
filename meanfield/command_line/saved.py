"""The commands on records in files: show, plot and export."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput
from ..export import KINDS, to_json_object
from ..export.opening import open_record
from .drawing import TRAJECTORY_QUANTITIES, draw_record, draw_sphere
from .options import Parser, add_common, add_files, check_targets
from .progress import progress_bar
from .readers import number, word
from .terminal import note, say, say_json

if TYPE_CHECKING:
    from ..plotting import Picture

WRITTEN = "the names of the files written"


def show(argv: Sequence[str]) -> int:
    """Summarise a diagram, trajectory, ensemble or comparison in a file."""
    parser = Parser("show", "Summarise what another command wrote into a file.", argv)
    _add_file(parser)
    add_common(parser)
    settings = parser.settings()
    record = _open(parser, settings, shown=True)
    if settings.json:
        say_json(to_json_object(record))
    else:
        say(record.summary())
    return 0


def plot(argv: Sequence[str]) -> int:
    """Draw a diagram, trajectory, ensemble or comparison in a file."""
    parser = Parser("plot", "Draw what another command wrote into a file.", argv)
    _add_file(parser)
    add_files(parser, ".png, .pdf or .svg", "FIGURE")
    drawing = parser.add_mutually_exclusive_group()
    drawing.add_argument(
        "--y",
        type=word,
        metavar="QUANTITY",
        help="of a diagram amplitude (largest |m_k|; the default, except on spheres where the critical moment "
        "about the pole tells all branches from the uniform one), m1, m2, ..., on spheres p1, p2, ... about the "
        "pole, norm, free_energy_gap or slowest_rate; "
        f"of a trajectory {', '.join(TRAJECTORY_QUANTITIES)} (default: density)",
    )
    drawing.add_argument("--panels", action="store_true", help="four panels instead of one quantity")
    drawing.add_argument(
        "--globe", action="store_true", help="densities on S^2 on globes: where the branches end, or the final one"
    )
    drawing.add_argument("--mollweide", action="store_true", help="the same as maps of equal areas")
    parser.add_argument(
        "--view", nargs=3, type=number, metavar=("X", "Y", "Z"), help="with --globe, the direction to look from"
    )
    add_common(parser, quiet=WRITTEN)
    settings = parser.settings()
    shown = not settings.quiet
    record = _open(parser, settings, shown)
    _require_target(parser, settings.to, settings.file, "picture.pdf")
    check_targets([], settings.to, settings.force)
    if settings.view is not None and not settings.globe:
        raise InvalidInput("--view belongs to --globe; leave it out for this picture")
    with progress_bar(shown, "pictures") as advance:
        for done, target in enumerate(settings.to):
            advance(done, len(settings.to), target)
            if settings.globe or settings.mollweide:
                picture: Picture = "globe" if settings.globe else "mollweide"
                draw_sphere(record, target, picture, settings.view, settings.force)
            else:
                draw_record(record, target, settings.y, settings.panels, settings.force)
    _report_written(settings, settings.to)
    return 0


def export(argv: Sequence[str]) -> int:
    """Convert a diagram, trajectory, ensemble or comparison in a file to other formats."""
    parser = Parser("export", "Convert what another command wrote to the formats chosen by the suffixes.", argv)
    _add_file(parser)
    add_files(parser, ", ".join(KINDS))
    add_common(parser, quiet=WRITTEN)
    settings = parser.settings()
    shown = not settings.quiet
    record = _open(parser, settings, shown)
    _require_target(parser, settings.to, settings.file, "table.csv")
    check_targets(settings.to, [], settings.force)
    with progress_bar(shown, "files"):
        written = [path for target in settings.to for path in record.save(target, force=settings.force)]
    _report_written(settings, written)
    return 0


def _add_file(parser: Parser) -> None:
    parser.add_argument("file", nargs="?", type=word, metavar="FILE", help="a .nc, .json, .npz or .auto file")


def _open(parser: Parser, settings: argparse.Namespace, shown: bool) -> Any:
    if settings.file is None:
        raise InvalidInput(f"no file is given; try {parser.prog} diagram.nc")
    with progress_bar(shown, "reading"):
        return open_record(settings.file)


def _require_target(parser: Parser, targets: list[str], file: str, example: str) -> None:
    if not targets:
        raise InvalidInput(f"no file to write is given; try {parser.prog} {file} --to {example}")


def _report_written(settings: argparse.Namespace, written: Sequence[str | Path]) -> None:
    if settings.json:
        say_json({"written": [str(path) for path in written]})
    elif not settings.quiet:
        note(f"wrote {', '.join(str(path) for path in written)}")
