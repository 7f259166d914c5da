r"""Formulas of potentials on the circle, where :math:`P_k(\cos t) = \cos kt`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..domains import Circle
from ..errors import InvalidInput
from ..harmonics.gegenbauer import Extended, Floats
from .arrays import Kinked, Number
from .sampling import PI, Sampled
from .series import scaled_bessel, sine_defect
from .waves import wave_sums


class _Kinks:
    """Multipliers of functions with kinks, sums of waves."""

    most: ClassVar[int] = 2**16

    def integrals(self, weighted: Any, angles: Any, degree: int) -> Any:
        """Return the sums of weighted values against cos kt, k = 0..degree."""
        return wave_sums(weighted, angles, degree).real

    def bound(self, function: Kinked, following: float) -> float:
        """Return a bound of the multipliers from a degree on, the best of those by partial integration."""
        jumps, integrals = function.variations
        powers = following ** -np.arange(1.0, jumps.size + 1)
        before = np.concatenate([[0.0], np.cumsum(jumps * powers)])
        bounds = before + integrals * np.concatenate([[1.0], powers])
        return float(2 / np.pi * bounds.min())


@dataclass(frozen=True)
class _Confidence:
    r"""Bounded confidence, :math:`w_k = -\frac2\pi (kR - \sin kR)/k^3` and :math:`w_0 = -R^3/(6\pi)`."""

    radius: float

    def multipliers(self, degree: int) -> Floats:
        """Return w_0, ..., w_degree."""
        multipliers = -(2 / np.pi) * self.radius**3 * self._shape(degree).astype(np.float64)
        multipliers[0] /= 2
        return np.asarray(multipliers)

    def relative(self, degree: int, scale: Callable[[], Number]) -> Extended:
        """Return w_k over the modulus of w_1, the largest, without rounding twice."""
        shape = self._shape(max(degree, 1))
        return np.asarray((-shape / shape[1])[: degree + 1])

    def derivatives(self, degree: int) -> Floats:
        r"""Return :math:`-\frac4\pi \sin^2(kR/2)/k^2`, and :math:`-R^2/(2\pi)`."""
        modes, half = np.arange(1, degree + 1), np.longdouble(self.radius) / 2
        roots = np.concatenate([[half / np.sqrt(np.longdouble(2))], np.sin(modes * half) / modes])
        return np.asarray(-(4 / np.pi) * roots**2, dtype=np.float64)

    def bound(self, following: int) -> float:
        """Return the modulus of the multiplier itself: (x - sin x)/x^3 decreases, as 3 sin x < x (2 + cos x)."""
        angle = np.array([np.longdouble(self.radius) * following])
        return float(2 / np.pi * self.radius**3 * sine_defect(angle)[0])

    def _shape(self, degree: int) -> npt.NDArray[np.longdouble]:
        """Return (x - sin x)/x^3 at x = kR."""
        return sine_defect(np.longdouble(self.radius) * np.arange(degree + 1))


@dataclass(frozen=True)
class OnCircle:
    """The formulas of the circle."""

    domain: Circle

    mean_logarithm: ClassVar[float] = 0.0
    kinks: ClassVar[_Kinks] = _Kinks()
    prefers_pieces: ClassVar[bool] = False

    def exponential(self, size: float, degree: int) -> Extended:
        r"""Return :math:`2 e^{-x} I_k(x)`, half of it at k = 0."""
        terms = 2 * scaled_bessel(size, degree)
        terms[0] /= 2
        return np.asarray(terms)

    def sine(self, degree: int) -> Floats:
        r"""Return :math:`-4/(\pi(k^2-1))` for even k, and the mean :math:`2/\pi`."""
        modes = np.arange(degree + 1, dtype=float)
        multipliers = np.zeros(modes.size)
        multipliers[::2] = -4 / (np.pi * (modes[::2] ** 2 - 1))
        multipliers[0] = 2 / np.pi
        return multipliers

    def confidence(self, radius: float) -> _Confidence:
        """Return the closed form of bounded confidence."""
        return _Confidence(radius)

    def require_screened(self) -> None:
        """Accept the domain: cosh(s (pi - t)) is the Green function of the circle."""

    def arc_cosine(self, degree: int) -> Extended:
        r"""Return :math:`1/\pi^2`, 1/8 and, for even k, :math:`2/(\pi(k^2-1))^2`."""
        modes = np.arange(degree + 1, dtype=np.longdouble)
        multipliers = np.zeros(modes.size, dtype=np.longdouble)
        multipliers[::2] = 2 / (PI * (modes[::2] ** 2 - 1)) ** 2
        multipliers[0] /= 2
        multipliers[1:2] = 0.125
        return multipliers

    def require_uneven(self, clause: str) -> None:
        """Accept any function of the angle."""

    def require_azimuth(self, clause: str) -> None:
        """Refuse directions of two angles."""
        raise InvalidInput(
            f"on the circle a direction is one angle, and {clause}; take Sphere(3) (--domain sphere)"
        )

    def of_cosines(self, series: Floats) -> Floats:
        """Return the series, whose coefficients are the multipliers."""
        return series

    def of_function(self, function: Sampled, series: Floats, constant: float) -> Floats:
        """Return the series, whose coefficients are the multipliers."""
        return series
