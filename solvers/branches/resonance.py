"""Directions in which branches leave the uniform state where several modes are critical at the same coupling.

The reduced equation on the kernel is homogeneous to leading order, so at a small amplitude its solutions are isolated
directions. With two modes they are found as sign changes around a circle, with more by Newton on the sphere from
directions spread over it; no resonance is assumed, and of images under symmetries one is kept.

Critical couplings that agree to :data:`INSEPARABLE` are taken for one: what happens between them has amplitudes of the
order of their distance, and couplings closer than that by another power of it.
"""

from collections.abc import Iterator

import numpy as np
from scipy.optimize import brentq

from meanfield import CriticalPoint, McKeanVlasov, critical_couplings

from ..bases import Floats, Integers
from ..equation import StationaryEquation
from .recording import Register

# Critical couplings with a relative distance below this are not separated by arithmetic of 16 digits: what happens
# between them has amplitudes down to this, whose squares, changes of couplings and of eigenvalues, near rounding.
# Others are not separated from a group of such ones if they are this many times as far.
INSEPARABLE, BESIDE_OTHERS = 3e-7, 10.0
# The amplitude at which directions are sought: small, and small against the distance of further critical couplings;
# below the other one what distinguishes directions is rounding.
AMPLITUDE, SMALLEST_AMPLITUDE, SMALL = 2e-3, 2e-5, 0.05
ANGLES = 180
# Directions a dimension from which solutions on the sphere are sought, the most in all, and the steps of each.
STARTS, MOST_STARTS, ITERATIONS = 12, 2000, 40
# Components of a direction above this are felt; images differ by less than the other.
FELT, SAME = 0.05, 0.02


def merged(criticals: list[CriticalPoint], register: Register) -> list[list[CriticalPoint]]:
    """Return ascending critical points in groups of those that cannot be separated, which the register is told."""
    groups: list[list[CriticalPoint]] = [[point] for point in criticals]
    for farthest in (INSEPARABLE, BESIDE_OTHERS * INSEPARABLE):
        joined_groups: list[list[CriticalPoint]] = []
        for group in groups:
            last = joined_groups[-1] if joined_groups else []
            several = farthest == INSEPARABLE or len(group) > 1 or len(last) > 1
            if last and several and abs(group[0].coupling / last[-1].coupling - 1.0) <= farthest:
                last += group
            else:
                joined_groups.append(group)
        groups = joined_groups
    for group in groups:
        if len(group) > 1:
            modes = ", ".join(str(mode) for point in group for mode in point.modes)
            width = abs(group[-1].coupling / group[0].coupling - 1.0)
            register.warnings.append(
                f"the critical couplings of the modes {modes} near {float(group[0].coupling):.12g} agree to "
                f"{float(width):.1e} and are taken for one; what happens between them is not shown"
            )
    return groups


def joined(group: list[CriticalPoint]) -> CriticalPoint:
    """Return critical points as one, at the coupling that comes first."""
    first = min(group, key=lambda point: abs(point.coupling))
    modes = tuple(sorted(mode for point in group for mode in point.modes))
    dimension = sum(point.kernel_dimension for point in group)
    return CriticalPoint(first.coupling, first.relative_coupling, modes, dimension)


def spread(problem: McKeanVlasov, modes: tuple[int, ...]) -> float:
    """Return the relative width of the interval that holds the critical couplings of some modes."""
    couplings = np.abs(critical_couplings(problem, max(modes))[list(modes)])
    return float(couplings.max() / couplings.min() - 1.0)


def directions_in(equation: StationaryEquation, q: float, kernel: Integers, modes: tuple[int, ...], register: Register) -> list[Floats]:
    """Return the directions in a kernel of several dimensions along which branches leave, one of each orbit.

    Parameters
    ----------
    kernel
        The places of the critical modes among the unknowns.
    modes
        Their degrees, for what is said if directions may be missing.
    """
    amplitude, safe = _amplitude(equation, q, kernel)
    found: list[Floats] = []
    tried = list((_around_circle if kernel.size == 2 else _on_sphere)(equation, q, kernel, amplitude))
    for direction in tried:
        if direction is not None and not _known(direction, found, equation):
            found.append(direction)
    if not safe or any(direction is None for direction in tried):
        text = (
            f"not all branches that mix the modes {', '.join(map(str, modes))} at coupling "
            f"{float(equation.coupling(q)):.12g} may have been found: other modes are critical too close by"
        )
        register.warnings += [] if text in register.warnings else [text]
    return found


def felt_degrees(direction: Floats, equation: StationaryEquation) -> list[int]:
    """Return the degrees that a direction has a part in."""
    degrees = equation.basis.degrees[np.abs(direction) > FELT]
    return [int(degree) for degree in np.unique(degrees)]


def _amplitude(equation: StationaryEquation, q: float, kernel: Integers) -> tuple[float, bool]:
    """Return the amplitude at which to look, and whether it is small against the distance of the other modes."""
    zero = np.zeros(equation.basis.degrees.size)
    jacobian, _ = equation.linearise(zero, q, equation.evaluate(zero, q).gibbs.moments)
    others = np.abs(np.delete(np.diag(jacobian), kernel))
    nearest = SMALL * float(others.min(initial=1.0))
    return min(AMPLITUDE, max(nearest, SMALLEST_AMPLITUDE)), nearest >= SMALLEST_AMPLITUDE


def _known(direction: Floats, found: list[Floats], equation: StationaryEquation) -> bool:
    images = equation.basis.images(direction)
    return any(float(np.abs(image - old).max()) <= SAME for old in found for image in images)


def _on_sphere(
    equation: StationaryEquation, q: float, kernel: Integers, amplitude: float
) -> Iterator[Floats]:
    """Yield the directions in a kernel along which states of a small amplitude leave; some of them repeatedly."""
    count = min(STARTS ** (kernel.size - 1), MOST_STARTS)
    starts = np.random.default_rng(kernel.size).standard_normal((count, kernel.size))
    axes = np.eye(kernel.size)
    for start in (*axes, *starts):
        b = np.zeros(equation.basis.degrees.size)
        b[kernel] = amplitude * start / np.linalg.norm(start)
        state = _with_amplitude(equation, b, q, kernel, amplitude)
        if state is None:
            continue
        direction = np.zeros_like(b)
        direction[kernel] = state[kernel] / np.linalg.norm(state[kernel])
        yield direction


def _with_amplitude(
    equation: StationaryEquation, b: Floats, q: float, kernel: Integers, amplitude: float
) -> Floats | None:
    """Return the state whose part in the kernel has the small amplitude, by Newton; None where it is lost."""
    size = b.size
    matrix = np.zeros((size + 1, size + 1))
    for _ in range(ITERATIONS):
        evaluation = equation.evaluate(b, q)
        jacobian, derivative = equation.linearise(b, q, evaluation.gibbs.moments)
        matrix[:size, :size], matrix[:size, size] = jacobian, derivative
        matrix[size, kernel] = b[kernel]
        missing = 0.5 * (float(b[kernel] @ b[kernel]) - amplitude**2)
        step = np.linalg.lstsq(matrix, np.append(evaluation.residual, missing))[0]
        longest = float(np.abs(step[:size]).max())
        # Far from a solution, where the kernel is nearly singular, only the direction of a step means something.
        step *= min(1.0, 0.3 * amplitude / max(longest, 1e-300))
        b, q = b - step[:size], q - float(step[size])
        if not (np.isfinite(b).all() and q > 0.0):
            return None
        if longest <= 1e-9 * amplitude:
            return b
    return None


def _around_circle(
    equation: StationaryEquation, q: float, plane: Integers, amplitude: float
) -> Iterator[Floats | None]:
    """Yield the directions in a plane, the kernel, along which small states leave; None where this is not known.

    At a fixed amplitude and angle, the coupling and all other modes are solved from every equation but the one
    across the direction; that one is left as a function of the angle, whose zeros are the branches.
    """

    def across(angle: float) -> float:
        return _defect(equation, q, plane, angle, amplitude)

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


def _defect(
    equation: StationaryEquation, q: float, plane: Integers, angle: float, amplitude: float
) -> float:
    """Return the residual across the direction, relative to the amplitude; nan where Newton does not converge."""
    along, across = _unit(equation, plane, angle), _unit(equation, plane, angle + 0.5 * np.pi)
    rest = np.setdiff1d(np.arange(along.size), plane)
    b, coupling = amplitude * along, q
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
            return float(across @ equation.evaluate(b, coupling).residual) / amplitude
    return np.nan
