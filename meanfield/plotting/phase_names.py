"""Names in phase diagrams: of organising points beside their markers, and of regions where there is room."""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..equations import has_free_energy
from ..records.curves import OrganisingPoint
from ..records.phase_diagram import PhaseDiagram, Region
from .appearance import STRONG
from .captions import branch_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

# The raster on which places for names are sought, and the size of a letter in points.
RASTER = (240, 160)
LETTER = (0.52, 1.3)
# Distances of names from their markers in points; cells that count as covered where another marker is as near to a
# name as its own, and where the name is at the larger distance, with a line to it.
NEAR, FAR = 5.0, 20.0
CONFUSED, LED = 200.0, 20.0
SIDES = ((1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0))


def scaled(diagram: PhaseDiagram, places: Floats) -> Floats:
    """Return places (..., 2) in shares of the axes."""
    low, high = np.transpose([diagram.interval, diagram.window])
    return np.asarray((places - low) / (high - low))


def scaled_point(diagram: PhaseDiagram, point: OrganisingPoint) -> Floats:
    """Return the place of an organising point in shares of the axes."""
    return scaled(diagram, np.array([float(point.values[0]), diagram.height(point)]))


def write_names(
    ax: "Axes", diagram: PhaseDiagram, tracks: Sequence[Floats], named: Sequence[OrganisingPoint]
) -> None:
    """Write the names of some organising points and, where there is room, of regions."""
    figure = ax.get_figure(root=True)
    if figure is None:
        return
    figure.draw_without_rendering()
    extent = ax.get_window_extent()
    size = np.array([extent.width, extent.height]) * 72.0 / figure.dpi
    taken = _curve_raster(diagram, tracks)
    for point in named:
        x, y = scaled_point(diagram, point)
        _take(taken, (float(x), float(y)), (float(8.0 / size[0]), float(8.0 / size[1])))
    for point in named:
        _name_point(ax, diagram, point, named, taken, size)
    for region in diagram.regions:
        text = branch_name(region.phase)
        extra = region.stable - 1 if region.stable and has_free_energy(diagram.problem) else 0
        further = [f"{text}\n{extra} more stable", text] if extra > 0 else [text]
        inside = _raster(diagram, region) & ~taken
        for name in further:
            place = _room(inside, _box(name, 9.0, size))
            if region.phase and place is not None:
                x, y = _unscaled(diagram, *place)
                ax.text(x, y, name, ha="center", va="center", fontsize=9, color="0.15", zorder=4.0)
                break


def _name_point(
    ax: "Axes",
    diagram: PhaseDiagram,
    point: OrganisingPoint,
    named: Sequence[OrganisingPoint],
    taken: NDArray[np.bool_],
    size: Floats,
) -> None:
    """Write the name of an organising point to the side of it on which there is room, and take its place."""
    text = point.type
    box = _box(text, 8.0, size)
    own = scaled_point(diagram, point)
    others = [scaled_point(diagram, other) for other in named if other is not point]
    places = [
        (own + side * (distance / size + 0.5 * np.array(box)), distance)
        for distance in (NEAR, FAR)
        for side in np.array(SIDES)
    ]
    cost = [
        _covered(taken, (x, y), box)
        + (LED if distance == FAR else CONFUSED * _is_confused((x, y), box, own, others, size))
        for (x, y), distance in places
    ]
    best, distance = places[int(np.argmin(cost))]
    place = float(best[0]), float(best[1])
    _take(taken, place, box)
    x, y = _unscaled(diagram, *place)
    if distance == FAR:
        line = {"arrowstyle": "-", "color": STRONG, "linewidth": 0.6, "shrinkA": 0.0, "shrinkB": 3.0}
        ax.annotate("", _unscaled(diagram, float(own[0]), float(own[1])), (x, y), arrowprops=line, zorder=2.5)
    ground = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.7}
    ax.text(x, y, text, ha="center", va="center", fontsize=8, color=STRONG, zorder=4.0, bbox=ground)


def _is_confused(
    place: tuple[float, float], box: tuple[float, float], own: Floats, others: Sequence[Floats], size: Floats
) -> bool:
    """Return whether a name, a box about a place, is no nearer to its own marker than to one of the others."""

    def distance(marker: Floats) -> float:
        beyond = np.maximum(np.abs(marker - np.array(place)) - 0.5 * np.array(box), 0.0)
        return float(np.linalg.norm(beyond * size))

    # Sizes of letters are estimates.
    return any(distance(other) < distance(own) + 2.0 * NEAR for other in others)


def _unscaled(diagram: PhaseDiagram, x: float, y: float) -> tuple[float, float]:
    (low, high), (lowest, highest) = diagram.interval, diagram.window
    return low + x * (high - low), lowest + y * (highest - lowest)


def _box(text: str, font: float, size: Floats) -> tuple[float, float]:
    """Return width and height of a text in shares of the axes."""
    lines = text.split("\n")
    plain = max(len(re.sub(r"[${}_]", "", line)) for line in lines)
    return LETTER[0] * font * plain / float(size[0]), LETTER[1] * font * len(lines) / float(size[1])


def _raster(diagram: PhaseDiagram, region: Region) -> NDArray[np.bool_]:
    """Return which cells of the raster are in a region, (rows, columns)."""
    (low, high), (lowest, highest) = diagram.interval, diagram.window
    columns, rows = RASTER
    x = low + (high - low) * (np.arange(columns) + 0.5) / columns
    y = lowest + (highest - lowest) * (np.arange(rows) + 0.5) / rows
    cells = np.zeros((rows, columns), dtype=bool)
    for first, lower, upper in region.strips():
        within = (x >= first[0]) & (x <= first[-1])
        bottom, top = (np.interp(x[within], first, side) for side in (lower, upper))
        cells[:, within] |= (y[:, np.newaxis] >= bottom) & (y[:, np.newaxis] <= top)
    return cells


def _curve_raster(diagram: PhaseDiagram, tracks: Sequence[Floats]) -> NDArray[np.bool_]:
    """Return which cells of the raster the tracks of curves pass."""
    cells = np.zeros(RASTER[::-1], dtype=bool)
    for track in (scaled(diagram, places) for places in tracks):
        fine = np.linspace(0.0, len(track) - 1.0, 8 * len(track))
        x, y = (np.interp(fine, np.arange(len(track)), side) for side in track.T)
        inside = (x >= 0.0) & (x < 1.0) & (y >= 0.0) & (y < 1.0)
        cells[(y[inside] * RASTER[1]).astype(int), (x[inside] * RASTER[0]).astype(int)] = True
    return cells


def _room(free: NDArray[np.bool_], box: tuple[float, float]) -> tuple[float, float] | None:
    """Return the middle of a box of a size in shares with most free room about it; None if there is none."""
    width, height = (max(1, math.ceil(side * cells)) for side, cells in zip(box, RASTER, strict=True))
    best = None
    # The box is made wider for as long as there is a place for it.
    for margin in range(1, 40):
        rows, columns = height + 2 * margin, width + 2 * margin
        if rows > free.shape[0] or columns > free.shape[1]:
            break
        windows = np.lib.stride_tricks.sliding_window_view(free, (rows, columns))[::2, ::2]
        places = np.argwhere(windows.all(axis=(2, 3)))
        if not len(places):
            break
        middle = np.mean(places, axis=0)
        row, column = 2 * places[int(np.argmin(np.sum((places - middle) ** 2, axis=1)))]
        best = (column + 0.5 * columns) / RASTER[0], (row + 0.5 * rows) / RASTER[1]
    return best


def _slices(place: tuple[float, float], box: tuple[float, float]) -> tuple[slice, slice]:
    (x, y), (width, height) = place, box
    rows = slice(max(0, int((y - 0.5 * height) * RASTER[1])), max(0, int((y + 0.5 * height) * RASTER[1]) + 1))
    columns = slice(max(0, int((x - 0.5 * width) * RASTER[0])), max(0, int((x + 0.5 * width) * RASTER[0]) + 1))
    return rows, columns


def _covered(taken: NDArray[np.bool_], place: tuple[float, float], box: tuple[float, float]) -> float:
    """Return how much of a box is taken, and by far more if it leaves the axes."""
    (x, y), (width, height) = place, box
    outside = x - 0.5 * width < 0.0 or x + 0.5 * width > 1.0 or y - 0.5 * height < 0.0 or y + 0.5 * height > 1.0
    return float(np.sum(taken[_slices(place, box)])) + 1e6 * outside


def _take(taken: NDArray[np.bool_], place: tuple[float, float], box: tuple[float, float]) -> None:
    taken[_slices(place, box)] = True
