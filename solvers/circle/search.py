"""Where the search for states that no branch leads to starts, in every rotation symmetry."""

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy.special import ive

from meanfield import McKeanVlasov, Number

from ..bases import CosineBasis, Floats
from ..branches.continuation import Point
from ..branches.deflation import search
from ..equation import StationaryEquation, stationary_equation
from ..searched import Searched

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


def seeds(equation: StationaryEquation, q: float) -> Iterator[Floats]:
    """Yield guesses: bumps of several widths and weights, and densities with several modes excited."""
    basis = equation.basis
    assert isinstance(basis, CosineBasis)
    alternating = np.where(basis.cells % 2 == 1, -1.0, 1.0)
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


def search_all(problem: McKeanVlasov, sign: int, coupling: Number, known: list[Point]) -> Searched:
    """Return the states at a coupling, in every rotation symmetry that can hold one, that are not known."""
    new: list[Point] = []
    for symmetry in range(1, LARGEST_SYMMETRY + 1):
        equation = stationary_equation(problem, symmetry, sign)
        if equation is None or not _respects(problem, symmetry):
            continue
        q = float(coupling / (sign * equation.unit))
        if _only_one_state(equation, q):
            continue
        for point in search(equation, q, _known(equation, known + new), seeds(equation, q)):
            if symmetry_of(point) and not any(same_orbit(point, other) for other in known + new):
                new.append(point)
    return Searched(new, "even densities")


def _respects(problem: McKeanVlasov, symmetry: int) -> bool:
    """Whether the confinement, if there is one, has the symmetry."""
    if problem.confinement is None:
        return True
    relative = problem.confinement.relative_multipliers(problem.domain, 64)
    return not np.any(relative[np.arange(65) % symmetry != 0])


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
        cosine, sine = point.equation.basis.expand(point.moments)
        if symmetry_of(point) % equation.basis.symmetry == 0 and not np.any(sine):
            known.append(equation.unknown_from(equation.basis.moments_from(cosine, sine)))
    return known


def symmetry_of(point: Point) -> int:
    """Return n if the state is invariant under rotation by 2 pi/n and no smaller angle; 0 if uniform."""
    cosine, sine = point.equation.basis.expand(point.moments)
    felt = np.flatnonzero(np.hypot(cosine, sine)[1:] > 1e-8) + 1
    return int(np.gcd.reduce(felt)) if felt.size else 0


def name_of(point: Point) -> str:
    """Return a state in words."""
    return f"{symmetry_of(point)}-cluster"


def same_orbit(one: Point, other: Point) -> bool:
    """Whether two states at one coupling are rotations or reflections of each other."""
    first, second = (np.hypot(*point.equation.basis.expand(point.moments)) for point in (one, other))
    count = min(first.size, second.size)
    # A nearly neutral direction leaves the position along it known to half of the digits only.
    if np.abs(first[:count] - second[:count]).max() > 1e-6:
        return False
    return abs(one.free_energy_gap - other.free_energy_gap) <= 1e-10 * max(1.0, abs(one.free_energy_gap))
