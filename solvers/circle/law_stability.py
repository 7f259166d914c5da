"""Unstable directions and symmetry blocks of even states of laws that have no Gibbs map.

Unstable directions are counted by the eigenvalues of the linearised equation. Branch points are where one
vanishes, and there :math:`1 - T`, see :mod:`.axial_linearisation`, is singular, which has fewer rows and entries of
order one: its eigenvalues locate them. Without a symmetry of T, that as many of them are negative as there are
unstable directions is no theorem.
"""

import functools

import numpy as np

from ..bases import Floats
from ..branches.continuation import Point
from ..equations.counts import Counts
from ..equations.equation import StationaryEquation
from ..equations.geometry import BlockMatrix, GrowthMatrix, UnsymmetricMatrix
from ..equations.law_eigenvalues import COUNTED, RESOLVED, Signs, counting_degree, signs_in
from ..equations.significant import significant_degrees, strengths
from ..linear_algebra.projectors import plus_projector
from ..root_finding.newton import NEUTRAL
from .axial_linearisation import AxialLinearisation
from .linearisation import last_degree
from .stability import Block, classes_of


def unstable_counts(point: Point, neutral: float = NEUTRAL) -> Counts:
    """Return the numbers of unstable even and odd directions: growing eigenvalues of the linearised equation.

    Those up to ``neutral`` of the noise, or within rounding of zero, do not count.
    """
    cosines, sines = _signs(point, neutral)
    return Counts(sum(signs.growing for signs in cosines), sum(signs.growing for signs in sines))


def is_counted(point: Point) -> bool:
    """Return whether no eigenvalue but those of rotation is within rounding of zero."""
    return not any(signs.neutral for kind in _signs(point, NEUTRAL) for signs in kind)


def growth_matrices(point: Point, degree: int | None = None) -> list[GrowthMatrix]:
    """Return the linearised equation by classes of degrees, cosines before sines, which may grow alike."""
    about, found = _counting(point) if degree is None else _linearisation(point, degree), []
    for residue in classes_of(point):
        alike = _alike(about, residue)
        found.append(GrowthMatrix(functools.partial(about.of_class, residue, False), 1 + alike, about.degree))
        if not alike:
            found.append(GrowthMatrix(functools.partial(about.of_class, residue, True), 1, about.degree))
    return found


@functools.lru_cache(maxsize=COUNTED)
def _signs(point: Point, neutral: float) -> tuple[tuple[Signs, ...], tuple[Signs, ...]]:
    """Return the signs of growth rates in the classes of cosines and of sines."""
    least = neutral * point.equation.problem.positive_noise
    about, classes = _counting(point), classes_of(point)
    cosines = [signs_in(about.of_class(residue, False), least) for residue in classes]
    sines = [
        signs if _alike(about, residue) else signs_in(about.of_class(residue, True), least)
        for residue, signs in zip(classes, cosines, strict=True)
    ]
    return tuple(cosines), tuple(sines)


def _counting(point: Point) -> AxialLinearisation:
    """Return the linearised equation at a point with the degrees for counts."""
    return _linearisation(
        point, counting_degree(point.equation.basis.symmetry * last_degree(point.moments, RESOLVED))
    )


def _alike(about: AxialLinearisation, residue: int) -> bool:
    """Return whether sines of a class grow like its cosines: in all classes but the extreme ones."""
    return 0 < 2 * residue < about.symmetry


# The blocks of a point are asked for one after the other.
@functools.lru_cache(maxsize=2)
def _linearisation(point: Point, degree: int) -> AxialLinearisation:
    """Return the linearised equation at a point."""
    basis = point.equation.basis
    problem = point.equation.problem.at(coupling=float(point.coupling))
    return AxialLinearisation(problem, point.moments, basis.symmetry, degree, basis.axis)


def block_matrix(point: Point, block: Block) -> BlockMatrix:
    """Return the matrix of 1 - T of one block at a point, which is not symmetric, and its degrees."""
    equation, basis = point.equation, point.equation.basis
    if block.own:
        matrix = equation.own_block(point.b, point.q, point.moments)
        assert matrix is not None
        return UnsymmetricMatrix(matrix, basis.degrees, 0)
    degrees, roots = _modes(equation)
    classes = degrees % basis.symmetry
    inside = (classes == block.residue) | (classes == basis.symmetry - block.residue)
    about = _linearisation(point, int(degrees.max(initial=1)))
    degrees, roots = degrees[inside], roots[inside]
    matrix = np.eye(degrees.size) - roots[:, None] * about.stationary_map(degrees, block.parity == "odd") / roots
    if rotations(point, block):
        matrix = plus_projector(matrix, roots * about.generator()[degrees - 1])
    return UnsymmetricMatrix(matrix, degrees, 0)


@functools.lru_cache(maxsize=64)
def _modes(equation: StationaryEquation) -> tuple[np.ndarray, Floats]:
    """Return the significant degrees and the scales of their moments."""
    degrees = significant_degrees(equation.problem, int(equation.basis.degrees.max()))
    return degrees, np.sqrt(np.abs(strengths(equation.problem, int(degrees.max())).relative[degrees]))


def rotations(point: Point, block: Block) -> int:
    """Return the number of rotation modes of a state, whose eigenvalues are moved to one, in a block."""
    if block.parity == "even" or block.residue != 0 or point.equation.problem.confinement is not None:
        return 0
    return int(np.any(point.moments[1:]))
