r"""The values of a parameter at which the uniform state changes stability: all roots of :math:`\lambda_k(p) = 1`.

:math:`\lambda_k(p)` is known with its derivative. On every part of a grid the cubic through both ends of it is
compared with the function in the middle, and parts are halved until it agrees; then a part has a root where the
signs at its ends differ, and two where they agree and an extremum between them is beyond. What still does not agree
when enough parts have been looked at is said.
"""

import functools
from collections import deque
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from meanfield import Equation, InvalidInput
from meanfield.equations import at_uniform

from ..bases import EPS, Floats, Integers
from ..branches.junctions import INSEPARABLE
from .path import ENDS, Path

# Parts of the grid to begin with, and how many may be looked at, halves included.
PARTS, MOST_PARTS = 32, 4096
# The cubic agrees with a strength if it differs by less than this, or by this share of its distance from one.
AGREEMENT, SHARE = 1e-4, 0.1
# The rounding error of a strength about one: where an end of the interval is a threshold, it need not be one there.
ZERO = 8 * EPS
# Share of its values about a root to which a function has fallen there.
VANISHED = 1e-3
# Degrees beyond this are not looked at.
LARGEST_DEGREE = 4096


class Crossing(NamedTuple):
    """A root: its value of the parameter and q, and all degrees critical there or not separated from it.

    ``width`` is the distance of the last of their values of the parameter.
    """

    value: float
    q: float
    modes: tuple[int, ...]
    width: float


class Strengths:
    """The strengths of all degrees that may be critical somewhere on a path, and their derivatives in q."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.degree = max(_critical_degree(problem) for problem in path.samples)
        domain = path.problem.domain
        self._numbers = np.array([0.0, *(float(domain.multiplicity(k)) for k in range(1, self.degree + 1))])
        self.at = functools.lru_cache(maxsize=None)(self._at)

    def _at(self, q: float) -> tuple[Floats, Floats]:
        coefficients = self.path.coefficients(q, self.degree)
        numbers = np.maximum(self._numbers, 1.0)
        strengths, slopes = (part / numbers for part in coefficients[:2])
        return np.asarray(strengths, dtype=float), np.asarray(slopes, dtype=float)

    def beyond(self, degree: int, q: float) -> float:
        """Return the strength of a degree at q less one."""
        return float(self.at(q)[0][degree] - 1.0)

    def slope(self, degree: int, q: float) -> float:
        """Return the derivative of the strength of a degree in q."""
        return float(self.at(q)[1][degree])

    def unstable(self, q: float, critical: tuple[int, ...] = ()) -> int:
        """Return the number of unstable directions of the uniform state at q, without those of critical modes."""
        beyond = self.at(q)[0] > 1.0
        beyond[list(critical)] = False
        return int(self._numbers[beyond].sum())

    def about(self, q: float, critical: tuple[int, ...]) -> tuple[int, int]:
        """Return the numbers of unstable directions just before and just after q, where modes are critical."""
        others, modes = self.unstable(q, critical), list(critical)
        slopes, numbers = self.at(q)[1][modes], self._numbers[modes]
        return others + int(numbers[slopes < 0.0].sum()), others + int(numbers[slopes > 0.0].sum())

    def error(self, q: float, critical: tuple[int, ...]) -> float:
        """Return the error of the value of the parameter at which modes are critical."""
        steepest = float(np.abs(self.at(q)[1][list(critical)]).max())
        return 8 * EPS * self.path.unit * (q + 1.0 / max(steepest, EPS)) + 8 * EPS * abs(self.path.value(q))


def crossings(path: Path) -> tuple[list[Crossing], list[int]]:
    """Return all roots on a path, ascending, and the degrees whose strength changes too fast to be sure."""
    strengths = Strengths(path)
    roots: set[tuple[float, int]] = set()
    doubtful: set[int] = set()
    every = np.setdiff1d(np.arange(1, strengths.degree + 1), constant_ones(path))
    parts = deque((left, right, every) for left, right in pairwise(np.linspace(*ENDS, PARTS + 1).tolist()))
    looked_at = 0
    while parts:
        left, right, degrees = parts.popleft()
        middle, looked_at = 0.5 * (left + right), looked_at + 1
        bent, candidates = _shapes(strengths, left, right, degrees)
        if bent.size and looked_at < MOST_PARTS and left < middle < right:
            parts += [(left, middle, bent), (middle, right, bent)]
            candidates = np.setdiff1d(candidates, bent)
        else:
            doubtful.update(bent.tolist())
        for degree in candidates.tolist():
            roots.update((q, degree) for q in _roots(strengths, degree, left, right))
    return _joined(strengths, sorted(roots)), sorted(doubtful)


def constant_ones(path: Path) -> list[int]:
    """Return the degrees that are critical at every value of the parameter, to rounding: none of them is a root."""
    strengths = Strengths(path)
    places = [strengths.at(q) for q in np.linspace(*ENDS, PARTS + 1).tolist()]
    critical = np.all([(np.abs(values - 1.0) <= ZERO) & (slopes == 0.0) for values, slopes in places], axis=0)
    return np.flatnonzero(critical).tolist()


def _joined(strengths: Strengths, roots: list[tuple[float, int]]) -> list[Crossing]:
    """Return ascending roots, those of several degrees as one where neither q nor the strengths separate them."""
    found: list[Crossing] = []
    for q, degree in roots:
        value = strengths.path.value(q)
        if found:
            last = found[-1]
            near = q - last.q <= INSEPARABLE and abs(strengths.beyond(degree, last.q)) <= INSEPARABLE
            if value == last.value or (near and degree not in last.modes):
                modes = tuple(sorted({*last.modes, degree}))
                found[-1] = Crossing(last.value, last.q, modes, value - last.value)
                continue
        found.append(Crossing(value, q, (degree,), 0.0))
    return found


def _shapes(strengths: Strengths, left: float, right: float, degrees: Integers) -> tuple[Integers, Integers]:
    """Return those of some degrees that no cubic shows on a part of the path, and those that may have roots."""
    middle, width = 0.5 * (left + right), right - left
    (one, rise), (other, fall), (between, _) = (
        (values[degrees] - 1.0, slopes[degrees]) for values, slopes in map(strengths.at, (left, right, middle))
    )
    missed = np.abs(0.5 * (one + other) + 0.125 * width * (rise - fall) - between)
    nearest = np.minimum(np.minimum(np.abs(one), np.abs(other)), np.abs(between))
    bent = missed > np.maximum(AGREEMENT, SHARE * nearest)
    at_end = np.minimum(np.abs(one), np.abs(other)) <= ZERO
    turning = (rise * fall < 0.0) & (rise * one < 0.0)
    return degrees[bent], degrees[at_end | (one * other < 0.0) | turning]


def _roots(strengths: Strengths, degree: int, left: float, right: float) -> Iterator[float]:
    """Yield the roots of a degree on a part of the path with one extremum at most: one where it is monotone."""
    beyond, slope = functools.partial(strengths.beyond, degree), functools.partial(strengths.slope, degree)
    places = [left, right]
    if slope(left) * slope(right) < 0.0:
        places.insert(1, _zero(slope, left, right))
    for start, end in pairwise(places):
        zero = next((q for q in (start, end) if q in (left, right) and abs(beyond(q)) <= ZERO), None)
        if zero is not None:
            yield zero
        elif beyond(start) * beyond(end) < 0.0:
            zero = _zero(beyond, start, end)
            # A multiplier changes sign in its poles and where it jumps, too.
            if abs(beyond(zero)) <= max(ZERO, VANISHED * max(abs(beyond(start)), abs(beyond(end)))):
                yield zero


def _zero(function: Callable[[float], float], left: float, right: float) -> float:
    if function(left) == 0.0:
        return left
    return float(brentq(function, left, right, xtol=2 * EPS, rtol=4 * EPS))


def _critical_degree(problem: Equation) -> int:
    """Return the degree beyond which no strength reaches one."""
    interaction, degree = at_uniform(problem), 16
    while interaction.strongest_beyond(degree) >= 1.0:
        if degree >= LARGEST_DEGREE:
            raise InvalidInput(
                f"more than {degree} modes are critical at once along the parameter; choose a smaller coupling"
            )
        degree *= 2
    return degree
