"""Actions of rotations and reflections on the harmonics of S^2 that are invariant under a finite group."""

import functools
from collections.abc import Callable

import numpy as np
from scipy.sparse import block_diag, csr_array

from meanfield.harmonics import rotation_generators

from .base import Floats, Integers
from .representations import Group, representation


def turnings(group: Group, degrees: Integers, axes: Floats | None = None) -> list[csr_array]:
    """Return the derivatives of the invariants of some degrees under the rotations that keep them invariant.

    One matrix for each free axis of the group; in a confinement for those of the axes that this admits, (k, 3).
    """
    return [acting(group, degrees, functools.partial(_about, axis)) for axis in group.free_among(axes)]


def acting(group: Group, degrees: Integers, action: Callable[[int], Floats]) -> csr_array:
    """Return the matrix on the invariant harmonics of an action given on all harmonics of each degree."""
    blocks = []
    for degree in degrees.tolist():
        functions = group.harmonics(degree)
        blocks.append(functions @ action(degree) @ functions.T)
    return csr_array(block_diag(blocks))


def moved_by(group: Group, degrees: Integers, element: Floats) -> csr_array:
    """Return the matrix on the invariant harmonics of an orthogonal transformation that keeps them invariant."""
    return acting(group, degrees, functools.partial(representation, element))


def _about(axis: Floats, degree: int) -> Floats:
    """Return the matrix of infinitesimal rotation about an axis on the harmonics of a degree."""
    return np.asarray(np.einsum("k,kij->ij", axis, rotation_generators(degree)))
