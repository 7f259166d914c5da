"""What laws say of pairs: drives of single particles beside their series, and slopes of velocities beside the bound."""

import numpy as np
import pytest

from meanfield import Circle, GegenbauerSeries, Kuramoto, NormalisedAttention, SoftmaxAttention, Sphere, Transformer
from meanfield.equations import Gradient

EPS = np.finfo(float).eps
COSINES = np.linspace(-1.0, 1.0, 21)


def zonal_sums(coefficients, cosines, dimension):
    """Return sum_l c_l P_l at cosines, by the recurrence."""
    before, values, total = np.zeros_like(cosines), np.ones_like(cosines), np.zeros_like(cosines)
    for degree, coefficient in enumerate(coefficients):
        total += coefficient * values
        following = ((2 * degree + dimension - 2) * cosines * values - degree * before) / max(
            degree + dimension - 2, 1
        )
        before, values = values, following
        if degree == 0:
            values = cosines.copy()
    return total


@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(6)], ids=str)
@pytest.mark.parametrize("beta", [-2.0, 0.5, 5.0])
def test_kernels_are_the_series_up_to_one_factor(domain, beta):
    law = NormalisedAttention(beta)
    drive, derivative, radial = law.kernels(COSINES)
    scale = np.exp(abs(beta))
    exact = -zonal_sums(law.potential.multipliers(domain, 60).astype(float), COSINES, domain.dimension)
    assert np.abs(drive * scale - exact).max() <= 64 * EPS * scale / abs(beta)
    exact = zonal_sums(law.radial(domain, 60), COSINES, domain.dimension)
    assert np.abs(radial * scale - exact).max() <= 64 * (1 + abs(beta)) * EPS * scale
    # The derivative of exp(beta c)/beta by c.
    assert np.abs(derivative - beta * drive).max() <= 8 * EPS


def test_a_row_has_one_factor_of_its_own():
    rows = np.array([[0.1, 0.2, 0.9], [-0.9, -0.5, -0.7]])
    for law in (SoftmaxAttention(660.0), NormalisedAttention(-660.0)):
        derivative = law.kernels(rows)[1]
        assert np.array_equal(derivative.max(axis=1), [1.0, 1.0])
        assert np.allclose(np.log(derivative[1, 1] / derivative[1, 2]), 0.2 * law.beta, rtol=1e-12, atol=0.0)


def test_softmax_leaves_the_rows_as_they_were():
    rows = COSINES.copy()
    SoftmaxAttention(3.0).kernels(rows)
    assert np.array_equal(rows, COSINES)


@pytest.mark.parametrize("potential", [Kuramoto(), Transformer(1.5)])
def test_the_gradient_law_has_the_kernel_of_its_potential(potential):
    drive, derivative, radial = Gradient(potential).kernels(COSINES)
    assert radial is None
    assert np.abs(drive + potential.values(np.arccos(COSINES))).max() == 0.0
    exact = np.ones_like(COSINES) if potential == Kuramoto() else np.exp(1.5 * COSINES)
    assert np.abs(derivative - exact)[1:-1].max() <= 64 * EPS * exact.max()


@pytest.mark.parametrize("beta", [-3.0, 0.3, 2.0, 40.0])
def test_the_slope_of_softmax_attention_is_bounded(beta):
    """By random weights on the circle; the bound is met by two equal clusters on both sides of a token."""
    law, generator, largest = SoftmaxAttention(beta), np.random.default_rng(7), 0.0
    places = np.linspace(-np.pi, np.pi, 4001)
    starts = [*(generator.uniform(-np.pi, np.pi, count) for count in (2, 3, 5, 9)), np.array([1.5, -1.5])]
    for tokens in starts:
        differences = tokens - places[:, np.newaxis]
        weights = np.exp(beta * np.cos(differences) - abs(beta))
        velocity = (weights * np.sin(differences)).sum(axis=1) / weights.sum(axis=1)
        largest = max(largest, np.abs(np.diff(velocity)).max() / np.diff(places).max())
    assert 0.5 * law.steepness() <= largest <= law.steepness()


def test_slopes_are_bounded_where_a_bound_is_known():
    assert Gradient(Kuramoto()).steepness() == 1.0
    assert Gradient(GegenbauerSeries((-1.0, 0.5), 3)).steepness() is None
    assert NormalisedAttention(-2.0).steepness() == 3.5
