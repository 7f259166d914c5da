r"""Departures and arrivals of branches at more symmetric ones."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import ddot

from meanfield import Equation, Number

from ..bases import Basis, Floats, Integers
from ..equation import StationaryEquation, stationary_equation
from ..geometry import Geometry
from ..newton import POLISHED, ROUNDING, Solution, correct
from ..significant import confining_symmetry
from .continuation import REGULAR_ARCLENGTH, Point, state_at
from .detection import eigenvalues

# First amplitude to try on a new branch where nothing is known of it.
AMPLITUDE = 2e-2
# Critical couplings with a relative distance below this are not separated by arithmetic of 16 digits: what happens
# between them has amplitudes down to this, whose squares, changes of couplings and of eigenvalues, near rounding.
INSEPARABLE = 3e-7
# Directions at the uniform state are one branch from this cosine of their angle.
ALIGNED = 0.99
# Moments of one branch point, known by its coupling and by extrapolation, agree to this share of the amplitude.
SAME_PLACE = 1e-5
# Couplings of one branch point, found from two sides, agree to this.
SAME_COUPLING = 1e-7
# Newton at a branch point may fall onto the more symmetric branch: modes that shrink by this factor in one step.
COLLAPSE = 1e-6
# The first step of a secant towards a critical state, as a share of the distance that it may have.
FIRST_SHARE = 1e-2


@dataclass(frozen=True, eq=False)
class Departure:
    """A branch about to be followed.

    Attributes
    ----------
    equation
        The stationary equation in the symmetry of the new branch.
    b, q
        The branch point in its unknowns.
    direction : (size,) float
        Unit kernel vector along which the branch leaves.
    order : int or None
        Leading power of the amplitude in the coupling: 2 at a pitchfork, 4 at a degenerate one, 1 at a
        transcritical point; None if it is not known; 0 if this is no branch point but a regular state to
        follow on.
    largest_step : float
        First amplitude to try; smaller if the closed form has a fold closer.
    kernel : float
        Relative distance of the critical couplings that are treated as one here: eigenvalues up to this belong to
        the kernel. Where curves only nearly cross, the size that eigenvalues have instead of vanishing.
    """

    equation: StationaryEquation
    b: Floats
    q: float
    direction: Floats
    order: int | None
    largest_step: float = AMPLITUDE
    kernel: float = 0.0

    @property
    def coupling(self) -> Number:
        """Coupling of the branch point."""
        return self.equation.coupling(self.q)

    def regular(self) -> Point | None:
        """Return the regular state of a departure of order 0, with its tangent, or None if it is not found."""
        found = self._without_interaction() if self.q == 0.0 else state_at(self.equation, self.b, self.q)
        return found if isinstance(found, Point) else None

    def _without_interaction(self) -> Point | None:
        """Return the Gibbs density of the confinement; J is the matrix of signs, and the tangent is explicit."""
        equation, b = self.equation, self.b
        while True:
            evaluation = equation.evaluate(b, 0.0)
            if equation.resolves(b, 0.0, evaluation.gibbs.moments):
                break
            larger = equation.refined(b, 0.0, evaluation.gibbs.moments)
            if larger is None:
                return None
            equation = larger
            b = equation.unknown_from(equation.basis.gibbs(np.zeros_like(equation.scales)).moments)
        _, derivative = equation.linearise(b, 0.0, evaluation.gibbs.moments)
        tangent = -equation.signs * derivative
        norm = math.sqrt(1.0 + float(tangent @ tangent))
        solution = Solution(b, 0.0, evaluation, tangent / norm, 1.0 / norm, equation.repulsive)
        return Point(equation, solution, REGULAR_ARCLENGTH)

    def state_on(self, equation: StationaryEquation) -> Point:
        """Return the branch point in the unknowns of a refined equation."""
        b = self.equation.transfer(self.b, equation)
        return Point(equation, Solution(b, self.q, equation.evaluate(b, self.q), b, 0.0, 0), 0.0)

    def base(self, first: Point | None = None) -> Point:
        """Return the branch point itself, with the tangent of the new branch.

        Parameters
        ----------
        first
            The first point of the branch, which shows how the coupling changes with the amplitude where no symmetry
            forbids that it does at first order.
        """
        slope = 0.0
        if first is not None and self.order not in (2, 4):
            b, direction = (self.equation.transfer(vector, first.equation) for vector in (self.b, self.direction))
            slope = slope_towards(first, b, self.q, direction)
        return branch_end(self.equation, self.b, self.q, self.direction, slope)


def departure_from(point: Point, equation: StationaryEquation, direction: Floats, order: int | None) -> Departure:
    """Return the departure from a point of a branch along a direction in the unknowns of a new equation."""
    kernel = imperfection(point) if order is None else 0.0
    direction = direction / np.linalg.norm(direction)
    b, q = point.unknown_in(equation), equation.q_at(point.coupling)
    return Departure(equation, b, q, direction, order, kernel=kernel)


def placed(targets: Integers, degrees: Integers, values: Floats) -> Floats:
    """Return values of some degrees at their places among others, zero elsewhere; further degrees are left out."""
    found = np.zeros(targets.size)
    _, there, here = np.intersect1d(targets, degrees, assume_unique=True, return_indices=True)
    found[there] = values[here]
    return found


def from_no_interaction(geometry: Geometry, problem: Equation, sign: int) -> Departure | None:
    """Return the departure from the Gibbs density of the confinement, the only state at zero coupling."""
    equation = stationary_equation(
        geometry, problem, geometry.symmetry(confining_symmetry(problem)), sign, negligible=True
    )
    if equation is None:
        return None
    b = equation.unknown_from(equation.basis.gibbs(np.zeros(equation.scales.size)).moments)
    return Departure(equation, b, 0.0, np.zeros_like(b), 0)


def slope_towards(point: Point, b: Floats, q: float, kernel: Floats) -> float:
    """Return dq/d(amplitude) at a branch point, from coupling and slope at a point of the branch near it.

    The amplitude is counted along the kernel vector; q is its second-degree polynomial through both points.
    """
    amplitude = float(kernel @ (point.b - b))
    there = point.solution.tangent_q / float(kernel @ point.solution.tangent_b)
    return 2.0 * (point.q - q) / amplitude - there


def branch_end(equation: StationaryEquation, b: Floats, q: float, kernel: Floats, slope: float) -> Point:
    """Return the point at which a branch leaves or meets a more symmetric one, with the tangent of the branch.

    The tangent solves J t + g_q tau = 0 with the kernel as its free part: t = kernel + slope x, tau = slope, where
    J x = -g_q off the kernel.
    """
    evaluation = equation.evaluate(b, q)
    tangent_b, tangent_q = kernel, 0.0
    if slope != 0.0:
        jacobian, derivative = equation.linearise(b, q, evaluation.gibbs.moments)
        size = kernel.size
        bordered = np.zeros((size + 1, size + 1))
        bordered[:size, :size] = jacobian
        bordered[:size, size] = bordered[size, :size] = kernel
        # Least squares, since at a resonance the kernel has more dimensions.
        along = np.linalg.lstsq(bordered, np.append(-derivative, 0.0))[0][:size]
        norm = math.sqrt(1.0 + slope * slope * (1.0 + float(along @ along)))
        tangent_b, tangent_q = (kernel + slope * along) / norm, slope / norm
    return Point(equation, Solution(b, q, evaluation, tangent_b, tangent_q, 0), 0.0, leaving=kernel)


@dataclass(frozen=True, eq=False)
class Arrival:
    """The arrival of a branch at a more symmetric one.

    Attributes
    ----------
    point
        The branch point, in the equation of the more symmetric branch; for the uniform state in that of the branch
        that arrives, with the direction of this branch from there.
    coupling : float
        Its coupling.
    reflecting : bool
        Whether the branch continues as a rotated or reflected copy of itself, so that it ends here.
    met : str
        Name of the branch met.
    even : bool
        Whether the states of the arriving branch have a reflection axis.
    error : float
        Error of the coupling, in q.
    kernel_dimension : int or None
        Dimension of the kernel at the branch point; None if it is not known.
    """

    point: Point
    coupling: Number
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
    inverse = equation.doubled * equation.scales[dominant] ** 2 * equation.basis.squares[dominant]
    coupling, q = equation.sign * equation.unit / inverse, float(1.0 / inverse)
    kernel = np.where(np.abs(equation.distances(q)) <= INSEPARABLE, older.b, 0.0)
    zero = np.zeros_like(kernel)
    leaving = kernel / np.linalg.norm(kernel)
    end = Point(equation, Solution(zero, q, equation.evaluate(zero, q), leaving, 0.0, 0), 0.0, leaving)
    return Arrival(end, coupling, True, "the uniform state")


def imperfection(crossing: Point) -> float:
    """Return the size of eigenvalues at a point where two curves cross up to the residual at that point.

    With a residual h the equation across a pitchfork is h + x y + y^3 = 0: curves pass each other at distances of
    the order h^(1/3), where eigenvalues are of the order h^(2/3).
    """
    return float(np.cbrt(crossing.solution.residual) ** 2)


def leads_back(departure: Departure, arrival: Arrival) -> bool:
    """Return whether the branch of a departure from the uniform state is that of an arrival, traced backwards."""
    end = arrival.point
    if end.leaving is None or np.any(end.b) or np.any(departure.b):
        return False
    if abs(float(departure.coupling / arrival.coupling) - 1.0) > INSEPARABLE:
        return False
    direction = departure.equation.transfer(departure.direction, end.equation)
    return any(float(image @ end.leaving) >= ALIGNED for image in end.equation.basis.images(direction))


def same_place(departure: Departure, arrival: Arrival) -> bool:
    """Return whether a departure starts at the branch point of an arrival."""
    point = arrival.point
    if not np.any(departure.b):
        return _same_symmetry(departure.equation.basis, point.equation.basis) and leads_back(departure, arrival)
    if np.abs(departure.coupling - arrival.coupling) > SAME_COUPLING * np.abs(arrival.coupling):
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
    return Arrival(point, point.coupling, reflecting, met, even, error * q, kernel_dimension)


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
    way, steepness = FIRST_SHARE * reach, 0.0
    for _ in range(30):
        new = at(way) if abs(way) <= reach else None
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
    if abs(value) > 1e-12:
        return None
    noise = max(abs(value), ROUNDING) * abs(tangent_q)
    return point, noise / max(abs(steepness) * point.q, ROUNDING)


def _beside(equation: StationaryEquation, b: Floats, q: float) -> Point | None:
    """Return the state near a guess of the guess' size, which distinguishes it from others at one coupling."""
    size = math.sqrt(ddot(b, b))
    for border_b, border_q in ((b / size, 0.0), (np.zeros_like(b), 1.0)) if size > 0.0 else ():
        solution = correct(equation, b, q, border_b, border_q, POLISHED)
        if solution is not None:
            return Point(equation, solution, 0.0)
    return None
