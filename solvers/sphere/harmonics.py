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
from ..equation import StationaryEquation, felt_degrees, plus_projector
from ..geometry import BlockMatrix
from ..newton import NEUTRAL, count_negative

# Signs of x, y and z.
Signs = tuple[int, int, int]
Reflections = tuple[Signs, ...]


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
        self.basis: FullBasis = FullBasis(degrees, max(basis.nodes, 2 * int(degrees.max())), basis.confinement)
        relative = problem.potential.relative_multipliers(problem.domain, int(degrees.max()))[self.basis.degrees]
        self.signs: Floats = np.sign(relative)
        self.roots: Floats = np.sqrt(np.abs(relative))
        self.weights: Floats = np.multiply.outer(self.signs * self.roots, self.signs * self.roots)
        self.classes: list[HarmonicClass] = classes_of(reflections_of(basis.group), basis.group.turns, degrees)

    def matrix(self, point: Point) -> Floats:
        """Return the matrix of all harmonics at a point, rotations moved to one."""
        equation = point.equation
        moments = self.basis.moments_from(*equation.basis.expand(point.moments))
        matrix: Floats = self.basis.covariance(moments)
        matrix *= self.weights * (-equation.doubled * point.q / equation.strongest)
        matrix.flat[:: self.signs.size + 1] += -equation.sign * self.signs
        generators = self.basis.rotation(moments)
        if generators is not None:
            matrix = plus_projector(matrix, self.roots[:, None] * generators)
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


def classes_of(reflections: Reflections, turns: int, degrees: Integers) -> list[HarmonicClass]:
    """Return the classes of the harmonics of some degrees, ordered cosines 0..l, then sines 1..l in each degree.

    Parameters
    ----------
    reflections
        The group of reflections of coordinates that leave the state as it is, a sign for each of x, y and z.
    turns
        Largest n such that the rotation by 2 pi/n about the z axis leaves it as it is.
    degrees
        The degrees.
    """
    degree, order, sine = listed(degrees)
    signs = [signs_under(reflection, degree, order, sine).tolist() for reflection in reflections]
    residues = np.minimum(order % turns, -order % turns).tolist()
    found: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for place, label in enumerate(zip(zip(*signs, strict=True), residues, strict=True)):
        found.setdefault(label, []).append(place)
    return [
        HarmonicClass(signs, residue, all(sign > 0 for sign in signs) and residue == 0, tuple(places))
        for (signs, residue), places in found.items()
    ]


def reflections_of(group: Group) -> Reflections:
    """Return the reflections of coordinates in a group, the identity among them."""
    diagonals = [np.diag(element) for element in group.elements]
    return tuple(
        (round(x), round(y), round(z)) for x, y, z in diagonals if min(abs(x), abs(y), abs(z)) > 1.0 - 1e-9
    )


def listed(degrees: Integers) -> tuple[Integers, Integers, Integers]:
    """Return degree, order and whether it is a sine of the harmonics of some degrees, in order."""
    harmonics = [
        (degree, order, sine) for degree in degrees.tolist() for sine in (0, 1) for order in range(sine, degree + 1)
    ]
    degree, order, sine = np.array(harmonics).T
    return degree, order, sine


def signs_under(reflection: Signs, degree: Integers, order: Integers, sine: Integers) -> Integers:
    """Return the signs of harmonics under a reflection of coordinates.

    z -> -z gives (-1)^(l + m); y -> -y changes the sines; x -> -x gives (-1)^m on cosines, -(-1)^m on sines.
    """
    x, y, z = (side < 0 for side in reflection)
    return np.asarray(1 - 2 * ((z * (degree + order) + y * sine + x * (order + sine)) % 2))


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
