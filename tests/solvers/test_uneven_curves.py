"""Curves of states on the circle without a reflection axis of the confinement, or in one that has none."""

from itertools import combinations

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, External, McKeanVlasov, Outcome
from solvers import bifurcation_diagram, curve, phase_diagram
from tests import brute_force
from tests.campaigns.phases import random_place

# Relative accuracy promised for points on curves, and for tricritical points.
POINT, TRICRITICAL = 1e-11, 1e-12
# A field with six axes, in which a state leaves one of them between two tricritical points.
TILTED = McKeanVlasov(
    Circle(), CosineSeries((-0.6895, -1.0)),
    confinement=External.from_expression("h*(0.111*cos(3*(t + 0.7)) - 0.192*cos(6*(t + 0.7)))", h=1.0),
)  # fmt: skip
# Fields without an axis, or that lose it as a number changes.
BARE = CosineSeries((-0.9, -1.1, -0.3))
WITHOUT = McKeanVlasov(
    Circle(), BARE, confinement=External.from_expression("h*(cos(t) + 0.6*sin(2*t + 0.2))", h=0.1)
)
LOSING = McKeanVlasov(
    Circle(), CosineSeries((-0.5, -1.0, -0.3, -0.8)),
    confinement=External.from_expression("0.1*cos(t) + 0.05*cos(2*t) + a*sin(2*t)", a=0.0),
)  # fmt: skip


def looked_at(problem, cosine, sine):
    """Check that moments are those of a stationary state, and return unstable and neutral directions and its energy."""
    domain, field = Circle(), problem.confinement
    cosines, sines = field.multipliers(domain, 16)[1:], field.sine_multipliers(domain, 16)[1:]
    space = brute_force.circle(problem.potential.parameters()["w"], cosines, nodes=512, sines=sines)
    found = brute_force.on_circle(space, float(problem.fixed_coupling), cosine, sine)
    return found.unstable, found.neutral, found.gap


def check(found):
    """Compare points of a curve with quadrature, every third, and the ends."""
    for row in sorted({*range(0, len(found), 3), len(found) - 1}):
        problem = found.problem.with_parameter(found.parameters[0], float(found.first[row]))
        problem = problem.at(coupling=float(found.coupling[row]))
        pairs = [(found.cosine[row], found.sine[row])]
        if found.type == "transition":
            pairs.append((found.other_cosine[row], found.other_sine[row]))
        counts, idle, energies = zip(*(looked_at(problem, *pair) for pair in pairs), strict=True)
        if not found.point_labels[row]:
            # Quadrature leaves the sign of directions that are nearly neutral open, as one of each fold is.
            assert max(counts) <= found.unstable[row] <= max(np.add(counts, idle))
            assert found.type == "transition" or idle[0] >= 1
        if found.type == "transition":
            assert abs(energies[0] - energies[1]) <= 1e-12


def special(found, kind):
    return [point for point in found.special_points if point.type == kind]


def on_diagram(found):
    """Check that a diagram at a fixed value has a point of a curve of folds, the one farthest from organising points.

    Beside a cusp two folds of the diagram are nearly one.
    """
    named = [number for number, label in enumerate(found.point_labels) if label]
    away = np.abs(found.arclength[:, None] - found.arclength[named]).min(axis=1)
    row = int(np.argmax(away))
    problem = found.problem.with_parameter(found.parameters[0], float(found.first[row])).at(coupling=None)
    coupling = float(found.coupling[row])
    events = bifurcation_diagram(problem, (0.8 * coupling, 1.2 * coupling), rates=False).events("fold")
    assert min(abs(event.coupling / coupling - 1.0) for event in events) <= POINT


def test_folds_lie_between_the_tricritical_points_of_the_branch_they_are_born_on():
    diagram = bifurcation_diagram(TILTED, (1.2, 3.2), rates=False)
    (start,) = [event for event in diagram.events("fold") if "uneven" in diagram.branches[event.branch].label]
    found = curve(start, "w1", (-0.77, 0.035))
    assert found.label == "fold of the uneven 1-cluster"
    assert {found.outcome, found.first_outcome} == {Outcome.JOINED_BRANCH}
    assert not found.warnings
    check(found)
    on_diagram(found)
    ends = sorted(special(found, "tricritical"), key=lambda point: point.values[0])
    assert len(ends) == 2
    for end in ends:
        parent = curve(end, "w1", (-0.77, 0.035))
        assert parent.type == "branch point"
        (turn,) = special(parent, "tricritical")
        assert np.abs(end.values / turn.values - 1.0).max() <= TRICRITICAL
        again = curve(turn, "w1", (-0.77, 0.035), type="fold")
        assert np.abs(np.sort(again.first[[0, -1]]) - np.sort(found.first[[0, -1]])).max() <= 10 * TRICRITICAL
        check(curve(turn, "w1", (-0.77, 0.035), type="transition"))
    # From the other tricritical point the line ends in a mode interaction, a ten-thousandth away.
    line = curve(turn, "w1", (-0.77, 0.035), type="transition")
    assert min(np.abs(point.values / turn.values - 1.0).max() for point in line.special_points) <= TRICRITICAL
    # Beside a tricritical point the fold is as far before the branch point as the square of the distance.
    value = float(ends[1].values[0])
    apart = [before_birth(value - distance) for distance in (2e-3, 1e-3)]
    assert abs(apart[0] / apart[1] - 4.0) <= 0.2


def before_birth(value):
    """Return how far the fold of the uneven branch is before the branch point at a value of w1."""
    diagram = bifurcation_diagram(TILTED.with_parameter("w1", value), (2.5, 2.65), rates=False)
    (fold,) = [event for event in diagram.events("fold") if "uneven" in diagram.branches[event.branch].label]
    births = [event.coupling for event in diagram.events("branch point")]
    return min((birth - fold.coupling for birth in births), key=abs)


@pytest.mark.parametrize(
    ("problem", "over", "interval"),
    [
        (WITHOUT, "w2", (-1.3, -0.9)), (WITHOUT, "confinement_h", (0.02, 0.3)), (LOSING, "confinement_a", (-0.05, 0.05)),
        (LOSING, "w4", (-0.9, -0.7)),
    ],
    ids=["a mode", "its strength", "its axis", "with an axis"],
)  # fmt: skip
def test_curves_in_fields_without_an_axis(problem, over, interval):
    diagram = bifurcation_diagram(problem, (0.5, 3.5), rates=False)
    events = [*diagram.events("fold"), *diagram.events("transition")]
    assert events
    for event in events:
        found = curve(event, over, interval)
        assert {found.outcome, found.first_outcome} <= {Outcome.LEFT_INTERVAL, Outcome.JOINED_BRANCH}
        assert not found.warnings
        check(found)
        if event.type == "fold":
            on_diagram(found)
        for point in found.special_points:
            assert point.status == "converged"


def test_images_of_a_field_have_the_images_of_its_curves():
    """Turned and reflected, with the angles 0.9 - t and t - 0.4 for t."""
    fields = [f"h*(cos({angle}) + 0.6*sin(2*({angle}) + 0.2))" for angle in ("t", "(0.9 - t)", "(t - 0.4)")]
    found = []
    for field in fields:
        problem = McKeanVlasov(Circle(), BARE, confinement=External.from_expression(field, h=0.1))
        events = bifurcation_diagram(problem, (1.5, 1.706), rates=False).events("fold")
        found.append(curve(events[0], "confinement_h", (0.05, 0.2)))
    for one, other in combinations(found, 2):
        assert np.abs(one.coupling[[0, -1]] / other.coupling[[0, -1]] - 1.0).max() <= POINT


def test_a_curve_passes_where_its_field_vanishes_and_says_what_is_not_told():
    problem = McKeanVlasov(Circle(), BARE, confinement=External.from_expression("h*(cos(t) + 0.6*sin(2*t))", h=0.1))
    (start, *_) = bifurcation_diagram(problem, (1.5, 1.706), rates=False).events("fold")
    found = curve(start, "confinement_h", (-0.2, 0.3))
    assert {found.outcome, found.first_outcome} == {Outcome.LEFT_INTERVAL}
    (warning,) = found.warnings
    assert "nothing holds states without an axis" in warning
    check(found)
    on_diagram(found)


def test_a_phase_diagram_in_a_field_without_an_axis_is_that_of_brute_force():
    found = phase_diagram(WITHOUT, ("confinement_h", (0.02, 0.4)), coupling=(1.0, 3.0))
    assert all(region.agrees for region in found.regions)
    assert sum(each.type == "fold" for each in found.curves) >= 3
    generator = np.random.default_rng(5)
    judged = 0
    while judged < 4:
        chosen = random_place(found, generator)
        if chosen is None:
            continue
        region, value, _, coupling = chosen
        field = WITHOUT.with_parameter("confinement_h", value).confinement
        space = brute_force.circle(
            BARE.parameters()["w"],
            field.multipliers(Circle(), 4)[1:],
            sines=field.sine_multipliers(Circle(), 4)[1:],
        )
        states = brute_force.stationary_states(space, coupling, starts=256)
        assert sum(state.unstable == 0 for state in states) == region.stable
        judged += 1


@pytest.mark.parametrize("sine", [1e-18, 1e-17, -3e-17, 1e-16])
def test_a_field_whose_sines_are_rounding_is_even(sine):
    couplings = [
        [event.coupling for event in bifurcation_diagram(problem, (0.5, 3.0), rates=False).events("fold")]
        for problem in (LOSING.with_parameter("confinement_a", sine), LOSING)
    ]
    np.testing.assert_allclose(*couplings, rtol=POINT)
