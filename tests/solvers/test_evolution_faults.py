"""Nonsense, failures and interrupts: a sentence each, nothing lost."""

import dataclasses
import itertools
import re

import numpy as np
import pytest

from meanfield import (
    Circle,
    ComputationFailed,
    CosineSeries,
    InvalidInput,
    Kuramoto,
    Logarithmic,
    McKeanVlasov,
    NotResolved,
    Outcome,
    Sphere,
)
from solvers import ETDRK4, Bumps, Characteristics, Checkpoint, PerturbedUniform, VonMises, evolve, moments_of
from solvers.evolution import march, running
from solvers.evolution.circle.space import CircleSpace
from tests import problems

PROBLEM = problems.CLUSTERED_ATTENTION.problem
START = PerturbedUniform(0.1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"until": -1.0}, "the final time must be a number >= 0, not -1.0"),
        ({"until": np.nan}, "the final time must be a number >= 0, not nan"),
        ({"until": "3"}, "until must be a number, not '3'"),
        ({"until": np.inf}, "an infinite final time needs stop_at_stationarity=True"),
        ({"until": 1.0, "times": [0.5, 0.2]}, "the times to record must increase, but 0.2 follows 0.5"),
        ({"until": 1.0, "times": [0.5, 0.5]}, "must increase, but 0.5 follows 0.5"),
        ({"until": 1.0, "times": [0.5, 2.0]}, "the time 2 to record is not between 0 and the final time 1"),
        ({"until": 1.0, "times": [-0.5, 0.5]}, "the time -0.5 to record is not between"),
        ({"until": 1.0, "times": [np.nan]}, "an array of finite numbers or a whole number"),
        ({"until": 1.0, "times": []}, "must be a vector of finite numbers"),
        ({"until": 1.0, "times": 0}, "times = 0 asks for that many equal intervals"),
        (
            {"until": np.inf, "times": 5, "stop_at_stationarity": True},
            "give a whole number from 1 to 1000000 and a finite",
        ),
        ({"until": 1.0, "tolerance": 0.0}, "the tolerance must be from 1e-12 to 0.01, not 0.0"),
        ({"until": 1.0, "tolerance": np.nan}, "the tolerance must be from"),
        ({"until": 1.0, "method": "RK4"}, r"method must be LSODA\(\) or ETDRK4\(\) or WatanabeStrogatz\(\)"),
        ({"until": 1.0, "modes": 0}, "the number of modes must be from 1 to"),
        ({"until": 1.0, "checkpoint": "run"}, "checkpoint must be a Checkpoint such as"),
        ({"until": 1.0, "on_failure": "ignore"}, "on_failure must be 'raise' or 'return'"),
    ],
)
def test_requests_that_make_no_sense(options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        evolve(PROBLEM, START, **options)


def test_a_free_coupling_is_refused():
    with pytest.raises(InvalidInput, match="needs a coupling"):
        evolve(PROBLEM.at(coupling=None), START, 1.0)


@pytest.mark.parametrize("step", [0.0, -1.0, np.nan, np.inf])
def test_steps_that_are_none(step):
    with pytest.raises(InvalidInput, match="the step of ETDRK4 must be positive and finite"):
        ETDRK4(step)


# Initial densities


@pytest.mark.parametrize(
    ("initial", "sentence"),
    [
        (lambda t: np.exp(np.cos(t)), "integrates to 7.95492652, not to 1; divide it by that"),
        (lambda t: np.cos(t) + 0 * t, "is negative, -1 at angle 3.14"),
        (lambda t: np.nan * t, "is nan at angle 0"),
        (lambda t: 1 / 0, "the function for the initial density fails: ZeroDivisionError"),
        (lambda t: "x", "returns no number at an angle"),
        ((np.array([1.0, np.nan]), np.zeros(2)), "the cosine moment 1 of the initial density is nan"),
        ((np.array([2.0, 0.1]), np.zeros(2)), "integrates to 2, not to 1"),
        ((np.array([1.0, 0.1]), np.array([0.1, 0.0])), "the sine moment of degree 0 must be 0"),
        ((np.array([1.0, 0.1]), np.zeros(3)), "vectors of one length"),
        (np.array([1.0, 0.9 + 0j, 0.9, 0.0]), "is negative"),
        ([0.1], "cannot be estimated from 1 angles"),
        ([0.1, np.inf, 0.3], "angles must be a finite number or an array of finite numbers"),
        ("uniform", "an initial density is VonMises"),
        (VonMises(0.0, 1e12), "so narrow that"),
    ],
)
def test_densities_that_are_none(initial, sentence):
    with pytest.raises(InvalidInput, match=re.escape(sentence)):
        evolve(PROBLEM, initial, 1.0)


def test_jumps_are_refused_with_a_way_out():
    with pytest.raises(NotResolved, match=r"has a jump or a corner.*give a smooth density"):
        moments_of(PROBLEM, lambda t: np.where(np.abs(t - 1.0) < 0.5, 1.0, 0.0))


def test_too_narrow_starts_are_refused_with_the_number_they_need():
    with pytest.raises(NotResolved, match=r"the initial density needs about 4\d\d\d modes, more than 2048"):
        evolve(PROBLEM, VonMises(0.0, 2e5), 1.0)


def test_rounding_below_zero_is_no_fault():
    """A truncated density may be negative by rounding: this one by 1e-13 of its maximum."""
    cosine = VonMises(0.0, 40.0).moments(60).real
    assert evolve(PROBLEM, (cosine, np.zeros(61)), 0.1, times=[0.1]).outcome is Outcome.REACHED_TIME


# Failures on the way


@pytest.mark.parametrize("step", [1.0, 0.1, 0.05])
def test_too_large_steps_say_which_would_do(step):
    with pytest.raises(ComputationFailed, match=f"the step {step:g} of ETDRK4 is too large") as caught:
        evolve(PROBLEM, START, 40.0, method=ETDRK4(step))
    advised = float(re.search(r"take a step of (\S+) or less", str(caught.value)).group(1))
    assert advised < step
    partial = caught.value.partial
    assert partial.outcome is Outcome.PARTIAL
    assert partial.partial
    assert 0.0 <= partial.time[-1] < 40.0
    assert any("only part of the time asked for" in warning for warning in partial.warnings)
    if step < 1.0:
        assert evolve(PROBLEM, START, 40.0, method=ETDRK4(advised)).outcome is Outcome.STATIONARY


def test_collapse_is_refused(monkeypatch):
    """Attractive logarithm at kappa = 8 > 2 D: all mass falls into a point within a finite time."""
    for module in (march, running):
        monkeypatch.setattr(module, "MAX_DEGREE", 512, raising=False)
    problem = McKeanVlasov(Circle(), Logarithmic(1), coupling=8.0)
    with pytest.raises(NotResolved, match=r"too concentrated for 512 modes, it needs about \d+") as caught:
        evolve(problem, VonMises(0.0, 1.0), 20.0)
    partial = caught.value.partial
    assert partial.outcome is Outcome.NOT_RESOLVED
    assert 0.05 < partial.time[-1] < 0.5
    assert np.all(np.diff(partial.free_energy_gap) < 0.0)
    # Virial identity: m_1' = -(1 - s) m_1 + s m_1 (1 - ...) > 0, so it concentrates all the way.
    assert np.all(np.diff(partial.order_parameter()) > 0.0)
    returned = evolve(problem, VonMises(0.0, 1.0), 20.0, on_failure="return")
    assert np.array_equal(returned.cosine, partial.cosine)


def test_no_collapse_below_the_threshold():
    problem = McKeanVlasov(Circle(), Logarithmic(1), coupling=1.9)
    trajectory = evolve(problem, VonMises(0.0, 4.0), 30.0)
    # m_1' = -(1 - kappa/2) m_1 exactly: the interaction of the first degree with itself is linear.
    assert trajectory.outcome is not Outcome.NOT_RESOLVED
    assert trajectory.moment(1)[-1] == pytest.approx(trajectory.moment(1)[0] * np.exp(-0.05 * 30.0), rel=1e-7)


@pytest.mark.parametrize("on_failure", ["raise", "return"])
def test_an_interrupt_keeps_what_is_there(on_failure):
    calls = itertools.count()

    def interrupt(time):
        if next(calls) == 20:
            raise KeyboardInterrupt

    if on_failure == "raise":
        with pytest.raises(KeyboardInterrupt):
            evolve(PROBLEM, START, 30.0, progress=interrupt)
        return
    trajectory = evolve(PROBLEM, START, 30.0, progress=interrupt, on_failure="return")
    assert trajectory.outcome is Outcome.INTERRUPTED
    assert 0.0 < trajectory.time[-1] < 30.0
    assert trajectory.warnings[-1].endswith("interrupted")


def test_an_interrupt_before_the_first_density_has_nothing_to_keep(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(CircleSpace, "system", interrupt)
    with pytest.raises(KeyboardInterrupt):
        evolve(PROBLEM, START, 30.0, on_failure="return")


def test_progress_is_told_in_simulated_time():
    seen = []
    evolve(PROBLEM, START, 5.0, times=[5.0], progress=seen.append)
    assert np.all(np.diff(seen) >= 0.0)
    assert seen[-1] == 5.0
    assert len(seen) > 10


# Doubtful numbers


def test_negative_values_are_reported_and_not_clipped():
    """A loose tolerance leaves the density between strong clusters negative by its error, which has either sign."""
    problem = McKeanVlasov(Circle(), Kuramoto(), coupling=100.0)
    runs = [evolve(problem, VonMises(0.0, 1.0), 2.0, tolerance=loose) for loose in (1e-2, 5e-3, 2e-3, 1e-3)]
    negative = [run for run in runs if run.minimum.min() < -1e-8]
    assert negative
    for run in negative:
        assert any("the density is negative at" in warning for warning in run.warnings)


def test_unknown_dissipation_is_nan_with_a_warning():
    """At rest in a deep well the dissipation comes from where the density is lost in its error."""
    problem = McKeanVlasov(Circle(), Kuramoto(), coupling=0.0, confinement=CosineSeries((-100.0,)))
    trajectory = evolve(problem, VonMises(1.0, 1.0), 3.0)
    assert np.isnan(trajectory.dissipation[-1])
    assert not np.isnan(trajectory.free_energy_gap).any()
    assert any("the dissipation is not known at" in warning for warning in trajectory.warnings)


def test_samples_are_an_estimate_and_say_so():
    angles = np.random.default_rng(1).vonmises(0.5, 2.0, 400)
    trajectory = evolve(PROBLEM, angles, 0.5, times=[0.0, 0.5])
    assert "an estimate from 400 samples with a kernel of width" in trajectory.warnings[0]
    assert trajectory.provenance["options"]["initial"] == "400 samples"


def test_a_density_at_rest_that_newton_cannot_find_is_not_called_stationary(monkeypatch):
    monkeypatch.setattr(CircleSpace, "state_near", lambda *_: None)
    trajectory = evolve(PROBLEM, START, 60.0)
    assert trajectory.outcome is Outcome.REACHED_TIME
    assert "no isolated stationary state near it" in trajectory.warnings[-1]


def test_checkpoints_need_a_place(tmp_path):
    with pytest.raises(InvalidInput, match="does not exist; create it first"):
        evolve(PROBLEM, START, 1.0, checkpoint=Checkpoint(tmp_path / "missing" / "run", every=0.5))
    for every in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InvalidInput, match="a checkpoint is made every so many units of time"):
            Checkpoint(tmp_path / "run", every=every)
    for wrong in (True, "1"):
        with pytest.raises(InvalidInput, match="every must be a number"):
            Checkpoint(tmp_path / "run", every=wrong)  # type: ignore[arg-type]


def test_partial_records_hold_the_last_good_density(monkeypatch):
    """A failure between two recorded times loses nothing that was resolved before it."""
    monkeypatch.setattr(march, "MAX_DEGREE", 64)
    problem = dataclasses.replace(PROBLEM, coupling=20.0 * PROBLEM.coupling)
    trajectory = evolve(problem, Bumps(1, 0.5), 10.0, times=[0.0, 10.0], modes=32, on_failure="return")
    assert trajectory.outcome is Outcome.NOT_RESOLVED
    assert trajectory.time.size == 2
    assert 0.0 < trajectory.time[-1] < 10.0


@pytest.mark.parametrize("method", [None, Characteristics()])
@pytest.mark.parametrize("dimension", [256, 700, 1024])
def test_where_the_surface_is_no_number_densities_are_not_known(dimension, method):
    """Moments are: under Kuramoto's potential the mean of a nearly uniform density grows at kappa (1 - 1/d)."""
    problem = McKeanVlasov(Sphere(dimension), Kuramoto(), 0.0, 1.0)
    found = evolve(problem, VonMises(0.0, 1.0), 0.5, times=2, method=method)
    assert np.isnan(found.minimum).all() == (problem.domain.volume < 1e-300)
    growth = found.cosine[-1, 1] / found.cosine[0, 1]
    # By no more than the share of the square of the mean, which is that of d beside the identity.
    assert abs(growth - np.exp(0.5 * (1.0 - 1.0 / dimension))) < 4.0 * dimension * found.cosine[-1, 1] ** 3
