"""Departures from the uniform state among densities of one symmetry, about an axis or invariant under a group."""

import numpy as np

from meanfield import CriticalPoint, critical_couplings
from meanfield.theory import plain_number

from ..branches.junctions import AMPLITUDE, Departure
from ..branches.recording import Register
from ..branches.resonance import directions_in, spread
from ..equation import StationaryEquation


def departures(
    equation: StationaryEquation, point: CriticalPoint, degrees: tuple[int, ...], register: Register
) -> list[Departure]:
    """Return the departures from the uniform state, one of each orbit.

    A single critical mode of odd degree gives a pitchfork, one of even degree a branch whose two sides are
    different states.

    Parameters
    ----------
    point
        The critical point.
    degrees
        Those of its degrees that densities of this symmetry can have.
    """
    kernel = np.flatnonzero(np.isin(equation.basis.degrees, degrees))
    width = spread(equation.problem, point.modes)
    if kernel.size > 1:
        q = float(point.coupling / (equation.sign * equation.unit))
        found = directions_in(equation, q, kernel, degrees, register)
        return [_departure(equation, q, direction, None, width) for direction in found]
    direction = np.zeros(equation.basis.degrees.size)
    direction[kernel] = 1.0
    degree = int(equation.basis.degrees[kernel[0]])
    coupling = plain_number(critical_couplings(equation.problem, degree)[degree])
    q = float(coupling / (equation.sign * equation.unit))
    order, sides = (2, (1.0,)) if degree % 2 else (1, (1.0, -1.0))
    return [_departure(equation, q, side * direction, order, width) for side in sides]


def _departure(
    equation: StationaryEquation, q: float, direction: np.ndarray, order: int | None, width: float
) -> Departure:
    # An amplitude is a moment times its scale.
    amplitude = AMPLITUDE * float(np.linalg.norm(equation.scales * direction))
    return Departure(equation, np.zeros(direction.size), q, direction, order, amplitude, width)
