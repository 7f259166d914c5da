r"""Potentials that are one function of the angle on every domain: Kuramoto, Maier-Saupe, Onsager."""

import functools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked
from ..domains import Domain
from ..harmonics.polynomials import Extended
from .arrays import Array, Number
from .protocol import Potential


@methods_checked
@dataclass(frozen=True)
class Kuramoto(Potential):
    """The noisy Kuramoto model, W = -cos t: a single attractive mode.

    On the sphere W = -<x, y> is the O(n) model, also called dipolar or Heisenberg model, with n = d. Critical at
    kappa = d D, on the circle at 2 D.
    """

    name: ClassVar[str] = "kuramoto"
    formula: ClassVar[str] = "-cos t"

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return -cos t."""
        return np.asarray(-np.cos(np.asarray(angle, dtype=float)))

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return sin t."""
        return np.asarray(np.sin(np.asarray(angle, dtype=float)))

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return (0, -1, 0, 0, ...)."""
        multipliers = np.zeros(int(degree) + 1)
        multipliers[1:2] = -1.0
        return multipliers

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return 1 at degree 0 and 0 beyond."""
        return 0.0 if int(degree) else 1.0

    def parameters(self) -> dict[str, Any]:
        """Return nothing: there are no parameters."""
        return {}


@methods_checked
@dataclass(frozen=True)
class MaierSaupe(Potential):
    r"""The Maier-Saupe potential of nematic order, :math:`W = -\cos^2 t = -\langle x, y\rangle^2`.

    :math:`w_0 = -1/d` and :math:`w_2 = -(d-1)/d`; critical at :math:`\kappa = d(d+2)D/2`, 15 D/2 on the ordinary
    sphere, where most papers write their intensity for our coupling over noise.
    """

    name: ClassVar[str] = "maier-saupe"
    formula: ClassVar[str] = "-cos(t)^2"

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return -cos^2 t."""
        return np.asarray(-(np.cos(np.asarray(angle, dtype=float)) ** 2))

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return sin 2t."""
        return np.asarray(np.sin(2 * np.asarray(angle, dtype=float)))

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return (-1/d, 0, -(d-1)/d, 0, 0, ...)."""
        multipliers = np.zeros(int(degree) + 1)
        multipliers[0] = -1 / domain.dimension
        multipliers[2:3] = -(domain.dimension - 1) / domain.dimension
        return multipliers

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return (d-1)/d below degree 2 and 0 from there on."""
        return 0.0 if int(degree) >= 2 else (domain.dimension - 1) / domain.dimension

    def parameters(self) -> dict[str, Any]:
        """Return nothing: there are no parameters."""
        return {}


@methods_checked
@dataclass(frozen=True)
class Onsager(Potential):
    r"""The Doi-Onsager potential of rods, W = abs(sin t).

    Critical at :math:`\kappa_2 = 3\pi D/2` on the circle, :math:`32 D/\pi` on the ordinary sphere. Odd multipliers
    are exactly 0; the even ones are negative and on :math:`S^{d-1}`

    .. math:: w_2 = -\frac{d+2}{2(d+1)}\,w_0, \qquad
              \frac{w_{l+2}}{w_l} = \frac{(2l+d+2)(l+d-2)(l-1)}{(2l+d-2)(l+2)(l+d+1)} < 1 \quad (l \ge 2) .
    """

    name: ClassVar[str] = "onsager"
    formula: ClassVar[str] = "abs(sin t)"

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return abs(sin t)."""
        return np.asarray(np.abs(np.sin(np.asarray(angle, dtype=float))))

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return sign(sin t) cos t; 0 at the kinks."""
        angles = np.asarray(angle, dtype=float)
        return np.asarray(np.sign(np.sin(angles)) * np.cos(angles))

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_0, ..., w_degree; odd ones are exactly 0."""
        if domain.dimension > 2:
            return self._on_sphere(domain, int(degree)).astype(np.float64)
        modes = np.arange(int(degree) + 1, dtype=float)
        multipliers = np.zeros(modes.size)
        multipliers[::2] = -4 / (np.pi * (modes[::2] ** 2 - 1))
        multipliers[0] = 2 / np.pi
        return multipliers

    def extended_multipliers(self, domain: Domain, degree: int) -> Extended:
        """Return w_k / scale for k = 1..degree behind a leading 0."""
        if domain.dimension == 2:
            return super().extended_multipliers(domain, degree)
        multipliers = self._on_sphere(domain, max(int(degree), 2))
        relative = multipliers / np.abs(multipliers[2])
        relative[0] = 0.0
        return np.asarray(relative[: degree + 1])

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return the modulus at the next even degree: it decreases."""
        following = 2 * (int(degree) // 2 + 1)
        if domain.dimension > 2:
            return float(-self._on_sphere(domain, following)[-1])
        return 4 / (math.pi * (following**2 - 1))

    def _on_sphere(self, domain: Domain, degree: int) -> Extended:
        d, k = domain.dimension, np.arange(0, degree - 1, 2).astype(np.longdouble)
        ratios = (2 * k + d + 2) * (k + d - 2) * (k - 1) / ((2 * k + d - 2) * (k + 2) * (k + d + 1))
        multipliers = np.zeros(degree + 1, dtype=np.longdouble)
        multipliers[::2] = _mean_sine(d) * np.cumprod(np.concatenate([np.ones(1, dtype=np.longdouble), ratios]))
        return multipliers

    def parameters(self) -> dict[str, Any]:
        """Return nothing: there are no parameters."""
        return {}


@functools.lru_cache(maxsize=64)
def _mean_sine(dimension: int) -> np.longdouble:
    """Return the mean of sin t over the sphere: pi/4 for d = 3, 2/pi for d = 2, times d^2/(d^2-1) from d to d+2."""
    pi = 4 * np.arctan(np.longdouble(1))
    first = 2 + dimension % 2
    steps = np.arange(first, dimension, 2).astype(np.longdouble) ** 2
    return np.longdouble((pi / 4 if first == 3 else 2 / pi) * np.prod(steps / (steps - 1)))
