r"""Harmonics of the ordinary sphere at unit vectors, sums of them and their gradients there.

.. math:: V(x) = \sum_{lm} v_{lm} e^c_{lm}(x) + u_{lm} e^s_{lm}(x), \qquad
          P_l(\langle a, x\rangle) = \sum_m e^c_{lm}(a)\,e^c_{lm}(x) + e^s_{lm}(a)\,e^s_{lm}(x),

packed as moments by degree and order are, see :mod:`meanfield.harmonics.full`.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from .full import leading_factors, order_along
from .packing import degrees_of_places, largest_degree, packed_size, place
from .quadrature import gauss_rule
from .sums import full_density, polynomials_at

Floats = npt.NDArray[np.float64]


def harmonics_at(points: Floats, degree: int) -> Floats:
    """Return all e^c_lm and e^s_lm up to a degree at unit vectors (n, 3), shape (2, places, n)."""
    height = points[:, 2]
    leading = np.array([_leading(x, y, degree) for x, y in points[:, :2].tolist()]).T.reshape(degree + 1, -1)
    first = np.stack([leading.real, leading.imag])
    values = np.zeros((2, packed_size(degree), len(points)))
    before, value = np.zeros((2, 2, degree + 1, len(points)))
    value[:, 0] = values[:, 0] = first[:, 0]
    for lower in range(degree):
        orders, inside = np.arange(lower + 1)[:, np.newaxis], slice(0, lower + 1)
        below, above = np.sqrt(lower**2 - orders**2), np.sqrt((lower + 1) ** 2 - orders**2)
        following = ((2 * lower + 1) * height * value[:, inside] - below * before[:, inside]) / above
        before[:, inside], value[:, inside] = value[:, inside], following
        value[:, lower + 1] = first[:, lower + 1]
        values[:, packed_size(lower) : packed_size(lower + 1)] = value[:, : lower + 2]
    return values


def _leading(x: float, y: float, degree: int) -> list[complex]:
    """Return e^c_mm + i e^s_mm, m = 0..degree, of a unit vector by its horizontal components."""
    across = math.hypot(x, y)
    phase = complex(x, y) / across if across > 0.0 else 1.0
    found = [complex(1.0)]
    for order in range(1, degree + 1):
        following = found[-1] * (phase * across * math.sqrt((2 * order - 1) / (2 * order)))
        found.append(following * (math.sqrt(2.0) if order == 1 else 1.0))
    return found


def polar_angles(points: Floats) -> tuple[Floats, Floats]:
    """Return the angles of unit vectors (n, 3) from the north pole and about it."""
    return np.arctan2(np.hypot(points[:, 0], points[:, 1]), points[:, 2]), np.arctan2(points[:, 1], points[:, 0])


def sum_at(coefficients: Floats, points: Floats) -> Floats:
    """Return the sum of harmonics with packed coefficients (2, places) at unit vectors (n, 3)."""
    cosine, sine = coefficients / (2.0 * degrees_of_places(coefficients.shape[1]) + 1.0)
    return full_density(cosine, sine, *polar_angles(points))


def gradient_of_sum_at(coefficients: Floats, points: Floats) -> Floats:
    """Return the gradient of a sum of harmonics at unit vectors (n, 3), tangent to the sphere there, (n, 3)."""
    cosine, sine = coefficients
    polar, azimuth = polar_angles(points)
    sines, cosines = np.sin(polar), np.cos(polar)
    south, east = np.zeros((2, polar.size), dtype=complex)
    for m in range(largest_degree(cosine.size) + 1):
        wave = np.exp(1j * m * azimuth)
        south -= wave * sines ** (m + 1) * order_along(cosine, sine, m, polar, derivative=True)
        if m:
            inner = m * sines ** (m - 1) * order_along(cosine, sine, m, polar) * wave
            south += cosines * inner
            east += 1j * inner
    southwards = np.stack([cosines * np.cos(azimuth), cosines * np.sin(azimuth), -sines])
    eastwards = np.stack([-np.sin(azimuth), np.cos(azimuth), np.zeros_like(polar)])
    return np.asarray((south.real * southwards + east.real * eastwards).T)


def coefficients_of(function: Callable[[Floats], Floats], degree: int) -> Floats:
    """Return the packed coefficients of a function of unit vectors (n, 3) up to a degree, (2, places).

    By the Gauss rule of ``degree + 1`` rings, exact for functions of that degree.
    """
    rule, count = gauss_rule(3, degree + 1), 2 * degree + 2
    azimuth = 2.0 * np.pi * np.arange(count) / count
    sines, cosines = np.sin(rule.polar)[:, np.newaxis], np.cos(rule.polar)[:, np.newaxis]
    grid = np.stack(np.broadcast_arrays(sines * np.cos(azimuth), sines * np.sin(azimuth), cosines), axis=-1)
    values = function(grid.reshape(-1, 3)).reshape(rule.polar.size, count)
    waves = np.fft.rfft(values, axis=1).conj() / count
    found = np.zeros(packed_size(degree), dtype=complex)
    for m in range(degree + 1):
        degrees = np.arange(m, degree + 1)
        table = polynomials_at(degree - m, 3 + 2 * m, rule.polar) * np.sin(rule.polar) ** m
        means = table @ (np.exp(rule.log_weights) * waves[:, m])
        found[place(degrees, m)] = (2.0 * degrees + 1.0) * leading_factors(m, degrees) * means
    return np.stack([found.real, found.imag])


def spread_points(count: int) -> Floats:
    """Return points spread over the sphere along a spiral, (count, 3)."""
    heights = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    around = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    across = np.sqrt(1.0 - heights**2)
    return np.stack([across * np.cos(around), across * np.sin(around), heights], axis=1)


def about_axis(zonal: Floats, axis: Floats) -> tuple[Floats, Floats]:
    """Return the moments by degree and order of densities with zonal moments (..., L + 1) about an axis."""
    cosine, sine = harmonics_at(axis[np.newaxis], zonal.shape[-1] - 1)[..., 0]
    degrees = degrees_of_places(cosine.size)
    return zonal[..., degrees] * cosine, zonal[..., degrees] * sine
