"""The branches born on the uniform state, from closed forms."""

import math
from itertools import combinations

import numpy as np

from meanfield import BranchShape, CriticalPoint, Equation, Number, branch_shape, critical_coupling

from ..branches.junctions import AMPLITUDE, Departure
from ..branches.recording import Register
from ..branches.resonance import degrees_in, directions_in, spread
from ..geometry import Birth, Geometry, Threshold
from .equations import circle_equation

# A fold closer to its branch point than this is not separated from it by arithmetic of 16 digits.
INSEPARABLE = 1e-11


def births(geometry: Geometry, problem: Equation, threshold: Threshold, register: Register) -> list[Birth]:
    """Return the branches born at a critical point of the uniform state, one of each group orbit."""
    return [
        Birth(departure, f"{symmetry}-cluster", symmetry)
        for symmetry in symmetries(threshold.point.modes)
        for departure in _departures(geometry, problem, symmetry, threshold, register)
    ]


def _departures(
    geometry: Geometry, problem: Equation, symmetry: int, threshold: Threshold, register: Register
) -> list[Departure]:
    """Return the branches of one symmetry born at a critical point of the uniform state."""
    point = threshold.point
    if sum(mode % symmetry == 0 for mode in point.modes) > 1:
        return _resonant(geometry, problem, threshold, symmetry, register)
    shape = branch_shape(problem, symmetry)
    order, amplitude = _leading_order(shape, register, threshold.parent is not None)
    equation = circle_equation(geometry, problem, symmetry, 1 if shape.coupling > 0 else -1)
    if equation is None:
        return []
    direction = (equation.basis.degrees == symmetry).astype(float)
    q = float(shape.coupling / (equation.sign * equation.unit))
    zero = np.zeros(direction.size)
    return [Departure(equation, zero, q, direction, order, amplitude, spread(problem, point.modes))]


def symmetries(modes: tuple[int, ...]) -> list[int]:
    """Return the rotation symmetries that densities on the critical modes can have."""
    found = set(modes)
    for count in range(2, len(modes) + 1):
        found |= {math.gcd(*subset) for subset in combinations(modes, count)}
    return sorted(found)


def _resonant(
    geometry: Geometry, problem: Equation, threshold: Threshold, symmetry: int, register: Register
) -> list[Departure]:
    """Return the branches of exactly this symmetry born at a multiple critical coupling."""
    modes, coupling = threshold.point.modes, threshold.point.coupling
    equation = circle_equation(geometry, problem, symmetry, 1 if coupling > 0 else -1)
    if equation is None:
        return []
    q = float(coupling / (equation.sign * equation.unit))
    kernel = np.flatnonzero(np.isin(equation.basis.degrees, modes))
    zero, width = np.zeros(equation.basis.degrees.size), spread(problem, modes)
    return [
        Departure(equation, zero, q, direction, None, kernel=width)
        for direction in directions_in(equation, q, kernel, modes, register)
        if math.gcd(*degrees_in(direction, equation)) == symmetry
    ]


def first_threshold(problem: Equation) -> Number | None:
    """Return the coupling up to which thresholds are always examined, the first one."""
    return critical_coupling(problem)


def reaches_down(problem: Equation, point: CriticalPoint) -> bool:
    """Return whether a branch born at a critical point may extend to lower couplings."""
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
