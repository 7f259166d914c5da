r"""Rotations of any density on :math:`S^2` by small angles; moments are c_lm - i s_lm, packed.

With the complex harmonics :math:`Y_{lm}` of Condon and Shortley a real function has coefficients
:math:`B_{lm} = (-1)^m (c_{lm} - i s_{lm})/\sqrt2`, m > 0, :math:`B_{l0} = c_{l0}` and
:math:`B_{l,-m} = (-1)^m \bar B_{lm}`. An infinitesimal rotation about the axis (a, b, c) acts as
:math:`-i(a L_x + b L_y + c L_z)`, and with :math:`\alpha = a + ib`

.. math:: \dot B_{lm} = -\tfrac i2\bigl[\bar\alpha \sqrt{(l-m+1)(l+m)}\, B_{l,m-1}
                        + \alpha \sqrt{(l+m+1)(l-m)}\, B_{l,m+1}\bigr] - i c\, m B_{lm}.
"""

import functools

import numpy as np

from meanfield.harmonics import degrees_and_orders, largest_degree

from ....bases import EPS, Floats, Integers
from ...neighbourhood import Complexes, padded

NEWTON_STEPS = 20
TERMS = 60
# Below this share of the largest the change by a turn is rounding.
SYMMETRIC = 1e-9


@functools.lru_cache(maxsize=16)
def _ladder(size: int) -> tuple[Floats, Floats, Floats, Integers]:
    """Return the factors from moments to B, the ladder coefficients for m - 1 and m + 1, and m."""
    degrees, orders = degrees_and_orders(largest_degree(size))
    scale = np.where(orders > 0, np.sqrt(0.5), 1.0) * np.where(orders % 2 == 1, -1.0, 1.0)
    below = np.sqrt((degrees - orders + 1.0) * (degrees + orders))
    above = np.sqrt((degrees + orders + 1.0) * (degrees - orders))
    return scale, below, above, orders


def generated(moments: Complexes, turn: Floats) -> Complexes:
    """Return the change of moments by an infinitesimal rotation about an axis, (3,)."""
    scale, below, above, orders = _ladder(moments.size)
    whole = scale * moments
    lower, upper = np.roll(whole, 1), np.roll(whole, -1)
    # B_(l,-1); in degree 0, where there is none, its root vanishes, as does that of m + 1 beyond the degree.
    poles = orders == 0
    lower[poles] = -upper[poles].conj()
    across = complex(turn[0], turn[1])
    change = 0.5 * (across.conjugate() * below * lower + across * above * upper) + turn[2] * orders * whole
    return np.asarray(-1j * change / scale)


def change_by(moments: Complexes, turn: Floats) -> Complexes:
    """Return the change of moments by a turn about an axis, (3,), by the small angle that is its length.

    The exponential without its first term, so it is accurate relative to the angle.
    """
    term = total = generated(moments, turn)
    for order in range(2, TERMS):
        term = generated(term, turn) / order
        total = total + term
        if np.abs(term).max() <= 0.01 * EPS * np.abs(total).max():
            break
    return total


class Nearest:
    """Rotation of densities near a target, given by their deviations, to where they are nearest to it in L2.

    There the deviation is orthogonal to the generators of the rotations of the target, as the target is.

    Parameters
    ----------
    target : (n,) complex
        Moments of the target.
    """

    def __init__(self, target: Complexes) -> None:
        degrees, _ = degrees_and_orders(largest_degree(target.size))
        self._target, self._roots = target, np.sqrt(2.0 * degrees + 1.0)
        changes = np.array([self._flat(generated(target, axis)) for axis in np.eye(3)])
        # Where a turn changes nothing, about an axis of symmetry, it is left out.
        self._inverse = np.linalg.pinv(changes.T, rcond=SYMMETRIC)

    def __call__(self, deviation: Complexes) -> Complexes:
        """Return the deviation of a density after the rotation that brings it nearest to the target."""
        size, first = max(deviation.size, self._target.size), 0.0
        deviation = padded(deviation, size)
        for _ in range(NEWTON_STEPS):
            turn = self._inverse @ self._flat(deviation)
            first = max(first, float(np.abs(turn).max()))
            deviation = deviation + change_by(deviation, -turn) + padded(change_by(self._target, -turn), size)
            if np.abs(turn).max() <= 4.0 * EPS * first:
                break
        return deviation

    def _flat(self, moments: Complexes) -> Floats:
        """Return real coordinates in which the distance is that of L2, as many as the target has."""
        weighted = self._roots * padded(moments, self._roots.size)[: self._roots.size]
        return np.concatenate([weighted.real, weighted.imag])
