"""Particles on the ordinary sphere as points of a globe."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import ITSELF, checked
from ..errors import InvalidInput
from ..records.ensemble import Ensemble
from .appearance import COLOURS
from .captions import titled_axes
from .globe import GENERIC, TURNS, bare, draw_graticule, require_sphere
from .projections import View, globe_graticule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

PAPER, RIM = "#eef2f8", "0.25"
SIZE, BEHIND = 16.0, 0.28
# Of more points a vector graphic would be large.
MANY = 2000


@checked
def plot_cloud(
    ensemble: Ensemble,
    ax: "Axes | None" = None,
    view: Annotated[Sequence[float] | None, ITSELF] = None,
    *,
    replica: int = 0,
    **style: Any,
) -> "Axes":
    """Draw the particles at the end on a globe, those behind it pale.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    view
        Direction from which the globe is seen; by default that of eight generic ones that is nearest to the mean of
        the particles.
    replica
        Which of the replicas, from 0.
    **style
        Passed to the markers, for example ``color`` or ``s``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the particles are not on the ordinary sphere, their positions were not kept, there is no such replica, or
        the view is no direction.
    """
    points = _points(ensemble, replica)
    eye = View.from_direction(_nearest(points.mean(axis=0)) if view is None else view)
    ax = titled_axes(ensemble.problem, size=(4.0, 3.8)) if ax is None else ax
    _draw_paper(ax, eye)
    shown = eye.shown(points)
    settings: dict[str, Any] = {"color": COLOURS[0], "s": SIZE, "edgecolors": "white", "linewidths": 0.3} | style
    settings.setdefault("rasterized", points.shape[0] > MANY)
    for front in (False, True):
        places = shown[(shown[:, 2] >= 0.0) == front]
        ax.scatter(
            places[:, 0], places[:, 1], zorder=2.0 + front, **settings | ({} if front else {"alpha": BEHIND})
        )
    bare(ax, 1.06, 1.06)
    return ax


def _points(ensemble: Ensemble, replica: int) -> Floats:
    """Return the unit vectors of a replica at the end, (N, 3)."""
    require_sphere(ensemble.moments, "globe")
    if ensemble.positions is None:
        raise InvalidInput(
            "the positions of these particles were not kept; give simulate(..., keep_positions=True)"
        )
    if not 0 <= replica < ensemble.replicas:
        raise InvalidInput(
            f"replica must be a whole number from 0 to {ensemble.replicas - 1}, not {replica}; try replica=0"
        )
    points = ensemble.positions[replica]
    if np.isnan(points).any():
        raise InvalidInput(f"replica {replica} did not come to the end, so its particles cannot be drawn")
    return np.asarray(points)


def _nearest(mean: Floats) -> tuple[float, ...]:
    """Return the generic direction that is nearest to a vector."""
    directions = GENERIC * np.array(TURNS)
    return tuple(directions[np.argmax(directions @ mean)])


def _draw_paper(ax: "Axes", eye: View) -> None:
    from matplotlib.patches import Circle

    ax.add_patch(Circle((0.0, 0.0), 1.0, facecolor=PAPER, edgecolor=RIM, linewidth=0.7, zorder=1.0))
    draw_graticule(ax, globe_graticule(eye))
