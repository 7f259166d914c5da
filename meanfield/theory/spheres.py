r"""Normal forms of zonal branches where they leave the uniform state of a sphere.

With :math:`|S|\rho = \sum_l N_l p_l P_l` and :math:`q_k = \hat w_k/\hat w_l`, elimination of the degrees that are
not critical from the gap of the free energy gives for the branch of degree l

.. math:: \frac\kappa{\kappa_l} = 1 - \frac{N_l^2}{2}\int P_l^3\,d\mu\; p_l + O(p_l^2) \quad (l \text{ even}),

.. math:: \frac\kappa{\kappa_l} = 1 - N_l^3 B\, p_l^2 + O(p_l^4) \quad (l \text{ odd}),

.. math:: B = \frac12\sum_{0 < k \le 2l,\,k \text{ even}} \frac{q_k N_k}{1-q_k} \Bigl(\int P_k P_l^2\Bigr)^2
              + \frac16\int P_l^4 - \frac1{2N_l^2} .

For other laws see :mod:`.normal_forms`, with :math:`c_k^2 = N_l^2 L_k^2/N_k` and the moment :math:`p_l` of
:math:`a = \sqrt{N_l}\,p_l`; the slope has the factor :math:`1 + \sigma_l`.

All integrals come from the expansion :math:`P_l^2 = \sum_k L_k P_k` of Dougall, whose terms are positive.
"""

from typing import Any

import numpy as np

from ..domains import Domain
from ..equations.speed_response import SpeedResponse
from ..harmonics.gegenbauer import Extended, multiplicities
from .normal_forms import CubicTerms


def squared_polynomial(domain: Domain, degree: int) -> Extended:
    r"""Return the L_k of :math:`P_l^2 = \sum_k L_k P_k`, k = 0..2l, l = degree, on a sphere; they sum to 1.

    From :math:`L_0 = 1/N_l` upwards by the ratio of Dougall's terms.

    Examples
    --------
    >>> from meanfield.domains import Sphere
    >>> squared_polynomial(Sphere(3), 1).astype(float).round(12).tolist()
    [0.333333333333, 0.0, 0.666666666667]
    """
    half, n, i = np.longdouble(domain.dimension - 2) / 2, degree, np.arange(degree).astype(np.longdouble)
    ratios = (2 * i + 2 + half) / (2 * i + half) * (n + i + half) / (n + i + 1 + half)
    ratios *= (n - i) / (n - i - 1 + half) * ((i + half) / (i + 1)) ** 2 * (n + i + 2 * half) / (n + i + half)
    coefficients = np.zeros(2 * degree + 1, dtype=np.longdouble)
    first = np.ones(1, dtype=np.longdouble) / multiplicities(domain, degree)[-1]
    coefficients[::2] = np.cumprod(np.concatenate([first, ratios]))
    return coefficients


def zonal_slope(domain: Domain, degree: int) -> float:
    r"""Return :math:`-\tfrac12 N_l^2 \int P_l^3`, the slope of an even branch in p_l; -5/7 for l = 2 on S^2."""
    own = squared_polynomial(domain, degree)[degree]
    return float(-multiplicities(domain, degree)[degree] * own / 2)


def zonal_curvature(
    domain: Domain, degree: int, shares: Extended, rounding: float, response: SpeedResponse
) -> float:
    """Return the curvature of an odd branch, exactly 0 where it vanishes to rounding.

    Parameters
    ----------
    domain
        A sphere.
    degree
        l, odd.
    shares
        q_k for k = 0..2l; none of even k > 0 is 1.
    rounding
        Error of the shares.
    response
        The changes of the speed of the law, up to degree 2l.
    """
    even = np.arange(2, 2 * degree + 1, 2)
    by_strength, alone, own = _cubic_terms(domain, degree, even, response)
    shares = shares[even]
    slaved = (by_strength * shares + alone) / (1 - shares)
    # What an error of the shares does to the sum; d (A q + B)/(1 - q) = (A + B) dq/(1 - q)^2.
    error = rounding * (np.abs(slaved).sum() + abs(own) + np.abs((by_strength + alone) / (1 - shares) ** 2).sum())
    total = slaved.sum() + own
    return 0.0 if abs(total) <= error else float(-multiplicities(domain, degree)[degree] * total)


def zonal_excess(domain: Domain, degree: int, attractions: Extended, response: SpeedResponse) -> float:
    r"""Return the scaled curvature of an odd branch times the product over even k of w_l/N_l - w_k/N_k.

    Its zeros are those of the curvature, it has no poles, and it is finite where w_l = 0. The scale is the size of
    the changes of the speed, with whose square the curvature grows.

    Parameters
    ----------
    domain
        A sphere.
    degree
        l, odd.
    attractions
        w_k/N_k for k = 0..2l or further, in any unit.
    response
        The changes of the speed of the law, up to degree 2l.
    """
    even = np.arange(2, 2 * degree + 1, 2)
    by_strength, alone, own = _cubic_terms(domain, degree, even, response)
    distances = attractions[degree] - attractions[even]
    others = np.array([np.prod(np.delete(distances, place)) for place in range(even.size)])
    slaved = ((by_strength * attractions[even] + alone * attractions[degree]) * others).sum()
    least, (first, second, slope) = degree * (degree + domain.dimension - 2), (each[degree] for each in response)
    size = np.sqrt(1.0 + first**4 + second**2 + (least * slope) ** 2)
    return float(-multiplicities(domain, degree)[degree] * (slaved + own * np.prod(distances)) / size)


def _cubic_terms(domain: Domain, degree: int, even: Any, response: SpeedResponse) -> tuple[Any, Any, Any]:
    """Return the terms of the cubic coefficient of a zonal mode, of the even degrees slaved to it and the rest."""
    numbers = multiplicities(domain, 2 * degree)
    squares = (numbers[degree] * squared_polynomial(domain, degree)[even]) ** 2 / numbers[even]
    terms = CubicTerms.of(domain, degree, even, response)
    rest = terms.fourth * (1 + squares.sum()) + terms.constant
    return terms.by_strength * squares, terms.alone * squares, rest
