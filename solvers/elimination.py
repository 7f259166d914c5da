r"""Small symmetric matrices factorised by compiled code, :math:`L^T D L` without pivoting; the import loads numba.

The signs of D are the inertia. Elimination begins with the last mode: the matrix of weak modes is near the identity
up to signs, and what is critical is left to the end. Where a pivot is small beside its row, or a value is not
finite, nothing is decided, and the matrix is one for LAPACK.

A cached function is compiled anew when its own file changes, not when a constant or function of another one does:
after such a change remove the caches of numba.
"""

import functools

import numpy as np

from .bases import Floats
from .compiling import compiled

# Entries of L beyond this lose digits that pivoting would keep.
LARGEST_FACTOR = 16.0
# Matrices of more rows are factorised faster by LAPACK.
MANY = 64

# Sums may be taken in any order, so that several terms are added at once.
compiled_sums = functools.partial(compiled, fastmath={"reassoc", "contract"}, error_model="numpy")


@compiled_sums
def factorise(matrix: Floats) -> int:
    """Overwrite the lower triangle of a matrix by D and D L; return the negative pivots' number, -1 if in doubt."""
    negative = 0
    for p in range(len(matrix) - 1, -1, -1):
        pivot = matrix[p, p]
        largest = LARGEST_FACTOR * abs(pivot)
        if not 0.0 < largest < np.inf:
            return -1
        if pivot < 0.0:
            negative += 1
        for i in range(p):
            if not abs(matrix[p, i]) <= largest:
                return -1
            factor = matrix[p, i] / pivot
            for j in range(i + 1):
                matrix[i, j] -= factor * matrix[p, j]
    return negative


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
