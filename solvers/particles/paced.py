"""Particles whose drift has a factor that changes with time, frozen at its mean over each step.

Without noise and confinement that is exact: such a law is the one without the factor in another time. Otherwise the
error is of the second order in the step, as that of the schemes with noise is at best.
"""

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation, InvalidInput, VelocityLaw
from meanfield.equations import Capability

from .stepping import Particles, Passes

Floats = NDArray[np.float64]


class PacedParticles:
    """Particles during one step, their drift times a factor.

    Parameters
    ----------
    particles
        The particles.
    pace
        The factor.
    """

    def __init__(self, particles: Particles, pace: float) -> None:
        self._particles, self._pace = particles, pace
        self.carried, self.move, self.place, self.noise = (
            particles.carried,
            particles.move,
            particles.place,
            particles.noise,
        )

    @property
    def flat(self) -> bool:
        """Whether the domain is flat."""
        return self._particles.flat

    @property
    def places(self) -> Floats:
        """Positions, with particles along the last axis."""
        return self._particles.places

    @property
    def passes(self) -> Passes:
        """Faster steps: none, since they have no factor."""
        return {}

    def drift(self, step: float, watched: bool = True) -> Floats:
        """Return the displacements of a step by the drift times the factor."""
        return self._particles.drift(step * self._pace, watched)


def paced(law: VelocityLaw, particles: Particles, start: float, step: float) -> Particles:
    """Return particles for a step from a time on, whose drift has the mean of its factor over the step."""
    return PacedParticles(particles, (law.elapsed(start + step) - law.elapsed(start)) / step)


def require_paced(problem: Equation) -> None:
    """Refuse a confinement or frequency beside a velocity that changes with time, whose factor they lack.

    Raises
    ------
    InvalidInput
        If that is so.
    """
    beside = "confinement" if problem.confinement is not None else "common frequency"
    beside = beside if problem.confinement is not None or problem.velocity.frequency else ""
    if beside and problem.lacks(Capability.AUTONOMOUS):
        raise InvalidInput(
            f"particles follow a velocity that changes with time without a {beside} only; leave it out, or "
            "evolve the density (evolve)"
        )
