"""Bases of densities on the circle, of cosines or of cosines and sines; others where a confinement has kinks."""

import numpy as np

from meanfield import Equation

from ..bases import Basis, CosineBasis, FourierBasis, KinkedCosineBasis, KinkedFourierBasis
from ..bases.boltzmann import MOST_MOMENTS, boltzmann_factor
from ..equations.significant import confining_degree, even_size
from ..equations.sizing import Size
from .axes import axis_of, from_axis

# Nodes to start with: transforms are fast, and having twice as many costs less than taking them later.
FEWEST = 128
# Nodes to start with where the confinement has a kink.
FEWEST_KINKED = 1024


def basis_of(problem: Equation, symmetry: int, size: Size, *, even: bool) -> Basis:
    """Return the basis of the densities of a rotation symmetry, even ones in cosines, others in sines as well.

    In a confinement densities are even about its reflection axis; in one without any none is even.
    """
    cells, nodes, confinement = size
    axis = axis_of(problem) if even else None
    if axis is not None and np.iscomplexobj(confinement):
        # Also about angle 0, from which its sines are rounding.
        confinement = from_axis(confinement, axis, symmetry, 1)
    if confining_degree(problem) is not None:
        if axis is None:
            return FourierBasis(cells, nodes, symmetry, confinement)
        return CosineBasis(cells, nodes, symmetry, confinement, axis)
    nodes = max(FEWEST_KINKED, even_size(4 * int(cells.max())))
    factor = boltzmann_factor(problem, symmetry, MOST_MOMENTS)
    if axis is None:
        return KinkedFourierBasis(factor, cells, nodes, symmetry, confinement)
    if np.iscomplexobj(factor.moments):
        factor = factor.about(symmetry * axis)
    return KinkedCosineBasis(factor, cells, nodes, symmetry, confinement, axis)
