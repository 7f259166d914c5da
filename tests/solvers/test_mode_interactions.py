"""Mode interactions of clustered states: folds and branch points that meet, and lines that end there."""

import functools

import numpy as np
import pytest
import scipy.linalg
from scipy.optimize import brentq

from meanfield import (
    Circle,
    CosineSeries,
    Custom,
    GegenbauerSeries,
    McKeanVlasov,
    Outcome,
    Sphere,
    maier_saupe_transition,
)
from solvers import bifurcation_diagram, curve
from solvers.two_parameters import triple_point
from tests import brute_force

# Places to 1e-11 of their size; eigenvalues beside neutral ones change with the place, and are as well known.
LOCATED, NEUTRAL, REGULAR = 1e-11, 1e-9, 1e-3
# Eigenvalues of matrices of order one are known to a few hundred units of rounding.
ROUNDING = 1e-13
POLAR = McKeanVlasov(Sphere(3), GegenbauerSeries((-0.64, -1.911, -0.182)))


@functools.cache
def diagram_of(problem, *relative):
    return bifurcation_diagram(problem, relative=relative, rates=False)


def start_on(problem, label, kind, relative=(0.6, 1.6), place=0):
    return diagram_of(problem, *relative).events(kind, label)[place]


def interactions(found):
    return [point for point in found.special_points if point.type == "mode interaction" and any(point.cosine[1:])]


def neutral_directions(point, weights):
    """Count directions that are neutral at a state among all densities, those of rotations too, by quadrature."""
    state = point.problem.domain.dimension
    if state == 2:
        space = brute_force.circle(weights, nodes=256)
        cosine, sine = (
            np.pad(part, (0, len(weights) + 1))[1 : len(weights) + 1] for part in (point.cosine, point.sine)
        )
        moments = np.sqrt(2.0) * np.concatenate([cosine[space.degrees[: space.degrees.size // 2] - 1]] * 2)
        moments[space.degrees.size // 2 :] = np.sqrt(2.0) * sine[space.degrees[: space.degrees.size // 2] - 1]
    else:
        space = brute_force.sphere(weights, nodes=48)
        own = np.pad(point.cosine, (0, len(weights) + 1))
        zonal = np.flatnonzero(np.abs(space.values[:, 0] - space.values[:, 1]) < 1e-14)
        moments = np.zeros(space.degrees.size)
        moments[zonal] = own[space.degrees[zonal]] * np.sqrt(2 * space.degrees[zonal] + 1)
    masses = brute_force.gibbs(space, point.coupling, 1.0, moments[None])[0]
    means = space.values @ masses
    assert np.abs(means - moments).max() <= NEUTRAL
    covariance = (space.values * masses) @ space.values.T - np.multiply.outer(means, means)
    matrix = np.eye(means.size) + point.coupling * covariance * space.multipliers
    sizes = np.sort(np.abs(np.linalg.eigvals(matrix)))
    count = int((sizes <= NEUTRAL).sum())
    assert sizes[count] > REGULAR
    return count


def weights_at(point, weights):
    return (float(point.values[0]), *weights[1:])


def two_cluster_fold():
    """The second moment and the coupling of the fold of -cos 2t - 0.9 cos 4t, on the circle by quadrature."""
    angles = 2.0 * np.pi * np.arange(128) / 128
    waves = np.cos(np.multiply.outer([1, 2], angles))

    def state(first):
        def missed(second):
            masses = np.exp(first * waves[0] + second * waves[1])
            one, other = waves @ (masses / masses.sum())
            return first * 0.9 * other - second * one

        second = brentq(missed, 0.1, 3.0, xtol=1e-15, rtol=1e-15)
        masses = np.exp(first * waves[0] + second * waves[1])
        masses /= masses.sum()
        means = waves @ masses
        covariance = (waves * masses) @ waves.T - np.multiply.outer(means, means)
        coupling = first / means[0]
        return means[0], coupling, np.linalg.det(np.eye(2) - coupling * covariance * [1.0, 0.9])

    first = brentq(lambda first: state(first)[2], 0.4, 2.0, xtol=1e-15, rtol=1e-15)
    return state(first)[:2]


def test_two_clusters_become_one_cluster_at_their_fold():
    """The odd modes are cos t and sin t alone: 1 = |w_1| kappa (1 +- m_2)/2, at the fold of the even ones."""
    moment, coupling = two_cluster_fold()
    # The known fold of -cos t - 0.9 cos 2t, to 18 digits.
    assert coupling == pytest.approx(1.79512307814656917, rel=LOCATED)
    expected = sorted(-2.0 / (coupling * (1.0 + side * moment)) for side in (-1.0, 1.0))
    problem = McKeanVlasov(Circle(), CosineSeries((-0.6, -1.0, 0.0, -0.9)))
    folds = curve(start_on(problem, "2-cluster", "fold"), "w1", (-4.0, -0.3))
    points = interactions(folds)
    assert [point.status for point in points] == ["converged"] * len(points)
    assert [point.values[0] for point in points] == pytest.approx(expected, rel=LOCATED)
    assert [point.values[1] for point in points] == pytest.approx([coupling] * 2, rel=LOCATED)
    births = curve(start_on(problem, "2-cluster", "branch point"), "w1", (-4.0, -0.3))
    (meeting,) = interactions(births)
    assert min(abs(meeting.values[0] / value - 1.0) for value in expected) <= LOCATED
    assert meeting.values[1] == pytest.approx(coupling, rel=LOCATED)
    # Rotation, the fold, and one of the directions of one cluster.
    assert neutral_directions(meeting, weights_at(meeting, (0, -1.0, 0.0, -0.9))) == 3
    again = curve(meeting, "w1", (-4.0, -0.3))
    assert again.type == "branch point"


def test_prolate_states_become_polar_at_their_fold_and_the_line_between_both_ends_there():
    weights = (-0.64, -1.911, -0.182)
    folds = curve(start_on(POLAR, "prolate", "fold"), "w1", (-0.93, -0.186))
    births = curve(start_on(POLAR, "prolate", "branch point"), "w1", (-0.93, -0.186))
    (one,), (other,) = interactions(folds), interactions(births)
    assert one.values == pytest.approx(other.values, rel=LOCATED)
    assert (one.status, other.status) == ("converged", "converged")
    # Two rotations, the fold, and the direction along the axis.
    assert neutral_directions(one, weights_at(one, weights)) == 4
    (tricritical,) = [point for point in births.special_points if point.type == "tricritical"]
    line = curve(tricritical, "w1", (-0.93, -0.186), type="transition")
    assert (line.first_outcome, line.outcome) == (Outcome.JOINED_BRANCH, Outcome.JOINED_BRANCH)
    assert line.warnings == ()
    ends = sorted((point.values for point in line.special_points if point.type == "end point"), key=lambda v: v[0])
    assert ends[0] == pytest.approx(one.values, rel=LOCATED)
    assert ends[1] == pytest.approx(tricritical.values, rel=LOCATED)


def test_two_classes_of_directions_are_neutral_together():
    """Curves of branch points of one branch cross, in an order and across the equator."""
    weights = (-0.4, -1.0, 0.2, -0.8)
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(weights))
    curves = [
        curve(start, "w1", (-0.5, -0.3)) for start in diagram_of(problem, 0.6, 1.6).events("branch point", "oblate")
    ]
    points = [point for found in curves for point in interactions(found)]
    assert len(points) == 2
    assert points[0].values == pytest.approx(points[1].values, rel=LOCATED)
    # Two rotations, and twice two of an azimuthal order.
    assert neutral_directions(points[0], weights_at(points[0], weights)) == 6


def test_a_line_ends_at_the_nearest_place_where_its_state_is_born():
    """Prolate states become polar at two places of the line on which they are as low as the uniform state."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-0.3205, -0.226, 0.146)))
    line = curve(start_on(problem, "zonal 1", "transition"), "w1", (-0.557, -0.084))
    (end,) = [point for point in line.special_points if point.type == "end point"]
    assert line.warnings == ()
    assert end.values[1] == pytest.approx(2.0 / 3.0 * maier_saupe_transition(3).ratio / 0.226, rel=LOCATED)
    assert abs(end.values[0] - line.first[-2]) <= 1e-3


def test_a_line_leaves_a_triple_point_of_states_without_an_axis():
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-0.5029, -0.477, -2.144)))
    starts = [start_on(problem, label, "transition") for label in ("D_3h 3", "C_2v from zonal 3")]
    lines = [curve(start, "w1", (-0.6, -0.4)) for start in starts]
    # Of the sheets of the second line one crosses the first where the two states are different.
    near = np.array([-0.503, 3.25783])
    places = [np.flatnonzero(np.abs(line.first + 0.503) <= 0.01).tolist() for line in lines]
    points = [
        triple_point(
            lines[0].point(places[0][0]), lines[1].point(place), (-0.6, -0.4), ("one", "other"), tuple(near)
        )
        for place in places[1]
    ]
    point = next(found for found in points if found is not None)
    assert (point.type, point.status, point.layout) == ("triple point", "converged", "order")
    assert point.values == pytest.approx(near, rel=1e-3)
    third = curve(point, "w1", (-0.6, -0.4), between=(0, 1))
    place = int(np.argmin(np.abs(third.first - point.values[0])))
    one, other = third.state(place), third.state(place, other=True)
    assert (one.free_energy_gap, other.free_energy_gap) == pytest.approx((0.0, 0.0), abs=1e-14)
    assert abs(one.order_parameter(3) - other.order_parameter(3)) > 0.1


def test_folds_without_an_axis_end_where_their_states_are_born():
    """Beyond it Newton's method finds their images, turned by an eighth, and the same curve backwards."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-0.424, -1.486, -1.637)))
    folds = curve(start_on(problem, "D_2d from oblate", "fold"), "w2", (-1.592, -1.2))
    births = [
        curve(start, "w2", (-1.592, -1.2))
        for start in diagram_of(problem, 0.6, 1.6).events("branch point", "oblate")
        if "order 2" in start.description
    ]
    (tricritical,) = [point for point in births[0].special_points if point.type == "tricritical"]
    assert (folds.outcome, folds.first_outcome) == (Outcome.JOINED_BRANCH, Outcome.LEFT_INTERVAL)
    (end,) = folds.special_points
    assert (folds.warnings, end.type, end.layout) == ((), "tricritical", "order")
    assert end.values == pytest.approx(tricritical.values, rel=LOCATED)
    again = curve(tricritical, "w2", (-1.592, -1.2), type="fold")
    assert again.coupling[0] == pytest.approx(folds.coupling[0], rel=LOCATED)


def test_a_curve_that_stops_beside_the_uniform_state_has_joined_it():
    """There its states are so small that rounding decides between them, and the end is known in closed form."""
    coefficients = ("(-0.571 + 0.15*a + 0.545*a**2)", "(-0.947 + 0.264*a + 0.19*a**2)")
    coefficients += ("(-1.003 - 0.572*a - 0.081*a**2)", "(-0.953 - 0.535*a - 0.527*a**2)")
    formula = " + ".join(f"{each}*cos({degree}*t)" for degree, each in enumerate(coefficients, start=1))
    problem = McKeanVlasov(Circle(), Custom.from_expression(formula, a=0.0))
    diagram = bifurcation_diagram(problem, (1.9, 2.1), rates=False)
    start = next(point for point in diagram.events("fold") if abs(point.coupling - 2.01041924) < 1e-6)
    found = curve(start, "a", (-0.68, 0.603))
    assert (found.first_outcome, found.outcome, found.warnings) == (
        Outcome.JOINED_BRANCH,
        Outcome.JOINED_BRANCH,
        (),
    )
    # Modes one and three, and two and three, are critical together.
    for end in found.special_points:
        values = [abs(eval(each, {"a": end.values[0]})) for each in coefficients]
        assert min(abs(values[2] - other) for other in values[:2] + values[3:]) < 1e-10


def test_modes_that_become_critical_at_one_point_are_told_each():
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.8, -0.8)))
    start = bifurcation_diagram(problem, (1.8, 2.2), rates=False).events("branch point", "uniform")[0]
    found = curve(start, "w1", (-1.2, -0.6))
    curves = [point.curves for point in found.special_points if point.type == "mode interaction"]
    assert curves == [("threshold of mode 1", f"threshold of mode {mode}") for mode in (2, 3)]


def test_a_line_ends_at_the_uniform_state_where_a_step_goes_on_beyond_the_interval():
    """Behind the interaction of degrees 3 and 4 states of other signs of degree 4 go on."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.946, 1.27, -4.088, -4.19)))
    start = next(
        point
        for point in bifurcation_diagram(problem, (1.6, 2.2), rates=False).events(
            "transition", "D_2d from zonal 4+"
        )
        if point.coupling > 2.0
    )
    found = curve(start, "w4", (-5.3669, -4.0))
    assert [point.type for point in found.special_points] == ["mode interaction"]
    assert found.values[0] == pytest.approx([-4.088 * 9.0 / 7.0, 7.0 / 4.088], rel=LOCATED)
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("weights", "kind", "label", "coupling", "name"),
    [
        ((-0.676, 0.494, -1.051, -0.832), "fold", "1-cluster (2) from 3-cluster", 2.01040939606, "w3"),
        ((-0.782, 0.301, -0.934, -0.89), "fold", "1-cluster from 3-cluster", 2.15061351722, "w2"),
        ((-1.496, -1.394, -1.426), "branch point", "2-cluster", 1.43537175154, "w3"),
    ],
)
def test_unstable_directions_of_small_eigenvalues_beside_an_interaction_are_counted(
    weights, kind, label, coupling, name
):
    """There the eigenvalues of some directions go with a high power of the amplitude."""
    events = diagram_of(McKeanVlasov(Circle(), CosineSeries(weights)), 0.5, 2.5).events(kind, label)
    start = min(events, key=lambda event: abs(event.coupling - coupling))
    value = dict(start.problem.parameters)[name]
    found = curve(start, name, (value - 0.4, value + 0.4))
    place, small = int(name[1:]) - 1, 0
    for first, ratio, cosine, sine, count in zip(
        found.values[:, 0], found.coupling, found.cosine, found.sine, found.unstable, strict=True
    ):
        changed = np.array(weights)
        changed[place] = first
        values = np.sort(stability_eigenvalues(changed, ratio, cosine, sine))
        # The neutral one along the curve and rotation are rounding.
        if np.count_nonzero(np.abs(values) < ROUNDING) == 2:
            assert count == np.count_nonzero(values < -ROUNDING)
            small += np.any((values < -ROUNDING) & (values > -NEUTRAL))
    assert small


def stability_eigenvalues(weights, coupling, cosine, sine, nodes=1024):
    """Return the eigenvalues of the second variation of the free energy over D = 1 at a state, by quadrature."""
    degrees = np.arange(1, weights.size + 1)
    angles = 2.0 * np.pi * np.arange(nodes) / nodes
    waves = np.concatenate([np.cos(np.outer(degrees, angles)), np.sin(np.outer(degrees, angles))])
    moments = np.zeros((2, weights.size))
    size = min(weights.size + 1, cosine.size)
    moments[:, : size - 1] = cosine[1:size], sine[1:size]
    density = np.exp(-coupling * (np.tile(weights, 2) * moments.ravel()) @ waves)
    density /= density.sum()
    waves = waves - (waves @ density)[:, None]
    root = scipy.linalg.sqrtm((waves * density) @ waves.T).real
    return np.linalg.eigvalsh(np.eye(2 * weights.size) + coupling * root @ np.diag(np.tile(weights, 2)) @ root)
