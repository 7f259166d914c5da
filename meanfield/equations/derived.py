"""The base of velocity laws that are made of another one, whose drive they keep."""

import dataclasses
from typing import Any

from ..arguments import is_potential, shown
from ..domains import Domain
from ..errors import InvalidInput
from ..potentials import Array, Potential
from .capabilities import Capability
from .speed_response import SpeedResponse
from .velocity import Gradient, VelocityLaw, is_velocity


class DerivedLaw(VelocityLaw):
    """Base of dataclasses with a field ``law``, which have drive, speed and kernels of that law.

    Attributes
    ----------
    law
        The other law; of a potential its gradient law.
    """

    law: Any

    @property
    def clause(self) -> str:
        """What is done to the other law, in words that follow its own."""
        raise NotImplementedError

    def _take_law(self) -> None:
        """Refuse what is no law, and put the gradient law in the place of a potential.

        Raises
        ------
        InvalidInput
            If it is neither, or has a common frequency.
        """
        if not (is_velocity(self.law) or is_potential(self.law)):
            raise InvalidInput(
                f"law must be a velocity law or a potential such as Kuramoto(), not {shown(self.law)}"
            )
        if not is_velocity(self.law):
            object.__setattr__(self, "law", Gradient(self.law))
        if self.law.frequency:
            raise InvalidInput(
                f"the law {self.law.name!r} turns all particles already; give its frequency to the outermost law, "
                "CommonFrequency(law, frequency), and add two of them"
            )

    @property
    def potential(self) -> Potential:
        """The pair potential of the other law."""
        potential: Potential = self.law.potential
        return potential

    def interpolated_in(self, name: str) -> VelocityLaw:
        """Return the same of the other law prepared for many values of a parameter."""
        same: Any = self
        prepared: VelocityLaw = dataclasses.replace(same, law=self.law.interpolated_in(name))
        return prepared

    def require_domain(self, domain: Domain) -> None:
        """Refuse what the other law refuses."""
        self.law.require_domain(domain)

    def fingerprint(self, domain: Domain) -> str:
        """Return that of the other law."""
        return str(self.law.fingerprint(domain))

    def radial(self, domain: Domain, degree: int) -> Array | None:
        """Return the coefficients of the radial drive of the other law."""
        radial: Array | None = self.law.radial(domain, degree)
        return radial

    def speed(self, drive: Array, slope_squared: Array, radial: Array | None) -> Array:
        """Return the speed of the other law."""
        speed: Array = self.law.speed(drive, slope_squared, radial)
        return speed

    def speed_response(self, domain: Domain, degree: int) -> SpeedResponse:
        """Return that of the other law."""
        response: SpeedResponse = self.law.speed_response(domain, degree)
        return response

    def kernels(self, cosines: Array) -> tuple[Array, Array, Array | None]:
        """Return the kernels of the other law."""
        kernels: tuple[Array, Array, Array | None] = self.law.kernels(cosines)
        return kernels

    def steepness(self) -> float | None:
        """Return what the other law states."""
        steepness: float | None = self.law.steepness()
        return steepness

    def antiderivative(self, drive: Array) -> Array:
        """Refuse, since there is no Gibbs map."""
        raise InvalidInput(f"{self.name} has no Gibbs map; {self.lacks(Capability.GIBBS_MAP)}")

    def _described_law(self) -> dict[str, Any]:
        """Return the other law by its name and parameters."""
        return {"law": {"name": self.law.name, "parameters": self.law.parameters()}}
