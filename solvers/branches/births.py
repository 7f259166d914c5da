"""The branches born on the uniform state, from closed forms or the reduced energy of several critical modes."""

import math

import numpy as np

from meanfield import Equation, critical_couplings
from meanfield.theory import plain_number

from ..equations.equation import StationaryEquation
from ..equations.geometry import Birth, Geometry, Threshold
from ..equations.sizing import stationary_equation
from .junctions import Departure
from .recording import Register
from .resonance import degrees_in, directions_in, spread


def births_on_uniform(
    geometry: Geometry, problem: Equation, threshold: Threshold, register: Register
) -> list[Birth]:
    """Return the branches born at a critical point of the uniform state, one of each group orbit."""
    point, found = threshold.point, list[Birth]()
    for symmetry in geometry.symmetries(point.modes):
        equation = stationary_equation(geometry, problem, symmetry, 1 if point.coupling > 0 else -1)
        if equation is None:
            continue
        modes = tuple(mode for mode in point.modes if mode % symmetry == 0)
        for departure in departures(equation, threshold, modes, register):
            if geometry.symmetry(math.gcd(*degrees_in(departure.direction, equation))) == symmetry:
                found.append(equation.densities.birth(departure))
    return found + geometry.further_births(problem, threshold, found, register)


def departures(
    equation: StationaryEquation, threshold: Threshold, modes: tuple[int, ...], register: Register
) -> list[Departure]:
    """Return the departures from the uniform state among densities of one symmetry, one of each orbit.

    Parameters
    ----------
    equation
        That of the densities.
    threshold
        The critical point.
    modes
        Those of its modes that the densities can have.
    register
        Receives warnings.
    """
    kernel = equation.critical_places(modes)
    if not kernel.size:
        return []
    zero, several = np.zeros(equation.basis.degrees.size), kernel.size > 1
    mode = int(equation.basis.degrees[kernel[0]])
    own = plain_number(critical_couplings(equation.problem, mode)[mode])
    q = equation.q_at(threshold.point.coupling if several else own)
    alone = (np.arange(zero.size) == kernel[0]).astype(float)
    directions = directions_in(equation, q, kernel, modes, register) if several else [alone]
    width = spread(equation.problem, threshold.point.modes)
    return [
        Departure(equation, zero, q, side, order, amplitude, width)
        for direction in directions
        for side, order, amplitude in equation.geometry.sides(
            equation, direction, None if several else mode, threshold, register
        )
    ]
