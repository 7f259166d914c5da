"""Moments of points of a zonal branch and their derivatives along it, many points at once."""

import numpy as np

from ..bases import Floats
from ..bases.zonal import ZonalBasis
from ..branches.continuation import Point
from ..branches.recording import SIGNIFICANT
from .stability import masses


def moment_arrays(points: list[Point]) -> Floats:
    """Return moments and derivatives along the branch of points of one equation, (4, points, degree + 1).

    The derivative of a moment is the covariance of its mode with the derivative of the field.
    """
    basis = points[0].equation.basis
    assert isinstance(basis, ZonalBasis)
    moments = np.array([point.moments for point in points])
    count = int(np.flatnonzero(np.abs(moments).max(axis=0) > SIGNIFICANT)[-1]) + 1
    weights = np.array([masses(point) for point in points])
    slopes = np.array([_field_slope(point) for point in points])
    table = basis.polynomials
    changes = weights * (slopes @ table[basis.cells])
    derivative = changes @ table[:count].T - moments[:, :count] * changes.sum(axis=1)[:, None]
    arrays = np.zeros((4, len(points), basis.symmetry * (count - 1) + 1))
    arrays[0, :, :: basis.symmetry] = moments[:, :count]
    arrays[2, :, :: basis.symmetry] = derivative
    return arrays


def _field_slope(point: Point) -> Floats:
    solution, equation = point.solution, point.equation
    return equation.field(solution.b, solution.tangent_q) + equation.field(solution.tangent_b, solution.q)
