r"""Points on the circle that move with the velocity of the density that they carry.

In the angle :math:`\phi = n\theta` of a density of n-fold symmetry with the moments
:math:`z_j = \int e^{ij\phi}\rho`, the unit u of rates and the coefficients of
:class:`~solvers.evolution.rates.Rates`,

.. math:: \dot\phi = -2 n^2 u \sum_{j\ge1} \mathrm{Im}\bigl[\overline{(j\lambda_{nj} z_j + \tfrac j2 \bar f_{nj})}\,
          e^{ij\phi}\bigr] .

Points of an even density fill half of the circle, with twice the mass.
"""

import math

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation

from ...bases import Floats
from ...bases.transforms import waves_at
from ..flow import DriveVelocity
from ..initial import Initial
from ..rates import Rates
from ..system import cells_of

Complexes = NDArray[np.complex128]


class _CircleFlow:
    """The flow of a density on the circle, see :class:`~solvers.evolution.flow.Flow`; base of those by law.

    Parameters
    ----------
    start
        The first density.
    even, symmetry
        Its symmetry.
    degree
        Degrees of the field, in units of the symmetry.
    axis
        Angle by which the density was turned.
    """

    def __init__(self, start: Initial, even: bool, symmetry: int, degree: int, axis: float) -> None:
        self.interval = (0.0, math.pi) if even else (0.0, 2.0 * math.pi)
        self.symmetry = symmetry
        size = (start.cosine.size - 1) // symmetry
        self._first = cells_of(start.cosine, symmetry, size) - 1j * cells_of(start.sine, symmetry, size)
        self.reach = size + degree
        self._even, self._degree, self._axis = even, degree, axis

    def masses(self, labels: Floats) -> Floats:
        """Return the first density of labels, so that its integral over the interval is one."""
        ratio, total = np.exp(1j * labels), np.zeros(labels.size, dtype=complex)
        for moment in self._first[::-1]:
            total = (total + moment) * ratio
        share = 1.0 if self._even else 0.5
        return np.asarray((1.0 + 2.0 * total.real) * share / math.pi)

    def moments(self, positions: Floats, masses: Floats, degree: int) -> tuple[Floats, Floats]:
        """Return cosine and sine moments by degree, from 0 to at least the given one, of points with masses."""
        cells = -(-degree // self.symmetry)
        waves = self._averaged(waves_at(positions, cells), masses)
        cosine, sine = np.zeros((2, self.symmetry * cells + 1))
        cosine[:: self.symmetry], sine[:: self.symmetry] = waves.real, waves.imag
        return cosine, sine

    def images(self, angles: Floats) -> Floats:
        """Return the angles, (..., M), before any rotation, of points (..., L) and all their images by symmetry."""
        both = np.concatenate([-angles, angles], axis=-1) if self._even else angles
        turns = 2.0 * math.pi * np.arange(self.symmetry)
        return self._axis + np.concatenate([(both + turn) / self.symmetry for turn in turns], axis=-1)

    def density(self, labels: Floats, positions: Floats, stretch: Floats) -> Floats:
        """Return the density at points from its labels and the derivative of positions in the labels."""
        return self.masses(labels) / stretch / (2.0 if self._even else 1.0)

    def _averaged(self, waves: Complexes, masses: Floats) -> Complexes:
        means = waves @ masses
        return np.asarray(means.real + 0j if self._even else means)


class CircleFlow(_CircleFlow):
    """The flow by the gradient law of a potential, with the degrees of its field; others are of the base."""

    def __init__(
        self, problem: Equation, start: Initial, even: bool, symmetry: int, degree: int, axis: float
    ) -> None:
        super().__init__(start, even, symmetry, degree, axis)
        self._rates = rates = Rates(problem, degree, symmetry)
        field = rates.force + 0j
        field[: self._first.size] += rates.attraction[: self._first.size] * self._first[:degree]
        self._at_rest = not np.any(field)

    def velocity(self, time: float, positions: Floats, masses: Floats) -> Floats:
        """Return the velocities of points with masses, exactly zero if the first density has no field."""
        if self._at_rest:
            return np.zeros(positions.size)
        waves = waves_at(positions, self._degree)[1:]
        field = self._rates.attraction * self._averaged(waves, masses) + self._rates.force.conj()
        return np.asarray(-2.0 * self._rates.unit * (field.conj() @ waves).imag)


class CircleLawFlow(_CircleFlow):
    """The flow by another velocity law, of any degree."""

    def __init__(self, problem: Equation, start: Initial, even: bool, symmetry: int, axis: float) -> None:
        self._law = DriveVelocity(problem, even, symmetry)
        super().__init__(start, even, symmetry, self._law.degree, axis)

    def velocity(self, time: float, positions: Floats, masses: Floats) -> Floats:
        """Return the velocities of points with masses at a time."""
        return self._law.among(time, positions, masses)
