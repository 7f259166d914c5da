r"""The branches born on the uniform state, from closed forms; those about an axis are computed here.

At the critical coupling of degree l the zonal harmonic :math:`P_l` spans the kernel among densities about one
axis (Crandall-Rabinowitz). With odd l the two directions are mirror images and the branch is a pitchfork; with
even l :math:`\int P_l^3 \ne 0`, the branch is transcritical and its two sides are different states.
"""

import numpy as np

from meanfield import CriticalPoint, McKeanVlasov, Number, branch_shape, critical_coupling, critical_couplings
from meanfield.theory.thresholds import plain_number

from ..branches.junctions import AMPLITUDE, Departure
from ..branches.recording import Register
from ..equation import stationary_equation
from ..geometry import Birth, Threshold
from .polyhedral import polyhedral_births

# Names of the two sides of the branch of degree two, flattened and drawn out along the axis.
SHAPES = {1: "prolate", -1: "oblate"}


def births(problem: McKeanVlasov, threshold: Threshold, register: Register) -> list[Birth]:
    """Return the branches born at a critical point of the uniform state, one of each group orbit."""
    found: list[Birth] = []
    for degree in threshold.point.modes:
        found += _zonal(problem, degree, threshold) + polyhedral_births(problem, degree, threshold.point)
    return found


def _zonal(problem: McKeanVlasov, degree: int, threshold: Threshold) -> list[Birth]:
    symmetry, coupling = 2 - degree % 2, threshold.point.coupling
    sign = 1 if coupling > 0 else -1
    equation = stationary_equation(problem, symmetry, sign)
    if equation is None:
        return []
    direction = (equation.basis.degrees == degree).astype(float)
    q = float(coupling / (sign * equation.unit))
    # An amplitude is a moment times its scale.
    amplitude = AMPLITUDE * float(equation.scales @ direction)
    order, sides = (1, (1, -1)) if symmetry == 2 else (2, (1,))
    return [
        Birth(
            Departure(equation, np.zeros(direction.size), q, side * direction, order, amplitude),
            name_of_degree(degree, side),
            symmetry,
        )
        for side in sides
    ]


def name_of_degree(degree: int, side: int) -> str:
    """Return the zonal branch of a degree in words; the side is the sign of its moment."""
    if degree == 2:
        return SHAPES[side]
    if degree % 2 == 1:
        return f"zonal {degree}"
    return f"zonal {degree}{'+' if side > 0 else '-'}"


def first_threshold(problem: McKeanVlasov) -> Number | None:
    """Return the coupling up to which thresholds are always looked at: those of the two lowest degrees.

    In high dimension branches of both fall by decades.
    """
    low = critical_couplings(problem, 2)[1:]
    positive = low[(low > 0.0) & np.isfinite(low)]
    first = critical_coupling(problem)
    return first if first is None or not positive.size else max(first, plain_number(positive.max()))


def reaches_down(problem: McKeanVlasov, point: CriticalPoint) -> bool:
    """Whether a branch born at a critical point may extend to smaller couplings in modulus."""
    return any(degree % 2 == 0 or branch_shape(problem, degree).curvature < 0.0 for degree in point.modes)
