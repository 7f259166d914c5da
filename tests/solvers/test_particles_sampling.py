"""Initial positions: exact samples of the density given."""

import numpy as np
import pytest
from scipy.special import ive

from meanfield import Circle, InvalidInput, Kuramoto, McKeanVlasov, Transformer
from solvers import Bumps, PerturbedUniform, VonMises, simulate, stationary_states
from solvers.particles.sampling import sample_density
from tests.oracles import series_quantile

EPS = np.finfo(float).eps
PROBLEM = McKeanVlasov(Circle(), Kuramoto(), coupling=0.0)


def start(initial, particles=20_000, problem=PROBLEM, **options):
    """Positions before the first step, by one of no length."""
    return simulate(
        problem, particles, 1e-12, 7, initial=initial, step=1.0, keep_positions=True, degrees=4, **options
    )


@pytest.mark.parametrize(
    ("cosine", "sine"),
    [
        (ive(np.arange(41), 2.0) / ive(0, 2.0), np.zeros(41)),
        (np.array([1.0, 0.2, -0.1]), np.array([0.0, 0.15, 0.05])),
        (np.array([1.0, 0.5]), np.zeros(2)),
        (np.exp(-0.5 * (0.02 * np.arange(500)) ** 2), np.zeros(500)),
    ],
    ids=["von Mises", "chiral", "touching zero", "narrow"],
)
def test_samples_are_the_quantiles(cosine, sine):
    masses = np.concatenate([np.linspace(0.001, 0.999, 101), [0.0, 1e-9, 1 - 1e-9]])
    angles = sample_density(cosine, sine, masses)
    assert np.all((angles >= -np.pi) & (angles <= np.pi))
    k = np.arange(1, cosine.size)

    def density(t):
        phases = np.multiply.outer(t, k)
        return (1 + 2 * (np.cos(phases) @ cosine[1:] + np.sin(phases) @ sine[1:])) / (2 * np.pi)

    # The oracle measures masses from angle 0 on.
    left = 0.5 - np.sum(sine[1:] * (1 - (-1.0) ** k) / (np.pi * k))
    expected = series_quantile(cosine, sine, masses - left)
    # Both know the mass to rounding, so the mass between them is; it vanishes with the density.
    middle = 0.5 * (angles + expected)
    between = np.abs(angles - expected) * np.maximum(
        np.maximum(density(angles), density(expected)), density(middle)
    )
    assert np.all(between <= 3 * 32 * EPS * np.sqrt(cosine.size) + 16 * np.pi * EPS * density(middle))


def test_equal_masses_lie_between_neighbours():
    uniforms = np.random.default_rng(1).random(3000)
    angles = sample_density(np.array([1.0, 0.3, 0.2]), np.array([0.0, 0.1, 0.0]), uniforms)
    order = np.argsort(uniforms)
    assert np.all(np.diff(angles[order]) >= -8 * EPS)


def test_negative_densities_are_refused():
    with pytest.raises(InvalidInput, match="the initial density is negative"):
        sample_density(np.array([1.0, 0.6]), np.zeros(2), np.zeros(3))


def test_states_are_sampled():
    problem = McKeanVlasov(Circle(), Transformer(4.0), coupling=0.7)
    state = stationary_states(problem, rates=False)[0]
    ensemble = start(state, particles=50_000, problem=problem)
    for degree in range(1, 5):
        variance = (1 + state.cosine[2 * degree]) / 2 - state.cosine[degree] ** 2
        # 5 standard deviations: false alarm 2e-6 for four means.
        assert abs(ensemble.cosine[0, 0, degree] - state.cosine[degree]) <= 5 * np.sqrt(variance / 50_000)


def test_the_initial_state_in_words_is_recorded():
    for initial, words in (
        (None, "uniform"),
        (VonMises(0.0, 1.0), "VonMises"),
        (Bumps(3, 0.3), "Bumps"),
        (PerturbedUniform(0.2), "PerturbedUniform"),
        (np.zeros(10), "10 given positions"),
    ):
        described = start(initial, particles=10).provenance["options"]["initial"]
        assert words in described


def test_given_positions_are_kept_for_all_replicas_or_for_each():
    angles = np.array([0.1, 3.0, 7.0, -2.0])
    ensemble = start(angles, particles=4, replicas=2)
    wrapped = np.array([0.1, 3.0, 7.0 - 2 * np.pi, -2.0])
    # A step of 1e-12 adds noise of 1.4e-6.
    assert np.abs(ensemble.positions - wrapped).max() <= 1e-5
    ensemble = start(np.array([angles, angles + 1.0]), particles=4, replicas=2)
    assert np.abs(np.exp(1j * (ensemble.positions[1] - wrapped - 1.0)) - 1).max() <= 1e-5


def test_samples_of_another_number_are_smoothed_with_a_warning():
    angles = np.random.default_rng(2).vonmises(0.5, 4.0, 500)
    ensemble = start(angles, particles=2000)
    assert "an estimate from 500 samples" in ensemble.warnings[0]


def test_replicas_start_independently_and_do_not_depend_on_their_number():
    three = start(VonMises(0.0, 1.0), particles=100, replicas=3).positions
    five = start(VonMises(0.0, 1.0), particles=100, replicas=5).positions
    assert np.array_equal(three, five[:3])
    assert np.unique(five).size == five.size
