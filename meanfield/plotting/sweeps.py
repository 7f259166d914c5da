"""Sweeps: quantities against the parameter, special points of diagrams and states as points, maps over two."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..errors import InvalidInput
from ..records.sweep import COMPLETE, FAILED, MISSING, Sweep
from .appearance import MARKERS, UNIFORM_COLOUR, colour_number, new_axes, plain_frame
from .captions import branch_name, entitle_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

# What is drawn of a computation by default.
DEFAULTS = {"states": "state_m1", "rate": "gap", "ensemble": "order_parameter"}
MAPPED = {"diagram": "critical_coupling", "states": "minimiser_m1"}
SYMBOLS = {
    "beta": r"$\beta$", "noise": "$D$", "coupling": r"$\kappa$", "relative_coupling": r"$\kappa/\kappa_c$",
    "critical_coupling": r"$\kappa_c$", "gap": "spectral gap",
}  # fmt: skip
SPECIAL = "special_point"


class _Line(NamedTuple):
    """Values of one quantity, those of one point of every diagram joined."""

    label: str
    x: Floats
    y: Floats
    marker: str
    joined: bool
    hollow: bool = False


@checked
def plot_sweep(sweep: Sweep, y: str | None = None, ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw quantities of a sweep against its parameter, or one as colours over two; see :meth:`Sweep.plot`.

    Values that failed or are missing are crosses at the lower edge, in a map in their place.

    Raises
    ------
    InvalidInput
        If there are more than two parameters or no such quantity.
    """
    if len(sweep.parameters) > 2:
        raise InvalidInput(
            f"a picture has one or two parameters, and the sweep has {', '.join(sweep.parameters)}; draw a part of "
            "sweep.to_xarray()"
        )
    ax = _titled_axes(sweep) if ax is None else ax
    if len(sweep.parameters) == 2:
        _draw_map(sweep, y or _default(sweep, MAPPED), ax, style)
    else:
        _draw_lines(sweep, y, ax, style)
        plain_frame(ax)
    return ax


def _titled_axes(sweep: Sweep) -> "Axes":
    """Return axes on a new figure with what was swept as title."""
    ax = new_axes()
    figure = ax.get_figure(root=True)
    if figure is not None:
        entitle_figure(figure, sweep.title)
    return ax


def _default(sweep: Sweep, defaults: dict[str, str]) -> str:
    known = sweep.quantities
    if not known:
        raise InvalidInput("the sweep has no quantity that could be drawn: none of its values is complete")
    wanted = defaults.get(sweep.computed, DEFAULTS.get(sweep.computed, known[0]))
    return wanted if wanted in known else known[0]


def _draw_lines(sweep: Sweep, y: str | None, ax: "Axes", style: dict[str, Any]) -> None:
    if y is None and sweep.computed == "diagram" and SPECIAL in sweep.tables and "parameter" not in sweep.options:
        relative = _is_relative(sweep)
        lines, label = list(_special_lines(sweep, relative)), "relative_coupling" if relative else "coupling"
    else:
        label = y or _default(sweep, DEFAULTS)
        lines = list(_quantity_lines(sweep, label))
    for number, line in enumerate(lines):
        # What is hollow is of the kind of the one before.
        shade = number - sum(each.hollow for each in lines[: number + 1])
        colour = UNIFORM_COLOUR if line.label.endswith("uniform") else colour_number(shade)
        settings: dict[str, Any] = {
            "color": colour, "marker": line.marker, "markersize": 4.0, "linewidth": 1.2, "label": line.label,
            "linestyle": "-" if line.joined else "none", "markerfacecolor": "white" if line.hollow else colour,
        } | style  # fmt: skip
        ax.plot(line.x, line.y, **settings)
    _mark_unknown(sweep, ax)
    ax.set_xlabel(_named(sweep.parameters[0]), fontsize=11)
    ax.set_ylabel(_named(label), fontsize=11)
    if len(lines) > 1 or ax.get_legend_handles_labels()[1][1:]:
        ax.legend(frameon=False, fontsize=8)


def _is_relative(sweep: Sweep) -> bool:
    """Return whether all special points are known relative to the critical coupling."""
    table = sweep.tables[SPECIAL]
    return not np.any((table["type"] != "") & np.isnan(table["relative_coupling"]))


def _special_lines(sweep: Sweep, relative: bool) -> Iterator[_Line]:
    """Yield the special points by type and branch: a line where every value has at most one, else points."""
    table = sweep.tables[SPECIAL]
    heights = table["relative_coupling" if relative else "coupling"]
    kinds = dict.fromkeys(zip(table["type"].ravel(), table["branch_label"].ravel(), strict=True))
    x = np.broadcast_to(sweep.values[0][:, None], heights.shape)
    for kind, branch in sorted(kinds):
        if kind in ("", "endpoint"):
            continue
        meant = (table["type"] == kind) & (table["branch_label"] == branch)
        single = bool(np.all(np.count_nonzero(meant, axis=1) <= 1))
        label = f"{MARKERS[kind][2]}, {branch_name(branch)}"
        if single:
            least = np.where(meant.any(axis=1), np.max(np.where(meant, heights, -np.inf), axis=1), np.nan)
            yield _Line(label, sweep.values[0], least, MARKERS[kind][0], True)
        else:
            yield _Line(label, x[meant], heights[meant], MARKERS[kind][0], False)


def _quantity_lines(sweep: Sweep, name: str) -> Iterator[_Line]:
    """Yield a quantity of all values, of a table with all of its rows; of states those that are unstable hollow."""
    values, label = sweep.quantity(name), name.replace("_", " ")
    if name in sweep.numbers:
        yield _Line(label, sweep.values[0], values, "o", True)
        return
    table = next(each for each in sweep.tables if name.startswith(f"{each}_"))
    heights = sweep.tables[table][name.removeprefix(f"{table}_")]
    x = np.broadcast_to(sweep.values[0][:, None], heights.shape)
    known = ~np.isnan(heights)
    unstable = sweep.tables[table].get("unstable")
    if unstable is None:
        yield _Line(label, x[known], heights[known], "o", False)
        return
    kinds = {"stable": unstable == 0, "unstable": unstable > 0, "stability not counted": np.isnan(unstable)}
    for kind, meant in kinds.items():
        where = known & meant
        if where.any():
            marker = "*" if kind == "stability not counted" else "o"
            yield _Line(kind, x[where], heights[where], marker, False, hollow=kind == "unstable")


def _mark_unknown(sweep: Sweep, ax: "Axes") -> None:
    for status, marker in ((FAILED, "x"), (MISSING, "+")):
        where = sweep.values[0][sweep.status == status]
        if where.size:
            ax.plot(
                where, np.zeros(where.size), transform=ax.get_xaxis_transform(), marker=marker, color="0.35",
                linestyle="none", clip_on=False, label=status,
            )  # fmt: skip


def _draw_map(sweep: Sweep, name: str, ax: "Axes", style: dict[str, Any]) -> None:
    first, second = sweep.parameters
    values = sweep.quantity(name)
    if sweep.grid:
        x, y = np.meshgrid(*sweep.values, indexing="ij")
        orders = [np.argsort(axis) for axis in sweep.values]
        place = np.ix_(*orders)
        drawn: Any = ax.pcolormesh(x[place], y[place], values[place], shading="nearest", **style)
    else:
        x, y = sweep.values
        drawn = ax.scatter(x, y, c=values, **style)
    unknown = sweep.status != COMPLETE
    if unknown.any():
        ax.plot(x[unknown], y[unknown], marker="x", color="0.35", linestyle="none", label="failed or missing")
        ax.legend(frameon=False, fontsize=8)
    figure = ax.get_figure(root=True)
    if figure is not None:
        figure.colorbar(drawn, ax=ax, label=_named(name))
    ax.set_xlabel(_named(first), fontsize=11)
    ax.set_ylabel(_named(second), fontsize=11)


def _named(name: str) -> str:
    return SYMBOLS.get(name, name.replace("_", " "))
