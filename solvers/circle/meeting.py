"""Arrivals of branches at more symmetric ones.

At such a point the part of the state outside the larger symmetry changes sign: the modes that are no multiples of a
larger rotation symmetry, or, at a state without reflection axis, the sines about the axis that appears, see
:mod:`.uneven`. The point itself is located on the more symmetric branch, where it is the zero of an eigenvalue and
Newton is regular.
"""

import math
from collections.abc import Sequence

import numpy as np

from ..bases import COLLAPSE, Basis, Floats
from ..branches.arrivals import Arrival, arrival_near, at_uniform, crossing, in_symmetry
from ..branches.continuation import Point, length
from ..branches.junctions import Departure
from ..equations.equation import StationaryEquation
from ..equations.sizing import equation_among
from .axes import confining_symmetry_in
from .moments import complex_moments
from .rotation import Complexes, overlaps, turned
from .stability import Block

Moments = Floats | Complexes
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
    return at_uniform(older, point) if through_zero else _meeting_confinement(older, point)


def meets_none(points: Sequence[Point]) -> list[bool]:
    """Return for neighbouring points of one equation whether every mode keeps its sign and does not collapse.

    Then :func:`meeting` finds none.
    """
    b = np.array([point.b for point in points])
    kept = b[:-1] * (b[1:] - COLLAPSE * b[:-1])
    found: list[bool] = (kept.min(axis=1) >= 0.0).tolist()
    return found


def _vanishes(arrival: Arrival, last: Point, point: Point, inside: np.ndarray) -> bool:
    """Return whether the state met is uniform: smaller than the part of two points of a curve in its symmetry."""
    kept = np.abs(0.5 * (last.b + point.b)[inside] / point.equation.scales[inside]).max()
    return bool(np.abs(arrival.point.moments[1:]).max() < 0.5 * kept)


def _admits(basis: Basis, symmetry: int) -> bool:
    """Return whether the confinement, if there is one, has a rotation symmetry of an order."""
    return basis.confinement is None or confining_symmetry_in(basis) % symmetry == 0


def _meeting_branch(last: Point, point: Point, outside: np.ndarray) -> Arrival | None:
    basis = point.equation.basis
    crossing_b, crossing_q = crossing(last, point, outside)
    # The chord misses the curve by a part of its length.
    largest = float(np.abs(crossing_b).max())
    sizes = [float(np.linalg.norm(end.b[outside])) for end in (last, point)]
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


def _meeting_confinement(last: Point, point: Point) -> Arrival | None:
    """Return the arrival at the density of a confinement alone, on whose symmetry no mode acts, or None."""
    basis = point.equation.basis
    if basis.confinement is None or float(last.b @ point.b) >= 0.0:
        return None
    symmetry = confining_symmetry_in(basis)
    if symmetry == 0 or not np.all(basis.degrees % symmetry):
        return None
    _, q = crossing(last, point, np.ones(basis.cells.size, dtype=bool))
    change = point.b - last.b
    return _located(point.equation, np.zeros_like(change), q, symmetry, change, length(change, point.q - last.q))


def _located(
    equation: StationaryEquation, b: Floats, q: float, symmetry: int, kernel: Floats, reach: float
) -> Arrival | None:
    """Return the arrival at a more symmetric branch, where its eigenvalue along the kernel vanishes, or None."""
    target = equation_among(equation, symmetry, finer=2)
    if target is None:
        return None
    strongest = int(equation.basis.degrees[np.argmax(np.abs(kernel))])
    residue = min(strongest % symmetry, -strongest % symmetry)
    return arrival_near(
        equation,
        target,
        in_symmetry(b, equation, target),
        q,
        Block(residue, "even"),
        reach,
        f"a branch of {symmetry} clusters",
        reflecting=(symmetry // equation.basis.symmetry) % 2 == 0,
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
    return last.equation.unknown_with(moments.real, -moments.imag)


def compared(departure: Departure, arrival: Arrival) -> tuple[Moments, Moments] | None:
    """Return the moments of the branch points of a departure and an arrival in one orientation, or None.

    Reflection symmetry is lost, and rotation symmetry divided by an odd number, in the same way at every rotation
    of the state, so that lengths tell; by an even number in another way at the state turned by half of its angle.
    """
    old, met = departure.equation.basis, arrival.point.equation.basis
    if arrival.even != old.even:
        return None
    one, other = complex_moments(departure.base()), complex_moments(arrival.point)
    if not arrival.even or (met.symmetry // old.symmetry) % 2 == 1:
        return np.abs(one), np.abs(other)
    turns = (old.axis - met.axis) * met.symmetry / (2.0 * np.pi)
    return None if abs(turns - round(turns)) > SAME_AXIS else (one, other)
