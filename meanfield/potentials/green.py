r"""Green functions as potentials: logarithmic interaction and screened chemotaxis."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arguments import is_number, methods_checked, shown
from ..domains import Domain
from ..errors import InvalidInput
from .arrays import Array, Number, narrowed
from .formulas import formulas_of
from .protocol import Potential, Terms
from .series import SMALLEST, as_number, wrapped

_NAMED_SIGNS = {"attractive": 1, "repulsive": -1}


@methods_checked
@dataclass(frozen=True)
class Logarithmic(Potential):
    r"""The logarithmic potential, :math:`W = \pm\log|2\sin(t/2)| = \pm\log|x - y|`.

    On the circle :math:`W = \mp\sum_k \cos(kt)/k`, on :math:`S^{d-1}`
    :math:`w_l = \mp\tfrac12\bigl(\tfrac1l + \tfrac1{l+d-2}\bigr)`. On the ordinary sphere it is
    :math:`2\pi` times the Green function of the Laplacian, up to a constant.

    Parameters
    ----------
    sign
        +1 or ``"attractive"`` (aggregation; collapse beyond kappa = 2 D), -1 or ``"repulsive"``
        (circular log gas; uniform is the only state).

    Raises
    ------
    InvalidInput
        If the sign is anything else.
    """

    sign: int = 1
    name: ClassVar[str] = "logarithmic"
    formula: ClassVar[str] = "sign log(2 abs(sin(t/2)))"

    def __post_init__(self) -> None:
        sign = _NAMED_SIGNS.get(self.sign, self.sign) if isinstance(self.sign, str) else self.sign
        if not is_number(sign) or sign not in (1, -1):
            raise InvalidInput(f"sign must be 1 ('attractive') or -1 ('repulsive'), not {shown(self.sign)}")
        object.__setattr__(self, "sign", int(sign))

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return W at the angles; infinite at t = 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.sign * np.log(2 * np.abs(np.sin(wrapped(angle) / 2))))

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return W' = (sign/2) cot(t/2); infinite at t = 0."""
        half = wrapped(angle) / 2
        with np.errstate(divide="ignore"):
            return np.asarray(self.sign * np.cos(half) / (2 * np.sin(half)))

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_0, the mean, and w_k = -sign (1/k + 1/(k+d-2)) / 2, k = 1..degree."""
        modes, shift = np.arange(1, degree + 1), domain.dimension - 2.0
        multipliers = np.zeros(int(degree) + 1)
        multipliers[0] += self.sign * formulas_of(domain).mean_logarithm
        multipliers[1:] = -self.sign * (modes + 0.5 * shift) / (modes * (modes + shift))
        return multipliers

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return the modulus of the multiplier of degree + 1, since the moduli decrease."""
        following, shift = int(degree) + 1, domain.dimension - 2.0
        return (following + 0.5 * shift) / (following * (following + shift))

    def as_terms(self) -> Terms:
        """Return the attractive potential, times the sign, so that sums have no difference of infinities."""
        return ((float(self.sign), Logarithmic()),)

    def parameters(self) -> dict[str, Any]:
        """Return the sign."""
        return {"sign": self.sign}


@methods_checked
@dataclass(frozen=True)
class KellerSegel(Potential):
    r"""Chemotaxis with a screened signal, :math:`W = -G`, :math:`(s^2 - \partial_t^2) G = \delta`.

    Parameters
    ----------
    screening
        s >= 0; at s = 0 G is the Green function of zero mean.

    Raises
    ------
    InvalidInput
        If the screening is negative or not finite. Multipliers are refused on spheres, whose Green functions are
        other functions of the angle.
    """

    screening: float = 1.0
    name: ClassVar[str] = "keller-segel"
    formula: ClassVar[str] = "-cosh(screening (pi - abs(t))) / (2 screening sinh(pi screening))"

    def __post_init__(self) -> None:
        screening = as_number(self.screening, "screening", "a finite number >= 0")
        if screening < 0 or 0 < screening < SMALLEST or screening > 1 / SMALLEST:
            raise InvalidInput(
                f"screening must be 0 or a positive number of ordinary size, not {self.screening!r}; "
                "try KellerSegel(screening=1.0)"
            )
        object.__setattr__(self, "screening", screening)
        if screening == 0.0:
            object.__setattr__(self, "formula", "pi/12 - (pi - abs(t))^2 / (4 pi)")

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return -G at the angles."""
        distance, s = np.abs(wrapped(angle)), self.screening
        if s == 0:
            return np.asarray(np.pi / 12 - (np.pi - distance) ** 2 / (4 * np.pi))
        with np.errstate(under="ignore"):
            direct, around = np.exp(-s * distance), np.exp(-s * (2 * np.pi - distance))
        return np.asarray((direct + around) / (2 * s * math.expm1(-2 * math.pi * s)))

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return -G' at the angles; 0 at the kink t = 0."""
        reduced, s = wrapped(angle), self.screening
        distance = np.abs(reduced)
        if s == 0:
            return np.asarray(np.sign(reduced) * (np.pi - distance) / (2 * np.pi))
        with np.errstate(under="ignore"):
            difference = np.exp(-s * distance) * np.expm1(-2 * s * (np.pi - distance))
        return np.asarray(np.sign(reduced) * difference / (2 * math.expm1(-2 * math.pi * s)))

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_0 = -1/(2 pi s^2) (0 when s = 0) and w_k = -1/(pi (k^2 + s^2))."""
        formulas_of(domain).require_screened()
        modes, s = np.arange(int(degree) + 1, dtype=float), self.screening
        multipliers = np.zeros(modes.size)
        multipliers[1:] = -1 / (np.pi * (modes[1:] ** 2 + s**2))
        multipliers[0] = -1 / (2 * math.pi * s**2) if s > 0 else 0.0
        return multipliers

    def extended_multipliers(self, domain: Domain, degree: int) -> npt.NDArray[np.longdouble]:
        """Return w_k / abs(w_1) for k = 1..degree behind a leading 0."""
        formulas_of(domain).require_screened()
        modes = np.arange(int(degree) + 1).astype(np.longdouble)
        square = np.longdouble(self.screening) ** 2
        relative = -(1 + square) / (modes**2 + square + (modes == 0))
        relative[0] = 0.0
        return np.asarray(relative)

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return the modulus of w_(degree+1), since the moduli decrease in k."""
        formulas_of(domain).require_screened()
        return 1 / (math.pi * ((int(degree) + 1.0) ** 2 + self.screening**2))

    def multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        r"""Return the derivatives in the screening, :math:`2s/(\pi(k^2+s^2)^2)` for k >= 1.

        That of the mean is :math:`1/(\pi s^3)`. At s = 0, where W is the limit without its mean, all are 0.
        """
        self._require_parameter(name)
        formulas_of(domain).require_screened()
        s = np.longdouble(self.screening)
        if s == 0:
            return np.zeros(int(degree) + 1)
        sizes = np.arange(int(degree) + 1).astype(np.longdouble) ** 2 + s**2
        derivatives = 2 * s / (np.pi * sizes**2)
        derivatives[0] /= 2
        return narrowed(derivatives)

    def parameters(self) -> dict[str, Any]:
        """Return the screening."""
        return {"screening": self.screening}
