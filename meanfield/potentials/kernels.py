r"""The named potentials, each with closed-form multipliers.

==================  ==========================================  =====================================
class               W(t), angle t in [-pi, pi]                  w_k, k >= 1
==================  ==========================================  =====================================
Transformer         -(1/beta) exp(beta cos t)                   -(2/beta) I_k(beta)
Kuramoto            -cos t                                      -1 for k = 1, else 0
CosineSeries        sum_k w_k cos kt                            as given
HegselmannKrause    -(1/2) (R - abs(t))_+^2                     -(2/pi) (kR - sin kR) / k^3
Onsager             abs(sin t)                                  -(4/pi) / (k^2 - 1), k even, else 0
Logarithmic         +- log abs(2 sin(t/2))                      -+ 1/k
KellerSegel         -G, (s^2 - d^2/dt^2) G = delta              -(1/pi) / (k^2 + s^2)
==================  ==========================================  =====================================
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..domains import Circle
from ..errors import InvalidInput
from .protocol import Array, Number, Potential
from .series import (
    as_number,
    checked_coefficients,
    checked_degree,
    cosine_sum,
    cosine_sum_slope,
    padded,
    scaled_bessel,
    sine_defect,
    wrapped,
)

# Below this size 1/w_k is a normal float64 as well, so couplings keep full precision.
_LARGEST_DOUBLE = 1e300
_LARGEST_BETA = 1e6
_SMALLEST = 1e-150
_NAMED_SIGNS = {"attractive": 1, "repulsive": -1}


@dataclass(frozen=True)
class Transformer(Potential):
    r"""The noisy transformer, :math:`W = -\beta^{-1} e^{\beta\cos t}`, :math:`w_k = -2 I_k(\beta)/\beta`.

    Parameters
    ----------
    beta
        Inverse temperature of the attention, of either sign, not 0. For beta < 0 only the odd modes
        attract. Beyond ``|beta|`` near 700 the multipliers no longer fit float64 and are returned as
        ``numpy.longdouble``; ``relative_multipliers`` stays float64 for every beta.

    Raises
    ------
    InvalidInput
        If beta is 0, not finite or absurdly large.

    Examples
    --------
    >>> from meanfield.domains import Circle
    >>> round(-2 / float(Transformer(5.0).multipliers(Circle(), 1)[1]), 12)
    0.205459957487
    """

    beta: float
    name: ClassVar[str] = "transformer"
    formula: ClassVar[str] = "-(1/beta) exp(beta cos t)"

    def __post_init__(self) -> None:
        beta = as_number(self.beta, "beta", "a finite number other than 0")
        if abs(beta) < _SMALLEST:
            raise InvalidInput(f"beta must not be 0, got {self.beta!r}; its limit beta -> 0 is Kuramoto()")
        if abs(beta) > _LARGEST_BETA:
            raise InvalidInput(
                f"abs(beta) must be at most {_LARGEST_BETA:g}, not {self.beta!r}; try Transformer(beta=5)"
            )
        object.__setattr__(self, "beta", beta)

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return W at the angles (longdouble where exp(abs(beta)) exceeds float64)."""
        return -self._exponential(angle) / self.beta

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return W' = sin t exp(beta cos t)."""
        return np.asarray(np.sin(np.asarray(angle, dtype=float)) * self._exponential(angle))

    def multipliers(self, domain: Circle, degree: int) -> Array:
        """Return w_0, ..., w_degree."""
        decayed, growth = self._decayed(checked_degree(degree)), self._growth()
        with np.errstate(under="ignore"):
            return np.asarray(decayed.astype(type(growth)) * growth)

    def tail_bound(self, domain: Circle, degree: int) -> Number:
        """Return the modulus of w_(degree+1): I_k decreases in k."""
        bound: Number = np.abs(self.multipliers(domain, degree + 1)[-1])
        return bound

    def scale(self, domain: Circle) -> Number:
        """Return the modulus of w_1."""
        scale: Number = np.abs(self.multipliers(domain, 1)[1])
        return scale

    def extended_multipliers(self, domain: Circle, degree: int) -> npt.NDArray[np.longdouble]:
        """Return w_k / abs(w_1) for k = 1..degree behind a leading 0, without overflow."""
        decayed = self._decayed(max(checked_degree(degree), 1))
        with np.errstate(under="ignore"):
            relative = decayed / np.abs(decayed[1])
        relative[0] = 0.0
        return np.asarray(relative[: degree + 1])

    def relative_tail_bound(self, domain: Circle, degree: int) -> float:
        """Return abs(w_(degree+1) / w_1)."""
        return float(np.abs(self.relative_multipliers(domain, degree + 1)[-1]))

    def parameters(self) -> dict[str, Any]:
        """Return beta."""
        return {"beta": self.beta}

    def _decayed(self, degree: int) -> Array:
        """Return w_k exp(-abs(beta)) in longdouble."""
        size = abs(self.beta)
        decayed = -2 * scaled_bessel(size, degree) / np.longdouble(self.beta)
        decayed[0] /= 2
        if self.beta < 0:
            decayed[1::2] *= -1
        return decayed

    def _growth(self) -> Number:
        """Return exp(abs(beta)), wider than float64 only where it must be."""
        size = abs(self.beta)
        if size < math.log(_LARGEST_DOUBLE):
            return np.float64(np.exp(np.longdouble(size)))
        self._require_range(size)
        return np.longdouble(np.exp(np.longdouble(size)))

    def _exponential(self, angle: npt.ArrayLike) -> Array:
        angles = np.asarray(angle, dtype=float)
        if abs(self.beta) < math.log(_LARGEST_DOUBLE):
            return np.asarray(np.exp(self.beta * np.cos(angles)))
        self._require_range(abs(self.beta))
        with np.errstate(under="ignore"):
            return np.asarray(np.exp(np.longdouble(self.beta) * np.cos(angles.astype(np.longdouble))))

    def _require_range(self, size: float) -> None:
        largest = float(np.log(np.finfo(np.longdouble).max)) - 10
        if size > largest:
            raise InvalidInput(
                f"exp(abs(beta)) at beta = {self.beta:g} does not fit the widest number of this machine; "
                f"abs(beta) must be at most {largest:.0f} (relative_multipliers works for every beta)"
            )


@dataclass(frozen=True)
class Kuramoto(Potential):
    """The noisy Kuramoto model, W = -cos t: a single attractive mode, critical at kappa = 2 D."""

    name: ClassVar[str] = "kuramoto"
    formula: ClassVar[str] = "-cos t"

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return -cos t."""
        return np.asarray(-np.cos(np.asarray(angle, dtype=float)))

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return sin t."""
        return np.asarray(np.sin(np.asarray(angle, dtype=float)))

    def multipliers(self, domain: Circle, degree: int) -> Array:
        """Return (0, -1, 0, 0, ...)."""
        multipliers = np.zeros(checked_degree(degree) + 1)
        multipliers[1:2] = -1.0
        return multipliers

    def tail_bound(self, domain: Circle, degree: int) -> Number:
        """Return 1 at degree 0 and 0 beyond."""
        return 0.0 if checked_degree(degree) else 1.0

    def parameters(self) -> dict[str, Any]:
        """Return nothing: there are no parameters."""
        return {}


@dataclass(frozen=True)
class CosineSeries(Potential):
    """A finite cosine series, W = sum w_k cos kt.

    Parameters
    ----------
    w
        (w_1, w_2, ..., w_K), finite numbers, at least one; mode k attracts when w_k < 0.

    Raises
    ------
    InvalidInput
        If w is empty, not a sequence, or contains something other than finite numbers.
    """

    w: tuple[float, ...]
    name: ClassVar[str] = "cosine-series"
    formula: ClassVar[str] = "sum_k w_k cos kt"

    def __post_init__(self) -> None:
        object.__setattr__(self, "w", checked_coefficients(self.w, "w", "CosineSeries((-1.0, -0.9))"))

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return the sum at the angles."""
        return cosine_sum(np.array([0.0, *self.w]), angle)

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return the differentiated sum at the angles."""
        return cosine_sum_slope(np.array([0.0, *self.w]), angle)

    def multipliers(self, domain: Circle, degree: int) -> Array:
        """Return (0, w_1, ..., w_K, 0, ...)."""
        return padded(np.array([0.0, *self.w]), checked_degree(degree))

    def tail_bound(self, domain: Circle, degree: int) -> Number:
        """Return the largest remaining modulus, 0 from K on."""
        return max((abs(value) for value in self.w[checked_degree(degree) :]), default=0.0)

    def parameters(self) -> dict[str, Any]:
        """Return the coefficients as a list."""
        return {"w": list(self.w)}


@dataclass(frozen=True)
class HegselmannKrause(Potential):
    r"""Bounded confidence (noisy Hegselmann-Krause), :math:`W = -\tfrac12 (R - |t|)_+^2`.

    Parameters
    ----------
    radius
        Radius of confidence R, 0 < R <= pi.

    Raises
    ------
    InvalidInput
        If the radius is outside (0, pi].
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

    def multipliers(self, domain: Circle, degree: int) -> Array:
        """Return w_0 = -R^3/(6 pi) and w_k = -(2/pi) (kR - sin kR)/k^3."""
        multipliers = -(2 / np.pi) * self.radius**3 * self._shape(checked_degree(degree)).astype(np.float64)
        multipliers[0] /= 2
        return multipliers

    def extended_multipliers(self, domain: Circle, degree: int) -> npt.NDArray[np.longdouble]:
        """Return w_k / abs(w_1) for k = 1..degree behind a leading 0."""
        shape = self._shape(max(checked_degree(degree), 1))
        relative = -shape / shape[1]
        relative[0] = 0.0
        return np.asarray(relative[: degree + 1])

    def tail_bound(self, domain: Circle, degree: int) -> Number:
        """Return the modulus of w_(degree+1): (x - sin x)/x^3 decreases (3 sin x < x (2 + cos x))."""
        following = np.array([np.longdouble(self.radius) * (checked_degree(degree) + 1)])
        return float(2 / np.pi * self.radius**3 * sine_defect(following)[0])

    def _shape(self, degree: int) -> npt.NDArray[np.longdouble]:
        """Return (x - sin x)/x^3 at x = kR."""
        return sine_defect(np.longdouble(self.radius) * np.arange(degree + 1))

    def parameters(self) -> dict[str, Any]:
        """Return the radius."""
        return {"radius": self.radius}


@dataclass(frozen=True)
class Onsager(Potential):
    """The Doi-Onsager potential in the plane, W = abs(sin t): rods, critical at kappa_2 = 3 pi D / 2."""

    name: ClassVar[str] = "onsager"
    formula: ClassVar[str] = "abs(sin t)"

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return abs(sin t)."""
        return np.asarray(np.abs(np.sin(np.asarray(angle, dtype=float))))

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return sign(sin t) cos t; 0 at the kinks."""
        angles = np.asarray(angle, dtype=float)
        return np.asarray(np.sign(np.sin(angles)) * np.cos(angles))

    def multipliers(self, domain: Circle, degree: int) -> Array:
        """Return 2/pi, 0, -(4/pi)/3, 0, -(4/pi)/15, ...; odd modes are exactly 0."""
        modes = np.arange(checked_degree(degree) + 1, dtype=float)
        multipliers = np.zeros(modes.size)
        multipliers[::2] = -4 / (np.pi * (modes[::2] ** 2 - 1))
        multipliers[0] = 2 / np.pi
        return multipliers

    def tail_bound(self, domain: Circle, degree: int) -> Number:
        """Return the modulus at the next even degree."""
        following = 2 * (checked_degree(degree) // 2 + 1)
        return 4 / (math.pi * (following**2 - 1))

    def parameters(self) -> dict[str, Any]:
        """Return nothing: there are no parameters."""
        return {}


@dataclass(frozen=True)
class Logarithmic(Potential):
    r"""The logarithmic potential, :math:`W = \pm\log|2\sin(t/2)| = \mp\sum_k \cos(kt)/k`.

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
        if isinstance(sign, (bool, str)) or sign not in (1, -1):
            raise InvalidInput(f"sign must be 1 ('attractive') or -1 ('repulsive'), not {self.sign!r}")
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

    def multipliers(self, domain: Circle, degree: int) -> Array:
        """Return 0 and -sign/k."""
        multipliers = np.zeros(checked_degree(degree) + 1)
        multipliers[1:] = -self.sign / np.arange(1, degree + 1)
        return multipliers

    def tail_bound(self, domain: Circle, degree: int) -> Number:
        """Return 1/(degree+1), attained."""
        return 1 / (checked_degree(degree) + 1)

    def parameters(self) -> dict[str, Any]:
        """Return the sign."""
        return {"sign": self.sign}


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
        If the screening is negative or not finite.
    """

    screening: float = 1.0
    name: ClassVar[str] = "keller-segel"
    formula: ClassVar[str] = "-cosh(screening (pi - abs(t))) / (2 screening sinh(pi screening))"

    def __post_init__(self) -> None:
        screening = as_number(self.screening, "screening", "a finite number >= 0")
        if screening < 0 or 0 < screening < _SMALLEST or screening > 1 / _SMALLEST:
            raise InvalidInput(
                f"screening must be 0 or a positive number of ordinary size, not {self.screening!r}; "
                "try KellerSegel(screening=1.0)"
            )
        object.__setattr__(self, "screening", screening)

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

    def multipliers(self, domain: Circle, degree: int) -> Array:
        """Return w_0 = -1/(2 pi s^2) (0 when s = 0) and w_k = -1/(pi (k^2 + s^2))."""
        modes, s = np.arange(checked_degree(degree) + 1, dtype=float), self.screening
        multipliers = np.zeros(modes.size)
        multipliers[1:] = -1 / (np.pi * (modes[1:] ** 2 + s**2))
        multipliers[0] = -1 / (2 * math.pi * s**2) if s > 0 else 0.0
        return multipliers

    def extended_multipliers(self, domain: Circle, degree: int) -> npt.NDArray[np.longdouble]:
        """Return w_k / abs(w_1) for k = 1..degree behind a leading 0."""
        modes = np.arange(checked_degree(degree) + 1).astype(np.longdouble)
        square = np.longdouble(self.screening) ** 2
        relative = -(1 + square) / (modes**2 + square + (modes == 0))
        relative[0] = 0.0
        return np.asarray(relative)

    def tail_bound(self, domain: Circle, degree: int) -> Number:
        """Return the modulus of w_(degree+1): it decreases in k."""
        return 1 / (math.pi * ((checked_degree(degree) + 1.0) ** 2 + self.screening**2))

    def parameters(self) -> dict[str, Any]:
        """Return the screening."""
        return {"screening": self.screening}
