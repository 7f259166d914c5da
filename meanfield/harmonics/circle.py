r"""Densities on the circle, :math:`2\pi\rho = 1 + 2\sum_{k\ge1} m_k\cos k\theta + s_k\sin k\theta`."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..domains import Circle
from .modes import EPS, ByDegree, Floats, degree_of_name, entry, no_azimuth


@dataclass(frozen=True)
class CircleModes(ByDegree):
    r"""Moments :math:`m_k = \langle\cos k\theta\rangle` and :math:`s_k = \langle\sin k\theta\rangle`."""

    domain: ClassVar[Circle] = Circle()
    span: ClassVar[tuple[float, float]] = (-math.pi, math.pi)
    upwards: ClassVar[tuple[float, float]] = (-math.pi, math.pi)
    unit: ClassVar[str] = "1/rad"
    relative: ClassVar[bool] = False
    kinds: ClassVar[str] = "ms"
    linear: ClassVar[str] = "ms"
    rotation_numbers: ClassVar[bool] = True
    columns: ClassVar[str] = "m"
    letters: ClassVar[tuple[str, str]] = ("c", "k")
    words: ClassVar[tuple[str, str]] = ("cosine moment of the density", "sine moment of the density")
    means: ClassVar[tuple[str, str]] = (
        "mean of cos(k x) over the particles",
        "mean of sin(k x) over the particles",
    )
    angle: ClassVar[str] = "angle"
    has_sines: ClassVar[bool] = True
    finest: ClassVar[int] = 2**18
    amplifies: ClassVar[bool] = False
    takes_azimuth: ClassVar[bool] = False

    def multiplicities(self, places: int) -> Floats:
        """Return 1, 2, 2, ..."""
        return np.asarray(np.minimum(2.0, 1.0 + np.arange(places)), dtype=np.float64)

    def check(self, sine: Floats) -> None:
        """Accept sine moments of every degree."""

    def named(self, cosine: Floats, sine: Floats, name: str) -> Floats:
        """Return the moments m1, m2, ... or s1, s2, ..."""
        kind, degree = degree_of_name(name, self.kinds)
        return entry(sine if kind == "s" else cosine, degree)

    def names(self, places: int) -> tuple[list[str], list[str]]:
        """Return m1, m2, ... and s1, s2, ..."""
        return [f"m{degree}" for degree in range(1, places)], [f"s{degree}" for degree in range(1, places)]

    def symbol(self, kind: str, degree: int) -> str:
        """Return the mathematical symbol of a named moment."""
        return f"${kind}_{{{degree}}}$"

    def check_angles(self, angle: npt.ArrayLike, azimuth: npt.ArrayLike | None) -> None:
        """Refuse an azimuth."""
        if azimuth is not None:
            raise no_azimuth(self.domain)

    def density(
        self, cosine: Floats, sine: Floats, angle: npt.ArrayLike, azimuth: npt.ArrayLike | None = None
    ) -> Floats:
        """Return the density over the uniform one at angles, whose axes come last."""
        self.check_angles(angle, azimuth)
        angles = np.asarray(angle, dtype=float)
        phases = np.multiply.outer(angles.ravel(), np.arange(1, cosine.shape[-1]))
        total = cosine[..., 1:] @ np.cos(phases).T + sine[..., 1:] @ np.sin(phases).T
        return np.asarray(cosine[..., :1] + 2.0 * total).reshape((*cosine.shape[:-1], *angles.shape))

    def density_on_rings(self, cosine: Floats, sine: Floats, polar: Floats, steps: int) -> Floats:
        """Refuse, since the circle has no rings of one polar angle."""
        raise no_azimuth(self.domain)

    def law(self, angle: Floats) -> Floats:
        """Return the uniform density."""
        return np.full(angle.shape, 1.0 / self.domain.volume)

    def rounding(self, places: int) -> float:
        """Return 0, since no rounding is amplified."""
        return 0.0

    def coarsest(self, places: int) -> int:
        """Return the fineness of the first grid to try for a number of moments."""
        return 1 << (4 * places + 12).bit_length()

    def grid(self, points: int) -> Floats:
        """Return equispaced angles from 0."""
        return 2 * np.pi * np.arange(points) / points

    def values(self, cosine: Floats, sine: Floats, points: int) -> Floats:
        """Return c_0 + sum_k (c_k cos kt + s_k sin kt) on a grid."""
        spectrum = np.zeros(points // 2 + 1, dtype=complex)
        spectrum[: cosine.size] = (cosine - 1j * sine) * 0.5
        spectrum[0] = cosine[0]
        return np.asarray(np.fft.irfft(spectrum, points) * points)

    def gradient(self, cosine: Floats, sine: Floats, points: int) -> list[Floats]:
        """Return the derivative of the same sum in the angle."""
        degrees = self.degrees(cosine.size)
        return [self.values(degrees * sine, -degrees * cosine, points)]

    def mean(self, values: Floats, points: int) -> float:
        """Return the mean of values on a grid."""
        return float(values.mean())

    def noise(self, cosine: Floats, sine: Floats, points: int) -> float:
        """Return the rounding noise of the density, by the sum of the moduli of all its terms."""
        return 8 * EPS * (1 + 2 * float(np.hypot(cosine[1:], sine[1:]).sum()))
