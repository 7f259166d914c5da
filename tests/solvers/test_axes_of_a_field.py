"""Curves of states on the circle that are even about any of several reflection axes of a confinement."""

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, External, McKeanVlasov, Outcome, SoftmaxAttention
from meanfield.equations import equation_of
from solvers import bifurcation_diagram, curve, phase_diagram
from tests import brute_force

# Relative accuracy promised for points on curves, and for tricritical points.
POINT, TRICRITICAL = 1e-11, 1e-12
OVER = "confinement_w2"
TWO_MODES = (-1.0, -0.9)


def in_field(weights, *field):
    confinement = CosineSeries(field) if field else None
    return McKeanVlasov(Circle(), CosineSeries(weights), confinement=confinement)


def neutral(problem, cosine, sine):
    """Check that moments are those of a stationary state, and return unstable and neutral directions and its energy."""
    field = () if problem.confinement is None else problem.confinement.parameters()["w"]
    space = brute_force.circle(problem.potential.parameters()["w"], field, nodes=512)
    found = brute_force.on_circle(space, float(problem.fixed_coupling), cosine, sine)
    return found.unstable, found.neutral, found.gap


def check(found, tilt=0.0):
    """Compare every point of a curve with quadrature, its states turned back by the angle of the field."""
    for row in range(len(found)):
        problem = found.problem.with_parameter(found.parameters[0], float(found.first[row]))
        problem = problem.at(coupling=float(found.coupling[row]))
        if tilt:
            problem = problem.replace(confinement=CosineSeries((0.0, float(found.first[row]))))
        pairs = [(found.cosine[row], found.sine[row])]
        if found.type == "transition":
            pairs.append((found.other_cosine[row], found.other_sine[row]))
        turned = [(c - 1j * s) * np.exp(1j * tilt * np.arange(c.size)) for c, s in pairs]
        counts, idle, energies = zip(*(neutral(problem, each.real, -each.imag) for each in turned), strict=True)
        if not found.point_labels[row]:
            assert max(counts) == found.unstable[row]
            assert found.type == "transition" or idle[0] >= 1 + int(problem.confinement is None)
        if found.type == "transition":
            assert abs(energies[0] - energies[1]) <= 1e-12


def ends(found):
    """The values at both ends of a curve, by the first parameter."""
    return found.values[[0, -1]][np.argsort(found.first[[0, -1]])]


def born_about_other_axis(problem, interval=(0.5, 4.0)):
    diagram = bifurcation_diagram(problem, interval, rates=False)
    (event,) = [each for each in diagram.events("fold") if diagram.branches[each.branch].symmetry == 1]
    return event


def test_states_about_either_axis_of_a_field_are_followed_alike():
    """A field of the opposite sign is the same one turned by a right angle, and so are its states."""
    found = [curve(born_about_other_axis(in_field(TWO_MODES, 0.0, h)), OVER, (-0.5, 0.5)) for h in (-0.3, 0.3)]
    for each in found:
        check(each)
    mirrored = ends(found[0])[::-1] * (-1.0, 1.0)
    assert np.abs(mirrored / ends(found[1]) - 1.0).max() <= POINT
    kinds = [{(point.type, round(abs(point.values[0]), 10)) for point in each.special_points} for each in found]
    assert kinds == [{("tricritical", 0.150545262)}] * 2


@pytest.mark.parametrize("kind", ["fold", "branch point"])
def test_states_are_recorded_about_their_axis_where_a_tilted_field_changes_its_sign(kind):
    """The axis at which the field is lowest is another then."""
    tilt = 0.3
    field = External.from_expression(f"h*cos(2*(t-{tilt}))", h=0.3)
    problem = McKeanVlasov(Circle(), CosineSeries(TWO_MODES), confinement=field)
    diagram = bifurcation_diagram(problem, (0.5, 4.0), rates=False)
    lowest = []
    for event in diagram.events(kind):
        found = curve(event, "confinement_h", (-0.5, 0.5))
        check(found, tilt)
        lowest.append(found.first.min())
    assert min(lowest) < 0.0


def test_states_of_softmax_attention_are_recorded_about_their_axis():
    def curves(tilt):
        field = External.from_expression(f"h*cos(2*(t-{tilt}))", h=0.1)
        problem = equation_of(Circle(), SoftmaxAttention(4.0), confinement=field)
        diagram = bifurcation_diagram(problem, (1.0, 6.0), rates=False, depth=1)
        return [
            curve(event, "confinement_h", (-0.2, 0.2), largest_coupling=7.0)
            for event in diagram.events("branch point")
        ]

    upright = curves(0.0)
    assert len(upright) == 2
    for straight, tilted in zip(upright, curves(0.3), strict=True):
        assert straight.first.min() < 0.0
        for one, other in zip(ends(straight), ends(tilted), strict=True):
            assert np.abs(one - other).max() <= POINT * np.abs(one).max()
        for row in (0, -1):
            turned = (tilted.cosine[row] - 1j * tilted.sine[row]) * np.exp(0.3j * np.arange(tilted.cosine.shape[1]))
            assert np.abs(turned - straight.cosine[row]).max() <= 1e-9


def test_a_line_between_states_about_two_axes_ends_where_both_are_born_at_once():
    """The second and the sixth harmonic of the field favour two axes, and the fourth keeps states on them."""
    problem = in_field((-1.0,), 0.0, -0.02, 0.0, -0.3, 0.0, 0.1)
    diagram = bifurcation_diagram(problem, (0.5, 9.0), rates=False)
    (event,) = diagram.events("transition")
    line = curve(event, OVER, (-0.1, 0.1), largest_coupling=12.0)
    check(line)
    assert Outcome.JOINED_BRANCH in (line.outcome, line.first_outcome)
    (end,) = line.special_points
    assert (end.type, end.status) == ("end point", "converged")
    # Both directions of the parent are neutral there: the threshold of rotators, kappa = 2, by symmetry.
    births = curve(diagram.events("branch point")[0], OVER, (-0.1, 0.1))
    (double,) = births.special_points
    assert double.type == "mode interaction"
    assert np.abs(end.values - double.values).max() <= POINT
    assert abs(end.coupling - 2.0) <= POINT
    other = bifurcation_diagram(
        problem.with_parameter(OVER, float(line.first[len(line) // 2])), (0.5, 12.0), rates=False
    )
    (event,) = other.events("transition")
    assert abs(event.coupling / line.coupling[len(line) // 2] - 1.0) <= POINT


# Another tricritical point is farther than this from the places that follow.
NEAR = 1e-4
# Weights and a weak field in which branches about the two axes turn at points close to each other.
NEAR_EACH_OTHER = (-0.36, 0.267, -0.604, -1.0), (0.0, 0.0, 0.0, -0.033)
# Weights, field, parameter and place of the tricritical point, whether branches about the other axis turn, and up to
# which coupling a diagram has their parent.
TURNING = {
    "quarter": ((-0.8, -0.3, 0.0, -1.0), (), "w2", -0.168948046676, False, 3.0),
    "quarter about the other axis": (*NEAR_EACH_OTHER, "w1", -0.688056747, True, 2.6),
    "quarter beside one about the other axis": (*NEAR_EACH_OTHER, "w1", -0.550932571564, False, 2.6),
    "half about the other axis": (
        (-0.247, -0.404, -0.708, -1.0),
        (0.0, 0.0, 0.0, 0.123),
        "w2",
        -0.818038050,
        True,
        4.0,
    ),
    "half about the other axis without a field": ((-1.006, -0.844, -0.305), (), "w3", -0.494946223, True, 4.0),
    "sixth": ((-0.709, -0.168, -0.87, -0.45, -0.532, -1.0), (*[0.0] * 5, 0.046), "w4", 0.0645, False, 2.6),
}


@pytest.mark.parametrize("case", TURNING)
def test_folds_and_lines_begin_where_branches_of_any_symmetry_turn(case):
    weights, field, over, near, turned, highest = TURNING[case]
    problem = in_field(weights, *field)
    diagram = bifurcation_diagram(problem, (1.5, highest), rates=False, depth=1)
    start = problem.parameters[over]
    interval = (start - 0.6, start + 0.6)
    births = (curve(event, over, interval, largest_coupling=8.0) for event in diagram.events("branch point"))
    point = next(
        point
        for each in births
        for point in each.special_points
        if point.type == "tricritical" and abs(point.values[0] - near) <= NEAR
    )
    for kind, end in (("fold", "tricritical"), ("transition", "end point")):
        found = curve(point, over, interval, type=kind, largest_coupling=8.0)
        assert len(found) > 5
        check(found)
        (there,) = [each for each in found.special_points if abs(each.values[0] - near) <= NEAR]
        assert there.type == end
        assert np.abs(there.values - point.values).max() <= TRICRITICAL
        assert bool(np.any(found.sine)) == (turned and bool(field))


def test_clusters_in_a_field_of_two_axes_exchange_where_it_vanishes():
    """The triple point of the line is the first-order transition without a field."""
    problem = in_field(TWO_MODES, 0.0, 0.2)
    found = phase_diagram(problem, (OVER, (-0.5, 0.5)), coupling=(1.0, 3.0))
    assert all(region.agrees for region in found.regions)
    (line,) = [each for each in found.curves if each.label == "transition 1-cluster | 1-cluster"]
    assert np.abs(line.first).max() <= 1e-12
    assert line.coupling.max() > 3.0
    (triple,) = [point for point in found.special_points if point.type == "triple point"]
    (free,) = bifurcation_diagram(in_field(TWO_MODES), (1.0, 3.0), rates=False).events("transition")
    assert abs(triple.values[0]) <= 1e-12
    assert abs(triple.coupling / free.coupling - 1.0) <= POINT
    assert not any("axis" in warning for warning in found.warnings)
    # The picture is its own mirror image.
    places = {(point.type, round(float(point.values[0]), 10)) for point in found.special_points}
    assert places == {(kind, 0.0 - place) for kind, place in places}
    assert {kind for kind, _ in places} == {"tricritical", "end point", "mode interaction", "cusp", "triple point"}
