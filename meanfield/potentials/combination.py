r"""Sums and multiples of potentials, :math:`W = \sum_i a_i W_i`, as the operators ``+ - * /`` make them.

Multipliers, values and slopes are the sums of those of the terms, and so are the bounds of what is beyond a degree.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from ..arguments import is_potential, methods_checked
from ..domains import Domain
from ..errors import InvalidInput
from .green import Logarithmic
from .protocol import Array, Number, Potential
from .series import as_number, require_size

Terms: TypeAlias = tuple[tuple[float, Potential], ...]

# Roundings of the terms of a sum within which the sum is taken as cancelled.
_CANCELLED = 4 * float(np.finfo(float).eps)


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

    Examples
    --------
    >>> from meanfield.potentials import Kuramoto, MaierSaupe
    >>> 2 * Kuramoto() - MaierSaupe() / 2
    2.0*Kuramoto() - 0.5*MaierSaupe()
    """

    terms: Terms
    name: ClassVar[str] = "combination"

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", _collected(_read(self.terms)))

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
        total = _without_cancelled(rows)
        largest, limits = np.abs(total).max(), np.finfo(np.float64)
        fits = largest == 0 or limits.tiny / limits.eps <= largest <= limits.max
        return np.asarray(total.astype(np.float64) if fits else total)

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
        return _without_cancelled(
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

    def parameters(self) -> dict[str, Any]:
        """Return the factors, names and parameters of the terms."""
        return {
            "terms": [
                {"factor": factor, "name": potential.name, "parameters": potential.parameters()}
                for factor, potential in self.terms
            ]
        }

    def _summed(self, rows: list[Array]) -> Array:
        total = np.zeros_like(rows[0])
        for (factor, _), row in zip(self.terms, rows, strict=True):
            if factor:
                total = total + factor * row
        return total


def multiple(factor: Any, potential: Potential) -> Potential:
    """Return a potential times a number."""
    return _plain([(as_number(factor, "the factor of a potential", "a finite number"), potential)])


def quotient(potential: Potential, divisor: Any) -> Potential:
    """Return a potential over a number; each factor is divided once."""
    number = as_number(divisor, "the divisor of a potential", "a finite number other than 0")
    if number == 0:
        raise InvalidInput("the divisor of a potential must be a finite number other than 0, not 0.0")
    terms = potential.terms if isinstance(potential, Combination) else ((1.0, potential),)
    return _plain([(factor / number, part) for factor, part in terms])


def added(first: Potential, second: Any, sign: float = 1.0) -> Potential:
    """Return a potential plus a sign times another; 0, from which ``sum`` starts, is no potential but admitted."""
    if isinstance(second, int) and second == 0 and not isinstance(second, bool):
        return first
    if not is_potential(second):
        raise InvalidInput(
            f"only a potential can be added to a potential, not {second!r}; constants move no particle and are "
            f"left out"
        )
    return _plain([(1.0, first), (sign, second)])


def joined(terms: list[tuple[float, str]], times: str, shown: Callable[[float], str] = repr) -> str:
    """Return a sum in words, such as ``2.0*A - B``, its factors shown in a given way."""
    text = ""
    for factor, name in terms:
        size = abs(factor) if text else factor
        sign = (" - " if factor < 0 else " + ") if text else ""
        text += sign + (name if size == 1 else f"{shown(size)}{times}{name}")
    return text


def _plain(terms: list[tuple[float, Potential]]) -> Potential:
    """Return the sum, or its only term where that is not multiplied."""
    total = Combination(tuple(terms))
    ((factor, potential), *others) = total.terms
    return potential if factor == 1 and not others else total


def _read(terms: Any) -> Iterable[tuple[float, Potential]]:
    """Yield checked pairs, of sums within the sum their own."""
    iterable = hasattr(terms, "__iter__") and getattr(terms, "ndim", 1) != 0
    if isinstance(terms, str | bytes | Mapping) or not iterable:
        raise InvalidInput(f"terms must be pairs of a factor and a potential, not {terms!r}; try 2 * Kuramoto()")
    for term in terms:
        factor, potential = _described(term) if isinstance(term, Mapping) else _paired(term)
        factor = as_number(factor, "the factor of a potential", "a finite number")
        if not is_potential(potential):
            raise InvalidInput(f"a term must be a potential such as Kuramoto(), not {potential!r}")
        inner = potential.terms if isinstance(potential, Combination) else ((1.0, potential),)
        for other, part in inner:
            if factor and other and not factor * other:
                raise InvalidInput(
                    f"{factor:g} times {other:g} is 0 by underflow; measure {part!r} in another unit"
                )
            yield factor * other, part


def _paired(term: Any) -> tuple[Any, Any]:
    if not isinstance(term, tuple | list) or len(term) != 2:
        raise InvalidInput(
            f"a term must be a pair of a factor and a potential, not {term!r}; try (2.0, Kuramoto())"
        )
    return term[0], term[1]


def _described(term: Mapping[Any, Any]) -> tuple[Any, Potential]:
    from . import potential_from

    if set(term) != {"factor", "name", "parameters"}:
        raise InvalidInput(
            f"a term is described by factor, name and parameters, not by {', '.join(map(str, term))}"
        )
    return term["factor"], potential_from(term["name"], term["parameters"])


def _collected(terms: Iterable[tuple[float, Potential]]) -> Terms:
    """Return the terms with equal potentials taken together, those that vanish left out unless all do."""
    factors: dict[Potential, float] = {}
    for factor, potential in terms:
        # One singularity of both signs, so that no difference of two infinities is left.
        if isinstance(potential, Logarithmic) and potential.sign < 0:
            factor, potential = -factor, Logarithmic()
        factors[potential] = factors.get(potential, 0.0) + factor
    if not factors:
        raise InvalidInput("a sum of potentials needs at least one term; try Kuramoto() + Transformer(beta=3)")
    for potential, factor in factors.items():
        require_size(
            abs(as_number(factor, f"the factor of {potential!r}", "a finite number")), "the factor of a potential"
        )
    kept = tuple((factor, potential) for potential, factor in factors.items() if factor)
    return kept or ((0.0, next(iter(factors))),)


def _without_cancelled(rows: list[Any]) -> npt.NDArray[np.longdouble]:
    total = np.asarray(np.sum(rows, axis=0, dtype=np.longdouble))
    total[np.abs(total) <= _CANCELLED * np.abs(rows).sum(axis=0)] = 0
    return np.asarray(total)
