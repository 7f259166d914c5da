r"""Points on the meridian of a sphere that move with the velocity of the zonal density that they carry.

With :math:`p_l = \int P_l(\cos\theta)\rho`, the unit u of rates and the coefficients of
:class:`~solvers.evolution.sphere.rates.SphereRates`,

.. math:: \dot\theta = u \sum_l (N_l\lambda_l p_l + f_l)\,\frac{d}{d\theta} P_l(\cos\theta), \qquad
          \frac{dP_l}{d\theta} = -\frac{l(l+d-2)}{d-1}\,\sin\theta\,P_{l-1}^{(d+2)} .

Points of a density even about the equator fill the northern half, with twice the mass.
"""

import math

import numpy as np

from meanfield import Equation
from meanfield.harmonics import polynomials_at, zonal_density

from ...bases import Floats
from ..descent import per_unit
from ..flow import DriveVelocity
from ..initial import Initial
from .rates import SphereRates


class _ZonalFlow:
    """The flow of a zonal density on a sphere, see :class:`~solvers.evolution.flow.Flow`; base of those by law.

    Parameters
    ----------
    problem, start
        The equation and the first density.
    symmetry
        2 for densities even about the equator, else 1.
    degree
        Degrees of the field.
    """

    symmetry = 1

    def __init__(self, problem: Equation, start: Initial, symmetry: int, degree: int) -> None:
        self._problem, self._first = problem, start.cosine
        self._dimension = dimension = problem.domain.dimension
        self._half = symmetry == 2
        self.interval = (0.0, 0.5 * math.pi if self._half else math.pi)
        self.reach = start.cosine.size + degree + dimension
        surface = math.lgamma(0.5 * dimension) - math.lgamma(0.5 * (dimension - 1))
        self._share = math.exp(surface) / math.sqrt(math.pi) * (2.0 if self._half else 1.0)

    def masses(self, labels: Floats) -> Floats:
        """Return the first density of labels, so that its integral over the interval is one."""
        values = zonal_density(self._first, self._dimension, labels)
        return np.asarray(self._share * values * np.sin(labels) ** (self._dimension - 2))

    def moments(self, positions: Floats, masses: Floats, degree: int) -> tuple[Floats, Floats]:
        """Return moments by degree, from 0 to the given one, of points with masses, and zeros."""
        cosine = polynomials_at(degree, self._dimension, positions) @ masses
        if self._half:
            cosine[1::2] = 0.0
        return cosine, np.zeros_like(cosine)

    def images(self, angles: Floats) -> Floats:
        """Return the angles, (..., M), before any rotation, of points (..., L) and all their images by symmetry."""
        return np.concatenate([angles, math.pi - angles], axis=-1) if self._half else angles

    def density(self, labels: Floats, positions: Floats, stretch: Floats) -> Floats:
        """Return the density at points from its labels and the derivative of positions in the labels."""
        values = per_unit(self._problem.domain, zonal_density(self._first, self._dimension, labels))
        return np.asarray(values * (np.sin(labels) / np.sin(positions)) ** (self._dimension - 2) / stretch)


class ZonalFlow(_ZonalFlow):
    """The flow by the gradient law of a potential; parameters are those of the base."""

    def __init__(self, problem: Equation, start: Initial, symmetry: int, degree: int) -> None:
        super().__init__(problem, start, symmetry, degree)
        self._rates = rates = SphereRates(problem, -(-degree // symmetry), symmetry)
        self._degrees = rates.degrees.astype(int)
        self._factors = -rates.degrees * (rates.degrees + self._dimension - 2) / (self._dimension - 1)
        first = np.zeros(int(self._degrees[-1]) + 1)
        first[: self._first.size] = self._first[: first.size]
        self._at_rest = not np.any(rates.attraction * first[self._degrees] + rates.force)

    def velocity(self, time: float, positions: Floats, masses: Floats) -> Floats:
        """Return the velocities of points with masses, exactly zero if the first density has no field."""
        if self._at_rest:
            return np.zeros(positions.size)
        last, rates = int(self._degrees[-1]), self._rates
        means = polynomials_at(last, self._dimension, positions)[self._degrees] @ masses
        slopes = polynomials_at(last - 1, self._dimension + 2, positions)[self._degrees - 1]
        field = (rates.attraction * means + rates.force) * self._factors
        return np.asarray(rates.unit * np.sin(positions) * (field @ slopes))


class ZonalLawFlow(_ZonalFlow):
    """The flow by another velocity law, of any degree."""

    def __init__(self, problem: Equation, start: Initial, symmetry: int) -> None:
        self._law = DriveVelocity(problem, True, symmetry)
        super().__init__(problem, start, symmetry, self._law.degree)

    def velocity(self, time: float, positions: Floats, masses: Floats) -> Floats:
        """Return the velocities of points with masses at a time."""
        return self._law.among(time, positions, masses)
