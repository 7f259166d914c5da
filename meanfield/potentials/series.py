"""Checked arguments, cosine sums and the two special sequences the potentials are made of."""

import itertools
import math
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arguments import is_number, shown
from ..errors import InvalidInput
from .arrays import Array

_MOST_COEFFICIENTS = 2**20
# Numbers below have lost digits to underflow, or would in a product.
SMALLEST_SIZE = 1e-290
# Parameters below this have squares that are not numbers any more.
SMALLEST = 1e-150
_ONE = np.longdouble(1)
# Those of (x - sin x)/x^3 in -x^2, the highest power first.
DEFECT = tuple(_ONE / math.factorial(2 * j + 3) for j in range(20, -1, -1))
# Arguments up to which Bessel functions are sums of products, which take longer the larger the argument is.
_SUMMED = 64.0


def as_number(value: Any, what: str, admissible: str) -> float:
    """Return a value as a finite float, or raise an error that names the admissible ones."""
    if is_number(value):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise InvalidInput(f"{what} must be {admissible}, not {shown(value)}")


def require_source(source: object) -> None:
    """Refuse a word on where coefficients came from that is none."""
    if source is not None and not isinstance(source, str):
        raise InvalidInput(f"source must be a text that says where the numbers came from, not {shown(source)}")


def checked_coefficients(values: Any, what: str, example: str) -> tuple[float, ...]:
    """Return values as a non-empty tuple of finite floats, or raise an error that names the offending entry."""
    _require_sequence(values, what, example)
    entries = tuple(itertools.islice(values, _MOST_COEFFICIENTS + 1))
    if not entries:
        raise InvalidInput(f"{what} must contain at least one coefficient; try {example}")
    if len(entries) > _MOST_COEFFICIENTS:
        raise InvalidInput(
            f"{what} must have at most {_MOST_COEFFICIENTS} coefficients; leave out those that vanish"
        )
    numbers = tuple(
        as_number(value, f"coefficient {k} of {what}", "a finite number")
        for k, value in enumerate(entries, start=1)
    )
    require_size(max(map(abs, numbers)), f"the largest coefficient of {what}")
    return numbers


def given_coefficients(values: Any, what: str, example: str) -> tuple[float, ...]:
    """Return values as a tuple of finite floats, which may be none."""
    if isinstance(values, Sequence) and not isinstance(values, str) and len(values) == 0:
        return ()
    return checked_coefficients(values, what, example)


def require_size(size: float, what: str) -> None:
    """Refuse a size that is so near the smallest numbers that it has lost digits to underflow."""
    if 0 < size < SMALLEST_SIZE:
        raise InvalidInput(
            f"{what} is {size:.3g}, too near the smallest numbers to be told from 0; measure it in another unit"
        )


def _require_sequence(values: Any, what: str, example: str) -> None:
    """Refuse values that have no order, or whose iteration does not give their numbers."""
    if isinstance(values, Mapping) or (hasattr(values, "keys") and not hasattr(values, "ndim")):
        raise InvalidInput(
            f"{what} must be a sequence (w_1, w_2, ...), not a mapping such as {shown(values)}, whose "
            "iteration gives its keys; put the number of degree k at place k, with 0 where there is none, as in "
            f"{example}"
        )
    dimensions = getattr(values, "ndim", 1)
    if isinstance(dimensions, int) and dimensions != 1:
        raise InvalidInput(
            f"{what} must be one row of numbers, not an array of {dimensions} dimensions; try {example}"
        )
    if isinstance(values, str | bytes | bytearray | memoryview | Set) or not hasattr(values, "__iter__"):
        raise InvalidInput(f"{what} must be a sequence of numbers, not {shown(values)}; try {example}")


def wrapped(angle: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the angles reduced to [-pi, pi]; those that are there keep all their digits, however small."""
    angles = np.asarray(angle, dtype=float)
    return np.where(np.abs(angles) <= np.pi, angles, np.remainder(angles + np.pi, 2 * np.pi) - np.pi)


def padded(coefficients: Array, degree: int) -> npt.NDArray[np.float64]:
    """Return the coefficients truncated or zero-padded to length degree + 1."""
    result = np.zeros(degree + 1)
    length = min(coefficients.size, degree + 1)
    result[:length] = coefficients[:length]
    return result


def cosine_sum(coefficients: Array, angle: npt.ArrayLike) -> Array:
    """Return sum_k c_k cos(k angle) in the shape of the angle."""
    angles = np.asarray(angle, dtype=float)
    modes = np.arange(coefficients.size)
    return np.asarray(np.cos(angles[..., np.newaxis] * modes) @ coefficients)


def cosine_sum_slope(coefficients: Array, angle: npt.ArrayLike) -> Array:
    """Return -sum_k k c_k sin(k angle) in the shape of the angle."""
    angles = np.asarray(angle, dtype=float)
    modes = np.arange(coefficients.size)
    return np.asarray(-np.sin(angles[..., np.newaxis] * modes) @ (modes * coefficients))


def scaled_bessel(size: float, degree: int) -> Array:
    r"""Return :math:`e^{-x} I_k(x)`, k = 0..degree, x = size > 0, to a few longdouble roundings.

    They are the probabilities that two Poisson numbers of mean x/2 differ by k (Skellam 1946), sums of few terms if
    x is not large. Else by backward recurrence of the ratios :math:`I_k/I_{k-1} = 1/(2k/x + I_{k+1}/I_k)`
    (Gautschi), normalised by :math:`e^x = I_0 + 2\sum I_k`. All terms are positive, which keeps the two or three
    digits that ``scipy.special.ive`` loses.
    """
    return _poisson_differences(size, degree) if size <= _SUMMED else _by_ratios(size, degree)


def _poisson_differences(size: float, degree: int) -> Array:
    """Return the probabilities that two Poisson numbers of mean size/2 differ by 0..degree."""
    mean = np.longdouble(size) / 2
    # Beyond as many numbers the products of two probabilities are below 1e-20 of the largest.
    count = 20 + math.ceil(size)
    factors = np.empty(count + degree, dtype=np.longdouble)
    factors[0], factors[1:] = np.exp(-mean), mean / np.arange(1, count + degree)
    with np.errstate(under="ignore"):
        probabilities = factors.cumprod()
        return np.correlate(probabilities, probabilities[:count])


def _by_ratios(size: float, degree: int) -> Array:
    """Return the same by backward recurrence."""
    # The ratios contract like exp(-k^2/size) once k exceeds sqrt(size), so the start is forgotten. Beyond the
    # degree they are below exp(-asinh((degree - 1/2)/size)) (Amos), whose power that is 1e-20 may come sooner.
    forgotten = 16 + int(math.sqrt(100 * size)) + int(min(size, 40.0))
    sooner = math.ceil(23 / math.asinh((degree - 0.5) / size)) if degree else forgotten
    start = max(forgotten, degree + min(forgotten, sooner))
    ratio, ratios = np.longdouble(0), []
    # Scalars of one type, of a list: conversions and an array would take longer than the recurrence.
    for term in (2 / np.longdouble(size) * np.arange(start, 0, -1)).tolist():
        ratio = _ONE / (term + ratio)
        ratios.append(ratio)
    with np.errstate(under="ignore"):
        products = np.cumprod(np.array([*ratios, _ONE])[::-1])
        return np.asarray(products[: degree + 1] / (1 + 2 * products[:0:-1].sum()))


def sine_defect(x: npt.NDArray[np.longdouble]) -> npt.NDArray[np.longdouble]:
    """Return (x - sin x)/x^3, by its series below 3 where the difference cancels."""
    result = np.empty_like(x)
    small = x < 3
    large = x[~small]
    result[~small] = (large - np.sin(large)) / large**3
    squares = -(x[small] ** 2)
    series = np.zeros_like(squares)
    for coefficient in DEFECT:
        series = series * squares + coefficient
    result[small] = series
    return result
