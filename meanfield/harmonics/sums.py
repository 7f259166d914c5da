r"""Densities on spheres at given points, summed from their moments.

With :math:`P_l` normalised to :math:`P_l(1) = 1` a density symmetric about the north pole is

.. math:: |S|\,\rho = \sum_l N_l\, p_l\, P_l(\cos\theta),

and any density on :math:`S^2`, with the functions :math:`e^c_{lm}, e^s_{lm}` of :mod:`meanfield.records.state`,

.. math:: |S|\,\rho = \sum_l (2l + 1) \sum_m c_{lm} e^c_{lm} + s_{lm} e^s_{lm}.

The polynomials are found from their differences,

.. math:: (l + d - 2)(P_{l+1} - P_l) = l\,(P_l - P_{l-1}) - (2l + d - 2)(1 - u)\, P_l,

with :math:`1 - u = 2\sin^2(\theta/2)` (Reinsch's form of the recurrence): near the poles
:math:`u = \cos\theta` no longer determines the angle, and the common recurrence loses :math:`l^2` units of rounding
there. The southern half follows from :math:`P_l(-u) = (-1)^l P_l(u)`. The order m on :math:`S^2` is the same in
dimension 3 + 2m:

.. math:: e^c_{lm} = \sqrt{(2 - \delta_{m0})\tfrac{(l+m)!}{(l-m)!}}\,\frac{\sin^m\theta}{2^m m!}\,
          P_{l-m}^{(3+2m)}(\cos\theta)\cos m\varphi .
"""

import math
from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..domains import Sphere
from .gegenbauer import ascending
from .packing import largest_degree, place

Floats = NDArray[np.float64]

# Points are taken in blocks that stay in the cache.
BLOCK = 8192


def zonal_density(moments: Floats, dimension: int, polar: ArrayLike) -> Floats:
    r"""Return a zonal density over the uniform one, :math:`\sum_l N_l p_l P_l(\cos\theta)`.

    Parameters
    ----------
    moments : (n + 1,) float
        The moments p_l.
    dimension
        d of the space around the sphere.
    polar : float
        Angles from the north pole, any shape.

    Returns
    -------
    ndarray
        Of the shape of ``polar``. Errors of the moments are multiplied by :func:`zonal_sensitivity`.
    """
    sphere = Sphere(dimension)
    terms = np.array([_weighted(sphere.multiplicity(degree), float(p)) for degree, p in enumerate(moments)])
    return zonal_sum(terms, dimension, polar)


def zonal_sensitivity(degree: int, dimension: int, polar: ArrayLike) -> Floats:
    r"""Return the change of a zonal density over uniform if each moment changes by one, :math:`\sum N_l |P_l|`.

    It is largest at the poles. In high dimensions the N_l are large, and a density far below its peak is lost in
    the rounding of the moments.
    """
    angles = np.asarray(polar, dtype=float)
    sphere = Sphere(dimension)
    total = np.zeros(angles.size)
    for each, values in enumerate(_polynomials(degree, dimension, _versine(angles.ravel()))):
        total += _weighted(sphere.multiplicity(each), 1.0) * np.abs(values)
    return total.reshape(angles.shape)


def zonal_sum(terms: Floats, dimension: int, polar: ArrayLike) -> Floats:
    """Return the sum over l of terms[l] P_l(cos polar), of the shape of ``polar``."""
    angles = np.asarray(polar, dtype=float)
    parts = [_sums(terms[np.newaxis], dimension, block)[0] for block in _blocks(angles.ravel())]
    return np.concatenate([np.empty(0), *parts]).reshape(angles.shape)


def polynomials_at(degree: int, dimension: int, polar: Floats) -> Floats:
    """Return the table of P_0, ..., P_degree at the cosines of angles, (degree + 1, n)."""
    table = np.array([values.copy() for values in _polynomials(degree, dimension, _versine(polar))])
    table[1::2, np.cos(polar) < 0.0] *= -1.0
    return table


def full_density(cosine: Floats, sine: Floats, polar: ArrayLike, azimuth: ArrayLike) -> Floats:
    """Return a density on S^2 over the uniform one from its packed moments.

    Parameters
    ----------
    cosine, sine : ((L + 1)(L + 2)/2,) float
        Moments by degree and order.
    polar, azimuth : float
        Angles from the north pole and about it; they are broadcast.

    Returns
    -------
    ndarray
        Of the common shape of the angles.
    """
    theta, phi = np.broadcast_arrays(np.asarray(polar, dtype=float), np.asarray(azimuth, dtype=float))
    orders = list(_orders(cosine, sine))
    blocks = zip(_blocks(theta.ravel()), _blocks(phi.ravel()), strict=True)
    parts = [_full_block(orders, polars, azimuths) for polars, azimuths in blocks]
    return np.concatenate([np.empty(0), *parts]).reshape(theta.shape)


def _full_block(orders: list[tuple[int, Floats]], theta: Floats, phi: Floats) -> Floats:
    total = np.zeros(theta.size)
    for m, terms in orders:
        along, across = _sums(terms, 3 + 2 * m, theta)
        total += np.sin(theta) ** m * (along * np.cos(m * phi) + across * np.sin(m * phi))
    return total


def _orders(cosine: Floats, sine: Floats) -> Iterator[tuple[int, Floats]]:
    """Yield each order that occurs with the factors (2, L - m + 1) of its polynomials."""
    top = largest_degree(cosine.size)
    leading = 1.0
    for m in range(top + 1):
        degrees = np.arange(m, top + 1)
        if m:
            leading *= math.sqrt((2 * m - 1) / (2 * m)) * (math.sqrt(2.0) if m == 1 else 1.0)
        ratios = np.sqrt((degrees[1:] + m) / (degrees[1:] - m))
        scale = (2 * degrees + 1) * leading * np.cumprod(np.concatenate([[1.0], ratios]))
        places = place(degrees, m)
        terms = scale * np.stack([cosine[places], sine[places]])
        if np.any(terms):
            yield m, terms


def _sums(terms: Floats, dimension: int, polar: Floats) -> Floats:
    """Return the sums over j of terms[:, j] P_j(cos polar): (k, points)."""
    even, odd = np.zeros((2, len(terms), polar.size))
    used = np.flatnonzero(np.any(terms, axis=0))
    if used.size == 0:
        return even
    for j, values in enumerate(_polynomials(int(used[-1]), dimension, _versine(polar))):
        for row, factor in enumerate(terms[:, j]):
            if factor != 0.0:
                (odd if j % 2 else even)[row] += factor * values
    return np.asarray(even + np.where(np.cos(polar) < 0, -1.0, 1.0) * odd)


def _polynomials(degree: int, dimension: int, versine: Floats) -> Iterator[Floats]:
    """Yield P_0, ..., P_degree at 1 - u = versine, in one buffer."""
    return (values for values, _ in islice(ascending(dimension, versine), degree + 1))


def _versine(polar: Floats) -> Floats:
    """Return 1 - |cos polar| without cancellation."""
    half = 0.5 * polar
    return np.asarray(2.0 * np.minimum(np.sin(half) ** 2, np.cos(half) ** 2))


def _weighted(multiplicity: int, factor: float) -> float:
    """Return multiplicity times factor, also for a multiplicity beyond doubles; infinite if the product is."""
    shift = max(0, multiplicity.bit_length() - 1000)
    try:
        return math.ldexp(float(multiplicity >> shift) * factor, shift)
    except OverflowError:
        return math.copysign(math.inf, factor)


def _blocks(values: Floats) -> Iterator[Floats]:
    for start in range(0, values.size, BLOCK):
        yield values[start : start + BLOCK]
