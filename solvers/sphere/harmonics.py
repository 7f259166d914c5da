r"""Unstable directions of a state on S^2 that is not axisymmetric, among all harmonics.

The matrix of the stationary equation on all the harmonics that the potential feels,

.. math:: S = \sigma - 2 A\sigma\,\mathrm{Cov}\,\sigma A ,

splits into classes: harmonics with the same signs under the reflections of coordinates that leave the state as it
is, and of the same order modulo the rotations about the z axis that do. The three rotations are zero modes of it,
known from the state, and are moved to one.
"""

import functools
from dataclasses import dataclass, field

import numpy as np

from ..bases import Floats, Integers
from ..bases.invariant import FullBasis, InvariantBasis
from ..bases.representations import Group
from ..branches.continuation import Point
from ..equation import StationaryEquation, felt_degrees, projector
from ..geometry import BlockMatrix
from ..newton import NEUTRAL, count_negative


@dataclass(frozen=True)
class HarmonicClass:
    """A class of harmonics that the linearisation keeps.

    Attributes
    ----------
    signs : tuple of int
        Signs under the reflections of coordinates in the group of the state.
    residue : int
        Order m modulo the rotations about the z axis, up to its sign.
    own : bool
        Whether it contains the modes of the branch itself, where folds show.
    """

    signs: tuple[int, ...]
    residue: int
    own: bool
    places: tuple[int, ...] = field(compare=False, repr=False)

    @property
    def multiplicity(self) -> int:
        """Every class counts once."""
        return 1

    def words(self, symmetry: int) -> str:
        """Return the class in words."""
        return "harmonics of the symmetry of the branch" if self.own else "harmonics that break its symmetry"


class HarmonicPerturbations:
    """All harmonics that the potential feels, seen from states of a group."""

    def __init__(self, equation: StationaryEquation) -> None:
        basis, problem = equation.basis, equation.problem
        assert isinstance(basis, InvariantBasis)
        degrees = felt_degrees(problem, int(basis.degrees.max()))
        self.basis = FullBasis(degrees, max(basis.nodes, 2 * int(degrees.max())), basis.confinement)
        relative = problem.potential.relative_multipliers(problem.domain, int(degrees.max()))[self.basis.degrees]
        self.signs, self.roots = np.sign(relative), np.sqrt(np.abs(relative))
        self.weights = np.multiply.outer(self.signs * self.roots, self.signs * self.roots)
        self.classes = classes_of(basis.group, degrees)

    def matrix(self, point: Point) -> Floats:
        """Return the matrix of all harmonics at a point, rotations moved to one."""
        equation = point.equation
        moments = self.basis.moments_from(*equation.basis.expand(point.moments))
        matrix: Floats = self.basis.covariance(moments)
        matrix *= self.weights * (-equation.doubled * point.q / equation.strongest)
        matrix.flat[:: self.signs.size + 1] += -equation.sign * self.signs
        generators = self.basis.rotation(moments)
        if generators is not None:
            matrix += projector(self.roots[:, None] * generators)
        return matrix

    def block(self, matrix: Floats, sign: int, block: HarmonicClass) -> BlockMatrix:
        """Return the part of the matrix on a class."""
        places = np.array(block.places)
        repulsive = int(np.count_nonzero(sign * self.signs[places] > 0.0))
        return BlockMatrix(matrix[np.ix_(places, places)], self.basis.degrees[places], repulsive)


@functools.lru_cache(maxsize=16)
def harmonic_perturbations(equation: StationaryEquation) -> HarmonicPerturbations:
    """Return the harmonics that decide the stability of the states of an equation."""
    return HarmonicPerturbations(equation)


def classes_of(group: Group, degrees: Integers) -> list[HarmonicClass]:
    """Return the classes of the harmonics of some degrees, ordered cosines 0..l, then sines 1..l in each degree."""
    reflections = [np.diag(g) for g in group.elements if np.abs(np.abs(np.diag(g)) - 1.0).max() < 1e-9]
    turns = group.turns
    found: dict[tuple[tuple[int, ...], int], list[int]] = {}
    harmonics = [
        (degree, order, sine) for degree in degrees.tolist() for sine in (0, 1) for order in range(sine, degree + 1)
    ]
    for place, (degree, order, sine) in enumerate(harmonics):
        signs = tuple(_sign(degree, order, sine, reflection) for reflection in reflections)
        found.setdefault((signs, min(order % turns, -order % turns)), []).append(place)
    return [
        HarmonicClass(signs, residue, all(sign > 0 for sign in signs) and residue == 0, tuple(places))
        for (signs, residue), places in found.items()
    ]


def _sign(degree: int, order: int, sine: int, reflection: Floats) -> int:
    """Return the sign of a harmonic under a reflection of coordinates.

    z -> -z gives (-1)^(l + m); y -> -y changes the sines; x -> -x gives (-1)^m on cosines, -(-1)^m on sines.
    """
    sign = 1
    if reflection[2] < 0.0:
        sign *= (-1) ** (degree + order)
    if reflection[1] < 0.0:
        sign *= (-1) ** sine
    if reflection[0] < 0.0:
        sign *= (-1) ** (order + sine)
    return sign


def unstable_counts(point: Point, neutral: float = NEUTRAL) -> tuple[int, int]:
    """Return the numbers of unstable directions in the class of the branch itself, and in all others."""
    modes = harmonic_perturbations(point.equation)
    matrix = modes.matrix(point)
    matrix.flat[:: matrix.shape[0] + 1] += neutral
    counts = {True: 0, False: 0}
    for block in modes.classes:
        inside, _, repulsive = modes.block(matrix, point.equation.sign, block)
        counts[block.own] += count_negative(inside) - repulsive
    return counts[True], counts[False]


def block_matrix(point: Point, block: HarmonicClass) -> BlockMatrix:
    """Return the matrix of one class at a point."""
    modes = harmonic_perturbations(point.equation)
    return modes.block(modes.matrix(point), point.equation.sign, block)
