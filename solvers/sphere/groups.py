r"""The symmetries of states on S^2: polyhedral groups, those of a regular polygon, and the axial ones of a degree.

Orientation: the tetrahedron of xyz, the cube of :math:`x^4+y^4+z^4` and the icosahedron with two-fold axes along
x, y and z; polygons about the z axis, with the azimuth 0 on a mirror.

A group is axial in degree l if it fixes just one harmonic of this degree, up to factors, and is no part of a larger
one that fixes it too. By the equivariant branching lemma a branch of states with this symmetry is born wherever
the modes of degree l become critical at the uniform state. Ihrig and Golubitsky (1984) list these groups: beside
the zonal one, which is not finite and has a basis of its own,

- even l: O_h (l = 4, 6, 8, 10, 14) and I_h (l = 6, 10, 12, 16, 18, ...);
- odd l: T_d (l = 3, 7, 9, 11, 13, ...), O (l = 9, 13, 15, ...), I (l = 15, ...) and, for l/3 < m <= l, the group of
  :math:`e^c_{lm}`, D_mh for odd and D_md for even m; D_2d is part of T_d in degree 3.
"""

import functools

import numpy as np

from meanfield import InvalidInput

from ..bases.base import Floats
from ..bases.confining import ConfiningField
from ..bases.representations import CYCLE, axis_rotation, rotation_about
from ..bases.representations import TRIVIAL as TRIVIAL
from ..bases.representations import Group as Group
from ..bases.representations import invariant_harmonics as invariant_harmonics

INVERSION = -np.eye(3)
# Rotations up to this order are looked for in a confinement.
LARGEST_ORDER = 12
GOLDEN = 0.5 * (1.0 + np.sqrt(5.0))


def _signs(*signs: int) -> Floats:
    return np.diag(np.array(signs, dtype=float))


def _five_fold() -> Floats:
    """Return the rotation by 2 pi/5 about (0, 1, golden ratio)."""
    axis = np.array([0.0, 1.0, GOLDEN]) / np.hypot(1.0, GOLDEN)
    return rotation_about(axis, 2.0 * np.pi / 5.0)


_FIVE = _five_fold()
_FLIPS = [_signs(1, -1, -1), _signs(-1, -1, 1)]
_SWAP = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])

TETRAHEDRAL = Group(np.stack([CYCLE, *_FLIPS, _SWAP]))
OCTAHEDRAL = Group(np.stack([CYCLE, axis_rotation(4), INVERSION]))
OCTAHEDRAL_ROTATIONS = Group(np.stack([CYCLE, axis_rotation(4)]))
ICOSAHEDRAL_ROTATIONS = Group(np.stack([CYCLE, *_FLIPS, _FIVE]))
ICOSAHEDRAL = Group(np.stack([CYCLE, *_FLIPS, _FIVE, INVERSION]))
TETRAHEDRAL_ROTATIONS = Group(np.stack([CYCLE, *_FLIPS]))
PYRITOHEDRAL = Group(np.stack([CYCLE, *_FLIPS, INVERSION]))


@functools.cache
def pyramidal(order: int) -> Group:
    """Return C_mv: rotations by 2 pi/m about the z axis and mirrors through it, one at azimuth 0."""
    return Group(np.stack([axis_rotation(_checked(order)), _signs(1, -1, 1)]))


@functools.cache
def prismatic(order: int) -> Group:
    """Return D_mh: C_mv and the mirror at the equator."""
    return Group(np.concatenate([pyramidal(order).generators, [_signs(1, 1, -1)]]))


@functools.cache
def antiprismatic(order: int) -> Group:
    """Return D_md: C_mv and the mirror at the equator together with a rotation by pi/m."""
    turned = axis_rotation(2 * _checked(order)) @ _signs(1, 1, -1)
    return Group(np.concatenate([pyramidal(order).generators, [turned]]))


@functools.cache
def axial_group(order: int, mirror: bool, equator: int, half_turn: bool) -> Group:
    """Return the group of the rotations by 2 pi/m about the z axis with given mirrors and half turns.

    Parameters
    ----------
    order
        m.
    mirror
        Whether azimuth 0 is a mirror.
    equator
        +1 if the equator is a mirror, -1 if it is one together with a turn by pi/m, else 0.
    half_turn
        Whether half a turn about the x axis is in the group, where there is no mirror at azimuth 0.
    """
    if mirror:
        return (antiprismatic, pyramidal, prismatic)[equator + 1](order)
    turn = axis_rotation(_checked(order))
    if equator > 0:
        return Group(np.stack([turn, _signs(1, 1, -1)]))
    if equator < 0:
        return Group(np.stack([axis_rotation(2 * order) @ _signs(1, 1, -1)]))
    if half_turn:
        return Group(np.stack([turn, _signs(1, -1, -1)]))
    return Group(np.stack([turn])) if order > 1 else TRIVIAL


def solids() -> tuple[Group, ...]:
    """Return the groups of the regular solids, larger ones first."""
    full, rotations = (ICOSAHEDRAL, OCTAHEDRAL), (ICOSAHEDRAL_ROTATIONS, OCTAHEDRAL_ROTATIONS)
    return (*full, *rotations, TETRAHEDRAL, PYRITOHEDRAL, TETRAHEDRAL_ROTATIONS)


@functools.cache
def searched_groups(highest: int) -> tuple[Group, ...]:
    """Return the symmetries that states with rotations of an order up to the highest can have, larger ones first.

    Of groups without reflections and with more than two-fold rotations only those of the solids are included.
    """
    orders = range(1, highest + 1)
    about = [axial_group(m, True, equator, False) for m in orders for equator in (-1, 0, 1)]
    small = [axial_group(2, False, 0, False), axial_group(2, False, 0, True), axial_group(1, False, -1, False)]
    return tuple(sorted((*solids(), *about, *small, TRIVIAL), key=lambda group: -group.order))


def symmetry_of_field(field: ConfiningField, rotation: Floats | None = None) -> Group:
    """Return the largest group of the search that leaves a field, first turned by a rotation, as it is."""
    turn = np.eye(3) if rotation is None else rotation
    return next(
        group
        for group in searched_groups(LARGEST_ORDER)
        if all(field.keeps(turn.T @ generator @ turn) for generator in group.generators)
    )


def breaking_group(order: int, parity: int | None = None) -> Group:
    """Return the symmetry of states born where a zonal state loses stability in azimuthal order m.

    Parameters
    ----------
    order
        m of the critical mode, g(theta) cos(m phi).
    parity
        None if the zonal state is not even about the equator. Otherwise it is, and this is the degree of the mode
        modulo 2, which takes on the sign of order plus degree under reflection at the equator.
    """
    if parity is None:
        return pyramidal(order)
    return prismatic(order) if (order + parity) % 2 == 0 else antiprismatic(order)


def axial_groups(degree: int) -> tuple[Group, ...]:
    """Return the finite axial groups of a degree, oriented as in this module, without the zonal one.

    Parameters
    ----------
    degree
        Degree l of the critical modes, at least 1.

    Returns
    -------
    tuple of Group
        The larger ones first.
    """
    if degree < 1:
        raise InvalidInput(f"modes have a degree of at least 1, not {degree}")
    if degree % 2 == 0:
        candidates = [ICOSAHEDRAL, OCTAHEDRAL]
    else:
        polygons = [prismatic(m) if m % 2 else antiprismatic(m) for m in range(degree, max(degree // 3, 1), -1)]
        candidates = [ICOSAHEDRAL_ROTATIONS, TETRAHEDRAL, OCTAHEDRAL_ROTATIONS, *polygons]
        if degree == 3:
            candidates.remove(antiprismatic(2))
    return tuple(group for group in candidates if group.dimension(degree) == 1)


def _checked(order: int) -> int:
    if order < 1:
        raise InvalidInput(f"a group of rotations has an order of at least 1, not {order}")
    return order
