"""Ensembles of particles: the histogram at the end, and moments over time with bands."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ..arguments import checked, shown, takes
from ..errors import InvalidInput
from ..harmonics import Modes
from ..records.ensemble import Ensemble
from .appearance import COLOURS, UNIFORM_COLOUR, colour_number, plain_frame, require_degrees
from .captions import titled_axes
from .densities import quarter_turns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

# Fewer particles than this in an average bin make the histogram a comb; bins are joined then.
PARTICLES_A_BIN = 100
DENSITY_POINTS = 1025


@checked
def plot_ensemble(ensemble: Ensemble, ax: "Axes | None" = None, density: Any = None, **style: Any) -> "Axes":
    """Draw the histogram of all particles at the end over the angle, on the sphere over that from the north pole.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    density
        Drawn as a line for comparison: anything with a method ``density(angle)``, such as a State or a Trajectory,
        or a function of the angle. On the sphere it is a density per unit of the surface, and the line is that of
        the angle which follows from it.
    **style
        Passed to the histogram.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the density is none of these, or no replica came to the end.
    """
    if not ensemble.completed.any():
        raise InvalidInput("no replica of this ensemble came to the end, so there is no histogram to draw")
    ax = titled_axes(ensemble.problem) if ax is None else ax
    edges, heights, half = _joined(ensemble)
    settings: dict[str, Any] = {"color": COLOURS[5], "alpha": 0.6, "label": _particles(ensemble)} | style
    ax.stairs(heights, edges, fill=True, **settings)
    bars: dict[str, Any] = {"color": COLOURS[0], "linewidth": 1.0, "label": "95 % confidence"}
    if not np.isnan(half).any():
        middle = 0.5 * (edges[1:] + edges[:-1])
        ax.vlines(middle, np.maximum(heights - half, 0.0), heights + half, **bars)
    if density is not None:
        angle = np.linspace(edges[0], edges[-1], DENSITY_POINTS)
        ax.plot(angle, _law(ensemble, density, angle), color=COLOURS[1], linewidth=1.6, label=_name(density))
    _frame(ax, ensemble.modes)
    top = max(_line_top(ax), float(np.max(heights + np.nan_to_num(half))))
    ax.set_ylim(0.0, (1.1 if top > 2.0 * heights.mean() else 1.4) * top)
    ax.legend(frameon=False, fontsize=8, loc="upper right")
    return ax


@checked
def plot_ensemble_moments(
    ensemble: Ensemble, ax: "Axes | None" = None, degrees: Sequence[int] = (1, 2, 3), trajectory: Any = None
) -> "Axes":
    """Draw order parameters over time: the mean over the replicas, its 95 % band, and every replica thinly.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    degrees
        Degrees of the moments.
    trajectory
        A Trajectory of the same problem, drawn dashed for comparison: anything with ``time`` and
        ``order_parameter(degree)``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If a degree was not recorded.
    """
    if trajectory is not None and not hasattr(trajectory, "order_parameter"):
        raise InvalidInput(
            f"trajectory must be one such as evolve(problem, VonMises(), until=1.0), not {shown(trajectory)}"
        )
    require_degrees(degrees)
    ax = titled_axes(ensemble.problem) if ax is None else ax
    letters = ensemble.modes.letters
    for number, degree in enumerate(degrees):
        colour = colour_number(number)
        estimate = ensemble.order_parameter(degree)
        replicas = ensemble.moments_in_modulus(degree)
        if ensemble.replicas > 1:
            ax.plot(ensemble.time, replicas.T, color=colour, linewidth=0.4, alpha=0.35, zorder=1.5)
            half = _half_width(np.count_nonzero(~np.isnan(replicas), axis=0)) * estimate.standard_error
            band: dict[str, Any] = {"color": colour, "alpha": 0.2, "linewidth": 0.0, "zorder": 1.8}
            ax.fill_between(ensemble.time, estimate.mean - half, estimate.mean + half, **band)
        ax.plot(
            ensemble.time,
            estimate.mean,
            color=colour,
            linewidth=1.6,
            label=f"${letters[1]} = {degree}$",
            zorder=2.2,
        )
        if trajectory is not None:
            dashed: dict[str, Any] = {"color": UNIFORM_COLOUR, "linewidth": 1.1, "linestyle": (0, (4.0, 2.0))}
            label = "density" if degree == degrees[0] else None
            ax.plot(trajectory.time, trajectory.order_parameter(degree), label=label, zorder=2.5, **dashed)
    ax.set_xlabel("$t$", fontsize=11)
    ax.set_ylabel(f"$|{letters[0]}_{letters[1]}|$", fontsize=11)
    ax.set_xlim(0.0, float(ensemble.time[-1]))
    plain_frame(ax)
    ax.set_ylim(bottom=0.0)
    ax.legend(frameon=False, fontsize=8, loc="best")
    bands = ", means with 95 % bands" if ensemble.replicas > 1 else ""
    ax.set_title(f"{_particles(ensemble)}{bands}", fontsize=9, loc="left")
    return ax


def _line_top(ax: "Axes") -> float:
    return max((float(np.max(np.asarray(line.get_ydata(), dtype=float))) for line in ax.lines), default=0.0)


def _joined(ensemble: Ensemble) -> tuple[Floats, Floats, Floats]:
    """Return edges, heights and half widths of 95 % bands; bins are joined until each holds enough particles."""
    edges, heights, _ = ensemble.density()
    replicas, join = int(np.count_nonzero(ensemble.completed)), 1
    while join < heights.size // 16 and ensemble.particles * replicas * join < PARTICLES_A_BIN * heights.size:
        join *= 2
    counts = ensemble.histogram[ensemble.completed].reshape(-1, heights.size // join, join).sum(axis=2)
    densities = counts / (ensemble.particles * (edges[join] - edges[0]))
    if replicas == 1:
        return edges[::join], densities[0], np.full(densities.shape[1], np.nan)
    half = float(_half_width(np.array(replicas))) * densities.std(axis=0, ddof=1) / np.sqrt(replicas)
    return edges[::join], densities.mean(axis=0), half


def _half_width(replicas: NDArray[np.integer]) -> Floats:
    """Return the 95 % quantile of Student's distribution, in standard errors; nan for fewer than two replicas."""
    known = np.maximum(replicas - 1, 1)
    return np.where(replicas > 1, stdtrit(known, 0.975), np.nan)


def _particles(ensemble: Ensemble) -> str:
    replicas = int(np.count_nonzero(ensemble.completed))
    copies = f"{replicas} replicas of " if replicas > 1 else ""
    return f"{copies}{ensemble.particles} particles"


def _law(ensemble: Ensemble, density: Any, angle: Floats) -> Floats:
    """Return the density of the angle, which on the sphere has the size of a parallel as a factor."""
    uniform = ensemble.modes.law(angle)
    moments = getattr(density, "moments", None)
    if moments is not None and not moments.has_axis:
        last = moments if moments.cosine.ndim == 1 else moments[-1]
        return np.asarray(last.about_axis().relative_density(angle) * uniform)
    return np.asarray(_values(density, angle) * ensemble.problem.domain.volume * uniform)


def _frame(ax: "Axes", modes: Modes) -> None:
    """Label the angle, with the law of uniform points as a thin line."""
    angle = np.linspace(*modes.span, DENSITY_POINTS)
    dashed: dict[str, Any] = {"color": UNIFORM_COLOUR, "linewidth": 0.8, "linestyle": (0, (4.0, 3.0)), "zorder": 1}
    ax.plot(angle, modes.law(angle), label="uniform", **dashed)
    ax.set_xlim(*modes.span)
    ax.set_xticks(*quarter_turns(modes))
    ax.set_xlabel(rf"{modes.angle} $\theta$", fontsize=11)
    ax.set_ylabel(r"density of $\theta$", fontsize=11)
    plain_frame(ax)


def _values(density: Any, angle: Floats) -> Floats:
    function = getattr(density, "density", density)
    if not takes(function, 1):
        raise InvalidInput(
            f"a density to compare with is a State, a Trajectory or a function of the angle, not {shown(density)}"
        )
    return np.asarray(function(angle), dtype=float)


def _name(density: Any) -> str:
    return str(getattr(density, "label", "")) or "density"
