r"""Particles on a sphere that follow a velocity given as a function of the angle to an axis and of moments.

Densities about the north pole e move along meridians, :math:`\dot\theta = \kappa v(\theta, p) - V'(\theta)` with
:math:`p_l = \int P_l(\langle x, e\rangle)\,d\rho`, and so do particles, with their empirical moments:

.. math:: dX = (\kappa v(\theta, p) - V'(\theta))\,\partial_\theta X\,dt + \sqrt{2D}\,dB, \qquad
          \partial_\theta X = \frac{\cos\theta\,X - e}{\sin\theta}, \quad \cos\theta = \langle X, e\rangle .

The law of the angles does not depend on the azimuths, so that particles need no axis of their own.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation

from ..drift import MomentDrift, PairDrift, confined_alone
from .fields import Field, block_of, confining_force, zonal_values
from .setting import LARGEST_HARMONIC, OrdinarySphereSetting
from .significant import SphereDegrees, significant_degrees
from .velocities import VelocitySphereSetting

Floats = NDArray[np.float64]


class MeridianField:
    """The drift by a velocity along meridians from the moments about the north pole, and by a confinement."""

    def __init__(self, problem: Equation, significant: SphereDegrees) -> None:
        self._problem, self._law = problem, _law_of(problem)
        self._confinement = confining_force(problem, significant)
        self._moments: Floats = np.zeros(self._law.degree + 1)
        self.block = block_of(8)

    def gather(self, positions: Floats) -> None:
        """Compute the moments p_l of particles (d, N) about the north pole."""
        rows = zip(range(self._moments.size), zonal_values(positions[-1], positions.shape[0]), strict=False)
        self._moments = np.array([values.mean() for _, values in rows])

    def drift(self, points: Floats, own: slice | None = None) -> Floats:
        """Return the drift at points (d, n), whose velocity vanishes at the poles."""
        height, across = points[-1], np.sqrt((points[:-1] ** 2).sum(axis=0))
        velocity = self._law.velocity(self._problem.domain, np.arctan2(across, height), self._moments)
        velocity = float(self._problem.fixed_coupling) * velocity
        outwards = np.divide(height * velocity, across, out=np.zeros_like(velocity), where=across > 0.0)
        result = np.concatenate([outwards * points[:-1], [-across * velocity]])
        self._confinement.add(points, result)
        return result


@dataclass(frozen=True, eq=False)
class MeridianSetting(VelocitySphereSetting):
    """A sphere of any dimension with a velocity along meridians."""

    def field(self) -> Field:
        """Return the field of the drift, before particles are gathered."""
        return MeridianField(self.problem, self.significant)

    def described(self) -> dict[str, Any]:
        """Return the options of the drift, for the provenance."""
        return {"kernel": self.kernel, "drift": "function of moments about the north pole"}


@dataclass(frozen=True, eq=False)
class OrdinaryMeridianSetting(MeridianSetting, OrdinarySphereSetting):
    """The ordinary sphere with a velocity along meridians, and all moments recorded."""


def meridian_setting(
    problem: Equation, drift: MomentDrift | PairDrift | None, degrees: int, particles: int
) -> MeridianSetting:
    """Return the setting of a problem on a sphere whose velocity is a function of the angle to the north pole.

    Raises
    ------
    InvalidInput
        If the coupling is free, or a way of summing the drift is given.
    """
    confined = confined_alone(problem, drift)
    significant = significant_degrees(confined, MomentDrift(), LARGEST_HARMONIC)
    kind = OrdinaryMeridianSetting if problem.domain.has_azimuth else MeridianSetting
    return kind(problem, MomentDrift(), significant, degrees)


def _law_of(problem: Equation) -> Any:
    """Return the velocity law, which has a last moment."""
    return problem.velocity
