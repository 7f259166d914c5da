"""Jacobians of the moment equations, from Toeplitz and Hankel matrices that are views of vectors."""

from typing import TypeVar

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ..bases import Floats
from .rates import Rates

Complexes = NDArray[np.complex128]
Entry = TypeVar("Entry", bound=np.generic)


class EvenDerivatives:
    r"""The Jacobian for even densities, from Toeplitz and Hankel matrices that are views of two vectors.

    With m even and a odd in the degree, :math:`a_j = g_j`,

    .. math:: M_{kl} = D\bigl[-k^2\delta_{kl} + k\bigl(a_{k-l} + a_{k+l}
                       + l\lambda_l (m_{k-l} - m_{k+l})\bigr)\bigr].
    """

    def __init__(self, rates: Rates) -> None:
        size = rates.cells.size
        self._rates = rates
        self._even, self._odd = np.zeros(4 * size + 2), np.zeros(4 * size + 2)
        self._centre = 2 * size
        self._even[self._centre] = 1.0
        self._even_toeplitz, self._even_hankel = toeplitz_and_hankel(self._even, size)
        self._odd_toeplitz, self._odd_hankel = toeplitz_and_hankel(self._odd, size)
        self._matrix, self._work = np.empty((size, size)), np.empty((size, size))
        self._rows = rates.divergence[:, None]
        self._diffusion = rates.noise * rates.cells**2

    def matrix(self, moments: Floats) -> Floats:
        """Return M at moments, in a buffer that the next call overwrites."""
        centre, size = self._centre, moments.size
        above, below = slice(centre + 1, centre + size + 1), slice(centre - size, centre)
        force = self._rates.attraction * moments + self._rates.force
        self._even[above], self._even[below] = moments, moments[::-1]
        self._odd[above], self._odd[below] = force, -force[::-1]
        matrix, work = self._matrix, self._work
        np.add(self._odd_toeplitz, self._odd_hankel, out=matrix)
        np.subtract(self._even_toeplitz, self._even_hankel, out=work)
        work *= self._rates.attraction
        matrix += work
        matrix *= self._rows
        matrix.flat[:: size + 1] -= self._diffusion
        return matrix


class FullDerivatives:
    r"""The Jacobian for all densities.

    A change :math:`\delta` of the moments changes their derivative by :math:`P\delta + Q\bar\delta`,

    .. math::

        P_{kl} &= D\bigl[-k^2\delta_{kl} + k\bigl(l\lambda_l c_{k-l} + g_{k-l}\bigr)\bigr], \\
        Q_{kl} &= D k\bigl(-l\lambda_l c_{k+l} + g_{k+l}\bigr).
    """

    def __init__(self, rates: Rates) -> None:
        size = rates.cells.size
        self._rates = rates
        self._moments = np.zeros(4 * size + 2, dtype=complex)
        self._forces = np.zeros(4 * size + 2, dtype=complex)
        self._centre = 2 * size
        self._moments[self._centre] = 1.0
        self._toeplitz, self._hankel = toeplitz_and_hankel(self._moments, size)
        self._force_toeplitz, self._force_hankel = toeplitz_and_hankel(self._forces, size)
        self._matrix = np.empty((2 * size, 2 * size))
        self._rows = rates.divergence[:, None]
        self._diffusion = rates.noise * rates.cells**2

    def matrix(self, moments: Complexes) -> Floats:
        """Return the real matrix at moments, in a buffer that the next call overwrites."""
        centre, size = self._centre, moments.size
        above, below = slice(centre + 1, centre + size + 1), slice(centre - size, centre)
        force = self._rates.attraction * moments + self._rates.force
        self._moments[above], self._moments[below] = moments, moments[::-1].conj()
        self._forces[above], self._forces[below] = force, -force[::-1].conj()
        direct = (self._toeplitz * self._rates.attraction + self._force_toeplitz) * self._rows
        mirrored = (self._force_hankel - self._hankel * self._rates.attraction) * self._rows
        direct.flat[:: size + 1] -= self._diffusion
        total, difference = direct + mirrored, direct - mirrored
        matrix = self._matrix
        matrix[0::2, 0::2], matrix[0::2, 1::2] = total.real, -difference.imag
        matrix[1::2, 0::2], matrix[1::2, 1::2] = total.imag, difference.real
        return matrix


def toeplitz_and_hankel(vector: NDArray[Entry], size: int) -> tuple[NDArray[Entry], NDArray[Entry]]:
    """Return views [k, l] of the entries k - l and k + l, k, l = 1..size, of a vector centred at 2 size."""
    (step,) = vector.strides
    toeplitz = as_strided(vector[2 * size :], (size, size), (step, -step), writeable=False)
    hankel = as_strided(vector[2 * size + 2 :], (size, size), (step, step), writeable=False)
    return toeplitz, hankel
