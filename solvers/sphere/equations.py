"""The bases of densities of spheres: those about an axis, and those of the symmetries of a confinement."""

from typing import Any

import numpy as np

from meanfield import Equation, InvalidInput, NotResolved
from meanfield.equations import Capability, require

from ..bases import Basis, InvariantBasis, ZonalBasis
from ..bases.limits import MAX_HARMONIC_DEGREE, MAX_SPHERICAL_DEGREE
from ..equations.significant import require_smooth
from ..equations.sizing import Size, confining_field
from .groups import LARGEST_ORDER, searched_groups

# Nodes to start with; transforms are dense products.
FEWEST = 64
# A confinement without an axis below this, in units of D, turns states by less than their equation is solved to.
FAINT = 1e-5


def basis_of(problem: Equation, symmetry: int, size: Size, *, even: bool) -> Basis:
    """Return the basis of the densities about an axis, which all are even about it; of symmetry 2 also in u.

    In a confinement of S^2 without that axis, of those with its symmetries.
    """
    if problem.zonal:
        return ZonalBasis(problem.domain, size.cells, size.nodes, symmetry, size.confinement)
    return _in_confinement(problem, size)


def _in_confinement(problem: Equation, size: Size) -> InvariantBasis:
    """Return the basis of the largest group of the search that leaves the confinement as it is.

    Of those with harmonics on which the potential acts; among all harmonics it does.
    """
    require_smooth(problem)
    require(problem, Capability.GIBBS_MAP, "stationary densities in a confinement without an axis")
    field: Any = confining_field(problem)
    if float(field.lengths.sum()) < FAINT:
        raise InvalidInput(
            f"the confinement has no axis and is below {FAINT:g} of the noise: it holds states by no more than "
            "rounding; take a stronger one, or leave it out"
        )
    if size.cells.max() > MAX_HARMONIC_DEGREE:
        raise NotResolved(
            f"densities without an axis are resolved for potentials with significant degrees up to "
            f"{MAX_HARMONIC_DEGREE}, and this has {int(size.cells.max())}; take a smoother one, "
            "such as a smaller beta"
        )
    for group in searched_groups(LARGEST_ORDER):
        cells = np.array([degree for degree in size.cells.tolist() if group.dimension(degree)], dtype=np.int64)
        if cells.size and field.allows(group):
            break
    return InvariantBasis(group, cells, min(size.nodes, MAX_SPHERICAL_DEGREE), field)
