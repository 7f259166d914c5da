r"""The values of a parameter at which the uniform state changes stability: all roots of :math:`\lambda_k(p) = 1`.

:math:`\lambda_k(p)` is known with its derivative. On every part of a grid the cubic through both ends of it is
compared with the function in the middle, and parts are halved until it agrees; then a part has a root where the
signs at its ends differ, and two where they agree and an extremum between them is beyond. What still does not agree
on the finest parts is said.
"""

import functools
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from meanfield import Equation, InvalidInput
from meanfield.equations import Interaction

from ..bases import EPS, Floats, Integers
from ..branches.junctions import INSEPARABLE
from .path import ENDS, Path

# Parts of the grid to begin with, and how often one may be halved.
PARTS, HALVINGS = 32, 6
# The cubic agrees with a strength if it differs by less than this, or by this share of its distance from one.
AGREEMENT, SHARE = 1e-4, 0.1
# Degrees beyond this are not looked at.
LARGEST_DEGREE = 4096


class Crossing(NamedTuple):
    """A root: its value of the parameter and q, and all degrees critical there, not separated by rounding."""

    value: float
    q: float
    modes: tuple[int, ...]


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
    """Return all roots on a path, ascending, and the degrees whose strength oscillates too fast to be sure."""
    strengths = Strengths(path)
    roots: list[tuple[float, int]] = []
    doubtful: set[int] = set()
    grid = np.linspace(*ENDS, PARTS + 1).tolist()
    for left, right in pairwise(grid):
        _search(strengths, left, right, np.arange(1, strengths.degree + 1), HALVINGS, roots, doubtful)
    found: list[Crossing] = []
    for q, _ in sorted(roots):
        if found and q - found[-1].q <= INSEPARABLE:
            continue
        modes = np.flatnonzero(np.abs(strengths.at(q)[0] - 1.0) <= INSEPARABLE)
        found.append(Crossing(path.value(q), q, tuple(modes.tolist())))
    return found, sorted(doubtful)


def _search(
    strengths: Strengths,
    left: float,
    right: float,
    degrees: Integers,
    halvings: int,
    roots: list[tuple[float, int]],
    doubtful: set[int],
) -> None:
    """Add the roots of some degrees on a part of the path, and those that are doubtful on the finest parts."""
    middle, width = 0.5 * (left + right), right - left
    (one, rise), (other, fall), (between, _) = (
        (values[degrees] - 1.0, slopes[degrees]) for values, slopes in map(strengths.at, (left, right, middle))
    )
    cubic = 0.5 * (one + other) + 0.125 * width * (rise - fall)
    missed = np.abs(cubic - between)
    nearest = np.minimum(np.minimum(np.abs(one), np.abs(other)), np.abs(between))
    bent = missed > np.maximum(AGREEMENT, SHARE * nearest)
    if halvings:
        if bent.any():
            for part in ((left, middle), (middle, right)):
                _search(strengths, *part, degrees[bent], halvings - 1, roots, doubtful)
        degrees = degrees[~bent]
        one, other, rise, fall = (part[~bent] for part in (one, other, rise, fall))
    else:
        doubtful.update(degrees[bent].tolist())
    changes = (one * other < 0.0) | (one == 0.0)
    for degree in degrees[changes].tolist():
        roots.append((_root(strengths, degree, left, right), degree))
    turning = ~changes & (rise * fall < 0.0) & (rise * one < 0.0)
    for degree in degrees[turning].tolist():
        extremum = _zero(functools.partial(strengths.slope, degree), left, right)
        ends = strengths.at(left)[0][degree] - 1.0, strengths.at(extremum)[0][degree] - 1.0
        if ends[0] * ends[1] < 0.0:
            for part in ((left, extremum), (extremum, right)):
                roots.append((_root(strengths, degree, *part), degree))


def _root(strengths: Strengths, degree: int, left: float, right: float) -> float:
    return _zero(functools.partial(strengths.beyond, degree), left, right)


def _zero(function: Callable[[float], float], left: float, right: float) -> float:
    if function(left) == 0.0:
        return left
    return float(brentq(function, left, right, xtol=2 * EPS, rtol=4 * EPS))


def _critical_degree(problem: Equation) -> int:
    """Return the degree beyond which no strength reaches one."""
    interaction, degree = Interaction(problem), 16
    while interaction.strongest_beyond(degree) >= 1.0:
        if degree >= LARGEST_DEGREE:
            raise InvalidInput(
                f"more than {degree} modes are critical at once along the parameter; choose a smaller coupling"
            )
        degree *= 2
    return degree
