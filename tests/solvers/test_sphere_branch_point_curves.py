"""Curves of branch points on branches of states of spheres: closed forms, integrals, diagrams, spectra."""

import numpy as np
import pytest
from scipy.optimize import brentq

from meanfield import GegenbauerSeries, Kuramoto, MaierSaupe, McKeanVlasov, Sphere, critical_couplings, open_diagram
from solvers import bifurcation_diagram, curve, phase_diagram, spectrum
from solvers.bases import InvariantBasis, ZonalBasis
from solvers.equations.geometry import Density
from solvers.sphere.complements import complements
from solvers.sphere.groups import ICOSAHEDRAL, OCTAHEDRAL, TETRAHEDRAL
from solvers.sphere.subgroups import subgroups
from solvers.two_parameters.in_plane.at_place import block_at, state_at
from solvers.two_parameters.in_plane.plane import Plane
from solvers.two_parameters.systems.branch_points import BranchPointEquation

# Relative accuracy promised for points on curves, and for slopes.
POINT, SLOPE = 1e-11, 1e-9
RANDOM = np.random.default_rng(11)
HEIGHTS, WEIGHTS = np.polynomial.legendre.leggauss(80)


def nematic(eta):
    """<u^2> of exp(eta u^2) on the ordinary sphere, its derivative, the coupling eta/S and its derivative."""
    weights = WEIGHTS * np.exp(eta * (HEIGHTS**2 - 1.0))
    weights /= weights.sum()
    square, fourth = weights @ HEIGHTS**2, weights @ HEIGHTS**4
    slope, order = fourth - square**2, 1.5 * square - 0.5
    return square, slope, eta / order, (order - 1.5 * eta * slope) / order**2


@pytest.mark.parametrize(("label", "azimuthal"), [("prolate", 1), ("oblate", 0)])
def test_nematics_become_polar_where_the_first_moment_attracts_as_much(label, azimuthal):
    # kappa a <c^2> = 1 with c the component of x along the axis, order 0, or across it.
    problem = McKeanVlasov(Sphere(3), MaierSaupe() + 0.5 * Kuramoto())
    diagram = bifurcation_diagram(problem, (6.7, 12.0), rates=False, depth=1)
    start = next(
        event for event in diagram.events("branch point", label) if f"order {azimuthal}" in event.description
    )
    found = curve(start, "kuramoto_factor", (0.35, 0.7))
    point, *at_fold = found.special_points
    assert (point.type, *point.values) == ("mode interaction", pytest.approx(0.4), pytest.approx(7.5))
    # One of the prolate states that become polar is at the fold of their branch.
    assert [each.type for each in at_fold] == ["mode interaction"] * (label == "prolate")
    for each in at_fold:
        eta = brentq(lambda eta: nematic(eta)[3], 1.0, 4.0, xtol=1e-15, rtol=1e-15)
        square, _, coupling, _ = nematic(eta)
        assert each.status == "converged"
        assert each.values == pytest.approx([2.0 / (coupling * (1.0 - square)), coupling], rel=POINT)
    for place in (1, len(found) // 2, len(found) - 2):
        factor, coupling = found.values[place]
        length = found.moments.lengths[place][2] * (1.0 if label == "prolate" else -1.0)
        guess = coupling * length
        eta = brentq(_missed, guess - 0.01, guess + 0.01, args=coupling, xtol=1e-15, rtol=1e-15)
        square, slope, _, growth = nematic(eta)
        across = (square, slope) if azimuthal == 0 else (0.5 * (1.0 - square), -0.5 * slope)
        assert factor * coupling * across[0] == pytest.approx(1.0, rel=POINT)
        in_factor = -(growth / coupling + across[1] / across[0]) * factor
        assert found.slope[place] == pytest.approx(growth / in_factor, rel=SLOPE)


def _missed(eta, coupling):
    return nematic(eta)[2] - coupling


def test_points_are_those_of_diagrams():
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0, 0, 0, -1.0, 0, -0.3)))
    diagram = bifurcation_diagram(problem, (7.5, 8.5), rates=False, depth=1)
    (start,) = diagram.events("branch point", "zonal 4+")
    value = RANDOM.uniform(-0.28, 0.0)
    found = curve(start, "w6", (-0.3, value))
    assert found.first[-1] == value
    there = bifurcation_diagram(problem.with_parameter("w6", value), (7.5, 8.5), rates=False, depth=1)
    (point,) = there.events("branch point", "zonal 4+")
    assert found.coupling[-1] == pytest.approx(point.coupling, rel=POINT)


@pytest.mark.parametrize(("dimension", "symmetry"), [(3, 1), (3, 2), (5, 1), (8, 2)])
def test_moments_of_orders_are_derivatives(dimension, symmetry):
    """Third moments are derivatives of covariances in a field, the deviations of all modes left in."""
    basis = ZonalBasis(Sphere(dimension), np.arange(1, 5), 64, symmetry, None)
    field, change = RANDOM.normal(size=(2, 4))

    def density(field):
        return Density(basis, field, basis.gibbs(field).moments)

    for found in complements(basis, 4):
        degrees = found.degrees(8)
        chi, phi = RANDOM.normal(size=(2, degrees.size))
        at_field = density(field)
        products, mass = found.products(at_field, degrees, chi, phi)
        exact = (products - mass * basis.means(at_field.moments)) @ change
        step = 1e-3
        far, near, after, beyond = (
            chi @ found.covariance(density(field + k * step * change), degrees) @ phi for k in (-2, -1, 1, 2)
        )
        # Of fourth order, with rounding over the step.
        assert exact == pytest.approx((8 * (after - near) - (beyond - far)) / (12 * step), abs=1e-9, rel=1e-9)


# States without an axis


def without_axis(series, relative, label, depth=1):
    """Return a branch point of states without an axis, couplings in units of the critical one of the degree."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(series))
    degree = int(np.argmin(series)) + 1
    unit = float(critical_couplings(problem, degree)[degree])
    window = relative[0] * unit, relative[1] * unit
    return bifurcation_diagram(problem, window, rates=False, depth=depth).events("branch point", label)[0]


def test_of_one_degree_the_coupling_is_inverse_to_it():
    start = without_axis((0, 0, 0, -1.0), (0.9, 0.925), "octahedral")
    found = curve(start, "w4", (-1.1, -0.9))
    assert found.label == "branch point of the octahedral"
    assert found.first * found.coupling == pytest.approx(-float(start.coupling), rel=POINT)
    assert found.slope == pytest.approx(-found.coupling / found.first, rel=SLOPE)


@pytest.mark.parametrize(
    ("series", "relative", "label", "name", "depth"),
    [
        ((0, 0, -0.356, -1.0, 0.449), (0.98, 1.36), "cubic", "w3", 1),
        ((0, -0.091, -1.0, 0, 0, 0.328), (0.98, 1.22), "D_3h 3", "w6", 1),
        ((0, -0.091, -1.0, 0, 0, 0.328), (0.98, 1.22), "C_2v from zonal 3", "w2", 2),
    ],
)
def test_at_the_ends_a_direction_is_neutral_besides_rotations(series, relative, label, name, depth):
    """By the spectrum among all harmonics, from which rotations are set apart."""
    start = without_axis(series, relative, label, depth)
    value = start.problem.parameters[name]
    found = curve(start, name, (value - 0.02, value + 0.02))
    for place in (0, -1):
        rates = spectrum(found.state(place))
        nearest = np.abs(np.concatenate([rates.even, rates.odd])).min()
        assert nearest < 1e-11
    step = np.diff(found.coupling[-3:]) / np.diff(found.first[-3:])
    assert min(step) < found.slope[-2] < max(step)


@pytest.mark.parametrize(("group", "classes"), [(OCTAHEDRAL, 33), (ICOSAHEDRAL, 22), (TETRAHEDRAL, 11)])
def test_subgroups_of_the_solids(group, classes):
    """There are 33 of the cube, 22 of the icosahedron and 11 of the tetrahedron up to conjugation, these included."""
    found = subgroups(group)
    assert len(found) == classes - 1
    assert [each.order for each in found] == sorted((each.order for each in found), reverse=True)
    for each in found:
        distances = np.abs(each.elements[:, None] - group.elements).max(axis=(2, 3)).min(axis=1)
        assert distances.max() < 1e-9
        assert group.order % each.order == 0


@pytest.mark.parametrize("series", [(0, 0, -0.4, -1.0), (0, -0.3, -1.0, 0.2)])
def test_derivatives_among_the_harmonics_of_a_subgroup(series):
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(series), coupling=12.0)
    places = Plane(problem, ("w3", "coupling"), (-2.0, 2.0), 1.0, 0.0, 0.0, np.arange(1, 7))
    place = places.coordinates(series[2], 12.0)
    basis = InvariantBasis(TETRAHEDRAL, TETRAHEDRAL.admissible(4), 32)
    b = RANDOM.uniform(0.02, 0.08, basis.degrees.size)
    for block in complements(basis, 4):
        if block.rotates:
            # Their matrix is another beside solutions.
            continue
        degrees = places.significant(*place, block.degrees(4))
        left, _, right = np.linalg.svd(block_at(state_at(places, basis, place, b), places, block, degrees).matrix)
        equation = BranchPointEquation(places, (basis,), block, degrees, 4, (left[:, -1], right[-1]))
        unknown, (along, step) = np.append(b, place[0]), (RANDOM.normal(size=b.size + 1), 2e-4)
        matrix, derivative = equation.linearise(unknown, place[1], unknown)
        far, near, after, beyond = (
            equation.evaluate(unknown + k * step * along, place[1] + k * step).residual for k in (-2, -1, 1, 2)
        )
        exact = (8 * (after - near) - (beyond - far)) / (12 * step)
        assert matrix @ along + derivative == pytest.approx(exact, abs=1e-8)


def test_lines_between_a_state_with_an_axis_and_one_without(tmp_path):
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0, -0.091, -1.0, 0, 0, 0.328)))
    unit = float(critical_couplings(problem, 3)[3])
    window = 0.98 * unit, 1.22 * unit
    diagram = bifurcation_diagram(problem, window, rates=False, depth=1)
    (start,) = diagram.events("transition")
    assert (start.layout, diagram.branches[start.branch].layout) == ("order", "degree")
    diagram.save(tmp_path / "diagram.nc")
    assert open_diagram(tmp_path / "diagram.nc") == diagram
    found = curve(start, "w6", (0.3, 0.36))
    assert found.label == "transition D_3h 3 | zonal 3"
    there = bifurcation_diagram(problem.with_parameter("w6", 0.36), window, rates=False, depth=1)
    (point,) = there.events("transition")
    assert found.coupling[-1] == pytest.approx(float(point.coupling), rel=POINT)


def test_regions_where_branches_without_an_axis_cross():
    """The branch of D_3h crosses one of C_2v, from which its own lower part is born in another orientation."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0, -0.091, -1.0, 0, 0, 0.328)))
    found = phase_diagram(problem, ("w6", (0.3, 0.4)), relative=(0.95, 1.3), sections=1)
    assert {curve.type for curve in found.curves} == {"threshold", "transition", "branch point"}
    assert {(region.minimiser, region.stable) for region in found.regions} == {
        ("uniform", 1), ("D_3h 3", 1), ("D_3h 3", 2), ("zonal 3", 2), ("zonal 3", 1),
    }  # fmt: skip
    assert all(region.agrees for region in found.regions)


def of_octahedral(coefficients, coupling):
    """Return the branch point of the octahedral branch at a coupling, at which a direction of several is neutral."""
    diagram = bifurcation_diagram(
        McKeanVlasov(Sphere(3), GegenbauerSeries(coefficients)), relative=(0.8, 2.0), rates=False
    )
    return next(
        point
        for point in diagram.events("branch point", "octahedral")
        if point.kernel_dimension == 3 and abs(point.coupling - coupling) < 1e-5
    )


def test_a_direction_beside_its_images_turns_where_the_folds_of_its_branch_end():
    """The class of squares contains the images, which are neutral all along the curve."""
    start = of_octahedral((0.0, 0.632, -1.43, -4.0, 0.0, 0.754), 2.617702)
    (point,) = [each for each in curve(start, "w2", (0.5, 1.6)).special_points if each.type == "tricritical"]
    folds = curve(point, "w2", (1.2, 1.6), type="fold")
    again = curve(folds.point(len(folds) // 2), "w2", (1.2, 1.6))
    (ended,) = again.special_points
    assert (ended.type, ended.status, again.label) == ("tricritical", "converged", "fold of the C_4v")
    assert ended.values == pytest.approx(point.values, rel=1e-10)


def test_nothing_turns_along_a_coefficient_that_does_not_act():
    found = curve(of_octahedral((0.0, -2.401, 0.0, -4.315), 2.084122), "w1", (-0.8, 0.8))
    assert found.special_points == ()
    assert found.warnings == ()


def test_lines_of_unstable_states_end_where_one_is_born_of_an_unstable_one():
    """The states of C_4v, in the octahedral and the zonal state of whose branches they are born."""
    octahedral = of_octahedral((0.0, 0.298, -0.939, -4.0, 0.0, 0.464), 3.612657)
    start = next(
        point for point in curve(octahedral, "w3", (-2.9, -0.9)).special_points if point.type == "tricritical"
    )
    line = curve(start, "w3", (-2.9, -2.7), type="transition")
    assert (line.label, line.warnings) == ("transition octahedral | C_4v", ())
    assert [(point.type, point.status) for point in line.special_points] == [("end point", "converged")] * 2
    end = line.special_points[-1]
    there = bifurcation_diagram(start.problem.with_parameter("w3", end.values[0]), (1.9, 2.3), rates=False, depth=2)
    births = [
        point
        for point in there.events("branch point")
        if there.branches[point.branch].label == "zonal 3 from zonal 4+"
    ]
    assert min(abs(point.coupling / end.coupling - 1.0) for point in births) < POINT


@pytest.mark.parametrize(
    ("dimension", "weights", "alike"),
    [(4, (-0.223, 0.47, -0.915), [-0.47 * 88.0 / 45.0]), (3, (-0.223, 0.2, -0.5255), [])],
)
def test_curves_end_where_modes_of_their_states_are_critical_though_the_class_has_one(dimension, weights, alike):
    """Directions of azimuthal order 3 have degree 3 alone, in which the states are as large as in degree 1."""
    problem = McKeanVlasov(Sphere(dimension), GegenbauerSeries(weights, dimension))
    of_one, of_three = (Sphere(dimension).multiplicity(degree) for degree in (1, 3))
    meeting = weights[0] * of_three / of_one
    diagram = bifurcation_diagram(problem, relative=(0.9, 1.1), rates=False)
    starts = [event for event in diagram.events("branch point") if diagram.branches[event.branch].symmetry]
    assert starts
    for found in [curve(start, "w3", (1.2 * meeting, 0.9 * meeting)) for start in starts]:
        ends = [point.values[0] for point in found.special_points if point.type == "mode interaction"]
        # At the other end all directions of degree 3 are alike, see test_directions_of_one_degree.
        assert sorted(ends) == pytest.approx([*alike, meeting], rel=1e-13)
