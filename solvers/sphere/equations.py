"""The basis of densities about an axis of a sphere."""

from meanfield import Equation

from ..bases import Basis, ZonalBasis
from ..sizing import Size

# Nodes to start with; transforms are dense products.
FEWEST = 64


def basis_of(problem: Equation, symmetry: int, size: Size, *, even: bool) -> Basis:
    """Return the basis of the densities about an axis, which all are even about it; of symmetry 2 also in u."""
    return ZonalBasis(problem.domain, size.cells, size.nodes, symmetry, size.confinement)
