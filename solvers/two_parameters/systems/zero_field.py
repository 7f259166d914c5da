"""The line on which states exchange that a confinement tells apart only by their orientation: where it vanishes."""

import numpy as np

from meanfield import CurvePoint, InvalidInput
from meanfield.harmonics import Layout, Modes, in_layout, modes_of

from ..in_plane.at_place import polished, state_at
from ..in_plane.plane import Plane
from ..in_plane.unknowns import Pair
from .starts import located, plane_of, start_of, vanishes

# States that are uniform at the line are below this beside it, where they grow with a root of the confinement.
SMALL = 1e-2
# Where the strength of a mode is as close to one Newton's method comes down to the uniform state too slowly to end.
CRITICAL = 1e-5
# Rotations are free where the confinement as good as vanishes, by less than this, and not held by rounding.
FREE = 1e-6
# Moments of two states that are one at the line differ by less.
SAME = 1e-6


def zero_field_point(one: CurvePoint, other: CurvePoint, interval: tuple[float, float]) -> CurvePoint | None:
    """Return a point of the line on which two states exchange, None if they are uniform there, or one.

    Parameters
    ----------
    one, other
        States on the two sides of the line, at values of the first parameter near it, both with the equation at a
        value where the confinement as good as vanishes.
    interval
        The range of the first parameter.

    Raises
    ------
    InvalidInput
        If they do not lead to two states there.
    """
    start = start_of(one)
    layout: Layout = "order" if "order" in (one.layout, other.layout) else one.layout
    pairs = [
        _in(layout, modes_of(each.problem.domain, each.layout), (each.cosine, each.sine)) for each in (one, other)
    ]
    start = start._replace(first=pairs[0], second=pairs[1], layout=layout)
    plane = plane_of(start, one.parameters, interval)
    found = []
    for pair in pairs:
        place, basis, b = located(start, plane, pair)
        unknown = polished(plane, basis, place, b, FREE)
        if unknown is None and _is_born(plane, place, pair):
            return None
        if unknown is None:
            raise InvalidInput("a state beside the line on which the confinement vanishes leads to none on it")
        # With the moments on which nothing acts, by which states are told apart.
        moments = state_at(plane, basis, place, unknown).gibbs.moments
        found.append(_in(layout, basis.modes, basis.expand(moments)))
    count = min(pair[0].size for pair in found)
    apart = max(float(np.abs(one[:count] - other[:count]).max()) for one, other in zip(*found, strict=True))
    if all(vanishes(pair) for pair in found) or apart <= SAME:
        return None
    return CurvePoint(
        problem=one.problem,
        type="transition",
        parameters=one.parameters,
        cosine=found[0][0],
        sine=found[0][1],
        other_cosine=found[1][0],
        other_sine=found[1][1],
        layout=layout,
    )


def _is_born(plane: Plane, place: tuple[float, float], pair: Pair) -> bool:
    """Return whether a state is born of the uniform one at or beside a threshold without a confinement."""
    if max(float(np.abs(part[1:]).max(initial=0.0)) for part in pair) <= SMALL:
        return True
    strengths = plane.coefficients(*place, plane.reference).strengths
    return bool(np.abs(strengths - 1.0).min() <= CRITICAL)


def _in(layout: Layout, modes: Modes, pair: Pair) -> Pair:
    """Return moments in a layout that has them all."""
    found = in_layout(layout, modes, *pair)
    assert found is not None
    return found
