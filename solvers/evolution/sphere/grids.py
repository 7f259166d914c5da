"""Grids on spheres on which densities that evolve become values, with weights that sum to one."""

from collections.abc import Iterator

import numpy as np

from meanfield import Sphere
from meanfield.harmonics import gauss_rule, growing, moduli, polynomials

from ...bases import Floats
from ...bases.spherical import SphericalTransform
from ..descent import Grid
from ..multiplicities import multiplicities
from .rates import WEIGHTED

LARGEST_RULE = 4096
LARGEST_FULL = 768


class ZonalGrid:
    """A Gauss rule for zonal functions of a degree."""

    def __init__(self, sphere: Sphere, degree: int, nodes: int) -> None:
        dimension = sphere.dimension
        rule = gauss_rule(dimension, nodes)
        self.weights = rule.weights
        self._values = polynomials(dimension, rule, degree)
        self._norms = np.sqrt(multiplicities(sphere, degree))
        self._dimension = dimension
        self._slopes = np.zeros_like(self._values)
        degrees = np.arange(1.0, degree + 1.0)[:, None]
        sine = np.sqrt(rule.complements * (2.0 - rule.complements))
        factors = degrees * (degrees + dimension - 2) / (dimension - 1)
        if degree:
            self._slopes[1:] = -factors * polynomials(dimension + 2, rule, degree - 1) * sine

    def error(self, cosine: Floats, accuracy: float) -> Floats | float:
        """Return the error of the values by errors of coefficients or of moments, as the integrator bounds them."""
        if self._dimension < WEIGHTED.start:
            return 0.0
        if self._dimension not in WEIGHTED:
            return np.asarray(accuracy * (self._norms**2 @ np.abs(self._values)))
        largest = np.abs(cosine / self._norms).max(axis=1)
        spread = np.sqrt(self._norms**2 @ self._values**2)
        return np.asarray(np.multiply.outer(accuracy * largest, spread))

    def values(self, cosine: Floats, sine: Floats) -> Floats:
        """Return sums of polynomials with coefficients (T, size) on the nodes, (T, points)."""
        return np.asarray(cosine @ self._values)

    def gradient(self, cosine: Floats, sine: Floats) -> list[Floats]:
        """Return the derivatives of the sums in the polar angle."""
        return [np.asarray(cosine @ self._slopes)]

    def rounding(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the sums of the moduli of the terms, (T, points)."""
        return np.asarray(np.abs(cosine) @ np.abs(self._values))


class FullGrid:
    """A product grid for functions on S^2 of a degree."""

    def __init__(self, degree: int, rings: int) -> None:
        self._transform = transform = SphericalTransform(degree, rings, 2 * rings)
        self.weights = np.repeat(transform.weights / (2 * rings), 2 * rings)

    def error(self, cosine: Floats, accuracy: float) -> Floats | float:
        """Return 0, since moments and coefficients have nearly the same errors."""
        return 0.0

    def values(self, cosine: Floats, sine: Floats) -> Floats:
        """Return sums of harmonics with coefficients (T, size) on the nodes, (T, points)."""
        pairs = zip(cosine, sine, strict=True)
        return np.array([self._transform.synthesise(*pair).ravel() for pair in pairs])

    def gradient(self, cosine: Floats, sine: Floats) -> list[Floats]:
        """Return the polar and azimuthal components of the gradients of the sums."""
        pairs = zip(cosine, sine, strict=True)
        parts = [self._transform.gradient(*pair) for pair in pairs]
        return [np.array([part[component].ravel() for part in parts]) for component in (0, 1)]

    def rounding(self, cosine: Floats, sine: Floats) -> Floats:
        """Return bounds on sums of moduli of the terms, since the squares of harmonics of a degree sum to one."""
        return np.asarray(moduli(cosine, sine).sum(axis=1, keepdims=True))


def zonal_grids(sphere: Sphere, degree: int) -> Iterator[Grid]:
    """Yield ever finer Gauss rules, the first of which carries products of two densities."""
    return (ZonalGrid(sphere, degree, nodes) for nodes in growing(degree + 24, LARGEST_RULE))


def full_grids(degree: int) -> Iterator[Grid]:
    """Yield ever finer product grids, the first of which carries products of two densities."""
    return (FullGrid(degree, rings) for rings in growing(degree + 24, LARGEST_FULL, 1.5))
