r"""Finite groups of rotations and reflections acting on the harmonics of S^2, and the invariant harmonics.

Harmonics of degree l are listed as :math:`e^c_{l0}, \dots, e^c_{ll}, e^s_{l1}, \dots, e^s_{ll}`. They are
orthogonal and of equal mean square, so rotations act on the coefficients of a function by orthogonal matrices

.. math:: (R f)(x) = f(R^{-1}x), \qquad D(R) = e^{\alpha\, n\cdot G} \quad\text{for the angle } \alpha
          \text{ about } n, \qquad G_z = -\partial_\varphi ,

and the reflection :math:`x \to -x` by :math:`(-1)^l`. The antisymmetric :math:`G_x, G_y, G_z` come from the ladder
operators of angular momentum; :math:`n\cdot G` has the eigenvalues :math:`i k`, k = -l..l, which are taken as the
integers that they are, so D(R) is as accurate as its eigenvectors.
"""

import functools
from dataclasses import dataclass

import numpy as np

from meanfield.errors import ComputationFailed, InvalidInput
from meanfield.harmonics import largest_degree, place, rotation_generators

from .base import Floats, Integers

# Entries of unit vectors nearer than this to 0 or 1 are these.
ROUNDING = 1e-13
# Two elements nearer than this are the same.
SAME_ELEMENT = 1e-9
# The rotations of regular solids, by their number.
SOLIDS = {12: "T", 24: "O", 60: "I"}
# The groups here have at most some hundred elements; more means that the generators do not close.
LARGEST_GROUP = 512


@dataclass(frozen=True, eq=False)
class Group:
    """A finite group of orthogonal transformations of space.

    Parameters
    ----------
    generators : (n, 3, 3) float
        Orthogonal matrices that generate the group; none for the trivial group.

    Raises
    ------
    InvalidInput
        If a generator is not orthogonal, or the group they generate is not finite and small.
    """

    generators: Floats

    def __post_init__(self) -> None:
        matrices = np.asarray(self.generators, dtype=float).reshape(-1, 3, 3)
        squares = np.einsum("nki,nkj->nij", matrices, matrices)
        if matrices.size and np.abs(squares - np.eye(3)).max() > SAME_ELEMENT:
            raise InvalidInput("the generators of a group must be orthogonal 3 by 3 matrices")
        object.__setattr__(self, "generators", matrices)

    def __repr__(self) -> str:
        return f"Group({self.name})"

    @functools.cached_property
    def elements(self) -> Floats:
        """All elements, (order, 3, 3), the identity first."""
        found = [np.eye(3)]
        for element in found:
            for generator in self.generators:
                product = generator @ element
                if (np.abs(np.stack(found) - product).max(axis=(1, 2)) > SAME_ELEMENT).all():
                    found.append(product)
            if len(found) > LARGEST_GROUP:
                raise InvalidInput(f"the generators of a group give more than {LARGEST_GROUP} elements")
        return np.stack(found)

    @property
    def order(self) -> int:
        """Number of elements."""
        return len(self.elements)

    @functools.cached_property
    def name(self) -> str:
        """Schoenflies symbol, such as ``"T_d"``; the same for all orientations of a group."""
        return _symbol(self.elements)

    @functools.cached_property
    def turns(self) -> int:
        """Largest n such that the rotation by 2 pi/n about the z axis is in the group."""
        along = self.elements[:, 2, 2] > 1.0 - SAME_ELEMENT
        return int(np.count_nonzero(along & (np.linalg.det(self.elements) > 0)))

    @functools.cached_property
    def keeps_axis(self) -> bool:
        """Whether every element maps the z axis to itself."""
        return bool((np.abs(self.elements[:, 2, 2]) > 1.0 - SAME_ELEMENT).all())

    @functools.cached_property
    def keeps_pole(self) -> bool:
        """Whether every element fixes the north pole."""
        return bool((self.elements[:, 2, 2] > 1.0 - SAME_ELEMENT).all())

    @functools.cached_property
    def free_axes(self) -> Floats:
        """Orthonormal axes about which invariant functions may be rotated and stay invariant, (k, 3)."""
        signed = np.linalg.det(self.elements)[:, None, None] * self.elements
        values, vectors = np.linalg.eigh(signed.mean(axis=0))
        axes = _cleaned(vectors[:, values > 0.5].T)
        return np.eye(3) if len(axes) == 3 else axes

    def free_among(self, axes: Floats | None) -> Floats:
        """Return the free axes, of some axes (k, 3) those that are free, if any are given."""
        free = self.free_axes
        if axes is None:
            return free
        return np.array([axis for axis in axes if np.allclose(free.T @ (free @ axis), axis)]).reshape(-1, 3)

    def companions(self, axes: Floats | None = None) -> Floats:
        """Return transformations that take invariant functions to other invariant ones, (k, 3, 3).

        One of each coset of the normaliser of the group by the group itself and the rotations about its free axes,
        or of some axes those that are free, the identity left out.
        """
        free = self.free_among(axes)
        found = [np.eye(3)]
        candidates = [one for one in _candidates(self.turns) if self.keeps(one)]
        for companion in found:
            for candidate in candidates:
                product = candidate @ companion
                if not any(self._same_coset(product @ other.T, free) for other in found):
                    found.append(product)
        return np.stack(found)[1:]

    def keeps(self, element: Floats) -> bool:
        """Return whether conjugation by an element maps the group to itself."""
        conjugates = element @ self.generators @ element.T
        return all(self.contains(conjugate) for conjugate in conjugates)

    def contains(self, element: Floats) -> bool:
        """Return whether an element is one of the group."""
        return bool((np.abs(self.elements - element).max(axis=(1, 2)) < SAME_ELEMENT).any())

    def _same_coset(self, element: Floats, free: Floats) -> bool:
        """Return whether an element is a rotation about one of some free axes times an element of the group."""
        if self.contains(element):
            return True
        products = element @ self.elements
        rotations = products[np.linalg.det(products) > 0]
        if len(free) == 3:
            return len(rotations) > 0
        moved = rotations @ free.T - free.T
        return bool(free.size and (np.abs(moved).max(axis=(1, 2)) < SAME_ELEMENT).any())

    @functools.cached_property
    def _signs_and_angles(self) -> tuple[Floats, Floats]:
        """Determinants of all elements and the angles of their rotations."""
        signs = np.sign(np.linalg.det(self.elements))
        traces = signs * np.trace(self.elements, axis1=1, axis2=2)
        return signs, np.arccos(np.clip(0.5 * (traces - 1.0), -1.0, 1.0))

    def dimension(self, degree: int) -> int:
        """Return the dimension of the invariant harmonics of a degree, the mean of the characters."""
        signs, angles = self._signs_and_angles
        characters = 1.0 + 2.0 * np.cos(np.multiply.outer(np.arange(1, degree + 1), angles)).sum(axis=0)
        return round(float((signs**degree * characters).mean()))

    def admissible(self, limit: int) -> Integers:
        """Return the degrees from 1 up to a limit that have invariant harmonics, ascending."""
        return np.array([degree for degree in range(1, limit + 1) if self.dimension(degree)], dtype=np.int64)

    def harmonics(self, degree: int) -> Floats:
        """Return the invariant harmonics of a degree, see :func:`invariant_harmonics`."""
        return invariant_harmonics(self, degree)


def _symbol(elements: Floats) -> str:
    """Return the Schoenflies symbol of a finite group from its elements.

    Its n rotations are those of a cyclic, dihedral, tetrahedral, octahedral or icosahedral group, by n and the
    largest order k of one. Of the groups with these rotations and as many other elements one has the inversion; one
    or two do not, and differ in their mirrors, the elements of trace 1.
    """
    proper = np.linalg.det(elements) > 0.0
    n = int(np.count_nonzero(proper))
    angle = np.arccos(np.clip(0.5 * (np.trace(elements[proper], axis1=1, axis2=2) - 1.0), -1.0, 1.0))
    k = 1 if n == 1 else round(2.0 * np.pi / float(angle[angle > 0.5 * np.pi / n].min()))
    others = np.trace(elements[~proper], axis1=1, axis2=2)
    inversion = bool((others < -3.0 + SAME_ELEMENT).any())
    if n == k:
        return _cyclic(n, others)
    if n == 2 * k:
        # The inversion together with half a turn about the axis is the mirror across it.
        mirrored = "h" if inversion == (k % 2 == 0) else "d"
        return f"D_{k}{mirrored if others.size else ''}"
    mirrored = "_h" if inversion else "_d"
    return SOLIDS[n] + (mirrored if others.size else "")


def _cyclic(n: int, others: Floats) -> str:
    """Return the symbol of a group with the rotations of C_n, from the traces of its other elements."""
    if not others.size:
        return f"C_{n}"
    mirrors = int(np.count_nonzero(others > 1.0 - SAME_ELEMENT))
    if n == 1:
        return "C_s" if mirrors else "C_i"
    return {n: f"C_{n}v", 1: f"C_{n}h"}.get(mirrors, f"S_{2 * n}")


CYCLE = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def axis_rotation(order: float) -> Floats:
    """Return the rotation by 2 pi/order about the z axis."""
    angle = 2.0 * np.pi / order
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])


def rotation_about(axis: Floats, angle: float) -> Floats:
    """Return the rotation by an angle about a unit vector."""
    across, along = np.cross(np.eye(3), axis).T, np.multiply.outer(axis, axis)
    return np.asarray(along + np.cos(angle) * (np.eye(3) - along) - np.sin(angle) * across)


def _candidates(turns: int) -> list[Floats]:
    """Return transformations that may take the invariants of a group to each other.

    The inversion, quarter turns and mirrors of the axes, their cyclic exchange, and half the turn of the group.
    """
    quarter = axis_rotation(4)
    quarters = [quarter, CYCLE @ quarter @ CYCLE.T, CYCLE.T @ quarter @ CYCLE]
    return [-np.eye(3), np.diag([1.0, 1.0, -1.0]), axis_rotation(2 * turns), *quarters, CYCLE]


TRIVIAL = Group(np.zeros((0, 3, 3)))


@functools.lru_cache(maxsize=256)
def subgroup(group: Group, members: tuple[int, ...]) -> Group:
    """Return the subgroup of some elements of a group, by their numbers; one object each time."""
    if len(members) == group.order:
        return group
    return TRIVIAL if len(members) == 1 else Group(group.elements[list(members)])


@functools.lru_cache(maxsize=4096)
def invariant_harmonics(group: Group, degree: int) -> Floats:
    """Return an orthonormal basis of the harmonics of a degree that are invariant under a group.

    Parameters
    ----------
    group
        The group.
    degree
        Degree l.

    Returns
    -------
    ndarray (k, 2 l + 1)
        Coefficients of e^c_l0, ..., e^c_ll, e^s_l1, ..., e^s_ll; rows of unit length, so each combination has the
        mean square 1/(2l+1) of the harmonics themselves. The basis is made the same way every time: each row has
        the largest possible share of one harmonic, with positive sign. Read-only.

    Raises
    ------
    ComputationFailed
        If the fixed space does not have the dimension that the characters of the group give.
    """
    size, count = 2 * degree + 1, group.dimension(degree)
    if not group.generators.size:
        fixed = np.eye(size)
    else:
        defects = np.concatenate([np.eye(size) - representation(one, degree) for one in group.generators])
        _, values, vectors = np.linalg.svd(defects, full_matrices=False)
        if np.count_nonzero(values < 1e-9 * size) != count:
            raise ComputationFailed(
                f"the invariants of {group.name} in degree {degree} should have dimension {count}, but the "
                f"singular values about it are {values[max(0, size - count - 1) :].tolist()}"
            )
        fixed = _canonical(vectors[size - count :])
    fixed.flags.writeable = False
    return np.asarray(fixed)


def representation(element: Floats, degree: int) -> Floats:
    """Return the matrix by which an orthogonal transformation acts on the harmonics of a degree."""
    sign, turn = _rotation_vector(np.asarray(element, dtype=float).tobytes())
    angle = float(np.linalg.norm(turn))
    if angle < SAME_ELEMENT:
        return np.asarray(sign**degree * np.eye(2 * degree + 1))
    generator = np.einsum("k,kij->ij", turn / angle, rotation_generators(degree))
    _, vectors = np.linalg.eigh(1j * generator)
    phases = np.exp(-1j * angle * np.arange(-degree, degree + 1))
    return np.asarray(sign**degree * ((vectors * phases) @ vectors.conj().T).real)


@functools.lru_cache(maxsize=64)
def _rotation_vector(element: bytes) -> tuple[float, Floats]:
    """Return the determinant of an orthogonal matrix and axis times angle of its rotation."""
    from scipy.spatial.transform import Rotation

    matrix = np.frombuffer(element).reshape(3, 3)
    sign = float(np.sign(np.linalg.det(matrix)))
    return sign, np.asarray(Rotation.from_matrix(sign * matrix).as_rotvec())


def of_degree(cosine: Floats, sine: Floats, degree: int) -> Floats:
    """Return the packed coefficients of a degree, of cosines 0..l, then of sines 1..l."""
    first = place(degree, 0)
    return np.concatenate([cosine[first : first + degree + 1], sine[first + 1 : first + degree + 1]])


def turned_moments(cosine: Floats, sine: Floats, element: Floats) -> tuple[Floats, Floats]:
    """Return packed moments of the density turned by an orthogonal transformation."""
    cosine, sine = cosine.copy(), sine.copy()
    for degree in range(1, largest_degree(cosine.size) + 1):
        first, values = place(degree, 0), of_degree(cosine, sine, degree)
        if not values.any():
            continue
        values = _acting(element.tobytes(), degree) @ values
        cosine[first : first + degree + 1] = values[: degree + 1]
        sine[first + 1 : first + degree + 1] = values[degree + 1 :]
    return cosine, sine


@functools.lru_cache(maxsize=256)
def _acting(element: bytes, degree: int) -> Floats:
    """Return the matrix by which a transformation, given as bytes, acts on the harmonics of a degree."""
    return representation(np.frombuffer(element).reshape(3, 3), degree)


def _canonical(vectors: Floats) -> Floats:
    """Return the orthonormal basis of the same space with the largest shares of single coordinates."""
    rest = vectors.T @ vectors
    basis = np.empty_like(vectors)
    for row in basis:
        shares = np.diag(rest)
        pivot = int(np.argmax(shares > shares.max() - 1e-6))
        row[:] = rest[pivot] / np.sqrt(rest[pivot, pivot])
        rest -= np.multiply.outer(row, row)
    # One step towards the nearest orthonormal rows takes off the rounding of the successive projections.
    basis = 1.5 * basis - 0.5 * (basis @ basis.T) @ basis
    return _cleaned(basis)


def _cleaned(vectors: Floats) -> Floats:
    rounded = np.round(vectors)
    return np.asarray(np.where(np.abs(vectors - rounded) < ROUNDING, rounded, vectors) + 0.0)
