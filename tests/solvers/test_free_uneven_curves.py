"""Curves of states on the circle without a reflection axis that no confinement holds in place."""

from dataclasses import replace

import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    Curve,
    Diagram,
    McKeanVlasov,
    SpecialPoint,
)
from solvers import bifurcation_diagram, curve
from solvers.two_parameters.in_plane.plane import Plane
from solvers.two_parameters.in_plane.unknowns import basis_of, uneven_basis, unknown_among
from solvers.two_parameters.triples import _Member, _same

COEFFICIENTS = (-0.75, -0.639, -0.715, -1.007, -0.901)
INTERVAL = (-1.0, -0.5)
EPS = np.finfo(float).eps


def diagram_at(first: float) -> Diagram:
    problem = McKeanVlasov(Circle(), CosineSeries((first, *COEFFICIENTS[1:])))
    return bifurcation_diagram(problem, (0.8, 3.0), rates=False)


def uneven_folds(diagram: Diagram) -> list[SpecialPoint]:
    return [point for point in diagram.events("fold") if "uneven" in diagram.branches[point.branch].label]


@pytest.fixture(scope="module")
def diagram() -> Diagram:
    return diagram_at(COEFFICIENTS[0])


@pytest.fixture(scope="module")
def folds(diagram: Diagram) -> Curve:
    (start,) = uneven_folds(diagram)
    return curve(start, "w1", INTERVAL)


def test_points_are_folds_of_diagrams(folds):
    """Diagrams follow the states in the coupling, with the rotation in another part of the matrix."""
    rows = np.flatnonzero((folds.second > 2.92) & (folds.second < 3.0))
    assert rows.size >= 3
    for row in rows:
        expected = [point.coupling for point in uneven_folds(diagram_at(float(folds.first[row])))]
        assert min(abs(each - folds.second[row]) for each in expected) < 1e-11


def test_the_curve_ends_at_the_tricritical_point_of_branch_points(diagram, folds):
    """Where the branch that loses its axis turns; before, it would go back along images of its own states."""
    starts = [
        point for point in diagram.events("branch point") if "sine modes of class 0 modulo 1" in point.description
    ]
    located = [
        point
        for start in starts
        for point in curve(start, "w1", INTERVAL).special_points
        if point.type == "tricritical"
    ]
    (end,) = folds.special_points
    assert end.type == "tricritical"
    assert min(abs(end.coupling - point.coupling) for point in located) < 1e-12 * end.coupling
    assert folds.second.argmin() in (0, len(folds) - 1)


def test_both_curves_begin_there(folds):
    (end,) = folds.special_points
    again, line = (curve(end, "w1", INTERVAL, type=kind) for kind in ("fold", "transition"))
    for found in (again, line):
        assert min(abs(point.coupling - end.coupling) for point in found.special_points) < 1e-12 * end.coupling


def test_the_states_of_the_line_have_equal_energies(folds):
    """Each is a Gibbs density by quadrature, and so are their free energies."""
    (end,) = folds.special_points
    line = curve(end, "w1", INTERVAL, type="transition")
    angles = 2.0 * np.pi * np.arange(512) / 512
    degrees = np.arange(1, 6)
    waves = np.concatenate([np.cos(np.outer(degrees, angles)), np.sin(np.outer(degrees, angles))])
    for row in range(2, len(line), 6):
        weights = np.tile((line.first[row], *COEFFICIENTS[1:]), 2) * line.second[row]
        energies = []
        for cosine, sine in ((line.cosine, line.sine), (line.other_cosine, line.other_sine)):
            moments = np.concatenate([cosine[row, degrees], sine[row, degrees]])
            values = np.exp(-(weights * moments) @ waves)
            means = waves @ values / values.sum()
            assert np.abs(means - moments).max() < 1e-12
            energies.append(-0.5 * float(weights @ moments**2) - np.log(values.mean()))
        assert abs(energies[0] - energies[1]) < 64 * EPS * line.second[row]


@pytest.mark.parametrize("angle", [1.0, -2.3])
def test_the_angle_of_the_start_does_not_matter(diagram, folds, angle):
    (start,) = uneven_folds(diagram)
    turned = (start.cosine - 1j * start.sine) * np.exp(-1j * angle * np.arange(start.cosine.size))
    found = curve(replace(start, cosine=turned.real, sine=-turned.imag), "w1", INTERVAL)
    assert len(found) == len(folds)
    # Points lie where steps end, which rounding decides: to first order along the curve.
    along = folds.second + folds.slope * (found.first - folds.first)
    assert np.abs(found.second - along)[1:].max() < 1e-11
    # The phase of the mode that holds the states is zero all along.
    assert np.abs(found.sine[:, 1]).max() < 64 * EPS


def test_a_line_ends_where_its_state_gains_an_axis():
    """There the sines about that have, in quadrature, a second neutral direction beside the rotation."""
    coefficients = (-0.728, -1.078, -1.027, -1.089, -0.659, -0.671)
    found = bifurcation_diagram(McKeanVlasov(Circle(), CosineSeries(coefficients)), (0.8, 3.0), rates=False)
    start = next(
        point
        for point in found.events("transition")
        if "uneven" in found.branches[point.branch].label and 2.762 < point.coupling < 2.7625
    )
    line = curve(start, "w2", (-1.178, -0.978))
    (end,) = line.special_points
    assert end.type == "end point"
    # In the orientation of the curve.
    assert np.abs(line.cosine[-1] - line.cosine[-2]).max() < 1e-3
    assert np.abs(line.sine[-1] - line.sine[-2]).max() < 1e-3
    angles = 2.0 * np.pi * np.arange(512) / 512
    degrees = np.arange(1, 7)
    waves = np.concatenate([np.cos(np.outer(degrees, angles)), np.sin(np.outer(degrees, angles))])
    attraction = np.array(coefficients)
    attraction[1] = end.values[0]
    weights = end.coupling * np.tile(attraction, 2)
    moments = np.concatenate([end.cosine[degrees], end.sine[degrees]])
    masses = np.exp(-(weights * moments) @ waves)
    masses /= masses.sum()
    covariance = (waves * masses) @ waves.T - np.outer(moments, moments)
    sizes = np.linalg.svd(np.eye(12) + covariance * weights, compute_uv=False)
    assert sizes[-2] < 1e-10 < 1e-3 < sizes[-3]


def test_points_of_a_line_beside_its_beginning_start_it_too(folds):
    """There its states differ by so little that the equation of the line is singular up to rounding.

    The difference of energies determines the place along the line to rounding over the fourth power of the distance
    of the states, below which no point is kept.
    """
    (end,) = folds.special_points
    line = curve(end, "w1", INTERVAL, type="transition")
    apart = np.hypot(
        np.linalg.norm(line.cosine - line.other_cosine, axis=1), np.linalg.norm(line.sine - line.other_sine, axis=1)
    )
    # The first one is the tricritical point itself, where both are one.
    assert apart.argmin() == line.first.argmin()
    beside = np.flatnonzero((apart > 0.0) & (apart < 0.05))
    assert beside.size >= 2
    assert apart[beside].min() > (1e5 * EPS) ** 0.25
    for row in beside:
        again = curve(line.point(row), "w1", INTERVAL)
        assert again.first.max() == line.first.max()
        assert abs(again.second[again.first.argmax()] - line.second[line.first.argmax()]) < 1e-11
        assert again.special_points[0].coupling == pytest.approx(end.coupling, rel=1e-12)


def test_states_of_crossing_lines_are_compared_whether_they_are_even_or_not_and_however_they_are_turned():
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.9, -0.8)), coupling=3.0)
    plane = Plane(problem, ("w2", "coupling"), (-2.0, 0.0), 1.0, 0.0, 0.0, np.arange(1, 9))
    place, lengths = plane.coordinates(-0.9, 3.0), np.array([1.0, 0.4, 0.2, 0.1])
    even, uneven = basis_of(plane, lengths, place, 0.0), uneven_basis(plane, lengths, place)
    b = np.random.default_rng(3).uniform(0.1, 0.3, even.degrees.size) / even.degrees
    own, among = _Member(even, b), _Member(uneven, unknown_among(uneven, even, b))
    cosines, sines = np.split(among.unknown, 2)
    turned = (cosines - 1j * sines) * np.exp(-0.7j * even.degrees)
    rotated = _Member(uneven, np.concatenate([turned.real, -turned.imag]))
    mirrored = _Member(uneven, np.concatenate([turned.real, turned.imag]))
    phases = turned * np.exp([0.0, 0.0, 1j])
    states = [own, among, rotated, mirrored]
    others = [_Member(uneven, 1.3 * among.unknown), _Member(uneven, np.concatenate([phases.real, -phases.imag]))]
    assert all(_same(plane, one, two) for one in states for two in states)
    assert not any(_same(plane, one, two) or _same(plane, two, one) for one in states for two in others)
