"""The protocol of flows of labelled points that carry the mass of a density with one angle."""

from typing import Protocol

import numpy as np

from meanfield import Equation, InvalidInput, Potential
from meanfield.equations import Interaction

from ..bases import EPS, Floats
from .medium import medium_of

# Degrees over which fields are summed, at most.
MOST_DEGREES = 512


class Flow(Protocol):
    """Points of one angle that move with the velocity of the density that they carry.

    Angles are in units of the symmetry: of a density of n-fold symmetry the points stand for n times the angle.

    Attributes
    ----------
    interval : (float, float)
        Labels, which are the first positions, lie between these.
    reach : int
        Degrees of the first density and the field together, in units of the symmetry.
    symmetry : int
        n.
    """

    interval: tuple[float, float]
    reach: int
    symmetry: int

    def masses(self, labels: Floats) -> Floats:
        """Return the first density of labels, so that its integral over the interval is one."""

    def velocity(self, time: float, positions: Floats, masses: Floats) -> Floats:
        """Return the velocities of points with masses at a time."""

    def moments(self, positions: Floats, masses: Floats, degree: int) -> tuple[Floats, Floats]:
        """Return cosine and sine moments by degree, from 0 to at least the given one, of points with masses."""

    def images(self, angles: Floats) -> Floats:
        """Return the angles, (..., M), before any rotation, of points (..., L) and all their images by symmetry."""

    def density(self, labels: Floats, positions: Floats, stretch: Floats) -> Floats:
        """Return the density at points from its labels and the derivative of positions in the labels."""


class DriveVelocity:
    """Velocities of points under any velocity law with a drive, in the field of the masses that they carry.

    Parameters
    ----------
    problem
        The equation, with its coupling.
    even
        Whether points stand for both signs of their angle, as they do on all spheres.
    symmetry
        n; angles are n times those of the circle. On spheres 2 for points that stand for both sides of the equator,
        whose angles are their own.

    Raises
    ------
    InvalidInput
        If the multipliers decay so slowly that the velocity has a kink or a jump, also those of the confinement.
    """

    def __init__(self, problem: Equation, even: bool, symmetry: int) -> None:
        _confining_degree(problem)
        domain, law = problem.domain, problem.velocity
        self._confinement, self._turning = problem.confinement, symmetry if domain.turns else 1
        self._frequency = float(law.frequency)
        self._medium = medium_of(law, float(problem.fixed_coupling), domain, even, self._turning)
        self._mirrored = symmetry == 2 and not domain.turns

    @property
    def degree(self) -> int:
        """Degrees of the field, in units of the turning symmetry."""
        return self._medium.degree

    def among(self, time: float, positions: Floats, masses: Floats) -> Floats:
        """Return the velocities of points with masses at a time."""
        medium, angles = self._medium, positions / self._turning
        waves = medium.waves(angles)
        moments = np.asarray(waves @ masses, dtype=np.complex128)
        if medium.even:
            moments.imag = 0.0
        if self._mirrored:
            moments[1::2] = 0.0
        velocity = medium.law.pace(time) * medium.velocity(waves, medium.fields(moments)) + self._frequency
        if self._confinement is not None:
            velocity = velocity - np.asarray(self._confinement.slope(angles), dtype=float)
        return np.asarray(self._turning * velocity)


def field_degree(problem: Equation) -> int:
    """Return the degree beyond which the slope of the field of a gradient law is rounding.

    Raises
    ------
    InvalidInput
        If that is more than ``MOST_DEGREES``.
    """
    interaction = Interaction(problem, 1.0)
    degree = _followed(_last(interaction.attractions(interaction.significant_degree)), problem.potential)
    return max(degree, _confining_degree(problem), 1)


def _confining_degree(problem: Equation) -> int:
    """Return the degree beyond which the slope of the confinement is rounding, 0 without one."""
    if problem.confinement is None:
        return 0
    # Twice as many, since those of every other degree may vanish.
    return _followed(_last(Interaction(problem, 1.0).phased_forces(2 * MOST_DEGREES)), problem.confinement)


def _followed(degree: int, of: Potential) -> int:
    """Return a degree, refusing more than ``MOST_DEGREES``."""
    if degree > MOST_DEGREES:
        raise InvalidInput(
            f"Characteristics() sums velocities over at most {MOST_DEGREES} degrees, and {of!r} has more than "
            "that; take a smooth potential, or leave the method out"
        )
    return degree


def _last(coefficients: Floats) -> int:
    """Return the last degree from which on the sum of the sizes of the slopes is no rounding."""
    sizes = np.arange(coefficients.size) * np.abs(coefficients)
    beyond = np.cumsum(sizes[::-1])[::-1]
    return int(np.flatnonzero(beyond > EPS * sizes.sum()).max(initial=0))
