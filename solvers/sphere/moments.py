"""Moments of points of a branch and their derivatives along it, by degree or by degree and order."""

import numpy as np

from ..bases import Floats
from ..bases.base import Harmonics
from ..branches.continuation import Point


def zonal_moment_arrays(points: list[Point]) -> Floats:
    """Return moments and derivatives along a zonal branch of points of one equation, (4, points, places)."""
    profiles = points[0].equation.basis.profiles
    assert profiles is not None
    return _moment_arrays(points, profiles)


def moment_arrays_by_order(points: list[Point]) -> Floats:
    """Return moments and derivatives along a branch of states without an axis, (4, points, places)."""
    invariants = points[0].equation.basis.invariants
    assert invariants is not None
    return _moment_arrays(points, invariants)


def _moment_arrays(points: list[Point], harmonics: Harmonics) -> Floats:
    """Return the moments and their derivatives, the covariances of harmonics with the derivative of the field."""
    basis = points[0].equation.basis
    moments = [basis.expand(point.moments) for point in points]
    derivatives = [basis.expand(_derivative(harmonics, point)) for point in points]
    return np.array([[pair[part] for pair in pairs] for pairs in (moments, derivatives) for part in (0, 1)])


def _derivative(harmonics: Harmonics, point: Point) -> Floats:
    solution, equation = point.solution, point.equation
    change = equation.field(solution.b, solution.tangent_q) + equation.field(solution.tangent_b, solution.q)
    return harmonics.response(equation.field(solution.b, solution.q), change)
