r"""All densities on the ordinary sphere, by degree and order.

.. math:: |S|\rho = \sum_l (2l+1)\sum_m c_{lm} e^c_{lm} + s_{lm} e^s_{lm}, \qquad
          e^c_{lm} = \sqrt{(2 - \delta_{m0}) \tfrac{(l-m)!}{(l+m)!}}\, P_l^m(\cos\theta) \cos m\varphi

and :math:`e^s_{lm}` with the sine, without the sign :math:`(-1)^m`, so that
:math:`P_l(\langle x, y\rangle) = \sum_m e^c_{lm}(x) e^c_{lm}(y) + e^s_{lm}(x) e^s_{lm}(y)`; the moment of degree
l and order m stands at place :math:`l(l+1)/2 + m`.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..domains import Sphere
from ..errors import InvalidInput
from .gegenbauer import raised
from .modes import EPS, Floats, Indices, Layout, degree_of_name, entry, no_such_order
from .packing import degrees_of_places, largest_degree, moduli, packed_size, place, zonal_places
from .quadrature import gauss_rule
from .spheres import OnSphere, require_pairs
from .sums import full_density, zonal_sum


@dataclass(frozen=True)
class SphereModes(OnSphere):
    """Moments by degree and order of densities on the ordinary sphere."""

    domain: Sphere = field(default=Sphere(3), init=False)
    layout: ClassVar[Layout] = "order"
    angles: ClassVar[int] = 2
    words: ClassVar[tuple[str, str]] = ("moment of the density with e^c_lm", "moment of the density with e^s_lm")
    means: ClassVar[tuple[str, str]] = (
        "mean of the harmonics with cos(m phi) over the particles, degree l and order m at l (l + 1)/2 + m",
        "mean of the harmonics with sin(m phi), if there are any",
    )
    has_sines: ClassVar[bool] = True
    finest: ClassVar[int] = 1024
    amplifies: ClassVar[bool] = False
    takes_azimuth: ClassVar[bool] = True

    def places(self, degree: int) -> int:
        """Return (L + 1)(L + 2)/2, the number of moments up to a degree."""
        return packed_size(degree)

    def degree(self, places: int) -> int:
        """Return the largest degree of a number of moments."""
        return largest_degree(places)

    def degrees(self, places: int) -> Indices:
        """Return the degree of each place."""
        return degrees_of_places(places)

    def orders(self, places: int) -> Indices | None:
        """Return the azimuthal order of each place."""
        degrees = degrees_of_places(places)
        return np.asarray(np.arange(places) - place(degrees, 0))

    def axial(self, degree: int) -> Indices:
        """Return the places of the moments of order 0 for degrees from 0 to ``degree``."""
        return zonal_places(degree)

    def places_of(self, degree: int) -> slice:
        """Return the places of all orders of a degree."""
        return slice(self.places(degree - 1), self.places(degree))

    def multiplicities(self, places: int) -> Floats:
        """Return 2l + 1 of each place."""
        return np.asarray(2.0 * degrees_of_places(places) + 1.0)

    def place(self, degree: int, order: int) -> int:
        """Return l(l + 1)/2 + m, the place of a degree and an order."""
        if not 0 <= order <= degree:
            raise no_such_order(degree, order)
        return int(place(degree, order))

    def check_number(self, places: int, what: str) -> None:
        """Refuse a number of moments that makes no whole number of degrees."""
        if places < 1 or self.places(largest_degree(places)) != places:
            degree = max(0, largest_degree(places))
            raise InvalidInput(
                f"the moments of {what} are by degree and order and {places} in number, no whole number of "
                f"degrees; the nearest are {self.places(degree)} and {self.places(degree + 1)} of (L+1)(L+2)/2"
            )

    def check(self, sine: Floats) -> None:
        """Refuse sine moments of order 0."""
        if sine[..., zonal_places(largest_degree(sine.shape[-1]))].any():
            raise InvalidInput("a sine moment of order 0 belongs to no harmonic and must be 0")

    def lengths(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the lengths of the moments of each degree (..., L + 1), which no rotation changes."""
        return moduli(cosine, sine)

    def signed(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the lengths of the moments of each degree (..., L + 1)."""
        return moduli(cosine, sine)

    def named(self, cosine: Floats, sine: Floats, name: str) -> Floats:
        """Return the lengths m1, m2, ... or the moments p1, p2, ... about the north pole."""
        kind, degree = degree_of_name(name, self.kinds)
        return entry(moduli(cosine, sine), degree) if kind == "m" else entry(cosine, int(place(degree, 0)))

    def names(self, places: int) -> tuple[list[str], list[str]]:
        """Return c_1_0, c_1_1, ... and s_1_0, s_1_1, ..."""
        orders = self.orders(places)
        pairs = [f"{degree}_{order}" for degree, order in zip(self.degrees(places), orders, strict=True)][1:]  # type: ignore[arg-type]
        return [f"c_{pair}" for pair in pairs], [f"s_{pair}" for pair in pairs]

    def check_angles(self, angle: npt.ArrayLike, azimuth: npt.ArrayLike | None) -> None:
        """Refuse a single angle, and two that make no pairs."""
        if azimuth is None:
            raise InvalidInput("this density has no axis of symmetry; give both angles, density(polar, azimuth)")
        require_pairs(angle, azimuth)

    def density(
        self, cosine: Floats, sine: Floats, angle: npt.ArrayLike, azimuth: npt.ArrayLike | None = None
    ) -> Floats:
        """Return the density over the uniform one at pairs of angles."""
        self.check_angles(angle, azimuth)
        return full_density(cosine, sine, angle, np.asarray(azimuth))

    def density_on_rings(self, cosine: Floats, sine: Floats, polar: Floats, steps: int) -> Floats:
        """Return the density over the uniform one at polar angles and 2 steps longitudes from 0."""
        numbers = self.multiplicities(cosine.size)
        return _on_rings(numbers * cosine, numbers * sine, polar, steps)

    def rounding(self, places: int) -> float:
        """Return 0, since the multiplicities are small."""
        return 0.0

    def coarsest(self, places: int) -> int:
        """Return the fineness of the first grid to try for a number of moments."""
        return 2 * largest_degree(places) + 16

    def grid(self, points: int) -> Floats:
        """Return polar angles and longitudes, shape (2, points, 2 points)."""
        around = np.pi * np.arange(2 * points) / points
        return np.array(np.meshgrid(gauss_rule(3, points).polar, around, indexing="ij"))

    def values(self, cosine: Floats, sine: Floats, points: int) -> Floats:
        """Return the sum of harmonics on a grid, (points, 2 points): rings from north, longitudes from 0."""
        return _on_rings(cosine, sine, gauss_rule(3, points).polar, points)

    def gradient(self, cosine: Floats, sine: Floats, points: int) -> list[Floats]:
        """Return the derivative in the polar angle and the one in the longitude over sin(polar)."""
        polar, degree = gauss_rule(3, points).polar, largest_degree(cosine.size)
        south, east = np.zeros((2, degree + 1, points), dtype=complex)
        for m in range(degree + 1):
            slope = order_along(cosine, sine, m, polar, derivative=True)
            south[m] = -(np.sin(polar) ** (m + 1)) * slope
            if m:
                inner = m * np.sin(polar) ** (m - 1) * order_along(cosine, sine, m, polar)
                south[m] += np.cos(polar) * inner
                east[m] = 1j * inner
        return [_around(south, points), _around(east, points)]

    def mean(self, values: Floats, points: int) -> float:
        """Return the mean over the sphere."""
        return float(values.mean(axis=1) @ np.exp(gauss_rule(3, points).log_weights))

    def noise(self, cosine: Floats, sine: Floats, points: int) -> float:
        """Return the rounding noise of the density, by the sum of the moduli of all its terms."""
        numbers = self.multiplicities(cosine.size)
        return 8 * EPS * (1 + float((numbers * np.hypot(cosine, sine))[1:].sum()))


def _on_rings(cosine: Floats, sine: Floats, polar: Floats, points: int) -> Floats:
    """Return the sum of harmonics at polar angles and 2 points longitudes from 0, (n, 2 points)."""
    orders = range(largest_degree(cosine.size) + 1)
    return _around(np.array([np.sin(polar) ** m * order_along(cosine, sine, m, polar) for m in orders]), points)


def order_along(
    cosine: Floats, sine: Floats, m: int, polar: Floats, *, derivative: bool = False
) -> npt.NDArray[np.complex128]:
    r"""Return the factor of :math:`\sin^m\theta\,e^{im\varphi}` along a meridian, or its slope in the cosine.

    :math:`e_{lm} = a_{lm} \sin^m\theta\,P_{l-m}^{(3+2m)}(\cos\theta)`, see :mod:`meanfield.harmonics`.
    """
    degrees = np.arange(m, largest_degree(cosine.size) + 1)
    places, dimension = place(degrees, m), 3 + 2 * m
    terms = leading_factors(m, degrees) * (cosine[places] - 1j * sine[places])
    if derivative:
        terms, dimension = raised(terms, dimension), dimension + 2
    if not terms.any():
        return np.zeros(polar.size, dtype=complex)
    parts = [zonal_sum(np.ascontiguousarray(part), dimension, polar) for part in (terms.real, terms.imag)]
    return parts[0] + 1j * parts[1]


def leading_factors(m: int, degrees: npt.NDArray[np.intp]) -> Floats:
    """Return sqrt((2 - delta_m0) (l+m)!/(l-m)!) / (2^m m!) for l = m, m + 1, ..."""
    first = math.sqrt(2.0) if m else 1.0
    for k in range(1, m + 1):
        first *= math.sqrt((2 * k - 1) / (2 * k))
    ratios = np.sqrt((degrees[1:] + m) / (degrees[1:] - m))
    return np.asarray(first * np.cumprod(np.concatenate([[1.0], ratios])))


def _around(rings: npt.NDArray[np.complex128], points: int) -> Floats:
    """Return Re sum_m rings[m] e^(im phi) on 2 points longitudes, shape (rings, 2 points)."""
    spectrum = np.zeros((rings.shape[1], points + 1), dtype=complex)
    spectrum[:, : rings.shape[0]] = rings.T * 0.5
    spectrum[:, 0] = rings[0].real
    return np.asarray(np.fft.irfft(spectrum, 2 * points, axis=1) * (2 * points))
