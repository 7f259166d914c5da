r"""Newton's method on the stationary equation, bordered by one linear condition.

Each step solves

.. math::

    \begin{pmatrix} J & g_q \\ \tau_b^T & \tau_q \end{pmatrix}
    \begin{pmatrix} \delta b \\ \delta q \end{pmatrix} = -\begin{pmatrix} g \\ 0 \end{pmatrix}

by one factorisation of the symmetric J with two right-hand sides, which also gives the inertia of J and the next
tangent :math:`(-J^{-1} g_q, 1)`: Cholesky's where J is positive definite, which is faster, and LDL^T elsewhere.
Where J is singular to working precision the full bordered matrix, which is regular at folds, is factorised instead.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack
from scipy.linalg.blas import daxpy, ddot, dscal

from ..bases import EPS, Floats, greatest
from ..equations.equation import Evaluation, StationaryEquation
from ..execution.compiling import continuation_compiled
from ..linear_algebra.inertia import BLOCK, negative_pivots
from ..linear_algebra.weak import HALF_OF_THE_DIGITS, MANY, Partition
from ..linear_algebra.weak import ROUNDING as WEAK_ROUNDING
from .solution import Solution
from .stopping import LAST_STEP, LATE_STEP, MAX_ITERATIONS, RUNNING, SINGULAR_GROWTH, SOLVED, TOO_LONG, status_after

# Eigenvalues of J closer to zero than this are rounding noise.
NEUTRAL = 3e-14
# Components of unit tangents and eigenvalues of J, whose entries are of order one, are known to this.
ROUNDING = 16 * EPS
# Partitioned matrices that change by less than this from step to step are not partitioned again.
CHANGED = 0.01
# Steps that are not the last are solved for to this share of the residual.
FORCING = 0.1
# Tangents are solved for to this share of the last step, which moves them by its length.
TANGENT = 0.01


def neutral_at(q: float, neutral: float = NEUTRAL) -> float:
    """Return the modulus below which an eigenvalue of J is rounding noise at a relative coupling q.

    Far beyond the thresholds entries are differences of numbers of order q: states of clusters that hardly see each
    other have eigenvalues there that are smaller.
    """
    return max(neutral, ROUNDING * q)


@dataclass(frozen=True)
class Newton:
    """Options of Newton's method.

    Parameters
    ----------
    last_step
        An iteration whose step is at most this long is the last: the error after it is of the order of its
        square, below rounding.
    """

    last_step: float = LAST_STEP


# For points that are located: the last factorisation, and with it the tangent, is at the solution to rounding.
POLISHED = Newton(last_step=1e-12)


# A direction of the unknowns and of q, where it is asked for.
Direction = Callable[[], tuple[Floats, float]]


class _Step(NamedTuple):
    """A Newton step: what to subtract, the tangent, its square and direction, and negative eigenvalues of J."""

    b: Floats
    q: float
    along_b: Floats
    along_q: float
    square: float
    orientation: float
    negative: int


def correct(
    equation: StationaryEquation,
    b: Floats,
    q: float,
    border_b: Floats,
    border_q: float,
    method: Newton,
    negative: int = 0,
    along: Direction | None = None,
) -> Solution | None:
    """Return the solution of the stationary equation in the hyperplane through (b, q) orthogonal to the border.

    Parameters
    ----------
    negative
        Number of negative eigenvalues of J nearby, as far as known; if there are any, Cholesky is not tried.
    along
        Gives a direction near the tangent of the solution, if one is known that is nearer than the border.

    Returns
    -------
    Solution or None
        None if the iteration diverged, met a non-finite value or left q > 0.
    """
    if continuation_compiled():
        decided, found = _compiled()(equation, b, q, border_b, border_q, method.last_step)
        if decided:
            return found
    previous = math.inf
    evaluation = equation.evaluate(b, q)
    reduction = None if b.size < MANY else _Reduction(equation, (border_b, border_q), method.last_step)
    for iteration in range(1, MAX_ITERATIONS + 1):
        step = None if reduction is None else reduction.step(b, q, evaluation, negative, along)
        if step is None:
            jacobian, derivative = equation.linearise(b, q, evaluation.gibbs.moments)
            if equation.symmetric:
                step = _solve(jacobian, derivative, border_b, border_q, evaluation.residual, negative == 0)
            else:
                count = equation.negative(jacobian, q)
                step = _solve_any(jacobian, derivative, border_b, border_q, evaluation.residual, count)
        negative = step.negative
        b = b - step.b
        q -= step.q
        length = math.sqrt(ddot(step.b, step.b) + step.q * step.q)
        if not (length < TOO_LONG and q > 0.0):
            return None
        evaluation = equation.evaluate(b, q)
        status = status_after(iteration, length, previous, method.last_step)
        if status == SOLVED:
            if not math.isfinite(evaluation.gibbs.log_partition):
                return None
            scale = math.copysign(1.0 / math.sqrt(step.square), step.orientation)
            return Solution(b, q, evaluation, dscal(scale, step.along_b), scale * step.along_q, negative)
        if status != RUNNING:
            return None
        previous = length
    return None


@functools.cache
def _compiled() -> Callable[..., tuple[bool, Solution | None]]:
    """Return the compiled iteration; its module loads numba."""
    from .compiled_newton import corrected

    return corrected


def _solve(
    jacobian: Floats, derivative: Floats, border_b: Floats, border_q: float, residual: Floats, definite: bool
) -> _Step:
    # Both arrays are handed over in Fortran order, J by its symmetry, so that nothing is transposed on the way.
    matrix, sides = jacobian.T, np.array((residual, derivative)).T
    negative, failed = 0, 1
    if definite:
        _, solved, failed = lapack.dposv(matrix, sides, lower=1)
    if failed:
        factor, pivots, solved, _ = lapack.dsysv(matrix, sides, BLOCK * residual.size, lower=1, overwrite_b=1)
        negative = negative_pivots(factor, pivots)
    of_residual, of_derivative = solved.T
    step = _eliminated(of_residual, of_derivative, border_b, border_q, negative)
    return _solve_bordered(jacobian, derivative, border_b, border_q, residual, negative) if step is None else step


def _solve_any(
    jacobian: Floats, derivative: Floats, border_b: Floats, border_q: float, residual: Floats, negative: int
) -> _Step:
    """Return the step by a matrix that is not symmetric, whose negative eigenvalues have been counted."""
    *_, solved, failed = lapack.dgesv(jacobian, np.array((residual, derivative)).T)
    of_residual, of_derivative = solved.T
    step = None if failed else _eliminated(of_residual, of_derivative, border_b, border_q, negative)
    return _solve_bordered(jacobian, derivative, border_b, border_q, residual, negative) if step is None else step


def _eliminated(
    of_residual: Floats, of_derivative: Floats, border_b: Floats, border_q: float, negative: int
) -> _Step | None:
    """Return the step from J^-1 times residual and derivative, or None if J is singular to working precision."""
    growth = ddot(of_derivative, of_derivative)
    denominator = border_q - ddot(border_b, of_derivative)
    if not growth <= SINGULAR_GROWTH**2 or denominator == 0.0:
        return None
    step_q = -ddot(border_b, of_residual) / denominator
    step_b = daxpy(of_derivative, of_residual, a=-step_q)
    return _Step(step_b, step_q, of_derivative, -1.0, 1.0 + growth, -denominator, negative)


class _Reduction:
    """Newton's steps by factorisations of the strong modes alone, beside one state.

    A step that is not the last one leaves its square as error. It is solved for to a share below the size of the
    residual, so that the next one is no longer than after a whole step. With the last step the tangent needs to be
    known no better than it moves. A factorisation serves the next step too, while the matrix changes by little.
    """

    def __init__(self, equation: StationaryEquation, border: tuple[Floats, float], last_step: float) -> None:
        self._equation = equation
        self._border = border
        # Steps up to this may be the last.
        self._final = max(last_step, LATE_STEP)
        self._share = max(WEAK_ROUNDING, TANGENT * last_step)
        self._along: Floats | None = None
        self._held: tuple[Partition, float, Floats] | None = None

    def step(
        self, b: Floats, q: float, evaluation: Evaluation, negative: int, along: Direction | None
    ) -> _Step | None:
        """Return the step from (b, q), or None if all modes must be factorised.

        Parameters
        ----------
        negative
            Number of negative eigenvalues that a step has which is not the last one.
        along
            Gives a direction near the tangent; by default the border, as a rule the tangent of a point nearby.
        """
        moments = evaluation.gibbs.moments
        partition, change = self._partition(q, moments)
        if partition is None:
            return None
        times, derivative = self._equation.products(b, q, moments)
        sides, least = np.array((evaluation.residual, derivative)), ROUNDING * greatest(b)
        if self._along is None:
            # The second solution is the tangent over its part in q.
            along_b, along_q = self._border if along is None else along()
            self._along = along_b / -along_q if along_q != 0.0 else np.zeros_like(b)
        near = np.array((np.zeros_like(b), self._along))
        size = greatest(evaluation.residual)
        precise, rough = size <= self._final, max(HALF_OF_THE_DIGITS, FORCING * size)
        while True:
            shares = (WEAK_ROUNDING, self._share) if precise else (rough, rough)
            solved = partition.solved(times, sides, shares, near, least)
            step = None if solved is None else _eliminated(solved[0], solved[1], *self._border, negative)
            if solved is None or step is None:
                return None
            self._along = solved[1]
            if math.sqrt(ddot(step.b, step.b) + step.q * step.q) > self._final:
                return step
            if precise:
                count = partition.negative(within=change)
                if count is None:
                    own = self._equation.partition(q, moments)
                    count = None if own is None else own.negative(lambda: (times, None))
                return None if count is None else step._replace(negative=count)
            near, precise = solved, True

    def _partition(self, q: float, moments: Floats) -> tuple[Partition | None, float]:
        """Return the Jacobian partitioned, or one nearby, and a bound of the distance from that."""
        if self._held is not None:
            held, held_q, held_moments = self._held
            change = self._equation.departure(held_q, held_moments, q, moments)
            if change <= CHANGED:
                return held, change
        partition = self._equation.partition(q, moments)
        self._held = None if partition is None else (partition, q, moments)
        return partition, 0.0


def _solve_bordered(
    jacobian: Floats, derivative: Floats, border_b: Floats, border_q: float, residual: Floats, negative: int
) -> _Step:
    size = residual.size
    matrix = np.empty((size + 1, size + 1))
    matrix[:size, :size], matrix[:size, size] = jacobian, derivative
    matrix[size, :size], matrix[size, size] = border_b, border_q
    sides = np.zeros((size + 1, 2))
    sides[:size, 0], sides[size, 1] = residual, 1.0
    _, _, solved, info = lapack.dgesv(matrix, sides)
    if info != 0:
        solved = np.linalg.lstsq(matrix, sides)[0]
    step, along = solved.T
    square = ddot(along, along)
    return _Step(step[:size], float(step[size]), along[:size], float(along[size]), square, 1.0, negative)


def solve_at(equation: StationaryEquation, b: Floats, q: float) -> Solution | None:
    """Return the solution at a fixed coupling, by Newton with the border (0, 1)."""
    solution = correct(equation, b, q, np.zeros_like(b), 1.0, POLISHED)
    if solution is not None:
        # The border fixes it up to the rounding of the elimination.
        solution.q = q
    return solution
