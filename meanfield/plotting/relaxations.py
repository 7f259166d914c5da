"""The decay of distances to a stable state, with fitted exponentials."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked
from ..records.relaxation import Relaxation
from .appearance import colour_number, plain_frame
from .captions import titled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@checked
def plot_relaxation(relaxation: Relaxation, ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw every distance against time, logarithmically, with its fitted exponential over the window.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    **style
        Passed to the markers of the distances.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = titled_axes(relaxation.problem) if ax is None else ax
    settings: dict[str, Any] = {"marker": "o", "markersize": 3.0, "linestyle": "none"} | style
    for index, (fit, values) in enumerate(zip(relaxation.fits, relaxation.distances, strict=True)):
        colour = colour_number(index)
        label = f"{fit.norm}: no fit" if fit.rate is None else f"{fit.norm}: {fit.rate:.7g}"
        ax.plot(relaxation.time, values, color=colour, label=label, **settings)
        if fit.rate is not None and fit.window is not None:
            times = np.array(fit.window)
            inside = (relaxation.time >= times[0]) & (relaxation.time <= times[1])
            middle = float(np.mean(np.log(values[inside]) + fit.rate * relaxation.time[inside]))
            ax.plot(times, np.exp(middle - fit.rate * times), color=colour, linewidth=1.2)
    ax.set_yscale("log")
    ax.set_xlabel("time $t$")
    ax.set_ylabel("distance to the stable state")
    rates = f"spectral gap {relaxation.gap:.7g}"
    if relaxation.followed_rate not in (None, relaxation.gap):
        rates += f", slowest {relaxation.followed} rate {relaxation.followed_rate:.7g}"
    ax.set_title(f"{rates}; fitted decay rates:", fontsize=9, loc="left")
    ax.legend(frameon=False, fontsize=8)
    plain_frame(ax)
    return ax
