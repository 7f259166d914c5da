"""A diagram as curves over the coupling, one quantity at a time."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..diagrams import Diagram, SpecialPoint, segments
from .appearance import MARKERS, STYLES, colour_of, new_axes, plain_frame
from .labels import place_labels
from .quantities import abscissa, coupling_symbol, default_quantity, event_value, symbol_of, values_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]

VANISHING = 1e-9


@checked
def plot_diagram(
    diagram: Diagram,
    y: str | None = None,
    ax: "Axes | None" = None,
    *,
    legend: bool = True,
    labels: bool = True,
    **style: Any,
) -> "Axes":
    r"""Draw a diagram against the coupling, relative to the critical one where there is one.

    Parameters
    ----------
    y
        ``m1``, ``m2``, ...: a cosine moment, on spheres the modulus of the moment of that degree; ``p1``,
        ``p2``, ...: on spheres, the mean of the polynomial of that degree in the cosine of the polar angle;
        ``norm``: root of the sum of all squared moments; ``amplitude``: the largest moment in modulus;
        ``free_energy_gap``: (F - F_uniform)/D; ``slowest_rate``. By default ``m1`` on the circle and on spheres
        the moment of the degree that becomes critical first.
    ax
        Axes to draw on; a new figure by default.
    legend, labels
        Whether to explain line styles and markers, and to write the branches' names beside them.
    **style
        Passed to every line, for example ``color`` or ``linewidth``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If ``y`` is none of the quantities above.
    """
    y = default_quantity(diagram) if y is None else y
    symbol = symbol_of(diagram, y)
    ax = new_axes() if ax is None else ax
    entries: dict[str, Line2D] = {}
    for index, branch in enumerate(diagram.branches):
        _draw_branch(ax, diagram, index, values_of(diagram, branch, y), entries, style)
    for event in diagram.special_points:
        _draw_event(ax, diagram, event, y, entries, style)
    _frame(ax, diagram, symbol)
    if y == "slowest_rate":
        ax.axhline(0.0, color="0.8", linewidth=0.8, zorder=1.0)
    elif y != "free_energy_gap" and not _departs(diagram, y):
        ax.set_ylim(-0.1, 1.0)
    if legend and entries:
        _explain(ax, entries)
    if labels:
        place_labels(ax, named_curves(diagram, y, style))
    return ax


def named_curves(diagram: Diagram, y: str, style: dict[str, Any]) -> list[tuple[str, str, Floats]]:
    """Name, colour and points (P, 2) of every curve to be labelled; those that lie on zero share a name."""
    curves: list[tuple[str, str, Floats]] = []
    flat: list[str] = []
    for index, branch in enumerate(diagram.branches):
        points = np.column_stack([abscissa(diagram, branch), values_of(diagram, branch, y)])
        points = points[np.all(np.isfinite(points), axis=1)]
        if len(points) == 0:
            continue
        if np.max(np.abs(points[:, 1])) < VANISHING and any(other.symmetry == 0 for other in diagram.branches):
            flat.append(branch.label)
            if branch.symmetry != 0:
                continue
        curves.append((branch.label, style.get("color", colour_of(diagram, index)), points))
    if len(flat) > 1:
        joint = ", ".join(flat) if len(flat) <= 3 else f"{flat[0]} and {len(flat) - 1} others"
        curves = [(joint if name == flat[0] else name, colour, points) for name, colour, points in curves]
    return curves


def _explain(ax: "Axes", entries: "dict[str, Line2D]") -> None:
    order = [text for _, text in STYLES.values()] + [text for _, _, text in MARKERS.values()]
    shown = [entries[text] for text in order if text in entries]
    # Above the axes it is in nobody's way, whatever the curves do; five entries fill a row.
    rows = math.ceil(len(shown) / 5)
    ax.legend(
        handles=shown,
        frameon=False,
        fontsize=8,
        handlelength=2.4,
        columnspacing=1.4,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=math.ceil(len(shown) / rows),
    )


def _draw_branch(
    ax: "Axes",
    diagram: Diagram,
    index: int,
    values: Floats,
    entries: "dict[str, Line2D]",
    style: dict[str, Any],
) -> None:
    branch = diagram.branches[index]
    couplings = abscissa(diagram, branch)
    # The uniform state lies on top: in one moment many branches coincide with it.
    height = 2.1 if branch.symmetry == 0 else 2.0
    settings = {"color": colour_of(diagram, index), "linewidth": 1.5, "zorder": height} | style
    for start, stop, kind in segments(branch, np.sign(branch.unstable)):
        dashes, text = STYLES[kind]
        part = slice(start, stop + 1)
        drawn: dict[str, Any] = {"linestyle": dashes} | settings
        (line,) = ax.plot(couplings[part], values[part], **drawn)
        line.set_gid(branch.label)
        if np.any(np.isfinite(values[part])):
            entries.setdefault(text, _proxy(color="0.2", linestyle=dashes, linewidth=1.5, label=text))


def _draw_event(
    ax: "Axes",
    diagram: Diagram,
    event: SpecialPoint,
    y: str,
    entries: "dict[str, Line2D]",
    style: dict[str, Any],
) -> None:
    value = event_value(diagram, event, y)
    if event.type not in MARKERS or not np.isfinite(value):
        return
    marker, size, text = MARKERS[event.type]
    relative = event.coupling if diagram.critical_coupling is None else event.relative_coupling
    colour = style.get("color", colour_of(diagram, event.branch))
    face: dict[str, Any] = {
        "marker": marker,
        "markersize": size,
        "linestyle": "none",
        "markerfacecolor": "white",
        "markeredgewidth": 1.1,
    }
    ax.plot([np.nan if relative is None else float(relative)], [value], color=colour, zorder=3.0, **face)
    entries.setdefault(text, _proxy(color="0.2", label=text, **face))


def _proxy(**settings: Any) -> "Line2D":
    from matplotlib.lines import Line2D

    return Line2D([], [], **settings)


def _frame(ax: "Axes", diagram: Diagram, symbol: str) -> None:
    ax.set_xlabel(coupling_symbol(diagram), fontsize=11)
    ax.set_ylabel(symbol, fontsize=11)
    scale = 1.0 if diagram.critical_coupling is None else diagram.critical_coupling
    if scale > 0:
        ax.set_xlim(*(float(bound / scale) for bound in diagram.interval))
    plain_frame(ax)


def _departs(diagram: Diagram, y: str) -> bool:
    return any(
        np.nanmax(np.abs(values_of(diagram, branch, y)), initial=0.0) > VANISHING for branch in diagram.branches
    )
