"""Orbits of states under the symmetries of the domain: their symmetry, and which are images of each other."""

import numpy as np

from ..bases import Floats
from ..equations.significant import confining_symmetry
from .continuation import Point

# A moment below this is rounding noise of a state that does not have it.
SIGNIFICANT = 1e-8
# A nearly neutral direction leaves the position along it known to half of the digits only.
SAME = 1e-6
SAME_ENERGY = 1e-10


def lengths(point: Point) -> Floats:
    """Return the lengths of the moments of a state by degree, which no rotation changes."""
    return point.equation.basis.modes.lengths(*point.by_degree)


def symmetry_of(point: Point) -> int:
    """Return the symmetry of a state as State.symmetry counts it; 0 if uniform.

    In a confinement no state is uniform, and however close to it one is, its moments are known to as many digits.
    """
    sizes, problem = lengths(point)[1:], point.equation.problem
    scale = 1.0 if problem.confinement is None else min(1.0, float(sizes.max()))
    significant = np.flatnonzero(sizes > SIGNIFICANT * scale) + 1
    divisor = int(np.gcd.reduce(significant)) if significant.size else confining_symmetry(problem)
    return point.equation.geometry.symmetry(divisor)


def same_orbit(one: Point, other: Point) -> bool:
    """Return whether two states at one coupling are images of each other under the symmetries of the problem."""
    if abs(one.invariant - other.invariant) > SAME_ENERGY * max(1.0, abs(one.invariant)):
        return False
    return are_same(lengths(one), lengths(other)) and one.equation.geometry.are_images(one, other)


def are_same(one: Floats, other: Floats) -> bool:
    """Return whether moments by degree are the same, up to the last degree that both have.

    Moments are known as well as those beyond the last one are small: as that one is, which beside a confinement
    with kinks is far above rounding.
    """
    count = min(one.size, other.size)
    return bool(np.abs(one[:count] - other[:count]).max() <= SAME + max(_last(one), _last(other)))


def _last(moments: Floats) -> float:
    """Return the size of the last moments that are not exactly zero, degree 0 aside; 0 if there are none."""
    last = int(np.flatnonzero(moments[1:]).max(initial=-1)) + 1
    return float(np.abs(moments[last - last // 8 : last + 1]).max()) if last else 0.0
