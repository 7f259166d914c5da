"""Which states of a sphere are the same up to rotations and reflections, by invariants."""

import numpy as np

from meanfield.harmonics import moduli

from ..bases import Floats
from ..branches.continuation import Point

# A moment below this is rounding noise of a state that does not have it.
FELT = 1e-8
# A nearly neutral direction leaves the position along it known to half of the digits only.
SAME = 1e-6


def powers(point: Point) -> Floats:
    """Return the moments by degree: signed about the axis, else the length of all those of a degree."""
    cosine, sine = point.equation.basis.expand(point.moments)
    return cosine if point.equation.basis.layout == "degree" else moduli(cosine, sine)


def symmetry_of(point: Point) -> int:
    """Return 2 if the state is even, the same at antipodes, 0 if it is uniform, else 1."""
    felt = np.flatnonzero(np.abs(powers(point))[1:] > FELT) + 1
    return 0 if not felt.size else 2 if np.all(felt % 2 == 0) else 1


def same_orbit(one: Point, other: Point) -> bool:
    """Whether two states at one coupling are images of each other under rotations and reflections."""
    first, second = powers(one), powers(other)
    if one.equation.basis.layout != other.equation.basis.layout:
        first, second = np.abs(first), np.abs(second)
    count = min(first.size, second.size)
    difference = np.abs(first[:count] - second[:count])
    mirrored = np.abs(first[:count] - second[:count] * (1.0 - 2.0 * (np.arange(count) % 2)))
    if min(difference.max(), mirrored.max()) > SAME:
        return False
    return abs(one.free_energy_gap - other.free_energy_gap) <= 1e-10 * max(1.0, abs(one.free_energy_gap))
