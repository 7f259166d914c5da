r"""How far a velocity of particles is from the gradient of a function of their places.

By equal weights, :math:`v_i = -N \partial_i F` for a function F of all angles if and only if the Jacobian
:math:`J_{ij} = \partial v_i/\partial x_j` is symmetric (on the circle up to its periods). Its index of asymmetry,

.. math:: \frac{\|J - J^T\|}{\|J + J^T\|}

in the norm of Frobenius, is 0 for gradients and infinite for an antisymmetric Jacobian.
"""

import math

import numpy as np

from .measures import Floats

# Central differences of order 4: their error h^4 v''''' /30 and rounding eps v/h are both about 1e-12 here.
SPACING = 2e-3
OFFSETS, WEIGHTS = (-2, -1, 1, 2), (1.0, -8.0, 8.0, -1.0)


def displaced(angles: Floats) -> Floats:
    """Return the places (4, N, N) of particles (N,) at which velocities are taken; the second axis is who moved."""
    steps = SPACING * np.array(OFFSETS)[:, np.newaxis, np.newaxis]
    return np.asarray(angles + steps * np.eye(angles.size))


def derivatives(velocities: Floats) -> Floats:
    """Return the Jacobian (N, N) from the velocities (4, N, N) at the places of :func:`displaced`.

    Entry (i, j) is the derivative of velocity i by angle j.
    """
    return np.asarray(np.tensordot(WEIGHTS, velocities, 1).T / (12.0 * SPACING))


def asymmetry(matrix: Floats) -> float:
    """Return the norm of a matrix less its transpose over that of their sum; inf if the sum vanishes alone.

    Parameters
    ----------
    matrix : (N, N) float
        A Jacobian.
    """
    part = float(np.linalg.norm(matrix - matrix.T))
    whole = float(np.linalg.norm(matrix + matrix.T))
    if whole == 0.0:
        return 0.0 if part == 0.0 else math.inf
    return part / whole
