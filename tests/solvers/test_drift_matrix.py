"""The linear equation of the moments of a density under a drift: by its diagonals and dense, and transposed."""

import numpy as np
import pytest

from solvers.equations.drift_matrix import DriftMatrix

EPS = np.finfo(float).eps


def residual(drift, speed, symmetry, solved, sides):
    """Return i n k x_k - sum_l g_(k-l) x_l - f_k of both signs of k, l not 0, summed term by term."""
    count = solved.size // 2
    series = {
        k: drift[k] - speed * (k == 0) if k >= 0 else drift[-k].conj() for k in range(-2 * count, 2 * count + 1)
    }
    half = solved[:count] - 1j * solved[count:]
    x = {k: half[k - 1] if k > 0 else half[-k - 1].conj() for k in range(-count, count + 1) if k}
    found = []
    for k in range(1, count + 1):
        total = 1j * symmetry * k * x[k] - sum(series[k - place] * x[place] for place in x)
        found.append(total - (sides[count + k - 1] + 1j * sides[k - 1]))
    return np.array(found)


# Of few degrees by diagonals, the first two, and of others dense.
@pytest.mark.parametrize(("count", "degrees", "symmetry"), [(16, 2, 1), (32, 4, 3), (16, 16, 2), (16, 3, 1)])
def test_solutions_fulfil_the_equation_and_transposed_ones_its_adjoint(count, degrees, symmetry):
    rng = np.random.default_rng(count + degrees)
    drift = np.zeros(2 * count + 1, dtype=complex)
    drift[: degrees + 1] = rng.normal(size=degrees + 1) + 1j * rng.normal(size=degrees + 1)
    drift[0] = drift[0].real
    matrix = DriftMatrix(drift, 0.3, symmetry)
    sides, forms = rng.normal(size=(2, 3, 2 * count))
    solved, adjoint = matrix.solve(sides), matrix.solve(forms, transposed=True)
    scale = count * symmetry + np.abs(drift).sum()
    for row, side in zip(solved, sides, strict=True):
        assert np.abs(residual(drift, 0.3, symmetry, row, side)).max() < 64 * EPS * scale * np.abs(row).max()
    assert np.abs(adjoint @ sides.T - forms @ solved.T).max() < 256 * EPS * count * np.abs(forms @ solved.T).max()
    assert np.abs(matrix.solve(sides[0]) - solved[0]).max() < 64 * EPS * np.abs(solved[0]).max()
