"""Negative eigenvalues and determinants by factorisation, against eigenvalues."""

import numpy as np
import pytest

from solvers.linear_algebra.inertia import signature

EPS = np.finfo(float).eps


@pytest.mark.parametrize("size", [2, 3, 8, 40])
@pytest.mark.parametrize("diagonal", [0.0, 1.0, 30.0])
def test_signature(size, diagonal):
    """A zero diagonal makes pivot blocks of two rows."""
    generator = np.random.default_rng([size, int(diagonal)])
    matrix = generator.normal(size=(size, size))
    matrix = matrix + matrix.T
    matrix.flat[:: size + 1] *= diagonal
    values = np.linalg.eigvalsh(matrix)
    for definite in (False, True):
        negative, determinant = signature(matrix.copy(), definite=definite)
        assert negative == np.count_nonzero(values < 0.0)
        bound = 64 * size * EPS * np.abs(values).max() / np.abs(values).min()
        assert determinant == pytest.approx(np.prod(values), rel=bound)


def test_the_empty_matrix():
    assert signature(np.zeros((0, 0))) == (0, 1.0)
