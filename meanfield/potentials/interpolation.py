r"""Interpolation of multipliers in a parameter by Chebyshev polynomials, and their derivatives in it.

With :math:`x = (p - p_0)/h` on :math:`[p_0 - h, p_0 + h]` a multiplier is
:math:`\sum_{i<n} c_i T_i(x)`, interpolated at the extreme points of :math:`T_{n-1}`, of which those
of the next size are twice as dense and contain them. Of a function analytic about the interval the
coefficients decay geometrically (Trefethen, Approximation Theory and Approximation Practice, theorem
8.2): twice the largest of the last quarter, or rounding, is taken as the error :math:`\varepsilon` of
the values. A coefficient of that size changes the derivative by at most

.. math:: \frac\varepsilon h |T_i'(x)| \le \frac\varepsilon h \min\Bigl(i^2, \frac{i}{\sqrt{1-x^2}}\Bigr).

A kink within the interval leaves coefficients of the size :math:`1/i^2`, and so an error that no
short interval makes small: it is seen, also where it is at :math:`p_0` itself.
"""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..domains import Domain
from ..errors import InvalidInput
from ..harmonics.gegenbauer import Extended
from .arrays import Array, narrowed
from .parametric import values_of

if TYPE_CHECKING:
    from .protocol import Potential

# Numbers of points, each one less than twice the one before and more.
_SIZES = (9, 17, 33, 65)
# Roundings, of the largest, that a multiplier may have.
_ROUNDINGS = 8
_EPS = float(np.finfo(float).eps)
# Error of a derivative over the largest beyond which it is refused.
LARGEST_ERROR = 1e-8
# Half of the first interval over the parameter, how often that is halved for the potential to admit it, and how
# often for the coefficients to decay. Multipliers of kinks that move are waves in the parameter whose frequency is
# the degree: from this one on the first interval is the shorter, the larger the degree.
_FIRST_HALF, _ADMITTED, _HALVINGS, _SLOW = 0.125, 12, 8, 16

# The multipliers at a value of the parameter.
Reading = Callable[[float], Array]


@dataclass(frozen=True, eq=False)
class Interpolant:
    """Multipliers as polynomials of a parameter about a value.

    Attributes
    ----------
    middle, half
        The interval is [middle - half, middle + half].
    coefficients : (n, ...)
        Chebyshev coefficients of each multiplier.
    errors : (...)
        Of the values.
    """

    middle: float
    half: float
    coefficients: npt.NDArray[Any]
    errors: npt.NDArray[Any]

    def values(self, place: float) -> Extended:
        """Return the multipliers at a value of the parameter; those below their errors are 0."""
        found = np.polynomial.chebyshev.chebval(self._within(place), self.coefficients)
        return np.asarray(np.where(np.abs(found) <= self.errors, 0, found))

    def derivatives(self, place: float) -> Extended:
        """Return their derivatives in the parameter."""
        lowered = np.polynomial.chebyshev.chebder(self.coefficients) / self.half
        return np.asarray(np.polynomial.chebyshev.chebval(self._within(place), lowered))

    def derivative_errors(self, place: float) -> Extended:
        """Return bounds of the errors of the derivatives by those of the values."""
        orders = np.arange(1, len(self.coefficients) + 1)
        across = np.sqrt(max(1 - float(self._within(place)) ** 2, _EPS))
        slopes = np.minimum(orders**2, orders / across)
        return np.asarray(self.errors * slopes.sum() / self.half)

    def _within(self, place: float) -> np.longdouble:
        return (np.longdouble(place) - self.middle) / self.half


def interpolant(read: Reading, middle: float, half: float, tolerance: float = 0.0) -> tuple[Interpolant, bool]:
    """Return the multipliers about a value of a parameter, and whether their coefficients have decayed.

    Parameters
    ----------
    read
        The multipliers at a value of the parameter, the first of which is a constant that carries no information.
    middle, half
        The interval.
    tolerance
        The error of each over the largest that ``read`` has, if more than rounding.

    Raises
    ------
    InvalidInput
        That of ``read``.
    """
    known: dict[int, Array] = {}
    decayed = False
    for size in _SIZES:
        step = (_SIZES[-1] - 1) // (size - 1)
        for place in range(0, _SIZES[-1], step):
            if place not in known:
                known[place] = read(middle + half * float(np.cos(np.pi * place / (_SIZES[-1] - 1))))
        rows = np.array([known[place] for place in range(0, _SIZES[-1], step)])
        floor = max(_ROUNDINGS * _EPS, tolerance) * _sizes_of(rows)
        coefficients = np.tensordot(chebyshev_transform(size).astype(rows.dtype), rows, axes=1)
        last = np.abs(coefficients[-(size // 4) :]).max(axis=0)
        decayed = bool((last <= floor).all())
        if decayed:
            break
    told = np.flatnonzero((np.abs(coefficients) > floor / _ROUNDINGS).reshape(size, -1).any(axis=1))
    kept = coefficients[: max(int(told.max(initial=0)) + 1, 2)]
    return Interpolant(middle, half, kept, np.maximum(2 * last, floor)), decayed


@functools.cache
def chebyshev_transform(size: int) -> npt.NDArray[np.longdouble]:
    """Return the matrix from values at cos(pi j/(size - 1)) to Chebyshev coefficients, read-only."""
    steps = np.arange(size)
    pi = 4 * np.arctan(np.longdouble(1))
    matrix = np.cos(pi * steps[:, np.newaxis] * steps / (size - 1)) * 2 / (size - 1)
    matrix[[0, -1]] /= 2
    matrix[:, [0, -1]] /= 2
    matrix.flags.writeable = False
    return np.asarray(matrix)


def _sizes_of(rows: Array) -> Array:
    """Return what errors of multipliers, (n, size), are measured by: the largest, and of the constant itself."""
    sizes = np.asarray(np.abs(rows).max(axis=0))
    whole = np.full_like(sizes, sizes[..., 1:].max(initial=0))
    whole[..., 0] = sizes[..., 0]
    return whole


def interpolated_derivatives(
    potential: "Potential", name: str, domain: Domain, degree: int, *, of: str = "multipliers"
) -> tuple[Array, Array]:
    """Return the derivatives of w_0, ..., w_degree in a parameter of any potential, and bounds of their errors.

    They are those of the polynomials that interpolate multipliers about its value, on the largest interval that the
    potential admits and in which coefficients decay.

    Parameters
    ----------
    name
        One of its ``parameter_names``.
    of
        The method whose coefficients are differentiated: ``multipliers``, ``sine_multipliers`` or
        ``harmonic_multipliers``.

    Returns
    -------
    derivatives, errors : (degree + 1,), or (2, places) of harmonics

    Raises
    ------
    InvalidInput
        If the potential refuses all neighbouring values on one side.
    """
    value = values_of(potential)[name]

    def read(place: float) -> Extended:
        return np.asarray(_read(potential.with_parameter(name, place), domain, degree, of), dtype=np.longdouble)

    best = least = np.full(1, np.longdouble(np.inf))
    for half in _halves(potential, name, degree, read):
        found, decayed = interpolant(read, value, half)
        errors = found.derivative_errors(value)
        if errors.max() < least.max():
            best, least = found.derivatives(value), errors
        if decayed:
            break
    return narrowed(best), narrowed(least)


def differentiated(
    potential: "Potential", name: str, domain: Domain, degree: int, *, of: str = "multipliers"
) -> Array:
    """Return the derivatives of any potential in a parameter, each known to 1e-8 of the largest.

    The largest is that of the derivatives or of the multipliers over the parameter, 1 where it is 0.

    Parameters
    ----------
    name, of
        As of :func:`interpolated_derivatives`.

    Raises
    ------
    InvalidInput
        If they are not known that well, or the potential refuses all neighbouring values on one side.
    """
    derivatives, errors = interpolated_derivatives(potential, name, domain, degree, of=of)
    size = abs(values_of(potential)[name]) or 1.0
    largest = max(np.abs(derivatives).max(), np.abs(_read(potential, domain, degree, of)).max() / size)
    # An error that is no number is none that is small.
    if not errors.max() <= LARGEST_ERROR * largest:
        raise InvalidInput(
            f"the derivatives of the multipliers of {potential.name!r} in {name}, interpolated in it, have errors "
            f"of {float(errors.max()):.1e} beside {float(largest):.1e}; write it as a formula, as in "
            "Custom.from_expression('-Max(b - Abs(t), 0)', b=1), or give them as the method "
            f"{of.removesuffix('s')}_derivatives of a class of its own"
        )
    return derivatives


def _read(potential: "Potential", domain: Domain, degree: int, of: str) -> Array:
    """Return the coefficients of a potential that are asked for."""
    harmonics = of == "harmonic_multipliers"
    return np.asarray(getattr(potential, of)(degree) if harmonics else getattr(potential, of)(domain, degree))


def _halves(potential: "Potential", name: str, degree: int, read: Reading) -> Iterator[float]:
    """Return halves of intervals at both ends of which the potential has finite multipliers up to a degree."""
    value = values_of(potential)[name]
    half = _FIRST_HALF * (abs(value) or 1.0) * min(1.0, _SLOW / max(degree, 1))
    for _ in range(_ADMITTED):
        try:
            if all(np.isfinite(read(place)).all() for place in (value + half, value - half)):
                break
        except ValueError:
            pass
        half /= 2
    else:
        raise InvalidInput(
            f"the multipliers of {potential.name!r} cannot be interpolated in {name} at {value:g}, beside which it "
            "refuses values; give their derivatives as the method multiplier_derivatives of its class"
        )
    yield from half * 0.5 ** np.arange(_HALVINGS)
