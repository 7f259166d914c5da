r"""Small symmetric matrices factorised by compiled code, :math:`L^T D L` without pivoting; the import loads numba.

The signs of D are the inertia. Elimination begins with the last mode: the matrix of weak modes is near the identity
up to signs, and what is critical is left to the end. Where a pivot is small beside its row, or a value is not
finite, nothing is decided, and the matrix is one for LAPACK.

A cached function is compiled anew when its own file changes, not when a constant or function of another one does:
after such a change remove the caches of numba.
"""

import functools

import numpy as np

from ..bases import Floats
from ..execution.compiling import compiled

# Entries of L beyond this lose digits that pivoting would keep.
LARGEST_FACTOR = 16.0

# Sums may be taken in any order, so that several terms are added at once.
compiled_sums = functools.partial(compiled, fastmath={"reassoc", "contract"}, error_model="numpy")


@compiled_sums
def factorise(matrix: Floats) -> int:
    """Overwrite the lower triangle of a matrix by D and D L; return how many of D are negative, -1 if in doubt."""
    negative, inverses = 0, np.empty(len(matrix))
    for p in range(len(matrix) - 1, -1, -1):
        row = matrix[p]
        _subtract_later(matrix, inverses, p)
        largest = 0.0
        for i in range(p):
            largest = max(largest, abs(row[i]))
        pivot = abs(row[p])
        if not (0.0 < pivot < np.inf and largest <= LARGEST_FACTOR * pivot):
            return -1
        if row[p] < 0.0:
            negative += 1
        inverses[p] = 1.0 / row[p]
    return negative


@compiled_sums
def _subtract_later(matrix: Floats, inverses: Floats, p: int) -> None:
    """Subtract from a row its part in the eliminated ones after it, four at a time, which loads it less often."""
    row, k = matrix[p], p + 1
    while k + 3 < len(matrix):
        one, two, three, four = matrix[k], matrix[k + 1], matrix[k + 2], matrix[k + 3]
        first, second = one[p] * inverses[k], two[p] * inverses[k + 1]
        third, fourth = three[p] * inverses[k + 2], four[p] * inverses[k + 3]
        for j in range(p + 1):
            row[j] -= first * one[j] + second * two[j] + third * three[j] + fourth * four[j]
        k += 4
    while k < len(matrix):
        one, first = matrix[k], matrix[k][p] * inverses[k]
        for j in range(p + 1):
            row[j] -= first * one[j]
        k += 1


@compiled_sums
def solve(factors: Floats, side: Floats) -> None:
    """Overwrite a right-hand side by the solution of a factorised system."""
    for p in range(side.size - 1, -1, -1):
        share = side[p] / factors[p, p]
        for i in range(p):
            side[i] -= factors[p, i] * share
    for p in range(side.size):
        value = side[p]
        for i in range(p):
            value -= factors[p, i] * side[i]
        side[p] = value / factors[p, p]


@compiled_sums
def solve_bordered(matrix: Floats, residual: Floats, step: Floats, along: Floats) -> tuple[bool, float, float]:
    """Write the solution for (residual, 0) and the unit one along (0, 1) of a bordered system, with pivoting.

    Parameters
    ----------
    matrix : (n + 1, n + 3) float
        The system, with two columns to spare; overwritten.

    Returns
    -------
    tuple
        Whether the matrix is regular and finite, and the last entries of both.
    """
    size = residual.size
    matrix[:, size + 1 :] = 0.0
    matrix[:size, size + 1], matrix[size, size + 2] = residual, 1.0
    if not _make_triangular(matrix):
        return False, 0.0, 0.0
    square = 0.0
    for p in range(size, -1, -1):
        for side in (size + 1, size + 2):
            for j in range(p + 1, size + 1):
                matrix[p, side] -= matrix[p, j] * matrix[j, side]
            matrix[p, side] /= matrix[p, p]
        square += matrix[p, size + 2] ** 2
    scale = 1.0 / np.sqrt(square)
    step[:], along[:] = matrix[:size, size + 1], scale * matrix[:size, size + 2]
    return True, matrix[size, size + 1], scale * matrix[size, size + 2]


@compiled_sums
def _make_triangular(matrix: Floats) -> bool:
    """Eliminate below the diagonal, the largest entries first; return whether these are finite and not zero."""
    rows, columns = matrix.shape
    for p in range(rows):
        best = p
        for i in range(p + 1, rows):
            if abs(matrix[i, p]) > abs(matrix[best, p]):
                best = i
        if not 0.0 < abs(matrix[best, p]) < np.inf:
            return False
        for j in range(p, columns):
            matrix[p, j], matrix[best, j] = matrix[best, j], matrix[p, j]
        for i in range(p + 1, rows):
            factor = matrix[i, p] / matrix[p, p]
            for j in range(p + 1, columns):
                matrix[i, j] -= factor * matrix[p, j]
    return True
