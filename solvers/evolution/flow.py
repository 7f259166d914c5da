"""The protocol of flows of labelled points that carry the mass of a density with one angle."""

from typing import Protocol

import numpy as np

from meanfield import Equation
from meanfield.equations import Interaction

from ..bases import EPS, Floats

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

    def velocity(self, positions: Floats, masses: Floats) -> Floats:
        """Return the velocities of points with masses."""

    def moments(self, positions: Floats, masses: Floats, degree: int) -> tuple[Floats, Floats]:
        """Return cosine and sine moments by degree, from 0 to at least the given one, of points with masses."""

    def density(self, labels: Floats, positions: Floats, stretch: Floats) -> Floats:
        """Return the density at points from its labels and the derivative of positions in the labels."""


def field_degree(problem: Equation) -> int:
    """Return the degree beyond which the slope of the field is rounding, or more than ``MOST_DEGREES``."""
    interaction = Interaction(problem, 1.0)
    attractions = interaction.attractions(interaction.significant_degree)
    forces = interaction.phased_forces(MOST_DEGREES + 1)
    return max(_last(attractions), _last(forces), 1)


def _last(coefficients: Floats) -> int:
    """Return the last degree from which on the sum of the sizes of the slopes is no rounding."""
    sizes = np.arange(coefficients.size) * np.abs(coefficients)
    beyond = np.cumsum(sizes[::-1])[::-1]
    return int(np.flatnonzero(beyond > EPS * sizes.sum()).max(initial=0))
