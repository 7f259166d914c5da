r"""The symmetry of a density on S^2, and the rotation into the orientation of its group.

With the generators of rotations G_k the matrix :math:`\sum_l \omega_l (G_j c_l) \cdot (G_k c_l)` of the
harmonics c_l of each degree turns with the density. An axis of its symmetry is an eigenvector, and the group about
one is read off the moments in a frame with this axis along z:

- the rotation by 2 pi/n leaves the orders that are multiples of n;
- the mirror at the equator leaves even l + m, the same with a turn by pi/n leaves even l + m + m/n;
- the mirror at the azimuth phi leaves :math:`c_{lm} + i s_{lm} \sim e^{i m\varphi}`; the half turn about the axis
  at phi asks the same of even l + m, and of odd l + m a phase that is a right angle off.

Where all three eigenvalues agree, the symmetry is that of a regular solid.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import root

from meanfield.harmonics import (
    degrees_and_orders,
    degrees_of_places,
    gradient_of_sum_at,
    largest_degree,
    rotation_generators,
    spread_points,
    sum_at,
)

from ..bases import EPS, Floats, Integers
from ..bases.confining import generic
from ..bases.orientation import own_axes, to_pole
from ..bases.representations import CYCLE, SAME_ELEMENT, Group, of_degree, subgroup, turned_moments
from .groups import axial_group, solids

# Moments below this share of the largest are those of a symmetry that is there.
ABSENT = 1e-6
# Points among which an extreme value is looked for, and the share of the largest part below which one is small.
POINTS, SMALL = 2000, 1e-3
# Eigenvalues of one size agree to this share: squares of moments that are known to the share above.
ISOTROPIC = 1e-4


class Recognised(NamedTuple):
    """A density in the orientation of its group: packed cosine and sine moments; no group if it has an axis."""

    group: Group | None
    cosine: Floats
    sine: Floats


class _AboutAxis(NamedTuple):
    """The symmetry about the z axis: turns by 2 pi/n, and the azimuths of a mirror and of a half turn if any.

    ``equator`` is +1 with the mirror at the equator, -1 with the same and a turn by pi/n, else 0.
    """

    turns: int
    mirror: float | None
    equator: int
    half_turn: float | None

    @property
    def rank(self) -> tuple[int, int, bool]:
        """Order of symmetries: by the number of elements, then of rotations about the axis, then by a mirror."""
        mirror = self.mirror is not None
        exchanged = self.equator != 0 or (self.half_turn is not None and not mirror)
        return self.turns * (1 + mirror) * (1 + exchanged), self.turns, mirror


def recognised(group: Group, cosine: Floats, sine: Floats, confined: bool, even: bool) -> Recognised:
    """Return the symmetry of a density and its moments in the orientation of the group.

    Parameters
    ----------
    group
        A symmetry that it has in its orientation, returned if no larger one is found.
    cosine, sine
        Packed moments.
    confined, even
        Whether there is a confinement, so that the z axis must stay, and whether this is even about the equator.
    """
    standing = iter([(cosine, sine)]) if confined else _standing_on_axes(cosine, sine)
    best, found = (group.order, 0, False), Recognised(group, cosine, sine)
    for turned in standing:
        symmetry = _about_axis(*turned, even or not confined)
        if symmetry is None:
            return Recognised(None, *turned)
        if symmetry.rank > best:
            best, found = symmetry.rank, _standing(symmetry, *turned)
    if not confined and _is_isotropic(cosine, sine):
        for solid, turned in _standing_as_solids(cosine, sine):
            if solid.order > best[0] and _fixes(solid, *turned):
                return Recognised(solid, *turned)
    return found


def _standing_on_axes(cosine: Floats, sine: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield the moments with each eigenvector of the matrix above along the z axis."""
    turned = turned_moments(cosine, sine, own_axes(_matrix(cosine, sine)))
    for _ in range(3):
        yield turned
        turned = turned_moments(*turned, CYCLE)


def _standing_as_solids(cosine: Floats, sine: Floats) -> Iterator[tuple[Group, tuple[Floats, Floats]]]:
    """Yield each solid with the moments as they are, and turned so that an axis and a mirror are those of it.

    The lowest degree of one is a single harmonic, which is extreme on axes of most turns.
    """
    yield from ((solid, (cosine, sine)) for solid in solids())
    turned = turned_moments(cosine, sine, to_pole(_extreme_point(cosine, sine)))
    symmetry = _about_axis(*turned, flips=True)
    if symmetry is None or symmetry.turns == 1 or symmetry.mirror is None:
        return
    _, cosine, sine = _standing(symmetry, *turned)
    for solid in solids():
        for frame in _frames(solid, symmetry.turns):
            yield solid, turned_moments(cosine, sine, frame)


def _extreme_point(cosine: Floats, sine: Floats) -> Floats:
    """Return the unit vector at which the part of the lowest degree is extreme, of those that are not small."""
    degrees = degrees_of_places(cosine.size)
    sizes = np.sqrt(np.bincount(degrees, cosine**2 + sine**2))
    sizes[0] = 0.0
    lowest = int(np.argmax(sizes > SMALL * sizes.max()))
    part = np.where(degrees == lowest, np.stack([cosine, sine]), 0.0)
    points = spread_points(POINTS)
    start = points[int(np.argmax(np.abs(sum_at(part, points))))]
    across = to_pole(start)[:2]

    def slopes(shift: Floats) -> Floats:
        beside = start + shift @ across
        return np.asarray(across @ gradient_of_sum_at(part, beside[np.newaxis] / np.linalg.norm(beside))[0])

    found = start + root(slopes, np.zeros(2), tol=EPS).x @ across
    return np.asarray(found / np.linalg.norm(found))


def _frames(solid: Group, turns: int) -> Iterator[Floats]:
    """Yield the rotations that take the z axis to an axis of a solid, and the mirror y = 0 to one through that."""
    signs = np.linalg.det(solid.elements)
    traces = np.trace(solid.elements, axis1=1, axis2=2)
    trace = 1.0 + 2.0 * np.cos(2.0 * np.pi / turns)
    rotations = solid.elements[(signs > 0.0) & (np.abs(traces - trace) < SAME_ELEMENT)]
    mirrors = solid.elements[(signs < 0.0) & (np.abs(traces - 1.0) < SAME_ELEMENT)]
    if not len(rotations):
        return
    axis = np.linalg.svd(rotations[0] - np.eye(3))[2][-1]
    for mirror in mirrors:
        normal = np.linalg.svd(mirror + np.eye(3))[2][-1]
        if abs(float(normal @ axis)) < SAME_ELEMENT:
            for z, y in product((axis, -axis), (normal, -normal)):
                yield np.stack([np.cross(y, z), y, z], axis=1)


def _matrix(cosine: Floats, sine: Floats) -> Floats:
    """Return the matrix above of a density."""
    matrix = np.zeros((3, 3))
    for degree in range(1, largest_degree(cosine.size) + 1):
        changes = rotation_generators(degree) @ of_degree(cosine, sine, degree)
        # With such weights of the degrees the eigenvalues agree by symmetry only.
        matrix += generic(degree) * changes @ changes.T
    return matrix


def _is_isotropic(cosine: Floats, sine: Floats) -> bool:
    """Return whether the matrix above has one eigenvalue only, as by the symmetry of a solid it has."""
    values = np.linalg.eigvalsh(_matrix(cosine, sine))
    return bool(values[-1] - values[0] <= ISOTROPIC * values[-1])


def _fixes(group: Group, cosine: Floats, sine: Floats) -> bool:
    allowed = ABSENT * float(np.hypot(cosine, sine)[1:].max())
    images = (turned_moments(cosine, sine, element) for element in group.generators)
    return all(_agree(image, (cosine, sine), allowed) for image in images)


def _agree(one: tuple[Floats, Floats], other: tuple[Floats, Floats], allowed: float) -> bool:
    return max(float(np.abs(here - there).max()) for here, there in zip(one, other, strict=True)) <= allowed


def _about_axis(cosine: Floats, sine: Floats, flips: bool) -> _AboutAxis | None:
    """Return the symmetry about the z axis, or None if the density is zonal.

    Parameters
    ----------
    flips
        Whether transformations that exchange the poles are searched for.
    """
    waves = cosine + 1j * sine
    waves[0] = 0.0
    degrees, orders = degrees_and_orders(largest_degree(cosine.size))
    allowed = ABSENT * float(np.abs(waves).max())
    here = np.abs(waves) > allowed
    turns = int(np.gcd.reduce(orders[here]))
    if turns == 0:
        return None
    waves, orders, odd = waves[here], orders[here], (degrees + orders)[here] % 2 == 1
    lead = int(np.argmax(np.where(orders > 0, np.abs(waves), 0.0)))
    angles = (np.angle(waves[lead]) + np.pi * np.arange(orders[lead])) / orders[lead]
    mirror = _first(angles, waves, orders, np.zeros_like(odd), allowed)
    if not flips:
        return _AboutAxis(turns, mirror, 0, None)
    equator = 1 if not odd.any() else -int(not np.any((odd + orders // turns) % 2))
    half_turn = _first(angles + odd[lead] * 0.5 * np.pi / orders[lead], waves, orders, odd, allowed)
    return _AboutAxis(turns, mirror, equator, half_turn)


def mirror_about_axis(cosine: Floats, sine: Floats) -> float:
    """Return the azimuth of a mirror through the z axis, else of a half turn, that a function may have, or 0."""
    symmetry = _about_axis(cosine, sine, flips=True)
    if symmetry is None:
        return 0.0
    return symmetry.half_turn or 0.0 if symmetry.mirror is None else symmetry.mirror


def stabiliser(group: Group, cosine: Floats, sine: Floats) -> Group:
    """Return the subgroup of the elements of a group that leave a density as it is."""
    images = (turned_moments(cosine, sine, element) for element in group.elements)
    allowed = ABSENT * float(np.hypot(cosine, sine)[1:].max())
    agree = [_agree(image, (cosine, sine), allowed) for image in images]
    return subgroup(group, tuple(np.flatnonzero(agree).tolist()))


def fixing(groups: Iterable[Group], group: Group, cosine: Floats, sine: Floats) -> Group:
    """Return the first of some groups, larger ones first, that leaves a density as it is, or one known to do so."""
    larger = (each for each in groups if each.order > group.order)
    return next((each for each in larger if _fixes(each, cosine, sine)), group)


def _first(
    angles: Floats, waves: NDArray[np.complex128], orders: Integers, across: NDArray[np.bool_], allowed: float
) -> float | None:
    """Return the first angle with which all waves are in phase, those ``across`` a right angle off, else None."""
    for angle in angles.tolist():
        parts = waves * np.exp(-1j * orders * angle)
        if np.abs(np.where(across, parts.real, parts.imag)).max() <= 2.0 * allowed:
            return float(angle)
    return None


def _standing(symmetry: _AboutAxis, cosine: Floats, sine: Floats) -> Recognised:
    """Return a density rotated so that its mirror, else its half turn, is at azimuth 0."""
    angle = symmetry.mirror if symmetry.mirror is not None else symmetry.half_turn or 0.0
    _, orders = degrees_and_orders(largest_degree(cosine.size))
    waves = (cosine + 1j * sine) * np.exp(-1j * orders * angle)
    mirror, half_turn = symmetry.mirror is not None, symmetry.half_turn is not None
    group = axial_group(symmetry.turns, mirror, symmetry.equator, half_turn)
    return Recognised(group, waves.real.copy(), waves.imag.copy())
