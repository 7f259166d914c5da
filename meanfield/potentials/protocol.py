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

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ..arguments import is_potential, methods_checked
from ..domains import Domain, Sphere
from ..errors import InvalidInput
from ..harmonics.packing import moduli, packed
from .arrays import Array, Number, narrowed, without_cancelled
from .interpolation import differentiated
from .parametric import continuous, exchanged, interpolated_in, require_named, values_of
from .relative import Relative
from .series import as_number
from .terms import collected, joined, parameters_of_terms
from .vectors import gradient_about_pole, polar_of

Terms: TypeAlias = "tuple[tuple[float, Potential], ...]"


@methods_checked
class Potential(Relative, Protocol):
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
        parameters = self.parameters()
        number = as_number(value, name, "a finite number")
        try:
            return type(self)(**exchanged(parameters, name, number))
        except TypeError as error:
            raise InvalidInput(
                f"the class of {self.name!r} does not take what its parameters() returns ({error}); let it change "
                f"{name} in a method with_parameter of its own"
            ) from error

    def interpolated_in(self, name: str) -> "Potential":
        """Return the same potential, prepared for many values of a parameter: itself, if it has formulas."""
        return self

    def multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        r"""Return the derivatives of w_0, ..., w_degree in a continuous parameter, shape (degree + 1,).

        The potentials of this package differentiate their formulas. For a class that does not give this method they
        are those of polynomials that interpolate the multipliers (:mod:`meanfield.potentials.interpolation`), known
        to :math:`10^{-8}` of the largest by the estimate of their errors; what is not is refused.

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
            If there is no such parameter, the multipliers are refused, or do not tell.

        Examples
        --------
        >>> from meanfield.domains import Circle
        >>> from meanfield.potentials import HegselmannKrause
        >>> HegselmannKrause(radius=1.0).multiplier_derivatives("radius", Circle(), 1).round(6).tolist()
        [-0.159155, -0.292653]
        """
        self._require_parameter(name)
        return differentiated(self, name, domain, degree)

    def sine_multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        """Return the derivatives of the coefficients of sin kt, k = 0..degree, in a continuous parameter.

        Zero where a class has no sines, else interpolated as those of ``multiplier_derivatives``.
        """
        self._require_parameter(name)
        if type(self).sine_multipliers is Potential.sine_multipliers:
            return np.zeros(degree + 1)
        return differentiated(self, name, domain, degree, of="sine_multipliers")

    def harmonic_multiplier_derivatives(self, name: str, degree: int) -> Array:
        """Return the derivatives of v_lm and u_lm on the ordinary sphere in a parameter, by degree and order.

        Of a class that gives neither these nor an axis they are interpolated.
        """
        self._require_parameter(name)
        if not self.zonal:
            return differentiated(self, name, Sphere(3), degree, of="harmonic_multipliers")
        cosine = packed(np.asarray(self.multiplier_derivatives(name, Sphere(3), degree), dtype=float))
        return np.stack([cosine, np.zeros_like(cosine)])

    def _require_parameter(self, name: str) -> None:
        """Refuse a name that is none of a continuous parameter."""
        require_named(name, self.parameter_names(), f"the potential {self.name!r}")

    def as_terms(self) -> Terms:
        """Return the terms by which the potential enters a sum, pairs of factors and potentials."""
        return ((1.0, self),)


@methods_checked
@dataclass(frozen=True, eq=False, repr=False)
class Combination(Potential):
    """A sum of multiples of potentials; write it as ``2 * Kuramoto() + Transformer(beta=3)``.

    Parameters
    ----------
    terms
        Pairs of a finite factor and a potential, or their descriptions by ``parameters``. Sums within the sum are
        taken apart and equal potentials together.

    Raises
    ------
    InvalidInput
        If there are no terms, or something is not a potential or not a finite factor.

    Notes
    -----
    A multiplier within four roundings of its terms is exactly 0: they cancel.

    The continuous parameters are the factors, each by the name of its potential as in ``kuramoto_factor``, and
    those of the terms by their own names, behind that of the potential where several have them:
    ``transformer1_beta`` and ``transformer2_beta``. A term whose factor becomes 0 leaves the sum, and equal terms
    become one.

    Examples
    --------
    >>> from meanfield.potentials import Kuramoto, MaierSaupe
    >>> 2 * Kuramoto() - MaierSaupe() / 2
    2.0*Kuramoto() - 0.5*MaierSaupe()
    """

    terms: Terms
    name: ClassVar[str] = "combination"

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", collected(self.terms))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Combination) and frozenset(self.terms) == frozenset(other.terms)

    def __hash__(self) -> int:
        return hash(frozenset(self.terms))

    def __repr__(self) -> str:
        return joined([(factor, repr(potential)) for factor, potential in self.terms], "*")

    @property
    def formula(self) -> str:  # type: ignore[override]
        """The sum of the formulas of the terms."""
        return joined([(factor, f"({potential.formula})") for factor, potential in self.terms], " ")

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return the sum of the values at the angles."""
        return self._summed([potential.values(angle) for _, potential in self.terms])

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return the sum of the slopes at the angles."""
        return self._summed([potential.slope(angle) for _, potential in self.terms])

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return the sums of the multipliers, longdouble where they do not fit float64."""
        rows = [np.longdouble(f) * potential.multipliers(domain, degree) for f, potential in self.terms]
        return narrowed(without_cancelled(rows))

    @property
    def even(self) -> bool:
        """Whether all terms are even."""
        return all(potential.even for _, potential in self.terms)

    def sine_multipliers(self, domain: Domain, degree: int) -> Array:
        """Return the sums of the coefficients of sines."""
        return narrowed(
            without_cancelled([np.longdouble(f) * part.sine_multipliers(domain, degree) for f, part in self.terms])
        )

    @property
    def zonal(self) -> bool:
        """Whether all terms are functions of the angle to the north pole."""
        return all(potential.zonal for _, potential in self.terms)

    def harmonic_multipliers(self, degree: int) -> Array:
        """Return the sums of the multipliers by degree and order."""
        return self._summed([potential.harmonic_multipliers(degree) for _, potential in self.terms])

    def values_at(self, points: npt.ArrayLike) -> Array:
        """Return the sum of the values at unit vectors."""
        return self._summed([potential.values_at(points) for _, potential in self.terms])

    def gradient_at(self, points: npt.ArrayLike) -> Array:
        """Return the sum of the gradients at unit vectors."""
        return self._summed([potential.gradient_at(points) for _, potential in self.terms])

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return the sum of the bounds."""
        bounds = [abs(np.longdouble(f)) * potential.tail_bound(domain, degree) for f, potential in self.terms]
        total = np.sum(bounds, dtype=np.longdouble)
        return float(total) if total == 0 or 1e-290 < total < 1e300 else np.longdouble(total)

    def scale(self, domain: Domain) -> Number:
        """Return the largest modulus of the multipliers."""
        if len(self.terms) > 1:
            return super().scale(domain)
        ((factor, potential),) = self.terms
        size = abs(np.longdouble(factor)) * potential.scale(domain)
        return float(size) if size == 0 or 1e-290 < size < 1e300 else np.longdouble(size)

    def extended_multipliers(self, domain: Domain, degree: int) -> npt.NDArray[np.longdouble]:
        """Return w_k / scale for k = 1..degree behind a leading 0."""
        if len(self.terms) == 1:
            ((factor, potential),) = self.terms
            return np.asarray(np.sign(factor) * potential.extended_multipliers(domain, degree))
        scale = np.longdouble(self.scale(domain))
        if scale == 0:
            return np.zeros(degree + 1, dtype=np.longdouble)
        return without_cancelled(
            [
                np.longdouble(f) * potential.scale(domain) / scale * potential.extended_multipliers(domain, degree)
                for f, potential in self.terms
            ]
        )

    def relative_tail_bound(self, domain: Domain, degree: int) -> float:
        """Return a bound of the multipliers beyond over the largest."""
        if len(self.terms) > 1:
            return super().relative_tail_bound(domain, degree)
        ((factor, potential),) = self.terms
        return potential.relative_tail_bound(domain, degree) if factor else 0.0

    def as_terms(self) -> Terms:
        """Return the terms of the sum, pairs of factors and potentials."""
        return self.terms

    def parameters(self) -> dict[str, Any]:
        """Return the factors, names and parameters of the terms."""
        return {
            "terms": [
                {"factor": factor, "name": potential.name, "parameters": potential.parameters()}
                for factor, potential in self.terms
            ]
        }

    def parameter_values(self) -> dict[str, float]:
        """Return the factors, and the continuous parameters of the terms."""
        values = [{"": factor} | values_of(potential) for factor, potential in self.terms]
        return {name: values[place][own] for name, (place, own) in parameters_of_terms(self.terms).items()}

    def with_parameter(self, name: str, value: float) -> "Combination":
        """Return the sum with one factor, or one parameter of a term, changed."""
        place, factor, potential, own = self._parameter(name)
        changed = (factor, potential.with_parameter(own, value)) if own else (value, potential)
        return Combination((*self.terms[:place], changed, *self.terms[place + 1 :]))

    def interpolated_in(self, name: str) -> "Combination":
        """Return the sum, the term of the parameter prepared for many values of it."""
        if name not in self.parameter_values():
            return self
        place, factor, potential, own = self._parameter(name)
        prepared = (factor, interpolated_in(potential, own))
        return Combination((*self.terms[:place], prepared, *self.terms[place + 1 :]))

    def multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        """Return the multipliers of the term in its factor, or the derivatives of the term times its factor."""
        _, factor, potential, own = self._parameter(name)
        if not own:
            return potential.multipliers(domain, degree)
        return narrowed(np.longdouble(factor) * potential.multiplier_derivatives(own, domain, degree))

    def sine_multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        """Return the coefficients of the term in its factor, or the derivatives of the term times its factor."""
        _, factor, potential, own = self._parameter(name)
        if not own:
            return potential.sine_multipliers(domain, degree)
        return narrowed(np.longdouble(factor) * potential.sine_multiplier_derivatives(own, domain, degree))

    def harmonic_multiplier_derivatives(self, name: str, degree: int) -> Array:
        """Return the multipliers by degree and order of the term in its factor, or the derivatives of the term."""
        _, factor, potential, own = self._parameter(name)
        if not own:
            return potential.harmonic_multipliers(degree)
        return np.asarray(factor * potential.harmonic_multiplier_derivatives(own, degree))

    def _parameter(self, name: str) -> tuple[int, float, Potential, str]:
        """Return place, factor and potential of the term of a parameter, and its name there."""
        self._require_parameter(name)
        place, own = parameters_of_terms(self.terms)[name]
        return place, *self.terms[place], own

    def _summed(self, rows: list[Array]) -> Array:
        total = np.zeros_like(rows[0])
        for (factor, _), row in zip(self.terms, rows, strict=True):
            if factor:
                total = total + factor * row
        return total


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
    total = Combination(tuple(terms))
    ((factor, potential), *others) = total.terms
    return potential if factor == 1 and not others else total
