"""What every bifurcation diagram obeys, whatever the problem: contradictions within a record, without a solver.

Along a branch arclengths grow, couplings and moments change as their recorded derivatives say, and numbers of unstable
directions change at recorded special points only, as those say. No two branches share a stretch.
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from meanfield import Branch, CosineSeries, Diagram, McKeanVlasov, SpecialPoint

# Moments with the cosines and with the sines.
Moments = tuple[np.ndarray, np.ndarray]

# Between two points the trapezoidal rule gives what a derivative adds up to, up to this share of the arclength, and
# another share of it times the change of the derivative.
TRAPEZOIDAL, TURNED = 0.05, 0.5
# Free energies that differ by less may be equal to rounding.
EQUAL = 1e-12
# Moments of the same states on two branches, between the points of one of which they are interpolated.
SAME = 1e-6
# Branches that touch or cross are near each other at fewer points in a row than this, or on a shorter way.
SHARED, STRETCH = 4, 1e-2


def contradictions(diagram: Diagram) -> list[str]:
    """Return what is inconsistent in a diagram, in words."""
    found = []
    for index, branch in enumerate(diagram.branches):
        special = [point for point in diagram.special_points if point.branch == index]
        found += [*_along(branch), *_counts(branch, special), *_energies(branch, diagram.problem)]
    return found + list(_shared(diagram))


def _along(branch: Branch) -> Iterator[str]:
    """Yield where arclengths do not grow, or values do not change as their derivatives say."""
    steps = np.diff(branch.arclength)
    if branch.label == "uniform":
        return
    if not np.all(steps > 0.0):
        yield f"{branch.label}: arclength does not grow after point {int(np.argmin(steps))}"
        return
    values = np.column_stack([branch.values, branch.cosine, branch.sine])
    slopes = np.column_stack([branch.tangent_values, branch.tangent_cosine, branch.tangent_sine])
    scale = np.maximum(1.0, np.abs(slopes).max(axis=0))
    missed = np.diff(values, axis=0) - 0.5 * (slopes[1:] + slopes[:-1]) * steps[:, None]
    turned = np.abs(np.diff(slopes, axis=0) / scale).max(axis=1)
    excess = np.abs(missed / scale).max(axis=1) / steps - TRAPEZOIDAL - TURNED * turned
    place = int(np.argmax(excess))
    if excess[place] > 0.0:
        yield (
            f"{branch.label}: between points {place} and {place + 1} values change by other amounts than their "
            f"derivatives over an arclength of {steps[place]:.2g}"
        )


def _counts(branch: Branch, special: list[SpecialPoint]) -> Iterator[str]:
    """Yield where the number of unstable directions changes without a special point that says so."""
    before = {point.point: point.unstable_before for point in special}
    after = {point.point: point.unstable_after for point in special}
    for place in range(len(branch) - 1):
        left = after.get(place, int(branch.unstable[place]))
        right = before.get(place + 1, int(branch.unstable[place + 1]))
        if left is not None and right is not None and min(left, right) >= 0 and left != right:
            yield f"{branch.label}: {left} unstable directions after point {place}, {right} at the next"
    for point in special:
        counts = point.unstable_before, point.unstable_after, point.kernel_dimension
        if None not in counts and abs(counts[1] - counts[0]) > counts[2]:
            yield f"{branch.label}: {point.type} at point {point.point}, from {counts[0]} to {counts[1]} unstable"


def _energies(branch: Branch, problem: McKeanVlasov) -> Iterator[str]:
    """Yield where the free energy passes that of the uniform state between two points, none of them a transition."""
    if problem.confinement is not None:
        return
    gaps = branch.free_energy_gap
    decided = np.abs(gaps) > EQUAL
    for place in np.flatnonzero((gaps[1:] * gaps[:-1] < 0.0) & decided[1:] & decided[:-1]):
        yield f"{branch.label}: the free energy passes that of the uniform state after point {place}"


def _shared(diagram: Diagram) -> Iterator[str]:
    """Yield the branches with a stretch of states of another one, or twice of their own, up to symmetries."""
    curves = [branch for branch in diagram.branches if branch.label != "uniform"]
    orders = _orders(diagram.problem)
    for index, one in enumerate(curves):
        for other in curves[: index + 1]:
            near = [False, *(_near(one, place, other, orders) for place in range(1, len(one) - 1)), False]
            for before, last in np.flatnonzero(np.diff(near)).reshape(-1, 2):
                first = before + 1
                long = one.arclength[last] - one.arclength[first] > STRETCH
                if last - first + 1 >= min(SHARED, max(2, len(one) - 2)) and long:
                    yield f"{one.label} has {last - first + 1} points in a row on {other.label}"


def _orders(problem: McKeanVlasov) -> int | None:
    """Return the order of the rotations that keep a field on the circle even about 0; None if all do, or elsewhere."""
    if not isinstance(problem.confinement, CosineSeries):
        return None
    return math.gcd(*(np.flatnonzero(problem.confinement.coefficients) + 1).tolist())


def _near(one: Branch, place: int, other: Branch, orders: int | None) -> bool:
    """Return whether a point of a branch is on another one, interpolated by cubics."""
    value = float(one.values[place])
    for left in np.flatnonzero((other.values[:-1] - value) * (other.values[1:] - value) <= 0.0):
        if one.unstable[place] not in (-1, *other.unstable[left : left + 2]) or (
            one is other and abs(left - place) < 4
        ):
            continue
        rows = slice(left, left + 2)
        values = CubicHermiteSpline(other.arclength[rows], other.values[rows], other.tangent_values[rows])
        moments = CubicHermiteSpline(
            other.arclength[rows],
            np.column_stack([other.cosine, other.sine])[rows],
            np.column_stack([other.tangent_cosine, other.tangent_sine])[rows],
        )
        for arclength in values.solve(value, extrapolate=False):
            cosine, sine = np.split(moments(arclength), 2)
            count = min(cosine.size, one.cosine.shape[1])
            own = one.cosine[place, :count], one.sine[place, :count]
            if _distance((cosine[:count], sine[:count]), own, one.layout, orders) <= SAME:
                return True
    return False


def _distance(one: Moments, other: Moments, layout: str, orders: int | None) -> float:
    """Return the largest difference of two sets of moments up to symmetries, of their lengths if all rotations are."""
    if orders is None:
        return float(np.abs(_lengths(one, layout) - _lengths(other, layout)).max())
    degrees = np.arange(one[0].size)
    first, second = (cosine - 1j * sine for cosine, sine in (one, other))
    turns = np.exp(2j * np.pi * np.multiply.outer(np.arange(orders), degrees) / orders)
    images = np.concatenate([turns * second, turns * second.conj()])
    return float(np.abs(images - first).max(axis=1).min())


def _lengths(moments: Moments, layout: str) -> np.ndarray:
    """Return the lengths of the moments by degree, which rotations do not change."""
    squares = moments[0] ** 2 + moments[1] ** 2
    if layout == "order":
        degrees = np.arange(int(np.sqrt(2 * squares.size)))
        squares = np.add.reduceat(squares, degrees * (degrees + 1) // 2)
    return np.sqrt(squares)
