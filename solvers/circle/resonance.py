"""Branches leaving the uniform state where several modes are critical at the same coupling.

In the densities of symmetry g the kernel is spanned by the critical multiples of g. The reduced equation on it
is homogeneous to leading order, so at a small amplitude its solutions are isolated directions. They are found
as sign changes around a circle in each plane of two modes, without assuming which resonance it is, and kept once
per rotation.
"""

import math
from itertools import combinations

import numpy as np
from scipy.optimize import brentq

from meanfield import McKeanVlasov, Number

from ..bases import Floats, Integers
from ..branches.junctions import Departure
from ..equation import StationaryEquation, stationary_equation

AMPLITUDE = 2e-3
ANGLES = 180


def symmetries(modes: tuple[int, ...]) -> list[int]:
    """Return the rotation symmetries that densities on the critical modes can have."""
    found = set(modes)
    for count in range(2, len(modes) + 1):
        found |= {math.gcd(*subset) for subset in combinations(modes, count)}
    return sorted(found)


def resonant_departures(
    problem: McKeanVlasov, modes: tuple[int, ...], coupling: Number, symmetry: int, counts: tuple[int, ...]
) -> list[Departure]:
    """Return the branches of exactly this symmetry born at a multiple critical coupling."""
    equation = stationary_equation(problem, symmetry, 1 if coupling > 0 else -1)
    if equation is None:
        return []
    q = float(coupling / (equation.sign * equation.unit))
    kernel = np.flatnonzero(np.isin(equation.basis.degrees, modes))
    found: list[Floats] = []
    for plane in combinations(kernel, 2):
        for direction in _directions(equation, q, np.array(plane)):
            if _is_new(direction, found, equation, symmetry):
                found.append(direction)
    size = equation.basis.degrees.size
    return [Departure(equation, np.zeros(size), q, direction, None, counts=counts) for direction in found]


def _directions(equation: StationaryEquation, q: float, plane: Integers) -> list[Floats]:
    """Return the directions in a plane of the kernel along which small states leave.

    At a fixed amplitude and angle, the coupling and all other modes are solved from every equation but the one
    across the direction; that one is left as a function of the angle, whose zeros are the branches.
    """

    def across(angle: float) -> float:
        return _defect(equation, q, plane, angle)

    angles = 2.0 * np.pi * (np.arange(ANGLES + 1) + 0.37) / ANGLES
    values = [across(angle) for angle in angles]
    found = []
    for left, right, low, high in zip(angles[:-1], angles[1:], values[:-1], values[1:], strict=True):
        if low * high < 0.0:
            found.append(_unit(equation, plane, brentq(across, left, right, xtol=1e-12)))
    return found


def _unit(equation: StationaryEquation, plane: Integers, angle: float) -> Floats:
    direction = np.zeros(equation.basis.degrees.size)
    direction[plane] = np.cos(angle), np.sin(angle)
    return direction


def _defect(equation: StationaryEquation, q: float, plane: Integers, angle: float) -> float:
    """Return the residual across the direction, relative to the amplitude; nan where nothing small solves."""
    along, across = _unit(equation, plane, angle), _unit(equation, plane, angle + 0.5 * np.pi)
    rest = np.setdiff1d(np.arange(along.size), plane)
    b, coupling = AMPLITUDE * along, q
    for _ in range(20):
        evaluation = equation.evaluate(b, coupling)
        jacobian, derivative = equation.linearise(b, coupling, evaluation.gibbs.moments)
        rows = np.concatenate([jacobian[rest], along[None] @ jacobian])
        matrix = np.column_stack([rows[:, rest], np.append(derivative[rest], along @ derivative)])
        side = np.append(evaluation.residual[rest], along @ evaluation.residual)
        step = np.linalg.solve(matrix, -side)
        b[rest] += step[:-1]
        coupling += step[-1]
        if np.abs(step).max() < 1e-13:
            return float(across @ equation.evaluate(b, coupling).residual) / AMPLITUDE
    return np.nan


def _is_new(direction: Floats, found: list[Floats], equation: StationaryEquation, symmetry: int) -> bool:
    """Whether a direction has exactly the symmetry asked for and is no rotation of one found before."""
    degrees = equation.basis.degrees
    felt = degrees[np.abs(direction) > 0.05]
    if math.gcd(*(int(degree) for degree in felt)) != symmetry:
        return False
    turned = np.where((degrees // symmetry) % 2 == 1, -direction, direction)
    return all(min(np.abs(direction - old).max(), np.abs(turned - old).max()) > 0.02 for old in found)
