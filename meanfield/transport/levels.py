r"""The distance of order 1: the least :math:`\int|H-a|`, H the difference of two distribution functions.

The best level a is the median of H over the circle. H is cut into pieces on which it is monotone and a polynomial
(:mod:`.cells`); on each the set below a level is an interval, and the integral of the absolute value is that of a
polynomial on at most two parts, which Gauss's rule gives exactly, without cancellation.
"""

import math
from dataclasses import dataclass

import numpy as np

from .cells import ORDER, Cells, Floats, Integers
from .convex import minimiser
from .measures import Density, moment_difference

NODES, WEIGHTS = np.polynomial.legendre.leggauss(ORDER // 2 + 1)
BISECTIONS = 60


@dataclass(frozen=True)
class Pieces:
    """Pieces of H on one turn: in a cell, from one place to another, the cell's polynomial minus an offset.

    Attributes
    ----------
    cells
        The polynomials.
    cell, left, right, offset : (P,)
        Cell within one turn, places in it and what is subtracted.
    """

    cells: Cells
    cell: Integers
    left: Floats
    right: Floats
    offset: Floats

    def at(self, place: Floats) -> Floats:
        """Return the values of H at one place in every piece."""
        return self.cells.polynomial(self.cell, place) - self.offset

    def where(self, chosen: Integers) -> "Pieces":
        """Return the pieces of the chosen indices."""
        return Pieces(self.cells, self.cell[chosen], self.left[chosen], self.right[chosen], self.offset[chosen])

    def reaching(self, level: float) -> Floats:
        """Return the place in every piece where H takes the level; H must do so."""
        return self.cells.solve(self.cell, np.add(self.offset, level), self.left, self.right)


def sample_distance(angles: Floats, density: Density) -> float:
    """Return W_1 between a sorted sample and a density."""
    cells = density.cells
    turn = np.append(angles, angles[0] + 2 * math.pi)
    cell, left, right, owner = cells.pieces(turn)
    turns, inner = np.divmod(cell, cells.count)
    pieces = Pieces(cells, inner, left, right, (owner + 1) / angles.size - turns)
    return _least_deviation(pieces)


def density_distance(one: Density, other: Density) -> float:
    """Return W_1 between two densities; relatively accurate also where they nearly agree."""
    coefficients = moment_difference(one, other)
    return _least_deviation(_monotone(Cells(coefficients))) if coefficients.any() else 0.0


def _monotone(cells: Cells) -> Pieces:
    """Return the cells of H, cut where it changes from rising to falling or back."""
    every = np.arange(cells.count)
    half = np.full(cells.count, 0.5)
    slopes = [cells.polynomial(every, place, 1) for place in (-half, half)]
    turning = np.flatnonzero(slopes[0] * slopes[1] < 0)
    summit = _turning_place(cells, turning)
    left = np.concatenate([-half, summit])
    right = np.concatenate([half, half[turning]])
    right[turning] = summit
    return Pieces(cells, np.concatenate([every, turning]), left, right, np.zeros(left.size))


def _turning_place(cells: Cells, cell: Integers) -> Floats:
    low, high = np.full(cell.size, -0.5), np.full(cell.size, 0.5)
    rising = cells.polynomial(cell, low, 1) > 0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        before = (cells.polynomial(cell, middle, 1) > 0) == rising
        np.copyto(low, middle, where=before)
        np.copyto(high, middle, where=~before)
    return np.asarray(0.5 * (low + high))


def _least_deviation(pieces: Pieces) -> float:
    ends = pieces.at(pieces.left), pieces.at(pieces.right)
    low, high = np.minimum(*ends), np.maximum(*ends)
    level = _median(pieces, low, high)
    crossing = np.flatnonzero((low < level) & (high > level))
    crossed = pieces.where(crossing)
    cut = crossed.reaching(level)
    left, right = np.concatenate([pieces.left, cut]), np.concatenate([pieces.right, crossed.right])
    right[crossing] = cut
    cell = np.concatenate([pieces.cell, crossed.cell])
    offset = np.concatenate([pieces.offset, crossed.offset]) + level
    return pieces.cells.width * _absolute_integral(Pieces(pieces.cells, cell, left, right, offset))


def _absolute_integral(pieces: Pieces) -> float:
    """Return the integral of |H| over pieces on which H keeps its sign."""
    half = 0.5 * (pieces.right - pieces.left)
    total = np.zeros(half.size)
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        total += weight * np.abs(pieces.at(pieces.left + half * (1 + node)))
    return float(half @ total)


def _median(pieces: Pieces, low: Floats, high: Floats) -> float:
    """Return the median of H on the circle, the level a at which the integral of |H - a| is least."""
    widths = pieces.right - pieces.left
    wanted = 0.5 * float(widths.sum())
    rising = pieces.at(pieces.left) <= low

    def derivative(level: float) -> tuple[float, float]:
        crossing = np.flatnonzero((low < level) & (high > level))
        crossed = pieces.where(crossing)
        place = crossed.reaching(level)
        below = np.where(rising[crossing], place - crossed.left, crossed.right - place)
        slopes = np.abs(pieces.cells.polynomial(crossed.cell, place, 1))
        growth = (1 / np.maximum(slopes, pieces.cells.rounding)).sum()
        return float(widths[high <= level].sum() + below.sum()) - wanted, float(growth)

    return minimiser(derivative, float(low.min()), float(high.max()), pieces.cells.rounding)
