"""Phase diagrams: regions tinted by their minimiser and hatched where more than one state is stable.

First-order lines, across which the minimiser changes, are bold; curves that separate no regions are faint. Regions
of which a search at a random point, or diagrams inside, say otherwise are dotted.
"""

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from ..arguments import checked
from ..equations import has_free_energy
from ..records import FREE_ENERGY_GAP
from ..records.curves import FINER, Curve, OrganisingPoint
from ..records.phase_diagram import PhaseDiagram, Region
from .appearance import COLOURS, plain_frame
from .captions import branch_name, caption_parts_over, joined, legend_above
from .quantities import parameter_symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

# The tint of the uniform state, and the share of a colour of the palette in those of the others.
UNIFORM_TINT, SHARE = "#F4F4F1", 0.24
HATCH, DOUBT = "//////", "..."
# Width and dashes of curves by type, and their names in the legend.
LINES: dict[str, tuple[float, Any, str]] = {
    "transition": (2.6, "-", "equal free energy: first-order transition"),
    "fold": (1.0, "-", "fold"),
    "threshold": (1.2, (0, (5.0, 2.5)), "uniform state loses stability"),
    "branch point": (1.2, (0, (1.0, 1.5)), "secondary branch point"),
}
FAINT, STRONG = "0.62", "0.1"
MARKERS = {
    "tricritical": ("o", 6.5),
    "cusp": ("v", 7.0),
    "mode interaction": ("s", 6.0),
    "triple point": ("^", 7.0),
    "end point": ("D", 5.5),
}
# Distances above and below a curve, in windows, at which it is asked whether it separates regions: the small ones
# where these are thin, as towards a cusp.
BESIDE = (2e-3, 2e-4, 2e-5)
# A line is vertical up to this share of the width.
STRAIGHT = 1e-9
# The raster on which places for names are sought, and the size of a letter in points.
RASTER = (240, 160)
LETTER = (0.52, 1.3)
ROW = 3
# Distances of names from their markers in points; cells that count as covered where another marker is as near to a
# name as its own, and where the name is at the larger distance, with a line to it.
NEAR, FAR = 5.0, 20.0
CONFUSED, LED = 200.0, 20.0
SIDES = ((1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0))


@checked
def plot_phase_diagram(
    diagram: PhaseDiagram, ax: "Axes | None" = None, *, legend: bool = True, names: bool = True, **style: Any
) -> "Axes":
    """Draw regions, curves and organising points of a phase diagram.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    legend, names
        Whether to name the problem and explain lines and tints, and to write names into regions and beside
        organising points.
    **style
        Passed to every curve.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = _new_axes() if ax is None else ax
    tints = _tints(diagram)
    for region in diagram.regions:
        _fill(ax, region, tints)
    used = [kind for curve in diagram.curves for kind in _draw_curve(ax, diagram, curve, style)]
    for point in diagram.special_points:
        _mark(ax, point, (float(point.values[0]), diagram.height(point)))
    _frame(ax, diagram)
    if legend:
        _explain(ax, diagram, tints, used)
    if names:
        _write(ax, diagram)
    return ax


@checked
def plot_curve(curve: Curve, ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw a curve of special points in the plane of its two parameters, with its organising points.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    **style
        Passed to the curve.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = _new_axes() if ax is None else ax
    width, dashes, _ = LINES[curve.type]
    settings = {"color": STRONG, "linewidth": width, "linestyle": dashes, "label": branch_name(curve.label)}
    # Markers, if they are asked for, are at the points of the curve.
    settings["markevery"] = FINER
    ax.plot(*curve.track.T, **(settings | style))
    for point in curve.special_points:
        _mark(ax, point, (float(point.values[0]), float(point.values[1])))
        ax.annotate(
            point.type, tuple(point.values), (7.0, 7.0), textcoords="offset points", fontsize=8, color=STRONG,
        )  # fmt: skip
    for axis, name in zip((ax.xaxis, ax.yaxis), curve.parameters, strict=True):
        axis.set_label_text(parameter_symbol(name), fontsize=11)
    ax.legend(frameon=False, fontsize=8, loc="best")
    plain_frame(ax)
    return ax


def _new_axes() -> "Axes":
    from matplotlib.figure import Figure

    return Figure(figsize=(6.4, 4.6), layout="constrained").add_subplot()


def _tints(diagram: PhaseDiagram) -> dict[str, str]:
    """Return the tint of each minimiser: that of the uniform state, or a light colour of the palette."""
    from matplotlib.colors import to_hex, to_rgb

    labels = list(dict.fromkeys(region.minimiser for region in diagram.regions))
    others = [label for label in labels if label not in ("uniform", "")]
    tints = {"uniform": UNIFORM_TINT, "": "white"}
    for number, label in enumerate(others):
        colour = np.array(to_rgb(COLOURS[number % len(COLOURS)]))
        tints[label] = to_hex(tuple(SHARE * colour + (1.0 - SHARE)))
    return {label: tints[label] for label in labels}


def _fill(ax: "Axes", region: Region, tints: dict[str, str]) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    # The vertex that closes a polygon is not drawn to: it is the first one again.
    strips = [
        np.column_stack([[*x, *x[::-1], x[0]], [*lower, *upper[::-1], lower[0]]])
        for x, lower, upper in region.strips()
    ]
    # One path, so that the hatching goes on from strip to strip; its edge hides the seams.
    path, tint = Path.make_compound_path(*(Path(strip, closed=True) for strip in strips)), tints[region.minimiser]
    ax.add_patch(PathPatch(path, facecolor=tint, edgecolor=tint, linewidth=0.6, zorder=0.5))
    if region.stable is not None and region.stable > 1:
        ax.add_patch(PathPatch(path, facecolor="none", edgecolor="0.55", hatch=HATCH, linewidth=0.0, zorder=0.6))
    if region.agrees is False:
        ax.add_patch(PathPatch(path, facecolor="none", edgecolor="0.35", hatch=DOUBT, linewidth=0.0, zorder=0.7))


def _draw_curve(ax: "Axes", diagram: PhaseDiagram, curve: Curve, style: dict[str, Any]) -> list[str]:
    """Draw a curve, strong where it separates regions and faint elsewhere; return its type if anywhere strong."""
    width, dashes, _ = LINES[curve.type]
    x, y = diagram.track(curve).T
    strong = _separates(diagram, curve, x, y)
    for start, stop, kind in _pieces(strong):
        part = slice(start, stop + 1)
        settings = {
            "color": STRONG if kind else FAINT,
            "linewidth": width if kind else min(width, 1.0),
            "linestyle": dashes,
            "zorder": 2.0 if kind else 1.5,
        }
        (line,) = ax.plot(x[part], y[part], **(settings | style))
        line.set_gid(curve.label)
    return [curve.type] if np.any(strong) else []


def _separates(diagram: PhaseDiagram, curve: Curve, x: Floats, y: Floats) -> NDArray[np.bool_]:
    """Return for each piece between two points of a curve whether it separates regions, (P - 1,)."""
    unit = diagram.window[1] - diagram.window[0]
    middles = np.linspace(0.0, len(curve) - 1.0, 2 * x.size - 1)[1::2]
    if _is_vertical(diagram, curve):
        # Where the confinement vanishes the minimiser turns, unless another line or the uniform state has it.
        couplings = CubicSpline(np.arange(len(curve)), curve.coupling)(middles)
        others = [_gaps_at(each, couplings) for each in diagram.curves if _beside(diagram, each, curve)]
        return np.asarray(_gaps_at(curve, couplings) < np.min([np.zeros(middles.size), *others], axis=0))
    found = [
        any(
            _separates_at(diagram, curve, int(place), float(first), float(height), aside * unit) for aside in BESIDE
        )
        for place, first, height in zip(middles, 0.5 * (x[1:] + x[:-1]), 0.5 * (y[1:] + y[:-1]), strict=True)
    ]
    return np.array(found, dtype=bool)


def _is_vertical(diagram: PhaseDiagram, curve: Curve) -> bool:
    """Return whether the parameter does not change along a first-order line."""
    width = diagram.interval[1] - diagram.interval[0]
    rises = curve.type == "transition" and bool(np.ptp(curve.coupling) > 0.0)
    return rises and bool(np.ptp(curve.first) <= STRAIGHT * width)


def _beside(diagram: PhaseDiagram, one: Curve, other: Curve) -> bool:
    """Return whether a line is another one than a vertical one at the same value of the parameter."""
    width = diagram.interval[1] - diagram.interval[0]
    near = abs(float(one.first[0] - other.first[0])) <= STRAIGHT * width
    return one is not other and _is_vertical(diagram, one) and near


def _gaps_at(curve: Curve, couplings: Floats) -> Floats:
    """Return the free energy along a vertical line at some couplings, infinite where it has none of them."""
    known, places = np.unique(curve.coupling, return_index=True)
    found = CubicSpline(known, curve.observables[FREE_ENERGY_GAP][places], extrapolate=False)(couplings)
    return np.where(np.isnan(found), np.inf, found)


def _separates_at(
    diagram: PhaseDiagram, curve: Curve, place: int, first: float, height: float, aside: float
) -> bool:
    """Return whether the regions at a distance below and above a point of a curve, after one of its own, differ."""
    low, high = height - aside, height + aside
    if not diagram.window[0] <= low < high <= diagram.window[1]:
        return False
    below, above = diagram.region_at(first, low), diagram.region_at(first, high)
    if below is None or above is None or curve.type != "transition":
        return below is not above
    # Two stable states of one name may exchange their order as well, which no name of a region shows.
    names = curve.label.removeprefix("transition ").split(" | ")
    alike = len(names) == 2 and names[0] == names[1] and 0 in curve.unstable[place : place + 2]
    return below.minimiser != above.minimiser or (alike and below.stable == above.stable == 2)


def _pieces(strong: NDArray[np.bool_]) -> list[tuple[int, int, bool]]:
    """Return (first point, last point, whether strong) of the pieces of a curve of one kind."""
    if strong.size == 0:
        return []
    cuts = [0, *(np.flatnonzero(strong[1:] != strong[:-1]) + 1).tolist(), strong.size]
    return [(first, last, bool(strong[first])) for first, last in pairwise(cuts)]


def _mark(ax: "Axes", point: OrganisingPoint, place: tuple[float, float]) -> None:
    """Draw the marker of an organising point at a place."""
    marker, size = MARKERS[point.type]
    ax.plot(
        *place, marker=marker, markersize=size, color=STRONG, markerfacecolor="white", markeredgewidth=1.3,
        linestyle="none", zorder=3.0,
    )  # fmt: skip


def _frame(ax: "Axes", diagram: PhaseDiagram) -> None:
    ax.set_xlim(*diagram.interval)
    ax.set_ylim(*diagram.window)
    ax.set_xlabel(parameter_symbol(diagram.parameter), fontsize=11)
    ax.set_ylabel(
        r"coupling $\kappa$" if diagram.unit == "coupling" else r"coupling $\kappa/\kappa_c$", fontsize=11
    )
    ax.tick_params(labelsize=9)


def _explain(ax: "Axes", diagram: PhaseDiagram, tints: dict[str, str], used: Sequence[str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    what = "lowest" if has_free_energy(diagram.problem) else "stable"
    handles: list[Any] = [
        Patch(
            facecolor=tint,
            edgecolor="0.6",
            linewidth=0.5,
            label=f"{what}: {branch_name(label)}" if label else "not known",
        )
        for label, tint in tints.items()
    ]
    if any(region.stable is not None and region.stable > 1 for region in diagram.regions):
        several = "two or more stable states" if _most(diagram) > 2 else "two stable states"
        handles.append(Patch(facecolor="white", edgecolor="0.55", hatch=HATCH, linewidth=0.5, label=several))
    if any(region.agrees is False for region in diagram.regions):
        handles.append(
            Patch(facecolor="white", edgecolor="0.35", hatch=DOUBT, linewidth=0.5, label="not confirmed")
        )
    handles += [
        Line2D([], [], color=STRONG, linewidth=width, linestyle=dashes, label=text)
        for kind, (width, dashes, text) in LINES.items()
        if kind in used
    ]
    parts = caption_parts_over(diagram.problem, diagram.parameter, diagram.interval)
    legend_above(ax, handles, ROW, joined(parts))


def _most(diagram: PhaseDiagram) -> int:
    return max((region.stable or 0 for region in diagram.regions), default=0)


def _write(ax: "Axes", diagram: PhaseDiagram) -> None:
    """Write the names of organising points and, where there is room, of regions."""
    figure = ax.get_figure(root=True)
    if figure is None:
        return
    figure.draw_without_rendering()
    extent = ax.get_window_extent()
    size = np.array([extent.width, extent.height]) * 72.0 / figure.dpi
    taken = _curve_raster(diagram)
    for point in diagram.special_points:
        x, y = _scaled(diagram, point)
        _take(taken, (float(x), float(y)), (float(8.0 / size[0]), float(8.0 / size[1])))
    for point in diagram.special_points:
        _name_point(ax, diagram, point, taken, size)
    for region in diagram.regions:
        text = branch_name(region.minimiser)
        extra = region.stable - 1 if region.stable and has_free_energy(diagram.problem) else 0
        further = [f"{text}\n{extra} more stable", text] if extra > 0 else [text]
        inside = _raster(diagram, region) & ~taken
        for name in further:
            place = _room(inside, _box(name, 9.0, size))
            if region.minimiser and place is not None:
                x, y = _unscaled(diagram, *place)
                ax.text(x, y, name, ha="center", va="center", fontsize=9, color="0.15", zorder=4.0)
                break


def _name_point(
    ax: "Axes", diagram: PhaseDiagram, point: OrganisingPoint, taken: NDArray[np.bool_], size: Floats
) -> None:
    """Write the name of an organising point to the side of it on which there is room, and take its place."""
    text = point.type
    box = _box(text, 8.0, size)
    own = _scaled(diagram, point)
    if not np.all((own >= 0.0) & (own <= 1.0)):
        return
    others = [_scaled(diagram, other) for other in diagram.special_points if other is not point]
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


def _scaled(diagram: PhaseDiagram, point: OrganisingPoint) -> Floats:
    """Return the place of an organising point in shares of the axes."""
    (low, high), (lowest, highest) = diagram.interval, diagram.window
    x, y = (float(point.values[0]) - low) / (high - low), (diagram.height(point) - lowest) / (highest - lowest)
    return np.array([x, y])


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


def _curve_raster(diagram: PhaseDiagram) -> NDArray[np.bool_]:
    """Return which cells of the raster curves pass."""
    cells = np.zeros(RASTER[::-1], dtype=bool)
    (low, high), (lowest, highest) = diagram.interval, diagram.window
    for curve in diagram.curves:
        track = (diagram.track(curve) - [low, lowest]) / [high - low, highest - lowest]
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
