"""Branches leaving the uniform state where several modes are critical at the same coupling.

In the densities of symmetry g the kernel is spanned by the critical multiples of g. The reduced equation on it
is homogeneous to leading order, so at a small amplitude its solutions are isolated directions. With two modes they
are found as sign changes around a circle, with more by Newton on the sphere from directions spread over it; no
resonance is assumed, and of rotated copies one is kept.
"""

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from scipy.optimize import brentq

from meanfield import McKeanVlasov

from ..bases import Floats, Integers
from ..branches.junctions import Departure
from ..branches.recording import Register
from ..equation import StationaryEquation, stationary_equation
from ..geometry import Threshold

AMPLITUDE = 2e-3
ANGLES = 180
# Directions a dimension from which solutions on the sphere are sought, the most in all, and the steps of each.
STARTS, MOST_STARTS, ITERATIONS = 12, 2000, 40


def symmetries(modes: tuple[int, ...]) -> list[int]:
    """Return the rotation symmetries that densities on the critical modes can have."""
    found = set(modes)
    for count in range(2, len(modes) + 1):
        found |= {math.gcd(*subset) for subset in combinations(modes, count)}
    return sorted(found)


def resonant_departures(
    problem: McKeanVlasov, threshold: Threshold, symmetry: int, register: Register
) -> list[Departure]:
    """Return the branches of exactly this symmetry born at a multiple critical coupling."""
    modes, coupling = threshold.point.modes, threshold.point.coupling
    equation = stationary_equation(problem, symmetry, 1 if coupling > 0 else -1)
    if equation is None:
        return []
    q = float(coupling / (equation.sign * equation.unit))
    kernel = np.flatnonzero(np.isin(equation.basis.degrees, modes))
    found: list[Floats] = []
    directions = list((_around_circle if kernel.size == 2 else _on_sphere)(equation, q, kernel))
    for direction in directions:
        if direction is not None and _is_new(direction, found, equation, symmetry):
            found.append(direction)
    if any(direction is None for direction in directions):
        text = (
            f"not all branches that mix the modes {', '.join(map(str, modes))} at coupling {float(coupling):.12g} "
            "may have been found: other modes are critical too close by"
        )
        register.warnings += [] if text in register.warnings else [text]
    size = equation.basis.degrees.size
    return [Departure(equation, np.zeros(size), q, direction, None) for direction in found]


def _on_sphere(equation: StationaryEquation, q: float, kernel: Integers) -> Iterator[Floats]:
    """Yield the directions in a kernel along which states of a small amplitude leave; some of them repeatedly."""
    count = min(STARTS ** (kernel.size - 1), MOST_STARTS)
    starts = np.random.default_rng(kernel.size).standard_normal((count, kernel.size))
    axes = np.eye(kernel.size)
    for start in (*axes, *starts):
        b = np.zeros(equation.basis.degrees.size)
        b[kernel] = AMPLITUDE * start / np.linalg.norm(start)
        state = _with_amplitude(equation, b, q, kernel)
        if state is None:
            continue
        direction = np.zeros_like(b)
        direction[kernel] = state[kernel] / np.linalg.norm(state[kernel])
        yield direction


def _with_amplitude(equation: StationaryEquation, b: Floats, q: float, kernel: Integers) -> Floats | None:
    """Return the state whose part in the kernel has the small amplitude, by Newton; None where it is lost."""
    size = b.size
    matrix = np.zeros((size + 1, size + 1))
    for _ in range(ITERATIONS):
        evaluation = equation.evaluate(b, q)
        jacobian, derivative = equation.linearise(b, q, evaluation.gibbs.moments)
        matrix[:size, :size], matrix[:size, size] = jacobian, derivative
        matrix[size, kernel] = b[kernel]
        missing = 0.5 * (float(b[kernel] @ b[kernel]) - AMPLITUDE**2)
        step = np.linalg.lstsq(matrix, np.append(evaluation.residual, missing))[0]
        longest = float(np.abs(step[:size]).max())
        # Far from a solution, where the kernel is nearly singular, only the direction of a step means something.
        step *= min(1.0, 0.3 * AMPLITUDE / max(longest, 1e-300))
        b, q = b - step[:size], q - float(step[size])
        if not (np.isfinite(b).all() and q > 0.0):
            return None
        if longest <= 1e-9 * AMPLITUDE:
            return b
    return None


def _around_circle(equation: StationaryEquation, q: float, plane: Integers) -> Iterator[Floats | None]:
    """Yield the directions in a plane, the kernel, along which small states leave; None where this is not known.

    At a fixed amplitude and angle, the coupling and all other modes are solved from every equation but the one
    across the direction; that one is left as a function of the angle, whose zeros are the branches.
    """

    def across(angle: float) -> float:
        return _defect(equation, q, plane, angle)

    angles = 2.0 * np.pi * (np.arange(ANGLES + 1) + 0.37) / ANGLES
    values = [across(angle) for angle in angles]
    for left, right, low, high in zip(angles[:-1], angles[1:], values[:-1], values[1:], strict=True):
        if np.isnan(low):
            yield None
        elif low * high < 0.0:
            try:
                yield _unit(equation, plane, brentq(across, left, right, xtol=1e-12))
            except ValueError:
                yield None


def _unit(equation: StationaryEquation, plane: Integers, angle: float) -> Floats:
    direction = np.zeros(equation.basis.degrees.size)
    direction[plane] = np.cos(angle), np.sin(angle)
    return direction


def _defect(equation: StationaryEquation, q: float, plane: Integers, angle: float) -> float:
    """Return the residual across the direction, relative to the amplitude; nan where Newton does not converge."""
    along, across = _unit(equation, plane, angle), _unit(equation, plane, angle + 0.5 * np.pi)
    rest = np.setdiff1d(np.arange(along.size), plane)
    b, coupling = AMPLITUDE * along, q
    for _ in range(20):
        evaluation = equation.evaluate(b, coupling)
        jacobian, derivative = equation.linearise(b, coupling, evaluation.gibbs.moments)
        rows = np.concatenate([jacobian[rest], along[None] @ jacobian])
        matrix = np.column_stack([rows[:, rest], np.append(derivative[rest], along @ derivative)])
        side = np.append(evaluation.residual[rest], along @ evaluation.residual)
        step = np.linalg.lstsq(matrix, -side)[0]
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
