"""The user's own confinement of the ordinary sphere without an axis: harmonics, or a function of unit vectors."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked, shown
from ..domains import Domain
from ..errors import ComputationFailed, InvalidInput
from ..harmonics.packing import degrees_and_orders, largest_degree, moduli, packed_size, zonal_places
from ..harmonics.points import coefficients_of, gradient_of_sum_at, spread_points, sum_at
from .arrays import Array, Number
from .formulas import formulas_of
from .protocol import Potential
from .sampling import name_of
from .series import as_number, given_coefficients, padded, require_source
from .vectors import places_of

Floats = npt.NDArray[np.float64]

_EXAMPLE = "HarmonicSeries(cosine=(0.0, 0.3, -0.5))"
# Degrees up to which a function is expanded.
_DEGREES = (16, 32, 64, 128, 256)
# Coefficients of a function below so many roundings of its largest value are rounding.
_ROUNDING = 64 * float(np.finfo(float).eps)
# A function agrees with its series at so many points of a fixed spiral that no grid has.
_PROBES = 97


@methods_checked
@dataclass(frozen=True)
class HarmonicSeries(Potential):
    """An external potential of the ordinary sphere, V = sum_lm v_lm e^c_lm + u_lm e^s_lm.

    Parameters
    ----------
    cosine, sine
        v_lm and u_lm at l(l + 1)/2 + m, as moments by degree and order are packed; those that are not given, of the
        last degree or of all sines, are 0.
    source
        Where they came from, for the record.

    Raises
    ------
    InvalidInput
        If they are not finite numbers, or there is a sine of order 0; in an equation, on another domain.

    Notes
    -----
    On the north pole's axis :math:`e^c_{l0} = P_l`, see :mod:`meanfield.harmonics.full`. Coefficients of a function
    have absolute errors near eps max|V|, and those below are 0.

    Examples
    --------
    >>> across = HarmonicSeries.from_callable(lambda points: 0.3 * points[:, 0])
    >>> [round(v, 9) + 0.0 for v in across.cosine], across.zonal
    ([0.0, 0.0, 0.3], False)
    """

    cosine: tuple[float, ...] = ()
    sine: tuple[float, ...] = ()
    source: str | None = None
    name: ClassVar[str] = "harmonic-series"

    def __post_init__(self) -> None:
        require_source(self.source)
        for kind in ("cosine", "sine"):
            object.__setattr__(self, kind, given_coefficients(getattr(self, kind), kind, _EXAMPLE))
        if not self.cosine and not self.sine:
            raise InvalidInput(f"a series of harmonics needs a coefficient; try {_EXAMPLE}")
        if self._packed[1, zonal_places(self._degree)].any():
            raise InvalidInput(
                "a sine of order 0 belongs to no harmonic, and its coefficient must be 0; orders 0 are at the "
                f"places {', '.join(map(str, zonal_places(3)))}, ... of degrees 0, 1, 2, 3, ..."
            )

    @classmethod
    def from_callable(cls, function: Callable[[Any], Any]) -> "HarmonicSeries":
        """Return the potential of a smooth function of unit vectors.

        Parameters
        ----------
        function
            Takes an array (n, 3) and returns n values.

        Raises
        ------
        InvalidInput
            If it is no such function, its values are not finite, or it has a kink or a feature that harmonics of
            degree 256 do not resolve.
        ComputationFailed
            If the function itself raises; the cause is chained.
        """
        if not callable(function):
            raise InvalidInput(
                f"from_callable needs a function of unit vectors (n, 3), not {shown(function)}; "
                "try lambda points: points[:, 0]"
            )
        values, probes = functools.partial(_checked, function), spread_points(_PROBES)
        largest = float(np.abs(values(probes)).max())
        for degree in _DEGREES:
            found = coefficients_of(values, degree)
            rounding = _ROUNDING * max(largest, float(moduli(*found).max()))
            found = np.where(np.abs(found) > rounding, found, 0.0)
            lengths = moduli(*found)
            missed = float(np.abs(sum_at(found, probes) - values(probes)).max())
            # Each coefficient left out may be as large as the rounding.
            if not lengths[degree - degree // 4 :].any() and missed <= (degree + 1) * rounding:
                kept = packed_size(int(np.flatnonzero(lengths).max(initial=0)))
                cosine, sine = (tuple(row[:kept].tolist()) for row in found)
                return cls(cosine, sine, f"callable {name_of(function)}")
        raise InvalidInput(
            f"{name_of(function)} is not resolved by harmonics up to degree {_DEGREES[-1]}: it has a kink or a "
            "narrow feature; take a smooth function, such as tanh or log cosh in the place of a maximum"
        )

    @property
    def formula(self) -> str:  # type: ignore[override]
        """Where the coefficients came from."""
        return self.source or "sum_lm v_lm e^c_lm + u_lm e^s_lm"

    @property
    def zonal(self) -> bool:
        """Whether all coefficients have order 0."""
        others = self._packed.copy()
        others[0, zonal_places(self._degree)] = 0.0
        return not others.any()

    def require_domain(self, domain: Domain) -> None:
        """Refuse all domains but the ordinary sphere."""
        formulas_of(domain).require_azimuth("this is a series of harmonics of two angles")

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return V at angles from the north pole, refused unless it is a function of these."""
        self._require_zonal()
        angles = np.asarray(angle, dtype=float)
        return np.asarray(sum_at(self._packed, _meridian(angles.ravel()))).reshape(angles.shape)

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return the derivative in the angle from the north pole, refused unless V is a function of this."""
        self._require_zonal()
        angles = np.asarray(angle, dtype=float)
        gradients, southwards = self.gradient_at(_meridian(angles.ravel())), _meridian(angles.ravel() + 0.5 * np.pi)
        return np.asarray((gradients * southwards).sum(axis=1).reshape(angles.shape))

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return v_0, ..., v_degree, refused unless V is a function of the angle to the north pole."""
        self._require_zonal()
        return padded(self._packed[0, zonal_places(self._degree)], int(degree))

    def harmonic_multipliers(self, degree: int) -> Array:
        """Return v_lm and u_lm up to a degree."""
        places = packed_size(int(degree))
        return np.stack([padded(row, places - 1) for row in self._packed])

    def values_at(self, points: npt.ArrayLike) -> Array:
        """Return V at unit vectors (n, 3)."""
        return sum_at(self._packed, places_of(points, 3))

    def gradient_at(self, points: npt.ArrayLike) -> Array:
        """Return the gradient at unit vectors (n, 3), tangent to the sphere."""
        return gradient_of_sum_at(self._packed, places_of(points, 3))

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return the largest remaining length of the coefficients of a degree."""
        return float(moduli(*self._packed)[int(degree) + 1 :].max(initial=0.0))

    def parameter_values(self) -> dict[str, float]:
        """Return v_lm as ``cosine_l_m`` and u_lm as ``sine_l_m``, without the constant and the sines of order 0."""
        return {name: getattr(self, kind)[index] for name, (kind, index) in self._places.items()}

    def with_parameter(self, name: str, value: float) -> "HarmonicSeries":
        """Return the series with one coefficient changed."""
        self._require_parameter(name)
        kind, index = self._places[name]
        changed = {each: list(getattr(self, each)) for each in ("cosine", "sine")}
        changed[kind][index] = as_number(value, name, "a finite number")
        return HarmonicSeries(tuple(changed["cosine"]), tuple(changed["sine"]), self.source)

    def multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        """Return the derivatives of v_0, ..., v_degree in a coefficient, refused unless V and it have an axis."""
        self._require_zonal()
        alone = self._alone(name)
        alone._require_zonal()
        return alone.multipliers(domain, degree)

    def harmonic_multiplier_derivatives(self, name: str, degree: int) -> Array:
        """Return the derivatives of v_lm and u_lm in a coefficient, its harmonic alone."""
        return self._alone(name).harmonic_multipliers(degree)

    def _alone(self, name: str) -> "HarmonicSeries":
        """Return the harmonic of a coefficient."""
        self._require_parameter(name)
        kind, index = self._places[name]
        alone = (*(0.0,) * index, 1.0)
        return HarmonicSeries(alone) if kind == "cosine" else HarmonicSeries(sine=alone)

    @functools.cached_property
    def _places(self) -> dict[str, tuple[str, int]]:
        """The field and the place of each coefficient by its name."""
        degrees, orders = degrees_and_orders(self._degree)
        named = list(enumerate(zip(degrees.tolist(), orders.tolist(), strict=True)))
        return {
            f"{kind}_{degree}_{order}": (kind, index)
            for kind, first in (("cosine", 0), ("sine", 1))
            for index, (degree, order) in named[: len(getattr(self, kind))]
            if degree > 0 and order >= first
        }

    def parameters(self) -> dict[str, Any]:
        """Return the constructor arguments."""
        source = {"source": self.source} if self.source else {}
        return {"cosine": list(self.cosine), "sine": list(self.sine)} | source

    def _require_zonal(self) -> None:
        if not self.zonal:
            raise InvalidInput(
                "this needs a function of the angle to the north pole, and the series of harmonics depends on the "
                "azimuth; leave out its orders other than 0"
            )

    @functools.cached_property
    def _packed(self) -> Floats:
        """All coefficients, (2, places)."""
        count = max(len(self.cosine), len(self.sine))
        degree = largest_degree(count)
        rows = np.zeros((2, packed_size(degree + (packed_size(degree) < count))))
        rows[0, : len(self.cosine)], rows[1, : len(self.sine)] = self.cosine, self.sine
        return rows

    @property
    def _degree(self) -> int:
        return largest_degree(self._packed.shape[1])


def _checked(function: Callable[[Any], Any], points: Floats) -> Floats:
    """Return the values of a function at unit vectors, which must be as many finite numbers."""
    named = name_of(function)
    try:
        values = np.asarray(function(points.copy()))
    except Exception as error:
        raise ComputationFailed(
            f"{named}, a function of unit vectors, raised {type(error).__name__} for {len(points)} of them: {error}"
        ) from error
    if values.shape != (len(points),) or values.dtype.kind not in "fiu":
        raise InvalidInput(
            f"{named} must return a number for each of {len(points)} unit vectors, the rows of an array "
            f"{points.shape}, not shape {values.shape} of {values.dtype}; try lambda points: points[:, 0]"
        )
    if not np.isfinite(values).all():
        place = points[int(np.argmin(np.isfinite(values)))]
        raise InvalidInput(f"{named} must be finite on the whole sphere, and is not at {place.round(6).tolist()}")
    return values.astype(float)


def _meridian(angles: Floats) -> Floats:
    """Return unit vectors at angles from the north pole, at the azimuth 0."""
    return np.stack([np.sin(angles), np.zeros_like(angles), np.cos(angles)], axis=1)
