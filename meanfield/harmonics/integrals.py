"""Integrals on grids that are refined until two agree."""

import math
from collections.abc import Callable, Iterable, Iterator

from ..errors import ComputationFailed
from .modes import EPS, Floats, Modes


def refined_until_two_agree(
    integral: Callable[[int], tuple[float, float]], sizes: Iterable[int], otherwise: str
) -> float:
    """Return an integral: its first value on ever finer grids that agrees with the value before.

    Parameters
    ----------
    integral
        Gives the value on a grid of a size and the tolerance of agreement; nan if no finer grid helps.
    sizes
        Of the grids, increasing.
    otherwise
        Message of the error if no two values agree.

    Raises
    ------
    ComputationFailed
        In that case.
    """
    coarse = math.nan
    for size in sizes:
        fine, tolerance = integral(size)
        if math.isnan(tolerance):
            break
        if abs(fine - coarse) <= tolerance:
            return fine
        coarse = fine
    raise ComputationFailed(otherwise)


def growing(first: int, most: int, factor: float = 2) -> Iterator[int]:
    """Yield sizes of grids up to the largest, each larger than the one before by a factor."""
    while first <= most:
        yield first
        first = int(factor * first)


def converged(modes: Modes, places: int, integrand: Callable[[int], tuple[Floats, Floats]]) -> float:
    """Return the uniform mean of a function on grids doubled until two agree, the first for ``places`` moments.

    The integrand returns its values and their sizes before cancellation, which set the tolerance.

    Raises
    ------
    ComputationFailed
        If no two grids agree.
    """

    def integral(points: int) -> tuple[float, float]:
        values, sizes = integrand(points)
        return modes.mean(values, points), 16 * EPS * modes.mean(sizes, points)

    otherwise = (
        "an integral over the density did not settle on the finest grid; the density touches zero: "
        "use moments of a smooth positive density"
    )
    return refined_until_two_agree(integral, growing(modes.coarsest(places), 2 * modes.finest - 1), otherwise)
