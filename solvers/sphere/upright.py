r"""Densities turned to where they stand on the axes.

A grid that does not resolve a density changes it by how it stands there, so that its copies differ. Turned to one
place first, they do not: the grid keeps the reflections of the coordinates, which are all that is left open.

Where densities may be turned about all axes, the eigenvectors of :math:`(G_j a) \cdot (G_k a)`, with the generators
of rotations G_k and the moments a, come to the axes. Where they may be turned about one, a wave of order one or two
about it, the largest, becomes real.
"""

import numpy as np

from ..bases import Floats
from ..bases.orientation import own_axes
from .rotations import Rotations

# Orders about an axis after which what stands on it once more is an image by the reflections of the coordinates.
FIRST, SECOND = 1, 2


def upright(moments: Floats, rotations: Rotations) -> Floats:
    """Return the moments of densities, row by row, after the rotation of each into the frame of its own axes.

    Parameters
    ----------
    moments : (n, size) float
        Those of the harmonics of a symmetry.
    rotations
        Those that keep the symmetry and the confinement: about one axis, or about all.
    """
    if rotations.axes == 1:
        return _about_one(moments, rotations)
    changes = rotations.changes(moments)
    return rotations.turned(moments, own_axes(changes @ changes.transpose(0, 2, 1)))


def _about_one(moments: Floats, rotations: Rotations) -> Floats:
    """Return moments turned about the one axis."""
    orders, waves = rotations.waves(moments)
    low = np.flatnonzero((orders == FIRST) | (orders == SECOND))
    if not low.size:
        return moments
    largest = low[np.argmax(np.abs(waves[:, low]), axis=1)]
    return rotations.about_one(moments, np.angle(waves[np.arange(len(waves)), largest]) / orders[largest])
