"""Organising points that come in pairs between two points of a followed curve: functions that vanish twice.

Functions that vanish at organising points are known at all points of a curve. Where the parabola through three of
them comes near to zero, the curve is asked.
"""

from collections.abc import Callable, Hashable, Iterator
from functools import partial
from itertools import pairwise

from ..branches.continuation import Point
from .arc import Arc
from .events import events_between, margin_of, same_event
from .knots import Knot, Side, extended

# A function may vanish twice between points if the least value of a parabola is below this share of those at both.
LOW = 0.5
# So many parabolas are tried, as long as each moves the place by more than this share of the way.
PARABOLAS, SAME_SHARE = 6, 1e-2

# A function by its name, and the places and the values of three points.
Three = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]


def add_pairs(side: Side) -> None:
    """Add to a side the organising points of which two are between neighbouring points of it."""
    regular = [knot for knot in side.knots if knot.event is None or knot.event.type == "end"]
    found: list[Knot] = []
    for place, (last, knot) in enumerate(pairwise(regular)):
        middle = _between_two(last, knot, regular[max(place - 1, 0) : place + 3])
        for pair in () if middle is None else pairwise((last, middle, knot)):
            found += events_between(Arc(pair[0].point, pair[1].point), *pair, side)
    known = [knot for knot in side.knots if knot.event is not None]
    for knot in found:
        if knot.event is not None and not any(same_event(knot, other) for other in known):
            known.append(knot)
            side.knots.append(knot)
    side.knots.sort(key=lambda knot: knot.point.arclength)


def _between_two(last: Knot, knot: Knot, around: list[Knot]) -> Knot | None:
    """Return a point between two knots at which a function has another sign than at both; None if none is found."""
    arc = Arc(last.point, knot.point)
    for function, known in _functions(knot, around):
        ends = known[last.point.arclength], known[knot.point.arclength]
        if ends[0] * ends[1] <= 0.0:
            continue
        for three in zip(known.items(), *(list(known.items())[ahead:] for ahead in (1, 2)), strict=False):
            place, least = _least(three, ends[0])
            if arc.first.arclength < place < arc.second.arclength and least < LOW * min(map(abs, ends)):
                middle = _asked(arc, function, ends, place)
                if middle is not None:
                    return middle
    return None


def _functions(knot: Knot, around: list[Knot]) -> Iterator[tuple[Callable[[Point], float], dict[float, float]]]:
    """Yield functions that vanish at organising points, with their values at some knots by arclength."""
    equation = extended(knot.point)
    for name, function in equation.tests.items():
        if all(name in each.tests for each in around):
            yield function, {each.point.arclength: each.tests[name] for each in around}
    keys: set[tuple[int, Hashable]] = set.intersection(*(set(each.margins) for each in around))
    for key in knot.margins:
        if key in keys:
            yield partial(margin_of, key), {each.point.arclength: each.margins[key] for each in around}


def _asked(arc: Arc, function: Callable[[Point], float], ends: tuple[float, float], place: float) -> Knot | None:
    """Return a point of an arc at which a function has another sign than at the ends, from near a place on."""
    low, high = arc.first.arclength, arc.second.arclength
    known = {low: ends[0], high: ends[1]}
    for _ in range(PARABOLAS):
        point = arc(place)
        if point is None:
            return None
        known[place] = function(point)
        if known[place] * ends[0] < 0.0:
            return Knot.at(point)
        nodes = sorted(known)
        middle = min(range(1, len(nodes) - 1), key=lambda number: abs(known[nodes[number]]))
        one, two, three = ((node, known[node]) for node in nodes[middle - 1 : middle + 2])
        place, least = _least((one, two, three), ends[0])
        moved = min(abs(place - node) for node in nodes)
        if not low < place < high or least > 0.0 or moved <= SAME_SHARE * (high - low):
            return None
    return None


def _least(three: Three, sign: float) -> tuple[float, float]:
    """Return where the parabola through three points is least in the direction of a sign, and that value.

    Of one that has no least value that is the first point, and its value.
    """
    (a, one), (b, two), (c, last) = ((place, value if sign > 0.0 else -value) for place, value in three)
    left, right = (two - one) / (b - a), (last - two) / (c - b)
    bend = (right - left) / (c - a)
    if bend <= 0.0:
        return a, one
    place = 0.5 * (a + b) - 0.5 * left / bend
    return place, one + (left + bend * (place - b)) * (place - a)
