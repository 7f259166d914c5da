"""Pictures of flow maps, from Poisson kernels that Kuramoto's equation moves exactly."""

import dataclasses

import numpy as np
import pytest

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    FlowMap,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    Outcome,
    PhaseLag,
    Trajectory,
    flight_profile,
    ott_antonsen,
)
from meanfield.command_line import draw_trajectory
from meanfield.export.plausible import require_trajectory

PROBLEM = McKeanVlasov(Circle(), Kuramoto(), noise=0.0, coupling=1.0)
FIRST, CLUSTER = 0.4, 1.0


def kuramoto(until=14.0, cluster=CLUSTER):
    """Return the trajectory of a Poisson kernel about an angle, with its flow map."""
    time = np.linspace(0.0, until, 29)
    radius = np.abs(ott_antonsen(FIRST, PROBLEM.coupling, time))
    # Labels that come to equal angles at each of the times; points move by tan(x/2) = q tan(a/2).
    ratio = (1 - radius) * (1 + FIRST) / ((1 + radius) * (1 - FIRST))
    places = np.linspace(-np.pi, np.pi, 201)[1:-1]
    labels = np.unique(2 * np.arctan(np.tan(0.5 * places) / ratio[:, None]).round(13))
    positions = 2 * np.arctan(ratio[:, None] * np.tan(0.5 * labels))
    size = radius[:, None]
    densities = (1 - size**2) / (2 * np.pi * (1 - 2 * size * np.cos(positions) + size**2))
    flow = FlowMap(time, labels + cluster, positions + cluster, densities, cluster)
    moments = radius[:, None] ** np.arange(13) * np.exp(-1j * cluster * np.arange(13))
    return Trajectory(
        problem=PROBLEM,
        time=time,
        cosine=moments.real,
        sine=-moments.imag,
        modes=np.full(time.size, 12),
        observables={},
        minimum=densities.min(axis=1),
        mass_error=0.0,
        outcome=Outcome.UNEXAMINED,
        method="by hand",
        tolerance=None,
        steps=0,
        evaluations=0,
        flow_map=flow,
    )


def drawn(ax, label):
    (line,) = (line for line in ax.lines if line.get_label() == label)
    return np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)


def test_the_tail_is_the_density_beside_its_profile():
    trajectory = kuramoto()
    ax = trajectory.plot_tail(indices=(0, 14, 28))
    for index, label in ((0, "$t = 0$"), (14, "$t = 7$"), (28, "$t = 14$")):
        angle, values = drawn(ax, label)
        r = trajectory.order_parameter()[index]
        exact = (1 - r**2) / (2 * np.pi * ((1 - r) ** 2 + 4 * r * np.sin(0.5 * angle) ** 2))
        # Straight lines of the logarithm between points; at the cluster these are far apart at late times.
        assert values[np.abs(angle) > 0.3] == pytest.approx(exact[np.abs(angle) > 0.3], rel=1e-2)
    angle, profile = drawn(ax, "profile $g$")
    assert profile / profile[-1] == pytest.approx(flight_profile(PROBLEM, angle))
    assert profile[-1] == pytest.approx(values[-1])
    assert sum(line.get_linestyle() == "--" for line in ax.lines) == 1
    assert ax.get_yscale() == "log"
    assert ax.get_xlim() == (-np.pi, np.pi)
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {
        "$t = 0$", "$t = 7$", "$t = 14$", "profile $g$"
    }  # fmt: skip
    assert len(trajectory.plot_tail(profile=False, color="red").lines) == 5
    assert len(trajectory.plot_tail().lines) == 7


def test_paths_are_characteristics_between_both_sides_of_the_separatrix():
    trajectory = kuramoto()
    ax = trajectory.plot_characteristics(paths=20)
    time, separatrix = drawn(ax, "separatrix")
    assert np.array_equal(time, trajectory.flow_map.time)
    assert separatrix == pytest.approx(-np.pi, abs=0.05)
    assert not drawn(ax, "limit point")[1].any()
    paths = [np.asarray(line.get_ydata()) for line in ax.lines if len(line.get_xdata()) == time.size]
    assert 20 <= len(paths) <= 25
    assert all(np.all(np.abs(path) <= np.pi + 0.05) for path in paths)
    # Particles gather: each of the paths but the separatrix comes closer to the cluster all the time.
    assert all(np.all(np.diff(np.abs(path)) <= 1e-12) for path in paths[:-2])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "characteristics", "separatrix", "limit point"
    ]  # fmt: skip


def test_before_the_collapse_there_is_no_cluster():
    trajectory = kuramoto(until=1.0)
    with pytest.raises(InvalidInput, match=r"has not collapsed, its order parameter being 0\.5"):
        trajectory.plot_tail(profile=True)
    ax = trajectory.plot_tail()
    assert ax.get_xlabel() == "angle from the mean at the end"
    assert ax.get_legend().get_texts()[-1].get_text() == "no profile"
    texts = trajectory.plot_tail(profile=False).get_legend().get_texts()
    assert all("profile" not in text.get_text() for text in texts)
    labels = [line.get_label() for line in trajectory.plot_characteristics().lines]
    assert "separatrix" not in labels
    assert "limit point" not in labels


@pytest.mark.parametrize(
    "problem",
    [
        McKeanVlasov(Circle(), Kuramoto(), 0.0, 1.0, CosineSeries((-0.1,))),
        ContinuityEquation(Circle(), PhaseLag(Kuramoto(), 0.3), noise=0.0, coupling=1.0),
    ],
)
def test_a_cluster_that_moves_on_has_no_limit_point(problem):
    trajectory = dataclasses.replace(kuramoto(), problem=problem)
    ax = trajectory.plot_characteristics()
    assert {line.get_label() for line in ax.lines} & {"separatrix", "limit point"} == set()
    assert ax.get_ylabel() == "angle from the mean at the end"
    assert trajectory.plot_tail().get_legend().get_texts()[-1].get_text() == "no profile"


def test_what_cannot_be_drawn_is_refused_in_a_sentence():
    trajectory = kuramoto()
    for name in ("plot_characteristics", "plot_tail"):
        with pytest.raises(InvalidInput, match=r"no characteristics; .* method=Characteristics\(\)"):
            getattr(dataclasses.replace(trajectory, flow_map=None), name)()
    with pytest.raises(InvalidInput, match="29 times and none of number 29"):
        trajectory.plot_tail(indices=(29,))
    with pytest.raises(InvalidInput, match="from 2 to 1000 paths, not 1"):
        trajectory.plot_characteristics(paths=1)


def test_files_hold_pictures_and_flow_maps_that_are_possible(tmp_path):
    trajectory = kuramoto()
    for quantity in ("characteristics", "tail"):
        target = tmp_path / f"{quantity}.png"
        draw_trajectory(trajectory, str(target), quantity)
        assert target.stat().st_size > 10_000
    require_trajectory(trajectory)
    flow = trajectory.flow_map
    for changed, sentence in (
        (dataclasses.replace(flow, densities=np.inf * flow.densities), "density is infinite"),
        (dataclasses.replace(flow, positions=np.nan * flow.positions), "at no angle"),
        (dataclasses.replace(flow, time=flow.time[::-1]), "times do not increase"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            require_trajectory(dataclasses.replace(trajectory, flow_map=changed))


def test_the_density_over_time_is_that_of_the_points():
    trajectory = kuramoto()
    ax = trajectory.plot()
    (mesh,) = ax.collections
    values = np.ma.filled(mesh.get_array(), np.nan)
    angle = np.linspace(-np.pi, np.pi, values.shape[0])
    away = np.abs(np.sin(0.5 * (angle - CLUSTER))) > 0.2
    size = trajectory.order_parameter()
    exact = (1 - size**2) / (
        2 * np.pi * ((1 - size) ** 2 + 4 * size * np.sin(0.5 * (angle[:, None] - CLUSTER)) ** 2)
    )
    assert values[away] == pytest.approx(exact[away], rel=1e-2)
    assert (mesh.norm.vmin, mesh.norm.vmax) == pytest.approx((values.min(), values.max()))
    # At a cluster on a pixel it rises to 1e6 uniform densities, the colours to a thousand.
    (mesh,) = kuramoto(cluster=0.0).plot().collections
    assert mesh.get_array().max() > 10 * mesh.norm.vmax
    assert mesh.norm.vmax == pytest.approx(1e3 / (2 * np.pi))
    assert trajectory.plot(vmin=0.01, vmax=1.0, norm=None).collections[0].norm.vmax == 1.0
