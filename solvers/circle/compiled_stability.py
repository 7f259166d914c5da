"""The matrices of unstable directions at even states among few modes, and their signs, by compiled code.

Importing this loads numba.
"""

from typing import NamedTuple

import numpy as np

from ..bases import Floats, Integers
from ..linear_algebra.elimination import compiled_sums, factorise


class Entries(NamedTuple):
    """What matrices at some states are made from.

    Attributes
    ----------
    moments, responses : (states, M) float
        Those of the states, and those from which second moments of modes have the linearisation.
    factors : (states,) float
        What multiplies covariances, beside the weights.
    weights : (n, n) float
        The weights of covariances.
    total, difference : int
        Places of moments at sums and differences, by rows; see :class:`.tables.Tables`.
    spaced
        Whether these depend on the sum and the difference of row and column alone, and are rows.
    diagonal : (n,) float
        What is added.
    means : (n,) int
        Places of the means of the modes.
    parity
        1 for cosines, -1 for sines.
    centred
        Whether products of means are subtracted.
    turning : (n,) float
        The rotation mode over the means; empty if it is not there.
    """

    moments: Floats
    responses: Floats
    factors: Floats
    weights: Floats
    total: Integers
    difference: Integers
    spaced: bool
    diagonal: Floats
    means: Integers
    parity: float
    centred: bool
    turning: Floats

    def matrices(self) -> Floats:
        """Return the matrices, (states, n, n)."""
        size = self.diagonal.size
        found = np.empty((self.factors.size, size, size))
        _write_all(self, found)
        return found

    def signatures(self, shift: float) -> tuple[Integers, Floats] | None:
        """Return how many eigenvalues are below minus a shift at the states, and determinants of shifted matrices.

        None if a number is in doubt.
        """
        negative, determinants = np.empty(self.factors.size, dtype=np.int64), np.empty(self.factors.size)
        return (negative, determinants) if _factorise_all(self, shift, negative, determinants) else None


@compiled_sums
def _write_all(entries: Entries, found: Floats) -> None:
    """Write the matrices at states."""
    for place in range(entries.factors.size):
        _write(entries, place, found[place])


@compiled_sums
def _factorise_all(entries: Entries, shift: float, negative: Integers, determinants: Floats) -> bool:
    """Write the numbers of negative eigenvalues and determinants; return whether all are certain."""
    size = entries.diagonal.size
    matrix = np.empty((size, size))
    for place in range(entries.factors.size):
        _write(entries, place, matrix)
        for i in range(size):
            matrix[i, i] += shift
        negative[place] = factorise(matrix)
        if negative[place] < 0:
            return False
        determinants[place] = 1.0
        for i in range(size):
            determinants[place] *= matrix[i, i]
    return True


@compiled_sums
def _write(entries: Entries, place: int, matrix: Floats) -> None:
    """Write the matrix at a state, by its place."""
    moments, response, factor = entries.moments[place], entries.responses[place], entries.factors[place]
    weights, total, difference, means = entries.weights, entries.total, entries.difference, entries.means
    diagonal, parity, turning = entries.diagonal, entries.parity, entries.turning
    size = diagonal.size
    mean, rotation = np.empty(size), np.empty(turning.size)
    # Of rows of tables: the difference is counted from that of the first row and the last column.
    row, back, first = (1, -1, size - 1) if entries.spaced else (size, size, 0)
    for i in range(size):
        mean[i] = 2.0 * moments[means[i]] if entries.centred else 0.0
    for i in range(size):
        own = response[means[i]]
        for j in range(i + 1):
            value = response[difference[first + back * i + j]] + parity * response[total[row * i + j]]
            matrix[i, j] = matrix[j, i] = factor * weights[i, j] * (value - own * mean[j])
        matrix[i, i] += diagonal[i]
    for i in range(turning.size):
        rotation[i] = turning[i] * moments[means[i]]
    _add_projector(matrix, rotation)


@compiled_sums
def _add_projector(matrix: Floats, vector: Floats) -> None:
    """Add the orthogonal projector on a vector to a matrix, nothing for the zero vector."""
    square = 0.0
    for i in range(vector.size):
        square += vector[i] * vector[i]
    if square > 0.0:
        for i in range(vector.size):
            for j in range(vector.size):
                matrix[i, j] += vector[i] * vector[j] / square
