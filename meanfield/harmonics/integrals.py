"""Uniform means of functions of a density on grids that are refined until two agree."""

from collections.abc import Callable

from ..errors import ComputationFailed
from .modes import EPS, Floats, Modes


def converged(modes: Modes, places: int, integrand: Callable[[int], tuple[Floats, Floats]]) -> float:
    """Return the uniform mean of a function on grids doubled until two agree, from that for so many moments on.

    The integrand returns its values and their sizes before cancellation, which set the tolerance.

    Raises
    ------
    ComputationFailed
        If no two grids agree.
    """
    points = modes.coarsest(places)
    coarse = modes.mean(integrand(points)[0], points)
    while points < modes.finest:
        points *= 2
        values, sizes = integrand(points)
        fine = modes.mean(values, points)
        if abs(fine - coarse) <= 16 * EPS * modes.mean(sizes, points):
            return fine
        coarse = fine
    raise ComputationFailed(
        f"an integral over the density did not settle on {points} points; the density touches zero: "
        "use moments of a smooth positive density"
    )
