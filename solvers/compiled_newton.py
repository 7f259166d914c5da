r"""Newton's method for even states of few modes on the circle, compiled: :func:`.newton.correct` up to rounding.

For some tens of modes numpy takes ten times as long to be called as to compute. All of an iteration is in
:func:`_iterate`: the field on the nodes and the moments by products with one table, the Jacobian of moments at sums
and differences, and its elimination with the inertia, see :mod:`.elimination`. Where that is in doubt, or J nearly
singular, nothing is decided here, and the iteration is left to LAPACK. Importing this loads numba.
"""

import functools
from typing import NamedTuple

import numpy as np

from .bases import Floats, Integers
from .bases.base import LARGE_FIELD, SMALL_FIELD
from .elimination import MANY, compiled_sums, factorise, solve
from .equation import Evaluation, StationaryEquation
from .stopping import FAILED, MAX_ITERATIONS, RUNNING, SINGULAR_GROWTH, SOLVED, TOO_LONG, UNDECIDED, status_after

_status_after = compiled_sums(status_after)


class Tables(NamedTuple):
    """What does not change along the branches of an equation.

    Cosines on the nodes, cells and weights of J, the signs and signed scales in two rows, and twice the gain.
    """

    cosines: Floats
    cells: Integers
    weights: Floats
    scales: Floats
    doubled: float


class Corrected(NamedTuple):
    """A corrected point: unknowns, evaluation there, unit tangent and negative eigenvalues of J."""

    b: Floats
    q: float
    evaluation: Evaluation
    tangent_b: Floats
    tangent_q: float
    negative: int


def corrected(
    equation: StationaryEquation, b: Floats, q: float, border_b: Floats, border_q: float, last_step: float
) -> tuple[bool, Corrected | None]:
    """Return whether the iteration is decided here, and its solution; see :func:`.newton.correct`."""
    tables = _tables(equation) if type(equation) is StationaryEquation else None
    if tables is None:
        return False, None
    basis = equation.basis.cosines
    assert basis is not None
    vectors = np.empty((2, b.size))
    vectors[0], vectors[1] = b, border_b
    status, q, tangent_q, negative, shift, small = _iterate(
        *tables, vectors, float(q), float(border_q), last_step, basis.exponentials
    )
    if status != SOLVED:
        return status != UNDECIDED, None
    gibbs = basis.density(shift, near_uniform=small)
    found, tangent = vectors
    return True, Corrected(found, q, equation.evaluated(found, gibbs), tangent, tangent_q, negative)


@functools.lru_cache(maxsize=64)
def _tables(equation: StationaryEquation) -> Tables | None:
    """Return the tables of an equation, None if its modes are many or it is of another kind."""
    basis = equation.basis
    table = None if basis.cosines is None else basis.cosines.doubled_table
    if table is None or basis.cells.size > MANY:
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
def _iterate(
    cosines: Floats,
    cells: Integers,
    weights: Floats,
    scales: Floats,
    doubled: float,
    vectors: Floats,
    q: float,
    border_q: float,
    last_step: float,
    values: Floats,
) -> tuple[int, float, float, int, float, bool]:
    """Return the status, q, the tangent's part in q, the negative eigenvalues, the shift and whether f is small.

    The rows of ``vectors``, b and the border, become the solution and its tangent, ``values`` those of e^f.
    """
    b, border = vectors[0], vectors[1]
    jacobian, step, along = np.empty((b.size, b.size)), np.empty(b.size), np.empty(b.size)
    moments, field = np.empty(cosines.shape[1]), np.zeros(cells[-1] + 1)
    length, previous, tangent_q = np.inf, np.inf, 0.0
    negative, status = 0, RUNNING
    for iteration in range(MAX_ITERATIONS + 1):
        _write_field(cells, scales[1], doubled * q, b, field)
        small, shift = _exponentiate(cosines, field, values)
        if iteration > 0:
            status = _status_after(iteration, length, previous, last_step)
            previous = length
        if status != RUNNING:
            break
        _take_moments(cosines, values, small, moments)
        _write_residual(cells, scales, moments, b, step)
        _linearise(cells, weights, scales[0], moments, b, q, jacobian, along)
        negative = factorise(jacobian)
        if negative < 0:
            return UNDECIDED, q, tangent_q, negative, shift, small
        solve(jacobian, step)
        solve(jacobian, along)
        step_q, tangent_q = _eliminate(step, along, border, border_q)
        if tangent_q == 0.0:
            return UNDECIDED, q, tangent_q, negative, shift, small
        q -= step_q
        length = _subtract(b, step, step_q)
        if not (length < TOO_LONG and q > 0.0):
            return FAILED, q, tangent_q, negative, shift, small
    for i in range(b.size):
        border[i] = -tangent_q * along[i]
    return status, q, tangent_q, negative, shift, small


@compiled_sums
def _write_field(cells: Integers, signed_scales: Floats, factor: float, b: Floats, field: Floats) -> None:
    """Write the coefficients of the field of the modes by cell."""
    for i in range(b.size):
        field[cells[i]] = factor * signed_scales[i] * b[i]


@compiled_sums
def _write_residual(cells: Integers, scales: Floats, moments: Floats, b: Floats, residual: Floats) -> None:
    """Write the residual, from signs and signed scales in two rows."""
    for i in range(b.size):
        residual[i] = scales[0, i] * b[i] - scales[1, i] * moments[cells[i]]


@compiled_sums
def _exponentiate(cosines: Floats, field: Floats, values: Floats) -> tuple[bool, float]:
    """Write e^f - 1 on the nodes for a small field, else e^(f - shift); return whether it is small, and the shift.

    The same rules as in :meth:`.bases.CosineBasis.gibbs`.
    """
    largest, shift = 0.0, -np.inf
    for j in range(values.size):
        value = 0.0
        for k in range(field.size):
            value += cosines[j, k] * field[k]
        values[j] = value
        largest, shift = max(largest, abs(value)), max(shift, value)
    if largest < SMALL_FIELD:
        for j in range(values.size):
            values[j] = np.expm1(values[j])
        return True, 0.0
    shift = shift if shift > LARGE_FIELD else 0.0
    for j in range(values.size):
        values[j] = np.exp(values[j] - shift)
    return False, shift


@compiled_sums
def _take_moments(cosines: Floats, values: Floats, small: bool, moments: Floats) -> None:
    """Write the moments of the density of values of e^f, or of e^f - 1 if it is small, by the trapezoid rule."""
    last = values.size - 1
    for k in range(moments.size):
        moments[k] = 0.5 * (values[0] * cosines[0, k] + values[last] * cosines[last, k])
    for j in range(1, last):
        value = values[j]
        for k in range(moments.size):
            moments[k] += value * cosines[j, k]
    inverse = 1.0 / (last + moments[0] if small else moments[0])
    for k in range(moments.size):
        moments[k] *= inverse
    moments[0] = 1.0


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
    """Write the lower triangle of the Jacobian and the derivative in q."""
    derivative[:] = 0.0
    for i in range(b.size):
        cell, mean, total = cells[i], moments[cells[i]], 0.0
        for j in range(i + 1):
            other = cells[j]
            product = 0.5 * (moments[cell + other] + moments[cell - other])
            entry = weights[i, j] * (product - mean * moments[other])
            jacobian[i, j] = q * entry
            total += entry * b[j]
            if j < i:
                derivative[j] += entry * b[i]
        jacobian[i, i] += signs[i]
        derivative[i] += total


@compiled_sums
def _eliminate(of_residual: Floats, of_derivative: Floats, border: Floats, border_q: float) -> tuple[float, float]:
    """Overwrite J^-1 times the residual by the step in b; return that in q and the tangent's part in q.

    Both are zero where J is singular to working precision.
    """
    growth, denominator, ahead = 0.0, border_q, 0.0
    for i in range(border.size):
        growth += of_derivative[i] * of_derivative[i]
        denominator -= border[i] * of_derivative[i]
        ahead += border[i] * of_residual[i]
    if not growth <= SINGULAR_GROWTH**2 or denominator == 0.0:
        return 0.0, 0.0
    step_q = -ahead / denominator
    for i in range(border.size):
        of_residual[i] -= step_q * of_derivative[i]
    return step_q, np.copysign(1.0 / np.sqrt(1.0 + growth), denominator)


@compiled_sums
def _subtract(b: Floats, step: Floats, step_q: float) -> float:
    """Subtract the step in b; return the length of the whole step."""
    square = step_q * step_q
    for i in range(b.size):
        b[i] -= step[i]
        square += step[i] * step[i]
    return float(np.sqrt(square))
