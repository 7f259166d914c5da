"""The commands on spheres: what they write and show, and one sentence for whatever is wrong."""

import csv
import json
import re

import numpy as np
import pytest
from scipy.io import loadmat

from meanfield import GegenbauerSeries, InvalidInput, McKeanVlasov, Sphere, open_diagram
from meanfield.cli import main
from solvers.bases import ZonalBasis
from solvers.branches import walk
from tests.commands import fail, succeed

SPHERE = ("--domain", "sphere")
# W = -P_3, whose states beyond kappa_3 = N_3 = 7 include some without an axis.
CUBIC = ("gegenbauer-series", "--coefficients", "0", "0", "-1", *SPHERE)
ZONAL = ("transformer", "--beta", "3", *SPHERE)


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A diagram with branches without an axis, as a file."""
    target = tmp_path_factory.mktemp("full") / "full.nc"
    arguments = ("--relative", "0.9", "1.05", "--depth", "1", "--no-rates", "--quiet", "--to", str(target))
    assert main(["bifurcation", *CUBIC, *arguments]) == 0
    return target


@pytest.fixture(scope="module")
def zonal(tmp_path_factory):
    target = tmp_path_factory.mktemp("zonal") / "zonal.json"
    assert main(["bifurcation", *ZONAL, "--no-rates", "--quiet", "--to", str(target)]) == 0
    return target


def test_show_tells_even_branches_by_their_second_moment(capsys, zonal):
    out = succeed(capsys, "show", str(zonal))
    diagram = open_diagram(zonal)
    assert out.startswith("transformer (beta = 3) on the sphere, noise D = 1\n")
    fold = diagram.events("fold", "prolate")[0]
    assert re.search(rf"fold +{fold.coupling:.12g} +relative \S+ +m2 {fold.m2:.6g} ", out)
    fold = diagram.events("fold", "zonal 1")[0]
    assert re.search(rf"fold +{fold.coupling:.12g} +relative \S+ +m1 {fold.m1:.6g} ", out)


def test_show_and_json_of_states_without_an_axis(capsys, full):
    out = succeed(capsys, "show", str(full))
    assert "    tetrahedral: coupling 7 to 7.35" in out
    shown = json.loads(succeed(capsys, "show", str(full), "--json"))
    assert {"degree", "order"} == {branch["layout"] for branch in shown["branches"]}
    assert shown["problem"]["domain"] == {"name": "sphere", "dimension": 3}


@pytest.mark.parametrize("arguments", [("--y", "m3"), ("--panels",), ("--mollweide",)])
def test_plot(capsys, tmp_path, full, arguments):
    target = tmp_path / "picture.png"
    succeed(capsys, "plot", str(full), "--to", str(target), *arguments)
    assert target.read_bytes().startswith(b"\x89PNG")


def test_export(capsys, tmp_path, full):
    targets = [tmp_path / f"run{suffix}" for suffix in (".json", ".npz", ".csv", ".mat")]
    succeed(capsys, "export", str(full), *(word for target in targets for word in ("--to", str(target))))
    original = open_diagram(full)
    for target in targets[:2]:
        copy = open_diagram(target)
        for one, other in zip(original.branches, copy.branches, strict=True):
            assert one.layout == other.layout
            assert one.cosine.tobytes() == other.cosine.tobytes()
            assert one.sine.tobytes() == other.sine.tobytes()
    branches = loadmat(targets[3], squeeze_me=True, struct_as_record=False)["branches"]
    assert [branch.layout for branch in branches] == [branch.layout for branch in original.branches]
    assert len(list(csv.DictReader(targets[2].read_text().splitlines()))) == sum(map(len, original.branches))


def test_auto_files_of_zonal_diagrams_only(capsys, tmp_path, zonal, full):
    succeed(capsys, "export", str(zonal), "--to", str(tmp_path / "zonal.auto"))
    assert "transformer (beta = 3) on the sphere" in succeed(capsys, "show", str(tmp_path / "zonal.auto"))
    message = fail(capsys, 2, "export", str(full), "--to", str(tmp_path / "full.auto"))
    assert "'tetrahedral'" in message
    assert "write .nc, .json, .npz or .mat instead" in message


def test_stationary_states_in_files(capsys, tmp_path):
    targets = {suffix: tmp_path / f"states{suffix}" for suffix in (".json", ".npz", ".csv", ".png")}
    files = [word for suffix in (".json", ".npz", ".csv") for word in ("--to", str(targets[suffix]))]
    out = succeed(capsys, "stationary", *CUBIC, "--relative", "1.05", *files, "--plot", str(targets[".png"]))
    # The states are told apart by degree three, which the table has for that reason.
    assert out.splitlines()[4].split()[:4] == ["state", "m1", "m2", "m3"]
    states = json.loads(targets[".json"].read_text())["states"]
    layouts = {state["label"]: state["layout"] for state in states}
    assert layouts["uniform"] == layouts["zonal 3"] == "degree"
    assert layouts["tetrahedral"] == "order"
    with np.load(targets[".npz"], allow_pickle=False) as archive:
        rows = json.loads(str(archive["header"]))["states"]
        assert [row["layout"] for row in rows] == [state["layout"] for state in states]
        for index, state in enumerate(states):
            assert archive[f"state_{index}_cosine"].tolist() == state["cosine"]
    table = list(csv.DictReader(targets[".csv"].read_text().splitlines()))
    (row,) = [row for row in table if row["label"] == "tetrahedral"]
    (state,) = [state for state in states if state["label"] == "tetrahedral"]
    # Degree three stands at the places 6 to 9.
    expected = np.sqrt(np.sum(np.square(state["cosine"][6:10]) + np.square(state["sine"][6:10])))
    assert float(row["m3"]) == pytest.approx(expected, rel=1e-14)
    assert targets[".png"].stat().st_size > 0


USAGE = [
    ((*ZONAL, "--dimension", "1"), "from 3 to 1024, not 1;"),
    ((*ZONAL, "--dimension", "0"), "from 3 to 1024, not 0;"),
    ((*ZONAL, "--dimension", "-3"), "from 3 to 1024, not -3;"),
    ((*ZONAL, "--dimension", "1025"), "from 3 to 1024, not 1025;"),
    ((*ZONAL, "--dimension", "9" * 30), "from 3 to 1024"),
    ((*ZONAL, "--dimension", "2.5"), "'2.5' is not a whole number"),
    ((*ZONAL, "--dimension", "nan"), "'nan' is not a whole number"),
    ((*ZONAL, "--dimension"), "--dimension: expected one argument"),
    (("transformer", "--beta", "3", "--dimension", "3"), "use --domain sphere or leave it out"),
    (("transformer", "--beta", "3", "--domain", "ball"), "choose from 'circle', 'sphere'"),
    (("custom", "--expression", "log(1+cos(t))", *SPHERE), "is -inf at t = 3.14"),
    (("custom", "--expression", "1/sin(t/2)", *SPHERE), "is inf at t = 0"),
    (("keller-segel", *SPHERE), "keller-segel is the Green function of the circle"),
    (("gegenbauer-series", *SPHERE), "--coefficients"),
    (("gegenbauer-series", "--coefficients", "nan", *SPHERE), "nan"),
]


@pytest.mark.parametrize("command", ["stationary", "bifurcation", "theory"])
@pytest.mark.parametrize(("arguments", "expected"), USAGE, ids=lambda value: " ".join(value)[:60])
def test_wrong_usage_is_one_sentence(capsys, command, arguments, expected):
    coupling = {"stationary": ("--coupling", "1"), "bifurcation": ("--coupling", "0", "1")}.get(command, ())
    assert expected in fail(capsys, 2, command, *coupling, *arguments)


def test_the_sphere_of_the_plane_is_the_circle(capsys):
    on_circle = succeed(capsys, "theory", "kuramoto")
    assert succeed(capsys, "theory", "kuramoto", *SPHERE, "--dimension", "2") == on_circle


def test_a_series_of_another_dimension_is_refused():
    problem = McKeanVlasov(Sphere(4), GegenbauerSeries((0.0, -1.0), dimension=3))
    with pytest.raises(InvalidInput, match=r"polynomials of Sphere\(3\) and cannot be used on Sphere\(4\)"):
        problem.potential.multipliers(problem.domain, 4)


@pytest.mark.parametrize(
    ("arguments", "most"),
    [
        (("transformer", "--beta", "200", "--coupling", "10"), 512),
        (("kuramoto", "--coupling", "1e6"), 1024),
    ],
)
def test_states_too_concentrated_are_refused_with_the_modes_they_need(capsys, monkeypatch, arguments, most):
    monkeypatch.setattr(ZonalBasis, "most_nodes", most)
    prepared = []

    def counted(*asked):
        prepared.append(asked)
        return births(*asked)

    births = walk.births_on_uniform
    monkeypatch.setattr(walk, "births_on_uniform", counted)
    message = fail(capsys, 1, "stationary", *arguments, *SPHERE)
    assert re.search(rf"it needs about [\d.e+]+ modes, more than the {most} it had there", message)
    # The branches of one threshold are prepared, not those of all the hundreds below the coupling.
    assert len(prepared) == 1


def test_states_that_can_be_had_are_returned_on_demand(capsys, monkeypatch):
    monkeypatch.setattr(ZonalBasis, "most_nodes", 512)
    out = succeed(capsys, "stationary", "kuramoto", *SPHERE, "--coupling", "1e6", "--on-failure", "return")
    assert "uniform" in out


def test_the_family_of_the_logarithm_is_vertical(capsys, monkeypatch):
    # Up to a point of any concentration: where the nodes end, the family does.
    monkeypatch.setattr(ZonalBasis, "most_nodes", 512)
    out = succeed(capsys, "bifurcation", "logarithmic", *SPHERE, "--coupling", "3", "5", "--no-rates")
    assert "zonal 1: coupling 4 to 4" in out
    assert "it is vertical: a whole family of states exists at this single value" in out
