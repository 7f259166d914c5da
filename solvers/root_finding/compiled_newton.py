r"""Newton's method for even states of few modes on the circle, compiled: :func:`.newton.correct` up to rounding.

For some tens of modes numpy takes several times as long to be called as to compute. All of an iteration is in
:func:`iterate`: the field on the nodes and the moments by products with one table, the Jacobian of moments at sums
and differences, and its elimination with the inertia, see :mod:`solvers.linear_algebra.elimination`; the full
bordered matrix where J is singular to working precision. Where the inertia is in doubt nothing is decided here, and
the iteration is left to LAPACK. Importing this loads numba.

Even cosines agree at :math:`\theta` and :math:`\pi - \theta`, odd ones differ in sign: fields and moments are sums
over the even and the odd ones on half of the nodes.
"""

import functools
from typing import NamedTuple

import numpy as np

from ..bases import Floats, Gibbs, Integers
from ..bases.base import LARGE_FIELD, SMALL_FIELD
from ..equations.equation import Evaluation, StationaryEquation
from ..execution.compiling import MOST_ROWS
from ..linear_algebra.elimination import compiled_sums, factorise, solve, solve_bordered
from .solution import Solution
from .stopping import FAILED, MAX_ITERATIONS, RUNNING, SINGULAR_GROWTH, SOLVED, TOO_LONG, UNDECIDED, status_after

_status_after = compiled_sums(status_after)


class Tables(NamedTuple):
    """What does not change along the branches of an equation.

    The folded table of cosines, cells and weights of J, signs and signed scales in two rows, and twice the gain.
    """

    cosines: Floats
    cells: Integers
    weights: Floats
    scales: Floats
    doubled: float


def corrected(
    equation: StationaryEquation, b: Floats, q: float, border_b: Floats, border_q: float, last_step: float
) -> tuple[bool, Solution | None]:
    """Return whether the iteration is decided here, and its solution; see :func:`.newton.correct`."""
    tables = tables_of(equation)
    if tables is None:
        return False, None
    vectors, moments = np.empty((3, b.size)), np.empty(equation.basis.nodes + 1)
    vectors[0], vectors[1] = b, border_b
    status, q, tangent_q, negative, log_partition = iterate(
        *tables, vectors, moments, float(q), float(border_q), last_step
    )
    if status != SOLVED:
        return status != UNDECIDED, None
    found, tangent, residual = vectors
    evaluation = Evaluation(residual, Gibbs(moments, log_partition))
    return True, Solution(found, q, evaluation, tangent, tangent_q, negative)


def tables_of(equation: StationaryEquation) -> Tables | None:
    """Return the tables of an equation, None if its modes are many or it is of another kind."""
    return _tables(equation) if type(equation) is StationaryEquation else None


@functools.lru_cache(maxsize=64)
def _tables(equation: StationaryEquation) -> Tables | None:
    basis = equation.basis
    table = None if basis.cosines is None else basis.cosines.folded_table
    if table is None or not 0 < basis.cells.size <= MOST_ROWS or basis.nodes < 2 * basis.cells[-1]:
        return None
    # Whatever is not an own array in C order would be compiled for once more.
    return Tables(
        table,
        np.array(basis.cells, dtype=np.int64),
        np.array(equation.weights, order="C"),
        np.array([equation.signs, equation.signed_scales]),
        float(equation.doubled),
    )


@compiled_sums
def iterate(
    cosines: Floats,
    cells: Integers,
    weights: Floats,
    scales: Floats,
    doubled: float,
    vectors: Floats,
    moments: Floats,
    q: float,
    border_q: float,
    last_step: float,
) -> tuple[int, float, float, int, float]:
    """Return the status, q, the tangent's part in q, the number of negative eigenvalues, and log Z.

    The rows of ``vectors``, of which the first two are b and the border, become the solution, its tangent and its
    residual, ``moments`` those of its density.
    """
    b, border, residual = vectors[0], vectors[1], vectors[2]
    size, last = b.size, cells[-1]
    jacobian, step, along = np.empty((size, size)), np.empty(size), np.empty(size)
    values, field = np.empty(moments.size), np.zeros((2, last // 2 + 1))
    length, previous, tangent_q = np.inf, np.inf, 0.0
    negative, status = 0, RUNNING
    for iteration in range(MAX_ITERATIONS + 1):
        small, shift = _exponentiate(cosines, cells, scales[1], doubled * q, b, field, values)
        if iteration > 0:
            status = _status_after(iteration, length, previous, last_step)
            previous = length
        mass = _take_moments(cosines, values, small, moments.size if status == SOLVED else 2 * last + 1, moments)
        for i in range(size):
            residual[i] = scales[0, i] * b[i] - scales[1, i] * moments[cells[i]]
        if status != RUNNING:
            break
        _linearise(cells, weights, scales[0], moments, b, q, jacobian, along)
        negative, step_q, tangent_q = _take_step(jacobian, along, residual, border, border_q, step)
        if negative < 0:
            return UNDECIDED, q, 0.0, negative, 0.0
        q -= step_q
        length = _subtract(b, step, step_q)
        if not (length < TOO_LONG and q > 0.0):
            return FAILED, q, 0.0, negative, 0.0
    border[:] = along
    return status, q, tangent_q, negative, shift + (np.log1p(mass) if small else np.log(mass))


@compiled_sums
def _exponentiate(
    cosines: Floats,
    cells: Integers,
    signed_scales: Floats,
    factor: float,
    b: Floats,
    field: Floats,
    values: Floats,
) -> tuple[bool, float]:
    """Write e^f - 1 on the nodes for a small field, else e^(f - shift); return whether it is small, and the shift.

    The same rules as in :meth:`solvers.bases.CosineBasis.gibbs`.
    """
    for i in range(b.size):
        field[cells[i] % 2, cells[i] // 2] = factor * signed_scales[i] * b[i]
    last, odd = values.size - 1, values.size // 2 + 1
    largest, shift = 0.0, -np.inf
    for j in range(last // 2 + 1):
        alike, opposite = 0.0, 0.0
        for k in range(field.shape[1]):
            alike += cosines[j, k] * field[0, k]
        for k in range(cells[-1] + 1 - field.shape[1]):
            opposite += cosines[j, odd + k] * field[1, k]
        values[j], values[last - j] = alike + opposite, alike - opposite
        largest, shift = max(largest, abs(alike) + abs(opposite)), max(shift, alike + abs(opposite))
    if largest < SMALL_FIELD:
        for j in range(values.size):
            values[j] = np.expm1(values[j])
        return True, 0.0
    shift = shift if shift > LARGE_FIELD else 0.0
    for j in range(values.size):
        values[j] = np.exp(values[j] - shift)
    return False, shift


@compiled_sums
def _take_moments(cosines: Floats, values: Floats, small: bool, count: int, moments: Floats) -> float:
    """Write the first moments of the density of values of e^f, or of e^f - 1 if f is small; return their mean."""
    last, odd = values.size - 1, values.size // 2 + 1
    evens, odds = np.zeros((count + 1) // 2), np.zeros(count // 2)
    alike, opposite = np.empty(odd), np.empty(odd)
    for j in range(odd):
        # The ends count half, and so does the middle node, which is its own counterpart.
        weight = 0.5 if j in (0, last - j) else 1.0
        alike[j], opposite[j] = weight * (values[j] + values[last - j]), weight * (values[j] - values[last - j])
    _add_rows(cosines, 0, alike, evens)
    _add_rows(cosines, odd, opposite, odds)
    mean = evens[0] / last
    inverse = 1.0 / (last * (1.0 + mean if small else mean))
    for k in range(evens.size):
        moments[2 * k] = evens[k] * inverse
    for k in range(odds.size):
        moments[2 * k + 1] = odds[k] * inverse
    moments[0] = 1.0
    return float(mean)


@compiled_sums
def _add_rows(rows: Floats, start: int, weights: Floats, sums: Floats) -> None:
    """Add multiples of parts of rows to sums, four at a time, which loads these less often."""
    j = 0
    while j + 3 < len(rows):
        one, two, three, four = rows[j], rows[j + 1], rows[j + 2], rows[j + 3]
        first, second, third, fourth = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
        for k in range(sums.size):
            place = start + k
            sums[k] += first * one[place] + second * two[place] + third * three[place] + fourth * four[place]
        j += 4
    while j < len(rows):
        one, first = rows[j], weights[j]
        for k in range(sums.size):
            sums[k] += first * one[start + k]
        j += 1


@compiled_sums
def _linearise(
    cells: Integers,
    weights: Floats,
    signs: Floats,
    moments: Floats,
    b: Floats,
    q: float,
    jacobian: Floats,
    derivative: Floats,
) -> None:
    """Write the Jacobian and the derivative in q."""
    derivative[:] = 0.0
    for i in range(b.size):
        cell, mean, total = cells[i], moments[cells[i]], 0.0
        for j in range(i + 1):
            other = cells[j]
            product = 0.5 * (moments[cell + other] + moments[cell - other])
            entry = weights[i, j] * (product - mean * moments[other])
            jacobian[i, j] = jacobian[j, i] = q * entry
            total += entry * b[j]
            if j < i:
                derivative[j] += entry * b[i]
        jacobian[i, i] += signs[i]
        derivative[i] += total


@compiled_sums
def _take_step(
    jacobian: Floats, along: Floats, residual: Floats, border: Floats, border_q: float, step: Floats
) -> tuple[int, float, float]:
    """Write the step in b, and the unit tangent over the derivative in q; overwrite the lower triangle of J.

    Returns the number of negative eigenvalues, -1 if it is in doubt, the step in q and the tangent's part in q.
    """
    size = step.size
    derivative, diagonal = along.copy(), np.empty(size)
    for i in range(size):
        diagonal[i], step[i] = jacobian[i, i], residual[i]
    negative = factorise(jacobian)
    if negative < 0:
        return -1, 0.0, 0.0
    solve(jacobian, step)
    solve(jacobian, along)
    growth, denominator, ahead = 0.0, border_q, 0.0
    for i in range(size):
        growth += along[i] * along[i]
        denominator -= border[i] * along[i]
        ahead += border[i] * step[i]
    if not growth <= SINGULAR_GROWTH**2 or denominator == 0.0:
        bordered = np.empty((size + 1, size + 3))
        for i in range(size):
            for j in range(i):
                bordered[i, j] = bordered[j, i] = jacobian[j, i]
            bordered[i, i], bordered[i, size], bordered[size, i] = diagonal[i], derivative[i], border[i]
        bordered[size, size] = border_q
        certain, step_q, tangent_q = solve_bordered(bordered, residual, step, along)
        return negative if certain else -1, step_q, tangent_q
    step_q = -ahead / denominator
    tangent_q = np.copysign(1.0 / np.sqrt(1.0 + growth), denominator)
    for i in range(size):
        step[i] -= step_q * along[i]
        along[i] *= -tangent_q
    return negative, step_q, tangent_q


@compiled_sums
def _subtract(b: Floats, step: Floats, step_q: float) -> float:
    """Subtract the step in b; return the length of the whole step."""
    square = step_q * step_q
    for i in range(b.size):
        b[i] -= step[i]
        square += step[i] * step[i]
    return float(np.sqrt(square))
