r"""Velocity laws with a common frequency of all particles, on the circle.

.. math:: \dot x_i = \omega + \kappa\, v[\mu_N](x_i) - V'(x_i),

the coupling multiplying the law alone. For Kuramoto's potential these are identical oscillators, with a phase lag
those of Sakaguchi and Kuramoto, and in a field of one degree the active rotators of Shinomoto and Kuramoto
(Progress of Theoretical Physics 75 (1986) 1105). Without a confinement the equation is invariant under rotation, so
that in the frame that rotates with the frequency, :math:`\theta - \omega t`, it is the one without the frequency.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..arguments import checked, is_number, shown
from ..domains import Domain
from ..errors import InvalidInput
from ..potentials import Potential
from .capabilities import Capability
from .derived import DerivedLaw
from .velocity import VelocityLaw

# Angles turned by it leave the range of doubles at no time of interest.
LARGEST_FREQUENCY = 1e100
_REASON = "a common frequency turns all densities; leave it out for the frame that rotates with it"


@dataclass(frozen=True)
class CommonFrequency(DerivedLaw):
    r"""A velocity law of particles that all turn with one frequency besides, :math:`\omega + \kappa v_0(x)`.

    Parameters
    ----------
    law
        The law without the frequency, with a phase lag or depth scaling if there is one; of a potential its
        gradient law.
    frequency
        omega, in radians per unit of time, of modulus 1e100 at most, not 0.

    Raises
    ------
    InvalidInput
        If the law is none or has a frequency already, or the frequency is not such a number.

    Examples
    --------
    >>> from meanfield import Circle, ContinuityEquation, Kuramoto, PhaseLag
    >>> law = CommonFrequency(PhaseLag(Kuramoto(), 0.3), 2.0)
    >>> ContinuityEquation(Circle(), law, noise=0.0, coupling=1.0).parameters
    {'noise': 0.0, 'coupling': 1.0, 'lag': 0.3, 'frequency': 2.0}
    """

    law: Any
    frequency: float = field()
    lag: float = field(init=False, repr=False, default=0.0)
    name: ClassVar[str] = "common frequency"

    def __post_init__(self) -> None:
        self._take_law()
        if not (is_number(self.frequency) and 0.0 < abs(self.frequency) <= LARGEST_FREQUENCY):
            raise InvalidInput(
                f"the common frequency must be a number of radians per unit of time from {-LARGEST_FREQUENCY:g} to "
                f"{LARGEST_FREQUENCY:g} other than 0, not {shown(self.frequency)}; without one give the law itself"
            )
        if self.law.lacks(Capability.DRIVE):
            raise InvalidInput(
                f"{self.law.name} has no drive to turn with its density; add the frequency over the coupling to "
                "the function of the velocity"
            )
        object.__setattr__(self, "frequency", float(self.frequency))
        object.__setattr__(self, "lag", self.law.lag)

    @property
    def formula(self) -> str:
        """The velocity as a formula, over the coupling."""
        return f"{self.frequency:g}/coupling + {self.law.formula}"

    @property
    def clause(self) -> str:
        """What is done to the law, in words that follow its own."""
        return f"with the common frequency {self.frequency:.12g}"

    @property
    def unlagged(self) -> VelocityLaw:
        """The law without the lag."""
        return CommonFrequency(self.law.unlagged, self.frequency)

    @property
    def unturned(self) -> VelocityLaw:
        """The law without the frequency."""
        law: VelocityLaw = self.law
        return law

    def lacks(self, capability: Capability) -> str:
        """Return a clause on what is lost where all densities turn, or what the law lacks itself."""
        return _REASON if capability in _LOST else str(self.law.lacks(capability))

    def require_domain(self, domain: Domain) -> None:
        """Refuse spheres, on which no rotation moves all places alike."""
        if not domain.turns:
            raise InvalidInput(
                f"a common frequency is a rotation of the circle, of which {domain.in_words} has none; leave it "
                "out, or take Circle() (--domain circle)"
            )
        super().require_domain(domain)

    def pace(self, time: float) -> float:
        """Return the factor of the law at a time; the frequency has none."""
        return float(self.law.pace(time))

    def elapsed(self, time: float) -> float:
        """Return the integral of the factor of the law up to a time."""
        return float(self.law.elapsed(time))

    def at_uniform(self, domain: Domain) -> Potential:
        """Return that of the law: growth rates at the uniform density are the same."""
        potential: Potential = self.law.at_uniform(domain)
        return potential

    def parameters(self) -> dict[str, Any]:
        """Return the law by its name and parameters, and the frequency."""
        return {**self._described_law(), "frequency": self.frequency}

    def parameter_values(self) -> dict[str, float]:
        """Return the continuous parameters of the law, and the frequency."""
        return {**self.law.parameter_values(), "frequency": self.frequency}

    @checked
    def with_parameter(self, name: str, value: float) -> VelocityLaw:
        """Return the law with one continuous parameter changed, the law itself where the frequency is zero."""
        if name == "frequency":
            return self.unturned if is_number(value) and value == 0.0 else CommonFrequency(self.law, value)
        return CommonFrequency(self.law.with_parameter(name, value), self.frequency)


_LOST = (
    Capability.GRADIENT,
    Capability.GIBBS_MAP,
    Capability.STATIONARY_MAP,
    Capability.FREE_ENERGY,
    Capability.CENTRE,
)
