"""Starts of the search for states about an axis that no branch leads to."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from meanfield import Equation, Number

from ..bases import Floats, Integers
from ..branches.continuation import Point
from ..branches.deflation import search
from ..branches.orbits import same_orbit, symmetry_of
from ..equations.equation import StationaryEquation
from ..equations.geometry import Geometry
from ..equations.significant import confining_symmetry
from ..equations.sizing import stationary_equation
from .points import Field

# Of the degrees beyond their threshold the strongest few are combined in all signs.
COMBINED = 4
# Times of diffusion that spread a point, two antipodal points or the equator to a start.
SPREADS = (1.0, 0.3, 0.1, 0.03, 0.01)
# Shares of the mass at the stronger of two poles.
SHARES = (0.5, 0.65, 0.8, 1.0)


def zonal_states(
    geometry: Geometry, problem: Equation, sign: int, coupling: Number, field: Field, known: list[Point]
) -> list[Point]:
    """Return the zonal states at a coupling that are not known, even about the equator or not."""
    new: list[Point] = []
    for symmetry in (2, 1):
        equation = stationary_equation(geometry, problem, symmetry, sign)
        if equation is None or confining_symmetry(problem) % symmetry != 0:
            continue
        q = equation.q_at(coupling)
        significant = np.arange(0, field.strengths.size, symmetry)
        # In a confinement the only state need not be known.
        if problem.confinement is None and field.is_convex(significant):
            continue
        for point in search(equation, q, _known(equation, known + new), _seeds(equation, q)):
            if symmetry_of(point) and not any(same_orbit(point, other) for other in known + new):
                new.append(point)
    return new


def _seeds(equation: StationaryEquation, q: float) -> Iterator[Floats]:
    """Yield starts: spread points, pairs of points and equators, and densities with several degrees excited."""
    degrees = equation.basis.degrees
    domain = equation.problem.domain
    if equation.basis.confinement is not None:
        yield equation.unknown_from(equation.basis.gibbs(np.zeros(degrees.size)).moments)
    decay = np.array([float(domain.laplacian_eigenvalue(int(degree))) for degree in degrees])
    for spread in SPREADS:
        heat = np.exp(decay * spread / (domain.dimension - 1.0))
        for share in SHARES:
            yield equation.scales * np.where(degrees % 2 == 1, 2.0 * share - 1.0, 1.0) * heat
        yield equation.scales * _on_the_equator(domain.dimension, degrees) * heat
    yield from _excited(equation, q)


def _on_the_equator(dimension: int, degrees: Integers) -> Floats:
    """Return P_l(0), by P_l(0) = -(l - 1)/(l + d - 3) P_{l-2}(0)."""
    values = np.zeros(int(degrees.max()) + 1)
    values[0] = 1.0
    for degree in range(2, values.size, 2):
        values[degree] = -(degree - 1.0) / (degree + dimension - 3.0) * values[degree - 2]
    return np.asarray(values[degrees])


def _excited(equation: StationaryEquation, q: float) -> Iterator[Floats]:
    """Yield Gibbs densities of fields on the strongest unstable degrees, in every combination of signs."""
    strengths = equation.doubled * q * equation.signs * equation.scales**2 * equation.basis.squares
    unstable = np.flatnonzero(strengths > 1.0)
    modes = unstable[np.argsort(-strengths[unstable])][:COMBINED]
    for signs in product((0.0, 1.0, -1.0), repeat=modes.size):
        field = np.zeros(strengths.size)
        field[modes] = 1.5 * np.array(signs)
        if np.any(field):
            yield equation.unknown_from(equation.basis.gibbs(field).moments)


def _known(equation: StationaryEquation, points: list[Point]) -> list[Floats]:
    """Return the uniform state and the known states of a symmetry in the unknowns of its equation."""
    known = [] if equation.basis.confinement is not None else [np.zeros(equation.basis.degrees.size)]
    for point in points:
        basis = point.equation.basis
        if basis.modes == equation.basis.modes and symmetry_of(point) % equation.basis.symmetry == 0:
            known.append(point.unknown_in(equation))
    return known
