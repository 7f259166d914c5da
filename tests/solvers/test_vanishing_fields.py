"""Windows in which a confinement vanishes: the line there, and what ends where it meets the threshold without it."""

import functools

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ive

from meanfield import Circle, CosineSeries, External, GegenbauerSeries, MaierSaupe, McKeanVlasov, Outcome, Sphere
from solvers import Arclength, bifurcation_diagram, curve, phase_diagram

OVER = "confinement_h"
# Relative accuracy promised for points on curves.
POINT = 1e-11


def in_field(formula, weights=(-1.0,)):
    return McKeanVlasov(Circle(), CosineSeries(weights), confinement=External.from_expression(formula, h=1.0))


def order_parameter(coupling):
    """r = I_1(kappa r)/I_0(kappa r) of the cluster without a field."""
    return brentq(lambda r: ive(1, coupling * r) / ive(0, coupling * r) - r, 1e-9, 1.0, xtol=1e-15)


@functools.cache
def diagram(formula, weights, reach):
    return phase_diagram(in_field(formula, weights), (OVER, reach), coupling=(1.2, 3.2))


@pytest.mark.parametrize(
    ("formula", "weights"),
    [
        ("h*cos(4*t)", (-1.0,)),
        ("h*cos(3*t)", (-1.0,)),
        ("h*(cos(t) + cos(3*t))", (-1.0,)),
        ("h*(0.1*cos(3*t) + 0.1*cos(6*t))", (0.0, -1.0)),
    ],
)
def test_the_line_of_a_vanishing_field_is_there_once_and_begins_at_the_threshold(formula, weights):
    """Of the cluster in two orientations; m_1, or m_2 of two clusters, is that without a field."""
    found = diagram(formula, weights, (-0.5, 0.7))
    (line,) = [each for each in found.curves if each.type == "transition" and np.ptp(each.first) < 1e-8]
    assert np.all(np.diff(line.arclength) > 0.0)
    assert line.coupling.min() == pytest.approx(2.0, rel=1e-14)
    assert np.all(np.diff(line.coupling) > 0.0) or np.all(np.diff(line.coupling) < 0.0)
    for row in np.flatnonzero(line.coupling > 2.05):
        length = float(line.state(int(row)).moments.lengths[len(weights)])
        assert abs(length - order_parameter(line.coupling[row])) <= POINT


def landscape(h, coupling):
    """F(m) of W = -cos t in V = h cos 3t, up to a constant, at moments of the cosine: its minima and their values."""
    angles = 2.0 * np.pi * np.arange(256) / 256
    sizes = np.linspace(0.0, 0.99, 2001)
    fields = coupling * np.multiply.outer(sizes, np.cos(angles)) - h * np.cos(3 * angles)
    turned = coupling * np.multiply.outer(sizes, np.cos(angles - np.pi / 3.0)) - h * np.cos(3 * angles)
    values = np.minimum(
        *(0.5 * coupling * sizes**2 - np.log(np.exp(each).mean(axis=1)) for each in (fields, turned))
    )
    lower = np.concatenate([[True], (values[1:-1] < values[:-2]) & (values[1:-1] < values[2:]), [False]])
    lower[0] = values[0] < values[1]
    return sizes[lower], values[lower]


@pytest.mark.parametrize("seed", range(3))
def test_regions_beside_the_end_of_a_line_in_a_vanishing_field(seed):
    """The line of the cluster and the state with the symmetry of the field goes to the threshold on both sides."""
    found = diagram("h*cos(3*t)", (-1.0,), (-3.0, 3.0))
    lines = [each for each in found.curves if each.label == "transition 3-cluster | 1-cluster"]
    assert len(lines) == 2
    assert all(Outcome.JOINED_BRANCH in (each.outcome, each.first_outcome) for each in lines)
    for line in lines:
        end = int(np.argmin(np.abs(line.first)))
        assert (abs(line.first[end]), line.coupling[end]) == pytest.approx((0.0, 2.0), abs=1e-14)
    generator, compared = np.random.default_rng(seed), 0
    while compared < 12:
        h = float(generator.choice([-1.0, 1.0]) * 10.0 ** generator.uniform(-1.0, np.log10(2.9)))
        coupling = 2.0 - 0.013 * h * h * generator.uniform(0.3, 1.5)
        sizes, values = landscape(h, coupling)
        if not 1.2 < coupling < 3.2 or (values.size > 1 and np.ptp(np.sort(values)[:2]) < 1e-7):
            continue
        lowest = float(sizes[np.argmin(values)])
        region = found.region_at(h, coupling)
        assert region.minimiser == ("primary" if lowest == 0.0 else "1-cluster")
        compared += 1


@pytest.mark.parametrize("on_circle", [True, False])
def test_the_line_of_a_field_that_breaks_the_symmetry_of_another(on_circle):
    """Two opposite clusters in a field of degree two exchange where that of degree one vanishes."""
    if on_circle:
        # The critical coupling is one over the mean of cos^2 in the field 0.3 cos 2t.
        problem = McKeanVlasov(Circle(), CosineSeries((-1.0,)), confinement=CosineSeries((0.0, -0.3)))
        square, coupling = 0.5 * (1.0 + ive(1, 0.3) / ive(0, 0.3)), (1.0, 3.0)
    else:
        problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.0,)), confinement=GegenbauerSeries((0.0, -0.5)))
        heights, weights = np.polynomial.legendre.leggauss(40)
        weights = weights * np.exp(0.5 * (1.5 * heights**2 - 0.5))
        square, coupling = float(weights @ heights**2 / weights.sum()), (1.5, 4.0)
    found = phase_diagram(problem, ("confinement_w1", (-0.2, 0.2)), coupling=coupling)
    (line,) = [each for each in found.curves if each.type == "transition"]
    assert np.abs(line.first).max() <= 1e-12
    assert line.coupling.min() == pytest.approx(1.0 / square, rel=POINT)
    odd = np.arange(line.cosine.shape[1]) % 2 == 1
    assert np.abs(line.cosine[:, odd] + line.other_cosine[:, odd]).max() <= POINT
    assert sorted(region.stable for region in found.regions) == [1, 2, 2]
    assert all(region.agrees for region in found.regions)


@pytest.mark.parametrize("interval", [(-0.5, 0.7), (-0.3, 0.4), (-0.05, 0.05)])
def test_a_fold_in_a_vanishing_field_ends_at_the_threshold(interval):
    """States without an axis, smaller and smaller, down to where steps would be roundings of the arclength."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.0,)), confinement=GegenbauerSeries((0.0, 0.0, -0.024)))
    start = bifurcation_diagram(problem, (1.8, 4.8), rates=False).events("fold")[0]
    found = curve(start, "confinement_w3", interval)
    assert not found.warnings
    (end,) = found.special_points
    assert end.type == "mode interaction"
    assert end.lower <= 0.0 <= end.upper <= 1e-14
    assert float(end.coupling) == pytest.approx(3.0, rel=1e-14)


@pytest.mark.parametrize(
    ("problem", "name", "window", "threshold"),
    [
        (McKeanVlasov(Sphere(4), MaierSaupe(), confinement=GegenbauerSeries((0.1,), 4)), "w1", (8.0, 14.0), 12.0),
        (McKeanVlasov(Sphere(3), MaierSaupe(), confinement=GegenbauerSeries((0.1,))), "w1", (5.0, 9.0), 7.5),
        (in_field("h*cos(3*t)", (-1.0, 0.0, -0.5)), "h", (1.0, 4.0), 2.0),
    ],
)
def test_curves_pass_the_threshold_without_a_field_in_one_point(problem, name, window, threshold):
    """Folds of small states, whose equation is singular in all modes of the degree, N_l D/|w_l| apart from rounding."""
    found = phase_diagram(problem, (f"confinement_{name}", (-0.5, 0.5)), coupling=window)
    (point,) = [each for each in found.special_points if abs(each.values[0]) < 1e-2]
    assert (point.type, point.status) == ("mode interaction", "converged")
    np.testing.assert_allclose(point.values, [0.0, threshold], rtol=1e-14, atol=1e-15)
    assert point.lower <= 0.0 <= point.upper
    passing = [each for each in found.curves if point.type in each.point_labels and each.type == "fold"]
    assert passing
    for each in passing:
        rows = np.flatnonzero(np.array(each.point_labels) == point.type)
        assert not each.cosine[rows, 1:].any()
        assert np.diff(each.arclength).min() > 0.0


@pytest.mark.parametrize("interval", [(-0.05, 0.05), (-0.05, 0.02), (0.0, 0.05)])
def test_a_fold_curve_of_two_small_clusters_ends_at_their_threshold(interval):
    """A field of degree one tells them apart in second order, and beside the end rounding turns the curve back."""
    diagram = bifurcation_diagram(
        McKeanVlasov(Circle(), CosineSeries((-1.0, -0.9)), confinement=CosineSeries((0.02,))),
        (1.6, 2.6),
        rates=False,
    )
    (start,) = [each for each in diagram.events("fold") if each.coupling > 2.35]
    found = curve(start, "confinement_w1", interval)
    (point,) = found.special_points
    assert (point.type, point.status) == ("mode interaction", "converged")
    np.testing.assert_allclose(point.values, [0.0, 2.0 / 0.9], rtol=1e-14, atol=1e-15)
    assert point.type in (found.point_labels[0], found.point_labels[-1])
    assert not found.warnings


def test_a_curve_goes_on_from_its_point_where_the_field_vanishes():
    """An equation keeps no parameters of a confinement that is zero, and the point has that of its curve."""
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0,)), confinement=CosineSeries((0.1,)))
    (start,) = bifurcation_diagram(problem, (1.0, 4.0), rates=False).events("fold")
    found = curve(start, "confinement_w1", (0.0, 0.2))
    point = found.point(0)
    assert found.first[0] == 0.0
    again = curve(point, "confinement_w1", (-0.1, 0.2))
    np.testing.assert_allclose(again.coupling[-1], found.coupling[-1], rtol=POINT)
    assert again.first[0] == -0.1


@pytest.mark.parametrize("seed", [0, 107, 129, 134, 138, 141])
@pytest.mark.parametrize(
    "method", [Arclength(), Arclength(max_step=0.02, tolerance=2.5e-4), Arclength(max_step=0.15)]
)
def test_a_fold_curve_of_two_clusters_ends_where_the_field_vanishes_in_steps_of_any_length(seed, method):
    """There it has a cusp, its second moment growing with the field's power 2/3 on both sides.

    Steps over it led to the images of its states, and a point was not told.
    """
    generator = np.random.default_rng(seed)
    first, second, third = np.round(generator.uniform([-0.3, -1.0, -0.4], [0.3, -0.6, 0.3]), 3).tolist()
    potential = CosineSeries((first, second, third))
    threshold = -2.0 / second
    problem = McKeanVlasov(Circle(), potential, confinement=CosineSeries((float(generator.uniform(0.02, 0.15)),)))
    diagram = bifurcation_diagram(problem, (0.8 * threshold, 1.5 * threshold), rates=False)
    start = min(diagram.events("fold"), key=lambda fold: abs(fold.coupling - threshold))
    found = curve(start, "confinement_w1", (-float(generator.uniform(0.005, 0.3)), 0.2), method=method)
    assert not found.warnings
    (point,) = found.special_points
    assert (point.type, point.status) == ("mode interaction", "converged")
    np.testing.assert_allclose(point.values, [0.0, threshold], rtol=1e-14, atol=1e-15)
    assert (found.first_outcome, found.outcome) == (Outcome.JOINED_BRANCH, Outcome.LEFT_INTERVAL)
    assert abs(found.first[0]) <= 1e-15
    assert np.diff(found.arclength).min() > 0.0


@pytest.mark.parametrize(
    ("weights", "size", "interval"),
    [((0.6, -0.717), 0.048, (-0.0172, 0.0763)), ((0.139, -0.247), -0.176, (-0.2288, 0.0032))],
)
def test_a_fold_curve_ends_where_the_field_vanishes_between_points_at_equal_distances(weights, size, interval):
    """The second moments of the two are nearly the same, and the small first ones differ by their signs."""
    threshold = -2.0 / weights[1]
    problem = McKeanVlasov(Circle(), CosineSeries(weights), confinement=CosineSeries((size,)))
    diagram = bifurcation_diagram(problem, (0.8 * threshold, 1.5 * threshold), rates=False)
    start = min(diagram.events("fold"), key=lambda fold: abs(fold.coupling - threshold))
    found = curve(start, "confinement_w1", interval)
    (point,) = found.special_points
    np.testing.assert_allclose(point.values, [0.0, threshold], rtol=1e-14, atol=1e-15)
    assert np.sign(found.first[np.abs(found.first) > 1e-12]).tolist() == [np.sign(size)] * (len(found) - 1)
