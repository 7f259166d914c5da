"""Orthogonal projectors on the rotation modes of states."""

import numpy as np
from scipy.linalg.blas import ddot

from ..bases import Floats, plus_dyad

# Columns are independent if their singular values are above this share of the largest.
INDEPENDENT = 1e-10


def plus_projector(matrix: Floats, vector: Floats) -> Floats:
    """Return a symmetric matrix, overwritten, plus the orthogonal projector on a vector or on the span of columns.

    So it is with the first rows of a matrix in C order and a vector.
    Nothing is added for the zero vector.
    """
    if vector.ndim == 2:
        spanned = orthonormal(vector)
        matrix += spanned @ spanned.T
        return matrix
    square = float(ddot(vector, vector)) if vector.size else 0.0
    return matrix if square == 0.0 else plus_dyad(matrix, 1.0 / square, vector)


def add_projectors(matrices: Floats, vectors: Floats) -> None:
    """Add to the first rows of symmetric matrices, (count, rows, size) in C order, the projectors on vectors.

    Nothing is added for the zero vector.
    """
    for matrix, vector in zip(matrices, vectors, strict=True):
        plus_projector(matrix, vector)


def orthonormal(columns: Floats, size: float = 0.0) -> Floats:
    """Return orthonormal columns with the span of given ones, without those that are rounding errors of a size."""
    directions, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(directions[:, sizes > INDEPENDENT * sizes.max(initial=size)])
