"""Moments of points of a branch and their derivatives along it, by degree or by degree and order."""

import numpy as np

from ..bases import Floats
from ..branches.continuation import Point


def moment_arrays(points: list[Point]) -> Floats:
    """Return moments and derivatives along a branch of points of one equation, (4, points, places)."""
    equation = points[0].equation
    moments = [point.by_degree for point in points]
    derivatives = [equation.basis.expand(equation.moment_slopes(point.solution)) for point in points]
    return np.array([[pair[part] for pair in pairs] for pairs in (moments, derivatives) for part in (0, 1)])
