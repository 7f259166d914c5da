r"""Gauss rules on a cap about the north pole that contains the density, and harmonics on them.

With :math:`x = 1-u` the uniform measure is proportional to :math:`(x(2-x))^{(d-3)/2}dx`. A rule for the whole
sphere, shrunk to :math:`0 \le x \le X`, has the weight :math:`(x(X-x))^{(d-3)/2}`; the quotient is smooth but at
x = X, where the density has vanished. So the same number of nodes serves a density however concentrated, and
:math:`X = 2^{1-j}` takes few values: tables are kept and serve many states.
"""

import functools
from typing import NamedTuple

import numpy as np

from meanfield import NotResolved
from meanfield.harmonics import Rule, gauss_rule, polynomials

from ...bases import Floats
from ...bases.gegenbauer import sector_functions

# How many last coefficients tell whether a function is resolved.
LAST = 4


class Grid(NamedTuple):
    """Nodes on a cap: d of the space around the sphere, number of nodes, and j with 1 - u at most 2^(1-j)."""

    dimension: int
    size: int
    level: int = 0


def stepped(count: int) -> int:
    """Return a count rounded up to a power of two or 3/2 of one, so that few different numbers occur."""
    power = 1 << max(5, (count - 1).bit_length())
    return power if 3 * power // 4 < count else 3 * power // 4


@functools.lru_cache(maxsize=64)
def rule_of(grid: Grid) -> Rule:
    """Return the rule of a grid: nodes from the pole down, weights of the uniform probability measure."""
    whole = gauss_rule(grid.dimension, grid.size)
    if grid.level == 0:
        return whole
    # With y the distances from the pole on the whole sphere, x = h y, and
    # (x (2-x))^p dx = (y (2-y))^p dy times h (h (2-hy)/(2-y))^p.
    north = whole.nodes >= 0.0
    distances = np.where(north, whole.fine, 2.0 - whole.fine)
    others = np.where(north, 2.0 - whole.fine, whole.fine)
    share = np.ldexp(1.0, -grid.level)
    fine = share * distances
    growth = 0.5 * (grid.dimension - 3) * np.log(share * (2.0 - fine) / others)
    logs = (whole.log_weights + np.log(share) + growth).astype(float)
    return Rule((1.0 - fine).astype(float), fine.astype(float), logs, fine, np.exp(logs))


@functools.lru_cache(maxsize=64)
def harmonics(grid: Grid, order: int, degree: int) -> Floats:
    """Return phi_l^m, l = m..degree, on a grid, shape (degree + 1 - m, n)."""
    if degree < order:
        return np.zeros((0, grid.size))
    return sector_functions(grid.dimension, order, rule_of(grid), degree)


@functools.lru_cache(maxsize=64)
def slopes(grid: Grid, degree: int) -> Floats:
    """Return P_l', l = 1..degree: l (l + d - 2)/(d - 1) times P_(l-1) of dimension d + 2."""
    dimension = grid.dimension
    degrees = np.arange(1.0, degree + 1.0)
    table = polynomials(dimension + 2, rule_of(grid), degree - 1)
    return np.asarray(table * (degrees * (degrees + dimension - 2) / (dimension - 1))[:, None])


@functools.lru_cache(maxsize=64)
def last_functions(grid: Grid, order: int, room: int) -> Floats:
    """Return functions of an order whose components show whether a grid resolves a function of that order.

    They are the last that the grid has, without ``room`` degrees for factors, each times the root of the
    weight: orthonormal on the grid shrunk from the whole sphere.
    """
    rule = gauss_rule(grid.dimension, grid.size)
    table = sector_functions(grid.dimension, order, rule, grid.size - 1 - room)[-LAST:]
    largest = np.abs(table).max(axis=1, keepdims=True)
    if not largest.all():
        raise NotResolved(
            f"the decay rates need {grid.size} nodes in dimension {grid.dimension}, where harmonics are below the "
            "range of doubles; leave the rates out (--no-rates, rates=False)"
        )
    table *= np.exp(0.5 * rule.log_weights) / largest
    return np.asarray(table / np.linalg.norm(table, axis=1, keepdims=True))
