"""Particles with a phase lag: Sakaguchi's model and lagged attention, by pairs and by moments, beside plain sums."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from meanfield import (
    Circle,
    ContinuityEquation,
    Kuramoto,
    NormalisedAttention,
    PhaseLag,
    SoftmaxAttention,
    Transformer,
)
from solvers import MomentDrift, PairDrift, simulate

LAG = 0.7


def sines(angles):
    """Return the mean of sin(x_j - x_i - lag)."""
    return np.sin(angles - angles[:, None] - LAG).mean(axis=1)


def attention(kind, beta):
    """Return the velocities of tokens that see the others from a place ahead."""

    def velocity(angles):
        differences = angles - angles[:, None] - LAG
        weights = np.exp(beta * np.cos(differences))
        along, radial = (weights * np.sin(differences)).mean(axis=1), (weights * np.cos(differences)).mean(axis=1)
        return along / {"none": 1.0, "softmax": weights.mean(axis=1), "ngpt": np.hypot(along, radial)}[kind]

    return velocity


LAWS = {
    "Kuramoto": (Kuramoto(), sines),
    "none": (Transformer(1.3), attention("none", 1.3)),
    "softmax": (SoftmaxAttention(1.3), attention("softmax", 1.3)),
    "ngpt": (NormalisedAttention(1.3), attention("ngpt", 1.3)),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("drift", [PairDrift(), MomentDrift(tolerance=1e-12)])
def test_particles_see_the_others_from_a_place_ahead(name, drift):
    law, velocity = LAWS[name]
    start = np.random.default_rng(4).uniform(-1.2, 1.2, 30)
    problem = ContinuityEquation(Circle(), PhaseLag(law, LAG), 0.0, 1.5)
    found = simulate(problem, 30, 1.0, 1, initial=start, drift=drift, step=0.01, degrees=3)
    exact = solve_ivp(
        lambda _, angles: 1.5 * velocity(angles), (0.0, 1.0), start, "DOP853", rtol=1e-12, atol=1e-13
    ).y[:, -1]
    expected = [np.exp(-1j * degree * exact).mean() for degree in range(4)]
    assert np.abs((found.cosine - 1j * found.sine)[0, -1] - expected).max() < 1e-8


def test_a_step_is_known_without_being_given():
    problem = ContinuityEquation(Circle(), PhaseLag(Kuramoto(), LAG), 0.1, 1.0)
    assert simulate(problem, 100, 1.0, 1).step <= 1.0
