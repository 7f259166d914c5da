"""Arrivals of branches at more symmetric ones.

About an axis that is one even about the equator, or the uniform one: the moments outside the larger symmetry change
sign there. The point itself is located on the more symmetric branch, where it is the zero of an eigenvalue and
Newton is regular.

A branch that is not axisymmetric may meet one of any larger symmetry, about any axes. There it turns and comes back
as its own mirror image: states at equal distances on both sides have moments of the same lengths. Newton is
singular at the point itself; the means of such pairs are even functions of the distance, and are extrapolated to
it.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..bases import COLLAPSE, Floats
from ..branches.arrivals import Arrival, arrival_near, at_uniform, crossing, in_symmetry
from ..branches.continuation import Point, length, point_between, turning_point
from ..branches.junctions import Departure
from ..branches.orbits import lengths
from ..equations.sizing import equation_among
from ..root_finding.newton import ROUNDING
from ..root_finding.solution import Solution
from .stability import AzimuthalBlock

# Limit at distance zero of an even function known at the distances 1, 1/2 and 1/4.
LIMIT = np.array([1.0, -20.0, 64.0]) / 45.0
# Lengths of images agree to this share of their change along the branch.
IMAGE = 1e-2
# Where they nearly do, the point in the middle is moved, so often at the most. On both sides of a fold lengths
# differ by more than twice that change; but so they do about a middle that is not known better than to a share of
# the distance of the states.
NEARLY, CENTRES, NARROW = 0.5, 6, 0.1
# Where a point happens to be beside the state met, pairs are taken up to this share of the step behind it.
BEYOND = 0.1


def meeting(last: Point, point: Point) -> Arrival | None:
    """Return the arrival of a curve of zonal states at a more symmetric one between two points, or None."""
    older = last.on(point.equation)
    confinement = point.equation.basis.confinement
    if confinement is None and _all_vanish(older, point):
        return at_uniform(older, point)
    # Its coefficients begin with degree 1.
    if confinement is not None and confinement[::2].any():
        return None
    odd = point.equation.basis.degrees % 2 == 1
    if odd.any() and _vanish(odd, older.b, point.b):
        return _meeting_even(older, point, odd)
    return None


def meeting_without_axis(last: Point, point: Point) -> Arrival | None:
    """Return the arrival of a curve without an axis at a more symmetric one between two points, or None."""
    older = last.on(point.equation)
    if last.solution.tangent_q * point.solution.tangent_q < 0.0:
        return _meeting_image(older, point)
    confined = point.equation.basis.confinement is not None
    return at_uniform(older, point) if not confined and _all_vanish(older, point) else None


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


def _meeting_even(last: Point, point: Point, odd: NDArray[np.bool_]) -> Arrival | None:
    equation = point.equation
    target = equation_among(equation, 2, finer=2)
    if target is None:
        return None
    b, q = crossing(last, point, odd)
    start, reach = in_symmetry(b, equation, target), length(point.b - last.b, point.q - last.q)
    return arrival_near(
        equation, target, start, q, AzimuthalBlock(0, 1, 1), reach, "a branch even about the equator"
    )


def _meeting_image(last: Point, point: Point) -> Arrival | None:
    """Return the arrival at which a branch turns back as its own image, or None if it does not."""
    low, high, middle = last, point, turning_point(last, point)
    for _ in range(CENTRES):
        reach = max(
            0.9 * min(middle - last.arclength, point.arclength - middle),
            BEYOND * (point.arclength - last.arclength),
        )
        pairs = _pairs(last, point, middle, reach)
        if pairs is None:
            return None
        if _same_lengths(*pairs[0], pairs[2][0], IMAGE):
            return _arrival_between(pairs, point, middle)
        around = _about_turn(low, high, pairs)
        if around is None:
            return None
        low, high = around
        if _same_lengths(*pairs[0], pairs[2][0], NEARLY):
            moved = _moved(pairs, middle, reach)
        elif high.arclength - low.arclength > NARROW * reach:
            moved = turning_point(low, high)
        else:
            return None
        if moved is None or not last.arclength < moved < point.arclength:
            return None
        middle = moved
    return None


def _about_turn(low: Point, high: Point, pairs: list[tuple[Point, Point]]) -> tuple[Point, Point] | None:
    """Return the nearest of known points between which the coupling turns; None if by rounding it does nowhere."""
    known = sorted([low, high, *(each for pair in pairs for each in pair)], key=lambda each: each.arclength)
    rises = known[0].solution.tangent_q > 0.0
    turned = (pair for pair in pairwise(known) if (pair[1].solution.tangent_q > 0.0) != rises)
    return next(turned, None)


def _moved(pairs: list[tuple[Point, Point]], middle: float, reach: float) -> float | None:
    """Return the arclength at which the coupling turns, by pairs that are nearly images; None if it does not.

    The coupling is a parabola about the point; of a cubic it is known with an error.
    """
    far, half = (0.5 * (left.q + right.q) for left, right in pairs[:2])
    # Nowhere does it turn where rotations of a state are states, too.
    return None if far == half else middle + 0.1875 * reach * (pairs[0][0].q - pairs[0][1].q) / (far - half)


def _pairs(last: Point, point: Point, middle: float, reach: float) -> list[tuple[Point, Point]] | None:
    """Return points at three distances on both sides of a middle, the farthest first; None if one is not found."""
    pairs = []
    for distance in (reach, 0.5 * reach, 0.25 * reach):
        left, right = (point_between(last, point, middle + side * distance) for side in (-1.0, 1.0))
        if left is None or right is None:
            return None
        pairs.append((left, right))
    return pairs


def _arrival_between(pairs: list[tuple[Point, Point]], point: Point, middle: float) -> Arrival:
    """Return the arrival by the limit of the means of pairs of images.

    With q = q_0 + c t^2 on both sides of the point, pairs at distances d from a middle that is off it by delta have
    differences of 4 c d delta in q, and means that are off by c delta^2 in q and by delta along the kernel in b.
    """
    couplings = [0.5 * (left.q + right.q) for left, right in pairs]
    distances = np.array([0.5 * (right.arclength - left.arclength) for left, right in pairs])
    bend = (couplings[0] - couplings[1]) / (distances[0] ** 2 - distances[1] ** 2)
    differences = np.array([left.q - right.q for left, right in pairs])
    off = float(LIMIT @ (differences / distances)) / (4.0 * bend)
    offset = bend * off**2
    q = float(LIMIT @ couplings) - offset
    left, right = pairs[2]
    b = LIMIT @ np.array([0.5 * (one.b + other.b) for one, other in pairs])
    b += off * (right.b - left.b) / (2.0 * distances[2])
    equation = point.equation
    solution = Solution(b, q, equation.evaluate(b, q), np.zeros_like(b), 0.0, 0)
    # At a distance d J has an eigenvalue of order d^2 and q a slope of order d: q is known to rounding over d.
    error = (
        abs(q + offset - (4.0 * couplings[2] - couplings[1]) / 3.0) + abs(offset) + ROUNDING / float(distances[2])
    )
    met = Point(equation, solution, middle)
    return Arrival(met, equation.value(q), True, "a branch of larger symmetry", error=error)


def _same_lengths(left: Point, right: Point, inner: Point, share: float) -> bool:
    """Return whether two states are images: their lengths agree to a share of their change from one nearby."""
    mine, other, near = lengths(left), lengths(right), lengths(inner)
    return float(np.abs(mine - other).max()) <= share * float(np.abs(mine - near).max())


def nearest_image(symmetric: Point, last: Point) -> Floats:
    """Return a more symmetric state in the unknowns of an arriving branch about the same axis."""
    return symmetric.unknown_in(last.equation)


def compared(departure: Departure, arrival: Arrival) -> tuple[Floats, Floats] | None:
    """Return the moments of the branch points of a departure and an arrival, (2, places); None if of two kinds."""
    points = departure.base(), arrival.point
    one, other = (np.stack(point.by_degree) for point in points)
    return (one, other) if departure.equation.basis.modes == arrival.point.equation.basis.modes else None
