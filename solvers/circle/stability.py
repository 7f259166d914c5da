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
import importlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np

from meanfield import Equation

from ..bases import Floats, Integers, covariance
from ..branches.continuation import Point
from ..equations.counts import Counts
from ..equations.equation import StationaryEquation
from ..equations.geometry import BlockMatrix
from ..equations.significant import significant_degrees, strengths
from ..execution.compiling import matrices_compiled
from ..linear_algebra.inertia import diagonals, signature
from ..linear_algebra.pinning import count_beside_rotation, is_weak
from ..linear_algebra.projectors import add_projectors, plus_projector
from ..linear_algebra.weak import Partition, strong_modes
from ..root_finding.newton import NEUTRAL, neutral_at
from .moments import padded
from .products import block_products
from .tables import Parity, Part, States, Tables, places, places_of_pairs, states_of

# With more modes than this the blocks of a rotation symmetry are counted one by one.
DIVIDED = 64
# Points that are counted at once, at most, since calling numpy costs more than small matrices, and their numbers.
TOGETHER, NUMBERS_AT_ONCE = 32, 2**16
# Numbers of rows of tables are multiples of this.
ROWS_AT_ONCE = 64
# Parts of the modes: all of them, and all that are not multiples of the symmetry.
ALL, OTHERS = -1, -2


@dataclass(frozen=True)
class Block:
    """One symmetry block: its class j, parity and the part of the modes it acts on."""

    residue: int
    parity: Parity

    @property
    def own(self) -> bool:
        """Whether the block has the symmetry of the branch itself, so that folds are zeros of its eigenvalues."""
        return self.residue == 0 and self.parity != "odd"

    @property
    def multiplicity(self) -> int:
        """Number of copies, 1, since cosine and sine copies of a class are two blocks."""
        return 1

    def words(self, symmetry: int) -> str:
        """Return the name of the block at a state of a symmetry."""
        kinds = {"even": "cosine", "odd": "sine", "mixed": "cosine and sine"}
        return f"{kinds[self.parity]} modes of class {self.residue} modulo {symmetry}"


@dataclass(frozen=True, eq=False)
class Perturbations:
    """All significant modes up to a degree, for states of a symmetry and a number of moments."""

    degrees: Integers
    relative: Floats
    fixed_angle: bool
    symmetry: int
    moments: int
    _parts: dict[int, Part] = field(default_factory=dict)
    _tabled: dict[int, Tables] = field(default_factory=dict)
    _fixed: dict[tuple[Parity, int, int], tuple[Any, ...]] = field(default_factory=dict)

    def block(self, point: Point, block: Block) -> tuple[Floats, Integers, int]:
        """Return the symmetric matrix of a block, its degrees and its number of repulsive modes."""
        part = self._part(block.residue)
        own = own_block(point) if block.own else None
        if own is not None:
            return own
        if block.parity == "mixed":
            return self._mixed(point, part)
        matrix = self.matrices(_alone(point), block.parity, block.residue)[0]
        return matrix, part.degrees, self._repulsive(point, part)

    def count_mixed(self, point: Point, neutral: float) -> tuple[int, dict[Hashable, float]]:
        """Return the number of unstable directions of an uneven state among all modes, and determinants."""
        own = own_block(point)
        blocks = [self._mixed(point, self._part(ALL if own is None else OTHERS))] + ([] if own is None else [own])
        counts, determinants = zip(*(_count(*block, neutral) for block in blocks), strict=True)
        return sum(counts), dict(enumerate(determinants))

    def count_even(self, states: States, neutral: float) -> tuple[Integers, Floats]:
        """Return the counts among the cosines that are not in the block of the states, as :meth:`counts`."""
        return self.counts(states, "even", OTHERS, neutral)

    def count_odd(self, states: States, residue: int, neutral: float) -> tuple[Integers, Floats]:
        """Return the counts among the sines of class 0 or of all classes, as :meth:`counts`."""
        if self.fixed_angle:
            pairs = (self._count_pinned(point, residue, neutral) for point in states.points)
            counts, determinants = zip(*pairs, strict=True)
            return np.array(counts), np.array(determinants)
        return self.counts(states, "odd", residue, neutral)

    def counts(self, states: States, parity: Parity, residue: int, neutral: float) -> tuple[Integers, Floats]:
        """Return the numbers of unstable directions among cosines or sines of a part, and determinants.

        The determinants are those of the matrices, nan where these are not factorised.
        """
        first = states.points[0]
        part = self._part(residue)
        repulsive = self._repulsive(first, part)
        partition = self._partition(states, parity, residue, neutral) if len(states.points) == 1 else None
        if partition is not None:
            rotates = self._rotates(parity, residue)
            products = partial(block_products, part, first, parity, residue, neutral, rotates=rotates)
            proved = partition.negative(products)
            if proved is not None:
                return np.array([proved - repulsive]), np.array([np.nan])
        compiled = self._compiled(states, parity, residue)
        known = None if compiled is None else compiled.signatures(neutral)
        if known is not None:
            return known[0] - repulsive, known[1]
        matrices = self.matrices(states, parity, residue)
        diagonals(matrices)[:] += neutral
        found: list[int] = []
        determinants: list[float] = []
        for matrix in matrices:
            # Where nothing is negative, as at the point before, Cholesky's factorisation shows it faster.
            negative, determinant = signature(matrix, definite=found[-1:] == [0])
            found.append(negative)
            determinants.append(determinant)
        return np.array(found) - repulsive, np.array(determinants)

    def _compiled(self, states: States, parity: Parity, residue: int) -> Any:
        """Return what compiled code makes and factorises the matrices from, None if it does not."""
        equation, part = states.points[0].equation, self._part(residue)
        size = part.degrees.size
        if type(equation) is not StationaryEquation or self.fixed_angle or not matrices_compiled(size):
            return None
        key = parity, residue, equation.sign
        if key not in self._fixed:
            tables = self._tables(residue, size)
            self._fixed[key] = (
                tables.weights,
                tables.total.reshape(-1),
                tables.difference.reshape(-1),
                tables.total.ndim == 1,
                -equation.sign * part.signs,
                part.means,
                1.0 if parity == "even" else -1.0,
                self._centred(parity, residue),
                part.turning if self._rotates(parity, residue) else part.turning[:0],
            )
        return _entries()(states.moments, states.responses, states.factors, *self._fixed[key])

    def _partition(self, state: States, parity: Parity, residue: int, neutral: float) -> Partition | None:
        """Return the matrix of a part plus ``neutral``, partitioned into strong and weak modes, or None if few."""
        (point,) = state.points
        part, equation = self._part(residue), point.equation
        factor = 2.0 * point.q / equation.strongest
        strong = None if equation.basis.needs_second_rule else strong_modes(part.roots, factor, point.moments)
        if strong is None:
            return None
        count, below = strong
        rows = self.matrices(state, parity, residue, count)
        diagonals(rows)[:] += neutral
        above = neutral
        if self._rotates(parity, residue):
            squares = (part.turning * np.append(point.moments, 0.0).take(part.means)) ** 2
            above += float(squares[count:].sum() / max(squares.sum(), np.finfo(float).tiny))
        signs = -equation.sign * part.signs[count:]
        return Partition(rows[0, :, :count], rows[0, :, count:], signs, below, above)

    def _rotates(self, parity: Parity, residue: int) -> bool:
        """Return whether the rotation mode is in a part and its eigenvalue is moved to one."""
        return parity == "odd" and residue in (0, ALL) and not self.fixed_angle

    def _centred(self, parity: Parity, residue: int) -> bool:
        """Return whether modes of a part have means, whose products are subtracted."""
        return parity == "even" and residue in (0, ALL)

    def _count_pinned(self, point: Point, residue: int, neutral: float) -> tuple[int, float]:
        matrix, degrees, repulsive = self.block(point, Block(residue, "odd"))
        part = self._part(residue)
        rotation = part.turning * np.append(point.moments, 0.0).take(part.means)
        pulls = self._pulls(point, part)
        if is_weak(rotation, np.abs(pulls).sum(axis=1)):
            return count_beside_rotation(matrix, rotation, pulls.sum(axis=1), neutral) - repulsive, np.nan
        return _count(matrix, degrees, repulsive, neutral)

    def _pulls(self, point: Point, part: Part) -> Floats:
        r"""Return the terms of the torque on the modes of a part by degrees of the confinement, (size, degrees).

        Their sums are :math:`S r = \sigma A \langle V' \sin k\rangle/D` of the rotation mode
        :math:`r_k = A_k k m_k`, by :math:`\rho' = f'\rho` integrated against sin k.
        """
        moments, basis = np.append(point.moments, 0.0), point.equation.basis
        assert basis.confinement is not None
        cells = np.flatnonzero(basis.confinement) + 1
        degrees = basis.symmetry * cells
        difference = moments.take(self._places(np.abs(part.degrees[:, None] - degrees)))
        difference -= moments.take(self._places(part.degrees[:, None] + degrees))
        own = -0.5 * point.equation.sign * part.signs * part.roots
        return np.asarray(own[:, None] * difference * (degrees * basis.confinement[cells - 1]))

    def _part(self, residue: int) -> Part:
        """Return the modes of a class, of all classes except 0, or of all classes."""
        if residue not in self._parts:
            classes = self.degrees % self.symmetry
            inside = (classes == residue) | (classes == self.symmetry - residue)
            if residue == ALL:
                inside = np.ones(self.degrees.size, dtype=bool)
            elif residue == OTHERS:
                inside = classes != 0
            degrees, relative = self.degrees[inside], self.relative[inside]
            roots = np.sqrt(np.abs(relative))
            self._parts[residue] = Part(
                degrees,
                np.sign(relative),
                roots,
                roots * degrees,
                (int(np.count_nonzero(relative > 0.0)), int(np.count_nonzero(relative < 0.0))),
                self._places(degrees),
            )
        return self._parts[residue]

    def _tables(self, residue: int, count: int) -> Tables:
        """Return the tables of a part with ``count`` rows; some more are cached for the next call."""
        known = self._tabled.get(residue)
        if known is None or len(known.weights) < count:
            part = self._part(residue)
            degrees, scaled = part.degrees, part.signs * part.roots
            first = slice(min(degrees.size, ROWS_AT_ONCE * -(-count // ROWS_AT_ONCE)))
            weights = np.multiply.outer(scaled[first], scaled)
            spacings = np.diff(degrees)
            if spacings.size and (spacings == spacings[0]).all():
                spaced = degrees.item(0), spacings.item(0), degrees.size
                total, difference = places_of_pairs(*spaced, self.symmetry, self.moments)
            else:
                by_degree = self._places(np.arange(2 * int(degrees.max(initial=0)) + 1))
                pairs = (operation.outer(degrees[first], degrees) for operation in (np.add, np.subtract))
                total, difference = (by_degree.take(np.abs(each)) for each in pairs)
            known = self._tabled[residue] = Tables(weights, total, difference)
        if len(known.weights) == count:
            return known
        if known.total.ndim == 1:
            return Tables(known.weights[:count], known.total, known.difference)
        return Tables(known.weights[:count], known.total[:count], known.difference[:count])

    def _places(self, degrees: Integers) -> Integers:
        return places(degrees, self.symmetry, self.moments)

    def _repulsive(self, point: Point, part: Part) -> int:
        return part.repulsive[0 if point.equation.sign > 0 else 1]

    def matrices(self, states: States, parity: Parity, residue: int, count: int | None = None) -> Floats:
        """Return the matrices of cosines or sines of a part at some states, or their first rows.

        The shape is (states, count, size), without a count (states, size, size).
        """
        equation, part = states.points[0].equation, self._part(residue)
        compiled = self._compiled(states, parity, residue) if count is None else None
        if compiled is not None:
            made: Floats = compiled.matrices()
            return made
        tables = self._tables(residue, part.degrees.size if count is None else count)
        scaled = states.responses * states.factors[:, None]
        total, difference = tables.pairs(scaled)
        combined = np.add if parity == "even" else np.subtract
        matrices: Floats = combined(difference, total, out=np.empty(total.shape))
        if self._centred(parity, residue):
            means = states.moments.take(part.means, axis=1)
            matrices -= 2.0 * scaled.take(part.means[:count], axis=1)[:, :, None] * means[:, None]
        matrices *= tables.weights
        diagonals(matrices)[:] -= equation.sign * part.signs[:count]
        if self._rotates(parity, residue):
            add_projectors(matrices, part.turning * states.moments.take(part.means, axis=1))
        return matrices

    def _mixed(self, point: Point, part: Part) -> tuple[Floats, Integers, int]:
        equation, needed = point.equation, 2 * int(self.degrees[-1]) + 1
        cosine, sine = (padded(moments, needed) for moments in point.by_degree)
        response = [padded(moments, needed) for moments in equation.basis.expand(point.response)]
        signs = np.tile(-equation.sign * part.signs, 2)
        roots = np.tile(np.sqrt(point.q / equation.strongest) * part.roots, 2)
        scaled = signs * roots
        matrix = np.diag(signs) - 2.0 * scaled[:, None] * covariance(part.degrees, *response) * scaled
        if not self.fixed_angle:
            rotation = np.concatenate([-part.degrees * sine[part.degrees], part.degrees * cosine[part.degrees]])
            matrix = plus_projector(matrix, roots * rotation)
        return matrix, np.tile(part.degrees, 2), int(np.count_nonzero(signs < 0.0))


def own_block(point: Point) -> tuple[Floats, Integers, int] | None:
    """Return the matrix of the block of a point's own symmetry, its degrees and its number of repulsive modes.

    None if the matrices of the other blocks serve for it as well.
    """
    equation = point.equation
    matrix = equation.own_block(point.b, point.q, point.moments)
    return None if matrix is None else (matrix, equation.basis.degrees, equation.repulsive)


@functools.cache
def _entries() -> Any:
    """Return the class of what compiled code makes matrices from; its module loads numba."""
    return importlib.import_module(".compiled_stability", __package__).Entries


# The blocks of a point are asked for one after the other.
@functools.lru_cache(maxsize=2)
def _alone(point: Point) -> States:
    return states_of([point])


@functools.lru_cache(maxsize=64)
def _perturbations(equation: StationaryEquation) -> Perturbations:
    basis = equation.basis
    return _shared(equation.problem, int(basis.degrees.max()), basis.symmetry, basis.nodes + 1)


@functools.lru_cache(maxsize=32)
def _shared(problem: Equation, degree: int, symmetry: int, moments: int) -> Perturbations:
    """Return the cached modes of a problem, whose tables all branches of a symmetry share."""
    degrees = significant_degrees(problem, degree)
    relative = strengths(problem, int(degrees.max())).relative[degrees]
    return Perturbations(degrees, relative, problem.confinement is not None, symmetry, moments)


def perturbations(point: Point) -> Perturbations:
    """Return the modes that decide the stability of a point."""
    return _perturbations(point.equation)


def unstable_counts(point: Point, neutral: float = NEUTRAL) -> Counts:
    """Return the numbers of unstable even and odd directions at an even state.

    Within the state's own block the count is that of Newton's factorisation. In the others an eigenvalue must be
    below ``-neutral``, or rounding: phases between modes can be locked by terms of so high an order that their
    eigenvalues are lost in it, and those are neither stable nor unstable.
    """
    return _counts([point], neutral)[0]


def unstable_along(points: Sequence[Point]) -> list[Counts]:
    """Return the results of :func:`unstable_counts` at points of a branch."""
    counts: list[Counts] = []
    for _, group in groupby(points, attrgetter("equation")):
        alike = list(group)
        together = counted_together(alike[0])
        for start in range(0, len(alike), together):
            part = alike[start : start + together]
            counts += [unstable_counts(part[0])] if len(part) == 1 else _counts(part, NEUTRAL)
    return counts


def counted_together(point: Point) -> int:
    """Return how many points of the branch of a point are counted at once most cheaply."""
    modes = perturbations(point)
    largest = 2 * modes.degrees.size // modes.symmetry if _divided(modes) else modes.degrees.size
    return max(1, min(TOGETHER, NUMBERS_AT_ONCE // max(largest, 1) ** 2))


def _divided(modes: Perturbations) -> bool:
    """Return whether classes are counted one by one, which is cheaper for many modes."""
    return modes.symmetry > 1 and modes.degrees.size > DIVIDED


def _counts(points: Sequence[Point], neutral: float) -> list[Counts]:
    """Return the numbers of unstable even and odd directions at even states of one equation, counted at once."""
    modes, states = perturbations(points[0]), states_of(points)
    even = np.array([point.solution.negative for point in points]) - points[0].equation.repulsive
    if neutral != NEUTRAL:
        # A neutral direction may be among them.
        even = np.maximum(even - 1, 0)
    neutral = neutral_at(max(point.q for point in points), neutral)
    determinants: dict[Hashable, Floats] = {}
    if _divided(modes):
        odd, determinants["odd", 0] = modes.count_odd(states, 0, neutral)
        for residue in range(1, modes.symmetry // 2 + 1):
            shared, determinants["even", residue] = modes.counts(states, "even", residue, neutral)
            even += shared
            if 2 * residue == modes.symmetry:
                shared, determinants["odd", residue] = modes.counts(states, "odd", residue, neutral)
            # Cosines and sines agree except in the extreme classes.
            odd += shared
    else:
        odd, determinants["odd", ALL] = modes.count_odd(states, ALL, neutral)
        if modes.symmetry > 1:
            others, determinants["even", OTHERS] = modes.count_even(states, neutral)
            even += others
    rows = zip(*(values.tolist() for values in determinants.values()), strict=True)
    return [
        Counts(along, across, dict(zip(determinants, row, strict=True)))
        for along, across, row in zip(even.tolist(), odd.tolist(), rows, strict=True)
    ]


def unstable_halfway(point: Point) -> int:
    """Return the number of unstable directions of class n/2, which rotation by 2 pi/n maps to their negatives."""
    symmetry = point.equation.basis.symmetry
    if symmetry % 2:
        return 0
    blocks = [block for block in point.equation.densities.blocks_of(point) if isinstance(block, Block)]
    half = [block for block in blocks if block.residue == symmetry // 2]
    return sum(_count(*perturbations(point).block(point, block), neutral_at(point.q))[0] for block in half)


def _count(matrix: Floats, degrees: Integers, repulsive: int, neutral: float) -> tuple[int, float]:
    """Return the number of unstable directions in a block, and the determinant of its matrix."""
    matrix.flat[:: degrees.size + 1] += neutral
    negative, determinant = signature(matrix)
    return negative - repulsive, determinant


def blocks_of(point: Point) -> list[Block]:
    """Return all symmetry blocks at an even state."""
    parities: tuple[Parity, ...] = ("even", "odd")
    return [Block(residue, parity) for residue in classes_of(point) for parity in parities]


def classes_of(point: Point) -> range:
    """Return the classes of degrees at a point, each with its opposite."""
    return range(point.equation.basis.symmetry // 2 + 1)


def block_matrix(point: Point, block: Block) -> BlockMatrix:
    """Return the symmetric matrix of one block at a point, its degrees and repulsive modes."""
    return BlockMatrix(*perturbations(point).block(point, block))


def copies(point: Point, one: Block, other: Block) -> bool:
    """Return whether two blocks are the cosine and the sine copy of one class, with equal eigenvalues."""
    return one.residue == other.residue and 0 < 2 * one.residue < point.equation.basis.symmetry


def rotations(point: Point, block: Block) -> int:
    """Return the number of rotation modes of a state, whose eigenvalues are moved to one, in a block."""
    modes = perturbations(point)
    if block.parity == "even" or block.residue != 0 or modes.fixed_angle:
        return 0
    return int(np.any(point.moments[1:]))
