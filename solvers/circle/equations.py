"""Bases of densities on the circle, of cosines or of cosines and sines; others where a confinement has kinks."""

from meanfield import Equation

from ..bases import Basis, CosineBasis, FourierBasis, KinkedCosineBasis, KinkedFourierBasis
from ..boltzmann import boltzmann_factor
from ..significant import confining_degree, even_size
from ..sizing import Size

# Nodes to start with: transforms are fast, and having twice as many costs less than taking them later.
FEWEST = 128
# Nodes to start with where the confinement has a kink, and at most: as many moments of exp(-V/D) are known.
FEWEST_KINKED, MOST_KINKED = 1024, 2048


def basis_of(problem: Equation, symmetry: int, size: Size, *, even: bool) -> Basis:
    """Return the basis of the densities of a rotation symmetry, even ones in cosines, others in sines as well.

    In a confinement without reflection symmetry no density is even.
    """
    cells, nodes, confinement = size
    even = even and problem.reflects
    if confining_degree(problem) is not None:
        return (CosineBasis if even else FourierBasis)(cells, nodes, symmetry, confinement)
    nodes = max(FEWEST_KINKED, even_size(4 * int(cells.max())))
    factor = boltzmann_factor(problem, symmetry, MOST_KINKED)
    return (KinkedCosineBasis if even else KinkedFourierBasis)(factor, cells, nodes, symmetry, confinement)
