"""Orbits of states of a sphere under rotations and reflections, by invariants."""

import numpy as np

from ..bases import Floats
from ..branches.continuation import Point
from ..significant import confining_symmetry

# A moment below this is rounding noise of a state that does not have it.
SIGNIFICANT = 1e-8
# A nearly neutral direction leaves the position along it known to half of the digits only.
SAME = 1e-6


def powers(point: Point) -> Floats:
    """Return the moments of a state by degree: signed about an axis, else the lengths over the orders."""
    basis = point.equation.basis
    return basis.modes.signed(*basis.expand(point.moments))


def symmetry_of(point: Point) -> int:
    """Return 2 if the state is even, the same at antipodes, 0 if it is uniform, else 1.

    In a confinement no state is uniform, and however close to it one is, its moments are known to as many digits.
    """
    sizes = np.abs(powers(point))[1:]
    scale = 1.0 if point.equation.problem.confinement is None else min(1.0, float(sizes.max()))
    significant = np.flatnonzero(sizes > SIGNIFICANT * scale) + 1
    return 0 if not significant.size else 2 if np.all(significant % 2 == 0) else 1


def same_orbit(one: Point, other: Point) -> bool:
    """Return whether two states at one coupling are images of each other under rotations and reflections.

    A confinement admits rotations about its axis, and the reflection in the equator if it is even.
    """
    problem = one.equation.problem
    if abs(one.invariant - other.invariant) > 1e-10 * max(1.0, abs(one.invariant)):
        return False
    first, second = powers(one), powers(other)
    if one.equation.basis.modes != other.equation.basis.modes:
        first, second = np.abs(first), np.abs(second)
    pairs = [(first, second)]
    if problem.confinement is not None:
        pairs.append((_about_the_axis(one), _about_the_axis(other)))
    return all(_same_up_to_mirror(*pair, confining_symmetry(problem) % 2 == 0) for pair in pairs)


def _same_up_to_mirror(first: Floats, second: Floats, mirror: bool) -> bool:
    """Return whether moments by degree, signed about an axis, are the same, or those of the mirror image."""
    count = min(first.size, second.size)
    first, second = first[:count], second[:count]
    images = (second, second * (1.0 - 2.0 * (np.arange(count) % 2))) if mirror else (second,)
    return any(np.abs(first - image).max() <= SAME for image in images)


def _about_the_axis(point: Point) -> Floats:
    """Return the moments by degree about the axis of the confinement."""
    modes = point.equation.basis.modes
    cosine, _ = point.equation.basis.expand(point.moments)
    return np.asarray(cosine[modes.axial(modes.degree(cosine.size))])
