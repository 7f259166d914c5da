r"""Velocity laws whose speed falls with time, as that of attention with scaled layer normalisation does.

.. math:: v(t, x) = \frac{v_0(x)}{(1+t)^p}.

With p = 1/2 the output of the layer at depth t is divided by the root of the depth, so that deep layers matter
(Sun et al., "The curse of depth in large language models", 2025). Without noise and confinement that is the law
without the factor at the time

.. math:: s(t) = \int_0^t \frac{d\tau}{(1+\tau)^p} = \frac{(1+t)^{1-p} - 1}{1-p},
          \qquad \log(1+t) \text{ for } p = 1,

so that exponential contraction becomes :math:`e^{-2L(\sqrt{1+t}-1)}` for p = 1/2.
"""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..arguments import checked, is_number
from ..domains import Domain
from ..errors import InvalidInput
from ..potentials import Array, Potential
from .capabilities import Capability
from .derived import DerivedLaw
from .velocity import VelocityLaw

# Powers beyond are no scaling of layers, and their times leave the range of doubles.
LARGEST_POWER = 8.0


@dataclass(frozen=True)
class DepthScaled(DerivedLaw):
    r"""A velocity law divided by a power of the time, :math:`v(t) = v_0/(1+t)^p`.

    Parameters
    ----------
    law
        The law at time 0, or a potential, whose gradient law it is then.
    power
        p, from -8 to 8, not 0; 1/2 by default, the scaling of layer normalisation by the root of the depth.

    Raises
    ------
    InvalidInput
        If the law is none or has a power already, or the power is not such a number.

    Examples
    --------
    >>> from meanfield import SoftmaxAttention
    >>> DepthScaled(SoftmaxAttention(2.0)).elapsed(3.0)
    2.0
    """

    law: Any
    power: float = 0.5
    lag: float = field(init=False, repr=False, default=0.0)
    name: ClassVar[str] = "depth scaling"

    def __post_init__(self) -> None:
        self._take_law()
        if self.law.lacks(Capability.AUTONOMOUS):
            raise InvalidInput("the law is divided by a power of the time already; add the two powers")
        if not (is_number(self.power) and 0.0 < abs(self.power) <= LARGEST_POWER):
            raise InvalidInput(
                f"the power must be a number from {-LARGEST_POWER:g} to {LARGEST_POWER:g} other than 0, not "
                f"{self.power!r}; the scaling of layers is power=0.5 (--depth-scaling 0.5)"
            )
        object.__setattr__(self, "power", float(self.power))
        object.__setattr__(self, "lag", self.law.lag)

    @property
    def formula(self) -> str:
        """The velocity as a formula."""
        return f"({self.law.formula})/(1 + t)^{self.power:g}"

    @property
    def clause(self) -> str:
        """What is done to the law, in words that follow its own."""
        return f"divided by (1 + t)^{self.power:.12g}"

    @property
    def unlagged(self) -> VelocityLaw:
        """The law without the lag."""
        return DepthScaled(self.law.unlagged, self.power)

    def lacks(self, capability: Capability) -> str:
        """Return a clause on what a velocity whose factor changes does not keep, or what the law lacks itself."""
        kept = (Capability.DRIVE, Capability.CENTRE, Capability.UNIFORM_STATE)
        if capability in kept:
            return str(self.law.lacks(capability))
        return f"the velocity has the factor (1 + t)^{-self.power:g}"

    def pace(self, time: float) -> float:
        """Return (1 + t)^-p."""
        return float((1.0 + time) ** -self.power)

    def elapsed(self, time: float) -> float:
        """Return the integral of the factor up to a time."""
        rest, logarithm = 1.0 - self.power, math.log1p(time)
        return logarithm if rest == 0.0 else math.expm1(rest * logarithm) / rest

    def velocity(self, domain: Domain, angles: Array, moments: Array) -> Array:
        """Return the velocities at time 0 from moments."""
        velocity: Array = self.law.velocity(domain, angles, moments)
        return velocity

    @property
    def degree(self) -> int:
        """The last moment that a law of moments takes."""
        return int(self.law.degree)

    def at_uniform(self, domain: Domain) -> Potential:
        """Return the pair potential with the same linearisation at the uniform density at time 0."""
        potential: Potential = self.law.at_uniform(domain)
        return potential

    def parameters(self) -> dict[str, Any]:
        """Return the law by its name and parameters, and the power."""
        return {**self._described_law(), "power": self.power}

    def parameter_values(self) -> dict[str, float]:
        """Return the continuous parameters of the law, and the power."""
        return {**self.law.parameter_values(), "power": self.power}

    @checked
    def with_parameter(self, name: str, value: float) -> "DepthScaled":
        """Return the law with one continuous parameter changed."""
        if name == "power":
            return DepthScaled(self.law, value)
        return DepthScaled(self.law.with_parameter(name, value), self.power)
