"""The stationary equation on densities about an axis, sized by the decay of potential and confinement."""

import math

from meanfield import Equation

from ..bases import ZonalBasis
from ..equation import SLOW, StationaryEquation, starting_size
from ..geometry import Geometry
from ..significant import confining_error, confining_symmetry

# Nodes to start with; transforms are dense products.
FEWEST = 64


def zonal_equation(
    geometry: Geometry,
    problem: Equation,
    symmetry: int = 1,
    sign: int = 1,
    *,
    even: bool = True,
    modes: int = 0,
    unknowns: int = 0,
    negligible: bool = False,
) -> StationaryEquation | None:
    """Return the equation on densities about an axis, see :meth:`solvers.geometry.Geometry.equation`.

    Parameters
    ----------
    symmetry
        2 for densities even about the equator.
    even
        Without effect: all of them are symmetric about the axis.
    """
    size = starting_size(problem, symmetry, FEWEST, modes=modes, unknowns=unknowns, negligible=negligible)
    if size is None:
        return None
    basis = ZonalBasis(problem.domain, size.significant.degrees // symmetry, size.nodes, symmetry, size.confinement)
    return StationaryEquation(problem, basis, sign, geometry, size.significant, confining_error(problem, SLOW))


def confined_symmetry(problem: Equation) -> int:
    """Return 2 if there is no confinement or it is even about the equator, else 1."""
    return math.gcd(confining_symmetry(problem), 2)
