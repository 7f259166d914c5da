"""The line on which states exchange that a confinement tells apart only by their orientation: where it vanishes."""

import numpy as np

from meanfield import CurvePoint, InvalidInput
from meanfield.harmonics import in_layout, modes_of

from ..bases import Basis, Floats
from .at_place import polished
from .starts import Pair, located, packed_moments, plane_of, start_of, vanishes


def zero_field_point(one: CurvePoint, other: CurvePoint, interval: tuple[float, float]) -> CurvePoint | None:
    """Return a point of the line on which two states exchange, None if they are uniform there.

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
    layout = "order" if "order" in (one.layout, other.layout) else one.layout
    pairs = []
    for each in (one, other):
        pair = in_layout(layout, modes_of(each.problem.domain, each.layout), each.cosine, each.sine)
        assert pair is not None
        pairs.append(pair)
    start = start._replace(first=pairs[0], second=pairs[1], layout=layout)
    plane = plane_of(start, one.parameters, interval)
    found = []
    for pair in pairs:
        place, basis, b = located(start, plane, pair)
        unknown = polished(plane, basis, place, b)
        if unknown is None:
            raise InvalidInput("a state beside the line on which the confinement vanishes leads to none on it")
        found.append(_moments(basis, unknown, layout))
    if all(vanishes(pair) for pair in found):
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


def _moments(basis: Basis, b: Floats, layout: str) -> Pair:
    """Return the moments of a state in a layout as far as its unknown has them."""
    if layout == "order":
        return packed_moments(basis, b)
    cosine = np.zeros(int(basis.degrees[-1]) + 1)
    cosine[0], cosine[basis.degrees] = 1.0, b * basis.degrees
    return cosine, np.zeros_like(cosine)
