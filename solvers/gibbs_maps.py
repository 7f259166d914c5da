"""The choice of the stationary equation by the Gibbs map of a problem."""

from meanfield import Equation
from meanfield.equations import Capability

from .bases import Basis
from .equation import StationaryEquation
from .geometry import Geometry
from .significant import SignificantDegrees
from .softmax import SoftmaxEquation


def stationary_equation(
    problem: Equation,
    basis: Basis,
    sign: int,
    geometry: Geometry,
    significant: SignificantDegrees | None = None,
    truncation: float = 0.0,
) -> StationaryEquation:
    """Return the stationary equation of a problem in a basis; arguments are those of the classes.

    The Gibbs density is exponential in the drive for the gradient law, and a power of it for softmax attention.
    """
    kind = SoftmaxEquation if problem.lacks(Capability.GRADIENT) else StationaryEquation
    return kind(problem, basis, sign, geometry, significant, truncation)
