r"""The quadratic form of the linearisation, without cancellation.

Clusters that attract each other over a distance have a tiny eigenvalue by cancellation in the operators C and S of
:mod:`solvers.circle.linearisation`. Here the form of S is evaluated with the stationary equation built in, so that
nothing but true differences of the velocity is left,

.. math:: \frac1D \langle z, S z\rangle = \int |z' - \tfrac12 f' z|^2
          + \sum_{k \ge 1} \lambda_k k^2 \iint \cos k(\theta - \theta')\,
            \bigl| z(\theta) \sqrt{\rho(\theta')} - z(\theta') \sqrt{\rho(\theta)} \bigr|^2 .

With :math:`\hat\rho_k` the moments of the density and :math:`w_{\pm k}` those of :math:`\sqrt\rho\,z` the double
integral is :math:`2\int |z|^2\,\mathrm{Re}(\hat\rho_k e^{ik\theta}) - |w_k|^2 - |w_{-k}|^2`. It is summed in
extended precision, since this difference is small where the eigenvalue is.
"""

import numpy as np

from meanfield.equations import Interaction

from ..bases import EPS, Floats
from ..equations.significant import even_size
from .linearisation import Field, Matrix, significant

# Safety factor on first-order rounding bounds.
SAFETY = 8.0
EXTENDED = float(np.finfo(np.longdouble).eps)


def quadratic_form(field: Field, vectors: Matrix) -> tuple[Matrix, Matrix, Floats]:
    """Return the form of S on columns z, their Gram matrix off the rotation mode, and the rounding error."""
    degree = vectors.shape[0] // 2
    # Products of two columns and a cosine that is significant are integrated exactly.
    significant_degree = int(significant(field, np.arange(1, field.strengths.size)).max(initial=1))
    points = even_size(2 * degree + 2 * min(significant_degree, degree))
    extended = vectors.astype(np.clongdouble)
    samples = _sampled(extended, points)
    slopes = _sampled(1j * np.arange(-degree, degree + 1)[:, None] * extended, points)
    values, slope = _field_on_grid(field, points)
    step = 2.0 * np.longdouble(np.pi) / points
    root = np.exp(0.5 * (values - values.max()))
    root /= np.sqrt(step * (root @ root))
    first_order = slopes - 0.5 * slope[:, None] * samples
    samples = samples - np.multiply.outer(root, step * (root @ samples))
    gram = step * samples.conj().T @ samples
    interacting, summed = _interacting(field, root, samples, step)
    turned = step * first_order.conj().T @ first_order
    acting, steep = (np.sqrt(step * np.sum(np.abs(part) ** 2, axis=0)) for part in (first_order, slopes))
    # Rounding of every part in extended precision, and in double precision of what they leave.
    extended_parts = 2.0 * acting * (steep + 0.5 * np.abs(slope).max()) + summed
    left = np.abs(np.diag(turned)) + np.abs(np.diag(interacting))
    rounding = SAFETY * field.noise * (EXTENDED * extended_parts + EPS * left)
    form = field.noise * (turned + interacting)
    if np.isrealobj(samples):
        return form.real.astype(float), gram.astype(float), rounding.astype(float)
    return form.astype(complex), gram.astype(complex), rounding.astype(float)


def _interacting(field: Field, root: Matrix, samples: Matrix, step: np.longdouble) -> tuple[Matrix, Matrix]:
    """Return the double integrals for pairs of columns off the rotation, and sums of the moduli of their parts."""
    weights = _weights(field, root.size)
    moments = step * np.fft.rfft(root * root)[: weights.size]
    attraction = np.fft.irfft(weights * moments, root.size, norm="forward")
    parts = step * np.fft.fft(root[:, None] * samples, axis=0)
    both = np.concatenate([parts[: weights.size], parts[: -weights.size : -1]])
    factors = np.concatenate([weights, weights[1:]])[:, None]
    direct = step * samples.conj().T @ (attraction[:, None] * samples)
    lengths = step * np.sum(np.abs(samples) ** 2, axis=0)
    summed = 2.0 * lengths * (np.abs(weights) @ np.abs(moments)) + (np.abs(factors) * np.abs(both) ** 2).sum(axis=0)
    return direct - both.conj().T @ (factors * both), summed


def _sampled(coefficients: Matrix, points: int) -> Matrix:
    degree = coefficients.shape[0] // 2
    padded = np.zeros((points, coefficients.shape[1]), dtype=coefficients.dtype)
    padded[np.arange(-degree, degree + 1)] = coefficients
    samples = np.fft.ifft(padded, axis=0, norm="forward") / np.sqrt(2.0 * np.pi)
    real = np.array_equal(coefficients[::-1].conj(), coefficients)
    return np.asarray(samples.real.copy() if real else samples)


def _field_on_grid(field: Field, points: int) -> tuple[Matrix, Matrix]:
    """Return the field and its derivative on a grid in extended precision."""
    coefficients = field.coefficients.astype(np.clongdouble)
    waves = 1j * np.arange(coefficients.size)
    values, slope = (np.fft.irfft(part, points, norm="forward") for part in (coefficients, waves * coefficients))
    return values, slope


def _weights(field: Field, points: int) -> Matrix:
    """Return lambda_k k^2 from k = 0 as far as products are resolved on a grid, in extended precision."""
    degree = min(points // 2 - 1, field.strengths.size - 1)
    return np.asarray(Interaction(field.problem).extended_strengths(degree) * np.arange(degree + 1) ** 2)
