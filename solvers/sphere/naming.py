"""A state of a sphere in words: the name of the branch that is born with the degree that binds the state most.

How strongly degree l binds is :math:`-w_l |m_l|^2/N_l`, its strength at the uniform state times its moments; beside
its branch point no other has any. So a state has the same name whether a branch led to it or the search met it.
"""

import numpy as np

from ..bases import Floats
from ..bases.invariant import InvariantBasis
from ..branches.continuation import Point
from .births import name_of_degree
from .identity import powers, symmetry_of
from .polyhedral import name_in_group, rises_at_vertices


def name_of(point: Point) -> str:
    """Return a state in words, such as ``zonal 4-`` or ``octahedral``."""
    symmetry = symmetry_of(point)
    if not symmetry:
        return "uniform"
    degree = _binding_degree(point, symmetry)
    basis = point.equation.basis
    if isinstance(basis, InvariantBasis):
        return name_in_group(basis.group, degree, rises_at_vertices(basis.group, *basis.expand(point.moments)))
    return name_of_degree(degree, 1 if powers(point)[degree] > 0.0 else -1)


def _binding_degree(point: Point, symmetry: int) -> int:
    """Return the degree that binds most; of a state that differs at antipodes an odd one, if any binds."""
    basis = point.equation.basis
    shares: Floats = np.zeros(int(basis.degrees.max()) + 1)
    np.add.at(shares, basis.degrees, point.equation.signs * basis.squares * point.b**2)
    if symmetry == 1 and np.any(shares[1::2] > 0.0):
        shares[::2] = 0.0
    return int(np.argmax(shares)) if np.any(shares > 0.0) else 1 + int(np.argmax(np.abs(powers(point))[1:]))
