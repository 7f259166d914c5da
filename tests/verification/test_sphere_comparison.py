"""Particles on spheres beside their limit: what is compared, its powers of N, and what is said where it proves little."""

import math

import numpy as np
import pytest

from meanfield import Kuramoto, McKeanVlasov, Sphere, Transformer, open_comparison
from meanfield.transport import polar_distances, zonal_law
from solvers import PerturbedUniform, VonMises, evolve, simulate
from tests import problems
from verification import compare
from verification.measured import PARTICLE_STREAM, stream
from verification.reach import amplification, neighbours, perturbed_about_pole, unstable_modes

CONTRACTING = problems.SPINS_AT_1.problem
START = VonMises(0.0, 2.0)
SMALL = {"particles": (100, 1600), "replicas": 12, "seed": 5, "times": 4, "step": 0.05}


@pytest.fixture(scope="module")
def compared():
    return compare(CONTRACTING, START, 0.4, **SMALL)


def test_quantities_and_distances_are_named_by_what_they_are(compared):
    assert compared.moments.names == ("p1", "r1", "p2", "r2")
    assert compared.transport_names == ("w1_polar", "w2_polar")
    assert compared.distance_names[4:] == ("c1", "c2")
    assert "Distances of angles from the pole" in compared.summary()
    assert compared.fluctuations is None
    assert compared.warnings == ()


def test_the_equation_has_the_moments_of_the_exact_hierarchy(compared):
    # p_l' = -l(l+1) D p_l + kappa l(l+1)/(2l+1) p_1 (p_{l-1} - p_{l+1}), by small explicit steps of Runge-Kutta.
    degrees = np.arange(40)
    moments = np.append(zonal_start(2.0, 40), 0.0)
    factors = degrees * (degrees + 1.0)

    def slope(p):
        below = np.concatenate([[0.0], p[:-2]])
        return np.append(factors * (p[1] * (below - p[1:]) / (2 * degrees + 1) - p[:-1]), 0.0)

    step = 0.4 / 1600
    for _ in range(1600):
        one = slope(moments)
        two = slope(moments + 0.5 * step * one)
        three = slope(moments + 0.5 * step * two)
        moments += step * (one + 2 * two + 2 * three + slope(moments + step * three)) / 6
    expected = compared.moments.expected[:, -1]
    assert np.abs(expected - [moments[1], moments[1], moments[2], moments[2]]).max() <= 1e-9


def zonal_start(concentration, count):
    nodes, weights = np.polynomial.legendre.leggauss(200)
    density = weights * np.exp(concentration * nodes)
    table = np.polynomial.legendre.legvander(nodes, count - 1)
    return density @ table / density.sum()


def test_particles_and_equation_agree(compared):
    for name in ("p1", "p2"):
        index = compared.moments.index(name)
        error = compared.moments.standard_error[index]
        # 6 standard errors at 11 degrees of freedom, false alarm below 1e-4 for each of 20, and a bias of 4/N.
        allowed = 6 * error + 4 / compared.particles[:, None]
        assert np.all(np.abs(compared.moments.mean[index] - compared.moments.expected[index]) <= allowed)


def test_distances_shrink_like_independent_points(compared):
    for name in ("w1_polar", "w2_polar", "c1", "c2"):
        fit = compared.fit(name)
        # 5 standard errors at 22 degrees of freedom: false alarm 5e-5 for each of four.
        assert abs(fit.exponent + 0.5) <= 5 * fit.standard_error
        assert fit.standard_error < 0.1


def test_distances_are_those_of_the_particles(compared):
    trajectory = evolve(CONTRACTING, START, 0.4, times=compared.time, tolerance=1e-10)
    options = {"step": 0.05, "replicas": 12, "times": compared.time, "degrees": 2, "keep_positions": True}
    start = type("Start", (), {"cosine": trajectory.cosine[0], "sine": trajectory.sine[0], "layout": "degree"})()
    seed = stream(5, PARTICLE_STREAM, 100)
    ensemble = simulate(CONTRACTING, 100, 0.4, seed, initial=start, **options)
    angles = np.arccos(ensemble.positions[3, :, 2])
    found = polar_distances(angles, zonal_law(trajectory.cosine[-1], 3))
    assert np.allclose(compared.distances[:2, 0, 3], found, rtol=1e-9)
    vectors = ensemble.positions[3]
    apart = np.linalg.norm(vectors.mean(axis=0) - [0.0, 0.0, trajectory.cosine[-1, 1]])
    assert compared.distances[4, 0, 3] == pytest.approx(apart, rel=1e-12)


@pytest.mark.parametrize("dimension", [5])
def test_deviations_of_moments_where_only_lengths_are_recorded(dimension):
    problem = McKeanVlasov(Sphere(dimension), Kuramoto(), coupling=2.0)
    comparison = compare(problem, START, 0.1, particles=(200,), replicas=3, seed=1, times=2, step=0.05)
    assert comparison.distance_names[4:] == ("c1", "c2")
    assert np.all(comparison.distances[4:] > 0)
    assert np.all(comparison.distances[4:] < 10 / math.sqrt(200))


def test_a_density_about_another_axis(tmp_path):
    start = VonMises(0.9, 3.0, 0.4)
    comparison = compare(CONTRACTING, start, 0.2, particles=(2000,), replicas=4, seed=2, times=2, step=0.05)
    first = comparison.moments.expected[:, 0]
    assert first[0] == pytest.approx(first[1] * math.cos(0.9), rel=1e-12)
    assert np.all(comparison.distances[4] < 6 / math.sqrt(2000))
    comparison.save(tmp_path / "c.nc")
    back = open_comparison(tmp_path / "c.nc")
    assert np.array_equal(back.distances, comparison.distances)
    assert back.distance_names == comparison.distance_names
    labels = [text.get_text() for text in comparison.plot_distances().get_legend().get_texts()]
    assert any(r"W_1(\theta)" in label for label in labels)


def test_fluctuations_in_the_uniform_phase():
    comparison = compare(
        CONTRACTING, PerturbedUniform(0.0), 3.0, particles=(300,), replicas=16, seed=3, times=60, step=0.05
    )
    found = comparison.fluctuations
    # lambda_1 = 1/3, lambda_2 = 0; the first starts at 1 and approaches 3/2 at the rate 2 * 2 * (1 - 1/3).
    late = comparison.time[comparison.time >= 1.5]
    approached = 1.5 - 0.5 * np.exp(-8 / 3 * late).mean()
    assert np.allclose(found.expected, [approached, 1.0], rtol=1e-12)
    # 5 standard errors at 15 degrees of freedom, false alarm 2e-4.
    assert np.all(np.abs(found.mean[:, 0] - found.expected) <= 5 * found.standard_error[:, 0] + 4 / 300)


def test_growing_deviations_are_warned_of():
    unstable = McKeanVlasov(Sphere(3), Kuramoto(), coupling=6.0)
    assert list(unstable_modes(unstable)) == [1]
    trajectory = evolve(unstable, PerturbedUniform(0.01), 0.5, times=[0.0, 0.5], tolerance=1e-10)
    # Near uniform degree 1 grows at the rate 2 (6/3 - 1).
    assert amplification(trajectory)[-1] == pytest.approx(math.exp(2 * 0.5), rel=0.02)
    comparison = compare(unstable, PerturbedUniform(0.1), 1.2, particles=(100,), replicas=2, seed=1, times=2)
    assert "deviations of the initial density grow" in comparison.warnings[-1]


@pytest.mark.parametrize("start", [START, VonMises(0.7, 2.0, 0.3)])
def test_perturbed_densities_are_products(start):
    trajectory = evolve(CONTRACTING, start, 0.1, times=[0.0])
    found = perturbed_about_pole(trajectory, 1)
    nodes, weights = np.polynomial.legendre.leggauss(80)
    # Over all azimuths only the zonal part counts.
    from verification.moments import zonal_moments

    zonal = zonal_moments(trajectory)[0]
    density = np.polynomial.legendre.legval(nodes, (2 * np.arange(zonal.size) + 1) * zonal) * (1 + 1e-4 * nodes)
    expected = (weights * density) @ np.polynomial.legendre.legvander(nodes, 5)
    expected /= expected[0]
    places = [k * (k + 1) // 2 for k in range(6)] if found.layout == "order" else list(range(6))
    assert np.abs(found.cosine[places] - expected).max() <= 1e-13


def test_particles_within_reach_shrink_with_the_width_of_the_force():
    assert neighbours(CONTRACTING, 300) == pytest.approx(100.0, rel=1e-12)
    wide, narrow = (
        neighbours(McKeanVlasov(Sphere(3), Transformer(beta), coupling=1.0), 1000) for beta in (10, 1000)
    )
    # The reach is a cap of the area 1/beta.
    assert 30 <= wide / narrow <= 300
    assert neighbours(McKeanVlasov(Sphere(64), Kuramoto(), coupling=1.0), 640) == pytest.approx(10.0, rel=1e-12)
