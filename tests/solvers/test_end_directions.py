"""The directions of curves at the interactions of modes in which they end."""

from types import SimpleNamespace

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, GegenbauerSeries, McKeanVlasov, Sphere
from solvers import bifurcation_diagram, curve, phase_diagram
from solvers.two_parameters.ends.directions import direction_at

SLOPE = 1e-9
EPS, ROUNDINGS = float(np.finfo(float).eps), 16


def slopes_at(found, kind):
    """The slopes of curves at their ends of a type, by label, with those of the chords to the next point."""
    slopes = []
    for line in found:
        for place, beside in ((0, 1), (-1, -2)):
            if line.point_labels[place] == kind:
                chord = line.values[beside] - line.values[place]
                slopes.append((line.label, line.tangent[place, 1] / line.tangent[place, 0], chord[1] / chord[0]))
    return slopes


def test_curves_of_two_modes_leave_their_interaction_along_the_threshold_that_neither_moves():
    # The cumulant of cos 2t twice and cos 3t twice is zero, so that mode 3 leaves that of mode 2, 2D/abs(w2), alone.
    problem = McKeanVlasov(Circle(), CosineSeries((0.0, -0.462, -0.561)), noise=0.37)
    diagram = bifurcation_diagram(problem, relative=(0.5, 2.5), depth=2, rates=False)
    starts = [start for kind in ("fold", "transition", "branch point") for start in diagram.events(kind)]
    curves = [curve(start, "w2", (-0.812, -0.112)) for start in starts]
    found = slopes_at([each for each in curves if each.type != "threshold"], "mode interaction")
    assert len({label.split()[0] for label, *_ in found}) == 3
    for _, slope, _ in found:
        assert abs(slope / (2 * 0.37 / 0.561**2) - 1.0) <= SLOPE


def test_branch_points_on_the_sphere_leave_the_interaction_by_the_couplings_of_three_modes():
    # With mu_n = lambda_n - 1 an axis of degree 2 moves the three modes of degree 1 by <P_1^2 P_2>, along it by twice
    # as much as across, and itself by <P_2^3>: (2/15, -1/15) beside 2/35 with squares 1/3, 1/3 and 1/5.
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.0, -1.2)))
    found = slopes_at(
        phase_diagram(problem, ("w2", (-2.0, -1.3)), relative=(0.7, 1.5), examine=False).curves, "mode interaction"
    )
    expected = [-1.8 * ratio / (1.0 - ratio) for ratio in (2.8, -1.4)]
    branches = [slope for label, slope, _ in found if label.startswith("branch point of the")]
    assert len(branches) >= 4
    for slope in branches:
        assert min(abs(slope / each - 1.0) for each in expected) <= SLOPE


@pytest.mark.parametrize("unit", [1.0, 1e6])
@pytest.mark.parametrize(
    ("weights", "name", "along"), [((-1.0, -0.7, -0.5), "w2", 2.0), ((-0.7, -1.0, 0.0, -0.9), "w1", 0.0)]
)
def test_curves_leave_the_interaction_of_a_mode_and_its_double_along_one_of_two_thresholds(
    weights, name, along, unit
):
    problem = McKeanVlasov(Circle(), CosineSeries([unit * each for each in weights]))
    interval = -1.2 * unit, -0.95 * unit
    diagram = phase_diagram(problem, (name, interval), relative=(0.7, 1.5), examine=False)
    found = [each for each in slopes_at(diagram.curves, "mode interaction") if "threshold" not in each[0]]
    assert len(found) >= 3
    for _, slope, chord in found:
        assert min((0.0, 2.0), key=lambda threshold: abs(chord * unit**2 - threshold)) == along
        assert abs(slope * unit**2 - along) <= 1e-13


def rows_of(function, derivative, places):
    return [
        SimpleNamespace(values=(x, function(x)), tangent=(1.0, derivative(x)))
        for x in sorted(places, key=abs)[::-1]
    ]


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("share", [1.0, 1e6])
@pytest.mark.parametrize("power", [4.0 / 3.0, 1.5, 2.0])
def test_the_direction_is_that_of_functions_of_the_parameter_and_of_its_roots(power, share, side):
    def function(x):
        return share * (3.0 + 2.0 * x + 0.7 * abs(x) ** power)

    def derivative(x):
        return share * (2.0 + 0.7 * side * power * abs(x) ** (power - 1.0))

    rows = rows_of(function, derivative, side * 0.02 * np.geomspace(1e-3, 1.0, 7))
    direction = direction_at(np.array([0.0, 3.0 * share]), rows)
    assert direction[1] / direction[0] == pytest.approx(2.0 * share, rel=ROUNDINGS * EPS * 3.0 / 2e-5)


def test_a_nearest_point_of_which_rounding_is_left_does_not_spoil_the_direction():
    rows = rows_of(lambda x: 2.0 * x + x**2, lambda x: 2.0 + 2.0 * x, [1e-9, 1e-3, 3e-3, 6e-3])
    rows[-1].values = (1e-9, 2e-9 + 3e-16)
    direction = direction_at(np.zeros(2), rows)
    assert direction[1] / direction[0] == pytest.approx(2.0, rel=1e-12)


def test_the_way_back_of_a_curve_that_turns_tells_nothing_of_its_end():
    rows = rows_of(lambda x: 2.0 * x + x**4, lambda x: 2.0 + 4.0 * x**3, [1e-3, 2e-3])
    nearer = SimpleNamespace(values=(1.5e-3, 3e-3), tangent=(1.0, 2.0))
    backwards = SimpleNamespace(values=(2.5e-3, 5e-3), tangent=(-1.0, -2.0))
    expected = direction_at(np.zeros(2), rows)
    # Two points of this function tell the direction to 1e-9 of it, and each of the others would change that.
    assert expected[1] / expected[0] == pytest.approx(2.0, rel=1e-8)
    for behind in (nearer, backwards):
        direction = direction_at(np.zeros(2), [behind, *rows])
        assert direction[1] / direction[0] == pytest.approx(expected[1] / expected[0], rel=ROUNDINGS * EPS)


def test_polynomials_that_agree_by_chance_are_not_believed_against_the_nearest_point():
    """Behind it is a line of another slope, on which they agree exactly."""
    rows = rows_of(lambda x: 2.0 * x + x**2, lambda x: 2.0 + 2.0 * x, [1e-4])
    others = rows_of(lambda x: 3.0 * x, lambda x: 3.0, [1e-3, 2e-3, 3e-3])
    direction = direction_at(np.zeros(2), [*others, *rows])
    assert direction[1] / direction[0] == pytest.approx(2.0, rel=1e-3)


def test_a_parameter_that_does_not_change_has_no_share_in_the_direction():
    rows = [SimpleNamespace(values=(0.5, x), tangent=(0.0, 1.0)) for x in (2.0, 1.0)]
    direction = direction_at(np.array([0.5, 0.0]), rows)
    assert direction[0] == 0.0
    assert direction[1] != 0.0
