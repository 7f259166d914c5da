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

import numpy as np

from meanfield import ComputationFailed, State
from meanfield.entropy import excess
from meanfield.gibbs import GibbsDensity
from meanfield.harmonics import zonal_sum
from meanfield.harmonics.quadrature import gauss_rule, polynomials

from ...bases import Floats

# Nodes beyond four times the degree at first, and the most; they are doubled until two results agree.
SPARE, MOST_NODES = 64, 8192
AGREEMENT = 1e-11
# The change is not known to better than about this share of the peak, and nothing where the density is smaller.
UNKNOWN = 1e-12
# Such places may matter for this share of a result.
KNOWN = 1e-3
# Sign changes of H below this share of its maximum are rounding.
FELT = 1e-10
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
        self._dimension = dimension = state.problem.domain.dimension
        self._log_mass = 0.5 * math.log(math.pi) + math.lgamma(0.5 * (dimension - 1)) - math.lgamma(0.5 * dimension)

    def weighted(self, change: Floats) -> Floats:
        """Return N_l delta_l, zero in degree 0."""
        counts = np.array([float(self._sphere.multiplicity(degree)) for degree in range(change.size)])
        counts[0] = 0.0
        return counts * change

    def l2(self, change: Floats) -> float:
        """Return the distance in L2 of the densities over the uniform one, in its probability measure."""
        return math.sqrt(math.fsum(self.weighted(change) * change))

    def entropy(self, change: Floats) -> float:
        """Return the relative entropy of the other density, given the state."""
        terms = self.weighted(change)

        def integral(nodes: int) -> tuple[float, float]:
            rule = gauss_rule(self._dimension, nodes)
            density = self.density(angles_of(rule.nodes, rule.complements))
            difference = terms @ polynomials(self._dimension, rule, terms.size - 1)
            parts = rule.weights * density * excess(np.maximum(difference / density, -1.0))
            return float(parts.sum()), float(parts[rule.weights * density < _floor(rule.weights * density)].sum())

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
            points, weights = _line_rule(nodes)
            angles, weights = 0.5 * math.pi * (1.0 + points), 0.5 * math.pi * weights
            law = self._law(angles)
            other = np.maximum(law + self._surface(angles) * zonal_sum(terms, self._dimension, angles), 0.0)
            parts = weights * other * self._moved(terms, angles) ** 2
            return float(parts.sum()), float(parts[law < _floor(law)].sum())

        return math.sqrt(_settled(integral, change.size, "W2"))

    def density(self, angles: Floats) -> Floats:
        """Return the density of the state over the uniform one."""
        return np.maximum(self._gibbs(angles), np.finfo(float).tiny)

    def _surface(self, angles: Floats, power: int = 2) -> Floats:
        return np.asarray(np.exp((self._dimension - power) * np.log(np.sin(angles)) - self._log_mass))

    def _law(self, angles: Floats) -> Floats:
        return np.maximum(self._surface(angles) * self.density(angles), np.finfo(float).tiny)

    def _excess_mass(self, terms: Floats, angles: Floats) -> Floats:
        """Return H."""
        sums = zonal_sum(terms[1:], self._dimension + 2, angles)
        return np.asarray(self._surface(angles, 1) * sums / (self._dimension - 1))

    def _sign_changes(self, terms: Floats, nodes: int) -> Floats:
        grid = math.pi * (np.arange(nodes) + 0.5) / nodes
        values = self._excess_mass(terms, grid)
        felt = np.maximum(np.abs(values[1:]), np.abs(values[:-1])) > FELT * np.abs(values).max()
        found = np.flatnonzero((values[1:] * values[:-1] < 0.0) & felt)
        low, high, signs = grid[found], grid[found + 1], np.sign(values[found])
        for _ in range(STEPS if found.size else 0):
            middle = 0.5 * (low + high)
            before = self._excess_mass(terms, middle) * signs > 0.0
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        return np.asarray(0.5 * (low + high))

    def _moved(self, terms: Floats, angles: Floats) -> Floats:
        """Return how far the monotone map moves each angle, by Newton's method."""
        mass, law = self._excess_mass(terms, angles), self._law(angles)
        # The law changes its size over the distance to the next pole at least.
        limit = 0.5 * np.minimum(angles, math.pi - angles)
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


@functools.lru_cache(maxsize=32)
def _line_rule(nodes: int) -> tuple[Floats, Floats]:
    """Return Gauss's rule on [-1, 1]."""
    rule = gauss_rule(3, nodes)
    return rule.nodes[::-1], 2.0 * rule.weights[::-1]


def angles_of(nodes: Floats, complements: Floats) -> Floats:
    """Return the polar angles of u, from 1 - abs(u)."""
    acute = 2.0 * np.arcsin(np.sqrt(0.5 * complements))
    return np.where(nodes < 0.0, math.pi - acute, acute)


def _floor(values: Floats) -> float:
    return UNKNOWN * float(values.max())


def _settled(integral: Callable[[int], tuple[float, float]], size: int, name: str) -> float:
    """Double the nodes until two results agree; each comes with its part where the density is not known."""
    nodes = 4 * size + SPARE
    coarse = integral(nodes)[0]
    while 2 * nodes <= MOST_NODES:
        nodes *= 2
        fine, unknown = integral(nodes)
        if unknown > KNOWN * fine:
            break
        if abs(fine - coarse) <= AGREEMENT * fine:
            return fine
        coarse = fine
    raise ComputationFailed(f"the density all but vanishes where the {name} is decided")
