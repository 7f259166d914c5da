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
from ..equation import StationaryEquation, plus_projector
from ..geometry import BlockMatrix, UnsymmetricMatrix
from ..law_eigenvalues import RESOLVED, counting_degree, growing, has_neutral
from ..newton import NEUTRAL
from ..significant import significant_degrees, strengths
from .axial_linearisation import AxialLinearisation
from .linearisation import last_degree
from .stability import Block, classes_of


def unstable_counts(point: Point, neutral: float = NEUTRAL) -> tuple[int, int]:
    """Return the numbers of unstable even and odd directions: growing eigenvalues of the linearised equation.

    Those within rounding of zero do not count.
    """
    about = _about(point)
    even = odd = 0
    for residue in classes_of(point):
        cosines = growing(about.of_class(residue, False))
        even += cosines
        # Sines are as many except in the extreme classes.
        twofold = 0 < 2 * residue < about.symmetry
        odd += cosines if twofold else growing(about.of_class(residue, True))
    return even, odd


def is_counted(point: Point) -> bool:
    """Return whether no eigenvalue but those of rotation is within rounding of zero."""
    about = _about(point)
    parts = ((residue, sines) for residue in classes_of(point) for sines in (False, True))
    return not any(has_neutral(about.of_class(*part)) for part in parts)


def _about(point: Point) -> AxialLinearisation:
    """Return the linearised equation at a point with the degrees for counts."""
    return _linearisation(
        point, counting_degree(point.equation.basis.symmetry * last_degree(point.moments, RESOLVED))
    )


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
