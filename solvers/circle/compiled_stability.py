"""The matrices of unstable directions at even states among few modes, and their signs, by compiled code.

Importing this loads numba.
"""

import numpy as np

from ..bases import Floats, Integers
from ..elimination import compiled_sums, factorise


def matrices(
    moments: Floats,
    responses: Floats,
    factors: Floats,
    tables: tuple[Floats, Integers, Integers],
    diagonal: Floats,
    means: Integers,
    parity: float,
    centred: bool,
    turning: Floats,
) -> Floats:
    """Return the matrices at points, (points, n, n).

    Parameters
    ----------
    moments, responses : (points, M) float
        Those of the states, and those from which second moments of modes have the linearisation.
    factors : (points,) float
        What multiplies covariances, beside the weights.
    tables
        Weights, and places of moments at sums and differences, with all rows; see :class:`.stability.Tables`.
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
    weights, total, difference = tables
    found = np.empty((len(moments), diagonal.size, diagonal.size))
    _write(
        moments,
        responses,
        factors,
        weights,
        total.reshape(-1),
        difference.reshape(-1),
        total.ndim == 1,
        diagonal,
        means,
        parity,
        centred,
        turning,
        found,
    )
    return found


def signatures(matrices: Floats) -> tuple[Integers, Floats] | None:
    """Return how many eigenvalues of symmetric matrices are negative, and determinants; None if one is in doubt."""
    negative, determinants = np.empty(len(matrices), dtype=np.int64), np.empty(len(matrices))
    return (negative, determinants) if _factorise_all(matrices, negative, determinants) else None


@compiled_sums
def _factorise_all(matrices: Floats, negative: Integers, determinants: Floats) -> bool:
    """Write the numbers of negative eigenvalues and determinants; return whether all are certain."""
    for place in range(len(matrices)):
        matrix = matrices[place].copy()
        negative[place] = factorise(matrix)
        if negative[place] < 0:
            return False
        determinants[place] = 1.0
        for i in range(len(matrix)):
            determinants[place] *= matrix[i, i]
    return True


@compiled_sums
def _write(
    moments: Floats,
    responses: Floats,
    factors: Floats,
    weights: Floats,
    total: Integers,
    difference: Integers,
    spaced: bool,
    diagonal: Floats,
    means: Integers,
    parity: float,
    centred: bool,
    turning: Floats,
    found: Floats,
) -> None:
    """Write the matrices at points."""
    size = diagonal.size
    mean, rotation = np.empty(size), np.empty(turning.size)
    # Of rows of tables: the difference is counted from that of the first row and the last column.
    row, back, first = (1, -1, size - 1) if spaced else (size, size, 0)
    for point in range(factors.size):
        state, response, matrix = moments[point], responses[point], found[point]
        for i in range(size):
            mean[i] = 2.0 * state[means[i]] if centred else 0.0
        for i in range(size):
            own = response[means[i]]
            for j in range(i + 1):
                value = response[difference[first + back * i + j]] + parity * response[total[row * i + j]]
                matrix[i, j] = matrix[j, i] = factors[point] * weights[i, j] * (value - own * mean[j])
            matrix[i, i] += diagonal[i]
        for i in range(turning.size):
            rotation[i] = turning[i] * state[means[i]]
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
