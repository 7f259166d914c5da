"""Orbits of states under rotation and reflection, their symmetry, and their axis."""

import numpy as np

from ..bases import Integers
from ..branches.continuation import Point
from ..branches.orbits import SAME, symmetry_of
from ..equations.significant import confining_symmetry
from .axes import axis_of
from .moments import complex_moments, padded
from .rotation import Complexes, turned

# Images under a confinement, whose angle may be held weakly, differ by less than this; other states by much more.
CLOSE = 1e-3


def row_of(point: Point, degree: int) -> Complexes:
    """Return the moments m_k - i s_k of a state from degree 0 to ``degree``."""
    return padded(complex_moments(point), degree + 1)


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


def are_images(one: Point, other: Point) -> bool:
    """Return whether states of equal energy and lengths of moments are images under the symmetries of the problem.

    Without a confinement lengths and energy tell: phases that they do not show are locked below rounding. With one
    its rotations and reflections must take one density to the other.
    """
    problem = one.equation.problem
    if problem.confinement is None:
        return True
    first, second = complex_moments(one), complex_moments(other)
    count = min(first.size, second.size)
    images = images_of(first[:count], np.arange(count), confining_symmetry(problem), axis_of(problem))
    return bool(np.abs(images - second[:count]).max(axis=1).min() <= CLOSE)


def copies_of(point: Point, symmetry: int) -> int:
    """Return the number of images of a state under the symmetries of the problem, rotations by any angle aside.

    Parameters
    ----------
    symmetry
        m of the rotation symmetry of the confinement, 0 if there is none.
    """
    moments = complex_moments(point)
    if symmetry == 0:
        return 1 if evened(moments, SAME, turning=True) is not None else 2
    images = images_of(moments, np.arange(moments.size), symmetry, axis_of(point.equation.problem))
    return len(images) // int(np.count_nonzero(np.abs(images - moments).max(axis=1) <= SAME))


def images_of(moments: Complexes, degrees: Integers, symmetry: int, axis: float | None) -> Complexes:
    """Return the moments of densities turned by all multiples of 2 pi/m and, with an axis, reflected in it.

    They are in the last axis of ``moments``, before which there is one of the images in what is returned.
    """
    angles = 2.0 * np.pi * np.arange(max(symmetry, 1)) / max(symmetry, 1)
    images = moments[..., None, :] * np.exp(-1j * np.multiply.outer(angles, degrees))
    if axis is None:
        return images
    reflected = images.conj() * np.exp(-2j * axis * degrees) if axis else images.conj()
    return np.concatenate([images, reflected], axis=-2)
