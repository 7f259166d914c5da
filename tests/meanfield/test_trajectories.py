"""The record of an evolution: rows, files, pictures and films, from arrays made by hand."""

import csv
import dataclasses
import json

import numpy as np
import pytest

from meanfield import (
    Circle,
    ComputationFailed,
    InvalidInput,
    McKeanVlasov,
    Outcome,
    Trajectory,
    Transformer,
    open_trajectory,
)
from meanfield.export import files
from meanfield.export.opening import open_record, record_of
from meanfield.plotting import save_figure

PROBLEM = McKeanVlasov(Circle(), Transformer(4.0), coupling=0.8, noise=0.7)
ARRAYS = ("time", "cosine", "sine", "modes", "free_energy_gap", "dissipation", "minimum")


def made(times=9, degree=12, geometric=False, **changes):
    generator = np.random.default_rng(2)
    time = np.concatenate([[0.0], np.geomspace(1e-2, 1e3, times - 1)]) if geometric else np.linspace(0, 2, times)
    decay = 0.5 ** np.arange(degree + 1) * np.linspace(0.2, 0.9, times)[:, None]
    cosine, sine = 0.5 * decay * generator.uniform(-1, 1, (2, times, degree + 1))
    cosine[:, 0], sine[:, 0] = 1.0, 0.0
    gap = -np.linspace(0.1, 1.7, times) / 3
    rate = np.exp(-np.linspace(0, 9, times))
    rate[2:3] = np.nan
    fields = {
        "problem": PROBLEM,
        "time": time,
        "cosine": cosine,
        "sine": sine,
        "modes": np.full(times, degree),
        "observables": {"free_energy_gap": gap, "dissipation": rate},
        "minimum": np.linspace(0.1, -1e-17, times),
        "mass_error": 0.0,
        "outcome": Outcome.METASTABLE,
        "method": "LSODA",
        "tolerance": 1e-8,
        "accuracy": 2 / 3 * 1e-7,
        "steps": 123,
        "evaluations": 456,
        "distance": 1 / 3 * 1e-9,
        "slowest_rate": -0.1,
        "unstable": 2,
        "warnings": ("a warning – with κ", "another"),
        "provenance": {"created": "2026-01-02T03:04:05+00:00", "options": {"until": 2.0, "method": None}},
    }
    return Trajectory(**(fields | changes))


def identical(one, other):
    names = [field.name for field in dataclasses.fields(Trajectory) if field.name not in ARRAYS]
    arrays = all(np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in ARRAYS)
    return arrays and all(getattr(one, name) == getattr(other, name) for name in names)


def test_numbers_of_the_record():
    trajectory = made()
    angle = np.linspace(-3, 3, 7)
    k = np.arange(1, 13)
    terms = (
        np.cos(np.outer(angle, k)) @ trajectory.cosine[3, 1:] + np.sin(np.outer(angle, k)) @ trajectory.sine[3, 1:]
    )
    assert np.allclose(trajectory.density(angle, index=3), (1 + 2 * terms) / (2 * np.pi), atol=1e-15)
    c = trajectory.cosine - 1j * trajectory.sine
    assert np.allclose(trajectory.order_parameter(2), np.abs(c[:, 2]), atol=1e-16)
    assert np.array_equal(trajectory.moment(1, sine=True), trajectory.sine[:, 1])
    assert not trajectory.order_parameter(40).any()
    with pytest.raises(InvalidInput, match=r"non-negative integer .* not -1"):
        trajectory.moment(-1)
    assert len(trajectory) == 9
    assert not trajectory.partial
    assert made(outcome=Outcome.INTERRUPTED).partial


def test_summary_says_how_it_ended():
    text = made().summary()
    words = " ".join(text.split())
    assert "transformer (beta = 4)" in text
    assert "LSODA to time 2: 123 steps, 12 modes at the end" in text
    assert "unstable stationary state, which it will leave (distance 3.3e-10, 2 unstable" in words
    assert "time scale of leaving it 10)" in words
    assert "- a warning – with κ" in text
    assert max(map(len, text.splitlines())) <= 100
    moving = made(outcome=Outcome.REACHED_TIME, distance=0.01, slowest_rate=0.5, unstable=0).summary()
    assert "a stationary state is near (distance 1.0e-02, slowest rate there 0.5)" in " ".join(moving.split())
    unknown = made(outcome=Outcome.REACHED_TIME, distance=None, slowest_rate=None, unstable=None, warnings=())
    assert "Warnings" not in unknown.summary()


@pytest.mark.parametrize("suffix", [".nc", ".json"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tolerance": None, "distance": None, "slowest_rate": None, "unstable": None, "warnings": ()},
        {"times": 1},
        {"geometric": True},
    ],
)
def test_files_hold_everything_bit_for_bit(tmp_path, suffix, changes):
    trajectory = made(**changes)
    (path,) = trajectory.save(tmp_path / f"t{suffix}")
    assert identical(open_trajectory(path), trajectory)
    assert record_of(path) == "trajectory"
    assert identical(open_record(path), trajectory)
    # And written again from what was read.
    (again,) = open_trajectory(path).save(tmp_path / f"u{suffix}")
    assert identical(open_trajectory(again), trajectory)


def test_table_has_one_row_a_time(tmp_path):
    trajectory = made()
    table, origin = trajectory.to_csv(tmp_path / "t.csv")
    with table.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == [
        "time", "free_energy_gap", "dissipation", "m1", "m2", "m3", "m4", "s1", "s2", "s3", "s4",
        "order_parameter", "minimum", "modes",
    ]  # fmt: skip
    assert len(rows) == len(trajectory)
    assert [float(row["m2"]) for row in rows] == trajectory.cosine[:, 2].tolist()
    assert rows[2]["dissipation"] == ""
    assert [int(row["modes"]) for row in rows] == [12] * 9
    header = json.loads(origin.read_text(encoding="utf-8"))
    assert header["record"] == "trajectory"
    assert header["outcome"] == "METASTABLE"


def test_xarray_is_labelled():
    dataset = made().to_xarray()
    assert dict(dataset.sizes) == {"time": 9, "degree": 13}
    assert dataset["cosine"].dims == ("time", "degree")
    assert dataset.attrs["record"] == "trajectory"
    assert dataset["minimum"].attrs["units"] == "1/rad"


def test_other_files_are_refused(tmp_path):
    made().to_json(tmp_path / "t.json")
    cut = tmp_path / "cut.json"
    cut.write_bytes((tmp_path / "t.json").read_bytes()[:-40])
    with pytest.raises(InvalidInput, match="damaged, truncated or not a trajectory"):
        open_trajectory(cut)
    other = tmp_path / "other.json"
    other.write_text('{"record": "ensemble", "schema_version": 1, "arrays": {}}', encoding="utf-8")
    with pytest.raises(InvalidInput, match="it holds ensemble, not a trajectory"):
        open_trajectory(other)
    with pytest.raises(InvalidInput, match="does not choose"):
        open_trajectory(tmp_path / "t.npz")
    with pytest.raises(InvalidInput, match="does not exist"):
        open_trajectory(tmp_path / "missing.nc")
    with pytest.raises(InvalidInput, match="exists already"):
        made().save(tmp_path / "t.json")
    with pytest.raises(InvalidInput, match="does not choose a format of a trajectory"):
        made().save(tmp_path / "t.mat")


# Pictures


@pytest.mark.parametrize(("suffix", "geometric"), [(".png", False), (".pdf", True), (".svg", False)])
def test_pictures_are_drawn(tmp_path, geometric, suffix):
    trajectory = made(times=30, geometric=geometric)
    for name in ("plot", "plot_energy", "plot_moments"):
        ax = getattr(trajectory, name)()
        assert ax.get_xlabel() == "$t$"
        assert ax.get_xscale() == ("log" if geometric else "linear")
        assert save_figure(ax.figure, tmp_path / f"{name}{suffix}").stat().st_size > 1000


def test_the_picture_shows_the_density():
    trajectory = made(times=30)
    ax = trajectory.plot(cmap="magma")
    (mesh,) = ax.collections
    values = np.asarray(mesh.get_array()).reshape(361, 30)
    angle = np.linspace(-np.pi, np.pi, 361)
    for index in (0, 17, 29):
        assert np.allclose(values[:, index], trajectory.density(angle, index=index), atol=1e-14)
    assert mesh.get_cmap().name == "magma"


def test_the_curves_are_those_of_the_record():
    trajectory = made(times=30)
    (line,) = trajectory.plot_energy(color="black").lines
    assert np.array_equal(line.get_ydata(), trajectory.free_energy_gap)
    assert line.get_color() == "black"
    with_rate = trajectory.plot_energy(dissipation=True)
    right = next(ax for ax in with_rate.figure.axes if ax is not with_rate)
    assert right.get_yscale() == "log"
    lines = trajectory.plot_moments(degrees=(2, 5)).lines
    assert np.array_equal(lines[1].get_ydata(), trajectory.order_parameter(5))


def test_one_time_can_be_drawn():
    trajectory = made(times=1)
    for name in ("plot", "plot_energy", "plot_moments"):
        getattr(trajectory, name)().figure.draw_without_rendering()


def test_a_film_has_the_frames_asked_for(tmp_path):
    from PIL import Image

    trajectory = made(times=20)
    path = trajectory.animate(tmp_path / "film.gif", frames=7, rate=10)
    with Image.open(path) as film:
        assert film.n_frames == 7
        assert film.info["duration"] == 100
        assert film.info["loop"] == 0
        film.seek(0)
        first = np.asarray(film.convert("RGB")).astype(int)
        film.seek(6)
        last = np.asarray(film.convert("RGB")).astype(int)
    assert np.abs(first - last).max() > 100
    # The axes do not move, and white stays white.
    assert np.array_equal(first[:, :60], last[:, :60])
    assert first[5, 5].tolist() == [255, 255, 255]


def test_films_are_refused_in_a_sentence(tmp_path, monkeypatch):
    trajectory = made()
    with pytest.raises(InvalidInput, match=r"does not choose a format of a film; use one of \.gif"):
        trajectory.animate(tmp_path / "film.mp4")
    with pytest.raises(InvalidInput, match="a film has from 1 to 600 frames, not 0"):
        trajectory.animate(tmp_path / "film.gif", frames=0)
    (tmp_path / "old.gif").write_bytes(b"old")
    with pytest.raises(InvalidInput, match="exists already"):
        trajectory.animate(tmp_path / "old.gif")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_flush_to_disk", full)
    with pytest.raises(ComputationFailed, match="No space left on device"):
        trajectory.animate(tmp_path / "old.gif", frames=2, force=True)
    assert (tmp_path / "old.gif").read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["old.gif"]
