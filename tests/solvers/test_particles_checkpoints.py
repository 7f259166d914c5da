"""Simulations that are killed go on to the same bits; damaged and foreign checkpoints are refused."""

import concurrent.futures
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from meanfield import Circle, ComputationFailed, InvalidInput, Kuramoto, McKeanVlasov
from solvers import Checkpoint, EulerMaruyama, simulate
from solvers.execution.checkpoints import slots
from tests import problems
from tests.particle_runs import same

PROBLEM = problems.ATTENTION_AT_08.problem


def run(path=None, every=0.1, particles=500, **others):
    options = {"problem": PROBLEM, "step": 0.03, "replicas": 2, "keep_positions": True, "seed": 9, "until": 1.0}
    options |= {"particles": particles, "checkpoint": None if path is None else Checkpoint(path, every)}
    return simulate(**(options | others))


@pytest.fixture(scope="module")
def uninterrupted():
    return run()


KILLED = textwrap.dedent(
    """
    import os, signal, sys
    from pathlib import Path
    sys.path.insert(0, sys.argv[1])
    from test_particles_checkpoints import run

    import solvers.execution.checkpoints as checkpoints
    directory, number, moment = sys.argv[2], int(sys.argv[3]), sys.argv[4]
    count = 0
    write, rename = checkpoints.write, Path.replace

    def dying_write(*arguments):
        global count
        count += 1
        written = write(*arguments)
        if count == number and moment == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return written

    def dying_rename(self, target):
        if count == number and moment == "before renaming":
            os.kill(os.getpid(), signal.SIGKILL)
        return rename(self, target)

    checkpoints.write, Path.replace = dying_write, dying_rename
    run(Path(directory) / "run")
    raise SystemExit("was not killed")
    """
)


@pytest.mark.parametrize(
    ("number", "moment"), [(1, "before renaming"), (4, "before renaming"), (7, "after"), (13, "after")]
)
def test_killed_simulations_resume_to_the_same_bits(tmp_path, request, uninterrupted, number, moment):
    arguments = [str(request.path.parent), str(tmp_path), str(number), moment]
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert killed.returncode == -9, killed.stderr
    resumed = run(tmp_path / "run")
    assert same(resumed, uninterrupted)
    assert resumed.warnings == ()


def test_checkpoints_change_nothing_and_finished_replicas_are_not_done_again(tmp_path, uninterrupted, monkeypatch):
    assert same(run(tmp_path / "run", every=0.25), uninterrupted)
    names = {f"run.replica-{index}.{slot}" for index in (0, 1) for slot in "ab"}
    assert {path.name for path in tmp_path.iterdir()} == names

    def advance(scheme, cloud, step):
        raise AssertionError("a finished replica takes a step")

    monkeypatch.setattr("solvers.particles.replicas.advance", advance)
    assert same(run(tmp_path / "run", every=0.25), uninterrupted)


def test_replicas_lost_with_their_workers_are_done_by_the_next_run(tmp_path, uninterrupted):
    class Refusing(concurrent.futures.ThreadPoolExecutor):
        def submit(self, function, /, task):
            if task[0].index == 1:
                raise RuntimeError("no worker left")
            return super().submit(function, task)

    with Refusing(1) as executor:
        partial = run(tmp_path / "run", executor=executor)
    assert partial.failures == ("replica 1 is missing: RuntimeError: no worker left",)
    assert same(run(tmp_path / "run"), uninterrupted)


def test_a_damaged_checkpoint_is_passed_over_with_a_sentence(tmp_path, uninterrupted):
    run(tmp_path / "run", until=0.5, times=[0.25, 0.5], replicas=1)
    first, second = slots(tmp_path / "run")
    content = second.read_bytes()
    second.write_bytes(content[:-100])
    resumed = run(tmp_path / "run", until=0.5, times=[0.25, 0.5], replicas=1)
    assert resumed.warnings == (f"the checkpoint {second} is damaged or no checkpoint and was not used",)
    assert same(resumed, run(until=0.5, times=[0.25, 0.5], replicas=1))
    first.write_bytes(b"nonsense")
    second.write_bytes(b"")
    with pytest.raises(InvalidInput, match=r"is damaged or no checkpoint .* delete it to start anew"):
        run(tmp_path / "run", until=0.5, times=[0.25, 0.5], replicas=1)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"seed": 10}, "seed is 9, not 10"),
        ({"particles": 501}, "particles is 500, not 501"),
        ({"problem": PROBLEM.at(coupling=0.7)}, "problem is"),
        ({"problem": McKeanVlasov(Circle(), Kuramoto(), coupling=0.8)}, "problem is"),
        ({"scheme": EulerMaruyama()}, "scheme is"),
        ({"step": 0.02}, "steps is"),
        ({"until": 2.0}, "steps is"),
        ({"degrees": 3}, "degrees is 6, not 3"),
        ({"initial": np.zeros(500)}, "initial is"),
    ],
)
def test_checkpoints_of_other_runs_are_refused(tmp_path, changes, what):
    run(tmp_path / "run", replicas=1, every=0.5)
    with pytest.raises(InvalidInput, match=f"belongs to another run: its {what}"):
        run(tmp_path / "run", replicas=1, every=0.5, **changes)


def test_a_full_disk_ends_the_run_in_a_sentence_and_keeps_what_there_is(tmp_path, monkeypatch, uninterrupted):
    import meanfield.export.files as files

    flush, count = files._flush_to_disk, 0

    def full(path):
        nonlocal count
        count += 1
        if count > 9:
            raise OSError(28, "No space left on device")
        flush(path)

    monkeypatch.setattr(files, "_flush_to_disk", full)
    with pytest.raises(ComputationFailed, match=r"replica 0 stopped at time .*No space left on device") as caught:
        run(tmp_path / "run", replicas=1)
    assert np.isfinite(caught.value.partial.cosine[0, 0]).all()
    monkeypatch.undo()
    assert np.array_equal(run(tmp_path / "run", replicas=1).positions[0], uninterrupted.positions[0])


def test_unwritable_checkpoints_are_refused_before_anything_is_computed(tmp_path):
    with pytest.raises(InvalidInput, match="does not exist; create it first"):
        run(tmp_path / "nowhere" / "run")
