"""Departures of branches from more symmetric ones."""

import math
from dataclasses import dataclass

import numpy as np

from meanfield import Equation, Number

from ..bases import Floats, Integers
from ..equations.equation import StationaryEquation
from ..equations.geometry import Geometry
from ..equations.significant import confining_symmetry
from ..equations.sizing import stationary_equation
from ..root_finding.solution import Solution
from .continuation import REGULAR_ARCLENGTH, Point, state_at

# First amplitude to try on a new branch where nothing is known of it.
AMPLITUDE = 2e-2
# Critical couplings with a relative distance below this are not separated by arithmetic of 16 digits: what happens
# between them has amplitudes down to this, whose squares, changes of couplings and of eigenvalues, near rounding.
INSEPARABLE = 3e-7


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
    def value(self) -> Number:
        """Value of the parameter at the branch point."""
        return self.equation.value(self.q)

    @property
    def place(self) -> str:
        """The parameter and its value in words."""
        return f"{self.equation.parameter} {float(self.value):.12g}"

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
            b = _at_no_interaction(equation)
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
    b, q = point.unknown_in(equation), equation.q_at(point.value)
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
    b = _at_no_interaction(equation)
    return Departure(equation, b, 0.0, np.zeros_like(b), 0)


def _at_no_interaction(equation: StationaryEquation) -> Floats:
    """Return b of the density without interaction."""
    return equation.unknown_from(equation.evaluate(np.zeros_like(equation.scales), 0.0).gibbs.moments)


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


def imperfection(crossing: Point) -> float:
    """Return the size of eigenvalues at a point where two curves cross up to the residual at that point.

    With a residual h the equation across a pitchfork is h + x y + y^3 = 0: curves pass each other at distances of
    the order h^(1/3), where eigenvalues are of the order h^(2/3).
    """
    return float(np.cbrt(crossing.solution.residual) ** 2)
