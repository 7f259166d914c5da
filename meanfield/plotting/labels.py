"""Where to write the name of a curve: beside it, on no other curve, marker, legend or name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

Floats = NDArray[np.float64]

FONT_SIZE = 8
GAP = 4.0
ANCHORS = 24
CROSSED_NAME = 50.0
OUTSIDE = 200.0
# Distance of lines of names in heights of the text.
LINE = 1.2
# Share of the width the name is moved by, and lines it stands above (below, if negative) its curve; 0 beside it.
PLACES = (
    (-0.5, 1.0),
    (-0.5, -1.0),
    (0.0, 1.0),
    (0.0, -1.0),
    (-1.0, 1.0),
    (-1.0, -1.0),
    (0.0, 0.0),
    (-1.0, 0.0),
    (-0.5, 2.0),
    (-0.5, -2.0),
    (-0.5, 3.0),
    (-0.5, -3.0),
)


def place_labels(ax: "Axes", curves: Sequence[tuple[str, str, Floats]]) -> None:
    """Write each name beside its curve, unless it could only stand on another name.

    Parameters
    ----------
    curves
        Name, colour and points (P, 2) in data units of every curve.
    """
    figure = ax.get_figure(root=True)
    if figure is None:
        return
    figure.draw_without_rendering()
    frame = ax.get_window_extent()
    obstacles = _obstacles(ax, frame)
    taken: list[Bbox] = []
    legend = ax.get_legend()
    if legend is not None:
        taken.append(legend.get_window_extent())
    shown = [(_visible(ax, points, frame), name, colour) for name, colour, points in curves]
    # The smaller a curve, the fewer places its name has, so small ones choose first.
    for visible, name, colour in sorted(shown, key=lambda curve: _reach(curve[0])):
        box = _place(ax, name, colour, visible, obstacles, taken, frame) if len(visible) else None
        if box is not None:
            taken.append(box)


def _place(
    ax: "Axes", name: str, colour: str, visible: Floats, obstacles: Floats, taken: "list[Bbox]", frame: "Bbox"
) -> "Bbox | None":
    text = ax.annotate(name, (0.0, 0.0), (0.0, 0.0), textcoords="offset points", annotation_clip=False)
    text.set(color=colour, fontsize=FONT_SIZE, zorder=4.0)
    text.set_in_layout(False)
    extent = text.get_window_extent()
    best: tuple[float, int, float, float] = (np.inf, 0, 0.0, 0.0)
    for anchor, (x, y) in enumerate(visible):
        for across, up in PLACES:
            box = _box(ax, extent, x, y, across, up)
            off = max(abs(up) - 1.0, 0.0)
            preference = 0.15 * abs(anchor / max(len(visible) - 1, 1) - 0.7) + 0.05 * (up < 0) + 2.0 * off
            cost = preference + _cost(box, obstacles, taken, frame)
            if cost < best[0]:
                best = (cost, anchor, across, up)
    _, anchor, across, up = best
    x, y = visible[anchor]
    box = _box(ax, extent, x, y, across, up)
    if any(box.overlaps(other) for other in taken):
        text.remove()
        return None
    _anchor(ax, text, visible[anchor], across, up, extent)
    return box


def _anchor(ax: "Axes", text: "Annotation", position: Floats, across: float, up: float, extent: "Bbox") -> None:
    text.xy = tuple(ax.transData.inverted().transform(position))
    text.set_horizontalalignment("center" if across == -0.5 else "left" if across == 0 else "right")
    text.set_verticalalignment("bottom" if up > 0 else "top" if up < 0 else "center")
    sideways = {-0.5: 0.0, 0.0: GAP, -1.0: -GAP}[across]
    text.set_position((sideways, _off(up, GAP, extent.height / _pixels_per_point(ax))))


def _box(ax: "Axes", extent: "Bbox", x: float, y: float, across: float, up: float) -> "Bbox":
    from matplotlib.transforms import Bbox

    gap = GAP * _pixels_per_point(ax)
    left = x + across * extent.width + {-0.5: 0.0, 0.0: gap, -1.0: -gap}[across]
    bottom = y + _off(up, gap, extent.height) - extent.height * (0.0 if up > 0 else 1.0 if up < 0 else 0.5)
    return Bbox.from_bounds(left, bottom, extent.width, extent.height)


def _off(up: float, gap: float, height: float) -> float:
    """Return how far the near side of a name is above its curve."""
    return float(np.sign(up)) * (gap + LINE * height * (abs(up) - 1.0)) if up else 0.0


def _pixels_per_point(ax: "Axes") -> float:
    figure = ax.get_figure(root=True)
    return 1.0 if figure is None else float(figure.dpi) / 72.0


def _cost(box: "Bbox", obstacles: Floats, taken: "Sequence[Bbox]", frame: "Bbox") -> float:
    inside = (
        (obstacles[:, 0] > box.x0 - 2)
        & (obstacles[:, 0] < box.x1 + 2)
        & (obstacles[:, 1] > box.y0 - 1)
        & (obstacles[:, 1] < box.y1 + 1)
    )
    cost = float(np.count_nonzero(inside))
    cost += CROSSED_NAME * sum(box.overlaps(other.padded(2.0)) for other in taken)
    within = box.x0 >= frame.x0 and box.x1 <= frame.x1 and box.y0 >= frame.y0 and box.y1 <= frame.y1
    return cost + (0.0 if within else OUTSIDE)


def _obstacles(ax: "Axes", frame: "Bbox") -> Floats:
    """Points in pixels, at most four apart, on all lines and markers of the axes, (N, 2)."""
    parts = [np.empty((0, 2))]
    for line in ax.get_lines():
        points = line.get_transform().transform(np.asarray(line.get_xydata(), dtype=np.float64))
        points = points[np.all(np.isfinite(points), axis=1)]
        if len(points):
            parts.append(_resampled(points, 4.0))
            if len(points) == 1:
                parts.append(points + 3.0 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]))
    everything = np.concatenate(parts)
    return everything[_within(everything, frame)]


def _visible(ax: "Axes", points: Floats, frame: "Bbox") -> Floats:
    """At most ``ANCHORS`` points in pixels, equally spaced on the visible part of a curve, (N, 2)."""
    pixels = np.asarray(ax.transData.transform(points))
    dense = _resampled(pixels, 4.0)
    dense = dense[_within(dense, frame)]
    if len(dense) == 0:
        return dense
    chosen: Floats = dense[np.unique(np.linspace(0, len(dense) - 1, ANCHORS).astype(int))]
    return chosen


def _reach(points: Floats) -> float:
    return float(np.sum(np.ptp(points, axis=0))) if len(points) else 0.0


def _resampled(points: Floats, spacing: float) -> Floats:
    steps = np.sqrt(np.sum(np.diff(points, axis=0) ** 2, axis=1))
    length = np.concatenate([[0.0], np.cumsum(steps)])
    if not np.isfinite(length[-1]) or length[-1] == 0:
        return points[:1]
    targets = np.linspace(0.0, length[-1], min(int(length[-1] / spacing) + 2, 20000))
    return np.column_stack([np.interp(targets, length, points[:, axis]) for axis in (0, 1)])


def _within(points: Floats, frame: "Bbox") -> NDArray[np.bool_]:
    margin = 1.0
    return np.asarray(
        (points[:, 0] >= frame.x0 - margin)
        & (points[:, 0] <= frame.x1 + margin)
        & (points[:, 1] >= frame.y0 - margin)
        & (points[:, 1] <= frame.y1 + margin)
    )
