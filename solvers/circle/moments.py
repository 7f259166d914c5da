"""Moments of points of a branch and their derivatives along it, many points at once."""

from typing import TypeVar

import numpy as np
import scipy.fft

from ..bases import Floats, Integers
from ..branches.continuation import Point
from ..branches.recording import SIGNIFICANT
from .rotation import Complexes

Values = TypeVar("Values", Floats, Complexes)


def moment_arrays(points: list[Point]) -> Floats:
    """Return moments and derivatives along a branch of even states of one equation, (4, points, degree + 1)."""
    basis = points[0].equation.basis
    (density,) = significant_moments(points)
    cells, slopes = field_slopes(points)
    derivative = moment_derivatives(density, cells, slopes)
    changes = factor_changes(points)
    if changes is not None:
        derivative += changes[:, : density.shape[1]]
    if not basis.axis:
        return by_degree(points, density, derivative)
    cosines = basis.cosines
    assert cosines is not None
    phases = cosines.phases(density.shape[1])
    return by_degree(points, phases * density, phases * derivative)


def by_degree(points: list[Point], density: np.ndarray, derivative: np.ndarray) -> Floats:
    """Return cosine and sine moments by degree, and then their derivatives, from those m - i s by cell.

    Those of densities without sines are real.
    """
    symmetry = points[0].equation.basis.symmetry
    arrays = np.zeros((4, len(points), symmetry * (density.shape[1] - 1) + 1))
    for first, values in ((0, density), (2, derivative)):
        arrays[first, :, ::symmetry] = values.real
        if np.iscomplexobj(values):
            arrays[first + 1, :, ::symmetry] = -values.imag
    return arrays


def complex_moments(point: Point) -> Complexes:
    """Return the moments m - i s of a point by degree."""
    cosine, sine = point.by_degree
    return cosine - 1j * sine


def padded(moments: Values, size: int) -> Values:
    """Return moments cut or padded with zeros to a size."""
    result = np.zeros(size, dtype=moments.dtype)
    result[: moments.size] = moments[:size]
    return result


def significant_moments(points: list[Point]) -> list[Floats]:
    """Return the moments of points of one equation by cell, up to the last that is above rounding noise.

    Those with cosines, and where there are any with sines, (points, cells) each.
    """
    rows = np.array([point.moments for point in points])
    parts = np.split(rows, rows.shape[1] // (points[0].equation.basis.nodes + 1), axis=1)
    large = np.max([np.abs(part).max(axis=0) for part in parts], axis=0) > SIGNIFICANT
    count = int(np.flatnonzero(large)[-1]) + 1
    return [part[:, :count] for part in parts]


def moment_derivatives(density: np.ndarray, cells: Integers, slopes: np.ndarray) -> np.ndarray:
    """Return the derivatives along the branch of the moments m - i s by cell, one row a point.

    The derivative of a moment is the covariance of its mode with the derivative of the field; the products are
    taken on a grid of all points at once, with as many nodes as the moments that are given need.

    Parameters
    ----------
    density : (points, n)
        The moments, cosines - i sines.
    cells : (m,)
        The cells of the derivatives of the fields.
    slopes : (points, m)
        These, cosines - i sines.
    """
    series = np.zeros((len(density), int(cells[-1]) + 1), dtype=slopes.dtype)
    series[:, cells] = slopes
    products = _complex_products if np.iscomplexobj(density) else _real_products
    covariances = products(density, series)
    return np.asarray(covariances - density * covariances[:, :1].real)


def _complex_products(density: np.ndarray, series: np.ndarray) -> np.ndarray:
    """Return the first moments of densities times series, as many as are given of the densities."""
    # On n nodes a product of degree d reaches back to n - d, which must stay above the degrees that are asked for.
    nodes = scipy.fft.next_fast_len(2 * (density.shape[1] + series.shape[1] - 1), real=True)
    product = scipy.fft.irfft(series, nodes) * scipy.fft.irfft(density, nodes)
    return np.asarray(scipy.fft.rfft(product)[:, : density.shape[1]] * (0.5 * nodes))


def _real_products(density: Floats, series: Floats) -> Floats:
    """Return :func:`_complex_products` of cosines, from values in the middle of intervals of half a period."""
    count = scipy.fft.next_fast_len(density.shape[1] + series.shape[1] - 1, real=True)
    product = scipy.fft.dct(series, 3, count) * scipy.fft.dct(density, 3, count)
    return np.asarray(scipy.fft.dct(product, 2)[:, : density.shape[1]] * (0.25 / count))


def factor_changes(points: list[Point]) -> Floats | None:
    """Return the changes of moments along the branch by a factor of the densities, one row a point; or None."""
    return points[0].equation.factor_changes([point.solution for point in points])


def field_slopes(points: list[Point]) -> tuple[Integers, Floats]:
    """Return cells, and the derivatives of the fields along the branch in their modes, one row a point.

    Those of uneven densities have the cosines of all cells first.
    """
    equation = points[0].equation
    return equation.field_slopes([point.solution for point in points])
