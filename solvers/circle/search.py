"""Where the search for states that no branch leads to starts, in every rotation symmetry."""

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy.special import ive

from meanfield import McKeanVlasov, Number

from ..bases import CosineBasis, Floats
from ..branches.continuation import Point
from ..branches.deflation import search
from ..equation import StationaryEquation, axis_of, stationary_equation
from ..felt import confining_symmetry
from .moments import complex_moments
from .rotation import turned

LARGEST_SYMMETRY = 12
# Of the modes beyond their threshold the strongest few are combined in all signs.
COMBINED = 4
# Random fields: so many of each strength, on so many modes.
SCATTERED_MODES = 6
SCATTERED = 16
# States of larger symmetry are few, and branches lead to them.
SCATTERED_SYMMETRY = 2
STRENGTHS = (1.0, 2.5, 5.0)
CONCENTRATIONS = (0.5, 1.5, 4.0, 12.0, 40.0, 150.0)
MIXTURES = (0.5, 0.65, 0.8)
# A nearly neutral direction leaves the position along it known to half of the digits only.
SAME = 1e-6
# Sines below this are rounding noise of a state that is even about an axis.
ROUNDING = 1e-12


def seeds(equation: StationaryEquation, q: float) -> Iterator[Floats]:
    """Yield guesses: bumps of several widths and weights, and densities with several modes excited."""
    basis = equation.basis
    assert isinstance(basis, CosineBasis)
    alternating = np.where(basis.cells % 2 == 1, -1.0, 1.0)
    if basis.confinement is not None:
        yield equation.unknown_from(basis.gibbs(np.zeros(basis.cells.size)).moments)
    for concentration in CONCENTRATIONS:
        bump = ive(basis.cells, concentration) / ive(0, concentration)
        yield equation.scales * bump
        yield equation.scales * alternating * bump
        for weight in MIXTURES:
            yield equation.scales * (weight + (1.0 - weight) * alternating) * bump
    yield from _excited(equation, q)
    if basis.symmetry <= SCATTERED_SYMMETRY:
        yield from _scattered(equation)


def _excited(equation: StationaryEquation, q: float) -> Iterator[Floats]:
    """Yield Gibbs densities of fields on the strongest unstable modes, in every combination of signs."""
    strengths = q * equation.signs * equation.scales**2
    unstable = np.flatnonzero(strengths > 1.0)
    modes = unstable[np.argsort(-strengths[unstable])][:COMBINED]
    for signs in product((0.0, 1.0, -1.0), repeat=modes.size):
        field = np.zeros(strengths.size)
        field[modes] = 1.5 * np.array(signs)
        if np.count_nonzero(field) > 1:
            yield equation.unknown_from(equation.basis.gibbs(field).moments)


def _scattered(equation: StationaryEquation) -> Iterator[Floats]:
    """Yield Gibbs densities of fields scattered over the strongest modes, the same ones every time."""
    modes = np.argsort(-equation.scales, kind="stable")[:SCATTERED_MODES]
    generator = np.random.Generator(np.random.PCG64(0))
    for strength in np.repeat(STRENGTHS, SCATTERED):
        field = np.zeros(equation.scales.size)
        field[modes] = strength * generator.standard_normal(modes.size)
        yield equation.unknown_from(equation.basis.gibbs(field).moments)


def search_all(problem: McKeanVlasov, sign: int, coupling: Number, known: list[Point]) -> list[Point]:
    """Return the states at a coupling, in every rotation symmetry that can hold one, that are not known."""
    new: list[Point] = []
    places = [(n, axis) for n in range(1, LARGEST_SYMMETRY + 1) for axis in _axes(problem, n)]
    for symmetry, axis in places:
        equation = stationary_equation(problem, symmetry, sign, axis=axis)
        if equation is None:
            continue
        q = float(coupling / (sign * equation.unit))
        if _only_one_state(equation, q):
            continue
        for point in search(equation, q, _known(equation, known + new), seeds(equation, q)):
            if symmetry_of(point) and not any(same_orbit(point, other) for other in known + new):
                new.append(point)
    return new


def _axes(problem: McKeanVlasov, symmetry: int) -> tuple[float, ...]:
    """Return the reflection axes of densities of a symmetry, one of each orbit of the symmetries of the problem.

    None where the confinement lacks the rotation symmetry. One of order k has its axes at the multiples of pi/k, of
    which the even ones are rotations of each other; a state of symmetry n has those at the multiples of pi/n.
    """
    order = confining_symmetry(problem)
    if order % symmetry != 0:
        return ()
    return (0.0, np.pi / order) if order and (order // symmetry) % 2 == 0 else (0.0,)


def _only_one_state(equation: StationaryEquation, q: float) -> bool:
    """Whether the state is unique in its symmetry.

    Without attractive modes the free energy is strictly convex. With 2 sum |lambda_k| < 1 the Jacobian is regular
    at every density.
    """
    if equation.basis.confinement is not None:
        return False
    small = 2.0 * q * float((equation.scales**2).sum()) < 1.0
    return bool((equation.signs < 0).all()) or (small and equation.complete)


def _known(equation: StationaryEquation, points: list[Point]) -> list[Floats]:
    """Return the uniform state and the known states of a symmetry in the unknowns of its equation."""
    known = [] if equation.basis.confinement is not None else [np.zeros(equation.basis.degrees.size)]
    for point in points:
        moments = complex_moments(point)
        uneven = turned(moments, -axis_of(equation)).imag
        if symmetry_of(point) % equation.basis.symmetry == 0 and np.abs(uneven).max() <= ROUNDING:
            known.append(equation.unknown_from(equation.basis.moments_from(moments.real, -moments.imag)))
    return known


def symmetry_of(point: Point) -> int:
    """Return n if the state is invariant under rotation by 2 pi/n and no smaller angle; 0 if uniform.

    In a confinement no state is uniform, and however close to it one is, its moments are known to as many digits.
    """
    sizes = np.abs(complex_moments(point)[1:])
    scale = 1.0 if point.equation.problem.confinement is None else min(1.0, float(sizes.max()))
    felt = np.flatnonzero(sizes > 1e-8 * scale) + 1
    return int(np.gcd.reduce(felt)) if felt.size else confining_symmetry(point.equation.problem)


def name_of(point: Point) -> str:
    """Return a state in words."""
    return f"{symmetry_of(point)}-cluster"


def same_orbit(one: Point, other: Point) -> bool:
    """Whether two states at one coupling are rotations or reflections of each other, those that the problem has."""
    first, second = complex_moments(one), complex_moments(other)
    count = min(first.size, second.size)
    first, second = first[:count], second[:count]
    if np.abs(np.abs(first) - np.abs(second)).max() > SAME:
        return False
    if abs(one.free_energy_gap - other.free_energy_gap) > 1e-10 * max(1.0, abs(one.free_energy_gap)):
        return False
    order = confining_symmetry(one.equation.problem)
    images = (turned(m, 2.0 * np.pi * j / order) for m in (second, second.conj()) for j in range(order))
    return order == 0 or any(np.abs(first - image).max() <= SAME for image in images)
