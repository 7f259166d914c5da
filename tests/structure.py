"""The rooms of the packages and the imports between them as a picture: python tests/structure.py docs/structure.svg.

The rows are the layers of the import contract in ``pyproject.toml``, what is above importing from what is below. An
arrow is drawn within a package, where no chain of others says the same.
"""

import argparse
import functools
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.house import House

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOT = Path(__file__).resolve().parent.parent
COLOURS = {"solvers": "#dde8f6", "meanfield": "#f6ead8"}
WIDTH, HEIGHT, ROW, COLUMN = 1.62, 0.46, 0.9, 1.8

Rows = list[list[str]]


def layers() -> dict[str, Rows]:
    """Return the rooms in the layers of the contract by package, from the top."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    rows: dict[str, Rows] = {}
    for contract in (each for each in contracts[1:] if each["type"] == "layers"):
        parted = [[name.strip() for name in layer.replace("|", ":").split(":")] for layer in contract["layers"]]
        package, *inside = parted[0][0].split(".")
        # The picture does not look into the rooms.
        if len(inside) == 1:
            rows[package] = parted
    return {package: rows[package] for package in COLOURS}


@functools.cache
def house() -> House:
    """Return the source files, read and parsed once."""
    return House()


def imports(rows: Rows) -> set[tuple[str, str]]:
    """Return the imports between rooms."""
    rooms = [room for row in rows for room in row]

    def room_of(module: str) -> str | None:
        return next((room for room in rooms if module == room or module.startswith(f"{room}.")), None)

    found = {(room_of(start), room_of(end)) for start, ends in house().imports.items() for end in ends}
    return {(start, end) for start, end in found if start and end and start != end}


def arrows(known: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the imports that do not follow from others."""
    rooms, reached = {room for pair in known for room in pair}, _closure(known)
    return {
        (start, end)
        for start, end in known
        if not any((start, between) in reached and (between, end) in reached for between in rooms)
    }


def _closure(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return all pairs that chains of pairs connect."""
    closed = set(pairs)
    while True:
        more = {(a, d) for a, b in closed for c, d in pairs if b == c and a != d} - closed
        if not more:
            return closed
        closed |= more


def draw(path: Path) -> None:
    """Write the picture: the packages side by side."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "structure"
    from matplotlib import pyplot

    found = layers()
    widths = [max(map(len, rows)) for rows in found.values()]
    height = max(map(len, found.values()))
    figure, panels = pyplot.subplots(
        1, len(found), figsize=(0.72 * COLUMN * sum(widths), 0.72 * ROW * (height + 1)), width_ratios=widths
    )
    for axes, (package, rows), width in zip(panels, found.items(), widths, strict=True):
        _draw_package(axes, package, rows)
        axes.set_xlim(-0.5 * COLUMN * width, 0.5 * COLUMN * width)
        axes.set_ylim(-ROW * (height - 0.4), ROW)
        axes.set_axis_off()
    figure.subplots_adjust(0.01, 0.01, 0.99, 0.99, wspace=0.03)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _draw_package(axes: "Axes", package: str, rows: Rows) -> None:
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    places = {
        room: (COLUMN * (column - 0.5 * (len(row) - 1)), -ROW * level)
        for level, row in enumerate(rows)
        for column, room in enumerate(row)
    }
    axes.text(0.0, 0.62 * ROW, package, ha="center", fontsize=12, weight="bold", color="#555555")
    for start, end in sorted(arrows(imports(rows))):
        (x, y), (to_x, to_y) = places[start], places[end]
        if y == to_y:
            # Along a row, above the rooms between.
            ends = ((x, y + 0.5 * HEIGHT), (to_x, y + 0.5 * HEIGHT))
            bend = 0.25 * COLUMN / (x - to_x)
        else:
            ends, bend = ((x, y - 0.5 * HEIGHT), (to_x, to_y + 0.5 * HEIGHT)), 0.0
        axes.add_patch(
            FancyArrowPatch(
                *ends,
                connectionstyle=f"arc3,rad={bend}",
                arrowstyle="-|>",
                shrinkA=0.0,
                shrinkB=0.0,
                mutation_scale=9,
                color="#777777",
                linewidth=0.8,
                zorder=0,
            )
        )
    for room, (x, y) in places.items():
        axes.add_patch(
            FancyBboxPatch(
                (x - 0.5 * WIDTH, y - 0.5 * HEIGHT),
                WIDTH,
                HEIGHT,
                boxstyle="round,pad=0,rounding_size=0.06",
                facecolor=COLOURS[package],
                edgecolor="#555555",
                linewidth=0.8,
            )
        )
        axes.text(x, y, room.partition(".")[2], ha="center", va="center", fontsize=9.5, family="monospace")


def main() -> None:
    """Draw the picture at a path."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("path", type=Path, help="an .svg, .png or .pdf file")
    draw(options.parse_args().path)


if __name__ == "__main__":
    main()
