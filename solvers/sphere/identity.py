"""Which states of a sphere are the same up to rotations and reflections, and what they are called."""

import numpy as np

from meanfield.harmonics import full_density, moduli

from ..bases import Floats, InvariantBasis
from ..branches.continuation import Point
from .births import SHAPES
from .polyhedral import SOLIDS, VERTICES

# A moment below this is rounding noise of a state that does not have it.
FELT = 1e-8
# A nearly neutral direction leaves the position along it known to half of the digits only.
SAME = 1e-6
# The usual symbols of groups that are special cases of others.
USUAL = {"C_1v": "C_s", "C_1h": "C_s", "S_2": "C_i", "D_1": "C_2", "D_1h": "C_2v", "D_1d": "C_2h"}
# A vertex of the dual of the first solid of each group with two of them.
DUALS = {"O_h": (1.0, 1.0, 1.0), "I_h": (1.0, 1.0, 1.0)}


def powers(point: Point) -> Floats:
    """Return the moments by degree: signed about the axis, else the length of all those of a degree."""
    cosine, sine = point.equation.basis.expand(point.moments)
    return cosine if point.equation.basis.layout == "degree" else moduli(cosine, sine)


def symmetry_of(point: Point) -> int:
    """Return 2 if the state is even, the same at antipodes, 0 if it is uniform, else 1."""
    felt = np.flatnonzero(np.abs(powers(point))[1:] > FELT) + 1
    return 0 if not felt.size else 2 if np.all(felt % 2 == 0) else 1


def name_of(point: Point) -> str:
    """Return a state in words: a shape about an axis, a solid, or the symbol of its symmetry."""
    basis = point.equation.basis
    if isinstance(basis, InvariantBasis):
        name = basis.group.name
        if name not in SOLIDS:
            return USUAL.get(name, name)
        return SOLIDS[name][0 if name not in DUALS or _peaks_at_vertices(point, name) else 1]
    moments = powers(point)
    if symmetry_of(point) == 2 and moments.size > 2:
        return SHAPES[1 if moments[2] > 0.0 else -1]
    return "zonal"


def _peaks_at_vertices(point: Point, name: str) -> bool:
    """Whether the density is larger at the vertices of the first solid of a symmetry than at those of its dual."""
    x, y, z = np.transpose([VERTICES[name], DUALS[name]])
    moments = point.equation.basis.expand(point.moments)
    densities = full_density(*moments, np.arctan2(np.hypot(x, y), z), np.arctan2(y, x))
    return bool(densities[0] > densities[1])


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
