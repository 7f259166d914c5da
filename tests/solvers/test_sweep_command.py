"""The command ``sweep``: its options, what it prints and keeps, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from meanfield import open_sweep
from solvers import bifurcation_diagram
from tests.commands import fail, succeed

TRANSFORMER = ("sweep", "transformer", "--over", "beta", "1", "3", "3", "--no-rates", "--depth", "1")


def test_a_sweep_of_diagrams(capsys, tmp_path):
    store, table, picture = tmp_path / "runs", tmp_path / "sweep.csv", tmp_path / "sweep.png"
    call = (*TRANSFORMER, "--relative", "0.8", "1.5", "--store", str(store))
    said = succeed(capsys, *call, "--to", str(table), "--plot", str(picture))
    assert "over beta at 3 values from 1 to 3" in said
    assert "3 values: 3 complete" in said
    assert picture.read_bytes().startswith(b"\x89PNG")
    found = open_sweep(store)
    assert len(table.read_text().splitlines()) == 4
    record = found.record(beta=3.0)
    alone = bifurcation_diagram(record.problem, relative=(0.8, 1.5), rates=False, depth=1)
    assert record.branches == alone.branches
    # It goes on, and says the same as JSON.
    rows = json.loads(succeed(capsys, *call, "--json"))["rows"]
    assert [row["critical_coupling"] for row in rows] == found.numbers["critical_coupling"].tolist()


def test_saved_sweeps_are_shown_drawn_and_converted(capsys, tmp_path):
    saved, picture, table = tmp_path / "sweep.nc", tmp_path / "gap.png", tmp_path / "sweep.csv"
    states = ("sweep", "kuramoto", "--over", "coupling", "1", "3", "3", "--compute", "rate", "--no-fit")
    succeed(capsys, *states, "--store", str(tmp_path / "runs"), "--to", str(saved))
    assert "rate of kuramoto on the circle" in succeed(capsys, "show", str(saved))
    assert "rate of kuramoto on the circle" in succeed(capsys, "show", str(tmp_path / "runs"))
    succeed(capsys, "plot", str(saved), "--y", "gap", "--to", str(picture))
    succeed(capsys, "export", str(saved), "--to", str(table))
    assert picture.exists()
    assert len(table.read_text().splitlines()) == 4


def test_a_grid_of_ensembles_and_points_from_a_table(capsys, tmp_path):
    grid = ("--over", "coupling", "1", "2", "2", "--over", "noise", "0.5", "1", "2")
    ensemble = ("--compute", "ensemble", "--particles", "6", "--until", "0.1", "--times", "1")
    succeed(capsys, "sweep", "kuramoto", *grid, *ensemble, "--store", str(tmp_path / "grid"))
    whole = open_sweep(tmp_path / "grid")
    assert whole.shape == (2, 2)
    assert whole.record(3).problem.parameters == {"noise": 1.0, "coupling": 2.0}
    points = tmp_path / "points.csv"
    points.write_text("noise,coupling\n0.5,1\n1,2\n")
    call = ("sweep", "kuramoto", "--values", str(points), "--compute", "states", "--no-rates")
    succeed(capsys, *call, "--store", str(tmp_path / "points"))
    # At coupling 2 D the uniform state is the only one, up to there.
    assert open_sweep(tmp_path / "points").numbers["state_count"].tolist() == [1.0, 1.0]


def test_values_that_fail_end_in_an_exit_code(capsys, tmp_path):
    from meanfield.cli import main

    arguments = ("sweep", "hegselmann-krause", "--over", "radius", "-1", "1", "2", "--no-rates", "--depth", "0")
    assert main([*arguments, "--store", str(tmp_path / "runs")]) == 1
    captured = capsys.readouterr()
    assert "2 values: 1 complete, 1 failed" in captured.out
    assert "radius = -1: radius must be in (0, pi]" in captured.out


ENSEMBLE = "--over beta 1 3 3 --compute ensemble --coupling 1 --until 1 --store runs"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--store runs", "needs either --over or --values FILE"),
        ("--over beta 1 3 3", "needs a directory for its results; add --store runs"),
        ("--over beta 1 3 x --store runs", "--over takes a name, two numbers and a whole number"),
        ("--over beta 1 inf 3 --store runs", "takes finite ends"),
        ("--over beta 1 3 0 --store runs", "from 1 to a million values"),
        ("--over bta 1 3 3 --beta 1 --store runs", "no continuous parameter 'bta'; did you mean beta"),
        ("--over beta 1 3 3 --over beta 1 3 3 --store runs", "--over beta is given twice"),
        ("--over coupling 1 3 3 --beta 1 --store runs", "a diagram runs over the coupling itself"),
        ("--over beta 1 3 3 --compute sates --store runs", "must be one of diagram, states, rate, ensemble"),
        ("--over beta 1 3 3 --compute states --store runs", "needs a coupling"),
        ("--over beta 1 3 3 --coupling 1 --store runs", "takes two couplings, LOW HIGH, not 1"),
        ("--over beta 1 3 3 --no-fit --store runs", "--no-fit belongs to --compute rate, not diagram"),
        (
            "--over beta 1 3 3 --on-failure return --store runs",
            "--on-failure belongs to --compute states, not diagram",
        ),
        ("--over beta 1 3 3 --compute ensemble --coupling 1 --store runs", "needs a final time"),
        ("--over beta 1 3 3 --executor cluster --store runs", "must be one of here, processes, dask"),
        ("--over beta 1 3 3 --executor processes --scheduler tcp://a:1 --store runs", "belongs to --executor dask"),
        ("--over beta 1 3 3 --executor here --workers 2 --store runs", "leave one of them out"),
        ("--over beta 1 3 3 --y gap --store runs", "--y belongs to --plot"),
        ("--over beta 1 3 3 --depth -1 --store runs", "depth must be a whole number, 0 or more"),
        ("--over beta 1 3 3 --max-step 0 --store runs", "--max-step must be from 1e-09 to 1, not 0"),
        ("--over beta 1 3 3 --coupling 2 1 --store runs", "the interval must be finite and increasing"),
        ("--over beta 1 3 3 --relative 2 nan --store runs", "the relative interval must be finite and increasing"),
        (f"{ENSEMBLE} --particles 0", "particles must be a whole number from 1 to 1e+09, not 0"),
        (f"{ENSEMBLE} --particles 1000000000000", "particles must be a whole number from 1 to 1e+09"),
        (f"{ENSEMBLE} --replicas 0", "replicas must be a whole number from 1"),
        (f"{ENSEMBLE} --degrees -1", "degrees must be a whole number from 1"),
        (f"{ENSEMBLE} --step 0", "step must be a positive finite number"),
        (f"{ENSEMBLE} --times 0", "the number of intervals must be from 1"),
        (f"{ENSEMBLE} --until inf", "until must be a positive finite number"),
        ("--values nothing.csv --store runs", "cannot be read"),
        ("--over beta 1 3 3 --store runs --to run.mat", "does not choose a format of a sweep"),
    ],
)
def test_wrong_usage_is_refused_in_one_sentence(capsys, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert words in fail(capsys, 2, "sweep", "transformer", *arguments.split())
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("text", ["", "beta\n1,2\n", "beta\nx\n", "1,2\n"])
def test_tables_that_are_none_are_refused(capsys, tmp_path, text):
    path = tmp_path / "values.csv"
    path.write_text(text)
    assert "meanfield: " in fail(
        capsys, 2, "sweep", "transformer", "--beta", "1", "--values", str(path), "--store", str(tmp_path / "runs")
    )


def test_a_table_with_a_column_twice_is_refused(capsys, tmp_path):
    path = tmp_path / "values.csv"
    path.write_text("beta, noise, beta\n1,1,2\n")
    call = ("sweep", "transformer", "--values", str(path), "--store", str(tmp_path / "runs"))
    assert "has two columns beta" in fail(capsys, 2, *call)


def test_a_killed_command_goes_on_where_it_was(capsys, tmp_path):
    """Whatever is complete at a SIGKILL is complete afterwards, and not computed again."""
    store = tmp_path / "runs"
    program = "import sys; from meanfield.cli import main; sys.exit(main())"
    arguments = ["sweep", "transformer", "--over", "beta", "0.5", "6", "16", "--no-rates", "--store", str(store)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    call = [sys.executable, "-c", program, *arguments, "--workers", "2", "--quiet"]
    process = subprocess.Popen(call, env=environment, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while len(list(store.glob("*/result.json"))) < 4 and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = {path: path.stat().st_mtime_ns for path in store.glob("*/result.json")}
    assert 4 <= len(before) < 16
    done = open_sweep(store)
    assert np.count_nonzero(done.status == "complete") == len(before)
    succeed(capsys, *arguments, "--quiet")
    after = {path: path.stat().st_mtime_ns for path in store.glob("*/result.json")}
    assert len(after) == 16
    assert {path: after[path] for path in before} == before
    assert not list(store.rglob("*.part"))
