"""The stationary equation at a state and a place of the plane, by what the law of the equation is."""

from meanfield.equations import Capability

from ..bases import Basis, Floats
from .law_states import LawState, SoftmaxState
from .plane import Plane
from .states import AtState, GradientState, WeightedBasis


def state_at(plane: Plane, basis: Basis, place: tuple[float, float], b: Floats) -> AtState:
    """Return the stationary equation at a state.

    Parameters
    ----------
    plane
        The two parameters.
    basis
        That of the state.
    place : (float, float)
        x and q.
    b : (size,) float
        Its unknown.
    """
    along_axis = None if basis.invariants is None else basis.invariants.along_axis
    weighted, coefficients = WeightedBasis.of(basis), plane.coefficients(*place, basis.degrees, along_axis)
    if plane.of_gradient:
        return GradientState(weighted, place, coefficients, b)
    kind: type[LawState] = LawState if plane.problem.lacks(Capability.GIBBS_MAP) else SoftmaxState
    return kind(plane, weighted, place, coefficients, b)
