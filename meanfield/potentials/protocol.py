r"""What a potential is: a function of the angle between two points, with exact multipliers.

.. math::

    W(\gamma) = \sum_{l \ge 0} w_l P_l(\cos\gamma), \qquad P_l(1) = 1,

on the circle :math:`P_l(\cos t) = \cos lt` and
:math:`w_k = \frac1\pi \int_{-\pi}^{\pi} W(t) \cos kt \, dt` for :math:`k \ge 1`. On harmonics of degree l the
convolution with W against the uniform probability is multiplication by :math:`\hat w_l = w_l / N_l` (Funk-Hecke),
:math:`N_l` the number of harmonics of that degree, 2 on the circle.

Degree l is attractive when :math:`w_l < 0`. Everything computed from a potential uses these multipliers;
the function itself is never sampled on a grid, so potentials with a kink or a singularity cost nothing.
"""

from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked
from ..domains import Domain
from ..errors import ComputationFailed

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Number: TypeAlias = float | np.longdouble

_LARGEST_DEGREE = 2**20
# Parameters below this have squares that are not numbers any more.
SMALLEST = 1e-150


@methods_checked
class Potential(Protocol):
    """An even interaction or confinement potential; frozen, hashable, equal by value.

    A class of one's own implements ``values``, ``slope``, ``multipliers``, ``tail_bound`` and
    ``parameters``, carries a ``name`` and inherits the rest. Potentials are added, subtracted and multiplied by
    numbers, as in ``2 * Kuramoto() - Onsager() / 3``.
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    # Numbers of numpy leave the product to the potential.
    __array_ufunc__: ClassVar[None] = None

    def __add__(self, other: "Potential | int") -> "Potential":
        """Return the sum with another potential."""
        from .combination import added

        return added(self, other)

    def __radd__(self, other: "Potential | int") -> "Potential":
        """Return the sum; ``sum`` starts from 0."""
        return self + other

    def __sub__(self, other: "Potential | int") -> "Potential":
        """Return the difference from another potential."""
        from .combination import added

        return added(self, other, -1.0)

    def __rsub__(self, other: "Potential | int") -> "Potential":
        """Return the difference of another potential from this one."""
        return -self + other

    def __neg__(self) -> "Potential":
        """Return the potential that attracts where this one repels."""
        return -1.0 * self

    def __mul__(self, factor: float) -> "Potential":
        """Return the multiple by a finite number."""
        from .combination import multiple

        return multiple(factor, self)

    def __rmul__(self, factor: float) -> "Potential":
        """Return the multiple by a finite number."""
        return self * factor

    def __truediv__(self, divisor: float) -> "Potential":
        """Return the potential over a finite number other than 0."""
        from .combination import quotient

        return quotient(self, divisor)

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return W at the angles, in the shape given."""
        ...

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return dW/dt at the angles, in the shape given."""
        ...

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_0, ..., w_degree, shape (degree + 1,)."""
        ...

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return a bound of sup |w_k| over k > degree; it tends to 0."""
        ...

    def parameters(self) -> dict[str, Any]:
        """Return the constructor arguments as values JSON can hold."""
        ...

    def scale(self, domain: Domain) -> Number:
        """Return max |w_k| over all k >= 1 (0 for a constant potential).

        Raises
        ------
        ComputationFailed
            If the tail bound does not fall below the multipliers found.
        """
        degree = 16
        while degree <= _LARGEST_DEGREE:
            largest: Number = np.abs(self.multipliers(domain, degree)[1:]).max()
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
