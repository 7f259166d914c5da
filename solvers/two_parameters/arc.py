"""The curve between two neighbouring points, and where a function of its points vanishes."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from ..bases import EPS, Floats
from ..branches.continuation import Point, length, point_between
from ..computed import computed_once

# Roundings of the residual of a point.
ROUNDINGS = 16


class Arc:
    """The curve between two neighbouring points as a function of arclength, each value corrected once."""

    def __init__(self, first: Point, second: Point) -> None:
        self._before, self.second = first, second
        self._points = {second.arclength: second}

    @computed_once
    def first(self) -> Point:
        """The first point in the unknowns of the second, in which most arcs need it not."""
        return self._before.on(self.second.equation)

    def __call__(self, arclength: float) -> Point | None:
        """Return the point at an arclength, None if Newton's method finds none."""
        if arclength not in self._points:
            at_first = arclength == self.first.arclength
            found = self.first if at_first else point_between(self.first, self.second, arclength)
            if found is None:
                return None
            self._points[arclength] = found
        return self._points[arclength]

    def zero(self, function: Callable[[Point], float]) -> tuple[Point, tuple[float, float]] | None:
        """Return the point where a function of the point vanishes, and how far x and q are known.

        Where Newton's method fails on the way, to the nearest points found on both sides of it.
        """
        values: dict[float, float] = {}

        def scalar(arclength: float) -> float:
            point = self(arclength)
            if point is None:
                raise ArithmeticError
            values[arclength] = function(point)
            return values[arclength]

        low, high = self.first.arclength, self.second.arclength
        try:
            if not scalar(low) * scalar(high) < 0.0:
                return None
            root = float(brentq(scalar, low, high, xtol=4 * EPS * max(1.0, high), rtol=4 * EPS))
        except ArithmeticError:
            if len(values) <= 2:
                return None
            root = min(values, key=lambda place: abs(values[place]))
        point = self(root)
        assert point is not None
        sides = [
            min((s for s in values if sign * values[s] >= 0.0), key=lambda s: abs(s - root)) for sign in (-1, 1)
        ]
        ends = [self._points[s] for s in sides]
        strayed, strayed_q = strayed_by(point)
        in_x = abs(float(ends[0].b[-1] - ends[1].b[-1])) + abs(float(strayed[-1]))
        return point, (in_x, abs(ends[0].q - ends[1].q) + abs(strayed_q))


def strayed_by(point: Point) -> tuple[Floats, float]:
    """Return by how much rounding moves the unknowns and q of a point across its curve.

    They are known to that of the residual over the least singular value of its derivatives across the curve.
    """
    equation, solution = point.equation, point.solution
    matrix, derivative = equation.linearise(solution.b, solution.q, point.moments)
    tangent = np.append(solution.tangent_b, solution.tangent_q)
    whole = np.vstack([np.column_stack([matrix, derivative]), tangent / length(tangent, 0.0)])
    _, sizes, directions = np.linalg.svd(whole)
    shift = ROUNDINGS * EPS / max(sizes[-1], EPS * sizes[0]) * directions[-1]
    return shift[:-1], float(shift[-1])
