r"""Particles on the circle that follow a velocity law, by sums over all pairs, each particle with itself as well.

.. math:: b(x) = \omega + \kappa\, s\, h'(x) - V'(x), \qquad h'(x) = \frac1N\sum_j k'(\cos(X_j - x))\,\sin(X_j - x),

k being the drive of one particle as a function of the inner product, and s the speed by the means over all j.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meanfield import ComputationFailed, Equation

from ..evolution.starts import empirical_moments
from .clouds import PAIRS_AT_ONCE, CircleParticles, in_radians

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

# Half the distance over which the slope of the drift is taken by differences.
HALF_DISTANCE = 1e-4


class VelocityPairs(CircleParticles):
    """The particles of one replica.

    Parameters
    ----------
    problem
        The equation.
    cells
        Number of cells, in which places are measured.
    degrees
        Moments are recorded up to this degree.
    positions : (N,) float
        In cells; they are moved in place.
    generator
        Source of the noise.

    Attributes
    ----------
    contraction
        Largest product of a step and the slope -b', of those at the times of records.
    """

    def __init__(self, problem: Equation, cells: int, degrees: int, positions: Floats, generator: Any) -> None:
        super().__init__(problem.noise, cells, positions, generator)
        self.contraction = 0.0
        self._problem, self._degrees, self._step = problem, degrees, 0.0

    @property
    def positions(self) -> Floats:
        """The positions (N,), in cells."""
        return self.places

    def velocity(self, sources: Floats, points: Floats) -> Floats:
        """Return the drift at points (n,) among particles at angles (N,)."""
        return velocity_among(self._problem, sources, points)

    def drift(self, step: float, watched: bool = True) -> Floats:
        """Return the displacements by the drift of a step; its slope is taken when particles are recorded."""
        if watched:
            self._step = step
        angles = self.places * (2.0 * np.pi / self._cells)
        return self.velocity(angles, angles) * (step * self._cells / (2.0 * np.pi))

    def moments(self) -> Complexes:
        """Return c_0, c_1, ... of the particles."""
        return empirical_moments(in_radians(self.places, self._cells), self._degrees)

    def watch(self) -> None:
        """Record the largest slope of the drift at the positions times the last step."""
        self.contraction = max(self.contraction, self.contraction_by(self._step))

    def contraction_by(self, step: float) -> float:
        """Return the step times the largest slope -b' at the particles, at least 0."""
        angles = self.places * (2.0 * np.pi / self._cells)
        before, after = (self.velocity(angles, angles + shift) for shift in (-HALF_DISTANCE, HALF_DISTANCE))
        return step * float((before - after).max(initial=0.0)) / (2.0 * HALF_DISTANCE)


def velocity_among(problem: Equation, sources: Floats, points: Floats) -> Floats:
    """Return the drift at points (n,) among particles at angles (N,), in O(n N).

    Raises
    ------
    ComputationFailed
        If a velocity is not finite.
    """
    rows = max(1, PAIRS_AT_ONCE // sources.size)
    velocity: Floats = np.empty_like(points)
    ahead = points + problem.velocity.lag
    for start in range(0, points.size, rows):
        part = slice(start, start + rows)
        velocity[part] = _regulated(problem, sources - ahead[part, np.newaxis])
    velocity *= float(problem.fixed_coupling)
    velocity += problem.velocity.frequency
    if problem.confinement is not None:
        velocity -= np.asarray(problem.confinement.slope(points), dtype=float)
    require_finite(problem, velocity)
    return velocity


def require_finite(problem: Equation, velocity: Floats) -> None:
    """Refuse velocities that are not finite.

    Raises
    ------
    ComputationFailed
        If one is not.
    """
    if not math.isfinite(float(np.abs(velocity).sum())):
        raise ComputationFailed(
            f"the velocity of {problem.velocity.name} is not finite at a particle, where the average it divides by "
            "vanishes"
        )


def _regulated(problem: Equation, differences: Floats) -> Floats:
    """Return speed times slope at points, from the differences (n, N) of all particles to them."""
    law = problem.velocity
    drive, derivative, radial = law.kernels(np.cos(differences))
    slope = (derivative * np.sin(differences)).mean(axis=1)
    averaged = None if radial is None else radial.mean(axis=1)
    with np.errstate(all="ignore"):
        return np.asarray(law.speed(drive.mean(axis=1), slope**2, averaged) * slope)
