"""Sums of multiples of potentials."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked
from ..domains import Domain
from .arrays import Array, Number, narrowed, without_cancelled
from .parametric import values_of
from .protocol import Potential, Terms
from .terms import collected, joined, parameters_of_terms


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
