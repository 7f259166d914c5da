"""The systems of zonal densities on a sphere, by symmetry and dimension."""

import numpy as np

from meanfield import Equation
from meanfield.equations import Capability

from ...bases import Floats
from ..system import System
from .hierarchy import HierarchySystem
from .laws import ZonalLawSystem, ZonalMomentSystem
from .rates import SphereRates, significant_degree
from .zonal import ZonalSystem

# Up to this dimension densities span few enough decades for quadrature.
BY_QUADRATURE = 8
# The tables of products grow with the square of the number of significant degrees of the potential.
LARGEST_SIGNIFICANT = 128


def system_for(problem: Equation, cosine: Floats, degree: int) -> System:
    """Return the smallest system whose symmetry a zonal density has and keeps.

    A zonal density with even degrees only is even about the equator and stays so, unless the confinement is not, or
    the velocity has no drive and may not be.
    ``degree`` is counted without symmetry.
    """
    odd = bool(np.any(cosine[1::2])) or bool(problem.lacks(Capability.DRIVE))
    if problem.confinement is not None:
        odd = odd or bool(np.any(problem.confinement.multipliers(problem.domain, 4095)[1::2]))
    symmetry = 1 if odd else 2
    return system_of(problem, max(16, -(-degree // symmetry)), symmetry)


def system_of(problem: Equation, degree: int, symmetry: int) -> System:
    """Return the system of zonal densities of a degree and a symmetry."""
    if problem.lacks(Capability.DRIVE):
        return ZonalMomentSystem(problem, degree, symmetry)
    if problem.lacks(Capability.GRADIENT):
        return ZonalLawSystem(problem, degree, symmetry)
    significant = significant_degree(SphereRates(problem, LARGEST_SIGNIFICANT))
    by_products = problem.domain.dimension > BY_QUADRATURE and significant <= LARGEST_SIGNIFICANT // 2
    return (HierarchySystem if by_products else ZonalSystem)(problem, degree, symmetry)
