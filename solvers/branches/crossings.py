r"""Crossings of two curves of the same symmetry, located where the equation is regular.

Beside a crossing J is singular along it, and points on the curves are known to a root of rounding only. With the
left kernel :math:`\psi` of :math:`(J, g_q)` the equation

.. math:: g(b, q) + \mu\,\psi = 0

is regular, and its solutions are a surface over the plane of the kernel with the coordinates x and y. The curves
are the level :math:`\mu = 0` of a smooth function on it, whose gradient the bordered system gives without
differences: they cross where :math:`\mu(x, y)` has a saddle of height zero. That is a regular zero of the gradient,
known to rounding, and the height of the saddle tells a crossing from curves that pass each other: arms are
:math:`\sqrt{2|\mu|/|\mu''|}` from it.

Moore, *The numerical treatment of non-trivial bifurcation points*, Numer. Funct. Anal. Optim. 2 (1980).
"""

from typing import NamedTuple

import numpy as np

from ..bases import Floats
from ..equations.equation import StationaryEquation
from ..root_finding.newton import ROUNDING
from ..root_finding.solution import Solution
from .continuation import Point, length
from .hermite import hermite

# Steps of Newton's method on the surface and of the search for the saddle, and what is short enough.
STEPS, SHORT = 8, 1e-13
# Differences of the gradient are taken over this share of the step in which the crossing is.
SHARE = 1e-3
# The saddle is known to this share of what rounding of the gradient moves it by.
SAFETY = 8.0


class Crossing(NamedTuple):
    """A crossing of two curves.

    Attributes
    ----------
    point, other : Point
        The crossing with the tangent of the curve it was looked for on, and with that of the other curve.
    error : float
        Error of q.
    """

    point: Point
    other: Point
    error: float


class _Surface:
    """The solutions of the regular equation over a plane through a point."""

    def __init__(self, equation: StationaryEquation, b: Floats, q: float) -> None:
        self._equation = equation
        self._rows = self._linearised(b, q)[0]
        left, _, right = np.linalg.svd(self._rows)
        self._left, self.plane = left[:, -1], right[-2:]
        self._centre = np.append(b, q)
        self._last = np.append(self._centre, 0.0)

    def _linearised(self, b: Floats, q: float) -> tuple[Floats, Floats]:
        evaluation = self._equation.evaluate(b, q)
        jacobian, derivative = self._equation.linearise(b, q, evaluation.gibbs.moments)
        return np.column_stack([jacobian, derivative]), evaluation.residual

    def __call__(self, place: Floats) -> tuple[Floats, float, Floats] | None:
        """Return (b, q), the height and its gradient at a place (2,) of the plane; None if Newton fails."""
        size = self._left.size
        values, matrix = self._last.copy(), np.zeros((size + 2, size + 2))
        matrix[:size, -1], matrix[size:, :-1] = self._left, self.plane
        sides = np.zeros((size + 2, 3))
        sides[size:, 1:] = np.eye(2)
        for _ in range(STEPS):
            if not values[size] > 0.0:
                return None
            matrix[:size, :-1], residual = self._linearised(values[:size], float(values[size]))
            sides[:size, 0] = residual + values[-1] * self._left
            sides[size:, 0] = self.plane @ (values[:-1] - self._centre) - place
            solved = np.asarray(np.linalg.solve(matrix, sides), dtype=float)
            values -= solved[:, 0]
            if np.linalg.norm(solved[:, 0]) <= SHORT:
                self._last = values
                return values[:-1], float(values[-1]), solved[-1, 1:]
        return None


def crossing_between(first: Point, second: Point, arclength: float) -> Crossing | None:
    """Return the crossing of the curve between two points with another one, None if there is none to rounding.

    Parameters
    ----------
    first, second
        The points, of one equation.
    arclength
        Where the crossing should be.
    """
    equation, span = second.equation, second.arclength - first.arclength
    surface = _Surface(equation, *hermite((first, second), arclength))
    try:
        found = _saddle(surface, span)
    except np.linalg.LinAlgError:
        return None
    if found is None:
        return None
    unknowns, height, bends = found
    values, axes = np.linalg.eigh(bends)
    if not (values[0] < 0.0 < values[1]) or abs(height) > ROUNDING:
        return None
    # On the lines through the saddle bends[0] x^2 + bends[1] y^2 = 0 in the coordinates along its axes.
    along = np.sqrt(np.array([values[1], -values[0]]) / (values[1] - values[0]))
    lines = [(along * [1.0, side]) @ axes.T @ surface.plane for side in (1.0, -1.0)]
    chord = np.append(second.b - first.b, second.q - first.q)
    here, other = sorted(lines, key=lambda line: -abs(float(line @ chord)))
    b, q = unknowns[:-1], float(unknowns[-1])
    evaluation, negative = equation.evaluate(b, q), second.solution.negative
    place = first.arclength + length(b - first.b, q - first.q) / float(np.linalg.norm(chord)) * span
    point, across = (
        Point(equation, Solution(b, q, evaluation, line[:-1].copy(), float(line[-1]), negative), place)
        for line in (here, other)
    )
    error = 2.0 * ROUNDING * (1.0 / float(np.abs(values).min()) + q)
    return Crossing(point.oriented(second.solution.tangent_b, second.solution.tangent_q), across, error)


def _saddle(surface: _Surface, span: float) -> tuple[Floats, float, Floats] | None:
    """Return (b, q), height and second derivatives (2, 2) where the gradient vanishes within a step, or None."""
    place, near = np.zeros(2), surface(np.zeros(2))
    sides = [surface(SHARE * span * direction) for direction in np.eye(2)]
    if near is None or None in sides:
        return None
    bends = np.stack([(side[2] - near[2]) / (SHARE * span) for side in sides if side is not None])
    bends = 0.5 * (bends + bends.T)
    for _ in range(STEPS):
        step = -np.linalg.solve(bends, near[2])
        if np.linalg.norm(step) <= SAFETY * ROUNDING:
            return near[0], near[1], bends
        place = place + step
        if np.linalg.norm(place) > span:
            return None
        before, near = near, surface(place)
        if near is None:
            return None
        # Broyden's update by what the linear extrapolation of the gradient has missed.
        bends = bends + np.outer(near[2] - before[2] - bends @ step, step) / float(step @ step)
        bends = 0.5 * (bends + bends.T)
    return None
