"""Branches leaving the uniform state where several modes are critical at the same coupling.

In the densities of symmetry g the kernel is spanned by the critical multiples of g. The reduced equation on it
is homogeneous to leading order, so at a small amplitude its solutions are isolated directions; they are found by
Newton from many directions, without assuming which resonance it is, and kept once per rotation.
"""

import math
from itertools import combinations

import numpy as np

from meanfield import McKeanVlasov

from .bases import Floats
from .branching import Departure
from .equation import StationaryEquation, stationary_equation
from .newton import Newton, correct

AMPLITUDE = 4e-3
DIRECTIONS = 48


def symmetries(modes: tuple[int, ...]) -> list[int]:
    """Return the rotation symmetries that densities on the critical modes can have."""
    found = set(modes)
    for count in range(2, len(modes) + 1):
        found |= {math.gcd(*subset) for subset in combinations(modes, count)}
    return sorted(found)


def resonant_departures(
    problem: McKeanVlasov, modes: tuple[int, ...], coupling: float, symmetry: int
) -> list[Departure]:
    """Return the branches of exactly this symmetry born at a multiple critical coupling."""
    equation = stationary_equation(problem, symmetry, 1 if coupling > 0 else -1)
    if equation is None:
        return []
    q = float(coupling / (equation.sign * equation.unit))
    kernel = np.flatnonzero(np.isin(equation.basis.degrees, modes))
    found: list[Floats] = []
    for guess in _guesses(kernel.size):
        direction = _solution(equation, q, kernel, guess)
        if direction is not None and _is_new(direction, found, equation, symmetry):
            found.append(direction)
    size = equation.basis.degrees.size
    return [Departure(equation, np.zeros(size), q, direction, None, -1) for direction in found]


def _guesses(dimension: int) -> list[Floats]:
    if dimension == 2:
        angles = np.pi * (np.arange(DIRECTIONS) + 0.5) / DIRECTIONS
        half = [np.array([np.cos(angle), np.sin(angle)]) for angle in angles]
        return half + [-guess for guess in half]
    random = np.random.default_rng(0).standard_normal((DIRECTIONS * dimension, dimension))
    return [guess / np.linalg.norm(guess) for guess in random]


def _solution(equation: StationaryEquation, q: float, kernel: np.ndarray, guess: Floats) -> Floats | None:
    """Return the unit direction of the small state that Newton finds from a guess, if it stays small."""
    direction = np.zeros(equation.basis.degrees.size)
    direction[kernel] = guess
    solution = correct(equation, AMPLITUDE * direction, q, direction, 0.0, Newton())
    if solution is None or float(np.linalg.norm(solution.b)) > 3.0 * AMPLITUDE:
        return None
    result = np.zeros_like(direction)
    result[kernel] = solution.b[kernel]
    size = float(np.linalg.norm(result))
    return result / size if size > 0.3 * AMPLITUDE else None


def _is_new(direction: Floats, found: list[Floats], equation: StationaryEquation, symmetry: int) -> bool:
    """Whether a direction has exactly the symmetry asked for and is no rotation of one found before."""
    degrees = equation.basis.degrees
    felt = degrees[np.abs(direction) > 0.05]
    if math.gcd(*(int(degree) for degree in felt)) != symmetry:
        return False
    turned = np.where((degrees // symmetry) % 2 == 1, -direction, direction)
    return all(min(np.abs(direction - old).max(), np.abs(turned - old).max()) > 0.02 for old in found)
