"""Curves of states on S^2 that nothing keeps from turning, against the linearisation among all harmonics."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

from meanfield import (
    Circle,
    ContinuityEquation,
    Curve,
    CurvePoint,
    Diagram,
    GegenbauerSeries,
    McKeanVlasov,
    OrganisingPoint,
    SoftmaxAttention,
    SpecialPoint,
    Sphere,
)
from solvers import bifurcation_diagram, curve
from solvers.bases import FourierBasis, InvariantBasis
from solvers.bases.actions import moved_by, turnings
from solvers.bases.representations import TRIVIAL, rotation_about, turned_moments
from solvers.sphere.groups import axial_group
from solvers.two_parameters.in_plane.at_place import state_at
from solvers.two_parameters.in_plane.plane import Plane
from solvers.two_parameters.systems.extended import REVERSED
from tests import sphere_galerkin

WEIGHTS = (-1.092, -3.691, -2.427, -4.307)
INTERVAL = (-4.191, -3.191)
EPS = np.finfo(float).eps
POINT = 1e-11


@functools.cache
def diagram() -> Diagram:
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(WEIGHTS, 3))
    return bifurcation_diagram(problem, (1.75, 1.86), rates=False, search=True)


def starts(kind: str, group: str) -> list[SpecialPoint]:
    return [point for point in diagram().events(kind) if diagram().branches[point.branch].label.split()[0] == group]


@functools.cache
def followed(kind: str, group: str) -> Curve:
    return curve(starts(kind, group)[0], "w2", INTERVAL)


def linearised(point: SpecialPoint | OrganisingPoint | CurvePoint) -> tuple[float, np.ndarray]:
    return sphere_galerkin.linearised(point.problem, float(point.coupling), point.cosine, point.sine, 4)


@pytest.mark.parametrize(
    ("kind", "group"), [("fold", "C_1"), ("fold", "C_2"), ("fold", "C_s"), ("branch point", "C_s")]
)
def test_one_direction_is_neutral_besides_three_rotations(kind, group):
    found = followed(kind, group)
    assert len(found) > 8
    for row in range(1, len(found) - 1, 3):
        error, sizes = linearised(found.point(row))
        assert error < 1e-12
        assert sizes[-4] < 1e-10 < 1e-5 < sizes[-5]


def test_states_of_the_line_have_the_energy_of_the_uniform_one():
    found = followed("transition", "C_1")
    assert np.ptp(found.first) > 0.5
    for row in range(len(found)):
        assert linearised(found.point(row))[0] < 1e-12
        assert abs(found.free_energy_gap[row]) < 64 * EPS * found.second[row]


@pytest.mark.parametrize(("kind", "group"), [("fold", "C_1"), ("fold", "C_s"), ("transition", "C_s")])
def test_points_are_those_of_diagrams(kind, group):
    found = followed(kind, group)
    start = starts(kind, group)[0].coupling
    first = WEIGHTS[1] + 0.03
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((WEIGHTS[0], first, *WEIGHTS[2:]), 3))
    along = curve(starts(kind, group)[0], "w2", (WEIGHTS[1] - 0.01, first))
    expected = along.second[np.flatnonzero(along.first == first)]
    assert expected.size == 1
    near = sorted((start, float(expected[0])))
    there = bifurcation_diagram(problem, (near[0] - 0.03, near[1] + 0.03), rates=False, search=True)
    couplings = np.array([point.coupling for point in there.events(kind)])
    assert np.abs(couplings / expected[0] - 1.0).min() < POINT
    assert found.first.min() < first < found.first.max()


@pytest.mark.parametrize("angle", [0.7, -2.1])
def test_the_orientation_of_the_start_does_not_matter(angle):
    start = starts("fold", "C_s")[0]
    turn = rotation_about(np.array([1.0, 2.0, -2.0]) / 3.0, angle)
    cosine, sine = turned_moments(start.cosine, start.sine, turn)
    found, turned = followed("fold", "C_s"), curve(replace(start, cosine=cosine, sine=sine), "w2", INTERVAL)
    assert len(turned) == len(found)
    along = found.second + found.slope * (turned.first - found.first)
    assert np.abs(turned.second / along - 1.0)[1:-1].max() < POINT


def test_a_fold_curve_ends_where_the_branch_that_loses_a_mirror_turns():
    """From there curves of all three types begin, and the organising point lies on each."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(WEIGHTS, 3))
    found = bifurcation_diagram(problem, (1.84, 1.86), rates=False, search=True)
    ends = [
        (point, special)
        for point in found.events("fold")
        if found.branches[point.branch].label.startswith("C_s")
        for special in curve(point, "w2", INTERVAL).special_points
        if special.type == "tricritical"
    ]
    assert ends
    _, end = ends[0]
    for kind in ("fold", "branch point"):
        again = curve(end, "w2", INTERVAL, type=kind)
        located = [each for each in again.special_points if each.type == "tricritical"]
        assert min(abs(each.coupling / end.coupling - 1.0) for each in located) < 1e-12


def interactions(kind: str) -> list[OrganisingPoint]:
    return [
        special
        for start in starts(kind, "C_s")
        for special in curve(start, "w2", INTERVAL).special_points
        if special.type == "mode interaction"
    ]


@pytest.mark.parametrize("kind", ["fold", "branch point"])
def test_at_mode_interactions_two_directions_are_neutral(kind):
    located = interactions(kind)
    assert located
    for point in located:
        assert point.status == "converged"
        error, sizes = linearised(point)
        assert error < 1e-12
        assert sizes[-5] < 1e-10 < 1e-5 < sizes[-6]


def test_a_line_ends_where_its_state_loses_a_symmetry_of_another():
    """There the state of the line is one with a mirror of which it is born."""
    ends = [each for each in followed("transition", "C_1").special_points if each.type == "end point"]
    assert ends
    for point in ends:
        error, sizes = linearised(point)
        assert error < 1e-12
        assert sizes[-4] < 1e-10 < 1e-5 < sizes[-5]


def random_state(basis, law):
    """The stationary equation at a random density, which is not stationary."""
    problem = (
        McKeanVlasov(Sphere(3), GegenbauerSeries(WEIGHTS, 3), coupling=1.5)
        if law == "gradient"
        else ContinuityEquation(Circle(), SoftmaxAttention(3.0), coupling=2.0)
    )
    name = "w2" if law == "gradient" else "beta"
    interval = (-4.0, -3.0) if law == "gradient" else (2.0, 4.0)
    plane = Plane(problem, (name, "coupling"), interval, 1.0, 0.0, 0.0, np.arange(1, 33))
    place = plane.coordinates(problem.parameters[name], problem.parameters["coupling"])
    b = 0.2 * np.random.default_rng(1).normal(size=basis.degrees.size) / basis.degrees**2
    return state_at(plane, basis, place, b)


BASES = {
    "no symmetry": lambda: InvariantBasis(axial_group(1, False, 0, False), np.arange(1, 5), 32),
    "one mirror": lambda: InvariantBasis(axial_group(1, True, 0, False), np.arange(1, 5), 32),
    "circle": lambda: FourierBasis(np.arange(1, 13), 64),
}


@pytest.mark.parametrize(
    ("name", "law"), [("no symmetry", "gradient"), ("one mirror", "gradient"), ("circle", "softmax")]
)
def test_torques_of_a_density_on_itself_vanish(name, law):
    """The residual has no part along the left null vectors of rotations, whatever the density."""
    basis = BASES[name]()
    state = random_state(basis, law)
    assert np.linalg.norm(state.residual) > 1e-3
    assert np.abs(state.residual @ state.left_null).max() < 64 * EPS


MIRROR, EQUATOR = np.diag([1.0, -1.0, 1.0]), np.diag([1.0, 1.0, -1.0])
BESIDE = {
    "C_s, C_2v": (axial_group(1, False, 1, False), MIRROR),
    "C_s, C_2h": (axial_group(1, False, 1, False), -np.eye(3)),
    "C_2, C_2v": (axial_group(2, False, 0, False), MIRROR),
    "C_2, D_2": (axial_group(2, False, 0, False), MIRROR @ EQUATOR),
    "C_3, D_3": (axial_group(3, False, 0, False), MIRROR @ EQUATOR),
    "C_2h, D_2h": (axial_group(2, False, 1, False), MIRROR),
    "S_4, D_2d": (axial_group(2, False, -1, False), MIRROR),
    "C_1, C_s": (TRIVIAL, MIRROR),
    "C_1, C_2": (TRIVIAL, MIRROR @ EQUATOR),
    "C_1, C_i": (TRIVIAL, -np.eye(3)),
}


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def in_place(basis: InvariantBasis, b: np.ndarray) -> np.ndarray:
    """Return the state turned to where the phase conditions of a basis hold, by Newton's method in short turns."""
    rows, generators = basis.phase_conditions, turnings(basis.group, np.unique(basis.degrees))
    for _ in range(100):
        turn = -np.linalg.solve(rows @ np.stack([each @ b for each in generators], axis=1), rows @ b)
        turn /= max(1.0, np.linalg.norm(turn) / 0.2)
        b = expm(sum(angle * each.toarray() for angle, each in zip(turn, generators, strict=True))) @ b
        if np.linalg.norm(turn) < 1e-14:
            break
    return b


@pytest.mark.parametrize("groups", BESIDE)
def test_a_state_beside_one_of_more_symmetry_is_beside_its_image(groups):
    """Whichever waves of the state vanish there, the largest of the reference among them, and however it has turned."""
    group, element = BESIDE[groups]
    generator = np.random.default_rng(46301)
    plain = InvariantBasis(group, np.arange(1, 5), 32)
    action = moved_by(group, np.unique(plain.degrees), element)
    generators = turnings(group, np.unique(plain.degrees))
    tried = 0
    for distance in np.repeat([1e-3, 0.01, 0.05], 8):
        shape = generator.uniform(0.1, 1.0, 5)[plain.degrees] * generator.normal(size=plain.degrees.size)
        symmetric, broken = unit(shape + action @ shape), unit(shape - action @ shape)
        rotations = np.linalg.qr(np.stack([each @ symmetric for each in generators], axis=1))[0]
        broken = unit(broken - rotations @ (rotations.T @ broken))
        reference = symmetric + 0.5 * broken + 0.1 * unit(generator.normal(size=shape.size))
        basis = plain.beside(reference)
        last, point = (in_place(basis, symmetric + distance * share * broken) for share in (-0.7, 1.3))
        chord = np.linalg.norm(point - last)
        if chord > 4.0 * distance:
            # The reference holds the one in another way than the other.
            continue
        tried += 1
        pairs = [
            [0.5 * (state - basis.image(state, each)) for state in (last, point)]
            for each in basis.involutions(point)
        ]
        assert any(
            before @ after < 0.0 and np.linalg.norm(after - before) < REVERSED * chord for before, after in pairs
        )
    assert tried > 12


@pytest.mark.parametrize("groups", BESIDE)
def test_images_are_those_of_transformations(groups):
    """They have the lengths of the state in every degree, and are their own inverses."""
    group, _ = BESIDE[groups]
    generator = np.random.default_rng(2)
    plain = InvariantBasis(group, np.arange(1, 5), 32)
    state, reference = generator.normal(size=(2, plain.degrees.size))
    basis = plain.beside(reference)
    found = basis.involutions(state)
    assert found
    for each in found:
        image = basis.image(state, each)
        assert np.bincount(plain.degrees, image**2) == pytest.approx(
            np.bincount(plain.degrees, state**2), rel=1e-12
        )
        # Where the overlap is stationary, what the image lacks is no rotation, and the transformation of the image
        # nearest to it is the same one.
        changes = np.stack([turn @ state for turn in turnings(group, np.unique(plain.degrees))], axis=1)
        if each.direction:
            assert np.abs(changes.T @ image).max() < 1e-10
        assert basis.image(image, each) == pytest.approx(state, abs=1e-9)


def test_a_branch_point_of_a_solid_starts_a_curve_from_a_branch_that_crosses_it():
    """There the state stands about one of its three-fold axes, and on its own branch about its four-fold ones."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-3.476, -3.258, -7.559), 3))
    found = bifurcation_diagram(problem, (0.9, 1.0), rates=False)
    crossings = [
        point
        for point in found.events("branch point")
        if point.description == "crosses tetrahedral" and found.branches[point.branch].label.startswith("C_3v")
    ]
    assert crossings
    (own, *_) = (
        point
        for point in found.events("branch point")
        if found.branches[point.branch].label == "tetrahedral"
        and abs(point.coupling - crossings[0].coupling) < 1e-6
    )
    one, other = (curve(point, "w3", (-7.7, -7.4)) for point in (own, crossings[0]))
    along = one.second + one.slope * (other.first - one.first) if len(one) == len(other) else np.nan
    assert np.abs(other.second / along - 1.0)[1:-1].max() < POINT


def test_states_of_high_degrees_alone_are_taken_to_images_and_back():
    plain = InvariantBasis(TRIVIAL, np.array([9]), 32)
    b = unit(np.random.default_rng(9).normal(size=plain.degrees.size))
    basis = plain.beside(b)
    found = basis.involutions(b)
    assert found
    for each in found:
        image = basis.image(b, each)
        assert np.linalg.norm(image) == pytest.approx(1.0, rel=1e-12)
        assert basis.image(image, each) == pytest.approx(b, abs=1e-9)
