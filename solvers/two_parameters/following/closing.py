"""Where a closed curve comes back to its first point, or to an image of it, by the invariants of its states."""

import numpy as np

from ...bases import Floats
from ...branches.continuation import Point
from ..systems.arc import Arc
from .knots import extended

# A point that an arc passes is nearer to its end, in each coordinate, than so many times its length.
FARTHEST = 2.0
# Points whose invariants agree to this share are images of each other.
SAME = 1e-7


def closing_point(first: Point, arc: Arc, direction: float = 1.0) -> Point | None:
    """Return the point of an arc that is the first one of its curve or an image of it; None if it passes neither.

    From an image on, turned or reflected, the curve goes over images of what it has passed, provided that it passes
    it in the direction in which it began. It has gone over them already if it passes it in the other, -1.
    """
    second = arc.second
    reach = FARTHEST * (second.arclength - arc.first.arclength)
    if abs(first.q - second.q) > reach or abs(float(first.b[-1] - second.b[-1])) > reach:
        return None
    aim, rates = _coordinates(first, second), direction * _rates(first, second)

    def ahead(point: Point) -> float:
        return float(rates @ (_coordinates(point, second) - aim))

    # Lengths of moments by degree differ by less than the states, in whichever images these are.
    apart = np.sqrt(aim[2:]) - np.sqrt(_coordinates(second, second)[2:])
    if _size(apart) > reach or not ahead(arc.first) < 0.0 <= ahead(second):
        return None
    if ahead(second) == 0.0:
        return second if _is_image(first, second) else None
    located = arc.zero(ahead)
    return located[0] if located is not None and _is_image(first, located[0]) else None


def _is_image(first: Point, point: Point) -> bool:
    """Return whether a point is another one or an image of it."""
    one, other = (_coordinates(each, point) for each in (first, point))
    if _size(one[:2] - other[:2]) > SAME * max(1.0, _size(one[:2])):
        return False
    if _size(one[2:] - other[2:]) > SAME * _size(one[2:]):
        return False
    one, other = (_in_field(each, point) for each in (first, point))
    return _size(one - other) <= SAME * _size(one)


def _coordinates(point: Point, other: Point) -> Floats:
    """Return x, q, and the squared lengths of the unknowns of states by degree, those of another point."""
    b, _ = point.unknowns_on(other.equation)
    return np.concatenate([[b[-1], point.q], *_by_degree(other, b, b)])


def _rates(point: Point, other: Point) -> Floats:
    """Return the derivatives of these along the curve."""
    b, tangent = point.unknowns_on(other.equation)
    doubled = (2.0 * each for each in _by_degree(other, b, tangent))
    return np.concatenate([[tangent[-1], point.solution.tangent_q], *doubled])


def _by_degree(point: Point, one: Floats, other: Floats) -> list[Floats]:
    """Return the products of two vectors of unknowns by state and degree."""
    found: list[Floats] = []
    start = 0
    for basis in extended(point).bases if one.size > 1 else ():
        own = slice(start, start + basis.degrees.size)
        found.append(np.asarray(np.bincount(basis.degrees, one[own] * other[own]), dtype=float))
        start = own.stop
    return found


def _in_field(point: Point, other: Point) -> Floats:
    """Return the means of the forces of a confinement and of their slopes, which tell images from other states."""
    equation = extended(other)
    b, _ = point.unknowns_on(equation)
    fields = []
    for state in equation.system(b, point.q).states:
        coefficients = state.coefficients
        fields.append(np.vstack([coefficients.forces, coefficients.slopes[1]]) @ state.moments)
    return np.concatenate(fields)


def _size(vector: Floats) -> float:
    """Return the length of a vector, which thresholds have empty."""
    return float(np.linalg.norm(vector))
