"""Images of states of a sphere under rotations and reflections, by invariants."""

import numpy as np

from ..bases import Floats
from ..branches.continuation import Point
from ..branches.orbits import are_same
from ..significant import confining_symmetry


def are_images(one: Point, other: Point) -> bool:
    """Return whether states of equal energy and lengths of moments are images under rotations and reflections.

    Without a confinement lengths and energy tell, but for the sides of two states about an axis, which may be
    reversed. A confinement admits rotations about its axis, and the reflection in the equator if it is even.
    """
    problem = one.equation.problem
    if problem.confinement is None and not (one.equation.basis.even and other.equation.basis.even):
        return True
    first, second = _about_the_axis(one), _about_the_axis(other)
    reversible = confining_symmetry(problem) % 2 == 0
    return are_same(first, second) or (reversible and are_same(first, _reversed(second)))


def _reversed(moments: Floats) -> Floats:
    """Return the moments by degree of the mirror image at the equator."""
    return moments * (1.0 - 2.0 * (np.arange(moments.size) % 2))


def _about_the_axis(point: Point) -> Floats:
    """Return the moments by degree about the axis of a zonal state, or of the confinement."""
    modes = point.equation.basis.modes
    cosine, _ = point.by_degree
    return np.asarray(cosine[modes.axial(modes.degree(cosine.size))])
