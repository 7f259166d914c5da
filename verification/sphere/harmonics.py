r"""Densities on the ordinary sphere without an axis, summed and integrated with the harmonics of scipy.

A polar angle has a Gauss rule on panels, an azimuth equispaced points. In moments by degree and order,

.. math:: e^c_{lm} = \sqrt{(2-\delta_{m0})\tfrac{4\pi}{2l+1}}\,(-1)^m\,\bar P_l^m(\cos\theta)\cos m\varphi ,

with the normalised functions :math:`\bar P_l^m` of scipy, which carry the sign :math:`(-1)^m`.
"""

import functools
import math

import numpy as np

from meanfield import State
from meanfield.harmonics import largest_degree, packed_size, place

from ..measures import Floats, Integers

PANELS, POINTS = 24, 20


def degrees_of(state: State) -> Integers:
    """Return the degree of each place of the moments of a state."""
    return state.moments.modes.degrees(state.cosine.size)


def order_places(degree: int, order: int) -> Integers:
    """Return the places of one order, by ascending degree up to a last one."""
    return np.asarray(place(np.arange(order, degree + 1, dtype=np.int64), order))


@functools.lru_cache(maxsize=4)
def polar_rule() -> tuple[Floats, Floats]:
    """Return polar angles and weights of total one."""
    edges = np.linspace(0.0, np.pi, PANELS + 1)
    points, shares = np.polynomial.legendre.leggauss(POINTS)
    half = 0.5 * np.diff(edges)[:, np.newaxis]
    angles = edges[:-1, np.newaxis] + half * (1.0 + points)
    weights = 0.5 * half * shares * np.sin(angles)
    return angles.ravel(), weights.ravel()


def functions(degree: int, angles: Floats) -> Floats:
    """Return the part of the harmonics that depends on the polar angle, (degree + 1, orders, angles)."""
    from scipy.special import sph_legendre_p_all

    table = np.array(sph_legendre_p_all(degree, degree, angles)[0, :, : degree + 1])
    degrees, orders = np.arange(degree + 1), np.arange(degree + 1)
    table *= np.sqrt(4.0 * np.pi / (2.0 * degrees + 1.0))[:, np.newaxis, np.newaxis]
    factors = np.where(orders == 0, 1.0, math.sqrt(2.0)) * (-1.0) ** orders
    return np.asarray(table * factors[:, np.newaxis])


@functools.lru_cache(maxsize=4)
def _table(degree: int) -> Floats:
    return functions(degree, polar_rule()[0])


def _azimuths(degree: int) -> Floats:
    points = max(64, 4 * degree + 8)
    return 2.0 * np.pi * np.arange(points) / points


def grid_values(cosine: Floats, sine: Floats) -> Floats:
    """Return the sum of cosine e^c + sine e^s on the grid of polar angles and azimuths."""
    degree = largest_degree(cosine.size)
    azimuths = _azimuths(degree)
    total = np.zeros((polar_rule()[0].size, azimuths.size))
    for order in range(degree + 1):
        places = order_places(degree, order)
        if np.any(cosine[places]) or np.any(sine[places]):
            shapes = _table(degree)[order:, order]
            total += np.outer(cosine[places] @ shapes, np.cos(order * azimuths))
            total += np.outer(sine[places] @ shapes, np.sin(order * azimuths))
    return total


def point_values(cosine: Floats, sine: Floats, angles: Floats, azimuths: Floats) -> Floats:
    """Return the sum of cosine e^c + sine e^s at single points."""
    degree = largest_degree(cosine.size)
    table, total = functions(degree, angles), np.zeros(angles.size)
    for order in range(degree + 1):
        places = order_places(degree, order)
        total += (cosine[places] @ table[order:, order]) * np.cos(order * azimuths)
        total += (sine[places] @ table[order:, order]) * np.sin(order * azimuths)
    return total


def mean(values: Floats) -> float:
    """Return the uniform mean of values on the grid."""
    return math.fsum(polar_rule()[1] * values.mean(axis=1))


def gibbs_of_orders(cosine: Floats, sine: Floats) -> tuple[Floats, float]:
    """Return e^f / Z over uniform on the grid and log Z, f = sum of cosine e^c + sine e^s."""
    exponent = grid_values(cosine, sine)
    top = float(exponent.max())
    values = np.exp(exponent - top)
    normalisation = mean(values)
    return values / normalisation, top + math.log(normalisation)


def moments_of_orders(values: Floats, degree: int) -> tuple[Floats, Floats]:
    """Return the moments of a density on the grid, by degree and order up to a last degree."""
    azimuths = 2.0 * np.pi * np.arange(values.shape[1]) / values.shape[1]
    cosine, sine = np.zeros((2, packed_size(degree)))
    weights = polar_rule()[1] / values.shape[1]
    for order in range(degree + 1):
        shapes = _table(degree)[order:, order] * weights
        places = order_places(degree, order)
        cosine[places] = shapes @ (values @ np.cos(order * azimuths))
        sine[places] = shapes @ (values @ np.sin(order * azimuths))
    return cosine, sine


def turned_to(zonal: Floats, axis: Floats) -> tuple[Floats, Floats]:
    """Return the moments by degree and order of a density with given moments about an axis: p_l e_lm(axis)."""
    degree = zonal.size - 1
    polar, azimuth = math.acos(axis[2] / float(np.linalg.norm(axis))), math.atan2(axis[1], axis[0])
    table = functions(degree, np.array([polar]))[:, :, 0]
    cosine, sine = np.zeros((2, packed_size(degree)))
    for order in range(degree + 1):
        places = order_places(degree, order)
        cosine[places] = zonal[order:] * table[order:, order] * math.cos(order * azimuth)
        sine[places] = zonal[order:] * table[order:, order] * math.sin(order * azimuth)
    return cosine, sine
