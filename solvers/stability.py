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
from dataclasses import dataclass
from typing import Literal

import numpy as np

from meanfield import McKeanVlasov

from .bases import CosineBasis, Floats, Integers, covariance
from .continuation import Point
from .equation import felt_cells, projector, starting_cells
from .newton import count_negative

# Eigenvalues closer to zero than this are rounding noise.
NEUTRAL = 2e-13

Parity = Literal["even", "odd", "mixed"]


@dataclass(frozen=True)
class Block:
    """One symmetry block: its class j, parity and the part of the modes it acts on."""

    residue: int
    parity: Parity


@dataclass(frozen=True, eq=False)
class Perturbations:
    """All modes the potential feels up to a degree, with the index tables of their covariances."""

    degrees: Integers
    relative: Floats
    fixed_angle: bool

    def strengths(self, point: Point) -> Floats:
        """Return lambda_k at a point."""
        equation = point.equation
        return point.q * (-equation.sign / equation.strongest) * self.relative

    def moments(self, point: Point) -> tuple[Floats, Floats]:
        """Return cosine and sine moments of degree 0 to twice the largest mode."""
        cosine, sine = point.equation.basis.expand(point.moments)
        largest = 2 * int(self.degrees[-1])
        return _padded(cosine, largest), _padded(sine, largest)

    def block(self, point: Point, block: Block) -> tuple[Floats, Integers, int]:
        """Return the symmetric matrix of a block, its degrees and its number of repulsive modes."""
        symmetry = point.equation.basis.symmetry
        residue = self.degrees % symmetry
        inside = (residue == block.residue) | (residue == symmetry - block.residue)
        return self._matrix(point, block.parity, inside)

    def outside(self, point: Point, parity: Parity) -> tuple[Floats, Integers, int]:
        """Return the matrix of all modes of one parity that are not already in the state's own block."""
        own = parity == "even"
        return self._matrix(point, parity, (self.degrees % point.equation.basis.symmetry != 0) | (not own))

    def _matrix(self, point: Point, parity: Parity, inside: np.ndarray) -> tuple[Floats, Integers, int]:
        degrees, strengths = self.degrees[inside], self.strengths(point)[inside]
        cosine, sine = self.moments(point)
        if parity == "mixed":
            covariance, generator = _mixed(degrees, cosine, sine)
            degrees, strengths = np.concatenate([degrees, degrees]), np.concatenate([strengths, strengths])
        else:
            covariance, generator = _pure(degrees, cosine, parity)
        signs, scales = np.sign(strengths), np.sqrt(np.abs(strengths))
        signed = signs * scales
        matrix = np.diag(signs) - 2.0 * signed[:, None] * covariance * signed
        if generator is not None and not self.fixed_angle:
            matrix += projector(scales * generator)
        return matrix, degrees, int(np.count_nonzero(signs < 0))


def _pure(degrees: Integers, cosine: Floats, parity: Parity) -> tuple[Floats, Floats | None]:
    plus = cosine[degrees[:, None] + degrees]
    minus = cosine[np.abs(degrees[:, None] - degrees)]
    means = cosine[degrees]
    if parity == "even":
        return 0.5 * (minus + plus) - means[:, None] * means, None
    return 0.5 * (minus - plus), degrees * means


def _mixed(degrees: Integers, cosine: Floats, sine: Floats) -> tuple[Floats, Floats]:
    generator = np.concatenate([-degrees * sine[degrees], degrees * cosine[degrees]])
    return covariance(degrees, cosine, sine), generator


def _padded(moments: Floats, degree: int) -> Floats:
    padded = np.zeros(degree + 1)
    count = min(moments.size, degree + 1)
    padded[:count] = moments[:count]
    return padded


@functools.lru_cache(maxsize=64)
def _perturbations(problem: McKeanVlasov, limit: int) -> Perturbations:
    degrees, _ = felt_cells(problem, 1, limit)
    relative = problem.potential.relative_multipliers(problem.domain, limit)[degrees]
    return Perturbations(degrees, relative, problem.confinement is not None)


@functools.lru_cache(maxsize=64)
def _felt_limit(problem: McKeanVlasov) -> int:
    """Return the last degree the potential feels, or 1 where the multipliers decay too slowly for one."""
    cells, complete = starting_cells(problem, 1)
    return int(cells.max()) if complete else 1


def perturbations(point: Point) -> Perturbations:
    """Return the modes that decide the stability of a point."""
    problem = point.equation.problem
    return _perturbations(problem, max(int(point.equation.basis.degrees.max()), _felt_limit(problem)))


def unstable_counts(point: Point, neutral: float = NEUTRAL) -> tuple[int, int]:
    """Return the numbers of unstable even and odd directions; at an uneven state all count as even.

    Within the state's own block the count is that of Newton's factorisation. In the others an eigenvalue must be
    below ``-neutral``: phases between modes can be locked by terms of so high an order that their eigenvalues are
    lost in rounding, and those are neither stable nor unstable.
    """
    modes = perturbations(point)
    if not isinstance(point.equation.basis, CosineBasis):
        return _count(*modes.outside(point, "mixed"), neutral), 0
    odd = _count(*modes.outside(point, "odd"), neutral)
    even = point.unstable if neutral == NEUTRAL else max(0, point.unstable - 1)
    if point.equation.basis.symmetry > 1:
        even += _count(*modes.outside(point, "even"), neutral)
    return even, odd


def _count(matrix: Floats, degrees: Integers, repulsive: int, neutral: float) -> int:
    matrix.flat[:: degrees.size + 1] += neutral
    return count_negative(matrix) - repulsive


def nearly_neutral(point: Point) -> int:
    """Count the eigenvalues, over all blocks, that are within rounding of zero."""
    total = 0
    for block in blocks_of(point):
        matrix, _, _ = block_matrix(point, block)
        total += int(np.count_nonzero(np.abs(np.linalg.eigvalsh(matrix)) < 1e3 * NEUTRAL))
    return total


def blocks_of(point: Point) -> list[Block]:
    """Return all symmetry blocks at a point."""
    symmetry = point.equation.basis.symmetry
    parities: tuple[Parity, ...] = ("even", "odd")
    if not isinstance(point.equation.basis, CosineBasis):
        parities = ("mixed",)
    return [Block(residue, parity) for residue in range(symmetry // 2 + 1) for parity in parities]


def block_matrix(point: Point, block: Block) -> tuple[Floats, Integers, int]:
    """Return the symmetric matrix of one block at a point, its degrees and repulsive modes."""
    return perturbations(point).block(point, block)
