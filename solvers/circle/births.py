"""The branches born on the uniform state, from closed forms."""

import numpy as np

from meanfield import BranchShape, CriticalPoint, McKeanVlasov, Number, branch_shape, critical_coupling

from ..branches.junctions import AMPLITUDE, Departure
from ..branches.recording import Register
from ..equation import stationary_equation
from ..geometry import Birth, Threshold
from .resonance import resonant_departures, symmetries

# A fold closer to its branch point than this is not separated from it by arithmetic of 16 digits.
INSEPARABLE = 1e-11


def births(problem: McKeanVlasov, threshold: Threshold, register: Register) -> list[Birth]:
    """Return the branches born at a critical point of the uniform state, one of each group orbit."""
    return [
        Birth(departure, f"{symmetry}-cluster", symmetry)
        for symmetry in symmetries(threshold.point.modes)
        for departure in _departures(problem, symmetry, threshold, register)
    ]


def _departures(problem: McKeanVlasov, symmetry: int, threshold: Threshold, register: Register) -> list[Departure]:
    """Return the branches of one symmetry born at a critical point of the uniform state."""
    point = threshold.point
    if sum(mode % symmetry == 0 for mode in point.modes) > 1:
        return resonant_departures(problem, threshold, symmetry, register)
    shape = branch_shape(problem, symmetry)
    order, amplitude = _leading_order(shape, register, threshold.parent is not None)
    departure = _from_uniform(problem, symmetry, point.coupling, order, amplitude)
    return [] if departure is None else [departure]


def first_threshold(problem: McKeanVlasov) -> Number | None:
    """Return the coupling up to which thresholds are always looked at: the first."""
    return critical_coupling(problem)


def reaches_down(problem: McKeanVlasov, point: CriticalPoint) -> bool:
    """Whether a branch born here may extend to lower couplings."""
    return any(branch_shape(problem, mode).type != "supercritical" for mode in point.modes)


def _leading_order(shape: BranchShape, register: Register, inside: bool) -> tuple[int, float]:
    """Return the leading power of kappa/kappa_n = 1 + b1 x + b2 x^2 and an amplitude well inside its fold.

    The fold is at x = -b1/(2 b2). Where its distance b1^2/(4 b2) from the branch point is lost in rounding, the
    branch starts beyond it, and says so.
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


def _from_uniform(
    problem: McKeanVlasov, mode: int, coupling: Number, order: int, largest_step: float
) -> Departure | None:
    """Return the departure of the mode's branch from the uniform state."""
    sign = 1 if coupling > 0 else -1
    equation = stationary_equation(problem, mode, sign)
    if equation is None:
        return None
    size = equation.basis.degrees.size
    direction = (equation.basis.degrees == mode).astype(float)
    q = float(coupling / (sign * equation.unit))
    return Departure(equation, np.zeros(size), q, direction, order, largest_step)
