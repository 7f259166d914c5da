r"""Unstable directions and azimuthal blocks of zonal states of laws that have no Gibbs map.

Unstable directions are counted by the eigenvalues of the linearised equation L, sector by sector. Branch points are
where one vanishes. Among densities about the axis they are located by the Jacobian of the stationary equation,
singular there as well; in other sectors by :math:`-L_{kl}/(D\,k(k+d-2))`, with entries of order one.
"""

import functools

import numpy as np

from ..branches.continuation import Point
from ..equations.counts import Counts
from ..equations.geometry import BlockMatrix, GrowthMatrix, UnsymmetricMatrix
from ..equations.law_eigenvalues import COUNTED, MOST, RESOLVED, Signs, counting_degree, signs_in
from ..equations.sizing import equation_among
from ..linear_algebra.projectors import plus_projector
from ..root_finding.newton import NEUTRAL
from .linearised.interaction import repetitions
from .linearised.law_spectra import ZonalLinearisation
from .stability import AzimuthalBlock


def unstable_counts(point: Point, neutral: float = NEUTRAL) -> Counts:
    """Return the numbers of unstable directions about the axis, and of all others: growing eigenvalues.

    Those up to ``neutral`` of the noise, or within rounding of zero, do not count.
    """
    about, *others = _signs(point, neutral)
    dimension = point.equation.problem.domain.dimension
    return Counts(
        about.growing, sum(repetitions(dimension, m) * signs.growing for m, signs in enumerate(others, start=1))
    )


def is_counted(point: Point) -> bool:
    """Return whether no eigenvalue but those of rotation is within rounding of zero."""
    return not any(signs.neutral for signs in _signs(point, NEUTRAL))


def growth_matrices(point: Point, degree: int | None = None) -> list[GrowthMatrix]:
    """Return the linearised equation by azimuthal order."""
    moments, _ = point.by_degree
    counting = counting_degree(int(np.flatnonzero(np.abs(moments) > RESOLVED)[-1]))
    about = _linearisation(point, counting if degree is None else degree)
    orders = range(about.last_sector + 1)
    return [
        GrowthMatrix(functools.partial(about.deflated, order), repetitions(about.dimension, order), about.degree)
        for order in orders
    ]


@functools.lru_cache(maxsize=COUNTED)
def _signs(point: Point, neutral: float) -> list[Signs]:
    """Return the signs of growth rates by sector."""
    least = neutral * point.equation.problem.positive_noise
    return [signs_in(each.matrix, least) for each in growth_matrices(point)]


# The blocks of a point are asked for one after the other.
@functools.lru_cache(maxsize=2)
def _linearisation(point: Point, degree: int | None = None) -> ZonalLinearisation:
    """Return the linearised equation at a point, by default with as many degrees as its equation resolves."""
    moments, _ = point.by_degree
    problem = point.equation.problem.at(coupling=float(point.coupling))
    return ZonalLinearisation(problem, moments, min(moments.size - 1, MOST) if degree is None else degree)


def blocks_of(point: Point) -> list[AzimuthalBlock]:
    """Return the blocks in which a direction can be unstable."""
    basis, dimension = point.equation.basis, point.equation.problem.domain.dimension
    parities: tuple[int | None, ...] = (None,) if basis.symmetry == 1 else (0, 1)
    orders = range(_linearisation(point).last_sector + 1)
    return [AzimuthalBlock(order, parity, repetitions(dimension, order)) for order in orders for parity in parities]


def block_matrix(point: Point, block: AzimuthalBlock) -> BlockMatrix:
    """Return the matrix of one block at a point, which is not symmetric, and its degrees."""
    if block.order == 0:
        return _about_the_axis(point, block)
    about = _linearisation(point)
    degrees = np.arange(block.order, about.degree + 1)
    eigenvalues = degrees * (degrees + about.dimension - 2.0)
    matrix = -about.matrix(block.order) / (about.problem.noise * eigenvalues[:, None])
    inside = np.full(degrees.size, True) if block.parity is None else degrees % 2 == block.parity
    matrix = np.ascontiguousarray(matrix[np.ix_(inside, inside)])
    if rotations(point, block):
        matrix = plus_projector(matrix, about.generator()[inside])
    return UnsymmetricMatrix(matrix, degrees[inside], 0)


def _about_the_axis(point: Point, block: AzimuthalBlock) -> BlockMatrix:
    """Return the Jacobian on densities about the axis, or its odd part at a state even about the equator."""
    equation, b = point.equation, point.b
    if not block.own:
        whole = equation_among(equation, 1)
        assert whole is not None
        equation, b = whole, point.unknown_in(whole)
    matrix = equation.own_block(b, equation.q_at(point.coupling), point.moments)
    assert matrix is not None
    degrees = equation.basis.degrees
    inside = np.full(degrees.size, True) if block.own else degrees % 2 == 1
    return UnsymmetricMatrix(matrix[np.ix_(inside, inside)], degrees[inside], 0)


def rotations(point: Point, block: AzimuthalBlock) -> int:
    """Return the number of rotation modes of a state, whose eigenvalues are moved to one, in a block."""
    if block.order != 1 or point.equation.problem.confinement is not None:
        return 0
    moments, _ = point.by_degree
    kept = moments[1:] if block.parity is None else moments[2 - block.parity :: 2]
    return int(np.any(kept))
