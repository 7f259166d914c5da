r"""Systems for the moments of zonal densities on spheres that follow any velocity law.

For a velocity along the slope of a drive, with :math:`T_l = \sqrt{1-u^2}\,P_l'(u) = -\partial_\theta P_l`, drive
:math:`h = -\sum w_l p_l P_l` and radial drive :math:`R = \sum k_l p_l P_l`,

.. math:: \dot p_l = -D\,l(l+d-2)\,p_l + \Bigl\langle \rho\,\bigl(\kappa\,s(h, h'^2, R)\,h' - V'\bigr)\,T_l
          \Bigr\rangle, \qquad h' = -\sum_l w_l p_l T_l, \quad V' = \sum_l v_l T_l,

a mean over the uniform probability. Speeds are no polynomials, so that the rule is that of twice the degrees kept.
"""

import math
from typing import Any

import numpy as np

from meanfield import Equation

from ...bases import Floats
from ..laws import LawSystem
from ..multiplicities import multiplicities
from ..system import AxialSystem
from ..units import rate_unit
from .zonal import LARGEST, largest_degree, zonal_tables

# Seconds of a product with one number of a table, and of the rest of a step, for the estimate of costs.
PRODUCT, STEP = 2e-9, 1e-4
# Drives below this share of the largest are rounding noise.
FLOOR = 1e-15


class _ZonalSystem(LawSystem, AxialSystem):
    """Zonal densities: the unknowns are p_n, p_2n, ..., p_nK; base of those by a drive and by moments.

    Parameters
    ----------
    problem
        The equation on a sphere, with its coupling.
    degree
        K.
    symmetry
        2 for densities even about the equator, which have even degrees only; otherwise 1.
    """

    def __init__(self, problem: Equation, degree: int, symmetry: int = 1) -> None:
        self.problem, self.degree, self.size, self.symmetry = problem, degree, degree, symmetry
        domain = problem.domain
        dimension, last = domain.dimension, symmetry * degree
        self.largest = min(LARGEST, largest_degree(dimension))
        self.unit = rate_unit(problem) * symmetry * (symmetry + dimension - 2)
        self.degrees = degrees = np.arange(symmetry, last + 1, symmetry)
        self.linear = -problem.noise * degrees * (degrees + dimension - 2.0)
        self._values, self._slopes, self._weights = zonal_tables(dimension, 2 * degree, symmetry)
        self._values, self._slopes = self._values[:, :degree], self._slopes[:, :degree]
        self._numbers = multiplicities(domain, last)[degrees]
        self._force: Floats | float = 0.0
        if problem.confinement is not None:
            self._force = -self._slopes @ np.asarray(problem.confinement.multipliers(domain, last)[degrees], float)

    def velocity(self, unknown: Floats) -> Floats:
        """Return the velocity over the coupling on the nodes."""
        raise NotImplementedError

    def advected(self, unknown: Floats, pace: float) -> Floats:
        """Return the derivative by advection with the velocity times a factor, and by the confinement."""
        density = 1.0 + self._values @ (self._numbers * unknown)
        velocity = pace * self.problem.fixed_coupling * self.velocity(unknown)
        flux = density * (velocity + self._force)
        return np.asarray((self._weights * flux) @ self._slopes)

    def costs(self, duration: float) -> tuple[float, float]:
        """Return estimates of the seconds that LSODA, which has no Jacobian here, and exponential formulas take."""
        return math.inf, self.steps(duration) * (STEP + PRODUCT * self._values.size)

    def resized(self, degree: int) -> "_ZonalSystem":
        """Return the same system with another K."""
        return type(self)(self.problem, degree, self.symmetry)


class ZonalLawSystem(_ZonalSystem):
    """Zonal densities that follow a velocity along the slope of a drive; parameters are those of the base."""

    def __init__(self, problem: Equation, degree: int, symmetry: int = 1) -> None:
        super().__init__(problem, degree, symmetry)
        domain, law, degrees, last = problem.domain, problem.velocity, self.degrees, symmetry * degree
        kernel = law.drive(domain, last)
        self._kernel, self._mean = kernel[degrees], float(kernel[0])
        radial = law.radial(domain, last)
        self._radial = None if radial is None else (float(radial[0]), np.asarray(radial[degrees], dtype=float))

    def velocity(self, unknown: Floats) -> Floats:
        """Return the velocity over the coupling on the nodes."""
        drive = self._mean + self._values @ (self._kernel * unknown)
        # The mean of the drive has its sign, that of beta for attention.
        sizes = math.copysign(1.0, self._mean) * drive
        drive = math.copysign(1.0, self._mean) * np.maximum(sizes, FLOOR * float(sizes.max()))
        slope = self._slopes @ (self._kernel * unknown)
        radial = None
        if self._radial is not None:
            radial = self._radial[0] + self._values @ (self._radial[1] * unknown)
        return np.asarray(self.problem.velocity.speed(drive, slope * slope, radial) * slope)


class ZonalMomentSystem(_ZonalSystem):
    """Zonal densities that follow a velocity given by their moments; parameters are those of the base.

    The symmetry is 1: the velocity is not taken to be even about the equator.
    """

    def __init__(self, problem: Equation, degree: int, symmetry: int = 1) -> None:
        super().__init__(problem, degree, symmetry)
        # P_1 and T_1 are cosine and sine.
        self._angles: Floats = np.arctan2(self._slopes[:, 0], self._values[:, 0])

    def velocity(self, unknown: Floats) -> Floats:
        """Return the velocity over the coupling on the nodes."""
        law: Any = self.problem.velocity
        moments = np.zeros(law.degree + 1)
        moments[0] = 1.0
        moments[1 : unknown.size + 1] = unknown[: law.degree]
        # T_l is minus the derivative of P_l in the angle.
        return -np.asarray(law.velocity(self.problem.domain, self._angles, moments))
