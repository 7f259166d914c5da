r"""Normal forms of zonal branches where they leave the uniform state of a sphere.

With :math:`|S|\rho = \sum_l N_l p_l P_l` and :math:`q_k = \hat w_k/\hat w_l`, elimination of the degrees that are
not critical from the gap of the free energy gives for the branch of degree l

.. math:: \frac\kappa{\kappa_l} = 1 - \frac{N_l^2}{2}\int P_l^3\,d\mu\; p_l + O(p_l^2) \quad (l \text{ even}),

.. math:: \frac\kappa{\kappa_l} = 1 - N_l^3 B\, p_l^2 + O(p_l^4) \quad (l \text{ odd}),

.. math:: B = \frac12\sum_{0 < k \le 2l,\,k \text{ even}} \frac{q_k N_k}{1-q_k} \Bigl(\int P_k P_l^2\Bigr)^2
              + \frac16\int P_l^4 - \frac1{2N_l^2} .

With the :mod:`saturation <.normal_forms>` s of a law the three terms of B have the factors :math:`1-s`,
:math:`1-2s` and 1, and both right-hand sides, beyond the 1, have the factor :math:`1-s`.

All integrals come from the expansion :math:`P_l^2 = \sum_k L_k P_k` of Dougall, whose terms are positive.
"""

import numpy as np

from ..domains import Domain
from ..harmonics.gegenbauer import Extended, multiplicities


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
    domain: Domain, degree: int, shares: Extended, rounding: float, s: float | np.longdouble = 0.0
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
    s
        Saturation of the law.
    """
    numbers, squares = multiplicities(domain, 2 * degree), squared_polynomial(domain, degree) ** 2
    even = np.arange(2, 2 * degree + 1, 2)
    quartics = squares[::2] / numbers[::2]
    slaved = shares[even] / (1 - shares[even]) * quartics[1:]
    own = np.longdouble(1) / (2 * numbers[degree] ** 2)
    terms = np.array([(1 - s) * slaved.sum() / 2, (1 - 2 * s) * quartics.sum() / 6, -own])
    # What an error of the shares does to the sum; d q/(1-q) = dq/(1-q)^2.
    error = rounding * (np.abs(terms).sum() + (quartics[1:] / (1 - shares[even]) ** 2).sum())
    total = terms.sum()
    return 0.0 if abs(total) <= error else float(-(1 - s) * numbers[degree] ** 3 * total)


def zonal_excess(domain: Domain, degree: int, attractions: Extended, s: float | np.longdouble = 0.0) -> float:
    r"""Return the curvature of an odd branch, over 1 - s, times the product over even k of w_l/N_l - w_k/N_k.

    Its zeros are those of the curvature, it has no poles, and it is finite where w_l = 0.

    Parameters
    ----------
    domain
        A sphere.
    degree
        l, odd.
    attractions
        w_k/N_k for k = 0..2l or further, in any unit.
    s
        Saturation of the law.
    """
    numbers, squares = multiplicities(domain, 2 * degree), squared_polynomial(domain, degree) ** 2
    even = np.arange(2, 2 * degree + 1, 2)
    quartics = squares[::2] / numbers[::2]
    distances = attractions[degree] - attractions[even]
    others = np.array([np.prod(np.delete(distances, place)) for place in range(even.size)])
    slaved = (1 - s) * (attractions[even] * quartics[1:] * others).sum() / 2
    own = (1 - 2 * s) * quartics.sum() / 6 - np.longdouble(1) / (2 * numbers[degree] ** 2)
    return float(-(numbers[degree] ** 3) * (slaved + own * np.prod(distances)))
