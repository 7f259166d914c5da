"""The lowest eigenvalue of a matrix by a shifted inverse, against all of its eigenvalues."""

import numpy as np
import pytest

from solvers.linear_algebra.lanczos import last_pair, lowest_value, pairs_below

RANDOM = np.random.default_rng(5)


def with_eigenvalues(values: np.ndarray) -> np.ndarray:
    """A symmetric matrix with these eigenvalues and random vectors."""
    turn = np.linalg.qr(RANDOM.standard_normal((values.size, values.size)))[0]
    matrix = (turn * values) @ turn.T
    return np.asarray(0.5 * (matrix + matrix.T))


@pytest.mark.parametrize("lowest", [-30.0, -1e-3, 1e-3, 0.4])
@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-6, 1e-2, 1.0])
def test_the_lowest_eigenvalue_whatever_is_expected_of_it(lowest: float, apart: float) -> None:
    """Also where another is near or equal, and where what is expected is above, below or the other one."""
    rest = lowest + 2.0 + np.sort(RANDOM.uniform(0.0, 1e4, 118))
    matrix = with_eigenvalues(np.concatenate([[lowest, lowest + apart], rest]))
    exact = np.linalg.eigvalsh(matrix)[0]
    for expected in (None, lowest, lowest + apart, 0.1 * lowest, 10.0 * lowest, lowest + 50.0, -50.0, -1e5):
        assert abs(lowest_value(matrix, expected) - exact) <= 1e-9 * abs(lowest) + 32.0 * np.finfo(float).eps * 1e4


def test_the_last_pair_is_that_of_the_upper_triangle() -> None:
    matrix = with_eigenvalues(np.linspace(-3.0, 2.0, 9))
    value, vector = last_pair(np.triu(matrix))
    assert value == pytest.approx(2.0, rel=1e-14)
    np.testing.assert_allclose(matrix @ vector, 2.0 * vector, atol=1e-13)


@pytest.mark.parametrize("small", [[1e-7], [-1e-6, 1e-6], [1e-9, 1e-9], [-2e-4, 0.0, 3e-4]])
def test_pairs_below_a_level_have_accurate_vectors_whatever_their_multiplicity(small: list[float]) -> None:
    rest = np.sort(RANDOM.uniform(1.0, 1e4, 118))
    matrix = with_eigenvalues(np.concatenate([small, rest]))
    exact, turn = np.linalg.eigh(matrix)
    found = pairs_below(matrix, 1e-3, 5)
    assert found is not None
    values, vectors = found
    count = len(small)
    rounding = 32.0 * np.finfo(float).eps * 1e4
    np.testing.assert_allclose(values[:count], exact[:count], rtol=0.0, atol=rounding)
    # The next is what the errors of the vectors are bounded with.
    assert exact[count] - rounding <= values[count] <= 1.25 * exact[count]
    outside = vectors[:, :count] - turn[:, :count] @ (turn[:, :count].T @ vectors[:, :count])
    assert np.linalg.norm(outside) <= rounding / rest[0]


def test_pairs_below_a_level_are_none_where_eigenvalues_are_further_below_or_none_is() -> None:
    rest = np.linspace(5.0, 1e3, 60)
    assert pairs_below(with_eigenvalues(np.concatenate([[-1.0], rest])), 1e-3, 4) is None
    assert pairs_below(with_eigenvalues(rest), 1e-3, 4) is None
