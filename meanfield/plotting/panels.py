"""Four panels of a diagram: amplitude, free energy, slowest rate and densities."""

import math
from typing import TYPE_CHECKING

import numpy as np

from ..arguments import checked
from ..equations import has_free_energy
from ..records.diagram import Diagram
from ..records.observables import FREE_ENERGY_GAP
from .appearance import colour_of
from .captions import branch_name, diagram_parts, entitle_figure, joined
from .curves import draw_diagram, write_names
from .densities import draw_densities
from .labels import CROWD
from .quantities import default_quantity, values_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# Size in inches with one row of the legend, the height of another, and the letters in one.
WIDTH, HEIGHT, ROW, LINE = 7.2, 5.6, 0.17, 96


@checked
def plot_panels(diagram: Diagram) -> "Figure":
    """Draw amplitude, free energy and slowest rate against the coupling, and densities along a branch.

    The densities are those of the first clustered branch of the diagram, at equal steps of its length. On
    spheres the moment about the pole may stand for the amplitude, and the densities are those of the first branch
    with an axis; if there is none, the last density of a branch on a globe. The names of many branches stand in the
    legend.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    axes = figure.subplots(2, 2)
    panels = [(axes[0, 0], default_quantity(diagram)), (axes[1, 0], "slowest_rate")]
    if FREE_ENERGY_GAP in diagram.observables:
        panels.append((axes[0, 1], FREE_ENERGY_GAP))
    else:
        _write_in_the_middle(axes[0, 1], "not computed" if has_free_energy(diagram.problem) else "no free energy")
        axes[0, 1].set_axis_off()
    crowded = len(diagram.branches) > CROWD
    handles: dict[str, Line2D] = {}
    for ax, y in panels:
        draw_diagram(diagram, y, ax, {}, legend=True, labels=not crowded)
        present = ax.get_legend()
        if present is not None:
            handles |= {str(line.get_label()): line for line in present.get_lines()}
            present.remove()
        if all(np.all(np.isnan(values_of(diagram, branch, y))) for branch in diagram.branches):
            _write_in_the_middle(ax, "not computed")
    draw_densities(axes[1, 1], diagram)
    for ax, letter in zip(axes.flat, "abcd", strict=True):
        ax.set_title(f"({letter})", loc="left", fontsize=9)
    if crowded:
        handles |= _branch_handles(diagram)
    if handles:
        columns = min(len(handles), max(1, int(LINE / max(len(text) for text in handles))))
        figure.set_size_inches(WIDTH, HEIGHT + ROW * (math.ceil(len(handles) / columns) - 1))
        figure.legend(
            handles=list(handles.values()),
            loc="outside lower center",
            ncols=columns,
            frameon=False,
            fontsize=8,
        )
    entitle_figure(figure, joined(diagram_parts(diagram)))
    for ax, _ in panels:
        write_names(ax)
    return figure


def _write_in_the_middle(ax: "Axes", text: str) -> None:
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color="0.4")


def _branch_handles(diagram: Diagram) -> "dict[str, Line2D]":
    """Return a line in the colour of every branch, by its name."""
    from matplotlib.lines import Line2D

    return {
        branch.label: Line2D([], [], color=colour_of(diagram, index), label=branch_name(branch.label))
        for index, branch in enumerate(diagram.branches)
    }
