"""Bases of invariant densities on S^2 against dense quadrature, closed forms and known bifurcations."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.special import lpmv

from meanfield import GegenbauerSeries, InvalidInput, McKeanVlasov, Sphere
from meanfield.harmonics import degrees_and_orders, packed
from solvers.bases import FullBasis, InvariantBasis, ZonalBasis
from solvers.bases.actions import acting
from solvers.bases.confining import ConfiningField
from solvers.bases.representations import TRIVIAL, representation
from solvers.bases.second_moments import PointProducts, RingProducts
from solvers.equations.equation import StationaryEquation
from solvers.sphere import SPHERE
from solvers.sphere.groups import ICOSAHEDRAL, OCTAHEDRAL, TETRAHEDRAL, antiprismatic, prismatic, pyramidal
from tests import problems

EPS = np.finfo(float).eps
GROUPS = [
    (TETRAHEDRAL, [3, 4, 6, 7]),
    (OCTAHEDRAL, [4, 6, 8]),
    (ICOSAHEDRAL, [6, 10]),
    (pyramidal(1), [1, 2, 3]),
    (pyramidal(3), [1, 3, 4]),
    (prismatic(2), [2, 4]),
    (antiprismatic(3), [2, 4, 5]),
    (TRIVIAL, [1, 2, 4]),
]
groups = pytest.mark.parametrize(("group", "cells"), GROUPS, ids=lambda x: getattr(x, "name", ""))
# Weights of the quadrature by numpy are good to 1e-13.
DENSE = 1e-11


def about_pole(coefficients):
    """Return the field of a confinement about the pole from its coefficients in P_1, P_2, ..."""
    cosine = packed(np.r_[0.0, coefficients])
    return ConfiningField(np.stack([cosine, np.zeros_like(cosine)]), zonal=True)


def dense(group, cells):
    """Modes on a grid of 64 by 128 points and the weights of the uniform mean."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    azimuths = 2 * np.pi * np.arange(128) / 128
    u, phi = (part.ravel() for part in np.meshgrid(nodes, azimuths, indexing="ij"))
    rows = []
    for degree in cells:
        cosines, sines = [], []
        for order in range(degree + 1):
            ratio = math.factorial(degree - order) / math.factorial(degree + order)
            values = math.sqrt((2 if order else 1) * ratio) * (-1) ** order * lpmv(order, degree, u)
            cosines.append(values * np.cos(order * phi))
            sines.append(values * np.sin(order * phi))
        rows.append(group.harmonics(degree) @ np.array(cosines + sines[1:]))
    return np.concatenate(rows), np.repeat(weights / 256, 128), u


def some_field(basis, size=1.5, seed=4):
    return size * np.random.default_rng(seed).standard_normal(basis.degrees.size)


@groups
def test_densities_against_dense_quadrature(group, cells):
    basis = InvariantBasis(group, np.array(cells), 64)
    field = some_field(basis)
    modes, weights, _ = dense(group, cells)
    assert np.abs(modes**2 @ weights - basis.squares).max() < DENSE
    masses = weights * np.exp(field @ modes)
    total = masses.sum()
    gibbs = basis.gibbs(field)
    means = modes @ masses / total
    assert abs(gibbs.log_partition - math.log(total)) < DENSE
    assert np.abs(basis.means(gibbs.moments) - means).max() < DENSE
    covariance = (modes * (masses / total)) @ modes.T - np.outer(means, means)
    assert np.abs(basis.covariance(gibbs.moments) - covariance).max() < DENSE
    values = field @ modes
    beyond = weights @ (np.expm1(values) - values - values**2 / 2)
    assert abs(basis.mean_beyond_quadratic(field) - beyond) < DENSE * abs(beyond)


@groups
def test_products_on_points_and_on_rings_agree(group, cells):
    basis = InvariantBasis(group, np.array(cells), 32)
    moments = np.split(basis.gibbs(some_field(basis)).moments, 2)
    points = PointProducts(group, basis._modes, cells[-1])
    rings = RingProducts(basis._modes, np.array(cells), group.turns)
    assert np.abs(points(*moments) - rings(*moments)).max() < 64 * EPS


def test_confined_densities_against_dense_quadrature():
    confinement = np.array([0.7, -0.4, 0.2])
    cells = [1, 3]
    basis = InvariantBasis(pyramidal(3), np.array(cells), 48, about_pole(confinement))
    field = some_field(basis)
    modes, weights, u = dense(pyramidal(3), cells)
    fixed = sum(value * lpmv(0, degree, u) for degree, value in enumerate(confinement, start=1))
    masses = weights * np.exp(field @ modes + fixed)
    gibbs = basis.gibbs(field)
    assert np.abs(basis.means(gibbs.moments) - modes @ masses / masses.sum()).max() < DENSE
    assert abs(gibbs.log_partition - math.log(masses.sum())) < DENSE
    # the quadratic part of the free energy is without the confinement
    assert basis.mean_beyond_quadratic(np.zeros(field.size)) == 0.0


def test_zonal_fields_have_zonal_densities():
    cells = np.array([1, 2, 5])
    zonal = ZonalBasis(Sphere(3), cells, 64)
    field = np.array([2.0, -1.0, 0.5])
    expected = zonal.gibbs(field)
    basis = InvariantBasis(pyramidal(2), cells, 64)
    _, orders = degrees_and_orders(64)
    unknown = np.array([field[list(cells).index(degree)] for degree in basis.degrees])
    first = np.concatenate([[True], np.diff(basis.degrees) > 0])
    gibbs = basis.gibbs(np.where(first, unknown, 0.0))
    cosine, sine = basis.expand(gibbs.moments)
    assert np.abs(cosine[orders == 0] - expected.moments).max() < 32 * EPS
    assert max(np.abs(cosine[orders > 0]).max(), np.abs(sine).max()) < 32 * EPS
    assert abs(gibbs.log_partition - expected.log_partition) < 32 * EPS


def test_small_fields_keep_their_relative_accuracy():
    basis = FullBasis(np.array([1, 2]), 16)
    field = 1e-9 * np.arange(1.0, 9.0)
    gibbs = basis.gibbs(field)
    # e^f = 1 + f + O(f^2), and the mean of a mode times f is its field times its mean square.
    assert np.abs(basis.means(gibbs.moments) / (field * basis.squares) - 1.0).max() < 1e-7
    second = 0.5 * float(field**2 @ basis.squares)
    assert abs(gibbs.log_partition / second - 1.0) < 1e-7
    half = basis.gibbs(-field)
    odd = 0.5 * (basis.means(gibbs.moments) - basis.means(half.moments))
    assert np.abs(odd / (field * basis.squares) - 1.0).max() < 64 * EPS


def test_large_fields_do_not_overflow():
    """The field r u has the mean coth r - 1/r of u and log Z = log(sinh r / r)."""
    r = 800.0
    basis = FullBasis(np.array([1]), 384)
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    gibbs = basis.gibbs(r * axis)
    assert abs(gibbs.log_partition - (r - math.log(2.0 * r))) < 32 * EPS * r
    # The rounding of the field, eps r, is a relative error of the density.
    assert np.abs(basis.means(gibbs.moments) - (1.0 - 1.0 / r) * axis).max() < 4 * EPS * r
    assert basis.tail(gibbs.moments) < 4 * EPS * r


def test_tail_tells_what_is_not_resolved():
    field = np.array([60.0, 0.0, 0.0])
    coarse, fine = FullBasis(np.array([1]), 16), FullBasis(np.array([1]), 96)
    assert coarse.tail(coarse.gibbs(field).moments) > 1e-2
    assert fine.tail(fine.gibbs(field).moments) < 64 * EPS
    assert fine.agrees(field, fine.gibbs(field).moments)


@groups
def test_rotations_within_the_basis(group, cells):
    basis = InvariantBasis(group, np.array(cells), 48)
    field = some_field(basis)
    moments = basis.gibbs(field).moments
    columns = basis.rotation(moments)
    if not len(group.free_axes):
        assert columns is None
        return
    assert columns.shape == (field.size, len(group.free_axes))
    # The covariance turns the rotated field into the rotated means.
    turned = [
        acting(group, np.unique(basis.degrees), lambda degree, axis=axis: _derivative(axis, degree)) @ field
        for axis in group.free_axes
    ]
    assert np.abs(columns - basis.covariance(moments) @ np.transpose(turned)).max() < 4 * EPS / 1e-3


def _derivative(axis, degree, step=1e-3):
    """Central difference of sixth order of rotations; its rounding is that of the matrices over the step."""
    cross = np.cross(np.eye(3), axis).T

    def turn(angle):
        return representation(np.eye(3) - np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross, degree)

    weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    return sum(w * (turn(k * step) - turn(-k * step)) for k, w in weights.items()) / step


def test_confinement_leaves_the_rotation_about_its_axis():
    basis = FullBasis(np.array([1, 2]), 24, about_pole([0.5]))
    moments = basis.gibbs(some_field(basis)).moments
    columns = basis.rotation(moments)
    means = basis.means(moments)
    # Modes: e_10, e^c_11, e^s_11, e_20, e^c_21, e^c_22, e^s_21, e^s_22.
    m = means
    expected = [0.0, -m[2], m[1], 0.0, -m[6], -2 * m[7], m[4], 2 * m[5]]
    assert columns.shape == (8, 1)
    assert np.abs(np.abs(columns[:, 0]) - np.abs(expected)).max() < 8 * EPS
    assert abs(abs(columns[:, 0] @ expected) - np.dot(expected, expected)) < 32 * EPS
    assert InvariantBasis(pyramidal(1), np.array([1]), 8, about_pole([0.5])).rotation(np.zeros(90)) is None


@groups
def test_images_have_the_same_energy(group, cells):
    basis = InvariantBasis(group, np.array(cells), 40)
    field = some_field(basis)
    first, *others = basis.images(field)
    assert first is field
    assert len(others) == len(group.companions())
    expected = basis.gibbs(field).log_partition
    for image in others:
        assert np.abs(image - field).max() > 0.1
        assert abs(basis.gibbs(image).log_partition - expected) < 64 * EPS * 8


@pytest.mark.parametrize(
    ("group", "confinement", "count"),
    [
        # By x -> -x, and at antipodes alike by z -> -z and both.
        (pyramidal(1), [0.4], 1),
        (pyramidal(1), [0.0, 0.4], 3),
        (TRIVIAL, [0.4, 0.2], 1),
        (TRIVIAL, [0.0, 0.4], 3),
        (pyramidal(2), [0.4], 1),
        (prismatic(2), [0.0, 0.4], 1),
    ],
)
def test_images_in_a_confinement_are_those_that_it_admits(group, confinement, count):
    basis = InvariantBasis(group, np.array([1, 2] if group.order < 8 else [2]), 40, about_pole(confinement))
    field = some_field(basis)
    others = basis.images(field)[1:]
    assert len(others) == count
    expected = basis.gibbs(field).log_partition
    for index, image in enumerate(others):
        assert all(np.abs(image - other).max() > 0.01 for other in [field, *others[:index]])
        assert abs(basis.gibbs(image).log_partition - expected) < 64 * EPS * 8


def test_moments_go_from_basis_to_basis():
    coarse, fine = FullBasis(np.array([1, 2]), 16), FullBasis(np.array([1, 2]), 24)
    moments = coarse.gibbs(some_field(coarse, 0.5)).moments
    wider = fine.moments_from(*coarse.expand(moments))
    assert np.array_equal(fine.means(wider), coarse.means(moments))
    assert np.array_equal(coarse.moments_from(*fine.expand(wider)), moments)
    assert fine.resized(np.array([1]), 8).degrees.tolist() == [1, 1, 1]


def test_confinements_that_break_the_symmetry_are_refused():
    InvariantBasis(prismatic(3), np.array([2]), 16, about_pole([0.0, 0.5]))
    with pytest.raises(InvalidInput, match="D_3h"):
        InvariantBasis(prismatic(3), np.array([2]), 16, about_pole([0.5]))
    with pytest.raises(InvalidInput, match="T_d"):
        InvariantBasis(TETRAHEDRAL, np.array([3]), 16, about_pole([0.0, 0.5]))


def single_mode(group, degree, amplitude):
    """Return (kappa, <psi>, gap) of f = a psi for W = -P_l: kappa <psi> = (2l+1) a, gap = a <psi>/2 - log Z."""
    basis = InvariantBasis(group, np.array([degree]), 64)
    root = math.sqrt(2 * degree + 1)
    gibbs = basis.gibbs(np.array([root * amplitude]))
    mean = root * float(basis.means(gibbs.moments)[0])
    return (2 * degree + 1) * amplitude / mean, mean, 0.5 * amplitude * mean - gibbs.log_partition


def test_tetrahedral_branch_rises_as_the_theory_says():
    """Pitchfork kappa = kappa_3 (1 + (1/2 - <psi^4>/6) <psi>^2), and the mean of psi^4 is 315/143."""
    curvatures = []
    for amplitude in (0.08, 0.04):
        kappa, mean, _ = single_mode(TETRAHEDRAL, 3, amplitude)
        curvatures.append((kappa / 7.0 - 1.0) / mean**2)
    assert abs((4 * curvatures[1] - curvatures[0]) / 3 - problems.TETRAHEDRAL.exact("curvature at onset")) < 1e-5


def test_octahedral_branch_and_its_transition():
    slopes = [
        (single_mode(OCTAHEDRAL, 4, a)[0] / 9.0 - 1.0) / single_mode(OCTAHEDRAL, 4, a)[1] for a in (0.01, -0.01)
    ]
    assert abs(0.5 * sum(slopes) - problems.OCTAHEDRAL.exact("slope at onset")) < 1e-4
    fold = minimize_scalar(lambda a: single_mode(OCTAHEDRAL, 4, a)[0], bracket=(0.5, 0.7, 0.9))
    assert abs(fold.fun - problems.OCTAHEDRAL.exact("fold")) < 1e-12
    equal = brentq(lambda a: single_mode(OCTAHEDRAL, 4, a)[2], 0.7, 1.2, xtol=1e-13)
    assert abs(single_mode(OCTAHEDRAL, 4, equal)[0] - problems.OCTAHEDRAL.exact("transition")) < 1e-12


def test_stationary_equation_finds_the_tetrahedral_state():
    problem = problems.TETRAHEDRAL.problem
    equation = StationaryEquation(problem, InvariantBasis(TETRAHEDRAL, np.array([3]), 64), 1, SPHERE)
    kappa, mean, gap = single_mode(TETRAHEDRAL, 3, 1.0)
    q = kappa / equation.unit
    b = np.array([0.8 * mean / math.sqrt(7.0)])
    for _ in range(12):
        step = equation.evaluate(b, q)
        jacobian, _ = equation.linearise(b, q, step.gibbs.moments)
        b = b - np.linalg.solve(jacobian, step.residual)
    assert abs(b[0] - mean / math.sqrt(7.0)) < 64 * EPS
    assert abs(equation.invariant(b, q, equation.evaluate(b, q).gibbs.log_partition) - gap) < 64 * EPS


def test_full_basis_finds_a_turned_state():
    """W = -<x, y>, kappa = 5: order parameter and gap from coth r - 1/r = r / kappa."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.0,)))
    equation = StationaryEquation(problem, FullBasis(np.array([1]), 48), 1, SPHERE)
    r = brentq(lambda x: 1 / math.tanh(x) - 1 / x - x / 5.0, 2.0, 5.0, xtol=1e-14)
    q = 5.0 / equation.unit
    start = np.array([0.5, 0.3, -0.4])
    b = start
    for _ in range(12):
        step = equation.evaluate(b, q)
        jacobian, _ = equation.linearise(b, q, step.gibbs.moments)
        b = b - np.linalg.solve(jacobian, step.residual)
    # The steps do not turn the state.
    assert np.abs(np.cross(b, start)).max() < 64 * EPS
    assert abs(np.linalg.norm(b) - r / 5.0) < 64 * EPS
    gap = equation.invariant(b, q, equation.evaluate(b, q).gibbs.log_partition)
    assert abs(gap - (r * r / 10.0 - math.log(math.sinh(r) / r))) < 64 * EPS


def test_full_basis_counts_the_modes_of_every_degree():
    basis = FullBasis(np.array([2, 30]), 64)
    assert basis.degrees.tolist() == [2] * 5 + [30] * 61
    assert np.allclose(basis.squares, 1.0 / (2 * basis.degrees + 1), rtol=4 * EPS)
    assert basis.admissible(4).tolist() == [1, 2, 3, 4]
    assert basis.symmetry == 1
    assert basis.modes.layout == "order"
