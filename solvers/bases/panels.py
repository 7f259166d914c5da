"""Integrals of functions on an interval from its beginning, by Gauss rules on panels that are graded to both ends.

Where a function is hardly smooth, its integrals are accurate everywhere else: the error of a panel is a constant
beyond it, while that of a series would be spread over the whole interval.
"""

import numpy as np

from .base import Floats

# Nodes of a panel, and how often the first and the last one are halved towards the ends.
ORDER, HALVINGS = 16, 30


class Panels:
    """Panels on the interval from 0 to an angle.

    Parameters
    ----------
    extent
        The end of the interval.
    count
        Number of equal panels, before the first and the last are divided.
    targets : (n,) float
        The angles at which integrals are asked for.

    Attributes
    ----------
    angles : (m,) float
        The nodes.
    """

    def __init__(self, extent: float, count: int, targets: Floats) -> None:
        equal = extent / count * np.arange(count + 1)
        graded = equal[1] * 0.5 ** np.arange(HALVINGS, 0, -1)
        edges = np.concatenate([[0.0], graded, equal[1:-1], extent - graded[::-1], [extent]])
        self._halves = 0.5 * np.diff(edges)
        nodes, self._weights = np.polynomial.legendre.leggauss(ORDER)
        self.angles = (edges[:-1, None] + self._halves[:, None] * (1.0 + nodes)).ravel()
        self._panel = np.clip(np.searchsorted(edges, targets, side="right") - 1, 0, self._halves.size - 1)
        places = (targets - edges[self._panel]) / self._halves[self._panel] - 1.0
        # The integral of P_j from -1 is (P_{j+1} - P_{j-1})/(2j + 1); coefficients are sums on the nodes.
        values = np.polynomial.legendre.legvander(places, ORDER)
        integrals = np.column_stack([places + 1.0, values[:, 2:] - values[:, :-2]])
        integrals[:, 1:] /= 2.0 * np.arange(1, ORDER) + 1.0
        factors = (np.arange(ORDER) + 0.5) * np.polynomial.legendre.legvander(nodes, ORDER - 1)
        self._within = (integrals @ (factors * self._weights[:, None]).T) * self._halves[self._panel, None]

    def integrals(self, values: Floats) -> Floats:
        """Return the integrals from 0 to the targets, (..., n), of functions with values on the nodes, (..., m)."""
        rows = values.reshape(*values.shape[:-1], self._halves.size, ORDER)
        whole = (rows @ self._weights) * self._halves
        before = np.cumsum(whole, axis=-1) - whole
        return np.asarray(
            before[..., self._panel] + np.einsum("...tm,tm->...t", rows[..., self._panel, :], self._within)
        )
