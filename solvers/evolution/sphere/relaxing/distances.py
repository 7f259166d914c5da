r"""Distances of a zonal density near a zonal stationary one, accurate relative to the distance, however small.

The stationary density is taken from its exponential and the other as a change of it, of moments :math:`\delta_l`.
The law of the polar angle has the density :math:`g = \frac{\sin^{d-2}\theta}{B}\,|S|\rho`,
:math:`B = \int_0^\pi\sin^{d-2}`, and the change of its distribution function is, since
:math:`[(1-u^2)^{(d-1)/2} P_l']' = -l(l+d-2)(1-u^2)^{(d-3)/2} P_l`,

.. math:: H(\theta) = \frac{\sin^{d-1}\theta}{(d-1)\,B} \sum_{l\ge1} N_l\,\delta_l\, P^{(d+2)}_{l-1}(\cos\theta) .

On the line :math:`W_1 = \int|H|`, and :math:`W_2^2 = \int |y-\theta|^2\,(g + H')\,d\theta` with the monotone map y,
:math:`\int_\theta^y g = H(\theta)`.
"""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from meanfield import State
from meanfield.entropy import excess
from meanfield.gibbs import GibbsDensity
from meanfield.harmonics import gauss_rule, growing, polynomials, polynomials_at, refined_until_two_agree, zonal_sum

from ....bases import Floats

# Nodes beyond four times the degree at first, and the most; they are doubled until two results agree.
SPARE, MOST_NODES = 64, 8192
AGREEMENT = 1e-11
# The change is not known to better than about this share of the peak, and nothing where the density is smaller.
UNKNOWN = 1e-12
# Such places may matter for this share of a result.
KNOWN = 1e-3
# Sign changes of H below this share of its maximum are rounding.
SIGNIFICANT = 1e-10
# Relative change of the law on the way up to which a trapezium is its integral.
SLIGHT = 1e-7
INNER_NODES, INNER_WEIGHTS = np.polynomial.legendre.leggauss(8)
STEPS = 60


class ZonalDistances:
    """Distances to one zonal state.

    Parameters
    ----------
    state
        A zonal stationary state of a sphere.
    """

    def __init__(self, state: State) -> None:
        self._gibbs, self._sphere = GibbsDensity(state.problem, state.cosine), state.problem.domain
        self._counts = np.zeros(1)
        self._rules: dict[tuple[int, int], tuple[Floats, Floats, Floats]] = {}
        self._lines: dict[tuple[int, int], _Line] = {}
        self._dimension = dimension = state.problem.domain.dimension
        self._log_mass = 0.5 * math.log(math.pi) + math.lgamma(0.5 * (dimension - 1)) - math.lgamma(0.5 * dimension)

    def weighted(self, change: Floats) -> Floats:
        """Return N_l delta_l for moments delta_l, zero in degree 0."""
        for degree in range(self._counts.size, change.size):
            self._counts = np.append(self._counts, float(self._sphere.multiplicity(degree)))
        return self._counts[: change.size] * change

    def l2(self, change: Floats) -> float:
        """Return the distance in L2 of the densities over the uniform one, in its probability measure."""
        return math.sqrt(math.fsum(self.weighted(change) * change))

    def entropy(self, change: Floats) -> float:
        """Return the relative entropy of the other density, given the state."""
        terms = self.weighted(change)

        def integral(nodes: int) -> tuple[float, float]:
            masses, density, table = self._on_rule(nodes, terms.size)
            parts = masses * excess(np.maximum((terms @ table) / density, -1.0))
            return float(parts.sum()), float(parts[masses < _floor(masses)].sum())

        return _settled(integral, change.size, "relative entropy")

    def first(self, change: Floats) -> float:
        """Return W1 between the laws of the polar angle, in radians."""
        terms = self.weighted(change)

        def integral(nodes: int) -> tuple[float, float]:
            ends = np.concatenate([[0.0], self._sign_changes(terms, nodes), [math.pi]])
            points, weights = _line_rule(nodes)
            half = 0.5 * np.diff(ends)[:, None]
            angles = ends[:-1, None] + half * (1.0 + points)
            return float((np.abs(self._excess_mass(terms, angles)) @ weights) @ half[:, 0]), 0.0

        return _settled(integral, change.size, "W1")

    def second(self, change: Floats) -> float:
        """Return W2 between the laws of the polar angle, in radians."""
        terms = self.weighted(change)

        def integral(nodes: int) -> tuple[float, float]:
            line = self._on_line(nodes, terms.size)
            other = np.maximum(line.law + terms @ line.laws, 0.0)
            parts = line.weights * other * self._moved(line, terms @ line.masses) ** 2
            return float(parts.sum()), float(parts[line.law < _floor(line.law)].sum())

        return math.sqrt(_settled(integral, change.size, "W2"))

    def density(self, angles: Floats) -> Floats:
        """Return the density of the state over the uniform one."""
        return np.maximum(self._gibbs(angles), np.finfo(float).tiny)

    def _surface(self, angles: Floats, power: int = 2) -> Floats:
        return np.asarray(np.exp((self._dimension - power) * np.log(np.sin(angles)) - self._log_mass))

    def _law(self, angles: Floats) -> Floats:
        return np.maximum(self._surface(angles) * self.density(angles), np.finfo(float).tiny)

    def _excess_mass(self, terms: Floats, angles: Floats) -> Floats:
        """Return H at polar angles."""
        sums = zonal_sum(terms[1:], self._dimension + 2, angles)
        return np.asarray(self._surface(angles, 1) * sums / (self._dimension - 1))

    def _sign_changes(self, terms: Floats, nodes: int) -> Floats:
        """Return the zeros of H, each by the cubic that has the values and the slopes of its inverse beside it.

        Its error is of fourth order, and what it changes in the integral of |H| of eighth.
        """
        line = self._on_line(nodes, terms.size)
        values, slopes = terms @ line.masses, terms @ line.laws
        significant = np.maximum(np.abs(values[1:]), np.abs(values[:-1])) > SIGNIFICANT * np.abs(values).max()
        low = np.flatnonzero((values[1:] * values[:-1] < 0.0) & significant)
        high = low + 1
        width, rise = line.angles[high] - line.angles[low], values[high] - values[low]
        share = -values[low] / rise
        # Where H turns between two nodes the cubic is none, and the straight line is taken.
        with np.errstate(divide="ignore", invalid="ignore"):
            before, after = (rise / (width * slopes[place]) for place in (low, high))
            cubic = share + share * (1.0 - share) * ((1.0 - share) * (before - 1.0) - share * (after - 1.0))
        inside = (cubic > 0.0) & (cubic < 1.0)
        return np.asarray(line.angles[low] + width * np.where(inside, cubic, share))

    def _moved(self, line: "_Line", mass: Floats) -> Floats:
        """Return how far the monotone map moves each angle."""
        # The law changes its size over the distance to the next pole at least.
        limit = 0.5 * np.minimum(line.angles, math.pi - line.angles)
        moved = np.clip(mass / line.law, -limit, limit)
        there = self._law(line.angles + moved)
        change = np.abs(there / line.law - 1.0)
        # The trapezium has the square of this for a relative error.
        moved = 2.0 * mass / (line.law + there)
        far = change > SLIGHT
        if far.any():
            moved[far] = self._far_moved(line.angles[far], line.law[far], mass[far], limit[far])
        return np.asarray(moved)

    def _far_moved(self, angles: Floats, law: Floats, mass: Floats, limit: Floats) -> Floats:
        """Return how far the monotone map moves each angle, by Newton's method, for large displacements."""
        moved = np.clip(mass / law, -limit, limit)
        for _ in range(STEPS):
            half = 0.5 * moved
            inner = self._law(angles + np.multiply.outer(1.0 + INNER_NODES, half))
            step = (half * (INNER_WEIGHTS @ inner) - mass) / self._law(angles + moved)
            step = moved - np.clip(moved - step, -limit, limit)
            moved = moved - step
            if np.abs(step).max() <= AGREEMENT * np.abs(moved).max():
                break
        return np.asarray(moved)

    def _on_rule(self, nodes: int, size: int) -> tuple[Floats, Floats, Floats]:
        """Return the masses of the state at Gauss's nodes, its density there, and the polynomials."""
        if (nodes, size) not in self._rules:
            rule = gauss_rule(self._dimension, nodes)
            density = self.density(rule.polar)
            self._rules[nodes, size] = rule.weights * density, density, polynomials(self._dimension, rule, size - 1)
        return self._rules[nodes, size]

    def _on_line(self, nodes: int, size: int) -> "_Line":
        """Return the nodes in the polar angle, with the law of the state and the terms of its changes, cached."""
        if (nodes, size) not in self._lines:
            points, weights = _line_rule(nodes)
            angles = 0.5 * math.pi * (1.0 + points)
            laws = self._surface(angles) * polynomials_at(size - 1, self._dimension, angles)
            masses = np.zeros_like(laws)
            masses[1:] = polynomials_at(size - 2, self._dimension + 2, angles)
            masses *= self._surface(angles, 1) / (self._dimension - 1)
            self._lines[nodes, size] = _Line(angles, 0.5 * math.pi * weights, self._law(angles), laws, masses)
        return self._lines[nodes, size]


class _Line(NamedTuple):
    """Increasing nodes in the polar angle, their weights, the law of the state, and its change by each term.

    The last, (L + 1, n), is the change of the distribution function by each term.
    """

    angles: Floats
    weights: Floats
    law: Floats
    laws: Floats
    masses: Floats


@functools.lru_cache(maxsize=32)
def _line_rule(nodes: int) -> tuple[Floats, Floats]:
    """Return ascending nodes and the weights of Gauss's rule on [-1, 1]."""
    rule = gauss_rule(3, nodes)
    return rule.nodes[::-1], 2.0 * rule.weights[::-1]


def _floor(values: Floats) -> float:
    return UNKNOWN * float(values.max())


def _settled(integral: Callable[[int], tuple[float, float]], size: int, name: str) -> float:
    """Return an integral by doubling the nodes until two agree; it comes with its part where it is not known."""

    def judged(nodes: int) -> tuple[float, float]:
        value, unknown = integral(nodes)
        return value, math.nan if unknown > KNOWN * value else AGREEMENT * value

    otherwise = f"the density all but vanishes where the {name} is decided"
    return refined_until_two_agree(judged, growing(4 * size + SPARE, MOST_NODES), otherwise)
