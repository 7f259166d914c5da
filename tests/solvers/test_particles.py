"""Particles: drift, schemes, statistics and mathematical properties that hold whatever the implementation."""

import math

import numpy as np
import pytest
from scipy.special import ive

from meanfield import (
    Circle,
    ComputationFailed,
    CosineSeries,
    HegselmannKrause,
    InvalidInput,
    KellerSegel,
    Kuramoto,
    Logarithmic,
    McKeanVlasov,
    Onsager,
    Outcome,
    Transformer,
)
from solvers import EulerMaruyama, MomentDrift, PairDrift, VonMises, WeakSecondOrder, simulate
from solvers.particles import replicas
from solvers.particles.clouds import in_cells, pair_drift, wrap
from solvers.particles.drift import MomentForce, cell_errors, cubic_factors, truncation
from solvers.particles.kernels import BLOCK, ArrayKernel
from tests import problems
from tests.oracles import mean_field_scheme, pair_forces
from tests.particle_runs import interrupted_at

EPS = np.finfo(float).eps
REFERENCE = problems.ATTENTION_AT_08.problem


def problem(potential, coupling=1.0, **others):
    return McKeanVlasov(Circle(), potential, coupling=coupling, **others)


def positions(count, seed=1, concentration=2.0):
    return np.random.default_rng(seed).vonmises(0.7, concentration, count)


def moment_drift(of, angles, drift=None):
    """Drift and moments as the fast path computes them, with the modes it chose."""
    modes = truncation(of, drift or MomentDrift(), 6)
    force = MomentForce(modes, 6)
    placed = in_cells(angles, modes.cells)
    kernel = ArrayKernel(modes.cells)
    kernel.deposit(placed, force.sums)
    moments = force.moments(angles.size).copy()
    force.prepare(moments, 1.0)
    before = placed.copy()
    kernel.euler(placed, force.table, 0.0, np.random.default_rng(0), force.sums)
    return (placed - before) * (2 * np.pi / modes.cells), moments, modes


# The drift from truncated moments


@pytest.mark.parametrize("cells", [256, 1024])
def test_cubics_are_within_their_bound_and_no_better_than_half_of_it(cells):
    degrees = np.arange(1, cells // 8)
    distances = np.linspace(-0.5, 0.5, 41)
    factors = cubic_factors(degrees[-1], cells)[:, degrees]
    phases = np.array([1, 1j, 1, 1j])[:, None] * factors
    approximate = sum(phases[power][:, None] * distances**power for power in range(4))
    exact = np.exp(2j * np.pi * np.outer(degrees, distances) / cells)
    error, bound = np.abs(approximate - exact).max(axis=1), cell_errors(degrees, cells)
    assert np.all(error <= bound + 8 * EPS)
    assert np.all(error[degrees > cells // 16] >= 0.5 * bound[degrees > cells // 16])


@pytest.mark.parametrize(
    "potential",
    [Transformer(4.0), Transformer(-3.0), Transformer(40.0), Kuramoto(), CosineSeries((-1.0, 0.3, 0.0, -2.0))],
    ids=str,
)
@pytest.mark.parametrize("tolerance", [1e-5, 1e-9, 1e-13])
def test_drift_agrees_with_pair_sums_to_its_stated_error(potential, tolerance):
    of = problem(potential, 1.3)
    angles = positions(2 * BLOCK // 30)
    drift, _, modes = moment_drift(of, angles, MomentDrift(tolerance=tolerance))
    exact = pair_drift(of, angles)
    assert modes.truncation_error + modes.evaluation_error <= tolerance
    # Positions in cells are known to rounding of the largest, and so is their difference.
    rounding = 16 * EPS * 2 * np.pi
    allowed = (modes.truncation_error + modes.evaluation_error) * modes.scale + rounding * (1 + modes.stiffness)
    assert np.abs(drift - exact).max() <= allowed


def test_pair_drift_is_the_double_sum():
    of = problem(Transformer(2.0), 1.7, confinement=CosineSeries((-0.4,)))
    angles = positions(60)
    exact = 1.7 * np.array(pair_forces(lambda t: math.sin(t) * math.exp(2 * math.cos(t)), list(angles)))
    exact -= 0.4 * np.sin(angles)
    assert np.abs(pair_drift(of, angles) - exact).max() <= 64 * EPS * np.exp(2.0)


def test_confinement_enters_the_drift():
    of = problem(Kuramoto(), 0.0, confinement=CosineSeries((-0.4, 0.0, 0.2)))
    angles = positions(1000)
    drift, _, modes = moment_drift(of, angles)
    exact = -0.4 * np.sin(angles) + 0.6 * np.sin(3 * angles)
    assert np.abs(drift - exact).max() <= modes.evaluation_error * modes.scale + 64 * EPS


def test_forces_between_particles_are_opposite_and_none_acts_on_itself():
    of = problem(Transformer(4.0))
    drift, _, modes = moment_drift(of, positions(500), MomentDrift(tolerance=1e-3))
    assert abs(drift.sum()) <= 500 * 8 * EPS * modes.cells
    alone, _, _ = moment_drift(of, np.array([1.234]), MomentDrift(tolerance=1e-3))
    assert abs(alone[0]) <= 64 * EPS * modes.scale


def test_moments_are_those_of_the_particles():
    angles = positions(5000)
    _, moments, modes = moment_drift(REFERENCE, angles)
    exact = np.array([np.exp(-1j * k * angles).mean() for k in range(7)])
    assert np.abs(moments[:7] - exact).max() <= cell_errors(np.array([6]), modes.cells)[0] + 64 * EPS


@pytest.mark.parametrize("potential", [HegselmannKrause(1.0), Onsager(), KellerSegel(1.0)], ids=str)
def test_left_out_modes_of_kinked_potentials_are_stated(potential):
    of = problem(potential, 1.0)
    small = truncation(of, MomentDrift(largest_degree=64))
    large = truncation(of, MomentDrift(largest_degree=1024))
    assert not small.complete
    assert small.truncation_error is None
    assert 0.0 < large.random_share < small.random_share < 0.3
    angles = np.random.default_rng(3).uniform(-np.pi, np.pi, 400)
    # Averages over samples: their scatter is a few percent.
    difference = moment_drift(of, angles, MomentDrift(largest_degree=64))[0] - pair_drift(of, angles)
    share = np.sqrt(np.mean(difference**2) / np.mean(pair_drift(of, angles) ** 2))
    assert 0.5 * small.random_share <= share <= 2.0 * small.random_share


def test_modes_whose_forces_do_not_add_up_are_stated():
    modes = truncation(problem(Logarithmic("repulsive")), MomentDrift())
    assert modes.random_share is None
    assert modes.truncation_error is None


def test_couplings_below_the_range_of_doubles_give_forces_of_ordinary_size():
    of = problem(Transformer(1000.0), np.longdouble("1e-430"))
    angles = positions(200)
    drift, _, modes = moment_drift(of, angles)
    assert modes.truncation_error <= 1e-9
    exact = pair_drift(of, angles)
    assert 0.1 < np.abs(exact).max() < 100
    assert np.abs(drift - exact).max() <= 1e-9 * modes.scale + 64 * EPS * modes.stiffness


# Schemes


ATTRACTION, CONFINEMENT = (-1.5, -0.6), (-0.8,)
CONFINED = problem(CosineSeries(ATTRACTION), 1.0, confinement=CosineSeries(CONFINEMENT))


def in_the_limit(order, steps):
    k = np.arange(25)
    attraction, confinement = np.zeros(25), np.zeros(25)
    attraction[1:3], confinement[1:2] = ATTRACTION, CONFINEMENT
    start = ive(k, 2.0) / ive(0, 2.0) * np.exp(-0.4j * k)
    return mean_field_scheme(attraction, confinement, 1.0, 1.0 / steps, steps, start, order)


@pytest.mark.parametrize(("scheme", "order"), [(EulerMaruyama(), 1), (WeakSecondOrder(), 2)])
@pytest.mark.parametrize("steps", [2, 4])
def test_schemes_have_the_bias_of_their_definition(scheme, order, steps):
    # 6 standard errors at 15 degrees of freedom: false alarm below 3e-5 for each of the 16 numbers.
    ensemble = simulate(
        CONFINED,
        30000,
        1.0,
        3,
        initial=VonMises(0.4, 2.0),
        step=1.0 / steps,
        replicas=16,
        scheme=scheme,
        times=[1.0],
    )
    assert ensemble.step == 1.0 / steps
    expected = in_the_limit(order, steps)
    bias = np.abs(expected - in_the_limit(2, 64))[1]
    for degree in (1, 2):
        cosine, sine = ensemble.mean_moments(degree)
        assert abs(cosine.mean[0] - expected[degree].real) <= 6 * cosine.standard_error[0]
        assert abs(sine.mean[0] + expected[degree].imag) <= 6 * sine.standard_error[0]
    # The test can tell the schemes apart: what they do to the moment exceeds the noise.
    assert bias > 6 * ensemble.mean_moments(1)[0].standard_error[0]


def test_definitions_have_their_weak_order():
    results = {(order, count): in_the_limit(order, count) for order in (1, 2) for count in (32, 64)}
    finest = in_the_limit(2, 128)
    limit = finest + (finest - results[2, 64]) / 3
    for order in (1, 2):
        coarse, fine = (np.linalg.norm((results[order, count] - limit)[1:5]) for count in (32, 64))
        assert abs(np.log2(coarse / fine) - order) <= 0.1


def test_pure_diffusion_decays_the_characteristic_function():
    free = problem(Transformer(4.0), 0.0, noise=0.7)
    count = 200_000
    ensemble = simulate(free, count, 1.0, 11, initial=VonMises(0.5, 3.0), step=0.3, times=[0.25, 0.9, 1.0])

    def expected(degree):
        start = ive(degree, 3.0) / ive(0, 3.0) * np.exp(-0.5j * degree)
        return start * np.exp(-(degree**2) * 0.7 * ensemble.time)

    for degree in range(1, 5):
        measured = ensemble.cosine[0, :, degree] - 1j * ensemble.sine[0, :, degree]
        centre, double = expected(degree), expected(2 * degree)
        # 5 standard deviations of 24 means: false alarm 1.4e-5.
        for part, sign in ((np.real, 1), (np.imag, -1)):
            variance = (1 + sign * double.real) / 2 - part(centre) ** 2
            assert np.all(np.abs(part(measured - centre)) <= 5 * np.sqrt(variance / count))


def test_free_particles_spread_with_variance_2_d_t():
    free = problem(Kuramoto(), 0.0, noise=1e-3)
    ensemble = simulate(free, 100_000, 2.0, 5, initial=np.zeros(100_000), step=0.5, keep_positions=True)
    # So narrow that none goes round; the variance of N normal numbers scatters by sqrt(2/N): 5 of these.
    assert abs(ensemble.positions.var() / 4e-3 - 1) <= 5 * math.sqrt(2 / 100_000)


def test_fluctuations_in_the_uniform_phase():
    # N E|c_1|^2 -> 1/(1 - 1/2), N E|c_2|^2 -> 1; averages over time of 16 replicas, 5 standard errors at 15 degrees
    # of freedom (false alarm 2e-4) and the known bias of the size 4/N.
    count = 2000
    ensemble = simulate(
        problem(Kuramoto(), 1.0), count, 12.0, 8, step=0.1, replicas=16, times=np.arange(4, 12.05, 0.1)
    )
    for degree, limit in ((1, 2.0), (2, 1.0)):
        squares = count * (ensemble.cosine[:, :, degree] ** 2 + ensemble.sine[:, :, degree] ** 2)
        averages = squares.mean(axis=1)
        error = averages.std(ddof=1) / 4
        assert error < 0.1 * limit
        assert abs(averages.mean() - limit) <= 5 * error + 4 / count
        assert np.allclose(ensemble.fluctuation(degree).mean, squares.mean(axis=0), rtol=64 * EPS)


# Equivariance


@pytest.mark.parametrize("scheme", [EulerMaruyama(), WeakSecondOrder()])
def test_rotated_particles_stay_rotated(scheme):
    start, turn = positions(3000), 1.1
    options = {"step": 0.01, "scheme": scheme, "keep_positions": True, "drift": MomentDrift(tolerance=1e-13)}
    one = simulate(REFERENCE, 3000, 0.5, 4, initial=start, **options)
    other = simulate(REFERENCE, 3000, 0.5, 4, initial=start + turn, **options)
    difference = other.positions - one.positions - turn
    # Rounding and the error of the drift grow with the transient by less than e^(stiffness t).
    assert np.abs(np.exp(1j * difference) - 1).max() <= 1e-9


def test_pairs_and_moments_move_particles_alike():
    options = {"step": 0.02, "keep_positions": True, "initial": positions(150)}
    for scheme in (EulerMaruyama(), WeakSecondOrder()):
        fast = simulate(REFERENCE, 150, 0.2, 4, scheme=scheme, **options)
        slow = simulate(REFERENCE, 150, 0.2, 4, scheme=scheme, drift=PairDrift(), **options)
        assert np.abs(np.exp(1j * (fast.positions - slow.positions)) - 1).max() <= 1e-7
        assert np.abs(fast.cosine - slow.cosine).max() <= 1e-7
        assert slow.provenance["options"]["drift"] == "pairs"


# Times, steps and faults


def test_final_times_are_hit_exactly():
    ensemble = simulate(problem(Kuramoto()), 10, 1.0, 1, step=0.3)
    assert ensemble.time[-1] == 1.0
    assert ensemble.step == 0.25
    ensemble = simulate(problem(Kuramoto()), 10, 1.0, 1, step=0.3, times=[0.0, 0.1, 0.75])
    assert list(ensemble.time) == [0.0, 0.1, 0.75, 1.0]
    # One step of 0.1, three of 0.65/3 and one of 0.25.
    assert ensemble.step == 0.25
    assert ensemble.provenance["options"]["steps"] == 5
    assert simulate(problem(Kuramoto()), 10, 1.1, 1, step=0.1).provenance["options"]["steps"] == 11


def test_times_may_be_a_number_of_intervals():
    ensemble = simulate(problem(Kuramoto()), 10, 1.0, 1, step=0.3, times=4)
    assert list(ensemble.time) == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert ensemble.step == 0.25
    with pytest.raises(InvalidInput, match="number of intervals must be from 1"):
        simulate(problem(Kuramoto()), 10, 1.0, 1, step=0.3, times=0)


def test_default_step_follows_the_stiffness():
    ensemble = simulate(problem(Kuramoto(), 4.0), 10, 1.0, 1)
    assert ensemble.step == pytest.approx(0.05)
    assert simulate(problem(Kuramoto(), 0.0), 10, 1.0, 1).step == 1.0


def test_steps_that_overshoot_are_refused_with_the_longest_admissible_one():
    concentrated = VonMises(0.0, 200.0)
    with pytest.raises(InvalidInput, match=r"the step 0.1 is too long: .* use a step of at most 0\.0"):
        simulate(problem(Kuramoto(), 40.0), 100, 1.0, 1, initial=concentrated, step=0.1)


def test_steps_that_begin_to_overshoot_end_the_run_and_keep_its_beginning():
    with pytest.raises(ComputationFailed, match=r"replica 0 stopped at time .*the step 0.1 is too long") as caught:
        simulate(problem(Kuramoto(), 40.0), 1000, 5.0, 1, step=0.1)
    partial = caught.value.partial
    assert partial.outcome is Outcome.PARTIAL
    assert np.isfinite(partial.cosine[0, 0]).all()
    assert np.isnan(partial.cosine[0, -1]).all()
    assert partial.histogram.sum() == 0


def test_failures_are_returned_where_that_is_asked_for():
    partial = simulate(problem(Kuramoto(), 40.0), 1000, 5.0, 1, step=0.1, on_failure="return")
    assert partial.outcome is Outcome.PARTIAL
    assert "the step 0.1 is too long" in partial.failures[0]
    with pytest.raises(InvalidInput, match="on_failure must be 'raise' or 'return'"):
        simulate(problem(Kuramoto()), 10, 1.0, 1, on_failure="ignore")


def test_interrupts_keep_what_was_done(monkeypatch):
    advance = replicas.advance
    monkeypatch.setattr(replicas, "advance", interrupted_at(16, advance))
    ensemble = simulate(problem(Kuramoto()), 200, 1.0, 1, step=0.1, replicas=3, on_failure="return")
    assert ensemble.outcome is Outcome.INTERRUPTED
    assert list(ensemble.completed) == [True, False, False]
    assert np.isfinite(ensemble.cosine[1, :6]).all()
    assert ensemble.failures == (
        "replica 1 was interrupted at time 0.5",
        "replica 2 is missing: not done before the interrupt",
    )
    monkeypatch.setattr(replicas, "advance", interrupted_at(16, advance))
    with pytest.raises(KeyboardInterrupt):
        simulate(problem(Kuramoto()), 200, 1.0, 1, step=0.1, replicas=3)


def test_coarse_steps_are_warned_of():
    ensemble = simulate(problem(Kuramoto(), 10.0), 2000, 3.0, 1, step=0.05, scheme=EulerMaruyama())
    assert any("the step 0.05 is coarse" in warning for warning in ensemble.warnings)


def test_spikes_below_the_noise_of_a_step_do_not_count_as_overshooting():
    ensemble = simulate(problem(HegselmannKrause(1.0), 5.0), 10, 0.5, 1, step=0.02)
    assert ensemble.outcome is Outcome.COMPLETED


def test_a_single_particle_diffuses_and_is_warned_of():
    ensemble = simulate(REFERENCE, 1, 1.0, 1, step=0.1)
    assert ensemble.order_parameter().mean == pytest.approx(np.ones(11), rel=1e-8)
    assert "a single particle does not interact" in ensemble.warnings[0]


def test_a_kinked_potential_is_warned_of():
    ensemble = simulate(problem(HegselmannKrause(1.0), 1.0), 10, 0.1, 1, step=0.05)
    assert "those beyond degree 1024 are left out" in ensemble.warnings[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"particles": 0}, "particles must be a whole number from 1 to 1e\\+09, not 0"),
        ({"particles": 2.5}, "particles must be a whole number"),
        ({"particles": True}, "particles must be a whole number"),
        ({"replicas": 0}, "replicas must be a whole number"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"seed": None}, "seed must be a whole number"),
        ({"degrees": 0}, "degrees must be a whole number"),
        ({"degrees": 100_000}, "need more than 262144 cells; ask for fewer degrees"),
        ({"until": 0.0}, "until must be a positive finite number, not 0.0"),
        ({"until": math.nan}, "until must be a positive finite number, not nan"),
        ({"until": 1e30}, "steps of 0.1 to time 1e\\+30 are more than"),
        ({"step": -0.1}, "step must be a positive finite number"),
        ({"step": math.inf}, "step must be a positive finite number"),
        ({"times": [0.5, 0.5]}, "times must increase"),
        ({"times": [0.5, 2.0]}, "times must lie from 0 to the end 1"),
        ({"times": [math.nan]}, "times must be a finite number or an array of finite numbers"),
        ({"times": "soon"}, "times must be a finite number or an array"),
        ({"scheme": "heun"}, "scheme must be EulerMaruyama"),
        ({"drift": "pairs"}, "drift must be MomentDrift"),
        ({"kernel": "fortran"}, "kernel must be one of auto, numpy, numba"),
        ({"initial": [0.0, math.nan]}, "the initial position of particle 1 is nan"),
        ({"initial": lambda t: np.cos(t) / np.pi}, "the initial density"),
        ({"initial": "uniform"}, "an initial density is"),
    ],
)
def test_inadmissible_arguments_are_refused_in_a_sentence(arguments, words):
    options = {"particles": 2, "until": 1.0, "seed": 1, "step": 0.1} | arguments
    with pytest.raises(InvalidInput, match=words):
        simulate(problem(Kuramoto()), **options)


@pytest.mark.parametrize("options", [{"tolerance": 0.0}, {"tolerance": math.nan}, {"largest_degree": 0}])
def test_inadmissible_accuracies_are_refused(options):
    with pytest.raises(InvalidInput, match="try MomentDrift"):
        MomentDrift(**options)


def test_a_free_coupling_and_a_missing_step_are_refused():
    with pytest.raises(InvalidInput, match="needs a coupling"):
        simulate(problems.KURAMOTO.problem, 10, 1.0, 1)
    with pytest.raises(InvalidInput, match="no step can be chosen"):
        simulate(problem(HegselmannKrause(1.0), 1.0), 10, 1.0, 1)


def test_coinciding_particles_under_a_singular_force_are_reported():
    with pytest.raises(ComputationFailed, match="two particles coincide"):
        simulate(problem(Logarithmic(-1)), 2, 0.1, 1, initial=np.zeros(2), step=0.01, drift=PairDrift())


def test_far_positions_are_wrapped_exactly():
    places = np.array([3.25e9 + 0.125, -7.0e8 - 0.375, 5.5])
    wrapped = places.copy()
    wrap(wrapped, 1024)
    assert np.all(np.abs(wrapped) <= 512)
    assert np.array_equal(np.remainder(wrapped, 1024.0), np.remainder(places, 1024.0))
    near = np.array([-1e6, 1e6])
    wrap(near, 1024)
    assert list(near) == [-1e6, 1e6]
    ensemble = simulate(problem(Kuramoto(), 0.0, noise=1e12), 1000, 1.0, 1, step=0.1, keep_positions=True)
    assert np.all(np.abs(ensemble.positions) <= np.pi)


def test_noise_after_which_places_are_lost_is_refused():
    with pytest.raises(InvalidInput, match="too far for their place on the circle"):
        simulate(problem(Kuramoto(), 0.0, noise=1e30), 10, 1.0, 1, step=0.1)


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_angles_are_positions_in_whatever_they_are_given(kind):
    angles = [0.3, -1.2, 2.5]
    problem = McKeanVlasov(Circle(), Kuramoto(), noise=0.0, coupling=1.0)
    ensemble = simulate(problem, 3, 0.1, 1, initial=kind(angles), times=[0.0], step=0.1)
    assert ensemble.cosine[0, 0, 1] == pytest.approx(np.cos(angles).mean(), abs=1e-9)
    pair = simulate(problem, 2, 0.1, 1, initial=kind(angles[:2]), times=[0.0], step=0.1)
    assert pair.cosine[0, 0, 1] == pytest.approx(np.cos(angles[:2]).mean(), abs=1e-9)
