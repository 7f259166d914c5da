"""The collapse of a density to a point: 1 - r against time beside both of its slopes, and beside particles."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked
from ..records.contraction import Contraction
from ..records.ensemble import Ensemble
from .appearance import colour_number, plain_frame
from .captions import titled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The slopes begin where 1 - r has fallen to this share of its first value.
SHARE = 1e-1
# Below this 1 - r of particles is an error of their recorded moments, whose default tolerance it is.
RECORDED = 1e-9


@checked
def plot_contraction(
    contraction: Contraction, ax: "Axes | None" = None, ensembles: Sequence[Ensemble] = (), **style: Any
) -> "Axes":
    """Draw 1 - r against time, logarithmically, with the slopes of the cluster and of the mass in flight.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    ensembles
        Particles of the same equation and initial density, drawn replica by replica, and dotted the time from which
        as many follow the slope of the cluster.
    **style
        Passed to the line of 1 - r of the density.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = titled_axes(contraction.problem) if ax is None else ax
    shown = contraction.remainder > 0.0
    name = "mean field" if ensembles else "$1 - r$"
    settings: dict[str, Any] = {"color": colour_number(0), "label": name, "zorder": 2.2} | style
    ax.plot(contraction.time[shown], contraction.remainder[shown], **settings)
    for number, ensemble in enumerate(ensembles):
        _draw_particles(ax, contraction, ensemble, colour_number(number + 3))
    _draw_slopes(ax, contraction)
    ax.set_yscale("log")
    ax.set_xlabel("time $t$")
    ax.set_ylabel("$1 - r$")
    if ensembles:
        ax.set_xlim(0.0, max(float(ensemble.time[-1]) for ensemble in ensembles))
    found = contraction.rate_of("1 - r")
    shown_rate = "not known" if found.rate is None else f"{found.rate:.10g} ({found.governed_by})"
    ax.set_title(f"contraction rate of $1 - r$: {shown_rate}", fontsize=9, loc="left")
    ax.legend(frameon=False, fontsize=8)
    plain_frame(ax)
    return ax


def _draw_slopes(ax: "Axes", contraction: Contraction) -> None:
    """Draw the slopes of both exponents as straight lines that end at the last time or value of 1 - r."""
    shown = contraction.remainder > 0.0
    times, values = contraction.time[shown], contraction.remainder[shown]
    if not times.size:
        return
    found = contraction.rate_of("1 - r")
    start = int(np.argmax(values <= SHARE * values[0]))
    first, depth = float(times[start]), math.log(values[start] / values.min())
    alone = {"cluster": found.local_rate, "mass in flight": found.separatrix_rate}
    for number, (name, rate) in enumerate(alone.items()):
        if rate is not None and rate > 0.0:
            last = min(float(times[-1]), first + depth / rate)
            line = values[start] * np.exp([0.0, -rate * (last - first)])
            label = f"{name} alone: rate {rate:.7g}"
            ax.plot([first, last], line, color=colour_number(number + 1), linestyle="--", label=label)


def _draw_particles(ax: "Axes", contraction: Contraction, ensemble: Ensemble, colour: str) -> None:
    crossover = contraction.crossover(ensemble.particles)
    name = f"{ensemble.particles} particles"
    if crossover is not None:
        name += f", crossover at $t = {crossover:.3g}$ (dotted)"
        ax.axvline(crossover, color=colour, linestyle=":", linewidth=1.0, zorder=1.0)
    for replica, radii in enumerate(ensemble.moments_in_modulus()):
        remainder = 1.0 - radii
        known = np.where(remainder > RECORDED, remainder, np.nan)
        ax.plot(ensemble.time, known, color=colour, linewidth=1.2, label=name if replica == 0 else None)
