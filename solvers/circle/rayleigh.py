r"""The lowest eigenvalue of a block of the linearisation, from eigenvectors of its matrix, in factored form.

An eigenvalue solver leaves errors of :math:`\mathrm{eps}\,\|S\|` in the eigenvalues of S, of its vectors only the
square enters once they are put into :math:`\langle z, S z\rangle = \langle y, C y\rangle`, :math:`y = Q^* z`, see
:mod:`solvers.circle.linearisation`: neither Q nor C is large, and y is small where the eigenvalue is. This is
accurate where an eigenvalue is below the rounding of S and above about :math:`\mathrm{eps}\,\|C\|`; in extended
precision also where y is tiny. Where clusters attract each other over a distance, the vectors are put into the form
of :mod:`solvers.circle.quadratic_form`; what is known by neither is taken from the whole spectrum,
:mod:`solvers.circle.spectra`.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from ..bases import EPS, Floats, Integers
from ..equations.significant import even_size
from ..linear_algebra.lanczos import lowest_pairs, pairs_below
from .linearisation import Field, Matrix
from .quadratic_form import SAFETY, quadratic_form

# The most eigenvectors of a block whose eigenvalues are lost in rounding, and how many are tried first.
MOST, FEW = 8, 4
# Beyond the first size they are computed by a block of few, beyond the second others by Lanczos.
DENSE, WHOLE = 150, 300


class Lowest(NamedTuple):
    """The lowest eigenvalue near a span of functions, and bounds of its errors by rounding and by the functions."""

    value: float
    rounding: float
    of_functions: float

    @property
    def error(self) -> float:
        """The bound of both errors."""
        return self.rounding + self.of_functions

    @property
    def least(self) -> float:
        """The value less its error."""
        return self.value - self.error


def cosine_waves(vectors: Floats, degrees: Integers) -> Matrix:
    """Return the coefficients of exp(ik theta), k >= 0, of functions given on normalised cosines, row by row."""
    waves = np.zeros((len(vectors), int(degrees[-1]) + 1), dtype=complex)
    waves[:, degrees] = vectors * np.where(degrees == 0, np.sqrt(2.0), 1.0) / (2.0 * np.sqrt(np.pi))
    return waves


def sine_waves(vectors: Floats, degrees: Integers) -> Matrix:
    """Return the same of functions given on normalised sines."""
    return -1j * cosine_waves(vectors, degrees)


def whole_waves(vectors: Floats) -> Matrix:
    """Return the same of functions given on the normalised constant, cosines and sines."""
    degrees = np.arange(vectors.shape[1] // 2 + 1)
    waves = cosine_waves(vectors[:, : degrees.size], degrees)
    waves[:, 1:] += sine_waves(vectors[:, degrees.size :], degrees[1:])[:, 1:]
    return waves


def lowest_vectors(matrix: Floats, below: float) -> tuple[Floats, float]:
    """Return the eigenvectors of a matrix with eigenvalues below a bound, as rows, and a bound of the next.

    There is one vector at least, and there are no more than ``MOST``.
    """
    few = pairs_below(matrix, below, FEW) if len(matrix) > DENSE else None
    if few is not None and few[0][-2] >= below:
        kept = max(1, int(np.count_nonzero(few[0] < below)))
        # The next Ritz value is above its eigenvalue, by a few hundredths where the block has settled.
        return few[1][:, :kept].T, 0.5 * float(few[0][kept])
    count = min(MOST + 1, len(matrix))
    info = 0
    if len(matrix) > WHOLE:
        values, vectors = lowest_pairs(matrix, count)
    else:
        values, vectors, *_, info = lapack.dsyevr(matrix, range="I", il=1, iu=count)
    if info:
        values, vectors = np.linalg.eigh(matrix)
    values, vectors = values[:count], vectors[:, :count]
    kept = min(max(1, int(np.count_nonzero(values < below))), MOST)
    return vectors[:, :kept].T, float(values[kept]) if kept < count else np.inf


def lowest_eigenvalue(field: Field, waves: Matrix, beyond: float, extended: bool = False) -> Lowest:
    """Return the lowest eigenvalue of S near the span of some functions, and bounds of its errors.

    Parameters
    ----------
    field
        The field of the state.
    waves : (k, n + 1) complex
        Coefficients of exp(ik theta), k >= 0, of orthonormal functions z near eigenvectors.
    beyond : float
        The next eigenvalue of the block.
    extended
        Whether functions are transformed in extended precision.

    Returns
    -------
    Lowest
        The bound of rounding in y and C is of first order, that of the functions of second order in their residual.
    """
    precise: Any = np.clongdouble if extended else np.complex128
    coefficients, waves = field.coefficients.astype(precise), waves.astype(precise)
    degree = coefficients.size - 1
    points = even_size(4 * max(degree, waves.shape[1]))
    degrees, step = np.arange(degree + 1), 2.0 * np.pi / points
    slope = np.fft.irfft(1j * degrees * coefficients, points, norm="forward")
    root = np.fft.irfft(field.root.astype(precise), points, norm="forward") / (2.0 * np.pi)
    functions = np.fft.irfft(waves, points, norm="forward")
    slopes = _derivatives(functions)
    first_order = -slopes - 0.5 * slope * functions
    parts = 2.0 * np.pi * np.fft.rfft(root * first_order, norm="forward")[:, : degree + 1]
    pulled = first_order - root * np.fft.irfft(field.strengths * parts, points, norm="forward")
    form = (step * first_order @ pulled.T).astype(float)
    values, turn = np.linalg.eigh(0.5 * (form + form.T))
    applied = _derivatives(pulled) - 0.5 * slope * pulled
    residual = field.noise * turn.T @ np.fft.rfft(applied - form @ functions, norm="forward")
    first, acting, steep = (
        float(np.sqrt(step * np.square(turn[:, 0] @ rows).sum())) for rows in (first_order, pulled, slopes)
    )
    interacting = 2.0 * float(np.abs(field.strengths) @ np.abs(turn[:, 0] @ parts))
    of_first = float(np.finfo(precise).eps) * (steep + 0.5 * float(np.abs(slope).max()))
    rounding = SAFETY * field.noise * (2.0 * of_first * acting + EPS * first * (first + interacting))
    return Lowest(
        float(field.noise * values[0]),
        rounding,
        _of_functions(field, values, residual, waves.shape[1], beyond, rounding),
    )


def _of_functions(
    field: Field, values: Floats, residuals: Matrix, count: int, beyond: float, rounding: float
) -> float:
    r"""Return a bound of what the lowest Ritz value is above an eigenvalue, from the residuals of all Ritz vectors.

    With e the sum of the squares of a residual over its distances, to the next eigenvalue among the degrees of the
    block and to those beyond, an eigenvalue is no further than :math:`e_0(1 + e/(g - e))`, e that of all and g the
    distance of the other Ritz values; and no further than e. Rounding mixes the Ritz vectors by its share of g.
    """
    lowest = field.noise * float(values[0])
    beside, far = beyond - lowest, field.noise * count**2 + lowest
    if min(beside, far) <= 0.0:
        return np.inf
    inside, outside = (
        4.0 * np.pi * np.square(np.abs(part)).sum(axis=1).astype(float)
        for part in np.split(residuals, [count], axis=1)
    )
    each = inside / beside + outside / far
    total = float(each.sum())
    gap = field.noise * float(np.min(values[1:], initial=np.inf) - values[0]) - total - rounding
    if gap <= 0.0:
        return total
    mixed = np.sqrt(each[0]) + rounding / gap * np.sqrt(total)
    return min(total, float(mixed**2) * (1.0 + total / gap))


def without_cancellation(field: Field, waves: Matrix, beyond: float) -> Lowest:
    """Return the lowest eigenvalue near the span of functions in extended precision, by the better of two forms."""
    known = lowest_eigenvalue(field, waves, beyond, extended=True)
    vectors = np.concatenate([waves[:, :0:-1].conj(), waves], axis=1).T
    form, gram, rounding = quadratic_form(field, vectors)
    values, turn = scipy.linalg.eigh(form, gram)
    # The bound of a sum of functions from those of each.
    rounded = float(np.abs(turn[:, 0]) @ np.sqrt(rounding)) ** 2
    return known if known.rounding <= rounded else Lowest(float(values[0]), rounded, known.of_functions)


def _derivatives(rows: Matrix) -> Matrix:
    points = rows.shape[1]
    coefficients = np.fft.rfft(rows, norm="forward")
    return np.asarray(np.fft.irfft(1j * np.arange(coefficients.shape[1]) * coefficients, points, norm="forward"))
