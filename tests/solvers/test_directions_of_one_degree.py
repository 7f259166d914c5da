"""Where branch points of the branches of one degree on the ordinary sphere come down to its threshold.

The branches are the critical points of a form of degree four on the harmonics of the degree, on spheres of which it
is compared with quadrature here. Those of degrees 3 and 5 are constant for one ratio of multipliers each.
"""

import itertools

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import eval_gegenbauer, sph_harm_y

from meanfield import GegenbauerSeries, McKeanVlasov, Outcome, Sphere, critical_couplings
from solvers import bifurcation_diagram, curve
from solvers.sphere.complements import AzimuthalComplement
from solvers.two_parameters import start_of
from solvers.two_parameters.ends.normal_form import NormalForm, SecondVariation
from solvers.two_parameters.in_plane.unknowns import basis_of
from solvers.two_parameters.systems.starts import plane_of

EPS = np.finfo(float).eps
COSINES, WEIGHTS = np.polynomial.legendre.leggauss(32)
POLAR, AROUND = np.meshgrid(np.arccos(COSINES), 2.0 * np.pi * np.arange(64) / 64, indexing="ij")
# What is left of sums over the grid of products of four harmonics, some hundred roundings of them, in the forms.
QUADRATURE = 1e-12
MASSES = np.multiply.outer(0.5 * WEIGHTS, np.full(64, 1.0 / 64))


def harmonic(degree, order):
    """Return a real harmonic of mean square one on a grid of the sphere."""
    values = sph_harm_y(degree, abs(order), POLAR, AROUND) * np.sqrt(4.0 * np.pi)
    return values.real if order == 0 else np.sqrt(2.0) * (values.real if order > 0 else values.imag)


def curvature(series, psi):
    """Return b of the gradient law of a series on the direction of a function of the degree of its last term."""
    psi, degree = psi / np.sqrt((MASSES * psi**2).sum()), len(series)
    strengths = {k: weight / (2 * k + 1) for k, weight in enumerate(series, start=1)}
    found = (MASSES * psi**4).sum() / 6.0 - 0.5
    for k in range(2, degree, 2):
        q = strengths[k] / strengths[degree]
        square = sum((MASSES * psi**2 * harmonic(k, m)).sum() ** 2 for m in range(-k, k + 1))
        found += 0.5 * q / (1.0 - q) * square
    return found


def alike(series, place, directions, around):
    """Return the weight of a degree at which b is the same on two directions."""

    def difference(weight):
        moved = [*series[: place - 1], weight, *series[place:]]
        return curvature(moved, directions[0]) - curvature(moved, directions[1])

    return brentq(difference, *around, xtol=4 * EPS)


def curves_to_the_threshold(series, place, degree, interval, most, above=1.2):
    """Return the curves, from the branch points of the branches at a series, that meet the threshold of the degree."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(series))
    critical = float(critical_couplings(problem, degree)[degree])
    diagram = bifurcation_diagram(problem, (0.9 * critical, above * critical), rates=False)
    starts = [start for start in diagram.events("branch point") if start.branch > 0]
    return [curve(start, f"w{place}", interval) for start in starts[:most]]


def test_degree_three_is_alike_at_fifteen_over_a_hundred_and_twenty_two():
    series = (0.0, 0.05, -1.0)
    for pair in itertools.combinations([harmonic(3, 0), harmonic(3, -2), harmonic(3, 3)], 2):
        assert alike(series, 2, pair, (0.0, 0.3)) == pytest.approx(15.0 / 122.0, rel=1e-12)
    for start in (0.05, 0.2):
        found = curves_to_the_threshold((-0.2, start, -1.0), 2, 3, (-0.3, 0.6), 4)
        assert len(found) > 1
        for each in found:
            assert Outcome.JOINED_BRANCH in (each.outcome, each.first_outcome)
            assert not any("not located" in warning for warning in each.warnings)
            (end,) = [point for point in each.special_points if abs(point.values[1] - 7.0) < 1e-9]
            assert (end.type, end.status) == ("mode interaction", "converged")
            assert end.values[0] == pytest.approx(15.0 / 122.0, rel=1e-12)
            assert end.lower <= 15.0 / 122.0 <= end.upper


@pytest.mark.parametrize("names", [("w2", "w3"), ("w3", "w2")])
def test_degree_three_is_alike_at_one_coupling_as_well(names):
    """The threshold is w3 = -7 over the coupling, along an axis of the plane."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-0.2, 0.05, -1.0)))
    diagram = bifurcation_diagram(problem, (6.3, 8.4), rates=False)
    starts = [start for start in diagram.events("branch point") if start.branch > 0]
    for start in starts[:2]:
        found = curve(start, names[0], (-0.3, 0.6) if names[0] == "w2" else (-1.1, -0.9), against=names[1])
        assert not any("not located" in warning for warning in found.warnings)
        by_name = {"w2": 7.0 / start.coupling * 15.0 / 122.0, "w3": -7.0 / start.coupling}
        exact = np.array([by_name[name] for name in names])
        # The other end of some is where degrees 2 and 3 are critical.
        end = min(found.special_points, key=lambda point: np.abs(point.values - exact).max())
        assert (end.type, end.status) == ("mode interaction", "converged")
        assert end.values == pytest.approx(exact, rel=1e-12)
        assert end.lower <= exact[0] <= end.upper


def test_degree_five_is_alike_at_a_hundred_and_ninety_five_over_1186():
    """Of the part of degree 4 of the square of a harmonic the length is the same for all."""
    series, exact = (0.19, 0.15, -0.12, -0.08, -1.0), 195.0 / 1186.0
    for pair in itertools.combinations([harmonic(5, 0), harmonic(5, 5), harmonic(5, 4)], 2):
        assert alike(series, 2, pair, (0.0, 0.4)) == pytest.approx(exact, rel=1e-12)
    found = curves_to_the_threshold(series, 2, 5, (exact - 0.3, exact + 0.3), 9, above=1.05)
    assert not any("not located" in warning for each in found for warning in each.warnings)
    ends = [point for each in found for point in each.special_points if abs(point.values[1] - 11.0) < 1e-9]
    assert len(ends) > 3
    for end in ends:
        assert (end.type, end.status) == ("mode interaction", "converged")
        assert end.lower <= exact <= end.upper


def test_on_the_next_sphere_degree_three_is_alike_at_45_over_88():
    """By quadrature of the zonal harmonic of S^3 and one of order 3; order one is a rotation."""
    nodes, (heights, masses) = 40, np.polynomial.legendre.leggauss(30)
    places = np.pi * np.arange(1, nodes + 1) / (nodes + 1)
    weights = np.multiply.outer(np.sin(places) ** 2, masses) / (np.sin(places) ** 2).sum() / masses.sum()

    def function(degree, order):
        across = np.polynomial.legendre.Legendre.basis(order)(heights)
        along = eval_gegenbauer(degree - order, 1 + order, np.cos(places)) * np.sin(places) ** order
        values = np.multiply.outer(along, across)
        return values / np.sqrt((weights * values**2).sum())

    def form(psi, second):
        q = (second / 9.0) / (-1.0 / 16.0)
        square = sum((weights * psi**2 * function(2, order)).sum() ** 2 for order in range(3))
        return 0.5 * q / (1.0 - q) * square + (weights * psi**4).sum() / 6.0

    def variation(second, order):
        zonal, amplitudes = function(3, 0), np.linspace(-1.0, 1.0, 5)
        along = [form(zonal + amplitude * function(3, order), second) for amplitude in amplitudes]
        # The constant of b, -1/2 of the square of the mean square, is the same in all directions.
        constant, _, quadratic, *_ = np.polynomial.polynomial.polyfit(amplitudes, along, 4)
        return 0.5 * quadratic - constant

    assert abs(variation(0.5, 1)) < 1e-13
    assert brentq(variation, 0.4, 0.6, args=(3,), xtol=4 * EPS) == pytest.approx(45.0 / 88.0, rel=1e-12)


@pytest.mark.parametrize("degree", [3, 5, 7])
def test_the_second_variation_is_that_of_the_form(degree):
    """The form is a polynomial of degree four along any direction, and so known from five places."""
    generator = np.random.default_rng(51970 + degree)
    series = (*generator.uniform(-0.3, 0.3, degree - 1).tolist(), -1.0)
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(series))
    critical = float(critical_couplings(problem, degree)[degree])
    diagram = bifurcation_diagram(problem, (0.99 * critical, 1.01 * critical), rates=False)
    start = start_of(next(point for point in diagram.events("branch point") if point.branch == 0))
    flat = plane_of(start, ("w2", "coupling"), (series[1] - 0.1, series[1] + 0.1))
    basis = basis_of(flat, np.eye(degree + 1)[degree], flat.coordinates(series[1], critical))
    form = NormalForm(basis, (basis.degrees == degree).astype(float))
    zonal, places = harmonic(degree, 0), np.linspace(-1.0, 1.0, 5)
    assert form(problem) == pytest.approx(curvature(series, zonal), abs=256 * EPS)
    for order in range(1, degree + 1):
        variation = SecondVariation(form, basis, AzimuthalComplement(3, order, None))
        assert variation.size == (order > 1)
        along = [
            (curvature(series, zonal + place * harmonic(degree, order)) + 0.5) * (1.0 + place**2) ** 2
            for place in places
        ]
        constant, _, second, *_ = np.polynomial.polynomial.polyfit(places, along, 4)
        # Order one is a rotation.
        found = variation(problem).item(0) if order > 1 else 0.0
        assert found == pytest.approx(0.5 * second - constant, abs=QUADRATURE)


@pytest.mark.parametrize(("degree", "place"), [(3, 2), (5, 2), (5, 4)])
def test_the_form_is_finite_and_no_root_where_another_degree_is_critical(degree, place):
    """There it has a pole, at a ratio of the weights that the search for its roots may meet exactly."""
    series = [0.0] * (degree - 1) + [-float(2 * degree + 1)]
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(series))
    diagram = bifurcation_diagram(problem, (0.99, 1.01), rates=False)
    start = start_of(next(point for point in diagram.events("branch point") if point.branch == 0))
    flat = plane_of(start, (f"w{place}", "coupling"), (-20.0, 0.0))
    basis = basis_of(flat, np.eye(degree + 1)[degree], flat.coordinates(0.0, 1.0))
    form = NormalForm(basis, (basis.degrees == degree).astype(float))
    variation = SecondVariation(form, basis, AzimuthalComplement(3, 2, None))
    at_the_pole = problem.with_parameter(f"w{place}", -float(2 * place + 1))
    without_strength = problem.with_parameter(f"w{degree}", 0.0)
    for at in (at_the_pole, without_strength):
        assert np.isfinite(form(at))
        assert np.isfinite(variation(at)).all()
    # A rounding beside the pole it is the residue over that.
    assert abs(form(at_the_pole)) > 1e-3 / EPS


def test_branch_points_of_an_order_above_the_degree_end_where_another_degree_is_critical():
    """Perturbations of order 3 have no part of degree 1, whose branch meets theirs where both degrees are critical."""
    problem = McKeanVlasov(Sphere(5), GegenbauerSeries((-0.265, 0.452, -1.405), 5))
    diagram = bifurcation_diagram(problem, (18.0, 28.0), rates=False)
    starts = [start for start in diagram.events("branch point") if start.branch > 0]
    assert len(starts) > 2
    # N_1 = 5 and N_3 = 30 harmonics.
    exact = (-1.405 / 6.0, 30.0 / 1.405)
    for start in starts:
        found = curve(start, "w1", (-0.97, 0.66))
        assert not any("not located" in warning for warning in found.warnings)
        joined = (found.outcome, found.first_outcome).count(Outcome.JOINED_BRANCH)
        ends = [point for point in found.special_points if abs(point.values[0] - exact[0]) < 1e-9]
        assert len(ends) == joined > 0
        for end in ends:
            assert (end.type, end.status) == ("mode interaction", "converged")
            assert end.values == pytest.approx(exact, rel=1e-12)
