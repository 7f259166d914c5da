r"""The branches born on the uniform state, from closed forms; those about an axis are computed here.

At the critical coupling of degree l the zonal harmonic :math:`P_l` spans the kernel among densities about one
axis (Crandall-Rabinowitz). With odd l the two directions are mirror images and the branch is a pitchfork; with
even l :math:`\int P_l^3 \ne 0`, the branch is transcritical and its two sides are different states.
"""

import numpy as np

from meanfield import CriticalPoint, Equation, Number, branch_shape, critical_coupling, critical_couplings
from meanfield.theory import plain_number

from ..branches.recording import Register
from ..branches.resonance import degrees_in
from ..geometry import Birth, Geometry, Threshold
from .critical import departures
from .equations import zonal_equation
from .naming import name_of_departure
from .polyhedral import polyhedral_births


def births(geometry: Geometry, problem: Equation, threshold: Threshold, register: Register) -> list[Birth]:
    """Return the branches born at a critical point of the uniform state, one of each group orbit."""
    point = threshold.point
    even = tuple(degree for degree in point.modes if degree % 2 == 0)
    found = _zonal(geometry, problem, point, even, 2, register) if even else []
    if even != point.modes:
        found += _zonal(geometry, problem, point, point.modes, 1, register)
    return found + polyhedral_births(geometry, problem, point, found, register)


def _zonal(
    geometry: Geometry,
    problem: Equation,
    point: CriticalPoint,
    degrees: tuple[int, ...],
    symmetry: int,
    register: Register,
) -> list[Birth]:
    """Return the branches about an axis, those even about the equator or the others."""
    equation = zonal_equation(geometry, problem, symmetry, 1 if point.coupling > 0 else -1)
    if equation is None:
        return []
    return [
        Birth(departure, name_of_departure(departure), symmetry)
        for departure in departures(equation, point, degrees, register)
        if symmetry == 2 or any(degree % 2 for degree in degrees_in(departure.direction, equation))
    ]


def first_threshold(problem: Equation) -> Number | None:
    """Return the coupling up to which thresholds are always examined: those of the two lowest degrees.

    In high dimensions branches of both reach couplings lower by decades.
    """
    low = critical_couplings(problem, 2)[1:]
    positive = low[(low > 0.0) & np.isfinite(low)]
    first = critical_coupling(problem)
    return first if first is None or not positive.size else max(first, plain_number(positive.max()))


def follows_all(problem: Equation) -> bool:
    """Return whether branches of all symmetries are followed, as on S^2; elsewhere only those about an axis."""
    return problem.domain.has_azimuth


def folds_apart(low: int, high: int) -> bool:
    """Return whether pairs of states may be born at folds of their own where two degrees are nearly critical.

    Only for degrees 1 and 2 it is known that they are not.
    """
    return (low, high) != (1, 2)


def reaches_down(problem: Equation, point: CriticalPoint) -> bool:
    """Return whether a branch born at a critical point may extend to smaller couplings in modulus."""
    return any(degree % 2 == 0 or branch_shape(problem, degree).curvature < 0.0 for degree in point.modes)
