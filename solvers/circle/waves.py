r"""Branches of rotating waves, and of densities with a current in a confinement: counts, blocks, births, arrivals.

See :mod:`solvers.equations.rotating` and :mod:`solvers.equations.current`.

A wave of n-fold symmetry is perturbed in classes of degrees modulo n. The equation has no reflection, and classes
other than 0 and n/2 come in complex pairs: growth rates cross the imaginary axis beside zero, and what is born
there turns and pulsates. In the class n/2, which a rotation by :math:`2\pi/n` reverses, a real eigenvalue may
vanish: a wave of n/2-fold symmetry is born, whose two directions are rotations of each other.

Unstable directions are counted by the eigenvalues of the linearised equation L. Folds are zeros of the Jacobian of
the wave's equation; births of :math:`-L_{kl}/(Dk^2)` on the class n/2, with entries of order one.
"""

import functools

import numpy as np
from numpy.typing import NDArray

from ..bases import Floats, Integers
from ..branches.arrivals import Arrival, at_uniform
from ..branches.continuation import Point
from ..branches.detection import Event
from ..branches.junctions import Departure, departure_from
from ..equations.counts import Counts
from ..equations.current import CurrentEquation
from ..equations.geometry import Birth, BlockMatrix, GrowthMatrix, UnsymmetricMatrix
from ..equations.law_eigenvalues import COUNTED, RESOLVED, Signs, counting_degree, signs_in
from ..equations.rotating import RotatingEquation
from ..equations.sizing import equation_among
from ..root_finding.newton import NEUTRAL
from . import uneven
from .law_spectra import Linearisation
from .linearisation import last_degree
from .moments import complex_moments
from .orbits import name_of as name_with_axis
from .stability import Block


def _about(point: Point, degree: int | None = None) -> Linearisation:
    """Return the linearised equation in the frame of a wave, by default with the degrees for counts."""
    moments, problem = complex_moments(point), point.equation.problem.at(coupling=float(point.coupling))
    degree = counting_degree(last_degree(moments, RESOLVED)) if degree is None else degree
    equation = point.equation
    assert isinstance(equation, CurrentEquation)
    return Linearisation(problem, moments, degree, equation.frame_velocity(point.invariant))


def growth_matrices(point: Point, degree: int | None = None) -> list[GrowthMatrix]:
    """Return the linearised equation on the degrees of the symmetry of a wave, and on all others."""
    about = _about(point, degree)
    matrix, own = about.deflated(None), np.tile(about.modes % point.equation.basis.symmetry == 0, 2)
    return [GrowthMatrix(functools.partial(_part, matrix, part), 1, about.degree) for part in (own, ~own)]


def _part(matrix: Floats, kept: NDArray[np.bool_]) -> Floats:
    return matrix[np.ix_(kept, kept)]


@functools.lru_cache(maxsize=COUNTED)
def _signs(point: Point, neutral: float) -> tuple[Signs, Signs]:
    """Return the signs of growth rates on the degrees of the symmetry of a wave, and on all others."""
    least = neutral * point.equation.problem.positive_noise
    own, others = (signs_in(each.matrix, least) for each in growth_matrices(point))
    return own, others


def unstable_counts(point: Point, neutral: float = NEUTRAL) -> Counts:
    """Return the numbers of growing directions of the symmetry of a wave, and of all others.

    Those up to ``neutral`` of the noise, or within rounding of zero, do not count.
    """
    own, others = _signs(point, neutral)
    return Counts(own.growing, others.growing)


def is_counted(point: Point) -> bool:
    """Return whether no eigenvalue but that of rotation is within rounding of zero."""
    return not any(signs.neutral for signs in _signs(point, NEUTRAL))


def blocks_of(point: Point) -> list[Block]:
    """Return the class of a wave itself, and that of half of its symmetry."""
    symmetry = point.equation.basis.symmetry
    return [Block(residue, "mixed") for residue in ((0,) if symmetry % 2 else (0, symmetry // 2))]


def block_matrix(point: Point, block: Block) -> BlockMatrix:
    """Return the matrix of a class at a point, which is not symmetric, and the degrees of cosines and sines."""
    equation = point.equation
    if block.own:
        matrix, _ = equation.linearise(point.b, point.q, point.moments)
        return UnsymmetricMatrix(matrix, equation.basis.degrees, 0)
    about = _about(point)
    degrees = np.tile(about.modes, 2)
    inside = degrees % equation.basis.symmetry == block.residue
    degrees = degrees[inside]
    matrix = about.block(None)[0][np.ix_(inside, inside)]
    return UnsymmetricMatrix(-matrix / (about.problem.noise * degrees[:, None] ** 2.0), degrees, 0)


def copies(point: Point, one: Block, other: Block) -> bool:
    """Return False: classes are not copies of each other."""
    return False


def rotations(point: Point, block: Block) -> int:
    """Return the number of rotation modes of a wave, whose eigenvalues are moved to one, in a class."""
    return int(block.own and point.equation.basis.confinement is None and bool(np.any(point.b)))


def name_of(point: Point) -> str:
    """Return the name of a state; that of one in a confinement says whether it has an axis."""
    return name_with_axis(point) if point.equation.basis.confinement is None else uneven.name_of(point)


def birth(departure: Departure) -> Birth:
    """Return a branch about to be followed under its name and symmetry."""
    symmetry = departure.equation.basis.symmetry
    return Birth(departure, f"{symmetry}-cluster", symmetry)


def births_on_branch(event: Event) -> list[Birth]:
    """Return the branch of waves of half of the symmetry born at a branch point, if one is."""
    found = []
    for block, (degrees, kernel) in zip(event.blocks, event.kernels, strict=True):
        old = event.origin.equation
        equation = None if block.own else equation_among(old, old.basis.symmetry // 2)
        if equation is None:
            continue
        if isinstance(old, RotatingEquation) and isinstance(equation, RotatingEquation):
            equation.phase_cell = 2 * old.phase_cell
        cosine, sine = _by_degree(degrees, kernel)
        found.append(birth(departure_from(event.origin, equation, equation.unknown_with(cosine, sine), 2)))
    return found


def _by_degree(degrees: Integers, values: Floats) -> tuple[Floats, Floats]:
    """Return cosines and sines by degree from those of some degrees, each of which occurs twice."""
    both = np.zeros((2, int(degrees.max()) + 1))
    for row, part, of in zip(both, np.split(values, 2), np.split(degrees, 2), strict=True):
        row[of] = part
    return both[0], both[1]


def meeting(last: Point, point: Point) -> Arrival | None:
    """Return the arrival of a curve of waves at the uniform state, or at waves of twice its symmetry, or None."""
    older = last.on(point.equation)
    if point.equation.basis.confinement is None and uneven.vanish(older.b, point.b):
        return at_uniform(older, point)
    return uneven.meeting_more_clusters(older, point, even=True)


def moment_arrays(points: list[Point]) -> Floats:
    """Return moments and derivatives along the branch of points of one equation, (4, points, degree + 1)."""
    equation = points[0].equation
    moments = [point.by_degree for point in points]
    derivatives = [equation.basis.expand(equation.moment_slopes(point.solution)) for point in points]
    return np.array([[pair[part] for pair in pairs] for pairs in (moments, derivatives) for part in (0, 1)])
