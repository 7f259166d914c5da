"""First-order lines and thresholds in two parameters, against diagrams at single values and closed forms."""

import dataclasses
import functools

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from meanfield import (
    Circle,
    CosineSeries,
    External,
    HegselmannKrause,
    InvalidInput,
    KellerSegel,
    Kuramoto,
    McKeanVlasov,
    Onsager,
    Outcome,
    Transformer,
    critical_couplings,
    free_energy_parts,
    tricritical_beta,
)
from meanfield.equations import Interaction
from solvers import Arclength, bifurcation_diagram, curve

EPS = float(np.finfo(float).eps)
RANDOM = np.random.default_rng(5)
TILTED = McKeanVlasov(Circle(), Transformer(6.0), confinement=CosineSeries((0.02,)))


@functools.cache
def diagram_of(potential, relative=(0.6, 1.3), depth=1):
    return bifurcation_diagram(McKeanVlasov(Circle(), potential), relative=relative, rates=False, depth=depth)


@functools.cache
def attention():
    return curve(diagram_of(Transformer(5.0)).events("transition")[0], "beta", (2.0, 20.0))


@functools.cache
def between_clusters():
    """The line on which the 1-cluster takes over from the 3-cluster."""
    start = diagram_of(CosineSeries((-0.8, 0.0, -1.0)), (0.8, 3.0), 2).events("transition")[0]
    return curve(start, "w1", (-1.2, -0.2))


@functools.cache
def turning_line():
    """A point of a line that turns in w4, and where it does."""
    problem = McKeanVlasov(Circle(), CosineSeries((-1.122, 0.503, -0.862, -0.86)))
    start = bifurcation_diagram(problem, (1.7, 1.9), rates=False).events("transition")[0]
    fine = curve(start, "w4", (-1.5, -0.5), method=Arclength(max_step=0.004))
    cubic = CubicHermiteSpline(fine.arclength, fine.first, fine.tangent[:, 0])
    return start, float(cubic(cubic.derivative().roots(extrapolate=False)).min())


@functools.cache
def cusp_in_a_field():
    fold = bifurcation_diagram(TILTED, (0.0, 0.12), rates=False, depth=1).events("fold")[0]
    # Where the field vanishes two folds merge too: at an end of the interval rounding would tell.
    found = curve(fold, "confinement_w1", (0.01, 0.9))
    return found, curve(found.special_points[0], "confinement_w1", (0.0, 0.9), type="transition")


def test_the_line_begins_at_the_tricritical_point():
    found = attention()
    (point,) = found.special_points
    assert (point.type, point.status) == ("tricritical", "converged")
    assert point.values[0] == pytest.approx(tricritical_beta(1), rel=1e-12)
    assert (found.label, found.other_symmetry) == ("transition uniform | 1-cluster", 0)
    assert np.abs(found.free_energy_gap).max() <= 4e-15
    assert not found.warnings


@pytest.mark.parametrize("beta", [2.5, *RANDOM.uniform(2.6, 20, 4)])
def test_transitions_are_those_of_diagrams(beta):
    start = diagram_of(Transformer(5.0)).events("transition")[0]
    found = curve(start, "beta", (beta if beta < 5 else 4.0, beta if beta > 5 else 6.0))
    place = 0 if beta < 5 else -1
    assert found.first[place] == beta
    (transition,) = diagram_of(Transformer(float(beta)), (0.5, 1.05)).events("transition", "1-cluster")
    assert found.coupling[place] == pytest.approx(transition.coupling, rel=1e-11)


@pytest.mark.parametrize("line", [attention, between_clusters], ids=["uniform", "clusters"])
def test_slopes_are_those_of_clausius_and_clapeyron(line):
    found = line()
    name = found.parameters[0]
    for point in (6, 10, -2):
        one, other = found.cosine[point], np.zeros(1) if found.other_symmetry == 0 else found.other_cosine[point]
        degree = one.size - 1
        squares = one[1:] ** 2
        squares[: other.size - 1] -= other[1:] ** 2
        interaction = Interaction(found.state(point).problem)
        along = [interaction.strength_derivatives(each, degree)[1:] @ squares for each in (name, "coupling")]
        assert found.slope[point] == pytest.approx(-along[0] / along[1], rel=1e-9)


def test_both_states_of_a_line_have_one_free_energy():
    found = between_clusters()
    assert {found.symmetry, found.other_symmetry} == {1, 3}
    for point in (5, -4):
        one, other = found.state(point), found.state(point, other=True)
        energies = [free_energy_parts(one.problem, state.cosine).total for state in (one, other)]
        assert energies[0] == pytest.approx(energies[1], abs=1e-13)
        assert found.free_energy_gap[point] < -1e-3


def test_distances_from_the_threshold_are_as_three_to_four():
    """Near the tricritical point 1 - kappa_T/kappa_1 over 1 - kappa_f/kappa_1 tends to 3/4, linearly in beta."""
    beta = tricritical_beta(1)
    (point,) = attention().special_points
    ratios = []
    for distance in (0.02, 0.01):
        interval = (beta - 0.1, beta + distance)
        fold, line = (curve(point, "beta", interval, type=kind) for kind in ("fold", "transition"))
        ratios.append((1 - line.relative_coupling[-1]) / (1 - fold.relative_coupling[-1]))
    assert 2 * ratios[1] - ratios[0] == pytest.approx(0.75, abs=1e-5)
    assert abs(ratios[1] - 0.75) < 0.6 * abs(ratios[0] - 0.75)


def test_curves_from_an_organising_point_are_those_from_diagrams():
    (point,) = attention().special_points
    again = curve(point, "beta", (2.4, 20.0), type="transition")
    assert again.coupling[[0, -1]] == pytest.approx(attention().coupling[[0, -1]], rel=1e-11)
    threshold = curve(point, "beta", (2.0, 8.0))
    assert threshold.type == "threshold"


def test_a_line_in_a_field_ends_where_its_states_merge():
    folds, line = cusp_in_a_field()
    (cusp,), (end,) = folds.special_points, line.special_points
    assert (cusp.type, end.type) == ("cusp", "end point")
    assert end.values == pytest.approx(cusp.values, rel=1e-11)
    assert line.cosine[-1].tolist() == line.other_cosine[-1].tolist()
    # Without the field it is the transition of the equation without one.
    (plain,) = diagram_of(Transformer(6.0)).events("transition")
    assert (line.first[0], line.second[0]) == (0.0, pytest.approx(plain.coupling, rel=1e-11))


@functools.cache
def folds_in_a_field():
    """The folds of noisy Kuramoto in a field, over the field: it turns in itself where the field vanishes."""
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0,)), confinement=CosineSeries((-0.05,)))
    return bifurcation_diagram(problem, (0.5, 4.0), rates=False, depth=1).events("fold")


def test_the_interval_of_a_cusp_at_zero_contains_it():
    (start, *_) = folds_in_a_field()
    found = curve(start, "confinement_w1", (-0.3, 0.3))
    (cusp,) = found.special_points
    # By the symmetry of the field and the rotation of its axis it is where the field vanishes.
    assert cusp.type == "cusp"
    assert cusp.lower < 0.0 < cusp.upper
    assert cusp.status == "converged"
    assert cusp.upper - cusp.lower <= 1e-11
    assert found.cosine[0, 1] * found.cosine[-1, 1] < 0.0


def test_thresholds_are_closed_forms():
    points = diagram_of(Transformer(5.0), (0.8, 3.0)).events("branch point", "uniform")
    for start in points[:2]:
        found = curve(start, "beta", (2.0, 20.0))
        mode = int(found.label.split()[-1])
        for place in range(0, len(found), 5):
            problem = found.state(place).problem
            assert found.coupling[place] == pytest.approx(critical_couplings(problem, mode)[mode], rel=1e-12)
            slopes = [Interaction(problem).strength_derivatives(name, mode)[mode] for name in found.parameters]
            assert found.slope[place] == pytest.approx(-slopes[0] / slopes[1], rel=1e-11)
        (point,) = found.special_points
        assert (point.type, point.values[0]) == ("tricritical", pytest.approx(tricritical_beta(mode), rel=1e-12))


def test_interactions_are_on_both_thresholds():
    points = diagram_of(CosineSeries((-1.0, -0.4, -0.6)), (0.8, 3.0)).events("branch point", "uniform")
    for start, count in zip(points[:2], (1, 2), strict=True):
        found = curve(start, "w3", (-1.2, -0.2))
        assert [point.type for point in found.special_points] == ["mode interaction"] * count
        assert found.special_points[0].values == pytest.approx([-1.0, 2.0], rel=1e-12)


@pytest.mark.parametrize("mode", [2, 3])
def test_interactions_are_found_behind_the_first_threshold(mode):
    coefficients = (-1.0, -0.5, -0.3)
    points = diagram_of(CosineSeries(coefficients), (0.8, 6.0)).events("branch point", "uniform")
    start = points[mode - 1]
    found = curve(start, "w3", (-1.2, -0.1))
    assert found.label == f"threshold of mode {mode}"
    # All critical couplings are 2 D/|w|: modes cross where their coefficients do, in whichever order they come.
    others = {2: (-0.5,), 3: (-1.0, -0.5)}[mode]
    interactions = [point for point in found.special_points if point.type == "mode interaction"]
    assert [point.values[0] for point in interactions] == pytest.approx(others, rel=1e-12)
    for point, other in zip(interactions, others, strict=True):
        number = 3 if mode == 2 else coefficients.index(other) + 1
        assert point.curves == (found.label, f"threshold of mode {number}")
        assert point.coupling == pytest.approx(-2.0 / other, rel=1e-12)


def test_the_second_state_is_that_of_the_point():
    start = diagram_of(CosineSeries((-0.8, 0.0, -1.0)), (0.8, 3.0), 2).events("transition")[0]
    problem = start.problem.at(coupling=start.coupling)
    for cosine in (start.cosine, start.other_cosine):
        parts = free_energy_parts(problem, cosine).total
        assert parts == pytest.approx(free_energy_parts(problem, start.cosine).total, abs=1e-13)
    found = curve(start, "w1", (-0.85, -0.75))
    assert {found.symmetry, found.other_symmetry} == {1, 3}
    # As in a file written before points had it.
    former = dataclasses.replace(start, other_cosine=None, other_sine=None)
    with pytest.raises(InvalidInput, match="the start names no second one"):
        curve(former, "w1", (-0.85, -0.75))


def test_vertical_thresholds_end():
    start = diagram_of(CosineSeries((-1.0, -0.4, -0.6)), (0.8, 3.0)).events("branch point", "uniform")[1]
    found = curve(start, "w3", (-1.2, -0.2), against="w2")
    assert found.outcome is Outcome.VERTICAL
    assert len(found) < 100
    assert "w3 does not change along the curve" in found.warnings[0]


def test_refusals():
    (cusp,) = cusp_in_a_field()[0].special_points
    with pytest.raises(
        InvalidInput, match="no curve of the type 'threshold' leaves a cusp; there are fold, transition"
    ):
        curve(cusp, "confinement_w1", (0.0, 0.9), type="threshold")
    with pytest.raises(InvalidInput, match="no curve of the type 'fold' leaves such a point"):
        curve(attention().point(3), "beta", (2.0, 8.0), type="fold")


def test_points_of_diagrams_in_another_parameter_start_curves():
    problem = McKeanVlasov(Circle(), Transformer(5.0), coupling=float(attention().coupling[5]))
    diagram = bifurcation_diagram(problem, parameter="beta", interval=(2.0, 8.0), rates=False, depth=1)
    start = min(diagram.events("transition"), key=lambda point: abs(point.value - attention().first[5]))
    assert start.value == pytest.approx(attention().first[5], rel=1e-11)
    found = curve(start, "beta", (2.0, 20.0))
    assert found.parameters == ("beta", "coupling")
    assert found.coupling[-1] == pytest.approx(attention().coupling[-1], rel=1e-11)
    over = curve(start, "coupling", tuple(sorted((0.9 * start.coupling, 1.1 * start.coupling))))
    assert over.parameters == ("coupling", "beta")


@functools.cache
def through_the_interaction():
    """The line of the 1-cluster that begins where modes 1 and 2 are critical together."""
    start = diagram_of(CosineSeries((-1.0, -0.979)), (0.8, 1.1)).events("transition")[0]
    return curve(start, "w2", (-1.6, -0.7))


def test_a_line_that_begins_at_an_interaction_of_modes():
    found = through_the_interaction()
    points = {point.type: point for point in found.special_points}
    assert points["mode interaction"].values == pytest.approx([-1.0, 2.0], rel=1e-14)
    assert not found.warnings
    assert set(found.unstable[1:-1].tolist()) == {0, 1}


@pytest.mark.parametrize("place", np.random.default_rng(6).integers(2, 10, 3))
def test_unstable_directions_are_those_of_the_branch(place):
    """From the interaction to where it turns the line is on the unstable half of the branch."""
    found = through_the_interaction()
    second, coupling = found.values[place]
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, second)))
    branches = bifurcation_diagram(problem, interval=(0.9 * coupling, 1.02 * coupling), rates=False).branches
    _, expected = min(
        (np.abs(branch.cosine[k, 1:3] - found.cosine[place, 1:3]).sum() + abs(branch.coupling[k] - coupling), count)
        for branch in branches
        if branch.symmetry == 1
        for k, count in enumerate(branch.unstable)
        if count >= 0
    )
    assert found.unstable[place] == expected


@pytest.mark.parametrize("weights", [(-0.751, -1.0, 0.228), (-0.3, 0.0, -1.0, 0.0, 0.0, -0.9, -0.2)])
def test_the_modes_of_a_symmetry_end_before_those_of_the_potential(weights):
    problem = McKeanVlasov(Circle(), CosineSeries(weights))
    diagram = bifurcation_diagram(problem, relative=(0.7, 1.5), rates=False)
    starts = [*diagram.events("transition"), *diagram.events("fold")]
    assert any(diagram.branches[start.branch].symmetry > 1 or start.other_cosine is not None for start in starts)
    for start in starts:
        followed = curve(start, "w1", (weights[0] - 0.02, weights[0] + 0.02))
        nearest = np.argmin(np.abs(followed.first - weights[0]))
        assert abs(followed.second[nearest] - start.coupling) <= 0.05 * abs(start.coupling)


@pytest.mark.parametrize(
    ("weights", "near", "parameter", "ends"),
    [
        ((-0.228, -0.199, -0.229, -0.399), 5.3719, "w3", [-0.399, -0.399]),
        ((-0.51, -0.363, -0.489, -0.812, -0.539), 2.5406, "w4", [-0.539]),
        ((-1.031, -0.048, -1.081, -1.036), 1.8511, "w3", [-1.036]),
        ((-0.294, -0.382, -0.068), 5.3301, "w3", [-0.382]),
    ],
)
def test_lines_lead_to_the_interactions_of_modes_that_their_states_do_not_have_in_common(
    weights, near, parameter, ends
):
    problem = McKeanVlasov(Circle(), CosineSeries(weights))
    diagram = bifurcation_diagram(problem, relative=(0.6, 1.5), rates=False)
    start = min(diagram.events("transition"), key=lambda point: abs(float(point.coupling) - near))
    value = problem.parameters[parameter]
    found = curve(start, parameter, (value - 0.4, value + 0.3))
    located = [point for point in found.special_points if point.type == "mode interaction"]
    assert [float(point.values[0]) for point in located] == pytest.approx(ends, rel=1e-12)
    assert [float(point.coupling) for point in located] == pytest.approx([-2.0 / end for end in ends], rel=1e-12)
    assert found.warnings == ()


def test_a_threshold_whose_coefficient_vanishes_is_cut():
    problem = McKeanVlasov(Circle(), CosineSeries((0.2, -0.5)))
    start = bifurcation_diagram(problem, relative=(0.5, 1.6), rates=False).events("branch point")[0]
    found = curve(start, "w2", (-0.6, 0.2))
    assert found.special_points == ()
    assert found.coupling[-1] > 1e15
    assert (found.coupling * found.first == pytest.approx(-2.0, rel=1e-12)) is True
    (warning,) = found.warnings
    assert "largest_coupling" in warning
    assert curve(start, "w2", (-0.6, 0.2), largest_coupling=1e3).coupling.max() <= 1e3


def test_steps_grow_with_the_distance_in_the_other_parameter():
    # In the plane of two coefficients the line goes off to infinity in the second.
    problem = McKeanVlasov(Circle(), CosineSeries((-0.97, -1.0, -0.64, -0.06)), noise=1.23)
    diagram = bifurcation_diagram(problem, relative=(0.4, 2.0), rates=False)
    start = min(diagram.events("branch point"), key=lambda point: abs(float(point.coupling) - 2.9891))
    found = curve(start, "w2", (-1.3, -0.6), against="w3")
    assert np.abs(found.values[:, 1]).max() > 1e3
    assert len(found) < 500
    assert any("largest_coupling" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("potential", "parameter", "relative", "width"),
    [
        (KellerSegel(screening=4.0), "screening", (0.3, 1.3), 0.04),
        (HegselmannKrause(radius=0.5888), "radius", (0.3, 1.2), 0.01),
    ],
)
def test_states_of_many_modes_start_curves_where_multipliers_decay_slowly(potential, parameter, relative, width):
    diagram = bifurcation_diagram(McKeanVlasov(Circle(), potential), relative=relative, depth=1, rates=False)
    (value,) = potential.parameter_values().values()
    for kind in ("transition", "fold"):
        start = diagram.events(kind, "1-cluster")[0]
        found = curve(start, parameter, (value - width, value + width))
        assert found.modes.min() > 128
        assert found.warnings == ()
        place = int(np.argmin(np.abs(found.first - value)))
        assert found.first[place] == pytest.approx(value, rel=4 * EPS)
        assert found.coupling[place] == pytest.approx(float(start.coupling), rel=1e-11)
        moved = potential.with_parameter(parameter, float(found.first[-1]))
        beside = bifurcation_diagram(McKeanVlasov(Circle(), moved), relative=relative, depth=1, rates=False)
        assert found.coupling[-1] == pytest.approx(float(beside.events(kind, "1-cluster")[0].coupling), rel=1e-11)


def test_branch_points_are_followed_where_the_potential_lacks_the_modes_of_a_class():
    mixture = Onsager() + 0.625 * Kuramoto()
    diagram = bifurcation_diagram(McKeanVlasov(Circle(), mixture), relative=(0.9, 1.8), rates=False)
    start = next(p for p in diagram.events("branch point") if diagram.branches[p.branch].label == "2-cluster")
    found = curve(start, "kuramoto_factor", (0.594, 0.656))
    assert found.warnings == ()
    assert (found.first[0], found.first[-1]) == (0.594, 0.656)
    moved = McKeanVlasov(Circle(), Onsager() + 0.656 * Kuramoto())
    beside = bifurcation_diagram(moved, relative=(0.9, 1.8), rates=False)
    couplings = [float(point.coupling) for point in beside.events("branch point")]
    assert min(abs(each / found.coupling[-1] - 1.0) for each in couplings) < 1e-11


@pytest.mark.parametrize("kind", ["fold", "transition"])
@pytest.mark.parametrize(("parameter", "against"), [("w2", "w1"), ("w1", "w2"), ("noise", "w2")])
def test_curves_at_one_coupling_end_in_the_organising_points_of_the_uniform_state(kind, parameter, against):
    """There kappa w_1 = -2 D; w_2 = w_1 / 2 where mode 1 is tricritical, and w_2 = w_1 where both are critical."""
    diagram = diagram_of(CosineSeries((-1.0, -0.9)), (0.6, 1.5))
    over = curve(diagram.events(kind)[0], "w2", (-0.95, -0.6))
    start = over.point(len(over) // 2)
    interval = {"w2": (-1.4, -0.3), "w1": (-1.6, -0.6), "noise": (0.6, 1.5)}[parameter]
    found = curve(start, parameter, interval, against=against)
    assert not found.warnings
    located = [point for point in found.special_points if not point.cosine[1:].any()]
    assert "tricritical" in {point.type for point in located}
    for point in located:
        known = {"noise": 1.0, "w1": -1.0, "w2": float(start.problem.parameters["w2"])}
        known |= dict(zip(found.parameters, map(float, point.values), strict=True))
        ratio = {"tricritical": 0.5, "mode interaction": 1.0}[point.type]
        assert known["w2"] / known["w1"] == pytest.approx(ratio, rel=1e-11)
        assert float(point.coupling) * known["w1"] == pytest.approx(-2.0 * known["noise"], rel=1e-11)
        assert point.lower <= point.values[0] <= point.upper
        assert point.status == "converged"


def test_a_line_in_a_confinement_that_no_parameter_changes():
    """Where the two states of a line meet nothing is extrapolated to a confinement that vanishes."""
    field = External.from_expression("0.072*cos(3*(t+0.7)) + 0.194*cos(6*(t+0.7))")
    problem = McKeanVlasov(Circle(), CosineSeries((-0.372, -1.0)), confinement=field)
    start = bifurcation_diagram(problem, (1.5, 2.5), rates=False).events("transition")[0]
    found = curve(start, "w2", (-1.734, -0.383))
    assert found.residual.max() < 1e-14
    assert found.first.min() <= -1.0 <= found.first.max()


@pytest.mark.parametrize(
    "method", [Arclength(max_step=0.02, tolerance=2.5e-4), Arclength(), Arclength(max_step=0.2)]
)
@pytest.mark.parametrize("beyond", [1e-2, 3e-4, 1e-6])
def test_a_curve_ends_where_it_leaves_its_interval_though_it_returns_in_the_same_step(beyond, method):
    """A line that turns in the first parameter a little beyond the interval."""
    start, farthest = turning_line()
    found = curve(start, "w4", (farthest + beyond, -0.5), method=method)
    assert {found.first_outcome, found.outcome} == {Outcome.LEFT_INTERVAL, Outcome.JOINED_BRANCH}
    assert found.first.min() == pytest.approx(farthest + beyond, rel=1e-14)
    whole = curve(start, "w4", (farthest - beyond, -0.5), method=method)
    assert {whole.first_outcome, whole.outcome} == {Outcome.JOINED_BRANCH}


def test_end_points_of_the_uniform_and_of_the_other_state_within_one_step_are_two():
    """The 2-cluster becomes unstable before the uniform state is critical in mode 1, at coupling 2/0.848."""
    problem = McKeanVlasov(Circle(), CosineSeries((-0.848, -0.886, -0.78, -0.475)))
    (start,) = bifurcation_diagram(problem, (2.2, 2.3), rates=False).events("transition", "2-cluster")
    found = curve(start, "w2", (-1.4853, -0.5073))
    ends = [point.coupling for point in found.special_points if point.type == "end point"]
    assert len(ends) == 3
    assert ends[1] < ends[2] == pytest.approx(2.0 / 0.848, rel=1e-11)
