r"""Functions on the points of a rule: their sums, and their means under masses, many at a time.

On a grid of rings and meridians a function is a sum of products :math:`T_{lm}(\theta)\,w(\varphi)` with few waves
w: sums are taken along the meridians and then along the rings, where that is less work than with a table.
"""

from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from ..bases import Floats, Integers

# Multiplications of a table of all points take about half as long as those of many small ones.
FASTER = 2.0


class Functions(Protocol):
    """Protocol of functions on the points of a rule."""

    count: int

    def values(self) -> Floats:
        """Return the values, (count, points)."""

    def sums(self, coefficients: Floats) -> Floats:
        """Return the values of sums with coefficients, (n, count), on all points, (n, points)."""

    def means(self, masses: Floats) -> Floats:
        """Return the sums over all points of masses, (n, points), times the functions, (n, count)."""

    def some(self, places: Integers) -> "Functions":
        """Return the functions at some places."""


class Tabulated:
    """Functions by their values, (count, points)."""

    def __init__(self, values: Floats) -> None:
        self._rows, self._columns = values, values.T.copy()
        self.count = len(values)

    def values(self) -> Floats:
        """Return the values of the functions, (count, points)."""
        return self._rows

    def sums(self, coefficients: Floats) -> Floats:
        """Return the values of sums with coefficients, (n, count), on all points, (n, points)."""
        return np.asarray(coefficients @ self._rows)

    def means(self, masses: Floats) -> Floats:
        """Return the sums over all points of masses, (n, points), times the functions, (n, count)."""
        return np.asarray(masses @ self._columns)

    def some(self, places: Integers) -> "Tabulated":
        """Return the functions at some places."""
        return Tabulated(self._rows[places])


class Separated:
    """Functions on a grid of rings and meridians, the meridians of a ring one after the other.

    Parameters
    ----------
    around : (waves, meridians) float
        The waves.
    along : (waves, degrees, rings) float
        The functions of theta that come with each.
    entries : (count, waves * degrees) sparse
        The functions in products of the two.
    """

    def __init__(self, around: Floats, along: Floats, entries: csr_array) -> None:
        self._around, self._along, self._entries = around, along, entries
        self._spread = csr_array(entries.T)
        self._towards = np.ascontiguousarray(along.transpose(0, 2, 1))
        self.count = entries.shape[0]

    @property
    def pays(self) -> bool:
        """Whether separated sums are less work than a table of all points."""
        (waves, meridians), rings = self._around.shape, self._along.shape[2]
        return bool(FASTER * (rings * meridians * waves + self._along.size) < self.count * rings * meridians)

    def values(self) -> Floats:
        """Return the values of the functions, (count, points)."""
        products = self._along[:, :, :, None] * self._around[:, None, None, :]
        return np.asarray(self._entries @ products.reshape(self._entries.shape[1], -1))

    def sums(self, coefficients: Floats) -> Floats:
        """Return the values of sums with coefficients, (n, count), on all points, (n, points)."""
        waves, degrees, rings = self._along.shape
        count, meridians = len(coefficients), self._around.shape[1]
        parts = (self._spread @ coefficients.T).reshape(waves, degrees, count)
        rows = np.matmul(parts.transpose(0, 2, 1), self._along)
        values = rows.reshape(waves, count * rings).T @ self._around
        return np.asarray(values.reshape(count, rings * meridians))

    def means(self, masses: Floats) -> Floats:
        """Return the sums over all points of masses, (n, points), times the functions, (n, count)."""
        waves, degrees, rings = self._along.shape
        count, meridians = len(masses), self._around.shape[1]
        rows = self._around @ masses.reshape(count * rings, meridians).T
        parts = np.matmul(rows.reshape(waves, count, rings), self._towards)
        return np.asarray(self._entries @ parts.transpose(0, 2, 1).reshape(waves * degrees, count)).T

    def some(self, places: Integers) -> "Separated":
        """Return the functions at some places."""
        return Separated(self._around, self._along, csr_array(self._entries[places]))
