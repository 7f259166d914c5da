"""Directions in which branches leave the uniform state if several modes are critical at the same coupling.

The reduced equation on the kernel is homogeneous to leading order, so at a small amplitude its solutions are
isolated directions, the critical points of the reduced energy of third and fourth order on a sphere. They are found
there, and each is then corrected at a small amplitude; no resonance is assumed, and of images under symmetries one
is kept.

Critical couplings that agree to :data:`INSEPARABLE` are treated as one: events between them have amplitudes of
the order of their distance, and couplings closer than that by another power of it.
"""

import numpy as np

from meanfield import CriticalPoint, Equation, critical_couplings

from ..bases import Floats, Integers
from ..equations.equation import StationaryEquation
from .junctions import INSEPARABLE
from .recording import Register

# Critical couplings are not separated from a group of those that arithmetic does not separate if they are this many
# times as far as these may be.
BESIDE_OTHERS = 10.0
# The amplitude at which directions are sought: small, and small against the distance of further critical couplings;
# below the other one what distinguishes directions is rounding.
AMPLITUDE, SMALLEST_AMPLITUDE, SMALL = 2e-3, 2e-5, 0.05
# Where the states found there have other directions, by a smaller cosine of the angle, it is raised by factors.
AGREEING, RAISED, LARGEST_AMPLITUDE = 0.999, 4.0, 2e-2
# Critical points of the reduced energy are sought from so many directions times the square of the dimension, in so
# many steps, of this length at most, to this accuracy.
STARTS, ITERATIONS, LONGEST, CRITICAL = 40, 40, 0.3, 1e-6
# A circle of directions is listed from here: just off the axes, which are often directions.
FIRST_ANGLE = 0.01
# Components of a direction above this are significant; images differ by less than the other.
SIGNIFICANT, SAME = 0.05, 0.02


def merged(criticals: list[CriticalPoint], register: Register) -> list[list[CriticalPoint]]:
    """Return ascending critical points in groups of inseparable ones, with a warning in the register."""
    groups: list[list[CriticalPoint]] = [[point] for point in criticals]
    for farthest in (INSEPARABLE, BESIDE_OTHERS * INSEPARABLE):
        joined_groups: list[list[CriticalPoint]] = []
        for group in groups:
            last = joined_groups[-1] if joined_groups else []
            several = farthest == INSEPARABLE or len(group) > 1 or len(last) > 1
            if last and several and _apart(last[-1], group[0]) <= farthest:
                last += group
            else:
                joined_groups.append(group)
        groups = joined_groups
    for group in groups:
        if len(group) > 1:
            modes = ", ".join(str(mode) for point in group for mode in point.modes)
            width = _apart(group[0], group[-1])
            register.warnings.append(
                f"the critical couplings of the modes {modes} near {float(group[0].coupling):.12g} agree to "
                f"{width:.1e} and are taken for one; what happens between them is not shown"
            )
    return groups


def _apart(one: CriticalPoint, other: CriticalPoint) -> float:
    return abs(float(other.coupling / one.coupling) - 1.0)


def joined(group: list[CriticalPoint]) -> CriticalPoint:
    """Return several critical points as one, at the coupling of smallest modulus."""
    first = group[0] if group[0].coupling > 0 else group[-1]
    modes = tuple(sorted(mode for point in group for mode in point.modes))
    dimension = sum(point.kernel_dimension for point in group)
    return CriticalPoint(first.coupling, first.relative_coupling, modes, dimension)


def spread(problem: Equation, modes: tuple[int, ...]) -> float:
    """Return the relative width of the interval that holds the critical couplings of some modes."""
    couplings = np.abs(critical_couplings(problem, max(modes))[list(modes)])
    return float(couplings.max() / couplings.min() - 1.0)


def directions_in(
    equation: StationaryEquation, q: float, kernel: Integers, modes: tuple[int, ...], register: Register
) -> list[Floats]:
    """Return the directions in a kernel of several dimensions along which branches leave, one of each orbit.

    Parameters
    ----------
    kernel
        The places of the critical modes among the unknowns.
    modes
        Their degrees, for the warning if directions may be missing.
    """
    others = np.abs(np.delete(equation.distances(q), kernel))
    nearest = SMALL * float(others.min(initial=1.0))
    amplitude = min(AMPLITUDE, max(nearest, SMALLEST_AMPLITUDE))
    found, agreement = _directions_at(equation, q, kernel, amplitude)
    safe = nearest >= SMALLEST_AMPLITUDE
    # Critical couplings that are taken for one are so at amplitudes whose squares are large against their distance.
    while agreement < AGREEING and RAISED * amplitude <= LARGEST_AMPLITUDE:
        amplitude *= RAISED
        larger, agreement_there = _directions_at(equation, q, kernel, amplitude)
        if agreement_there > agreement:
            found, agreement, safe = larger, agreement_there, amplitude <= nearest
    if agreement < AGREEING or not safe:
        text = (
            f"not all branches that mix the modes {', '.join(map(str, modes))} at {equation.parameter} "
            f"{float(equation.value(q)):.12g} may have been found, stable states from there on included: other "
            "modes are critical too close by"
        )
        register.warnings += [] if text in register.warnings else [text]
    return found


def degrees_in(direction: Floats, equation: StationaryEquation) -> list[int]:
    """Return the degrees in which a direction has components."""
    degrees = equation.basis.degrees[np.abs(direction) > SIGNIFICANT]
    return [int(degree) for degree in np.unique(degrees)]


def _directions_at(
    equation: StationaryEquation, q: float, kernel: Integers, amplitude: float
) -> tuple[list[Floats], float]:
    """Return the directions of the states at an amplitude, and their agreement with those of the reduced energy.

    The agreement is the smallest cosine of the angles between both, zero if a direction leads to no state.
    """
    found: list[Floats] = []
    sought: list[Floats] = []
    agreement = 1.0
    for u in _critical_directions(equation, q, kernel, amplitude):
        guess = np.zeros(equation.basis.degrees.size)
        guess[kernel] = u
        if _known(guess, sought, equation):
            continue
        sought.append(guess)
        state = _with_amplitude(equation, amplitude * guess, q, kernel, amplitude)
        if state is None:
            agreement = 0.0
            continue
        direction = np.zeros_like(guess)
        direction[kernel] = state[kernel] / np.linalg.norm(state[kernel])
        agreement = min(agreement, float(direction @ guess))
        if not _known(direction, found, equation):
            found.append(direction)
    return found, agreement


def _known(direction: Floats, found: list[Floats], equation: StationaryEquation) -> bool:
    images = equation.basis.images(direction)
    return any(float(np.abs(image - old).max()) <= SAME for old in found for image in images)


def _critical_directions(equation: StationaryEquation, q: float, kernel: Integers, amplitude: float) -> Floats:
    """Return critical points of the reduced energy on the unit sphere of the kernel, (count, n), some twice.

    To fourth order, the other modes eliminated: with f(u) = C(u, u)/2 + a Q(u, u, u)/6 they solve f(u) = x u. By
    Newton's method in (u, x) from starts spread over the sphere, all at once.
    """
    cubic, quartic = _reduced_energy(equation, q, kernel, amplitude)
    size = kernel.size
    starts = np.random.default_rng(size).standard_normal((STARTS * size**2, size))
    u = np.concatenate([np.eye(size), starts])
    u /= np.linalg.norm(u, axis=1)[:, None]
    matrix = np.zeros((len(u), size + 1, size + 1))
    multiplier, longest = np.zeros(len(u)), np.full(len(u), np.inf)
    for iteration in range(ITERATIONS):
        twice = np.einsum("ijk,mj->mik", cubic, u)
        thrice = amplitude * np.einsum("ijkl,mj,ml->mik", quartic, u, u)
        force = np.einsum("mik,mk->mi", twice / 2.0 + thrice / 6.0, u)
        if iteration == 0:
            multiplier = np.einsum("mi,mi->m", u, force)
        matrix[:, :size, :size] = twice + thrice / 2.0 - multiplier[:, None, None] * np.eye(size)
        matrix[:, :size, size], matrix[:, size, :size] = -u, u
        missing = np.concatenate(
            [force - multiplier[:, None] * u, (np.sum(u**2, axis=1)[:, None] - 1.0) / 2.0], axis=1
        )
        step = np.einsum("mij,mj->mi", np.linalg.pinv(matrix), missing)
        longest = np.linalg.norm(step[:, :size], axis=1)
        step *= np.minimum(1.0, LONGEST / np.maximum(longest, 1e-300))[:, None]
        u, multiplier = u - step[:, :size], multiplier - step[:, size]
    found: Floats = u[longest <= CRITICAL]
    if size == 2:
        # Round the circle, so that branches have their names in an order that means something.
        found = found[np.argsort((np.arctan2(found[:, 1], found[:, 0]) - FIRST_ANGLE) % (2.0 * np.pi))]
    return np.asarray(found / np.linalg.norm(found, axis=1)[:, None])


def _reduced_energy(equation: StationaryEquation, q: float, kernel: Integers, step: float) -> tuple[Floats, Floats]:
    """Return the third and fourth derivatives of the reduced energy on the kernel, by differences of J.

    With D the third derivatives of the energy, two indices in the kernel, eliminating the mode s takes
    D_ijs D_kls / J_ss in all three pairings from the fourth ones.
    """
    size = kernel.size

    def matrix(*shifts: tuple[int, float]) -> Floats:
        b = np.zeros(equation.basis.degrees.size)
        for place, sign in shifts:
            b[kernel[place]] += sign * step
        return equation.linearise(b, q, equation.evaluate(b, q).gibbs.moments)[0]

    third = np.array([(matrix((k, 1.0)) - matrix((k, -1.0))) / (2.0 * step) for k in range(size)])
    quartic = np.zeros((size,) * 4)
    for k in range(size):
        for m in range(k + 1):
            signs = ((1.0, 1.0), (-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0))
            total = np.sum([a * b * matrix((k, a), (m, b)) for a, b in signs], axis=0) / (4.0 * step**2)
            quartic[:, :, k, m] = quartic[:, :, m, k] = total[np.ix_(kernel, kernel)]
    others = np.setdiff1d(np.arange(equation.basis.degrees.size), kernel)
    slaved = third[:, kernel][:, :, others]
    pairs = np.einsum("ijs,kls->ijkl", slaved / np.diag(matrix())[others], slaved)
    quartic -= pairs + pairs.transpose(0, 2, 1, 3) + pairs.transpose(0, 3, 2, 1)
    return third[:, kernel][:, :, kernel], quartic


def _with_amplitude(
    equation: StationaryEquation, b: Floats, q: float, kernel: Integers, amplitude: float
) -> Floats | None:
    """Return the state whose component in the kernel has a small amplitude, by Newton's method; None if lost."""
    size = b.size
    matrix = np.zeros((size + 1, size + 1))
    evaluation = equation.evaluate(b, q)
    _, derivative = equation.linearise(b, q, evaluation.gibbs.moments)
    # At the coupling itself the matrix is singular; at this one the residual has no part along the direction.
    q -= float(b @ evaluation.residual) / float(b @ derivative)
    for _ in range(ITERATIONS):
        evaluation = equation.evaluate(b, q)
        jacobian, derivative = equation.linearise(b, q, evaluation.gibbs.moments)
        matrix[:size, :size], matrix[:size, size] = jacobian, derivative
        matrix[size, kernel] = b[kernel]
        missing = 0.5 * (float(b[kernel] @ b[kernel]) - amplitude**2)
        step = np.linalg.lstsq(matrix, np.append(evaluation.residual, missing))[0]
        longest = float(np.abs(step[:size]).max())
        # Far from a solution, where the kernel is nearly singular, only the direction of a step means something.
        step *= min(1.0, LONGEST * amplitude / max(longest, 1e-300))
        b, q = b - step[:size], q - float(step[size])
        if not (np.isfinite(b).all() and q > 0.0):
            return None
        if longest <= 1e-9 * amplitude:
            return b
    return None
