r"""The lowest eigenvalues of a large Hermitian matrix, by Lanczos on a shifted inverse.

The shift :math:`\sigma` is below the spectrum: the Cholesky factorisation of :math:`S - \sigma` exists, which
proves it, and solves with it. The largest eigenvalues :math:`1/(\mu - \sigma)` of the inverse are those of the
lowest :math:`\mu`, well separated, so few steps are enough; a Rayleigh-Ritz step on S itself follows. The
errors are of the order of the rounding error :math:`\mathrm{eps}\,\|S\|`, at a fraction of the time of all
eigenvalues.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from meanfield import NotResolved

from ..bases import Floats

Matrix = NDArray[Any]

# Largest dense matrix; five of them have to fit into memory.
LARGEST_SIZE = 4096
# First shift below zero, relative to the largest diagonal entry, and its growth until it is low enough.
FIRST_SHIFT = 1e-6
SHIFT_GROWTH = 16.0
# A shift below an expected eigenvalue, as a share of it, the multiple of this at which near eigenvalues are not
# told apart, and the residual of an eigenvector of the inverse.
BELOW, FAR, SOLVED = 0.3, 10.0, 1e-11
# Steps of a block are few where it has all of the smallest eigenvalues.
BLOCK_STEPS = 12


def check_size(size: int) -> None:
    """Refuse matrices that are too large.

    Raises
    ------
    NotResolved
        If the size exceeds ``LARGEST_SIZE``.
    """
    if size > LARGEST_SIZE:
        raise NotResolved(
            f"the decay rates at this state need a matrix of {size} modes and at most {LARGEST_SIZE} are "
            "affordable; leave the rates out (--no-rates, rates=False) or take a less concentrated state"
        )


def lowest_pairs(matrix: Matrix, count: int) -> tuple[Floats, Matrix]:
    """Return the lowest eigenvalues of a Hermitian matrix, ascending, and their vectors as columns.

    Parameters
    ----------
    matrix : (n, n) array
        Hermitian.
    count
        How many; fewer than n.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    factor, _ = _factor_below(matrix)
    size = matrix.shape[0]
    inverse = LinearOperator(
        (size, size),
        matvec=lambda vector: scipy.linalg.cho_solve((factor, True), vector, check_finite=False),
        dtype=matrix.dtype,
    )
    start = np.asarray(np.random.default_rng(0).standard_normal(size), dtype=matrix.dtype)
    vectors = np.linalg.qr(eigsh(inverse, k=count, which="LM", v0=start)[1])[0]
    values, turned = np.linalg.eigh(vectors.conj().T @ (matrix @ vectors))
    return values, vectors @ turned


def pairs_below(matrix: Floats, level: float, count: int) -> tuple[Floats, Floats] | None:
    """Return the lowest eigenvalues of a symmetric matrix, ascending, and their vectors as columns, by a block.

    Parameters
    ----------
    matrix : (n, n) array
        Symmetric, without eigenvalues below minus a level.
    level
        Positive, and small beside most eigenvalues. Of those below it the vectors are accurate, whatever their
        multiplicity; of others less so, the last the least.
    count
        The size of the block: so many pairs are returned.

    Returns
    -------
    tuple or None
        None if there are eigenvalues below minus the level, none below it, or too many near it for
        the block to settle.
    """
    shifted = matrix.copy()
    shifted[np.diag_indices_from(shifted)] += level
    factor, failed = scipy.linalg.lapack.dpotrf(shifted.T, overwrite_a=1, clean=0)
    block = np.random.default_rng(0).standard_normal((len(matrix), count))
    for _ in range(0 if failed else BLOCK_STEPS):
        block = np.linalg.qr(block)[0]
        solved = scipy.linalg.lapack.dpotrs(factor, block)[0]
        inner = block.T @ solved
        values, turn = np.linalg.eigh(0.5 * (inner + inner.T))
        residuals = np.linalg.norm((solved - block @ inner) @ turn, axis=0)
        close = 2.0 * level * values >= 1.0
        if close.any() and (residuals <= SOLVED * values)[close].all():
            # What is left of other vectors is small, but of large eigenvalues: once more the inverse.
            block = np.linalg.qr(solved @ turn)[0]
            levels, turn = np.linalg.eigh(block.T @ (matrix @ block))
            return levels, block @ turn
        block = solved
    return None


def lowest_value(matrix: Floats, expected: float | None) -> float:
    """Return the lowest eigenvalue of a symmetric matrix, faster if what is expected of it is near.

    Lanczos with each vector orthogonalised against all before, until the residual, which bounds the distance of the
    Ritz value from an eigenvalue of the inverse, is a rounding of it; then the Rayleigh quotient.
    """
    factor, shift = _factor_below(matrix, expected)
    value = _lowest_by(factor, matrix)
    if value + shift > FAR * (BELOW * abs(value) + _least_shift(matrix)):
        value = _lowest_by(_factor_below(matrix, value)[0], matrix)
    return value


def _lowest_by(factor: Matrix, matrix: Floats) -> float:
    """Return the lowest eigenvalue of a matrix from the Cholesky factor of it plus a shift."""
    size = len(matrix)
    basis, projected = np.empty((size, size)), np.zeros((size, size))
    vector = np.random.default_rng(0).standard_normal(size)
    for step in range(size):
        basis[step] = vector / np.linalg.norm(vector)
        known = basis[: step + 1]
        vector = scipy.linalg.lapack.dpotrs(factor, basis[step], lower=1)[0]
        projected[: step + 1, step] = known @ vector
        vector -= projected[: step + 1, step] @ known
        vector -= (known @ vector) @ known
        largest, coefficients = last_pair(projected[: step + 1, : step + 1])
        if np.linalg.norm(vector) * abs(coefficients[-1]) <= SOLVED * largest:
            break
    ritz = coefficients @ known
    return float(ritz @ (matrix @ ritz) / (ritz @ ritz))


def last_pair(matrix: Floats) -> tuple[float, Floats]:
    """Return the largest eigenvalue of a symmetric matrix, given by its upper triangle, and its vector."""
    size = len(matrix)
    values, vectors, *_, failed = scipy.linalg.lapack.dsyevr(matrix, range="I", il=size, iu=size)
    if failed:
        values, vectors = np.linalg.eigh(matrix, UPLO="U")
    return float(values[-1 if failed else 0]), np.asarray(vectors[:, -1])


def deflated(matrix: Matrix, known: Sequence[Matrix]) -> Matrix:
    """Return a matrix with its known zero modes, orthogonalised in turn, moved up by the size of the matrix."""
    basis = np.linalg.qr(np.stack(known, axis=1))[0]
    size = float(np.abs(matrix.diagonal()).max())
    return np.asarray(matrix + size * basis @ basis.conj().T)


def _least_shift(matrix: Matrix) -> float:
    return FIRST_SHIFT * float(np.abs(matrix.diagonal()).max())


def _factor_below(matrix: Matrix, expected: float | None = None) -> tuple[Matrix, float]:
    """Return the lower Cholesky factor of a matrix plus a shift, and the shift: minus it is below all eigenvalues.

    The first shift is for what is expected of the lowest eigenvalue.
    """
    shift = _least_shift(matrix)
    shifts = [] if expected is None else [BELOW * abs(expected) + shift - expected]
    while True:
        tried = shifts.pop() if shifts else shift
        shifted = matrix.copy()
        shifted[np.diag_indices_from(shifted)] += tried
        try:
            return scipy.linalg.cho_factor(shifted, lower=True, overwrite_a=True)[0], tried
        except np.linalg.LinAlgError:
            shift *= SHIFT_GROWTH if tried == shift else 1.0
