r"""The lowest eigenvalue of a block of the linearisation, from eigenvectors of its matrix, in factored form.

An eigenvalue solver leaves errors of :math:`\mathrm{eps}\,\|S\|` in the eigenvalues of S, of its vectors only the
square enters once they are put into :math:`\langle z, S z\rangle = \langle y, C y\rangle`, :math:`y = Q^* z`, see
:mod:`solvers.circle.linearisation`: neither Q nor C is large, and y is small where the eigenvalue is. This is
accurate where an eigenvalue is below the rounding of S and above about :math:`\mathrm{eps}\,\|C\|`; below that the
whole spectrum is taken, :mod:`solvers.circle.spectra`.
"""

import numpy as np
from scipy.linalg import lapack

from ..bases import EPS, Floats, Integers
from ..lanczos import lowest_pairs
from ..significant import even_size
from .linearisation import Field, Matrix
from .quadratic_form import SAFETY

# The most eigenvectors of a block whose eigenvalues are lost in rounding.
MOST = 8
# Beyond this size the lowest eigenvectors are computed by Lanczos.
DENSE = 300


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
    """Return the eigenvectors of a matrix with eigenvalues below a bound, as rows, and the next eigenvalue.

    There is one vector at least, and there are no more than ``MOST``.
    """
    count = min(MOST + 1, len(matrix))
    info = 0
    if len(matrix) > DENSE:
        values, vectors = lowest_pairs(matrix, count)
    else:
        values, vectors, *_, info = lapack.dsyevr(matrix, range="I", il=1, iu=count)
    if info:
        values, vectors = np.linalg.eigh(matrix)
    values, vectors = values[:count], vectors[:, :count]
    kept = min(max(1, int(np.count_nonzero(values < below))), MOST)
    return vectors[:, :kept].T, float(values[kept]) if kept < count else np.inf


def lowest_eigenvalue(field: Field, waves: Matrix, beyond: float) -> tuple[float, float]:
    """Return the lowest eigenvalue of S near the span of some functions, and a bound on its error.

    Parameters
    ----------
    field
        The field of the state.
    waves : (k, n + 1) complex
        Coefficients of exp(ik theta), k >= 0, of orthonormal functions z near eigenvectors.
    beyond : float
        The next eigenvalue of the block.

    Returns
    -------
    value, error
        The error is the sum of first-order bounds for the rounding in y and C, and, for the vectors, of squares of
        the residual over distances: to the next eigenvalue, beyond the degrees of the block to those there.
    """
    degree = field.coefficients.size - 1
    points = even_size(4 * max(degree, waves.shape[1]))
    degrees, step = np.arange(degree + 1), 2.0 * np.pi / points
    slope = np.fft.irfft(1j * degrees * field.coefficients, points, norm="forward")
    root = np.fft.irfft(field.root, points, norm="forward") / (2.0 * np.pi)
    functions = np.fft.irfft(waves, points, norm="forward")
    slopes = _derivatives(functions)
    first_order = -slopes - 0.5 * slope * functions
    parts = 2.0 * np.pi * np.fft.rfft(root * first_order, norm="forward")[:, : degree + 1]
    pulled = first_order - root * np.fft.irfft(field.strengths * parts, points, norm="forward")
    form = step * first_order @ pulled.T
    values, turn = np.linalg.eigh(0.5 * (form + form.T))
    applied = _derivatives(pulled) - 0.5 * slope * pulled
    residual = field.noise * np.fft.rfft(applied - form @ functions, norm="forward")
    inside, outside = (
        4.0 * np.pi * float(np.square(np.abs(part)).sum()) for part in np.split(residual, [waves.shape[1]], axis=1)
    )
    first, acting, steep = (
        float(np.sqrt(step * np.square(turn[:, 0] @ rows).sum())) for rows in (first_order, pulled, slopes)
    )
    interacting = 2.0 * float(np.abs(field.strengths) @ np.abs(turn[:, 0] @ parts))
    of_first = EPS * (steep + 0.5 * float(np.abs(slope).max()))
    rounding = SAFETY * field.noise * (2.0 * of_first * acting + EPS * first * (first + interacting))
    lowest = field.noise * float(values[0])
    beside, far = beyond - lowest, field.noise * waves.shape[1] ** 2 + lowest
    of_vectors = inside / beside + outside / far if min(beside, far) > 0.0 else np.inf
    return lowest, rounding + of_vectors


def _derivatives(rows: Floats) -> Floats:
    points = rows.shape[1]
    coefficients = np.fft.rfft(rows, norm="forward")
    return np.asarray(np.fft.irfft(1j * np.arange(coefficients.shape[1]) * coefficients, points, norm="forward"))
