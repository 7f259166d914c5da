"""A finite sum of cosines on every domain: given, or found from a function that spheres integrate anew."""

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..domains import Domain
from ..errors import InvalidInput
from ..harmonics.polynomials import multiplicities
from .arrays import Array
from .pieces import LARGEST_DIMENSION, Pieces
from .sampling import Sampled, extended
from .series import cosine_sum, cosine_sum_slope, padded
from .splitting import split
from .sums import converted
from .zonal import angular_rule, projected

_LARGEST_GRID = 2**15
# Coefficients from which on pieces are preferred on spheres that admit them.
_MANY = 256
# Multiples of rounding below which a computed multiplier is noise.
_NOISE = 4
# Error of a multiplier over the largest beyond which it is refused, and what a large constant may have rounded.
_WORST_ERROR, _WORST_CONSTANT = 1e-8, 1e-3


@dataclass(frozen=True, eq=False)
class Cosines:
    """A finite cosine series.

    Attributes
    ----------
    series : (K + 1,) float
        w_0, ..., w_K, read-only.
    error
        Bound of their errors.
    function
        What they were found from; None for given coefficients.
    constant
        What was left out of the function looked at.
    """

    series: npt.NDArray[np.float64]
    error: float = 0.0
    function: Sampled | None = None
    constant: float = 0.0

    def __post_init__(self) -> None:
        self.series.flags.writeable = False

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return the sum at the angles, the mean added last so that it rounds nothing else."""
        return np.asarray(cosine_sum(np.append(0.0, self.series[1:]), angle) + self.series[0])

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return the differentiated sum at the angles."""
        return cosine_sum_slope(self.series, angle)

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_0, ..., w_degree, 0 beyond the last."""
        if self._is_split(domain):
            return self._pieces.multipliers(domain, degree)
        return padded(self._on(domain), degree)

    def tail_bound(self, domain: Domain, degree: int) -> float:
        """Return the largest remaining modulus, 0 beyond the last multiplier."""
        if self._is_split(domain):
            return self._pieces.tail_bound(domain, degree)
        return float(np.abs(self._on(domain)[degree + 1 :]).max(initial=0.0))

    def _is_split(self, domain: Domain) -> bool:
        """Whether pieces give the multipliers on a sphere for less: those of a function with narrow features."""
        return self.function is not None and self.series.size > _MANY and 3 <= domain.dimension <= LARGEST_DIMENSION

    @functools.cached_property
    def _pieces(self) -> Pieces:
        assert self.function is not None
        return split(self.function, np.zeros(0), np.longdouble(self.constant) - self.function.offset)

    def _on(self, domain: Domain) -> npt.NDArray[np.float64]:
        if domain.dimension == 2:
            return self.series
        if self.function is None:
            return converted(tuple(self.series.tolist()), domain.dimension)
        return _on_sphere(self, self.function, domain)


@functools.lru_cache(maxsize=64)
def _on_sphere(cosines: Cosines, function: Sampled, domain: Domain) -> npt.NDArray[np.float64]:
    """Return the multipliers of a function on a sphere, noise removed, read-only."""
    coefficients = cosines.series[1:] / function.unit
    degree = 2 * cosines.series.size + 16
    # The smoothness is known from the circle: twice its degree lies beyond all that can be told from rounding.
    size = 1 << (3 * degree + domain.dimension).bit_length()
    if size > _LARGEST_GRID:
        raise InvalidInput(
            f"{function.label} has {coefficients.size} cosine coefficients and on a sphere at most "
            f"{_LARGEST_GRID // 12} are treated; give a GegenbauerSeries"
        )
    angles = np.pi * np.arange(size + 1) / size
    eigenvalues = projected(
        function(angles), angular_rule(domain.dimension, size), np.cos(extended(angles)), domain.dimension, degree
    )
    rounded = np.abs(coefficients) * (2 + np.arange(coefficients.size))
    size_of_f = float(rounded.sum() + np.abs(function.values).max())
    noise = (_NOISE * function.precision * size_of_f, _NOISE * function.noise)
    known = _told_from_noise(eigenvalues, multiplicities(domain, degree), noise, function.label, domain)
    result = (known * function.unit).astype(np.float64)
    result[0] += cosines.constant
    result.flags.writeable = False
    return result


def _told_from_noise(
    eigenvalues: Array, numbers: Array, noise: tuple[float, float], label: str, domain: Domain
) -> Array:
    """Return N_l times the eigenvalues that exceed their noise: that of the function, and that of its constant.

    By Cauchy and Schwarz an error of the function of size ``noise`` is one of at most noise / sqrt(N_l) in an
    eigenvalue, of noise * sqrt(N_l) in its multiplier.
    """
    multipliers, errors = eigenvalues * numbers, sum(noise) * np.sqrt(numbers)
    kept = np.abs(multipliers) > errors
    last = int(np.flatnonzero(kept).max(initial=0))
    # A constant function has its mean.
    largest = np.abs(multipliers[1 : last + 1]).max(initial=np.abs(multipliers[0]) if last == 0 else 0.0)
    if largest == 0.0:
        return np.zeros(1)
    beyond = min(last + 1, numbers.size - 1)
    own, common = (float(part * np.sqrt(numbers[beyond]) / largest) for part in noise)
    if own > _WORST_ERROR or common > _WORST_CONSTANT:
        raise InvalidInput(
            f"the multipliers of {label} at degree {beyond} on the sphere of dimension "
            f"{domain.dimension} cannot be told from rounding, {own + common:.0e} of the "
            "largest; a formula is evaluated with more digits than a function, and exact multipliers can be given "
            "to GegenbauerSeries"
        )
    return np.asarray(np.where(kept, multipliers, 0.0)[: last + 1])
