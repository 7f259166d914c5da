r"""Coefficients of given functions of the angle in the polynomials :math:`P_l(\cos\gamma)` on spheres.

A function W of the angle has :math:`W = \sum_l w_l P_l(\cos\gamma)`, :math:`w_l = N_l \hat w_l` with the
Funk-Hecke eigenvalue :math:`\hat w_l = \int W P_l\,d\mu`, :math:`d\mu = c\,(\sin t)^{d-2}\,dt` of mass 1.
"""

import functools
import math

import numpy as np

from ..harmonics.gegenbauer import Extended, multiplicity_ratios, zonal_polynomials
from .arrays import Array


def exponential_coefficients(size: float, dimension: int, degree: int) -> Extended:
    r"""Return the w_l of :math:`e^{x(u-1)}`, x = size > 0: l = 0..degree and on to where they are negligible.

    :math:`w_l = N_l \Gamma(d/2) (2/x)^{d/2-1} e^{-x} I_{l+d/2-1}(x)`. All are positive and sum to 1, which
    normalises the products of the ratios :math:`I_n/I_{n-1} = 1/(2n/x + I_{n+1}/I_n)` (backward recurrence of
    Gautschi), and log-concave in l, so that the largest is found by walking. Error: a few longdouble roundings
    per degree between l and the largest.
    """
    return _exponential(float(size), dimension, degree).copy()


@functools.lru_cache(maxsize=64)
def _exponential(size: float, dimension: int, degree: int) -> Extended:
    x, half = np.longdouble(size), np.longdouble(dimension - 2) / 2
    # The ratios contract like exp(-m^2/x) over m steps, so the start is forgotten.
    start = degree + 16 + int(math.sqrt(100 * size)) + int(min(size, 40.0))
    start = max(start, _negligible_from(size, dimension))
    ratios, ratio = np.empty(start, dtype=np.longdouble), np.longdouble(0)
    for k in range(start, 0, -1):
        ratio = 1 / (2 * (k + half) / x + ratio)
        ratios[k - 1] = ratio
    steps = ratios * multiplicity_ratios(dimension, start)
    steps[0] *= dimension
    peak = int(np.count_nonzero(steps > 1))
    terms = np.ones(start + 1, dtype=np.longdouble)
    with np.errstate(under="ignore"):
        terms[peak + 1 :] = np.cumprod(steps[peak:])
        terms[:peak] = np.cumprod(1 / steps[:peak][::-1])[::-1]
        terms /= terms.sum()
    return terms


def _negligible_from(size: float, dimension: int) -> int:
    """Return a degree from which the terms are below 1e-26 of the largest, by a bound of Amos for the ratios."""
    degree = 64
    while True:
        order = np.arange(1, degree + 1) + dimension / 2 - 1
        bound = np.log(size) - np.log(order - 0.5 + np.hypot(order + 0.5, size))
        logarithms = np.cumsum(bound + np.log(multiplicity_ratios(dimension, degree)).astype(float))
        if logarithms[-1] < logarithms.max() - 60 and logarithms[-1] < logarithms[-2] - 0.01:
            return degree
        degree *= 2


def cosines_to_zonal(coefficients: Array, dimension: int) -> Extended:
    r"""Return the w_l of a finite cosine series, exact except for roundings relative to the terms of each sum.

    .. math:: \cos kt = \frac k2 \sum_{j \le k/2} \frac{l+\lambda}{\lambda}
              \frac{(k-j-1)!\,(-\lambda)_j}{j!\,(\lambda+1)_{k-j}} \frac{(2\lambda)_l}{l!} P_l,
              \qquad l = k-2j,\ \lambda = d/2 - 1 .

    What is below the rounding of its own sum is set to exactly 0.
    """
    total = np.zeros(coefficients.size, dtype=np.longdouble)
    sizes = np.zeros_like(total)
    total[0] = sizes[0] = coefficients[0]
    for k in np.flatnonzero(coefficients[1:]) + 1:
        row = np.longdouble(coefficients[k]) * _cosine_row(int(k), dimension)
        total[int(k) % 2 : int(k) + 1 : 2] += row
        sizes[int(k) % 2 : int(k) + 1 : 2] += np.abs(row)
    # The coefficients given carry roundings of float64.
    total[np.abs(total) <= 4 * np.finfo(float).eps * np.abs(sizes)] = 0
    return total


def _cosine_row(k: int, dimension: int) -> Extended:
    """Return the coefficients of cos kt at l = k mod 2, ..., k - 2, k."""
    half = np.longdouble(dimension - 2) / 2
    row = np.empty(k // 2 + 1, dtype=np.longdouble)
    i = np.arange(1, k)
    value = np.prod((2 * half + i) / (half + i), dtype=np.longdouble)
    for j in range(k // 2 + 1):
        row[k // 2 - j] = value
        n = k - 2 * j
        if n >= 2:
            value *= (n - 2 + half) / (n + half) * (j - half) * (half + k - j) / ((j + 1) * (k - j - 1))
            value *= n * (n - 1) / ((2 * half + n - 1) * (2 * half + n - 2))
    return row


def angular_rule(dimension: int, size: int) -> Extended:
    r"""Return weights of mean 1 for the angles :math:`\pi j/n`, j = 0..n = size, under :math:`(\sin t)^{d-2} dt`.

    Exact for cosine polynomials of degree at most :math:`n - d` at least: the trapezoid rule where the weight is
    a cosine polynomial itself (even d), the rule of Clenshaw and Curtis for one factor sin t where it is not.
    """
    sines = np.sin(np.arange(size + 1).astype(np.longdouble) * (4 * np.arctan(np.longdouble(1))) / size)
    sines[[0, -1]] = 0.0
    if dimension % 2 == 0:
        weights = sines ** (dimension - 2)
    else:
        modes = np.arange(0, size + 1, 2)
        integrals = np.zeros(size + 1, dtype=np.longdouble)
        integrals[::2] = 2 / (1 - modes.astype(np.longdouble) ** 2)
        spectrum = np.concatenate([integrals, integrals[-2:0:-1]])
        weights = np.fft.fft(spectrum).real[: size + 1] * sines ** (dimension - 3)
    weights[[0, -1]] *= 0.5
    return np.asarray(weights / weights.sum())


def polar_mass(dimension: int) -> np.longdouble:
    r"""Return :math:`\int_0^\pi \sin^{d-2} t\,dt`: pi for d = 2, 2 for d = 3, times (d-1)/d from d to d+2."""
    steps = np.arange(2 + dimension % 2, dimension, 2).astype(np.longdouble)
    return np.longdouble((4 * np.arctan(np.longdouble(1)), 2)[dimension % 2] * np.prod((steps - 1) / steps))


def projected(values: Array, weights: Array, cosine: Array, dimension: int, degree: int) -> Array:
    """Return the sums of values * weights * P_l, l = 0..degree."""
    weighted = values * weights
    return np.array([weighted @ column for column in zonal_polynomials(dimension, degree, cosine)])


def polynomial_integrals(weighted: Array, angles: Array, dimension: int, degree: int) -> Extended:
    r"""Return the sums of weighted values times :math:`P_l(\cos t)`, l = 0..degree, cosines in dimension 2.

    The recurrence runs on differences of polynomials, driven by :math:`1 - |\cos t|` (Reinsch), so that nothing is
    lost near the poles; the other hemisphere follows from :math:`P_l(-u) = (-1)^l P_l(u)`.
    """
    pi = 4 * np.arctan(np.longdouble(1))
    points, terms = angles.astype(np.longdouble), weighted.astype(np.longdouble)
    southern = points > pi / 2
    versine = 2 * np.sin(np.where(southern, pi - points, points) / 2) ** 2
    even, odd = terms, np.where(southern, -terms, terms)
    value, change, driven = 1 - versine, -versine, np.empty_like(versine)
    sums = np.empty(degree + 1, dtype=np.longdouble)
    sums[0] = even.sum()
    for k in range(1, degree + 1):
        sums[k] = (odd if k % 2 else even) @ value
        np.multiply(versine, value, out=driven)
        driven *= np.longdouble(2 * k + dimension - 2) / (k + dimension - 2)
        change *= np.longdouble(k) / (k + dimension - 2)
        change -= driven
        value += change
    return sums
