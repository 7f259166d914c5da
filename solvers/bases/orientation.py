r"""Rotations of states on S^2 that nothing holds: rows that keep them in place, and images as the states stand.

A state b that may be turned about axes with the generators T_k is kept where it is nearest to a reference
:math:`b_0`, :math:`(T_k b_0) \cdot b = 0`. A transformation to whose symmetry it may come has its axes among those
of the state, which turn with it. Where a state is its own image by g the overlap :math:`f = b\cdot g b` is
stationary under rotations of g, and for states beside it for g nearby, whichever of their waves vanish;
:math:`b - g b` is orthogonal there to :math:`T b`, so that no part of it is a mere rotation.

If one axis is free, mirrors through it, and half turns about axes across it, have azimuths :math:`\alpha`. With
:math:`w_{lm}` the complex waves of a state about the free axis, those of the image are
:math:`\pm e^{2im\alpha}\bar w_{lm}`, and

.. math:: f(\alpha) = b\cdot g_\alpha b = \mathrm{Re} \sum_m c_m e^{2im\alpha},
          \qquad c_m = \sum_l \pm\bar w_{lm}^2 .
"""

import functools
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from .actions import moved_by
from .base import EPS, Floats, Integers, Involution
from .representations import Group, axis_rotation, representation

# A change by rotation below this share of a state is rounding.
ALONG = 1e-12
# Rows that have lost this share of their hold do not keep a state in place.
LOST = 0.5
# Azimuths at which f is looked at in half the period of its highest wave, and steps of Newton's method from there.
SAMPLES, STEPS = 8, 20
# The largest turn in one of these steps where all axes are free.
FARTHEST = 0.2
# The axes there, by the square of the highest degree, up to this one, their neighbours, and how many are refined.
PER_SQUARE, FINEST, NEIGHBOURS, HIGHEST = 7, 8, 6, 5
X, Y, Z = (np.diag(signs) for signs in ([-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]))


class Orientation:
    """The orientation of states beside a reference; the base of those with one free axis and with three.

    Parameters
    ----------
    group
        The symmetry of the states.
    degrees : (size,) int
        The degrees of their modes.
    turnings
        The generators of their rotations, (size, size) each.
    free : (k, 3) float
        The axes of these.
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
        free: Floats,
        keeps: Callable[[Floats], bool],
        reference: Floats,
    ) -> None:
        self._group, self._degrees, self._turnings, self._free, self._keeps = group, degrees, turnings, free, keeps
        self.rows = np.asarray(self._unit_changes(reference).T)
        self._hold = abs(self._determinant(reference))
        self._reference = reference

    def holds(self, b: Floats) -> bool:
        """Return whether the rows keep a state in place."""
        return abs(self._determinant(b)) >= LOST * self._hold

    def involutions(self, b: Floats) -> list[Involution]:
        """Return the transformations that may be of the symmetry of a state, each its own inverse."""
        raise NotImplementedError

    def image(self, b: Floats, involution: Involution) -> Floats:
        """Return the image of a state by the transformation as it stands that is one of a state beside it."""
        raise NotImplementedError

    def nearest(self, b: Floats, other: Floats) -> list[Floats]:
        """Return a state, and images that turn with it, where each is nearest to another state."""
        raise NotImplementedError

    def _unit_changes(self, b: Floats) -> Floats:
        """Return the unit changes of a state by rotations, (size, k)."""
        changes = np.stack([turning @ b for turning in self._turnings], axis=1)
        sizes = np.linalg.norm(changes, axis=0)
        # About an axis of its own, where it has more symmetry than its group, a state does not change.
        return np.asarray(changes / np.where(sizes > ALONG * np.linalg.norm(b), sizes, np.inf))

    def _determinant(self, b: Floats) -> float:
        """Return the determinant of the rows on the unit changes of a state by rotations."""
        return float(np.linalg.det(self.rows @ self._unit_changes(b)))

    def _new_ones(self, candidates: Iterator[Floats]) -> Iterator[Floats]:
        """Yield those that are their own inverses and take states to others, one of each coset of the group."""
        found: list[Floats] = []
        for element in candidates:
            own = self._group.contains(element) or not self._group.contains(element @ element)
            if own or not self._group.keeps(element) or not self._keeps(element):
                continue
            if not any(self._group.contains(element @ other.T) for other in found):
                found.append(element)
                yield element

    def _actions(self, elements: Iterator[Floats]) -> list[csr_array]:
        return [moved_by(self._group, np.unique(self._degrees), element) for element in elements]


class FreeOrientation(Orientation):
    """The orientation of states that may be turned about every axis."""

    def involutions(self, b: Floats) -> list[Involution]:
        """Return the reflection at the centre, and half turns and mirrors about axes at which f is extremal.

        Those at which it is largest, and at which it is least, as beside the uniform state.
        """
        found, count = [Involution(number) for number in range(len(self._fixed))], len(self._fixed)
        coarse = _coarse_axes(self._group, tuple(np.unique(self._degrees).tolist()))
        low = self._degrees <= coarse.last
        upright = coarse.frames @ b[low]
        for family, signs in enumerate(self._families):
            overlaps = upright**2 @ signs[low]
            beside = overlaps[coarse.neighbours]
            peaks = np.flatnonzero((overlaps[:, None] >= beside).all(axis=1))
            chosen = [*peaks[np.argsort(-overlaps[peaks])][:HIGHEST].tolist(), int(np.argmin(overlaps))]
            axes = (self._refined(b, signs, coarse.axes[place]) for place in chosen)
            found += [Involution(count + family, tuple(axis.tolist())) for axis in axes]
        return found

    def image(self, b: Floats, involution: Involution) -> Floats:
        """Return the image of a state by a transformation, of those about an axis the one that is nearest."""
        number = involution.number - len(self._fixed)
        if number < 0:
            return np.asarray(self._fixed[involution.number] @ b)
        signs = self._families[number]
        standing = self._moved(to_pole(self._refined(b, signs, np.array(involution.direction))))
        return np.asarray(standing.T @ (signs * (standing @ b)))

    def nearest(self, b: Floats, other: Floats) -> list[Floats]:
        """Return a state, turned from where it stands to where it is nearest to another one beside it."""
        for _ in range(STEPS):
            changes = np.stack([turning @ b for turning in self._turnings], axis=1)
            turn = np.linalg.lstsq(changes, other - b, rcond=ALONG)[0]
            angle = float(np.linalg.norm(turn))
            if angle <= EPS:
                break
            turn *= min(1.0, FARTHEST / angle)
            first, second, third = self._turnings
            b = _turned(turn[0] * first + turn[1] * second + turn[2] * third, b)
        return [b]

    def _refined(self, b: Floats, signs: Floats, axis: Floats) -> Floats:
        """Return the axis near a given one about which f is stationary."""
        frame = to_pole(axis)
        upright = self._moved(frame) @ b
        for _ in range(STEPS):
            turn = self._towards_stationary(upright, signs)
            angle = float(np.linalg.norm(turn))
            if angle <= EPS:
                break
            upright = _turned(turn[0] * self._across[0] + turn[1] * self._across[1], upright)
            frame = _about_across(turn / angle, angle) @ frame
        return np.asarray(frame[2])

    def _moved(self, element: Floats) -> Floats:
        """Return the matrix of an orthogonal transformation on the modes."""
        matrix = np.zeros((self._degrees.size, self._degrees.size))
        for degree in np.unique(self._degrees).tolist():
            own, functions = self._degrees == degree, self._group.harmonics(degree)
            matrix[np.ix_(own, own)] = functions @ representation(element, degree) @ functions.T
        return matrix

    @functools.cached_property
    def _across(self) -> tuple[Floats, Floats]:
        """The generators of rotations about the x and the y axis, (size, size) each."""
        in_x, in_y, _ = self._turnings
        return in_x.toarray(), in_y.toarray()

    def _towards_stationary(self, b: Floats, signs: Floats) -> Floats:
        r"""Return the turn of a state about x and y, (2,), in a step of Newton's method for f.

        With g the half turn or mirror about the z axis, to second order in a turn :math:`\epsilon` about x and y

        .. math:: f = e^{\epsilon T}b\cdot g\,e^{\epsilon T}b, \qquad \tfrac12\partial_i f = T_i b\cdot g b, \\
                  \tfrac12\partial_i\partial_j f = T_i b\cdot g T_j b
                  - \tfrac12 (T_i b\cdot T_j g b + T_j b\cdot T_i g b) .
        """
        changes, of_image = (np.stack([turning @ each for turning in self._across]) for each in (b, signs * b))
        slopes = changes @ (signs * b)
        mixed = changes @ of_image.T
        curvatures = (changes * signs) @ changes.T - 0.5 * (mixed + mixed.T)
        (in_xx, in_xy), (_, in_yy) = curvatures.tolist()
        in_x, in_y = slopes.tolist()
        scale = abs(in_xx) + abs(in_yy)
        determinant = in_xx * in_yy - in_xy * in_xy
        if abs(determinant) <= EPS * scale * scale:
            # About an axis of its own a state does not change.
            return np.zeros(2)
        step = np.array([in_xy * in_y - in_yy * in_x, in_xy * in_x - in_xx * in_y]) / determinant
        return np.asarray(step * min(1.0, FARTHEST / length) if (length := math.hypot(*step)) else step)

    @functools.cached_property
    def _fixed(self) -> list[csr_array]:
        """The actions of the transformations that commute with rotations."""
        return self._actions(self._new_ones(iter((-np.eye(3),))))

    @functools.cached_property
    def _families(self) -> list[Floats]:
        """The signs of modes in images by the half turn about the z axis, and the mirror across it.

        The one is the other times the reflection at the centre, if that is in the group.
        """
        degrees = np.unique(self._degrees)
        return [moved_by(self._group, degrees, each).diagonal() for each in self._new_ones(iter((X @ Y, Z)))]


class _Coarse(NamedTuple):
    """Axes (count, 3) that cover half a sphere, the turns of modes up to a last degree to them, and neighbours."""

    last: int
    axes: Floats
    frames: Floats
    neighbours: Integers


@functools.lru_cache(maxsize=8)
def _coarse_axes(group: Group, degrees: tuple[int, ...]) -> _Coarse:
    """Return axes as near to each other as f needs that has waves of twice the degrees."""
    known = np.array([degree for degree in degrees if degree <= max(FINEST, min(degrees))])
    last = int(known.max())
    count = PER_SQUARE * last**2
    # Points of equal areas along a spiral.
    heights = (np.arange(count) + 0.5) / count
    azimuths = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    radii = np.sqrt(1.0 - heights**2)
    axes = np.stack([radii * np.cos(azimuths), radii * np.sin(azimuths), heights], axis=1)
    frames = np.stack([moved_by(group, known, to_pole(axis)).toarray() for axis in axes])
    nearest = np.argsort(-np.abs(axes @ axes.T), axis=1)
    return _Coarse(last, axes, frames, nearest[:, 1 : 1 + NEIGHBOURS])


def _about_across(axis: Floats, angle: float) -> Floats:
    """Return the rotation by an angle about a unit vector across the z axis."""
    (x, y), cos, sin = axis.tolist(), math.cos(angle), math.sin(angle)
    beyond = 1.0 - cos
    return np.array(
        [
            [cos + x * x * beyond, x * y * beyond, y * sin],
            [x * y * beyond, cos + y * y * beyond, -x * sin],
            [-y * sin, x * sin, cos],
        ]
    )


def _turned(turn: Floats, b: Floats) -> Floats:
    """Return the exponential of the generator of a turn applied to a vector."""
    whole, term, order, size = b.copy(), b, 0, float(np.abs(b).max())
    while float(np.abs(term).max()) > EPS * size:
        order += 1
        term = turn @ term / order
        whole += term
    return whole


class AxialOrientation(Orientation):
    """The orientation of states that may be turned about one axis.

    Transformations that turn with the states have an azimuth, followed from that of a state beside.
    """

    def involutions(self, b: Floats) -> list[Involution]:
        """Return the transformations that keep the axis, and those with an azimuth at which f is stationary."""
        count = len(self._fixed)
        return [Involution(number) for number in range(count)] + [
            Involution(count + family, (azimuth,))
            for family, signs in enumerate(self._families)
            for azimuth in self._stationary(self._overlap(b, signs))
        ]

    def image(self, b: Floats, involution: Involution) -> Floats:
        """Return the image of a state by a transformation, of those with an azimuth the one that is nearest."""
        number = involution.number - len(self._fixed)
        if number < 0:
            return np.asarray(self._fixed[involution.number] @ b)
        waves, orders, _ = self._waves
        signs = self._families[number]
        azimuth = self._refined(self._overlap(b, signs), *involution.direction)
        turned = signs * np.exp(2j * azimuth * orders) * (waves @ b).conj()
        return np.asarray((waves.conj().T @ turned).real)

    def nearest(self, b: Floats, other: Floats) -> list[Floats]:
        r"""Return a state and its images by mirrors or half turns, each turned to where it is nearest to another.

        The overlap with one that is turned by :math:`2\alpha` is a sum of waves :math:`e^{2im\alpha}` as f is.
        """
        waves, orders, _ = self._waves
        own, found = waves @ b, []
        for image in (own, *(signs * own.conj() for signs in self._families)):
            overlap = _by_order(orders, image * (waves @ other).conj())
            azimuths = np.array([0.0, *self._stationary(overlap)])
            heights = (np.exp(2j * np.multiply.outer(azimuths, np.arange(overlap.size))) @ overlap).real
            turned = np.exp(2j * azimuths[int(np.argmax(heights))] * orders) * image
            found.append(np.asarray((waves.conj().T @ turned).real))
        return found

    def _overlap(self, b: Floats, signs: Floats) -> npt.NDArray[np.complex128]:
        """Return the coefficients c_m of f."""
        waves, orders, _ = self._waves
        return _by_order(orders, signs * (waves @ b).conj() ** 2)

    def _stationary(self, overlap: npt.NDArray[np.complex128]) -> list[float]:
        """Return the azimuths, up to elements of the group, at which f is stationary."""
        orders = np.arange(overlap.size)
        count = SAMPLES * (overlap.size // self._turns + 1)
        azimuths = np.pi / self._turns * np.arange(count) / count
        slopes = (np.exp(2j * np.multiply.outer(azimuths, orders)) @ (2j * orders * overlap)).real
        turned = np.flatnonzero(slopes * np.roll(slopes, -1) < 0.0)
        middle = 0.5 * np.pi / (self._turns * count)
        return [self._refined(overlap, azimuth + middle) for azimuth in azimuths[turned].tolist()]

    def _refined(self, overlap: npt.NDArray[np.complex128], azimuth: float) -> float:
        """Return the azimuth near a given one at which f is stationary."""
        rates = 2j * np.arange(overlap.size)
        farthest = np.pi / (SAMPLES * overlap.size)
        for _ in range(STEPS):
            terms = np.exp(rates * azimuth) * overlap * rates
            slope, curvature = float(terms.sum().real), float((terms @ rates).real)
            step = -slope / curvature if curvature else 0.0
            azimuth += min(max(step, -farthest), farthest)
            if abs(step) <= EPS:
                break
        return azimuth

    @functools.cached_property
    def _upright(self) -> Floats:
        """A rotation that takes the axis to the z axis."""
        return to_pole(self._free[0])

    @functools.cached_property
    def _turns(self) -> int:
        """The rotations of the group, each about the axis; its reflections are those across it, turned."""
        return int(np.count_nonzero(np.linalg.det(self._group.elements) > 0.0))

    @functools.cached_property
    def _waves(self) -> tuple[npt.NDArray[np.complex128], Integers, Integers]:
        """The waves about the axis of the modes, (waves, size), orthonormal in pairs, their orders and degrees."""
        blocks, orders, degrees = [], [], []
        for degree in np.unique(self._degrees).tolist():
            harmonics = self._group.harmonics(degree).T
            turned = representation(self._upright, degree) @ harmonics
            sines = np.vstack([np.zeros((1, harmonics.shape[1])), turned[degree + 1 :]])
            block = np.zeros((degree + 1, self._degrees.size), dtype=complex)
            block[:, self._degrees == degree] = turned[: degree + 1] + 1j * sines
            blocks.append(block)
            orders.append(np.arange(degree + 1))
            degrees.append(np.full(degree + 1, degree))
        return np.vstack(blocks), np.concatenate(orders), np.concatenate(degrees)

    @functools.cached_property
    def _fixed(self) -> list[csr_array]:
        """The actions of the transformations that commute with rotations about the axis."""
        turn = axis_rotation(2 * self._turns)
        return self._actions(self._new_ones(self._standing(each) for each in (turn, Z, turn @ Z)))

    @functools.cached_property
    def _families(self) -> list[Floats]:
        """The signs of waves in images by mirrors through the axis and by half turns about axes across it.

        These are the former times reflections of the group, turned, if it has any.
        """
        _, orders, degrees = self._waves
        reflected = bool((np.linalg.det(self._group.elements) < 0.0).any())
        signs = (Y, np.ones(orders.size)), (Y @ Z, np.where((orders + degrees) % 2, -1.0, 1.0))
        kept = [sign for element, sign in signs if self._keeps(self._standing(element))]
        return kept[:1] if reflected else kept

    def _standing(self, element: Floats) -> Floats:
        """Return a transformation about the z axis about the axis."""
        return np.asarray(self._upright.T @ element @ self._upright)


def _by_order(orders: Integers, products: npt.NDArray[np.complex128]) -> npt.NDArray[np.complex128]:
    """Return the sums of products of waves by their orders."""
    return np.bincount(orders, products.real) + 1j * np.bincount(orders, products.imag)


def orientation_of(
    group: Group,
    degrees: Integers,
    turnings: list[csr_array],
    axes: Floats | None,
    keeps: Callable[[Floats], bool],
    reference: Floats,
) -> Orientation:
    """Return the orientation of states beside a reference, that may be turned about given axes, (k, 3), or all."""
    free = group.free_among(axes)
    kind = AxialOrientation if len(free) == 1 else FreeOrientation
    return kind(group, degrees, turnings, free, keeps, reference)


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
