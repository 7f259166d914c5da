"""The command ``meanfield evolve``, and what show, plot and export make of its files."""

import json
from pathlib import Path

import numpy as np
import pytest

from meanfield import Outcome, open_trajectory
from meanfield.cli import main
from meanfield.export.states import save_states
from solvers import Bumps, PerturbedUniform, VonMises, evolve, stationary_states
from tests import problems

PROBLEM = problems.CLUSTERED_ATTENTION.problem
SMALL = ("transformer", "--beta", "4", "--relative", "2")


def run(capsys, *arguments, name="evolve"):
    code = main([name, *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_result_is_that_of_the_function(capsys, tmp_path):
    names = ["t.nc", "t.json", "t.csv", "p.png", "e.pdf", "m.svg", "a.gif"]
    nc, js, table, picture, energy, moments, film = (str(tmp_path / name) for name in names)
    code, out, err = run(
        capsys, *SMALL, "--initial", "von-mises", "--mean", "0.5", "--concentration", "1", "--until", "30",
        "--times", "12", "--to", nc, "--to", js, "--to", table, "--plot", picture, "--energy", energy,
        "--moments", moments, "--animate", film,
    )  # fmt: skip
    assert code == 0, err
    assert "the density has settled at a stable stationary state (distance" in " ".join(out.split())
    assert "slowest rate there 0.742276" in " ".join(out.split())
    assert all(f"wrote {tmp_path / name}" in err for name in names)
    expected = evolve(PROBLEM, VonMises(0.5, 1.0), 30.0, times=12)
    for name in (nc, js):
        trajectory = open_trajectory(name)
        assert np.array_equal(trajectory.cosine, expected.cosine)
        assert trajectory.provenance["command"].startswith("meanfield evolve transformer --beta 4 --relative 2")
        assert trajectory.provenance["configuration"]["initial"] == "von-mises"
        assert trajectory.provenance["configuration"]["initial-mean"] == 0.5
    assert all((tmp_path / name).stat().st_size > 1000 for name in names)


@pytest.mark.parametrize(
    ("options", "start"),
    [
        ((), PerturbedUniform()),
        (("--initial", "perturbed", "--amplitude", "0.3", "--degree", "2"), PerturbedUniform(0.3, 2)),
        (
            ("--initial", "bumps:count=3", "--width", "0.4", "--weights", "1", "2", "1"),
            Bumps(3, 0.4, (1.0, 2.0, 1.0)),
        ),
        (("--initial", "von-mises:mean=0,concentration=2"), VonMises(0.0, 2.0)),
        (("--initial", "density:(1+0.1*cos(t))/(2*pi)"), PerturbedUniform(0.1)),
    ],
)
def test_initial_densities(capsys, options, start):
    code, out, err = run(capsys, *SMALL, "--until", "0.5", "--times", "2", "--json", *options)
    assert code == 0, err
    rows = json.loads(out)["rows"]
    expected = evolve(PROBLEM, start, 0.5, times=2)
    for row, m1, s1 in zip(rows, expected.moment(1), expected.moment(1, sine=True), strict=True):
        # A formula has the rounding of its quadrature.
        assert row["m1"] == pytest.approx(m1, abs=1e-9)
        assert row["s1"] == pytest.approx(s1, abs=1e-9)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_starting_from_a_state_file(capsys, tmp_path, suffix):
    states = stationary_states(PROBLEM)
    path = tmp_path / f"states{suffix}"
    save_states(states, path)
    code, out, err = run(capsys, *SMALL, "--until", "1", "--initial", f"{path}:2-cluster", "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["outcome"] == "METASTABLE"
    assert result["unstable"] == 2


def test_starting_from_a_trajectory_goes_on(capsys, tmp_path):
    evolve(PROBLEM, PerturbedUniform(0.1), 2.0).to_netcdf(tmp_path / "t.nc")
    code, out, err = run(capsys, *SMALL, "--until", "1", "--initial", str(tmp_path / "t.nc"), "--json")
    assert code == 0, err
    whole = evolve(PROBLEM, PerturbedUniform(0.1), 3.0, times=[2.0, 3.0])
    rows = json.loads(out)["rows"]
    assert rows[0]["m1"] == pytest.approx(whole.moment(1)[0], abs=1e-8)
    assert rows[-1]["m1"] == pytest.approx(whole.moment(1)[1], abs=1e-7)


@pytest.mark.parametrize("suffix", [".txt", ".csv", ".npy"])
def test_starting_from_samples(capsys, tmp_path, suffix):
    angles = np.random.default_rng(0).vonmises(0.5, 3.0, 500)
    path = tmp_path / f"angles{suffix}"
    if suffix == ".npy":
        np.save(path, angles)
    else:
        np.savetxt(path, angles)
    code, out, err = run(capsys, *SMALL, "--until", "0.1", "--initial", str(path), "--json")
    assert code == 0, err
    assert "an estimate from 500 samples" in err
    expected = evolve(PROBLEM, angles, 0.1)
    assert json.loads(out)["rows"][-1]["m1"] == pytest.approx(expected.moment(1)[-1], rel=1e-9)


def test_saved_trajectories_are_shown_drawn_and_converted(capsys, tmp_path):
    source = str(tmp_path / "t.nc")
    trajectory = evolve(PROBLEM, PerturbedUniform(0.1), 2.0, times=5)
    trajectory.to_netcdf(source)
    code, out, _ = run(capsys, source, name="show")
    assert code == 0
    assert out == trajectory.summary() + "\n"
    code, out, _ = run(capsys, source, "--json", name="show")
    assert json.loads(out)["record"] == "trajectory"
    for quantity in ("density", "energy", "moments"):
        target = tmp_path / f"{quantity}.png"
        code, _, err = run(capsys, source, "--to", str(target), "--y", quantity, name="plot")
        assert code == 0, err
        assert target.stat().st_size > 1000
    code, _, err = run(
        capsys, source, "--to", str(tmp_path / "u.json"), "--to", str(tmp_path / "u.csv"), name="export"
    )
    assert code == 0, err
    assert np.array_equal(open_trajectory(tmp_path / "u.json").cosine, trajectory.cosine)
    for wrong, sentence in (("m1", "cannot draw 'm1' of a trajectory; give one of density, energy"),):
        code, _, err = run(capsys, source, "--to", str(tmp_path / "x.png"), "--y", wrong, name="plot")
        assert code == 2
        assert sentence in err
    code, _, err = run(capsys, source, "--to", str(tmp_path / "x.png"), "--panels", name="plot")
    assert code == 2
    assert "--panels belongs to diagrams" in err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "needs a final time; add --until 30"),
        (("--until", "inf"), "needs stop_at_stationarity=True (--stop)"),
        (("--until", "-1"), "the final time must be a number >= 0, not -1.0"),
        (("--until", "nan"), "the final time must be a number >= 0, not nan"),
        (("--until", "1", "--every", "0.1"), "--every belongs to --checkpoint NAME"),
        (("--until", "1", "--method", "euler"), "unknown method 'euler'; use lsoda or etdrk4"),
        (("--until", "1", "--step", "0.1"), "--step belongs to --method etdrk4"),
        (("--until", "1", "--method", "etdrk4", "--step", "0"), "must be positive and finite, not 0.0"),
        (
            ("--until", "1", "--initial", "uniform", "--mean", "1"),
            "--mean belongs to the initial densities perturbed",
        ),
        (("--until", "1", "--initial", "von-mises", "--width", "1"), "'width=1.0' is no parameter"),
        (("--until", "1", "--initial", "vonmises"), "did you mean von-mises?"),
        (("--until", "1", "--tolerance", "0"), "the tolerance must be from"),
        (("--until", "1", "--to", "t.mat"), "does not choose a format of a trajectory"),
        (("--until", "1", "--animate", "a.mp4"), "does not choose a format of a film"),
        (("--until", "1", "--times", "0"), "give a whole number from 1"),
        (
            ("--until", "inf", "--stop", "--checkpoint", "c"),
            "--checkpoint with an infinite final time needs --every",
        ),
    ],
)
def test_nonsense_is_one_sentence(capsys, options, sentence):
    code, out, err = run(capsys, *SMALL, *options)
    assert code == 2
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1


def test_a_coupling_is_needed(capsys):
    code, _, err = run(capsys, "transformer", "--beta", "4", "--until", "1")
    assert code == 2
    assert "needs a coupling" in err


def test_failures_keep_the_part_before(capsys, tmp_path):
    target = tmp_path / "t.nc"
    code, out, err = run(
        capsys, *SMALL, "--until", "40", "--method", "etdrk4", "--step", "0.1", "--to", str(target), "--quiet"
    )
    assert code == 1
    assert out == ""
    assert "the step 0.1 of ETDRK4 is too large" in err
    partial = open_trajectory(target)
    assert partial.outcome is Outcome.PARTIAL
    assert partial.time[-1] < 40.0


def test_an_interrupt_writes_what_is_there(capsys, tmp_path, monkeypatch):
    def interrupted(*arguments, **options):
        def stop(time):
            if time > 1.0:
                raise KeyboardInterrupt

        return evolve(*arguments, **(options | {"progress": stop}))

    monkeypatch.setattr("solvers.trajectory.evolve", interrupted)
    code, out, _ = run(capsys, *SMALL, "--until", "10", "--to", str(tmp_path / "t.json"))
    assert code == 130
    assert "interrupted; what was computed before is kept" in out
    assert open_trajectory(tmp_path / "t.json").outcome is Outcome.INTERRUPTED


def test_checkpoints_resume(capsys, tmp_path):
    options = (
        *SMALL,
        "--until",
        "3",
        "--times",
        "3",
        "--checkpoint",
        str(tmp_path / "run"),
        "--every",
        "0.5",
        "--json",
    )
    _, first, _ = run(capsys, *options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.a", "run.b"]
    _, second, _ = run(capsys, *options)
    assert json.loads(first)["rows"] == json.loads(second)["rows"]
    code, _, err = run(capsys, *options, "--tolerance", "1e-6")
    assert code == 2
    assert "belongs to another run: its tolerance is 1e-08, not 1e-06" in err


def test_stopping_at_rest(capsys):
    code, out, err = run(capsys, *SMALL, "--until", "inf", "--stop", "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["outcome"] == "STATIONARY"
    assert result["distance"] <= 1e-8
    assert result["rows"][-1]["time"] < 60


WITHOUT_NOISE = ("kuramoto", "--noise", "0", "--coupling", "1", "--until", "10", "--times", "10")


@pytest.mark.parametrize(
    ("method", "name"),
    [("watanabe-strogatz", "Watanabe-Strogatz reduction"), ("characteristics", "characteristics by DOP853")],
)
def test_without_noise_the_whole_time_is_followed_on_demand(capsys, method, name):
    code, out, err = run(capsys, *WITHOUT_NOISE, "--method", method)
    assert code == 0, err
    assert f"{name} to time 10" in out
    assert "the final time was reached; without a Gibbs map no state of rest is looked for" in out
    assert "E-E0" in out


def test_without_noise_a_collapse_ends_the_evolution(capsys, tmp_path):
    figure = tmp_path / "energy.png"
    code, out, err = run(capsys, *WITHOUT_NOISE, "--energy", str(figure))
    assert code == 1, err
    words = " ".join(out.split())
    assert "the state is too concentrated for the allowed number of modes" in words
    assert "(--method watanabe-strogatz) follows it to any time" in words
    assert figure.stat().st_size > 1000


def test_methods_without_noise_are_refused_with_noise(capsys):
    code, _, err = run(capsys, *SMALL, "--until", "1", "--method", "watanabe-strogatz")
    assert code == 2
    assert "give noise=0 (--noise 0)" in err
    code, _, err = run(capsys, *SMALL, "--until", "1", "--method", "ott")
    assert code == 2
    assert "or without noise watanabe-strogatz or characteristics" in err


def test_characteristics_are_drawn_and_drawn_again_from_a_file(capsys, tmp_path):
    paths, tail, again, file = (str(tmp_path / name) for name in ("paths.pdf", "tail.png", "again.png", "path.nc"))
    code, _, err = run(
        capsys, *WITHOUT_NOISE, "--initial", "von-mises", "--method", "characteristics",
        "--characteristics", paths, "--tail", tail, "--to", file,
    )  # fmt: skip
    assert code == 0, err
    code, _, err = run(capsys, file, "--y", "tail", "--to", again, name="plot")
    assert code == 0, err
    assert all(Path(name).stat().st_size > 5000 for name in (paths, tail, again))
    code, _, err = run(capsys, *WITHOUT_NOISE, "--tail", again)
    assert code == 2
    assert "--tail draws densities without noise along their characteristics; add --noise 0 --method" in err
