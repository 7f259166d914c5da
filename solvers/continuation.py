r"""Pseudo-arclength continuation of stationary states as an iterator of points.

The curve is parametrised by the length in (b, q), both dimensionless. Each step extrapolates the last two
points and tangents by the cubic Hermite polynomial, corrects by Newton in the hyperplane orthogonal to the
tangent, and adapts its length to the distance between prediction and correction. Every accepted point is
resolved: where it is not, the equation grows and the point is corrected again.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from meanfield import Number, Outcome

from .bases import Floats
from .equation import StationaryEquation
from .newton import POLISHED, Newton, Solution, correct, solve_at

# Arclengths count from the branch point a branch is born at; one that has none starts at this value.
REGULAR_ARCLENGTH = 1.0


@dataclass(frozen=True)
class Arclength:
    """Options of the continuation.

    Parameters
    ----------
    tolerance
        Largest distance between prediction and corrected point, in arclength units.
    max_step, min_step
        Bounds of the step, in arclength units; the upper one grows with q beyond 2.
    max_points
        Points after which a branch is left unfinished.
    """

    tolerance: float = 1e-3
    max_step: float = 0.05
    min_step: float = 1e-10
    max_points: int = 4000


@dataclass(slots=True)
class Point:
    """An accepted point of a branch: its equation, solution and arclength."""

    equation: StationaryEquation
    solution: Solution
    arclength: float
    _gap: float | None = None

    @property
    def b(self) -> Floats:
        """Unknowns."""
        return self.solution.b

    @property
    def q(self) -> float:
        """Dimensionless coupling."""
        return self.solution.q

    @property
    def coupling(self) -> Number:
        """Coupling."""
        return self.equation.coupling(self.solution.q)

    @property
    def moments(self) -> Floats:
        """Moments in the layout of the basis."""
        return self.solution.evaluation.gibbs.moments

    @property
    def free_energy_gap(self) -> float:
        """(F - F_uniform)/D."""
        if self._gap is None:
            b, q, log_partition = self.b, self.q, self.solution.evaluation.gibbs.log_partition
            self._gap = self.equation.free_energy_gap(b, q, log_partition)
        return self._gap

    @property
    def unstable(self) -> int:
        """Unstable directions within the basis, rotation excluded."""
        return self.solution.negative - self.equation.repulsive

    def oriented(self, direction_b: Floats, direction_q: float) -> "Point":
        """Return the point with its tangent turned to the side of a direction."""
        solution = self.solution
        if float(solution.tangent_b @ direction_b) + solution.tangent_q * direction_q < 0.0:
            solution.tangent_b = -solution.tangent_b
            solution.tangent_q = -solution.tangent_q
        return self

    def on(self, equation: StationaryEquation) -> "Point":
        """Return the same point with the unknowns of a refined equation."""
        if equation is self.equation:
            return self
        b = self.equation.transfer(self.b, equation)
        solution = replace(
            self.solution,
            b=b,
            evaluation=equation.evaluate(b, self.q),
            tangent_b=self.equation.transfer(self.solution.tangent_b, equation),
        )
        return Point(equation, solution, self.arclength)


@dataclass(slots=True)
class End:
    """Why a trace ended."""

    outcome: Outcome
    needed_modes: int | None = None


def trace(start: Point, method: Arclength, first_step: float) -> Iterator[Point | End]:
    """Yield the points that follow ``start`` in the direction of its tangent; an :class:`End` comes last.

    Parameters
    ----------
    start
        A corrected point with an oriented tangent.
    first_step
        Length of the first step.
    """
    last, before, step = start, None, min(first_step, method.max_step)
    for _ in range(method.max_points):
        point, step, end = _advance(last, before, step, method)
        if point is None:
            yield end
            return
        yield point
        last, before = point, last
    yield End(Outcome.MAX_STEPS)


def _advance(last: Point, before: Point | None, step: float, method: Arclength) -> tuple[Point | None, float, End]:
    """Return the next point and the step to try after it, halving the step until a point is accepted."""
    while step >= method.min_step:
        predicted_b, predicted_q = predict(last, before, step)
        point, distance = _attempt(last, predicted_b, predicted_q, step)
        if point is not None and _acceptable(last, point, step, distance, method):
            resolved_point = resolve(point)
            if isinstance(resolved_point, End):
                return None, step, resolved_point
            return resolved_point, _next_step(step, distance, resolved_point.q, method), End(Outcome.CONVERGED)
        step *= 0.5
    return None, step, End(Outcome.STEP_TOO_SMALL)


def predict(last: Point, before: Point | None, step: float) -> tuple[Floats, float]:
    """Extrapolate by a step: the Hermite cubic through two points, or the tangent through one."""
    solution = last.solution
    if before is None or (span := last.arclength - before.arclength) < 1e-3 * step:
        return last.b + step * solution.tangent_b, last.q + step * solution.tangent_q
    older = before.on(last.equation)
    ratio = step / span
    # p(s) = x1 + s x1' + s^2 c2 + s^2 (s + h) c3 with h the span: Newton's form on the double nodes -h and 0.
    square, cube = ratio * ratio, ratio * ratio * (ratio + 1.0)
    back = square + 2.0 * cube
    here, there = span * (ratio + square + cube), span * cube
    past = older.solution
    b = (1.0 - back) * last.b + back * older.b + here * solution.tangent_b + there * past.tangent_b
    q = (1.0 - back) * last.q + back * older.q + here * solution.tangent_q + there * past.tangent_q
    return b, q


def _attempt(last: Point, b: Floats, q: float, step: float) -> tuple[Point | None, float]:
    tangent_b, tangent_q = last.solution.tangent_b, last.solution.tangent_q
    if q <= 0.0:
        return None, math.inf
    solution = correct(last.equation, b, q, tangent_b, tangent_q, _newton_beside(last.arclength))
    if solution is None:
        return None, math.inf
    change_b, change_q = solution.b - b, solution.q - q
    distance = math.sqrt(float(change_b @ change_b) + change_q * change_q)
    point = Point(last.equation, solution, last.arclength).oriented(tangent_b, tangent_q)
    point.arclength += arc_between(last, point)
    return point, distance


def _newton_beside(distance: float) -> Newton:
    """Return Newton with a last step so short that tangents are right beside a branch point.

    At a distance eps from a branch point the smallest eigenvalue is of order eps^2, and so must be the error of
    the point at which the tangent is taken.
    """
    return Newton(last_step=max(2e-15, min(Newton.last_step, 1e-4 * distance**2)))


def _acceptable(last: Point, point: Point, step: float, distance: float, method: Arclength) -> bool:
    """Whether the correction is small and the direction has turned by less than about 25 degrees."""
    old, new = last.solution, point.solution
    cosine = float(old.tangent_b @ new.tangent_b) + old.tangent_q * new.tangent_q
    return distance <= min(10.0 * method.tolerance, 0.2 * step) and cosine > 0.9


def _next_step(step: float, distance: float, q: float, method: Arclength) -> float:
    """Aim at the tolerance; the prediction error grows with the fourth power of the step."""
    growth = float((method.tolerance / max(distance, 1e-300)) ** 0.25)
    return min(method.max_step * max(1.0, 0.5 * q), step * min(2.0, max(0.3, 0.9 * growth)))


def arc_between(first: Point, second: Point) -> float:
    """Return the length of the circular arc with the chord and the tangents of two points."""
    one, two = first.solution, second.solution
    chord_b, chord_q = two.b - one.b, two.q - one.q
    turn_b, turn_q = two.tangent_b - one.tangent_b, two.tangent_q - one.tangent_q
    chord = math.sqrt(float(chord_b @ chord_b) + chord_q * chord_q)
    half = 0.5 * math.sqrt(float(turn_b @ turn_b) + turn_q * turn_q)
    return chord * math.asin(half) / half if 0.0 < half < 1.0 else chord


def resolve(point: Point) -> Point | End:
    """Return the point on an equation that resolves it, growing the equation as needed."""
    while not point.equation.resolves(point.b, point.moments):
        equation = point.equation.refined(point.b, point.moments)
        if equation is None:
            return End(Outcome.NOT_RESOLVED, needed_modes(point))
        wider = point.on(equation)
        solution = correct(equation, wider.b, wider.q, wider.solution.tangent_b, wider.solution.tangent_q, Newton())
        if solution is None:
            return End(Outcome.NOT_RESOLVED, needed_modes(point))
        direction_b, direction_q = wider.solution.tangent_b, wider.solution.tangent_q
        point = Point(equation, solution, point.arclength).oriented(direction_b, direction_q)
    return point


def state_at(equation: StationaryEquation, b: Floats, q: float, refinements: int = 32) -> Point | End:
    """Return the resolved state at the coupling q that Newton finds from a guess, the equation growing with it."""
    q_unit = q * equation.unit
    for _ in range(refinements + 1):
        solution = solve_at(equation, b, float(q_unit / equation.unit))
        if solution is None:
            return End(Outcome.DIVERGED)
        point = Point(equation, solution, REGULAR_ARCLENGTH)
        if equation.resolves(solution.b, point.moments):
            return point
        larger = equation.refined(solution.b, point.moments)
        if larger is None:
            break
        equation, b = larger, equation.transfer(solution.b, larger)
    return End(Outcome.NOT_RESOLVED, needed_modes(point))


def needed_modes(point: Point) -> int:
    """Estimate the modes a density needs from the decay of its last moments."""
    tail = max(point.equation.basis.tail(point.moments), 1e-15)
    largest = point.equation.basis.symmetry * point.equation.basis.nodes
    if tail >= 0.5:
        return 64 * largest
    return math.ceil(largest * math.log(1e-16) / math.log(tail))


def interpolate(first: Point, second: Point, arclength: float) -> tuple[Floats, float]:
    """Return the Hermite cubic between two neighbouring points."""
    first = first.on(second.equation)
    span = second.arclength - first.arclength
    x = (arclength - first.arclength) / span
    h00, h01 = (1 + 2 * x) * (1 - x) ** 2, x * x * (3 - 2 * x)
    h10, h11 = span * x * (1 - x) ** 2, span * x * x * (x - 1)
    one, two = first.solution, second.solution
    b = h00 * one.b + h01 * two.b + h10 * one.tangent_b + h11 * two.tangent_b
    q = h00 * one.q + h01 * two.q + h10 * one.tangent_q + h11 * two.tangent_q
    return b, q


def point_between(first: Point, second: Point, arclength: float) -> Point | None:
    """Return the corrected point at an arclength between two neighbouring points, fully polished."""
    b, q = interpolate(first, second, arclength)
    chord_b = second.b - first.on(second.equation).b
    chord_q = second.q - first.q
    norm = math.sqrt(float(chord_b @ chord_b) + chord_q * chord_q)
    solution = correct(second.equation, b, q, chord_b / norm, chord_q / norm, POLISHED)
    if solution is None:
        return None
    point = Point(second.equation, solution, arclength)
    return point.oriented(second.solution.tangent_b, second.solution.tangent_q)
