"""Moments of points of a branch and their derivatives along it, many points at once."""

import numpy as np
import scipy.fft

from ..bases import CosineBasis, Floats
from ..branches.continuation import Point
from ..branches.recording import SIGNIFICANT
from .rotation import Complexes


def moment_arrays(points: list[Point]) -> Floats:
    """Return moments and derivatives along the branch of points of one equation, (4, points, degree + 1)."""
    basis = points[0].equation.basis
    symmetry = basis.symmetry
    density = significant_moments(points)
    derivative = moment_derivatives(points, density)
    arrays = np.zeros((4, len(points), symmetry * (density.shape[1] - 1) + 1))
    phases = basis.phases(density.shape[1]) if isinstance(basis, CosineBasis) else 1.0
    for first, values in ((0, phases * density), (2, phases * derivative)):
        arrays[first, :, ::symmetry] = values.real
        arrays[first + 1, :, ::symmetry] = -values.imag
    return arrays


def complex_moments(point: Point) -> Complexes:
    """Return the moments m - i s of a point by degree."""
    cosine, sine = point.equation.basis.expand(point.moments)
    return cosine - 1j * sine


def significant_moments(points: list[Point]) -> np.ndarray:
    """Return the moments m - i s of points of one equation by cell, up to the last that is above rounding noise."""
    basis = points[0].equation.basis
    rows = np.array([point.moments for point in points])
    large = np.abs(rows).max(axis=0).reshape(-1, basis.nodes + 1).max(axis=0) > SIGNIFICANT
    count = int(np.flatnonzero(large)[-1]) + 1
    if isinstance(basis, CosineBasis):
        return rows[:, :count]
    return rows[:, :count] - 1j * rows[:, basis.nodes + 1 : basis.nodes + 1 + count]


def moment_derivatives(points: list[Point], density: np.ndarray) -> np.ndarray:
    """Return the derivatives along the branch of the moments m - i s by cell, one row a point.

    The derivative of a moment is the covariance of its mode with the derivative of the field; the products are
    taken on a grid of all points at once, with as many nodes as the moments that are given need.
    """
    basis = points[0].equation.basis
    slopes = _field_slopes(points)
    if not isinstance(basis, CosineBasis):
        half = slopes.shape[1] // 2
        slopes = slopes[:, :half] - 1j * slopes[:, half:]
    cells = basis.degrees[: slopes.shape[1]] // basis.symmetry
    # On n nodes a product of degree d reaches back to n - d, which must stay above the degrees that are asked for.
    nodes = scipy.fft.next_fast_len(2 * (density.shape[1] + int(cells[-1])), real=True)
    series = np.zeros((len(points), int(cells[-1]) + 1), dtype=slopes.dtype)
    series[:, cells] = 0.5 * slopes
    product = scipy.fft.irfft(series, nodes) * scipy.fft.irfft(density, nodes)
    covariances = scipy.fft.rfft(product)[:, : density.shape[1]] * nodes
    derivative = covariances - density * covariances[:, :1].real
    return derivative if np.iscomplexobj(density) else derivative.real


def _field_slopes(points: list[Point]) -> Floats:
    """Return the derivatives of the fields along the branch, one row a point."""
    solutions = [point.solution for point in points]
    coupling, slope = np.array([(solution.q, solution.tangent_q) for solution in solutions]).T[:, :, None]
    b, tangent = (np.array(rows) for rows in zip(*((s.b, s.tangent_b) for s in solutions), strict=True))
    change: Floats = slope * b + coupling * tangent
    return 2.0 * points[0].equation.signed_scales * change
