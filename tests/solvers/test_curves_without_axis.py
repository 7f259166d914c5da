"""Curves of folds and first-order lines of octahedral and tetrahedral states, against integrals over the sphere."""

import dataclasses
import functools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import root

from meanfield import (
    GegenbauerSeries,
    HarmonicSeries,
    InvalidInput,
    McKeanVlasov,
    Outcome,
    SpecialPoint,
    Sphere,
    open_curve,
)
from solvers import Arclength, bifurcation_diagram, curve
from solvers.branches.continuation import Point, trace
from solvers.two_parameters import STARTS, start_of
from solvers.two_parameters.following.closing import closing_point
from solvers.two_parameters.following.following import _cut, turned_back
from solvers.two_parameters.following.knots import Side
from solvers.two_parameters.systems.arc import Arc, _root_of_polynomial
from solvers.two_parameters.systems.starts import plane_of
from tests.campaigns.passages import passed_twice
from tests.sphere_galerkin import linearised

EPS = np.finfo(float).eps
# Relative accuracy promised for points on curves, and for slopes.
POINT, SLOPE = 1e-11, 1e-9


@functools.cache
def grid():
    """Points and weights of a product rule of degree 63 on the sphere."""
    heights, weights = np.polynomial.legendre.leggauss(32)
    azimuths = 2.0 * np.pi * np.arange(64) / 64
    across = np.sqrt(1.0 - heights**2)[:, None]
    points = across * np.cos(azimuths), across * np.sin(azimuths), heights[:, None] + 0.0 * azimuths
    return points, np.repeat(weights[:, None], 64, axis=1) / 128.0


@functools.cache
def invariants():
    """Octahedral harmonics of degrees 4 and 6 of unit mean square, (2, points)."""
    (x, y, z), weights = grid()
    fourth = x**4 + y**4 + z**4 - 0.6
    sixth = x**2 * y**2 * z**2 + fourth / 22.0 - 1.0 / 105.0
    return np.array([part / np.sqrt((weights * part**2).sum()) for part in (fourth, sixth)])


def state(fields):
    """Moments, covariance and log Z of the density of a field in the two harmonics."""
    weights = grid()[1] * np.exp(np.tensordot(fields, invariants(), 1))
    mass = weights.sum()
    moments = (weights * invariants()).sum(axis=(1, 2)) / mass
    products = np.einsum("iab,jab,ab->ij", invariants(), invariants(), weights) / mass
    return moments, products - np.outer(moments, moments), np.log(mass)


def strengths(coupling, w6):
    """Lambda of degrees 4 and 6 with w4 = -1."""
    return coupling * np.array([1.0 / 9.0, -w6 / 13.0])


def exact(kind, w6, coupling, moments):
    """Coupling and slope d kappa/d w6 of a fold or an equal free energy, from a guess, by integrals alone."""

    def conditions(unknown):
        means, couplings = unknown[:2], strengths(unknown[2], w6)
        found, covariance, log_mass = state(couplings * means)
        energy = 0.5 * couplings @ means**2 - log_mass
        last = np.linalg.det(np.eye(2) - covariance * couplings) if kind == "fold" else energy
        return np.append(found - means, last)

    guess = np.array([*moments, coupling])
    for _ in range(3):
        guess = root(conditions, guess, tol=EPS).x
    *means, coupling = guess
    means, couplings = np.array(means), strengths(coupling, w6)
    in_coupling, in_w6 = couplings / coupling, np.array([0.0, -coupling / 13.0])
    kernel = np.linalg.svd(np.eye(2) - state(couplings * means)[1] * couplings)[2][-1]
    weights = kernel * means if kind == "fold" else means**2
    return coupling, -(weights @ in_w6) / (weights @ in_coupling)


def moments_of(found, place):
    """Means of the two harmonics; lengths are over the roots of their numbers."""
    return found.moments.lengths[place][[4, 6]] * np.sqrt([9.0, 13.0])


@functools.cache
def octahedral():
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0, 0, 0, -1.0, 0, -0.3)))
    diagram = bifurcation_diagram(problem, (7.5, 8.5), rates=False, depth=1)
    return {kind: diagram.events(kind, "octahedral")[0] for kind in ("fold", "transition")}


@functools.cache
def line(kind):
    return curve(octahedral()[kind], "w6", (-0.6, 0.3))


@pytest.mark.parametrize("kind", ["fold", "transition"])
def test_points_and_slopes_are_those_of_two_harmonics(kind):
    found = line(kind)
    assert (found.layout, found.warnings) == ("order", ())
    # The state loses its symmetry in two directions at once, which are neutral beside three rotations and the fold.
    (point,) = found.special_points
    assert (point.type, point.status) == ("mode interaction" if kind == "fold" else "end point", "converged")
    neutral = 6 if kind == "fold" else 5
    error, sizes = linearised(point.problem, float(point.coupling), point.cosine, point.sine, 6)
    assert error < 1e-12
    assert sizes[-neutral] < 1e-10 < 1e-5 < sizes[-neutral - 1]
    for place in (0, len(found) // 3, len(found) - 1):
        coupling, slope = exact(kind, found.first[place], found.second[place], moments_of(found, place))
        assert found.second[place] == pytest.approx(coupling, rel=POINT)
        assert found.slope[place] == pytest.approx(slope, rel=SLOPE)


def test_a_point_of_a_curve_starts_one_in_other_parameters():
    # The state depends on the products of the coupling with the two coefficients alone.
    start = line("fold").point(len(line("fold")) // 2)
    found = curve(start, "w4", (-2.0, -0.5))
    for place in (0, -1):
        w4, coupling = -found.first[place], found.second[place]
        w6 = found.state(place).problem.potential.w[5] / w4
        product, _ = exact("fold", w6, coupling * w4, moments_of(found, place))
        assert coupling * w4 == pytest.approx(product, rel=POINT)


def test_tetrahedral_lines_begin_at_a_tricritical_point_in_closed_form():
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0, 0, -1.0, -0.5)))
    diagram = bifurcation_diagram(problem, (6.6, 7.4), rates=False, depth=1)
    # xyz of unit mean square: its fourth moment, and the part of its square along x^4 + y^4 + z^4 - 3/5.
    fourth, along = 105.0**2 * 27.0 / 135135.0, 105.0**2 * (56.0 / 40425.0) ** 2 / (16.0 / 525.0)
    share = (1.0 - fourth / 3.0) / along
    w4 = -9.0 / 7.0 * share / (1.0 + share)
    for kind in ("fold", "transition"):
        found = curve(diagram.events(kind, "tetrahedral")[0], "w4", (-0.8, 0.0))
        (point,) = [each for each in found.special_points if each.type == "tricritical"]
        assert point.lower <= point.values[0] <= point.upper
        assert point.values[0] == pytest.approx(w4, rel=1e-12)
        assert point.coupling == pytest.approx(7.0, rel=64 * EPS)


def test_tetrahedral_lines_begin_there_at_one_coupling_as_well():
    """The coefficients are those of the closed form, divided by the coupling over its threshold."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0, 0, -1.0, -0.5)))
    diagram = bifurcation_diagram(problem, (6.6, 7.4), rates=False, depth=1)
    lines = {kind: diagram.events(kind, "tetrahedral")[0] for kind in ("fold", "transition")}
    (known,) = [
        each.values[0]
        for each in curve(lines["fold"], "w4", (-0.8, 0.0)).special_points
        if each.type == "tricritical"
    ]
    for start in lines.values():
        for names in (("w4", "w3"), ("w3", "w4")):
            exact = {"w4": known * 7.0 / start.coupling, "w3": -7.0 / start.coupling}
            interval = (-0.8, 0.0) if names[0] == "w4" else (-1.2, -0.8)
            found = curve(start, names[0], interval, against=names[1])
            assert not any("not located" in warning for warning in found.warnings)
            (point,) = [each for each in found.special_points if each.type == "tricritical"]
            assert point.values == pytest.approx([exact[name] for name in names], rel=1e-12)
            assert point.lower <= exact[names[0]] <= point.upper


def test_a_line_ends_where_its_two_degrees_are_critical_together():
    found = curve(octahedral()["transition"], "w6", (-3.0, 0.0))
    ends = {point.type: point for point in found.special_points}
    assert ends["mode interaction"].values == pytest.approx([-13.0 / 9.0, 9.0], rel=POINT)
    # Beyond kappa_6 the uniform state is unstable.
    products = [np.prod(point.values) for point in found.special_points if point.type == "end point"]
    assert np.abs(np.array(products) / -13.0 - 1.0).min() < POINT


def test_files_and_points_keep_states_without_an_axis(tmp_path):
    found = line("fold")
    found.save(tmp_path / "line.nc")
    assert open_curve(tmp_path / "line.nc") == found
    assert found.state(0).layout == "order"


def test_what_is_not_followed_is_refused():
    fold = octahedral()["fold"]
    # No state of it is octahedral.
    confined = fold.problem.replace(confinement=GegenbauerSeries((0.0, 0.05)))
    with pytest.raises(InvalidInput, match="no curve was found through the start"):
        curve(dataclasses.replace(fold, problem=confined), "w6", (-0.6, 0.3))
    confined = fold.problem.replace(confinement=HarmonicSeries((0.0, 0.0, 0.1), (0.0, 0.0, 0.0)))
    with pytest.raises(InvalidInput, match="no curve was found through the start"):
        curve(dataclasses.replace(fold, problem=confined), "w6", (-0.6, 0.3))


def test_the_branch_that_leaves_a_zonal_state_crosses_the_octahedral_one_where_that_breaks_its_symmetry():
    # The critical functions are no octahedral ones, though in the block of the same reflections.
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0, 0, 0, -1.0)))
    diagram = bifurcation_diagram(problem, (8.0, 8.24), rates=False)
    branch = diagram.branch("D_4h from zonal 4+")
    (meeting,), (broken,), (crossed,) = (
        diagram.events("branch point", label) for label in ("zonal 4+", "octahedral", branch.label)
    )
    assert branch.coupling[0] == pytest.approx(meeting.coupling, rel=1e-8)
    assert crossed.coupling == pytest.approx(broken.coupling, rel=1e-8)
    # It is recorded once, not from its other end as well, whose state it passes.
    assert [each.label for each in diagram.branches].count(branch.label) == 1
    assert not any(each.label.endswith("from octahedral") for each in diagram.branches)
    # Before it has modes that octahedral states do not have, and no axis.
    middle = branch.moments.lengths[crossed.point // 2]
    assert middle[2] > 0.01


@pytest.mark.parametrize(
    ("series", "interval"),
    [
        # The branch between the octahedral and the C_4v one has a knot exactly where the search meets its other end,
        ((-0.25052, 0.09073, -0.59481, -1.02563), (7.72105, 8.40433)),
        # and here one beside a fold, where the couplings of the knots of both differ by rounding.
        ((-0.24610, 0.09342, -0.59103, -1.02641), (7.70451, 8.38217)),
    ],
)
def test_a_state_that_is_a_point_of_a_branch_already_is_not_followed_again(series, interval):
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(series))
    diagram = bifurcation_diagram(problem, interval, rates=False, depth=2)
    labels = [branch.label for branch in diagram.branches]
    assert sum(label.startswith("C_4v") and label.endswith("from octahedral") for label in labels) == 1


@pytest.mark.parametrize("start", [0.0, -0.3])
def test_end_points_do_not_depend_on_where_a_mode_does_not_act(start):
    """Where a coefficient is zero there are fewer harmonics, and classes of them have other numbers."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.0, start, -2.427, -4.307)))
    diagram = bifurcation_diagram(problem, relative=(0.8, 1.6), rates=False)
    found = curve(diagram.events("transition", "octahedral")[0], "w2", (-0.7, 0.7))
    (point,) = found.special_points
    error, sizes = linearised(point.problem, float(point.coupling), point.cosine, point.sine, 4)
    assert (point.type, point.status) == ("end point", "converged")
    assert error < 1e-12
    assert sizes[-5] < 1e-10 < 1e-5 < sizes[-6]


def test_directions_that_break_no_mirror_of_the_coordinates_are_looked_at_along_a_line():
    """Two directions of the tetrahedral state change together, one of them in the class of the state itself."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.048, -2.053, -3.866, -4.202)))
    diagram = bifurcation_diagram(problem, (1.55, 1.65), rates=False)
    found = curve(diagram.events("transition", "tetrahedral")[0], "w4", (-8.404, -1.2606))
    assert not found.warnings
    point = min(found.special_points, key=lambda each: abs(each.values[0] + 8.22))
    assert (point.type, point.status) == ("end point", "converged")
    error, sizes = linearised(point.problem, float(point.coupling), point.cosine, point.sine, 8)
    assert error < 1e-12
    # Three rotations and the two.
    assert sizes[-5] < 1e-9 < 1e-5 < sizes[-6]


def test_a_curve_ends_where_its_states_become_even_near_the_uniform_one():
    """The even state at one end has a tenth of the moments of that at the other, less than a step changes them by."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-2.093, -3.082, -2.638)))
    folds = bifurcation_diagram(problem, (1.4, 1.6), rates=False).events("fold")
    start = min(folds, key=lambda event: abs(event.coupling - 1.48326784))
    found = curve(start, "w2", (-4.5, -1.5))
    assert {found.first_outcome, found.outcome} == {Outcome.JOINED_BRANCH}
    assert sorted(point.type for point in found.special_points) == ["cusp", "cusp", "tricritical", "tricritical"]
    for end in (0, -1):
        # Odd degrees have no moments there.
        assert np.max(np.abs([found.moments.length(1)[end], found.moments.length(3)[end]])) < 1e-9
        assert found.moments.length(2)[end] > 0.01


def test_a_curve_ends_where_its_states_meet_their_images_though_their_largest_wave_vanishes_there():
    """The wave of degree one about the free axis, the largest at the start, passes zero beside the state in between."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.407, -2.365, -2.994, -3.485)))
    diagram = bifurcation_diagram(problem, (2.3, 2.5), rates=False)
    (start,) = (
        event for event in diagram.events("fold") if diagram.branches[event.branch].label == "C_s from zonal 3"
    )
    found = curve(start, "w4", (-4.5, -2.5))
    assert not passed_twice(found)
    assert found.outcome is Outcome.JOINED_BRANCH
    assert not found.warnings
    (end,) = (point for point in found.special_points if point.type == "tricritical")
    assert end.values == pytest.approx(found.values[-1], rel=1e-12)
    assert end.values == pytest.approx([-3.0200, 2.4841], abs=1e-4)


@functools.cache
def fold_of_a_closed_curve() -> SpecialPoint:
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.982, -2.345, -3.506, -3.085)))
    folds = bifurcation_diagram(problem, (2.38, 2.39), rates=False).events("fold")
    return min(folds, key=lambda event: abs(event.coupling - 2.38579844))


@pytest.mark.parametrize("interval", [(-4.0, 0.0), (-3.0, -1.0)])
def test_a_closed_curve_ends_at_its_first_point(interval):
    """Also where that lies in a step on which there are organising points."""
    found = curve(fold_of_a_closed_curve(), "w1", interval)
    assert found.outcome is Outcome.CLOSED_LOOP
    assert found.values[-1] == pytest.approx(found.values[0], rel=1e-12)
    for degree in range(1, 5):
        length = found.moments.length(degree)
        assert length[-1] == pytest.approx(length[0], rel=1e-9)
    assert len(found.special_points) == 4
    assert not passed_twice(found)


def test_a_curve_is_closed_at_an_image_of_its_first_point_and_at_no_other():
    start = start_of(fold_of_a_closed_curve())
    point = STARTS["fold"](start, plane_of(start, ("w1", "coupling"), (-3.0, -1.0)))
    first, second = [item for item, _ in zip(trace(point, Arclength(), 0.05), range(6), strict=False)][3:5]
    arc = Arc(first, second)
    middle = arc(0.5 * (first.arclength + second.arclength))
    basis = middle.equation.bases[0]
    parts = (middle.b[:-1], middle.solution.tangent_b[:-1])
    images = list(zip(*map(basis.images, parts), strict=True))
    assert len(images) > 1
    for image, tangent in images:
        solution = dataclasses.replace(
            middle.solution,
            b=np.append(image, middle.b[-1]),
            tangent_b=np.append(tangent, middle.solution.tangent_b[-1]),
        )
        known = Point(middle.equation, solution, 1.0)
        closing = closing_point(known, arc)
        assert closing is not None
        assert closing.b == pytest.approx(middle.b, abs=1e-9)
        # In the other direction the curve goes back, and a state beside is another one.
        assert closing_point(known, arc, -1.0) is None
        assert closing_point(turned_back(known, 1.0), arc) is None
        assert closing_point(turned_back(known, 1.0), arc, -1.0).b == pytest.approx(middle.b, abs=1e-9)
        beside = dataclasses.replace(solution, b=solution.b + 1e-5 * np.linspace(-1.0, 1.0, solution.b.size))
        assert closing_point(Point(middle.equation, beside, 1.0), arc) is None


def test_folds_end_where_two_directions_of_a_state_with_an_axis_are_critical():
    """Where the branch points of both cross; about the end only one of the parts without axis is small beside it."""
    potential = GegenbauerSeries((-1.3, -2.013, -2.744, -3.439))
    diagram = bifurcation_diagram(McKeanVlasov(Sphere(3), potential), relative=(0.5, 1.12), rates=False, depth=2)
    labels = [branch.label for branch in diagram.branches]
    interval = (-3.6, -3.1)
    crossed = []
    for event in diagram.events("branch point"):
        if labels[event.branch] == "zonal 3":
            points = curve(event, "w4", interval).special_points
            crossed.append({float(each.values[0]) for each in points if each.type == "mode interaction"})
    first, second = crossed
    crossings = sorted(one for one in first for other in second if abs(one - other) < 1e-9)
    (fold,) = (event for event in diagram.events("fold") if labels[event.branch] == "C_s from zonal 3")
    found = curve(fold, "w4", interval)
    assert not found.warnings
    assert [(each.type, each.status) for each in found.special_points] == 2 * [("mode interaction", "converged")]
    assert found.first[[0, -1]] == pytest.approx(crossings, abs=1e-9)


@pytest.mark.parametrize("method", [None, Arclength(max_step=0.005), Arclength(max_step=0.002)])
def test_a_curve_that_passes_the_uniform_state_closely_does_not_end_there_silently(method):
    """Three degrees are critical within 1e-3 of each other, and states get as small as 2.5e-4 and no smaller."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.261, -2.386, -3.341, -3.376)))
    folds = bifurcation_diagram(problem, (1.9, 2.2), rates=False, depth=2).events("fold")
    start = min(folds, key=lambda event: abs(event.coupling - 2.12121699))
    found = curve(start, "w1", (-1.761, -0.761), method=method)
    assert not passed_twice(found)
    guessed = any(point.status == "guess" for point in found.special_points)
    assert guessed or any("not located" in said for said in found.warnings)
    assert np.linalg.norm(found.cosine[:, 1:], axis=1).min() > 2e-4


def test_what_is_cut_off_a_curve_is_not_warned_of():
    knots = [SimpleNamespace(point=SimpleNamespace(arclength=float(length))) for length in range(10)]
    side = Side(knots[:], changing=knots[7:], untold={"cusp": knots[2:4], "tricritical": knots[8:]})
    _cut(side, 5.0)
    assert side.knots == knots[:5]
    assert side.changing == []
    assert side.untold == {"cusp": knots[2:4]}


@pytest.mark.parametrize("method", [None, Arclength(max_step=0.05)])
def test_a_curve_ends_in_the_uniform_state_though_a_step_over_it_leads_to_an_image(method):
    # Thresholds of degrees 2 and 3 cross where w_2/5 = w_3/7; states there have moments of both, of which reflections
    # change the sign of one.
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-0.847, -1.668, -3.189)))
    (start,) = [
        event
        for event in bifurcation_diagram(problem, (0.6, 2.5), rates=False).events("branch point", "D_3h 3")
        if event.coupling < 2.15
    ]
    found = curve(start, "w2", (-2.3801, -0.8324), method=method)
    assert Outcome.JOINED_BRANCH in (found.first_outcome, found.outcome)
    assert not found.warnings
    (end,) = found.special_points
    assert (end.type, end.status) == ("mode interaction", "converged")
    np.testing.assert_allclose(end.values, (-5.0 * 3.189 / 7.0, 7.0 / 3.189), rtol=POINT)


@pytest.mark.parametrize("method", [None, Arclength(max_step=0.0125), Arclength(max_step=0.003)])
def test_a_fold_is_located_where_two_directions_of_its_own_symmetry_are_neutral(method):
    # There the state of C_2v is one of D_3h, at a fold of its own as well: curves of that branch pass the same point,
    # where their systems are regular.
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.016, -1.492, -4.403, 1.057)))
    diagram = bifurcation_diagram(problem, (0.6, 2.5), rates=False)
    start = diagram.events("fold", "C_2v from zonal 3")[0]
    points = [each for each in along_w1(start, method).special_points if each.type == "mode interaction"]
    (symmetric,) = along_w1(diagram.events("fold", "D_3h 3")[0]).special_points
    (point,) = points
    np.testing.assert_allclose(point.values, symmetric.values, rtol=POINT)
    assert point.lower <= symmetric.values[0] <= point.upper
    assert point.upper - point.lower <= 4.0 * POINT


def along_w1(start, method=None):
    """The curve of a special point over the first coefficient."""
    return curve(start, "w1", (-1.2214, -0.4683), method=method)


@pytest.mark.parametrize("method", [None, Arclength(max_step=0.05), Arclength(max_step=0.015)])
def test_several_classes_that_are_neutral_at_one_singular_point_are_one_event(method):
    # Beside it Newton's method goes over to a curve along which one of the classes is neutral to rounding.
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.569, -2.03, -2.598)))
    diagram = bifurcation_diagram(problem, relative=(0.5, 1.6), rates=False, depth=2)
    start = min(diagram.events("branch point"), key=lambda event: abs(event.coupling - 2.88907))
    found = curve(start, "w2", (-2.842, -1.218), method=method)
    assert not found.warnings
    first, second = sorted(found.special_points, key=lambda point: point.values[0])
    assert (first.status, first.type, second.type) == ("converged", "mode interaction", "mode interaction")
    assert second.upper - second.lower <= 1e-9
    error, sizes = linearised(second.problem, float(second.coupling), second.cosine, second.sine, 6)
    assert error < 1e-9
    # Three rotations, and five directions of the more symmetric state that it is there.
    assert sizes[-8] < 1e-9 < 1e-2 < sizes[-9]


def test_zeros_of_polynomials_keep_the_signs_at_their_nodes():
    nodes = [0.0, 0.3, 0.5, 1.0]
    values = dict(zip(nodes, (1.0, 1e-17, -1e-17, -1.0), strict=True))
    assert 0.3 <= _root_of_polynomial(nodes, values) <= 0.5


def test_rounding_of_a_class_of_one_harmonic_is_no_organising_point():
    # Along branch points the class of the critical direction is singular everywhere, here a matrix of one number.
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, 0.0, -1.0, -1.35)))
    diagram = bifurcation_diagram(problem, relative=(0.6, 1.6), rates=False, depth=2)
    start = max(diagram.events("branch point", "octahedral"), key=lambda event: event.coupling)
    plain, *finer = (
        [(point.type, *point.values) for point in curve(start, "w4", (-1.62, -1.08), method=method).special_points]
        for method in (None, Arclength(max_step=0.03), Arclength(max_step=0.02))
    )
    for points in finer:
        assert [point[0] for point in points] == [point[0] for point in plain]
        np.testing.assert_allclose([point[1:] for point in points], [point[1:] for point in plain], rtol=POINT)
