"""Contraction without noise of densities that turn: against Watanabe and Strogatz, and against formulas of the law."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from meanfield import (
    Circle,
    CommonFrequency,
    ContinuityEquation,
    CosineSeries,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    PhaseLag,
    SoftmaxAttention,
    Transformer,
)
from solvers import contraction_rate, evolve
from solvers.evolution.reduced import moebius_path, order_parameter

RANDOM = np.random.default_rng(7)


def default(angles):
    return (1.0 + 0.6 * np.cos(angles) + 0.3 * np.sin(2.0 * angles)) / (2.0 * math.pi)


@pytest.mark.parametrize("lag", [0.4, -1.1])
def test_kuramoto_agrees_with_the_reduction_to_three_equations(lag):
    """Rate, angular velocity and the angle in the frame that turns, from a path without any labels."""
    coupling = 1.7
    found = contraction_rate(ContinuityEquation(Circle(), PhaseLag(Kuramoto(), lag), 0.0, coupling))
    assert abs(found.rate - coupling * math.cos(lag)) <= found.error <= 1e-11
    assert found.angular_velocity == pytest.approx(-coupling * math.sin(lag), abs=1e-14)
    times = np.array([14.0, 15.0]) / (coupling * math.cos(lag))
    coefficients = np.array([0.3, 0.15j])
    path = moebius_path(coefficients, coupling, times, lag=lag)
    order = order_parameter(path.centre, path.angle, path.depth, coefficients)
    drift = np.angle(order * np.exp(-1j * found.angular_velocity * times))
    apart = [math.remainder(angle - found.limit_point, 2.0 * math.pi) for angle in drift]
    # What is left of the mass in flight turns the mean by as much.
    assert np.abs(apart).max() <= found.limit_point_error + math.pi * (1.0 - float(np.abs(order).min()))


def random_law(kind):
    """Return a law of random parameters with its velocity v(t) in the field of a point at 0, and the derivative."""
    beta = RANDOM.uniform(-0.8, 1.8)
    if kind is Transformer:
        return (
            Transformer(beta),
            lambda t: -math.sin(t) * math.exp(beta * math.cos(t)),
            lambda t: (beta * math.sin(t) ** 2 - math.cos(t)) * math.exp(beta * math.cos(t)),
        )
    if kind is SoftmaxAttention:
        return SoftmaxAttention(beta), lambda t: -math.sin(t), lambda t: -math.cos(t)
    second = RANDOM.uniform(-0.15, 0.1)
    return (
        CosineSeries((-1.0, second)),
        lambda t: -math.sin(t) + 2.0 * second * math.sin(2.0 * t),
        lambda t: -math.cos(t) + 4.0 * second * math.cos(2.0 * t),
    )


def attracting(kind):
    """Return such a law, and a lag with which a point attracts."""
    while True:
        (law, velocity, derivative), lag = random_law(kind), RANDOM.uniform(-0.7, 0.7)
        if derivative(lag) <= -0.2:
            return law, velocity, derivative, lag


@pytest.mark.parametrize("kind", [Transformer, SoftmaxAttention, CosineSeries])
def test_random_laws_have_the_exponents_of_their_formulas(kind):
    """The particle that stays behind is where the velocity is that of the cluster, found here by bisection."""
    (law, velocity, derivative, lag), coupling = attracting(kind), RANDOM.uniform(0.4, 2.5)
    found = contraction_rate(ContinuityEquation(Circle(), PhaseLag(law, lag), 0.0, coupling))
    angles = lag + np.linspace(1e-3, 2.0 * math.pi - 1e-3, 4001)
    relative = np.array([velocity(angle) - velocity(lag) for angle in angles])
    (place,) = np.flatnonzero((relative[:-1] < 0.0) & (relative[1:] >= 0.0))
    behind = brentq(lambda t: velocity(t) - velocity(lag), angles[place], angles[place + 1], xtol=1e-15)
    local, unstable = -coupling * derivative(lag), coupling * derivative(behind)
    assert found.angular_velocity == pytest.approx(coupling * velocity(lag), rel=1e-12)
    assert abs(found.local_exponent - local) <= found.local_exponent_error + 1e-14
    assert abs(found.rate - min(2.0 * local, unstable)) <= found.error <= 1e-7


def test_a_common_frequency_changes_nothing_but_the_angular_velocity():
    law = PhaseLag(Transformer(0.7), 0.3)
    still = contraction_rate(ContinuityEquation(Circle(), law, 0.0, 1.2))
    turning = contraction_rate(ContinuityEquation(Circle(), CommonFrequency(law, 2.5), 0.0, 1.2))
    assert (turning.rate, turning.limit_point) == (still.rate, still.limit_point)
    assert turning.angular_velocity == pytest.approx(still.angular_velocity + 2.5, abs=1e-15)
    plain = contraction_rate(McKeanVlasov(Circle(), Transformer(0.7), 0.0, 1.2))
    assert plain.angular_velocity == 0.0


def test_a_lag_beyond_which_a_point_repels_is_named():
    with pytest.raises(InvalidInput, match=r"with the phase lag 1\.7 particles move away from a point"):
        contraction_rate(ContinuityEquation(Circle(), PhaseLag(Kuramoto(), 1.7), 0.0, 1.0))


def test_the_velocity_with_a_lag_is_that_of_shifted_particles():
    """Of the evolution, whose field has the lag as well: the first moment after a short time by its definition."""
    lag, coupling, step = 0.9, 1.3, 1e-4
    angles = 2.0 * math.pi * (np.arange(512) + 0.5) / 512
    weights = default(angles) * 2.0 * math.pi / 512
    beside = angles[:, None] + lag - angles
    velocity = coupling * (np.sin(-beside) * np.exp(0.8 * np.cos(beside))) @ weights
    exact = complex(weights @ (1j * velocity * np.exp(1j * angles)))
    problem = ContinuityEquation(Circle(), PhaseLag(Transformer(0.8), lag), 0.0, coupling)
    path = evolve(problem, default, 2.0 * step, times=[0.0, step, 2.0 * step])
    moments = path.cosine[:, 1] + 1j * path.sine[:, 1]
    assert abs((-3.0 * moments[0] + 4.0 * moments[1] - moments[2]) / (2.0 * step) - exact) <= 1e-7
