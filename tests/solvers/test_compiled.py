"""Newton's method and unstable directions by compiled code against those without it."""

import dataclasses

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, McKeanVlasov, Transformer
from solvers import Arclength, bifurcation_diagram
from solvers.bases import CosineBasis
from solvers.branches import continuation
from solvers.branches.continuation import Point, trace
from solvers.branches.first_steps import first_point
from solvers.branches.junctions import Departure
from solvers.circle import CIRCLE
from solvers.circle.stability import unstable_along
from solvers.equations.sizing import stationary_equation
from solvers.execution import compiling
from solvers.root_finding.newton import NEUTRAL, POLISHED, Newton, correct
from tests import problems

EPS = np.finfo(float).eps


@pytest.fixture
def compiled(monkeypatch):
    """A function that switches compiled code on and off."""
    pytest.importorskip("numba", reason="numba is not installed")

    def switch(on):
        monkeypatch.setenv("MEANFIELD_CONTINUATION", "numba" if on else "")
        compiling.continuation_compiled.cache_clear()

    yield switch
    compiling.continuation_compiled.cache_clear()


@pytest.fixture
def both(compiled):
    """A function that returns what another one does without compiled code and with it."""

    def results(function, *arguments, **options):
        found = []
        for on in (False, True):
            compiled(on)
            found.append(function(*arguments, **options))
        return found

    return results


def equation_of(coefficients, symmetry=1, modes=0):
    return stationary_equation(CIRCLE, McKeanVlasov(Circle(), CosineSeries(coefficients)), symmetry, modes=modes)


def decided(equation, b, q, border_b, border_q, last_step):
    pytest.importorskip("numba", reason="numba is not installed")
    from solvers.root_finding.compiled_newton import corrected

    return corrected(equation, b, q, border_b, border_q, last_step)


def largest_difference(one, other):
    """Return the largest difference of two solutions, by the size of J^-1 that their tangents show."""
    differences = [np.abs(one.b - other.b).max(), abs(one.q - other.q)]
    differences += [np.abs(one.tangent_b - other.tangent_b).max(), abs(one.tangent_q - other.tangent_q)]
    gibbs = one.evaluation.gibbs, other.evaluation.gibbs
    differences += [np.abs(gibbs[0].moments - gibbs[1].moments).max()]
    differences += [abs(gibbs[0].log_partition - gibbs[1].log_partition) / (1.0 + abs(gibbs[0].log_partition))]
    return max(differences)


@pytest.mark.parametrize("symmetry", [1, 2])
def test_random_states_of_random_potentials(both, symmetry):
    """Attractive and repulsive modes, some of which are missing; those that diverge do so in both."""
    rng = np.random.default_rng(symmetry)
    alike, negative, without, here = 0, set(), 0, 0
    for case in range(60):
        size = int(rng.integers(1, 9)) * symmetry
        coefficients = rng.standard_normal(size) * (rng.random(size) < 0.7)
        coefficients[symmetry - 1] = -1.0
        equation = equation_of(tuple(coefficients), symmetry)
        b = 0.4 * rng.standard_normal(equation.scales.size) * equation.scales
        border_b, border_q = rng.standard_normal(b.size), float(rng.standard_normal())
        method = POLISHED if case % 2 else Newton()
        arguments = (equation, b, float(rng.uniform(0.3, 3.0)), border_b, border_q)
        one, other = both(correct, *arguments, method)
        here += decided(*arguments, method.last_step)[0]
        assert (one is None) == (other is None)
        if one is None:
            without += 1
            continue
        # A last step of 2e-8 leaves its square, by a factor that depends on the state.
        assert largest_difference(one, other) < (1e-11 if method is POLISHED else 1e-9)
        assert one.negative == other.negative
        assert np.array_equal(b, arguments[1])
        negative.add(one.negative)
        alike += 1
    assert alike > 20
    assert without > 3
    assert here > 50
    assert len(negative) > 2


@pytest.mark.parametrize("amplitude", [1e-12, 1e-6, 0.05, 0.3])
def test_states_beside_the_uniform_one_keep_their_relative_digits(both, amplitude):
    """Cosine potential, whose branch has q = 1 + a^2/4 nearly: small fields by e^f - 1."""
    equation = stationary_equation(CIRCLE, McKeanVlasov(Circle(), CosineSeries((-1.0,))))
    start = np.array([amplitude])
    one, other = both(correct, equation, start, 1.0, np.ones(1), 0.0, POLISHED)
    assert one.b[0] == other.b[0] == amplitude
    assert abs(one.q - other.q) < 64 * EPS
    first, second = (each.evaluation.gibbs.moments for each in (one, other))
    assert np.abs(second - first).max() < 16 * EPS * amplitude


@pytest.mark.parametrize("q", [30.0, 400.0])
def test_large_fields_are_shifted(both, q):
    """Of 800 without a shift e^f would overflow."""
    equation = equation_of((-1.0,), modes=128)
    start = np.array([1.0])
    one, other = both(correct, equation, start, q, np.zeros(1), 1.0, POLISHED)
    assert decided(equation, start, q, np.zeros(1), 1.0, POLISHED.last_step)[0]
    assert abs(one.evaluation.gibbs.log_partition) > 0.9 * 2 * q - 10
    assert largest_difference(one, other) < 1e-12


def test_at_a_fold_the_bordered_matrix_is_solved(both):
    """At the fold J is singular to working precision."""
    problem = McKeanVlasov(Circle(), Transformer(5.0))
    fold = bifurcation_diagram(problem, relative=(0.5, 1.5), depth=1, rates=False).events("fold")[0]
    equation = stationary_equation(CIRCLE, problem)
    b, q = equation.unknown_with(fold.cosine, np.zeros_like(fold.cosine)), equation.q_at(fold.coupling)
    direction = b / np.linalg.norm(b)
    assert decided(equation, b, q, direction, 0.0, POLISHED.last_step)[0]
    for side in (0.0, 1e-9, 1e-6, 1e-3):
        one, other = both(correct, equation, b + side * direction, q, direction, 0.0, POLISHED)
        assert largest_difference(one, other) < 1e-12
        assert abs(one.tangent_q) < 20 * side + 1e-13


@pytest.mark.parametrize("size", [1, 2, 7, 25, 64])
def test_small_systems(size):
    """Against LU and eigenvalues: of a symmetric matrix near the identity up to signs, and of one bordered."""
    pytest.importorskip("numba", reason="numba is not installed")
    from solvers.linear_algebra.elimination import factorise, solve, solve_bordered

    rng = np.random.default_rng(size)
    noise = rng.standard_normal((size, size)) / size
    matrix = np.diag(np.where(rng.random(size) < 0.5, 1.0, -1.0)) + 0.3 * (noise + noise.T)
    factors, side, border = matrix.copy(), rng.standard_normal(size), rng.standard_normal(size)
    assert factorise(factors) == np.count_nonzero(np.linalg.eigvalsh(matrix) < 0.0)
    solution = side.copy()
    solve(factors, solution)
    assert np.abs(solution - np.linalg.solve(matrix, side)).max() < 1e-12
    singular = noise[:, :-1] @ noise[:, :-1].T
    whole = np.block([[singular, border[:, None]], [border[None], 0.0]])
    spare, step, along = np.zeros((size + 1, size + 3)), np.empty(size), np.empty(size)
    spare[:, : size + 1] = whole
    regular, step_q, along_q = solve_bordered(spare, side, step, along)
    assert regular
    expected = np.linalg.solve(whole, np.append(side, 0.0))
    tangent = np.linalg.solve(whole, np.append(np.zeros(size), 1.0))
    error = 64 * EPS * np.linalg.cond(whole)
    assert np.abs(np.append(step, step_q) - expected).max() < error * np.abs(expected).max()
    assert np.abs(np.append(along, along_q) - tangent / np.linalg.norm(tangent)).max() < error


@pytest.mark.parametrize("matrix", [[[1.0, 1.0], [1.0, 1e-3]], [[1.0, 0.0], [0.0, 0.0]], [[np.nan]], [[np.inf]]])
def test_what_needs_pivots_is_in_doubt(matrix):
    pytest.importorskip("numba", reason="numba is not installed")
    from solvers.linear_algebra.elimination import factorise

    assert factorise(np.array(matrix)) == -1


def test_what_is_not_finite_or_of_another_kind_is_left_to_others(both):
    equation = equation_of((-1.0, 0.5))
    assert decided(equation, np.array([np.nan, 0.0]), 1.0, np.ones(2), 0.0, 1e-8) == (False, None)
    assert decided(equation, np.array([0.1, 0.0]), 1.0, np.zeros(2), 0.0, 1e-8) == (False, None)
    confined = McKeanVlasov(Circle(), CosineSeries((-1.0,)), confinement=CosineSeries((0.1,)))
    for other in (
        stationary_equation(CIRCLE, confined),
        stationary_equation(CIRCLE, McKeanVlasov(Circle(), CosineSeries((-1.0,))), even=False),
        equation.on(CosineBasis(np.array([1, 600]), 1300)),
    ):
        size = other.scales.size
        assert decided(other, np.full(size, 0.1), 1.0, np.ones(size), 0.0, 1e-8) == (False, None)


@pytest.mark.parametrize("symmetry", [1, 2, 3])
def test_counts_and_determinants_along_branches(compiled, symmetry):
    compiled(False)
    problem = McKeanVlasov(Circle(), CosineSeries((-0.6, 0.3, -1.0, -0.7, 0.5, -0.8)))
    equation = stationary_equation(CIRCLE, problem, symmetry)
    rng = np.random.default_rng(symmetry)
    from solvers.branches.continuation import Point

    points = []
    for q in np.linspace(0.5, 4.0, 40):
        start = 0.3 * rng.standard_normal(equation.scales.size) * equation.scales
        solution = correct(equation, start, q, np.zeros_like(start), 1.0, POLISHED)
        if solution is not None:
            points.append(Point(equation, solution, float(q)))
    assert len(points) > 20
    expected = unstable_along(points)
    compiled(True)
    found = unstable_along(points)
    assert found == expected
    assert len(set(found)) > 2
    for one, other in zip(expected, found, strict=True):
        for name, value in one.determinants.items():
            assert abs(other.determinants[name] - value) < 1e-10 * max(1.0, abs(value)) + NEUTRAL


@pytest.mark.parametrize("depth", [1, 2])
def test_diagrams_agree(both, depth):
    problem = McKeanVlasov(Circle(), Transformer(5.0))
    method = Arclength(max_step=0.1)
    one, other = both(bifurcation_diagram, problem, relative=(0.5, 5.0), depth=depth, method=method, rates=False)
    assert other.provenance["continuation"].startswith("numba ")
    assert "continuation" not in one.provenance
    assert one.warnings == other.warnings
    assert [branch.label for branch in one.branches] == [branch.label for branch in other.branches]
    for first, second in zip(one.branches, other.branches, strict=True):
        assert np.array_equal(first.unstable, second.unstable)
        assert first.point_labels == second.point_labels
        assert np.abs(first.coupling / second.coupling - 1.0).max() < 1e-10
        # Moments are kept up to the last above rounding.
        width = min(first.cosine.shape[1], second.cosine.shape[1])
        assert np.abs(first.cosine[:, :width] - second.cosine[:, :width]).max() < 1e-10
        assert second.residual.max() < 1e-14
    for first, second in zip(one.special_points, other.special_points, strict=True):
        assert (first.type, first.unstable_before, first.unstable_after) == (
            second.type,
            second.unstable_before,
            second.unstable_after,
        )
        assert abs(first.coupling / second.coupling - 1.0) < 1e-13


def test_compiled_code_is_asked_for_in_vain(monkeypatch):
    monkeypatch.setenv("MEANFIELD_CONTINUATION", "numba")
    monkeypatch.setattr(compiling, "numba_module", lambda: None)
    compiling.continuation_compiled.cache_clear()
    try:
        diagram = bifurcation_diagram(problems.TRANSFORMER.problem, relative=(0.9, 1.1), depth=1, rates=False)
    finally:
        compiling.continuation_compiled.cache_clear()
    assert "continuation" not in diagram.provenance
    assert compiling.compiled(dataclasses.replace) is dataclasses.replace


def test_steps_at_once_are_those_one_by_one(compiled):
    """From any three points in a row of a branch: the next point, and how long the step after it is."""
    from solvers.branches.compiled_steps import steps_from

    method, first = Arclength(max_step=0.05), first_of_transformer()
    compiled(False)
    points = [point for point, _ in zip(trace(first, method, first.arclength), range(60), strict=False)]
    step, compared = 0.02, 0
    for place in range(2, len(points)):
        known = points[place - 2 : place + 1]
        expected, next_step = continuation._advance(known, step, method)
        found, found_step = steps_from(known, step, method, 1, np.inf)
        assert isinstance(expected, Point)
        if found:
            ((solution, arclength),) = found
            compared += 1
            assert largest_difference(solution, expected.solution) < 1e-12
            assert solution.negative == expected.solution.negative
            assert abs(arclength - expected.arclength) < 1e-14
            assert abs(found_step - next_step) < 1e-6 * next_step
    assert compared > 50


def test_steps_at_once_end_beyond_the_highest_coupling(compiled):
    """The last point is the first one beyond, and a trace is the same whatever coupling its points are needed to."""
    compiled(True)
    method, first = Arclength(max_step=0.05), first_of_transformer()
    traces = [
        [point for point, _ in zip(trace(first, method, first.arclength, highest=q), range(80), strict=False)]
        for q in (np.inf, 1.5)
    ]
    assert max(abs(one.q - other.q) for one, other in zip(*traces, strict=True)) < 1e-9
    from solvers.branches.compiled_steps import steps_from

    found, _ = steps_from(traces[0][2:5], 0.02, method, 200, 1.5)
    assert found[-1][0].q > 1.5 >= found[-2][0].q


def test_steps_that_are_refused_end_those_at_once(compiled):
    """A step too long for its prediction, one below the shortest, and one from few points are left to Python."""
    from solvers.branches.compiled_steps import steps_from

    compiled(False)
    first = first_of_transformer()
    points = [point for point, _ in zip(trace(first, Arclength(), first.arclength), range(20), strict=False)]
    for known, step in ((points[10:13], 2.0), (points[10:13], 1e-15), (points[11:13], 0.01)):
        assert steps_from(known, step, Arclength(), 4, np.inf) == ([], step)


def first_of_transformer():
    """Return the first point of the branch of one cluster of the noisy transformer."""
    equation = stationary_equation(CIRCLE, McKeanVlasov(Circle(), Transformer(5.0)), 1, modes=16)
    direction = (equation.basis.degrees == 1).astype(float)
    first, _ = first_point(Departure(equation, np.zeros_like(direction), 1.0, direction, 2), counted=False)
    return first
