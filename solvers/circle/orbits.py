"""Orbits of states under rotation and reflection, their symmetry, and their axis."""

import numpy as np

from ..bases import Integers
from ..branches.continuation import Point
from ..significant import confining_symmetry
from .rotation import Complexes, turned

# A moment below this is rounding noise of a state that does not have it.
SIGNIFICANT = 1e-8
# A nearly neutral direction leaves the position along it known to half of the digits only.
SAME = 1e-6
SAME_ENERGY = 1e-10
# Images under a confinement, whose angle may be held weakly, differ by less than this; other states by much more.
CLOSE = 1e-3


def moments_of(point: Point) -> Complexes:
    """Return the moments m_k - i s_k of a state, from degree 0."""
    cosine, sine = point.equation.basis.expand(point.moments)
    return np.asarray(cosine - 1j * sine)


def row_of(point: Point, degree: int) -> Complexes:
    """Return the moments m_k - i s_k of a state from degree 0 to ``degree``."""
    moments = moments_of(point)[: degree + 1]
    return np.concatenate([moments, np.zeros(degree + 1 - moments.size)])


def symmetry_of(point: Point) -> int:
    """Return n if the state is invariant under rotation by 2 pi/n and no smaller angle; 0 if uniform.

    In a confinement no state is uniform, and however close to it one is, its moments are known to as many digits.
    """
    sizes = np.abs(moments_of(point)[1:])
    scale = 1.0 if point.equation.problem.confinement is None else min(1.0, float(sizes.max()))
    significant = np.flatnonzero(sizes > SIGNIFICANT * scale) + 1
    return int(np.gcd.reduce(significant)) if significant.size else confining_symmetry(point.equation.problem)


def name_of(point: Point) -> str:
    """Return the name of a state with a reflection axis."""
    return f"{symmetry_of(point)}-cluster"


def evened(moments: Complexes, vanishing: float, *, turning: bool) -> Complexes | None:
    """Return the moments of a density turned so that its axis is at 0, None if it has no axis.

    Parameters
    ----------
    vanishing
        Sine moments below this count as zero.
    turning
        Whether it may be turned; else the axis must be at 0.
    """
    images = moments[None]
    if turning:
        sizes = np.abs(moments)
        sizes[0] = 0.0
        # The lowest of the large moments: in whole turns of it the axis is one of the fewest.
        degree = int(np.flatnonzero(sizes >= 0.5 * sizes.max())[0])
        if degree == 0:
            return np.asarray(moments.real, dtype=complex)
        angles = (np.angle(moments[degree]) + np.pi * np.arange(degree)) / degree
        images = np.array([turned(moments, angle) for angle in angles])
    across = np.abs(images.imag).max(axis=1)
    best = int(across.argmin())
    return np.asarray(images[best].real, dtype=complex) if across[best] < vanishing else None


def upright(moments: Complexes, symmetry: int, vanishing: float) -> Complexes:
    """Return the moments of an even density of a symmetry n, turned by pi/n where its first odd cell is negative.

    So it has the orientation of the branch that is born with this cell.
    """
    cells = np.arange(moments.size) / symmetry
    odd = np.flatnonzero((cells % 2 == 1) & (np.abs(moments) >= vanishing))
    return turned(moments, np.pi / symmetry) if odd.size and moments[odd[0]].real < 0.0 else moments


def same_orbit(one: Point, other: Point) -> bool:
    """Return whether two states at one coupling are images of each other under the symmetries of the problem."""
    first, second = moments_of(one), moments_of(other)
    count = min(first.size, second.size)
    first, second = first[:count], second[:count]
    if np.abs(np.abs(first) - np.abs(second)).max() > SAME:
        return False
    if abs(one.invariant - other.invariant) > SAME_ENERGY * max(1.0, abs(one.invariant)):
        return False
    # Without a confinement lengths and energy tell: phases that they do not show are locked below rounding.
    problem = one.equation.problem
    return problem.confinement is None or _are_images(first, second, confining_symmetry(problem))


def copies_of(point: Point, symmetry: int) -> int:
    """Return the number of images of a state under the symmetries of the problem, rotations by any angle aside.

    Parameters
    ----------
    symmetry
        m of the rotation symmetry of the confinement, 0 if there is none.
    """
    moments = moments_of(point)
    if symmetry == 0:
        return 1 if evened(moments, SAME, turning=True) is not None else 2
    images = images_of(moments, np.arange(moments.size), symmetry)
    return len(images) // int(np.count_nonzero(np.abs(images - moments).max(axis=1) <= SAME))


def _are_images(one: Complexes, other: Complexes, symmetry: int) -> bool:
    """Return whether one of the rotations and reflections of a confinement takes a density to another."""
    images = images_of(one, np.arange(one.size), symmetry)
    return bool(np.abs(images - other).max(axis=1).min() <= CLOSE)


def images_of(moments: Complexes, degrees: Integers, symmetry: int) -> Complexes:
    """Return the moments of a density turned by all multiples of 2 pi/m and reflected."""
    angles = 2.0 * np.pi * np.arange(max(symmetry, 1)) / max(symmetry, 1)
    images = moments * np.exp(-1j * np.multiply.outer(angles, degrees))
    return np.concatenate([images, images.conj()])
