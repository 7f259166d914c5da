"""The Hermite polynomial through points and tangents of a curve, which predicts what Newton's method corrects."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.blas import daxpy

from ..bases import Floats

if TYPE_CHECKING:
    from .continuation import Point


def hermite(nodes: Sequence["Point"], arclength: float) -> tuple[Floats, float]:
    """Return the values of the Hermite polynomial through points and tangents, in the last point's unknowns.

    With l the Lagrange polynomials of the nodes, the weights are (1 - 2 l'_i(s_i) (s - s_i)) l_i(s)^2 for the
    points and (s - s_i) l_i(s)^2 for the tangents. One node gives the tangent line, two the cubic.
    """
    equation = nodes[-1].equation
    b, q = np.zeros(equation.scales.size), 0.0
    for node in nodes:
        lagrange, slope = _lagrange(nodes, node, arclength)
        beyond = (arclength - node.arclength) * lagrange * lagrange
        weight = lagrange * lagrange - 2.0 * slope * beyond
        node_b, tangent_b = node.unknowns_on(equation)
        b = daxpy(tangent_b, daxpy(node_b, b, a=weight), a=beyond)
        q += weight * node.solution.q + beyond * node.solution.tangent_q
    return b, q


def hermite_slope(nodes: Sequence["Point"], arclength: float) -> tuple[Floats, float]:
    """Return the derivatives of :func:`hermite` beside the nodes, the tangent of the curve as it predicts it."""
    equation = nodes[-1].equation
    b, q = np.zeros(equation.scales.size), 0.0
    for node in nodes:
        lagrange, slope = _lagrange(nodes, node, arclength)
        square, beyond = lagrange * lagrange, (arclength - node.arclength) * lagrange * lagrange
        growth = 2.0 * sum(1.0 / (arclength - other.arclength) for other in nodes if other is not node)
        weight, along = growth * (square - 2.0 * slope * beyond) - 2.0 * slope * square, square + growth * beyond
        node_b, tangent_b = node.unknowns_on(equation)
        b = daxpy(tangent_b, daxpy(node_b, b, a=weight), a=along)
        q += weight * node.solution.q + along * node.solution.tangent_q
    return b, q


def _lagrange(nodes: Sequence["Point"], node: "Point", arclength: float) -> tuple[float, float]:
    """Return the Lagrange polynomial of a node at an arclength, and its derivative at the node."""
    lagrange, slope = 1.0, 0.0
    for other in nodes:
        if other is not node:
            gap = node.arclength - other.arclength
            lagrange *= (arclength - other.arclength) / gap
            slope += 1.0 / gap
    return lagrange, slope
