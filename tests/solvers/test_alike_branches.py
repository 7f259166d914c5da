"""Where branches born in several directions of a clustered state are alike, and curves end."""

import numpy as np
import pytest
from scipy.optimize import brentq

from meanfield import Circle, CosineSeries, External, McKeanVlasov, Outcome
from solvers import bifurcation_diagram, curve


def couplings_of_born(weights, amplitude, window):
    """Return the couplings at which two even states of four moments have a small first one, by Newton's method.

    They are born of the 4-cluster in a window of the coupling, with its fourth moment positive and negative: about
    the axis of it and about its other one.
    """
    angles = 2.0 * np.pi * np.arange(256) / 256
    waves = np.cos(np.outer(np.arange(1, 5), angles))
    odd = waves[[0, 2]]

    def density(moments, coupling):
        values = np.exp(-coupling * (weights * moments) @ waves)
        return values / values.sum()

    def parent(coupling):
        fourth = brentq(lambda m: waves[3] @ density(np.array([0.0, 0.0, 0.0, m]), coupling) - m, 0.01, 0.9)
        return np.array([0.0, 0.0, 0.0, fourth])

    def block(moments, coupling):
        return np.eye(2) + coupling * (odd * density(moments, coupling)) @ odd.T * weights[[0, 2]]

    def residual(unknowns):
        moments = np.append(amplitude, unknowns[:3])
        return waves @ density(moments, unknowns[3]) - moments

    birth, found = brentq(lambda coupling: np.linalg.det(block(parent(coupling), coupling)), *window), []
    for moments in (parent(birth), -parent(birth)):
        null = np.linalg.svd(block(moments, birth))[2][-1]
        unknowns = np.array([0.0, amplitude * null[1] / null[0], moments[3], birth])
        for _ in range(30):
            change = 1e-30
            matrix = np.array([residual(unknowns + 1j * change * row).imag / change for row in np.eye(4)]).T
            unknowns = unknowns - np.linalg.solve(matrix, residual(unknowns))
        assert np.abs(residual(unknowns)).max() < 64 * np.finfo(float).eps
        assert abs(unknowns[3] - birth) < 0.1
        found.append(unknowns[3])
    return found


def test_branches_between_those_about_both_axes_come_down_where_both_are_alike():
    """With the same curvature of the coupling: by the couplings at two small amplitudes, to the fourth order in them."""
    weights = np.array([-0.72, -0.539, -0.759, -0.647])

    def apart(first):
        moved = np.append(first, weights[1:])
        differences = [
            np.subtract(*couplings_of_born(moved, amplitude, (3.1, 3.14))) / amplitude**2
            for amplitude in (0.002, 0.001)
        ]
        return (4.0 * differences[1] - differences[0]) / 3.0

    exact = brentq(apart, -0.75, -0.73, xtol=1e-12)
    for multiple in (1, 2):
        series = np.kron(weights, np.eye(1, multiple, multiple - 1)[0])
        diagram = bifurcation_diagram(McKeanVlasov(Circle(), CosineSeries(series)), (1.2, 4.0), rates=False)
        name = f"w{multiple}"
        parents = [
            curve(event, name, (-0.8, -0.65)) for event in diagram.events("branch point", f"{4 * multiple}-cluster")
        ]
        (point,) = [
            each
            for found in parents
            for each in found.special_points
            if each.type == "mode interaction" and abs(each.values[0] - exact) < 1e-3
        ]
        assert point.status == "converged"
        assert point.values[0] == pytest.approx(exact, rel=1e-6)
        assert point.upper - point.lower < 1e-11
        between = [
            curve(event, name, (-0.8, -0.65))
            for event in diagram.events("branch point")
            if diagram.branches[event.branch].label.startswith(f"{multiple}-cluster (2)")
        ]
        (end,) = [each for found in between for each in found.special_points]
        assert (end.type, end.status) == ("mode interaction", "converged")
        assert end.values == pytest.approx(point.values, rel=1e-11)
        assert not any(found.warnings for found in between)


def test_lines_end_where_branches_of_both_signs_that_leave_a_third_of_a_symmetry_are_alike():
    """The free energy along them has no cubic part there: by quadrature of the third power of the direction."""
    weights = np.array([0.112, -0.416, -1.08, 0.118, -0.535, -0.332])
    waves = np.cos(np.outer(np.arange(1, 7), 2.0 * np.pi * np.arange(256) / 256))
    own, others = waves[[2, 5]], waves[[0, 1, 3, 4]]

    def parent(moved, coupling):
        moments = np.array([0.7, 0.4])
        for _ in range(4000):
            values = np.exp(-coupling * (moved[[2, 5]] * moments) @ own)
            moments, before = own @ values / values.sum(), moments
            if np.abs(moments - before).max() < 1e-15:
                break
        return values / values.sum()

    def block(moved, coupling):
        density = parent(moved, coupling)
        return np.eye(4) + coupling * (others * density) @ others.T * moved[[0, 1, 3, 4]]

    def birth(moved):
        return brentq(lambda coupling: np.linalg.det(block(moved, coupling)), 2.4, 2.7, xtol=1e-14)

    def cubic(last):
        moved = np.append(weights[:5], last)
        coupling = birth(moved)
        null = np.linalg.svd(block(moved, coupling))[2][-1]
        direction = (np.sign(null[0]) * moved[[0, 1, 3, 4]] * null) @ others
        return parent(moved, coupling) @ direction**3

    exact = brentq(cubic, -0.35, -0.15, xtol=1e-14)
    place = exact, birth(np.append(weights[:5], exact))
    diagram = bifurcation_diagram(McKeanVlasov(Circle(), CosineSeries(weights)), (1.5, 4.0), rates=False)
    (start,) = diagram.events("branch point", "3-cluster")
    (point,) = curve(start, "w6", (-0.45, -0.1)).special_points
    assert (point.type, point.status) == ("mode interaction", "converged")
    assert point.values == pytest.approx(place, rel=1e-11)
    assert point.lower <= point.values[0] <= point.upper
    (start,) = diagram.events("transition")
    line = curve(start, "w6", (-0.45, -0.1))
    assert line.warnings == ()
    assert Outcome.JOINED_BRANCH in (line.outcome, line.first_outcome)
    (end,) = line.special_points
    assert (end.type, end.status) == ("end point", "converged")
    assert end.values == pytest.approx(place, rel=1e-11)


@pytest.mark.parametrize("weights", [(-0.72, -0.539, -0.759, -0.647), (-0.2, -0.3, -1.0, -0.1, -0.9)])
def test_branches_in_all_directions_of_the_uniform_state_are_no_interaction(weights):
    """They are alike where the confinement changes its sign, and the state its own with it, whatever the symmetry."""
    symmetry = 4 if len(weights) == 4 else 3
    field = np.eye(1, symmetry, symmetry - 1)[0]
    problem = McKeanVlasov(Circle(), CosineSeries(weights), confinement=External(cosine=tuple(0.1 * field)))
    diagram = bifurcation_diagram(problem, (0.3, 2.7), rates=False)
    passing = 0
    for start in diagram.events("branch point", "primary"):
        found = curve(start, f"confinement_cosine{symmetry}", (-0.2, 0.2))
        passing += min(found.first) < 0.0 < max(found.first)
        assert all(abs(point.values[0]) > 1e-3 for point in found.special_points)
    assert passing
