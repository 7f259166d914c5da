"""Wasserstein distances on the circle against brute force, closed forms and each other; divergences."""

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from meanfield import ComputationFailed, InvalidInput
from meanfield.transport import (
    Density,
    Sample,
    l2_distance,
    relative_entropy,
    wasserstein1,
    wasserstein2,
)
from tests import oracles

EPS = float(np.finfo(float).eps)
DISTANCES = {1: wasserstein1, 2: wasserstein2}
UNIFORM = Density([1.0])
# Masses are known to about four roundings.
MASS = 4 * EPS


def random(*seed: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed))


def von_mises(mean: float, concentration: float, degree: int = 60) -> Density:
    from scipy.special import ive

    modes = np.arange(degree + 1)
    sizes = ive(modes, concentration) / ive(0, concentration)
    return Density(sizes * np.cos(modes * mean), sizes * np.sin(modes * mean))


def one_mode(mode: int, amplitude: float) -> Density:
    cosine = np.zeros(mode + 1)
    cosine[0], cosine[mode] = 1.0, amplitude
    return Density(cosine)


def random_points(generator: np.random.Generator, count: int, kind: str) -> Any:
    if kind == "spread":
        return generator.uniform(0, 2 * np.pi, count)
    if kind == "clusters":
        return generator.normal(generator.choice([0.3, 3.0, 4.0], count), 0.2) % (2 * np.pi)
    return generator.integers(0, 6, count) * (np.pi / 3)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", ["spread", "clusters", "ties"])
def test_samples_against_assignment(kind: str, order: int) -> None:
    for seed in range(40):
        generator = random(seed, order)
        x, y = (random_points(generator, int(generator.integers(1, 12)), kind) for _ in range(2))
        expected = oracles.assignment_distance(x, y, order)
        # A sum of at most 132 squares below pi^2, and a root of order 2.
        assert DISTANCES[order](Sample(x), Sample(y)) ** order == pytest.approx(expected**order, abs=200 * EPS * 10)


@pytest.mark.parametrize("order", [1, 2])
def test_samples_against_the_linear_programme(order: int) -> None:
    generator = random(7)
    for sizes in ((1, 5), (4, 7), (9, 6)):
        x, y = (generator.uniform(0, 2 * np.pi, size) for size in sizes)
        expected = oracles.programme_distance(x, y, order)
        # The solver's own feasibility tolerance is 1e-7.
        assert DISTANCES[order](Sample(x), Sample(y)) ** order == pytest.approx(expected**order, abs=1e-6)


@pytest.mark.parametrize(("count", "order"), [(1, 2), (3, 1), (12, 1), (12, 2)])
def test_sample_and_density_against_brute_force(count: int, order: int) -> None:
    points = np.sort(random_points(random(count), count, "clusters"))
    density = Density([1.0, 0.3, -0.1, 0.02], [0.0, 0.1, 0.05, -0.04])
    breaks = np.linspace(0, 1, count * (4 if count > 3 else 40) + 1)

    def quantile(masses: Any) -> Any:
        return points[np.minimum((masses * count).astype(int), count - 1)]

    expected = oracles.coupled_distance(
        quantile, lambda masses: oracles.series_quantile(density.cosine, density.sine, masses), breaks, order
    )
    # |X - Q| has corners between the nodes for order 1; its square is smooth.
    tolerance = 1e-4 if order == 1 else 1e-12
    assert DISTANCES[order](Sample(points), density) == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize("order", [1, 2])
def test_densities_against_brute_force(order: int) -> None:
    one = Density([1.0, 0.3, -0.1, 0.02], [0.0, 0.1, 0.05, -0.04])
    other = Density([1.0, -0.25, 0.1], [0.0, 0.2, 0.05])
    quantiles = [
        lambda masses, density=density: oracles.series_quantile(density.cosine, density.sine, masses)
        for density in (one, other)
    ]
    expected = oracles.coupled_distance(*quantiles, np.linspace(0, 1, 61), order)
    tolerance = 1e-4 if order == 1 else 1e-12
    assert DISTANCES[order](one, other) == pytest.approx(expected, rel=tolerance)
    assert DISTANCES[order](one, other) == pytest.approx(DISTANCES[order](other, one), rel=1e-13)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    ("first", "second"), [((0.0, 0.5), (1.0, 2.0)), ((0.0, 8.0), (2.5, 3.0)), ((1, 20), (2, 25))]
)
def test_the_three_ways_agree(first: tuple[float, float], second: tuple[float, float], order: int) -> None:
    one, other = von_mises(*first), von_mises(*second)
    expected = DISTANCES[order](one, other)
    # The middles of N equal masses are at a distance of order 1/N; the quantiles start at angle 0.
    count = 4000
    samples = [Sample(density.quantile((np.arange(count) + 0.5) / count)) for density in (one, other)]
    assert DISTANCES[order](samples[0], other) == pytest.approx(expected, abs=2 * np.pi / count)
    assert DISTANCES[order](*samples) == pytest.approx(expected, abs=2 * np.pi / count)


@pytest.mark.parametrize(("apart", "expected"), [(1.0, 1.0), (np.pi, np.pi), (5.0, 2 * np.pi - 5.0)])
def test_two_points(apart: float, expected: float) -> None:
    one, other = Sample([1.0]), Sample([1.0 + apart])
    assert wasserstein1(one, other) == pytest.approx(expected, rel=8 * EPS)
    assert wasserstein2(one, other) == pytest.approx(expected, rel=8 * EPS)


def test_a_point_and_uniform() -> None:
    # The distance from a point is uniform on [0, pi].
    assert wasserstein1(Sample([1.0]), UNIFORM) == pytest.approx(np.pi / 2, rel=16 * EPS)
    assert wasserstein2(Sample([1.0]), UNIFORM) == pytest.approx(np.pi / math.sqrt(3), rel=16 * EPS)


@pytest.mark.parametrize("count", [2, 5, 64, 1000])
def test_equispaced_points_and_uniform(count: int) -> None:
    sample = Sample(0.1 + 2 * np.pi * np.arange(count) / count)
    assert wasserstein1(sample, UNIFORM) == pytest.approx(np.pi / (2 * count), rel=count * 4 * EPS)
    assert wasserstein2(sample, UNIFORM) == pytest.approx(np.pi / (math.sqrt(3) * count), rel=count * 4 * EPS)


@pytest.mark.parametrize("mode", [1, 2, 7])
@pytest.mark.parametrize("amplitude", [0.3, 1e-3, 1e-6, 1e-9])
def test_small_perturbations_of_uniform(mode: int, amplitude: float) -> None:
    density = one_mode(mode, amplitude)
    assert wasserstein1(density, UNIFORM) == pytest.approx(4 * amplitude / (np.pi * mode), rel=1e-12)
    # The next order of W_2 and of the entropy is relative to the amplitude squared.
    rounding = 2 * np.pi * MASS / amplitude
    first_order = math.sqrt(2) * amplitude / mode
    assert wasserstein2(density, UNIFORM) == pytest.approx(first_order, rel=2 * amplitude**2 + rounding)
    assert relative_entropy(density, UNIFORM) == pytest.approx(amplitude**2, rel=2 * amplitude**2 + 1e-12)
    assert l2_distance(density, UNIFORM) == pytest.approx(amplitude / math.sqrt(np.pi), rel=8 * EPS)


@pytest.mark.parametrize("order", [1, 2])
def test_a_turn_of_a_density_that_vanishes_somewhere(order: int) -> None:
    # With mass 1e-16 on the far side the translation is optimal, as on the line.
    assert DISTANCES[order](von_mises(0.0, 30.0), von_mises(0.4, 30.0)) == pytest.approx(0.4, abs=1e-7)


@pytest.mark.parametrize("order", [1, 2])
def test_metric(order: int) -> None:
    generator = random(3)
    distance = DISTANCES[order]
    measures = [
        Sample(generator.uniform(0, 2 * np.pi, 7)),
        Sample(generator.normal(1.0, 0.5, 12)),
        von_mises(2.0, 3.0),
        Density([1.0, 0.2, -0.2], [0.0, 0.1, 0.1]),
    ]
    for one in measures:
        assert distance(one, one) == pytest.approx(0.0, abs=1e-15)
        for other in measures:
            assert distance(one, other) == pytest.approx(distance(other, one), rel=1e-13, abs=1e-15)
            assert wasserstein1(one, other) <= wasserstein2(one, other) * (1 + 1e-14) + 1e-15
            for third in measures:
                assert distance(one, other) <= distance(one, third) + distance(third, other) + 1e-14


@pytest.mark.parametrize("order", [1, 2])
def test_rotation_leaves_distances_alone(order: int) -> None:
    generator = random(4)
    points, angle = generator.uniform(0, 2 * np.pi, (2, 50)), 2.345
    expected = DISTANCES[order](Sample(points[0]), Sample(points[1]))
    turned = DISTANCES[order](Sample(points[0] + angle), Sample(points[1] + angle))
    assert turned == pytest.approx(expected, rel=1e-12)
    one, other = von_mises(0.3, 2.0), von_mises(1.0, 5.0)
    turned = DISTANCES[order](von_mises(0.3 + angle, 2.0), von_mises(1.0 + angle, 5.0))
    assert turned == pytest.approx(DISTANCES[order](one, other), rel=1e-12)
    expected = DISTANCES[order](Sample(points[0]), one)
    assert DISTANCES[order](Sample(points[0] + angle), von_mises(0.3 + angle, 2.0)) == pytest.approx(
        expected, rel=1e-12
    )


def test_quantile_inverts_the_distribution() -> None:
    density = von_mises(2.0, 6.0)
    masses = np.linspace(-1.3, 2.7, 1001)
    smallest = float(density.values(2.0 + np.pi))
    angles = density.quantile(masses)
    assert np.all(np.diff(angles) > 0)
    # Angles of up to 15 have roundings of that size.
    assert np.abs(density.distribution(angles) - masses).max() <= 15 * MASS
    assert np.abs(density.quantile(density.distribution(angles)) - angles).max() <= 4 * MASS / smallest
    assert density.quantile([[0.5, 1.5]]).shape == (1, 2)
    expected = oracles.series_quantile(density.cosine, density.sine, masses)
    assert np.abs(angles - expected).max() <= 4 * MASS / smallest


def test_distribution_of_many_modes() -> None:
    generator = random(5)
    modes = np.arange(1, 301)
    sizes = generator.normal(size=(2, 300)) / modes**2 / 20
    density = Density([1.0, *sizes[0]], [0.0, *sizes[1]])
    angles = generator.uniform(-7, 7, 20)
    phases = np.multiply.outer(angles, modes)
    terms = (np.sin(phases) * sizes[0] + (1 - np.cos(phases)) * sizes[1]) / modes
    assert density.distribution(angles) == pytest.approx(
        angles / (2 * np.pi) + terms.sum(axis=1) / np.pi, abs=8 * EPS
    )


def test_relative_entropy_against_quadrature() -> None:
    one, other = von_mises(0.3, 2.0), von_mises(1.0, 5.0)

    def density(mean: float, concentration: float, t: Any) -> Any:
        return mp.exp(concentration * mp.cos(t - mean)) / (2 * mp.pi * mp.besseli(0, concentration))

    def integrand(t: Any) -> Any:
        return density(0.3, 2.0, t) * mp.log(density(0.3, 2.0, t) / density(1.0, 5.0, t))

    expected = mp.quad(integrand, [0, mp.pi, 2 * mp.pi])
    assert relative_entropy(one, other) == pytest.approx(float(expected), rel=1e-12)
    squared = mp.quad(lambda t: (density(0.3, 2.0, t) - density(1.0, 5.0, t)) ** 2, [0, mp.pi, 2 * mp.pi])
    assert l2_distance(one, other) == pytest.approx(float(mp.sqrt(squared)), rel=1e-13)
    assert relative_entropy(one, one) == 0.0 == l2_distance(one, one)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Sample([]), "at least one angle"),
        (lambda: Sample([[0.1, 0.2]]), "replicas one by one"),
        (lambda: Sample([0.1, math.nan]), "angles must be .* of finite numbers, not"),
        (lambda: Density([]), "two vectors of one length"),
        (lambda: Density([1.0, 0.1], [0.0]), "two vectors of one length"),
        (lambda: Density([1.0, math.inf]), "cosine must be .* of finite numbers, not"),
        (lambda: Density([0.5, 0.1]), "divide the moments by it"),
        (lambda: Density([1.0, 0.1], [0.1, 0.0]), "moment 1 in degree 0"),
        (lambda: Density([1.0, 0.9]), "is not negative, but the moments give -"),
        (lambda: wasserstein1([0.1], UNIFORM), "one must be a Sample such as"),  # type: ignore[arg-type]
        (lambda: wasserstein2(UNIFORM, 3), "other must be a Sample such as"),  # type: ignore[arg-type]
    ],
)
def test_nonsense_gets_a_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        make()


@pytest.mark.parametrize("count", [1, 2, 5])
def test_shifts_that_jump(count: int) -> None:
    # A border between points falls exactly where the density vanishes: the cost has a kink there, and the
    # best shift is on either side of it.
    density = von_mises(np.pi, 30.0, 80)
    points = np.pi + np.linspace(-0.5, 0.7, count)
    fine = Sample(density.quantile((np.arange(20000) + 0.5) / 20000))
    # The discretised density has a squared error of the squared widest interval times its mass.
    assert wasserstein2(Sample(points), density) == pytest.approx(wasserstein2(Sample(points), fine), abs=2e-5)


@pytest.mark.parametrize(("concentration", "change"), [(2.0, 1e-4), (12.0, 1e-3), (16.0, 1.0)])
def test_entropy_of_concentrated_densities_that_nearly_agree(concentration: float, change: float) -> None:
    one, other = von_mises(0.4, concentration, 90), von_mises(0.4, concentration + change, 90)
    with mp.workdps(30):
        first, second = mp.mpf(concentration), mp.mpf(concentration) + mp.mpf(change)
        ratio = mp.besseli(1, first) / mp.besseli(0, first)
        expected = (first - second) * ratio + mp.log(mp.besseli(0, second) / mp.besseli(0, first))
    # Differences of moments are known to rounding over the change.
    assert relative_entropy(one, other) == pytest.approx(float(expected), rel=1e-12 + 100 * EPS / change)


def test_a_spike_and_uniform() -> None:
    # Between the rise of a spike and the plain, Newton's steps alone lead back and forth.
    spike = von_mises(1.0, 1000.0, 420)
    equispaced = Sample(2 * np.pi * np.arange(4000) / 4000)
    slack = wasserstein2(equispaced, UNIFORM)
    assert wasserstein2(spike, UNIFORM) == pytest.approx(wasserstein2(spike, equispaced), abs=slack)
    assert wasserstein2(spike, UNIFORM) == pytest.approx(np.pi / math.sqrt(3), abs=1000**-0.5)


def test_an_entropy_that_is_not_known_is_no_number() -> None:
    # The true value is 100 (1 - cos 1) I_1/I_0, of which logarithms below 1e-14 know nothing.
    with pytest.raises(ComputationFailed, match="a relative entropy is not known"):
        relative_entropy(von_mises(1.0, 100.0, 140), von_mises(2.0, 100.0, 140))
    # p log p is known where p vanishes.
    sharp = von_mises(1.0, 100.0, 140)
    expected = 100 * mp.besseli(1, 100) / mp.besseli(0, 100) - mp.log(mp.besseli(0, 100))
    assert relative_entropy(sharp, UNIFORM) == pytest.approx(float(expected), rel=1e-11)
