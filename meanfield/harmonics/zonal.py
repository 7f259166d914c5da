r"""Densities on a sphere symmetric about the north pole, :math:`|S|\rho = \sum_l N_l p_l P_l(\cos\theta)`."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..domains import Sphere
from ..errors import InvalidInput
from .modes import EPS, ByDegree, Floats, degree_of_name, entry, no_azimuth
from .polynomials import multiplicities, raised, zonal_polynomials
from .quadrature import gauss_rule, polar_angles
from .sums import zonal_density, zonal_sensitivity, zonal_sum


@dataclass(frozen=True)
class ZonalModes(ByDegree):
    r"""Moments :math:`p_l = \langle P_l(\cos\theta)\rangle` about the north pole of a sphere."""

    domain: Sphere

    span: ClassVar[tuple[float, float]] = (0.0, math.pi)
    upwards: ClassVar[tuple[float, float]] = (math.pi, 0.0)
    unit: ClassVar[str] = "1"
    relative: ClassVar[bool] = True
    kinds: ClassVar[str] = "mp"
    linear: ClassVar[str] = "p"
    rotation_numbers: ClassVar[bool] = False
    columns: ClassVar[str] = "mp"
    letters: ClassVar[tuple[str, str]] = ("m", "l")
    words: ClassVar[tuple[str, str]] = (
        "moment of the density with P_l",
        "zero: about an axis there is one moment a degree",
    )
    means: ClassVar[tuple[str, str]] = (
        "mean of P_l(cos theta) over the particles",
        "mean of the harmonics with sin(m phi), if there are any",
    )
    angle: ClassVar[str] = "angle from the north pole"
    has_sines: ClassVar[bool] = False
    finest: ClassVar[int] = 4096
    amplifies: ClassVar[bool] = True

    @property
    def takes_azimuth(self) -> bool:
        """Whether there is one azimuth: on the ordinary sphere."""
        return self.domain.has_azimuth

    @property
    def _dimension(self) -> int:
        return self.domain.dimension

    def multiplicities(self, places: int) -> Floats:
        """Return N_l of each degree.

        Raises
        ------
        InvalidInput
            If one is beyond the range of numbers.
        """
        with np.errstate(over="ignore"):
            numbers = multiplicities(self.domain, places - 1).astype(float)
        if not np.isfinite(numbers).all():
            raise InvalidInput(
                f"{places} moments in {self._dimension} dimensions have multiplicities beyond the range of "
                "numbers; leave out moments that vanish"
            )
        return np.asarray(numbers)

    def check(self, sine: Floats) -> None:
        """Refuse sine moments, which a zonal density has not."""
        if sine.any():
            raise InvalidInput(
                "a zonal density has no sine moments; a density on S^2 without an axis has layout='order'"
            )

    def named(self, cosine: Floats, sine: Floats, name: str) -> Floats:
        """Return the lengths m1, m2, ... or the moments p1, p2, ... about the axis."""
        kind, degree = degree_of_name(name, self.kinds)
        return entry(np.abs(cosine) if kind == "m" else cosine, degree)

    def names(self, places: int) -> tuple[list[str], list[str]]:
        """Return p1, p2, ... and s1, s2, ..., which are zero."""
        return [f"p{degree}" for degree in range(1, places)], [f"s{degree}" for degree in range(1, places)]

    def symbol(self, kind: str, degree: int) -> str:
        """Return the mathematical symbol of a named moment."""
        return symbol_on_sphere(kind, degree)

    def check_angles(self, angle: npt.ArrayLike, azimuth: npt.ArrayLike | None) -> None:
        """Refuse an azimuth that has no meaning, or makes no pairs with the angles."""
        if azimuth is not None:
            if not self.takes_azimuth:
                raise no_azimuth(self.domain)
            require_pairs(angle, azimuth)

    def density(
        self, cosine: Floats, sine: Floats, angle: npt.ArrayLike, azimuth: npt.ArrayLike | None = None
    ) -> Floats:
        """Return the density over the uniform one at polar angles; on S^2 an azimuth makes no difference."""
        self.check_angles(angle, azimuth)
        rows = [zonal_density(row, self._dimension, angle) for row in cosine.reshape(-1, cosine.shape[-1])]
        values = np.array(rows).reshape((*cosine.shape[:-1], *np.shape(angle)))
        return values if azimuth is None else values + np.zeros(np.shape(azimuth))

    def density_on_rings(self, cosine: Floats, sine: Floats, polar: Floats, steps: int) -> Floats:
        """Return the density over the uniform one at polar angles, 2 steps times."""
        return np.repeat(self.density(cosine, sine, polar)[:, np.newaxis], 2 * steps, axis=1)

    def law(self, angle: Floats) -> Floats:
        """Return the density of the polar angle of uniform points."""
        return polar_law(self.domain, angle)

    def rounding(self, places: int) -> float:
        """Return the error at the pole, where all N_l P_l add up."""
        return EPS * float(zonal_sensitivity(places - 1, self._dimension, 0.0))

    def coarsest(self, places: int) -> int:
        """Return the fineness of the first grid to try for so many moments."""
        return 2 * places + 24

    def grid(self, points: int) -> Floats:
        """Return the polar angles of Gauss nodes."""
        return polar_angles(self._dimension, points)

    def values(self, cosine: Floats, sine: Floats, points: int) -> Floats:
        """Return sum_l c_l P_l(u)."""
        return zonal_sum(cosine, self._dimension, self.grid(points))

    def gradient(self, cosine: Floats, sine: Floats, points: int) -> list[Floats]:
        """Return the derivative in the polar angle."""
        angles, dimension = self.grid(points), self._dimension
        return [-np.sin(angles) * zonal_sum(raised(cosine, dimension), dimension + 2, angles)]

    def mean(self, values: Floats, points: int) -> float:
        """Return the mean by Gauss quadrature."""
        return float(values @ np.exp(gauss_rule(self._dimension, points).log_weights))

    def noise(self, cosine: Floats, sine: Floats, points: int) -> Floats:
        """Return the noise of the sum, large at the poles.

        A moment has an error of eps relative and of eps times the size of P_l in the mean square.
        """
        numbers = self.multiplicities(cosine.size)
        sizes = numbers * np.abs(cosine) + np.sqrt(numbers)
        polynomials = zonal_polynomials(self._dimension, cosine.size - 1, np.cos(self.grid(points)))
        total = np.ones(points)
        for size, values in zip(sizes[1:], list(polynomials)[1:], strict=True):
            total += size * np.abs(values)
        return 8 * EPS * total


def polar_law(sphere: Sphere, angle: Floats) -> Floats:
    """Return the density of the angle from the pole of uniform points on a sphere."""
    half = 0.5 * sphere.dimension
    factor = math.exp(math.lgamma(half) - math.lgamma(half - 0.5)) / math.sqrt(math.pi)
    return np.asarray(factor * np.sin(angle) ** (sphere.dimension - 2))


def symbol_on_sphere(kind: str, degree: int) -> str:
    """Return the mathematical symbol of a named moment on a sphere."""
    if kind == "m":
        return f"$|m_{{{degree}}}|$"
    mean = r"\langle \cos\theta \rangle" if degree == 1 else rf"\langle P_{{{degree}}}(\cos\theta) \rangle"
    # Nematics know the second as S.
    return rf"$S = p_2 = {mean}$" if degree == 2 else rf"$p_{{{degree}}} = {mean}$"


def require_pairs(polar: npt.ArrayLike, azimuth: npt.ArrayLike) -> None:
    """Refuse angles that do not make pairs."""
    try:
        np.broadcast_shapes(np.shape(polar), np.shape(azimuth))
    except ValueError as error:
        raise InvalidInput(
            f"angles of shapes {np.shape(polar)} and {np.shape(azimuth)} do not make pairs; give both of one shape"
        ) from error
