"""The curve between two neighbouring points, and where a function of its points vanishes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.interpolate import BarycentricInterpolator
from scipy.optimize import brentq

from ...bases import EPS, Floats
from ...branches.continuation import Point, length, point_between
from ...execution.computed import computed_once

# Roundings of the residual of a point.
ROUNDINGS = 16
# Zeros known less well than this are told by points beside them as well: where curves cross, Newton's method may go
# over to another one.
BLURRED = 1e-9
# Points around a zero at which Newton's method fails come nearer by this factor, so many times at most, and the
# nearest ones, so many, tell where it is.
NEARER, TIMES, NEAREST = 0.5, 10, 8
# Values of a function tell its derivative where they are so many times what rounding changes it by.
TELLING = 1e3

# A point of a curve, and how far x and q are known there.
Zero = tuple[Point, tuple[float, float]]


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

    def zero(self, function: Callable[[Point], float]) -> Zero | None:
        """Return the point where a function of the point vanishes, and how far x and q are known.

        Where Newton's method fails on the way, as where two directions are neutral in the place of one, or rounding
        leaves much of the place open, points beside it tell where that is; None if there are none.
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
            return self._beside(function, scalar, values) if len(values) > 1 else None
        found = self._enclosed(function, values, root)
        if sum(found[1]) <= BLURRED:
            return found
        beside = self._beside(function, scalar, values)
        return found if beside is None or sum(beside[1]) > sum(found[1]) else beside

    def _enclosed(self, function: Callable[[Point], float], values: dict[float, float], root: float) -> Zero:
        r"""Return a point where a function f of the point vanishes, and how far x and q of the zero may be from it.

        Beside the nearest points of both signs, which rounding may have moved themselves, there is that of the
        equations, of derivatives A across the curve and along its unit tangent t. With residuals up to r the
        unknowns y are at :math:`\delta y = A^{-1}\delta r` from the curve, f changes by
        :math:`\nabla f\cdot\delta y` and by its own rounding :math:`\delta f`, and its zero moves by

        .. math:: \delta y - \frac{\nabla f\cdot\delta y + \delta f}{f_s}\, t ,

        :math:`f_s` being its derivative along the curve.
        """
        one, other = (self._points[place] for place in _around(values, root))
        point = self._points[root]
        own, along_x, along_q = _rounding_of(point)
        change = abs(function(moved_by(point, *own)) - values[root])
        telling = [place for place in values if abs(values[place]) > TELLING * change]
        low = max((place for place in telling if place < root), default=self.first.arclength)
        high = min((place for place in telling if place > root), default=self.second.arclength)
        moved = change * (high - low) / abs(values[high] - values[low])
        solution = point.solution
        unit = 1.0 / length(solution.tangent_b, solution.tangent_q)
        in_x = abs(float(one.b[-1] - other.b[-1])) + along_x + moved * unit * abs(float(solution.tangent_b[-1]))
        return point, (in_x, abs(one.q - other.q) + along_q + moved * unit * abs(solution.tangent_q))

    def _beside(
        self, function: Callable[[Point], float], scalar: Callable[[float], float], values: dict[float, float]
    ) -> Zero | None:
        """Return the zero of a function by polynomials through points around it, pair by pair nearer to it.

        They come from the ends of the arc, since those found so far, near where the system is singular, may be of
        another curve. The error is what the zero moves by as they come nearer, before and after, and what rounding
        moves the points by, more the nearer they are. If Newton's method finds none beside the zero that is known
        as the nearest ones from the ends are apart, None if it found none at all.
        """
        low, high = self.first.arclength, self.second.arclength
        kept = {low: values[low], high: values[high]}
        root, reach = _root_of_polynomial([low, high], kept), high - low
        told: list[Zero] = []
        for _ in range(TIMES):
            reach *= NEARER
            try:
                for place in (max(root - reach, low), min(root + reach, high)):
                    kept[place] = scalar(place)
            except ArithmeticError:
                break
            low, high = _around(kept, root)
            nodes = sorted({low, high, *sorted(kept, key=lambda place: abs(place - root))[:NEAREST]})
            root = _root_of_polynomial(nodes, kept)
            told.append(self._on_polynomial(nodes, root))
        if len(told) < 3:
            # An error needs what the zero moved by before and after.
            nearest = min(kept, key=lambda place: abs(kept[place]))
            return self._enclosed(function, kept, nearest) if len(values) > 2 else None
        moved = [(abs(float(b.b[-1] - a.b[-1])), abs(b.q - a.q)) for (a, _), (b, _) in pairwise(told)]
        errors = [np.max(around, axis=0) for around in pairwise(moved)]
        found = [
            (point, (float(in_x + rounding[0]), float(in_q + rounding[1])))
            for (point, rounding), (in_x, in_q) in zip(told[1:-1], errors, strict=True)
        ]
        return min(found, key=lambda zero: sum(zero[1]))

    def _on_polynomial(self, nodes: Sequence[float], arclength: float) -> Zero:
        """Return the point at an arclength on the polynomial through those at others, and the error of these."""
        points, equation = [self._points[place] for place in nodes], self.second.equation
        curve = BarycentricInterpolator(nodes, np.array([np.append(point.b, point.q) for point in points]))
        *unknown, last = curve(arclength)
        b, q = np.array(unknown), float(last)
        nearest = min(points, key=lambda point: abs(point.arclength - arclength))
        solution = replace(nearest.solution, b=b, q=q, evaluation=equation.evaluate(b, q))
        shares = BarycentricInterpolator(nodes, np.eye(len(nodes)))(arclength)
        residuals = np.array([max(EPS, point.solution.residual) for point in points])
        strayed = np.array([(shift[-1], shift_q) for shift, shift_q in map(strayed_by, points)])
        in_x, in_q = np.abs(shares * residuals / (ROUNDINGS * EPS)) @ np.abs(strayed)
        return Point(equation, solution, arclength), (float(in_x), float(in_q))


def _around(values: dict[float, float], root: float) -> tuple[float, float]:
    """Return the places nearest to one at which a function is not positive and not negative, in order."""
    one, other = (
        min((s for s in values if sign * values[s] >= 0.0), key=lambda s: abs(s - root)) for sign in (-1, 1)
    )
    return min(one, other), max(one, other)


def _root_of_polynomial(nodes: Sequence[float], values: dict[float, float]) -> float:
    """Return where the polynomial through values at some nodes, in order, vanishes as these change their sign."""
    # In barycentric form it has the values at the nodes themselves, and so their signs.
    polynomial = BarycentricInterpolator(nodes, np.array([values[place] for place in nodes]))
    pair = next(pair for pair in pairwise(nodes) if values[pair[0]] * values[pair[1]] <= 0.0)
    return float(brentq(lambda place: float(polynomial(place)), *pair))


def strayed_by(point: Point) -> tuple[Floats, float]:
    """Return by how much rounding moves the unknowns and q of a point across its curve.

    They are known to that of the residual over the least singular value of its derivatives across the curve.
    """
    _, sizes, directions = np.linalg.svd(_across(point))
    shift = ROUNDINGS * EPS / max(sizes[-1], EPS * sizes[0]) * directions[-1]
    return shift[:-1], float(shift[-1])


def _across(point: Point) -> Floats:
    """Return the derivatives of the residual at a point and, last, the unit tangent of its curve."""
    solution = point.solution
    matrix, derivative = point.equation.linearise(solution.b, solution.q, point.moments)
    tangent = np.append(solution.tangent_b, solution.tangent_q)
    return np.vstack([np.column_stack([matrix, derivative]), tangent / length(tangent, 0.0)])


def _rounding_of(point: Point) -> tuple[tuple[Floats, float], float, float]:
    """Return by how much rounding may move the unknowns and q together, and how much x and q each at the most.

    Residuals are known to their rounding, or as Newton's method has left them, and unknowns to theirs.
    """
    _, sizes, directions = np.linalg.svd(_across(point))
    sizes = np.maximum(sizes, EPS * sizes[0])
    residual = max(ROUNDINGS * EPS, point.solution.residual)
    shift = residual / sizes[-1] * directions[-1]
    own = ROUNDINGS * EPS * np.abs(np.append(point.b, point.q))
    moved = shift + np.copysign(own, shift)
    largest = residual * np.sqrt(((directions[:, -2:].T / sizes) ** 2).sum(axis=1)) + own[-2:]
    return (moved[:-1], float(moved[-1])), float(largest[0]), float(largest[1])


def moved_by(point: Point, shift: Floats, shift_q: float) -> Point:
    """Return a point moved in its unknowns and q, of which the moments are those of the point."""
    solution = point.solution
    return replace(point, solution=replace(solution, b=solution.b + shift, q=solution.q + shift_q))
