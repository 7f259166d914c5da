"""Arrivals of branches at more symmetric ones: where a branch meets one, and which departures start there."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import ddot

from meanfield import Number

from ..bases import Basis, Floats
from ..equations.equation import StationaryEquation
from ..root_finding.newton import POLISHED, ROUNDING, correct
from ..root_finding.solution import Solution
from .continuation import Point, length
from .detection import eigenvalues
from .junctions import INSEPARABLE, Departure

# Directions at the uniform state are one branch from this cosine of their angle.
ALIGNED = 0.99
# Moments of one branch point, known by its coupling and by extrapolation, agree to this share of the amplitude.
SAME_PLACE = 1e-5
# Values of the parameter at one branch point, found from two sides, agree to this.
SAME_VALUE = 1e-7
# Of two states near a guess the second is taken if its distance is less than this share of the other's.
NEARER = 0.5
# The first step of a secant towards a critical state, as a share of the distance that it may have.
FIRST_SHARE = 1e-2


@dataclass(frozen=True, eq=False)
class Arrival:
    """The arrival of a branch at a more symmetric one.

    Attributes
    ----------
    point
        The branch point, in the equation of the more symmetric branch; for the uniform state in that of the branch
        that arrives, with the direction of this branch from there.
    value : float
        The value of the parameter there.
    reflecting : bool
        Whether the branch continues as a rotated or reflected copy of itself, so that it ends here.
    met : str
        Name of the branch met.
    even : bool
        Whether the states of the arriving branch have a reflection axis.
    error : float
        Error of the value, in q.
    kernel_dimension : int or None
        Dimension of the kernel at the branch point; None if it is not known.
    """

    point: Point
    value: Number
    reflecting: bool
    met: str
    even: bool = True
    error: float = 0.0
    kernel_dimension: int | None = None


def at_uniform(last: Point, point: Point) -> Arrival:
    """Return the arrival of a branch at the uniform state between two points.

    The mode that changes most is critical there; the kernel is that of all thresholds that are treated as one.
    """
    equation, older = point.equation, last.on(point.equation)
    dominant = int(np.argmax(np.abs(older.b - point.b)))
    value, q = equation.threshold(dominant, point.q)
    missed = abs(float(equation.distances(q)[dominant]))
    kernel = np.where(np.abs(equation.distances(q)) <= INSEPARABLE, older.b, 0.0)
    zero = np.zeros_like(kernel)
    leaving = kernel / np.linalg.norm(kernel)
    end = Point(equation, Solution(zero, q, equation.evaluate(zero, q), leaving, 0.0, 0), 0.0, leaving)
    return Arrival(end, value, True, "the uniform state", error=missed if missed > INSEPARABLE else 0.0)


def leads_back(departure: Departure, arrival: Arrival) -> bool:
    """Return whether the branch of a departure from the uniform state is that of an arrival, traced backwards."""
    end = arrival.point
    if end.leaving is None or np.any(end.b) or np.any(departure.b):
        return False
    if end.equation.apart(departure.value, arrival.value) > INSEPARABLE:
        return False
    direction = departure.equation.transfer(departure.direction, end.equation)
    return any(float(image @ end.leaving) >= ALIGNED for image in end.equation.basis.images(direction))


def same_place(departure: Departure, arrival: Arrival) -> bool:
    """Return whether a departure starts at the branch point of an arrival."""
    point = arrival.point
    if not np.any(departure.b) and departure.equation.basis.confinement is None:
        return _same_symmetry(departure.equation.basis, point.equation.basis) and leads_back(departure, arrival)
    if point.equation.apart(departure.value, arrival.value) > SAME_VALUE:
        return False
    pair = point.equation.geometry.compared(departure, arrival)
    return pair is not None and same_moments(*pair)


def _same_symmetry(one: Basis, other: Basis) -> bool:
    """Return whether two bases are of densities of the same symmetry."""
    first, second = one.invariants, other.invariants
    if first is not None and second is not None:
        return first.group.name == second.group.name
    return one.modes == other.modes and one.symmetry == other.symmetry


def same_moments(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return whether two vectors of moments, from degree zero, are those of one branch point computed twice.

    Near a resonance branch points have amplitudes as small as the distance of the thresholds, so that it is their
    amplitude a that they are compared with. The coupling of a branch point is known to rounding and a branch has
    slopes of its coupling down to the order of a, so that moments are known to a rounding error over a.
    """
    count = min(one.shape[-1], other.shape[-1])
    amplitude = float(np.abs(one[..., 1:]).max())
    difference = float(np.abs(one[..., :count] - other[..., :count]).max())
    return difference <= SAME_PLACE * amplitude + ROUNDING / max(amplitude, ROUNDING)


def crossing(last: Point, point: Point, modes: NDArray[np.bool_]) -> tuple[Floats, float]:
    """Return the unknowns and q on the chord between two points of a curve where some modes pass zero."""
    sizes = [float(np.linalg.norm(end.b[modes])) for end in (last, point)]
    share = sizes[0] / (sizes[0] + sizes[1])
    return (1 - share) * last.b + share * point.b, (1 - share) * last.q + share * point.q


def in_symmetry(b: Floats, equation: StationaryEquation, larger: StationaryEquation) -> Floats:
    """Return the part of a state in a larger symmetry about the same axis, in the unknowns of that equation."""
    values = np.zeros(int(max(equation.basis.degrees.max(), larger.basis.degrees.max())) + 1)
    values[equation.basis.degrees] = b / equation.scales
    return larger.scales * values[larger.basis.degrees]


def arrival_near(
    arriving: StationaryEquation,
    equation: StationaryEquation,
    b: Floats,
    q: float,
    block: Any,
    reach: float,
    met: str,
    *,
    reflecting: bool = True,
    even: bool = True,
    kernel_dimension: int | None = None,
) -> Arrival | None:
    """Return the arrival of a branch where an eigenvalue of a more symmetric one vanishes, or None.

    Parameters
    ----------
    arriving, equation
        That of the branch which arrives, and that of the more symmetric one.
    b, q
        The guess: the state in the unknowns of the second, and its coupling in units of the first.
    block, reach
        As for :func:`critical_point`.
    met, reflecting, even, kernel_dimension
        As in :class:`Arrival`.
    """
    found = critical_point(equation, b, q * float(arriving.unit / equation.unit), block, reach)
    if found is None:
        return None
    point, error = found
    return Arrival(point, point.value, reflecting, met, even, error * q, kernel_dimension)


def critical_point(
    equation: StationaryEquation, b: Floats, q: float, block: Any, reach: float
) -> tuple[Point, float] | None:
    """Return the state near a guess where an eigenvalue of a block vanishes, and the error of its coupling.

    The secant method along the branch of the state, since at a fixed coupling Newton may find another one;
    rounding of the eigenvalue makes the error.

    Parameters
    ----------
    reach
        Largest distance of the state from the guess.
    """
    start = _beside(equation, b, q)
    if start is None:
        return None
    tangent_b, tangent_q = start.solution.tangent_b, start.solution.tangent_q
    values = eigenvalues(start, block)
    if not values.size:
        return None
    index = int(np.argmin(np.abs(values)))

    def at(way: float) -> tuple[Point, float] | None:
        guess_b, guess_q = start.b + way * tangent_b, start.q + way * tangent_q
        solution = correct(equation, guess_b, guess_q, tangent_b, tangent_q, POLISHED) if guess_q > 0.0 else None
        if solution is None:
            return None
        point = Point(equation, solution, way)
        return point, float(eigenvalues(point, block)[index])

    found = [(start, float(values[index]))]
    # At the size of the guess q is another where the size hardly depends on it.
    farthest = reach + length(start.b - b, start.q - q)
    way, steepness = FIRST_SHARE * reach, 0.0
    for _ in range(30):
        new = at(way) if abs(way) <= farthest else None
        if new is None:
            return None
        (old, old_value), (point, value) = found[-1], new
        found.append(new)
        if point.arclength == old.arclength or value == old_value:
            break
        steepness = (value - old_value) / (point.arclength - old.arclength)
        if abs(value) <= 4e-15:
            break
        way = point.arclength - value / steepness
    point, value = min(found, key=lambda pair: abs(pair[1]))
    if abs(value) > 1e-12 or length(point.b - b, point.q - q) > reach:
        return None
    noise = max(abs(value), ROUNDING) * abs(tangent_q)
    return point, noise / max(abs(steepness) * point.q, ROUNDING)


def _beside(equation: StationaryEquation, b: Floats, q: float) -> Point | None:
    """Return the state at the coupling of a guess or, if it is nearer, that of its size; None if none is found.

    The size distinguishes it from others at one coupling, unless it hardly depends on that. At zero that is the
    density of a confinement on which no mode acts; the uniform state is no guess.
    """
    size = math.sqrt(ddot(b, b))
    if size == 0.0 and equation.basis.confinement is None:
        return None
    borders = [(np.zeros_like(b), 1.0)] + ([(b / size, 0.0)] if size > 0.0 else [])
    solutions = [correct(equation, b, q, *border, POLISHED) for border in borders]
    found = [(length(each.b - b, each.q - q), each) for each in solutions if each is not None]
    if not found:
        return None
    distance, solution = found[0]
    # Where the state depends on nothing that changes its size singles out no parameter.
    if found[-1][0] < NEARER * distance and found[-1][1].tangent_q != 0.0:
        solution = found[-1][1]
    return Point(equation, solution, 0.0)
