"""Directions that break a symmetry other than a reflection of coordinates are told where they are neutral on curves."""

import functools

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, Curve, Diagram, GegenbauerSeries, McKeanVlasov, OrganisingPoint, Sphere
from solvers import bifurcation_diagram, curve
from solvers.sphere.groups import (
    ICOSAHEDRAL,
    OCTAHEDRAL,
    TETRAHEDRAL,
    antiprismatic,
    axial_group,
    prismatic,
    pyramidal,
)
from solvers.sphere.subgroups import groups_between
from tests import sphere_galerkin


@functools.cache
def diagram(weights: tuple[float, ...], window: tuple[float, float]) -> Diagram:
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(weights, 3))
    return bifurcation_diagram(problem, window, depth=2, rates=False)


def folds(weights: tuple[float, ...], window: tuple[float, float], label: str, over: str, reach: float) -> Curve:
    found = diagram(weights, window)
    start = next(e for e in found.events("fold", label) if found.branches[e.branch].label == label)
    value = float(start.problem.parameters[over])
    return curve(start, over, (value - reach, value + reach))


def neutral(point: OrganisingPoint, degree: int) -> int:
    """Return the number of neutral directions at a state among all harmonics, by a computation of its own."""
    _, sizes = sphere_galerkin.linearised(point.problem, float(point.coupling), point.cosine, point.sine, degree)
    return int(np.count_nonzero(sizes < 1e-9 * sizes[0]))


@pytest.mark.parametrize(
    ("label", "expected"),
    [("D_2d from prolate", (-1.6302707748, -0.8198900020)), ("D_2d from oblate", (-1.2948301666, -0.7115113688))],
)
def test_a_degree_that_a_state_has_not_becomes_neutral_on_its_curve(label, expected):
    """The folds do not depend on w1, of which one direction along the axis and two across it become neutral."""
    found = folds((-1.261, -2.386, -3.341, -3.376), (1.7, 2.4), label, "w1", 0.9)
    assert not found.warnings
    points = [point for point in found.special_points if point.type == "mode interaction"]
    assert [point.values[0] for point in points] == pytest.approx(expected, rel=1e-9)
    assert np.ptp(found.second) <= 1e-13 * found.second[0]
    for point in points:
        assert point.status == "converged"
        # Three rotations, the direction of the fold, and those of degree one.
        assert neutral(point, 4) in (5, 6)
    assert sorted(neutral(point, 4) for point in points) == [5, 6]


@pytest.mark.parametrize(
    ("weights", "window", "label", "over"),
    [
        ((-0.595, -0.444, -1.04, -1.637), (3.529, 5.798), "D_2d from zonal 4-", "w4"),
        ((-0.419, -0.963, -1.461, -1.142, -0.876), (3.354, 5.51), "tetrahedral", "w3"),
        ((-0.419, -0.963, -1.461, -1.142, -0.876), (3.354, 5.51), "D_2d 5 from prolate", "w3"),
        ((-0.473, -0.384, -0.429, -0.934, -1.85), (4.162, 6.838), "D_2d 5", "w5"),
    ],
)
def test_no_change_of_stability_along_random_folds_is_left_untold(weights, window, label, over):
    found = folds(weights, window, label, over, 0.25)
    assert not found.warnings
    points = [point for point in found.special_points if point.type == "mode interaction"]
    assert points
    for point in points:
        assert neutral(point, len(weights)) >= 5


@pytest.mark.parametrize(
    ("inner", "outer", "orders"),
    [
        (pyramidal(2), antiprismatic(2), []),
        (axial_group(2, False, 0, True), TETRAHEDRAL, [12, 8, 8, 8]),
        (prismatic(4), OCTAHEDRAL, []),
        (prismatic(2), OCTAHEDRAL, [24, 16, 16, 16]),
        (prismatic(2), ICOSAHEDRAL, [24]),
    ],
)
def test_groups_between_two(inner, outer, orders):
    found = groups_between(inner, outer)
    assert [group.order for group in found] == orders
    for group in found:
        assert all(map(group.contains, inner.elements))
        assert all(map(outer.contains, group.elements))


@pytest.mark.parametrize("largest_coupling", [None, 6.0])
def test_a_curve_over_a_parameter_that_its_states_have_not_is_vertical_and_ends(largest_coupling):
    """Where the 2-cluster at its fold becomes unstable to the first degree 1 - sigma_1 (1 + a_2)/2 vanishes."""
    problem = McKeanVlasov(Circle(), CosineSeries((-0.7, -1.0, 0, -0.9)))
    found = bifurcation_diagram(problem, (1.5, 2.6), depth=1, rates=False)
    start = next(e for e in found.events("fold") if found.branches[e.branch].label == "2-cluster")
    vertical = curve(start, "coupling", (1.5, 2.6), against="w1", largest_coupling=largest_coupling)
    assert np.ptp(vertical.first) <= 1e-13
    point = next(each for each in vertical.special_points if each.values[1] > -1.0)
    # The variance of cos is (1 + a_2)/2, that of sin (1 - a_2)/2.
    variance = 0.5 * (1.0 + abs(point.cosine[2]))
    assert -float(point.coupling) * point.values[1] * variance == pytest.approx(1.0, rel=1e-12)
    (text,) = dict.fromkeys(text.split(" at ")[0].split(" before ")[0] for text in vertical.warnings)
    assert "coupling does not change" in text if largest_coupling is None else "the curve ends" in text
    assert np.abs(vertical.second).max() <= 2e4
