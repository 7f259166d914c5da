"""Where curves end at the uniform state: tricritical points and interactions of modes on its thresholds."""

import contextlib
from collections.abc import Iterator

import numpy as np
from scipy.optimize import newton

from meanfield import InvalidInput, MeanfieldError, Outcome
from meanfield.theory import mode_interactions, tricritical_points

from ...bases import EPS, Floats
from ...branches.continuation import Point, length
from ...root_finding.newton import POLISHED, correct
from ..following.approaching import larger
from ..following.events import KNOWN, VANISHED
from ..following.following import follow, turned_back
from ..following.knots import Knot, Side, extended
from ..in_plane.plane import Plane
from ..in_plane.unknowns import basis_of
from ..systems.arc import strayed_by
from ..systems.branch_points import BranchPointEquation
from ..systems.extended import ExtendedEquation
from ..systems.recording import CONVERGED
from ..systems.thresholds import ThresholdEquation
from .beside import FIRST, NEARBY, NEARLY_CRITICAL, point_beside
from .normal_form import interactions_among, tricritical_among
from .threshold_parts import AtOneCoupling, InCoupling, ThresholdPart, UniformEnd, of_knot

# The organising point at which a curve meets the uniform state is looked for within so many times the distance of
# its last two points, among the divisors of its mode and the multiples up to this one.
BEYOND, LAST_PARTNER = 4.0, 32
# Share of the unit of the other parameter within which a curve that is nothing but its start ends.
BESIDE = 1e-3
# A curve leads to an end within this share of the distance from it.
STRAYED = 0.3
# The distance from it is an amplitude a or its square, and where a confinement vanishes also, at folds of states of
# twice its period, the power 3/2. On lines of a vector v of degree 1 and a tensor Q of degree 2 on spheres it is
# 4/3: free energies are equal if the forms of the second and of the third order both vanish, as where Q v and det Q
# do, and the smallest part of Q, to which the distance is proportional, has a cube as large as the terms of the
# fourth order.
POWERS, WITHOUT_FIELD = (1.0, 4.0 / 3.0, 2.0), (1.0, 1.5, 2.0)
# A curve that seems to end at the uniform state is asked so many times, at that share of the rest of the way or
# where no point is found at half of it, whether it does.
APPROACHES, APPROACHED = 8, 0.5
# It is asked no more once its states are this share of those at its last point. Where points are of several curves
# in turn, these end there if their distance from it falls like the square of that share, up to a factor.
NEAR_ENOUGH, TOGETHER = 0.2, 2.0
# Where a state is small with the confinement, this vanishes within so many times the size of the state.
AS_SMALL = 10.0
# Steps of Newton's method to where the confinement vanishes, each second one prolonged.
VANISHING_STEPS = 40
# Fewer points on the way to it, with the last one of the curve, tell nothing against it.
TELLING = 3
STOPPED = (Outcome.MAX_STEPS, Outcome.STEP_TOO_SMALL, Outcome.NOT_RESOLVED)


def uniform_end(side: Side, plane: Plane, degree: int) -> UniformEnd | None:
    """Return the organising point of the uniform state at which a side ends in a mode, None if none is near."""
    if plane.confined:
        return zero_field_end(side, plane)
    points = [knot.point for knot in side.knots]
    stopped, last = side.outcome in STOPPED, points[-1]
    sizes = [length(point.b[:-1], 0.0) for point in points]
    start = larger(sizes) if stopped else max(len(points) - 2, 0)
    before = points[start] if side.approach is None else side.approach[0]
    beside = side.beyond if len(points) == 1 and side.beyond is not None else before
    near = KNOWN * abs(float(last.b[-1])) if len(points) > 1 else BESIDE
    # It may turn in x before its end.
    reach = BEYOND * length(last.b[-1:] - beside.b[-1:], last.q - beside.q) + near
    found = list((_in_coupling if plane.in_coupling else _on_threshold)(plane, last, degree, reach))
    if stopped:
        found = [end for end in found if leads_to(_place(plane, end), last, before, sizes[-1], sizes[start])]
    elif side.beyond is not None and sizes[-1] > 0.0:
        found = [end for end in found if _is_reached(_place(plane, end), last)]
    return min(found, key=lambda end: length(_place(plane, end) - [last.b[-1], last.q], 0.0), default=None)


def _is_reached(place: Floats, last: Point) -> bool:
    """Return whether a curve ends at a place of the uniform state, which the step after its last point went over.

    Where several thresholds nearly meet it may pass closely, and steps over it. Points half as far from it in turn
    lead there, or miss it if there are such points but none that do.
    """
    points, share, leads = [last], APPROACHED, False
    sizes, distances = [length(last.b[:-1], 0.0)], [length(place - [last.b[-1], last.q], 0.0)]
    for _ in range(APPROACHES):
        nearer = points[-1]
        solution = nearer.solution
        rate = float(nearer.b[:-1] @ solution.tangent_b[:-1]) / sizes[-1]
        if rate >= 0.0 or (leads and sizes[-1] <= NEAR_ENOUGH * sizes[0]):
            break
        step = -share * sizes[-1] / rate
        b, q = nearer.b + step * solution.tangent_b, nearer.q + step * solution.tangent_q
        found = correct(nearer.equation, b, q, solution.tangent_b, solution.tangent_q, POLISHED)
        if found is None:
            share *= 0.5
            continue
        distance = length(place - [found.b[-1], found.q], 0.0)
        if distance >= distances[-1]:
            # Beside the end rounding takes points away from it, or it is one of another curve.
            break
        point = Point(nearer.equation, found, nearer.arclength + step)
        points.append(point.oriented(solution.tangent_b, solution.tangent_q))
        sizes.append(length(found.b[:-1], 0.0))
        distances.append(distance)
        # Between neighbours that are less far apart rounding decides where they lead.
        before = larger(sizes)
        leads = leads_to(place, points[-1], points[before], sizes[-1], sizes[before])
    if leads or len(sizes) < TELLING:
        return True
    # Several curves may meet in the end, and points be of one and the other of them in turn, but all come nearer.
    fallen = min(sizes) / sizes[0]
    return fallen <= NEAR_ENOUGH and distances[-1] <= TOGETHER * fallen**2 * distances[0]


def zero_field_end(side: Side, plane: Plane) -> UniformEnd | None:
    """Return the point in which a curve ends at the threshold without a confinement, None if it leads to none.

    There states of all orientations are born of the uniform one, and it is the end of lines on which the
    confinement vanishes and of curves along which states become one as it does.
    """
    points = [knot.point for knot in side.knots]
    last = points[-1]
    found = _in_zero_field(plane, last)
    if found is None:
        return None
    sizes = [length(point.b[:-1], 0.0) for point in points]
    before = larger(sizes)
    shift, in_q = strayed_by(last)
    known = max(KNOWN, length(shift[-1:], in_q))
    place, ends = _place(plane, found), (last, points[before])
    return found if leads_to(place, *ends, sizes[-1], sizes[before], known, WITHOUT_FIELD) else None


def drop_rounding(side: Side, plane: Plane) -> None:
    """Drop the last points of a side that ends without a confinement that are known no better than they are near.

    Rounding takes them over the end and back.
    """
    found = _in_zero_field(plane, side.knots[-1].point)
    while found is not None and len(side.knots) > 1:
        point = side.knots[-1].point
        shift, in_q = strayed_by(point)
        if length(_place(plane, found) - [point.b[-1], point.q], 0.0) > length(shift[-1:], in_q):
            break
        side.knots.pop()


def passed_uniform(knot: Knot, plane: Plane) -> UniformEnd | None:
    """Return the threshold without a confinement that a curve passes at an event, None if the event is another.

    A curve of states that vanish there as the confinement does goes through it, and its equation, singular in all
    the modes of the degree, tells no place of what vanishes with them.
    """
    assert knot.event is not None
    point, (in_x, in_q) = knot.point, knot.event.error
    known = max(in_x, in_q) <= CONVERGED and not knot.event.singular
    if known or not plane.confined:
        return None
    size = length(point.b[:-1], 0.0)
    if size > VANISHED:
        return None
    found = _in_zero_field(plane, point)
    if found is None:
        return None
    x, q = _place(plane, found)
    # What vanishes with a power of the field is rounding at states that are small as it is.
    near_x, near_q = (max(error, AS_SMALL * size) for error in (in_x, in_q))
    return found if abs(x - point.b[-1]) <= near_x and abs(q - point.q) <= near_q else None


def _in_zero_field(plane: Plane, point: Point) -> UniformEnd | None:
    """Return the threshold without a confinement beside a point at which that nearly vanishes, None if none is."""
    place = float(point.b[-1]), point.q
    strengths = plane.coefficients(*place, plane.reference).strengths
    degree = int(plane.reference[np.argmin(np.abs(strengths - 1.0))])
    threshold = _threshold_in_zero_field(plane, place, degree)
    if threshold is None:
        return None
    there = plane.coefficients(*threshold, plane.reference).place
    first, second = there.values
    rounding = plane.rounding(float(first))
    return UniformEnd(
        type="mode interaction",
        modes=(degree,),
        problem=there.problem.replace(confinement=None),
        values=(first, second),
        bounds=(float(first) - rounding, float(first) + rounding),
    )


def _threshold_in_zero_field(plane: Plane, last: tuple[float, float], degree: int) -> tuple[float, float] | None:
    """Return x and q at which a degree is critical without a confinement, ahead of a point where it nearly is."""
    # Small states know where the confinement vanishes less well than itself.
    place = _where_confinement_vanishes(plane, last)
    if place is None:
        return None
    x, q = place

    def excess(x: float) -> float:
        known = plane.coefficients(x, q, plane.reference).strengths[plane.reference == degree]
        return float(known[0]) - 1.0 if known.size else np.nan

    here = excess(x)
    if not abs(here) <= NEARLY_CRITICAL:
        return None
    if plane.in_coupling:
        # Lambda of a degree is proportional to the coupling.
        return x, q / (1.0 + here)
    try:
        return float(newton(excess, x, x1=x + BESIDE, tol=EPS, rtol=4 * EPS)), q
    except (RuntimeError, InvalidInput):
        return None


def _where_confinement_vanishes(plane: Plane, last: tuple[float, float]) -> tuple[float, float] | None:
    """Return x and q at which the confinement vanishes beside a point, None if it does nowhere.

    Where it is a power p of the distance steps of Newton's method leave the share 1 - 1/p of it: two tell the rest
    of their sum.
    """
    place, along, before = np.array(last), 0 if plane.in_coupling else 1, np.inf
    for _ in range(VANISHING_STEPS):
        try:
            coefficients = plane.coefficients(float(place[0]), float(place[1]), plane.reference)
        except InvalidInput:
            return None
        change = coefficients.slopes[1][along]
        square = float(change @ change)
        if square == 0.0:
            return None if coefficients.forces.any() else (float(place[0]), float(place[1]))
        step = -float(coefficients.forces @ change) / square
        place[along] += step
        if abs(step) <= EPS * max(abs(place[along]), abs(place[along] - last[along])):
            return float(place[0]), float(place[1])
        share = step / before
        if abs(share) >= 1.0:
            # It decays, and vanishes nowhere.
            return None
        if share > 0.0:
            place[along] += step * share / (1.0 - share)
        before = np.inf if share > 0.0 else step
    return None


def _in_coupling(plane: Plane, last: Point, degree: int, reach: float) -> Iterator[UniformEnd]:
    """Yield the organising points of the threshold of a mode within a distance in x, by their closed forms."""
    x = float(last.b[-1])
    around = (x - reach) * plane.unit, (x + reach) * plane.unit
    equation, part = extended(last), InCoupling(plane, degree, around)
    modes = degree, *(mode for mode in equation.partners(degree, LAST_PARTNER) if mode != degree)
    # Values of the parameter so far away need not be admissible.
    with contextlib.suppress(InvalidInput):
        found = mode_interactions(plane.problem, plane.other, around, modes, of=degree)
        if equation.ends_tricritically and _on_one_branch(equation):
            found += tricritical_points(plane.problem, plane.other, around, (degree,))
        yield from map(part.of_closed_form, found)
    yield from _of_one_degree(part, last, degree)


def _of_one_degree(part: ThresholdPart, last: Point, degree: int) -> Iterator[UniformEnd]:
    """Yield the points of a threshold at which several branches of its degree turn, or interact, along a curve."""
    equation = extended(last)
    if equation.ends_tricritically and not _on_one_branch(equation):
        yield from tricritical_among(part, equation.basis, degree)
    elif isinstance(equation, BranchPointEquation):
        (state,) = equation.at_states(last.unknowns_on(equation)[0], last.q)
        yield from interactions_among(part, state, degree, equation.complement)


def _on_one_branch(equation: ExtendedEquation) -> bool:
    """Return whether one branch for each mode is born of the uniform state, even about an axis or of waves."""
    return equation.basis.even or equation.plane.rotates


def _on_threshold(plane: Plane, last: Point, degree: int, reach: float) -> Iterator[UniformEnd]:
    """Yield the organising points of the threshold of a mode within a distance in x, found by following it.

    For planes of two parameters at one coupling, where there are no closed forms of them.
    """
    start = _threshold_beside(plane, last, degree)
    if start is None:
        return
    equation = extended(last)
    partners = equation.partners(degree, LAST_PARTNER)
    turns = equation.ends_tricritically and _on_one_branch(equation)
    for begin in (start, turned_back(start, start.arclength)):
        for knot in follow(begin, NEARBY, FIRST).knots:
            event = knot.event
            if event is None or event.type == "end" or abs(float(knot.point.b[-1] - last.b[-1])) > reach:
                continue
            if turns if event.mode is None else event.mode in partners:
                yield of_knot(knot, (degree,) if event.mode is None else tuple(sorted((degree, event.mode))))
    yield from _of_one_degree(AtOneCoupling(start, degree, reach), last, degree)


def _threshold_beside(plane: Plane, last: Point, degree: int) -> Point | None:
    """Return the point of the threshold of a mode beside one of a curve, None if none is found."""
    unknown, q = last.b[-1:], last.q
    named = np.zeros(degree + 1)
    named[degree] = 1.0
    try:
        equation = ThresholdEquation(plane, (basis_of(plane, named, (float(unknown[0]), q)),), degree)
    except MeanfieldError:
        return None
    return point_beside(equation, unknown, q)


def _place(plane: Plane, end: UniformEnd) -> Floats:
    """Return the coordinates x and q of the end of a curve."""
    return np.array(plane.coordinates(*end.values))


def leads_to(
    place: Floats,
    last: Point,
    before: Point,
    small: float,
    large: float,
    known: float = KNOWN,
    powers: tuple[float, ...] = POWERS,
) -> bool:
    """Return whether two points, known so well, lead to a place, distant by one of some powers of an amplitude.

    The amplitude is small at the one and large at the other.
    """
    one, other = (np.array([point.b[-1], point.q]) for point in (last, before))
    if small >= large:
        return False
    shares = (small**power / (large**power - small**power) for power in powers)
    missed = min(length(one + share * (one - other) - place, 0.0) for share in shares)
    return missed <= STRAYED * length(place - one, 0.0) + known
