"""Images of states of a sphere under rotations and reflections, by invariants."""

from typing import Any

import numpy as np

from meanfield.harmonics import packed_size

from ..bases import Floats
from ..bases.representations import turned_moments
from ..branches.continuation import Point
from ..branches.orbits import are_same
from ..equations.significant import confining_symmetry
from ..equations.sizing import confining_field
from .groups import symmetry_of_field

# Degrees that tell two states apart.
TELLING = 8


def are_images(one: Point, other: Point) -> bool:
    """Return whether states of equal energy and lengths of moments are images under rotations and reflections.

    Without a confinement lengths and energy tell, but for the sides of two states about an axis, which may be
    reversed. A confinement admits rotations about its axis, and the reflection in the equator if it is even; one
    without an axis its own symmetries only.
    """
    problem = one.equation.problem
    if problem.confinement is None and not (one.equation.basis.even and other.equation.basis.even):
        return True
    if not problem.zonal:
        return _are_images_in(one, other)
    first, second = _about_the_axis(one), _about_the_axis(other)
    reversible = confining_symmetry(problem) % 2 == 0
    return are_same(first, second) or (reversible and are_same(first, _reversed(second)))


def copies_of(point: Point) -> int:
    """Return the number of images of a state under the symmetries of a confinement without an axis."""
    moments = _lower(point)
    images = _images(point)
    return len(images) // sum(_agree(image, moments) for image in images)


def _are_images_in(one: Point, other: Point) -> bool:
    """Return whether a symmetry of a confinement without an axis takes one state to the other."""
    moments = _lower(other)
    return any(_agree(image, moments) for image in _images(one))


def _images(point: Point) -> list[tuple[Floats, Floats]]:
    """Return the lower moments of the images of a state under the symmetries of the confinement, itself first."""
    field: Any = confining_field(point.equation.problem)
    return [turned_moments(*_lower(point), element) for element in symmetry_of_field(field).elements]


def _lower(point: Point) -> tuple[Floats, Floats]:
    """Return the packed moments of a state of the degrees that tell it from others."""
    cosine, sine = point.by_degree
    return cosine[: packed_size(TELLING)], sine[: packed_size(TELLING)]


def _agree(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> bool:
    return all(are_same(*pair) for pair in zip(one, other, strict=True))


def _reversed(moments: Floats) -> Floats:
    """Return the moments by degree of the mirror image at the equator."""
    return moments * (1.0 - 2.0 * (np.arange(moments.size) % 2))


def _about_the_axis(point: Point) -> Floats:
    """Return the moments by degree about the axis of a zonal state, or of the confinement."""
    modes = point.equation.basis.modes
    cosine, _ = point.by_degree
    return np.asarray(cosine[modes.axial(modes.degree(cosine.size))])
