"""The stationary equation and its linearisation at a state and a place of the plane, by the law of the equation."""

import numpy as np

from meanfield.equations import Capability

from ...bases import EPS, Basis, Floats, Integers
from ...equations.geometry import Complement
from ...sphere.complements import AzimuthalComplement
from .blocks import ComplementaryBlock, GradientBlock, SoftmaxBlock
from .current_states import CurrentBlock, CurrentState
from .law_blocks import CircleBlock, OddBlock, ZonalBlock
from .law_states import LawState, SoftmaxState
from .plane import Plane
from .rotating_states import RotatingState
from .states import AtState, GradientState, WeightedBasis

# Newton's method for a state that is known to some digits: steps at most, and the size from which on they are
# rounding where they get no smaller.
STEPS, ROUNDING = 20, 1e-8
# Singular values below this share of the largest are those of neutral directions.
NEUTRAL = 1e-9


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
    weighted = WeightedBasis.of(plane.in_place(basis, *place))
    coefficients = plane.coefficients(*place, basis.degrees, basis)
    if plane.of_gradient:
        return GradientState(weighted, place, coefficients, b)
    if not plane.reflects:
        turning = RotatingState if plane.rotates else CurrentState
        return turning(plane, weighted, place, coefficients, b)
    kind: type[LawState] = LawState if plane.problem.lacks(Capability.GIBBS_MAP) else SoftmaxState
    return kind(plane, weighted, place, coefficients, b)


def block_at(state: AtState, plane: Plane, complement: Complement, degrees: Integers) -> ComplementaryBlock:
    """Return the linearisation at a state among the modes of some degrees of a class."""
    kind: type[ComplementaryBlock] = GradientBlock
    if isinstance(state, SoftmaxState):
        kind = SoftmaxBlock
    elif isinstance(state, CurrentState):
        kind = CurrentBlock
    elif isinstance(state, LawState):
        kind = CircleBlock
        if isinstance(complement, AzimuthalComplement):
            kind = ZonalBlock if complement.order else OddBlock
    return kind(state, plane, complement, degrees)


def polished(
    plane: Plane, basis: Basis, place: tuple[float, float], b: Floats, neutral: float = NEUTRAL
) -> Floats | None:
    """Return the unknown of the state at a place to which Newton's method leads, None if it leads to none.

    Directions whose singular value is below the share ``neutral`` of the largest are left as they are.
    """
    before = np.inf
    for _ in range(STEPS):
        state = state_at(plane, basis, place, b)
        # Where the confinement vanishes rotations may be neutral, which the shortest step leaves out.
        step = np.linalg.lstsq(state.matrix, state.residual, rcond=neutral)[0]
        b = np.asarray(b - step)
        size = float(np.abs(step).max())
        if size == 0.0 or (size <= ROUNDING and size >= 0.5 * before):
            return b
        before = size
    # Where the state is all but uniform steps far below its rounding may still fall.
    return b if before <= EPS * float(np.abs(b).max()) else None
