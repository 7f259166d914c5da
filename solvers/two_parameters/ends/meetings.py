"""Where states of a curve become one: two of them, or one and its image."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from meanfield.records import CurveType

from ...bases import Floats
from ...branches.continuation import Point, length
from ...root_finding.newton import POLISHED, correct
from ..following.approaching import larger
from ..following.events import KNOWN
from ..following.knots import Knot, Side, extended
from ..in_plane.plane import Plane
from ..in_plane.states import AtState
from ..in_plane.unknowns import Symmetric
from ..systems.arc import strayed_by
from ..systems.extended import COLLAPSED, Halving
from ..systems.folds import FoldEquation, null_vectors
from ..systems.transitions import TransitionEquation, group_of
from .beside import births_beside, cusps_beside, ends_beside, part_of_symmetry, symmetric_parts
from .uniform_ends import leads_to

# States meet within this share of the last chord of where its ends say.
STRAYED = 0.3
# A state that differs by less from its image may have stopped beside the more symmetric one.
SMALL = 0.2
# Points at which rounding moves the states by more than this share of how far they are apart are not kept, on
# curves of folds by more than the second: beside a fold in which a less symmetric state is born what it has more is
# known to the inverse of its cube, and with it the slope of the curve.
BLURRED, BLURRED_FOLD = 1e-5, 1e-8
# Two orientations of one state have a fold at one place to this share.
SAME_FOLD = 1e-10
# Types of organising points of curves of branch points in which curves of other types end. A fold ends in a mode
# interaction where there is no tricritical point: of two so near that its approach cannot tell, that is likelier.
MEETINGS: dict[CurveType, tuple[str, ...]] = {
    "fold": ("tricritical", "mode interaction"),
    "branch point": ("mode interaction",),
    "transition": ("tricritical", "mode interaction"),
}


def meeting_of(side: Side, plane: Plane) -> Knot | None:
    """Return the point at which states of a side that says so become one, None if it is not located."""
    return next((knot for knot in _meetings(side, plane) if _is_there(knot, side)), None)


def meeting_short_of(side: Side, plane: Plane) -> Knot | None:
    """Return the point at which a state and its image would become one, of a side that stopped short of it.

    There states are so nearly one, differing by powers of a small amplitude, that rounding decides between them.
    None if the side does not lead to such a point.
    """
    last = side.knots[-1].point
    equation = extended(last)
    turned = (*equation.halvings(last), *equation.thirds())
    sizes = {halving: length(equation.broken(last, halving), 0.0) for halving in turned}
    near = [halving for halving, size in sizes.items() if 0.0 < size <= SMALL]
    if not near:
        return None
    side.halved = min(near, key=lambda halving: sizes[halving])
    points = [each.point for each in side.knots]
    amplitudes = [length(separation(side, point), 0.0) for point in points]
    start = larger(amplitudes)
    # So near rounding takes the last points to and fro.
    shift, in_q = strayed_by(last)
    known = max(KNOWN, length(shift[-1:], in_q))
    for knot in _meetings(side, plane):
        place = np.array([knot.point.b[-1], knot.point.q])
        if leads_to(place, last, points[start], amplitudes[-1], amplitudes[start], known):
            while is_blurred(side):
                side.knots.pop()
            return knot
    side.halved, side.merged = None, False
    return None


def folded_end(side: Side, plane: Plane) -> list[Knot]:
    """Return the point at which both states of a line on which the first parameter stays end in folds, if located.

    They are one state in two orientations. There the system of both has two null vectors, that of each only one.
    """
    last = side.knots[-1].point
    equation = extended(last)
    # What stays is x, or q of planes without the coupling.
    stays = (1.0, 0.0) if plane.in_coupling else (0.0, 1.0)
    ends = []
    for state in equation.system(last.b, last.q).states:
        basis = state.weighted.basis
        fold = FoldEquation(plane, (basis,), null_vectors(plane, basis, state.place, state.unknown))
        border = np.append(np.zeros(basis.degrees.size), stays[0])
        solution = correct(fold, np.append(state.unknown, state.place[0]), last.q, border, stays[1], POLISHED)
        if solution is None:
            return []
        ends.append(solution)
    places = np.array([[each.b[-1], each.q] for each in ends])
    if np.abs(np.diff(places, axis=0)).max(initial=0.0) > SAME_FOLD * np.abs(places).max():
        return []
    b, q = np.concatenate([*(each.b[:-1] for each in ends), ends[0].b[-1:]]), ends[0].q
    arclength = last.arclength + length(b - last.b, q - last.q)
    solution = replace(last.solution, b=b, q=q, evaluation=equation.evaluate(b, q))
    return [Knot.at(Point(equation, solution, arclength))]


def is_blurred(side: Side) -> bool:
    """Return whether rounding moves the states at the last of the points of a side by too much to keep it."""
    point = side.knots[-1].point
    if len(side.knots) == 1:
        return False
    shift, _ = strayed_by(point)
    share = BLURRED_FOLD if extended(point).kind == "fold" else BLURRED
    return length(shift[:-1], 0.0) > share * length(separation(side, point), 0.0)


def separation(side: Side, point: Point) -> Floats:
    """Return the difference of the states that meet at the end of a side, at a point of it."""
    equation = extended(side.knots[-1].point if side.beyond is None else side.beyond)
    return equation.separation(point) if side.halved is None else equation.broken(point, side.halved)


def _meetings(side: Side, plane: Plane) -> Iterator[Knot]:
    """Yield the organising points beside the end of a side at which two states or images may become one.

    Of thresholds and Hopf bifurcations none are looked for.
    """
    if extended(side.knots[-1].point).kind not in MEETINGS:
        return
    if side.halved is not None:
        for likely in (True, False):
            for states in _states_at_end(side):
                yield from _where_halved(side, side.halved, plane, states, likely)
        return
    last = side.knots[-1].point
    one, other = extended(last).system(last.b, last.q).states
    if group_of(one.weighted.basis) is not group_of(other.weighted.basis):
        # They have no state in common but the uniform one, see :func:`uniform_end`.
        return
    symmetry, beyond = one.weighted.basis.symmetry, other.weighted.basis.symmetry
    if symmetry == beyond and one.unknown.size == other.unknown.size:
        for mean, place in _means(side):
            yield from cusps_beside(plane, one.weighted.basis, mean, place)
        return
    born = one if symmetry < beyond else other
    symmetric = part_of_symmetry(plane, born, max(symmetry, beyond))
    yield from births_beside(plane, born, symmetric, MEETINGS["transition"])


def _means(side: Side) -> Iterator[tuple[Floats, tuple[float, float]]]:
    """Yield the mean of the two states that a side ends with, and x and q, and these prolonged to where they meet.

    At a cusp mean and place are functions of the square of the distance of the states.
    """
    last = side.knots[-1].point
    found = []
    for knot in side.knots[:-3:-1]:
        point = knot.point.on(last.equation)
        equation = extended(point)
        assert isinstance(equation, TransitionEquation)
        mean = 0.5 * sum(equation.beside_first(point.b, point.q))
        found.append((np.concatenate([mean, [point.b[-1], point.q]]), length(equation.separation(point), 0.0) ** 2))
    (near, square), *others = found
    yield near[:-2], (float(near[-2]), float(near[-1]))
    for far, larger_square in others:
        if larger_square > square:
            met = near + (near - far) * square / (larger_square - square)
            yield met[:-2], (float(met[-2]), float(met[-1]))


def _where_halved(
    side: Side, halved: Halving, plane: Plane, states: Sequence[AtState], likely: bool
) -> Iterator[Knot]:
    """Yield the organising points beside some states at which one of them may be its own image.

    Of a line the other state may be the parent, or be near it: which is likely is told by their distance.
    """
    others = list(states)
    born = others.pop(halved.state)
    kind = extended(side.knots[-1].point).kind
    for symmetric in symmetric_parts(plane, born, halved):
        if symmetric[0].profiles is not None and not plane.zonal:
            # No state has an axis that the confinement has at no other point of the plane.
            return
        if not likely and not (kind == "transition" and others):
            continue
        side.merged = _joins(side, others, symmetric) == likely
        if kind == "transition" and not side.merged:
            yield from ends_beside(plane, born, symmetric, others[0] if others else None)
        else:
            found = births_beside(plane, born, symmetric, MEETINGS[kind])
            yield from _by_type(found, MEETINGS[kind]) if kind == "fold" else found
    if kind == "branch point" and halved == Halving(halved.state):
        # Where branches of both kinds that quarter a symmetry are alike, a state of one of them gains all of it.
        quartered = part_of_symmetry(plane, born, 4 * born.weighted.basis.symmetry)
        if np.any(quartered[1]):
            yield from births_beside(plane, born, quartered, MEETINGS[kind])


def _by_type(knots: Iterator[Knot], types: Sequence[str]) -> Iterator[Knot]:
    """Yield located points in the order of their types, those of the first one as they are located."""
    others = []
    for knot in knots:
        if knot.event is not None and knot.event.type == types[0]:
            yield knot
        else:
            others.append(knot)
    for each in types[1:]:
        yield from (knot for knot in others if knot.event is not None and knot.event.type == each)


def _states_at_end(side: Side) -> Iterator[Sequence[AtState]]:
    """Yield the states of the last point of a side, and those on the last chord where one would be its own image.

    Where one direction more is neutral there, the curve of branch points is met beside it only.
    """
    last = side.knots[-1].point
    equation = extended(last)
    yield equation.system(last.b, last.q).states
    share = 0.0 if side.beyond is None else _share(side)
    if side.beyond is not None and 0.0 < share < 1.0:
        unknown = side.beyond.unknowns_on(equation)[0]
        yield equation.system(last.b + share * (unknown - last.b), last.q + share * (side.beyond.q - last.q)).states


def _share(side: Side) -> float:
    """Return the share of the last chord of a side up to which the states that meet are apart."""
    assert side.beyond is not None
    before, after = separation(side, side.knots[-1].point), separation(side, side.beyond)
    return 1.0 / (1.0 - float(before @ after) / length(before, 0.0) ** 2)


def _joins(side: Side, others: Sequence[AtState], symmetric: Symmetric) -> bool:
    """Return whether the more symmetric state that one of a side becomes is the other one of it."""
    broken = length(separation(side, side.knots[-1].point), 0.0)
    return any(_distance((other.weighted.basis, other.unknown), symmetric) <= broken for other in others)


def _distance(one: Symmetric, other: Symmetric) -> float:
    """Return how far two states are from each other, by the lengths of their moments if in two bases."""
    (basis, b), (basis_of_other, b_of_other) = one, other
    if basis.axis == basis_of_other.axis and np.array_equal(basis.degrees, basis_of_other.degrees):
        return length(b - b_of_other, 0.0)
    count = int(max(basis.degrees[-1], basis_of_other.degrees[-1])) + 1
    lengths = [np.sqrt(np.bincount(base.degrees, unknown**2, count)) for base, unknown in (one, other)]
    return length(lengths[0] - lengths[1], 0.0)


def _is_there(knot: Knot, side: Side) -> bool:
    """Return whether a located point is where the states of a side meet, by their approach along the last chord."""
    last, beyond = side.knots[-1].point, side.beyond
    assert beyond is not None
    if side.approach is not None:
        sizes = [length(separation(side, point), 0.0) for point in side.approach]
        return leads_to(np.array([knot.point.b[-1], knot.point.q]), last, side.approach[0], sizes[1], sizes[0])
    before, after = separation(side, last), separation(side, beyond)
    size, step = length(before, 0.0), beyond.arclength - last.arclength
    one, other, place = (np.array([point.b[-1], point.q]) for point in (last, beyond, knot.point))
    if length(after, 0.0) <= COLLAPSED * size:
        # The point beyond is one of the curve of the more symmetric state.
        return length(place - one, 0.0) <= step
    share = _share(side)
    missed = length(place - one - share * (other - one), 0.0)
    return bool(missed <= STRAYED * max(1.0, share**2) * step)
