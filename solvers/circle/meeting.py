"""Arrivals of branches at more symmetric ones.

At such a point the part of the state outside the larger symmetry changes sign: the modes that are no multiples of a
larger rotation symmetry, or, at a state without reflection axis, the sines about the axis that appears, see
:mod:`.uneven`. The point itself is located on the more symmetric branch, where it is the zero of an eigenvalue and
Newton is regular.
"""

import math

import numpy as np

from ..bases import Basis, Floats
from ..branches.continuation import Point, length
from ..branches.junctions import COLLAPSE, Arrival, Departure, at_uniform, critical_point, leads_back, same_moments
from ..equation import StationaryEquation
from .equations import circle_equation
from .moments import complex_moments
from .rotation import overlaps, turned
from .stability import Block

PRIMES = (2, 3, 5, 7, 11, 13)
# Modes of the state between two points count for its symmetry above this share of the largest, or of the way.
SIGNIFICANT_AT_CROSSING, MISSED = 1e-3, 0.05
# Axes are the same if they differ by less than this share of the angle between two.
SAME_AXIS = 1e-6


def meeting(last: Point, point: Point) -> Arrival | None:
    """Return the arrival of a curve of even states at a more symmetric one between two points, or None.

    The part of the state outside the larger symmetry changes sign there.
    """
    basis = point.equation.basis
    older = last.on(point.equation)
    kept = older.b * (point.b - COLLAPSE * older.b)
    if kept.item(kept.argmin()) >= 0.0:
        # Every mode has its sign and has not collapsed.
        return None
    product = older.b * point.b
    sizes = np.abs(older.b)
    collapsed = np.abs(point.b) < COLLAPSE * sizes
    leading = collapsed & (sizes > COLLAPSE * sizes.max())
    same_signs = product.item(product.argmin()) > -1e-13 * product.item(product.argmax())
    if same_signs and not np.count_nonzero(leading):
        return None
    # Through the uniform state, or past it: where the rest of the state stays, it is another branch that is met.
    through_zero = basis.confinement is None and float(product.sum()) < 0.0
    for prime in PRIMES:
        if prime > basis.cells[-1]:
            break
        if not _admits(basis, prime * basis.symmetry):
            continue
        outside = basis.cells % prime != 0
        if outside.all() or not outside.any():
            continue
        if float(product[outside].sum()) < 0.0 or (leading.any() and collapsed[outside & leading].all()):
            found = _meeting_branch(older, point, outside)
            if found is not None and not (through_zero and _vanishes(found, older, point, ~outside)):
                return found
    return at_uniform(older, point) if through_zero else None


def _vanishes(arrival: Arrival, last: Point, point: Point, inside: np.ndarray) -> bool:
    """Return whether the state met is uniform: smaller than the part of two points of a curve in its symmetry."""
    kept = np.abs(0.5 * (last.b + point.b)[inside] / point.equation.scales[inside]).max()
    return bool(np.abs(arrival.point.moments[1:]).max() < 0.5 * kept)


def _admits(basis: Basis, symmetry: int) -> bool:
    """Return whether the confinement, if there is one, has a rotation symmetry of an order."""
    if basis.confinement is None:
        return True
    degrees = basis.symmetry * (1 + np.flatnonzero(basis.confinement))
    return bool(np.all(degrees % symmetry == 0))


def _meeting_branch(last: Point, point: Point, outside: np.ndarray) -> Arrival | None:
    basis = point.equation.basis
    sizes = [float(np.linalg.norm(p.b[outside])) for p in (last, point)]
    share = sizes[0] / (sizes[0] + sizes[1])
    crossing_b = (1 - share) * last.b + share * point.b
    crossing_q = (1 - share) * last.q + share * point.q
    # The chord misses the curve by a part of its length.
    largest = float(np.abs(crossing_b).max())
    levels = (SIGNIFICANT_AT_CROSSING * largest, min(MISSED * sum(sizes), 0.5 * largest))
    significant = [basis.degrees[np.abs(crossing_b) > level].tolist() for level in levels]
    for symmetry in dict.fromkeys(math.gcd(*degrees) for degrees in significant):
        if symmetry <= basis.symmetry or not _admits(basis, symmetry):
            continue
        kernel = np.where(basis.degrees % symmetry != 0, point.b - last.b, 0.0)
        reach = length(point.b - last.b, point.q - last.q)
        found = _located(point.equation, crossing_b, crossing_q, symmetry, kernel, reach)
        if found is not None:
            return found
    return None


def _located(
    equation: StationaryEquation, b: Floats, q: float, symmetry: int, kernel: Floats, reach: float
) -> Arrival | None:
    """Return the arrival at a more symmetric branch, by the secant method on its critical eigenvalue, or None."""
    target = circle_equation(
        equation.geometry,
        equation.problem,
        symmetry,
        equation.sign,
        modes=equation.basis.symmetry * equation.basis.nodes,
        unknowns=int(equation.basis.degrees.max()) // symmetry,
        axis=equation.basis.axis,
    )
    if target is None:
        return None
    old = equation.basis.symmetry
    strongest = int(equation.basis.degrees[np.argmax(np.abs(kernel))])
    residue = min(strongest % symmetry, -strongest % symmetry)
    block = Block(residue, "even")
    values = np.zeros(int(max(equation.basis.degrees.max(), target.basis.degrees.max())) + 1)
    values[equation.basis.degrees] = b / equation.scales
    start = target.scales * values[target.basis.degrees]
    ratio = float(equation.unit / target.unit)
    found = critical_point(target, start, q * ratio, block, reach)
    if found is None:
        return None
    met, error = found
    return Arrival(
        met,
        met.coupling,
        reflecting=(symmetry // old) % 2 == 0,
        met=f"a branch of {symmetry} clusters",
        error=error * q,
        kernel_dimension=1 if 2 * residue == symmetry else 2,
    )


def nearest_image(symmetric: Point, last: Point) -> Floats:
    """Return the image of a more symmetric state nearest to an arriving branch of even states, in its unknowns.

    Only turns by multiples of half its own angle keep it even.
    """
    basis = last.equation.basis
    moments = complex_moments(symmetric)
    if basis.confinement is None:
        symmetry = symmetric.equation.basis.symmetry
        turns = np.pi * np.arange(2 * symmetry) / symmetry
        moments = turned(moments, float(turns[np.argmax(overlaps(moments, complex_moments(last), turns))]))
    return last.equation.unknown_from(basis.moments_from(moments.real, -moments.imag))


def same_place(departure: Departure, arrival: Arrival) -> bool:
    """Return whether a departure starts at the branch point of an arrival."""
    point = arrival.point
    if not np.any(departure.b):
        return departure.equation.basis.symmetry == point.equation.basis.symmetry and leads_back(departure, arrival)
    if np.abs(departure.coupling - arrival.coupling) > 1e-7 * np.abs(arrival.coupling):
        return False
    if arrival.even != departure.equation.basis.even:
        return False
    one, other = complex_moments(departure.base()), complex_moments(point)
    symmetry = point.equation.basis.symmetry
    if not arrival.even or (symmetry // departure.equation.basis.symmetry) % 2 == 1:
        # Reflection symmetry is lost, and rotation symmetry divided by an odd number, in the same way at every
        # rotation of the state; by an even number in another way at the state turned by half of its angle.
        one, other = np.abs(one), np.abs(other)
    else:
        turns = (departure.equation.basis.axis - point.equation.basis.axis) * symmetry / (2.0 * np.pi)
        if abs(turns - round(turns)) > SAME_AXIS:
            return False
    return same_moments(one, other)
