"""Few particles in many replicas: moved together, with the bits that each replica has alone."""

import concurrent.futures

import numpy as np
import pytest

from meanfield import Circle, Kuramoto, McKeanVlasov, Outcome, Transformer
from solvers import Checkpoint, EulerMaruyama, PairDrift, WeakSecondOrder, simulate
from solvers.particles import blocks, few
from solvers.particles.streams import Streams, streams
from tests import particle_runs
from tests.particle_runs import interrupted_at

PROBLEMS = [
    McKeanVlasov(Circle(), Kuramoto(), coupling=2.0),
    McKeanVlasov(Circle(), Transformer(4.0), noise=0.5, coupling=0.8),
    McKeanVlasov(Circle(), Kuramoto(), coupling=1.0, confinement=Transformer(1.0)),
]


def run(problem=PROBLEMS[1], particles=3, **others):
    options = {"step": 0.01, "replicas": 7, "keep_positions": True, "times": 4} | others
    return simulate(problem, particles, 0.4, 11, **options)


def same(one, other):
    stiffness = [ensemble.provenance["options"]["step_times_slope"] for ensemble in (one, other)]
    return particle_runs.same(one, other) and stiffness[0] == stiffness[1]


@pytest.mark.parametrize("scheme", [EulerMaruyama(), WeakSecondOrder()])
@pytest.mark.parametrize("particles", [2, 3, 17])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_no_number_depends_on_the_block(monkeypatch, problem, particles, scheme):
    together = run(problem, particles, scheme=scheme)
    for most in (1, 2, 5):
        monkeypatch.setattr(few, "MOST_REPLICAS", most)
        assert same(run(problem, particles, scheme=scheme), together)


def test_no_number_depends_on_the_executor_or_on_checkpoints(tmp_path):
    expected = run()
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        assert same(run(executor=executor), expected)
    assert same(run(checkpoint=Checkpoint(tmp_path / "run", every=0.1)), expected)


def test_other_replicas_do_not_change_a_replica():
    assert np.array_equal(run(replicas=2).positions, run(replicas=7).positions[:2])


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_sums_are_those_over_pairs(problem):
    # Rounding, amplified by at most exp(stiffness * time): a few hundred.
    together, pairs = run(problem), run(problem, drift=PairDrift())
    assert np.abs(together.positions - pairs.positions).max() < 1e-9
    assert np.abs(together.cosine - pairs.cosine).max() < 1e-8


def test_the_sums_are_those_of_many_particles_to_the_tolerance_of_the_drift(monkeypatch):
    together = run(particles=20)
    monkeypatch.setattr("solvers.particles.circle.are_few", lambda particles, modes: False)
    cells = run(particles=20)
    assert [one.provenance["options"]["drift_sums"] for one in (together, cells)] == ["modes", "cells"]
    # 1e-9 of the scale of the drift, which is of order one, and the like of recorded moments.
    assert np.abs(together.positions - cells.positions).max() < 1e-8
    assert np.abs(together.cosine - cells.cosine).max() < 1e-8
    slopes = [one.provenance["options"]["step_times_slope"] for one in (together, cells)]
    # 16 points a period of the highest mode are within 1 - cos(pi/16) of its maximum.
    assert slopes[0] == pytest.approx(slopes[1], rel=0.02)


def steep(replicas):
    """Return a run in which some replicas gather their particles and overshoot, and others do not."""
    initial = np.linspace(-3.0, 3.0, 8)
    problem = McKeanVlasov(Circle(), Kuramoto(), noise=0.6, coupling=4.0)
    return simulate(
        problem, 8, 6.0, 3, step=1.0, replicas=replicas, initial=initial, keep_positions=True, on_failure="return"
    )


def test_a_replica_that_fails_leaves_its_block_and_the_others_go_on(monkeypatch):
    together = steep(12)
    assert together.outcome is Outcome.PARTIAL
    assert 0 < np.count_nonzero(together.completed) < 12
    assert all("the step 1 is too long" in failure for failure in together.failures)
    monkeypatch.setattr(few, "MOST_REPLICAS", 1)
    alone = steep(12)
    assert same(together, alone)
    assert together.failures == alone.failures


def test_interrupts_keep_what_was_done(monkeypatch):
    monkeypatch.setattr(few, "MOST_REPLICAS", 2)
    monkeypatch.setattr(blocks, "advance", interrupted_at(16, blocks.advance))
    ensemble = simulate(PROBLEMS[0], 10, 1.0, 1, step=0.1, replicas=5, on_failure="return")
    assert ensemble.outcome is Outcome.INTERRUPTED
    assert list(ensemble.completed) == [True, True, False, False, False]
    assert np.isfinite(ensemble.cosine[2:4, :6]).all()
    assert ensemble.failures == (
        "replica 2 was interrupted at time 0.5",
        "replica 3 was interrupted at time 0.5",
        "replica 4 is missing: not done before the interrupt",
    )


def test_far_particles_are_brought_back_in_their_own_replica_only(monkeypatch):
    monkeypatch.setattr("solvers.particles.clouds.FAR", 2.0**11)
    together = run(particles=2)
    monkeypatch.setattr(few, "MOST_REPLICAS", 1)
    assert same(run(particles=2), together)


def test_streams_are_drawn_ahead_in_the_order_of_each(monkeypatch):
    monkeypatch.setattr("solvers.particles.streams.AHEAD", 24)
    together, alone = (
        Streams([streams(5, index)[1] for index in range(3)], 2),
        [streams(5, index)[1] for index in range(3)],
    )
    drawn = np.empty((3, 2))
    for number in range(11):
        if number == 6:
            together.keep(np.array([0, 2]))
            alone, drawn = [alone[0], alone[2]], np.empty((2, 2))
        together.standard_normal(out=drawn)
        assert np.array_equal(drawn, [one.standard_normal(2) for one in alone])
