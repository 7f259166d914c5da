"""The collapse of a density to a point: 1 - r against time beside both of its slopes."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked
from ..records.contraction import Contraction
from .appearance import colour_number, plain_frame
from .captions import titled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The slopes are drawn over the times in which 1 - r falls from this share of its first value.
SHARE = 1e-1


@checked
def plot_contraction(contraction: Contraction, ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw 1 - r against time, logarithmically, with the slopes of the cluster and of the mass in flight.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    **style
        Passed to the line of 1 - r.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = titled_axes(contraction.problem) if ax is None else ax
    shown = contraction.remainder > 0.0
    times, values = contraction.time[shown], contraction.remainder[shown]
    ax.plot(times, values, **({"color": colour_number(0), "label": "$1 - r$"} | style))
    found = contraction.rate_of("1 - r")
    alone = {"cluster": found.local_rate, "mass in flight": found.separatrix_rate}
    for index, (name, rate) in enumerate(alone.items()):
        if rate is not None and times.size:
            start = int(np.argmax(values <= SHARE * values[0]))
            # A slope that leaves the picture is cut where 1 - r ends.
            line = np.maximum(values[start] * np.exp(-rate * (times[start:] - times[start])), values.min())
            label = f"{name} alone: rate {rate:.7g}"
            ax.plot(times[start:], line, color=colour_number(index + 1), linestyle="--", label=label)
    ax.set_yscale("log")
    ax.set_xlabel("time $t$")
    ax.set_ylabel("$1 - r$")
    shown_rate = "not known" if found.rate is None else f"{found.rate:.10g} ({found.governed_by})"
    ax.set_title(f"contraction rate of $1 - r$: {shown_rate}", fontsize=9, loc="left")
    ax.legend(frameon=False, fontsize=8)
    plain_frame(ax)
    return ax
