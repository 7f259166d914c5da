"""Negative eigenvalues of symmetric matrices, counted by factorisation."""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ..bases import Floats, Integers

# Workspace per row that lets LAPACK factorise large matrices in blocks, up to three times as fast.
BLOCK = 64


class Factor(NamedTuple):
    """The number of negative eigenvalues of a symmetric matrix, and what solves for columns; None if singular."""

    negative: int
    solve: Callable[[Floats], Floats] | None


def diagonals(matrices: Floats) -> Floats:
    """Return the diagonals of (count, rows, size) contiguous matrices as a view, (count, rows); rows <= size."""
    count, rows, size = matrices.shape
    return matrices.reshape(count, rows * size)[:, :: size + 1]


def negative_pivots(factor: Floats, pivots: Integers) -> int:
    """Return the number of negative eigenvalues of a symmetric matrix from its Bunch-Kaufman factorisation.

    A 2 x 2 pivot block is always indefinite, so each contributes one.
    """
    diagonal = factor.diagonal()
    if pivots.item(pivots.argmin()) > 0:
        return int(np.count_nonzero(diagonal < 0.0))
    single = pivots > 0
    doubles = pivots.size - int(np.count_nonzero(single))
    return int(np.count_nonzero(diagonal[single] < 0.0)) + doubles // 2


def determinant(factor: Floats, pivots: Integers) -> float:
    """Return the determinant of a symmetric matrix from its Bunch-Kaufman factorisation, of the lower triangle."""
    diagonal = factor.diagonal()
    if pivots.item(pivots.argmin()) > 0:
        return float(math.prod(diagonal.tolist()))
    single = pivots > 0
    # The two rows of a 2 x 2 pivot block follow each other.
    first = np.flatnonzero(~single)[::2]
    doubles = diagonal[first] * diagonal[first + 1] - factor[first + 1, first] ** 2
    return float(diagonal[single].prod() * doubles.prod())


def signature(matrix: Floats, *, definite: bool = False) -> tuple[int, float]:
    """Return the number of negative eigenvalues of a symmetric matrix, which is overwritten, and its determinant.

    With ``definite`` it is expected that there are none, and Cholesky's factorisation is tried first.
    """
    if not matrix.size:
        return 0, 1.0
    if definite:
        factor, failed = lapack.dpotrf(matrix.T, lower=1, clean=0)
        if not failed:
            return 0, math.prod(factor.diagonal().tolist()) ** 2
    factor, pivots, _ = lapack.dsytrf(matrix.T, lower=1, lwork=BLOCK * matrix.shape[0], overwrite_a=1)
    return negative_pivots(factor, pivots), determinant(factor, pivots)


def factorised(matrix: Floats, *, definite: bool = False) -> Factor:
    """Return the factorisation of a symmetric matrix, which is overwritten, as :func:`signature` makes it."""
    if not matrix.size:
        return Factor(0, lambda columns: columns)
    if definite:
        factor, failed = lapack.dpotrf(matrix.T, lower=1, clean=0)
        if not failed:
            return Factor(0, lambda columns: np.asarray(lapack.dpotrs(factor, columns, lower=1, overwrite_b=1)[0]))
    factor, pivots, singular = lapack.dsytrf(matrix.T, lower=1, lwork=BLOCK * len(matrix), overwrite_a=1)
    return Factor(negative_pivots(factor, pivots), None if singular else partial(_solved, factor, pivots))


def _solved(factor: Floats, pivots: Integers, columns: Floats) -> Floats:
    """Return the solutions of a factorised system for columns, which are overwritten."""
    return np.asarray(lapack.dsytrs(factor, pivots, columns, lower=1, overwrite_b=1)[0])


def count_negative(matrix: Floats, *, definite: bool = False) -> int:
    """Return the number of negative eigenvalues of a symmetric matrix, as :func:`signature` does."""
    return signature(matrix, definite=definite)[0]


def nearly_null(matrix: Floats, least: float, symmetric: bool) -> Floats:
    """Return orthonormal columns whose images under a matrix are small: up to ``least``, or twice the smallest."""
    if symmetric:
        values, vectors = np.linalg.eigh(matrix)
        sizes = np.abs(values)
    else:
        _, sizes, rows = np.linalg.svd(matrix)
        vectors = rows.T
    return np.asarray(vectors[:, sizes <= max(least, 2.0 * float(sizes.min()))])


def below_and_above(matrix: Floats, width: float) -> tuple[int, int]:
    """Return how many eigenvalues of a symmetric matrix are below minus a width, and how many below the width."""
    up, down = matrix.copy(), matrix.copy()
    up.flat[:: len(matrix) + 1] += width
    down.flat[:: len(matrix) + 1] -= width
    return count_negative(up), count_negative(down)
