"""Packing of the moments of a density on S^2 into a vector: degree l, order m at the place l (l + 1)/2 + m."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


def place(degree: Any, order: Any) -> Any:
    """Return the place of a degree and an order, integers or arrays of them, in packed moments."""
    return degree * (degree + 1) // 2 + order


def packed_size(degree: int) -> int:
    """Return the number of packed moments up to a degree, (l + 1)(l + 2)/2."""
    return (degree + 1) * (degree + 2) // 2


def largest_degree(places: int) -> int:
    """Return the largest degree of a number of packed moments."""
    return (math.isqrt(8 * places + 1) - 3) // 2


def degrees_of_places(places: int) -> Indices:
    """Return the degree of each place of packed moments, also of an incomplete last degree."""
    degrees = np.arange(largest_degree(places) + 2)
    return np.repeat(degrees, degrees + 1)[:places]


def degrees_and_orders(degree: int) -> tuple[Indices, Indices]:
    """Return degree and order of every place of packed moments up to a degree."""
    degrees = degrees_of_places(packed_size(degree))
    return degrees, np.arange(degrees.size) - place(degrees, 0)


def zonal_places(degree: int) -> Indices:
    """Return the places of the packed moments of order 0 for degrees from 0 to ``degree``."""
    return np.asarray(place(np.arange(degree + 1), 0))


def packed(zonal: Floats) -> Floats:
    """Return zonal moments of a density on S^2 as packed moments, those of other orders zero."""
    moments = np.zeros(place(zonal.size, 0))
    moments[zonal_places(zonal.size - 1)] = zonal
    return moments


def moduli(cosine: Floats, sine: Floats) -> Floats:
    """Return the lengths |m_l| of the packed moments of each degree, (..., L + 1), which no rotation changes."""
    squares = cosine**2 + sine**2
    starts = zonal_places(largest_degree(cosine.shape[-1]))
    return np.asarray(np.sqrt(np.add.reduceat(squares, starts, axis=-1)))
