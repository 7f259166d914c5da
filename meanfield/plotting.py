"""Pictures of diagrams and states: stable solid, unstable dashed, not counted dotted.

Everything is drawn on matplotlib's own objects, without pyplot and without changing its settings, so that
figures compose with the user's. The colours are those of Okabe and Ito, distinct for the colour-blind.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .diagrams import Branch, Diagram, SpecialPoint
from .errors import InvalidInput
from .states import State, series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
UNIFORM_COLOUR = "#000000"
STYLES: dict[int, tuple[Any, str]] = {
    0: ("-", "stable"),
    1: ((0, (4.0, 2.0)), "unstable"),
    -1: ((0, (1.0, 1.5)), "stability not counted"),
}
MARKERS = {
    "branch point": ("o", 5.0, "branch point"),
    "fold": ("s", 4.8, "fold"),
    "transition": ("D", 4.8, "equal free energy"),
}
FORMATS = (".png", ".pdf", ".svg")
RESOLUTION = 300
VANISHING = 1e-9
DENSITY_CURVES = 6
CRITICAL_MODES = 64


def plot_diagram(
    diagram: Diagram,
    y: str = "m1",
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
        ``m1``, ``m2``, ...: a cosine moment; ``norm``: root of the sum of all squared moments; ``amplitude``:
        the largest moment in modulus; ``free_energy_gap``: (F - F_uniform)/D; ``slowest_rate``.
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
    symbol = _symbol(y)
    ax = _new_axes() if ax is None else ax
    entries: dict[str, Line2D] = {}
    for index, branch in enumerate(diagram.branches):
        _draw_branch(ax, diagram, index, _values(branch, y), entries, style)
    for event in diagram.special_points:
        _draw_event(ax, diagram, event, y, entries, style)
    _frame(ax, diagram, symbol)
    if y == "slowest_rate":
        ax.axhline(0.0, color="0.8", linewidth=0.8, zorder=1.0)
    elif y != "free_energy_gap" and not _departs(diagram, y):
        ax.set_ylim(-0.1, 1.0)
    if legend and entries:
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
    if labels:
        from .plot_labels import place_labels

        place_labels(ax, _label_curves(diagram, y, style))
    return ax


def plot_state(state: State, ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw the density of a state over the angle, with the uniform density for comparison.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    **style
        Passed to the line of the density.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = _new_axes() if ax is None else ax
    angle = _angles(state.cosine.size)
    settings: dict[str, Any] = {"color": COLOURS[0], "linewidth": 1.6, "label": state.label or None} | style
    _uniform_level(ax)
    ax.plot(angle, state.density(angle), **settings)
    _frame_density(ax)
    return ax


def plot_panels(diagram: Diagram) -> "Figure":
    """Draw amplitude, free energy and slowest rate against the coupling, and densities along a branch.

    The densities are those of the first clustered branch of the diagram, at equal steps of its length.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 5.6), layout="constrained")
    axes = figure.subplots(2, 2)
    panels = [(axes[0, 0], "amplitude"), (axes[0, 1], "free_energy_gap"), (axes[1, 0], "slowest_rate")]
    handles: dict[str, Line2D] = {}
    for ax, y in panels:
        plot_diagram(diagram, y, ax, legend=True, labels=False)
        present = ax.get_legend()
        if present is not None:
            handles |= {str(line.get_label()): line for line in present.get_lines()}
            present.remove()
        if all(np.all(np.isnan(_values(branch, y))) for branch in diagram.branches):
            ax.text(0.5, 0.5, "not computed", transform=ax.transAxes, ha="center", va="center", color="0.4")
    _draw_densities(axes[1, 1], diagram)
    for ax, letter in zip(axes.flat, "abcd", strict=True):
        ax.set_title(f"({letter})", loc="left", fontsize=9)
    if handles:
        figure.legend(
            handles=list(handles.values()),
            loc="outside lower center",
            ncols=len(handles),
            frameon=False,
            fontsize=8,
        )
    figure.draw_without_rendering()
    from .plot_labels import place_labels

    for ax, y in panels:
        place_labels(ax, _label_curves(diagram, y, {}))
    return figure


def check_figure(path: str | Path, force: bool = False) -> Path:
    """Check, before anything is drawn, that a figure could be written.

    Raises
    ------
    InvalidInput
        If the suffix is none of .png, .pdf and .svg or the file cannot be written there.
    """
    from .export.files import check_writable

    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        wrong = f"the suffix {path.suffix!r} of {path.name!r}" if path.suffix else f"the name {path.name!r}"
        raise InvalidInput(f"{wrong} does not choose a picture format; use one of {', '.join(FORMATS)}")
    check_writable(path, force)
    return path


def save_figure(
    figure: "Figure", path: str | Path, force: bool = False, provenance: dict[str, Any] | None = None
) -> Path:
    """Write a figure as PNG (300 dots an inch), PDF or SVG; an existing file survives any failure.

    Parameters
    ----------
    force
        Whether an existing file may be replaced.
    provenance
        Kept in the file's metadata.

    Raises
    ------
    InvalidInput
        If the suffix is none of .png, .pdf and .svg or the file cannot be written there.
    ComputationFailed
        If the disk refuses.
    """
    from .export.files import write_files
    from .export.records import dump

    path = check_figure(path, force)
    suffix = path.suffix.lower().removeprefix(".")
    field = {"png": "Description", "pdf": "Subject", "svg": "Description"}[suffix]
    metadata = {} if provenance is None else {field: dump(provenance)}

    def write(temporary: Path) -> None:
        figure.savefig(temporary, format=suffix, dpi=RESOLUTION, metadata=metadata)

    write_files({path: write}, force)
    return path


def critical_mode(diagram: Diagram) -> int | None:
    """Degree of the mode that becomes critical first, None where it cannot be told."""
    if diagram.critical_coupling is None or diagram.problem.confinement is not None:
        return None
    problem = diagram.problem
    multipliers = problem.potential.multipliers(problem.domain, CRITICAL_MODES)[1:]
    attractive = multipliers < 0
    if not np.any(attractive):
        return None
    return int(np.argmin(multipliers)) + 1


def coupling_symbol(diagram: Diagram) -> str:
    """Symbol of the horizontal axis."""
    if diagram.critical_coupling is None:
        return r"$\kappa$"
    mode = critical_mode(diagram)
    return rf"$\kappa/\kappa_{{{'c' if mode is None else mode}}}$"


def _symbol(y: str) -> str:
    names = {
        "norm": r"$\|m\|_2$",
        "amplitude": r"$\max_k |m_k|$",
        "free_energy_gap": r"$(F - F_0)/D$",
        "slowest_rate": r"slowest rate $\gamma$",
    }
    if y in names:
        return names[y]
    degree = y.removeprefix("m")
    if y.startswith("m") and degree.isascii() and degree.isdigit() and int(degree) > 0:
        return f"$m_{{{int(degree)}}}$"
    raise InvalidInput(f"cannot plot {y!r}; give m1, m2, ... or one of {', '.join(names)}")


def _values(branch: Branch, y: str) -> Floats:
    if y in ("free_energy_gap", "slowest_rate"):
        values: Floats = getattr(branch, y)
        return values
    if y in ("norm", "amplitude"):
        return _size(branch.cosine, branch.sine, y)
    return branch.moment(int(y.removeprefix("m")))


def _size(cosine: Floats, sine: Floats, y: str) -> Floats:
    # Imported points may know only their first moments; the rest counts as zero there.
    squares = np.nan_to_num(cosine[..., 1:] ** 2 + sine[..., 1:] ** 2)
    total = np.sum(squares, axis=-1) if y == "norm" else np.max(squares, axis=-1, initial=0.0)
    return np.asarray(np.sqrt(total))


def _departs(diagram: Diagram, y: str) -> bool:
    return any(np.nanmax(np.abs(_values(branch, y)), initial=0.0) > VANISHING for branch in diagram.branches)


def _event_value(diagram: Diagram, event: SpecialPoint, y: str) -> float:
    if y in ("free_energy_gap", "slowest_rate"):
        return float(getattr(diagram.branches[event.branch], y)[event.point])
    if y in ("norm", "amplitude"):
        return float(_size(event.cosine, event.sine, y))
    degree = int(y.removeprefix("m"))
    return float(event.cosine[degree]) if degree < event.cosine.size else 0.0


def _abscissa(diagram: Diagram, branch: Branch) -> Floats:
    chosen = branch.coupling if diagram.critical_coupling is None else branch.relative_coupling
    return np.asarray(chosen, dtype=np.float64)


def _draw_branch(
    ax: "Axes",
    diagram: Diagram,
    index: int,
    values: Floats,
    entries: "dict[str, Line2D]",
    style: dict[str, Any],
) -> None:
    branch = diagram.branches[index]
    abscissa = _abscissa(diagram, branch)
    # The uniform state lies on top: in one moment many branches coincide with it.
    height = 2.1 if branch.symmetry == 0 else 2.0
    settings = {"color": _colour(diagram, index), "linewidth": 1.5, "zorder": height} | style
    for start, stop, kind in segments(branch, np.sign(branch.unstable)):
        dashes, text = STYLES[kind]
        part = slice(start, stop + 1)
        drawn: dict[str, Any] = {"linestyle": dashes} | settings
        (line,) = ax.plot(abscissa[part], values[part], **drawn)
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
    value = _event_value(diagram, event, y)
    if event.type not in MARKERS or not np.isfinite(value):
        return
    marker, size, text = MARKERS[event.type]
    relative = event.coupling if diagram.critical_coupling is None else event.relative_coupling
    colour = style.get("color", _colour(diagram, event.branch))
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


def segments(branch: Branch, kinds: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
    """Yield (first point, last point, kind) of the pieces of a branch that are of one kind.

    Consecutive pieces share a point: the special point at which the kind changes, if one of the two points
    about the change is labelled.
    """
    if len(branch) < 2:
        return
    between = [_kind_between(branch, kinds, point) for point in range(len(branch) - 1)]
    start = 0
    for point in range(1, len(between) + 1):
        if point == len(between) or between[point] != between[start]:
            yield start, point, between[start]
            start = point


def _kind_between(branch: Branch, kinds: NDArray[np.int64], point: int) -> int:
    left, right = int(kinds[point]), int(kinds[point + 1])
    return right if left != right and branch.point_labels[point] and not branch.point_labels[point + 1] else left


def _colour(diagram: Diagram, index: int) -> str:
    if diagram.branches[index].symmetry == 0:
        return UNIFORM_COLOUR
    clustered = [position for position, branch in enumerate(diagram.branches) if branch.symmetry != 0]
    return COLOURS[clustered.index(index) % len(COLOURS)]


def _label_curves(diagram: Diagram, y: str, style: dict[str, Any]) -> list[tuple[str, str, Floats]]:
    """Name, colour and points (P, 2) of every curve to be labelled; those that lie on zero share a name."""
    curves: list[tuple[str, str, Floats]] = []
    flat: list[str] = []
    for index, branch in enumerate(diagram.branches):
        points = np.column_stack([_abscissa(diagram, branch), _values(branch, y)])
        points = points[np.all(np.isfinite(points), axis=1)]
        if len(points) == 0:
            continue
        if np.max(np.abs(points[:, 1])) < VANISHING and any(other.symmetry == 0 for other in diagram.branches):
            flat.append(branch.label)
            if branch.symmetry != 0:
                continue
        curves.append((branch.label, style.get("color", _colour(diagram, index)), points))
    if len(flat) > 1:
        joint = ", ".join(flat) if len(flat) <= 3 else f"{flat[0]} and {len(flat) - 1} others"
        curves = [(joint if name == flat[0] else name, colour, points) for name, colour, points in curves]
    return curves


def _new_axes() -> "Axes":
    from matplotlib.figure import Figure

    return Figure(figsize=(5.6, 3.8), layout="constrained").add_subplot()


def _frame(ax: "Axes", diagram: Diagram, symbol: str) -> None:
    ax.set_xlabel(coupling_symbol(diagram), fontsize=11)
    ax.set_ylabel(symbol, fontsize=11)
    scale = 1.0 if diagram.critical_coupling is None else diagram.critical_coupling
    if scale > 0:
        ax.set_xlim(*(float(bound / scale) for bound in diagram.interval))
    _plain_frame(ax)


def _plain_frame(ax: "Axes") -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=9)
    ax.margins(y=0.12)


def _angles(moments: int) -> Floats:
    return np.linspace(-np.pi, np.pi, max(513, 8 * moments + 1))


def _uniform_level(ax: "Axes") -> None:
    ax.axhline(1 / (2 * np.pi), color="0.65", linewidth=0.8, linestyle=":", zorder=1.0)


def _frame_density(ax: "Axes") -> None:
    ax.set_xlabel(r"$\theta$", fontsize=11)
    ax.set_ylabel(r"$\rho(\theta)$", fontsize=11)
    ax.set_xlim(-np.pi, np.pi)
    ax.set_xticks([-np.pi, -np.pi / 2, 0.0, np.pi / 2, np.pi], [r"$-\pi$", r"$-\pi/2$", "0", r"$\pi/2$", r"$\pi$"])
    _plain_frame(ax)
    ax.set_ylim(bottom=0.0)


def _draw_densities(ax: "Axes", diagram: Diagram) -> None:
    from matplotlib import colormaps

    _uniform_level(ax)
    clustered = [branch for branch in diagram.branches if branch.symmetry != 0]
    if not clustered:
        ax.axhline(1 / (2 * np.pi), color=UNIFORM_COLOUR, linewidth=1.5)
        ax.text(0.0, 0.17, "uniform", ha="center", fontsize=8)
        _frame_density(ax)
        ax.set_ylim(0.0, 0.5)
        return
    branch = clustered[0]
    chosen = _spread_points(branch)
    colours = colormaps["viridis"](np.linspace(0.0, 0.85, max(len(chosen), 2)))
    angle = _angles(branch.cosine.shape[1])
    for point, colour in zip(chosen, colours, strict=False):
        dashes, _ = STYLES[int(np.sign(branch.unstable[point]))]
        density = series(branch.cosine[point], branch.sine[point], angle)
        text = f"{_abscissa(diagram, branch)[point]:.3g}"
        ax.plot(angle, density, color=colour, linestyle=dashes, linewidth=1.3, label=text)
    _frame_density(ax)
    if chosen:
        ax.legend(
            title=f"{branch.label}\n{coupling_symbol(diagram)} =",
            frameon=False,
            fontsize=7,
            title_fontsize=8,
            loc="upper right",
        )


def _spread_points(branch: Branch) -> Sequence[int]:
    known = np.flatnonzero(np.all(np.isfinite(branch.cosine), axis=1) & np.all(np.isfinite(branch.sine), axis=1))
    if known.size <= DENSITY_CURVES:
        return [int(point) for point in known]
    lengths = branch.arclength[known]
    # The start of a branch looks like its parent, so the first curve is one step further.
    targets = np.linspace(lengths[0], lengths[-1], DENSITY_CURVES + 1)[1:]
    return sorted({int(known[np.argmin(np.abs(lengths - target))]) for target in targets})
