"""The command ``compare``, from its arguments to its files and exit codes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from meanfield import Outcome, open_comparison
from meanfield.cli import main
from verification import comparison

SMALL = [
    "kuramoto",
    "--coupling",
    "1",
    "--until",
    "0.2",
    "--particles",
    "200",
    "50",
    "--replicas",
    "3",
    "--step",
    "0.1",
]


def test_json_and_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("run.nc", "run.csv", "run.png")]
    options = ["--to", str(files[0]), "--to", str(files[1]), "--plot", str(files[2]), "--json"]
    assert main(["compare", *SMALL, *options]) == 0
    printed = capsys.readouterr()
    value = json.loads(printed.out)
    assert value["record"] == "comparison"
    assert value["particles"] == [50, 200]
    assert {row["quantity"] for row in value["rows"]} >= {"m1", "r2", "w1", "w2_independent", "c2"}
    assert [fit["name"] for fit in value["fits"]][:2] == ["w1", "w2"]
    assert value["provenance"]["command"].startswith("meanfield compare kuramoto")
    assert all(file.stat().st_size for file in files)
    assert all(f"wrote {file}" in printed.err for file in files)
    assert open_comparison(files[0]).particles.tolist() == [50, 200]


def test_summary_is_what_show_prints(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(tmp_path / "run.json")
    assert main(["compare", *SMALL, "--to", file]) == 0
    summary = capsys.readouterr().out
    assert "Powers of N" in summary
    assert main(["show", file]) == 0
    assert capsys.readouterr().out == summary
    assert main(["plot", file, "--to", str(tmp_path / "run.svg")]) == 0
    assert main(["export", file, "--to", str(tmp_path / "again.nc")]) == 0
    one, other = open_comparison(file), open_comparison(tmp_path / "again.nc")
    assert np.array_equal(one.distances, other.distances)


def test_workers_do_not_change_the_numbers(tmp_path: Path, kept_processes: list[int]) -> None:
    files = [tmp_path / "one.nc", tmp_path / "two.nc"]
    for workers, file in zip(("1", "2"), files, strict=True):
        assert main(["compare", *SMALL, "--workers", workers, "--to", str(file), "--quiet"]) == 0
    assert kept_processes == [2]
    assert np.array_equal(*(open_comparison(file).distances for file in files))


def test_warnings_reach_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    forming = ["kuramoto", "--coupling", "4", "--initial", "perturbed:amplitude=0.02", "--until", "3"]
    assert main(["compare", *forming, "--particles", "50", "--replicas", "2", "--step", "0.1", "--quiet"]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "meanfield: warning: deviations of the initial density grow" in printed.err


def test_a_partial_comparison_ends_with_1(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    import dataclasses

    right = comparison.compare

    def partial(*arguments: Any, **options: Any) -> Any:
        return dataclasses.replace(right(*arguments, **options), outcome=Outcome.PARTIAL)

    monkeypatch.setattr(comparison, "compare", partial)
    assert main(["compare", *SMALL]) == 1
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["kuramoto", "--until", "1"], "needs a coupling"),
        (["kuramoto", "--coupling", "1"], "needs a final time; add --until 1"),
        ([*SMALL, "--particles", "1"], "particles must be different whole numbers from 2"),
        ([*SMALL, "--workers", "0"], "--workers must be from 1 to 1024"),
        ([*SMALL, "--replicas", "0"], "replicas must be a whole number from 1"),
        ([*SMALL, "--seed", "-1"], "seed must be a whole number from 0"),
        ([*SMALL, "--initial", "von-misse"], "von-misse"),
        ([*SMALL, "--to", "run.mat"], "the suffix '.mat'"),
        ([*SMALL, "--plot", "run.jpg"], "the suffix '.jpg'"),
    ],
)
def test_nonsense_gets_one_line_and_exit_code_2(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert sentence in printed.err
    assert printed.err.count("\n") == 1
