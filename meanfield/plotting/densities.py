"""Densities over the angle: of one state, or along a branch."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..diagrams import Branch, Diagram
from ..states import State, series
from .appearance import COLOURS, STYLES, UNIFORM_COLOUR, new_axes, plain_frame
from .quantities import abscissa, coupling_symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

DENSITY_CURVES = 6


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
    ax = new_axes() if ax is None else ax
    angle = _angles(state.cosine.size)
    settings: dict[str, Any] = {"color": COLOURS[0], "linewidth": 1.6, "label": state.label or None} | style
    uniform_level(ax)
    ax.plot(angle, state.density(angle), **settings)
    frame_density(ax)
    return ax


def draw_densities(ax: "Axes", diagram: Diagram) -> None:
    """Draw densities at equal steps along the first clustered branch, or the uniform one where there is none."""
    from matplotlib import colormaps

    uniform_level(ax)
    clustered = [branch for branch in diagram.branches if branch.symmetry != 0]
    if not clustered:
        ax.axhline(1 / (2 * np.pi), color=UNIFORM_COLOUR, linewidth=1.5)
        ax.text(0.0, 0.17, "uniform", ha="center", fontsize=8)
        frame_density(ax)
        ax.set_ylim(0.0, 0.5)
        return
    branch = clustered[0]
    chosen = _spread_points(branch)
    colours = colormaps["viridis"](np.linspace(0.0, 0.85, max(len(chosen), 2)))
    angle = _angles(branch.cosine.shape[1])
    for point, colour in zip(chosen, colours, strict=False):
        dashes, _ = STYLES[int(np.sign(branch.unstable[point]))]
        density = series(branch.cosine[point], branch.sine[point], angle)
        text = f"{abscissa(diagram, branch)[point]:.3g}"
        ax.plot(angle, density, color=colour, linestyle=dashes, linewidth=1.3, label=text)
    frame_density(ax)
    if chosen:
        ax.legend(
            title=f"{branch.label}\n{coupling_symbol(diagram)} =",
            frameon=False,
            fontsize=7,
            title_fontsize=8,
            loc="upper right",
        )


def _angles(moments: int) -> Floats:
    return np.linspace(-np.pi, np.pi, max(513, 8 * moments + 1))


def uniform_level(ax: "Axes") -> None:
    """Draw the uniform density as a thin dotted line."""
    ax.axhline(1 / (2 * np.pi), color="0.65", linewidth=0.8, linestyle=":", zorder=1.0)


def frame_density(ax: "Axes") -> None:
    """Label the axes of a density over the angle."""
    ax.set_xlabel(r"$\theta$", fontsize=11)
    ax.set_ylabel(r"$\rho(\theta)$", fontsize=11)
    ax.set_xlim(-np.pi, np.pi)
    ax.set_xticks([-np.pi, -np.pi / 2, 0.0, np.pi / 2, np.pi], [r"$-\pi$", r"$-\pi/2$", "0", r"$\pi/2$", r"$\pi$"])
    plain_frame(ax)
    ax.set_ylim(bottom=0.0)


def _spread_points(branch: Branch) -> Sequence[int]:
    known = np.flatnonzero(np.all(np.isfinite(branch.cosine), axis=1) & np.all(np.isfinite(branch.sine), axis=1))
    if known.size <= DENSITY_CURVES:
        return [int(point) for point in known]
    lengths = branch.arclength[known]
    # The start of a branch looks like its parent, so the first curve is one step further.
    targets = np.linspace(lengths[0], lengths[-1], DENSITY_CURVES + 1)[1:]
    return sorted({int(known[np.argmin(np.abs(lengths - target))]) for target in targets})
