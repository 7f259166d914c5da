r"""Rotations of states on S^2 that nothing holds: rows that keep them in place, and images as the states stand.

A state b that may be turned about axes with the generators T_k is kept where it is nearest to a reference
:math:`b_0`, :math:`(T_k b_0) \cdot b = 0`. A transformation to whose symmetry it may come has its axes among those
of the state, which turn with it: if all are free, the eigenvectors of :math:`(T_j b) \cdot (T_k b)`; if one is,
the azimuths about it at which the largest wave, of an order m, has crests and zeros, :math:`\pi/(2m)` apart.
"""

import functools
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from .actions import moved_by
from .base import Floats, Integers
from .representations import Group, axis_rotation, representation, rotation_about

# A change by rotation below this share of a state is rounding.
ALONG = 1e-12
# Rows that have lost this share of their hold do not keep a state in place.
LOST = 0.5


class Orientation:
    """The orientation of states beside a reference.

    Parameters
    ----------
    group
        The symmetry of the states.
    degrees : (size,) int
        The degrees of their modes.
    turnings
        The generators of their rotations, (size, size) each.
    axes : (k, 3) float or None
        The axes about which states may be turned at all; None if all.
    keeps
        Whether a transformation takes states to states.
    reference : (size,) float
        The reference.

    Attributes
    ----------
    rows : (k, size) float
        Unit vectors to which states are orthogonal.
    """

    def __init__(
        self,
        group: Group,
        degrees: Integers,
        turnings: list[csr_array],
        axes: Floats | None,
        keeps: Callable[[Floats], bool],
        reference: Floats,
    ) -> None:
        self._group, self._degrees, self._turnings, self._keeps = group, degrees, turnings, keeps
        self._free = group.free_among(axes)
        self.rows = np.asarray(self._unit_changes(reference).T)
        self._hold = abs(self._determinant(reference))
        self._wave = self._largest_wave(reference) if len(self._free) == 1 else (0, 0)
        self._reference = reference

    def holds(self, b: Floats) -> bool:
        """Return whether the rows keep a state in place."""
        return abs(self._determinant(b)) >= LOST * self._hold

    def images(self, b: Floats) -> list[Floats]:
        """Return the images of a state by transformations that may be of its symmetry, each its own inverse."""
        standing = moved_by(self._group, np.unique(self._degrees), self._frame(b))
        upright = standing @ b
        return [np.asarray(standing.T @ (image @ upright)) for image in self._involutions]

    def _unit_changes(self, b: Floats) -> Floats:
        """Return the unit changes of a state by rotations, (size, k)."""
        changes = np.stack([turning @ b for turning in self._turnings], axis=1)
        sizes = np.linalg.norm(changes, axis=0)
        # About an axis of its own, where it has more symmetry than its group, a state does not change.
        return np.asarray(changes / np.where(sizes > ALONG * np.linalg.norm(b), sizes, np.inf))

    def _determinant(self, b: Floats) -> float:
        """Return the determinant of the rows on the unit changes of a state by rotations."""
        return float(np.linalg.det(self.rows @ self._unit_changes(b)))

    def _frame(self, b: Floats) -> Floats:
        """Return the rotation of a state to where its axes are those of the coordinates, or of its group.

        In the order and directions that are nearest to those of the reference, so that it is continuous.
        """
        if len(self._free) == 1:
            degree, order = self._wave
            before, wave = (self._waves(each, degree)[order] for each in (self._reference, b))
            crest = float(np.angle(before) + np.angle(wave * before.conjugate())) / order
            return rotation_about(self._free[0], -crest)
        first, axes = self._own_axes(self._reference), self._own_axes(b)
        _, places = linear_sum_assignment(-np.abs(first @ axes.T))
        axes = axes[places]
        axes *= np.where(np.einsum("ij,ij->i", first, axes) < 0.0, -1.0, 1.0)[:, None]
        axes[0] *= np.sign(np.linalg.det(axes))
        return np.asarray(axes)

    def _own_axes(self, b: Floats) -> Floats:
        """Return the rotation that takes the eigenvectors of the matrix above to the axes."""
        changes = np.stack([turning @ b for turning in self._turnings], axis=1)
        return own_axes(changes.T @ changes)

    @functools.cached_property
    def _upright(self) -> Floats:
        """A rotation that takes the free axis to the z axis."""
        return to_pole(self._free[0])

    def _waves(self, b: Floats, degree: int) -> Floats:
        """Return the waves of a degree about the free axis by order, complex numbers with the phases of crests."""
        harmonics = self._group.harmonics(degree).T @ b[self._degrees == degree]
        turned = representation(self._upright, degree) @ harmonics
        return np.asarray(turned[: degree + 1] + 1j * np.append(0.0, turned[degree + 1 :]))

    def _largest_wave(self, b: Floats) -> tuple[int, int]:
        """Return the degree and the order of the largest wave about the free axis."""
        sizes = {
            (degree, order): float(size)
            for degree in np.unique(self._degrees).tolist()
            for order, size in enumerate(np.abs(self._waves(b, degree)))
            if order
        }
        return max(sizes, key=lambda wave: sizes[wave])

    @functools.cached_property
    def _involutions(self) -> list[csr_array]:
        """The actions of transformations of states that stand in the frame, one of each coset of the group."""
        found: list[Floats] = []
        for element in self._candidates():
            own = self._group.contains(element) or not self._group.contains(element @ element)
            if own or not self._group.keeps(element) or not self._keeps(element):
                continue
            if not any(self._group.contains(element @ other.T) for other in found):
                found.append(element)
        return [moved_by(self._group, np.unique(self._degrees), element) for element in found]

    def _candidates(self) -> Iterator[Floats]:
        """Yield turns, mirrors and their products about the axes of states that stand in the frame."""
        x, y, z = (np.diag(signs) for signs in ([-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]))
        if len(self._free) != 1:
            yield from (x, y, z, x @ y, y @ z, z @ x, x @ y @ z)
            return
        _, order = self._wave
        for step in range(4 * order):
            turn = axis_rotation(4 * order / step) if step else np.eye(3)
            for element in (np.eye(3), y, z, y @ z):
                yield self._upright.T @ turn @ element @ self._upright


def to_pole(axis: Floats) -> Floats:
    """Return a rotation that takes a unit vector to the z axis."""
    across = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    across /= np.linalg.norm(across)
    return np.stack([across, np.cross(axis, across), axis])


def own_axes(matrices: Floats) -> Floats:
    """Return the rotations (..., 3, 3) that take the eigenvectors of symmetric matrices to the axes."""
    frames = np.linalg.eigh(matrices)[1].swapaxes(-1, -2)
    frames[..., 0, :] *= np.sign(np.linalg.det(frames))[..., None]
    return frames
