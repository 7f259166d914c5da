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

from .bases import Floats

Matrix = NDArray[Any]

# Largest dense matrix; five of them have to fit into memory.
LARGEST_SIZE = 4096
# First shift below zero, relative to the largest diagonal entry, and its growth until it is low enough.
FIRST_SHIFT = 1e-6
SHIFT_GROWTH = 16.0


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

    factor = _factor_below(matrix)
    size = matrix.shape[0]
    inverse = LinearOperator(
        (size, size),
        matvec=lambda vector: scipy.linalg.cho_solve(factor, vector, check_finite=False),
        dtype=matrix.dtype,
    )
    start = np.asarray(np.random.default_rng(0).standard_normal(size), dtype=matrix.dtype)
    vectors = np.linalg.qr(eigsh(inverse, k=count, which="LM", v0=start)[1])[0]
    values, turned = np.linalg.eigh(vectors.conj().T @ (matrix @ vectors))
    return values, vectors @ turned


def deflated(matrix: Matrix, known: Sequence[Matrix]) -> Matrix:
    """Return a matrix with its known zero modes, orthogonalised in turn, moved up by the size of the matrix."""
    basis = np.linalg.qr(np.stack(known, axis=1))[0]
    size = float(np.abs(matrix.diagonal()).max())
    return np.asarray(matrix + size * basis @ basis.conj().T)


def _factor_below(matrix: Matrix) -> tuple[Matrix, bool]:
    """Return the Cholesky factorisation of the matrix minus a shift below its eigenvalues."""
    shift = FIRST_SHIFT * float(np.abs(matrix.diagonal()).max())
    while True:
        shifted = matrix.copy()
        shifted[np.diag_indices_from(shifted)] += shift
        try:
            factor: tuple[Matrix, bool] = scipy.linalg.cho_factor(shifted, lower=True, overwrite_a=True)
            return factor
        except np.linalg.LinAlgError:
            shift *= SHIFT_GROWTH
