"""Finite groups on S^2: their invariants against generating functions, closed forms and values at points."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.special import lpmv

from meanfield import InvalidInput
from meanfield.harmonics import packed_size, rotation_generators
from solvers.bases import Group, InvariantBasis
from solvers.bases.representations import TRIVIAL, representation, turned_moments
from solvers.sphere import recognised
from solvers.sphere.groups import (
    ICOSAHEDRAL,
    ICOSAHEDRAL_ROTATIONS,
    OCTAHEDRAL,
    OCTAHEDRAL_ROTATIONS,
    TETRAHEDRAL,
    antiprismatic,
    axial_group,
    axial_groups,
    breaking_group,
    prismatic,
    pyramidal,
)

EPS = np.finfo(float).eps
POINTS = np.random.default_rng(7).standard_normal((3, 40))
POINTS /= np.linalg.norm(POINTS, axis=0)

# Degrees of the other two basic invariants beside x^2 + y^2 + z^2, and of the one whose square they give.
GENERATING = [
    (TETRAHEDRAL, (3, 4), 0, 24),
    (OCTAHEDRAL, (4, 6), 0, 48),
    (ICOSAHEDRAL, (6, 10), 0, 120),
    (OCTAHEDRAL_ROTATIONS, (4, 6), 9, 24),
    (ICOSAHEDRAL_ROTATIONS, (6, 10), 15, 60),
    (pyramidal(1), (1, 1), 0, 2),
    (pyramidal(3), (1, 3), 0, 6),
    (pyramidal(8), (1, 8), 0, 16),
    (prismatic(2), (2, 2), 0, 8),
    (prismatic(5), (2, 5), 0, 20),
    (TRIVIAL, (1, 1), 1, 1),
]


def harmonics_at(degree, points):
    """The harmonics e^c_l0.., e^s_l1.. at points, from scipy's functions with their sign taken off."""
    u, phi = points[2], np.arctan2(points[1], points[0])
    rows = []
    for order in range(degree + 1):
        ratio = math.factorial(degree - order) / math.factorial(degree + order)
        rows.append(math.sqrt((2 if order else 1) * ratio) * (-1) ** order * lpmv(order, degree, u))
    cosines = [row * np.cos(m * phi) for m, row in enumerate(rows)]
    sines = [row * np.sin(m * phi) for m, row in enumerate(rows)]
    return np.array(cosines + sines[1:])


@pytest.mark.parametrize(("group", "degrees", "odd", "order"), GENERATING, ids=lambda x: getattr(x, "name", ""))
def test_dimensions_follow_the_generating_function(group, degrees, odd, order):
    """Molien's series without the factor of x^2 + y^2 + z^2: (1 + t^odd) / ((1 - t^a)(1 - t^b))."""
    top, (a, b) = 40, degrees
    series = [sum((k - a * i) % b == 0 for i in range(k // a + 1)) for k in range(top + 1)]
    expected = [count + (series[k - odd] if 0 < odd <= k else 0) for k, count in enumerate(series)]
    assert group.order == order
    assert [group.dimension(degree) for degree in range(top + 1)] == expected
    for degree in (1, 4, 9, 15, 40):
        assert group.harmonics(degree).shape == (expected[degree], 2 * degree + 1)


@pytest.mark.parametrize(
    "group", [TETRAHEDRAL, OCTAHEDRAL, ICOSAHEDRAL, ICOSAHEDRAL_ROTATIONS, pyramidal(3), antiprismatic(4)]
)
@pytest.mark.parametrize("degree", [4, 6, 15, 24])
def test_invariants_do_not_change_under_the_group(group, degree):
    functions = group.harmonics(degree)
    here = functions @ harmonics_at(degree, POINTS)
    for element in group.elements:
        there = functions @ harmonics_at(degree, element @ POINTS)
        assert np.abs(there - here).max(initial=0.0) < 256 * EPS * degree


@pytest.mark.parametrize("group", [TETRAHEDRAL, ICOSAHEDRAL, prismatic(3)])
def test_invariants_are_orthonormal_and_fixed_at_large_degree(group):
    functions = group.harmonics(64)
    assert np.abs(functions @ functions.T - np.eye(len(functions))).max() < 32 * EPS
    for generator in group.generators:
        assert np.abs(functions @ representation(generator, 64) - functions).max() < 64 * 64 * EPS


def test_cubic_invariants_are_the_polynomials():
    x, y, z = POINTS
    values = TETRAHEDRAL.harmonics(3) @ harmonics_at(3, POINTS)
    # The mean of (xyz)^2 is 1/105, that of a harmonic of degree 3 is 1/7.
    assert np.abs(values - math.sqrt(15.0) * x * y * z).max() < 32 * EPS
    values = OCTAHEDRAL.harmonics(4) @ harmonics_at(4, POINTS)
    # The mean of (x^4 + y^4 + z^4 - 3/5)^2 is 16/525, that of a harmonic of degree 4 is 1/9.
    assert np.abs(values - math.sqrt(525.0 / 144.0) * (x**4 + y**4 + z**4 - 0.6)).max() < 32 * EPS


def test_icosahedral_invariant_is_a_sum_over_the_vertices():
    golden = (1 + math.sqrt(5)) / 2
    vertices = [np.roll([0.0, 1.0, sign * golden], shift) for shift in range(3) for sign in (1, -1)]
    cosines = np.array(vertices) / math.hypot(1, golden) @ POINTS
    expected = lpmv(0, 6, cosines).sum(axis=0)
    values = (ICOSAHEDRAL.harmonics(6) @ harmonics_at(6, POINTS))[0]
    ratio = expected @ values / (values @ values)
    assert np.abs(expected - ratio * values).max() < 64 * EPS * abs(ratio)


def test_polygonal_invariants_are_single_harmonics():
    expected = np.zeros((3, 13))
    expected[[0, 1, 2], [0, 3, 6]] = 1.0
    assert np.array_equal(pyramidal(3).harmonics(6), expected)
    assert np.array_equal(TRIVIAL.harmonics(3), np.eye(7))


@pytest.mark.parametrize("degree", [1, 5, 20])
def test_rotations_act_on_functions(degree):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    angle = 0.7
    cross = np.cross(np.eye(3), axis).T
    rotation = np.eye(3) - math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
    turned = rotation @ axis
    assert np.abs(turned - axis).max() < 8 * EPS
    coefficients = np.random.default_rng(3).standard_normal(2 * degree + 1)
    expected = coefficients @ harmonics_at(degree, rotation.T @ POINTS)
    values = (representation(rotation, degree) @ coefficients) @ harmonics_at(degree, POINTS)
    assert np.abs(values - expected).max() < 256 * EPS * degree
    reflected = (representation(-rotation, degree) @ coefficients) @ harmonics_at(degree, POINTS)
    assert np.abs(reflected - (-1) ** degree * expected).max() < 256 * EPS * degree


def test_generators_turn_functions_the_right_way():
    """For degree 1 the functions e are (z, x, y), and G is the cross product with the axis."""
    assert np.abs(harmonics_at(1, POINTS) - POINTS[[2, 0, 1]]).max() < 4 * EPS
    for axis, generator in zip(np.eye(3), rotation_generators(1), strict=True):
        expected = np.cross(axis, np.eye(3)).T[np.ix_([2, 0, 1], [2, 0, 1])]
        assert np.abs(generator - expected).max() < 4 * EPS
    first, second, third = rotation_generators(9)
    assert np.abs(first @ second - second @ first - third).max() < 64 * EPS * 9


def test_axial_groups_are_those_of_the_literature():
    names = {degree: {group.name for group in axial_groups(degree)} for degree in range(1, 16)}
    polygons = {
        degree: {f"D_{m}h" if m % 2 else f"D_{m}d" for m in range(2, degree + 1) if 3 * m > degree}
        for degree in range(3, 16, 2)
    }
    polygons[3] = {"D_3h"}
    for degree, found in names.items():
        expected = set(polygons.get(degree, set()))
        expected |= {"O_h"} if degree in (4, 6, 8, 10, 14) else set()
        expected |= {"I_h"} if degree in (6, 10, 12) else set()
        expected |= {"T_d"} if degree in (3, 7, 9, 11, 13) else set()
        expected |= {"O"} if degree in (9, 13, 15) else set()
        expected |= {"I"} if degree == 15 else set()
        assert found == expected


def test_polygonal_axial_groups_are_those_of_one_harmonic():
    for degree in (3, 5, 7):
        for group in axial_groups(degree):
            if group.keeps_axis:
                order = group.turns
                unit = np.zeros((1, 2 * degree + 1))
                unit[0, order] = 1.0
                assert np.array_equal(group.harmonics(degree), unit)


def test_axes_about_which_invariants_turn():
    assert len(TRIVIAL.free_axes) == 3
    assert np.array_equal(np.abs(pyramidal(1).free_axes), [[0.0, 1.0, 0.0]])
    assert len(pyramidal(3).free_axes) == len(TETRAHEDRAL.free_axes) == 0
    spinning = Group(pyramidal(5).generators[:1])
    assert np.abs(np.abs(spinning.free_axes) - [[0.0, 0.0, 1.0]]).max() < 8 * EPS


def test_symmetry_broken_from_zonal_states():
    assert breaking_group(3).name == "C_3v"
    assert breaking_group(3, 1).name == "D_3h"
    assert breaking_group(2, -1).name == "D_2d"
    # g(theta) cos(2 phi), odd about the equator: xyz turned by 45 degrees
    assert breaking_group(2, -1).dimension(3) == 1


def test_symbols_are_those_of_the_elements():
    turned = Rotation.random(random_state=1).as_matrix()
    expected = {
        "T_d": TETRAHEDRAL, "O": OCTAHEDRAL_ROTATIONS, "O_h": OCTAHEDRAL, "I_h": ICOSAHEDRAL, "C_1": TRIVIAL,
        "C_s": pyramidal(1), "C_2v": prismatic(1), "C_2h": antiprismatic(1), "C_4v": pyramidal(4),
        "D_2h": prismatic(2), "D_5h": prismatic(5), "D_4d": antiprismatic(4), "D_5d": antiprismatic(5),
        "C_i": axial_group(1, False, -1, False), "C_2": axial_group(1, False, 0, True),
        "S_4": axial_group(2, False, -1, False), "C_3h": axial_group(3, False, 1, False),
        "D_3": axial_group(3, False, 0, True), "C_6": axial_group(6, False, 0, False),
    }  # fmt: skip
    for symbol, group in expected.items():
        assert group.name == symbol
        assert Group(turned @ group.elements @ turned.T).name == symbol


def test_degrees_that_have_invariants():
    assert TETRAHEDRAL.admissible(12).tolist() == [3, 4, 6, 7, 8, 9, 10, 11, 12]
    assert ICOSAHEDRAL.admissible(16).tolist() == [6, 10, 12, 16]


@pytest.mark.parametrize(
    ("group", "count"),
    # Normalisers: of T_d the cube's group, of C_mv that of the prism with 2m corners, and so on.
    [
        (TETRAHEDRAL, 1),
        (OCTAHEDRAL, 0),
        (OCTAHEDRAL_ROTATIONS, 1),
        (ICOSAHEDRAL, 0),
        (pyramidal(3), 3),
        (prismatic(3), 1),
        (antiprismatic(4), 1),
        (prismatic(2), 5),
        (TRIVIAL, 1),
        (pyramidal(1), 1),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_companions_lead_to_other_invariants(group, count):
    assert len(group.companions()) == count
    for companion in group.companions():
        for degree in (3, 4, 9):
            functions = group.harmonics(degree)
            turned = functions @ representation(companion, degree).T
            assert np.abs(turned @ functions.T @ functions - turned).max(initial=0.0) < 256 * EPS * degree


def test_wrong_generators_are_refused():
    with pytest.raises(InvalidInput, match="orthogonal"):
        Group(np.diag([1.0, 1.0, 2.0]))
    angle = 1.0
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])
    with pytest.raises(InvalidInput, match="elements"):
        _ = Group(turn).elements
    with pytest.raises(InvalidInput, match="order"):
        pyramidal(0)
    with pytest.raises(InvalidInput, match="degree"):
        axial_groups(0)


@pytest.mark.parametrize(
    ("solid", "degrees"),
    [(TETRAHEDRAL, (3, 4, 6)), (OCTAHEDRAL, (4, 6, 8)), (OCTAHEDRAL, (8,)), (ICOSAHEDRAL, (6, 10))],
)
def test_solids_are_recognised_however_they_stand(solid, degrees):
    generator = np.random.default_rng(3)
    basis = InvariantBasis(solid, np.array(degrees), 96)
    for _ in range(8):
        moments = basis.gibbs(generator.normal(size=basis.degrees.size)).moments
        size = packed_size(16)
        cosine, sine = (part[:size] for part in basis.expand(moments))
        turn = Rotation.random(random_state=int(generator.integers(1 << 30))).as_matrix()
        found = recognised(TRIVIAL, *turned_moments(cosine, sine, turn), confined=False, even=True)
        assert found.group is not None
        assert found.group.name == solid.name
        # In the orientation of the group its moments are those of the basis, up to a companion.
        lengths = [np.sqrt((part**2).sum()) for part in (np.stack([cosine, sine]), np.stack(found[1:]))]
        assert lengths[0] == pytest.approx(lengths[1], rel=1e-12)
        for element in found.group.generators:
            images = turned_moments(found.cosine, found.sine, element)
            assert (
                np.abs(np.stack(images) - np.stack(found[1:])).max()
                < 1e-6 * np.abs(np.stack(found[1:])[:, 1:]).max()
            )
