r"""Axes of densities on :math:`S^2`: a density symmetric about any direction needs its zonal moments only.

By the addition theorem the density with the moments p_l about its axis n has, in the layout by degree and order,

.. math:: c_{lm} = p_l\, e^c_{lm}(n), \qquad s_{lm} = p_l\, e^s_{lm}(n) .
"""

import math

import numpy as np

from meanfield.harmonics import (
    SphereModes,
    about_axis,
    harmonics_at,
    largest_degree,
    packed,
    zonal_places,
)

from ...bases import EPS, Floats
from ..initial import Initial

# Turning a density is exact up to so many roundings of its strongest moment, and of each.
ROUNDING = 64.0


def direction(polar: float, azimuth: float) -> Floats:
    """Return the unit vector at an angle from the north pole and about it; exact at the poles."""
    sine = 0.0 if polar in (0.0, math.pi) else math.sin(polar)
    return np.array([sine * math.cos(azimuth), sine * math.sin(azimuth), math.cos(polar)])


def in_orders(start: Initial) -> Initial:
    """Return a zonal density with moments by degree and order."""
    cosine = packed(start.cosine)
    return Initial(cosine, np.zeros_like(cosine), start.description, start.warnings, SphereModes.layout)


def on_axis(start: Initial, free: bool) -> tuple[Initial, Floats]:
    """Return a density, with zonal moments if it has an axis, and the axis, empty if that is the pole or none.

    Parameters
    ----------
    start
        A density by degree and order.
    free
        Whether any axis is admissible; otherwise only the north pole.
    """
    degree = largest_degree(start.cosine.size)
    firsts = zonal_places(degree)
    zonal = start.cosine[firsts]
    if np.array_equal(start.cosine, packed(zonal)) and not start.sine.any():
        return Initial(zonal, np.zeros_like(zonal), start.description, start.warnings), np.zeros(0)
    axis = axis_of(start.cosine, start.sine) if free else None
    if axis is not None:
        cosine, sine = harmonics_at(axis[np.newaxis], degree)[..., 0]
        zonal = np.add.reduceat(start.cosine * cosine + start.sine * sine, firsts)
        turned = about_axis(zonal, axis)
        missed = max(float(np.abs(turned[0] - start.cosine).max()), float(np.abs(turned[1] - start.sine).max()))
        if missed <= ROUNDING * EPS * float(np.abs(zonal[1:]).max()):
            zonal[0] = 1.0
            return Initial(zonal, np.zeros_like(zonal), start.description, start.warnings), axis
    return start, np.zeros(0)


def axis_of(cosine: Floats, sine: Floats) -> Floats | None:
    """Return the only possible axis of a density, that of its dipole or, if it has none, of its quadrupole."""
    degree = largest_degree(cosine.size)
    if degree >= 1:
        dipole = np.array([cosine[2], sine[2], cosine[1]])
        size = float(np.linalg.norm(dipole))
        if size > 1e-3 * float(np.abs(cosine[1:]).max() + np.abs(sine[1:]).max()):
            return dipole / size
    if degree >= 2:
        along, mixed, double = cosine[3], (cosine[4], sine[4]), (cosine[5], sine[5])
        root = math.sqrt(3.0)
        matrix = np.array(
            [
                [double[0] - along / root, double[1], mixed[0]],
                [double[1], -double[0] - along / root, mixed[1]],
                [mixed[0], mixed[1], 2.0 * along / root],
            ]
        )
        values, vectors = np.linalg.eigh(matrix)
        if float(np.abs(values).max()) > 1e-3 * float(np.abs(cosine[1:]).max() + np.abs(sine[1:]).max()):
            return np.asarray(vectors[:, int(np.argmax(np.abs(values)))])
    return None
