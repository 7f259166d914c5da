"""Where branches cross the ends of the interval that they are followed in."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..root_finding.newton import solve_at
from .continuation import Point
from .detection import STRAYED, CurveBetween, Event
from .hermite import hermite

# A point at the end of an interval has its coupling to this share.
LOCATED = 1e-10


def interval_end(first: Point, second: Point, q: float) -> Event | None:
    """Return the endpoint event at which a curve crosses the coupling q, None if it does not.

    It has exactly this q, or where Newton's method fails there, as at a fold, one within :data:`LOCATED` of it.
    """
    point = _end_between(first, second, q) if (first.q - q) * (second.q - q) < 0.0 else None
    if point is None:
        return None
    return Event("endpoint", point, 0.0, description=f"end of the {point.equation.parameter} interval")


def interval_ends(points: Sequence[Point], q: float) -> list[tuple[int, Event]]:
    """Return the endpoint events of :func:`interval_end` between neighbouring points, with the places before."""
    beyond = np.array([point.q for point in points]) - q
    places = np.flatnonzero(beyond[1:] * beyond[:-1] < 0.0).tolist()
    found = ((place, interval_end(points[place], points[place + 1], q)) for place in places)
    return [(place, event) for place, event in found if event is not None]


# Where a branch leaves the interval it is compared with others first, and then cut.
@lru_cache(maxsize=8)
def _end_between(first: Point, second: Point, q: float) -> Point | None:
    """Return the point between two at which a curve crosses a q, or comes within :data:`LOCATED` of it, or None."""
    point = _at_coupling(first, second, q)
    if point is not None:
        return point
    found = CurveBetween(first, second).zero(lambda point: point.q - q)
    if found is None or abs(found[0].q - q) > LOCATED * q:
        return None
    point = found[0]
    # Along the curve q is met to rounding over its slope.
    solution = solve_at(point.equation, point.b, q)
    if solution is not None and np.linalg.norm(solution.b - point.b) <= STRAYED:
        point = Point(point.equation, solution, point.arclength).oriented(
            point.solution.tangent_b, point.solution.tangent_q
        )
    return point


def _at_coupling(first: Point, second: Point, q: float) -> Point | None:
    """Return the point at a coupling between two points; None if the curve is too steep or another one is near."""
    along = (first.solution.tangent_q, second.solution.tangent_q)
    if first.leaving is not None or second.leaving is not None:
        return None
    if along[0] * along[1] <= 0.0 or min(abs(along[0]), abs(along[1])) < 0.1:
        return None
    nodes = first.on(second.equation), second
    share = (q - first.q) / (second.q - first.q)
    arclength = first.arclength + share * (second.arclength - first.arclength)
    b, found_q = hermite(nodes, arclength)
    arclength += (q - found_q) / (along[0] + share * (along[1] - along[0]))
    b, _ = hermite(nodes, arclength)
    solution = solve_at(second.equation, b, q)
    if solution is None or np.linalg.norm(solution.b - b) > 0.1 * (second.arclength - first.arclength):
        return None
    return Point(second.equation, solution, arclength).oriented(second.solution.tangent_b, along[1])
