r"""Pseudo-arclength continuation of stationary states as an iterator of points.

The curve is parametrised by the length in (b, q), both dimensionless. Each step extrapolates the last three
points and tangents by the Hermite polynomial of degree five, so well that one Newton step is often enough,
corrects by Newton in the hyperplane orthogonal to the tangent, and adapts its length to the distance between
prediction and correction. Every accepted point is resolved: where it is not, the equation grows and the point is
corrected again.
"""

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.blas import ddot

from meanfield import Number, Outcome

from ..bases import Floats
from ..equations.counts import Counts
from ..equations.equation import StationaryEquation
from ..execution.compiling import continuation_compiled
from ..root_finding.newton import POLISHED, ROUNDING, Direction, Newton, correct, solve_at
from ..root_finding.solution import Solution
from .arclength import Arclength
from .hermite import hermite, hermite_slope
from .stepping import CLOSE_NODES, PREDICTED_FROM, accepted, arc, growth, last_step_beside, smallest_step

# Arclengths count from the branch point a branch is born at; one that has none starts at this value.
REGULAR_ARCLENGTH = 1.0
NEWTON = Newton()
# Compiled code takes so many steps at once at first, then twice as many as before, and so many at most.
FIRST_AHEAD, MOST_AHEAD = 10, 32
# Between a branch point and a point next to it curves are straight to this share of the way.
STRAYING = 0.25
# Refinements of an equation for one point; where two directions are neutral in the place of one, borders never fit.
REFINEMENTS = 32
# Slopes of the coupling below this are rounding noise of a vertical branch.
FLAT = 1e-10
# The slope of a cubic below this share of those at its ends may have another sign on the curve; its least value is
# then looked for by so many parabolas, each of which moves it by more than the last share of the way.
NEARLY_TURNING, PARABOLAS, SAME_SHARE = 0.2, 6, 1e-4
# That of the cubic may be beyond an end by this share where that of the curve is not.
BEYOND_END = 0.1


@dataclass(slots=True, eq=False)
class Point:
    """An accepted point of a branch: its equation, solution and arclength.

    ``leaving`` is set where the branch leaves or meets a more symmetric one: the unit kernel vector, orthogonal to
    the states of larger symmetry. ``counts`` are kept where unstable directions are counted once for several uses.
    """

    equation: StationaryEquation
    solution: Solution
    arclength: float
    leaving: Floats | None = None
    counts: Counts | None = None
    _invariant: float | None = None

    @property
    def b(self) -> Floats:
        """Unknowns b."""
        return self.solution.b

    @property
    def q(self) -> float:
        """Dimensionless coupling q."""
        return self.solution.q

    @property
    def coupling(self) -> Number:
        """Coupling of the point."""
        return self.equation.coupling(self.solution.q)

    @property
    def value(self) -> Number:
        """Value of the parameter."""
        return self.equation.value(self.solution.q)

    @property
    def place(self) -> str:
        """The parameter and its value in words."""
        return f"{self.equation.parameter} {float(self.value):.12g}"

    @property
    def moments(self) -> Floats:
        """Moments in the layout of the basis."""
        return self.solution.evaluation.gibbs.moments

    @property
    def response(self) -> Floats:
        """Moments from which second moments of modes have the linearisation."""
        return self.equation.response(self.b, self.q, self.moments)

    @property
    def by_degree(self) -> tuple[Floats, Floats]:
        """Cosine and sine moments of every degree from 0 to the largest resolved."""
        return self.equation.basis.expand(self.moments)

    def unknown_in(self, equation: StationaryEquation) -> Floats:
        """Return b of the state in the equation on densities of another symmetry."""
        return equation.unknown_with(*self.by_degree)

    @property
    def residual(self) -> float:
        """Largest component of the residual, with the error of what is left out of a density that is not smooth."""
        return max(self.solution.residual, self.equation.truncation_at(self.moments))

    @property
    def invariant(self) -> float:
        """Sum lambda_k a_k^2 - log(Z / Z_uniform), equal for images of a state; the free energy gap."""
        if self._invariant is None:
            solution = self.solution
            log_partition = solution.evaluation.gibbs.log_partition
            self._invariant = self.equation.invariant(solution.b, solution.q, log_partition)
        return self._invariant

    @property
    def gap_slope(self) -> float:
        """Derivative of the free energy gap along stationary states with respect to q: the envelope identity."""
        solution = self.solution
        return self.equation.gap_slope(solution.b, solution.q, solution.evaluation.gibbs.moments)

    @property
    def gap_rounding(self) -> float:
        """Rounding error of the free energy gap."""
        return self.equation.invariant_rounding(self.b, self.q)

    @property
    def unstable(self) -> int:
        """Number of unstable directions within the basis, rotation excluded."""
        return self.solution.negative - self.equation.repulsive

    def oriented(self, direction_b: Floats, direction_q: float) -> "Point":
        """Return the point with its tangent oriented along a direction."""
        solution = self.solution
        if ddot(solution.tangent_b, direction_b) + solution.tangent_q * direction_q < 0.0:
            solution.reverse()
        return self

    def unknowns_on(self, equation: StationaryEquation) -> tuple[Floats, Floats]:
        """Return b and its tangent in the unknowns of a refined equation."""
        b, tangent_b = self.solution.b, self.solution.tangent_b
        if equation is self.equation:
            return b, tangent_b
        return self.equation.transfer(b, equation), self.equation.transfer(tangent_b, equation)

    def on(self, equation: StationaryEquation) -> "Point":
        """Return the same point with the unknowns of a refined equation."""
        if equation is self.equation:
            return self
        b, tangent_b = self.unknowns_on(equation)
        solution = replace(self.solution, b=b, evaluation=equation.evaluate(b, self.q), tangent_b=tangent_b)
        leaving = None if self.leaving is None else self.equation.transfer(self.leaving, equation)
        return Point(equation, solution, self.arclength, leaving)


@dataclass(slots=True)
class End:
    """The end of a trace, with its outcome."""

    outcome: Outcome
    needed_modes: int | None = None


def trace(
    start: Point, method: Arclength, first_step: float, behind: Sequence[Point] = (), highest: float = math.inf
) -> Iterator[Point | End]:
    """Yield the points that follow ``start`` in the direction of its tangent; an :class:`End` comes last.

    Parameters
    ----------
    start
        A corrected point with an oriented tangent.
    first_step
        Length of the first step.
    behind
        Points of the curve before the start, as far as known, the farthest first: the first ones are predicted from
        them as well.
    highest
        No point is asked for after one beyond this q with rising q.
    """
    known, step, left, ahead = [*behind, start], min(first_step, method.max_step), method.max_points, FIRST_AHEAD
    while left > 0:
        points, step = _steps(known, step, method, min(ahead, left), highest)
        if points:
            yield from points
            ahead = min(2 * ahead, MOST_AHEAD)
        else:
            point, step = _advance(known, step, method)
            yield point
            if isinstance(point, End):
                return
            points = [point]
        known, left = [*known, *points][-PREDICTED_FROM:], left - len(points)
    yield End(Outcome.MAX_STEPS)


def _steps(
    known: list[Point], step: float, method: Arclength, count: int, highest: float
) -> tuple[list[Point], float]:
    """Return the points of up to ``count`` steps and the next step, by compiled code; none where it is not used."""
    if not continuation_compiled():
        return [], step
    found, step = _compiled()(known, step, method, count, highest)
    return [Point(known[-1].equation, solution, arclength) for solution, arclength in found], step


@functools.cache
def _compiled() -> Callable[..., tuple[list[tuple[Solution, float]], float]]:
    """Return the function of compiled steps; its module loads numba."""
    from .compiled_steps import steps_from

    return steps_from


def _advance(known: list[Point], step: float, method: Arclength) -> tuple[Point | End, float]:
    """Return the next point and the step to try after it, halving the step until a point is accepted."""
    last = known[-1]
    size = length(last.b, 0.0)
    newton = _newton_beside(min(last.arclength, size))
    smallest = smallest_step(size, last.arclength, method.min_step)
    while step >= smallest:
        nodes = _usable(known, step)
        predicted_b, predicted_q = hermite(nodes, last.arclength + step)
        predicted_b = last.equation.unturned(predicted_b, last.b, last.moments)
        along = functools.partial(hermite_slope, nodes, last.arclength + step)
        point, distance = _attempt(last, predicted_b, predicted_q, newton, step, method, along)
        if point is not None:
            resolved_point = resolve(point)
            if isinstance(resolved_point, End):
                return resolved_point, step
            equation = resolved_point.equation
            extent = equation.extent(resolved_point.b, resolved_point.q)
            factor = growth(distance, 2 * len(nodes), method.tolerance, equation.most_growth)
            return resolved_point, min(method.max_step * max(1.0, 0.5 * extent), step * factor)
        step *= 0.5
    return End(Outcome.STEP_TOO_SMALL), step


def _usable(known: list[Point], step: float) -> list[Point]:
    """Return the last points, without those so close together that extrapolation would amplify rounding."""
    for place in range(len(known) - 1, 0, -1):
        if known[place].arclength - known[place - 1].arclength < CLOSE_NODES * step:
            return known[place:]
    return known


def _attempt(
    last: Point, b: Floats, q: float, newton: Newton, step: float, method: Arclength, along: Direction
) -> tuple[Point | None, float]:
    """Return the corrected point of a prediction, None if not acceptable, and its distance from the prediction."""
    if q <= 0.0:
        return None, math.inf
    old, equation = last.solution, last.equation
    end = _end_passed(equation, q)
    if end is None:
        new = correct(equation, b, q, old.tangent_b, old.tangent_q, newton, old.negative, along)
        end = None if new is None else _end_passed(equation, new.q)
    if end == old.q:
        return None, math.inf
    if end is not None:
        # A share of the step ends where the equation does.
        share = (end - old.q) / (q - old.q) if q != old.q else 1.0
        b, q = old.b + share * (b - old.b), end
        new = correct(equation, b, q, np.zeros_like(b), 1.0, newton, old.negative)
    if new is None or equation.leaves(old, new):
        return None, math.inf
    distance = length(new.b - b, new.q - q)
    cosine = ddot(old.tangent_b, new.tangent_b) + old.tangent_q * new.tangent_q
    if not accepted(distance, cosine, step, method.tolerance):
        return None, distance
    if cosine < 0.0:
        new.reverse()
    arclength = last.arclength + arc(length(new.b - old.b, new.q - old.q), abs(cosine))
    return Point(equation, new, arclength), distance


def _end_passed(equation: StationaryEquation, q: float) -> float | None:
    """Return the end, of where an equation is known, beyond which q is; None if it is within."""
    if equation.ends is None or equation.ends[0] <= q <= equation.ends[1]:
        return None
    return equation.ends[0] if q < equation.ends[0] else equation.ends[1]


def _newton_beside(distance: float) -> Newton:
    """Return options of Newton's method accurate enough for tangents at a distance from a more symmetric state."""
    last_step = last_step_beside(distance)
    return NEWTON if last_step == NEWTON.last_step else Newton(last_step)


def values_of(points: Sequence[Point]) -> Floats:
    """Return the values of the parameter at points of a branch, (points,)."""
    equation = points[0].equation
    if any(point.equation is not equation for point in points):
        return np.array([point.value for point in points])
    return equation.values(np.array([point.solution.q for point in points]))


def length(b: Floats, q: float) -> float:
    """Return the Euclidean length of a vector (b, q)."""
    return math.sqrt(ddot(b, b) + q * q)


def resolve(point: Point) -> Point | End:
    """Return the point on an equation that resolves it, refined as needed, or the end at the limits."""
    for _ in range(REFINEMENTS):
        if point.equation.resolves(point.b, point.q, point.moments):
            return point
        equation = point.equation.refined(point.b, point.q, point.moments)
        if equation is None:
            return End(Outcome.NOT_RESOLVED, needed_modes(point))
        wider = point.on(equation)
        solution = correct(equation, wider.b, wider.q, wider.solution.tangent_b, wider.solution.tangent_q, NEWTON)
        if solution is None:
            return End(Outcome.NOT_RESOLVED, needed_modes(point))
        direction_b, direction_q = wider.solution.tangent_b, wider.solution.tangent_q
        point = Point(equation, solution, point.arclength).oriented(direction_b, direction_q)
    return End(Outcome.NOT_RESOLVED, needed_modes(point))


def state_at(equation: StationaryEquation, b: Floats, q: float, refinements: int = REFINEMENTS) -> Point | End:
    """Return the resolved state at the coupling q that Newton's method finds from a guess, or an end if none."""
    value = equation.value(q)
    for _ in range(refinements + 1):
        solution = solve_at(equation, b, equation.q_at(value))
        if solution is None:
            return End(Outcome.DIVERGED)
        point = Point(equation, solution, REGULAR_ARCLENGTH)
        if equation.resolves(solution.b, solution.q, point.moments):
            return point
        larger = equation.refined(solution.b, solution.q, point.moments)
        if larger is None:
            break
        equation, b = larger, equation.transfer(solution.b, larger)
    return End(Outcome.NOT_RESOLVED, needed_modes(point))


def needed_modes(point: Point) -> int:
    """Return an estimate of the number of modes a density needs, from the decay of its last moments."""
    tail = max(point.equation.basis.tail(point.moments), 1e-15)
    largest = point.equation.basis.symmetry * point.equation.basis.nodes
    if tail >= 0.5:
        return 64 * largest
    return math.ceil(largest * math.log(1e-16) / math.log(tail))


def turning_point(first: Point, second: Point) -> float:
    """Return the arclength at which the coupling of the Hermite cubic between two points is extremal."""
    span = second.arclength - first.arclength
    one, two = first.solution.tangent_q, second.solution.tangent_q
    rise = (second.q - first.q) / span
    # q'(x) = one + 2 bend x + 3 twist x^2 on 0 <= x <= 1; of its roots this is the one between opposite slopes.
    bend, twist = 3.0 * rise - 2.0 * one - two, one + two - 2.0 * rise
    root = math.sqrt(max(bend * bend - 3.0 * one * twist, 0.0))
    return first.arclength + span * -one / (bend + math.copysign(root, two - one))


def turns_twice(first: Point, second: Point) -> bool:
    """Return whether the coupling turns and turns back between two points.

    So it does if that of their Hermite cubic does; where that nearly does, as beside a cusp, the curve is asked.
    """
    before, after = first.solution, second.solution
    one, two = before.tangent_q, after.tangent_q
    rise = (after.q - before.q) / (second.arclength - first.arclength)
    bend, twist = 3.0 * rise - 2.0 * one - two, one + two - 2.0 * rise
    if one * two <= 0.0 or twist == 0.0:
        return False
    vertex = -bend / (3.0 * twist)
    extreme = one + bend * vertex
    if abs(extreme) > NEARLY_TURNING * max(abs(one), abs(two)):
        return 0.0 < vertex < 1.0 and extreme * one < 0.0
    if not -BEYOND_END < vertex < 1.0 + BEYOND_END:
        return False
    return _turns_beside(first, second, min(max(vertex, BEYOND_END), 1.0 - BEYOND_END))


def _turns_beside(first: Point, second: Point, share: float) -> bool:
    """Return whether the slope of the coupling, least near a share of the way, has another sign there."""
    sign, span = math.copysign(1.0, first.solution.tangent_q), second.arclength - first.arclength
    known = [(0.0, sign * first.solution.tangent_q), (1.0, sign * second.solution.tangent_q)]
    for _ in range(PARABOLAS):
        point = point_between(first, second, first.arclength + share * span)
        if point is None:
            return False
        slope = sign * point.solution.tangent_q
        if slope < -FLAT:
            return True
        known = sorted([*known, (share, slope)])
        least = min(range(1, len(known) - 1), key=lambda place: known[place][1])
        (a, low), (b, mid), (c, high) = known[least - 1 : least + 2]
        left, right = (mid - low) / (b - a), (high - mid) / (c - b)
        share = 0.5 * (a + b) - 0.5 * left * (c - a) / (right - left) if right > left else b
        if not a < share < c or any(abs(share - place) < SAME_SHARE for place, _ in known):
            return False
    return False


def point_between(
    first: Point, second: Point, arclength: float, neighbours: tuple[Point, Point] | None = None
) -> Point | None:
    """Return the fully converged point at an arclength between two neighbouring points, or None if not found.

    Beside a branch point also None if Newton's method finds another of the branches that leave it.

    Parameters
    ----------
    neighbours
        Points found before on either side of the arclength, closer than the first two: a better start.
    """
    if not first.arclength < second.arclength:
        return None
    first = first.on(second.equation)
    b, q = hermite((first, second), arclength)
    normal_b, normal_q = _normal(first, second)
    if neighbours is not None:
        b, q = _moved_along(neighbours, arclength, normal_b, normal_q, ddot(normal_b, b) + normal_q * q)
    solution = correct(second.equation, b, q, normal_b, normal_q, POLISHED)
    if solution is None or _off_guess(first, second, b, solution.b):
        return None
    point = Point(second.equation, solution, arclength)
    return point.oriented(second.solution.tangent_b, second.solution.tangent_q)


def _off_guess(first: Point, second: Point, guess: Floats, b: Floats) -> bool:
    """Return whether a corrected point is off its guess by a share of its distance from a nearby branch point."""
    end = first if second.leaving is None else second
    if end.leaving is None:
        return False
    return length(b - guess, 0.0) > STRAYING * length(guess - end.b, 0.0) + ROUNDING


def _normal(first: Point, second: Point) -> tuple[Floats, float]:
    """Return the unit normal of the planes between two points in which the curve is met once.

    Beside a branch point these must not meet the more symmetric branch: it has no part along the kernel.
    """
    leaving = second.leaving if first.leaving is None else first.leaving
    if leaving is not None:
        return leaving, 0.0
    chord_b, chord_q = second.b - first.b, second.q - first.q
    norm = length(chord_b, chord_q)
    return chord_b / norm, chord_q / norm


def _moved_along(
    neighbours: tuple[Point, Point], arclength: float, normal_b: Floats, normal_q: float, level: float
) -> tuple[Floats, float]:
    """Return the interpolation between two points, moved along the curve into the hyperplane at ``level``."""
    left, right = neighbours
    b, q = hermite((left, right), arclength)
    tangent_b, tangent_q = right.solution.tangent_b, right.solution.tangent_q
    missing = level - ddot(normal_b, b) - normal_q * q
    distance = missing / (ddot(normal_b, tangent_b) + normal_q * tangent_q)
    return b + distance * tangent_b, q + distance * tangent_q
