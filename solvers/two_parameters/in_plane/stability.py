"""Stability of the states of an extended system, among all perturbations.

Of a state on S^2 without an axis the harmonics invariant under a subgroup of its symmetry have those under larger
ones among them, so that one neutral direction shows in several of these. The classes of harmonics in which unstable
directions are counted do not overlap.
"""

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from meanfield import Equation

from ...bases import EPS
from ...branches.continuation import Point
from ...domains import solvers_of
from ...equations.counts import Counts
from ...equations.equation import StationaryEquation
from ...equations.geometry import BlockMatrix
from ...equations.sizing import equation_in, in_confinement
from ...linear_algebra.inertia import count_negative, signature
from ...root_finding.solution import Solution
from ...sphere.harmonics import harmonic_perturbations
from .states import AtState, GradientState

# Eigenvalues are known to so many units of rounding of the largest, and the one that vanishes along the curve is no
# more than so many times what it is to first order.
ROUNDINGS, ORDERS = 64.0, 4.0
# Where another direction is neutral their share of the largest is larger than this at the points beside.
CRITICAL = 1e-7


def neutral_up_to(state: AtState, vanishing: float, condition: float) -> float:
    """Return the size up to which eigenvalues of the stability matrices of a state do not count as negative.

    Parameters
    ----------
    state
        The state.
    vanishing
        The eigenvalue that vanishes all along the curve, as it is, to first order; zero if none does.
    condition
        By how much more than the matrix that eigenvalue is changed by rounding.
    """
    return ROUNDINGS * EPS * state.largest * condition + ORDERS * abs(vanishing)


def stationary_point(state: AtState, problem: Equation, neutral: float = 0.0) -> Point:
    """Return a state of an extended system as a point of its branch.

    Parameters
    ----------
    state
        The state.
    problem
        Its equation, which may leave a confinement out that is rounding.
    neutral
        The size up to which eigenvalues do not count as negative, see :func:`neutral_up_to`.
    """
    geometry = solvers_of(problem).geometry
    basis = in_confinement(problem, state.weighted.basis, geometry)
    equation = equation_in(problem, basis, 1 if problem.fixed_coupling > 0 else -1, geometry)
    b, q = equation.scales * state.moments, equation.q_at(problem.fixed_coupling)
    # Forces that are rounding are none of the problem, but the state has them.
    alike = basis is state.weighted.basis and not state.coefficients.forces.any()
    known = alike and isinstance(state, GradientState)
    evaluation = equation.evaluation(b, state.gibbs) if known else equation.evaluate(b, q)
    negative = 0
    if equation.symmetric:
        matrix, _ = equation.linearise(b, q, evaluation.gibbs.moments)
        # Counts beside a neutral direction leave one out of those of the own block, which this one stands for.
        matrix.flat[:: b.size + 1] += neutral
        negative = count_negative(matrix) + 1
    return Point(equation, Solution(b, q, evaluation, np.zeros_like(b), 1.0, negative), 0.0)


def unstable_directions(point: Point, neutral: float) -> Counts:
    """Return the numbers of unstable directions at a state, without those that are neutral up to a size."""
    equation: StationaryEquation = point.equation
    return equation.densities.unstable_counts(point, neutral)


def class_determinants(state: AtState) -> dict[Hashable, float]:
    """Return determinants that vanish where a state without an axis on S^2 loses its symmetry, by class.

    Of classes of harmonics that it has not, without those of which a direction is neutral all along the curve.
    Empty for states with an axis, and for laws whose matrix is not symmetric.
    """
    if state.weighted.basis.invariants is None or not isinstance(state, GradientState):
        return {}
    found = dict[Hashable, float]()
    for name, block in _broken_classes(state):
        sizes = np.abs(block.eigenvalues())
        # Diagonals are one but for the potential: so is the scale of a class of a single harmonic.
        if sizes.min() > CRITICAL * max(1.0, float(sizes.max())):
            found[name] = _determinant(block)
    return found


def class_determinant(state: AtState, name: Hashable) -> float:
    """Return the determinant of one class; one where none of its modes acts."""
    return next((_determinant(block) for known, block in _broken_classes(state) if known == name), 1.0)


def _determinant(block: BlockMatrix) -> float:
    """Return the determinant of the matrix of a class, in which repulsive modes have eigenvalues of minus one."""
    return (-1.0) ** block.repulsive * signature(block.matrix)[1]


def _broken_classes(state: AtState) -> Iterator[tuple[Any, BlockMatrix]]:
    """Yield the classes of harmonics that a state has not, which are the same everywhere, with their matrices.

    Those in the class of its own modes are named by numbers of their parts.
    """
    point = stationary_point(state, state.coefficients.place.problem)
    perturbations = harmonic_perturbations(point.equation)
    for block in perturbations.classes:
        if not block.own:
            yield block, perturbations.block(point, block)
    for number, matrix in enumerate(perturbations.beside_own(point)):
        yield ("own", number), matrix
