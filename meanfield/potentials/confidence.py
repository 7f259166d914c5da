"""Bounded confidence on the circle and the spheres."""

import functools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked
from ..domains import Domain, Sphere
from ..errors import InvalidInput
from ..harmonics.polynomials import Extended, multiplicities
from .arrays import Array, Number
from .protocol import Potential
from .series import as_number, sine_defect, wrapped
from .zonal import angular_rule, projected

_LARGEST_DIMENSION = 4
_LARGEST_DEGREE = 2**13


@methods_checked
@dataclass(frozen=True)
class HegselmannKrause(Potential):
    r"""Bounded confidence (noisy Hegselmann-Krause), :math:`W = -\tfrac12 (R - |t|)_+^2`.

    On the circle :math:`w_k = -(2/\pi)(kR - \sin kR)/k^3`. On spheres the multipliers are integrals by quadrature,
    of errors near eps of the largest, in dimensions 3 and 4. The jump of W'' at t = R leaves
    :math:`w_l \sim l^{d/2-4}`, too slow to bound what is beyond a degree usefully in higher dimensions.

    Parameters
    ----------
    radius
        Radius of confidence R, 0 < R <= pi.

    Raises
    ------
    InvalidInput
        If the radius is outside (0, pi]; for the multipliers on a sphere of dimension 5 or more.
    """

    radius: float
    name: ClassVar[str] = "hegselmann-krause"
    formula: ClassVar[str] = "-(1/2) max(radius - abs(t), 0)^2"

    def __post_init__(self) -> None:
        radius = as_number(self.radius, "radius", "in (0, pi]")
        if not 1e-50 <= radius <= math.pi:
            raise InvalidInput(f"radius must be in (0, pi], not {self.radius!r}; try HegselmannKrause(radius=1.0)")
        object.__setattr__(self, "radius", radius)

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return W at the angles."""
        return np.asarray(-0.5 * np.maximum(self.radius - np.abs(wrapped(angle)), 0.0) ** 2)

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return W' at the angles; 0 at the kink t = 0."""
        reduced = wrapped(angle)
        return np.asarray(np.sign(reduced) * np.maximum(self.radius - np.abs(reduced), 0.0))

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_0, ..., w_degree, on the circle w_0 = -R^3/(6 pi)."""
        if domain.dimension > 2:
            return on_sphere(self.radius, domain, int(degree)).astype(np.float64)
        multipliers = -(2 / np.pi) * self.radius**3 * self._shape(int(degree)).astype(np.float64)
        multipliers[0] /= 2
        return multipliers

    def extended_multipliers(self, domain: Domain, degree: int) -> npt.NDArray[np.longdouble]:
        """Return w_k / scale for k = 1..degree behind a leading 0."""
        if domain.dimension > 2:
            relative = on_sphere(self.radius, domain, int(degree)) / np.longdouble(self.scale(domain))
            relative[0] = 0.0
            return np.asarray(relative)
        shape = self._shape(max(int(degree), 1))
        relative = -shape / shape[1]
        relative[0] = 0.0
        return np.asarray(relative[: degree + 1])

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return the modulus of w_(degree+1) on the circle, on spheres a bound from the Laplacian of W.

        On the circle (x - sin x)/x^3 decreases, as 3 sin x < x (2 + cos x).
        """
        if domain.dimension > 2:
            return sphere_bound(self.radius, domain, int(degree) + 1)
        following = np.array([np.longdouble(self.radius) * (int(degree) + 1)])
        return float(2 / np.pi * self.radius**3 * sine_defect(following)[0])

    def _shape(self, degree: int) -> npt.NDArray[np.longdouble]:
        """Return (x - sin x)/x^3 at x = kR."""
        return sine_defect(np.longdouble(self.radius) * np.arange(degree + 1))

    def parameters(self) -> dict[str, Any]:
        """Return the radius."""
        return {"radius": self.radius}


def on_sphere(radius: float, domain: Domain, degree: int) -> Extended:
    """Return the multipliers of bounded confidence on a sphere."""
    _require_usable(domain, degree)
    # Powers of two, so that a growing degree finds what was computed before.
    return _integrals(radius, domain.dimension, 1 << max(degree, 15).bit_length())[: degree + 1].copy()


@functools.lru_cache(maxsize=16)
def _integrals(radius: float, dimension: int, degree: int) -> Extended:
    angles, weights = _rule_to(radius, dimension, degree)
    values = -((np.longdouble(radius) - angles) ** 2) / 2
    eigenvalues = projected(values, weights, np.cos(angles), dimension, degree)
    return np.asarray(eigenvalues * multiplicities(Sphere(dimension), degree))


def _rule_to(radius: float, dimension: int, degree: int) -> tuple[Extended, Extended]:
    """Return angles in [0, R] and weights of the uniform measure for cosine polynomials of a degree."""
    pi = 4 * np.arctan(np.longdouble(1))
    # A wave of phase x over half the interval is integrated to rounding by slightly more than x points.
    phase = (degree + dimension) * radius / 2
    size = 2 * int(phase / 2 + 4 * phase ** (1 / 3) + 30)
    angles = np.longdouble(radius) / 2 * (1 - np.cos(pi * np.arange(size + 1) / size))
    mass = np.longdouble(2) if dimension == 3 else pi / 2
    weights = np.longdouble(radius) * angular_rule(3, size) * np.sin(angles) ** (dimension - 2) / mass
    return angles, weights


@functools.lru_cache(maxsize=64)
def _laplacian_size(radius: float, dimension: int) -> float:
    """Return the L^2 norm of the Laplacian of W; for d = 3, where it has none, its bound against Bernstein's."""
    angles, weights = _rule_to(radius, dimension, 400)
    inner, across = angles[1:-1], np.sin(angles[1:-1])
    if dimension > 3:
        laplacian = (dimension - 2) * (radius - inner) * np.cos(inner) / across - 1
        return 1.01 * math.sqrt(float(weights[1:-1] @ laplacian**2))
    # In t = R s^2 the integral of sqrt(sin t) + (R - t)/sqrt(sin t) has a bounded integrand.
    s = (np.arange(4000) + 0.5) / 4000
    t = radius * s**2
    integrand = (np.sin(t) + radius - t) / np.sqrt(np.sin(t)) * radius * s
    return 1.01 * math.sqrt(2 / math.pi) * float(integrand.mean())


def sphere_bound(radius: float, domain: Domain, degree: int) -> float:
    r"""Return a bound of abs(w_l) for all l from a degree on.

    :math:`-l(l+d-2)\,\hat w_l = \int \Delta W\,P_l\,d\mu`, by Cauchy and Schwarz with
    :math:`\int P_l^2 d\mu = 1/N_l`, and for d = 3 by :math:`|P_l| \le \sqrt{2/(\pi (l+1/2) \sin t)}` (Bernstein).
    """
    _require_usable(domain, degree)
    size = _laplacian_size(radius, domain.dimension) / -domain.laplacian_eigenvalue(degree)
    if domain.dimension == 3:
        return size * (2 * degree + 1) / math.sqrt(degree + 0.5)
    return size * math.sqrt(domain.multiplicity(degree))


def _require_usable(domain: Domain, degree: int) -> None:
    if domain.dimension > _LARGEST_DIMENSION:
        raise InvalidInput(
            f"on the sphere of dimension {domain.dimension} the multipliers of hegselmann-krause decay like "
            f"l^{domain.dimension / 2 - 4:g}, too slowly to certify a critical coupling; use it up to dimension "
            f"{_LARGEST_DIMENSION}, or give a smooth cut-off to Custom"
        )
    if degree > _LARGEST_DEGREE:
        raise InvalidInput(
            f"the multipliers of hegselmann-krause on a sphere are computed up to degree {_LARGEST_DEGREE}, not "
            f"{degree}; take a larger radius or a smaller range of couplings"
        )
