"""The cusp at which the two states of a first-order line merge, on the fold curve beside the end of the line."""

import numpy as np

from ..bases import Basis, Floats
from ..branches.arclength import Arclength
from ..branches.continuation import End, Point, resolve
from ..newton import POLISHED, correct
from .folds import FoldEquation, null_vectors
from .following import Knot, follow
from .plane import Plane

# The fold curve is followed to both sides by so many steps up to this length.
NEARBY, FIRST = Arclength(max_step=0.02, max_points=40), 0.002


def cusp_beside(plane: Plane, basis: Basis, b: Floats, place: tuple[float, float]) -> Knot | None:
    """Return the cusp on the fold curve beside a place, b being the mean of two states; None if it has none."""
    x, q = place
    equation = FoldEquation(plane, (basis,), null_vectors(plane, basis, place, b))
    unknown = np.append(b, x)
    matrix, derivative = equation.linearise(unknown, q, b)
    tangent = np.linalg.svd(np.column_stack([matrix, derivative]))[2][-1]
    solution = correct(equation, unknown, q, tangent[:-1], float(tangent[-1]), POLISHED)
    if solution is None:
        return None
    point = resolve(Point(equation, solution, 1.0))
    if isinstance(point, End):
        return None
    for _ in range(2):
        found = follow(point, NEARBY, FIRST).knots
        cusps = [knot for knot in found if knot.event is not None and knot.event.type == "cusp"]
        if cusps:
            return cusps[0]
        point = point.oriented(-point.solution.tangent_b, -point.solution.tangent_q)
    return None
