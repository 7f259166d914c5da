"""The stationary equation against finite differences and against the full second variation."""

import mpmath
import numpy as np
import pytest

from meanfield import Circle, CosineSeries, HegselmannKrause, McKeanVlasov, Transformer
from solvers.bases import CosineBasis
from solvers.circle import CIRCLE
from solvers.equations.sizing import stationary_equation
from solvers.linear_algebra.inertia import count_negative
from solvers.root_finding.newton import solve_at

EPS = np.finfo(float).eps


def problem(potential, confinement=None):
    return McKeanVlasov(Circle(), potential, confinement=confinement)


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize(
    ("potential", "confinement"),
    [
        (Transformer(5.0), None),
        (CosineSeries((-1.0, 0.7, -0.4)), None),
        (CosineSeries((-1.0, 0.7, -0.4)), CosineSeries((0.3, -0.2))),
    ],
)
def test_jacobian_and_parameter_derivative_are_derivatives(potential, confinement, even):
    equation = stationary_equation(CIRCLE, problem(potential, confinement), even=even)
    rng = np.random.default_rng(3)
    b, q, step = 0.2 * rng.standard_normal(equation.scales.size) * equation.scales, 1.3, 1e-5
    evaluation = equation.evaluate(b, q)
    jacobian, derivative = equation.linearise(b, q, evaluation.gibbs.moments)
    generator = equation.basis.rotation(evaluation.gibbs.moments)
    if generator is not None:
        vector = equation.scales * generator
        jacobian = jacobian - np.outer(vector, vector) / (vector @ vector)
    direction = rng.standard_normal(b.size)
    central = (
        equation.evaluate(b + step * direction, q).residual - equation.evaluate(b - step * direction, q).residual
    ) / (2 * step)
    # Central differences err by step^2 times a third derivative of order one, and by eps / step.
    bound = 100 * (step**2 + EPS / step)
    assert np.abs(jacobian @ direction - central).max() < bound * np.linalg.norm(direction) ** 3
    central = (equation.evaluate(b, q + step).residual - equation.evaluate(b, q - step).residual) / (2 * step)
    assert np.abs(derivative - central).max() < bound
    assert np.abs(jacobian - jacobian.T).max() < 16 * EPS


def test_inertia_counts_negative_directions_of_the_second_variation():
    """Haynsworth: the slaved matrix and D/rho + kappa W* on a fine grid have the same number of them."""
    potential = CosineSeries((-1.0, 0.8, -1.2, -0.5))
    equation = stationary_equation(CIRCLE, problem(potential))
    size = 400
    angles = 2 * np.pi * np.arange(size) / size
    rng = np.random.default_rng(0)
    seen = set()
    for q in (0.5, 1.0, 1.5, 3.0):
        for _ in range(5):
            b = 0.4 * rng.standard_normal(4)
            gibbs = equation.evaluate(b, q).gibbs
            jacobian, _ = equation.linearise(b, q, gibbs.moments)
            slaved = count_negative(jacobian.copy()) - equation.repulsive
            field = np.cos(np.outer(angles, np.arange(1, 5))) @ (2 * q * equation.signed_scales * b)
            density = np.exp(field - field.max())
            density /= density.sum()
            kernel = potential.values(angles[:, None] - angles)
            form = np.diag(1 / density) + equation.coupling(q) * kernel
            even_mean_zero = np.cos(np.outer(angles, np.arange(1, 40)))
            eigenvalues = np.linalg.eigvalsh(even_mean_zero.T @ form @ even_mean_zero)
            assert np.count_nonzero(eigenvalues < 0) == slaved
            seen.add(slaved)
    assert len(seen) > 1


@pytest.mark.parametrize("size", [1e-9, 0.1, 5.0, 400.0])
def test_moments_do_not_depend_on_how_the_values_of_a_field_are_summed(size):
    """Few modes are summed by a table, many and those of a confinement by a transform."""
    cells = np.arange(1, 11)
    field = size * np.random.default_rng(5).standard_normal(cells.size) / cells
    summed = CosineBasis(cells, 128).gibbs(field)
    transformed = CosineBasis(cells, 128, confinement=np.zeros(1)).gibbs(field)
    many = CosineBasis(cells, 1024).gibbs(field)
    # Values of the field, up to a few times its size, have relative errors of some eps.
    bound = 64 * EPS * max(1.0, size)
    assert np.abs(summed.moments - transformed.moments).max() < bound
    assert np.abs(summed.log_partition - transformed.log_partition) < bound
    assert size > 100.0 or np.abs(summed.moments[:64] - many.moments[:64]).max() < bound
    if size < 1.0:
        # However small the field, its moments keep their relative accuracy.
        assert np.abs(summed.moments[1:11] - transformed.moments[1:11]).max() < 64 * EPS * size


def test_state_agrees_with_the_quadratic_system_in_extended_precision():
    """An independent formulation (theorem T1): Newton on the quadratic moment equations in 40 digits."""
    beta, q = 3.0, 1.7
    equation = stationary_equation(CIRCLE, problem(Transformer(beta)))
    start = equation.scales * np.exp(-0.1 * equation.basis.degrees**2)
    solution = solve_at(equation, start, q)
    count = 40
    with mpmath.workdps(40):
        strengths = [mpmath.mpf(q) * mpmath.besseli(k, beta) / mpmath.besseli(1, beta) for k in range(1, count + 1)]
        moments = [mpmath.mpf(float(m)) for m in solution.evaluation.gibbs.moments[1 : count + 1]]
        for _ in range(3):
            residual, jacobian = quadratic_system(moments, strengths)
            correction = mpmath.lu_solve(jacobian, -residual)
            moments = [m + c for m, c in zip(moments, correction, strict=True)]
        exact = np.array([float(m) for m in moments[:20]])
    assert np.abs(solution.evaluation.gibbs.moments[1:21] - exact).max() < 64 * EPS


def quadratic_system(m, strengths):
    """k m_k = sum_j j lambda_j m_j (m_|k-j| - m_{k+j}): residual and Jacobian, truncated."""
    count = len(m)

    def moment(k):
        return mpmath.mpf(1) if k == 0 else (m[abs(k) - 1] if abs(k) <= count else mpmath.mpf(0))

    residual, jacobian = mpmath.matrix(count, 1), mpmath.matrix(count, count)
    for k in range(1, count + 1):
        residual[k - 1] = k * m[k - 1]
        jacobian[k - 1, k - 1] += k
        for j in range(1, count + 1):
            weight = j * strengths[j - 1]
            residual[k - 1] -= weight * m[j - 1] * (moment(k - j) - moment(k + j))
            jacobian[k - 1, j - 1] -= weight * (moment(k - j) - moment(k + j))
            for degree, sign in ((abs(k - j), 1), (k + j, -1)):
                if 1 <= degree <= count:
                    jacobian[k - 1, degree - 1] -= sign * weight * m[j - 1]
    return residual, jacobian


def test_unresolved_states_make_the_equation_grow():
    equation = stationary_equation(CIRCLE, problem(HegselmannKrause(1.0)))
    b = equation.scales * np.exp(-0.001 * equation.basis.degrees**2)
    moments = equation.basis.gibbs(40 * equation.signed_scales * b).moments
    assert not equation.resolves(b, 20.0, moments)
    larger = equation.refined(b, 20.0, moments)
    assert larger.basis.nodes > equation.basis.nodes or larger.basis.degrees.size > equation.basis.degrees.size
    carried = equation.transfer(b, larger)
    assert np.array_equal(carried[: b.size] / larger.scales[: b.size], b / equation.scales)
