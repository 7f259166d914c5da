"""What is known in closed form of the branches born on the uniform state of the circle."""

import math
from itertools import combinations

import numpy as np

from meanfield import BranchShape, CriticalPoint, Equation, Number, branch_shape, critical_coupling
from meanfield.equations import Capability

from ..bases import Floats
from ..branches.junctions import AMPLITUDE
from ..branches.recording import Register
from ..equations.equation import StationaryEquation
from ..equations.geometry import Side, Threshold

# A fold closer to its branch point than this is not separated from it by arithmetic of 16 digits.
INSEPARABLE = 1e-11


def symmetries(modes: tuple[int, ...]) -> list[int]:
    """Return the rotation symmetries that densities on the critical modes can have."""
    found = set(modes)
    for count in range(2, len(modes) + 1):
        found |= {math.gcd(*subset) for subset in combinations(modes, count)}
    return sorted(found)


def sides(
    equation: StationaryEquation, direction: Floats, mode: int | None, threshold: Threshold, register: Register
) -> list[Side]:
    """Return the one side of a branch, whose other is a rotation of it, or each direction of several modes."""
    if mode is None:
        return [Side(direction, None, AMPLITUDE)]
    order, amplitude = _leading_order(branch_shape(equation.problem, mode), register, threshold.parent is not None)
    return [Side(direction, order, amplitude)]


def first_threshold(problem: Equation) -> Number | None:
    """Return the coupling up to which thresholds are always examined, the first one."""
    return critical_coupling(problem)


def reaches_down(problem: Equation, point: CriticalPoint) -> bool:
    """Return whether a branch born at a critical point may extend to lower couplings."""
    if problem.lacks(Capability.GIBBS_MAP):
        return True
    return any(branch_shape(problem, mode).type != "supercritical" for mode in point.modes)


def follows_all(problem: Equation) -> bool:
    """Return whether branches of all symmetries are followed: even states and others."""
    return True


def folds_apart(low: int, high: int) -> bool:
    """Return whether pairs of states may be born at folds of their own where two modes are nearly critical."""
    return high == 3 * low


def _leading_order(shape: BranchShape, register: Register, inside: bool) -> tuple[int, float]:
    """Return the leading power of kappa/kappa_n = 1 + b1 x + b2 x^2 and an amplitude well inside its fold.

    The fold is at x = -b1/(2 b2). Where its distance b1^2/(4 b2) from the branch point is lost in rounding, the
    branch starts beyond it, with a warning.
    """
    curvature, quartic = shape.curvature, shape.quartic
    if not curvature * quartic < 0.0:
        return (4 if curvature == 0.0 else 2), AMPLITUDE
    window = curvature**2 / (4.0 * abs(quartic))
    if window > INSEPARABLE:
        return 2, float(min(AMPLITUDE, 0.3 * np.sqrt(-curvature / (2.0 * quartic))))
    if inside:
        register.warnings.append(
            f"{shape.mode}-cluster: a fold lies within a relative distance {window:.1e} of its branch point, "
            "too close to be separated in double precision"
        )
    return 4, AMPLITUDE
