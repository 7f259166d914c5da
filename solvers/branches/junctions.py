r"""Where branches begin and end: on more symmetric ones."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from meanfield import Number

from ..bases import Floats
from ..equation import StationaryEquation
from ..geometry import geometry_of
from ..newton import ROUNDING, Solution, solve_at
from .continuation import REGULAR_ARCLENGTH, Point, state_at

# First amplitude to try on a new branch where nothing is known of it.
AMPLITUDE = 2e-2


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
    kernel : float
        Relative distance of the critical couplings that are taken for one here: eigenvalues up to this belong to
        the kernel.
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
        """Return the regular state to follow on, its tangent along ``direction`` towards rising coupling."""
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
            The first point of the branch, which tells how the coupling changes with the amplitude where no symmetry
            forbids that it does at first order.
        """
        slope = 0.0
        if first is not None and self.order not in (2, 4):
            b, direction = (self.equation.transfer(vector, first.equation) for vector in (self.b, self.direction))
            slope = slope_towards(first, b, self.q, direction)
        return branch_end(self.equation, self.b, self.q, self.direction, slope)


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
    """Where a branch meets a more symmetric one.

    Attributes
    ----------
    point
        The branch point, in the equation of the more symmetric branch; None for the uniform one.
    coupling : float
        Its coupling.
    reflecting : bool
        Whether the branch continues as a rotated or reflected copy of itself, so that it ends here.
    met : str
        The branch met, in words.
    even : bool
        Whether the states of the arriving branch have a reflection axis.
    error : float
        How well the coupling is known, in q.
    kernel_dimension : int or None
        Dimension of the kernel at the branch point, where it is known.
    """

    point: Point | None
    coupling: Number
    reflecting: bool
    met: str
    even: bool = True
    error: float = 0.0
    kernel_dimension: int | None = None


def critical_point(equation: StationaryEquation, b: Floats, q: float, block: Any) -> tuple[Point, float] | None:
    """Return the state at which an eigenvalue of a block vanishes and the relative error of its coupling.

    The secant method in the coupling; rounding of the eigenvalue makes the error.
    """

    def at(coupling: float) -> tuple[Point, float] | None:
        solution = solve_at(equation, b, coupling)
        if solution is None:
            return None
        point = Point(equation, solution, 0.0)
        matrix, _, repulsive = geometry_of(equation.problem).block_matrix(point, block)
        values = np.linalg.eigvalsh(matrix)[repulsive:]
        return (point, float(values[np.argmin(np.abs(values))])) if values.size else None

    first, second = at(q), at(q * (1 + 1e-4))
    steepness = 0.0
    for _ in range(30):
        if first is None or second is None:
            return None
        (old, old_value), (new, new_value) = first, second
        if new.q == old.q or new_value == old_value:
            break
        steepness = (new_value - old_value) / (new.q - old.q)
        if abs(new_value) <= 4e-15:
            break
        first, second = second, at(new.q - new_value / steepness)
    if second is None or abs(second[1]) > 1e-12:
        return None
    point, value = second
    return point, max(abs(value), ROUNDING) / max(abs(steepness) * point.q, ROUNDING)
