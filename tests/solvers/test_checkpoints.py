"""Checkpoints: killed evolutions end in the same bits, damage is refused, other runs are refused."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from meanfield import ComputationFailed, InvalidInput, open_trajectory
from solvers import ETDRK4, Bumps, Checkpoint, PerturbedUniform, RandomPerturbation, evolve
from solvers.evolution import running
from solvers.execution import checkpoints as saving
from tests import problems

PROBLEM = problems.ATTENTION_AT_08.problem
ARRAYS = ("time", "cosine", "sine", "modes", "free_energy_gap", "dissipation", "minimum")
SCALARS = (
    "outcome",
    "method",
    "steps",
    "evaluations",
    "distance",
    "slowest_rate",
    "unstable",
    "mass_error",
    "warnings",
)

SCRIPT = """
import sys
from meanfield import Circle, McKeanVlasov, Transformer
from solvers import Bumps, Checkpoint, ETDRK4, evolve
problem = McKeanVlasov(Circle(), Transformer(8.0), coupling=0.04)
trajectory = evolve(
    problem, Bumps(4, 0.3, (1.0, 1.02, 0.99, 1.01)), {until}, checkpoint=Checkpoint(sys.argv[1], every={every}),
    method={method},
)
trajectory.to_json(sys.argv[2], force=True)
"""


def same(one, other):
    for name in ARRAYS:
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
    for name in SCALARS:
        assert getattr(one, name) == getattr(other, name), name


def run(script, directory, name, kill_after=None):
    """Run a script to its end, or kill it some seconds after it has saved itself once more."""
    command = [sys.executable, "-c", script, str(directory / name), str(directory / f"{name}.json")]
    before = [file.read_bytes() for file in saving.slots(directory / name) if file.exists()]
    with subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}) as process:
        while kill_after is not None and process.poll() is None:
            after = [file.read_bytes() for file in saving.slots(directory / name) if file.exists()]
            if after != before:
                time.sleep(kill_after)
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.01)
        return process.wait() == 0


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_kill_at_any_moment_resumes_to_the_same_bits(tmp_path, monkeypatch):
    script = SCRIPT.format(until=120.0, every=2.0, method=None)
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path / "whole"), str(tmp_path / "whole.json")])
    exec(script, {})
    moments = random.Random(7)
    kills = [run(script, tmp_path, "killed", moments.uniform(0.0, 0.15)) for _ in range(2)]
    assert kills == [False, False]
    assert run(script, tmp_path, "killed")
    same(open_trajectory(tmp_path / "whole.json"), open_trajectory(tmp_path / "killed.json"))


class Stop(Exception):
    """Stands for whatever ends a process."""


@pytest.mark.parametrize("method", [None, ETDRK4(0.013)])
@pytest.mark.parametrize(
    ("start", "after"), [(PerturbedUniform(0.1), 0.5), (RandomPerturbation(0.3, 2), 1.7), (Bumps(3, 0.4), 2.9)]
)
def test_exceptions_anywhere_resume_to_the_same_bits(tmp_path, start, method, after):
    def stop(now):
        if now > after:
            raise Stop

    options = {"times": 7, "checkpoint": Checkpoint(tmp_path / "run", every=0.4), "method": method}
    with pytest.raises(Stop):
        evolve(PROBLEM, start, 3.0, progress=stop, **options)
    resumed = evolve(PROBLEM, start, 3.0, **options)
    options["checkpoint"] = Checkpoint(tmp_path / "other", every=0.4)
    same(resumed, evolve(PROBLEM, start, 3.0, **options))
    # And the checkpoints change nothing beyond the tolerance, or the error of the step.
    plain = evolve(PROBLEM, start, 3.0, times=7, method=method)
    count = min(plain.cosine.shape[1], resumed.cosine.shape[1])
    assert np.abs(plain.cosine[:, :count] - resumed.cosine[:, :count]).max() <= (1e-7 if method is None else 1e-4)


def test_rest_is_found_at_the_same_time_after_a_kill(tmp_path):
    def stop(now):
        if now > 22.0:
            raise Stop

    options = {"stop_at_stationarity": True, "checkpoint": Checkpoint(tmp_path / "run", every=5.0)}
    with pytest.raises(Stop):
        evolve(PROBLEM, PerturbedUniform(0.1), np.inf, progress=stop, **options)
    resumed = evolve(PROBLEM, PerturbedUniform(0.1), np.inf, **options)
    options["checkpoint"] = Checkpoint(tmp_path / "other", every=5.0)
    same(resumed, evolve(PROBLEM, PerturbedUniform(0.1), np.inf, **options))


def interrupted(tmp_path, **changes):
    """Leave two checkpoints of a run behind."""

    def stop(now):
        if now > 1.5:
            raise Stop

    options = {"checkpoint": Checkpoint(tmp_path / "run", every=0.5)} | changes
    with pytest.raises(Stop):
        evolve(PROBLEM, PerturbedUniform(0.1), 3.0, progress=stop, **options)
    return options


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "foreign"])
def test_a_damaged_checkpoint_is_refused_and_the_previous_one_used(tmp_path, damage):
    options = interrupted(tmp_path)
    newest = max(saving.slots(tmp_path / "run"), key=lambda file: file.stat().st_mtime_ns)
    content = bytearray(newest.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
    content = {"flip": bytes(content), "cut": bytes(content[:-7]), "empty": b"", "foreign": b"run"}[damage]
    newest.write_bytes(content)
    resumed = evolve(PROBLEM, PerturbedUniform(0.1), 3.0, **options)
    assert f"the checkpoint {newest} is damaged or no checkpoint and was not used" in resumed.warnings
    fresh = evolve(PROBLEM, PerturbedUniform(0.1), 3.0, checkpoint=Checkpoint(tmp_path / "other", every=0.5))
    assert np.array_equal(resumed.cosine, fresh.cosine)
    assert resumed.steps == fresh.steps


def test_two_damaged_checkpoints_are_refused(tmp_path):
    options = interrupted(tmp_path)
    for file in saving.slots(tmp_path / "run"):
        file.write_bytes(b"nothing")
    with pytest.raises(InvalidInput, match="delete it to start anew"):
        evolve(PROBLEM, PerturbedUniform(0.1), 3.0, **options)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"until": 4.0}, "its final time is 3.0, not 4.0"),
        ({"tolerance": 1e-6}, "its tolerance is 1e-08, not 1e-06"),
        ({"times": 7}, "its times is"),
        ({"method": ETDRK4()}, "its method is null, not"),
        ({"start": PerturbedUniform(0.2)}, "its initial density is"),
        ({"problem": problems.KURAMOTO_AT_3.problem}, "its first resolution is"),
        ({"problem": PROBLEM.at(coupling=0.81)}, "its problem is"),
        ({"every": 0.7}, "its time between checkpoints is 0.5, not 0.7"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(tmp_path, changes, sentence):
    interrupted(tmp_path)
    request = {"problem": PROBLEM, "start": PerturbedUniform(0.1), "until": 3.0, "every": 0.5} | changes
    checkpoint = Checkpoint(tmp_path / "run", every=request.pop("every"))
    arguments = [request.pop(name) for name in ("problem", "start", "until")]
    with pytest.raises(InvalidInput, match="belongs to another run") as caught:
        evolve(*arguments, checkpoint=checkpoint, **request)
    assert sentence in str(caught.value)
    assert "to start anew" in str(caught.value)


def test_a_full_disk_is_said_and_does_not_end_the_run(tmp_path, monkeypatch):
    def full(*_):
        raise ComputationFailed("run.a could not be written (No space left on device); any file is unchanged")

    monkeypatch.setattr(running.checkpoints, "write", full)
    trajectory = evolve(PROBLEM, PerturbedUniform(0.1), 3.0, checkpoint=Checkpoint(tmp_path / "run", every=1.0))
    assert trajectory.time[-1] == 3.0
    said = [warning for warning in trajectory.warnings if "was not saved" in warning]
    assert len(said) == 2
    assert "at time 1 the run was not saved: run.a could not be written (No space left on device)" in said[0]


def test_the_files_take_turns_and_hold_everything(tmp_path):
    arrays = {"a": np.linspace(0, 1, 7), "b": np.array([[np.nan, -0.0]]), "c": np.arange(3)}
    meta = {"third": 1 / 3, "none": None, "text": "μ", "list": [1, 2.5]}
    assert saving.read(tmp_path / "run") is None
    for number in (1, 2, 3):
        saving.write(tmp_path / "run", number, arrays, meta | {"number": number})
    saved = saving.read(tmp_path / "run")
    assert saved.number == 3
    assert saved.meta == meta | {"number": 3}
    for name, array in arrays.items():
        assert saved.arrays[name].dtype == array.dtype
        assert saved.arrays[name].tobytes() == array.tobytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run.a", "run.b"]
