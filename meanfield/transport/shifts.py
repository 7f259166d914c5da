r"""The distance of order 2: the quantile coupling of least cost among all shifts.

The coupling of shift a joins x and y with :math:`F(x) - a = G(y)`. Its cost
:math:`\int |x-y|^2` is convex in a, with the derivative :math:`2\oint (x-y)\,dy` along the curve of joined points,
[1]_; a root of an increasing function is left, and an error of the root enters the distance squared.

Between a sample x and a density, y runs over :math:`[y_j, y_{j+1}]`, :math:`y_j = G^{-1}(j/N-a)`, while x stays at
:math:`x_j`: derivative and second derivative are sums, the cost is an integral of polynomials (:mod:`.cells`).
Between two densities the curve has the parameter s = (x+y)/2: with d = x - y,
:math:`dx/ds = 2q/(p+q)`, :math:`dy/ds = 2p/(p+q)`, so that

.. math:: W_2^2(a) = \int_0^{2\pi} d^2\,\frac{2pq}{p+q}\,ds, \qquad
          \tfrac12\frac{d}{da}W_2^2 = \oint d\,(1 - \tfrac12 d')\,ds = \int_0^{2\pi} d\,ds, \qquad
          \frac{\partial d}{\partial a} = \frac{2}{p+q}:

periodic integrands, for which the trapezoid rule converges exponentially; the best coupling has d of mean zero.

References
----------
.. [1] J. Delon, J. Salomon, A. Sobolevskii, SIAM J. Appl. Math. 70 (2010).
"""

import math

import numpy as np

from ..errors import ComputationFailed
from .cells import ORDER, Cells, Floats
from .convex import minimiser
from .measures import Density

EPS = float(np.finfo(float).eps)
MASS_ROUNDING = 4 * EPS
STEPS = 100
NODES, WEIGHTS = np.polynomial.legendre.leggauss(ORDER // 2 + 1)
FEWEST_NODES, MOST_NODES = 64, 1 << 17
AGREEMENT = 1e-13


def sample_distance(angles: Floats, density: Density) -> float:
    """Return W_2 between a sorted sample and a density."""
    count = angles.size
    masses = density.distribution(angles)
    steps = np.arange(count + 1) / count
    before = np.diff(angles, prepend=angles[-1] - 2 * math.pi)

    def derivative(shift: float) -> tuple[float, float]:
        borders = density.quantile(steps - shift)
        middles = 0.5 * (borders[1:] + borders[:-1])
        values = np.maximum(density.cells.values(borders[:-1], 1), np.finfo(float).tiny)
        return float(np.diff(borders) @ (angles - middles)), float((before / values).sum())

    shift = minimiser(
        derivative, float((steps[:-1] - masses).min()), float((steps[1:] - masses).max()), MASS_ROUNDING
    )
    return math.sqrt(_squared_distances(density.cells, density.quantile(steps - shift), angles))


def density_distance(one: Density, other: Density) -> float:
    """Return W_2 between two densities.

    Raises
    ------
    ComputationFailed
        If the integral does not settle.
    """
    nodes = max(FEWEST_NODES, 1 << (4 * max(one.degree, other.degree)).bit_length())
    while nodes <= MOST_NODES:
        curve = _Curve(one, other, nodes)
        costs = curve.least_costs()
        coarse, fine = float(costs[::2].mean()), float(costs.mean())
        if abs(fine - coarse) <= AGREEMENT * fine + curve.rounding:
            return math.sqrt(2 * math.pi * fine)
        nodes *= 2
    raise ComputationFailed(
        f"the Wasserstein distance of order 2, about {math.sqrt(2 * math.pi * fine):.6g}, did not settle on "
        f"{nodes // 2} nodes; a density is too concentrated for it: use wasserstein1"
    )


class _Curve:
    """The coupling of two densities, at equispaced values of s = (x + y)/2."""

    def __init__(self, one: Density, other: Density, nodes: int) -> None:
        self.one, self.other = one.cells, other.cells
        self.middle = 2 * math.pi * np.arange(nodes) / nodes
        self.difference = np.zeros(nodes)

    def least_costs(self) -> Floats:
        """Return the integrand of the least cost over all shifts."""
        excess = self.one.values(self.middle) - self.other.values(self.middle)
        minimiser(self._derivative, float(excess.min()), float(excess.max()), MASS_ROUNDING)
        p, q = self._densities()
        return np.asarray(self.difference**2 * (2 * p * q / (p + q)))

    @property
    def rounding(self) -> float:
        """Rounding of the mean cost: an error e of the mass moves d by 2e/(p+q), the integrand by d e at most."""
        return MASS_ROUNDING * float(np.abs(self.difference).mean())

    def _derivative(self, shift: float) -> tuple[float, float]:
        self._join(shift)
        p, q = self._densities()
        return float(self.difference.mean()), float((2 / (p + q)).mean())

    def _join(self, shift: float) -> None:
        """Solve F(s + d/2) - G(s - d/2) = shift for d by Newton's method, by halving where that does not help."""
        low, high = np.full(self.middle.size, -2 * math.pi), np.full(self.middle.size, 2 * math.pi)
        before = np.full(self.middle.size, np.inf)
        for _ in range(STEPS):
            half = 0.5 * self.difference
            mass, p = self.one.value_and_slope(self.middle + half)
            other_mass, q = self.other.value_and_slope(self.middle - half)
            excess = mass - other_mass - shift
            np.copyto(high, self.difference, where=excess > 0)
            np.copyto(low, self.difference, where=excess <= 0)
            moved = self.difference - 2 * excess / np.maximum(p + q, np.finfo(float).tiny)
            # Between a steep rise and a plain, steps lead across the rise and back.
            helpful = (moved >= low) & (moved <= high) & (np.abs(excess) <= 0.5 * before)
            moved, before = np.where(helpful, moved, 0.5 * (low + high)), np.abs(excess)
            still = (np.abs(excess) > MASS_ROUNDING) & (np.abs(moved - self.difference) > EPS)
            self.difference = np.where(still, moved, self.difference)
            if not still.any():
                break

    def _densities(self) -> tuple[Floats, Floats]:
        half = 0.5 * self.difference
        values = self.one.values(self.middle + half, 1), self.other.values(self.middle - half, 1)
        return np.maximum(values[0], np.finfo(float).tiny), np.maximum(values[1], np.finfo(float).tiny)


def _squared_distances(cells: Cells, borders: Floats, angles: Floats) -> float:
    """Return the integral of the squared distance to the angle that owns the interval between two borders."""
    cell, left, right, owner = cells.pieces(borders)
    inner, half = cell % cells.count, 0.5 * (right - left)
    total = np.zeros(half.size)
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        place = left + half * (1 + node)
        distance = angles[owner] - (cell + place) * cells.width
        total += weight * distance**2 * np.maximum(cells.polynomial(inner, place, 1), 0.0)
    return float(half @ total)
