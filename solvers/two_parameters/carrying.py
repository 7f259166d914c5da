"""States carried along paths in the plane of two parameters, to tell whether two of them are one."""

from itertools import pairwise

import numpy as np

from meanfield import CurvePoint
from meanfield.harmonics import moments_of

from ..bases import Floats
from .in_plane.at_place import polished
from .in_plane.plane import Plane
from .in_plane.unknowns import Symmetric, moments_from, with_or_without_axis
from .systems.starts import plane_of, start_of

# Moments larger than this do not vanish, and those of two states that are one differ by less.
VANISHING, SAME = 1e-6, 1e-8
# The largest change of a moment in one step, and the least share of the way between two places of a path.
STEP, LEAST = 0.1, 1.0 / 256.0


def becomes(one: CurvePoint, other: CurvePoint, path: Floats, interval: tuple[float, float]) -> bool:
    """Return whether a state becomes another one, of the same symmetry, along a path in the plane.

    Of densities of two angles this is not told: False.

    Parameters
    ----------
    one, other
        The states at the two ends of the path.
    path : (n, 2) float
        Values of the two parameters.
    interval
        The range of the first one.
    """
    start, end = start_of(one), start_of(other)
    if start.has_orders or end.has_orders or _symmetry(one) != _symmetry(other):
        return False
    plane = plane_of(start, one.parameters, interval)
    places = [plane.coordinates(*values) for values in path.tolist()]
    state = _at(plane, places[0], start.first)
    for before, after in pairwise(places):
        state = None if state is None else _carried(plane, state, before, after)
    expected = _at(plane, places[-1], end.first)
    if state is None or expected is None:
        return False
    lengths = [
        moments_of(one.problem.domain, start.layout, *moments_from(*each)).lengths for each in (state, expected)
    ]
    count = min(map(len, lengths))
    return bool(np.abs(lengths[0][:count] - lengths[1][:count]).max() <= SAME)


def _symmetry(point: CurvePoint) -> tuple[int, bool]:
    """Return the greatest common divisor of the degrees of a state, and whether it is even about the axis."""
    large = np.flatnonzero(np.hypot(point.cosine, point.sine) > VANISHING)
    return int(np.gcd.reduce(large)), bool(np.abs(point.sine).max(initial=0.0) <= VANISHING)


def _at(plane: Plane, place: tuple[float, float], moments: tuple[Floats, Floats]) -> Symmetric | None:
    """Return the state at a place that has about the given moments, with its basis; None if there is none."""
    basis, b = with_or_without_axis(plane, moments, place)
    found = polished(plane, basis, place, b)
    return None if found is None or np.abs(found - b).max() > STEP else (basis, found)


def _carried(
    plane: Plane, state: Symmetric, before: tuple[float, float], after: tuple[float, float]
) -> Symmetric | None:
    """Return a state carried from one place to another, None if it is lost on the way."""
    begin, way = np.array(before), np.array(after) - before
    done, share = 0.0, 1.0
    while done < 1.0:
        share = min(share, 1.0 - done)
        x, q = begin + (done + share) * way
        found = _at(plane, (float(x), float(q)), moments_from(*state))
        if found is not None:
            state, done, share = found, done + share, 2.0 * share
        elif share <= LEAST:
            return None
        else:
            share *= 0.5
    return state
