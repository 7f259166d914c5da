r"""Unstable directions of a zonal state among all densities, azimuthal sector by sector.

At a density of :math:`u = \langle x, e\rangle` the linearisation keeps the order m of the harmonics

.. math:: e_{lmj}(x) = \phi_l^m(u)\, Y_{mj}(\omega), \qquad \omega \in S^{d-2},

and is the same for all j. The matrices are those of the stationary equation,

.. math:: S_m = \sigma - 2 A\sigma\, G_m\, \sigma A, \qquad
          (G_m)_{kl} = \int \rho\, \phi_k^m \phi_l^m - \delta_{m0}\, p_k p_l ,

whose negative eigenvalues, less the number of repulsive degrees, count the unstable directions. A rotation moves
:math:`p_l` by :math:`\sqrt{l(l+d-2)}\, p_l` along :math:`e_{l1}`: that direction is known and is moved to one. If
the density is even about the equator, even and odd degrees are blocks of their own.

In high sectors nothing is unstable: with the trace of the attractive part of :math:`2 A G_m A` below one,
:math:`S_m` has no other negative directions than the repulsive ones.
"""

import functools
from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..bases import Floats, Integers
from ..bases.gegenbauer import sector_functions
from ..branches.continuation import Point
from ..equations.counts import Counts
from ..equations.equation import StationaryEquation
from ..equations.geometry import BlockMatrix
from ..equations.significant import significant_degrees, strengths
from ..linear_algebra.inertia import signature
from ..linear_algebra.pinning import count_beside_rotation, is_weak
from ..linear_algebra.projectors import plus_projector
from ..root_finding.newton import NEUTRAL, neutral_at
from .linearised.interaction import repetitions
from .traces import SectorTraces

# A block with a trace above this may have lost an unstable direction since the last point.
NEARBY = 0.5
# Up to so many sectors have their traces taken from tables of their own, beyond it only those it may matter for.
MANY = 16


@dataclass(frozen=True)
class AzimuthalBlock:
    """One block: the order m and, at a density even about the equator, the parity of the degrees.

    Attributes
    ----------
    order : int
        m.
    parity : int or None
        Degrees modulo 2; None for all of them.
    multiplicity : int
        Number of copies of the block: of harmonics of degree m on S^(d-2).
    """

    order: int
    parity: int | None
    multiplicity: int

    @property
    def own(self) -> bool:
        """Whether the block has the symmetry of the branch itself, so that folds are zeros of its eigenvalues."""
        return self.order == 0 and self.parity in (None, 0)

    def words(self, symmetry: int) -> str:
        """Return the name of the block."""
        kind = {None: "harmonics", 0: "harmonics of even degree", 1: "harmonics of odd degree"}[self.parity]
        return f"{kind} of azimuthal order {self.order}"


class Part(NamedTuple):
    """The degrees of a block with their functions on the nodes of the basis, scaled by sigma A."""

    degrees: Integers
    signs: Floats
    roots: Floats
    table: Floats
    scaled: Floats
    repulsive: tuple[int, int]


class Perturbations:
    """All significant degrees of the potential, on the nodes of a zonal basis.

    Parameters
    ----------
    equation
        The equation of the states; its basis gives nodes and symmetry.
    degrees, relative : (K,)
        The degrees that are significant, with their multipliers relative to the largest.
    """

    def __init__(self, equation: StationaryEquation, degrees: Integers, relative: Floats) -> None:
        basis, profiles = equation.basis, equation.basis.profiles
        assert profiles is not None
        self.domain, self.rule = profiles.domain, profiles.rule
        self.basis, self.profiles = basis, profiles
        self.degrees = degrees
        self.relative = relative
        self.fixed_axis = equation.problem.confinement is not None
        self._parts: dict[AzimuthalBlock, Part] = {}
        parities: tuple[int | None, ...] = (None,) if basis.symmetry == 1 else (0, 1)
        self.sectors = [
            [AzimuthalBlock(order, parity, repetitions(self.domain.dimension, order)) for parity in parities]
            for order in range(int(degrees.max()) + 1)
        ]
        attractive = 2.0 * np.maximum(-equation.sign * relative, 0.0)
        self._attractive = attractive
        # Of the harmonics of one degree the squares add up to one at every point: each has at most its share.
        self._largest_traces = np.array(
            [
                attractive[degrees >= order].sum() / blocks[0].multiplicity
                for order, blocks in enumerate(self.sectors)
            ]
        )
        self._traces: dict[int, Floats] = {}

    def _trace(self, order: int) -> Floats:
        """Return sum_l 2 A_l^2 phi_l^m(u)^2 over the attractive degrees at the nodes."""
        if order not in self._traces:
            inside = self.degrees >= order
            self._traces[order] = self._attractive[inside] @ self._functions(order, self.degrees[inside]) ** 2
        return self._traces[order]

    def _bounds(self, weights: Floats) -> Floats:
        """Return upper bounds of the traces of all sectors, without their tables."""
        fine = self.rule.fine
        return self._all_traces.bounds(np.sqrt(fine * (2.0 - fine)).astype(float), weights)

    @functools.cached_property
    def _all_traces(self) -> SectorTraces:
        by_degree = np.zeros(int(self.degrees.max()) + 1)
        by_degree[self.degrees] = self._attractive
        return SectorTraces(by_degree)

    def _functions(self, order: int, degrees: Integers) -> Floats:
        table = sector_functions(self.domain.dimension, order, self.rule, int(self.degrees.max()))
        return np.ascontiguousarray(table[degrees - order])

    def active(self, point: Point, weights: Floats, least: float = 1.0) -> list[AzimuthalBlock]:
        """Return the blocks of sectors whose trace reaches a bound; below one no direction is unstable."""
        strength = 0.5 * point.equation.doubled * point.q / point.equation.strongest
        possible = np.flatnonzero(strength * self._largest_traces >= least)
        if self.domain.has_azimuth and possible.size > MANY:
            possible = possible[strength * self._bounds(weights)[possible] >= least]
        return [
            block
            for order in possible.tolist()
            if strength * float(self._trace(order) @ weights) >= least
            for block in self.sectors[order]
        ]

    def part(self, sector: AzimuthalBlock) -> Part:
        """Return the degrees of a block."""
        if sector not in self._parts:
            inside = self.degrees >= max(sector.order, 1)
            if sector.parity is not None:
                inside &= self.degrees % 2 == sector.parity
            degrees, relative = self.degrees[inside], self.relative[inside]
            signs, roots = np.sign(relative), np.sqrt(np.abs(relative))
            table = self._functions(sector.order, degrees)
            repulsive = int(np.count_nonzero(relative > 0.0)), int(np.count_nonzero(relative < 0.0))
            self._parts[sector] = Part(degrees, signs, roots, table, (signs * roots)[:, None] * table, repulsive)
        return self._parts[sector]

    def matrix(self, point: Point, sector: AzimuthalBlock, weights: Floats) -> BlockMatrix:
        """Return the matrix of a block at a point.

        Parameters
        ----------
        weights : (n,) float
            Those of :func:`masses`.
        """
        equation, part = point.equation, self.part(sector)
        repulsive = part.repulsive[0 if equation.sign > 0 else 1]
        own = equation.own_block(point.b, point.q, point.moments) if sector.own else None
        if own is not None:
            return BlockMatrix(own, part.degrees, equation.repulsive)
        strength = equation.doubled * point.q / equation.strongest
        matrix: Floats = (part.scaled * (-strength * weights)) @ part.scaled.T
        if sector.order == 0 and sector.parity != 1:
            means = part.scaled @ weights
            matrix += np.multiply.outer(strength * means, means)
        matrix.flat[:: part.degrees.size + 1] += -equation.sign * part.signs
        if sector.order == 1 and not self.fixed_axis:
            matrix = plus_projector(matrix, part.roots * self.generator(part, sector, point))
        return BlockMatrix(matrix, part.degrees, repulsive)

    def count_first_order(
        self, point: Point, sector: AzimuthalBlock, weights: Floats, neutral: float
    ) -> tuple[int, float]:
        """Return the number of unstable directions of order one, and the determinant of their matrix.

        In a confinement, which pins rotations; the determinant is nan where the matrix is not factorised.
        """
        matrix, degrees, repulsive = self.matrix(point, sector, weights)
        rotation, pulls = self.pinning(point, sector)
        if is_weak(rotation, np.abs(pulls).sum(axis=1)):
            return count_beside_rotation(matrix, rotation, pulls.sum(axis=1), neutral) - repulsive, np.nan
        matrix.flat[:: degrees.size + 1] += neutral
        negative, determinant = signature(matrix)
        return negative - repulsive, determinant

    def pinning(self, point: Point, sector: AzimuthalBlock) -> tuple[Floats, Floats]:
        """Return the rotation mode of order one, (size,), and the terms of its image under the matrix by nodes.

        The image, their sum over the nodes, is the torque of the confinement.
        """
        part, masses = self.part(sector), point.equation.masses(point.b, point.q)
        rotation = part.roots * self.generator(part, sector, point)
        return rotation, -point.equation.sign * part.scaled * (masses * self._pull)

    @functools.cached_property
    def _pull(self) -> Floats:
        """Derivative of the field -V/D under rotation of its axis, on the nodes, over the function of longitude."""
        confinement = self.basis.confinement
        assert confinement is not None
        degrees = self.basis.symmetry * (1 + np.flatnonzero(confinement))
        table = sector_functions(self.domain.dimension, 1, self.rule, int(degrees.max(initial=1)))
        slopes = np.sqrt(degrees * (degrees + self.domain.dimension - 2.0)) * confinement[confinement != 0.0]
        return np.asarray(slopes @ table[degrees - 1])

    def generator(self, part: Part, sector: AzimuthalBlock, point: Point) -> Floats:
        """Return the derivative of the moments of order one under rotation of the density."""
        moments, _ = point.by_degree
        padded = np.zeros(int(self.degrees.max()) + 1)
        count = min(padded.size, moments.size)
        padded[:count] = moments[:count]
        degrees = part.degrees
        return np.asarray(np.sqrt(degrees * (degrees + self.domain.dimension - 2.0)) * padded[degrees])


@functools.lru_cache(maxsize=64)
def perturbations(equation: StationaryEquation) -> Perturbations:
    """Return the harmonics that decide the stability of the states of an equation."""
    problem = equation.problem
    degrees = significant_degrees(problem, int(equation.basis.degrees.max()))
    relative = strengths(problem, int(degrees.max())).relative[degrees]
    return Perturbations(equation, degrees, relative)


def masses(point: Point) -> Floats:
    """Return the masses at the nodes whose second moments give the matrices of a point."""
    return point.equation.response_masses(point.b, point.q)


def unstable_counts(point: Point, neutral: float = NEUTRAL) -> Counts:
    """Return the numbers of unstable directions about the axis, and of all others."""
    modes, weights = perturbations(point.equation), masses(point)
    zonal = point.unstable if neutral == NEUTRAL else max(0, point.unstable - 1)
    neutral = neutral_at(point.q, neutral)
    others, determinants = 0, dict[Hashable, float]()
    if modes.fixed_axis:
        for sector in modes.sectors[1]:
            count, determinants[sector] = modes.count_first_order(point, sector, weights, neutral)
            others += sector.multiplicity * count
    for sector in modes.active(point, weights):
        if sector.own or (modes.fixed_axis and sector.order == 1):
            continue
        matrix, degrees, repulsive = modes.matrix(point, sector, weights)
        matrix.flat[:: degrees.size + 1] += neutral
        negative, determinants[sector] = signature(matrix)
        count = negative - repulsive
        if sector.order == 0:
            zonal += count
        others += sector.multiplicity * count if sector.order else 0
    return Counts(zonal, others, determinants)


def blocks_of(point: Point) -> list[AzimuthalBlock]:
    """Return the blocks in which a direction can be unstable at a point or beside it."""
    modes = perturbations(point.equation)
    return modes.active(point, masses(point), NEARBY)


def block_matrix(point: Point, block: AzimuthalBlock) -> BlockMatrix:
    """Return the matrix of one block at a point."""
    return perturbations(point.equation).matrix(point, block, masses(point))


def copies(point: Point, one: AzimuthalBlock, other: AzimuthalBlock) -> bool:
    """Return False, since blocks count their own copies."""
    return False


def rotations(point: Point, block: AzimuthalBlock) -> int:
    """Return the number of rotation modes of a state, whose eigenvalues are moved to one, in a block."""
    modes = perturbations(point.equation)
    if block.order != 1 or modes.fixed_axis:
        return 0
    return int(np.any(modes.generator(modes.part(block), block, point)))
