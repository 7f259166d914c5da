"""Evolution against independent integrations, closed forms and the identities of the equation."""

import dataclasses

import numpy as np
import pytest
from scipy.special import ive

from meanfield import (
    Circle,
    CosineSeries,
    Kuramoto,
    Logarithmic,
    McKeanVlasov,
    Outcome,
    Transformer,
    critical_coupling,
)
from solvers import (
    ETDRK4,
    LSODA,
    Bumps,
    PerturbedUniform,
    VonMises,
    evolve,
    spectrum,
    stationary_states,
)
from solvers.evolution import Initial
from solvers.evolution.circle.space import CircleSpace
from solvers.evolution.exponential import phi_functions
from solvers.evolution.march import suitable
from solvers.evolution.system import EvenSystem, FullSystem
from tests import problems
from tests.oracles import evolved_moments, kuramoto

EPS = float(np.finfo(float).eps)


def transformer(beta=4.0, relative=2.0, **fields):
    problem = McKeanVlasov(Circle(), Transformer(beta), **fields)
    free = dataclasses.replace(problem, confinement=None)
    return problem.at(coupling=relative * critical_coupling(free))


REFERENCE = problems.CLUSTERED_ATTENTION.problem
CONFINED = McKeanVlasov(Circle(), Transformer(3.0), noise=0.7, coupling=0.3, confinement=CosineSeries((0.5, -0.6)))
START = PerturbedUniform(0.1)


def moments(trajectory, degree, index=-1):
    """Return c_0..c_degree at one of the times."""
    c = np.zeros(degree + 1, dtype=complex)
    count = min(degree + 1, trajectory.cosine.shape[1])
    c[:count] = trajectory.cosine[index, :count] - 1j * trajectory.sine[index, :count]
    return c


def oracle(problem, start, times, degree=44):
    multipliers = np.asarray(problem.potential.multipliers(problem.domain, degree), dtype=float)
    fixed = None
    if problem.confinement is not None:
        fixed = np.asarray(problem.confinement.multipliers(problem.domain, degree), dtype=float)
    return evolved_moments(
        multipliers, problem.coupling, problem.noise, start.moments(degree), np.asarray(times), fixed
    )


def relative_error(found, exact):
    return float(np.linalg.norm((found - exact)[1:]) / np.linalg.norm(exact[1:]))


@pytest.fixture(scope="module")
def reference():
    """The reference problem at T = 3, known to about 1e-10."""
    return oracle(REFERENCE, START, [1.0, 3.0])


# Accuracy


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_error_is_below_the_tolerance(reference, tolerance):
    trajectory = evolve(REFERENCE, START, 3.0, times=[1.0, 3.0], tolerance=tolerance)
    for index, exact in enumerate(reference):
        assert relative_error(moments(trajectory, 44, index), exact) <= tolerance


@pytest.mark.parametrize("method", [ETDRK4(), LSODA()])
def test_both_integrators_agree_with_the_oracle(reference, method):
    trajectory = evolve(REFERENCE, START, 3.0, times=[3.0], method=method)
    assert relative_error(moments(trajectory, 44), reference[1]) <= 1e-8


@pytest.mark.parametrize("start", [VonMises(1.0, 1.5), Bumps(3, 0.5, (1.0, 1.2, 0.8)), VonMises(0.0, 1.5)])
def test_confinement_and_densities_without_axis(start):
    times = [0.3, 1.5]
    trajectory = evolve(CONFINED, start, 1.5, times=times)
    for index, exact in enumerate(oracle(CONFINED, start, times, 40)):
        assert relative_error(moments(trajectory, 40, index), exact) <= 1e-8


def test_observed_order_of_fixed_steps():
    exact = moments(evolve(REFERENCE, START, 1.0, times=[1.0], tolerance=1e-12), 40)
    errors = [
        np.linalg.norm(moments(evolve(REFERENCE, START, 1.0, times=[1.0], method=ETDRK4(1 / n)), 40) - exact)
        for n in (100, 200, 400)
    ]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 4.0) <= 0.1), orders


def test_small_perturbations_keep_their_relative_accuracy():
    """Around the uniform density c_k' = -D k^2 (1 - lambda_k) c_k, for any size of the perturbation."""
    for problem, amplitude in ((REFERENCE, 1e-9), (REFERENCE.at(coupling=0.3 * REFERENCE.coupling), 1e-3)):
        kuramoto_like = McKeanVlasov(
            Circle(), CosineSeries((-1.0,)), coupling=problem.coupling / REFERENCE.coupling
        )
        trajectory = evolve(kuramoto_like, PerturbedUniform(amplitude), 8.0, times=[4.0, 8.0])
        rate = -(1.0 - kuramoto_like.coupling / 2.0)
        ratio = trajectory.moment(1)[1] / trajectory.moment(1)[0]
        # The next order is quadratic in the amplitude.
        assert abs(ratio / np.exp(4.0 * rate) - 1.0) <= 1e-7 + amplitude**2


def test_phi_functions():
    import mpmath as mp

    z = np.concatenate([-np.logspace(-10, 5, 31), [0.0], np.logspace(-10, 1, 23)])
    for k, values in enumerate(phi_functions(z), start=1):
        with mp.workdps(60):
            exact = []
            for x in map(mp.mpf, z.tolist()):
                value = mp.e**x
                for j in range(k):
                    value = (value - 1 / mp.factorial(j)) / x if x else 1 / mp.factorial(j + 1)
                exact.append(float(value))
        assert np.all(np.abs(values / np.array(exact) - 1.0) <= 8 * EPS)


@pytest.mark.parametrize("problem", [REFERENCE, CONFINED])
@pytest.mark.parametrize("kind", [EvenSystem, FullSystem])
def test_jacobian_is_the_derivative(problem, kind):
    generator = np.random.default_rng(3)
    system = kind(problem, 24)
    unknown = generator.standard_normal(system.size) * 0.7 ** np.arange(system.size)
    matrix = system.jacobian(0.0, unknown).copy()
    step = 1e-6
    for column in range(0, system.size, 5):
        change = np.zeros(system.size)
        change[column] = step
        difference = system.derivative(0.0, unknown + change) - system.derivative(0.0, unknown - change)
        # The system is quadratic, so central differences are exact up to rounding.
        scale = np.abs(system.derivative(0.0, unknown)).max() + np.abs(matrix).max()
        assert np.abs(difference / (2 * step) - matrix[:, column]).max() <= 4 * EPS * scale / step


# Identities


def test_mass_is_exact():
    trajectory = evolve(REFERENCE, VonMises(0.7, 2.0), 20.0)
    assert trajectory.mass_error == 0.0
    angle = np.linspace(0, 2 * np.pi, 512, endpoint=False)
    masses = [trajectory.density(angle, index=index).mean() * 2 * np.pi for index in range(len(trajectory))]
    assert np.abs(np.array(masses) - 1.0).max() <= 1e-14


def test_energy_never_increases():
    trajectory = evolve(REFERENCE, START, 34.0)
    # The gap is a sum of a few terms of size one; rounding of each sum is a few EPS of their sizes.
    assert np.diff(trajectory.free_energy_gap).max() <= 16 * EPS * np.abs(trajectory.free_energy_gap).max()


@pytest.mark.parametrize(
    ("problem", "start"),
    [(REFERENCE, START), (CONFINED, VonMises(1.0, 1.0)), (transformer(beta=8.0), Bumps(2, 0.5))],
)
def test_energy_identity(problem, start):
    """The drop of F over each interval is the integral of the dissipation, by 10 Gauss nodes."""
    edges = np.concatenate([[0.0], 2.0 ** np.arange(-5, 2)])
    nodes, weights = np.polynomial.legendre.leggauss(10)
    half = 0.5 * np.diff(edges)
    inside = edges[:-1, None] + half[:, None] * (1.0 + nodes)
    trajectory = evolve(problem, start, 2.0, times=np.unique(np.concatenate([edges, inside.ravel()])))
    gap = trajectory.free_energy_gap[:: nodes.size + 1]
    rows = trajectory.dissipation[:-1].reshape(half.size, nodes.size + 1)
    lost = half * (rows[:, 1:] @ weights)
    assert np.abs(gap[:-1] - gap[1:] - lost).max() <= 1e-8


# An adaptive integrator takes other steps where a rounding differs, so that two runs differ by its tolerance; with
# fixed steps they differ by rounding, which the unstable transient amplifies.


@pytest.mark.parametrize("angle", [0.6, -3.0])
@pytest.mark.parametrize(("method", "bound"), [(None, 1e-8), (ETDRK4(0.01), 1e-11)])
def test_rotation_equivariance(angle, method, bound):
    """Turning the start turns the trajectory; a density without axis takes the full system."""
    start = Bumps(3, 0.4, (1.0, 1.3, 0.9))
    turned = dataclasses.replace(start, mean=angle)
    one, other = (evolve(REFERENCE, density, 3.0, times=[1.0, 3.0], method=method) for density in (start, turned))
    assert np.abs(one.sine).max() > 1e-2
    for index in range(2):
        c = moments(one, 64, index) * np.exp(-1j * angle * np.arange(65))
        assert np.abs(moments(other, 64, index) - c).max() <= bound


def test_a_density_with_an_axis_is_even_about_it():
    method = ETDRK4(0.01)
    one, other = (evolve(REFERENCE, VonMises(mean, 1.0), 3.0, times=[3.0], method=method) for mean in (0.0, 1.0))
    turned = moments(one, 64) * np.exp(-1j * np.arange(65))
    assert np.abs(moments(other, 64) - turned).max() <= 1e-11
    # The same work as for the even one: half of that of the full system.
    assert other.evaluations == one.evaluations


def test_symmetry_is_kept_exactly_and_embeds():
    """W(n t) from rho(n t): the n-fold trajectory of W(t) from rho(t), n^2 times as fast."""
    single = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.4)), coupling=3.0)
    triple = McKeanVlasov(Circle(), CosineSeries((0.0, 0.0, -1.0, 0.0, 0.0, -0.4)), coupling=3.0)
    one = evolve(single, PerturbedUniform(0.1), 4.5, times=[4.5], method=ETDRK4(0.009))
    three = evolve(triple, PerturbedUniform(0.1, 3), 0.5, times=[0.5], method=ETDRK4(0.001))
    assert np.abs(three.cosine[-1][::3][:20] - one.cosine[-1][:20]).max() <= 1e-11
    others = np.arange(three.cosine.shape[1]) % 3 != 0
    assert not three.cosine[-1][others].any()


def test_noise_sets_the_unit_of_time():
    slow = evolve(REFERENCE, START, 3.0, times=[3.0], method=ETDRK4(0.01))
    problem = dataclasses.replace(REFERENCE, noise=1e-3, coupling=1e-3 * REFERENCE.coupling)
    fast = evolve(problem, START, 3e3, times=[3e3], method=ETDRK4(10.0))
    assert np.abs(moments(fast, 40) - moments(slow, 40)).max() <= 1e-11


def test_path_does_not_depend_on_the_times_asked_for():
    for method in (None, ETDRK4(), ETDRK4(0.01)):
        few = evolve(REFERENCE, START, 2.0, times=[2.0], method=method)
        many = evolve(REFERENCE, START, 2.0, times=37, method=method)
        assert np.abs(moments(many, 40) - moments(few, 40)).max() <= 1e-8
        assert many.time[-1] == 2.0
        assert few.time.tolist() == [2.0]


def test_fixed_steps_end_exactly():
    """A final time that is no multiple of the step: the last step has its own coefficients."""
    exact = moments(evolve(REFERENCE, START, 1.0, times=[1.0], tolerance=1e-12), 40)
    trajectory = evolve(REFERENCE, START, 1.0, times=[0.5005, 1.0], method=ETDRK4(0.003))
    assert trajectory.time.tolist() == [0.5005, 1.0]
    assert np.linalg.norm(moments(trajectory, 40) - exact) <= 1e-10
    assert trajectory.tolerance is None


def test_zero_time_is_the_initial_density():
    trajectory = evolve(REFERENCE, VonMises(0.4, 1.0), 0.0)
    exact = VonMises(0.4, 1.0).moments(20)
    assert trajectory.time.tolist() == [0.0]
    assert np.abs(moments(trajectory, 20) - exact).max() <= 4 * EPS


# Where it ends


def test_kuramoto_reaches_the_closed_form():
    trajectory = evolve(problems.KURAMOTO_AT_3.problem, START, 60.0)
    exact = problems.KURAMOTO_AT_3.exact
    assert trajectory.outcome is Outcome.STATIONARY
    assert abs(trajectory.order_parameter()[-1] - exact("order parameter")) <= 1e-10
    assert abs(trajectory.free_energy_gap[-1] - exact("free energy gap")) <= 1e-12
    # m_2 = 1 - 2 D / kappa at every stationary state.
    assert abs(trajectory.order_parameter(2)[-1] - exact("second moment")) <= 1e-10
    assert trajectory.slowest_rate == pytest.approx(exact("rate of order 0"), abs=1e-8)


def test_settling_is_measured_at_the_state():
    trajectory = evolve(REFERENCE, START, np.inf, stop_at_stationarity=True)
    state = stationary_states(REFERENCE)[0]
    assert trajectory.outcome is Outcome.STATIONARY
    assert trajectory.distance <= 1e-8
    assert trajectory.unstable == 0
    assert trajectory.slowest_rate == pytest.approx(spectrum(state).slowest_rate, rel=1e-9)
    count = state.cosine.size
    assert np.abs(moments(trajectory, count - 1).real - state.cosine).max() <= 1e-8
    # It stops when it has settled, not long after: the distance falls like exp(-0.74 t).
    assert 15.0 <= trajectory.time[-1] <= 45.0


def test_a_moving_density_is_not_called_stationary():
    trajectory = evolve(REFERENCE, START, 15.0)
    assert trajectory.outcome is Outcome.REACHED_TIME
    assert 1e-6 <= trajectory.distance <= 1e-2
    assert trajectory.slowest_rate == pytest.approx(problems.CLUSTERED_ATTENTION.exact("rate of order 0"), abs=1e-7)


def test_a_slow_density_is_not_called_stationary():
    """At 1.001 times the critical coupling the uniform density is left at the rate 0.001 only."""
    problem = McKeanVlasov(Circle(), Kuramoto(), coupling=2.002)
    trajectory = evolve(problem, PerturbedUniform(1e-6), 20.0)
    assert trajectory.outcome is Outcome.METASTABLE
    assert trajectory.slowest_rate == pytest.approx(-0.001, rel=1e-9)
    settled = evolve(problem, PerturbedUniform(1e-6), np.inf, stop_at_stationarity=True)
    assert settled.outcome is Outcome.STATIONARY
    assert settled.order_parameter()[-1] == pytest.approx(float(kuramoto(2.002)[0]), rel=1e-5)


def test_unstable_states_are_metastable_with_their_time_scale():
    """Two exact clusters stay for ever; in truth, or with any share of the unstable direction, they do not."""
    exact = evolve(REFERENCE, PerturbedUniform(0.1, 2), np.inf, stop_at_stationarity=True)
    assert exact.outcome is Outcome.METASTABLE
    assert exact.unstable == 2
    assert exact.slowest_rate == pytest.approx(-0.33984926, abs=1e-7)
    assert "time scale of leaving it 2.94" in exact.summary()
    start = exact.cosine[-1].copy()
    start[1] += 1e-6
    left = evolve(REFERENCE, (start, exact.sine[-1]), 20.0, times=[5.0, 20.0])
    growth = np.log(left.order_parameter()[0] / 1e-6) / 5.0
    # 1e-6 is not the eigenvector itself, so the rate is that up to the logarithm of the share over the time.
    assert abs(growth + exact.slowest_rate) <= 0.1


def test_the_uniform_state_is_an_exact_start():
    trajectory = evolve(REFERENCE, PerturbedUniform(0.0), 5.0)
    assert trajectory.outcome is Outcome.METASTABLE
    assert trajectory.distance == 0.0
    assert trajectory.unstable == 4
    assert not trajectory.cosine[:, 1:].any()


def test_repulsion_ends_uniform():
    problem = McKeanVlasov(Circle(), Logarithmic(-1), coupling=3.0)
    trajectory = evolve(problem, VonMises(1.0, 5.0), np.inf, stop_at_stationarity=True)
    assert trajectory.outcome is Outcome.STATIONARY
    # Gap D + kappa/2.
    assert trajectory.slowest_rate == pytest.approx(2.5, rel=1e-12)


def test_vertical_families_are_no_rest():
    """On Poisson kernels at kappa = 2 D nothing moves, but Newton's method finds no isolated state."""
    problem = problems.LOGARITHMIC_AT_2.problem
    radius = 0.4
    start = radius ** np.arange(40.0)
    trajectory = evolve(problem, (start, np.zeros(40)), 5.0)
    assert np.abs(trajectory.cosine[:, :40] - start).max() <= 1e-12
    assert trajectory.outcome is not Outcome.STATIONARY or trajectory.slowest_rate is None


# Resolution


def test_resolution_follows_the_density():
    problem = transformer(beta=8.0, relative=3.0)
    coarse = evolve(problem, START, 4.0, modes=16, times=[4.0])
    fine = evolve(problem, START, 4.0, modes=256, times=[4.0])
    assert coarse.modes[-1] >= 80
    assert np.abs(moments(coarse, 120) - moments(fine, 120)).max() <= 1e-8
    # The last moments are a hundredth of the tolerance.
    last = np.hypot(coarse.cosine[-1], coarse.sine[-1])[-(coarse.modes[-1] // 8) :]
    assert last.max() <= 1e-10


def test_resolution_is_given_back():
    trajectory = evolve(REFERENCE, VonMises(0.0, 2000.0), 10.0)
    assert trajectory.modes[0] > 200
    assert trajectory.modes[-1] <= 128
    state = stationary_states(REFERENCE)[0]
    assert np.abs(trajectory.cosine[-1][:40] - state.cosine[:40]).max() <= 3e-3


def test_integrators_are_chosen_by_cost():
    assert suitable(EvenSystem(REFERENCE, 64), 1.0) == LSODA()
    assert suitable(EvenSystem(REFERENCE, 256), 3.0) == ETDRK4()
    assert suitable(EvenSystem(REFERENCE, 256), 1e4) == LSODA()
    collapsing = McKeanVlasov(Circle(), Logarithmic(1), coupling=3.0)
    assert suitable(EvenSystem(collapsing, 256), 1e4) == ETDRK4()


def test_small_systems_hold_their_densities():
    zeros = np.zeros(9)
    even = np.array([1.0, 0.0, 0.1, 0.0, 0.05, 0.0, 0.0, 0.0, 0.01])

    def system_for(problem, sine):
        return CircleSpace().system(problem, Initial(even, sine, "series"), 64, False)

    system = system_for(REFERENCE, zeros)
    assert isinstance(system, EvenSystem)
    assert system.symmetry == 2
    confined = dataclasses.replace(REFERENCE, confinement=CosineSeries((0.0, 1.0)))
    assert system_for(confined, zeros).symmetry == 2
    confined = dataclasses.replace(REFERENCE, confinement=CosineSeries((1.0,)))
    assert system_for(confined, zeros).symmetry == 1
    assert isinstance(system_for(REFERENCE, 0.1 * np.eye(9)[1]), FullSystem)


def test_slow_potentials():
    """Onsager's potential has multipliers of order k^-2 and a corner; its nematic state is reached all the same."""
    problem = problems.ONSAGER.problem
    problem = problem.at(coupling=2.0 * critical_coupling(problem))
    trajectory = evolve(problem, PerturbedUniform(0.1, 2), np.inf, stop_at_stationarity=True)
    state = stationary_states(problem)[0]
    assert trajectory.outcome is Outcome.STATIONARY
    assert trajectory.order_parameter(2)[-1] == pytest.approx(abs(state.cosine[2]), abs=1e-8)


def test_large_couplings_and_strong_confinement():
    """At kappa = 200 D the order parameter is I_1/I_0, and a confinement alone gives von Mises."""
    strong = evolve(McKeanVlasov(Circle(), Kuramoto(), coupling=200.0), START, 5.0, times=[5.0])
    assert strong.order_parameter()[-1] == pytest.approx(float(kuramoto(200.0)[0]), rel=1e-9)
    confined = McKeanVlasov(Circle(), Kuramoto(), coupling=0.0, confinement=CosineSeries((-30.0,)))
    alone = evolve(confined, VonMises(2.0, 1.0), 5.0, times=[5.0])
    assert alone.outcome is Outcome.STATIONARY
    assert alone.cosine[-1, 1] == pytest.approx(ive(1, 30.0) / ive(0, 30.0), rel=1e-8)
