"""Stationary densities that carry a current: lags, frequencies and velocities without a gradient in confinements."""

import numpy as np
import pytest
from scipy.integrate import quad

from meanfield import (
    Circle,
    CommonFrequency,
    ContinuityEquation,
    CosineSeries,
    External,
    InvalidInput,
    Kuramoto,
    NormalisedAttention,
    PhaseLag,
    SoftmaxAttention,
    Transformer,
)
from solvers import bifurcation_diagram, stationary_states
from tests import oracles

POINTS = 127
ANGLES = 2.0 * np.pi * np.arange(POINTS) / POINTS
UNEVEN = External.from_expression("0.3*cos(t) + 0.2*sin(2*t)")


CASES = {
    "softmax of negative beta": ("softmax", -0.5, SoftmaxAttention(-0.5), UNEVEN, 2.0),
    "nGPT": ("ngpt", 1.5, NormalisedAttention(1.5), UNEVEN, 1.0),
    "lag": ("none", 1.2, PhaseLag(Transformer(1.2), 0.5), UNEVEN, 2.0),
    "lag of softmax": ("softmax", 1.5, PhaseLag(SoftmaxAttention(1.5), -0.4), CosineSeries((-0.3, 0.1)), 2.5),
    "frequency": ("none", 0.8, CommonFrequency(Transformer(0.8), 0.3), UNEVEN, 1.5),
    "both": ("softmax", 1.0, CommonFrequency(PhaseLag(SoftmaxAttention(1.0), 0.3), 0.2), UNEVEN, 3.5),
}


@pytest.mark.parametrize("name", CASES)
def test_states_counts_and_rates_are_those_of_dense_collocation(name):
    normalisation, beta, law, confinement, coupling = CASES[name]
    problem = ContinuityEquation(Circle(), law, noise=0.9, coupling=coupling, confinement=confinement)
    slope = np.asarray(confinement.slope(ANGLES))
    for state in stationary_states(problem):
        density = 2.0 * np.pi * state.density(ANGLES)
        change, jacobian = oracles.collocated_current(problem, density)
        assert np.abs(change).max() < 1e-11 * POINTS**2
        values = np.linalg.eigvals(jacobian)
        values = np.delete(values, np.argmin(np.abs(values)))
        assert state.unstable == np.count_nonzero(values.real > 0.0)
        assert state.slowest_rate == pytest.approx(-values.real.max(), rel=1e-9)
        velocity = law.frequency + coupling * oracles.attention_velocity(
            normalisation, beta, ANGLES, density / POINTS, ANGLES + law.lag
        )
        mean = np.mean(density * (velocity - slope))
        assert state.observables["mean_velocity"] == pytest.approx(mean, abs=1e-13)


@pytest.mark.parametrize("frequency", [0.05, 0.4, -1.5])
def test_without_interaction_particles_drift_as_stratonovich_found(frequency):
    r"""The mean velocity is 2 pi D (1 - e^(-2 pi w/D)) over the double integral of e^((U(y) - U(x))/D), x < y < x + 2 pi."""
    noise, law = 0.7, CommonFrequency(Kuramoto(), frequency)
    problem = ContinuityEquation(Circle(), law, noise=noise, confinement=UNEVEN)
    branch = bifurcation_diagram(problem, (0.0, 1.0), rates=False).branches[0]

    def tilted(angle):
        return 0.3 * np.cos(angle) + 0.2 * np.sin(2.0 * angle) - frequency * angle

    def inner(x):
        return quad(lambda y: np.exp((tilted(y) - tilted(x)) / noise), x, x + 2.0 * np.pi, epsabs=1e-13)[0]

    total = quad(inner, 0.0, 2.0 * np.pi, epsabs=1e-12)[0]
    exact = 4.0 * np.pi**2 * noise * (1.0 - np.exp(-2.0 * np.pi * frequency / noise)) / total / (2.0 * np.pi)
    assert branch.coupling[0] == 0.0
    assert branch.observables["mean_velocity"][0] == pytest.approx(exact, rel=1e-11)


def test_a_reflected_equation_has_the_reflected_states():
    coupling, states = 2.5, []
    for sign in (1.0, -1.0):
        law = CommonFrequency(PhaseLag(SoftmaxAttention(1.5), sign * 0.4), sign * 0.2)
        confinement = External.from_expression(f"0.3*cos(t) + ({sign * 0.2})*sin(2*t)")
        problem = ContinuityEquation(Circle(), law, coupling=coupling, confinement=confinement)
        states.append(stationary_states(problem, rates=False))
    for one, other in zip(*states, strict=True):
        assert one.cosine == pytest.approx(other.cosine, abs=1e-13)
        assert one.sine == pytest.approx(-other.sine, abs=1e-13)
        assert one.observables["mean_velocity"] == pytest.approx(-other.observables["mean_velocity"], abs=1e-13)


def test_rotators_in_a_field_of_two_wells_settle_in_one_of_them():
    """The branch of two-fold symmetry, which the potential does not act on, loses stability to clusters in a well."""
    confinement = CosineSeries((0.0, -0.4))
    problem = ContinuityEquation(Circle(), CommonFrequency(Kuramoto(), 0.2), confinement=confinement)
    diagram = bifurcation_diagram(problem, (0.0, 4.0), rates=False)
    assert [branch.label for branch in diagram.branches] == [
        "primary", "1-cluster from primary", "1-cluster (2) from primary"
    ]  # fmt: skip
    for event in diagram.events("branch point"):
        there = problem.at(coupling=float(event.coupling))
        _, jacobian, _ = oracles.collocated_at_rest(there, event.cosine, event.sine, POINTS)
        smallest = np.sort(np.abs(np.linalg.eigvals(jacobian)))
        assert smallest[1] < 1e-7


def test_states_that_lose_their_axis_under_ngpt_carry_a_current():
    """In an even field, of which they choose one side; the branch point is where the density's own Jacobian is singular."""
    problem = ContinuityEquation(
        Circle(), NormalisedAttention(3.0), noise=0.3, confinement=External(cosine=(0.05, 0.05))
    )
    diagram = bifurcation_diagram(problem, (0.0, 0.93), rates=False)
    (event,) = diagram.events("branch point")
    parent, born = diagram.branches
    assert born.label == "uneven 1-cluster from primary"
    of_mean_zero = oracles.of_mean_zero(POINTS)
    for at, cosine, sine, unstable in (
        (event.coupling, event.cosine, event.sine, None),
        *((born.coupling[k], born.cosine[k], born.sine[k], born.unstable[k]) for k in (0, len(born) // 2, -1)),
    ):
        change, jacobian, _ = oracles.collocated_at_rest(problem.at(coupling=float(at)), cosine, sine, POINTS)
        assert np.abs(change).max() < 1e-11 * POINTS**2
        jacobian = of_mean_zero.T @ jacobian @ of_mean_zero
        if unstable is None:
            sizes = np.linalg.svd(jacobian, compute_uv=False)
            assert sizes[-1] < 1e-9 * sizes[-2]
        else:
            assert unstable == np.count_nonzero(np.linalg.eigvals(jacobian).real > 0.0)
    assert np.abs(born.observables["mean_velocity"][1:]).min() > 1e-8
    assert np.abs(parent.sine).max() == 0.0


def test_a_frequency_alone_is_still_left_to_the_frame_that_rotates():
    problem = ContinuityEquation(Circle(), CommonFrequency(Kuramoto(), 0.3), coupling=3.0)
    with pytest.raises(InvalidInput, match="leave it out for the frame that rotates with it"):
        stationary_states(problem)
