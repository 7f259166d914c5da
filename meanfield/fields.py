r"""Densities given by moments, on grids that are refined until integrals settle.

On every domain :math:`|S|\,\rho = \sum_l N_l \sum_j m_{lj} e_{lj}`. A field knows the degree of each place of its
moments, sums such series and their gradients on a grid of a given fineness, and takes uniform means: equispaced
angles on the circle, Gauss nodes for zonal densities, rings on Gauss nodes for all densities on :math:`S^2`.
"""

import math
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from .domains import Circle, Domain, Sphere
from .errors import ComputationFailed, InvalidInput
from .harmonics import largest_degree, place, zonal_sum
from .potentials.zonal import multiplicities, zonal_polynomials
from .quadrature import gauss_rule
from .states import Layout

Vector: TypeAlias = npt.NDArray[np.float64]

EPS = float(np.finfo(float).eps)


class Field(Protocol):
    """Series of one layout on grids; ``points`` is the fineness of a grid.

    Attributes
    ----------
    degrees
        Degree of each place of the moments.
    numbers
        N_l of each place.
    coarsest, finest
        The range of grids.
    amplifies
        Whether the N_l turn the rounding of moments into errors of the density that integrals feel.
    """

    degrees: npt.NDArray[np.intp]
    numbers: Vector
    coarsest: int
    finest: int
    amplifies: bool

    def values(self, cosine: Vector, sine: Vector, points: int) -> Vector:
        """Return the sum of the functions of all places with these factors on a grid."""
        ...

    def gradient(self, cosine: Vector, sine: Vector, points: int) -> list[Vector]:
        """Return the components of the gradient of the same sum."""
        ...

    def mean(self, values: Vector, points: int) -> float:
        """Return the uniform mean of values on a grid."""
        ...

    def noise(self, cosine: Vector, sine: Vector, points: int) -> float | Vector:
        """Return the rounding noise of |S| rho from its moments on a grid."""
        ...

    def angles(self, points: int) -> Vector:
        """Return the angles of the grid, polar and azimuthal ones along a first axis where there are two."""
        ...


def field_of(domain: Domain, layout: Layout, places: int) -> Field:
    """Return the field of moments of so many places.

    Raises
    ------
    InvalidInput
        If the layout does not belong to the domain, or the places do not make whole degrees.
    """
    if layout == "order":
        return FullField(domain, places)
    if layout != "degree":
        raise InvalidInput(f"the layout of moments is 'degree' or 'order', not {layout!r}")
    return CircleField(places) if isinstance(domain, Circle) else ZonalField(domain, places)


class CircleField:
    """Moments of cos kt and sin kt on equispaced angles."""

    finest = 2**18
    amplifies = False

    def __init__(self, places: int) -> None:
        self.degrees = np.arange(places)
        self.numbers = multiplicities(Circle(), places - 1).astype(float)
        self.coarsest = 1 << (4 * places + 12).bit_length()

    def values(self, cosine: Vector, sine: Vector, points: int) -> Vector:
        """Return c_0 + sum_k (c_k cos kt + s_k sin kt)."""
        spectrum = np.zeros(points // 2 + 1, dtype=complex)
        spectrum[: cosine.size] = (cosine - 1j * sine) * 0.5
        spectrum[0] = cosine[0]
        return np.asarray(np.fft.irfft(spectrum, points) * points)

    def gradient(self, cosine: Vector, sine: Vector, points: int) -> list[Vector]:
        """Return the derivative in the angle."""
        return [self.values(self.degrees * sine, -self.degrees * cosine, points)]

    def mean(self, values: Vector, points: int) -> float:
        """Return the mean."""
        return float(values.mean())

    def noise(self, cosine: Vector, sine: Vector, points: int) -> float:
        """Return the noise of the sum of all sizes."""
        return 8 * EPS * (1 + 2 * float(np.hypot(cosine[1:], sine[1:]).sum()))

    def angles(self, points: int) -> Vector:
        """Return equispaced angles from 0."""
        return 2 * np.pi * np.arange(points) / points


class ZonalField:
    """Moments p_l of zonal densities on Gauss nodes."""

    finest = 4096
    amplifies = True

    def __init__(self, domain: Domain, places: int) -> None:
        self.dimension = domain.dimension
        self.degrees = np.arange(places)
        with np.errstate(over="ignore"):
            self.numbers = multiplicities(domain, places - 1).astype(float)
        if not np.isfinite(self.numbers).all():
            raise InvalidInput(
                f"{places} moments in {domain.dimension} dimensions have multiplicities beyond the range of "
                "numbers; leave out moments that vanish"
            )
        self.coarsest = 2 * places + 24

    def values(self, cosine: Vector, sine: Vector, points: int) -> Vector:
        """Return sum_l c_l P_l(u)."""
        return zonal_sum(cosine, self.dimension, self.angles(points))

    def gradient(self, cosine: Vector, sine: Vector, points: int) -> list[Vector]:
        """Return the derivative in the polar angle."""
        angles = self.angles(points)
        return [-np.sin(angles) * zonal_sum(raised(cosine, self.dimension), self.dimension + 2, angles)]

    def mean(self, values: Vector, points: int) -> float:
        """Return the mean by Gauss quadrature."""
        return float(values @ np.exp(gauss_rule(self.dimension, points).log_weights))

    def noise(self, cosine: Vector, sine: Vector, points: int) -> Vector:
        """Return the noise of the sum, large at the poles.

        A moment has an error of eps relative and of eps times the size of P_l in the mean square.
        """
        sizes = self.numbers * np.abs(cosine) + np.sqrt(self.numbers)
        polynomials = zonal_polynomials(self.dimension, cosine.size - 1, np.cos(self.angles(points)))
        total = np.ones(points)
        for size, values in zip(sizes[1:], list(polynomials)[1:], strict=True):
            total += size * np.abs(values)
        return 8 * EPS * total

    def angles(self, points: int) -> Vector:
        """Return the polar angles of the nodes."""
        return polar_angles(self.dimension, points)


class FullField:
    """Packed moments of densities on S^2 on rings of equispaced longitudes through Gauss nodes."""

    finest = 1024
    amplifies = False

    def __init__(self, domain: Domain, places: int) -> None:
        if domain != Sphere(3):
            raise InvalidInput("moments by degree and order belong to Sphere(3); use layout='degree' elsewhere")
        self.degree = largest_degree(places)
        if place(self.degree + 1, 0) != places:
            raise InvalidInput(
                f"moments up to degree L by degree and order are (L+1)(L+2)/2 numbers, not {places}; the nearest "
                f"are {place(self.degree + 1, 0)} and {place(self.degree + 2, 0)}"
            )
        self.degrees = np.repeat(np.arange(self.degree + 1), np.arange(1, self.degree + 2))
        self.numbers: Vector = np.asarray(2.0 * self.degrees + 1, dtype=np.float64)
        self.coarsest = 2 * self.degree + 16

    def values(self, cosine: Vector, sine: Vector, points: int) -> Vector:
        """Return the sum, shape (points, 2 points): rings from the north pole, longitudes from 0."""
        return self.on_rings(cosine, sine, polar_angles(3, points), points)

    def on_rings(self, cosine: Vector, sine: Vector, polar: Vector, points: int) -> Vector:
        """Return the sum at polar angles and on 2 points longitudes from 0, (n, 2 points)."""
        rings = [np.sin(polar) ** m * self._along(cosine, sine, m, polar) for m in range(self.degree + 1)]
        return _around(np.array(rings), points)

    def gradient(self, cosine: Vector, sine: Vector, points: int) -> list[Vector]:
        """Return the derivative in the polar angle and the one in the longitude over sin(polar)."""
        polar = polar_angles(3, points)
        south, east = np.zeros((2, self.degree + 1, points), dtype=complex)
        for m in range(self.degree + 1):
            slope = self._along(cosine, sine, m, polar, derivative=True)
            south[m] = -(np.sin(polar) ** (m + 1)) * slope
            if m:
                inner = m * np.sin(polar) ** (m - 1) * self._along(cosine, sine, m, polar)
                south[m] += np.cos(polar) * inner
                east[m] = 1j * inner
        return [_around(south, points), _around(east, points)]

    def mean(self, values: Vector, points: int) -> float:
        """Return the mean over the sphere."""
        return float(values.mean(axis=1) @ np.exp(gauss_rule(3, points).log_weights))

    def noise(self, cosine: Vector, sine: Vector, points: int) -> float:
        """Return the noise of the sum of all sizes."""
        return 8 * EPS * (1 + float((self.numbers * np.hypot(cosine, sine))[1:].sum()))

    def angles(self, points: int) -> Vector:
        """Return polar angles and longitudes, shape (2, points, 2 points)."""
        around = np.pi * np.arange(2 * points) / points
        return np.array(np.meshgrid(polar_angles(3, points), around, indexing="ij"))

    def _along(
        self, cosine: Vector, sine: Vector, m: int, polar: Vector, *, derivative: bool = False
    ) -> npt.NDArray[np.complex128]:
        r"""Return the factor of :math:`\sin^m\theta\,e^{im\varphi}` along a meridian, or its slope in the cosine.

        :math:`e_{lm} = a_{lm} \sin^m\theta\,P_{l-m}^{(3+2m)}(\cos\theta)`, see :mod:`meanfield.harmonics`.
        """
        degrees = np.arange(m, self.degree + 1)
        places, dimension = degrees * (degrees + 1) // 2 + m, 3 + 2 * m
        terms = _leading(m, degrees) * (cosine[places] - 1j * sine[places])
        if derivative:
            terms, dimension = raised(terms, dimension), dimension + 2
        if not terms.any():
            return np.zeros(polar.size, dtype=complex)
        parts = [zonal_sum(np.ascontiguousarray(part), dimension, polar) for part in (terms.real, terms.imag)]
        return parts[0] + 1j * parts[1]


def raised(terms: npt.NDArray[Any], dimension: int) -> npt.NDArray[Any]:
    r"""Return the derivative of a series in the cosine, a series in the polynomials of dimension d + 2.

    :math:`P_l' = \frac{l(l+d-2)}{d-1} P_{l-1}^{(d+2)}`.
    """
    degrees = np.arange(1, terms.size)
    if degrees.size == 0:
        return np.zeros_like(terms)
    return np.asarray(terms[1:] * (degrees * (degrees + dimension - 2.0) / (dimension - 1)))


def polar_angles(dimension: int, points: int) -> Vector:
    """Return the polar angles of Gauss nodes, exact near both poles."""
    rule = gauss_rule(dimension, points)
    northern = 2 * np.arcsin(np.sqrt(rule.complements / 2))
    return np.asarray(np.where(rule.nodes >= 0, northern, np.pi - northern))


def _leading(m: int, degrees: npt.NDArray[np.intp]) -> Vector:
    """Return sqrt((2 - delta_m0) (l+m)!/(l-m)!) / (2^m m!) for l = m, m + 1, ..."""
    first = math.sqrt(2.0) if m else 1.0
    for k in range(1, m + 1):
        first *= math.sqrt((2 * k - 1) / (2 * k))
    ratios = np.sqrt((degrees[1:] + m) / (degrees[1:] - m))
    return np.asarray(first * np.cumprod(np.concatenate([[1.0], ratios])))


def _around(rings: npt.NDArray[np.complex128], points: int) -> Vector:
    """Return Re sum_m rings[m] e^(im phi) on 2 points longitudes, shape (rings, 2 points)."""
    spectrum = np.zeros((rings.shape[1], points + 1), dtype=complex)
    spectrum[:, : rings.shape[0]] = rings.T * 0.5
    spectrum[:, 0] = rings[0].real
    return np.asarray(np.fft.irfft(spectrum, 2 * points, axis=1) * (2 * points))


def converged(field: Field, integrand: Callable[[int], tuple[Vector, Vector]]) -> float:
    """Return the mean of a function on grids doubled until two agree.

    The integrand returns its values and their sizes before cancellation, which set the tolerance.

    Raises
    ------
    ComputationFailed
        If no two grids agree.
    """
    points = field.coarsest
    coarse = field.mean(integrand(points)[0], points)
    while points < field.finest:
        points *= 2
        values, sizes = integrand(points)
        fine = field.mean(values, points)
        if abs(fine - coarse) <= 16 * EPS * field.mean(sizes, points):
            return fine
        coarse = fine
    raise ComputationFailed(
        f"an integral over the density did not settle on {points} points; the density touches zero: "
        "use moments of a smooth positive density"
    )
