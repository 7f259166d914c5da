"""The benchmark report can be made: its rows, counts and accuracy. Times are never judged here.

Scripts run in this process, where all is imported, but for one that times trees of the package in their own.
"""

import contextlib
import gc
import io
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "run.py"


def published(name, target, *options):
    """Return the lines of the report of a script, as it prints it and writes it to a file."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as printed:
        patch.setattr(os, "environ", os.environ.copy())
        # Before a measurement everything is collected, which takes longer than the measurement beside all tests.
        patch.setattr(gc, "collect", lambda: 0)
        patch.setattr(sys, "path", [str(SCRIPT.parent), *sys.path])
        patch.setattr(sys, "argv", [name, "--rounds", "1", *options, "--to", str(target)])
        runpy.run_path(str(SCRIPT.with_name(name)), run_name="__main__")
    text = target.read_text(encoding="utf-8")
    assert printed.getvalue() == text
    return text.splitlines()


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    target = tmp_path_factory.mktemp("benchmarks") / "report.md"
    return [cells(line) for line in published("run.py", target, "--modes", "16", "32") if line[:1] == "|"]


@pytest.fixture(scope="module")
def tasks(report):
    split = next(index for index, line in enumerate(report) if line[0] == "ratio")
    head, _, *rows = report[:split]
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_every_task_has_its_rows(tasks):
    names = {re.sub(", (pyfftw|scipy.fft)$", "", row["task"]) for row in tasks}
    assert names == {
        "A trace",
        "A trace, step 0.2",
        "B trace",
        "A branch",
        "A diagram to 3",
        "B diagram to 5",
        "A dense reference",
    }
    assert {row["modes"] for row in tasks if row["task"].startswith("A trace,")} == {"16", "32"}
    assert any(row["task"] == "A trace, scipy.fft" for row in tasks)


def test_every_task_finds_the_fold(tasks):
    # 1e-12 relative is what is promised of located points, by the dense reference as well.
    assert max(float(row["fold error"]) for row in tasks) <= 1e-12


def test_factorisations_are_counted(tasks):
    own = [row for row in tasks if row["kernel us/point"]]
    assert own
    # Newton needs at least one a point; at more than five it would be failing.
    assert all(1.0 <= float(row["solver LU/point"]) <= 5.0 for row in own)
    assert all(float(row["stability LU/point"]) == 0.0 for row in own if "trace" in row["task"])
    assert all(float(row["stability LU/point"]) >= 0.9 for row in own if "trace" not in row["task"])


def test_ratios_stand_beside_their_targets(report):
    ratios = {line[0]: line[2] for line in report if len(line) == 3}
    assert ratios["B trace: time / kernel"] == "<= 1.6"
    assert ratios["A trace: time at n = 32 / time at n = 32"] == "<= 1.5"
    assert any(name.startswith("A: dense reference / trace") for name in ratios)


def test_particle_steps_stand_beside_their_floors(tmp_path):
    text = published("particles.py", tmp_path / "report.md", "--particles", "1000", "--work", "100000")
    lines = [cells(line) for line in text if "|" in line]
    split = next(index for index, line in enumerate(lines) if line[0] == "potential")
    rows = [dict(zip(lines[0], row, strict=True)) for row in lines[2:split]]
    spheres = [dict(zip(lines[split], row, strict=True)) for row in lines[split + 2 :]]
    assert {(row["potential"], row["dimension"]) for row in spheres} >= {("transformer", "3"), ("kuramoto", "64")}
    assert {row["scheme"] for row in rows} == {"euler-maruyama", "weak-second-order"}
    assert {row["kernel"] for row in rows} >= {"numpy"}
    # A step draws numbers and sums moments, and more.
    assert all(float(row["time/both"]) > 1.0 for row in rows)
    assert {row["target ns"] for row in rows if row["kernel"] == "numpy"} == {"<= 45", ""}


def test_evolutions_are_timed_beside_their_errors(tmp_path):
    lines = [cells(line) for line in published("evolution.py", tmp_path / "report.md") if "|" in line]
    split = next(index for index, line in enumerate(lines) if line[0] == "ratio")
    rows = [dict(zip(lines[0], line, strict=True)) for line in lines[2:split]]
    assert {(row["task"], row["to time"]) for row in rows} >= {("evolve, the end", "3"), ("evolve, the end", "34")}
    assert {row["target ms"] for row in rows} == {"<= 10", "<= 25", ""}
    # The tolerance; the reference is a run at 1e-12.
    assert max(float(row["relative error"]) for row in rows) <= 1e-8
    ratios = {line[0]: line[2] for line in lines[split:]}
    assert ratios["a step of ETDRK4, us"] == "<= 22"


def test_spheres_are_timed_beside_their_errors(tmp_path):
    text = published("sphere.py", tmp_path / "report.md", "--degrees", "15", "31")
    lines = [cells(line) for line in text if line[:1] == "|"]
    rows = [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]
    transforms = [row for row in rows if row["task"].startswith("round trip")]
    assert {row["size"] for row in transforms} == {"degree 15", "degree 31"}
    assert max(float(row["relative error"]) for row in transforms) <= 1e-13
    # Tolerances; the full evolution is asked for 1e-4 at the end.
    errors = {row["task"]: float(row["relative error"]) for row in rows}
    assert errors["evolve, about an axis"] <= 1e-8
    assert errors["evolve, on all of S^2"] <= 1e-4


def test_states_are_timed_beside_another_tree(tmp_path):
    target = tmp_path / "report.md"
    options = ["--rounds", "1", "--only", "circle, T", "--beside", str(SCRIPT.parent.parent), "--to", str(target)]
    command = [sys.executable, str(SCRIPT.with_name("states.py")), *options]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert finished.returncode == 0, finished.stderr
    lines = target.read_text(encoding="utf-8").splitlines()
    rows = [cells(line) for line in lines if line[:1] == "|"][2:]
    # Uniform, the stable cluster and the saddle between: the fold lies below 0.95 of the threshold.
    assert [(row[0], row[2], row[5]) for row in rows] == 2 * [("circle, Transformer 5", "3", "<= 60")]
