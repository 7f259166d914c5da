r"""Densities turned to where they stand on the axes.

A grid that does not resolve a density changes it by how it stands there, so that its copies differ. Turned to one
place first, they do not: the grid keeps the reflections of the coordinates, which are all that is left open.

Where densities may be turned about all axes, the eigenvectors of :math:`(G_j a) \cdot (G_k a)`, with the generators
of rotations G_k and the moments a, come to the axes. Where they may be turned about one, a wave of order one or two
about it, the largest, becomes real.
"""

import numpy as np
from numpy.typing import NDArray

from ..bases import Floats
from ..bases.orientation import own_axes

Complexes = NDArray[np.complex128]
# Orders about an axis after which what stands on it once more is an image by the reflections of the coordinates.
FIRST, SECOND = 1, 2
# Nearer than this to the pole, the root of rounding, the image of the z axis has no azimuth.
ALONG = 1e-8


def upright(moments: Floats, generators: tuple[Floats, ...]) -> Floats:
    """Return the moments of densities, row by row, after the rotation of each into the frame of its own axes.

    Parameters
    ----------
    moments : (n, size) float
        Those of the harmonics of a symmetry.
    generators : tuple of (size, size) float
        Of the rotations that keep the symmetry: about one axis, or about x, y and z.
    """
    if len(generators) == 1:
        return _about_one(moments, generators[0])
    _, about_y, about_z = generators
    changes = np.stack([moments @ generator.T for generator in generators], axis=1)
    frames = own_axes(changes @ changes.transpose(0, 2, 1))
    y, z = _spectrum(about_y), _spectrum(about_z)
    for (orders, vectors), angles in zip((z, y, z), _euler(frames), strict=True):
        moments = _turned(moments @ vectors.conj(), orders, vectors, angles)
    return moments


def _euler(frames: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the angles about z, y and z, one after the other, of rotations (n, 3, 3)."""
    x, y, z = frames[:, 2, 0], frames[:, 2, 1], frames[:, 2, 2]
    aside = np.hypot(x, y)
    along = aside < ALONG
    first = np.where(along, 0.0, np.arctan2(y, -x))
    last = np.where(
        along, np.arctan2(-frames[:, 0, 1], frames[:, 1, 1]), np.arctan2(frames[:, 1, 2], frames[:, 0, 2])
    )
    return first, np.arctan2(aside, z), last


def _about_one(moments: Floats, generator: Floats) -> Floats:
    """Return moments turned about the one axis."""
    orders, vectors = _spectrum(generator)
    waves = moments @ vectors.conj()
    low = np.flatnonzero((orders == FIRST) | (orders == SECOND))
    if not low.size:
        return moments
    largest = low[np.argmax(np.abs(waves[:, low]), axis=1)]
    angles = np.angle(waves[np.arange(len(waves)), largest]) / orders[largest]
    return _turned(waves, orders, vectors, angles)


def _spectrum(generator: Floats) -> tuple[Floats, Complexes]:
    """Return the orders of the waves about an axis and their components, in columns, from a generator."""
    orders, vectors = np.linalg.eigh(1j * generator)
    return np.round(orders), vectors


def _turned(waves: Complexes, orders: Floats, vectors: Complexes, angles: Floats) -> Floats:
    """Return moments from their waves, turned by angles."""
    return np.asarray((waves * np.exp(-1j * np.multiply.outer(angles, orders)) @ vectors.T).real)
