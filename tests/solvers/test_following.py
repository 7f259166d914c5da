"""Following branches: what is computed for many points at once is what it is for each of them."""

import dataclasses

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, McKeanVlasov, Transformer
from solvers import Arclength, bifurcation_diagram
from solvers.branches import following
from solvers.branches.continuation import trace
from solvers.branches.exchange import Run
from solvers.branches.first_steps import first_point
from solvers.branches.hermite import hermite, hermite_slope
from solvers.branches.junctions import Departure
from solvers.circle import CIRCLE, stability
from solvers.circle.moments import moment_derivatives
from solvers.circle.stability import block_matrix, blocks_of, counted_together, unstable_along
from solvers.equations.sizing import stationary_equation
from solvers.parameters import Path
from solvers.parameters.equation import along
from tests import problems

EPS = np.finfo(float).eps
# Two clusters and three, branches between them that end on others, and steps that are taken again.
SERIES = CosineSeries((-1.0, -0.9, -1.2))


def points_of(potential, symmetry, sign=1, count=40):
    """Return the first points of a branch born on the uniform one."""
    equation = stationary_equation(CIRCLE, McKeanVlasov(Circle(), potential), symmetry, sign)
    direction = (equation.basis.degrees == symmetry).astype(float)
    departure = Departure(equation, np.zeros_like(direction), 1.0, direction, 2)
    start, _ = first_point(departure)
    return [point for point, _ in zip(trace(start, Arclength(), start.arclength), range(count), strict=False)]


whole_diagrams = pytest.mark.parametrize(
    ("problem", "interval"),
    [
        (problems.TRANSFORMER.problem, None),
        (McKeanVlasov(Circle(), SERIES), (0.0, 6.0)),
        (McKeanVlasov(Circle(), CosineSeries((-1.0, 0.7, -1.2, 0.3))), (-6.0, 6.0)),
        (McKeanVlasov(Circle(), SERIES, confinement=CosineSeries((0.0, -0.3))), (0.0, 1.5)),
    ],
    ids=["transformer", "series", "repulsive", "field"],
)


def assert_alike(one, other):
    assert one.branches == other.branches
    assert one.special_points == other.special_points
    assert one.warnings == other.warnings


@whole_diagrams
def test_diagrams_do_not_depend_on_how_many_points_are_counted_at_once(problem, interval, monkeypatch):
    together = bifurcation_diagram(problem, interval, rates=False)
    monkeypatch.setattr(stability, "TOGETHER", 1)
    assert_alike(bifurcation_diagram(problem, interval, rates=False), together)


@whole_diagrams
def test_diagrams_do_not_depend_on_how_many_steps_are_found_quiet_at_once(problem, interval, monkeypatch):
    together = bifurcation_diagram(problem, interval, rates=False)
    monkeypatch.setattr(following, "quiet_along", lambda points, counts: [False] * (len(points) - 1))
    assert_alike(bifurcation_diagram(problem, interval, rates=False), together)


@pytest.mark.parametrize(("factor", "kept"), [(1.0, True), (0.5, True), (-1.0, False), (1e-9, False)])
def test_no_meeting_is_looked_for_at_once_where_every_mode_keeps_its_sign_and_does_not_collapse(factor, kept):
    *before, last = points_of(CosineSeries((-1.0, -0.4)), 1, count=6)
    b = last.b.copy()
    b[1] *= factor
    last = dataclasses.replace(last, solution=dataclasses.replace(last.solution, b=b))
    assert last.equation.densities.meets_none([*before, last]) == [True] * (len(before) - 1) + [kept]
    assert not kept or last.equation.densities.meeting(before[-1], last) is None


@pytest.mark.parametrize("even", [True, False])
def test_derivatives_of_moments_are_covariances_with_that_of_the_field(even):
    rng = np.random.default_rng(3)
    cells, degrees, angles = np.array([1, 2, 4]), np.arange(100), 2.0 * np.pi * np.arange(512) / 512
    waves = np.exp(-1j * np.multiply.outer(degrees, angles))
    density, slopes = np.empty((4, 100), dtype=complex), np.empty((4, 3), dtype=complex)
    expected = np.empty_like(density)
    for row in range(4):
        field, slopes[row] = rng.normal(size=(2, 3)) - 1j * (0.0 if even else rng.normal(size=(2, 3)))
        values = np.exp((field.conj() @ waves[cells].conj()).real)
        masses = values / values.sum()
        change = (slopes[row] @ waves[cells].conj()).real
        density[row] = waves @ masses
        expected[row] = waves @ (masses * (change - masses @ change))
    given = (density.real, slopes.real) if even else (density, slopes)
    found = moment_derivatives(given[0], cells, given[1])
    assert np.isrealobj(found) == even
    # Moments beyond those given are of the size of rounding.
    assert np.abs(found - expected).max() <= 64 * EPS * np.abs(slopes).sum(axis=1).max()


def test_values_at_several_points_are_those_at_each():
    problem = McKeanVlasov(Circle(), Transformer(5.0), coupling=12.0)
    in_coupling = stationary_equation(CIRCLE, problem, 2)
    q = np.array([1.0, 1.25, 2.0])
    for equation in (in_coupling, along(Path(problem, "beta", (2.0, 8.0)), in_coupling)):
        assert equation.values(q).tolist() == [equation.value(each) for each in q.tolist()]


@pytest.mark.parametrize(
    ("potential", "symmetry", "sign"),
    [
        (Transformer(5.0), 1, 1),
        (Transformer(5.0), 2, 1),
        (Transformer(5.0), 4, 1),
        (SERIES, 3, 1),
        (CosineSeries((-1.0, 0.7, -1.2, 0.3)), 2, -1),
    ],
)
def test_unstable_directions_are_the_negative_eigenvalues_of_all_blocks(potential, symmetry, sign):
    points = points_of(potential, symmetry, sign)
    assert counted_together(points[0]) > 1
    expected = []
    for point in points:
        counts = {"even": 0, "odd": 0}
        for block in blocks_of(point):
            matrix, _, repulsive = block_matrix(point, block)
            counts[block.parity] += int(np.count_nonzero(np.linalg.eigvalsh(matrix) < 0.0)) - repulsive
        expected.append((counts["even"], counts["odd"]))
    assert unstable_along(points) == expected


@pytest.mark.parametrize(("potential", "sign"), [(Transformer(5.0), 1), (CosineSeries((1.0, -0.7)), -1)])
def test_newton_counts_the_negative_eigenvalues_where_it_factorises_either_way(potential, sign):
    """Up to the fold of the transformer J has a negative eigenvalue, and none from there on."""
    points = points_of(potential, 1, sign)
    counts = []
    for point in points:
        jacobian, _ = point.equation.linearise(point.b, point.q, point.moments)
        counts.append(int(np.count_nonzero(np.linalg.eigvalsh(jacobian) < 0.0)))
    assert [point.solution.negative for point in points] == counts
    assert len(set(counts)) == (2 if isinstance(potential, Transformer) else 1)


def test_interpolated_gap_is_exact_for_a_cubic():
    cubic = np.polynomial.Polynomial((0.3, -1.0, 2.0, 0.7))
    knots = np.array([-1.0, -0.4, 0.1, 0.15, 1.2])
    run = Run(0, [], knots, cubic(knots), cubic.deriv()(knots))
    places = np.concatenate([knots, np.linspace(-1.0, 1.2, 50)])
    # Sums of four terms of order one.
    assert np.abs(run.gap(places) - cubic(places)).max() < 16 * np.finfo(float).eps


@pytest.mark.parametrize("distance", [1e-4, 3e-6, 1e-6])
def test_two_folds_within_one_step_are_found_beside_a_cusp(distance):
    """Of -cos t - 0.4 cos 2t - b cos 3t the cusp is known to 40 digits, with two folds above and none below."""
    cusp = 0.5830789009561255304
    for side, count in ((1, 2), (-1, 0)):
        problem = McKeanVlasov(Circle(), CosineSeries([-1.0, -0.4, -(cusp + side * distance)]))
        diagram = bifurcation_diagram(problem, (1.5, 2.3), rates=False, depth=1)
        folds = diagram.events("fold", "1-cluster")
        assert len(folds) == count
        assert all(fold.status == "converged" for fold in folds)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_tangents_are_predicted_by_the_polynomial_through_points(count):
    """It is the derivative of what predicts the points, and nears the tangent of the next one with more of them."""
    points = points_of(Transformer(5.0), 1, count=8)
    *nodes, following = points[-count - 1 :]
    b, q = hermite_slope(nodes, following.arclength)
    ends = [hermite(nodes, following.arclength + move) for move in (-1e-4, 1e-4)]
    np.testing.assert_allclose(b, (ends[1][0] - ends[0][0]) / 2e-4, rtol=0.0, atol=1e-7)
    assert q == pytest.approx((ends[1][1] - ends[0][1]) / 2e-4, abs=1e-7)
    missed = max(np.abs(b - following.solution.tangent_b).max(), abs(q - following.solution.tangent_q))
    assert missed < (0.2, 0.02, 0.005)[count - 1]
