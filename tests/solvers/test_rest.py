"""How evolutions end next to branch points and folds, where a stable and an unstable state are close together."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ive

from meanfield import (
    Circle,
    CosineSeries,
    Kuramoto,
    McKeanVlasov,
    Outcome,
    Sphere,
    Transformer,
    critical_coupling,
    kuramoto_order_parameter,
)
from solvers import ETDRK4, PerturbedUniform, evolve, stationary_states
from solvers.evolution import running
from tests import problems

# What an evolution to rest may take here: multistep formulas need some hundred steps at any rate.
FEW = 3000


def cluster(coupling):
    """Return the moments of the Kuramoto cluster, I_k(kappa m)/I_0."""
    field = coupling * kuramoto_order_parameter(coupling)
    cosine = ive(np.arange(20), field) / ive(0, field)
    return cosine, np.zeros(20)


@pytest.mark.parametrize("exponent", [1, 3, 5, 7])
@pytest.mark.parametrize("until", [3.0, math.inf])
def test_the_nearest_state_is_the_one_that_counts(exponent, until):
    """The cluster is at a distance of the root of 10^-u from the uniform state, stable where that is not."""
    coupling = 2.0 * (1.0 + 10.0**-exponent)
    problem = McKeanVlasov(Circle(), Kuramoto(), coupling=coupling)
    resting = evolve(problem, cluster(coupling), until, stop_at_stationarity=True)
    assert (resting.outcome, resting.unstable) == (Outcome.STATIONARY, 0)
    leaving = evolve(problem, PerturbedUniform(1e-12), 3.0)
    assert (leaving.outcome, leaving.unstable) == (Outcome.METASTABLE, 2)
    assert leaving.slowest_rate == pytest.approx(-(10.0**-exponent), rel=1e-6)


@pytest.mark.parametrize("exponent", [2, 4, 6, 8])
@pytest.mark.parametrize("domain", [Circle(), Sphere(4)])
def test_a_saddle_next_to_the_uniform_state_is_not_called_stable(exponent, domain):
    """Below a subcritical bifurcation the uniform state is stable, and the saddle beside it is not."""
    problem = McKeanVlasov(domain, Transformer(5.0))
    problem = problem.at(coupling=critical_coupling(problem) * (1.0 - 10.0**-exponent))
    states = [state for state in stationary_states(problem, rates=False) if np.hypot(*state.cosine[1:3]) < 0.5]
    assert {state.unstable for state in states} == {0, 1}
    for state in states:
        path = evolve(problem, state, 1.0, stop_at_stationarity=True)
        assert path.unstable == state.unstable
        assert path.outcome is (Outcome.METASTABLE if state.unstable else Outcome.STATIONARY)


def test_states_closer_than_the_accuracy_cannot_be_told_apart():
    """Nematics leave the uniform state transcritically: at 1 - 1e-7 the saddle is about as far from it."""
    problem = problems.NEMATIC.problem
    problem = problem.at(coupling=critical_coupling(problem) * (1.0 - 1e-7))
    near = [state for state in stationary_states(problem, rates=False) if abs(state.cosine[2]) < 1e-5]
    assert {state.unstable == 0 for state in near} == {True, False}
    for state in near:
        # The uniform state itself is exact.
        if state.unstable:
            path = evolve(problem, state, 1.0, tolerance=1e-4)
            assert path.outcome is Outcome.UNDECIDED
            assert "both within its accuracy" in path.summary()
        sharp = evolve(problem, state, 1.0, tolerance=1e-10)
        assert sharp.outcome is (Outcome.METASTABLE if state.unstable else Outcome.STATIONARY)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("exponent", [4, 9])
def test_rest_is_found_in_few_steps_at_any_rate(sign, exponent):
    coupling = 2.0 * (1.0 + sign * 10.0**-exponent)
    problem = McKeanVlasov(Circle(), Kuramoto(), coupling=coupling)
    path = evolve(problem, PerturbedUniform(0.1), math.inf, stop_at_stationarity=True)
    assert path.outcome is Outcome.STATIONARY
    assert path.steps <= FEW
    expected = kuramoto_order_parameter(coupling) if sign > 0 else 0.0
    assert abs(path.order_parameter()[-1] - expected) <= 1e-6
    assert path.slowest_rate == pytest.approx(10.0**-exponent * (2 if sign > 0 else 1), rel=1e-3)


@pytest.mark.parametrize(
    ("exponent", "amplitude", "tolerance"), [(5, 1e-8, 1e-8), (6, 10**-6.5, 1e-8), (7, 10**-6.5, 1e-10)]
)
def test_a_slow_decay_is_followed_in_few_steps_to_a_final_time(exponent, amplitude, tolerance):
    """Errors are below rounding from the start, where LSODA alone would go on in explicit steps for ever.

    With c_2 = c_1^2/2 the first moment obeys c_1' = -a c_1 - c_1^3/2 up to the fifth power.
    """
    problem = McKeanVlasov(Circle(), Kuramoto(), coupling=2.0 * (1.0 - 10.0**-exponent))
    rate = 1.0 - 0.5 * problem.coupling
    start, called = np.array([1.0, amplitude, 0.5 * amplitude**2]), []

    def bounded(time):
        called.append(time)
        assert len(called) <= FEW

    path = evolve(
        problem, (start, 0.0 * start), 1.0 / rate, times=8, tolerance=tolerance, modes=64, progress=bounded
    )
    decay = np.exp(-2.0 * rate * path.time)
    exact = amplitude * np.sqrt(rate * decay / (rate + 0.5 * amplitude**2 * (1.0 - decay)))
    assert np.abs(path.cosine[:, 1] / exact - 1.0).max() <= path.accuracy
    assert path.steps <= FEW


@pytest.mark.parametrize(("noise", "tolerance"), [(1e4, 1e-6), (1e9, 1e-8), (1e4, 1e-10)])
def test_a_density_may_decay_below_the_smallest_doubles(noise, tolerance):
    """Without an end to it the last digits of denormal moments would be followed for ever."""
    called = []

    def bounded(time):
        called.append(time)
        # Of the 300 orders of magnitude each takes a few hundred steps at most, and eight steps make a call.
        assert len(called) <= 300 * 300 / 8

    problem = McKeanVlasov(Circle(), Kuramoto(), noise=noise, coupling=1.0)
    path = evolve(problem, PerturbedUniform(0.5), 1.0, times=5, tolerance=tolerance, progress=bounded)
    assert np.abs(path.cosine[1:, 1:]).max() <= 1e-280


def cluster_by_forty_digits(dimension, coupling):
    """Return m of the Kuramoto cluster: m = I_{d/2}(x)/I_{d/2-1}(x), x = kappa m, near x^2 = d (d+2) (1 - d/kappa)."""
    with mp.workdps(40):
        coupling, order = mp.mpf(coupling), mp.mpf(dimension) / 2
        near = mp.sqrt(dimension * (dimension + 2) * (1 - dimension / coupling))
        equation = lambda x: coupling * mp.besseli(order, x) / mp.besseli(order - 1, x) - x  # noqa: E731
        return float(mp.findroot(equation, (0.999 * near, 1.001 * near)) / coupling)


@pytest.mark.parametrize("dimension", [2, 3, 6])
@pytest.mark.parametrize("exponent", [7, 8, 9, 10, 11])
def test_next_to_a_branch_point_rest_means_within_the_tolerance(dimension, exponent):
    """The slowest rate magnifies errors of the equation, but these are as small as the cluster is."""
    coupling = dimension * (1.0 + 10.0**-exponent)
    problem = McKeanVlasov(Circle() if dimension == 2 else Sphere(dimension), Kuramoto(), coupling=coupling)
    path = evolve(problem, PerturbedUniform(0.1), math.inf, stop_at_stationarity=True, tolerance=1e-8)
    assert path.outcome is Outcome.STATIONARY
    assert path.distance <= 1e-8
    assert abs(path.cosine[-1, 1] - cluster_by_forty_digits(dimension, coupling)) <= 1e-8
    assert not any("at rest" in warning for warning in path.warnings)


def test_rest_where_rounding_allows_less_than_the_tolerance_says_so():
    problem = McKeanVlasov(Circle(), Transformer(5.0), coupling=problems.TRANSFORMER.exact("fold") * (1.0 + 1e-11))
    stable = next(state for state in stationary_states(problem, rates=False) if state.cosine[1] > 0.6)
    start = stable.cosine.copy()
    start[1] += 1e-3
    path = evolve(problem, (start, stable.sine), math.inf, stop_at_stationarity=True, tolerance=1e-10)
    assert path.outcome is Outcome.STATIONARY
    assert path.distance > path.tolerance
    assert any(f"at a distance of {path.distance:.1e}" in warning for warning in path.warnings)


def test_work_without_a_final_time_is_bounded(monkeypatch):
    """In a cluster exponential formulas take small steps; where the rate is tiny they stop and say so."""
    monkeypatch.setattr(running, "MOST_STEPS", 20_000)
    problem = McKeanVlasov(Circle(), Transformer(5.0), coupling=problems.TRANSFORMER.exact("fold") * (1.0 + 1e-9))
    stable = next(state for state in stationary_states(problem, rates=False) if state.cosine[1] > 0.6)
    start = stable.cosine.copy()
    start[1] += 1e-3
    path = evolve(problem, (start, stable.sine), math.inf, stop_at_stationarity=True, method=ETDRK4(step=0.05))
    assert path.steps <= 20_000
    assert path.outcome is Outcome.REACHED_TIME
    assert any("steps are needed" in warning for warning in path.warnings)


def test_a_field_has_its_own_branch_points():
    """In two equal wells, the density shared equally loses its stability; the potential does not feel it at all."""
    field = CosineSeries((0.0, -0.5))
    states = {}
    for relative in (1.0 - 1e-6, 1.0 + 1e-6):
        problem = McKeanVlasov(
            Circle(), Kuramoto(), coupling=relative * critical_with_field(0.5), confinement=field
        )
        flat = next(state for state in stationary_states(problem, rates=False) if abs(state.cosine[1]) < 1e-9)
        path = evolve(problem, flat, 5.0)
        states[relative] = (path.outcome, path.unstable)
    assert list(states.values()) == [(Outcome.STATIONARY, 0), (Outcome.METASTABLE, 1)]


def critical_with_field(strength):
    """Return kappa at which 1 = (kappa/D) <cos^2 t> of exp(strength cos 2t)/Z: the even state loses its stability."""
    mean = 0.5 * (1.0 + ive(1, strength) / ive(0, strength))
    return 1.0 / mean
