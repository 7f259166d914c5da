"""The two kinds of measures on the circle: samples of equal weights, and densities given by their moments."""

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import checked
from ..base import brief, read_only, same
from ..errors import InvalidInput
from ..harmonics import CircleModes
from .cells import Cells

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

CIRCLE = CircleModes()
MASS_ERROR = 1e-12
# Truncated moments of a positive density may give values slightly below zero.
NEGATIVE = 1e-6


@checked
class Sample:
    """N points of weight 1/N on the circle.

    Parameters
    ----------
    angles : (N,) float
        In radians, in any order and any turn.

    Attributes
    ----------
    angles : (N,) float
        Sorted, in [0, 2 pi).

    Raises
    ------
    InvalidInput
        If there is no point, the array has another shape or an angle is not finite.

    Examples
    --------
    >>> Sample([0.5, -0.5]).angles.round(4).tolist()
    [0.5, 5.7832]
    """

    def __init__(self, angles: ArrayLike) -> None:
        given = np.asarray(angles, dtype=float)
        if given.ndim != 1 or given.size == 0:
            raise InvalidInput(
                f"a sample is a vector of at least one angle, not an array of shape {given.shape}; "
                "compare the replicas one by one"
            )
        turned = np.mod(given, 2 * math.pi)
        # The remainder of a tiny negative angle rounds to a full turn.
        turned[turned >= 2 * math.pi] = 0.0
        self.angles: Floats = read_only(np.sort(turned))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.angles,)

    def __eq__(self, other: object) -> bool:
        return same(self.angles, other.angles) if isinstance(other, Sample) else NotImplemented

    def __hash__(self) -> int:
        return hash((Sample, self.angles.size))

    def __repr__(self) -> str:
        return f"Sample({brief(self.angles)})"

    def __len__(self) -> int:
        """Return the number of points."""
        return self.angles.size


@checked
class Density:
    r"""A probability density on the circle, given by its moments.

    Parameters
    ----------
    cosine, sine : (n + 1,) float
        :math:`\int\rho\cos kt` with ``cosine[0] = 1`` and :math:`\int\rho\sin kt` with ``sine[0] = 0``, the
        latter absent for an even density, as in :class:`meanfield.State`.

    Raises
    ------
    InvalidInput
        If the arrays are not two finite vectors of one length, the mass is not 1 or the density falls below
        -1e-6. Values between -1e-6 and 0, as truncated moments have them, count as 0.

    Examples
    --------
    >>> float(Density([1.0, 0.25]).values(0.0) * 2 * math.pi)
    1.5
    """

    def __init__(self, cosine: ArrayLike, sine: ArrayLike | None = None) -> None:
        self.cosine: Floats = read_only(np.array(cosine, dtype=float))
        self.sine: Floats = read_only(np.zeros_like(self.cosine) if sine is None else np.array(sine, dtype=float))
        self._require_moments()
        self._require_positive()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.cosine, self.sine)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Density):
            return NotImplemented
        return same(self.cosine, other.cosine) and same(self.sine, other.sine)

    def __hash__(self) -> int:
        return hash((Density, self.cosine.size))

    def __repr__(self) -> str:
        return f"Density({brief(self.cosine)}, {brief(self.sine)})"

    @functools.cached_property
    def cells(self) -> Cells:
        """The distribution function, 0 at angle 0, increasing by 1 a turn."""
        coefficients = self.cosine - 1j * self.sine
        coefficients[0] = 1.0
        return Cells(coefficients)

    @property
    def degree(self) -> int:
        """Highest degree whose moment is kept."""
        return self.cosine.size - 1

    def values(self, angle: ArrayLike) -> Floats:
        """Return the density in units of 1/radian, in the shape of the angles."""
        return CIRCLE.density(self.cosine, self.sine, angle) / CIRCLE.domain.volume

    def distribution(self, angle: ArrayLike) -> Floats:
        """Return the mass between angle 0 and the angles, in their shape."""
        angles = np.asarray(angle, dtype=float)
        return self.cells.values(angles.ravel()).reshape(angles.shape)

    def quantile(self, probability: ArrayLike) -> Floats:
        """Return the angles up to which the mass from 0 is the given one, in its shape; p + 1 is a turn further."""
        masses = np.asarray(probability, dtype=float)
        return self.cells.inverse(masses.ravel()).reshape(masses.shape)

    def _require_moments(self) -> None:
        shapes = self.cosine.shape, self.sine.shape
        if len(shapes[0]) != 1 or shapes[0] == (0,) or shapes[1] != shapes[0]:
            raise InvalidInput(
                f"the moments of a density are two vectors of one length, not of shapes {shapes[0]} and {shapes[1]}"
            )
        if abs(self.cosine[0] - 1) > MASS_ERROR or self.sine[0] != 0:
            mass = self.cosine[0] if self.sine[0] == 0 else complex(self.cosine[0], -self.sine[0])
            raise InvalidInput(
                f"a probability density has moment 1 in degree 0, not {mass!r}; divide the moments by it"
            )

    def _require_positive(self) -> None:
        values = self.cells.table[1] / self.cells.width
        lowest = int(values.argmin())
        if values[lowest] < -NEGATIVE:
            raise InvalidInput(
                f"a probability density is not negative, but the moments give {values[lowest]:.3e} at angle "
                f"{lowest * self.cells.width:.6g}; they are too few or not moments of a density"
            )


def moment_difference(one: Density, other: Density) -> Complexes:
    """Return the moments c_k - d_k of a difference of densities, k = 0..n, 0 in degree 0."""
    result = np.zeros(max(one.degree, other.degree) + 1, dtype=complex)
    result[: one.degree + 1] += one.cosine - 1j * one.sine
    result[: other.degree + 1] -= other.cosine - 1j * other.sine
    result[0] = 0.0
    return result
