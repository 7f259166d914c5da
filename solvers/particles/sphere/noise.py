r"""Brownian motion on :math:`S^{d-1}` in steps along great circles.

A step :math:`x \mapsto x\cos|v| + v\,\frac{\sin|v|}{|v|}` with a Gaussian tangent vector v of variance
:math:`\sigma^2` in each of its n = d - 1 directions has a rotation-invariant law, so that by Funk and Hecke every
harmonic of degree l is multiplied by one number in the mean, :math:`E\,P_l(\cos|v|)`. With :math:`\sigma^2 = 2Dh`
this is :math:`e^{-l(l+n-1)Dh}` up to :math:`O(h^2)`: the tangent Gaussian is right to weak order 1, without any
drift to be added, but too wide on a curved space. Since the heat kernel is
:math:`(r/\sin r)^{(n-1)/2} e^{-r^2/4Dh}` up to a factor :math:`1 + O(h)` that hardly depends on r, one variance,

.. math:: \sigma^2 = 2Dh\,\bigl(1 - \tfrac{n-1}3 Dh + O(h^2)\bigr),

is right for all degrees. It is chosen here so that degree 1 is exact,
:math:`E\cos|v| = {}_1F_1(\tfrac n2; \tfrac12; -\tfrac{\sigma^2}2) = e^{-nDh}`; other degrees l decay at their rates
up to a relative error that shrinks like :math:`h^3` and is below 1e-4 for :math:`nDh \le 0.1`, l = 2, 3.
"""

import functools
import math

# Series and Newton steps end where they change the last digits only.
ROUNDING = 1e-17
STEPS = 60


@functools.lru_cache(maxsize=64)
def tangent_variance(directions: int, spread: float) -> float:
    """Return the variance in each tangent direction by which the mean of x shrinks by exp(-directions * spread).

    Parameters
    ----------
    directions
        n = d - 1.
    spread
        D h > 0, with n D h of order 1 at most.
    """
    wanted = -math.expm1(-directions * spread)
    half = spread * max(1.0 - (directions - 1) * spread / 3.0, 0.5)
    for _ in range(STEPS):
        value, slope = _loss(directions, half)
        change = (value - wanted) / slope
        half -= change
        if abs(change) <= ROUNDING * half * 10.0:
            break
    return 2.0 * half


def _loss(directions: int, half: float) -> tuple[float, float]:
    r"""Return :math:`1 - {}_1F_1(n/2; 1/2; -x)` and its derivative :math:`n\,{}_1F_1(n/2 + 1; 3/2; -x)`."""
    first, second = directions * half, float(directions)
    value, slope = first, second
    for index in range(1, STEPS):
        first *= -(0.5 * directions + index) * half / ((0.5 + index) * (index + 1))
        second *= -(0.5 * directions + index) * half / ((0.5 + index) * index)
        value, slope = value + first, slope + second
        if abs(second) <= ROUNDING * abs(slope):
            break
    return value, slope
