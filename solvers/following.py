"""Following one branch from its departure to its end, with every event on the way.

The trace is consumed point by point: each new pair of points is counted, searched for events, and checked for the
three ways a branch ends inside its interval: on a more symmetric branch, back at its own start, or unresolved.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from meanfield import Outcome
from meanfield.protocol import Number

from .bases import CosineBasis, Floats
from .branching import Departure, first_point
from .continuation import Arclength, End, Point, trace
from .detection import Event, events_between
from .equation import StationaryEquation, stationary_equation
from .newton import solve_at
from .stability import Block, block_matrix, nearly_neutral, unstable_counts

PRIMES = (2, 3, 5, 7, 11, 13)
# Newton at a branch point may fall onto the more symmetric branch: modes that shrink by this factor in one step.
COLLAPSE = 1e-6
# A vertical family is followed until its largest moment passes this: nothing new happens before its collapse.
VERTICAL_END = 0.9


@dataclass(slots=True)
class Knot:
    """A point of a followed branch with its unstable count and, where something happens, the event."""

    point: Point
    unstable: int | None
    event: Event | None = None


@dataclass(frozen=True, eq=False)
class Arrival:
    """Where a branch meets a more symmetric one.

    Attributes
    ----------
    symmetry : int
        Rotation symmetry of the branch met; 0 for the uniform one.
    point
        The branch point, in the equation of the more symmetric branch; None for uniform.
    coupling : float
        Its coupling.
    reflecting : bool
        Whether the branch continues as a rotated copy of itself, so that it ends here.
    """

    symmetry: int
    point: Point | None
    coupling: Number
    reflecting: bool


@dataclass(slots=True)
class Followed:
    """A followed branch."""

    departure: Departure | None
    knots: list[Knot]
    outcome: Outcome
    arrivals: list[Arrival] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    vertical: bool = False


def follow(departure: Departure, method: Arclength, highest: float) -> Followed | None:
    """Follow the branch of a departure until it leaves upwards through ``highest`` or ends.

    Parameters
    ----------
    highest
        Largest dimensionless coupling of interest.

    Returns
    -------
    Followed or None
        None where no state was found on the branch.
    """
    if departure.order == 0:
        return _follow_regular(departure, method, highest)
    first, complete = first_point(departure)
    if first is None:
        return None
    base = departure.base()
    if departure.order not in (2, 4):
        _tilt(base, first)
    if first.q > highest * (1 + 1e-12) and first.solution.tangent_q > 0.0:
        return None
    vertical = abs(first.q - departure.q) <= 1e-12 and abs(first.solution.tangent_q) <= 1e-10
    counts = unstable_counts(first, neutral=1e-9) if vertical else unstable_counts(first)
    followed = Followed(departure, [Knot(base.on(first.equation), sum(counts))], Outcome.MAX_STEPS)
    if not complete:
        followed.warnings.append(
            f"the branch does not leave its branch point at coupling {float(departure.coupling):.12g} in the way "
            f"its symmetry demands; something closer than an amplitude of {first.arclength:.1e} may be missing"
        )
    followed.vertical = vertical
    followed.knots.append(Knot(first, sum(counts)))
    extend(followed, trace(first, method, first.arclength), counts, highest)
    return followed


def _follow_regular(departure: Departure, method: Arclength, highest: float) -> Followed | None:
    """Follow on from a state that is no branch point: upwards from zero coupling, downwards from the top."""
    start = departure.regular()
    if start is None:
        return None
    start.oriented(np.zeros_like(start.b), 1.0 if departure.q == 0.0 else -1.0)
    counts = unstable_counts(start)
    followed = Followed(None, [Knot(start, sum(counts))], Outcome.MAX_STEPS)
    extend(followed, trace(start, method, method.max_step / 4), counts, highest)
    return followed


def _tilt(base: Point, first: Point) -> None:
    """Let the tangent at the branch point be the secant where the coupling is linear in the amplitude."""
    secant_b, secant_q = first.on(base.equation).b - base.b, first.q - base.q
    length = float(np.hypot(np.linalg.norm(secant_b), secant_q))
    base.solution.tangent_b, base.solution.tangent_q = secant_b / length, secant_q / length


def extend(followed: Followed, points: Iterator[Point | End], counts: tuple[int, int], highest: float) -> None:
    """Consume a trace: count, detect, and stop where the branch ends."""
    last = followed.knots[-1].point
    for point in points:
        if isinstance(point, End):
            followed.outcome = point.outcome
            _say_unresolved(followed, point)
            return
        arrival = None if followed.vertical else meeting(last, point)
        if arrival is not None:
            followed.arrivals.append(arrival)
            if arrival.reflecting:
                followed.outcome = Outcome.JOINED_BRANCH
                _append_arrival(followed, arrival)
                return
        counts = _append(followed, last, point, counts, arrival)
        if followed.vertical and float(np.abs(point.moments[1:]).max()) > VERTICAL_END:
            followed.outcome = Outcome.VERTICAL
            return
        if point.q > highest and point.solution.tangent_q > 0.0:
            followed.outcome = Outcome.LEFT_INTERVAL
            return
        if _returned(followed):
            followed.outcome = Outcome.CLOSED_LOOP
            return
        last = point


def _append(
    followed: Followed, last: Point, point: Point, counts: tuple[int, int], arrival: Arrival | None
) -> tuple[int, int]:
    if followed.vertical:
        followed.knots.append(Knot(point, followed.knots[-1].unstable))
        return counts
    new = unstable_counts(point)
    events = [] if arrival is not None else events_between(last, point, (counts, new))
    running = sum(counts)
    for event in events:
        event.before, running = running, running + _change(event, last, point)
        event.after = running
        followed.knots.append(Knot(event.point, min(event.before, event.after), event))
    if running != sum(new) and arrival is None:
        _explain(followed, last, point, sum(new) - running)
    followed.knots.append(Knot(point, sum(new)))
    return new


def _explain(followed: Followed, last: Point, point: Point, missing: int) -> None:
    """Say what is known of a change of the unstable count that no located event explains."""
    if abs(missing) <= max(nearly_neutral(last), nearly_neutral(point)):
        text = (
            "a direction is neutral to rounding on part of the branch; whether it counts as unstable there "
            "is not known"
        )
        if text not in followed.warnings:
            followed.warnings.append(text)
        return
    followed.warnings.append(
        f"the unstable count changes by {missing:+d} between the couplings {float(last.coupling):.12g} and "
        f"{float(point.coupling):.12g} without a located event"
    )


def _change(event: Event, last: Point, point: Point) -> int:
    """Return the change of the unstable count at an event; at a fold one even direction changes."""
    if event.kind != "fold":
        return event.change
    return point.unstable - last.unstable if abs(point.unstable - last.unstable) == 1 else 0


def _append_arrival(followed: Followed, arrival: Arrival) -> None:
    """End the branch on the more symmetric state itself."""
    last = followed.knots[-1].point
    equation = last.equation
    if arrival.point is None:
        b = np.zeros_like(last.b)
    else:
        cosine, sine = arrival.point.equation.basis.expand(arrival.point.moments)
        b = equation.unknown_from(equation.basis.moments_from(cosine, sine))
    q = float(arrival.coupling / (equation.sign * equation.unit))
    departure = Departure(equation, b, q, last.solution.tangent_b, None)
    end = departure.base()
    end.arclength = last.arclength + float(np.hypot(np.linalg.norm(b - last.b), q - last.q))
    name = "the uniform state" if arrival.symmetry == 0 else f"a branch of {arrival.symmetry} clusters"
    event = Event("endpoint", end, 0.0, description=f"joins {name}")
    event.before = event.after = followed.knots[-1].unstable
    followed.knots.append(Knot(end, followed.knots[-1].unstable, event))


def _returned(followed: Followed) -> bool:
    """Whether the last step passed the first point of the branch again."""
    knots = followed.knots
    if len(knots) < 20:
        return False
    start, last, before = knots[1].point, knots[-1].point, knots[-2].point
    step = last.arclength - before.arclength
    if abs(last.q - start.q) > step:
        return False
    start = start.on(last.equation)
    gap = float(np.hypot(np.linalg.norm(last.b - start.b), last.q - start.q))
    aligned = float(last.solution.tangent_b @ start.solution.tangent_b)
    aligned += last.solution.tangent_q * start.solution.tangent_q
    return gap <= step and aligned > 0.9


def _say_unresolved(followed: Followed, end: End) -> None:
    if end.outcome is Outcome.NOT_RESOLVED:
        coupling = float(followed.knots[-1].point.coupling)
        followed.warnings.append(
            f"the branch was left at coupling {coupling:.6g}: its density needs about "
            f"{end.needed_modes} modes, more than allowed"
        )
    elif end.outcome in (Outcome.STEP_TOO_SMALL, Outcome.MAX_STEPS):
        coupling = float(followed.knots[-1].point.coupling)
        followed.warnings.append(f"the branch was left unfinished at coupling {coupling:.6g}: {end.outcome}")


def meeting(last: Point, point: Point) -> Arrival | None:
    """Return where the curve meets a more symmetric one between two points, if it does.

    The part of the state outside the larger symmetry changes sign there.
    """
    basis = point.equation.basis
    if not isinstance(basis, CosineBasis):
        return None
    older = last.on(point.equation)
    product = older.b * point.b
    collapsed = np.abs(point.b) < COLLAPSE * np.abs(older.b)
    leading = collapsed & (np.abs(older.b) > COLLAPSE)
    if float(product.min()) > -1e-13 * float(product.max()) and not leading.any():
        return None
    if float(product.sum()) < 0.0:
        return _meeting_uniform(older, point)
    for prime in PRIMES:
        if prime > basis.cells[-1]:
            break
        outside = basis.cells % prime != 0
        if outside.all() or not outside.any():
            continue
        if float(product[outside].sum()) < 0.0 or (leading.any() and collapsed[outside & leading].all()):
            found = _meeting_branch(older, point, outside)
            if found is not None:
                return found
    return None


def _meeting_uniform(last: Point, point: Point) -> Arrival | None:
    equation = point.equation
    dominant = int(np.argmax(np.abs(last.b - point.b)))
    coupling = equation.sign * equation.unit / equation.scales[dominant] ** 2
    return Arrival(0, None, coupling, True)


def _meeting_branch(last: Point, point: Point, outside: np.ndarray) -> Arrival | None:
    basis = point.equation.basis
    sizes = [float(np.linalg.norm(p.b[outside])) for p in (last, point)]
    share = sizes[0] / (sizes[0] + sizes[1])
    crossing_b = (1 - share) * last.b + share * point.b
    crossing_q = (1 - share) * last.q + share * point.q
    felt = np.abs(crossing_b) > 1e-3 * np.abs(crossing_b).max()
    symmetry = math.gcd(*(int(degree) for degree in basis.degrees[felt]))
    if symmetry <= basis.symmetry:
        return None
    kernel = np.where(basis.degrees % symmetry != 0, point.b - last.b, 0.0)
    return _located(point.equation, crossing_b, crossing_q, symmetry, kernel)


def _located(equation: StationaryEquation, b: Floats, q: float, symmetry: int, kernel: Floats) -> Arrival | None:
    """Locate the branch point on the more symmetric branch by the secant method on its critical eigenvalue."""
    target = stationary_equation(
        equation.problem,
        symmetry,
        equation.sign,
        modes=equation.basis.symmetry * equation.basis.nodes,
        unknowns=int(equation.basis.degrees.max()) // symmetry,
    )
    if target is None:
        return None
    old = equation.basis.symmetry
    strongest = int(equation.basis.degrees[np.argmax(np.abs(kernel))])
    residue = min(strongest % symmetry, -strongest % symmetry)
    block = Block(residue, "even")
    values = np.zeros(int(equation.basis.degrees.max()) + 1)
    values[equation.basis.degrees] = b / equation.scales
    start = target.unknown_from(target.basis.moments_from(values, np.zeros_like(values)))
    ratio = float(equation.unit / target.unit)
    found = _critical_coupling(target, start, q * ratio, block)
    if found is None:
        return None
    reflecting = (symmetry // old) % 2 == 0
    return Arrival(symmetry, found, found.coupling, reflecting)


def _critical_coupling(equation: StationaryEquation, b: Floats, q: float, block: Block) -> Point | None:
    """Return the state at which an eigenvalue of a block vanishes, by the secant method in the coupling."""

    def at(coupling: float) -> tuple[Point, float] | None:
        solution = solve_at(equation, b, coupling)
        if solution is None:
            return None
        point = Point(equation, solution, 0.0)
        matrix, _, repulsive = block_matrix(point, block)
        values = np.linalg.eigvalsh(matrix)[repulsive:]
        return point, float(values[np.argmin(np.abs(values))])

    first, second = at(q), at(q * (1 + 1e-4))
    if first is None or second is None:
        return None
    for _ in range(30):
        (old, old_value), (new, new_value) = first, second
        if abs(new_value) <= 4e-15 or new.q == old.q or new_value == old_value:
            return new
        following = at(new.q - new_value * (new.q - old.q) / (new_value - old_value))
        if following is None:
            return None
        first, second = second, following
    return second[0] if abs(second[1]) <= 1e-12 else None
