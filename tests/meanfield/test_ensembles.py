"""The record of an ensemble: statistics, files and pictures, from arrays made by hand."""

import csv
import json
import math

import numpy as np
import pytest

from meanfield import Circle, Ensemble, InvalidInput, McKeanVlasov, Outcome, State, Transformer, open_ensemble
from meanfield.plotting import plot_ensemble, plot_ensemble_moments

PROBLEM = McKeanVlasov(Circle(), Transformer(4.0), coupling=0.8, noise=0.3)


def made(replicas=4, missing=None, positions=True, particles=50, times=5, degrees=6):
    generator = np.random.default_rng(5)
    angles = generator.uniform(-np.pi, np.pi, (replicas, times, particles))
    phases = np.multiply.outer(angles, np.arange(degrees + 1))
    cosine, sine = np.cos(phases).mean(axis=2), np.sin(phases).mean(axis=2)
    histogram = np.array([np.histogram(row, 128, (-np.pi, np.pi))[0] for row in angles[:, -1]])
    final = angles[:, -1].copy()
    failures = ()
    if missing is not None:
        cosine[missing, 2:], sine[missing, 2:] = np.nan, np.nan
        histogram[missing], final[missing] = 0, np.nan
        failures = (f"replica {missing} stopped at time 0.25: some reason",)
    return Ensemble(
        problem=PROBLEM,
        particles=particles,
        replicas=replicas,
        seed=2**70,
        step=0.1,
        scheme="weak-second-order",
        time=np.linspace(0.0, 1.0, times),
        cosine=cosine,
        sine=sine,
        histogram=histogram,
        positions=final if positions else None,
        outcome=Outcome.PARTIAL if failures else Outcome.COMPLETED,
        failures=failures,
        warnings=("a warning – with κ",),
        provenance={
            "created": "2026-01-02T03:04:05+00:00",
            "options": {"drift_tolerance": 1e-9, "truncation": None},
        },
    )


def identical(one, other):
    names = ("time", "cosine", "sine", "histogram", "positions")
    arrays = all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
        if getattr(one, name) is not None
        else getattr(other, name) is None
        for name in names
    )
    plain = ("problem", "particles", "replicas", "seed", "step", "scheme", "outcome", "failures", "warnings")
    return arrays and all(getattr(one, name) == getattr(other, name) for name in (*plain, "provenance"))


# Statistics


def test_means_and_standard_errors_are_over_the_replicas():
    ensemble = made()
    modulus = np.hypot(ensemble.cosine[:, :, 2], ensemble.sine[:, :, 2])
    mean, error = ensemble.order_parameter(2)
    assert np.allclose(mean, modulus.mean(axis=0), rtol=1e-15)
    assert np.allclose(error, modulus.std(axis=0, ddof=1) / 2, rtol=1e-13)
    cosine, sine = ensemble.mean_moments(3)
    assert np.allclose(cosine.mean, ensemble.cosine[:, :, 3].mean(axis=0), rtol=1e-13)
    assert np.allclose(sine.standard_error, ensemble.sine[:, :, 3].std(axis=0, ddof=1) / 2, rtol=1e-13)
    assert np.allclose(ensemble.fluctuation(2).mean, 50 * (modulus**2).mean(axis=0), rtol=1e-13)


def test_missing_replicas_are_left_out_from_when_they_are_missing():
    ensemble, whole = made(missing=1), made()
    others = [0, 2, 3]
    assert list(ensemble.completed) == [True, False, True, True]
    modulus = np.hypot(whole.cosine[:, :, 1], whole.sine[:, :, 1])
    mean, error = ensemble.order_parameter()
    assert np.allclose(mean[:2], modulus[:, :2].mean(axis=0), rtol=1e-14)
    assert np.allclose(mean[2:], modulus[others, 2:].mean(axis=0), rtol=1e-14)
    assert np.allclose(error[2:], modulus[others, 2:].std(axis=0, ddof=1) / math.sqrt(3), rtol=1e-13)
    assert [row["replicas"] for row in ensemble.rows()] == [4, 4, 3, 3, 3]


def test_a_single_replica_has_no_standard_error():
    ensemble = made(replicas=1)
    assert np.isnan(ensemble.order_parameter().standard_error).all()
    assert next(ensemble.rows())["order_parameter_error"] is None
    assert np.isnan(ensemble.density().standard_error).all()


def test_the_density_is_a_density():
    ensemble = made(missing=2)
    edges, density, error = ensemble.density()
    assert edges[[0, -1]] == pytest.approx([-np.pi, np.pi])
    assert np.sum(density * np.diff(edges)) == pytest.approx(1.0, rel=1e-14)
    assert (error > 0).any()


def test_degrees_that_were_not_recorded_are_refused():
    with pytest.raises(InvalidInput, match="the moment of degree 7 was not recorded, only those up to 6"):
        made().order_parameter(7)


# Files


@pytest.mark.parametrize("suffix", [".nc", ".json"])
@pytest.mark.parametrize("options", [{}, {"missing": 1}, {"positions": False}, {"replicas": 1}, {"particles": 1}])
def test_files_are_read_back_bit_for_bit(tmp_path, suffix, options):
    ensemble = made(**options)
    (path,) = ensemble.save(tmp_path / f"ensemble{suffix}")
    assert identical(open_ensemble(path), ensemble)


def test_netcdf_opens_with_labels(tmp_path):
    import xarray

    ensemble = made()
    ensemble.to_netcdf(tmp_path / "e.nc")
    with xarray.open_dataset(tmp_path / "e.nc") as dataset:
        assert dataset.attrs["record"] == "ensemble"
        assert dataset.cosine.dims == ("replica", "time", "degree")
        assert float(dataset.cosine.sel(replica=2, time=0.25, degree=3)) == ensemble.cosine[2, 1, 3]
        assert dataset.histogram.dims == ("replica", "angle")
        assert dataset.positions.attrs["units"] == "rad"
    assert ensemble.to_xarray().cosine.dims == ("replica", "time", "degree")


def test_csv_has_one_row_a_time(tmp_path):
    ensemble = made(missing=0)
    paths = ensemble.to_csv(tmp_path / "e.csv")
    assert {path.name for path in paths} == {"e.csv", "e.provenance.json"}
    with (tmp_path / "e.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["time"]) for row in rows] == list(ensemble.time)
    assert {row["particles"] for row in rows} == {"50"}
    mean, error = ensemble.order_parameter()
    assert [float(row["order_parameter"]) for row in rows] == list(mean)
    assert [float(row["order_parameter_error"]) for row in rows] == list(error)
    assert float(rows[3]["s2"]) == ensemble.mean_moments(2)[1].mean[3]
    assert float(rows[3]["fluctuation1"]) == ensemble.fluctuation(1).mean[3]
    origin = json.loads((tmp_path / "e.provenance.json").read_text())
    assert origin["failures"] == list(ensemble.failures)
    assert origin["seed"] == 2**70


def test_files_are_kept_and_others_refused(tmp_path):
    ensemble = made()
    path = tmp_path / "e.nc"
    ensemble.save(path)
    with pytest.raises(InvalidInput, match="exists already"):
        ensemble.save(path)
    ensemble.save(path, force=True)
    with pytest.raises(InvalidInput, match=r"\.mat"):
        ensemble.save(tmp_path / "e.mat")
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(InvalidInput, match="is damaged, truncated or not"):
        open_ensemble(path)
    with pytest.raises(InvalidInput, match="does not exist"):
        open_ensemble(tmp_path / "nothing.nc")


def test_summary_names_what_is_missing():
    text = made(missing=1).summary()
    assert "4 x 50 particles, weak-second-order with step 0.1 to time 1" in text
    assert "3 of 4 replicas reached the end" in text
    assert "replica 1 stopped at time 0.25: some reason" in text
    assert "a warning" in text
    assert max(map(len, text.splitlines())) <= 120


# Pictures


def state():
    return State(
        problem=PROBLEM, cosine=np.array([1.0, 0.4]), sine=np.array([0.0, 0.1]), observables={"free_energy_gap": 0.0}, unstable=0,
        symmetry=1, residual=0.0, modes=1, label="1-cluster",
    )  # fmt: skip


def test_the_histogram_is_drawn_against_a_density():
    ensemble = made(particles=2000)
    ax = plot_ensemble(ensemble, density=state())
    patch = ax.patches[0]
    values, edges, _ = patch.get_data()
    assert np.sum(values * np.diff(edges)) == pytest.approx(1.0, rel=1e-12)
    line = next(line for line in ax.lines if line.get_label() == "1-cluster")
    angle, drawn = line.get_data()
    assert np.allclose(drawn, state().density(angle), rtol=1e-14)
    assert ax.collections, "the replicas give a confidence"
    assert ax.get_ylim()[1] > values.max()


def test_bins_are_joined_where_particles_are_few():
    few, many = (made(particles=count, replicas=1) for count in (50, 20_000))
    assert (
        len(plot_ensemble(few).patches[0].get_data()[0]) < len(plot_ensemble(many).patches[0].get_data()[0]) == 128
    )
    assert not plot_ensemble(few).collections


def test_a_function_is_a_density_and_a_number_is_not():
    plot_ensemble(made(), density=lambda t: (1 + 0.5 * np.cos(t)) / (2 * np.pi))
    with pytest.raises(InvalidInput, match="a density to compare with is a State"):
        plot_ensemble(made(), density=3.0)


def test_nothing_to_draw_is_said():
    ensemble = made(replicas=1, missing=0)
    with pytest.raises(InvalidInput, match="no replica of this ensemble came to the end"):
        ensemble.plot()


def test_moments_are_drawn_with_bands():
    ensemble = made()
    ax = plot_ensemble_moments(ensemble, degrees=(1, 2))
    means = {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}
    assert np.array_equal(means["$k = 2$"].get_ydata(), ensemble.order_parameter(2).mean)
    # The band is Student's: 3.18 standard errors for four replicas.
    points = ax.collections[0].get_paths()[0].vertices
    mean, error = ensemble.order_parameter(1)
    assert points[:, 1].max() == pytest.approx((mean + 3.182446305284263 * error).max(), rel=1e-12)
    assert not made(replicas=1).plot_moments().collections


def test_a_trajectory_is_drawn_beside_the_moments():
    class Path:
        time = np.linspace(0.0, 1.0, 3)

        def order_parameter(self, degree):
            return np.full(3, 0.1 * degree)

    ax = made().plot_moments(degrees=(1, 2), trajectory=Path())
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert [line.get_ydata()[0] for line in dashed] == [0.1, 0.2]


def test_an_ensemble_is_spoken_of_with_its_article(tmp_path):
    other = tmp_path / "other.json"
    other.write_text('{"record": "trajectory", "schema_version": 1, "arrays": {}}', encoding="utf-8")
    with pytest.raises(InvalidInput, match="it holds trajectory, not an ensemble written by meanfield"):
        open_ensemble(other)
    other.write_text("{", encoding="utf-8")
    with pytest.raises(InvalidInput, match="not an ensemble written by meanfield"):
        open_ensemble(other)
    with pytest.raises(InvalidInput, match="a format of an ensemble"):
        made().save(tmp_path / "run.mat")
