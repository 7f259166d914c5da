"""Spheres as the setting of particles that follow a velocity law other than the gradient of a potential."""

import math
from dataclasses import dataclass

from meanfield import Equation, InvalidInput

from ..drift import MomentDrift, PairDrift
from ..resolution import steepest
from ..settings import default_share
from .fields import Field
from .setting import (
    DEFAULT_SPREAD,
    LARGEST_HARMONIC,
    MANY_PAIRS,
    OrdinarySphereSetting,
    SphereSetting,
    sphere_setting,
)
from .significant import SphereDegrees
from .velocity_fields import VelocityHarmonicField, VelocityPairField

# Up to so many particles on the ordinary sphere pairs are summed by default: about as fast as moments, and exact.
MOST_PAIRS = 256


@dataclass(frozen=True, eq=False)
class VelocitySphereSetting(SphereSetting):
    """A sphere of any dimension with a velocity law: drifts from pairs."""

    @classmethod
    def suitable_drift(
        cls, significant: SphereDegrees, dimension: int, drift: MomentDrift | PairDrift | None, particles: int
    ) -> MomentDrift | PairDrift:
        """Return the drift from pairs.

        Raises
        ------
        InvalidInput
            If moments are asked for.
        """
        if isinstance(drift, MomentDrift):
            raise InvalidInput(
                f"moments move particles by velocity laws in 2 and 3 dimensions, not in {dimension}; take "
                "drift=PairDrift() (--pairs)"
            )
        return PairDrift()

    @property
    def harmonic(self) -> bool:
        """False: ducc0 has no part in velocity laws."""
        return False

    def default_step(self, until: float) -> float:
        """Return the default step, by the steepest slope that the law states and the time of diffusion."""
        slope = steepest(self.problem, self.significant.confining_steepness)
        spread = (self.dimension - 1) * self.problem.noise
        diffusion = DEFAULT_SPREAD / spread if spread > 0.0 else math.inf
        return min(until, diffusion, default_share(self.problem.noise) / slope if slope > 0.0 else math.inf)

    def field(self) -> Field:
        """Return the field of the drift, before particles are gathered."""
        return VelocityPairField(self.problem, self.significant)

    def warnings(self, particles: int) -> list[str]:
        """Return the warnings that pairs of many particles take long, or that degrees are left out."""
        if isinstance(self.drift, MomentDrift):
            return super().warnings(particles)
        if particles <= MANY_PAIRS:
            return []
        return [
            f"the drift is summed over all pairs of {particles} particles at every step, in a time that grows with "
            f"their square; {self.problem.velocity.name} has moments in 2 and 3 dimensions, of degree "
            f"{LARGEST_HARMONIC} at most on the ordinary sphere"
        ]


@dataclass(frozen=True, eq=False)
class OrdinaryVelocitySetting(VelocitySphereSetting, OrdinarySphereSetting):
    """The ordinary sphere with a velocity law: drifts from pairs or from harmonics."""

    @classmethod
    def suitable_drift(
        cls, significant: SphereDegrees, dimension: int, drift: MomentDrift | PairDrift | None, particles: int
    ) -> MomentDrift | PairDrift:
        """Return the drift asked for, by default from pairs if the particles are few."""
        if drift is not None:
            return drift
        return PairDrift() if particles <= MOST_PAIRS or not significant.complete else MomentDrift()

    def field(self) -> Field:
        """Return the field of the drift, before particles are gathered."""
        if isinstance(self.drift, PairDrift):
            return VelocityPairField(self.problem, self.significant)
        return VelocityHarmonicField(self.problem, self.significant)


def sphere_velocity_setting(
    problem: Equation, drift: MomentDrift | PairDrift | None, degrees: int, particles: int
) -> SphereSetting:
    """Return the setting of a problem with a velocity law on a sphere; see :func:`sphere_setting`."""
    kinds = {3: OrdinaryVelocitySetting}
    return sphere_setting(problem, drift, degrees, particles, VelocitySphereSetting, kinds)
