r"""Symmetric matrices that couple harmonics of near orders only: products with vectors, and Cholesky factors.

The potential of Witten's Laplacian is a polynomial of twice the degree of f, so that W has no element between
orders that differ by more. Rows are stored in panels of some orders, from the diagonal on and as far as they reach.
Panels are factorised one after the other, and each meets only those that it reaches. To rounding the result is that
of the full matrix; time and memory are a fraction of it.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from ...bases import Floats, Integers

# Fewer harmonics than these are one panel; more have panels of about as many.
WHOLE, WIDTH = 700, 200


class Panel(NamedTuple):
    """Rows of a matrix: the first, the end, and the end of the columns that they reach."""

    start: int
    stop: int
    end: int


def panels_of(orders: Integers, reach: int) -> list[Panel]:
    """Return the panels of harmonics sorted by their orders, which reach orders larger by so many."""
    size = int(orders.size)
    ends = np.searchsorted(orders, orders + reach, side="right")
    if size < WHOLE or ends[0] == size:
        return [Panel(0, size, size)]
    # A panel ends with an order.
    lasts = np.append(np.flatnonzero(np.diff(orders)) + 1, size)
    panels, start = [], 0
    while start < size:
        stop = int(lasts[np.searchsorted(lasts, min(start + WIDTH, size))])
        panels.append(Panel(start, stop, int(ends[stop - 1])))
        start = stop
    return panels


class Banded:
    """A symmetric matrix by panels of its rows.

    Parameters
    ----------
    panels
        Its rows in turn.
    rows : list of (stop - start, end - start) float
        Their elements from the diagonal on, with those before it in the square of the panel.
    """

    def __init__(self, panels: list[Panel], rows: list[Floats]) -> None:
        self.panels, self.rows = panels, rows
        self.size = panels[-1].stop

    def diagonal(self) -> Floats:
        """Return the diagonal."""
        return np.concatenate([rows.diagonal() for rows in self.rows])

    def add(self, values: Floats) -> None:
        """Add numbers, (n,), to the diagonal."""
        for (start, stop, _), rows in zip(self.panels, self.rows, strict=True):
            rows[np.arange(stop - start), np.arange(stop - start)] += values[start:stop]

    def full(self) -> Floats:
        """Return the whole matrix, (n, n)."""
        if len(self.panels) == 1:
            return self.rows[0]
        matrix = np.zeros((self.size, self.size))
        for (start, stop, end), rows in zip(self.panels, self.rows, strict=True):
            matrix[start:stop, start:end] = rows
            matrix[stop:end, start:stop] = rows[:, stop - start :].T
        return matrix

    def __matmul__(self, vector: Floats) -> Floats:
        """Return the matrix times a vector."""
        result = np.zeros(self.size)
        for (start, stop, end), rows in zip(self.panels, self.rows, strict=True):
            result[start:stop] += rows @ vector[start:end]
            if end > stop:
                result[stop:end] += vector[start:stop] @ rows[:, stop - start :]
        return result


class Factor:
    """The Cholesky factor of a matrix plus a multiple of the unit matrix.

    Parameters
    ----------
    matrix
        The matrix.
    shift
        The multiple.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the sum is not positive definite.
    """

    def __init__(self, matrix: Banded, shift: float) -> None:
        self._panels = matrix.panels
        widths = [stop - start for start, stop, _ in matrix.panels]
        self._diagonals = [rows[:, :width].copy() for rows, width in zip(matrix.rows, widths, strict=True)]
        self._others = [rows[:, width:].copy() for rows, width in zip(matrix.rows, widths, strict=True)]
        for place, panel in enumerate(self._panels):
            self._factorise(place, shift)
            for later in range(place + 1, len(self._panels)):
                if self._panels[later].start < panel.end:
                    self._update(place, later)

    def _factorise(self, place: int, shift: float) -> None:
        """Replace a panel by its rows of the factor."""
        diagonal, others = self._diagonals[place], self._others[place]
        diagonal.reshape(-1)[:: len(diagonal) + 1] += shift
        # The matrix is symmetric: transposed, LAPACK takes it where it stands.
        factor, failed = scipy.linalg.lapack.dpotrf(diagonal.T, overwrite_a=1, clean=0)
        if failed:
            raise np.linalg.LinAlgError
        self._diagonals[place] = factor
        if others.size:
            self._others[place] = scipy.linalg.blas.dtrsm(1.0, factor, others.T, side=1, overwrite_b=1).T

    def _update(self, place: int, later: int) -> None:
        """Subtract from a later panel what an earlier one adds to it."""
        (_, first, reached), (start, stop, _) = self._panels[place], self._panels[later]
        columns, size = self._others[place][:, start - first :], min(stop, reached) - start
        here = columns[:, :size]
        self._diagonals[later][:size, :size] -= here.T @ here
        if reached > stop:
            self._others[later][:, : reached - stop] -= here.T @ columns[:, size:]

    def reduce(self, columns: Floats) -> Floats:
        """Return R^{-T} times columns, (n,) or (n, k), where R^T R is the matrix."""
        solved = np.array(columns, order="F")
        for (start, stop, end), diagonal, others in zip(self._panels, self._diagonals, self._others, strict=True):
            solved[start:stop] = _triangular(diagonal, solved[start:stop], 1)
            if end > stop:
                solved[stop:end] -= others.T @ solved[start:stop]
        return solved

    def expand(self, columns: Floats) -> Floats:
        """Return R^{-1} times columns, (n,) or (n, k)."""
        solved = np.array(columns, order="F")
        rows = list(zip(self._panels, self._diagonals, self._others, strict=True))
        for (start, stop, end), diagonal, others in reversed(rows):
            if end > stop:
                solved[start:stop] -= others @ solved[stop:end]
            solved[start:stop] = _triangular(diagonal, solved[start:stop], 0)
        return solved


def _triangular(factor: Floats, columns: Floats, transposed: int) -> Floats:
    solved: Floats = scipy.linalg.lapack.dtrtrs(factor, columns, trans=transposed)[0]
    return solved.reshape(columns.shape)
