r"""Functions with kinks on the spheres of dimensions 3 and 4: multipliers, and bounds of those beyond a degree.

Multipliers of a function with Laplacian :math:`\Delta W` obey
:math:`-l(l+d-2)\,\hat w_l = \int \Delta W\,P_l\,d\mu`. Bounds are from
:math:`|P_l| \le \sqrt{2/(\pi(l+\frac12)\sin t)}` for d = 3 (Bernstein) and :math:`|P_l| \le 1/((l+1)\sin t)` for
d = 4, or from :math:`\int P_l^2 d\mu = 1/N_l` (Cauchy and Schwarz).
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..domains import Sphere
from ..errors import InvalidInput
from ..harmonics.gegenbauer import Extended, Floats, multiplicities
from .arrays import Kinked, Number
from .waves import wave_sums
from .zonal import angular_rule, polar_mass, polynomial_integrals, projected

_LARGEST_DEGREE = 2**13


class KinksOnOrdinarySphere:
    """Multipliers on S^2: polynomials by their recurrence, and the bound of Bernstein."""

    most: ClassVar[int] = 2**13

    def integrals(self, weighted: Any, angles: Any, degree: int) -> Any:
        """Return the sums of weighted values against P_l, l = 0..degree."""
        return polynomial_integrals(weighted, angles, 3, degree)

    def bound(self, function: Kinked, following: float) -> float:
        """Return a bound of the multipliers of pieces."""
        size = function.laplacian(3) / (following * (following + 1))
        return math.sqrt((following + 0.5) * 2 / math.pi) * size

    def confidence_bound(self, radius: float, following: int) -> float:
        """Return a bound of the multipliers of bounded confidence, whose Laplacian has no mean square."""
        size = _laplacian_against_bernstein(radius) / (following * (following + 1))
        return size * (2 * following + 1) / math.sqrt(following + 0.5)


class KinksOnThreeSphere:
    """Multipliers on S^3: polynomials sin((l+1)t) / ((l+1) sin t), sums of waves, and their bound."""

    most: ClassVar[int] = 2**16

    def integrals(self, weighted: Any, angles: Any, degree: int) -> Any:
        """Return the sums of weighted values against P_l, l = 0..degree."""
        return -wave_sums(weighted / np.sin(angles), angles, degree + 1).imag[1:] / np.arange(1, degree + 2)

    def bound(self, function: Kinked, following: float) -> float:
        """Return a bound of the multipliers of pieces."""
        size = function.laplacian(4) / (following * (following + 2))
        return (following + 1) * size * 2 / math.pi

    def confidence_bound(self, radius: float, following: int) -> float:
        """Return a bound of the multipliers of bounded confidence."""
        size = _laplacian_size(radius, 4) / (following * (following + 2))
        return size * (following + 1)


KinksOnSphere = KinksOnOrdinarySphere | KinksOnThreeSphere
# By the dimension of the space around the sphere.
KINKS: dict[int, KinksOnSphere] = {3: KinksOnOrdinarySphere(), 4: KinksOnThreeSphere()}


@dataclass(frozen=True)
class ConfidenceOnSphere:
    """Bounded confidence on a sphere, by quadrature."""

    radius: float
    domain: Sphere

    def multipliers(self, degree: int) -> Floats:
        """Return w_0, ..., w_degree."""
        return self._integrals(degree, 2).astype(np.float64)

    def derivatives(self, degree: int) -> Floats:
        """Return the derivatives of w_0, ..., w_degree in the radius, the multipliers of -(R - t)_+."""
        return self._integrals(degree, 1).astype(np.float64)

    def relative(self, degree: int, scale: Callable[[], Number]) -> Extended:
        """Return w_k over the scale, k = 0..degree."""
        return np.asarray(self._integrals(degree, 2) / np.longdouble(scale()))

    def bound(self, following: int) -> float:
        """Return a bound of the multipliers from a degree on, from the Laplacian."""
        _require_degree(following)
        return KINKS[self.domain.dimension].confidence_bound(self.radius, following)

    def _integrals(self, degree: int, power: int) -> Extended:
        _require_degree(degree)
        # Powers of two, so that a growing degree finds what was computed before.
        size = 1 << max(degree, 15).bit_length()
        return _integrals(self.radius, power, self.domain, size)[: degree + 1].copy()


def _require_degree(degree: int) -> None:
    if degree > _LARGEST_DEGREE:
        raise InvalidInput(
            f"the multipliers of hegselmann-krause on a sphere are computed up to degree {_LARGEST_DEGREE}, not "
            f"{degree}; take a larger radius or a smaller range of couplings"
        )


@functools.lru_cache(maxsize=16)
def _integrals(radius: float, power: int, domain: Sphere, degree: int) -> Extended:
    """Return the multipliers of -(R - t)_+^p / p."""
    dimension = domain.dimension
    angles, weights = _rule_to(radius, dimension, degree)
    values = -((np.longdouble(radius) - angles) ** power) / power
    eigenvalues = projected(values, weights, np.cos(angles), dimension, degree)
    return np.asarray(eigenvalues * multiplicities(domain, degree))


def _rule_to(radius: float, dimension: int, degree: int) -> tuple[Extended, Extended]:
    """Return angles in [0, R] and weights of the uniform measure for cosine polynomials of a degree."""
    pi = 4 * np.arctan(np.longdouble(1))
    # A wave of phase x over half the interval is integrated to rounding by slightly more than x points.
    phase = (degree + dimension) * radius / 2
    size = 2 * int(phase / 2 + 4 * phase ** (1 / 3) + 30)
    angles = np.longdouble(radius) / 2 * (1 - np.cos(pi * np.arange(size + 1) / size))
    weights = np.longdouble(radius) * angular_rule(3, size) * np.sin(angles) ** (dimension - 2)
    return angles, weights / polar_mass(dimension)


@functools.lru_cache(maxsize=64)
def _laplacian_size(radius: float, dimension: int) -> float:
    """Return the L^2 norm of the Laplacian of W."""
    angles, weights = _rule_to(radius, dimension, 400)
    inner, across = angles[1:-1], np.sin(angles[1:-1])
    laplacian = (dimension - 2) * (radius - inner) * np.cos(inner) / across - 1
    return 1.01 * math.sqrt(float(weights[1:-1] @ laplacian**2))


@functools.lru_cache(maxsize=64)
def _laplacian_against_bernstein(radius: float) -> float:
    """Return the bound of the integral of the Laplacian of W on the ordinary sphere without its factor of l."""
    # In t = R s^2 the integral of sqrt(sin t) + (R - t)/sqrt(sin t) has a bounded integrand.
    s = (np.arange(4000) + 0.5) / 4000
    t = radius * s**2
    integrand = (np.sin(t) + radius - t) / np.sqrt(np.sin(t)) * radius * s
    return 1.01 * math.sqrt(2 / math.pi) * float(integrand.mean())
