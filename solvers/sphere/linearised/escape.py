r"""The escape rate of particles from a cluster of negligible mass over a saddle, however small.

Among functions of the polar angle alone the generator is :math:`h \mapsto (w h')'/w` with the mass per angle
:math:`w = \sin^{d-2}\theta\, e^f`. On a span from a pole to an angle b, where eigenfunctions have decayed, its
inverse is

.. math:: (G u)(\theta) = \int_\theta^b F, \qquad F(s) = \frac1{w(s)} \int_0^s w u, \qquad
          F' + \Bigl(\frac{w'}{w}\Bigr) F = u, \quad F(0) = 0,

sums of positive terms without a difference, so that :math:`1/\mu`, its largest eigenvalue, has all of its digits
where a matrix of the generator holds rounding only. The next one is smaller by the exponential of the barrier, and
u = 1 is nearly the eigenfunction.
"""

import numpy as np

from ...bases import Floats
from .fields import Exponent
from .meridians import Span, shape_at

# Panels of a span, and nodes of each; log w changes by a few units at most over a panel.
PANELS, NODES = 256, 12
# The iteration ends when it changes the rate by less than this share, or after so many turns.
AGREEMENT, TURNS = 1e-13, 8


def escape_rate(exponent: Exponent, span: Span) -> float:
    """Return the smallest rate, in units of D, of functions of the angle that vanish at the end of a span.

    Parameters
    ----------
    exponent
        The exponent of the state.
    span
        Angles from one of the poles to the end, or from the end to the other pole.

    Returns
    -------
    float
        Zero if the rate is below the smallest number.
    """
    low, high = span
    points, integrals = _collocation()
    width = (high - low) / PANELS
    inside = low + width * (np.arange(PANELS)[:, None] + points)
    # Away from the pole, which is the second end of the span if it is the south pole.
    angles = inside if low == 0.0 else low + high - inside
    shape = shape_at(exponent, np.sort(angles, axis=None))
    drift = (exponent.dimension - 2) / np.tan(shape.angles) + shape.slope
    slopes = drift.reshape(angles.shape) if low == 0.0 else -drift[::-1].reshape(angles.shape)
    matrices = np.asarray(np.linalg.inv(np.eye(NODES) + width * slopes[:, :, None] * integrals[:NODES]))
    function, rate = np.ones(angles.shape), np.inf
    for _ in range(TURNS):
        with np.errstate(over="ignore", invalid="ignore"):
            function = _inverse(function, slopes, matrices, width * integrals)
        before, rate = rate, 1.0 / float(function.max())
        if not rate > 0.0:
            return 0.0
        if abs(rate - before) <= AGREEMENT * rate:
            break
        function *= rate
    return rate


def _inverse(function: Floats, slopes: Floats, matrices: Floats, integrals: Floats) -> Floats:
    """Return G u at the nodes of all panels, (panels, nodes)."""
    inner, entering = np.empty_like(function), 0.0
    for panel, matrix in enumerate(matrices):
        derivative = matrix @ (function[panel] - entering * slopes[panel])
        parts = integrals @ derivative
        inner[panel], entering = entering + parts[:NODES], entering + parts[NODES]
    totals = inner @ integrals.T
    behind = np.cumsum(totals[::-1, NODES])[::-1]
    return np.asarray(behind[:, None] - totals[:, :NODES])


def _collocation() -> tuple[Floats, Floats]:
    """Return Gauss nodes on (0, 1), and the integrals of a polynomial from 0 to each of them and to 1."""
    nodes, _ = np.polynomial.legendre.leggauss(NODES)
    powers = np.polynomial.legendre.legvander(nodes, NODES - 1)
    ends = np.append(nodes, 1.0)
    integrated = np.empty((NODES + 1, NODES))
    for degree in range(NODES):
        series = np.polynomial.legendre.legint(np.eye(NODES)[degree], lbnd=-1.0)
        integrated[:, degree] = np.polynomial.legendre.legval(ends, series)
    return 0.5 * (nodes + 1.0), np.asarray(0.5 * integrated @ np.linalg.inv(powers))
