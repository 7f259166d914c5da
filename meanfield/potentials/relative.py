"""Multipliers in units of the largest, which never overflow."""

from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked
from ..domains import Domain
from ..errors import ComputationFailed
from .arrays import Array, Number

_LARGEST_DEGREE = 2**20


@methods_checked
class Relative(Protocol):
    """What a potential has of its multipliers in units of the largest."""

    name: ClassVar[str]

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_0, ..., w_degree."""
        ...

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return a bound of the multipliers beyond a degree."""
        ...

    def amplitudes(self, domain: Domain, degree: int) -> Array:
        """Return the moduli of the multipliers, with those of sines or of all orders."""
        ...

    def scale(self, domain: Domain) -> Number:
        """Return the largest amplitude, max |w_k|, over all k >= 1 (0 for a constant potential).

        Raises
        ------
        ComputationFailed
            If the tail bound does not fall below the multipliers found.
        """
        degree = 16
        while degree <= _LARGEST_DEGREE:
            largest: Number = self.amplitudes(domain, degree)[1:].max()
            tail = self.tail_bound(domain, degree)
            if tail <= largest:
                return largest
            degree *= 2
        raise ComputationFailed(
            f"the tail bound {float(tail):g} of the potential {self.name!r} at degree {degree // 2} exceeds "
            f"all its multipliers, the largest being {float(largest):g}; tail_bound must tend to 0"
        )

    def extended_multipliers(self, domain: Domain, degree: int) -> npt.NDArray[np.longdouble]:
        """Return w_k / scale for k = 1..degree behind a leading 0, longdouble, shape (degree + 1,).

        A potential with a formula evaluates it in longdouble here, since 1 - w_(2n)/w_n may be small.
        """
        relative = np.zeros(degree + 1, dtype=np.longdouble)
        scale = self.scale(domain)
        if scale > 0:
            relative[1:] = self.multipliers(domain, degree)[1:].astype(np.longdouble) / np.longdouble(scale)
        return relative

    def relative_multipliers(self, domain: Domain, degree: int) -> npt.NDArray[np.float64]:
        """Return w_k / scale for k = 1..degree behind a leading 0, float64, shape (degree + 1,).

        They never overflow, however large the multipliers themselves are.
        """
        with np.errstate(under="ignore"):
            return self.extended_multipliers(domain, degree).astype(np.float64)

    def relative_tail_bound(self, domain: Domain, degree: int) -> float:
        """Return a bound of sup |w_k| / scale over k > degree."""
        scale = self.scale(domain)
        return float(self.tail_bound(domain, degree) / scale) if scale > 0 else 0.0
