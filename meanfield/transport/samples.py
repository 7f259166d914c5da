r"""Distances between two samples: everything is piecewise constant or linear, and exact.

With N points x and M points y the difference of the distribution functions is constant between neighbouring
points, a multiple of 1/(NM). The quantile coupling of shift a moves mass between the same pairs for all a between
two multiples of 1/L, L the least common multiple of N and M, and
:math:`\tfrac{d}{da}W_2^2(a) = \sum_j (x_{i(j)}-y_{j-1})^2 - (x_{i(j)}-y_j)^2` increases with a;
:math:`x_{i(j)}` is the point facing the jump of the other quantile function at :math:`j/M + a`. Counts are
integers, exactly.
"""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def first_distance(x: Floats, y: Floats) -> float:
    """Return W_1 of two sorted samples in [0, 2 pi)."""
    points = np.concatenate([x, y])
    jumps = np.concatenate([np.full(x.size, y.size), np.full(y.size, -x.size)])
    order = np.argsort(points, kind="stable")
    points = points[order]
    heights: Counts = np.cumsum(jumps[order])
    gaps = np.diff(points, append=points[0] + 2 * math.pi)
    deviations = np.abs(heights - _weighted_median(heights, gaps))
    return float(deviations @ gaps) / (x.size * y.size)


def second_distance(x: Floats, y: Floats) -> float:
    """Return W_2 of two sorted samples in [0, 2 pi)."""
    if y.size > x.size:
        x, y = y, x
    whole = math.lcm(x.size, y.size)
    low, high = -whole, whole
    while low < high:
        middle = (low + high) // 2
        if _slope(x, y, middle, whole) >= 0:
            high = middle
        else:
            low = middle + 1
    return math.sqrt(_cost(x, y, low, whole))


def _weighted_median(values: Counts, weights: Floats) -> int:
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return int(values[order[np.searchsorted(total, 0.5 * total[-1])]])


def _slope(x: Floats, y: Floats, shift: int, whole: int) -> float:
    """Return the derivative of the cost just above a shift, counted in 1/whole, up to a positive factor."""
    jumps = np.arange(y.size) * (whole // y.size) + shift
    turns, facing = np.divmod(jumps // (whole // x.size), x.size)
    points = x[facing] + 2 * math.pi * turns
    before = np.concatenate([[y[-1] - 2 * math.pi], y[:-1]])
    return float((y - before) @ (2 * points - before - y))


def _cost(x: Floats, y: Floats, shift: int, whole: int) -> float:
    """Return the cost of the quantile coupling of a shift counted in 1/whole."""
    starts_x = np.arange(x.size) * (whole // x.size)
    starts_y = np.sort((np.arange(y.size) * (whole // y.size) + shift) % whole)
    starts = np.union1d(starts_x, starts_y)
    masses = np.diff(starts, append=whole)
    turns, partner = np.divmod((starts - shift) // (whole // y.size), y.size)
    distances = x[starts // (whole // x.size)] - y[partner] - 2 * math.pi * turns
    return float(masses @ distances**2) / whole
