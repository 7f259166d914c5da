r"""The integrand of relative entropies, :math:`h(f) = (1+f)\log(1+f) - f \ge 0`, without cancellation.

The relative entropy of p with respect to q is :math:`\int q\,h\bigl((p-q)/q\bigr)`.
"""

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]

SERIES_BELOW = 0.25
SERIES_ORDER = 30


def excess(f: Vector) -> Vector:
    """Return h(f) = (1+f) log(1+f) - f >= 0, with h(-1) = 1."""
    small = np.abs(f) < SERIES_BELOW
    result = np.empty_like(f)
    result[small] = f[small] ** 2 / 2 + excess_beyond_square(f[small])
    large = np.maximum(f[~small], -1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithmic = np.where(large > -1, (1 + large) * np.log1p(large), 0.0)
    result[~small] = logarithmic - large
    return result


def excess_beyond_square(f: Vector) -> Vector:
    """Return h(f) - f^2/2 = sum_{j >= 3} (-f)^j / (j (j-1)) for small f."""
    series = np.zeros_like(f)
    for j in range(SERIES_ORDER, 2, -1):
        series = 1 / (j * (j - 1)) - f * series
    return np.asarray(-(f**3) * series)
