"""The accuracy that an evolution states, against independent integrations."""

import dataclasses
import math
import re

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, Kuramoto, McKeanVlasov, critical_coupling, open_trajectory
from meanfield.export.records import load
from solvers import ETDRK4, Checkpoint, PerturbedUniform, VonMises, evolve
from tests import problems
from tests.campaigns.evolution import tight_moments
from tests.oracles import evolved_moments

DEGREE = 24
# Rounding and the tolerance of the oracle, 1e-13, as it grows in these problems.
ORACLE = 1e-9


def series(*weights, coupling, confinement=None):
    return McKeanVlasov(Circle(), CosineSeries(weights), coupling=coupling, confinement=confinement)


def errors(path, problem):
    """Return the largest error of a moment relative to the largest moment, over the recorded times."""
    padded = np.zeros(DEGREE + 1)
    start = path.cosine[0, : DEGREE + 1]
    padded[: start.size] = start
    weights = np.zeros(DEGREE + 1)
    weights[1 : len(problem.potential.w) + 1] = problem.potential.w
    force = None
    if problem.confinement is not None:
        force = np.zeros(DEGREE + 1)
        force[1 : len(problem.confinement.w) + 1] = problem.confinement.w
    exact = evolved_moments(weights, problem.coupling, 1.0, padded, path.time[1:], force)[:, 1:].real
    found = np.zeros_like(exact)
    width = min(DEGREE, path.cosine.shape[1] - 1)
    found[:, :width] = path.cosine[1:, 1 : width + 1]
    return float((np.abs(found - exact).max(axis=1) / np.abs(exact).max(axis=1)).max())


def sharp(problem, start, times):
    """Return the moments c_1, c_2, ... of even densities at the times, each to relative rounding, of small degrees."""
    weights, begin = np.zeros((2, DEGREE))
    weights[: len(problem.potential.w)], begin[: start.size - 1] = problem.potential.w, start[1:]
    return tight_moments(weights, problem.coupling, problem.noise, begin, times, np.zeros(DEGREE))


# A tiny mode grows beside a large one; a field makes one; one grows by six orders; one decays by them.
GROWING = [
    (series(-1.4, -1.4, coupling=2.0), [0.0, 1e-5, 0.2], 12.0),
    (series(-0.8, -2.0, coupling=1.6, confinement=CosineSeries((0.0, 0.1))), [0.0, 1e-6, 0.1], 12.0),
    (series(-2.0, coupling=1.5), [0.0, 1e-6], 25.0),
    (series(-2.0, coupling=0.5), [0.0, 0.3, 0.1], 25.0),
]


@pytest.mark.parametrize(("problem", "start", "until"), GROWING)
@pytest.mark.parametrize(("tolerance", "method"), [(1e-5, None), (1e-7, ETDRK4())])
def test_the_accuracy_bounds_the_error(problem, start, until, tolerance, method):
    cosine = np.array([1.0, *start[1:]])
    path = evolve(problem, (cosine, 0.0 * cosine), until, times=6, tolerance=tolerance, method=method)
    error = errors(path, problem)
    assert error <= path.accuracy + ORACLE
    said = any("not to the tolerance" in warning for warning in path.warnings)
    assert said == (path.accuracy > 4.0 * tolerance)
    assert said or error <= 4.0 * tolerance + ORACLE


def test_a_tiny_mode_is_less_accurate_than_asked_for_and_that_is_said():
    """The second mode grows by five orders beside the first, which decays."""
    problem = series(0.47, -0.36, coupling=8.0)
    start = np.array([1.0, -0.026, 1.2e-6])
    path = evolve(problem, (start, 0.0 * start), 8.0, times=6, tolerance=1e-6, method=ETDRK4())
    assert errors(path, problem) > 5.0 * path.tolerance
    assert any("errors grow or add up on the way" in warning for warning in path.warnings)
    assert f"accuracy {path.accuracy:.1e}" in path.summary()


# The third mode is the fastest and starts at zero; products of the others, and errors, excite it.
DECIDED_BY_ERRORS = series(-0.56, 0.14, -1.33, coupling=2.398), [0.0, -1.5e-7, 1.3e-8]


@pytest.mark.parametrize(("tolerance", "method"), [(1e-9, ETDRK4()), (1e-10, ETDRK4())])
def test_where_errors_decide_the_accuracy_is_not_known(tolerance, method):
    problem, start = DECIDED_BY_ERRORS
    start = np.array([1.0, *start[1:]]), np.zeros(3)
    path = evolve(problem, start, 6.2, times=8, tolerance=tolerance, method=method)
    assert path.accuracy is None
    (warning,) = (one for one in path.warnings if "the accuracy reached is not known" in one)
    assert "accuracy not known" in path.summary()
    end = float(re.search(r"from time (\S+) on", warning)[1])
    before = evolve(problem, start, 0.5 * end, times=8, tolerance=tolerance, method=method)
    exact = sharp(problem, start[0], before.time)
    error = (np.abs(before.cosine[:, 1:4] - exact[:, :3]).max(axis=1) / np.abs(exact).max(axis=1)).max()
    assert 1e-3 * before.accuracy <= error <= before.accuracy


@pytest.mark.parametrize("rate", [-0.9, -0.4, -0.1, 0.1, 1.5])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize("folds", [0.3, 1.0, 3.0])
def test_errors_of_one_mode_add_up(rate, tolerance, folds):
    """One moment among many has the errors of all steps.

    The first moment is an exponential up to terms of the third degree, of relative size 1e-16 in a unit of time.
    """
    problem, start = series(-2.0, coupling=1.0 + rate), np.array([1.0, 1e-8])
    path = evolve(problem, (start, 0.0 * start), folds / abs(rate), times=4, tolerance=tolerance)
    error = np.abs(path.cosine[:, 1] / (1e-8 * np.exp(rate * path.time)) - 1.0).max()
    assert error <= path.accuracy + 1e-11


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.4])
@pytest.mark.parametrize("times", [3.0, 5.0])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-10])
def test_without_a_final_time_the_accuracy_is_the_same(rate, times, tolerance):
    """A mode decays from some tolerances to rest; it is an exponential up to terms of the third degree."""
    problem, start = series(-2.0, coupling=1.0 - rate), np.array([1.0, times * tolerance])
    path = evolve(problem, (start, 0.0 * start), math.inf, stop_at_stationarity=True, tolerance=tolerance)
    error = np.abs(path.cosine[:, 1] / (start[1] * np.exp(-rate * path.time)) - 1.0).max()
    assert error <= path.accuracy + 1e-11


@pytest.mark.parametrize("step", [0.2, 0.05])
def test_fixed_steps_have_an_accuracy_too(step):
    problem, start, until = GROWING[0]
    path = evolve(problem, (np.array([1.0, *start[1:]]), np.zeros(3)), until, times=6, method=ETDRK4(step=step))
    error = errors(path, problem)
    assert path.tolerance is None
    assert error <= path.accuracy + ORACLE
    assert path.accuracy <= 2.0 * error + ORACLE


def test_where_nothing_grows_no_second_run_is_made(monkeypatch):
    from solvers.evolution import accuracy

    def second(*_):
        raise AssertionError("a second run")

    monkeypatch.setattr(accuracy, "_again", second)
    reference = problems.ATTENTION.problem
    reference = reference.at(coupling=2.0 * critical_coupling(reference))
    for problem, start in (
        (reference, PerturbedUniform(0.1)),
        (problems.KURAMOTO_AT_3.problem, VonMises(1.0, 2.0)),
    ):
        path = evolve(problem, start, 10.0, times=4)
        assert path.accuracy == 4.0 * path.tolerance
        assert path.warnings == ()


def test_a_resumed_run_states_the_same_accuracy(tmp_path):
    class Stop(Exception):
        pass

    def stop(time):
        if time > 1.6:
            raise Stop

    problem, start, _ = GROWING[0]
    start = (np.array([1.0, *start[1:]]), np.zeros(3))
    options = {"checkpoint": Checkpoint(tmp_path / "run", every=0.5), "tolerance": 1e-5}
    with pytest.raises(Stop):
        evolve(problem, start, 3.0, progress=stop, **options)
    resumed = evolve(problem, start, 3.0, **options)
    whole = evolve(problem, start, 3.0, checkpoint=Checkpoint(tmp_path / "other", every=0.5), tolerance=1e-5)
    assert resumed.accuracy == whole.accuracy
    assert np.array_equal(resumed.cosine, whole.cosine)


@pytest.mark.parametrize("suffix", [".nc", ".json"])
def test_the_accuracy_is_kept(tmp_path, suffix):
    problem, start, _ = GROWING[0]
    path = evolve(problem, (np.array([1.0, *start[1:]]), np.zeros(3)), 1.0, times=2, tolerance=1e-5)
    path.save(tmp_path / f"run{suffix}")
    assert open_trajectory(tmp_path / f"run{suffix}").accuracy == path.accuracy
    unknown = dataclasses.replace(path, accuracy=None)
    unknown.save(tmp_path / f"unknown{suffix}")
    assert open_trajectory(tmp_path / f"unknown{suffix}").accuracy is None
    if suffix == ".json":
        assert load((tmp_path / "run.json").read_text(encoding="utf-8"))["accuracy"] == path.accuracy


def test_work_of_the_second_run_is_bounded():
    """Next to a branch point a density rests for 1e8 units of time."""
    problem = McKeanVlasov(Circle(), Kuramoto(), coupling=1.9999998)
    start = np.array([1.0, 2.3e-5])
    path = evolve(problem, (start, 0.0 * start), math.inf, stop_at_stationarity=True)
    known = path.accuracy is not None
    assert known != any("the accuracy reached is not known" in warning for warning in path.warnings)
