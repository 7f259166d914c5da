"""The interaction of the noisy transformer."""

import functools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked
from ..domains import Domain
from ..errors import InvalidInput
from ..harmonics.gegenbauer import Extended, multiplicities
from .arrays import Array, Number, narrowed
from .formulas import formulas_of
from .protocol import Potential
from .series import SMALLEST, as_number

# Below this size 1/w_k is a normal float64 as well, so couplings keep full precision.
_LARGEST_DOUBLE = 1e300
_LARGEST_BETA = 1e6
# Multipliers, their derivatives and their scale, of degrees that differ by few, are of one table.
_TOGETHER = 64


@methods_checked
@dataclass(frozen=True)
class Transformer(Potential):
    r"""The noisy transformer, :math:`W = -\beta^{-1} e^{\beta\cos t}`.

    On the circle :math:`w_k = -2 I_k(\beta)/\beta`, on :math:`S^{d-1}`
    :math:`w_l = -N_l\,\Gamma(d/2)\,(2/\beta)^{d/2-1} I_{l+d/2-1}(\beta)/\beta`.

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
        if abs(beta) < SMALLEST:
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

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_0, ..., w_degree."""
        decayed, growth = self._decayed(domain, int(degree)), self._growth()
        with np.errstate(under="ignore"):
            return np.asarray(decayed[: degree + 1].astype(type(growth)) * growth)

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return the largest modulus of the multipliers beyond a degree, which is attained."""
        decayed, growth = self._decayed(domain, int(degree) + 1), self._growth()
        with np.errstate(under="ignore"):
            bound: Number = (np.abs(decayed[degree + 1 :]).astype(type(growth)) * growth).max()
        return bound

    def scale(self, domain: Domain) -> Number:
        """Return the largest modulus of the multipliers, on the circle that of w_1."""
        return self.tail_bound(domain, 0)

    def extended_multipliers(self, domain: Domain, degree: int) -> Extended:
        """Return w_k / scale for k = 1..degree behind a leading 0, without overflow."""
        decayed = self._decayed(domain, max(int(degree), 1))
        with np.errstate(under="ignore"):
            relative = decayed / np.abs(decayed[1:]).max()
        relative[0] = 0.0
        return np.asarray(relative[: degree + 1])

    def relative_tail_bound(self, domain: Domain, degree: int) -> float:
        """Return the largest modulus of the multipliers beyond a degree over that of all."""
        decayed = np.abs(self._decayed(domain, int(degree) + 1))
        with np.errstate(under="ignore"):
            return float(decayed[degree + 1 :].max() / decayed[1:].max())

    def multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        r"""Return the derivatives in beta, for l >= 1 to a few roundings of each.

        With :math:`\nu = l + d/2 - 1` and :math:`(x^{-\nu} I_\nu)' = x^{-\nu} I_{\nu+1}` (DLMF 10.29.4)

        .. math:: \frac{dw_l}{d\beta} = \frac{N_l}{N_{l+1}}\,w_{l+1} + \frac{l-1}\beta\,w_l,

        whose terms are of one sign for l >= 1; the mean has a derivative of either sign, exact to roundings of its
        terms.
        """
        self._require_parameter(name)
        size = int(degree) + 1
        decayed, (quotients, modes) = self._decayed(domain, size), _of_degrees(domain, size)
        with np.errstate(under="ignore"):
            slopes = decayed[1 : size + 1] * quotients
            slopes += decayed[:size] * (modes / np.longdouble(self.beta))
            slopes *= self._growth()
        return narrowed(slopes)

    def parameters(self) -> dict[str, Any]:
        """Return beta."""
        return {"beta": self.beta}

    def _decayed(self, domain: Domain, degree: int) -> Array:
        """Return w_k exp(-abs(beta)) in longdouble, read-only, and some beyond; on spheres all significant ones."""
        return _decayed(domain, self.beta, _TOGETHER * (degree // _TOGETHER + 1) - 1)

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


@functools.lru_cache(maxsize=64)
def _decayed(domain: Domain, beta: float, degree: int) -> Array:
    """Return w_k exp(-abs(beta)) as the method of that name."""
    decayed = np.asarray(-formulas_of(domain).exponential(abs(beta), degree) / np.longdouble(beta))
    if beta < 0:
        decayed[1::2] *= -1
    decayed.setflags(write=False)
    return decayed


@functools.lru_cache(maxsize=16)
def _of_degrees(domain: Domain, size: int) -> tuple[Extended, Extended]:
    """Return N_l / N_(l+1) and l - 1 of the degrees from 0 on, (size,) each and read-only."""
    numbers, modes = multiplicities(domain, size), np.arange(size).astype(np.longdouble) - 1
    quotients = numbers[:-1] / numbers[1:]
    for row in (quotients, modes):
        row.setflags(write=False)
    return quotients, modes
