r"""Where the state of lowest free energy changes from one clustered branch to another.

Along every branch the gap obeys the envelope identity
:math:`\partial_q (F - F_0)/D = -\sum_k \sigma_k b_k^2`, so cubic Hermite interpolation between its points decides
which branch is lowest where. At a change the coupling is then solved for with states of both branches at it.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.linalg.blas import ddot
from scipy.optimize import brentq

from meanfield import Number

from ..bases import EPS, Floats, greatest
from ..geometry import geometry_of
from .continuation import Point, length
from .detection import Event, interval_end
from .following import Followed, Knot

MAX_CORRECTIONS = 8
# The free energies of states this close differ by the work of the residual between them, by Gauss quadrature.
NEAR, WORK_NODES = 0.5, 16
# Largest residual of a state put into the equation of another.
IMAGE = 1e-10
# Rounding error of a free energy in units of its terms.
GAP_ROUNDING = 4 * EPS


class Run(NamedTuple):
    """A part of a branch along which the coupling is monotone: its curve, knots and interpolated gap."""

    curve: int
    knots: list[Knot]
    couplings: Floats
    gap: CubicHermiteSpline


def mark_exchanges(curves: list[Followed], labels: list[str], scale: Number) -> None:
    """Insert a transition event wherever the lowest clustered branch changes.

    Parameters
    ----------
    curves, labels
        The followed branches and their names.
    scale
        A coupling to measure couplings in, so that they fit doubles.
    """
    runs = [run for index, curve in enumerate(curves) if not curve.vertical for run in _runs(index, curve, scale)]
    if len({run.curve for run in runs}) < 2:
        return
    grid = np.unique(np.concatenate([run.couplings for run in runs]))
    lowest, winner = _envelope(runs, grid)
    for index in np.flatnonzero((winner[1:] != winner[:-1]) & (lowest[1:] < 0.0) & (lowest[:-1] < 0.0)):
        one, other = runs[winner[index]], runs[winner[index + 1]]
        if one.curve != other.curve:
            _mark(curves, labels, one, other, grid[index], grid[index + 1], scale)


def _runs(index: int, curve: Followed, scale: Number) -> list[Run]:
    knots = curve.knots
    couplings = np.array([float(knot.point.coupling / scale) for knot in knots])
    turns = [0, *(np.flatnonzero(np.diff(np.sign(np.diff(couplings)))) + 1), couplings.size - 1]
    runs = []
    for start, stop in pairwise(turns):
        upwards = 1 if couplings[stop] > couplings[start] else -1
        ordered, positions = knots[start : stop + 1][::upwards], couplings[start : stop + 1][::upwards]
        if positions.size < 2 or np.diff(positions).min() <= 0.0:
            continue
        gaps = [knot.point.free_energy_gap for knot in ordered]
        slopes = [_slope(knot.point, scale) for knot in ordered]
        runs.append(Run(index, ordered, positions, CubicHermiteSpline(positions, gaps, slopes)))
    return runs


def _slope(point: Point, scale: Number) -> float:
    """Return the derivative of the gap with respect to coupling/scale: the envelope identity."""
    equation = point.equation
    slope = -equation.gain * float(ddot(point.b, equation.signs * point.b))
    return slope * float(scale / (equation.sign * equation.unit))


def _envelope(runs: list[Run], grid: Floats) -> tuple[Floats, np.ndarray]:
    lowest, winner = np.zeros(grid.size), np.full(grid.size, -1)
    for index, run in enumerate(runs):
        low, high = np.searchsorted(grid, run.couplings[[0, -1]])
        values = run.gap(grid[low : high + 1])
        better = values < lowest[low : high + 1] - 64 * EPS
        lowest[low : high + 1][better] = values[better]
        winner[low : high + 1][better] = index
    return lowest, winner


def _mark(
    curves: list[Followed], labels: list[str], one: Run, other: Run, low: float, high: float, scale: Number
) -> None:
    """Locate the exchange between two runs in an interval and insert it into the one that wins above it."""

    def difference(coupling: float) -> float:
        return float(one.gap(coupling) - other.gap(coupling))

    low = max(low, one.couplings[0], other.couplings[0])
    high = min(high, one.couplings[-1], other.couplings[-1])
    if not (low < high and difference(low) * difference(high) < 0.0):
        # One branch is born or ends on the other here: the minimiser changes continuously.
        return
    found = _exchange(one, other, float(brentq(difference, low, high)), scale)
    if found is not None:
        _insert(curves[other.curve], *found, labels[one.curve])


def _exchange(one: Run, other: Run, coupling: float, scale: Number) -> tuple[Point, float] | None:
    """Return the state of the second run where both have one free energy, by Newton, and the error of its q."""
    found = None
    for _ in range(MAX_CORRECTIONS):
        first, second = _state_at(one, coupling, scale), _state_at(other, coupling, scale)
        if first is None or second is None:
            return None
        steepness = _slope(first, scale) - _slope(second, scale)
        if steepness == 0.0:
            return None
        difference, rounding = _difference(first, second)
        step, error = difference / steepness, abs(rounding / steepness)
        found = second, error / abs(coupling) * second.q
        if abs(step) <= max(4 * EPS * abs(coupling), error):
            break
        coupling -= step
    return found


def _difference(first: Point, second: Point) -> tuple[float, float]:
    """Return the free energy of one state less that of another at one coupling, over D, and its rounding error.

    Where a branch is born on the other both states are near each other, and their free energies agree in most
    digits. Put into one equation, they differ by the work of the residual on the way between them.
    """
    if first.equation.basis.symmetry % second.equation.basis.symmetry == 0:
        work = _work(second, first)
        if work is not None:
            return work
    elif second.equation.basis.symmetry % first.equation.basis.symmetry == 0:
        work = _work(first, second)
        if work is not None:
            return -work[0], work[1]
    size = sum(point.q * point.equation.gain * ddot(point.b, point.b) for point in (first, second))
    return first.free_energy_gap - second.free_energy_gap, GAP_ROUNDING * size


def _work(point: Point, symmetric: Point) -> tuple[float, float] | None:
    """Return the work from a state to a more symmetric one, and its error; None where they are far apart."""
    equation = point.equation
    image = geometry_of(equation.problem).nearest_image(symmetric, point)
    way = image - point.b
    distance = length(way, 0.0)
    if distance > NEAR or greatest(equation.evaluate(image, point.q).residual) > IMAGE:
        return None
    # The gradient of the free energy in b, away from stationary states extended by the field of b, is 2 q g.
    nodes, weights = np.polynomial.legendre.leggauss(WORK_NODES)
    forces = [ddot(way, equation.evaluate(point.b + 0.5 * (1.0 + t) * way, point.q).residual) for t in nodes]
    strength = equation.doubled * point.q
    return 0.5 * strength * float(weights @ forces), GAP_ROUNDING * strength * distance


def _neighbours(run: Run, coupling: float) -> tuple[Knot, Knot]:
    index = int(np.clip(np.searchsorted(run.couplings, coupling), 1, run.couplings.size - 1))
    return run.knots[index - 1], run.knots[index]


def _state_at(run: Run, coupling: float, scale: Number) -> Point | None:
    one, other = sorted(_neighbours(run, coupling), key=lambda knot: knot.point.arclength)
    equation = other.point.equation
    event = interval_end(one.point, other.point, float(coupling * scale / (equation.sign * equation.unit)))
    return None if event is None else event.point


def _insert(curve: Followed, point: Point, error: float, rival: str) -> None:
    arclengths = [knot.point.arclength for knot in curve.knots]
    index = int(np.searchsorted(arclengths, point.arclength))
    unstable = curve.knots[index].unstable
    text = f"free energy equal to that of {rival}: the minimiser changes"
    event = Event("transition", point, error, description=text, before=unstable, after=unstable)
    curve.knots.insert(index, Knot(point, unstable, event))
