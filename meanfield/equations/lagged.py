r"""Velocity laws with a phase lag, on the circle.

A particle at x moves as it would by the law at :math:`x + \alpha`, so that for Kuramoto's potential

.. math:: \dot x_i = \frac\kappa N \sum_j \sin(x_j - x_i - \alpha),

the model of Sakaguchi and Kuramoto (Progress of Theoretical Physics 76 (1986) 576). In the harmonics the lag
multiplies degree k by :math:`e^{ik\alpha}`: the uniform density stays stationary, and degree k grows at
:math:`-k^2(D + \tfrac12\kappa w_k\cos k\alpha)` while it turns at :math:`\tfrac12\kappa w_k k^2\sin k\alpha`.
"""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arguments import checked, is_number, shown
from ..domains import Domain
from ..errors import InvalidInput
from ..potentials import Array, Number, Potential
from ..potentials.parametric import values_of
from .capabilities import Capability
from .derived import DerivedLaw
from .velocity import VelocityLaw

_EPS = float(np.finfo(float).eps)
_REASON = "particles move by the force beside them, a phase lag away"


@dataclass(frozen=True)
class PhaseLag(DerivedLaw):
    r"""A velocity law with a phase lag, :math:`v(x) = v_0(x + \alpha)`.

    Parameters
    ----------
    law
        The law without the lag, or a potential, whose gradient law it is then.
    lag
        alpha, in radians, from -pi to pi, not 0.

    Raises
    ------
    InvalidInput
        If the law is none, or the lag is not such a number.

    Examples
    --------
    >>> from meanfield import Circle, ContinuityEquation, Kuramoto, critical_coupling
    >>> lagged = ContinuityEquation(Circle(), PhaseLag(Kuramoto(), lag=1.0))
    >>> bool(abs(critical_coupling(lagged) - 2.0 / math.cos(1.0)) < 1e-14)
    True
    """

    law: Any
    lag: float = field()
    name: ClassVar[str] = "phase lag"

    def __post_init__(self) -> None:
        self._take_law()
        if not (is_number(self.lag) and 0.0 < abs(self.lag) <= math.pi):
            raise InvalidInput(
                f"the phase lag must be a number of radians from -pi to pi other than 0, not {shown(self.lag)}; "
                "without a lag give the law itself"
            )
        if self.law.lacks(Capability.DRIVE):
            raise InvalidInput(
                f"{self.law.name} has no drive to lag behind; write the lag into the function of the velocity"
            )
        if self.law.lacks(Capability.AUTONOMOUS):
            raise InvalidInput("the lag belongs into the law that is scaled; write DepthScaled(PhaseLag(law, lag))")
        if self.law.lag:
            raise InvalidInput(f"the law {self.law.name!r} has a phase lag already; add the two")
        object.__setattr__(self, "lag", float(self.lag))

    @property
    def formula(self) -> str:
        """The velocity as a formula."""
        return f"({self.law.formula})(x + {self.lag:g})"

    def lacks(self, capability: Capability) -> str:
        """Return a clause on why there is no free energy, map of stationary states or conserved centre."""
        if capability is Capability.STATIONARY_MAP:
            return (
                "a phase lag turns clusters, which rotate for ever; bifurcation_diagram(), curve() and "
                "stationary_states() have such waves, and evolve() follows densities to them"
            )
        return _REASON if capability in _LOST else str(self.law.lacks(capability))

    @property
    def clause(self) -> str:
        """What is done to the law, in words that follow its own."""
        return f"with the phase lag {self.lag:.12g}"

    @property
    def unlagged(self) -> VelocityLaw:
        """The law without the lag."""
        law: VelocityLaw = self.law
        return law

    def require_domain(self, domain: Domain) -> None:
        """Refuse spheres, which have no rotation by which all particles could lag."""
        if not domain.turns:
            raise InvalidInput(
                f"a phase lag is a rotation of the circle, of which {domain.in_words} has none; leave it out, or "
                "take Circle() (--domain circle)"
            )
        super().require_domain(domain)

    def at_uniform(self, domain: Domain) -> Potential:
        """Return the even part of the shifted potential: its growth rates are those of the law."""
        return _EvenPart(self.law.at_uniform(domain), self.lag)

    def parameters(self) -> dict[str, Any]:
        """Return the law by its name and parameters, and the lag."""
        return {**self._described_law(), "lag": self.lag}

    def parameter_values(self) -> dict[str, float]:
        """Return the continuous parameters of the law, and the lag."""
        return {**self.law.parameter_values(), "lag": self.lag}

    @checked
    def with_parameter(self, name: str, value: float) -> VelocityLaw:
        """Return the law with one continuous parameter changed, the law itself where the lag is zero."""
        if name == "lag":
            return self.unlagged if is_number(value) and value == 0.0 else PhaseLag(self.law, value)
        return PhaseLag(self.law.with_parameter(name, value), self.lag)


_LOST = (Capability.GRADIENT, Capability.GIBBS_MAP, Capability.FREE_ENERGY, Capability.CENTRE)


@dataclass(frozen=True)
class _EvenPart(Potential):
    """The mean of a potential shifted both ways, with the multipliers w_k cos(k a)."""

    potential: Potential
    shift: float
    name: ClassVar[str] = "even part"
    formula: ClassVar[str] = "(W(t + a) + W(t - a))/2"

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return the values at angles."""
        angles = np.asarray(angle, dtype=float)
        both = [np.asarray(self.potential.values(angles + sign * self.shift)) for sign in (1.0, -1.0)]
        return np.asarray(0.5 * (both[0] + both[1]))

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return the slopes at angles."""
        angles = np.asarray(angle, dtype=float)
        both = [np.asarray(self.potential.slope(angles + sign * self.shift)) for sign in (1.0, -1.0)]
        return np.asarray(0.5 * (both[0] + both[1]))

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_k cos(k a), k = 0..degree."""
        multipliers = self.potential.multipliers(domain, degree)
        factors = np.cos(np.arange(degree + 1) * self.shift)
        # A right angle is known to rounding, and so is that its cosine vanishes.
        vanishing = np.abs(factors) <= _EPS * (1.0 + np.arange(degree + 1) * abs(self.shift))
        # Adding 0 turns -0.0, that of a vanishing mode, into 0.0.
        return np.asarray(multipliers * np.where(vanishing, 0.0, factors) + 0.0)

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return a bound of the moduli of the multipliers beyond a degree: that without the shift."""
        return self.potential.tail_bound(domain, degree)

    def parameters(self) -> dict[str, Any]:
        """Return the potential by its name and parameters, and the shift."""
        named = {"name": self.potential.name, "parameters": self.potential.parameters()}
        return {"potential": named, "shift": self.shift}

    def parameter_values(self) -> dict[str, float]:
        """Return the continuous parameters of the potential, and the shift as the lag that it comes from."""
        return {**values_of(self.potential), "lag": self.shift}

    def multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        """Return the derivatives of the multipliers in a parameter of the potential, or in the lag."""
        degrees = np.arange(degree + 1)
        if name == "lag":
            multipliers = self.potential.multipliers(domain, degree)
            return np.asarray(-degrees * np.sin(degrees * self.shift) * multipliers)
        derivatives = self.potential.multiplier_derivatives(name, domain, degree)
        return np.asarray(np.cos(degrees * self.shift) * derivatives)
