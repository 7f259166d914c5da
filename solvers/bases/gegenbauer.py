r"""Harmonics of :math:`S^{d-1}` about an axis: the polynomials in :math:`u = \langle x, e\rangle` of each order.

Every harmonic of degree l is a sum of :math:`e_{lmj}(x) = \varphi_l^m(u)\, Y_{mj}(\omega)`, where
:math:`\omega \in S^{d-2}` is the direction of x seen along the axis and the :math:`Y_{mj}` are harmonics of
degree m there, of uniform mean square one. With the index of the order m, the dimension d + 2m,

.. math:: \varphi_l^m = g_{lm}\,(1-u^2)^{m/2}\,P^{(d+2m)}_{l-m}(u), \qquad
          g_{lm}^2 = \frac{c_{d+2m}}{c_d}\,\frac{N^{(d+2m)}_{l-m}}{N^{(d)}_l},

where :math:`d\mu = c_d (1-u^2)^{(d-3)/2} du`, so that :math:`\int (\varphi_l^m)^2 d\mu = 1/N_l` and the addition
theorem :math:`P_l(\langle x, y\rangle) = \sum e_{lmj}(x)\,e_{lmj}(y)` holds.
"""

import functools

import numpy as np

from meanfield.harmonics import Rule, gauss_rule, northern_half, polynomials

from .base import Floats


@functools.lru_cache(maxsize=64)
def even_rule(dimension: int, count: int) -> Rule:
    """Return the northern half of the Gauss rule with twice as many nodes, for functions even in u."""
    return northern_half(gauss_rule(dimension, 2 * count))


@functools.lru_cache(maxsize=16)
def polynomial_table(dimension: int, count: int, degree: int, symmetry: int = 1) -> Floats:
    """Return P_0, P_symmetry, ..., P_degree on the rule of a symmetry with a number of nodes; read-only.

    The rule is :func:`gauss_rule` for symmetry 1 and :func:`even_rule` for symmetry 2.
    """
    rule = gauss_rule(dimension, count) if symmetry == 1 else even_rule(dimension, count)
    table = np.ascontiguousarray(polynomials(dimension, rule, degree)[::symmetry])
    table.flags.writeable = False
    return table


def sector_functions(dimension: int, order: int, rule: Rule, degree: int) -> Floats:
    """Return the functions phi_l^m of one order m on the nodes of a rule.

    Parameters
    ----------
    dimension
        d of the space around the sphere.
    order
        m; order 0 gives the P_l themselves.
    rule
        Any Gauss rule, or half of one; its dimension does not matter.
    degree
        Largest degree l, at least m.

    Returns
    -------
    (degree + 1 - order, n) float
        Rows l = m, ..., degree. Errors are some m/2 units of rounding relative to the natural size at each node
        (1 - u^2 to the power m/2); values below the range of double, deep inside the caps where the harmonics of
        a large order vanish, are zero.
    """
    table = polynomials(dimension + 2 * order, rule, degree - order)
    across = rule.fine * (2.0 - rule.fine)
    table *= (across ** (0.5 * order)).astype(float)
    table *= _norms(dimension, order, degree)[:, None]
    return table


def _norms(dimension: int, order: int, degree: int) -> Floats:
    """Return g_lm for l = m, ..., degree, as running products of ratios."""
    wide = np.longdouble
    lower = np.arange(order, dtype=wide)
    first = ((dimension + 2 * lower) / (dimension - 1 + 2 * lower)).prod() / _growth(dimension, 0, order).prod()
    ratios = _growth(dimension + 2 * order, 0, degree - order) / _growth(dimension, order, degree)
    norms: Floats = np.sqrt(first * np.concatenate([[wide(1.0)], np.cumprod(ratios)])).astype(float)
    return norms


def _growth(dimension: int, first: int, last: int) -> np.ndarray[tuple[int], np.dtype[np.longdouble]]:
    """Return N_(l+1)/N_l for l = first, ..., last - 1."""
    degree = np.arange(first, last, dtype=np.longdouble)
    even = 2 * degree + dimension
    return even / (even - 2) * (degree + dimension - 2) / (degree + 1)
