"""A finite sum of cosines on every domain: given, or found from a function that spheres integrate anew."""

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..domains import Domain
from .arrays import Array
from .formulas import formulas_of
from .pieces import Pieces
from .sampling import Sampled
from .series import cosine_sum, cosine_sum_slope, padded
from .splitting import split

# Coefficients from which on pieces are preferred on spheres that admit them.
_MANY = 256


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
        What was subtracted from the sampled function.
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
        """Return whether pieces give the multipliers at less cost, as for narrow features on spheres."""
        return self.function is not None and self.series.size > _MANY and formulas_of(domain).prefers_pieces

    @functools.cached_property
    def _pieces(self) -> Pieces:
        assert self.function is not None
        return split(self.function, np.zeros(0), np.longdouble(self.constant) - self.function.offset)

    def _on(self, domain: Domain) -> npt.NDArray[np.float64]:
        formulas = formulas_of(domain)
        if self.function is None:
            return formulas.of_cosines(self.series)
        return formulas.of_function(self.function, self.series, self.constant)
