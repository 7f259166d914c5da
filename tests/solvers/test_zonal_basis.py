"""Gauss rules, functions of each order and zonal densities on spheres, against mpmath and dense sums."""

import functools
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from meanfield import Circle, ComputationFailed, InvalidInput, Kuramoto, McKeanVlasov, Sphere
from meanfield.harmonics import gauss_rule, northern_half, polynomials
from meanfield.harmonics.quadrature import build_rule
from solvers.bases import EPS, CosineBasis, FourierBasis, ZonalBasis, resolved, sector_functions
from solvers.bases.products import RecurrentProducts, TabulatedProducts
from solvers.equations.equation import StationaryEquation
from solvers.root_finding.newton import solve_at
from solvers.sphere import SPHERE
from tests import problems

DIMENSIONS = (3, 4, 8, 64, 128)
WIDER = np.finfo(np.longdouble).eps < EPS


# Oracles


def multiplicity(dimension: int, degree: int) -> Any:
    if degree == 0:
        return mp.mpf(1)
    return (
        mp.mpf(2 * degree + dimension - 2) / (degree + dimension - 2) * mp.binomial(degree + dimension - 2, degree)
    )


def ascending(dimension: int, degree: int, u: Any) -> list[Any]:
    """Return P_0(u), ..., P_degree(u) by the recurrence in many digits."""
    values = [mp.mpf(1), u]
    for k in range(1, degree):
        values.append(((2 * k + dimension - 2) * u * values[-1] - k * values[-2]) / (k + dimension - 2))
    return values[: degree + 1]


@functools.cache
def exact_node(dimension: int, count: int, place: int) -> tuple[Any, Any]:
    """Return a zero of P_count and its weight 1/sum N_l P_l^2, to thirty digits at least."""
    with mp.workdps(60):
        u = mp.mpf(float(gauss_rule(dimension, count).nodes[place]))
        for _ in range(5):
            *_, before, last = ascending(dimension, count, u)
            u -= last * (1 - u * u) / (count * (before - u * last))
        values = ascending(dimension, count - 1, u)
        return u, 1 / mp.fsum(multiplicity(dimension, k) * p**2 for k, p in enumerate(values))


def places(count: int) -> list[int]:
    return [0, 1, count // 3, count // 2 - 1, count // 2, count - 1]


def von_mises_fisher(dimension: int, strength: float, degree: int) -> tuple[np.ndarray, float]:
    """Return the moments of e^(r u)/Z, ratios of Bessel functions, and log Z."""
    with mp.workdps(40):
        half, r = mp.mpf(dimension) / 2, mp.mpf(strength)
        first = mp.besseli(half - 1, r)
        moments = [mp.besseli(k + half - 1, r) / first for k in range(degree + 1)]
        log_partition = mp.log(mp.gamma(half) * (2 / r) ** (half - 1) * first)
        return np.array(moments, dtype=float), float(log_partition)


def basis_of(dimension: int, size: int, nodes: int, symmetry: int = 1) -> ZonalBasis:
    return ZonalBasis(Sphere(dimension), np.arange(1, size + 1), nodes, symmetry)


def field_of(size: int, **coefficients: float) -> np.ndarray:
    field = np.zeros(size)
    for name, value in coefficients.items():
        field[int(name[1:]) - 1] = value
    return field


# Rules


@pytest.mark.parametrize("count", [64, 257])
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_nodes_and_weights_in_many_digits(dimension: int, count: int) -> None:
    # Double alone loses some units in the recurrence, and in the weights d - 3 times those of the nodes.
    bounds = {np.longdouble: (1.0, 1.0) if WIDER else (16.0, 64.0), np.float64: (16.0, 64.0)}
    for precision, (near_pole, units) in bounds.items():
        rule = build_rule(dimension, count, precision)
        for place in places(count):
            u, weight = exact_node(dimension, count, place)
            with mp.workdps(40):
                logarithm = mp.log(weight)
                errors = [
                    abs(float(x)) for x in (rule.nodes[place] - u, rule.complements[place] / (1 - abs(u)) - 1)
                ]
                relative = abs(float((rule.log_weights[place] - logarithm) / (1 + abs(logarithm))))
                of_weight = abs(float(rule.weights[place] / weight - 1))
            assert errors[0] <= EPS
            assert errors[1] <= near_pole * EPS
            assert relative <= units * EPS
            assert of_weight <= units * (1.0 if near_pole == 1.0 else dimension) * EPS


@pytest.mark.parametrize("count", [1, 2, 3, 64, 65, 512])
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_rules_are_symmetric_and_exact(dimension: int, count: int) -> None:
    rule = gauss_rule(dimension, count)
    assert np.array_equal(rule.nodes, -rule.nodes[::-1])
    assert np.array_equal(rule.log_weights, rule.log_weights[::-1])
    assert np.all(np.diff(rule.nodes) < 0.0)
    even = northern_half(rule)
    power, exact = np.ones(count), 1.0
    for k in range(count):
        # int u^(2k) dmu = (1/2)_k / (d/2)_k; each factor u^2 adds a rounding.
        tolerance = (4 * k + 8) * EPS * exact
        assert abs(rule.weights @ power - exact) <= tolerance
        assert abs(even.weights @ even.nodes ** (2 * k) - exact) <= tolerance
        power, exact = power * rule.nodes**2, exact * (k + 0.5) / (k + 0.5 * dimension)
        if exact < 1e-280:
            break


def test_a_rule_beyond_the_range_of_the_numbers_is_refused() -> None:
    with pytest.raises(ComputationFailed, match="3000 nodes in dimension 1024"):
        build_rule(1024, 3000, np.float64)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_polynomials_to_a_unit_of_their_natural_size(dimension: int) -> None:
    count, degree = 64, 128
    for precision, units in ((np.longdouble, 1.0 if WIDER else 128.0), (np.float64, 128.0)):
        table = polynomials(dimension, build_rule(dimension, count, precision), degree)
        for place in places(count):
            with mp.workdps(60):
                exact = ascending(dimension, degree, exact_node(dimension, count, place)[0])
                natural = [max(map(abs, exact[max(k - 1, 0) : k + 2])) for k in range(degree + 1)]
                errors = [abs(float((table[k, place] - exact[k]) / natural[k])) for k in range(degree + 1)]
            assert max(errors) <= units * EPS


# Functions of each order


@pytest.mark.parametrize(("dimension", "order"), [(3, 0), (3, 1), (3, 100), (4, 2), (16, 5), (128, 1), (128, 40)])
def test_functions_of_an_order_are_orthogonal_with_squares_one_over_multiplicity(
    dimension: int, order: int
) -> None:
    degree = order + 60
    rule = gauss_rule(dimension, degree + 1)
    table = sector_functions(dimension, order, rule, degree)
    norms = np.array([float(mp.sqrt(multiplicity(dimension, k))) for k in range(order, degree + 1)])
    scaled = table * norms[:, None] * np.sqrt(rule.weights)
    assert np.abs(scaled @ scaled.T - np.eye(61)).max() <= (64 + order) * EPS


@pytest.mark.parametrize("dimension", [3, 4, 8, 32])
def test_functions_of_all_orders_add_up(dimension: int) -> None:
    # P_l(<x, y>) = sum_m phi_l^m(u) phi_l^m(v) dim H_m P_m(cos omega), H_m and P_m of the sphere one dimension below.
    degree = 12
    rule = gauss_rule(dimension, 9)
    u, v = rule.nodes[2], rule.nodes[6]
    below = Circle() if dimension == 3 else Sphere(dimension - 1)
    omega = 0.7
    if dimension == 3:
        lower = [mp.cos(m * omega) for m in range(degree + 1)]
    else:
        lower = ascending(dimension - 1, degree, mp.cos(omega))
    total = np.zeros(degree + 1)
    for m in range(degree + 1):
        table = sector_functions(dimension, m, rule, degree)
        total[m:] += table[:, 2] * table[:, 6] * float(below.multiplicity(m) * lower[m])
    inner = u * v + np.sqrt((1 - u * u) * (1 - v * v)) * np.cos(omega)
    exact = [float(p) for p in ascending(dimension, degree, mp.mpf(inner))]
    assert np.abs(total - exact).max() <= 64 * EPS


def test_functions_of_a_large_order_neither_underflow_nor_overflow() -> None:
    dimension, order, degree = 3, 100, 300
    rule = gauss_rule(dimension, 320)
    table = sector_functions(dimension, order, rule, degree)
    with mp.workdps(50):
        ratio = mp.rf(mp.mpf(dimension) / 2, order) / mp.rf(mp.mpf(dimension - 1) / 2, order)
        index = dimension + 2 * order
        for place in (0, 40, 100, 159, 250):
            u, _ = exact_node(dimension, 320, place)
            values = ascending(index, degree - order, u)
            largest = mp.mpf(0)
            for k in (100, 101, 200, 299, 300):
                norm = mp.sqrt(ratio * multiplicity(index, k - order) / multiplicity(dimension, k))
                exact = norm * mp.sqrt(1 - u * u) ** order * values[k - order]
                largest = max(largest, abs(exact))
                assert abs(table[k - order, place] - exact) <= 128 * EPS * max(largest, mp.mpf("1e-290"))


# Densities


@pytest.mark.parametrize(
    ("dimension", "strength", "nodes"),
    [
        (3, 0.3, 32),
        (3, 5.0, 64),
        (3, 2000.0, 512),
        (16, 40.0, 128),
        (16, 1000.0, 512),
        (128, 80.0, 128),
        (128, 2000.0, 1024),
    ],
)
def test_von_mises_fisher_densities(dimension: int, strength: float, nodes: int) -> None:
    basis = basis_of(dimension, 4, nodes)
    field = field_of(4, p1=strength)
    gibbs = basis.gibbs(field)
    moments, log_partition = von_mises_fisher(dimension, strength, nodes)
    # A field f carries the rounding eps max |f| in each of its values.
    tolerance = (8 + strength) * EPS
    assert np.abs(gibbs.moments - moments).max() <= tolerance
    assert abs(gibbs.log_partition - log_partition) <= tolerance
    assert resolved(basis, gibbs.moments, tolerance)
    assert basis.agrees(field, gibbs.moments)
    masses = basis.masses(field)
    assert abs(masses.sum() - 1.0) <= 8 * EPS
    assert abs(masses @ basis.rule.nodes - moments[1]) <= tolerance


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_small_moments_keep_their_relative_accuracy(dimension: int) -> None:
    basis = basis_of(dimension, 8, 64)
    amplitude = 1e-8
    gibbs = basis.gibbs(field_of(8, p1=amplitude))
    first = amplitude / dimension * (1 - amplitude**2 / (dimension * (dimension + 2)))
    assert abs(gibbs.moments[1] / first - 1) <= 8 * EPS
    alone = basis.gibbs(field_of(8, p5=amplitude)).moments
    assert abs(alone[5] * float(multiplicity(dimension, 5)) / amplitude - 1) <= 2 * amplitude
    with mp.workdps(40):
        half, r = mp.mpf(dimension) / 2, mp.mpf(0.01)
        partition = mp.gamma(half) * (2 / r) ** (half - 1) * mp.besseli(half - 1, r)
        beyond = float(partition - 1 - r * r / (2 * dimension))
    assert abs(basis.mean_beyond_quadratic(field_of(8, p1=0.01)) / beyond - 1) <= 1e-9
    assert basis.gibbs(np.zeros(8)).log_partition == 0.0


@pytest.mark.parametrize(("dimension", "symmetry"), [(3, 1), (3, 2), (8, 1), (64, 2), (128, 1)])
def test_covariance_is_the_derivative_of_the_means(dimension: int, symmetry: int) -> None:
    basis = basis_of(dimension, 5, 64, symmetry)
    field = np.array([2.0, -1.0, 0.5, 3.0, -0.25]) * (dimension / 3.0)
    covariance = basis.covariance(basis.gibbs(field).moments)
    step = 1e-5
    for mode in range(5):
        shift = np.zeros(5)
        shift[mode] = step
        up, down = (basis.means(basis.gibbs(field + sign * shift).moments) for sign in (1, -1))
        assert np.abs((up - down) / (2 * step) - covariance[mode]).max() <= 1e-9


@pytest.mark.parametrize("symmetry", [1, 2])
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_products_by_table_and_recurrence_are_sums_over_nodes(dimension: int, symmetry: int) -> None:
    cells = np.array([1, 2, 3, 5, 8, 13, 20])
    basis = ZonalBasis(Sphere(dimension), cells, 64, symmetry)
    field = np.array([0.5, 4.0, -3.0, 0.0, 1.0, 0.0, 0.0])
    moments, masses = basis.gibbs(field).moments, basis.masses(field)
    modes = polynomials(dimension, basis.rule, symmetry * 20)[basis.degrees]
    exact = (modes * masses) @ modes.T
    for kind in (TabulatedProducts, RecurrentProducts):
        assert np.abs(kind(dimension, basis.degrees, symmetry)(moments) - exact).max() <= 32 * EPS
    # At the uniform state nothing cancels, however large the multiplicities.
    for kind in (TabulatedProducts, RecurrentProducts):
        uniform = kind(dimension, basis.degrees, symmetry)(np.eye(65)[0])
        natural = np.sqrt(np.multiply.outer(basis.squares, basis.squares))
        assert np.abs(uniform / natural - np.eye(7)).max() <= 256 * EPS


def test_even_densities_on_half_the_sphere() -> None:
    whole, half = basis_of(8, 12, 128), basis_of(8, 6, 64, 2)
    field = np.array([3.0, -5.0, 2.0, 0.0, 0.0, 1.0])
    spread = np.zeros(12)
    spread[1::2] = field
    one, two = whole.gibbs(spread), half.gibbs(field)
    assert np.abs(one.moments[::2] - two.moments).max() <= 16 * EPS
    assert abs(one.log_partition - two.log_partition) <= 16 * EPS
    assert np.abs(whole.covariance(one.moments)[1::2, 1::2] - half.covariance(two.moments)).max() <= 16 * EPS
    assert np.array_equal(half.degrees, 2 * half.cells)
    assert np.allclose(half.squares * [Sphere(8).multiplicity(k) for k in half.degrees], 1.0, rtol=4 * EPS)


@pytest.mark.parametrize("symmetry", [1, 2])
def test_a_confinement_is_a_fixed_part_of_the_field(symmetry: int) -> None:
    field, fixed = np.array([1.0, -2.0, 0.5]), np.array([0.25, 3.0, -1.0])
    plain = basis_of(5, 3, 64, symmetry)
    confined = ZonalBasis(Sphere(5), np.arange(1, 4), 64, symmetry, fixed)
    one, two = plain.gibbs(field + fixed), confined.gibbs(field)
    assert np.abs(one.moments - two.moments).max() <= 16 * EPS
    assert abs(one.log_partition - two.log_partition) <= 16 * EPS
    assert len(confined.images(field)) == 1
    assert confined.agrees(field, two.moments)
    wider = confined.resized(np.arange(1, 4), 128)
    assert np.abs(wider.gibbs(field).moments[:65] - two.moments).max() <= 16 * EPS


def test_a_second_rule_refuses_spikes_with_too_few_nodes() -> None:
    # f = 600 e^(9 (u - 1)) in 16 dimensions is a spike with f'(1) = 5400, for which 140 nodes are too few.
    degree = 60
    with mp.workdps(40):
        shape = [multiplicity(16, k) * mp.besseli(k + 7, 9) for k in range(1, degree + 1)]
        factor = mp.gamma(8) * (mp.mpf(2) / 9) ** 7 * mp.exp(-9)
    field = np.array([float(600 * factor * value) for value in shape])
    few, many = basis_of(16, degree, 140), basis_of(16, degree, 800)
    assert not few.agrees(field, few.gibbs(field).moments)
    gibbs = many.gibbs(field)
    assert many.agrees(field, gibbs.moments)
    assert resolved(many, gibbs.moments, 600 * EPS)


def test_a_second_rule_sees_what_the_moments_of_an_equatorial_density_hide() -> None:
    # e^(-800 P_2) on S^127: all moments beyond 50 are below 1e-20 whether it is resolved or not.
    field = field_of(4, p2=-800.0)
    few, many = basis_of(128, 4, 64), basis_of(128, 4, 128)
    assert resolved(few, few.gibbs(field).moments)
    assert not few.agrees(field, few.gibbs(field).moments)
    assert many.agrees(field, many.gibbs(field).moments)


# The place of the basis among the others


def test_images() -> None:
    b = np.array([1.0, 2.0, 3.0, 4.0])
    itself, mirrored = basis_of(3, 4, 32).images(b)
    assert itself is b
    assert mirrored.tolist() == [-1.0, 2.0, -3.0, 4.0]
    assert len(basis_of(3, 4, 32, 2).images(b)) == 1
    cells = np.arange(1, 5)
    assert CosineBasis(cells, 32).images(b)[1].tolist() == [-1.0, 2.0, -3.0, 4.0]
    assert CosineBasis(cells, 32).images(np.array([0.0, 2.0, 0.0, 4.0]))[1].tolist() == [0.0, -2.0, 0.0, 4.0]
    assert len(CosineBasis(cells, 32).images(np.zeros(4))) == 1
    assert len(FourierBasis(cells, 32).images(np.tile(b, 2))) == 1
    assert CosineBasis(cells, 32).squares.tolist() == [0.5] * 4
    assert FourierBasis(cells, 32).squares.tolist() == [0.5] * 8


@pytest.mark.parametrize("symmetry", [1, 2])
def test_layout(symmetry: int) -> None:
    basis = basis_of(4, 3, 32, symmetry)
    moments = basis.gibbs(np.array([1.0, 2.0, -1.0])).moments
    cosine, sine = basis.expand(moments)
    assert cosine.shape == sine.shape == (32 * symmetry + 1,)
    assert not sine.any()
    assert np.array_equal(basis.moments_from(cosine, sine), moments)
    assert np.array_equal(
        basis.moments_from(cosine[:5], sine[:5])[:3], (moments * (np.arange(33) <= 4 // symmetry))[:3]
    )
    assert basis.rotation(moments) is None
    assert basis.tail(np.arange(33.0)) == 32.0
    with pytest.raises(InvalidInput, match="symmetry 1, or 2"):
        basis_of(3, 4, 32, 3)


@pytest.mark.parametrize("dimension", [3, 8, 128])
def test_the_linear_model_by_newton(dimension: int) -> None:
    # W = -<x, y>: rho ~ e^(r u) with r = kappa m / D, m = I_(d/2)(r)/I_(d/2-1)(r).
    problem = McKeanVlasov(Sphere(dimension), Kuramoto(), noise=1.0)
    coupling = 5.0 * dimension / 3.0
    equation = StationaryEquation(problem, basis_of(dimension, 1, 64), 1, SPHERE)
    solution = solve_at(equation, np.array([0.7]), coupling / equation.unit)
    with mp.workdps(30):
        half = mp.mpf(dimension) / 2
        exact = mp.findroot(lambda m: mp.besseli(half, coupling * m) / mp.besseli(half - 1, coupling * m) - m, 0.7)
    assert solution is not None
    assert abs(solution.b[0] - float(exact)) <= 16 * EPS
    if dimension == 3:
        assert abs(solution.b[0] - problems.SPINS_AT_5.exact("order parameter")) <= 1e-15
        gap = equation.invariant(solution.b, solution.q, solution.evaluation.gibbs.log_partition)
        assert abs(gap - problems.SPINS_AT_5.exact("free energy gap")) <= 4e-15
