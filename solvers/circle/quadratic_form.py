r"""The quadratic form of the linearisation, without cancellation.

Clusters that attract each other over a distance have a tiny eigenvalue by cancellation in the operators C and S of
:mod:`solvers.circle.linearisation`. Here the form of S is evaluated with the stationary equation built in, so that
nothing but true differences of the velocity is left,

.. math:: \frac1D \langle z, S z\rangle = \int |Q z|^2
          + \sum_{k \ge 1} \lambda_k k^2 \iint \cos k(\theta - \theta')\,
            \bigl| z(\theta) \sqrt{\rho(\theta')} - z(\theta') \sqrt{\rho(\theta)} \bigr|^2 ,

the kernel summed in extended precision.
"""

import numpy as np

from meanfield.equations import Interaction

from ..bases import EPS, Floats
from ..significant import even_size
from .linearisation import Field, Matrix, significant

# Safety factor on first-order rounding bounds.
SAFETY = 8.0
SHIFTS_AT_ONCE = 16


def quadratic_form(field: Field, vectors: Matrix) -> tuple[Matrix, Matrix, Floats]:
    """Return the form of S on columns z, their Gram matrix off the rotation mode, and the rounding error."""
    degree = vectors.shape[0] // 2
    # Products of two columns and a cosine that is significant are integrated exactly.
    significant_degree = int(significant(field, np.arange(1, field.strengths.size)).max(initial=1))
    points = even_size(2 * degree + 2 * min(significant_degree, degree))
    derivatives = 1j * np.arange(-degree, degree + 1)[:, None] * vectors
    samples, slopes = _sampled(vectors, points), _sampled(derivatives, points)
    count = field.coefficients.size
    slope = np.fft.irfft(1j * np.arange(count) * field.coefficients, points, norm="forward")
    root = np.fft.irfft(field.root[: 2 * degree + 1], points, norm="forward") / (2.0 * np.pi)
    step = 2.0 * np.pi / points
    samples = samples - np.multiply.outer(root, step * (root @ samples))
    slopes = slopes - 0.5 * slope[:, None] * samples
    form = step * slopes.conj().T @ slopes
    gram = step * samples.conj().T @ samples
    kernel, floor = _kernel(field, points)
    # The double integral of the square is twice that of z^2, off rotation.
    bound = np.diag(form).real + 2.0 * (floor / EPS) * np.diag(gram).real
    significant_shifts = 1 + np.flatnonzero(np.abs(kernel[1 : points // 2 + 1]) > floor)
    for shifts in np.array_split(significant_shifts, 1 + significant_shifts.size // SHIFTS_AT_ONCE):
        back = (np.arange(points) - shifts[:, None]) % points
        pairs = samples * root[back][:, :, None] - samples[back] * root[:, None]
        weights = np.where(2 * shifts < points, 2.0, 1.0) * step**2 * kernel[shifts]
        products = np.swapaxes(pairs.conj(), 1, 2) @ pairs
        form = form + np.tensordot(weights, products, 1)
        bound = bound + np.abs(weights) @ np.diagonal(products, axis1=1, axis2=2).real
    return field.noise * form, gram, SAFETY * EPS * field.noise * bound


def _sampled(coefficients: Matrix, points: int) -> Matrix:
    degree = coefficients.shape[0] // 2
    padded = np.zeros((points, coefficients.shape[1]), dtype=complex)
    padded[np.arange(-degree, degree + 1)] = coefficients
    samples = np.fft.ifft(padded, axis=0, norm="forward") / np.sqrt(2.0 * np.pi)
    real = np.array_equal(coefficients[::-1].conj(), coefficients)
    return np.asarray(samples.real.copy() if real else samples)


def _kernel(field: Field, points: int) -> tuple[Floats, float]:
    """Return sum lambda_k k^2 cos(k t) on the grid, summed in extended precision, and its rounding error."""
    degree = min(points // 2, field.strengths.size - 1)
    degrees = np.arange(1, degree + 1)
    weights = Interaction(field.problem).extended_strengths(degree)[1:] * degrees**2
    half_turns = np.arange(points) * (2 * np.arccos(np.longdouble(-1.0)) / points)
    table = np.cos(half_turns)
    half = np.array([weights @ table[degrees * shift % points] for shift in range(points // 2 + 1)])
    kernel = np.concatenate([half, half[-2:0:-1]])
    floor = float(np.finfo(np.longdouble).eps) * float(np.abs(weights).sum())
    return kernel.astype(float), floor
