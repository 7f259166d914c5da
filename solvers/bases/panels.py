"""Integrals of functions on an interval from its beginning, by Gauss rules on panels that are graded to both ends.

Where a function is hardly smooth, its integrals are accurate everywhere else: the error of a panel is a constant
beyond it, while that of a series would be spread over the whole interval.
"""

import numpy as np

from .base import Floats

# Nodes of a panel, and how often the first and the last one are halved towards the ends at most.
ORDER, HALVINGS = 16, 30
NODES, WEIGHTS = np.polynomial.legendre.leggauss(ORDER)
# From values on the nodes of [-1, 1] to coefficients of Legendre polynomials.
COEFFICIENTS = (np.arange(ORDER) + 0.5) * np.polynomial.legendre.legvander(NODES, ORDER - 1) * WEIGHTS[:, None]


class Panels:
    """Panels on an interval that begins at 0.

    Parameters
    ----------
    extent
        Its length, of several pieces that of each.
    count
        Number of equal panels, before the first and the last are divided.
    pieces
        Number of such intervals, one behind the other.
    halvings
        How often the first and the last panel of each are halved towards its ends.

    Attributes
    ----------
    angles : (m,) float
        The nodes.
    weights : (m,) float
        Their weights, with sum one.
    """

    def __init__(self, extent: float, count: int, pieces: int = 1, halvings: int = HALVINGS) -> None:
        equal = extent / count * np.arange(count + 1)
        graded = equal[1] * 0.5 ** np.arange(halvings, 0, -1)
        edges = np.concatenate([[0.0], graded, equal[1:-1], extent - graded[::-1]])
        starts = extent * np.arange(pieces)
        self._edges = np.append(np.add.outer(starts, edges).ravel(), pieces * extent)
        self._halves = 0.5 * np.diff(self._edges)
        self.angles = (self._edges[:-1, None] + self._halves[:, None] * (1.0 + NODES)).ravel()
        self.weights = np.multiply.outer(self._halves, WEIGHTS).ravel() / (pieces * extent)

    def integrals_to(self, targets: Floats) -> "Integrals":
        """Return the integrals from 0 to angles, (n,), as a function of values on the nodes."""
        return Integrals(self._edges, targets)


class Integrals:
    """The function from values on panels, (..., m), to their integrals from 0 to given angles, (..., n)."""

    def __init__(self, edges: Floats, targets: Floats) -> None:
        self._halves = 0.5 * np.diff(edges)
        self._panel = np.clip(np.searchsorted(edges, targets, side="right") - 1, 0, self._halves.size - 1)
        places = (targets - edges[self._panel]) / self._halves[self._panel] - 1.0
        # The integral of P_j from -1 is (P_{j+1} - P_{j-1})/(2j + 1); coefficients are sums on the nodes.
        values = np.polynomial.legendre.legvander(places, ORDER)
        integrals = np.column_stack([places + 1.0, values[:, 2:] - values[:, :-2]])
        integrals[:, 1:] /= 2.0 * np.arange(1, ORDER) + 1.0
        self._within = (integrals @ COEFFICIENTS.T) * self._halves[self._panel, None]

    def __call__(self, values: Floats) -> Floats:
        """Return the integrals, (..., n), of functions with values on the nodes, (..., m)."""
        rows = values.reshape(*values.shape[:-1], self._halves.size, ORDER)
        whole = (rows @ WEIGHTS) * self._halves
        before = np.cumsum(whole, axis=-1) - whole
        return np.asarray(
            before[..., self._panel] + np.einsum("...tm,tm->...t", rows[..., self._panel, :], self._within)
        )
