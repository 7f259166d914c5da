r"""The polynomials :math:`P_l(\cos\gamma)` of all domains, their sums and derivatives, and numbers of harmonics.

With :math:`P_l(1) = 1` they are Gegenbauer polynomials of index :math:`d/2 - 1`, cosines in dimension 2.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import count as count_up
from typing import Any

import numpy as np
import numpy.typing as npt

from ..domains import Domain

Floats = npt.NDArray[np.float64]
Extended = npt.NDArray[np.longdouble]
# Arrays in the working precision, long double or double.
Working = npt.NDArray[Any]


def multiplicities(domain: Domain, degree: int) -> Extended:
    r"""Return :math:`N_0, \dots, N_{degree}` in longdouble, which holds them in every dimension.

    Examples
    --------
    >>> from meanfield.domains import Sphere
    >>> multiplicities(Sphere(3), 3).astype(int).tolist()
    [1, 3, 5, 7]
    """
    return _multiplicities(domain.multiplicity(1), domain.dimension, degree).copy()


@lru_cache(maxsize=64)
def _multiplicities(first: int, dimension: int, degree: int) -> Extended:
    numbers = np.ones(degree + 1, dtype=np.longdouble)
    numbers[1:] = first * np.cumprod(multiplicity_ratios(dimension, degree))
    return numbers


def multiplicity_ratios(dimension: int, degree: int) -> Extended:
    """Return 1 and N_l / N_(l-1), l = 2..degree; the first is N_1 / d."""
    k, d = np.arange(2, degree + 1).astype(np.longdouble), dimension
    ratios = np.ones(degree, dtype=np.longdouble)
    ratios[1:] = (2 * k + d - 2) * (k + d - 3) / ((2 * k + d - 4) * k)
    return ratios


def zonal_polynomials(dimension: int, degree: int, cosine: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """Yield P_0, ..., P_degree at the cosines, by the three-term recurrence (stable forward on [-1, 1])."""
    previous, current = np.ones_like(cosine), cosine
    yield previous
    for k in range(1, degree + 1):
        yield current
        following = ((2 * k + dimension - 2) * cosine * current - k * previous) / (k + dimension - 2)
        previous, current = current, following


def ascending(dimension: int, complement: Working) -> Iterator[tuple[Working, Working]]:
    """Yield P_l and -(1-u^2) P_l'/l = u P_l - P_(l-1) at given 1 - u, for l = 0, 1, 2, ...

    The arrays are buffers that the next round overwrites. The difference D_l = P_l - P_(l-1) moves on by
    D_(l+1) = -(1-u) P_l + l/(l+d-2) (D_l - (1-u) P_l).
    """
    kind = complement.dtype.type
    value, change = np.ones_like(complement), np.zeros_like(complement)
    driven, slope = np.empty_like(value), np.empty_like(value)
    for degree in count_up():
        np.multiply(complement, value, out=driven)
        np.subtract(change, driven, out=slope)
        yield value, slope
        np.multiply(slope, kind(degree) / kind(degree + dimension - 2), out=change)
        change -= driven
        value += change


def sum_at_cosines(coefficients: Floats, dimension: int, cosine: npt.ArrayLike) -> Floats:
    """Return sum_l c_l P_l(cosine) in the shape of the cosine."""
    cosines = np.asarray(cosine, dtype=float)
    total = np.zeros_like(cosines)
    for c, values in zip(coefficients, zonal_polynomials(dimension, coefficients.size - 1, cosines), strict=True):
        total += c * values
    return np.asarray(total)


def slope_at_cosines(coefficients: Floats, dimension: int, cosine: npt.ArrayLike) -> Floats:
    r"""Return the derivative of the sum in the cosine.

    :math:`P_l' = \frac{l(l+d-2)}{d-1} P_{l-1}^{(d+2)}`, the polynomial of the dimension d + 2.
    """
    if coefficients.size == 1:
        return np.zeros_like(np.asarray(cosine, dtype=float))
    return sum_at_cosines(raised(coefficients, dimension), dimension + 2, cosine)


def raised(terms: npt.NDArray[Any], dimension: int) -> npt.NDArray[Any]:
    r"""Return the derivative of a series in the cosine, a series in the polynomials of dimension d + 2.

    :math:`P_l' = \frac{l(l+d-2)}{d-1} P_{l-1}^{(d+2)}`.
    """
    degrees = np.arange(1, terms.size)
    if degrees.size == 0:
        return np.zeros_like(terms)
    return np.asarray(terms[1:] * (degrees * (degrees + dimension - 2.0) / (dimension - 1)))
