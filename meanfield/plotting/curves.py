"""A diagram as curves over the coupling, one quantity at a time."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..errors import InvalidInput
from ..records.branch import Branch, SpecialPoint
from ..records.diagram import Diagram
from ..records.pieces import segments
from .appearance import MARKERS, STYLES, colour_number, colour_of, new_axes, plain_frame
from .captions import branch_name, diagram_parts, joined, legend_above
from .labels import place_labels
from .quantities import (
    VANISHING,
    abscissa,
    coupling_symbol,
    default_quantity,
    event_value,
    is_recorded,
    place_of,
    symbol_of,
    values_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation

Floats = NDArray[np.float64]

# Entries of a legend in a row.
ROW = 5


@dataclass
class _Drawing:
    """One diagram in axes: the quantity drawn, its lines, and their entries in the legend."""

    diagram: Diagram
    y: str
    style: dict[str, Any]
    name: str | None
    labels: bool
    colour: str | None = None
    lines: "list[Line2D]" = field(default_factory=list)
    names: "list[Annotation]" = field(default_factory=list)
    entries: "dict[str, Line2D]" = field(default_factory=dict)

    def colour_of(self, index: int) -> str:
        """Return the colour of a branch: the one asked for, that of the diagram beside others, or its own."""
        chosen: str = self.style.get("color", self.colour or colour_of(self.diagram, index))
        return chosen


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
    r"""Draw a diagram against its parameter, couplings relative to the critical one where there is one.

    Parameters
    ----------
    y
        ``m1``, ``m2``, ...: a cosine moment, on spheres the modulus of the moment of that degree; ``p1``,
        ``p2``, ...: on spheres, the mean of the polynomial of that degree in the cosine of the polar angle;
        ``norm``: root of the sum of all squared moments; ``amplitude``: the largest moment in modulus;
        ``slowest_rate``; an observable of the branches, such as ``free_energy_gap``: (F - F_uniform)/D. By default
        the amplitude; on spheres the moment about the pole of the degree that becomes critical first, if no branch
        but the uniform one lies on zero there.
    ax
        Axes to draw on; a new figure by default. If there are diagrams in them already, each gets one colour and
        an entry in the legend.
    legend, labels
        Whether to name the problem and explain line styles and markers, and to write the branches' names beside
        them.
    **style
        Passed to every line, for example ``color`` or ``linewidth``; ``label`` names the diagram in the legend.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If ``y`` is none of the quantities above, or the axes hold a diagram over another parameter or over the
        coupling in another unit.
    """
    ax = draw_diagram(diagram, y, ax, style, legend=legend, labels=labels)
    write_names(ax)
    return ax


def draw_diagram(
    diagram: Diagram, y: str | None, ax: "Axes | None", style: dict[str, Any], *, legend: bool, labels: bool
) -> "Axes":
    """Draw a diagram like :func:`plot_diagram`, the names of the branches left to :func:`write_names`."""
    y = default_quantity(diagram) if y is None else y
    symbol_of(diagram, y)
    ax = new_axes() if ax is None else ax
    drawings = _present(ax)
    _require_same_unit(diagram, drawings)
    drawing = _Drawing(diagram, y, style, style.pop("label", None), labels)
    drawings.append(drawing)
    _colour(drawings)
    for index, branch in enumerate(diagram.branches):
        _draw_branch(ax, drawing, index, values_of(diagram, branch, y))
    for event in diagram.special_points:
        _draw_event(ax, drawing, event)
    _frame(ax, drawings)
    if legend:
        _explain(ax, drawings)
    return ax


def write_names(ax: "Axes") -> None:
    """Write the names of the branches of all diagrams in axes anew, for the size that the axes have now."""
    drawings = _present(ax)
    curves: list[tuple[str, str, Floats]] = []
    for drawing in drawings:
        for text in drawing.names:
            text.remove()
        drawing.names = []
        curves += _named_curves(drawing) if drawing.labels else []
    if curves:
        drawings[-1].names = place_labels(ax, curves)


def _present(ax: "Axes") -> list[_Drawing]:
    """Return the diagrams drawn in axes before that have not been cleared."""
    drawings: list[_Drawing] = vars(ax).setdefault("meanfield_drawings", [])
    drawings[:] = [drawing for drawing in drawings if any(line.axes is ax for line in drawing.lines)]
    return drawings


def _require_same_unit(diagram: Diagram, drawings: list[_Drawing]) -> None:
    others = {drawing.diagram.parameter for drawing in drawings} - {diagram.parameter}
    if others:
        raise InvalidInput(
            f"one of these diagrams is drawn over {diagram.parameter} and the other over {others.pop()}; draw them "
            "in axes of their own"
        )
    relative = diagram.critical_coupling is not None
    if any((drawing.diagram.critical_coupling is not None) is not relative for drawing in drawings):
        raise InvalidInput(
            "one of these diagrams is drawn over the coupling and the other over the coupling relative to the "
            "critical one; draw them in axes of their own"
        )


def _colour(drawings: list[_Drawing]) -> None:
    """Give every one of several diagrams a colour, unless the caller did."""
    if len(drawings) == 1:
        return
    for number, drawing in enumerate(drawings):
        drawing.colour = colour_number(number)
        if "color" not in drawing.style:
            for line in drawing.lines:
                line.set_color(drawing.colour)


def _named_curves(drawing: _Drawing) -> list[tuple[str, str, Floats]]:
    """Return name, colour and points (P, 2) of every curve to be labelled; those that lie on zero share a name."""
    curves: list[tuple[str, str, Floats]] = []
    flat: list[str] = []
    diagram = drawing.diagram
    for index, branch in enumerate(diagram.branches):
        points = np.column_stack([abscissa(diagram, branch), values_of(diagram, branch, drawing.y)])
        points = points[np.all(np.isfinite(points), axis=1)]
        if len(points) == 0:
            continue
        name = branch_name(branch.label)
        if np.max(np.abs(points[:, 1])) < VANISHING and any(other.symmetry == 0 for other in diagram.branches):
            flat.append(name)
            if branch.symmetry != 0:
                continue
        curves.append((name, drawing.colour_of(index), points))
    if len(flat) > 1:
        joint = ", ".join(flat) if len(flat) <= 3 else f"{flat[0]} and {len(flat) - 1} others"
        curves = [(joint if name == flat[0] else name, colour, points) for name, colour, points in curves]
    return curves


def _explain(ax: "Axes", drawings: list[_Drawing]) -> None:
    """Write the caption common to all diagrams above the legend, and what distinguishes them into it."""
    common, names = _distinguished(drawings)
    named = [
        _proxy(color=drawing.colour_of(0), linewidth=1.5, label=name)
        for drawing, name in zip(drawings, names, strict=True)
        if name
    ]
    entries: dict[str, Line2D] = {}
    for drawing in drawings:
        entries = drawing.entries | entries
    order = [text for _, text in STYLES.values()] + [text for _, _, text in MARKERS.values()]
    shown = named + [entries[text] for text in order if text in entries]
    legend_above(ax, shown, ROW, common)


def _distinguished(drawings: list[_Drawing]) -> tuple[str, list[str]]:
    """Return the caption common to all diagrams, and for each of several its name in the legend."""
    parts = [diagram_parts(drawing.diagram) for drawing in drawings]
    common = [part for part in parts[0] if all(part in other for other in parts)]
    names = [", ".join(part for part in own if part not in common) for own in parts]
    if len(drawings) > 1:
        symbols = [symbol_of(drawing.diagram, drawing.y) for drawing in drawings]
        if len(set(names)) < len(names):
            names = [f"{name} {symbol}".strip() for name, symbol in zip(names, symbols, strict=True)]
        if len(set(names)) < len(names):
            names = [f"diagram {number}" for number in range(1, len(names) + 1)]
    given = [drawing.name or name for drawing, name in zip(drawings, names, strict=True)]
    return joined(common), given


def _draw_branch(
    ax: "Axes",
    drawing: _Drawing,
    index: int,
    values: Floats,
) -> None:
    branch = drawing.diagram.branches[index]
    couplings = abscissa(drawing.diagram, branch)
    # The uniform state lies on top: in one moment many branches coincide with it.
    height = 2.1 if branch.symmetry == 0 else 2.0
    settings = {"color": drawing.colour_of(index), "linewidth": 1.5, "zorder": height} | drawing.style
    for start, stop, kind in segments(branch, np.sign(branch.unstable)):
        dashes, text = STYLES[kind]
        part = slice(start, stop + 1)
        drawn: dict[str, Any] = {"linestyle": dashes} | settings
        (line,) = ax.plot(couplings[part], values[part], **drawn)
        line.set_gid(branch.label)
        drawing.lines.append(line)
        if np.any(np.isfinite(values[part])):
            drawing.entries.setdefault(text, _proxy(color="0.2", linestyle=dashes, linewidth=1.5, label=text))


def _draw_event(ax: "Axes", drawing: _Drawing, event: SpecialPoint) -> None:
    diagram = drawing.diagram
    value = event_value(diagram, event, drawing.y)
    if event.type not in MARKERS or not np.isfinite(value):
        return
    if event.type == "endpoint" and not _left(diagram.branches[event.branch], event):
        return
    marker, size, text = MARKERS[event.type]
    face: dict[str, Any] = {
        "marker": marker,
        "markersize": size,
        "linestyle": "none",
        "markerfacecolor": "white",
        "markeredgewidth": 1.1,
    }
    drawing.lines += ax.plot(
        [place_of(diagram, event)], [value], color=drawing.colour_of(event.branch), zorder=3.0, **face
    )
    drawing.entries.setdefault(text, _proxy(color="0.2", label=text, **face))


def _left(branch: Branch, event: SpecialPoint) -> bool:
    """Return whether the trace of a branch was stopped at an endpoint, although the branch goes on."""
    return branch.outcome.goes_on and event.description == str(branch.outcome)


def _proxy(**settings: Any) -> "Line2D":
    from matplotlib.lines import Line2D

    return Line2D([], [], **settings)


def _frame(ax: "Axes", drawings: list[_Drawing]) -> None:
    couplings = {coupling_symbol(drawing.diagram) for drawing in drawings}
    ax.set_xlabel(couplings.pop() if len(couplings) == 1 else r"$\kappa/\kappa_c$", fontsize=11)
    symbols = dict.fromkeys(symbol_of(drawing.diagram, drawing.y) for drawing in drawings)
    ax.set_ylabel(", ".join(symbols), fontsize=11)
    ranges = [span for drawing in drawings for span in _range(drawing.diagram)]
    if ranges:
        ax.set_xlim(min(ranges), max(ranges))
    plain_frame(ax)
    if all(drawing.y == "slowest_rate" for drawing in drawings):
        ax.axhline(0.0, color="0.8", linewidth=0.8, zorder=1.0)
    elif not any(is_recorded(drawing.diagram, drawing.y) or _departs(drawing) for drawing in drawings):
        ax.set_ylim(-0.1, 1.0)


def _range(diagram: Diagram) -> tuple[float, ...]:
    """Return the ends of the interval in units of the horizontal axis; empty if these are not known."""
    scale = 1.0 if diagram.critical_coupling is None else diagram.critical_coupling
    return tuple(float(bound / scale) for bound in diagram.interval) if scale > 0 else ()


def _departs(drawing: _Drawing) -> bool:
    values = [values_of(drawing.diagram, branch, drawing.y) for branch in drawing.diagram.branches]
    return any(np.nanmax(np.abs(each), initial=0.0) > VANISHING for each in values)
