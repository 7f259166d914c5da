r"""Rotations of densities on spheres within a symmetry, many at a time.

With the generators of rotations :math:`G_k` a step s from moments a is divided by least squares into
:math:`\sum_k \omega_k G_k a` and a rest r, and leads to :math:`e^{\sum_k \omega_k G_k}(a + r)`. In a weak
confinement Newton's steps turn a state by large angles, to where the confinement holds it; a straight step leads
away from what is one state wherever it stands.
"""

import functools

import numpy as np
from numpy.typing import NDArray

from ..bases import Floats
from ..root_finding.batched import solutions

Complexes = NDArray[np.complex128]
# Nearer than this to the pole, the root of rounding, the image of the z axis has no azimuth.
ALONG = 1e-8
# Rotations that change a density by less than the root of this share of what others do hardly count as such.
NO_TURN = 1e-4
# Turns that are longer, in radians, are cut. Steps that are shorter than the second are straight: what a rotation
# adds is of second order, as what Newton's method leaves.
LONGEST, SHORT = 0.5, 0.02


class Rotations:
    """The rotations that keep the symmetry of densities.

    Parameters
    ----------
    generators : tuple of (size, size) float
        Those of rotations about one axis, or about x, y and z.

    Attributes
    ----------
    axes : int
        The number of axes.
    """

    def __init__(self, generators: tuple[Floats, ...]) -> None:
        self._generators = generators
        self.axes = len(generators)
        self._spectra = [_spectrum(generator) for generator in generators]

    def changes(self, moments: Floats) -> Floats:
        """Return the changes of densities under infinitesimal rotations, (n, axes, size)."""
        return np.stack([moments @ generator.T for generator in self._generators], axis=1)

    def waves(self, moments: Floats) -> tuple[Floats, Complexes]:
        """Return the orders of the waves about the first axis, and those of densities, (n, size)."""
        orders, vectors = self._spectra[0]
        return orders, np.asarray(moments @ vectors.conj())

    def about_one(self, moments: Floats, angles: Floats) -> Floats:
        """Return the moments of densities after rotations about the first axis."""
        return _turned(moments, *self._spectra[0], angles)

    def turned(self, moments: Floats, rotations: Floats) -> Floats:
        """Return the moments of densities after rotations, (n, 3, 3), where all are admitted."""
        _, (y, _), (z, about_z) = self._spectra
        first, second, last = _euler(rotations)
        waves = moments @ about_z.conj() * _phases(first, z)
        waves = waves @ self._between * _phases(second, y)
        waves = waves @ self._between.conj().T * _phases(last, z)
        return np.asarray((waves @ about_z.T).real)

    @functools.cached_property
    def _between(self) -> Complexes:
        """The waves about y of those about z, where all rotations are admitted."""
        (_, about_y), (_, about_z) = self._spectra[1:]
        return np.asarray(about_z.T @ about_y.conj())

    def random(self, moments: Floats, generator: np.random.Generator) -> Floats:
        """Return the moments of densities after random rotations."""
        if self.axes == 1:
            return self.about_one(moments, generator.uniform(0.0, 2.0 * np.pi, len(moments)))
        return self.turned(moments, _matrices(generator.standard_normal((len(moments), 4))))

    def moved(self, moments: Floats, steps: Floats, longest: float) -> Floats:
        """Return moments after steps, divided as above; the rest is cut to a length, turns to one of their own."""
        moved = moments + _cut(steps, longest)
        far = np.flatnonzero(np.linalg.norm(steps, axis=1) > SHORT)
        if not far.size:
            return moved
        changes = self.changes(moments[far])
        turns = _components(changes, steps[far])
        ahead = moments[far] + _cut(steps[far] - (turns[:, None] @ changes)[:, 0], longest)
        turns = _cut(turns, LONGEST)
        if self.axes == 1:
            moved[far] = self.about_one(ahead, turns[:, 0])
        else:
            angles = np.maximum(np.linalg.norm(turns, axis=1, keepdims=True), np.finfo(float).tiny)
            axes = np.sin(0.5 * angles) / angles * turns
            moved[far] = self.turned(ahead, _matrices(np.concatenate([np.cos(0.5 * angles), axes], axis=1)))
        return moved


def across(changes: Floats, vectors: Floats) -> Floats:
    """Return vectors (n, size) without their parts along changes by rotations, (n, axes, size)."""
    return np.asarray(vectors - (_components(changes, vectors)[:, None] @ changes)[:, 0])


def _components(changes: Floats, vectors: Floats) -> Floats:
    """Return the components (n, axes) of vectors along changes by rotations.

    The inverse of T T^t, with the changes T, is filtered by Tikhonov's method in the squares of T T^t.
    """
    count = changes.shape[1]
    squares = changes @ changes.transpose(0, 2, 1)
    least = NO_TURN * squares.reshape(-1, count**2)[:, :: count + 1].sum(axis=1) + np.finfo(float).tiny ** 0.5
    parts = (squares @ (changes @ vectors[:, :, None]))[:, :, 0]
    filtered = squares @ squares
    filtered.reshape(-1, count**2)[:, :: count + 1] += least[:, None] ** 2
    return parts / filtered[:, 0] if count == 1 else solutions(filtered, parts)


def _cut(vectors: Floats, longest: float) -> Floats:
    """Return vectors, those that are too long shortened."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors * np.minimum(1.0, longest / np.maximum(lengths, longest)))


def _matrices(quaternions: Floats) -> Floats:
    """Return the rotations (n, 3, 3) of quaternions (n, 4) of any length."""
    w, x, y, z = (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.array(rows).transpose(2, 0, 1)


def _euler(rotations: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the angles about z, y and z, one after the other, of rotations (n, 3, 3)."""
    x, y, z = rotations[:, 2, 0], rotations[:, 2, 1], rotations[:, 2, 2]
    aside = np.hypot(x, y)
    along = aside < ALONG
    first = np.where(along, 0.0, np.arctan2(y, -x))
    last = np.where(
        along,
        np.arctan2(-rotations[:, 0, 1], rotations[:, 1, 1]),
        np.arctan2(rotations[:, 1, 2], rotations[:, 0, 2]),
    )
    return first, np.arctan2(aside, z), last


def _spectrum(generator: Floats) -> tuple[Floats, Complexes]:
    """Return the orders of the waves about an axis and their components, in columns, from a generator."""
    orders, vectors = np.linalg.eigh(1j * generator)
    return np.round(orders), vectors


def _turned(moments: Floats, orders: Floats, vectors: Complexes, angles: Floats) -> Floats:
    """Return moments turned by angles about the axis of some waves."""
    return np.asarray((moments @ vectors.conj() * _phases(angles, orders) @ vectors.T).real)


def _phases(angles: Floats, orders: Floats) -> Complexes:
    """Return the factors of waves after rotations by angles, (n, size)."""
    return np.asarray(np.exp(-1j * np.multiply.outer(angles, orders)))
