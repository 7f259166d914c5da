r"""Functions on the circle without symmetry: finite Fourier series, or an even and an odd part of pieces.

A continuous function f of the angle whose Fourier coefficients decay to rounding is kept as these, found by
trapezoid sums on ever finer grids until two agree, the last third has decayed and the sum is the function at other
angles. Any other, with kinks or narrow features, is the sum of its even part, see
:mod:`meanfield.potentials.custom`, and its odd part o, polynomials on pieces of :math:`[0, \pi]`. The coefficients
of these, :math:`\frac2\pi\int_0^\pi o \sin kt\,dt`, have the bounds of :mod:`meanfield.potentials.pieces`; partial
integration now leaves the even derivatives at 0 and :math:`\pi`.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import chebyshev

from ..domains import Circle, Domain
from ..errors import InvalidInput
from .arrays import Array
from .custom import Custom
from .formulas import formulas_of
from .pieces import Pieces, sine_integrals
from .sampling import extended, finite, probes, sampled
from .series import cosine_sum, cosine_sum_slope, padded, wrapped
from .splitting import split

Floats = npt.NDArray[np.float64]
Function = Callable[[Any], Any]

_SMALLEST_GRID, _LARGEST_GRID = 64, 2**14
# Multiples of the rounding of the values within which two results are one.
_ROUNDINGS = 64
# One in so many probes is compared.
_STRIDE = 8


@dataclass(frozen=True, eq=False)
class FourierSeries:
    """A finite sum of cosines and sines, (K + 1,) each from degree 0; the sine of degree 0 is 0."""

    cosine: Floats
    sine: Floats

    @property
    def even(self) -> bool:
        """Whether there are no sines."""
        return not np.any(self.sine)

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return the sum at the angles."""
        return np.asarray(cosine_sum(self.cosine, angle) + sine_sum(self.sine, angle))

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return the differentiated sum at the angles."""
        degrees = np.arange(self.sine.size)
        return np.asarray(cosine_sum_slope(self.cosine, angle) + cosine_sum(degrees * self.sine, angle))

    def multipliers(self, domain: Domain, degree: int) -> Floats:
        """Return the multipliers of the cosines on a domain, 0 beyond the last."""
        return padded(formulas_of(domain).of_cosines(self.cosine), degree)

    def sines(self, degree: int) -> Floats:
        """Return the coefficients of sines, 0 beyond the last."""
        return padded(self.sine, degree)

    def tail_bound(self, domain: Domain, degree: int) -> float:
        """Return the largest remaining amplitude."""
        remaining = np.abs(formulas_of(domain).of_cosines(self.cosine)[degree + 1 :])
        return float(np.hypot(remaining, self.sine[degree + 1 :]).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Parts:
    """The sum of an even function, an odd one, o, given by its values on [0, pi], and a constant."""

    evenly: Custom
    odd: Pieces
    constant: float = 0.0

    @functools.cached_property
    def even(self) -> bool:
        """Whether the odd part is rounding of the even one."""
        rounding = _ROUNDINGS * float(np.finfo(float).eps) * float(self.evenly.scale(Circle()))
        return float(np.abs(self.odd.coefficients).max(initial=0.0)) <= rounding

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return the sum of both at the angles."""
        reduced = wrapped(angle)
        varying = self.evenly.values(reduced) + np.sign(reduced) * self.odd.values(np.abs(reduced))
        return np.asarray(varying + self.constant)

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return the derivative at the angles, of the piece to the right of kinks in the odd part."""
        reduced = wrapped(angle)
        return np.asarray(self.evenly.slope(reduced) + self.odd.derivative(np.abs(reduced)))

    def multipliers(self, domain: Domain, degree: int) -> Floats:
        """Return the multipliers of the even part on a domain."""
        multipliers = np.array(self.evenly.multipliers(domain, degree), dtype=float)
        multipliers[0] += self.constant
        return multipliers

    def sines(self, degree: int) -> Floats:
        """Return the coefficients of the sines."""
        return sine_integrals(self.odd, degree)

    def tail_bound(self, domain: Domain, degree: int) -> float:
        """Return a bound of the amplitudes beyond a degree."""
        odd = 0.0 if self.even else self._odd_bound(degree)
        return float(np.hypot(float(self.evenly.tail_bound(domain, degree)), odd))

    def _odd_bound(self, degree: int) -> float:
        jumps, integrals = self._variations
        powers = float(degree + 1) ** -np.arange(1.0, jumps.size + 1)
        before = np.concatenate([[0.0], np.cumsum(jumps * powers)])
        return float((2 / np.pi * (before + integrals * np.concatenate([[1.0], powers]))).min())

    @functools.cached_property
    def _variations(self) -> tuple[Floats, Floats]:
        """The jumps of each derivative of the odd part, between pieces and at the ends, and its variations."""
        jumps, integrals = self.odd.variations
        ends = [
            abs(chebyshev.chebval(-1.0, part[0])) + abs(chebyshev.chebval(1.0, part[-1]))
            for part in self.odd.derivatives[: jumps.size]
        ]
        # The even derivatives at the ends in the place of the odd ones; the function itself vanishes there.
        signs = np.where(np.arange(jumps.size) % 2 == 1, -1.0, 1.0)
        signs[0] = 0.0
        return np.maximum(jumps + signs * np.array(ends, dtype=float), 0.0), integrals


def sine_sum(coefficients: Array, angle: npt.ArrayLike) -> Array:
    """Return sum_k c_k sin(k angle) in the shape of the angle."""
    angles = np.asarray(angle, dtype=float)
    return np.asarray(np.sin(angles[..., np.newaxis] * np.arange(coefficients.size)) @ coefficients)


def shape_of(function: Function, label: str, constant: float = 0.0) -> FourierSeries | Parts:
    """Return a function of the angle in [-pi, pi], plus a constant, as a finite Fourier series, else as two parts.

    Raises
    ------
    InvalidInput
        If it is somewhere not finite, jumps, or does not become smooth on short pieces.
    """
    ends = finite(function, np.array([np.pi, -np.pi, 0.0]), label).astype(float)
    others = finite(function, extended(np.concatenate([probes()[1::_STRIDE], -probes()[1::_STRIDE]])), label)
    scale = float(np.abs(others - ends[2]).max())
    precision = max(float(np.finfo(others.dtype).eps), float(getattr(function, "precision", 0.0)))
    rounding = _ROUNDINGS * max(precision, np.finfo(float).eps) * (float(np.abs(others).max()) + scale)
    if abs(ends[0] - ends[1]) > rounding:
        raise InvalidInput(
            f"{label} is {ends[0]:.6g} at t = pi and {ends[1]:.6g} at t = -pi, which is the same place; a "
            "confinement is continuous on the circle"
        )
    series = _series(function, label, precision)
    if series is None:
        return _parts(function, label, constant)
    series.cosine[0] += constant
    return series


def _series(function: Function, label: str, precision: float) -> FourierSeries | None:
    """Return the Fourier series of a function, rounding removed, or None if it does not decay to rounding."""
    size, coarse = _SMALLEST_GRID, _coefficients(function, label, _SMALLEST_GRID // 2)
    while size <= _LARGEST_GRID:
        fine = _coefficients(function, label, size)
        sizes = np.abs(fine)
        error = 4 * precision * float((sizes * (1 + np.arange(fine.size))).sum())
        agree = np.abs(coarse[:-1] - fine[: coarse.size - 1]).max() <= 4 * error
        if agree and sizes[2 * fine.size // 3 :].max() <= error:
            found = _cleaned(fine, max(error, float(np.finfo(float).eps) * float(sizes[1:].max(initial=0.0))))
            if _matches(function, label, found, error):
                return found
        coarse, size = fine, 2 * size
    return None


def _coefficients(function: Function, label: str, size: int) -> npt.NDArray[Any]:
    """Return c_k with f = Re sum c_k exp(ikt), k = 0..size/2, from equispaced points, mirrored exactly."""
    half = np.pi * np.arange(size // 2 + 1) / (size // 2)
    values = finite(function, np.concatenate([half, -half[-2:0:-1]]), label)
    coefficients = np.fft.rfft(values) * (2 / values.dtype.type(size))
    coefficients[[0, -1]] /= 2
    return np.asarray(coefficients)


def _cleaned(coefficients: npt.NDArray[Any], error: float) -> FourierSeries:
    cosine, sine = coefficients.real.astype(float), -coefficients.imag.astype(float)
    cosine[np.abs(cosine) <= error], sine[np.abs(sine) <= error] = 0.0, 0.0
    kept = slice(0, int(np.flatnonzero(np.hypot(cosine, sine)).max(initial=0)) + 1)
    return FourierSeries(cosine[kept].copy(), sine[kept].copy())


def _matches(function: Function, label: str, series: FourierSeries, error: float) -> bool:
    """Return whether a series is the function at angles that are on no grid."""
    angles = np.concatenate([probes()[::_STRIDE], -probes()[::_STRIDE]])
    values = finite(function, angles, label).astype(float)
    eps, degrees = float(np.finfo(float).eps), np.arange(series.cosine.size)
    allowed = 16 * eps * float((np.hypot(series.cosine, series.sine) * (4 + degrees)).sum()) + 16 * error
    found = np.concatenate([series.values(part) for part in np.array_split(angles, 1 + degrees.size // 64)])
    return bool(np.abs(found - values).max() <= allowed + 16 * eps * float(np.abs(values).max()))


def _parts(function: Function, label: str, constant: float) -> Parts:
    """Return the even and the odd part of a function with kinks or narrow features."""

    def even(angle: Any) -> Any:
        angles = np.asarray(angle, dtype=float)
        return 0.5 * (function(angles) + function(-angles)).astype(float)

    def odd(angle: Any) -> Any:
        angles = np.abs(np.asarray(angle, dtype=float))
        return 0.5 * (function(angles) - function(-angles)).astype(float)

    even.__name__ = odd.__name__ = label
    nowhere = np.zeros(0, dtype=np.longdouble)
    pieces = split(sampled(odd, label, nowhere), nowhere, np.longdouble(0))
    return Parts(Custom.from_callable(even), pieces, constant)
