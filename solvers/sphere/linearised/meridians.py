r"""Functions along a meridian of a sphere, and the Witten Laplacian of a zonal density on them.

With :math:`y = \sqrt\rho\, h` the form of A in the azimuthal sector m is

.. math:: \int \Bigl|\nabla y - \tfrac12 y \nabla f\Bigr|^2 + \frac{m(m+d-3)}{\sin^2\theta}\, y^2
          = \int |\partial_\theta y|^2 + V_m\, y^2, \qquad
          V_m = \tfrac14 f_\theta^2 + \tfrac12 \Delta f + \frac{m(m+d-3)}{\sin^2\theta},

in which nothing is small or large however concentrated the density is.
"""

from typing import NamedTuple

import numpy as np

from meanfield.harmonics import Rule, polynomials

from ...bases import Floats
from .fields import Exponent
from .grids import stepped

Span = tuple[float, float]
# Quadrature nodes a function.
NODES = 4


class Shape(NamedTuple):
    """The exponent f of a zonal state along a meridian: angles from the denser pole, f, slope and Laplacian."""

    angles: Floats
    values: Floats
    slope: Floats
    laplacian: Floats


class Functions(NamedTuple):
    """Orthonormal functions on a part of a meridian.

    Attributes
    ----------
    shape
        The exponent on the nodes.
    values : (r, n) float
        The functions on the nodes, times the root of the weight.
    slopes : (2 n, r) float
        Their images under the factor of the form: its matrix is the square of this.
    """

    shape: Shape
    values: Floats
    slopes: Floats


def shape_at(exponent: Exponent, angles: Floats) -> Shape:
    """Return the exponent of a state at ascending polar angles."""
    coefficients, dimension = exponent.coefficients, exponent.dimension
    rule = rule_at(angles)
    degrees = np.arange(1.0, coefficients.size)
    squares = degrees * (degrees + dimension - 2.0)
    table = polynomials_on(dimension, rule, coefficients.size - 1)
    slopes = polynomials_on(dimension + 2, rule, coefficients.size - 2)
    return Shape(
        angles,
        np.asarray(coefficients @ table),
        np.asarray(-np.sin(angles) * ((coefficients[1:] * squares / (dimension - 1.0)) @ slopes)),
        np.asarray(-(coefficients[1:] * squares) @ table[1:]),
    )


def functions_on(
    exponent: Exponent, order: int, span: Span, size: int, nodes: int, power: float = 0.0
) -> Functions:
    """Return ``size`` functions of an order that vanish at the ends of a span of angles, except at poles.

    They are polynomials times a power of the root of the density, concentrated where it is small or large.
    """
    low, high = span
    points, weights = np.polynomial.legendre.leggauss(nodes)
    angles = 0.5 * (low + high) + 0.5 * (high - low) * points
    shape, sines = shape_at(exponent, angles), np.sin(angles)
    # Smooth functions on the sphere are smooth in cos(theta) at a pole.
    polar = low == 0.0 or high == np.pi
    position, slope = (-np.cos(angles), sines) if polar else (angles, np.ones_like(angles))
    # The factor of the polynomials, its logarithm and its logarithmic derivative.
    logs = order * np.log(sines) + 0.5 * power * shape.values
    turn = order / np.tan(angles) + 0.5 * power * shape.slope
    for end in (low, high):
        if 0.0 < end < np.pi:
            distance = position + np.cos(end) if polar else position - end
            logs, turn = logs + np.log(np.abs(distance)), turn + slope / distance
    masses = 2.0 * logs + (exponent.dimension - 2) * np.log(sines) + np.log(weights)
    values, derivatives = _orthonormal(position, np.exp(0.5 * (masses - masses.max())), size)
    along = derivatives * slope + values * (turn - 0.5 * shape.slope)
    around = np.sqrt(order * (order + exponent.dimension - 3.0)) / sines * values
    return Functions(shape, values, np.concatenate([along, around], axis=1).T)


def rule_at(angles: Floats) -> Rule:
    """Return ascending polar angles as the nodes of a rule, without weights."""
    fine = 2.0 * np.sin(0.5 * np.minimum(angles, np.pi - angles)).astype(np.longdouble) ** 2
    unused = np.zeros(0)
    return Rule(np.cos(angles), fine.astype(float), unused, fine, unused)


def polynomials_on(dimension: int, rule: Rule, degree: int) -> Floats:
    """Return P_0, ..., P_degree of a dimension on nodes that need not be symmetric about the equator."""
    north = rule.nodes >= 0.0
    table = polynomials(dimension, rule._replace(nodes=np.abs(rule.nodes)), stepped(degree))[: degree + 1]
    table[1::2, ~north] *= -1.0
    return table


def _orthonormal(position: Floats, roots: Floats, size: int) -> tuple[Floats, Floats]:
    """Return orthonormal polynomials and their derivatives, each times the root of the weight, by Lanczos."""
    shifted = position - float((position * roots**2).sum() / (roots**2).sum())
    values, slopes = np.zeros((2, size, position.size))
    values[0] = roots / np.linalg.norm(roots)
    previous = 0.0
    for k in range(size - 1):
        vector = shifted * values[k]
        diagonal = float(values[k] @ vector)
        vector -= diagonal * values[k] + (previous * values[k - 1] if k else 0.0)
        vector -= (values[: k + 1] @ vector) @ values[: k + 1]
        norm = float(np.linalg.norm(vector))
        slope = (shifted - diagonal) * slopes[k] + values[k] - (previous * slopes[k - 1] if k else 0.0)
        values[k + 1], slopes[k + 1] = vector / norm, slope / norm
        previous = norm
    return values, slopes
