"""Particles without noise: the classical scheme of Runge and Kutta, its order on flat and curved domains, and refusals."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from meanfield import Circle, CosineSeries, InvalidInput, Kuramoto, McKeanVlasov, Sphere
from meanfield.cli import main
from solvers import EulerMaruyama, RungeKutta4, WeakSecondOrder, simulate
from tests import problems

EPS = np.finfo(float).eps
CONFINED = McKeanVlasov(Circle(), Kuramoto(), noise=0.0, coupling=1.5, confinement=CosineSeries((-0.8, 0.3)))
ANGLES = np.array([-2.0, -0.4, 0.3, 1.9, 2.7])
UNTIL = 2.0


def circle_exact(time):
    """Return the angles by integrating the pair sums of the confined problem."""

    def velocity(_, x):
        pull = 1.5 * np.sin(x - x[:, np.newaxis]).mean(axis=1)
        return pull - 0.8 * np.sin(x) + 0.6 * np.sin(2 * x)

    return solve_ivp(velocity, (0, time), ANGLES, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]


def sphere_start(dimension, count=6):
    vectors = np.random.default_rng(5).standard_normal((count, dimension))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def sphere_exact(vectors, coupling, time):
    """Return unit vectors of the gradient law of -<x, y>: each moves along the tangential part of the mean."""

    def velocity(_, flat):
        x = flat.reshape(vectors.shape)
        mean = coupling * x.mean(axis=0)
        return (mean - x * (x @ mean)[:, np.newaxis]).ravel()

    return (
        solve_ivp(velocity, (0, time), vectors.ravel(), "DOP853", rtol=1e-13, atol=1e-14)
        .y[:, -1]
        .reshape(vectors.shape)
    )


def circle_run(step, **options):
    ensemble = simulate(CONFINED, 5, UNTIL, 1, initial=ANGLES, step=step, times=1, keep_positions=True, **options)
    return ensemble.positions[0], ensemble


def distance(angles, others):
    return np.abs(np.remainder(angles - others + np.pi, 2 * np.pi) - np.pi).max()


def test_particles_without_noise_follow_the_pair_sums_with_order_four():
    exact = circle_exact(UNTIL)
    errors = [distance(circle_run(step)[0], exact) for step in (0.1, 0.05, 0.01)]
    assert abs(math.log2(errors[0] / errors[1]) - 4.0) <= 0.2
    # The error of the step, from the order; the reference to its own tolerance.
    assert errors[2] <= 2 * errors[1] / 5**4 + 1e-12


@pytest.mark.parametrize("dimension", [3, 4])
def test_the_order_on_spheres_is_four_and_vectors_stay_unit(dimension):
    start, problem = sphere_start(dimension), McKeanVlasov(Sphere(dimension), Kuramoto(), noise=0.0, coupling=2.0)
    exact, errors = sphere_exact(start, 2.0, UNTIL), []
    for step in (0.2, 0.1):
        ensemble = simulate(problem, 6, UNTIL, 1, initial=start, step=step, times=1, keep_positions=True)
        assert np.abs(np.linalg.norm(ensemble.positions[0], axis=1) - 1).max() <= 4 * EPS
        errors.append(np.abs(ensemble.positions[0] - exact).max())
    assert abs(math.log2(errors[0] / errors[1]) - 4.0) <= 0.3


def test_it_is_the_default_without_noise_alone():
    assert circle_run(0.1)[1].scheme == "runge-kutta-4"
    noisy = simulate(CONFINED.replace(noise=0.1), 5, 0.2, 1, step=0.1)
    assert noisy.scheme == "weak-second-order"


@pytest.mark.parametrize(("scheme", "order"), [(EulerMaruyama(), 1), (WeakSecondOrder(), 2)])
def test_the_other_schemes_keep_their_orders_without_noise(scheme, order):
    exact = circle_exact(UNTIL)
    errors = [distance(circle_run(step, scheme=scheme)[0], exact) for step in (0.02, 0.01)]
    assert abs(math.log2(errors[0] / errors[1]) - order) <= 0.1


@pytest.mark.parametrize("share", [0.05, 0.5, 1.3])
def test_a_cluster_shrinks_at_the_rate_that_the_scheme_says(share):
    """Two close particles in the field of many: factor of their distance in one step."""
    step = share / 2.0
    ensemble = simulate(
        McKeanVlasov(Circle(), Kuramoto(), noise=0.0, coupling=2.0),
        2, step, 1, initial=np.array([-1e-6, 1e-6]), step=step, times=1, keep_positions=True,
    )  # fmt: skip
    rate = -math.log(np.ptp(ensemble.positions[0]) / 2e-6) / share
    # Angles are known to eps relative to 2e-6, and the force is linear to 1e-12.
    assert abs(abs(rate - 1.0) - RungeKutta4().width_bias(share, flat=True)) <= 1e-8


def test_noise_is_refused_in_one_sentence(capsys):
    with pytest.raises(InvalidInput, match="runge-kutta-4 moves particles without noise, and the noise is 1; take"):
        simulate(problems.KURAMOTO_AT_1.problem, 10, 0.1, 1, scheme=RungeKutta4())
    line = ["particles", "kuramoto", "--coupling", "1", "--until", "0.1", "--scheme", "runge-kutta-4"]
    assert main(line) == 2
    assert "take weak-second-order, or noise=0 (--noise 0)" in " ".join(capsys.readouterr().err.split())
    assert main([*line, "--noise", "0", "--particles", "10", "--quiet"]) == 0
