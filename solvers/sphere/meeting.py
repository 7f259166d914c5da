"""Where a zonal branch meets a more symmetric one: one even about the equator, or the uniform one.

At such a point the moments outside the larger symmetry change sign. The point itself is located on the more
symmetric branch, where it is the zero of an eigenvalue and Newton is regular.
"""

import numpy as np

from ..bases import Floats, ZonalBasis
from ..branches.continuation import Point
from ..branches.junctions import Arrival, Departure, critical_point
from ..equation import StationaryEquation, stationary_equation
from .stability import AzimuthalBlock


def meeting(last: Point, point: Point) -> Arrival | None:
    """Return where the curve meets a more symmetric one between two points, if it does."""
    older = last.on(point.equation)
    product = older.b * point.b
    if point.equation.basis.confinement is not None or float(product.min()) > -1e-13 * float(product.max()):
        return None
    if float(product.sum()) < 0.0:
        return _meeting_uniform(older, point)
    odd = point.equation.basis.degrees % 2 == 1
    zonal = isinstance(point.equation.basis, ZonalBasis)
    if zonal and odd.any() and float(product[odd].sum()) < 0.0:
        return _meeting_even(older, point, odd)
    return None


def _meeting_uniform(last: Point, point: Point) -> Arrival:
    equation = point.equation
    dominant = int(np.argmax(np.abs(last.b - point.b)))
    q = 1.0 / (equation.doubled * equation.scales[dominant] ** 2 * equation.basis.squares[dominant])
    return Arrival(None, equation.coupling(float(q)), True, "the uniform state")


def _meeting_even(last: Point, point: Point, odd: np.ndarray) -> Arrival | None:
    equation = point.equation
    target = stationary_equation(
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
    found = critical_point(target, start, q * float(equation.unit / target.unit), AzimuthalBlock(0, 1, 1))
    if found is None:
        return None
    return Arrival(found, found.coupling, True, "a branch even about the equator")


def nearest_image(symmetric: Point, last: Point) -> Floats:
    """Return a more symmetric state in the unknowns of a branch about the same axis."""
    equation: StationaryEquation = last.equation
    moments = equation.basis.moments_from(*symmetric.equation.basis.expand(symmetric.moments))
    return equation.unknown_from(moments)


def same_place(departure: Departure, arrival: Arrival) -> bool:
    """Whether a departure starts at a place where another branch has arrived."""
    point = arrival.point
    if point is None or not np.any(departure.b):
        return False
    if np.abs(departure.coupling - arrival.coupling) > 1e-7 * np.abs(arrival.coupling):
        return False
    first, _ = departure.equation.basis.expand(departure.base().moments)
    other, _ = point.equation.basis.expand(point.moments)
    count = min(first.size, other.size)
    return bool(np.abs(first[:count] - other[:count]).max() <= 1e-5)
