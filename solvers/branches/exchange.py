r"""Transitions at which the clustered state of lowest free energy changes to another branch or part of a branch.

Along every branch the gap obeys the envelope identity
:math:`\partial_q (F - F_0)/D = -\sum_k \sigma_k b_k^2`, so cubic Hermite interpolation between its points decides
which branch is lowest where. At a change the coupling is then solved for with states of both branches at it.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import ddot
from scipy.optimize import brentq

from meanfield import Number

from ..bases import EPS, Floats, Integers, greatest
from .continuation import Point, length, values_of
from .detection import Event
from .following import Followed, Knot, own_count
from .interval_ends import interval_end

# Knots on either side of a doubtful exchange that are asked which of two branches is lower there.
AROUND = 6
# Events closer than this share of the arclength are one.
SAME = 1e-12
# The free energies of states this close differ by the work of the residual between them, by Gauss quadrature.
NEAR, WORK_NODES = 0.5, 16
# States this close cannot be told apart beside a branch point, where Newton knows them to half of the digits.
TOUCHING = 1e-5
# Places of one point, located on two branches, agree to so many roundings.
ROUNDINGS = 64
# Largest residual of a state put into the equation of another.
IMAGE = 1e-10

Span = tuple[float, float]


class Run(NamedTuple):
    """A part of a branch with monotone coupling: its curve and knots, their couplings, gaps and slopes."""

    curve: int
    knots: list[Knot]
    couplings: Floats
    gaps: Floats
    slopes: Floats

    def gap(self, couplings: Floats) -> Floats:
        """Return the free energy gap at couplings of the run, cubic between its knots."""
        right = np.searchsorted(self.couplings, couplings).clip(1, self.couplings.size - 1)
        left = right - 1
        span = self.couplings[right] - self.couplings[left]
        share = (couplings - self.couplings[left]) / span
        rest = 1.0 - share
        from_left = (1.0 + 2.0 * share) * self.gaps[left] + share * span * self.slopes[left]
        from_right = (1.0 + 2.0 * rest) * self.gaps[right] - rest * span * self.slopes[right]
        return np.asarray(rest * rest * from_left + share * share * from_right)


def mark_exchanges(curves: list[Followed], labels: list[str], scale: Number, *, uniform: bool) -> None:
    """Insert a transition event wherever the lowest clustered branch, or part of a branch, changes.

    Parameters
    ----------
    curves, labels
        The followed branches and their names.
    scale
        A unit of the couplings in which they fit doubles.
    uniform
        Whether the uniform state, whose gap is zero, is stationary; transitions to it are known already.
    """
    runs = [run for index, curve in enumerate(curves) if not curve.vertical for run in _runs(index, curve, scale)]
    if len(runs) < 2:
        return
    grid = np.unique(np.concatenate([run.couplings for run in runs]))
    lowest = _lowest_runs(runs, grid, 0.0 if uniform else np.inf)
    for index in np.flatnonzero((lowest[1:] != lowest[:-1]) & (lowest[1:] >= 0) & (lowest[:-1] >= 0)):
        one, other = runs[lowest[index]], runs[lowest[index + 1]]
        _mark(curves, labels, one, other, (grid[index], grid[index + 1]), scale)


def _runs(index: int, curve: Followed, scale: Number) -> list[Run]:
    knots = curve.knots
    couplings = np.asarray(values_of([knot.point for knot in knots]) / scale, dtype=float)
    turns = [0, *(np.flatnonzero(np.diff(np.sign(np.diff(couplings)))) + 1), couplings.size - 1]
    changes = {equation: equation.change(scale) for equation in {knot.point.equation for knot in knots}}
    runs = []
    for start, stop in pairwise(turns):
        upwards = 1 if couplings[stop] > couplings[start] else -1
        ordered, positions = knots[start : stop + 1][::upwards], couplings[start : stop + 1][::upwards]
        if positions.size < 2 or np.diff(positions).min() <= 0.0:
            continue
        gaps = np.array([knot.point.invariant for knot in ordered])
        slopes = np.array([knot.point.gap_slope * changes[knot.point.equation] for knot in ordered])
        runs.append(Run(index, ordered, positions, gaps, slopes))
    return runs


def _slope(point: Point, scale: Number) -> float:
    """Return the derivative of the gap with respect to coupling/scale."""
    return point.gap_slope * point.equation.change(scale)


def _lowest_runs(runs: list[Run], grid: Floats, bound: float) -> Integers:
    """Return the index of the run of lowest gap at couplings of a grid, -1 where no gap is below a bound."""
    gaps, lowest = np.full(grid.size, bound), np.full(grid.size, -1)
    for index, run in enumerate(runs):
        low, high = np.searchsorted(grid, run.couplings[[0, -1]])
        values = run.gap(grid[low : high + 1])
        better = values < gaps[low : high + 1] - 64 * EPS
        gaps[low : high + 1][better] = values[better]
        lowest[low : high + 1][better] = index
    return lowest


def _mark(curves: list[Followed], labels: list[str], one: Run, other: Run, span: Span, scale: Number) -> None:
    """Locate the exchange between two runs near a span of couplings and insert it into the one lowest above it."""
    comparison = Comparison(one, other, scale)
    try:
        bracket = _bracket(comparison, span)
        if bracket is None:
            # One branch is born or ends on the other here: the minimiser changes continuously.
            return
        root = float(brentq(comparison, *bracket, xtol=2 * EPS * (abs(bracket[1]) or 1.0), rtol=4 * EPS))
        rival = labels[one.curve] if one.curve != other.curve else f"another state of {labels[one.curve]}"
        _insert(curves[other.curve], *comparison.located(root), rival)
    except Exception as error:
        low, high = (float(end * scale) for end in span)
        curves[other.curve].warn(
            f"its free energy and that of {labels[one.curve]} may be equal between {comparison.parameter} "
            f"{low:.12g} and {high:.12g}, which could not be decided ({error or type(error).__name__})"
        )


class StateNotFound(Exception):
    """Raised if Newton's method finds no state of a run at a coupling."""


class Comparison:
    """The free energy of one run less that of another, over D, from states solved at a coupling/scale."""

    def __init__(self, one: Run, other: Run, scale: Number) -> None:
        self.one, self.other, self.scale = one, other, scale

    @property
    def parameter(self) -> str:
        """The name of what varies."""
        return self.one.knots[0].point.equation.parameter

    def __call__(self, coupling: float) -> float:
        """Return the difference of the free energies at a coupling."""
        return _difference(*self._states(coupling))[0]

    def sign(self, coupling: float) -> int:
        """Return the sign of the difference, zero where it is a rounding error."""
        difference, rounding = _difference(*self._states(coupling))
        return 0 if abs(difference) <= rounding else (1 if difference > 0.0 else -1)

    def located(self, coupling: float) -> tuple[Point, Point, float]:
        """Return the states of both runs at a coupling of equal free energies, and the error of its q."""
        first, second = self._states(coupling)
        steepness = abs(_slope(first, self.scale) - _slope(second, self.scale))
        _, rounding = _difference(first, second)
        moved = rounding * abs(second.equation.change(self.scale))
        return first, second, float(moved / max(steepness, moved / second.q))

    def _states(self, coupling: float) -> tuple[Point, Point]:
        return _state_at(self.one, coupling, self.scale), _state_at(self.other, coupling, self.scale)


def _bracket(comparison: Comparison, span: Span) -> Span | None:
    """Return couplings below which the first run is lower and above which the second; None if none exist.

    Interpolated energies give a first span. Beside a point where one branch is born on the other they agree so
    closely that they do not show which is lower, and the knots around are compared too.
    """
    one, other = comparison.one.couplings, comparison.other.couplings
    lowest, highest = max(one[0], other[0]), min(one[-1], other[-1])
    if not lowest < highest:
        return None
    low, high = (float(end) for end in np.clip(span, lowest, highest))
    if low == high and not any(_meets_another(run, low) for run in (comparison.one, comparison.other)):
        # One of the two was followed no farther.
        return None
    if comparison.sign(low) < 0 < comparison.sign(high):
        return low, high
    grid = np.unique(np.concatenate([one, other]).clip(lowest, highest))
    first = max(0, int(np.searchsorted(grid, low)) - AROUND)
    around = grid[first : int(np.searchsorted(grid, high)) + AROUND + 1].tolist()
    signed = [(coupling, sign) for coupling in around if (sign := comparison.sign(coupling)) != 0]
    return next(((a, b) for (a, below), (b, above) in pairwise(signed) if below < 0 < above), None)


def _meets_another(run: Run, coupling: float) -> bool:
    """Return whether a run begins or ends on a more symmetric branch at a coupling."""
    ends = zip((run.knots[0], run.knots[-1]), run.couplings[[0, -1]], strict=True)
    return any(place == coupling and knot.point.leaving is not None for knot, place in ends)


def _difference(first: Point, second: Point) -> tuple[float, float]:
    """Return the free energy of one state less that of another at one coupling, over D, and its rounding error.

    Where a branch is born on the other both states are near each other, and their free energies agree in most
    digits. Put into one equation, they differ by the work of the residual on the way between them.
    """
    for point, symmetric, sign in ((second, first, 1.0), (first, second, -1.0)):
        if symmetric.equation.basis.symmetry % point.equation.basis.symmetry == 0:
            work = _work(point, symmetric)
            if work is not None:
                return sign * work[0], work[1]
    return first.invariant - second.invariant, first.gap_rounding + second.gap_rounding


def _work(point: Point, symmetric: Point) -> tuple[float, float] | None:
    """Return the work of the residual from a state to a more symmetric one, and its error; None if far apart."""
    equation = point.equation
    image = equation.densities.nearest_image(symmetric, point)
    way = image - point.b
    distance = length(way, 0.0)
    if distance > NEAR or greatest(equation.evaluate(image, point.q).residual) > IMAGE:
        return None
    # The gradient of the free energy in b, away from stationary states extended by the field of b, is 2 q g along
    # the coupling.
    nodes, weights = np.polynomial.legendre.leggauss(WORK_NODES)
    between = (equation.evaluate(point.b + 0.5 * (1.0 + t) * way, point.q).residual for t in nodes)
    forces = [ddot(way, equation.force(residual, point.q)) for residual in between]
    strength = equation.strength(point.q)
    error = 4 * EPS * strength * distance if distance > TOUCHING else np.inf
    return 0.5 * strength * float(weights @ forces), error


def _state_at(run: Run, coupling: float, scale: Number) -> Point:
    index = int(np.clip(np.searchsorted(run.couplings, coupling), 1, run.couplings.size - 1))
    for knot, place in zip(run.knots[index - 1 : index + 1], run.couplings[index - 1 : index + 1], strict=True):
        if place == coupling:
            return knot.point
    one, other = sorted(
        (knot.point for knot in run.knots[index - 1 : index + 1]), key=lambda point: point.arclength
    )
    q = other.equation.q_at(coupling * scale)
    event = interval_end(one, other, q)
    if event is not None:
        return event.point
    # A branch point has another rounding on each of its branches.
    nearest = min((one, other), key=lambda point: abs(point.q - q))
    if abs(nearest.q - q) <= ROUNDINGS * EPS * q:
        return nearest
    raise StateNotFound("no state was found between")


def _insert(curve: Followed, rival: Point, point: Point, error: float, label: str) -> None:
    arclengths = [knot.point.arclength for knot in curve.knots]
    known = (
        knot.point.arclength for knot in curve.knots if knot.event is not None and knot.event.kind == "transition"
    )
    if any(abs(place - point.arclength) <= SAME * point.arclength for place in known):
        return
    index = int(np.searchsorted(arclengths, point.arclength))
    unstable = own_count(point, curve)
    text = f"free energy equal to that of {label}: the minimiser changes"
    event = Event("transition", point, error, description=text, before=unstable, after=unstable, rival=rival)
    curve.knots.insert(index, Knot(point, unstable, event))
