"""The stationary equation on the circle, sized by the decay of potential and confinement."""

from meanfield import Equation

from ..bases import Basis, CosineBasis, FourierBasis, KinkedCosineBasis, KinkedFourierBasis
from ..boltzmann import boltzmann_factor
from ..equation import Size, StationaryEquation, starting_size
from ..geometry import Geometry
from ..gibbs_maps import stationary_equation
from ..significant import confining_degree, even_size

# Nodes to start with: transforms are fast, and having twice as many costs less than taking them later.
FEWEST = 128
# Nodes to start with where the confinement has a kink, and at most: as many moments of exp(-V/D) are known.
FEWEST_KINKED, MOST_KINKED = 1024, 2048


def circle_equation(
    geometry: Geometry,
    problem: Equation,
    symmetry: int = 1,
    sign: int = 1,
    *,
    even: bool = True,
    modes: int = 0,
    unknowns: int = 0,
    axis: float = 0.0,
    negligible: bool = False,
) -> StationaryEquation | None:
    """Return the equation on densities of a rotation symmetry, see :meth:`solvers.geometry.Geometry.equation`.

    Parameters
    ----------
    even
        Whether the densities are even; otherwise cosines and sines are unknown.
    axis
        Angle of a reflection axis of the confinement about which they are even.
    """
    size = starting_size(problem, symmetry, FEWEST, modes=modes, unknowns=unknowns, negligible=negligible)
    if size is None:
        return None
    kinked = confining_degree(problem) is None
    basis = (_kinked if kinked else _smooth)(problem, size, symmetry, even)
    if axis and basis.cosines is not None:
        basis = basis.cosines.about(axis)
    return stationary_equation(problem, basis, sign, geometry, size.significant)


def _smooth(problem: Equation, size: Size, symmetry: int, even: bool) -> Basis:
    kind = CosineBasis if even else FourierBasis
    return kind(size.significant.degrees // symmetry, size.nodes, symmetry, size.confinement)


def _kinked(problem: Equation, size: Size, symmetry: int, even: bool) -> Basis:
    cells = size.significant.degrees // symmetry
    nodes = max(FEWEST_KINKED, even_size(4 * int(cells.max())))
    factor = boltzmann_factor(problem, symmetry, MOST_KINKED)
    kind = KinkedCosineBasis if even else KinkedFourierBasis
    return kind(factor, cells, nodes, symmetry, size.confinement)
