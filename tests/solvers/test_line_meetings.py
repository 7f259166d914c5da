"""First-order lines that meet others in end points, where a state becomes unstable and another is born."""

import dataclasses

import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    Custom,
    External,
    GegenbauerSeries,
    InvalidInput,
    McKeanVlasov,
    Outcome,
    Sphere,
    Transformer,
)
from solvers import bifurcation_diagram, curve, phase_diagram
from tests import brute_force

# Relative accuracy promised for points on curves.
POINT = 1e-11


def on_circle(*weights):
    return McKeanVlasov(Circle(), CosineSeries(weights))


def lowest(problem, coupling):
    """Return the gaps of the stable states of brute force, and the greatest common divisors of their degrees."""
    space = brute_force.circle(problem.potential.parameters()["w"])
    found = [s for s in brute_force.stationary_states(space, coupling, starts=256) if s.unstable == 0]
    degrees = np.unique(space.degrees)
    return [(state.gap, int(np.gcd.reduce([0, *degrees[state.powers > 1e-6]]))) for state in found]


@pytest.mark.parametrize(
    ("weights", "over", "interval", "window", "symmetries", "value"),
    [
        ((-1.0, -0.9), "w2", (-1.3, -0.5), (1.2, 3.0), (2, 1), -1.29),
        ((-0.61, -0.46, -0.68), "w3", (-0.87, 0.027), (1 / 0.68, 3.4 / 0.68), (3, 1), -0.86),
        ((-0.79, -0.32, -0.23, -0.48), "w4", (-1.181, -0.036), (1 / 0.79, 3.4 / 0.79), (1, 1), -0.5),
    ],
    ids=["two clusters", "three clusters", "one cluster, born"],
)
def test_a_line_goes_on_with_the_state_born_where_it_meets_a_threshold(
    weights, over, interval, window, symmetries, value
):
    """On both sides of the line the two lowest states of brute force exchange."""
    problem = on_circle(*weights)
    found = phase_diagram(problem, (over, interval), coupling=window, examine=False)
    (line,) = [
        each
        for each in found.curves
        if each.type == "transition"
        and each.other_cosine is not None
        and each.first.min() <= value <= each.first.max()
        and not np.any(each.unstable)
    ]
    assert {line.symmetry, line.other_symmetry} == set(symmetries)
    there = curve(line.point(len(line) // 2), over, tuple(sorted((value, float(line.first[len(line) // 2])))))
    coupling = float(there.coupling[np.argmin(np.abs(there.first - value))])
    own = problem.with_parameter(over, value)
    below, above = (lowest(own, coupling * (1.0 + side * 1e-6)) for side in (-1, 1))
    assert len(below) == len(above) == 2
    assert {below[0][1], above[0][1]} == set(symmetries)
    for states in (below, above):
        assert abs(states[0][0] - states[1][0]) <= 1e-5
    if symmetries[0] != symmetries[1]:
        assert below[0][1] == symmetries[0]
        region = found.region_at(value, coupling * (1.0 - 1e-4))
        assert region.minimiser == f"{symmetries[0]}-cluster"


def test_a_line_that_begins_at_an_end_point_ends_in_the_cusp_of_its_states():
    problem = on_circle(-0.79, -0.32, -0.23, -0.48)
    diagram = bifurcation_diagram(problem, (2.4, 2.7), rates=False)
    start = next(e for e in diagram.events("transition") if diagram.branches[e.branch].symmetry == 1)
    line = curve(start, "w4", (-0.6, -0.4))
    (end,) = [point for point in line.special_points if point.type == "end point"]
    born = curve(end, "w4", (-0.6, -0.4), born=True)
    assert {born.outcome, born.first_outcome} == {Outcome.JOINED_BRANCH}
    first, last = sorted((point.values for point in born.special_points), key=lambda place: place[0])
    assert np.abs(first / end.values - 1.0).max() <= POINT
    folds = curve(diagram.events("fold")[0], "w4", (-0.6, -0.4))
    (cusp,) = [point for point in folds.special_points if point.type == "cusp"]
    assert np.abs(last / cusp.values - 1.0).max() <= 1e-9


@pytest.mark.parametrize(
    ("weights", "interval"),
    [
        ((-1.0, -0.4, -0.6), (1.9, 2.2)),
        ((-1.0, -0.4, -0.65), (1.9, 2.2)),
        ((-0.79, -0.32, -0.23, -0.46), (2.5, 2.7)),
    ],
)
def test_the_lowest_state_may_change_to_another_of_its_branch(weights, interval):
    """Beside the transition the lowest states of brute force are the two of the event."""
    diagram = bifurcation_diagram(on_circle(*weights), interval, rates=False)
    (event,) = [each for each in diagram.events("transition") if "another state of 1-cluster" in each.description]
    space = brute_force.circle(weights)
    moments = (event.other_cosine, event.other_sine), (event.cosine, event.sine)
    for side, (cosine, sine) in zip((-1, 1), moments, strict=True):
        states = brute_force.stationary_states(space, float(event.coupling) * (1.0 + side * 1e-6), starts=256)
        first = min(states, key=lambda state: state.gap)
        # Brute force has modes of unit mean square.
        assert abs(first.powers[0] / np.sqrt(2.0) - np.hypot(cosine[1], sine[1])) <= 1e-3


def test_on_a_sphere_the_state_born_has_the_critical_degree():
    """The line of the prolate state meets the threshold of degree 3, of which degree 2 is no multiple."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, -1.0, -1.5)))
    diagram = bifurcation_diagram(problem, (4.0, 5.2), rates=False, depth=1)
    line = curve(diagram.events("transition", "prolate")[0], "w3", (-1.7, -1.4))
    (end,) = [point for point in line.special_points if point.type == "end point"]
    assert abs(end.values[0] * end.coupling + 7.0) <= 7.0 * POINT
    born = curve(end, "w3", (-1.7, -1.4), born=True)
    assert born.point_labels[0] == "end point"
    row = 1
    moments = np.abs(born.other_cosine[row])
    assert moments[3] > 10 * max(moments[1:3])
    assert abs(born.state(row).free_energy_gap - born.state(row, other=True).free_energy_gap) <= 1e-14


def test_only_end_points_have_such_lines():
    diagram = bifurcation_diagram(on_circle(-1.0, -0.9), (1.2, 3.0), rates=False)
    with pytest.raises(InvalidInput, match="born chooses a line that begins at an end point"):
        curve(diagram.events("fold")[0], "w2", (-1.2, -0.8), born=True)


def test_a_curve_ends_at_the_end_of_an_interval_of_the_coupling():
    """There the coordinates leave several roundings of the coupling."""
    start = bifurcation_diagram(McKeanVlasov(Circle(), Transformer(5.0)), relative=(0.8, 1.2), rates=False).events(
        "fold"
    )[0]
    over_beta = curve(start, "beta", (2.0, 10.0))
    for last in (0.9, 0.97, 1.0, 1.01):
        found = curve(start, "coupling", (0.05, last), against="beta")
        assert not found.warnings
        assert found.first[-1] == last
        place = curve(over_beta.point(5), "beta", (float(found.second[-1]), float(over_beta.first[5]))).coupling
        assert np.abs(place / last - 1.0).min() <= POINT


def test_a_curve_that_begins_beside_the_end_of_its_interval_is_inside():
    problem = on_circle(-0.73, -0.65, 0.09, -1.06)
    found = phase_diagram(problem, ("w2", (-0.657, -0.6)), relative=(0.6, 1.5), examine=False)
    assert [line.label for line in found.curves if line.type == "fold" and line.symmetry == 2]
    for line in found.curves:
        assert line.first.min() >= -0.657
        assert np.ptp(line.first) > 0.0


def fold_of(problem):
    return bifurcation_diagram(problem, relative=(0.8, 1.2), rates=False).events("fold")[0]


@pytest.mark.parametrize(
    "call",
    [
        lambda problem, interval: phase_diagram(problem, ("beta", interval)),
        lambda problem, interval: bifurcation_diagram(problem.at(coupling=0.2), interval, parameter="beta"),
        lambda problem, interval: curve(fold_of(problem), "beta", interval),
    ],
    ids=["phase diagram", "diagram", "curve"],
)
def test_intervals_as_narrow_as_rounding_are_refused(call):
    with pytest.raises(InvalidInput, match="a few roundings wide"):
        call(McKeanVlasov(Circle(), Transformer(5.0)), (5.0, 5.0 + 1e-14))


def test_where_the_clustered_state_becomes_unstable_the_line_of_the_one_born_there_begins():
    problem = on_circle(-0.6, -1.0, 0.0, -0.8)
    (start,) = bifurcation_diagram(problem, (1.0, 2.6), rates=False, depth=1).events("transition", "2-cluster")
    line = curve(start, "w1", (-1.0, -0.3))
    (end,) = [point for point in line.special_points if point.type == "end point"]
    found = curve(end, "w1", (-1.0, -0.3), born=True)
    assert (found.label, found.warnings) == ("transition uniform | 1-cluster", ())
    events = bifurcation_diagram(on_circle(-1.0, -1.0, 0.0, -0.8), (1.2, 2.0), rates=False, depth=2)
    distances = [abs(event.coupling / found.coupling[0] - 1.0) for event in events.events("transition")]
    assert min(distances) <= POINT


@pytest.mark.parametrize("kind", ["fold", "transition", "branch point"])
@pytest.mark.parametrize("share", [0.05, 1e-4])
def test_an_interval_of_the_coupling_may_begin_and_end_at_the_start(kind, share):
    problem = McKeanVlasov(Circle(), Transformer(5.0))
    start = bifurcation_diagram(problem, relative=(0.8, 1.2), rates=False).events(kind)[0]
    for ends in ((1.0, 1.0 + share), (1.0 - share, 1.0)):
        interval = tuple(float(start.coupling) * end for end in ends)
        found = curve(start, "coupling", interval, against="beta")
        assert sorted(found.first[[0, -1]].tolist()) == pytest.approx(interval, rel=1e-14)
        assert not found.warnings


def test_an_organising_point_at_which_a_curve_starts_is_labelled():
    problem = on_circle(-0.79, -0.32, -0.23, -0.48)
    start = bifurcation_diagram(problem, (2.4, 2.7), rates=False).events("fold")[0]
    (cusp,) = curve(start, "w4", (-0.6, -0.4)).special_points
    again = curve(cusp, "w4", (-0.6, -0.4))
    assert [label for label in again.point_labels if label] == ["EP", "cusp", "EP"]
    assert [point.type for point in again.special_points] == ["cusp"]


@pytest.mark.parametrize("kind", ["fold", "transition"])
def test_a_curve_on_the_other_side_of_its_start_is_refused(kind):
    start = bifurcation_diagram(on_circle(-1.0, -0.7), relative=(0.8, 1.2), rates=False).events("fold")[0]
    (tricritical,) = curve(start, "w2", (-0.8, -0.4)).special_points
    with pytest.raises(
        InvalidInput, match=r"in the interval \[-0.5, -0.3\] of w2: beside the start it has w2 = -0.50"
    ):
        curve(tricritical, "w2", (-0.5, -0.3), type=kind)


@pytest.mark.parametrize("formula", ["h*(cos(3*t)+0.4*sin(6*t))", "h*(cos(3*t)+0.4*cos(6*t))"])
def test_a_line_is_the_same_for_every_image_of_its_second_state(formula):
    field = External.from_expression(formula, h=0.05)
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.4, -0.6)), confinement=field)
    fold = bifurcation_diagram(problem, (1.8, 2.2), rates=False).events("fold")[1]
    (cusp,) = curve(fold, "w2", (-0.7, -0.2)).special_points
    line = curve(cusp, "w2", (-0.7, -0.2), type="transition")
    start = line.point(len(line) // 2)
    moments = start.other_cosine - 1j * start.other_sine
    for turn in (0.0, 2.0 * np.pi / 3.0, -2.0 * np.pi / 3.0):
        turned = moments * np.exp(-1j * turn * np.arange(moments.size))
        image = dataclasses.replace(start, other_cosine=turned.real, other_sine=-turned.imag)
        found = curve(image, "w2", (-0.7, -0.2))
        assert {found.outcome, found.first_outcome} == {Outcome.LEFT_INTERVAL, Outcome.JOINED_BRANCH}
        assert np.all(np.diff(found.first) > 0.0)


def test_where_newton_fails_at_an_organising_point_it_is_located_by_points_beside_it():
    """A state of the line passes another one, where the system of the line is singular."""
    field = External.from_expression("h*(cos(3*t)+0.4*cos(6*t))", h=0.05)
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.4, -0.6)), confinement=field)
    fold = bifurcation_diagram(problem, (1.8, 2.2), rates=False).events("fold")[1]
    (cusp,) = curve(fold, "w2", (-0.7, -0.2)).special_points
    line = curve(cusp, "w2", (-0.7, -0.2), type="transition")
    again = curve(line.point(len(line) // 2), "w2", (-0.7, -0.2))
    first, second = (
        min((p for p in each.special_points if p.type == "end point"), key=lambda p: abs(p.values[0] + 0.53))
        for each in (line, again)
    )
    assert max(point.upper - point.lower for point in (first, second)) <= 1e-9
    # Found from two starts, both intervals hold the one point.
    assert max(first.lower, second.lower) < min(first.upper, second.upper)
    # Its states are the density that the potential does not act on, in either place, and one that is critical there.
    for point in (first, second):
        assert min(np.abs(point.cosine[1]), np.abs(point.other_cosine[..., 1]).min()) <= 1e-10
        assert point.lower <= point.values[0] <= point.upper


def test_unstable_directions_along_branch_points_off_an_axis_are_those_of_quadrature():
    """The rotation itself is neutral there, and the torque of the confinement on it a rounding error."""
    field = External.from_expression("-0.12*cos(2*t) + 0.09*cos(4*t)")
    problem = McKeanVlasov(Circle(), CosineSeries((-0.47, -1.0)), confinement=field)
    events = bifurcation_diagram(problem, (1.0, 3.2), rates=False).events("branch point")
    start = min(events, key=lambda event: abs(event.coupling - 2.39586))
    found = curve(start, "w1", (-0.77, -0.17))
    assert [point.type for point in found.special_points] == ["mode interaction"]
    for row in range(len(found)):
        if found.point_labels[row] in ("", "EP"):
            space = brute_force.circle((found.first[row], -1.0), (0.0, -0.12, 0.0, 0.09), nodes=512)
            state = brute_force.on_circle(space, float(found.coupling[row]), found.cosine[row], found.sine[row])
            assert state.unstable <= found.unstable[row] <= state.unstable + state.neutral - 1


def test_a_line_ends_at_a_threshold_at_which_the_uniform_state_is_unstable_already():
    """Four clusters vanish there while others, of the uniform state's free energy, are far from it."""
    coefficients = ("0.039 + 0.192*a + 0.489*a**2", "-0.163 + 0.442*a + 0.29*a**2", "-0.337 + 0.289*a - 0.577*a**2")
    coefficients += ("-0.552 - 0.397*a + 0.539*a**2", "-0.41 - 0.318*a - 0.062*a**2")
    formula = " + ".join(f"({each})*cos({degree}*t)" for degree, each in enumerate(coefficients, start=1))
    problem = McKeanVlasov(Circle(), Custom.from_expression(formula, a=-0.22))
    diagram = bifurcation_diagram(problem, relative=(0.9, 1.2), rates=False)
    for start in diagram.events("branch point", "4-cluster"):
        along = curve(start, "a", (-0.3, -0.18))
        (turning,) = (point for point in along.special_points if point.type == "tricritical")
        line = curve(turning, "a", (-0.384, 0.174), type="transition")
        assert not line.warnings
        end = min(line.special_points, key=lambda point: point.values[0])
        assert (end.type, end.status) == ("end point", "converged")
        a, coupling = map(float, end.values)
        assert coupling == pytest.approx(-2.0 / eval(coefficients[3], {"a": a}), rel=1e-11)
        place = int(np.argmin(np.abs(line.first - a)))
        gaps = [float(line.state(place, other=other).free_energy_gap) for other in (False, True)]
        assert max(map(abs, gaps)) <= 1e-12
        sizes = sorted(np.abs(line.state(place, other=other).cosine[1:]).max() for other in (False, True))
        assert sizes[0] <= 1e-9 < 0.05 <= sizes[1]


def test_a_line_ends_on_that_of_two_clusters_beside_a_critical_mode():
    """There the uniform state has lines with end points as well, which are other ones."""
    diagram = phase_diagram(on_circle(-0.6, -1.0, -0.92), ("w2", (-1.0, -0.8)), examine=False)
    lines = {each.label: each for each in diagram.curves if each.type == "transition"}
    passing, ending = lines["transition 2-cluster | 1-cluster"], lines["transition 1-cluster | 1-cluster"]
    assert not ending.warnings
    end = min(ending.special_points, key=lambda point: point.values[0])
    assert end.type == "end point"
    assert end.values[0] == pytest.approx(min(ending.first), rel=1e-12)
    (same,) = [point for point in passing.special_points if abs(point.values[0] - end.values[0]) < 1e-3]
    np.testing.assert_allclose(end.values, same.values, rtol=1e-11)
