"""Particles that follow a velocity given as a function of the moments of all of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation

from ..evolution.starts import empirical_moments
from .circle_velocities import VelocitySetting
from .drift import MomentDrift, PairDrift, confined_alone, truncation
from .settings import Setting
from .velocity_pairs import VelocityPairs

Floats = NDArray[np.float64]


class MomentParticles(VelocityPairs):
    """The particles of one replica on the circle, each counted in the moments; parameters are those of the base."""

    def velocity(self, sources: Floats, points: Floats) -> Floats:
        """Return the drift at points (n,) among particles at angles (N,)."""
        problem, law = self._problem, self._law
        moments = empirical_moments(sources, law.degree).conj()
        velocity = float(problem.fixed_coupling) * law.velocity(problem.domain, points, moments)
        if problem.confinement is not None:
            velocity -= np.asarray(problem.confinement.slope(points), dtype=float)
        return np.asarray(velocity)

    @property
    def _law(self) -> Any:
        return self._problem.velocity


@dataclass(frozen=True, eq=False)
class MomentSetting(VelocitySetting):
    """The circle with a velocity that is a function of moments, evaluated at the particles."""

    def particles(self, positions: Floats, generator: np.random.Generator) -> VelocityPairs:
        """Return the particles at positions whose steps are watched."""
        return MomentParticles(self.problem, self.modes.cells, self.degrees, positions, generator)

    def cloud(self, positions: Floats, generator: np.random.Generator) -> Any:
        """Return the particles at positions, with their drift and their noise."""
        return self.particles(positions, generator)

    def record(self, cloud: Any) -> dict[str, Floats]:
        """Return the moments of the particles by name, and record the slope of the drift."""
        cloud.watch()
        return super().record(cloud)

    def described(self) -> dict[str, Any]:
        """Return the options of the drift, for the provenance."""
        return {"kernel": self.kernel, "cells": self.modes.cells, "drift": "function of moments"}


def moment_setting(
    problem: Equation, drift: MomentDrift | PairDrift | None, degrees: int, particles: int
) -> Setting:
    """Return the setting of a problem on the circle whose velocity is a function of moments.

    Raises
    ------
    InvalidInput
        If the coupling is free, or a way of summing the drift is given.
    """
    confined = confined_alone(problem, drift)
    return MomentSetting(problem, MomentDrift(), truncation(confined, MomentDrift(), degrees), degrees)
