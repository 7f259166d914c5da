"""Places for the names of curves, each of which is read as the name of its own curve only.

The frame of the axes is divided into cells of one point. For a text of a given size, sums over boxes of cells tell
for all places at once what would lie under it and which curves would lie beside it. A name stands where its own
curve passes closely and no other does. Where there is no such place, it stands in the right margin if its curve
goes on to there, else where there is room, and a thin line leads from it to its curve.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

Floats = NDArray[np.float64]
Cells = NDArray[np.bool_]
Counts = NDArray[np.int64]

# Size of the names, and of more than so many.
FONT_SIZE, SMALL, CROWD = 8.0, 7.0, 8
# Distances in points: of a name from what is drawn, from its curve at most, and from other curves at least.
CLEAR, NEAR, FAR, WIDE = 2, 5, 8, 18
MARKER_RADIUS = 4
# Distance of names in the margin from the frame, in points, and of their lines, in sizes of the letters.
MARGIN, LINE = 16.0, 1.3
# Share of the width of the axes that a name in the margin may have.
WIDEST = 0.4
# Of a leader: the spacing of the places tried, the numbers of points along it and of its ends on a curve, and the
# length up to which the points are so close that curves, made wider on both sides, do not slip through.
PLACES, SAMPLES, ENDS, LONGEST, WIDER = 4, 24, 40, 96.0, 2
# What a crossed curve, a crowded end, a name on a curve and a point beyond that length weigh, in points.
CROSSED, CROWDED, COVERED, LONGER = 15.0, 1.5, 20.0, 3.0
# The part of a curve at which a name is sought first.
PREFERRED = 0.7


class _Name(NamedTuple):
    """Number, name and colour of a curve, its points, and the cells that it and that all others pass."""

    number: int
    text: str
    colour: str
    track: Floats
    own: Cells
    others: Cells


class _Box(NamedTuple):
    """A place for a text in cells: its left lower corner and its size."""

    x: int
    y: int
    width: int
    height: int


def place_labels(ax: "Axes", curves: Sequence[tuple[str, str, Floats]]) -> "list[Annotation]":
    """Write the name of every curve and return the texts, without names that have no free place.

    Parameters
    ----------
    curves
        Name, colour and points (P, 2) in data units of every curve.
    """
    figure = ax.get_figure(root=True)
    if figure is None:
        return []
    sheet, names = _survey(figure, ax, curves)
    font = FONT_SIZE if len(names) <= CROWD else SMALL
    placed, waiting = _beside_all(sheet, names, font)
    leaving: list[_Name] = []
    written: list[Annotation] = []
    while True:
        found = [name for name in waiting if sheet.leaves(name.track) and sheet.margin_takes(name.text, font)]
        if not found:
            break
        for text in written:
            text.remove()
        leaving += found
        written = _in_margin(ax, sheet, leaving, font)
        # Where there is a layout, it makes room in the margin, and the axes become narrower.
        sheet, names = _survey(figure, ax, curves)
        gone = {name.number for name in leaving}
        placed, waiting = _beside_all(sheet, [name for name in names if name.number not in gone], font)
    written += [_annotate(ax, sheet, name, font, box, None) for name, box in placed]
    for name in waiting:
        box, end = _apart(sheet, sheet.size(name.text, font), name)
        if box is not None and end is not None:
            sheet.write(box)
            sheet.used |= sheet.marked(_resampled(np.array([_rim(box, end), end]), 0.5))
            written.append(_annotate(ax, sheet, name, font, box, end))
    return written


def _survey(
    figure: "Figure", ax: "Axes", curves: Sequence[tuple[str, str, Floats]]
) -> "tuple[_Sheet, list[_Name]]":
    """Return the sheet of what is drawn in axes, as laid out now, and the names of the visible curves.

    The smaller a curve, the fewer places its name has, so small ones come first.
    """
    figure.draw_without_rendering()
    sheet = _Sheet(figure, ax)
    tracks = [sheet.track(points) for _, _, points in curves]
    marked = [sheet.marked(track) for track in tracks]
    passing = np.sum(marked, axis=0) if marked else 0
    names = [
        _Name(index, curves[index][0], curves[index][1], track, own, np.asarray(passing - own > 0))
        for index, (track, own) in enumerate(zip(tracks, marked, strict=True))
        if len(track)
    ]
    return sheet, sorted(names, key=lambda name: float(np.sum(np.ptp(name.track, axis=0))))


def _beside_all(
    sheet: "_Sheet", names: "list[_Name]", font: float
) -> "tuple[list[tuple[_Name, _Box]], list[_Name]]":
    """Return the names with a place beside their curves, with these places, and the other names."""
    placed, waiting = [], []
    for name in names:
        box = _beside(sheet, sheet.size(name.text, font), name)
        if box is None:
            waiting.append(name)
        else:
            sheet.write(box)
            placed.append((name, box))
    return placed, waiting


class _Sheet:
    """The frame of the axes in cells of one point, and what is drawn or written in it."""

    def __init__(self, figure: "Figure", ax: "Axes") -> None:
        self.cell = float(figure.dpi) / 72.0
        self.ax, self.frame = ax, ax.get_window_extent()
        # Width of a name that the margin may take; without a layout it would stand on what is beside the axes.
        arranged = figure.get_layout_engine() is not None
        self.room = WIDEST * self.frame.width / self.cell if arranged else 0.0
        self.shape = tuple(max(1, int(side / self.cell)) for side in (self.frame.height, self.frame.width))
        self.used, self.written = np.zeros(self.shape, dtype=bool), np.zeros(self.shape, dtype=bool)
        # Names keep clear of the two axes.
        self.used[:2], self.used[:, :2] = True, True
        for line in ax.get_lines():
            points = np.asarray(line.get_transform().transform(np.asarray(line.get_xydata(), dtype=np.float64)))
            self.used |= self.marked(self._within(points))
            if line.get_marker() not in (None, "None", "", " "):
                self.used |= _grown(self.marked(self._within(points, joined=False)), MARKER_RADIUS)
        legend = ax.get_legend()
        if legend is not None:
            self.write(self._box(legend.get_window_extent()))

    def track(self, points: Floats) -> Floats:
        """Return points in cells, less than a cell apart, on the visible part of a curve in data units, (N, 2)."""
        return self._within(np.asarray(self.ax.transData.transform(points)))

    def marked(self, track: Floats) -> Cells:
        """Return the cells that a track passes."""
        cells = np.zeros(self.shape, dtype=bool)
        x, y = np.minimum(track.astype(int), np.array(self.shape)[::-1] - 1).T
        cells[y, x] = True
        return cells

    def write(self, box: _Box) -> None:
        """Mark the cells of a text as taken."""
        rows = slice(max(0, box.y), max(0, box.y + box.height))
        columns = slice(max(0, box.x), max(0, box.x + box.width))
        self.written[rows, columns] = self.used[rows, columns] = True

    def size(self, name: str, font: float) -> tuple[int, int]:
        """Return width and height of a text."""
        text = self.ax.annotate(name, (0.0, 0.0), xycoords="figure pixels", annotation_clip=False, fontsize=font)
        extent = text.get_window_extent()
        text.remove()
        return int(np.ceil(extent.width / self.cell)), int(np.ceil(extent.height / self.cell))

    def margin_takes(self, name: str, font: float) -> bool:
        """Return whether there is room for a name in the margin."""
        return self.size(name, font)[0] <= self.room

    def leaves(self, track: Floats) -> bool:
        """Return whether a curve goes on to the right side of the frame."""
        return bool(np.max(track[:, 0]) >= self.shape[1] - CLEAR)

    def pixels(self, cells: Floats) -> Floats:
        """Return the place of cells on the figure."""
        return np.asarray(np.array([self.frame.x0, self.frame.y0]) + self.cell * cells)

    def _box(self, extent: "Bbox") -> _Box:
        x, y = (extent.x0 - self.frame.x0) / self.cell, (extent.y0 - self.frame.y0) / self.cell
        return _Box(int(x), int(y), int(extent.width / self.cell) + 1, int(extent.height / self.cell) + 1)

    def _within(self, points: Floats, joined: bool = True) -> Floats:
        cells = (points - np.array([self.frame.x0, self.frame.y0])) / self.cell
        cells = cells[np.all(np.isfinite(cells), axis=1)]
        cells = _resampled(cells, 0.5) if joined and len(cells) else cells
        height, width = self.shape
        inside = np.all((cells >= 0) & (cells < np.array([width, height])), axis=1)
        return np.asarray(cells[inside])


def _beside(sheet: _Sheet, size: tuple[int, int], name: _Name) -> _Box | None:
    """Return the best place at which no curve but its own passes near a text, None if no such place exists."""
    free = (_under(sheet.used, size, CLEAR) == 0) & (_under(name.others, size, FAR) == 0)
    touching = _under(name.own, size, NEAR)
    y, x = np.nonzero(free & (touching > 0))
    if x.size == 0:
        return None
    middle = np.column_stack([x + 0.5 * size[0], y + 0.5 * size[1]])
    wanted = name.track[int(PREFERRED * (len(name.track) - 1))]
    cost = 0.3 * np.hypot(*(middle - wanted).T) - np.minimum(touching[y, x], size[0])
    cost += 0.5 * _under(name.others, size, WIDE)[y, x]
    best = int(np.argmin(cost))
    return _Box(int(x[best]), int(y[best]), *size)


def _apart(sheet: _Sheet, size: tuple[int, int], name: _Name) -> tuple[_Box | None, Floats | None]:
    """Return a free place and the point of the curve to which a leader goes, None if there is no room.

    A leader is short, crosses few curves and ends where no other curve is near.
    """
    covered = _under(sheet.used, size, CLEAR + 1)[::PLACES, ::PLACES]
    places = covered == 0
    if not places.any():
        places = _under(sheet.written, size, CLEAR)[::PLACES, ::PLACES] == 0
    y, x = PLACES * np.array(np.nonzero(places))
    if x.size == 0:
        return None, None
    ends = name.track[np.unique(np.linspace(0, len(name.track) - 1, ENDS).astype(int))]
    column, row = ends.astype(int).T
    crowd = _around(name.others, NEAR)[row, column]
    wider = _grown(name.others, WIDER)
    starts = np.stack(
        [
            np.clip(ends[:, 0], x[:, np.newaxis], x[:, np.newaxis] + size[0]),
            np.clip(ends[:, 1], y[:, np.newaxis], y[:, np.newaxis] + size[1]),
        ],
        axis=-1,
    )
    share = np.linspace(0.0, 1.0, SAMPLES, endpoint=False)[1:, np.newaxis, np.newaxis, np.newaxis]
    paths = (starts + share * (ends - starts)).astype(int)
    height, width = sheet.shape
    paths = np.minimum(paths, np.array([width - 1, height - 1]))
    crossed = np.sum(wider[paths[..., 1], paths[..., 0]], axis=0)
    crossed += 4 * np.sum(sheet.written[paths[..., 1], paths[..., 0]], axis=0)
    length = np.hypot(*np.moveaxis(ends - starts, -1, 0))
    cost = length + LONGER * np.maximum(length - LONGEST, 0.0) + CROSSED * crossed + CROWDED * crowd
    cost += COVERED * covered[places][:, np.newaxis]
    place, end = np.unravel_index(int(np.argmin(cost)), cost.shape)
    return _Box(int(x[place]), int(y[place]), *size), ends[end]


def _in_margin(ax: "Axes", sheet: _Sheet, names: Sequence[_Name], font: float) -> "list[Annotation]":
    """Write names to the right of the frame in the order of their curves, with leaders to where these end.

    They stand as near to the heights of these ends, in the mean square, as texts below each other can.
    """
    from scipy.optimize import isotonic_regression

    ends = np.array([name.track[int(np.argmax(name.track[:, 0])), 1] for name in names])
    order = np.argsort(ends, kind="stable")
    below = LINE * font * np.arange(len(names))
    free = isotonic_regression(ends[order] - below).x
    heights = np.clip(free, 0.0, max(0.0, sheet.shape[0] - below[-1])) + below
    written = []
    for height, index in zip(heights, order, strict=True):
        name = names[index]
        line = {"arrowstyle": "-", "color": name.colour, "linewidth": 0.6, "relpos": (0.0, 0.5)}
        text = ax.annotate(
            name.text, (1.0, ends[index] / sheet.shape[0]), (MARGIN, height - ends[index]), "axes fraction",
            textcoords="offset points", annotation_clip=False, ha="left", va="center",
            arrowprops=line | {"shrinkA": 1.0, "shrinkB": 1.0, "patchA": None},
        )  # fmt: skip
        text.set(color=name.colour, fontsize=font, zorder=4.0)
        written.append(text)
    return written


def _annotate(ax: "Axes", sheet: _Sheet, name: _Name, font: float, box: _Box, end: Floats | None) -> "Annotation":
    """Write a name at its place, held by the point of its curve, with a leader to it if there is one."""
    middle = np.array([box.x + 0.5 * box.width, box.y + 0.5 * box.height])
    held = name.track[int(np.argmin(np.hypot(*(name.track - middle).T)))] if end is None else end
    leader: dict[str, Any] = {}
    if end is not None:
        line = {"arrowstyle": "-", "color": name.colour, "linewidth": 0.6, "shrinkA": 0.0, "shrinkB": 0.0}
        relative = (_rim(box, end) - [box.x, box.y]) / [box.width, box.height]
        leader = {"arrowprops": line | {"relpos": tuple(relative), "patchA": None}}
    text = ax.annotate(
        name.text, tuple(ax.transData.inverted().transform(sheet.pixels(held))), tuple(middle - held), "data",
        textcoords="offset points", annotation_clip=False, ha="center", va="center", **leader,
    )  # fmt: skip
    text.set(color=name.colour, fontsize=font, zorder=4.0)
    text.set_in_layout(False)
    if text.arrow_patch is not None:
        text.arrow_patch.set_zorder(2.5)
    return text


def _rim(box: _Box, end: Floats) -> Floats:
    """Return the point of a box that is nearest to the end of its leader."""
    corner, size = np.array([box.x, box.y]), np.array([box.width, box.height])
    return np.clip(end, corner, corner + size)


def _under(cells: Cells, size: tuple[int, int], pad: int) -> Counts:
    """Return how many cells are marked under a box of this size, wider by a pad on all sides, at every place of it.

    The place of a box is its left lower corner, at which the whole box is in the frame.
    """
    width, height = size
    rows, columns = cells.shape
    if rows < height or columns < width:
        return np.zeros((0, 0), dtype=np.int64)
    total = np.zeros((rows + 1, columns + 1), dtype=np.int64)
    np.cumsum(np.cumsum(cells, axis=0), axis=1, out=total[1:, 1:])
    y, x = np.arange(rows - height + 1), np.arange(columns - width + 1)
    low, high = np.maximum(y - pad, 0), np.minimum(y + height + pad, rows)
    left, right = np.maximum(x - pad, 0), np.minimum(x + width + pad, columns)
    above, below = total[high], total[low]
    return np.asarray(above[:, right] - below[:, right] - above[:, left] + below[:, left])


def _around(cells: Cells, radius: int) -> Counts:
    """Return how many cells are marked within a distance of every cell."""
    return _under(cells, (1, 1), radius)


def _grown(cells: Cells, radius: int) -> Cells:
    return np.asarray(_around(cells, radius) > 0)


def _resampled(points: Floats, spacing: float) -> Floats:
    steps = np.sqrt(np.sum(np.diff(points, axis=0) ** 2, axis=1))
    length = np.concatenate([[0.0], np.cumsum(steps)])
    if not np.isfinite(length[-1]) or length[-1] == 0:
        return points[:1]
    targets = np.linspace(0.0, length[-1], min(int(length[-1] / spacing) + 2, 20000))
    return np.column_stack([np.interp(targets, length, points[:, axis]) for axis in (0, 1)])
