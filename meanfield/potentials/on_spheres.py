"""Formulas and integrals of potentials on spheres."""

import functools
import math
from dataclasses import dataclass

import numpy as np

from ..domains import Sphere
from ..errors import InvalidInput
from ..harmonics.gegenbauer import Extended, Floats, multiplicities
from .arrays import Array
from .kinks import KINKS, ConfidenceOnSphere, KinksOnSphere
from .sampling import Sampled, extended
from .zonal import angular_rule, cosines_to_zonal, exponential_coefficients, projected

_LARGEST_GRID = 2**15
# Multiples of rounding below which a computed multiplier is noise.
_NOISE = 4
# Error of a multiplier over the largest beyond which it is refused, and what a large constant may have rounded.
_WORST_ERROR, _WORST_CONSTANT = 1e-8, 1e-3


@dataclass(frozen=True)
class OnSphere:
    """The formulas of a sphere."""

    domain: Sphere

    @property
    def mean_logarithm(self) -> float:
        """Mean of log(2 sin(t/2)): log 2 + (psi((d-1)/2) - psi(d-1)) / 2."""
        from scipy.special import psi

        d = self.domain.dimension
        return float(math.log(2) + 0.5 * (psi(0.5 * (d - 1)) - psi(d - 1.0)))

    @property
    def kinks(self) -> KinksOnSphere:
        """Multipliers of functions with kinks, refused where they decay too slowly."""
        if not self.prefers_pieces:
            d = self.domain.dimension
            raise InvalidInput(
                f"on the sphere of dimension {d} the multipliers of a function with kinks decay like "
                f"l^{d / 2 - 3:g}, too slowly to certify a critical coupling; use it up to dimension {max(KINKS)}, "
                "or smooth the kinks"
            )
        return KINKS[self.domain.dimension]

    @property
    def prefers_pieces(self) -> bool:
        """Whether functions with kinks are admitted."""
        return self.domain.dimension in KINKS

    def exponential(self, size: float, degree: int) -> Extended:
        """Return the w_l of exp(x (cos t - 1)), l = 0..degree, and on to where they are negligible."""
        return exponential_coefficients(size, self.domain.dimension, degree)

    def sine(self, degree: int) -> Extended:
        """Return the w_l of abs(sin t), the mean times products of ratios."""
        d, k = self.domain.dimension, np.arange(0, degree - 1, 2).astype(np.longdouble)
        ratios = (2 * k + d + 2) * (k + d - 2) * (k - 1) / ((2 * k + d - 2) * (k + 2) * (k + d + 1))
        multipliers = np.zeros(degree + 1, dtype=np.longdouble)
        multipliers[::2] = _mean_sine(d) * np.cumprod(np.concatenate([np.ones(1, dtype=np.longdouble), ratios]))
        return multipliers

    def confidence(self, radius: float) -> ConfidenceOnSphere:
        """Return the multipliers of bounded confidence, refusing spheres on which they decay too slowly."""
        d = self.domain.dimension
        if d not in KINKS:
            raise InvalidInput(
                f"on the sphere of dimension {d} the multipliers of hegselmann-krause decay like "
                f"l^{d / 2 - 4:g}, too slowly to certify a critical coupling; use it up to dimension {max(KINKS)}, "
                "or give a smooth cut-off to Custom"
            )
        return ConfidenceOnSphere(radius, self.domain)

    def require_screened(self) -> None:
        """Refuse a sphere, on which cosh(s (pi - t)) is no Green function."""
        raise InvalidInput(
            "keller-segel is the Green function of the circle; that of a sphere is another function of the angle: "
            "on Sphere(3) without screening it is Logarithmic() at the coupling kappa/(2 pi), else give "
            "w_l = -N_l / (volume (s^2 + l (l+d-2))) to GegenbauerSeries"
        )

    def arc_cosine(self, degree: int) -> Extended:
        """Refuse a sphere, whose unit neurons have another mean."""
        raise InvalidInput(
            "arc-cosine is the interaction of unit neurons on the circle; on Sphere(d) give that of "
            "((pi - t) cos t + sin t)/(2 pi d) as Custom.from_expression"
        )

    def require_uneven(self, clause: str) -> None:
        """Refuse what is no function of the angle to the north pole."""
        raise InvalidInput(
            f"on {self.domain.in_words} this needs a function of the angle to the north pole, and {clause}"
        )

    def require_azimuth(self, clause: str) -> None:
        """Refuse a sphere other than the ordinary one, on which a direction is more than two angles."""
        if not self.domain.has_azimuth:
            self.require_uneven(f"{clause}; only the ordinary sphere, Sphere(3), has directions of two angles")

    def of_cosines(self, series: Floats) -> Floats:
        """Return the multipliers of a finite cosine series by exact conversion, read-only."""
        return _converted(tuple(series.tolist()), self.domain.dimension)

    def of_function(self, function: Sampled, series: Floats, constant: float) -> Floats:
        """Return the multipliers of a function by quadrature, read-only."""
        return _integrated(function, tuple(series.tolist()), constant, self.domain)


@functools.lru_cache(maxsize=64)
def _mean_sine(dimension: int) -> np.longdouble:
    """Return the mean of sin t over the sphere: pi/4 for d = 3, 2/pi for d = 2, times d^2/(d^2-1) from d to d+2."""
    pi = 4 * np.arctan(np.longdouble(1))
    steps = np.arange(2 + dimension % 2, dimension, 2).astype(np.longdouble) ** 2
    return np.longdouble((2 / pi, pi / 4)[dimension % 2] * np.prod(steps / (steps - 1)))


@functools.lru_cache(maxsize=256)
def _converted(coefficients: tuple[float, ...], dimension: int) -> Floats:
    """Return the multipliers of sum_k c_k cos kt, from k = 0, read-only."""
    with np.errstate(over="ignore"):
        multipliers = cosines_to_zonal(np.array(coefficients), dimension).astype(np.float64)
    if not np.isfinite(multipliers).all():
        raise InvalidInput(
            f"{len(coefficients) - 1} cosine coefficients have multipliers beyond the range of numbers on a sphere "
            f"of dimension {dimension}; give fewer, or a GegenbauerSeries"
        )
    multipliers.flags.writeable = False
    return multipliers


@functools.lru_cache(maxsize=64)
def _integrated(function: Sampled, series: tuple[float, ...], constant: float, domain: Sphere) -> Floats:
    """Return the multipliers of a function on a sphere, noise removed, read-only."""
    coefficients = np.array(series[1:]) / function.unit
    degree = 2 * len(series) + 16
    # The smoothness is known from the circle: twice its degree lies beyond all that can be told from rounding.
    size = 1 << (3 * degree + domain.dimension).bit_length()
    if size > _LARGEST_GRID:
        raise InvalidInput(
            f"{function.label} has {coefficients.size} cosine coefficients and on a sphere at most "
            f"{_LARGEST_GRID // 12} are treated; give a GegenbauerSeries"
        )
    angles = np.pi * np.arange(size + 1) / size
    eigenvalues = projected(
        function(angles), angular_rule(domain.dimension, size), np.cos(extended(angles)), domain.dimension, degree
    )
    rounded = np.abs(coefficients) * (2 + np.arange(coefficients.size))
    size_of_f = float(rounded.sum() + np.abs(function.values).max())
    noise = (_NOISE * function.precision * size_of_f, _NOISE * function.noise)
    known = _told_from_noise(eigenvalues, multiplicities(domain, degree), noise, function.label, domain)
    result = (known * function.unit).astype(np.float64)
    result[0] += constant
    result.flags.writeable = False
    return result


def _told_from_noise(
    eigenvalues: Array, numbers: Array, noise: tuple[float, float], label: str, domain: Sphere
) -> Array:
    """Return N_l times the eigenvalues that exceed their noise: that of the function, and that of its constant.

    By Cauchy and Schwarz an error of the function of size ``noise`` is one of at most noise / sqrt(N_l) in an
    eigenvalue, of noise * sqrt(N_l) in its multiplier.
    """
    multipliers, errors = eigenvalues * numbers, sum(noise) * np.sqrt(numbers)
    kept = np.abs(multipliers) > errors
    last = int(np.flatnonzero(kept).max(initial=0))
    # A constant function has its mean.
    largest = np.abs(multipliers[1 : last + 1]).max(initial=np.abs(multipliers[0]) if last == 0 else 0.0)
    if largest == 0.0:
        return np.zeros(1)
    beyond = min(last + 1, numbers.size - 1)
    own, common = (float(part * np.sqrt(numbers[beyond]) / largest) for part in noise)
    if own > _WORST_ERROR or common > _WORST_CONSTANT:
        raise InvalidInput(
            f"the multipliers of {label} at degree {beyond} on the sphere of dimension "
            f"{domain.dimension} cannot be told from rounding, {own + common:.0e} of the "
            "largest; a formula is evaluated with more digits than a function, and exact multipliers can be given "
            "to GegenbauerSeries"
        )
    return np.asarray(np.where(kept, multipliers, 0.0)[: last + 1])
