"""Free energy, dissipation and extreme values along a path of densities, beside those of the densities one by one."""

import numpy as np
import pytest
from scipy.special import ive

from meanfield import (
    Circle,
    CosineSeries,
    GegenbauerSeries,
    Kuramoto,
    McKeanVlasov,
    Sphere,
    Transformer,
    free_energy_parts,
)
from meanfield import dissipation as dissipation_of
from meanfield.harmonics import modes_of
from solvers.evolution.circle.space import CircleSpace
from solvers.evolution.descent import Means, settled_means
from solvers.evolution.sphere.space import FullSpace, ZonalSpace

PATHS, DEGREE = 12, 8
FIELDS = {2: CosineSeries((-0.3, 0.2)), 3: GegenbauerSeries((-0.3, 0.2)), 5: GegenbauerSeries((0.4,), 5)}
SPACES = {
    "circle": (CircleSpace(), Circle(), "degree"),
    "S^2": (ZonalSpace(Sphere(3)), Sphere(3), "degree"),
    "S^4": (ZonalSpace(Sphere(5)), Sphere(5), "degree"),
    "S^2 without an axis": (FullSpace(), Sphere(3), "order"),
}


def densities(domain, layout, generator):
    """Return moments (PATHS, n) of positive densities at random, of sizes from nearly uniform to far from it."""
    modes = modes_of(domain, layout)
    places = modes.places(DEGREE)
    numbers, degrees = modes.multiplicities(places), modes.degrees(places)
    cosine, sine = generator.standard_normal((2, PATHS, places)) * 0.4**degrees
    if layout == "order":
        orders = modes.orders(places)
        sine[:, orders == 0] = 0.0
    elif domain.dimension > 2:
        sine[:] = 0.0
    sine[:, 0] = cosine[:, 0] = 0.0
    # The values of f = sum N m e are at most the sum of N |m|.
    largest = (numbers * (np.abs(cosine) + np.abs(sine))).sum(axis=1)
    sizes = np.geomspace(1e-8, 0.9, PATHS) / largest
    cosine, sine = sizes[:, None] * cosine, sizes[:, None] * sine
    cosine[:, 0] = 1.0
    return cosine, sine


@pytest.mark.parametrize("confined", [False, True], ids=["free", "confined"])
@pytest.mark.parametrize("name", SPACES)
def test_paths_agree_with_single_densities(name, confined):
    space, domain, layout = SPACES[name]
    field = FIELDS[domain.dimension] if confined else None
    problem = McKeanVlasov(domain, Transformer(2.0), noise=0.7, coupling=1.3, confinement=field)
    cosine, sine = densities(domain, layout, np.random.default_rng(5))
    values = space.descent(problem, cosine, sine, 0.0)
    for index in range(PATHS):
        moments = cosine[index], sine[index], layout
        gap, fall = free_energy_parts(problem, *moments).gap, dissipation_of(problem, *moments)
        # Sums of a few terms of size one; without a field both are of second order in the moments.
        scale = 1.0 if confined else gap
        assert values.gap[index] == pytest.approx(gap, rel=1e-12, abs=1e-15 * abs(scale))
        assert values.dissipation[index] == pytest.approx(
            fall / problem.noise, rel=1e-9, abs=1e-13 if confined else 0.0
        )


@pytest.mark.parametrize("name", SPACES)
def test_smallest_and_largest_values_are_those_of_the_density(name):
    space, domain, layout = SPACES[name]
    problem = McKeanVlasov(domain, Kuramoto(), coupling=1.0)
    cosine, sine = densities(domain, layout, np.random.default_rng(6))
    values = space.descent(problem, cosine, sine, 0.0)
    modes = modes_of(domain, layout)
    for index in range(PATHS):
        numbers = modes.multiplicities(cosine.shape[1])
        fine = modes.values(numbers * cosine[index], numbers * sine[index], 256) / domain.volume
        # Between nodes of the grid of a path a density of this degree changes by less.
        slack = 0.05 * (fine.max() - fine.min())
        assert fine.min() - 1e-12 <= values.minimum[index] <= fine.min() + slack
        assert fine.max() - slack <= values.maximum[index] <= fine.max() + 1e-12


@pytest.mark.parametrize("amplitude", [1e-12, 1e-6, 1e-3, 0.02, 0.2])
def test_near_uniform_the_gap_keeps_its_relative_accuracy(amplitude):
    """Gap (1 - lambda_1) a^2 + a^4/2 + ..., h(f) - f^2/2 having the mean f^4/12 = a^4/2 for f = 2 a cos."""
    problem = McKeanVlasov(Circle(), Kuramoto(), noise=0.7, coupling=1.1)
    cosine = np.array([[1.0, amplitude, 0.0]])
    values = CircleSpace().descent(problem, cosine, np.zeros((1, 3)), 0.0)
    assert values.gap[0] == pytest.approx(free_energy_parts(problem, cosine[0]).gap, rel=1e-12)


def test_what_is_not_known_is_nan():
    problem = McKeanVlasov(Circle(), Kuramoto(), coupling=1.0)
    narrow = ive(np.arange(31), 60.0) / ive(0, 60.0)
    badly = np.where(np.arange(31) <= 12, narrow, 0.0)
    values = CircleSpace().descent(problem, np.array([badly, narrow]), np.zeros((2, 31)), 0.0)
    # Twelve moments of a narrow density leave it negative.
    assert values.minimum[0] < -1e-3
    assert np.isnan(values.gap[0])
    assert np.isnan(values.dissipation[0])


def values_on(*grids):
    """Return what `settled_means` makes of one density whose entropy and its error are given grid by grid."""
    means = {
        number: Means(*(np.array([each]) for each in (entropy, error, 1.0, 1e-15, 0.5, 2.0)))
        for number, (entropy, error) in enumerate(grids)
    }
    return settled_means(lambda grid, _: means[grid], range(len(grids)), 1)


def test_an_integral_is_settled_where_two_grids_agree():
    entropy, dissipation, lowest, highest = values_on((0.3, 1e-15), (0.25, 1e-15), (0.25, 1e-15), (0.7, 1e-15))
    assert (entropy[0], dissipation[0], lowest[0], highest[0]) == (0.25, 1.0, 0.5, 2.0)


def test_an_integral_on_which_no_two_grids_agree_is_not_known():
    entropy, dissipation, *_ = values_on((0.3, 1e-15), (0.25, 1e-15), (0.2, 1e-15))
    assert np.isnan(entropy[0])
    assert np.isnan(dissipation[0])


def test_an_entropy_that_is_all_rounding_is_not_known():
    assert np.isnan(values_on((0.25, 1e-2), (0.25, 1e-2))[0][0])
    assert values_on((0.25, 1e-5), (0.25, 1e-5))[0][0] == 0.25


@pytest.mark.parametrize(("dimension", "known"), [(10, True), (40, False)])
def test_a_smallest_value_that_is_lost_in_high_dimensions_is_not_known(dimension, known):
    """Brownian motion after half of the time of diffusion: in 40 dimensions its peak is 4e9 times uniform."""
    sphere = Sphere(dimension)
    problem = McKeanVlasov(sphere, Kuramoto(), coupling=1.0)
    degrees = np.arange(61.0)
    cosine = np.exp(-0.5 * degrees * (degrees + dimension - 2) / (dimension - 1))[None]
    values = ZonalSpace(sphere).descent(problem, cosine, np.zeros_like(cosine), 0.0)
    assert np.isfinite(values.minimum[0]) == known
    assert np.isfinite(values.gap[0])
