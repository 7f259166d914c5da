r"""What a potential is: a function of the angle between two points, with exact multipliers.

.. math::

    W(\gamma) = \sum_{l \ge 0} w_l P_l(\cos\gamma), \qquad P_l(1) = 1,

on the circle :math:`P_l(\cos t) = \cos lt` and
:math:`w_k = \frac1\pi \int_{-\pi}^{\pi} W(t) \cos kt \, dt` for :math:`k \ge 1`. On harmonics of degree l the
convolution with W against the uniform probability is multiplication by :math:`\hat w_l = w_l / N_l` (Funk-Hecke),
:math:`N_l` the number of harmonics of that degree, 2 on the circle.

The external potential of a confinement need not be even on the circle; then
:math:`V(t) = \sum_k v_k\cos kt + \sum_k u_k\sin kt`, the :math:`v_k` being its multipliers. Nor need it be a
function of the angle to the north pole on the ordinary sphere; then it is the sum of harmonics of
:mod:`meanfield.harmonics.points`.

Degree l is attractive when :math:`w_l < 0`. Everything computed from a potential uses these multipliers;
the function itself is never sampled on a grid, so potentials with a kink or a singularity cost nothing.
"""

from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ..arguments import is_potential, methods_checked
from ..domains import Domain, Sphere
from ..errors import ComputationFailed, InvalidInput
from ..harmonics.packing import moduli, packed
from .arrays import Array, Number
from .parametric import continuous, differenced, exchanged, require_named
from .series import as_number
from .vectors import gradient_about_pole, polar_of

Terms: TypeAlias = "tuple[tuple[float, Potential], ...]"

_LARGEST_DEGREE = 2**20


@methods_checked
class Potential(Protocol):
    """An interaction or confinement potential; frozen, hashable, equal by value.

    An interaction is even; a confinement of the circle need not be, and then says so by ``even`` and
    ``sine_multipliers``. One of the ordinary sphere that is no function of the angle to the north pole says so by
    ``zonal``, and has ``harmonic_multipliers``, ``values_at`` and ``gradient_at``; there ``values``, ``slope`` and
    ``multipliers`` are not asked of it.

    A class of one's own implements ``values``, ``slope``, ``multipliers``, ``tail_bound`` and
    ``parameters``, carries a ``name`` and inherits the rest, of which ``multiplier_derivatives`` is better given as
    a formula where it has continuous parameters. Potentials are added, subtracted and multiplied by
    numbers, as in ``2 * Kuramoto() - Onsager() / 3``.
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    # Numbers of numpy leave the product to the potential.
    __array_ufunc__: ClassVar[None] = None

    def __add__(self, other: "Potential | int") -> "Potential":
        """Return the sum with another potential."""
        return _added(self, other)

    def __radd__(self, other: "Potential | int") -> "Potential":
        """Return the sum; ``sum`` starts from 0."""
        return self + other

    def __sub__(self, other: "Potential | int") -> "Potential":
        """Return the difference from another potential."""
        return _added(self, other, -1.0)

    def __rsub__(self, other: "Potential | int") -> "Potential":
        """Return the difference of another potential from this one."""
        return -self + other

    def __neg__(self) -> "Potential":
        """Return the potential that attracts where this one repels."""
        return -1.0 * self

    def __mul__(self, factor: float) -> "Potential":
        """Return the multiple by a finite number."""
        return _plain([(as_number(factor, "the factor of a potential", "a finite number"), self)])

    def __rmul__(self, factor: float) -> "Potential":
        """Return the multiple by a finite number."""
        return self * factor

    def __truediv__(self, divisor: float) -> "Potential":
        """Return the potential over a finite number other than 0."""
        return _quotient(self, divisor)

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
        """Return a bound of sup |w_k|, with sines of sup |w_k - i u_k|, over k > degree; it tends to 0."""
        ...

    def parameters(self) -> dict[str, Any]:
        """Return the constructor arguments as values JSON can hold."""
        ...

    @property
    def even(self) -> bool:
        """Whether W(-t) = W(t)."""
        return True

    def sine_multipliers(self, domain: Domain, degree: int) -> Array:
        """Return the coefficients of sin kt, k = 0..degree, shape (degree + 1,); 0 for an even potential."""
        return np.zeros(degree + 1)

    @property
    def zonal(self) -> bool:
        """Whether on spheres it is a function of the angle to the north pole alone."""
        return True

    def require_domain(self, domain: Domain) -> None:
        """Refuse, by InvalidInput, a domain on which it is no confinement."""
        return

    def harmonic_multipliers(self, degree: int) -> Array:
        """Return v_lm and u_lm on the ordinary sphere, by degree and order, (2, (L + 1)(L + 2)/2)."""
        cosine = packed(np.asarray(self.multipliers(Sphere(3), degree), dtype=float))
        return np.stack([cosine, np.zeros_like(cosine)])

    def values_at(self, points: npt.ArrayLike) -> Array:
        """Return the values at unit vectors (n, d), the last component along the north pole."""
        return self.values(polar_of(points))

    def gradient_at(self, points: npt.ArrayLike) -> Array:
        """Return the gradient at unit vectors (n, d), tangent to the sphere, (n, d)."""
        return gradient_about_pole(self.slope, points)

    def amplitudes(self, domain: Domain, degree: int) -> Array:
        """Return the moduli of w_k - i u_k, the u_k being the coefficients of the sines, k = 0..degree.

        On the ordinary sphere, the lengths of the coefficients of each degree.
        """
        if domain.has_azimuth and not self.zonal:
            return moduli(*self.harmonic_multipliers(degree))
        cosines = np.abs(self.multipliers(domain, degree))
        return cosines if self.even else np.hypot(cosines, self.sine_multipliers(domain, degree))

    def parameter_values(self) -> dict[str, float]:
        """Return the continuous parameters by the names a user types, such as ``{"beta": 4.0}``.

        They are the floats among ``parameters``, the entries of a list ``w`` as ``w1``, ``w2``, ...; a class of
        one's own that has others names them here, and changes them in ``with_parameter``.
        """
        return continuous(self.parameters())

    def parameter_names(self) -> tuple[str, ...]:
        """Return the names of the continuous parameters."""
        return tuple(self.parameter_values())

    def with_parameter(self, name: str, value: float) -> "Potential":
        """Return the potential with one continuous parameter changed.

        Parameters
        ----------
        name
            One of ``parameter_names``.
        value
            Admissible in the place of the parameter.

        Raises
        ------
        InvalidInput
            If there is no such parameter, or the potential does not admit the value.

        Examples
        --------
        >>> from meanfield.potentials import CosineSeries
        >>> CosineSeries((-1.0, -0.9)).with_parameter("w2", -0.5)
        CosineSeries(w=(-1.0, -0.5))
        """
        self._require_parameter(name)
        number = as_number(value, name, "a finite number")
        try:
            return type(self)(**exchanged(self.parameters(), name, number))
        except TypeError as error:
            raise InvalidInput(
                f"the class of {self.name!r} does not take what its parameters() returns ({error}); let it change "
                f"{name} in a method with_parameter of its own"
            ) from error

    def multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        r"""Return the derivatives of w_0, ..., w_degree in a continuous parameter, shape (degree + 1,).

        The potentials of this package differentiate their formulas. For a class that does not give this method they
        are differences of the multipliers, extrapolated (Ridders 1982; see :mod:`meanfield.potentials.parametric`)
        and known to :math:`10^{-8}` of the largest by the estimate of their errors; what is not is refused.

        Parameters
        ----------
        name
            One of ``parameter_names``.
        domain
            The space on which the multipliers are.
        degree
            The last degree.

        Returns
        -------
        array of shape (degree + 1,)
            longdouble where it does not fit float64.

        Raises
        ------
        InvalidInput
            If there is no such parameter, the multipliers are refused, or differences do not tell.

        Examples
        --------
        >>> from meanfield.domains import Circle
        >>> from meanfield.potentials import HegselmannKrause
        >>> HegselmannKrause(radius=1.0).multiplier_derivatives("radius", Circle(), 1).round(6).tolist()
        [-0.159155, -0.292653]
        """
        self._require_parameter(name)
        return differenced(self, name, domain, degree)

    def sine_multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        """Return the derivatives of the coefficients of sin kt, k = 0..degree, in a continuous parameter.

        Zero where a class has no sines, else extrapolated differences as ``multiplier_derivatives`` has them.
        """
        self._require_parameter(name)
        if type(self).sine_multipliers is Potential.sine_multipliers:
            return np.zeros(degree + 1)
        return differenced(self, name, domain, degree, of="sine_multipliers")

    def harmonic_multiplier_derivatives(self, name: str, degree: int) -> Array:
        """Return the derivatives of v_lm and u_lm on the ordinary sphere in a parameter, by degree and order.

        Of a class that gives neither these nor an axis by extrapolated differences.
        """
        self._require_parameter(name)
        if not self.zonal:
            return differenced(self, name, Sphere(3), degree, of="harmonic_multipliers")
        cosine = packed(np.asarray(self.multiplier_derivatives(name, Sphere(3), degree), dtype=float))
        return np.stack([cosine, np.zeros_like(cosine)])

    def _require_parameter(self, name: str) -> None:
        if not isinstance(self.parameters().get(name), float):
            require_named(name, self.parameter_names(), f"the potential {self.name!r}")

    def as_terms(self) -> Terms:
        """Return the terms by which the potential enters a sum, pairs of factors and potentials."""
        return ((1.0, self),)

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


def _quotient(potential: Potential, divisor: Any) -> Potential:
    """Return a potential over a number; each factor is divided once."""
    number = as_number(divisor, "the divisor of a potential", "a finite number other than 0")
    if number == 0:
        raise InvalidInput("the divisor of a potential must be a finite number other than 0, not 0.0")
    return _plain([(factor / number, part) for factor, part in potential.as_terms()])


def _added(first: Potential, second: Any, sign: float = 1.0) -> Potential:
    """Return a potential plus a sign times another; 0, from which ``sum`` starts, is no potential but admitted."""
    if isinstance(second, int) and second == 0 and not isinstance(second, bool):
        return first
    if not is_potential(second):
        raise InvalidInput(
            f"only a potential can be added to a potential, not {second!r}; constants move no particle"
        )
    return _plain([(1.0, first), (sign, second)])


def _plain(terms: list[tuple[float, Potential]]) -> Potential:
    """Return the sum of terms, or its only term if the factor of that is 1."""
    # A sum is a potential itself.
    from .combination import Combination

    total = Combination(tuple(terms))
    ((factor, potential), *others) = total.terms
    return potential if factor == 1 and not others else total
