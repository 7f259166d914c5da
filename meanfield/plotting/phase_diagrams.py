"""Phase diagrams: regions tinted by their minimiser and hatched where more than one state is stable.

First-order lines, across which the minimiser changes, are bold; curves that separate no regions are faint. Regions
of which a search at a random point, or diagrams inside, say otherwise are dotted.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from ..arguments import checked
from ..equations import has_free_energy
from ..records import FREE_ENERGY_GAP
from ..records.curves import FINER, SAME_VALUE, Curve, OrganisingPoint
from ..records.phase_diagram import NO_STABLE_STATE, PhaseDiagram, Region
from .appearance import COLOURS, STRONG, plain_frame
from .captions import branch_name, caption_parts_over, joined, legend_above
from .phase_names import scaled, scaled_point, write_names
from .quantities import parameter_symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

# The tint of the uniform state, and the share of a colour of the palette in those of the others.
UNIFORM_TINT, SHARE = "#F4F4F1", 0.24
# That of regions in which no state is stable.
UNSTABLE_TINT = "#E4E0EA"
HATCH, DOUBT = "//////", "..."
# Width and dashes of curves by type, and their names in the legend.
LINES: dict[str, tuple[float, Any, str]] = {
    "transition": (2.6, "-", "equal free energy: first-order transition"),
    "fold": (1.0, "-", "fold"),
    "threshold": (1.2, (0, (5.0, 2.5)), "uniform state loses stability"),
    "branch point": (1.2, (0, (1.0, 1.5)), "secondary branch point"),
    "Hopf": (1.2, (0, (6.0, 1.5, 1.0, 1.5)), "Hopf bifurcation"),
}
FAINT = "0.62"
MARKERS = {
    "tricritical": ("o", 6.5),
    "cusp": ("v", 7.0),
    "mode interaction": ("s", 6.0),
    "triple point": ("^", 7.0),
    "end point": ("D", 5.5),
    "Bogdanov-Takens": ("P", 6.5),
}
# So many organising points are all named; of more, those on curves that separate regions, in units of the window.
FEW, ON_CURVE, SMALLER = 12, 1e-4, 0.6
# Entries in a row of the legend.
ROW = 3
# Distances above and below a curve, in windows, at which it is asked whether it separates regions: the small ones
# where these are thin, as towards a cusp.
BESIDE = (2e-3, 2e-4, 2e-5)


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
    tracks = [diagram.track(curve) for curve in diagram.curves]
    strong = [_separates(diagram, *pair) for pair in zip(diagram.curves, tracks, strict=True)]
    for each in zip(diagram.curves, tracks, strong, strict=True):
        _draw_curve(ax, *each, style)
    named, others = _by_importance(diagram, tracks, strong)
    for points, colour in ((others, FAINT), (named, STRONG)):
        for point in points:
            _mark(ax, point, (float(point.values[0]), diagram.height(point)), colour)
    _frame(ax, diagram)
    if legend:
        used = {curve.type for curve, pieces in zip(diagram.curves, strong, strict=True) if np.any(pieces)}
        faint = any(_is_seen(diagram, *pair) for pair in zip(tracks, strong, strict=True))
        _explain(ax, diagram, tints, used, faint, {point.type for point in others})
    if names:
        write_names(ax, diagram, tracks, named)
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

    labels = list(dict.fromkeys(region.phase for region in diagram.regions))
    others = [label for label in labels if label not in ("uniform", NO_STABLE_STATE, "")]
    tints = {"uniform": UNIFORM_TINT, NO_STABLE_STATE: UNSTABLE_TINT, "": "white"}
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
    path, tint = Path.make_compound_path(*(Path(strip, closed=True) for strip in strips)), tints[region.phase]
    ax.add_patch(PathPatch(path, facecolor=tint, edgecolor=tint, linewidth=0.6, zorder=0.5))
    if region.stable is not None and region.stable > 1:
        ax.add_patch(PathPatch(path, facecolor="none", edgecolor="0.55", hatch=HATCH, linewidth=0.0, zorder=0.6))
    if region.agrees is False:
        ax.add_patch(PathPatch(path, facecolor="none", edgecolor="0.35", hatch=DOUBT, linewidth=0.0, zorder=0.7))


def _draw_curve(ax: "Axes", curve: Curve, track: Floats, strong: NDArray[np.bool_], style: dict[str, Any]) -> None:
    """Draw a curve, strong where it separates regions and faint elsewhere."""
    width, dashes, _ = LINES[curve.type]
    x, y = track.T
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


def _by_importance(
    diagram: PhaseDiagram, tracks: Sequence[Floats], strong: Sequence[NDArray[np.bool_]]
) -> tuple[list[OrganisingPoint], list[OrganisingPoint]]:
    """Return the organising points on curves that separate regions, of a crowded diagram, and the others."""
    points = [
        point
        for point in diagram.special_points
        if np.all(np.abs(scaled_point(diagram, point) - 0.5) <= 0.5 + ON_CURVE)
    ]
    if len(points) <= FEW:
        return points, []
    ends = [np.stack([places[:-1], places[1:]], axis=1) for places in (scaled(diagram, track) for track in tracks)]
    bold = np.vstack([np.empty((0, 2, 2)), *(pairs[own] for pairs, own in zip(ends, strong, strict=True))])
    named: list[OrganisingPoint] = []
    others: list[OrganisingPoint] = []
    for point in points:
        (named if _distance_from(bold, scaled_point(diagram, point)) <= ON_CURVE else others).append(point)
    return named, others


def _distance_from(segments: Floats, place: Floats) -> float:
    """Return the distance of a place from the nearest of segments, (n, 2, 2) by their ends; infinite from none."""
    starts, ways = segments[:, 0], segments[:, 1] - segments[:, 0]
    squares = np.maximum(np.sum(ways**2, axis=1), np.finfo(float).tiny)
    shares = np.clip(np.sum((place - starts) * ways, axis=1) / squares, 0.0, 1.0)
    distances = np.linalg.norm(starts + shares[:, np.newaxis] * ways - place, axis=1)
    return float(np.min(distances, initial=np.inf))


def _separates(diagram: PhaseDiagram, curve: Curve, track: Floats) -> NDArray[np.bool_]:
    """Return for each piece between two points of the track of a curve whether it separates regions, (n - 1,)."""
    x, y = track.T
    unit = diagram.window[1] - diagram.window[0]
    middles = np.linspace(0.0, len(curve) - 1.0, 2 * x.size - 1)[1::2]
    if _rises(curve):
        # Where the confinement vanishes the minimiser turns, unless another line or the uniform state has it.
        couplings = CubicSpline(np.arange(len(curve)), curve.coupling)(middles)
        others = [_gaps_at(each, couplings) for each in diagram.curves if _beside(each, curve)]
        return np.asarray(_gaps_at(curve, couplings) < np.min([np.zeros(middles.size), *others], axis=0))
    found = [
        # Where directions are unstable on both sides nothing that is stable changes.
        np.min(curve.unstable[int(place) : int(place) + 2]) <= 0
        and any(
            _separates_at(diagram, curve, int(place), float(first), float(height), aside * unit) for aside in BESIDE
        )
        for place, first, height in zip(middles, 0.5 * (x[1:] + x[:-1]), 0.5 * (y[1:] + y[:-1]), strict=True)
    ]
    strong = np.array(found, dtype=bool)
    stable = np.array([0 in curve.unstable[int(place) : int(place) + 2] for place in middles])
    return strong | _lowest_beside(diagram, curve, track, strong, stable) if _is_alike(curve) else strong


def _is_alike(curve: Curve) -> bool:
    """Return whether a curve is a first-order line between two states of one name."""
    names = curve.label.removeprefix("transition ").split(" | ")
    return curve.type == "transition" and len(names) == 2 and names[0] == names[1]


def _lowest_beside(
    diagram: PhaseDiagram, curve: Curve, track: Floats, lowest: NDArray[np.bool_], stable: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the stable pieces of a line whose states are the lowest as they are on known pieces, (n - 1,).

    Where more than two states are stable no name of a region tells which are the lowest. Those of a line are along
    it up to a triple point, where a third has their free energy, or where one becomes unstable.
    """
    ends = [
        scaled_point(diagram, point)
        for point in diagram.special_points
        if point.type in ("triple point", "end point")
    ]
    places = scaled(diagram, track)
    pieces = np.stack([places[:-1], places[1:]], axis=1)
    passing = [any(_distance_from(piece[np.newaxis], end) <= ON_CURVE for end in ends) for piece in pieces]
    parts = np.cumsum(passing | ~stable)
    inside = np.all((pieces >= 0.0) & (pieces <= 1.0), axis=(1, 2))
    return np.asarray(np.isin(parts, parts[lowest]) & stable & ~np.array(passing) & inside)


def _rises(curve: Curve) -> bool:
    """Return whether the coupling alone changes along a first-order line."""
    return curve.type == "transition" and curve.vertical and bool(np.ptp(curve.coupling) > 0.0)


def _beside(one: Curve, other: Curve) -> bool:
    """Return whether a line is another one than one along which the coupling alone changes at the same value."""
    near = bool(abs(one.first[0] - other.first[0]) <= SAME_VALUE * (one.interval[1] - one.interval[0]))
    return one is not other and near and _rises(one)


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
    alike = _is_alike(curve) and 0 in curve.unstable[place : place + 2]
    return below.minimiser != above.minimiser or (alike and below.stable == above.stable == 2)


def _is_seen(diagram: PhaseDiagram, track: Floats, strong: NDArray[np.bool_]) -> bool:
    """Return whether a faint piece of a curve begins or ends in the window."""
    low, high = diagram.window
    inside = (track[:, 1] >= low) & (track[:, 1] <= high)
    return bool(np.any(~strong & (inside[1:] | inside[:-1])))


def _pieces(strong: NDArray[np.bool_]) -> list[tuple[int, int, bool]]:
    """Return (first point, last point, whether strong) of the pieces of a curve of one kind."""
    if strong.size == 0:
        return []
    cuts = [0, *(np.flatnonzero(strong[1:] != strong[:-1]) + 1).tolist(), strong.size]
    return [(first, last, bool(strong[first])) for first, last in pairwise(cuts)]


def _mark(ax: "Axes", point: OrganisingPoint, place: tuple[float, float], colour: str = STRONG) -> None:
    """Draw the marker of an organising point at a place, a smaller one if it is faint."""
    marker, size = MARKERS[point.type]
    share, width, order = (1.0, 1.3, 3.0) if colour == STRONG else (SMALLER, 0.8, 2.2)
    ax.plot(
        *place, marker=marker, markersize=share * size, color=colour, markerfacecolor="white",
        markeredgewidth=width, linestyle="none", zorder=order,
    )  # fmt: skip


def _frame(ax: "Axes", diagram: PhaseDiagram) -> None:
    ax.set_xlim(*diagram.interval)
    ax.set_ylim(*diagram.window)
    ax.set_xlabel(parameter_symbol(diagram.parameter), fontsize=11)
    ax.set_ylabel(
        r"coupling $\kappa$" if diagram.unit == "coupling" else r"coupling $\kappa/\kappa_c$", fontsize=11
    )
    ax.tick_params(labelsize=9)


def _explained(phase: str, what: str) -> str:
    """Return the name of a tint: the state that is the lowest or stable, that none is, or that none is known."""
    if phase in (NO_STABLE_STATE, ""):
        return phase or "not known"
    return f"{what}: {branch_name(phase)}"


def _explain(
    ax: "Axes",
    diagram: PhaseDiagram,
    tints: dict[str, str],
    used: Collection[str],
    faint: bool,
    unnamed: Collection[str],
) -> None:
    """Explain tints, hatching, types of curves that are strong somewhere, faint ones, and markers without names."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    what = "lowest" if has_free_energy(diagram.problem) else "stable"
    handles: list[Any] = [
        Patch(
            facecolor=tint,
            edgecolor="0.6",
            linewidth=0.5,
            label=_explained(label, what),
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
    if faint:
        handles.append(Line2D([], [], color=FAINT, linewidth=1.0, label="no stable state changes"))
    handles += [
        Line2D(
            [], [], linestyle="none", marker=marker, markersize=SMALLER * size, color=FAINT,
            markerfacecolor="white", label=kind,
        )
        for kind, (marker, size) in MARKERS.items()
        if kind in unnamed
    ]  # fmt: skip
    parts = caption_parts_over(diagram.problem, diagram.parameter, diagram.interval)
    legend_above(ax, handles, ROW, joined(parts))


def _most(diagram: PhaseDiagram) -> int:
    return max((region.stable or 0 for region in diagram.regions), default=0)
