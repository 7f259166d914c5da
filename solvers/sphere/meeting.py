"""Arrivals of branches at more symmetric ones.

About an axis that is one even about the equator, or the uniform one: the moments outside the larger symmetry change
sign there. The point itself is located on the more symmetric branch, where it is the zero of an eigenvalue and
Newton is regular.

A branch that is not axisymmetric may meet one of any larger symmetry, about any axes. There it turns and comes back
as its own mirror image: states at equal distances on both sides have the same powers. Newton is singular at the
point itself; the means of such pairs are even functions of the distance, and are extrapolated to it.
"""

import numpy as np
from numpy.typing import NDArray

from ..bases import Basis, Floats
from ..branches.continuation import Point, length, point_between, turning_point
from ..branches.junctions import COLLAPSE, Arrival, Departure, at_uniform, critical_point, leads_back, same_moments
from ..equation import StationaryEquation
from ..newton import Solution
from .equations import zonal_equation
from .identity import powers
from .stability import AzimuthalBlock

# Limit at distance zero of an even function known at the distances 1, 1/2 and 1/4.
LIMIT = np.array([1.0, -20.0, 64.0]) / 45.0
# Powers of images agree to this share of their change along the branch.
IMAGE = 1e-2


def meeting(last: Point, point: Point) -> Arrival | None:
    """Return the arrival of a curve of zonal states at a more symmetric one between two points, or None."""
    older = last.on(point.equation)
    if point.equation.basis.confinement is not None:
        return None
    if _all_vanish(older, point):
        return at_uniform(older, point)
    odd = point.equation.basis.degrees % 2 == 1
    if odd.any() and _vanish(odd, older.b, point.b):
        return _meeting_even(older, point, odd)
    return None


def meeting_without_axis(last: Point, point: Point) -> Arrival | None:
    """Return the arrival of a curve without an axis at a more symmetric one between two points, or None."""
    older = last.on(point.equation)
    if point.equation.basis.confinement is not None:
        return None
    if last.solution.tangent_q * point.solution.tangent_q < 0.0:
        return _meeting_image(older, point)
    return at_uniform(older, point) if _all_vanish(older, point) else None


def _all_vanish(last: Point, point: Point) -> bool:
    return _vanish(np.ones(last.b.size, dtype=bool), last.b, point.b)


def _vanish(modes: NDArray[np.bool_], before: Floats, after: Floats) -> bool:
    """Return whether modes pass zero between two points, or vanish since Newton's method found a state without.

    Modes that are rounding errors beside the others do neither.
    """
    size = float(np.abs(before[modes]).max())
    if size <= COLLAPSE * float(np.abs(before).max()):
        return False
    return float(before[modes] @ after[modes]) < 0.0 or float(np.abs(after[modes]).max()) < COLLAPSE * size


def _meeting_even(last: Point, point: Point, odd: np.ndarray) -> Arrival | None:
    equation = point.equation
    target = zonal_equation(
        equation.geometry,
        equation.problem,
        2,
        equation.sign,
        modes=equation.basis.nodes,
        unknowns=int(equation.basis.degrees.max()) // 2,
    )
    if target is None:
        return None
    sizes = [float(np.linalg.norm(p.b[odd])) for p in (last, point)]
    share = sizes[0] / (sizes[0] + sizes[1])
    values = np.zeros(int(equation.basis.degrees.max()) + 1)
    values[equation.basis.degrees] = ((1 - share) * last.b + share * point.b) / equation.scales
    start = target.unknown_from(target.basis.moments_from(values, np.zeros_like(values)))
    q = (1 - share) * last.q + share * point.q
    reach = length(point.b - last.b, point.q - last.q)
    found = critical_point(target, start, q * float(equation.unit / target.unit), AzimuthalBlock(0, 1, 1), reach)
    if found is None:
        return None
    met, error = found
    return Arrival(met, met.coupling, True, "a branch even about the equator", error=error * q)


def _meeting_image(last: Point, point: Point) -> Arrival | None:
    """Return the arrival at which a branch turns back as its own image, or None if it does not."""
    middle = turning_point(last, point)
    reach = 0.9 * min(middle - last.arclength, point.arclength - middle)
    pairs = []
    for distance in (reach, 0.5 * reach, 0.25 * reach):
        left, right = (point_between(last, point, middle + side * distance) for side in (-1.0, 1.0))
        if left is None or right is None:
            return None
        pairs.append((left, right))
    if not _same_powers(*pairs[0], pairs[2][0]):
        return None
    couplings = [0.5 * (left.q + right.q) for left, right in pairs]
    q = float(LIMIT @ couplings)
    b = LIMIT @ np.array([0.5 * (left.b + right.b) for left, right in pairs])
    equation = point.equation
    solution = Solution(b, q, equation.evaluate(b, q), np.zeros_like(b), 0.0, 0)
    error = abs(q - (4.0 * couplings[2] - couplings[1]) / 3.0)
    met = Point(equation, solution, middle)
    return Arrival(met, equation.coupling(q), True, "a branch of larger symmetry", error=error)


def _same_powers(left: Point, right: Point, inner: Point) -> bool:
    """Return whether two states are images: their powers agree much better than with those of a state nearby."""
    mine, other, near = powers(left), powers(right), powers(inner)
    return float(np.abs(mine - other).max()) <= IMAGE * float(np.abs(mine - near).max())


def nearest_image(symmetric: Point, last: Point) -> Floats:
    """Return a more symmetric state in the unknowns of an arriving branch about the same axis."""
    equation: StationaryEquation = last.equation
    moments = equation.basis.moments_from(*symmetric.equation.basis.expand(symmetric.moments))
    return equation.unknown_from(moments)


def same_place(departure: Departure, arrival: Arrival) -> bool:
    """Return whether a departure starts at the branch point of an arrival."""
    point = arrival.point
    if not np.any(departure.b):
        return _same_class(departure.equation.basis, point.equation.basis) and leads_back(departure, arrival)
    if np.abs(departure.coupling - arrival.coupling) > 1e-7 * np.abs(arrival.coupling):
        return False
    if point.equation.basis.modes != departure.equation.basis.modes:
        return False
    pairs = departure.equation.basis.expand(departure.base().moments), point.equation.basis.expand(point.moments)
    first, other = (np.stack(pair) for pair in pairs)
    return same_moments(first, other)


def _same_class(one: Basis, other: Basis) -> bool:
    """Return whether two bases are of densities of the same symmetry."""
    first, second = one.invariants, other.invariants
    if first is not None and second is not None:
        return first.group.name == second.group.name
    return one.modes == other.modes and one.symmetry == other.symmetry
