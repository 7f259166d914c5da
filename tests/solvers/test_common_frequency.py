"""A common frequency: against collocation and plain sums in the frame at rest, closed forms, and refusals."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from meanfield import (
    Circle,
    CommonFrequency,
    ContinuityEquation,
    CosineSeries,
    CustomVelocity,
    DepthScaled,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    NormalisedAttention,
    NotResolved,
    Outcome,
    PhaseLag,
    SoftmaxAttention,
    Sphere,
    Transformer,
    critical_coupling,
    equation_from,
    flight_profile,
    growth_rates,
    ott_antonsen,
)
from solvers import (
    Characteristics,
    Checkpoint,
    MomentDrift,
    PairDrift,
    PerturbedUniform,
    VonMises,
    WatanabeStrogatz,
    bifurcation_diagram,
    evolve,
    simulate,
    stationary_states,
)
from tests import oracles
from verification import compare

EPS = float(np.finfo(float).eps)
POINTS, OMEGA, LAG = 127, 1.7, 0.6
LAWS = {"none": Transformer, "softmax": SoftmaxAttention, "ngpt": NormalisedAttention}


def collocated(name, beta, lag, coupling, noise, density, until, field):
    """Return the moments of a density of mean one that evolves by collocation in the frame at rest."""
    angles = 2.0 * np.pi * np.arange(POINTS) / POINTS
    waves = 1j * np.fft.fftfreq(POINTS, 1.0 / POINTS)
    force = OMEGA - (0.0 if field is None else field.slope(angles))

    def derivative(time, values):
        velocity = coupling * oracles.attention_velocity(name, beta, angles, values / POINTS, angles + lag) + force
        return np.fft.ifft(noise * waves**2 * np.fft.fft(values) - waves * np.fft.fft(values * velocity)).real

    found = solve_ivp(derivative, (0.0, until), density, method="DOP853", rtol=1e-12, atol=1e-13)
    return np.fft.rfft(found.y[:, -1], norm="forward")


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize(("lag", "confined"), [(0.0, True), (LAG, False)])
def test_densities_turn_and_evolve_as_by_collocation(name, noise, lag, confined):
    # Without noise the density of nGPT has a jump before long.
    beta, coupling, until = 1.2, 1.5, 0.2
    field = CosineSeries((-0.4, 0.2)) if confined else None
    law = PhaseLag(LAWS[name](beta), lag) if lag else LAWS[name](beta)
    problem = ContinuityEquation(Circle(), CommonFrequency(law, OMEGA), noise, coupling, field)
    trajectory = evolve(problem, VonMises(0.2, 0.6), until, tolerance=1e-11)
    density = np.exp(0.6 * np.cos(2.0 * np.pi * np.arange(POINTS) / POINTS - 0.2))
    expected = collocated(name, beta, lag, coupling, noise, density / density.mean(), until, field)
    assert np.abs((trajectory.cosine - 1j * trajectory.sine)[-1, :8] - expected[:8]).max() < 1e-10
    assert trajectory.problem == problem
    assert not trajectory.observables


@pytest.mark.parametrize(
    ("method", "lag"), [(WatanabeStrogatz(), 0.0), (WatanabeStrogatz(), LAG), (Characteristics(), 0.0)]
)
def test_kuramoto_without_noise_is_ott_and_antonsen_in_the_frame_at_rest(lag, method):
    law = CommonFrequency(PhaseLag(Kuramoto(), lag) if lag else Kuramoto(), -OMEGA)
    problem = ContinuityEquation(Circle(), law, 0.0, 1.3)
    # A Poisson kernel: its moments are the powers of the first.
    powers = 0.4 ** np.arange(90)
    times = np.linspace(0.0, 12.0, 7)
    found = evolve(problem, (powers, 0.0 * powers), 12.0, times=times, method=method, tolerance=1e-11)
    exact = ott_antonsen(0.4, 1.3, times, frequency=-OMEGA, lag=lag)
    for degree in (1, 2, 5):
        moments = found.cosine[:, degree] + 1j * found.sine[:, degree]
        assert np.abs(moments - exact**degree).max() < 1e-10 * degree
    if method == WatanabeStrogatz():
        assert np.abs(found.observables["order_deficit"] / (1.0 - np.abs(exact)) - 1.0)[:3].max() < 1e-10
    else:
        assert abs(np.exp(1j * found.flow_map.cluster) - exact[-1] / abs(exact[-1])) < 1e-8
        # Nearly all of the points are in the cluster.
        last = np.exp(1j * (found.flow_map.positions[-1] - found.flow_map.cluster))
        assert np.median(np.abs(last - 1.0)) < 0.05


def test_characteristics_in_a_confinement_move_with_the_frequency():
    """Active rotators without noise: labels of the first density by plain sums over all of them."""
    field = CosineSeries((0.3, -0.2))
    problem = ContinuityEquation(Circle(), CommonFrequency(SoftmaxAttention(1.5), OMEGA), 0.0, 1.2, field)
    times = np.array([0.0, 0.4, 0.8])
    along = evolve(problem, VonMises(0.5, 0.8), 0.8, times=times, method=Characteristics(), tolerance=1e-11)
    labels = 2.0 * np.pi * np.arange(768) / 768
    masses = np.exp(0.8 * np.cos(labels - 0.5))
    masses /= masses.sum()

    def velocity(_, x):
        return OMEGA + 1.2 * oracles.attention_velocity("softmax", 1.5, x, masses) - field.slope(x)

    moved = solve_ivp(velocity, (0.0, 0.8), labels, "DOP853", times, rtol=1e-13, atol=1e-14).y
    expected = np.exp(1j * np.multiply.outer(np.arange(6), moved)).transpose(2, 0, 1) @ masses
    assert np.abs(along.cosine[:, :6] + 1j * along.sine[:, :6] - expected).max() < 1e-10


@pytest.mark.parametrize("drift", [PairDrift(), MomentDrift(tolerance=1e-12)])
@pytest.mark.parametrize(
    ("name", "lag", "confined"), [("none", 0.0, True), ("softmax", LAG, True), ("ngpt", 0.0, False)]
)
def test_particles_turn_besides(name, lag, confined, drift):
    field = CosineSeries((-0.4, 0.2)) if confined else None
    law = PhaseLag(LAWS[name](1.3), lag) if lag else LAWS[name](1.3)
    problem = ContinuityEquation(Circle(), CommonFrequency(law, OMEGA), 0.0, 1.5, field)
    start = np.random.default_rng(4).uniform(-1.2, 1.2, 30)

    def velocity(_, x):
        force = 0.0 if field is None else field.slope(x)
        return OMEGA + 1.5 * oracles.attention_velocity(name, 1.3, x, np.full(30, 1 / 30), x + lag) - force

    exact = solve_ivp(velocity, (0.0, 1.0), start, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    found = simulate(problem, 30, 1.0, 1, initial=start, drift=drift, step=0.01, degrees=3)
    expected = [np.exp(-1j * degree * exact).mean() for degree in range(4)]
    # The error of the fourth order of the step, below 1e-8 of unit rates.
    assert np.abs((found.cosine - 1j * found.sine)[0, -1] - expected).max() < 1e-7


def test_with_noise_particles_are_those_without_the_frequency_turned():
    plain = ContinuityEquation(Circle(), SoftmaxAttention(2.0), 0.3, 1.5)
    turned = plain.replace(velocity=CommonFrequency(SoftmaxAttention(2.0), OMEGA))
    one, other = (
        simulate(problem, 50, 2.0, 3, step=0.02, drift=PairDrift(), keep_positions=True)
        for problem in (plain, turned)
    )
    apart = np.exp(1j * (other.positions - one.positions - 2.0 * OMEGA))
    # Roundings of a hundred steps, which interact.
    assert np.abs(apart - 1.0).max() < 1e4 * EPS


def test_particles_and_density_are_compared():
    law = CommonFrequency(Kuramoto(), OMEGA)
    for noise, confinement in ((0.0, None), (0.4, CosineSeries((-0.3,)))):
        problem = ContinuityEquation(Circle(), law, noise, 1.0, confinement)
        found = compare(problem, VonMises(0.3, 1.0), 0.5, particles=(50, 400), replicas=8, seed=2, times=2)
        assert found.distances[:, -1].max() < 6.0 / np.sqrt(400)
        assert not any("from what time on is not known" in text for text in found.warnings)


def test_rest_is_a_rotating_wave_and_said_to_be_one():
    problem = ContinuityEquation(Circle(), CommonFrequency(Kuramoto(), OMEGA), 1.0, 3.0)
    plain = McKeanVlasov(Circle(), Kuramoto(), 1.0, 3.0)
    moving, still = (evolve(p, PerturbedUniform(0.1), np.inf, stop_at_stationarity=True) for p in (problem, plain))
    assert moving.outcome is Outcome.STATIONARY
    assert np.abs(moving.order_parameter() - still.order_parameter()).max() < 64 * EPS
    assert moving.slowest_rate == still.slowest_rate
    assert any("rotating wave" in text for text in moving.warnings)


def test_what_is_left_of_a_failure_and_of_a_checkpoint_turns_as_well(tmp_path):
    problem = ContinuityEquation(Circle(), CommonFrequency(SoftmaxAttention(1.0), OMEGA), 0.0, 1.0)
    ended = evolve(problem, PerturbedUniform(0.3), 20.0, on_failure="return")
    assert ended.outcome is Outcome.NOT_RESOLVED
    angle = np.angle(ended.cosine[-1, 1] + 1j * ended.sine[-1, 1])
    assert abs(np.exp(1j * (angle - OMEGA * ended.time[-1])) - 1.0) < 1e-12
    with pytest.raises(NotResolved) as caught:
        evolve(problem.replace(noise=1e-9), PerturbedUniform(0.3), 20.0, modes=32)
    assert caught.value.partial.problem.velocity.frequency == OMEGA
    kept = Checkpoint(tmp_path / "run.npz", every=0.2)
    noisy = problem.replace(noise=0.5)
    first, again = (evolve(noisy, VonMises(0.3, 1.0), 1.0, checkpoint=kept) for _ in range(2))
    assert np.array_equal(first.cosine, again.cosine)
    saved = tmp_path / "turning.json"
    first.save(saved)
    from meanfield import open_trajectory

    assert open_trajectory(saved).problem == noisy


def test_equations_with_a_frequency_are_rebuilt_and_have_the_growth_of_the_law():
    law = CommonFrequency(DepthScaled(PhaseLag(SoftmaxAttention(2.0), LAG)), OMEGA)
    problem = ContinuityEquation(Circle(), law, 0.2, 1.0)
    assert equation_from(problem.to_dict()) == problem
    assert problem.with_parameter("frequency", 2.5).velocity.frequency == 2.5
    assert problem.with_parameter("beta", 1.0).velocity.law.law.law.beta == 1.0
    plain = problem.replace(velocity=law.law)
    steady = ContinuityEquation(Circle(), CommonFrequency(law.law.law, OMEGA), 0.2, 1.0)
    without = steady.replace(velocity=law.law.law)
    assert np.array_equal(growth_rates(steady, 6), growth_rates(without, 6))
    assert critical_coupling(steady) == critical_coupling(without)
    start, until = VonMises(0.0, 1.0), 1.0
    moments = [(t.cosine - 1j * t.sine)[-1, :8] for t in (evolve(p, start, until) for p in (problem, plain))]
    assert np.abs(moments[0] - moments[1] * np.exp(-1j * OMEGA * np.arange(8))).max() < 64 * EPS


TURNING = ContinuityEquation(Circle(), CommonFrequency(Kuramoto(), OMEGA), 1.0, 3.0)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: CommonFrequency(None, 1.0), "law must be a velocity law or a potential"),
        (lambda: CommonFrequency(Kuramoto(), 0.0), "other than 0, not 0.0; without one give the law itself"),
        (lambda: CommonFrequency(Kuramoto(), np.inf), "number of radians per unit of time from -1e"),
        (lambda: CommonFrequency(CommonFrequency(Kuramoto(), 1.0), 1.0), "add two of them"),
        (lambda: PhaseLag(CommonFrequency(Kuramoto(), 1.0), 0.3), "give its frequency to the outermost law"),
        (lambda: DepthScaled(CommonFrequency(Kuramoto(), 1.0)), "give its frequency to the outermost law"),
        (
            lambda: CommonFrequency(CustomVelocity(lambda t, m: (np.exp(-1j * t) * m[1]).imag), 1.0),
            "add the frequency over the coupling to the function",
        ),
        (
            lambda: ContinuityEquation(Sphere(3), CommonFrequency(Kuramoto(), 1.0)),
            "a rotation of the circle, of which the sphere",
        ),
        (
            lambda: stationary_states(TURNING),
            "turns all densities; leave it out for the frame that rotates with it",
        ),
        (lambda: bifurcation_diagram(TURNING.at(coupling=None), (1.0, 3.0)), "turns all densities; leave it out"),
        (
            lambda: flight_profile(TURNING.replace(noise=0.0), [1.0]),
            "phase lag and common frequency; leave these out",
        ),
        (
            lambda: simulate(
                TURNING.replace(velocity=CommonFrequency(DepthScaled(Kuramoto()), 1.0)), 10, 1.0, 1, step=0.1
            ),
            "changes with time without a common frequency only",
        ),
    ],
)
def test_what_has_no_meaning_with_a_frequency_is_refused(call, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        call()
