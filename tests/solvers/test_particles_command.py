"""The command ``meanfield particles`` and initial states in a word, as a user meets them."""

import json

import numpy as np
import pytest

from meanfield import InvalidInput, open_ensemble
from meanfield.cli import main
from solvers import (
    Bumps,
    EulerMaruyama,
    PerturbedUniform,
    RandomPerturbation,
    VonMises,
    evolve,
    initial_from,
    moments_of,
    simulate,
)
from solvers.particles import replicas
from tests import problems
from tests.particle_runs import interrupted_at

SMALL = ("kuramoto", "--coupling", "1", "--particles", "50", "--until", "0.5", "--step", "0.1")


def run(capsys, *arguments):
    code = main(["particles", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_result_is_that_of_the_function(capsys, tmp_path):
    files = [str(tmp_path / name) for name in ("e.nc", "e.json", "e.csv")]
    code, out, err = run(
        capsys, *SMALL, "--seed", "5", "--replicas", "3", "--initial", "von-mises:mean=1,concentration=2", "--positions",
        "--scheme", "euler-maruyama", "--to", files[0], "--to", files[1], "--to", files[2],
        "--plot", str(tmp_path / "e.pdf"),
    )  # fmt: skip
    assert code == 0, err
    assert "3 x 50 particles, euler-maruyama with step 0.1 to time 0.5, seed 5" in out
    assert all(f"wrote {name}" in err for name in files)
    problem = problems.KURAMOTO_AT_1.problem
    expected = simulate(
        problem, 50, 0.5, 5, step=0.1, replicas=3, initial=VonMises(1.0, 2.0), scheme=EulerMaruyama(),
        keep_positions=True,
    )  # fmt: skip
    for name in files[:2]:
        ensemble = open_ensemble(name)
        assert np.array_equal(ensemble.cosine, expected.cosine)
        assert np.array_equal(ensemble.positions, expected.positions)
        assert ensemble.provenance["command"].startswith("meanfield particles kuramoto --coupling 1")
        assert ensemble.provenance["configuration"]["initial"] == "von-mises:mean=1,concentration=2"
    assert (tmp_path / "e.pdf").stat().st_size > 1000


def test_json_is_one_object_and_nothing_else(capsys):
    code, out, err = run(capsys, *SMALL, "--json", "--times", "4")
    assert code == 0, err
    result = json.loads(out)
    assert result["record"] == "ensemble"
    assert [row["time"] for row in result["rows"]] == [0.0, 0.125, 0.25, 0.375, 0.5]
    assert result["rows"][0]["order_parameter_error"] is None
    assert result["outcome"] == "COMPLETED"
    assert result["provenance"]["options"]["drift_degree"] == 1
    assert err == ""


def test_workers_do_not_change_the_numbers(capsys, kept_processes):
    numbers = []
    for workers in ("1", "2"):
        code, out, err = run(capsys, *SMALL, "--replicas", "2", "--workers", workers, "--json")
        assert code == 0, err
        numbers.append(json.loads(out)["rows"])
    assert kept_processes == [2]
    assert numbers[0] == numbers[1]


def test_a_run_goes_on_from_its_checkpoint(capsys, tmp_path):
    arguments = (*SMALL, "--checkpoint", str(tmp_path / "run"), "--json")
    first = json.loads(run(capsys, *arguments)[1])
    assert (tmp_path / "run.a").exists()
    assert json.loads(run(capsys, *arguments, "--every", "0.3")[1])["rows"] == first["rows"]
    code, _, err = run(capsys, *arguments, "--seed", "2")
    assert code == 2
    assert "belongs to another run: its seed is 1, not 2" in err


def test_partial_results_are_written_and_reported(capsys, tmp_path):
    arguments = ("kuramoto", "--coupling", "40", "--particles", "1000", "--until", "5", "--step", "0.1")
    code, out, err = run(capsys, *arguments, "--to", str(tmp_path / "e.nc"))
    assert code == 1
    assert "partial: 0 of 1 replicas reached the end" in out
    assert "the step 0.1 is too long" in out
    assert np.isfinite(open_ensemble(tmp_path / "e.nc").cosine[0, 0]).all()
    code, out, err = run(capsys, *arguments, "--quiet")
    assert (code, out) == (1, "")
    assert err.startswith("meanfield: warning: replica 0 stopped at time")


def test_an_interrupt_keeps_what_there_is(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(replicas, "advance", interrupted_at(8, replicas.advance))
    code, out, _ = run(capsys, *SMALL, "--particles", "200", "--replicas", "2", "--to", str(tmp_path / "e.json"))
    assert code == 130
    assert "replica 1 was interrupted at time 0.2" in out
    assert list(open_ensemble(tmp_path / "e.json").completed) == [True, False]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("kuramoto", "--until", "1"), "needs a coupling; add --coupling K"),
        (("kuramoto", "--coupling", "1"), "needs a final time; add --until 3"),
        ((*SMALL, "--particles", "0"), "particles must be a whole number from 1"),
        ((*SMALL, "--workers", "0"), "--workers must be from 1 to 1024, not 0"),
        ((*SMALL, "--every", "1"), "--every belongs to --checkpoint"),
        ((*SMALL, "--scheme", "heun"), "unknown scheme 'heun'"),
        ((*SMALL, "--to", "e.mat"), "the suffix '.mat' of 'e.mat' does not choose a format"),
        ((*SMALL, "--plot", "e.nc"), "does not choose a picture format"),
        ((*SMALL, "--initial", "bumbs:count=3"), "unknown initial density 'bumbs:count=3'; did you mean bumps?"),
        ((*SMALL, "--initial", "density:cos(t)"), "the initial density is negative"),
        ((*SMALL, "--step", "-1"), "step must be a positive finite number"),
        ((*SMALL, "--partcles", "5"), "did you mean --particles?"),
    ],
)
def test_wrong_calls_are_answered_with_a_sentence(capsys, arguments, words):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


# Initial states in a word


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("perturbed:amplitude=0.2,degree=3", PerturbedUniform(0.2, degree=3)),
        ("random:amplitude=0.1,seed=4", RandomPerturbation(0.1, 4)),
        ("von-mises:concentration=2.5", VonMises(concentration=2.5)),
        ("bumps:count=2,width=0.4,weights=3/1,mean=-1", Bumps(2, 0.4, (3.0, 1.0), -1.0)),
    ],
)
def test_named_densities(text, expected):
    assert initial_from(text) == expected


def test_formulas_and_moments():
    problem = problems.KURAMOTO_AT_1.problem
    for text in ("density:(1 + 0.6*cos(t) + 0.2*cos(2*t))/(2*pi)", "moments:0.3,0.1"):
        density = moments_of(problem, initial_from(text))
        assert np.abs(density.cosine[:3] - [1.0, 0.3, 0.1]).max() <= 1e-14
    assert moments_of(problem, initial_from("uniform")).cosine.tolist() == [1.0]
    assert moments_of(problem, initial_from("density:1/(2*pi)")).cosine.tolist() == [1.0]


def test_files(tmp_path, capsys):
    problem = problems.KURAMOTO_AT_3.problem
    trajectory = evolve(problem, PerturbedUniform(0.1), 1.0)
    trajectory.save(tmp_path / "t.nc")
    assert np.array_equal(initial_from(str(tmp_path / "t.nc")).cosine, trajectory.cosine)
    assert main(["stationary", "kuramoto", "--coupling", "3", "--to", str(tmp_path / "s.json"), "--quiet"]) == 0
    capsys.readouterr()
    order = problems.KURAMOTO_AT_3.exact("order parameter")
    assert initial_from(str(tmp_path / "s.json"))[0][1] == pytest.approx(order, abs=1e-12)
    assert initial_from(f"{tmp_path / 's.json'}:uniform")[0][1] == 0.0
    with pytest.raises(InvalidInput, match="holds no state '2-cluster'; it holds 1-cluster, uniform"):
        initial_from(f"{tmp_path / 's.json'}:2-cluster")
    angles = np.array([0.1, 2.0, -3.0])
    np.save(tmp_path / "a.npy", angles)
    np.savetxt(tmp_path / "a.txt", angles)
    for name in ("a.npy", "a.txt"):
        assert np.array_equal(initial_from(str(tmp_path / name)), angles)
    (tmp_path / "b.txt").write_text("north\n")
    with pytest.raises(InvalidInput, match=r"b.txt cannot be read as an initial density"):
        initial_from(str(tmp_path / "b.txt"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bumps:cuont=3", "'cuont=3' is no parameter of the initial density 'bumps', .* did you mean count"),
        ("bumps", "needs count; try --initial bumps:count=4"),
        ("von-mises:mean=north", "'north' is not a number"),
        ("nothing.nc", "does not exist"),
        ("density:foo(t)", "the name 'foo' is unknown"),
        ("uniform:1", "unknown initial density 'uniform:1'"),
    ],
)
def test_what_describes_nothing_is_refused(text, words):
    with pytest.raises(InvalidInput, match=words):
        initial_from(text)
