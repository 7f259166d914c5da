"""The end of a curve at which states meet: points nearer to it than steps are long.

What vanishes there, a state beside the uniform one or what a state lacks of its image, is the coordinate in which
the curve is regular, and is halved from point to point.
"""

from collections.abc import Sequence

import numpy as np

from ...bases import Floats
from ...branches.continuation import Point, length
from ...branches.stepping import arc
from ...root_finding.newton import POLISHED, correct
from ..systems.arc import Arc, strayed_by
from .events import events_between
from .knots import Knot, Side, extended

# What vanishes at the end is followed to this share of what it is at the last step, unless a step there would be
# shorter than this.
NEARER, NEAREST = 1.0 / 32.0, 1e-3
# A step takes this share of it at first, and half as much down to the least where the point found is off what the
# tangent tells by more than a share of the step: of what vanishes for the states, of the way for the place.
SHARE, LEAST_SHARE, STRAYED = 0.5, 1.0 / 16.0, 0.1
# States that shrink by less in a step are not compared with rounding.
SHRUNK = 0.5
# Points at which states are so many times larger show where a curve leads.
GROWN = 2.0


def meets(side: Side, last: Point, point: Point) -> bool:
    """Return whether states meet the uniform one, each other or images between two points; the side says which."""
    equation = extended(point)
    side.arrival = equation.arrival(last, point)
    if side.arrival is None:
        side.arrival = _lost_to_uniform(last, point)
    side.halved = None if side.arrival is not None else equation.halved(last, point)
    # A state may become one with its image in the other one, as is told where they meet.
    side.merged = side.arrival is None and side.halved is None and equation.merges(last, point)
    return side.arrival is not None or side.merged or side.halved is not None


def _lost_to_uniform(last: Point, point: Point) -> int | None:
    """Return the degree of a state at the last of two points if that of the second is the uniform one to rounding.

    The threshold solves the equations of folds and lines that end on it, and Newton's method may go over to it.
    None if any of the states is larger than rounding.
    """
    equation = extended(point)
    if equation.plane.confined or equation.kind == "threshold":
        return None
    before = last.unknowns_on(equation)[0][:-1]
    if not length(point.b[:-1], 0.0) < SHRUNK * length(before, 0.0):
        return None
    shift, _ = strayed_by(point)
    own = [equation.places(number) for number in range(len(equation.bases))]
    if any(length(point.b[each], 0.0) > length(shift[each], 0.0) for each in own):
        return None
    return int(equation.bases[0].degrees[np.argmax(np.abs(before[own[0]]))])


def come_nearer(side: Side) -> None:
    """Add a point nearer to where the states of a side meet, with the organising points before it, if one is found.

    In a long last step organising points may be passed, and points in which other curves end be as near as that in
    which this one does.
    """
    last, share = side.knots[-1], SHARE
    points = [last.point]
    sizes = [length(_vanishing(side, last.point), 0.0)]
    while share >= LEAST_SHARE and sizes[-1] > NEARER * sizes[0]:
        nearer = _nearer(side, points[-1], share)
        if nearer is None:
            share *= 0.5
            continue
        if nearer.arclength - points[-1].arclength < NEAREST:
            break
        points.append(nearer)
        sizes.append(length(_vanishing(side, nearer), 0.0))
    if len(points) == 1:
        return
    side.approach = points[larger(sizes)], points[-1]
    knot = Knot.at(points[-1])
    side.knots += [*events_between(Arc(last.point, knot.point), last, knot, side), knot]


def larger(amplitudes: Sequence[float]) -> int:
    """Return the place of the last of some amplitudes that is some times that at the end, else of the first."""
    place = len(amplitudes) - 1
    while place > 0 and amplitudes[place] < GROWN * amplitudes[-1]:
        place -= 1
    return place


def _nearer(side: Side, point: Point, share: float) -> Point | None:
    """Return the point at which what vanishes at the end of a side is by a share less than at a point, if found.

    What is left of a state where it is its own image is even in what vanishes, and so is the place.
    """
    vanishing, solution, equation = _vanishing(side, point), point.solution, point.equation
    size = length(vanishing, 0.0)
    normal = vanishing / size
    rate = float(normal @ solution.tangent_b)
    if rate >= 0.0:
        return None
    step = -share * size / rate
    if side.halved is not None:
        step *= 1.0 - 0.5 * share
    along_b, along_q = step * solution.tangent_b, step * solution.tangent_q
    b = point.b + along_b - (float(normal @ along_b) + share * size) * normal
    q = point.q + along_q
    found = correct(equation, b, q, normal, 0.0, POLISHED)
    if found is None or length(found.b[:-1] - b[:-1], 0.0) > STRAYED * share * size:
        return None
    if length(found.b[-1:] - b[-1:], found.q - q) > STRAYED * max(length(along_b[-1:], along_q), share * size):
        return None
    nearer = Point(equation, found, point.arclength).oriented(-normal, 0.0)
    cosine = float(solution.tangent_b @ found.tangent_b) + solution.tangent_q * found.tangent_q
    nearer.arclength += arc(length(found.b - point.b, found.q - point.q), abs(cosine))
    return nearer


def _vanishing(side: Side, point: Point) -> Floats:
    """Return those of the unknowns at a point that vanish at the end of a side, and zeros for the others."""
    equation = extended(point)
    vanishing = np.zeros(point.b.size)
    if side.halved is not None:
        vanishing[equation.places(side.halved.state)] = equation.broken(point, side.halved)
    elif side.arrival is not None:
        vanishing[:-1] = point.b[:-1]
    return vanishing
