"""The command ``phase``: what it prints, writes and refuses."""

import csv
import json

import pytest

from meanfield import InvalidInput, open_phase_diagram
from solvers.commands.phase import phase

CUSP = ["cosine-series", "--coefficients", "-1", "-0.4", "-0.5", "--over", "w3", "-0.9", "-0.3"]
WINDOW = ["--coupling", "1.7", "2.2"]


def test_the_cusp_is_in_every_file(tmp_path, capsys):
    files = [tmp_path / name for name in ("phase.nc", "phase.csv", "phase.auto", "phase.png")]
    options = [*(word for file in files[:3] for word in ("--to", str(file))), "--plot", str(files[3])]
    assert phase([*CUSP, *WINDOW, *options, "--quiet"]) == 0
    opened = open_phase_diagram(files[0])
    (cusp,) = opened.events("cusp")
    rows = list(csv.DictReader((tmp_path / "phase.special.csv").read_text().splitlines()))
    assert [float(row["w3"]) for row in rows if row["type"] == "cusp"] == [cusp.values[0]]
    assert opened.provenance["command"].startswith("meanfield phase cosine-series")
    assert (tmp_path / "b.phase").is_file()
    assert files[3].stat().st_size > 10_000
    assert capsys.readouterr().out == ""


def test_a_parameter_with_a_range_need_not_be_given_and_json_has_the_regions(capsys):
    arguments = ["transformer", "--over", "beta", "1", "2", "--relative", "0.8", "1.2", "--json", "--sections", "1"]
    assert phase(arguments) == 0
    values = json.loads(capsys.readouterr().out)
    assert {(region["minimiser"], region["stable"], region["agrees"]) for region in values["regions"]} == {
        ("uniform", 1, True), ("1-cluster", 1, True),
    }  # fmt: skip
    assert values["rows"][0].keys() >= {"curve", "type", "point", "beta", "coupling", "relative_coupling"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["transformer", *WINDOW], "add --over beta 1 10"),
        (["hegselmann-krause", "--radius", "1"], "add --over radius 0.5 3"),
        (["keller-segel"], "add --over screening 1 4"),
        (["custom", "--expression", "-exp(b*cos(t))/b", "--given", "b=3"], "add --over b 3 4"),
        (["cosine-series", "--coefficients", "-1", "-0.4"], "add --over w1 "),
        (["onsager"], "add --over noise "),
        (["onsager", "--over", "noise", "one", "2"], "try --over noise 0.5 2"),
        ([*CUSP, "--over", "w3", "-0.9", "1e300"], r"within \[-1e\+100, 1e\+100\]"),
        ([*CUSP, *WINDOW, "--to", "phase.mat"], ".nc, .json, .csv, .auto"),
        ([*CUSP, *WINDOW, "--sections", "0"], "from 1 to 1000, not 0"),
        ([*CUSP, *WINDOW, "--to", "phase.npz"], "phase.npz"),
        ([*CUSP, *WINDOW, "--relative", "0.5", "1"], "cannot be given together"),
        (["transformer", "--over", "betta", "1", "2"], "beta"),
        (["transformer", "--over", "beta", "one", "2"], "two numbers"),
    ],
)
def test_refusals(arguments, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        phase(arguments)
