r"""The coefficients of the moment equations on the sphere by degree.

With :math:`p_l` the moment with :math:`P_l`, or with any harmonic of degree l normalised to the mean square
:math:`1/N_l`, the field :math:`f = -(\kappa W*\rho + V)/D` has there the coefficient
:math:`g_l = N_l\lambda_l p_l - v_l/D` with :math:`\lambda_l = -\kappa w_l/(N_l D)`.
"""

import math

import numpy as np

from meanfield import Equation
from meanfield.equations import Interaction, gradient_at_uniform

from ...bases import EPS
from ..multiplicities import multiplicities
from ..units import diffuses, rate_unit

# Dimensions in which coefficients of orthonormal functions are kept accurate beside the moments. Below, a degree
# has so few harmonics that it is the same; above, double precision does not hold them.
WEIGHTED = range(4, 129)
# Degrees whose share of the field's slope is below this are not significant.
SIGNIFICANT = EPS / 16.0
EXPLICIT_SHARE = 0.3
EXPLICIT_LEAST = 50.0


class SphereRates:
    """Coefficients by cell j = 1..K, the degree being l = n j.

    Attributes
    ----------
    problem
        The equation.
    unit : float
        The unit of rates, which is D unless there is no noise, and stands in its place below.
    interaction
        The coefficients over that unit.
    degrees, harmonics, eigenvalues : (K,) float
        l, N_l and l (l + d - 2).
    attraction, force : (K,) float
        N_l lambda_l and -v_l/D, so that g = attraction p + force; of a confinement off the axis the lengths.
    linear, constant : (K,) float
        L = -D l (l + d - 2) (1 - lambda_l), and the constant part of the time derivative.
    """

    def __init__(self, problem: Equation, degree: int, symmetry: int = 1) -> None:
        domain = problem.domain
        self.problem = problem
        degrees = np.arange(symmetry, symmetry * degree + 1, symmetry)
        self.degrees = degrees.astype(float)
        self.harmonics = multiplicities(domain, symmetry * degree)[degrees]
        self.eigenvalues = self.degrees * (self.degrees + domain.dimension - 2)
        self.unit = unit = rate_unit(problem)
        self.interaction = interaction = Interaction(problem, unit)
        attraction = interaction.extended_attractions(symmetry * degree)[degrees]
        self.attraction = attraction.astype(float)
        strengths = (attraction / self.harmonics).astype(float)
        self.linear = -unit * self.eigenvalues * (diffuses(problem) - strengths)
        self.confined = problem.confinement is not None
        forces = interaction.forces if problem.zonal else interaction.force_lengths
        self.force = forces(symmetry * degree)[degrees]
        self.constant = unit * self.eigenvalues * self.force / self.harmonics

    def explicit_steps(self) -> float:
        r"""Return an estimate of the number of steps in a unit of time if N is explicit, as on the circle.

        :math:`|dP_l/d\theta| \le l` bounds the field's slope; the variance of a cluster determines its resolution.
        """
        attraction = np.maximum(self.attraction, 0.0)
        slope = float(self.degrees @ attraction) + float(self.degrees @ np.abs(self.force))
        modes = 8.5 * math.sqrt(curvature(self.problem, int(self.degrees[-1])))
        return self.unit * (EXPLICIT_LEAST + EXPLICIT_SHARE * modes * slope)


def curvature(problem: Equation, degree: int) -> float:
    r"""Return :math:`\sum_l N_l\lambda_l P_l'(1)` over the attractive degrees, :math:`P_l'(1) = l(l+d-2)/(d-1)`.

    It is the curvature of the field of a point; a cluster has about its inverse as variance in each direction.
    """
    dimension = problem.domain.dimension
    degrees = np.arange(degree + 1.0)
    attractive = np.maximum(Interaction(gradient_at_uniform(problem), rate_unit(problem)).attractions(degree), 0.0)
    return float(degrees * (degrees + dimension - 2) @ attractive) / (dimension - 1)


def significant_degree(rates: SphereRates) -> int:
    """Return the last degree that is significant in the slope of the field of any density."""
    sizes = rates.degrees * (np.abs(rates.attraction) + np.abs(rates.force))
    significant = np.flatnonzero(sizes > SIGNIFICANT * sizes.max())
    return int(rates.degrees[significant[-1]]) if significant.size else 1
