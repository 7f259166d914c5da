"""Moments of points of a branch and their derivatives along it, by degree or by degree and order."""

import numpy as np

from ..bases import Floats
from ..bases.invariant import InvariantBasis
from ..bases.zonal import ZonalBasis
from ..branches.continuation import Point


def moment_arrays(points: list[Point]) -> Floats:
    """Return moments and derivatives along the branch of points of one equation, (4, points, places).

    The derivative of a moment is the covariance of its harmonic with the derivative of the field.
    """
    basis = points[0].equation.basis
    assert isinstance(basis, ZonalBasis | InvariantBasis)
    moments = [basis.expand(point.moments) for point in points]
    derivatives = [basis.expand(_derivative(basis, point)) for point in points]
    return np.array([[pair[part] for pair in pairs] for pairs in (moments, derivatives) for part in (0, 1)])


def _derivative(basis: ZonalBasis | InvariantBasis, point: Point) -> Floats:
    solution, equation = point.solution, point.equation
    change = equation.field(solution.b, solution.tangent_q) + equation.field(solution.tangent_b, solution.q)
    return basis.response(equation.field(solution.b, solution.q), change)
