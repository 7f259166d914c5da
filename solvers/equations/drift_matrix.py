r"""The linear equation of the moments of a stationary density on the circle under a drift.

With :math:`\rho = \sum_k x_k e^{ik\phi}`, :math:`x_k = m_k - is_k`, and the coefficients :math:`g_k` of the drift,
less the angular velocity of the frame in :math:`g_0`, the flux of a density of symmetry n is constant if

.. math:: ink\,x_k - \sum_{l \ne 0} g_{k-l}\,x_l = f_k, \qquad k = \pm1, \dots, \pm N,

for :math:`f = g`, as :math:`x_0 = 1`, and a change of the drift changes it by the solution for
:math:`f = \rho\,\delta g`. The unknowns are :math:`m_1, \dots, m_N, s_1, \dots, s_N`, and the equations those of
the imaginary and then of the real parts. Most drifts have few degrees, and the matrix few diagonals.
"""

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg.lapack import zgbtrf, zgbtrs

from ..bases import EPS, Floats

Complexes = NDArray[np.complex128]
# The complex matrix of both signs of k is factorised by its diagonals if the drift has this share of the degrees.
FEW = 1.0 / 8.0


class DriftMatrix:
    """The matrix of the equation, factorised.

    Parameters
    ----------
    spectrum : (2 N + 1,) complex
        The coefficients of the drift, k = 0..2N.
    speed
        The angular velocity of the frame over the noise.
    symmetry
        n.
    """

    def __init__(self, spectrum: Complexes, speed: float, symmetry: int) -> None:
        self._count, self._symmetry = spectrum.size // 2, symmetry
        drift = spectrum.copy()
        drift[0] -= speed
        sizes = np.abs(drift)
        self._reach = int(np.flatnonzero(sizes > EPS * sizes.max()).max(initial=0))
        self._factor: Any
        self._banded = self._reach <= FEW * self._count
        if self._banded:
            self._factor = self._diagonals(drift)
        else:
            self._factor = scipy.linalg.lu_factor(self._dense(drift), check_finite=False)

    def solve(self, sides: Floats, transposed: bool = False) -> Floats:
        """Return the solutions for right-hand sides, or those of the transposed matrix, one row each."""
        if not self._banded:
            trans: Any = int(transposed)
            solved = scipy.linalg.lu_solve(self._factor, sides.T, trans=trans, check_finite=False)
            return np.asarray(solved.T, dtype=float)
        first, second = sides[..., : self._count], sides[..., self._count :]
        # A linear form of m and s is the real part of one of x, and its gradient by f that by the real and
        # imaginary parts of f.
        found = self._solved(first + 1j * second if transposed else second + 1j * first, transposed)
        parts = (-found.imag, found.real) if transposed else (found.real, -found.imag)
        return np.concatenate(parts, axis=-1)

    def _diagonals(self, drift: Complexes) -> tuple[Complexes, NDArray[np.int32]]:
        """Return the factorised matrix of k = -N..N, in which x_0 has an equation of its own."""
        count, reach = self._count, self._reach
        bands = np.zeros((3 * reach + 1, 2 * count + 1), dtype=complex)
        whole = np.concatenate([drift[reach:0:-1].conj(), drift[: reach + 1]])
        bands[reach:] = -whole[:, None]
        bands[2 * reach] += 1j * self._symmetry * np.arange(-count, count + 1)
        # The entries of the row of x_0, and those of its column, are zero but for the diagonal.
        offsets = np.arange(-reach, reach + 1)
        bands[2 * reach - offsets, count + offsets] = 0.0
        bands[reach:, count] = 0.0
        bands[2 * reach, count] = 1.0
        factor, pivots, _ = zgbtrf(bands, reach, reach)
        return factor, pivots

    def _solved(self, halves: Complexes, transposed: bool) -> Complexes:
        """Return x_k, k = 1..N, for right-hand sides f_k of the same k, or of the transposed matrix, in rows."""
        rows = np.atleast_2d(halves)
        middle = np.zeros((rows.shape[0], 1))
        whole = np.concatenate([rows[:, ::-1].conj(), middle, rows], axis=1)
        found, _ = zgbtrs(
            self._factor[0], self._reach, self._reach, whole.T, self._factor[1], trans=int(transposed)
        )
        return np.asarray(found.T[:, self._count + 1 :]).reshape(halves.shape)

    def _dense(self, drift: Complexes) -> Floats:
        """Return the real matrix."""
        count = self._count
        near = scipy.linalg.toeplitz(drift[:count], drift[:count].conj())
        far = scipy.linalg.hankel(drift[2 : count + 2], drift[count + 1 : 2 * count + 1])
        total, difference = near + far, near - far
        matrix = np.empty((2 * count, 2 * count), order="F")
        matrix[:count, :count], matrix[:count, count:] = -total.imag, difference.real
        matrix[count:, :count], matrix[count:, count:] = -total.real, -difference.imag
        degrees = self._symmetry * np.arange(1.0, count + 1.0)
        matrix.reshape(-1, order="A")[:: 2 * count + 1] += np.tile(degrees, 2)
        return matrix
