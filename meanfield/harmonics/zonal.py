r"""Densities on a sphere symmetric about the north pole, :math:`|S|\rho = \sum_l N_l p_l P_l(\cos\theta)`."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..domains import Sphere
from ..errors import InvalidInput
from .gegenbauer import multiplicities, raised, zonal_polynomials
from .modes import EPS, ByDegree, Floats, degree_of_name, entry, no_azimuth
from .quadrature import gauss_rule
from .spheres import OnSphere, require_pairs
from .sums import zonal_density, zonal_sensitivity, zonal_sum


@dataclass(frozen=True)
class ZonalModes(ByDegree, OnSphere):
    r"""Moments :math:`p_l = \langle P_l(\cos\theta)\rangle` about the north pole of a sphere."""

    domain: Sphere

    words: ClassVar[tuple[str, str]] = (
        "moment of the density with P_l",
        "zero: about an axis there is one moment a degree",
    )
    means: ClassVar[tuple[str, str]] = (
        "mean of P_l(cos theta) over the particles",
        "mean of the harmonics with sin(m phi), if there are any",
    )
    has_sines: ClassVar[bool] = False
    finest: ClassVar[int] = 4096
    amplifies: ClassVar[bool] = True

    @property
    def takes_azimuth(self) -> bool:
        """Whether points have one azimuth, as on the ordinary sphere."""
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
        """Refuse sine moments, which a zonal density does not have."""
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
        """Return the density over the uniform one at polar angles, repeated on 2 steps longitudes."""
        return np.repeat(self.density(cosine, sine, polar)[:, np.newaxis], 2 * steps, axis=1)

    def rounding(self, places: int) -> float:
        """Return the largest rounding error of a density, that at the pole, where all N_l P_l add up."""
        return EPS * float(zonal_sensitivity(places - 1, self._dimension, 0.0))

    def coarsest(self, places: int) -> int:
        """Return the fineness of the first grid to try for a number of moments."""
        return 2 * places + 24

    def grid(self, points: int) -> Floats:
        """Return the polar angles of Gauss nodes."""
        return gauss_rule(self._dimension, points).polar

    def values(self, cosine: Floats, sine: Floats, points: int) -> Floats:
        """Return sum_l c_l P_l(u) on a grid."""
        return zonal_sum(cosine, self._dimension, self.grid(points))

    def gradient(self, cosine: Floats, sine: Floats, points: int) -> list[Floats]:
        """Return the derivative of the same sum in the polar angle."""
        angles, dimension = self.grid(points), self._dimension
        return [-np.sin(angles) * zonal_sum(raised(cosine, dimension), dimension + 2, angles)]

    def mean(self, values: Floats, points: int) -> float:
        """Return the uniform mean of values on a grid, by Gauss quadrature."""
        return float(values @ np.exp(gauss_rule(self._dimension, points).log_weights))

    def noise(self, cosine: Floats, sine: Floats, points: int) -> Floats:
        """Return the rounding noise of the density on a grid, large at the poles.

        A moment has an error of eps relative and of eps times the size of P_l in the mean square.
        """
        numbers = self.multiplicities(cosine.size)
        sizes = numbers * np.abs(cosine) + np.sqrt(numbers)
        polynomials = zonal_polynomials(self._dimension, cosine.size - 1, np.cos(self.grid(points)))
        total = np.ones(points)
        for size, values in zip(sizes[1:], list(polynomials)[1:], strict=True):
            total += size * np.abs(values)
        return 8 * EPS * total
