r"""What is known in closed form of the branches about an axis that are born on the uniform state.

At the critical coupling of degree l the zonal harmonic :math:`P_l` spans the kernel among densities about one
axis (Crandall-Rabinowitz). With odd l the two directions are mirror images and the branch is a pitchfork; with
even l :math:`\int P_l^3 \ne 0`, the branch is transcritical and its two sides are different states.
"""

import numpy as np

from meanfield import CriticalPoint, Equation, Number, branch_shape, critical_coupling, critical_couplings
from meanfield.equations import Capability
from meanfield.theory import plain_number

from ..bases import Floats
from ..branches.junctions import AMPLITUDE
from ..branches.recording import Register
from ..equations.equation import StationaryEquation
from ..equations.geometry import Side, Threshold


def symmetries(modes: tuple[int, ...]) -> list[int]:
    """Return the symmetries of densities on critical modes: 2 if some are even, 1 unless all are."""
    return sorted({2 - mode % 2 for mode in modes}, reverse=True)


def sides(
    equation: StationaryEquation, direction: Floats, mode: int | None, threshold: Threshold, register: Register
) -> list[Side]:
    """Return the one side of a pitchfork, of odd degree, the two of even degree, or a mixed direction."""
    # An amplitude is a moment times its scale.
    amplitude = AMPLITUDE * float(np.linalg.norm(equation.scales * direction))
    if mode is None:
        return [Side(direction, None, amplitude)]
    if mode % 2:
        return [Side(direction, 2, amplitude)]
    return [Side(direction, 1, amplitude), Side(-direction, 1, amplitude)]


def first_threshold(problem: Equation) -> Number | None:
    """Return the coupling up to which thresholds are always examined: those of the two lowest degrees.

    In high dimensions branches of both reach couplings lower by decades.
    """
    low = critical_couplings(problem, 2)[1:]
    positive = low[(low > 0.0) & np.isfinite(low)]
    first = critical_coupling(problem)
    return first if first is None or not positive.size else max(first, plain_number(positive.max()))


def follows_all(problem: Equation) -> bool:
    """Return whether branches of all symmetries are followed, as those of laws with a Gibbs map on S^2.

    Elsewhere only those about an axis are.
    """
    return problem.domain.has_azimuth and not problem.lacks(Capability.GIBBS_MAP)


def folds_apart(low: int, high: int) -> bool:
    """Return whether pairs of states may be born at folds of their own where two degrees are nearly critical.

    Only for degrees 1 and 2 it is known that they are not.
    """
    return (low, high) != (1, 2)


def reaches_down(problem: Equation, point: CriticalPoint) -> bool:
    """Return whether a branch born at a critical point may extend to smaller couplings in modulus."""
    known = not problem.lacks(Capability.GRADIENT)
    return any(
        degree % 2 == 0 or not known or branch_shape(problem, degree).curvature < 0.0 for degree in point.modes
    )
