"""Events between two neighbouring points of a branch, located to rounding level where they are regular.

Every event is the zero of a smooth scalar function of the arclength, evaluated at points that Newton has
re-corrected on the curve: the tangent's coupling component (fold), an ordered eigenvalue of a symmetry block
(branch point), the free energy gap (transition), the distance to an end of the interval (endpoint). Unstable
directions are counted by inertia in every block, so double and near-double points are found one by one, and a
change of the count that no event explains becomes a warning.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise, product

import numpy as np
from scipy.optimize import brentq

from meanfield import Equation, PointType
from meanfield.equations import has_free_energy

from ..bases import EPS, Floats, Integers
from ..equations.counts import Counts
from ..equations.geometry import Block, BlockMatrix
from ..linear_algebra.weak import HALF_OF_THE_DIGITS
from ..root_finding.newton import NEUTRAL, ROUNDING, neutral_at
from .continuation import Point, point_between, turning_point
from .crossings import Crossing, crossing_between
from .hermite import hermite

# At the end of an interval the state is known to half of the digits where the curve is steep.
STRAYED = HALF_OF_THE_DIGITS
# Eigenvalues farther than this from zero, a thousand times what counts as neutral, have the same sign by
# factorisation and by decomposition, whose errors are some roundings of the norm.
ROUNDINGS = 1e3
CERTAIN = ROUNDINGS * NEUTRAL
# Second derivatives of functions along a curve, by their change over it and its length: beyond this there is noise.
BEND = 100.0
# Values above their noise by this factor tell the slope.
ABOVE = 8.0


@dataclass(slots=True)
class Event:
    """A located event: its kind, the point on the curve and the change of the unstable count.

    ``crossing`` is set where curves nearly cross without a symmetry, more closely than steps resolve:
    the point at which they would cross; ``meets`` where curves of one symmetry cross to rounding.
    ``rival`` is the second of two clustered states of equal free energy.
    """

    kind: PointType
    point: Point
    error: float
    change: int = 0
    kernel_dimension: int | None = None
    blocks: tuple[Block, ...] = ()
    kernels: tuple[tuple[Integers, Floats], ...] = ()
    description: str = ""
    before: int | None = None
    after: int | None = None
    recorded: int | None = None
    crossing: Point | None = None
    meets: bool = False
    rival: Point | None = None

    @property
    def origin(self) -> Point:
        """The point at which branches are born."""
        return self.point if self.crossing is None else self.crossing

    @property
    def unstable(self) -> int | None:
        """Number of directions that are unstable on both sides; None if they were not counted."""
        return None if self.before is None or self.after is None else min(self.before, self.after)


class CurveBetween:
    """The curve between two neighbouring points as a function of arclength, each value corrected once.

    Corrections lie in hyperplanes orthogonal to the chord, and start from the corrected points next to them: as the
    points close in on an event, one factorisation is enough for the next.
    """

    def __init__(self, first: Point, second: Point) -> None:
        self.first, self.second = first.on(second.equation), second
        self._corrected = [self.first, second]
        self._points = {first.arclength: self.first, second.arclength: second}

    def __call__(self, arclength: float) -> Point:
        """Return the point at an arclength."""
        point = self._points.get(arclength)
        if point is None:
            point = self._points[arclength] = self._correct(arclength)
        return point

    def _correct(self, arclength: float) -> Point:
        position = bisect_left(self._corrected, arclength, key=lambda known: known.arclength)
        left, right = self._corrected[position - 1], self._corrected[position]
        found = point_between(self.first, self.second, arclength, (left, right) if self._corrected[2:] else None)
        if found is None:
            return min(left, right, key=lambda known: abs(known.arclength - arclength))
        self._corrected.insert(position, found)
        return found

    def zero(
        self,
        function: Callable[[Point], float],
        guess: Callable[[Point, Point], float] | None = None,
        rounding: float = 0.0,
    ) -> tuple[Point, float] | None:
        """Return the point where a function of the point vanishes and how well its coupling is known.

        Parameters
        ----------
        guess
            Arclength at which it should vanish, as a function of the two ends.
        rounding
            Values up to this are zero, and the coupling is known no better than they change over the curve.
        """
        low, high = self.first.arclength, self.second.arclength
        values = {low: function(self.first), high: function(self.second)}
        if not values[low] * values[high] < 0.0:
            return None
        bend = BEND * abs(values[high] - values[low]) / (high - low) ** 2
        noise = rounding

        def scalar(arclength: float) -> float:
            nonlocal noise
            if arclength not in values:
                value = function(self(arclength))
                noise = max(noise, _noise(values, arclength, value, bend))
                values[arclength] = value if abs(value) > noise else 0.0
            return values[arclength]

        if guess is not None and low < (start := guess(self.first, self.second)) < high:
            low, high = (start, high) if scalar(start) * values[high] < 0.0 else (low, start)
        tolerance = 4 * EPS * max(1.0, high)
        root = brentq(scalar, low, high, xtol=tolerance, rtol=4 * EPS, maxiter=200, disp=False)
        error = max(self._bracket(values, root), self._blurred(values, root, noise))
        return self(root), error + _strayed(self(root)) if noise > rounding else error

    def _bracket(self, values: dict[float, float], root: float) -> float:
        """Return the spread in q of the tightest pair of arclengths with opposite signs around the root."""
        negative = [s for s, value in values.items() if value <= 0.0]
        positive = [s for s, value in values.items() if value >= 0.0]
        left = min(negative, key=lambda s: abs(s - root))
        right = min(positive, key=lambda s: abs(s - root))
        return abs(self(left).q - self(right).q)

    def _blurred(self, values: dict[float, float], root: float, noise: float) -> float:
        """Return the change of q over which a function changes by its noise, by the nearest value well above it."""
        ends = (self.first.arclength, self.second.arclength)
        above = [s for s, value in values.items() if abs(value) > ABOVE * noise] or ends
        nearest = min(above, key=lambda s: abs(s - root))
        return 2.0 * noise * abs(self(nearest).q - self(root).q) / abs(values[nearest])


def _strayed(point: Point) -> float:
    """Return how far rounding moves a point across the curve, beside another one that crosses it, or onto that."""
    jacobian, derivative = point.equation.linearise(point.b, point.q, point.moments)
    matrix = np.column_stack([jacobian, derivative])
    # The smallest singular value; its square has half of the digits of one that is not small, at half of the time.
    square = float(np.linalg.eigvalsh(matrix @ matrix.T)[0])
    least = math.sqrt(square) if square > HALF_OF_THE_DIGITS else np.linalg.svd(matrix, compute_uv=False)[-1]
    return float(ROUNDING / max(least, ROUNDING))


def _noise(values: dict[float, float], arclength: float, value: float, bend: float) -> float:
    """Return by how much a value misses the line through two others beyond the bend of a smooth function.

    Beside a point where J is singular Newton's method leaves the point on the curve open by far more than rounding,
    or finds another curve, and whatever is a function of the point has noise or jumps.
    """
    nearest, *others = sorted(values, key=lambda known: abs(known - arclength))
    distance = abs(arclength - nearest)
    # Extrapolated farther than they are apart, two values would tell of their own noise only.
    other = next((known for known in others if abs(known - nearest) >= distance), None)
    if other is None:
        return 0.0
    slope = (values[other] - values[nearest]) / (other - nearest)
    missed = abs(value - values[nearest] - slope * (arclength - nearest))
    return max(0.0, missed - bend * distance * abs(arclength - other))


def events_between(first: Point, second: Point, counts: tuple[Counts, Counts]) -> list[Event]:
    """Return the folds, branch points and transitions between two neighbouring points, in order.

    Parameters
    ----------
    counts
        Unstable directions at the two points: those that keep the axis of the state, and others.
    """
    if is_quiet(first, second, counts):
        return []
    curve = CurveBetween(first, second)
    events = _folds(curve)
    explained = _explained_by_fold(first, second, counts) if events else _alike(*counts)
    events += _transitions(curve, [event.point for event in events])
    if not explained:
        events += _branch_points(curve, [event.point for event in events if event.kind == "fold"])
    events.sort(key=lambda event: event.point.arclength)
    return events


def is_quiet(first: Point, second: Point, counts: tuple[Counts, Counts]) -> bool:
    """Return whether nothing that would be an event changes between two neighbouring points with their counts."""
    if first.solution.tangent_q * second.solution.tangent_q < 0.0 or not _alike(*counts):
        return False
    crosses = first.invariant * second.invariant < 0.0 and has_transitions(first.equation.problem)
    return not crosses


def _alike(one: Counts, two: Counts) -> bool:
    """Return whether counts are equal and those of the same directions: no determinant has changed its sign."""
    if one != two:
        return False
    others = two.determinants
    return not any(value * others.get(name, 0.0) < 0.0 for name, value in one.determinants.items())


def _explained_by_fold(first: Point, second: Point, counts: tuple[tuple[int, int], tuple[int, int]]) -> bool:
    """Return whether the counts at two points differ by one direction of the branch's own symmetry only."""
    (even, odd), (even_after, odd_after) = counts
    own = second.unstable - first.unstable
    return abs(own) == 1 and even_after - even == own and odd_after == odd


def _folds(curve: CurveBetween) -> list[Event]:
    found = curve.zero(lambda point: point.solution.tangent_q, turning_point, ROUNDING)
    if found is None:
        return []
    event = Event("fold", found[0], found[1], kernel_dimension=1, description=f"fold in {found[0].equation.words}")
    return [event]


def has_transitions(problem: Equation) -> bool:
    """Return whether states are compared with the uniform one by their free energies."""
    return problem.confinement is None and has_free_energy(problem)


def energy_passes(first: Point, second: Point) -> bool:
    """Return whether the free energies of two states are on two sides of that of the uniform one.

    Those of small states, equal to rounding of the noise, are on neither.
    """
    if not has_transitions(second.equation.problem) or not (np.any(first.b) and np.any(second.b)):
        return False
    energies = first.invariant, second.invariant
    return energies[0] * energies[1] < 0.0 and max(map(abs, energies)) > EPS


def transitions_between(first: Point, second: Point) -> list[Event]:
    """Return the points, between two without a fold, at which the free energy is that of the uniform state."""
    return _transitions(CurveBetween(first, second), [])


def _transitions(curve: CurveBetween, folds: list[Point]) -> list[Event]:
    """Return the points at which the free energy is that of the uniform state: it is monotone between folds."""
    if not has_transitions(curve.second.equation.problem):
        return []
    events = []
    for first, second in pairwise([curve.first, *folds, curve.second]):
        found = (CurveBetween(first, second) if folds else curve).zero(lambda point: point.invariant)
        if found is not None:
            point, spread = found
            error = max(spread, abs(point.gap_rounding / point.gap_slope))
            text = "free energy equal to that of the uniform state"
            events.append(Event("transition", point, error, description=text))
    return events


def _branch_points(curve: CurveBetween, folds: list[Point]) -> list[Event]:
    events: list[Event] = []
    met = None if folds else _met(curve)
    for block in curve.second.equation.densities.blocks_of(curve.second):
        events += _crossings(curve, block, folds, met)
    return _merged(events)


def _met(curve: CurveBetween) -> Crossing | None:
    """Return the point where another curve of the same symmetry crosses, if an own direction changes there."""
    first, second = curve.first, curve.second
    if not second.equation.symmetric or abs(first.unstable - second.unstable) != 1:
        return None
    index = min(first.solution.negative, second.solution.negative)
    one, two = (
        float(np.linalg.eigvalsh(each.equation.linearise(each.b, each.q, each.moments)[0])[index])
        for each in (first, second)
    )
    if not one * two < 0.0:
        return None
    return crossing_between(
        first, second, first.arclength + one / (one - two) * (second.arclength - first.arclength)
    )


def _crossings(curve: CurveBetween, block: Block, folds: list[Point], met: Crossing | None) -> list[Event]:
    counts = (around_zero(point, block) for point in (curve.first, curve.second))
    if len({count for pair in counts for count in pair}) == 1:
        return []
    first, second = (eigenvalues(point, block) for point in (curve.first, curve.second))
    low, high = sorted((_negative(first), _negative(second)))
    events = []
    for index in range(low, high):
        change = block.multiplicity if first[index] > 0.0 else -block.multiplicity
        # On S^2 the block with the modes of a branch without an axis has others as well, which are not its own.
        within = block.own and curve.first.unstable != curve.second.unstable
        if met is not None and abs(_eigenvalue(met.point, block, index)) < CERTAIN:
            other = met.other if within else None
            event = _branch_event(met.point, other, block, index, change, met.error)
            event.meets = True
            events.append(event)
            continue
        if not curve.second.equation.symmetric and max(abs(first[index]), abs(second[index])) < CERTAIN:
            # Zero to rounding at both ends, which depends on the condition of the eigenvalue.
            continue
        found = curve.zero(partial(_eigenvalue, block=block, index=index), rounding=ROUNDING)
        if found is None:
            continue
        point, error = found
        if _is_fold(point, block, folds) or _matrix(point, block).vanishing(index) is None:
            continue
        crossing = _crossing(curve, block, index) if within else None
        events.append(_branch_event(point, crossing, block, index, change, error))
    return events


def _crossing(curve: CurveBetween, block: Block, index: int) -> Point | None:
    """Return the point of the cubic through the ends of a curve where an eigenvalue of the own block vanishes.

    No symmetry makes curves cross there, and in general they do not: two pass each other, each turning sharply onto
    an arm of the crossing that the ends show. A point located on the curve may be far out on such an arm. The
    tangent of the point returned is that of the other curve.
    """
    first, second = curve.first, curve.second
    equation = second.equation

    def on_cubic(arclength: float) -> Point:
        b, q = hermite((first, second), arclength)
        return Point(equation, replace(second.solution, b=b, q=q, evaluation=equation.evaluate(b, q)), arclength)

    def eigenvalue(arclength: float) -> float:
        return _eigenvalue(on_cubic(arclength), block, index)

    low, high = first.arclength, second.arclength
    if not eigenvalue(low) * eigenvalue(high) < 0.0:
        return None
    point = on_cubic(float(brentq(eigenvalue, low, high, xtol=4 * EPS * max(1.0, high), rtol=4 * EPS)))
    jacobian, derivative = equation.linearise(point.b, point.q, point.solution.evaluation.gibbs.moments)
    chord = np.append(second.b - first.b, second.q - first.q)
    # Of the two tangents, which J t + g_q tau nearly takes to zero, that across the chord.
    rows = np.vstack([np.column_stack([jacobian, derivative]), chord / np.linalg.norm(chord)])
    across = np.linalg.svd(rows)[2][-1]
    solution = replace(point.solution, tangent_b=across[:-1], tangent_q=float(across[-1]))
    return Point(equation, solution, point.arclength)


def _is_fold(point: Point, block: Block, folds: list[Point]) -> bool:
    """Return whether a zero eigenvalue of the block of the branch's own symmetry is one of the located folds."""
    return block.own and any(abs(point.q - fold.q) <= 1e-6 * fold.q for fold in folds)


def _branch_event(
    point: Point, crossing: Point | None, block: Block, index: int, change: int, error: float
) -> Event:
    if crossing is None:
        matrix = _matrix(point, block)
        degrees, found = matrix.degrees, matrix.vanishing(index)
        assert found is not None
        kernel = found
    else:
        degrees, kernel = crossing.equation.basis.degrees, crossing.solution.tangent_b
    return Event(
        "branch point",
        point,
        error,
        change=change,
        kernel_dimension=block.multiplicity,
        blocks=(block,),
        kernels=((degrees, kernel),),
        crossing=crossing,
    )


def _merged(events: list[Event]) -> list[Event]:
    """Return events with crossings at one place merged, as cosine and sine copies of a two-dimensional type.

    Their blocks keep the order that they have in the events, which at one place rounding decides.
    """
    places = {block: place for place, event in enumerate(events) for block in event.blocks}
    merged: list[Event] = []
    for event in sorted(events, key=lambda event: event.point.arclength):
        last = merged[-1] if merged else None
        if last is not None and _coincide(last, event):
            last.change += event.change
            last.kernel_dimension = (last.kernel_dimension or 0) + (event.kernel_dimension or 0)
            last.blocks += event.blocks
            last.kernels += event.kernels
            last.crossing = last.crossing or event.crossing
            last.meets = last.meets or event.meets
        else:
            merged.append(event)
    for event in merged:
        pairs = sorted(zip(event.blocks, event.kernels, strict=True), key=lambda pair: places[pair[0]])
        event.blocks, event.kernels = (tuple(each) for each in zip(*pairs, strict=True))
    return merged


def _coincide(one: Event, other: Event) -> bool:
    """Return whether two crossings are one: copies of a symmetry type, or equal to rounding."""
    densities = one.point.equation.densities
    twofold = all(densities.copies(one.point, *pair) for pair in product(one.blocks, other.blocks))
    distance = abs(one.point.arclength - other.point.arclength)
    return distance <= (1e-8 if twofold else 1e-12)


def _matrix(point: Point, block: Block) -> BlockMatrix:
    return point.equation.densities.block_matrix(point, block)


# The ends of a step are asked for their numbers of eigenvalues again, and for the values of every function of them.
@lru_cache(maxsize=64)
def around_zero(point: Point, block: Block) -> tuple[int, int]:
    """Return how many eigenvalues of a block are certainly negative, and how many are not certainly positive."""
    width = ROUNDINGS * neutral_at(point.equation.densities.strength(point))
    return _matrix(point, block).below_and_above(width)


@lru_cache(maxsize=16)
def eigenvalues(point: Point, block: Block) -> Floats:
    """Return the eigenvalues of a block at a point, ascending, without those of its repulsive modes."""
    matrix = _matrix(point, block)
    values = matrix.eigenvalues()[matrix.repulsive :]
    values.flags.writeable = False
    return values


def _eigenvalue(point: Point, block: Block, index: int) -> float:
    return float(eigenvalues(point, block)[index])


def _negative(values: Floats) -> int:
    return int(np.count_nonzero(values < 0.0))
