"""The gradient structure of attention: softmax has none, weights that sum to one in rows and columns do."""

import math

import numpy as np
import pytest

from meanfield import Circle, ContinuityEquation, McKeanVlasov, NormalisedAttention, SoftmaxAttention, Transformer
from solvers import EulerMaruyama, PairDrift, simulate
from verification.asymmetry import asymmetry, derivatives, displaced

EPS = np.finfo(float).eps
ANGLES = np.array([0.0, 1.0, 2.5])
STEP = 0.05
# Velocities from a step of 0.05 are known to some roundings of the angles over it, differences to these over 2e-3.
ROUNDING = 64 * EPS * math.pi / STEP / 2e-3


def velocity_by(problem):
    """Return the velocities of particles as a function of their angles, by one explicit step of a simulation."""

    def velocity(angles):
        ensemble = simulate(
            problem, len(angles), STEP, 1, initial=angles, step=STEP, times=1, scheme=EulerMaruyama(),
            drift=PairDrift(), keep_positions=True,
        )  # fmt: skip
        return (np.remainder(ensemble.positions[0] - angles + np.pi, 2 * np.pi) - np.pi) / STEP

    return velocity


def jacobian(velocity, angles):
    """Return the derivatives (N, N) of velocities, a function of the angles, by central differences."""
    return derivatives(np.array([[velocity(places) for places in row] for row in displaced(angles)]))


def law_problem(law):
    return ContinuityEquation(Circle(), law, noise=0.0, coupling=1.0)


def exact_softmax_jacobian(angles, beta):
    """Return the Jacobian of v_i = sum_j p_ij sin(x_j - x_i), p the rows of softmax, by hand."""
    differences = angles - angles[:, np.newaxis]
    weights = np.exp(beta * np.cos(differences))
    shares = weights / weights.sum(axis=1, keepdims=True)
    velocity = (shares * np.sin(differences)).sum(axis=1, keepdims=True)
    # d/dx_j of p_ij sin(x_j - x_i); the dependence on x_i makes rows sum to zero.
    entries = shares * (np.cos(differences) - beta * np.sin(differences) * (np.sin(differences) - velocity))
    np.fill_diagonal(entries, 0.0)
    return entries - np.diag(entries.sum(axis=1))


def sinkhorn_velocity(angles, beta=1.0):
    """Return velocities with weights a_i K_ij a_j of rows and columns that sum to one, by the damped iteration."""
    differences = angles - angles[:, np.newaxis]
    kernel, scale = np.exp(beta * np.cos(differences)), np.ones(len(angles))
    for _ in range(200):
        scale = np.sqrt(scale / (kernel @ scale))
    return (scale[:, np.newaxis] * kernel * scale * np.sin(differences)).sum(axis=1)


def test_softmax_attention_is_no_gradient():
    found = jacobian(velocity_by(law_problem(SoftmaxAttention(1.0))), ANGLES)
    assert np.abs(found - exact_softmax_jacobian(ANGLES, 1.0)).max() <= ROUNDING
    # Norms of J are of order one.
    assert abs(asymmetry(found) - 0.1425129596999) <= 4 * ROUNDING


def test_attention_without_normalisation_is_a_gradient():
    problem = McKeanVlasov(Circle(), Transformer(1.0), noise=0.0, coupling=1.0)
    assert asymmetry(jacobian(velocity_by(problem), ANGLES)) <= 4 * ROUNDING


def test_weights_of_sinkhorn_are_a_gradient():
    assert asymmetry(jacobian(sinkhorn_velocity, ANGLES)) <= 4 * ROUNDING


def test_the_norm_of_ngpt_makes_it_no_gradient():
    assert asymmetry(jacobian(velocity_by(law_problem(NormalisedAttention(1.0))), ANGLES)) >= 0.01


def test_softmax_attention_is_a_gradient_in_the_metric_of_its_row_sums():
    """Z_i v_i, Z_i the mean of row i, is the velocity without normalisation."""
    velocity = velocity_by(law_problem(SoftmaxAttention(1.0)))

    def weighted(angles):
        return np.exp(np.cos(angles - angles[:, np.newaxis])).mean(axis=1) * velocity(angles)

    assert asymmetry(jacobian(weighted, ANGLES)) <= 8 * ROUNDING


@pytest.mark.parametrize(
    ("matrix", "index"), [([[1.0, 2.0], [2.0, 5.0]], 0.0), ([[0.0, 1.0], [-1.0, 0.0]], math.inf), ([[0.0]], 0.0)]
)
def test_the_index_of_matrices(matrix, index):
    assert asymmetry(np.array(matrix)) == index
