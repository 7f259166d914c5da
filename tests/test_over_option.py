"""The option ``--over`` of the command ``bifurcation``: diagrams in another parameter, seen from outside."""

import json

import pytest

from meanfield import open_diagram
from meanfield.cli import main

SHORT = ("bifurcation", "transformer", "--no-rates", "--depth", "1")


def run(capsys, *arguments):
    """The exit code, standard output and standard error of a command."""
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_parameter_that_varies_need_not_be_given(capsys):
    arguments = (*SHORT, "--coupling", "0.2", "--over", "beta", "4.5", "5.2")
    code, out, _ = run(capsys, *arguments, "--json")
    assert code == 0
    values = json.loads(out)
    assert values["parameter"] == "beta"
    assert values["interval"] == [4.5, 5.2]
    assert {row["coupling"] for row in values["points"]} == {0.2}
    assert all(4.5 <= row["beta"] <= 5.2 for row in values["points"])
    _, given, _ = run(capsys, *arguments, "--beta", "5", "--json")
    assert json.loads(given)["points"] == values["points"]


def test_the_coupling_may_be_relative(capsys):
    code, out, _ = run(capsys, *SHORT, "--beta", "5", "--relative", "1", "--over", "beta", "4.5", "5.2", "--json")
    assert code == 0
    (event,) = [
        event
        for event in json.loads(out)["special_points"]
        if event["type"] == "branch point" and event["beta"] < 5.1
    ]
    assert event["beta"] == pytest.approx(5.0, rel=1e-12)


def test_over_the_coupling_is_a_range_of_couplings(capsys):
    texts = []
    for option in (("--coupling", "1", "4"), ("--over", "coupling", "1", "4")):
        code, out, _ = run(capsys, "bifurcation", "kuramoto", *option, "--no-rates", "--quiet", "--json")
        assert code == 0
        texts.append(json.loads(out)["points"])
    assert texts[0] == texts[1]


def test_files_of_it_are_shown_and_exported(capsys, tmp_path):
    target = tmp_path / "along.nc"
    over = ("--coupling", "2.3", "--over", "w2", "-1.2", "1")
    series = ("bifurcation", "cosine-series", "--coefficients", "-1", "-0.2", "--no-rates", "--quiet")
    assert run(capsys, *series, *over, "--to", str(target))[0] == 0
    assert open_diagram(target).parameter == "w2"
    first, second, *_ = run(capsys, "show", str(target))[1].splitlines()
    assert first == "cosine-series (w = [-1, w2]) on the circle, noise D = 1, coupling kappa = 2.3"
    assert second == "w2 -1.2 to 1"
    assert run(capsys, "export", str(target), "--to", str(tmp_path / "along.csv"))[0] == 0
    assert (tmp_path / "along.csv").read_text().startswith("branch,point,w2,coupling,")
    assert run(capsys, "plot", str(target), "--to", str(tmp_path / "along.svg"))[0] == 0


def test_a_configuration_may_name_it(capsys, tmp_path):
    config = tmp_path / "run.toml"
    config.write_text(
        'potential = "transformer"\ncoupling = 0.2\nover = ["beta", 4.5, 5.2]\nno-rates = true\ndepth = 1\n'
    )
    code, out, _ = run(capsys, "bifurcation", "--config", str(config), "--json")
    assert code == 0
    assert json.loads(out)["parameter"] == "beta"


WRONG = {
    "no coupling": (("--over", "beta", "1", "2"), "needs a coupling"),
    "no number": (("--coupling", "0.2", "--over", "beta", "1", "x"), "takes two numbers"),
    "two ranges": (("--beta", "5", "--coupling", "1", "2", "--over", "coupling", "1", "2"), "two ranges"),
    "unknown": (("--beta", "5", "--coupling", "0.2", "--over", "betta", "1", "2"), "did you mean beta"),
    "not admissible": (("--beta", "5", "--coupling", "0.2", "--over", "beta", "-1", "2"), "beta"),
}


@pytest.mark.parametrize("command", ["bifurcation", "phase", "sweep"])
def test_a_misspelt_parameter_that_is_not_given_is_named_before_it_is_asked_for(capsys, tmp_path, command):
    further = {"bifurcation": (), "phase": (), "sweep": ("3", "--store", str(tmp_path / "runs"))}[command]
    coupling = () if command == "phase" else ("--coupling", "0.2")
    code, _, err = run(capsys, command, "transformer", *coupling, "--over", "bta", "1", "8", *further)
    assert code != 0
    assert "'bta'" in err
    assert "did you mean beta?" in err


@pytest.mark.parametrize("command", ["bifurcation", "phase", "sweep", "evolve", "rate", "theory"])
def test_a_misspelt_potential_is_named_before_anything_is_asked_for(capsys, command):
    code, _, err = run(capsys, command, "atention")
    assert code == 2
    assert "unknown potential 'atention'; did you mean attention?" in err
    assert "known potentials: arc-cosine, attention, " in err


@pytest.mark.parametrize("command", ["phase", "sweep"])
def test_a_potential_that_is_missing_is_asked_for_first(capsys, command):
    code, _, err = run(capsys, command)
    assert code == 2
    assert f"no potential is given; try meanfield {command} transformer --over beta " in err


@pytest.mark.parametrize("command", ["bifurcation", "sweep"])
def test_a_confinement_may_begin_where_it_vanishes(capsys, tmp_path, command):
    arguments = ("kuramoto", "--confinement", "a*cos(t)", "--coupling", "1", "--over", "confinement_a", "0", "0.1")
    further = {
        "bifurcation": ("--depth", "0"),
        "sweep": ("2", "--compute", "states", "--store", str(tmp_path / "runs")),
    }
    code, out, err = run(capsys, command, *arguments, *further[command], "--no-rates", "--json")
    assert (code, "confinement_a" in out) == (0, True), err


@pytest.mark.parametrize("wrong", WRONG)
def test_nonsense_is_refused(capsys, wrong):
    arguments, words = WRONG[wrong]
    code, _, err = run(capsys, *SHORT, *arguments)
    assert code != 0
    assert words in err
    assert len(err.strip().splitlines()) == 1
