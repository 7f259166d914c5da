"""Several steps of continuation in one compiled call, for equations of :mod:`solvers.root_finding.compiled_newton`.

A step is what it is in :mod:`.continuation`, up to rounding, where all goes well: the last three points predict the
next one, and Newton's method, whose first attempt is accepted, finds a state that is resolved. Elsewhere the steps
end before that one. Importing this loads numba.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..bases import Floats, Gibbs, Integers
from ..bases.base import RESOLUTION_TOLERANCE
from ..equations.equation import Evaluation
from ..linear_algebra.elimination import compiled_sums
from ..root_finding.compiled_newton import iterate, tables_of
from ..root_finding.solution import Solution
from ..root_finding.stopping import SOLVED
from .arclength import Arclength
from .stepping import CLOSE_NODES, PREDICTED_FROM, accepted, arc, growth, last_step_beside, smallest_step

if TYPE_CHECKING:
    from .continuation import Point

_accepted, _arc, _growth = compiled_sums(accepted), compiled_sums(arc), compiled_sums(growth)
_last_step_beside, _smallest_step = compiled_sums(last_step_beside), compiled_sums(smallest_step)


def steps_from(
    known: "Sequence[Point]", step: float, method: Arclength, count: int, highest: float
) -> tuple[list[tuple[Solution, float]], float]:
    """Return solutions with arclengths, those of up to ``count`` steps, and the step to try after them.

    Parameters
    ----------
    known
        The last points.
    step
        Length of the first step.
    highest
        The last point may be beyond this q with rising q, none before it is.
    """
    equation = known[-1].equation
    tables = tables_of(equation)
    alike = all(point.equation is equation for point in known)
    if tables is None or not equation.complete or len(known) != PREDICTED_FROM or not alike:
        return [], step
    nodes = equation.basis.nodes
    # Of every point b, its tangent and the residual; arclength, q and the tangent's part in it, and log Z.
    vectors = np.empty((PREDICTED_FROM + count, 3, equation.scales.size))
    numbers = np.empty((PREDICTED_FROM + count, 4))
    for place, point in enumerate(known):
        solution = point.solution
        vectors[place, 0], vectors[place, 1] = solution.b, solution.tangent_b
        numbers[place, :3] = point.arclength, solution.q, solution.tangent_q
    moments, negative = np.empty((count, nodes + 1)), np.empty(count, dtype=np.int64)
    control = method.tolerance, method.max_step, method.min_step, equation.most_growth
    done, step = _march(*tables, control, vectors, numbers, moments, negative, float(step), float(highest))
    found = slice(PREDICTED_FROM, PREDICTED_FROM + done)
    rows = zip(vectors[found], numbers[found].tolist(), moments[:done], negative[:done].tolist(), strict=True)
    solutions = []
    for (b, tangent, residual), (arclength, q, tangent_q, log_partition), means, below in rows:
        evaluation = Evaluation(residual, Gibbs(means, log_partition))
        solutions.append((Solution(b, q, evaluation, tangent, tangent_q, below), arclength))
    return solutions, step


@compiled_sums
def _march(
    cosines: Floats,
    cells: Integers,
    weights: Floats,
    scales: Floats,
    doubled: float,
    control: tuple[float, float, float, float],
    vectors: Floats,
    numbers: Floats,
    moments: Floats,
    negative: Integers,
    step: float,
    highest: float,
) -> tuple[int, float]:
    """Write the points of steps into rows behind those known; return how many, and the step to try next."""
    tolerance, max_step, min_step, most_growth = control
    guess = np.empty(vectors.shape[2])
    for done in range(len(moments)):
        last, new = vectors[PREDICTED_FROM + done - 1], vectors[PREDICTED_FROM + done]
        lines, line = numbers[done : done + PREDICTED_FROM], numbers[PREDICTED_FROM + done]
        arclength, last_q, last_tangent_q = lines[-1, 0], lines[-1, 1], lines[-1, 2]
        size = np.sqrt(_product(last[0], last[0]))
        close = min(lines[1, 0] - lines[0, 0], lines[2, 0] - lines[1, 0]) < CLOSE_NODES * step
        if close or step < _smallest_step(size, arclength, min_step):
            return done, step
        predicted_q = _predict(vectors[done : done + PREDICTED_FROM], lines, arclength + step, guess)
        if not predicted_q > 0.0:
            return done, step
        new[0], new[1] = guess, last[1]
        status, q, tangent_q, negative[done], log_partition = iterate(
            cosines, cells, weights, scales, doubled, new, moments[done], predicted_q, last_tangent_q,
            _last_step_beside(min(arclength, size)),
        )  # fmt: skip
        if status != SOLVED:
            return done, step
        distance = _distance(new[0], guess, q - predicted_q)
        cosine = _product(new[1], last[1]) + tangent_q * last_tangent_q
        if not (_accepted(distance, cosine, step, tolerance) and _resolved(moments[done])):
            return done, step
        if cosine < 0.0:
            new[1] *= -1.0
            tangent_q = -tangent_q
        chord = _distance(new[0], last[0], q - last_q)
        line[0], line[1], line[2], line[3] = arclength + _arc(chord, abs(cosine)), q, tangent_q, log_partition
        factor = _growth(distance, 2 * PREDICTED_FROM, tolerance, most_growth)
        step = min(max_step * max(1.0, 0.5 * q), step * factor)
        if q > highest and tangent_q > 0.0:
            return done + 1, step
    return len(moments), step


@compiled_sums
def _predict(vectors: Floats, numbers: Floats, arclength: float, b: Floats) -> float:
    """Write b of the Hermite polynomial of :func:`.continuation.hermite`, and return its q."""
    b[:] = 0.0
    q = 0.0
    for node in range(len(vectors)):
        place, lagrange, slope = numbers[node, 0], 1.0, 0.0
        for other in range(len(vectors)):
            if other != node:
                gap = place - numbers[other, 0]
                lagrange *= (arclength - numbers[other, 0]) / gap
                slope += 1.0 / gap
        beyond = (arclength - place) * lagrange * lagrange
        weight = lagrange * lagrange - 2.0 * slope * beyond
        for i in range(b.size):
            b[i] += weight * vectors[node, 0, i] + beyond * vectors[node, 1, i]
        q += weight * numbers[node, 1] + beyond * numbers[node, 2]
    return q


@compiled_sums
def _product(one: Floats, other: Floats) -> float:
    """Return the inner product of two vectors."""
    total = 0.0
    for i in range(one.size):
        total += one[i] * other[i]
    return total


@compiled_sums
def _distance(one: Floats, other: Floats, q: float) -> float:
    """Return the length of (one - other, q)."""
    square = q * q
    for i in range(one.size):
        square += (one[i] - other[i]) ** 2
    return float(np.sqrt(square))


@compiled_sums
def _resolved(moments: Floats) -> bool:
    """Return whether the last eighth of moments is at rounding level; see :func:`solvers.bases.base.resolved`."""
    for k in range(moments.size - (moments.size - 1) // 8, moments.size):
        if not abs(moments[k]) <= RESOLUTION_TOLERANCE:
            return False
    return True
