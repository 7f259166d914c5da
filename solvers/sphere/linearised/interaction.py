"""Numbers of harmonics of a degree on a sphere, and of an order about its axis."""

from functools import lru_cache

import numpy as np

from meanfield.domains import Sphere

from ...bases import Floats

# Larger numbers of harmonics leave the range of doubles.
LARGEST_MULTIPLICITY = 10**300


@lru_cache(maxsize=64)
def multiplicities(dimension: int, first: int, last: int) -> Floats:
    """Return N_first, ..., N_last as floats, at most ``LARGEST_MULTIPLICITY``."""
    sphere = Sphere(dimension)
    return np.array([float(min(sphere.multiplicity(k), LARGEST_MULTIPLICITY)) for k in range(first, last + 1)])


@lru_cache(maxsize=1024)
def repetitions(dimension: int, order: int) -> int:
    """Return the multiplicity of an azimuthal order: the number of harmonics of that degree on S^(d-2)."""
    return Sphere(dimension).equator.multiplicity(order)
