r"""The atoms of particles without noise: how many places they have gathered at, and the mass at each.

Particles nearer than a resolution are linked, and an atom is what is linked (single linkage). The widest link
within an atom and the narrowest gap between two tell how far the count depends on the resolution: it is the same
for every one between both.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from ..errors import InvalidInput

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# The distances of all pairs of so many unit vectors are held at once.
COUNTED = 2048


@dataclass(frozen=True, eq=False)
class Atoms:
    """The atoms of an ensemble at the end, the heaviest first.

    Attributes
    ----------
    masses : (n,) float
        Shares of the particles; their sum is one.
    places : (n,) or (n, d) float
        The centre of each: an angle in [-pi, pi), on spheres a unit vector.
    resolution : float
        The angle, in radians, below which particles are linked.
    widest : float
        The longest link that holds an atom together, in radians; 0 if each is a single particle.
    gap : float
        The shortest distance between particles of two atoms, in radians; infinite if there is only one.
    """

    masses: Floats
    places: Floats
    resolution: float
    widest: float
    gap: float

    def __len__(self) -> int:
        """Return the number of atoms."""
        return self.masses.size

    def to_dict(self) -> dict[str, Any]:
        """Return masses, places and the range of resolutions as plain values; a gap that is infinite is None."""
        return {
            "masses": self.masses.tolist(),
            "places": self.places.tolist(),
            "resolution": self.resolution,
            "widest": self.widest,
            "gap": self.gap if math.isfinite(self.gap) else None,
        }

    def words(self) -> str:
        """Return the number of atoms and the masses of the first in words."""
        masses = ", ".join(f"{mass:.4g}" for mass in self.masses[:8]) + (", ..." if len(self) > 8 else "")
        gap = f" to {self.gap:.2g}" if len(self) > 1 else " on"
        return (
            f"{len(self)} atom{'' if len(self) == 1 else 's'} of mass {masses}, "
            f"the same at every resolution from {self.widest:.2g}{gap}"
        )


def atoms_of(positions: Floats, resolution: float) -> Atoms:
    """Return the atoms of particles at angles (N,) or unit vectors (N, d).

    Raises
    ------
    InvalidInput
        If the resolution is not an angle between 0 and pi, or there are too many unit vectors.
    """
    if not 0.0 < resolution < math.pi:
        raise InvalidInput(f"the resolution of atoms is an angle between 0 and pi, not {resolution!r}; try 1e-3")
    on_circle = positions.ndim == 1
    labels, widest, gap = (_on_circle if on_circle else _on_sphere)(positions, resolution)
    vectors = np.column_stack([np.cos(positions), np.sin(positions)]) if on_circle else positions
    masses = np.bincount(labels) / labels.size
    sums = np.zeros((masses.size, vectors.shape[1]))
    np.add.at(sums, labels, vectors)
    order = np.argsort(-masses, kind="stable")
    centres = sums[order]
    places = np.arctan2(centres[:, 1], centres[:, 0]) if on_circle else _units(centres)
    return Atoms(masses[order], places, resolution, widest, gap)


def _on_circle(angles: Floats, resolution: float) -> tuple[Integers, float, float]:
    """Return the atom of each particle, the widest link and the narrowest gap, from the gaps around the circle."""
    order = np.argsort(angles, kind="stable")
    ascending = angles[order]
    gaps = np.diff(ascending, append=ascending[0] + 2.0 * np.pi)
    parted = gaps >= resolution
    numbers = np.concatenate([[0], np.cumsum(parted[:-1])])
    count = max(1, int(parted.sum()))
    labels = np.empty(angles.size, dtype=np.int64)
    # What lies before the first gap is the end of what lies behind the last.
    labels[order] = numbers % count
    # Around the whole circle one link is none that holds it together.
    widest = float(np.sort(gaps)[: gaps.size - count].max(initial=0.0))
    return labels, widest, float(gaps[parted].min()) if count > 1 else math.inf


def _on_sphere(vectors: Floats, resolution: float) -> tuple[Integers, float, float]:
    """Return the atom of each particle, the widest link and the narrowest gap, from their tree of linkage."""
    if len(vectors) > COUNTED:
        raise InvalidInput(
            f"atoms on spheres are counted among at most {COUNTED} particles, not {len(vectors)}; simulate fewer"
        )
    if len(vectors) == 1:
        return np.zeros(1, dtype=np.int64), 0.0, math.inf
    tree = linkage(vectors, "single")
    labels = fcluster(tree, 2.0 * math.sin(0.5 * resolution), "distance") - 1
    angles = 2.0 * np.arcsin(np.minimum(0.5 * tree[:, 2], 1.0))
    count = int(labels.max()) + 1
    widest = float(angles[: angles.size - (count - 1)].max(initial=0.0))
    return np.asarray(labels, dtype=np.int64), widest, float(angles[1 - count]) if count > 1 else math.inf


def _units(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(float).tiny))
