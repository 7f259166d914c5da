r"""Potentials that are one function of the angle on every domain: Kuramoto, Maier-Saupe, Onsager."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked
from ..domains import Domain
from ..harmonics.gegenbauer import Extended
from .arrays import Array, Number
from .formulas import formulas_of
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
        """Return an empty dictionary, since there are no parameters."""
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
        """Return an empty dictionary, since there are no parameters."""
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
        return formulas_of(domain).sine(int(degree)).astype(np.float64)

    def extended_multipliers(self, domain: Domain, degree: int) -> Extended:
        """Return w_k / scale for k = 1..degree behind a leading 0."""
        multipliers = formulas_of(domain).sine(max(int(degree), 2)).astype(np.longdouble)
        relative = multipliers / np.abs(multipliers[2])
        relative[0] = 0.0
        return np.asarray(relative[: degree + 1])

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return the modulus of the multiplier of the next even degree, since the moduli decrease."""
        following = 2 * (int(degree) // 2 + 1)
        return float(-formulas_of(domain).sine(following)[-1])

    def parameters(self) -> dict[str, Any]:
        """Return an empty dictionary, since there are no parameters."""
        return {}
