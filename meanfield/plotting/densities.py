"""Densities over the angle: of one state, or along a branch.

On the circle they are drawn per radian, on spheres over the uniform density and the angle from the north pole.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..harmonics import Modes, Moments, modes_of
from ..records.branch import Branch
from ..records.diagram import Diagram
from ..records.state import State
from .appearance import COLOURS, STYLES, UNIFORM_COLOUR, plain_frame
from .captions import titled_axes
from .globe import globe, plot_mollweide
from .quantities import abscissa, coupling_symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

DENSITY_CURVES = 6
# Peaks above so many uniform densities, those of high dimensions, are drawn on a logarithmic axis.
LOGARITHMIC = 1e3
# It begins well above the error of the densities and ends where limits with a margin are still numbers.
LOWEST, HIGHEST = 1e-8, 1e240
QUARTERS = {-2: r"$-\pi$", -1: r"$-\pi/2$", 0: "0", 1: r"$\pi/2$", 2: r"$\pi$"}


@checked
def plot_state(state: State, ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw the density of a state over the angle, with the uniform density for comparison.

    On spheres it is drawn over the uniform density, against the angle from the north pole. A density on the
    ordinary sphere without an axis is drawn as a map instead; see :func:`plot_mollweide`.

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
    modes = state.moments.modes
    if not state.moments.has_axis:
        return plot_mollweide(state, ax, **style)
    ax = titled_axes(state.problem, state.label) if ax is None else ax
    settings: dict[str, Any] = {"color": COLOURS[0], "linewidth": 1.6, "label": state.label or None} | style
    uniform_level(ax, modes)
    draw_profile(ax, state, **settings)
    frame_density(ax, modes)
    return ax


def draw_profile(ax: "Axes", state: State, **settings: Any) -> None:
    """Draw the density of a state as a line: per radian, or on spheres over the uniform one."""
    modes = state.moments.modes
    angle = np.linspace(*modes.span, max(513, 8 * state.cosine.size + 1))
    density = drawn_values(state, modes, angle)
    if np.max(density) > LOGARITHMIC:
        ax.set_yscale("log")
        density = np.where(density < HIGHEST, np.maximum(density, 0.01 * LOWEST), np.nan)
    ax.plot(angle, density, **settings)


def draw_densities(ax: "Axes", diagram: Diagram) -> None:
    """Draw densities at equal steps along the first clustered branch, or the uniform one if there is none."""
    clustered = [branch for branch in diagram.branches if branch.symmetry != 0]
    profiled = [branch for branch in clustered if branch.moments.has_axis]
    if profiled:
        _draw_along(ax, diagram, profiled[0])
    elif clustered:
        _draw_last(ax, diagram, clustered[0])
    else:
        _draw_uniform(ax, modes_of(diagram.problem.domain))


def _draw_along(ax: "Axes", diagram: Diagram, branch: Branch) -> None:
    from matplotlib import colormaps

    modes = branch.moments.modes
    uniform_level(ax, modes)
    chosen = _spread_points(branch)
    colours = colormaps["viridis"](np.linspace(0.0, 0.85, max(len(chosen), 2)))
    for point, colour in zip(chosen, colours, strict=False):
        dashes, _ = STYLES[int(np.sign(branch.unstable[point]))]
        settings: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.3}
        text = f"{abscissa(diagram, branch)[point]:.3g}"
        draw_profile(ax, diagram.state(diagram.branches.index(branch), point), label=text, **settings)
    frame_density(ax, modes)
    if chosen:
        ax.legend(
            title=f"{branch.label}\n{coupling_symbol(diagram)} =",
            frameon=False,
            fontsize=7,
            title_fontsize=8,
            loc="best",
        )


def _draw_last(ax: "Axes", diagram: Diagram, branch: Branch) -> None:
    chosen = _spread_points(branch)
    if not chosen:
        ax.text(0.5, 0.5, "not computed", transform=ax.transAxes, ha="center", va="center", color="0.4")
        return
    globe(ax, branch.moments[chosen[-1]])
    value = f"{abscissa(diagram, branch)[chosen[-1]]:.3g}"
    ax.set_title(f"{branch.label}, {coupling_symbol(diagram)} = {value}", fontsize=8)


def _draw_uniform(ax: "Axes", modes: Modes) -> None:
    level = uniform_value(modes)
    ax.axhline(level, color=UNIFORM_COLOUR, linewidth=1.5)
    ax.text(float(np.mean(modes.span)), 1.05 * level, "uniform", ha="center", fontsize=8)
    frame_density(ax, modes)
    ax.set_ylim(0.0, 2.0 * level)


def drawn_values(density: State | Moments, modes: Modes, angle: Floats) -> Floats:
    """Return a density as it is drawn: per radian, or on spheres over the uniform one."""
    return density.relative_density(angle) if modes.relative else density.density(angle)


def uniform_value(modes: Modes) -> float:
    """Return the uniform density as it is drawn: on spheres in units of itself."""
    return 1.0 if modes.relative else 1.0 / modes.domain.volume


def uniform_level(ax: "Axes", modes: Modes) -> None:
    """Draw the uniform density as a thin dotted line."""
    ax.axhline(uniform_value(modes), color="0.65", linewidth=0.8, linestyle=":", zorder=1.0)


def frame_density(ax: "Axes", modes: Modes) -> None:
    """Label the axes of a density over the angle: per radian, or on a sphere relative to the uniform one."""
    ax.set_xlabel(r"$\theta$", fontsize=11)
    ax.set_ylabel(r"$\rho(\theta)/\rho_0$" if modes.relative else r"$\rho(\theta)$", fontsize=11)
    ax.set_xlim(*modes.span)
    ax.set_xticks(*quarter_turns(modes))
    plain_frame(ax)
    # The axis still grows if another density is drawn on it.
    bottom = 0.0 if ax.get_yscale() == "linear" else max(LOWEST, ax.get_ylim()[0])
    ax.set_ylim(bottom=bottom, auto=None)


def quarter_turns(modes: Modes) -> tuple[Floats, list[str]]:
    """Return the multiples of a quarter turn in the range of the angle, with their names."""
    first, last = (round(end / (0.5 * np.pi)) for end in modes.span)
    return np.linspace(*modes.span, last - first + 1), [QUARTERS[number] for number in range(first, last + 1)]


def _spread_points(branch: Branch) -> Sequence[int]:
    known = np.flatnonzero(np.all(np.isfinite(branch.cosine), axis=1) & np.all(np.isfinite(branch.sine), axis=1))
    if known.size <= DENSITY_CURVES:
        return [int(point) for point in known]
    lengths = branch.arclength[known]
    # The start of a branch looks like its parent, so the first curve is one step further.
    targets = np.linspace(lengths[0], lengths[-1], DENSITY_CURVES + 1)[1:]
    return sorted({int(known[np.argmin(np.abs(lengths - target))]) for target in targets})
