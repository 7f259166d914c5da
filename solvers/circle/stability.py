r"""Unstable directions of a state among all densities, block by block of its symmetry.

At a state invariant under rotation by :math:`2\pi/n` the linearisation couples the degree k only to
:math:`\pm k` modulo n, so it splits into blocks by the class :math:`j = \min(k \bmod n, -k \bmod n)`; at an even
state each block splits further into cosines and sines. The matrices are those of the stationary equation,

.. math:: S = \sigma - 2 A\sigma\,\mathrm{Cov}\,\sigma A, \qquad A_k = \sqrt{|\lambda_k|},

whose negative eigenvalues, less the number of repulsive modes, count the unstable directions. The rotation mode,
in the sine block of class 0, is known exactly, :math:`A_k k m_k`, and is moved to one by its projector; it is
never searched among small eigenvalues.
"""

import functools
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from ..bases import CosineBasis, Floats, Integers, covariance
from ..branches.continuation import Point
from ..equation import StationaryEquation, plus_projector
from ..felt import felt_degrees, strengths
from ..geometry import BlockMatrix
from ..newton import NEUTRAL, count_negative
from ..pinning import count_beside_rotation, is_weak

# With more modes than this the blocks of a rotation symmetry are counted one by one.
DIVIDED = 64
# Parts of the modes: all of them, and all that are not multiples of the symmetry.
ALL, OTHERS = -1, -2
# Stands behind the moments for those that vanish.
ZERO = np.zeros(1)

Parity = Literal["even", "odd", "mixed"]


@dataclass(frozen=True)
class Block:
    """One symmetry block: its class j, parity and the part of the modes it acts on."""

    residue: int
    parity: Parity

    @property
    def own(self) -> bool:
        """Whether it is that of the symmetry of the branch itself, where folds show."""
        return self.residue == 0 and self.parity != "odd"

    @property
    def multiplicity(self) -> int:
        """Every block counts once: copies of a class are two blocks."""
        return 1

    def words(self, symmetry: int) -> str:
        """Return the block of a state of a symmetry in words."""
        kinds = {"even": "cosine", "odd": "sine", "mixed": "cosine and sine"}
        return f"{kinds[self.parity]} modes of class {self.residue} modulo {symmetry}"


class Part(NamedTuple):
    """Some of the modes, with the index tables of their covariances in the moments of states of a symmetry."""

    degrees: Integers
    relative: Floats
    signs: Floats
    roots: Floats
    weights: Floats
    repulsive: tuple[int, int]
    means: Integers
    total: Integers
    difference: Integers


@dataclass(frozen=True, eq=False)
class Perturbations:
    """All modes the potential feels up to a degree, seen from states of a symmetry and a number of moments."""

    degrees: Integers
    relative: Floats
    fixed_angle: bool
    symmetry: int
    moments: int
    _parts: dict[int, Part] = field(default_factory=dict)

    def block(self, point: Point, block: Block) -> tuple[Floats, Integers, int]:
        """Return the symmetric matrix of a block, its degrees and its number of repulsive modes."""
        return self._matrix(point, block.parity, block.residue)

    def outside(self, point: Point, parity: Parity) -> tuple[Floats, Integers, int]:
        """Return the matrix of all modes of one parity that are not already in the state's own block."""
        return self._matrix(point, parity, OTHERS if parity == "even" else ALL)

    def count_odd(self, point: Point, residue: int, neutral: float) -> int:
        """Return the number of unstable directions among the sines of class 0 or of all classes."""
        matrix, degrees, repulsive = self._matrix(point, "odd", residue)
        if self.fixed_angle and is_weak(*(pair := self._pinning(point, residue))):
            return count_beside_rotation(matrix, *pair, neutral) - repulsive
        return _count(matrix, degrees, repulsive, neutral)

    def _pinning(self, point: Point, residue: int) -> tuple[Floats, Floats]:
        r"""Return the rotation mode :math:`r_k = A_k k m_k` and :math:`S r = \sigma A \langle V' \sin k\rangle/D`.

        The second follows from :math:`\rho' = f'\rho`, integrated against sin k.
        """
        part, basis = self._part(residue), point.equation.basis
        moments = np.concatenate((point.moments, ZERO))
        rotation = part.roots * part.degrees * moments.take(part.means)
        assert basis.confinement is not None
        cells = np.flatnonzero(basis.confinement) + 1
        degrees = basis.symmetry * cells
        difference = moments.take(self._places(np.abs(part.degrees[:, None] - degrees)))
        difference -= moments.take(self._places(part.degrees[:, None] + degrees))
        torque = 0.5 * difference @ (degrees * basis.confinement[cells - 1])
        return rotation, -point.equation.sign * part.signs * part.roots * torque

    def _part(self, residue: int) -> Part:
        """Return the modes of a class, of all classes but 0, or all."""
        if residue not in self._parts:
            classes = self.degrees % self.symmetry
            inside = (classes == residue) | (classes == self.symmetry - residue)
            if residue == ALL:
                inside = np.ones(self.degrees.size, dtype=bool)
            elif residue == OTHERS:
                inside = classes != 0
            degrees, relative = self.degrees[inside], self.relative[inside]
            signs, roots = np.sign(relative), np.sqrt(np.abs(relative))
            self._parts[residue] = Part(
                degrees,
                relative,
                signs,
                roots,
                np.multiply.outer(signs * roots, signs * roots),
                (int(np.count_nonzero(relative > 0.0)), int(np.count_nonzero(relative < 0.0))),
                self._places(degrees),
                self._places(degrees[:, None] + degrees),
                self._places(np.abs(degrees[:, None] - degrees)),
            )
        return self._parts[residue]

    def _places(self, degrees: Integers) -> Integers:
        """Return where the moments of some degrees are; the place after the last stands for those that vanish."""
        cells = degrees // self.symmetry
        there = (degrees % self.symmetry == 0) & (cells < self.moments)
        return np.where(there, cells, self.moments)

    def _matrix(self, point: Point, parity: Parity, residue: int) -> tuple[Floats, Integers, int]:
        equation = point.equation
        part = self._part(residue)
        if parity == "mixed":
            return self._mixed(point, part)
        moments = np.concatenate((point.moments, ZERO))
        scaled = moments * (-point.q / equation.strongest)
        matrix: Floats = scaled.take(part.difference)
        if parity == "even":
            matrix += scaled.take(part.total)
            if residue in (0, ALL):
                matrix -= np.multiply.outer(2.0 * scaled.take(part.means), moments.take(part.means))
        else:
            matrix -= scaled.take(part.total)
        matrix *= part.weights
        matrix.flat[:: part.degrees.size + 1] += -equation.sign * part.signs
        if parity == "odd" and residue in (0, ALL) and not self.fixed_angle:
            matrix = plus_projector(matrix, part.roots * part.degrees * moments.take(part.means))
        return matrix, part.degrees, part.repulsive[0 if equation.sign > 0 else 1]

    def _mixed(self, point: Point, part: Part) -> tuple[Floats, Integers, int]:
        equation, needed = point.equation, 2 * int(self.degrees[-1]) + 1
        cosine, sine = (_padded(moments, needed) for moments in equation.basis.expand(point.moments))
        signs = np.tile(-equation.sign * part.signs, 2)
        roots = np.tile(np.sqrt(point.q / equation.strongest) * part.roots, 2)
        scaled = signs * roots
        matrix = np.diag(signs) - 2.0 * scaled[:, None] * covariance(part.degrees, cosine, sine) * scaled
        if not self.fixed_angle:
            rotation = np.concatenate([-part.degrees * sine[part.degrees], part.degrees * cosine[part.degrees]])
            matrix = plus_projector(matrix, roots * rotation)
        return matrix, np.tile(part.degrees, 2), int(np.count_nonzero(signs < 0.0))


def _padded(moments: Floats, size: int) -> Floats:
    padded = np.zeros(size)
    count = min(moments.size, size)
    padded[:count] = moments[:count]
    return padded


@functools.lru_cache(maxsize=64)
def _perturbations(equation: StationaryEquation) -> Perturbations:
    problem, basis = equation.problem, equation.basis
    degrees = felt_degrees(problem, int(basis.degrees.max()))
    relative = strengths(problem, int(degrees.max())).relative[degrees]
    return Perturbations(degrees, relative, problem.confinement is not None, basis.symmetry, basis.nodes + 1)


def perturbations(point: Point) -> Perturbations:
    """Return the modes that decide the stability of a point."""
    return _perturbations(point.equation)


def unstable_counts(point: Point, neutral: float = NEUTRAL) -> tuple[int, int]:
    """Return the numbers of unstable even and odd directions; at an uneven state all count as even.

    Within the state's own block the count is that of Newton's factorisation. In the others an eigenvalue must be
    below ``-neutral``: phases between modes can be locked by terms of so high an order that their eigenvalues are
    lost in rounding, and those are neither stable nor unstable.
    """
    modes = perturbations(point)
    if not isinstance(point.equation.basis, CosineBasis):
        return _count(*modes.outside(point, "mixed"), neutral), 0
    if point.equation.basis.symmetry > 1 and modes.degrees.size > DIVIDED:
        return _counts_by_class(point, modes, neutral)
    odd = modes.count_odd(point, ALL, neutral)
    even = point.unstable if neutral == NEUTRAL else max(0, point.unstable - 1)
    if point.equation.basis.symmetry > 1:
        even += _count(*modes.outside(point, "even"), neutral)
    return even, odd


def unstable_halfway(point: Point) -> int:
    """Return the unstable directions of class n/2, which a rotation by 2 pi/n turns into their opposites."""
    symmetry = point.equation.basis.symmetry
    if symmetry % 2:
        return 0
    modes = perturbations(point)
    parities = [block.parity for block in blocks_of(point) if block.residue == symmetry // 2]
    return sum(_count(*modes.block(point, Block(symmetry // 2, parity)), NEUTRAL) for parity in parities)


def _counts_by_class(point: Point, modes: Perturbations, neutral: float) -> tuple[int, int]:
    """Count class by class, cheaper for many modes; cosines and sines agree except in the extreme classes."""
    symmetry = point.equation.basis.symmetry
    shared = 0
    for residue in range(1, (symmetry + 1) // 2):
        shared += _count(*modes.block(point, Block(residue, "even")), neutral)
    even = point.unstable if neutral == NEUTRAL else max(0, point.unstable - 1)
    odd = modes.count_odd(point, 0, neutral)
    if symmetry % 2 == 0:
        even += _count(*modes.block(point, Block(symmetry // 2, "even")), neutral)
        odd += _count(*modes.block(point, Block(symmetry // 2, "odd")), neutral)
    return even + shared, odd + shared


def _count(matrix: Floats, degrees: Integers, repulsive: int, neutral: float) -> int:
    matrix.flat[:: degrees.size + 1] += neutral
    return count_negative(matrix) - repulsive


def blocks_of(point: Point) -> list[Block]:
    """Return all symmetry blocks at a point."""
    symmetry = point.equation.basis.symmetry
    parities: tuple[Parity, ...] = ("even", "odd")
    if not isinstance(point.equation.basis, CosineBasis):
        parities = ("mixed",)
    return [Block(residue, parity) for residue in range(symmetry // 2 + 1) for parity in parities]


def block_matrix(point: Point, block: Block) -> BlockMatrix:
    """Return the symmetric matrix of one block at a point, its degrees and repulsive modes."""
    return BlockMatrix(*perturbations(point).block(point, block))


def copies(point: Point, one: Block, other: Block) -> bool:
    """Whether two blocks are the cosine and the sine copy of one class, with equal eigenvalues."""
    return one.residue == other.residue and 0 < 2 * one.residue < point.equation.basis.symmetry


def rotations(point: Point, block: Block) -> int:
    """Return how many rotations of a state, which the matrices move to one, are in a block."""
    modes = perturbations(point)
    if block.parity == "even" or block.residue != 0 or modes.fixed_angle:
        return 0
    return int(np.any(point.moments[1:]))
