"""Curves of states on S^2 that nothing keeps from turning, against the linearisation among all harmonics."""

import functools
from dataclasses import replace

import numpy as np
import pytest

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
from meanfield.harmonics import packed_size, place
from solvers import bifurcation_diagram, curve
from solvers.bases import FourierBasis, InvariantBasis
from solvers.bases.representations import rotation_about, turned_moments
from solvers.sphere.groups import axial_group
from solvers.two_parameters.at_place import state_at
from solvers.two_parameters.plane import Plane
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
    assert np.abs(state.residual @ state._left_null).max() < 64 * EPS


@pytest.mark.parametrize("phase", [0.0, np.pi / 3.0])
def test_a_state_beside_one_of_more_symmetry_is_beside_its_image(phase):
    """Whatever the phase of its largest wave, a branch cut of angles among them."""
    group = axial_group(1, False, 1, False)
    degrees = np.arange(1, 5)
    plain = InvariantBasis(group, degrees, 32)
    shape = np.zeros((2, packed_size(4)))
    for degree, order, size in ((3, 3, 0.3), (1, 1, 0.02), (2, 2, 0.1)):
        shape[:, place(degree, order)] = size * np.array([np.cos(order * phase), np.sin(order * phase)])
    tilt = np.zeros((2, packed_size(4)))
    tilt[:, place(1, 1)] = 1e-3 * np.array([-np.sin(phase), np.cos(phase)])
    pair = [plain.means(plain.moments_from(*(shape + side * tilt))) / plain.degrees for side in (-1.0, 1.0)]
    basis = plain.beside(pair[0])
    before, after = (np.stack([state - image for image in basis.images(state)[1:]]) for state in pair)
    met = [
        bool(one @ other < 0.0 and np.linalg.norm(one + other) < 0.1 * np.linalg.norm(one))
        for one, other in zip(before, after, strict=True)
    ]
    assert any(met)


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
