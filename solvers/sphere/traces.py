r"""Traces of all azimuthal sectors of :math:`S^2` at once.

Points of one latitude u, longitudes :math:`\varphi` apart, are at the distance :math:`\gamma` with
:math:`\sin(\gamma/2) = \sqrt{1-u^2}\,\sin(\varphi/2)`, and the addition theorem reads

.. math:: P_l(\cos\gamma) = \phi_l^0(u)^2 + 2 \sum_{m=1}^l \phi_l^m(u)^2 \cos m\varphi .

So :math:`\sum_l a_l \int\rho\,(\phi_l^m)^2` is the Fourier coefficient m of the mean over the latitudes of
:math:`h(\gamma) = \sum_l a_l P_l(\cos\gamma)`, a function of one variable.
"""

import functools

import numpy as np

from ..bases import Floats

# Nodes of the table of h to each half wave of the highest degree, and the relative error of interpolation there.
NODES = 32
INTERPOLATION = (np.pi / NODES) ** 2 / 16.0
# Latitudes with less of the mass than this share of the largest are left out.
NEGLIGIBLE = 1e-6
# Latitudes taken together.
BLOCK = 128


class SectorTraces:
    """The traces of the sectors of one sequence of weights.

    Parameters
    ----------
    weights : (L + 1,) float
        a_l, not negative.
    """

    def __init__(self, weights: Floats) -> None:
        self.weights = weights
        self.total = float(weights.sum())

    def bounds(self, sines: Floats, masses: Floats) -> Floats:
        """Return upper bounds of the traces of the orders 0 to L.

        Parameters
        ----------
        sines : (n,) float
            Of the polar angles of the latitudes.
        masses : (n,) float
            Masses of the density there.
        """
        kept = masses > NEGLIGIBLE * masses.max()
        half = self.weights.size
        halved = np.sin(0.5 * np.pi * np.arange(half + 1) / half)
        means = np.zeros(half + 1)
        chosen = np.flatnonzero(kept)
        for start in range(0, chosen.size, BLOCK):
            block = chosen[start : start + BLOCK]
            means += masses[block] @ self._values(np.multiply.outer(sines[block], halved))
        coefficients = np.fft.hfft(means)[:half] / (2 * half)
        error = INTERPOLATION * masses.sum() + masses[~kept].sum()
        return np.asarray(coefficients + error * self.total)

    def _values(self, halved: Floats) -> Floats:
        """Return h at distances given by the sine of their half."""
        place = 2.0 * np.arcsin(np.minimum(halved, 1.0)) * ((self._table.size - 1) / np.pi)
        left = np.minimum(place.astype(np.intp), self._table.size - 2)
        return np.asarray(self._table[left] + (place - left) * self._slopes[left])

    @functools.cached_property
    def _table(self) -> Floats:
        """Values of h at equidistant distances from 0 to pi."""
        distances = np.pi * np.arange(NODES * self.weights.size + 1) / (NODES * self.weights.size)
        return np.asarray(np.polynomial.legendre.legval(np.cos(distances), self.weights))

    @functools.cached_property
    def _slopes(self) -> Floats:
        return np.diff(self._table)
