r"""The direction of a curve at an end of which only the place is known, from the points on the way there.

Where a curve meets the uniform state at an interaction of modes both parameters are analytic functions of an
amplitude, and so is one of the other or, where they begin with its square or cube, of a root of the other. At
points its values and its slopes are known, at the end its value.

A mode and its double on the circle are the exception, for there the amplitude a of the one is not of the size of
that of the other, b: with :math:`\mu` for one minus lambda the free energy is

.. math:: \tfrac12\mu_1a^2 + \tfrac12\mu_2b^2 + c\,a^2b + \dots, \qquad
          b = -\frac{\mu_1}{2c}, \quad a^2 = \frac{\mu_1\mu_2}{2c^2}, \quad F = \frac{\mu_1^2\mu_2}{8c^2} + \dots,

so that all curves of the states that have both are tangent to one of the two thresholds.
"""

from collections.abc import Sequence

import numpy as np

from ...bases import Floats
from ..in_plane.plane import Plane
from ..systems.recording import Row

# As many of the last points are made use of at the most. Nearest to the end differences are rounding: so many
# points there are left out in turn.
POINTS, LEFT_OUT = 8, (0, 1, 2)
# One parameter is a function of a root of the other of one of these orders.
ROOTS = (1, 2, 3)
# Of y(x) = c x + d x^p, p >= 4/3, c differs from y/x by at most three times what y' does; further terms may add to
# it, and rounding, of which slopes that near may have this share.
BEYOND, ROUNDING = 4.0, 1e-6


def direction_at(end: Floats, rows: Sequence[Row]) -> Floats:
    """Return the direction of a curve in its two parameters, (2,), at an end; its sign means nothing.

    Polynomials through more and more points, in one parameter or a root of it, are compared: the first changes are
    of what they leave out, later ones of rounding or of points that are too far away.

    Parameters
    ----------
    end : (2,) float
        The values at the end.
    rows
        Points of the curve up to it, the last one next to it.
    """
    last = rows[: -POINTS - 1 : -1]
    away, slopes = np.array([row.values for row in last]) - end, np.array([row.tangent for row in last])
    units = np.abs(away).max(axis=0)
    if not units.all() or not away[0].any():
        return np.asarray(away[0] if away[0].any() else slopes[0])
    away, slopes = away / units, slopes / units
    along = int(np.argmax(np.abs(slopes[0])))
    places, values = away[:, along], away[:, 1 - along]
    # It may turn on the way.
    onward = np.cumprod((np.diff(np.abs(places), prepend=0.0) > 0.0) & (slopes[:, along] * slopes[0, along] > 0.0))
    count = int(onward.sum())
    direction = np.zeros(2)
    direction[along] = 1.0
    if count:
        rates = slopes[:count, 1 - along] / slopes[:count, along]
        direction[1 - along] = _rate_at_zero(places[:count], values[:count], rates)
    else:
        direction = away[0]
    return np.asarray(direction * units)


def direction_of_resonance(plane: Plane, end: Floats, rows: Sequence[Row], modes: Sequence[int]) -> Floats:
    """Return the direction, (2,), of a curve at the interaction of a mode with its double: that of one threshold.

    Parameters
    ----------
    plane
        The two parameters.
    end, rows
        As for :func:`direction_at`.
    modes
        Both modes.
    """
    coefficients = plane.coefficients(*plane.coordinates(*end), np.array(sorted(modes)))
    # In x and q, which are of one size, along a threshold sigma of its mode stays.
    normals = coefficients.slopes[0].T
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    near = np.linalg.solve(coefficients.place.slopes, direction_at(end, rows))
    across, down = normals[np.argmin(np.abs(normals @ near))]
    return np.asarray(coefficients.place.slopes @ [-down, across])


def _rate_at_zero(places: Floats, values: Floats, rates: Floats) -> float:
    """Return the derivative at zero of a function that vanishes there, from values and derivatives at places."""
    nearest = float(values[0] / places[0])
    allowed = BEYOND * abs(rates[0] - nearest) + ROUNDING * abs(nearest)
    best, least = nearest, np.inf
    for first in LEFT_OUT[: places.size]:
        for root in ROOTS:
            found = _estimates(places[first:], values[first:], rates[first:], root)
            changes = np.abs(np.diff(found, prepend=values[first] / places[first]))
            changes[np.abs(found - nearest) > allowed] = np.inf
            number = int(np.argmin(changes))
            if changes[number] < least:
                best, least = float(found[number]), float(changes[number])
    return best


def _estimates(places: Floats, values: Floats, rates: Floats, root: int) -> Floats:
    """Return the derivative at zero of polynomials through zero and one, two, ... of the places, (n,).

    They are polynomials in a root of the modulus of the place, beginning with the power that is linear in this, in
    Newton's form with two nodes at every place.
    """
    side, zeros = np.sign(places[0]), np.zeros(root)
    roots = np.abs(places) ** (1.0 / root)
    nodes, column = (np.append(zeros, np.repeat(each, 2)) for each in (roots, side * values))
    slopes = np.append(zeros, np.repeat(root * roots ** (root - 1) * rates, 2))
    size = nodes.size
    terms, factor = [], 1.0
    for level in range(1, size):
        apart = nodes[level:] - nodes[: size - level]
        same = apart == 0.0
        column = np.where(same, slopes[: size - level], np.diff(column) / np.where(same, 1.0, apart))
        if level >= root:
            terms.append(float(column[0]) * factor)
            factor *= -float(nodes[level])
    return np.cumsum(terms)[1::2]
