"""Densities that follow velocity laws: against collocation of the equation, states of rest, and refusals."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    External,
    InvalidInput,
    Kuramoto,
    NormalisedAttention,
    Outcome,
    Perceptron,
    PhaseLag,
    SoftmaxAttention,
    Sphere,
    Transformer,
    critical_coupling,
    growth_rates,
)
from meanfield.equations import equation_of
from solvers import (
    LSODA,
    Characteristics,
    Mixture,
    PerturbedUniform,
    RandomPerturbation,
    VonMises,
    WatanabeStrogatz,
    Watson,
    evolve,
    stationary_states,
)
from tests import oracles

LAWS = {"softmax": SoftmaxAttention, "ngpt": NormalisedAttention}
POINTS = 127


def collocated(name, beta, coupling, noise, density, until, force=0.0):
    """Return the moments of a density of mean one on a grid that evolves by collocation."""
    angles = 2.0 * np.pi * np.arange(POINTS) / POINTS
    waves = 1j * np.fft.fftfreq(POINTS, 1.0 / POINTS)

    def derivative(time, values):
        velocity = coupling * oracles.attention_velocity(name, beta, angles, values / POINTS) + force
        return np.fft.ifft(noise * waves**2 * np.fft.fft(values) - waves * np.fft.fft(values * velocity)).real

    found = solve_ivp(derivative, (0.0, until), density, method="DOP853", rtol=1e-12, atol=1e-13)
    return np.fft.rfft(found.y[:, -1], norm="forward")


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(
    ("noise", "mean", "confined"), [(0.4, 0.0, True), (0.4, 0.7, False), (0.4, 0.7, True), (0.0, 0.7, True)]
)
def test_densities_evolve_as_by_collocation(name, noise, mean, confined):
    beta, coupling, until = 1.7, 1.3, 0.3
    field = CosineSeries((-0.3, 0.1)) if confined else None
    problem = ContinuityEquation(Circle(), LAWS[name](beta), noise, coupling, field)
    trajectory = evolve(problem, VonMises(mean, 0.6), until, tolerance=1e-11)
    angles = 2.0 * np.pi * np.arange(POINTS) / POINTS
    density = np.exp(0.6 * np.cos(angles - mean))
    force = 0.0 if field is None else -field.slope(angles)
    expected = collocated(name, beta, coupling, noise, density / density.mean(), until, force)
    found = (trajectory.cosine - 1j * trajectory.sine)[-1, :8]
    assert np.abs(found - expected[:8]).max() < 1e-10
    assert not trajectory.observables


@pytest.mark.parametrize("name", ["none", *LAWS])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_with_a_phase_lag_the_velocity_is_that_of_a_place_ahead(name, noise):
    beta, coupling, until, lag = 1.2, 1.5, 0.4, 0.9
    law = Transformer(beta) if name == "none" else LAWS[name](beta)
    trajectory = evolve(
        ContinuityEquation(Circle(), PhaseLag(law, lag), noise, coupling),
        VonMises(0.0, 0.6),
        until,
        tolerance=1e-11,
    )
    angles = 2.0 * np.pi * np.arange(POINTS) / POINTS
    waves = 1j * np.fft.fftfreq(POINTS, 1.0 / POINTS)

    def derivative(time, values):
        velocity = oracles.attention_velocity(name, beta, angles, values / POINTS, angles + lag)
        flux = np.fft.fft(values * coupling * velocity)
        return np.fft.ifft(noise * waves**2 * np.fft.fft(values) - waves * flux).real

    start = np.exp(0.6 * np.cos(angles))
    found = solve_ivp(derivative, (0.0, until), start / start.mean(), method="DOP853", rtol=1e-12, atol=1e-13)
    expected = np.fft.rfft(found.y[:, -1], norm="forward")[:8]
    assert np.abs((trajectory.cosine - 1j * trajectory.sine)[-1, :8] - expected).max() < 1e-10
    assert abs(expected[1].imag) > 0.05


def test_kuramoto_with_a_phase_lag_is_its_moebius_reduction():
    """Moment equations while they resolve the density, beside three ordinary differential equations."""
    problem = ContinuityEquation(Circle(), PhaseLag(Kuramoto(), 0.6), 0.0, 1.0)
    times = np.linspace(0.0, 3.0, 4)
    start = Mixture((VonMises(0.3, 1.5), VonMises(2.5, 3.0)), (0.7, 0.3))
    plain = evolve(problem, start, 3.0, times=times, tolerance=1e-11)
    exact = evolve(problem, start, 3.0, times=times, method=WatanabeStrogatz())
    assert np.abs(plain.cosine[:, :8] - exact.cosine[:, :8]).max() < 1e-10
    assert np.abs(plain.sine[:, :8] - exact.sine[:, :8]).max() < 1e-10


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(5)], ids=str)
@pytest.mark.parametrize("beta", [3.0, -1.5])
def test_small_perturbations_of_uniform_grow_at_their_rate(name, domain, beta):
    problem = ContinuityEquation(domain, LAWS[name](beta), 0.2, 2.0)
    amplitude, until = 1e-9, 0.5
    trajectory = evolve(problem, PerturbedUniform(amplitude), until, tolerance=1e-10)
    rate = np.log(trajectory.cosine[-1, 1] / trajectory.cosine[0, 1]) / until
    # The next order is that of the amplitude.
    assert abs(rate - growth_rates(problem, 1)[1]) < 1e-8


@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(4)], ids=str)
def test_softmax_attention_settles_at_its_stationary_state(domain):
    problem = ContinuityEquation(domain, SoftmaxAttention(2.0), 0.5)
    problem = problem.at(coupling=1.5 * float(critical_coupling(problem)))
    trajectory = evolve(problem, VonMises(0.0, 1.0), 60.0)
    state = stationary_states(problem)[0]
    count = min(10, state.cosine.size, trajectory.cosine.shape[1])
    assert trajectory.outcome is Outcome.STATIONARY
    assert np.abs(trajectory.cosine[-1, :count] - state.cosine[:count]).max() < 1e-7
    assert abs(trajectory.slowest_rate - state.slowest_rate) < 1e-6 * state.slowest_rate


@pytest.mark.parametrize("domain", [Circle(), Sphere(3)], ids=str)
def test_without_a_gibbs_map_no_state_of_rest_is_looked_for(domain):
    trajectory = evolve(ContinuityEquation(domain, SoftmaxAttention(-1.0), 1.0, 2.0), VonMises(0.0, 1.0), 0.5)
    assert trajectory.outcome is Outcome.UNEXAMINED


def test_symmetric_densities_stay_symmetric():
    problem = ContinuityEquation(Circle(), SoftmaxAttention(6.0), 0.1, 2.0)
    trajectory = evolve(problem, PerturbedUniform(0.05, 3), 1.0)
    degrees = np.arange(trajectory.cosine.shape[1])
    assert not trajectory.cosine[:, (degrees % 3 != 0)].any()
    assert trajectory.cosine[-1, 3] > trajectory.cosine[0, 3]


def test_without_noise_the_evolution_ends_where_the_density_is_too_narrow():
    problem = ContinuityEquation(Circle(), SoftmaxAttention(1.0), 0.0, 1.0)
    trajectory = evolve(problem, PerturbedUniform(0.3), 20.0, on_failure="return")
    assert trajectory.outcome is Outcome.NOT_RESOLVED
    assert 3.0 < trajectory.time[-1] < 20.0
    assert any("it grows ever steeper" in warning for warning in trajectory.warnings)


@pytest.mark.parametrize(
    ("problem", "initial", "options", "sentence"),
    [
        (
            ContinuityEquation(Sphere(3), SoftmaxAttention(2.0), 0.5, 3.0),
            RandomPerturbation(0.1, 1),
            {},
            "evolutions of densities without an axis need the gradient law",
        ),
        (
            ContinuityEquation(Circle(), SoftmaxAttention(2.0), 0.5, 3.0),
            VonMises(),
            {"method": LSODA()},
            "takes a Jacobian, need the gradient law",
        ),
        (
            ContinuityEquation(Circle(), NormalisedAttention(2.0), 0.5, 3.0),
            VonMises(),
            {"stop_at_stationarity": True},
            "need a Gibbs map, and the velocity of nGPT attention",
        ),
        (
            ContinuityEquation(Circle(), PhaseLag(SoftmaxAttention(2.0), 0.3), 0.5, 3.0),
            VonMises(),
            {"method": Characteristics()},
            r"follows densities without noise.*--noise 0",
        ),
        (
            ContinuityEquation(Circle(), SoftmaxAttention(2.0), 0.0, 3.0),
            VonMises(),
            {"method": WatanabeStrogatz()},
            "for others leave the method out, or take particles",
        ),
    ],
)
def test_what_is_not_computed_is_refused(problem, initial, options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        evolve(problem, initial, 1.0, **options)


def by_tokens(problem, masses, labels, times):
    """Return the moments (T, 6) of labels that move by sums over all pairs, in the formulas of the papers."""
    beta, lag = problem.velocity.parameter_values()["beta"], problem.velocity.lag
    name = {"softmax attention": "softmax", "nGPT attention": "ngpt"}[problem.velocity.unlagged.name]

    def velocity(_, x):
        drift = oracles.attention_velocity(name, beta, x, masses, x + lag)
        force = 0.0 if problem.confinement is None else problem.confinement.slope(x)
        return problem.fixed_coupling * drift - force

    found = solve_ivp(velocity, (0.0, times[-1]), labels, "DOP853", times, rtol=1e-13, atol=1e-14)
    return np.exp(1j * np.multiply.outer(np.arange(6), found.y)).transpose(2, 0, 1) @ masses


@pytest.mark.parametrize("seed", [0, 1, 2, 5])
def test_characteristics_of_any_law_move_as_tokens_do(seed):
    random = np.random.default_rng(seed)
    law = [SoftmaxAttention, NormalisedAttention][seed % 2](random.uniform(0.5, 3.0))
    if seed in (2, 3):
        law = PhaseLag(law, random.uniform(-1.0, 1.0))
    field = CosineSeries((0.2, -0.3)) if seed > 3 else None
    problem = ContinuityEquation(Circle(), law, 0.0, random.uniform(0.5, 1.5), field)
    start = Mixture((VonMises(0.4, 0.8), VonMises(2.5, 1.0)), (0.6, 0.4))
    # Later the average of nGPT vanishes somewhere, and labels at equal angles miss the jump of its velocity.
    times = np.array([0.0, 0.1, 0.2]) * (4 if isinstance(law, SoftmaxAttention) else 1)
    along = evolve(problem, start, times[-1], times=times, method=Characteristics(), tolerance=1e-11)
    # The trapezoid rule on labels is exact to rounding while the positions are this smooth in them.
    labels = 2.0 * np.pi * np.arange(768) / 768
    first = along.cosine[0] + 1j * along.sine[0]
    density = 1.0 + 2.0 * (np.exp(-1j * np.multiply.outer(labels, np.arange(1, 64))) @ first[1:64]).real
    moments = by_tokens(problem, density / density.sum(), labels, times)
    assert np.abs(along.cosine[:, :6] + 1j * along.sine[:, :6] - moments).max() < 1e-10


@pytest.mark.parametrize("symmetry", [2, 3])
def test_characteristics_of_densities_that_repeat_themselves(symmetry):
    problem = ContinuityEquation(Circle(), SoftmaxAttention(4.0), 0.0, 1.0)
    start = PerturbedUniform(0.5, symmetry, 0.3)
    along, marched = (
        evolve(problem, start, 1.5, times=3, method=m, tolerance=1e-11) for m in (Characteristics(), None)
    )
    assert np.abs(marched.cosine[-1] - marched.cosine[0])[: 2 * symmetry + 1].max() > 1e-2
    for name in ("cosine", "sine"):
        assert np.abs(getattr(along, name)[:, :40] - getattr(marched, name)[:, :40]).max() < 1e-10


@pytest.mark.parametrize("law", [SoftmaxAttention(2.0), NormalisedAttention(1.5)])
@pytest.mark.parametrize(
    ("dimension", "start"), [(3, VonMises(0.0, 1.0)), (6, VonMises(0.0, 0.5)), (3, Watson(1.0))]
)
def test_characteristics_about_an_axis_on_spheres(law, dimension, start):
    problem = ContinuityEquation(Sphere(dimension), law, 0.0, 1.0)
    times = np.array([0.0, 0.1, 0.2])
    along, marched = (
        evolve(problem, start, times[-1], times=times, method=m, tolerance=1e-11) for m in (Characteristics(), None)
    )
    assert np.abs(along.cosine[:, :12] - marched.cosine[:, :12]).max() < 1e-10


def test_characteristics_with_a_lag_are_moebius_maps_late_as_well():
    problem = ContinuityEquation(Circle(), PhaseLag(Kuramoto(), -1.2), 0.0, 1.0)
    along, exact = (
        evolve(problem, VonMises(0.3, 1.0), 25.0, times=5, method=m, tolerance=1e-11)
        for m in (Characteristics(), WatanabeStrogatz())
    )
    for name in ("cosine", "sine"):
        assert np.abs(getattr(along, name)[:, :8] - getattr(exact, name)[:, :8]).max() < 1e-10


@pytest.mark.parametrize("beta", [0.5, 1.0])
def test_softmax_attention_contracts_along_characteristics_at_the_rate_of_the_antipode(beta):
    """1 - r decays at kappa, by the mass that leaves the antipode, up to a share that decays at kappa as well."""
    problem = ContinuityEquation(Circle(), SoftmaxAttention(beta), 0.0, 1.0)
    trajectory = evolve(problem, VonMises(0.0, 1.0), 14.0, times=14, method=Characteristics(), tolerance=1e-11)
    deficit = 1.0 - trajectory.cosine[:, 1]
    rates = -np.diff(np.log(deficit))
    assert abs(rates[-1] - 1.0) < abs(rates[-3] - 1.0) < abs(rates[-5] - 1.0) < 1e-2


@pytest.mark.parametrize("law", [Kuramoto(), SoftmaxAttention(2.0), PhaseLag(Kuramoto(), 0.3)])
@pytest.mark.parametrize(
    "confinement",
    [Perceptron((1.0,), (0.3,)), Perceptron((1.0,), (0.3,), "step"), External.from_expression("Abs(sin(t-0.2))")],
)
def test_characteristics_in_confinements_with_kinks_are_refused(law, confinement):
    problem = equation_of(Circle(), law, noise=0.0, coupling=1.0, confinement=confinement)
    with pytest.raises(InvalidInput, match=rf"at most 512 degrees, and {type(confinement).__name__}\("):
        evolve(problem, VonMises(0.0, 1.0), 1.0, method=Characteristics())
