"""Four panels that tell a diagram: amplitude, free energy, slowest rate and densities."""

from typing import TYPE_CHECKING

import numpy as np

from ..arguments import checked
from ..diagrams import Diagram
from ..domains import Circle
from .curves import named_curves, plot_diagram
from .densities import draw_densities
from .labels import place_labels
from .quantities import default_quantity, values_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


@checked
def plot_panels(diagram: Diagram) -> "Figure":
    """Draw amplitude, free energy and slowest rate against the coupling, and densities along a branch.

    The densities are those of the first clustered branch of the diagram, at equal steps of its length. On
    spheres a moment stands for the amplitude and the densities are those of the first branch with an axis; if
    there is none, the last density of a branch on a globe.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 5.6), layout="constrained")
    axes = figure.subplots(2, 2)
    order = "amplitude" if isinstance(diagram.problem.domain, Circle) else default_quantity(diagram)
    panels = [(axes[0, 0], order), (axes[0, 1], "free_energy_gap"), (axes[1, 0], "slowest_rate")]
    handles: dict[str, Line2D] = {}
    for ax, y in panels:
        plot_diagram(diagram, y, ax, legend=True, labels=False)
        present = ax.get_legend()
        if present is not None:
            handles |= {str(line.get_label()): line for line in present.get_lines()}
            present.remove()
        if all(np.all(np.isnan(values_of(diagram, branch, y))) for branch in diagram.branches):
            ax.text(0.5, 0.5, "not computed", transform=ax.transAxes, ha="center", va="center", color="0.4")
    draw_densities(axes[1, 1], diagram)
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
    for ax, y in panels:
        place_labels(ax, named_curves(diagram, y, {}))
    return figure
