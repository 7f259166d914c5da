r"""Leaving a branch point along every new direction, up to symmetry.

At a state of symmetry n (uniform: every n) a critical block of class j has the symmetry :math:`g = \gcd(j, n)`
and acts as a representation of the dihedral group of order :math:`2m`, :math:`m = n/g`:

- m = 2: the cosine and the sine block are critical at different couplings; each gives one branch, since the
  two signs are rotations of each other. The sine direction at a state is the cosine direction at the state
  rotated by :math:`\pi/n`, so every branch is followed among even densities.
- m odd: the cosine direction with both signs, which no rotation exchanges.
- m even, at least 4: the cosine direction at the state and at the state rotated by :math:`\pi/n`.
- j = 0, sine: reflection symmetry is lost at constant rotation symmetry; cosines and sines become unknown.

With a confinement states do not rotate, and sine directions are followed with cosines and sines unknown.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from meanfield import McKeanVlasov, Number

from ..bases import CosineBasis, Floats, Integers
from ..branches.continuation import REGULAR_ARCLENGTH, Point, resolve, state_at
from ..branches.detection import Event
from ..equation import StationaryEquation, stationary_equation
from ..newton import POLISHED, Solution, correct
from .stability import Block, unstable_counts

# Relative slopes of the coupling of transcritical branches in the amplitude go up to this; the first point stays
# near the branch point.
STEEPEST = 1e4
LARGEST_RISE = 0.1
STEPS = (2e-2, 5e-3, 1e-3, 2e-4, 4e-5, 8e-6, 1.6e-6, 3e-7, 6e-8)


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
        transcritical point; None where it is not known; 0 where this is no branch point but a regular state to
        follow on.
    largest_step : float
        First amplitude to try; the closed forms know when a fold is closer.
    counts : tuple of int
        Numbers of unstable directions that the new branch can have beside the branch point; empty if unknown.
    """

    equation: StationaryEquation
    b: Floats
    q: float
    direction: Floats
    order: int | None
    largest_step: float = STEPS[0]
    counts: tuple[int, ...] = ()

    @property
    def coupling(self) -> Number:
        """Coupling of the branch point."""
        return self.equation.coupling(self.q)

    def regular(self) -> Point | None:
        """Return the regular state to follow on, its tangent along ``direction`` towards rising coupling."""
        if self.q == 0.0:
            # Without interaction J is the matrix of signs, and the tangent is explicit.
            evaluation = self.equation.evaluate(self.b, 0.0)
            _, derivative = self.equation.linearise(self.b, 0.0, evaluation.gibbs.moments)
            tangent = -self.equation.signs * derivative
            norm = float(np.sqrt(1.0 + tangent @ tangent))
            solution = Solution(self.b, 0.0, evaluation, tangent / norm, 1.0 / norm, self.equation.repulsive)
        else:
            found = state_at(self.equation, self.b, self.q)
            return found if isinstance(found, Point) else None
        resolved_point = resolve(Point(self.equation, solution, REGULAR_ARCLENGTH))
        return resolved_point if isinstance(resolved_point, Point) else None

    def base(self, first: Point | None = None) -> Point:
        """Return the branch point itself, with the tangent of the new branch.

        Parameters
        ----------
        first
            The first point of the branch, which tells how the coupling changes with the amplitude where no symmetry
            forbids that it does at first order.
        """
        slope = 0.0
        if first is not None and self.order not in (2, 4):
            slope = self._slope(first)
        return branch_end(self.equation, self.b, self.q, self.direction, slope)

    def _slope(self, first: Point) -> float:
        """Return dq/d(amplitude) at the branch point, from coupling and slope at the first point."""
        direction = self.equation.transfer(self.direction, first.equation)
        amplitude = float(direction @ (first.b - self.equation.transfer(self.b, first.equation)))
        there = first.solution.tangent_q / float(direction @ first.solution.tangent_b)
        return 2.0 * (first.q - self.q) / amplitude - there


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


def from_uniform(
    problem: McKeanVlasov,
    mode: int,
    coupling: Number,
    order: int,
    largest_step: float,
    counts: tuple[int, ...],
) -> Departure | None:
    """Return the departure of the mode's branch from the uniform state."""
    sign = 1 if coupling > 0 else -1
    equation = stationary_equation(problem, mode, sign)
    if equation is None:
        return None
    size = equation.basis.degrees.size
    direction = (equation.basis.degrees == mode).astype(float)
    q = float(coupling / (sign * equation.unit))
    return Departure(equation, np.zeros(size), q, direction, order, largest_step, counts)


def from_no_interaction(problem: McKeanVlasov, sign: int) -> Departure | None:
    """Return the departure from the Gibbs density of the confinement, the only state at zero coupling."""
    assert problem.confinement is not None
    multipliers = problem.confinement.relative_multipliers(problem.domain, 64)
    felt = [int(degree) for degree in np.flatnonzero(multipliers)]
    own = stationary_equation(problem, math.gcd(*felt) if felt else 1, sign)
    equation = own or stationary_equation(problem, 1, sign)
    if equation is None:
        return None
    b = equation.unknown_from(equation.basis.gibbs(np.zeros(equation.scales.size)).moments)
    return Departure(equation, b, 0.0, np.zeros_like(b), 0)


def departures(event: Event) -> list[Departure]:
    """Return the branches born at a branch point of a non-uniform branch, one of each group orbit."""
    found: list[Departure] = []
    confined = event.point.equation.problem.confinement is not None
    for block, (degrees, kernel) in _one_of_each(event):
        if block.parity == "mixed" or (confined and block.parity == "odd"):
            found += _uneven(event.point, degrees, kernel, block.parity)
        elif block.residue == 0:
            found += _own_class(event.point, degrees, kernel, block.parity)
        else:
            found += _broken_rotation(event.point, block.residue, block.parity, degrees, kernel)
    least = min(event.before or 0, event.after or 0)
    counts = tuple(range(least, least + 1 + (event.kernel_dimension or 1)))
    return [replace(departure, counts=counts) for departure in found]


def _one_of_each(event: Event) -> Iterator[tuple[Block, tuple[Integers, Floats]]]:
    """Keep the cosine copy where a symmetry type has both copies critical."""
    symmetry = event.point.equation.basis.symmetry
    pairs = list(zip(event.blocks, event.kernels, strict=True))
    for block, kernel in pairs:
        twofold = 0 < 2 * block.residue < symmetry
        if not (twofold and block.parity == "odd"):
            yield block, kernel


def _own_class(point: Point, degrees: Integers, kernel: Floats, parity: str) -> list[Departure]:
    if parity == "even":
        sides = [_even_departure(point, degrees, sign * kernel, 0, None) for sign in (1.0, -1.0)]
        return [side for side in sides if side is not None]
    return _uneven(point, degrees, kernel, parity)


def _broken_rotation(point: Point, residue: int, parity: str, degrees: Integers, kernel: Floats) -> list[Departure]:
    symmetry = point.equation.basis.symmetry
    order = symmetry // math.gcd(residue, symmetry)
    if order == 2:
        if parity == "odd":
            point, kernel = rotated(point), _sines_as_cosines(degrees, kernel, symmetry)
        tries = [(point, kernel, 2)]
    elif order % 2 == 1:
        power = 1 if order == 3 else 2
        tries = [(point, kernel, power), (point, -kernel, power)]
    elif point.equation.problem.confinement is not None:
        tries = [(point, kernel, 2)]
    else:
        turned = _cosines_turned(degrees, kernel, symmetry, residue)
        tries = [(point, kernel, 2), (rotated(point), turned, 2)]
    found = [_even_departure(p, degrees, k, residue, power) for p, k, power in tries]
    return [departure for departure in found if departure is not None]


def rotated(point: Point) -> Point:
    """Return the same state rotated by half of its symmetry angle: every other cell changes sign."""
    basis = point.equation.basis
    assert isinstance(basis, CosineBasis)
    solution = point.solution
    flip = np.where(basis.cells % 2 == 1, -1.0, 1.0)
    b = flip * solution.b
    turned = Solution(
        b,
        solution.q,
        point.equation.evaluate(b, solution.q),
        flip * solution.tangent_b,
        solution.tangent_q,
        solution.negative,
    )
    return Point(point.equation, turned, point.arclength)


def _sines_as_cosines(degrees: Integers, kernel: Floats, symmetry: int) -> Floats:
    r"""Rotate sin k by pi/n for k an odd multiple of n/2: sin(k(t - pi/n)) = -sin(k pi/n) cos kt."""
    return np.asarray(np.round(-np.sin(degrees * np.pi / symmetry)) * kernel, dtype=float)


def _cosines_turned(degrees: Integers, kernel: Floats, symmetry: int, residue: int) -> Floats:
    r"""Return the cosine kernel at the state rotated by pi/n.

    The kernel at the state is spanned by sum y_k cos kt and, for the other copy, sum s_k y_k sin kt with
    s_k = 1 for k = j and -1 for k = -j modulo n. The combination symmetric about pi/n is, after the rotation,
    sum y_k cos(k pi/n - s_k j pi/n) cos kt, whose factors are signs.
    """
    signs = np.where(degrees % symmetry == residue, 1, -1)
    factors = np.cos((degrees - signs * residue) * np.pi / symmetry)
    return np.asarray(np.round(factors) * kernel, dtype=float)


def _even_departure(
    point: Point, degrees: Integers, kernel: Floats, residue: int, order: int | None
) -> Departure | None:
    old = point.equation
    symmetry = math.gcd(residue, old.basis.symmetry) if residue else old.basis.symmetry
    equation = _grown(old, symmetry, even=True)
    if equation is None:
        return None
    direction = _placed(equation.basis.degrees, degrees, kernel)
    return _departure(point, equation, direction, order)


def _uneven(point: Point, degrees: Integers, kernel: Floats, parity: str) -> list[Departure]:
    """Leave with cosines and sines unknown; the class of the kernel decides the symmetry."""
    old = point.equation
    strongest = int(degrees[np.argmax(np.abs(kernel))])
    symmetry = math.gcd(strongest, old.basis.symmetry)
    equation = _grown(old, symmetry, even=False)
    if equation is None:
        return []
    half = equation.basis.degrees.size // 2
    cosine, sine = np.zeros(half), np.zeros(half)
    targets = equation.basis.degrees[:half]
    if parity == "mixed":
        count = degrees.size // 2
        cosine = _placed(targets, degrees[:count], kernel[:count])
        sine = _placed(targets, degrees[count:], kernel[count:])
    elif parity == "odd":
        sine = _placed(targets, degrees, kernel)
    else:
        cosine = _placed(targets, degrees, kernel)
    direction = np.concatenate([cosine, sine])
    sides = (1.0,) if parity == "odd" else (1.0, -1.0)
    return [_departure(point, equation, side * direction, 2 if parity == "odd" else None) for side in sides]


def _departure(point: Point, equation: StationaryEquation, direction: Floats, order: int | None) -> Departure:
    cosine, sine = point.equation.basis.expand(point.moments)
    b = equation.unknown_from(equation.basis.moments_from(cosine, sine))
    q = float(point.coupling / (equation.sign * equation.unit))
    return Departure(equation, b, q, direction / np.linalg.norm(direction), order)


def _grown(old: StationaryEquation, symmetry: int, *, even: bool) -> StationaryEquation | None:
    """Return the equation of a lower symmetry that resolves at least what the old one does."""
    modes = old.basis.symmetry * old.basis.nodes // 2
    return stationary_equation(
        old.problem,
        symmetry,
        old.sign,
        even=even,
        modes=modes,
        unknowns=int(old.basis.degrees.max()) // symmetry,
    )


def _placed(targets: Integers, degrees: Integers, values: Floats) -> Floats:
    placed = np.zeros(targets.size)
    where = {int(degree): index for index, degree in enumerate(targets)}
    for degree, value in zip(degrees, values, strict=True):
        if int(degree) in where:
            placed[where[int(degree)]] = value
    return placed


def first_point(departure: Departure) -> tuple[Point | None, bool]:
    """Return the first point of the new branch and whether nothing can hide between it and the branch point.

    The amplitude is reduced until the correction is small against it, the coupling has the shape that the symmetry
    demands (quadratic in the amplitude at a pitchfork, linear at a transcritical point), and the unstable count is
    one that an exchange of stability allows. A fold or a branch point in between would show in one of them.
    """
    candidate = None
    for step in (departure.largest_step, *STEPS):
        if step > departure.largest_step:
            continue
        point = _at_amplitude(departure, step)
        if point is None:
            continue
        candidate = point
        if _expected_shape(departure, point, step) and _expected_count(departure, point):
            return point, True
    return candidate, False


def _expected_count(departure: Departure, point: Point) -> bool:
    return not departure.counts or sum(unstable_counts(point)) in departure.counts


def _at_amplitude(departure: Departure, step: float) -> Point | None:
    direction = departure.direction
    guess = departure.b + step * direction
    solution = correct(departure.equation, guess, departure.q, direction, 0.0, POLISHED)
    if solution is None:
        return None
    change = solution.b - guess
    # At a pitchfork the rest of the state follows quadratically. At a transcritical point it moves along with the
    # coupling, steeply if need be, and the shape of the branch is the check.
    farthest, steepest = {1: (50.0, STEEPEST), None: (2.0, 4.0)}.get(departure.order, (0.25, 0.25))
    rise = abs(solution.q - departure.q) / departure.q
    if float(np.linalg.norm(change)) > farthest * step or rise > min(steepest * step, LARGEST_RISE):
        return None
    point = Point(departure.equation, solution, step).oriented(direction, 0.0)
    resolved_point = resolve(point)
    return resolved_point if isinstance(resolved_point, Point) else None


def _expected_shape(departure: Departure, point: Point, step: float) -> bool:
    """Whether q(eps) - q(0) and its derivative agree with one leading power, or are lost in rounding."""
    if departure.order is None:
        return True
    rise = point.q - departure.q
    if abs(rise) <= 1e-14 * departure.q / step:
        return True
    direction = departure.equation.transfer(departure.direction, point.equation)
    slope = point.solution.tangent_q * step / float(point.solution.tangent_b @ direction)
    ratio = slope / rise
    return abs(ratio - departure.order) < 0.1 * departure.order
