"""Bands and fitted powers: exact cases, coverage, and what is not known."""

import math

import numpy as np
import pytest

from meanfield import InvalidInput
from verification.statistics import band, modulus_band, power_law, student

SIZES = np.array([1000.0, 4000.0, 16000.0])


def test_student_has_the_values_of_the_tables() -> None:
    assert student(0.95, 1) == pytest.approx(12.706, abs=5e-4)
    assert student(0.95, 31) == pytest.approx(2.0395, abs=5e-5)
    assert student(0.99, 10) == pytest.approx(3.1693, abs=5e-5)
    with pytest.raises(InvalidInput, match="a confidence is between 0 and 1, not 95"):
        student(95, 3)


def test_band_of_three_numbers() -> None:
    found = band(np.array([1.0, 2.0, 3.0]))
    assert (found.mean, found.standard_error) == (2.0, pytest.approx(1 / math.sqrt(3)))
    assert found.high - found.mean == pytest.approx(4.3027 / math.sqrt(3), abs=1e-4)
    assert found.mean - found.low == pytest.approx(found.high - found.mean)


def test_one_replica_has_no_band() -> None:
    found = band(np.ones((1, 4)))
    assert found.mean.tolist() == [1.0] * 4
    assert np.isnan(found.standard_error).all()
    assert np.isnan(found.low).all()


def test_missing_replicas_are_left_out_of_the_band() -> None:
    found = band(np.array([[1.0, np.nan, np.nan], [2.0, 4.0, np.nan], [3.0, np.nan, np.nan]]))
    assert found.mean[:2].tolist() == [2.0, 4.0]
    assert found.standard_error[0] == pytest.approx(1 / math.sqrt(3))
    assert np.isnan(found.standard_error[1:]).all()
    assert np.isnan(found.mean[2])


def test_exact_power() -> None:
    fitted = power_law(SIZES, 3.0 * SIZES[:, None] ** -0.5 * np.array([[1.0, 1.6, 0.4]]))
    assert fitted is not None
    assert fitted.exponent == pytest.approx(-0.5, abs=1e-14)
    assert fitted.prefactor == pytest.approx(3.0, rel=1e-12)
    assert fitted.curvature == pytest.approx(1.0)
    low, high = fitted.interval
    assert low < -0.5 < high


def test_interval_against_the_formula() -> None:
    values = np.array([[1.0, 2.0], [0.5, 0.7], [0.2, 0.4]])
    fitted = power_law(SIZES, values)
    x, y = np.repeat(np.log(SIZES), 2), np.log(values).ravel()
    coefficients, covariance = np.polyfit(x, y, 1, cov=True)
    assert fitted.exponent == pytest.approx(coefficients[0], rel=1e-12)
    assert fitted.standard_error == pytest.approx(math.sqrt(covariance[0, 0]), rel=1e-12)
    assert fitted.interval[1] - fitted.exponent == pytest.approx(student(0.95, 4) * fitted.standard_error)


def test_coverage_of_the_interval() -> None:
    # 2000 experiments with scatter as distances have it, the square root of a sum of squares. The coverage of a
    # 95 % interval is within 0.95 +- 0.02, four standard deviations: false alarm below 1e-4.
    generator = np.random.default_rng(np.random.SeedSequence(11))
    covered, straight = 0, 0
    for _ in range(2000):
        scatter = np.sqrt((generator.standard_normal((3, 16, 4)) ** 2).sum(axis=2))
        fitted = power_law(SIZES, scatter * SIZES[:, None] ** -0.5)
        covered += fitted.interval[0] <= -0.5 <= fitted.interval[1]
        straight += fitted.curvature > 0.05
    assert covered / 2000 == pytest.approx(0.95, abs=0.02)
    assert straight / 2000 == pytest.approx(0.95, abs=0.02)


def test_a_floor_is_seen_as_curvature() -> None:
    generator = np.random.default_rng(np.random.SeedSequence(12))
    scatter = np.sqrt((generator.standard_normal((3, 64, 8)) ** 2).sum(axis=2))
    sizes = np.array([100.0, 1600.0, 25600.0])
    bent = power_law(sizes, scatter * sizes[:, None] ** -0.5 + 0.03)
    assert bent.curvature < 1e-3
    assert bent.interval[0] > -0.5


def test_what_is_missing_is_left_out() -> None:
    values = np.array([[1.0, np.nan], [0.5, 0.5], [np.nan, np.nan]])
    fitted = power_law(SIZES, values)
    assert fitted.exponent == pytest.approx(-0.5)
    assert fitted.curvature is None
    assert power_law(SIZES[:1], values[:1]) is None
    two = power_law(SIZES[:2], values[:2, :1])
    assert two.standard_error is None
    assert two.interval is None


# Of 400 bands of a coverage of 0.95 fewer than 359 hold the truth with a probability of 3e-6.
TRIALS, FEWEST = 400, 359


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("components", [2, 5])
@pytest.mark.parametrize("length", [0.0, 0.3, 1.0, 3.0, 10.0])
def test_bands_of_moduli_hold_the_modulus_of_the_mean(length: float, components: int, turned: bool) -> None:
    """Of moments of N = 100 particles, of a modulus of so many roots of 1/N, by 32 replicas, turned at random or not."""
    generator = np.random.default_rng(7)
    vectors = generator.normal(scale=math.sqrt(0.01 / components), size=(32, TRIALS, components))
    vectors[:, :, 0] += 0.1 * length
    moduli = np.linalg.norm(vectors, axis=-1)
    if turned:
        directions = generator.normal(size=vectors.shape)
        vectors = directions * (moduli / np.linalg.norm(directions, axis=-1))[..., None]
    found = modulus_band(vectors, moduli, components, turning=100 if turned else None)
    held = (found.low <= 0.1 * length) & (0.1 * length <= found.high)
    assert held.sum() >= FEWEST
    assert ((found.low <= found.mean) & (found.mean <= found.high)).all()
    plain = band(moduli)
    assert np.array_equal(found.mean, plain.mean)
    assert np.array_equal(found.standard_error, plain.standard_error)
    if length <= 0.3:
        assert ((plain.low <= 0.1 * length) & (0.1 * length <= plain.high)).mean() < 0.1
    # Where the modulus is large, the band is not much longer than that of the mean.
    if length == 10.0:
        assert (found.high - found.low).mean() <= 2.5 * (plain.high - plain.low).mean()


def test_bands_of_moduli_know_what_is_missing() -> None:
    vectors = np.random.default_rng(1).normal(size=(3, 2, 2))
    vectors[2, 0], vectors[1:, 1] = np.nan, np.nan
    found = modulus_band(vectors, np.linalg.norm(vectors, axis=-1), 2, turning=50)
    assert np.isfinite(found.low[0])
    assert np.isfinite(found.mean).all()
    assert np.isnan([found.low[1], found.high[1]]).all()
