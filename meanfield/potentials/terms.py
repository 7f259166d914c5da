"""The terms of a sum of potentials: read, checked, collected and written in words."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..arguments import is_potential, shown
from ..errors import InvalidInput
from .parametric import values_of
from .registry import potential_from
from .series import as_number, require_size


def collected(terms: Any) -> tuple[tuple[float, Any], ...]:
    """Return checked terms with equal potentials collected, without those that vanish unless all do.

    Raises
    ------
    InvalidInput
        If there are none, or something is not a potential or not a finite factor.
    """
    factors: dict[Any, float] = {}
    for factor, potential in _read(terms):
        factors[potential] = factors.get(potential, 0.0) + factor
    if not factors:
        raise InvalidInput("a sum of potentials needs at least one term; try Kuramoto() + Transformer(beta=3)")
    for potential, factor in factors.items():
        require_size(
            abs(as_number(factor, f"the factor of {potential!r}", "a finite number")), "the factor of a potential"
        )
    kept = tuple((factor, potential) for potential, factor in factors.items() if factor)
    return kept or ((0.0, next(iter(factors))),)


def joined(terms: list[tuple[float, str]], times: str, shown: Callable[[float], str] = repr) -> str:
    """Return a sum in words, such as ``2.0*A - B``, its factors shown in a given way."""
    text = ""
    for factor, name in terms:
        size = abs(factor) if text else factor
        sign = (" - " if factor < 0 else " + ") if text else ""
        text += sign + (name if size == 1 else f"{shown(size)}{times}{name}")
    return text


def parameters_of_terms(terms: tuple[tuple[float, Any], ...]) -> dict[str, tuple[int, str]]:
    """Return the continuous parameters of a sum by name: places of terms and names there, empty for the factors.

    Terms of one name are counted in the order in which they were given, so that names stay where they are along a
    change of parameters; sums that are equal in another order name theirs in that order.
    """
    labels = [potential.name.replace("-", "_") for _, potential in terms]
    several, met = Counter(labels), Counter[str]()
    for place, label in enumerate(labels):
        if several[label] > 1:
            met[label] += 1
            labels[place] += str(met[label])
    names = [list(values_of(potential)) for _, potential in terms]
    having = Counter(name for own in names for name in own)
    found = {f"{label}_factor": (place, "") for place, label in enumerate(labels)}
    for place, (label, own) in enumerate(zip(labels, names, strict=True)):
        for name in own:
            alone = having[name] == 1 and name not in found
            found[name if alone else f"{label}_{name}"] = (place, name)
    return found


def require_hashable(potential: Any, role: str) -> None:
    """Refuse a potential that is not hashable.

    Raises
    ------
    InvalidInput
        If it is not hashable; the message says how it becomes so.
    """
    try:
        hash(potential)
    except TypeError as error:
        name = getattr(potential, "name", type(potential).__name__)
        raise InvalidInput(
            f"{role} {name!r} is not hashable ({error}); make its class a frozen dataclass"
        ) from error


def _read(terms: Any) -> Iterable[tuple[float, Any]]:
    """Yield checked pairs of factor and potential, with sums within the sum expanded."""
    iterable = hasattr(terms, "__iter__") and getattr(terms, "ndim", 1) != 0
    if isinstance(terms, str | bytes | Mapping) or not iterable:
        raise InvalidInput(
            f"terms must be pairs of a factor and a potential, not {shown(terms)}; try 2 * Kuramoto()"
        )
    for term in terms:
        factor, potential = _described(term) if isinstance(term, Mapping) else _paired(term)
        factor = as_number(factor, "the factor of a potential", "a finite number")
        if not is_potential(potential):
            raise InvalidInput(f"a term must be a potential such as Kuramoto(), not {potential!r}")
        require_hashable(potential, "the term")
        for other, part in _parts(potential):
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


def _described(term: Mapping[Any, Any]) -> tuple[Any, Any]:
    if set(term) != {"factor", "name", "parameters"}:
        raise InvalidInput(
            f"a term is described by factor, name and parameters, not by {', '.join(map(str, term))}"
        )
    return term["factor"], potential_from(term["name"], term["parameters"])


def _parts(potential: Any) -> tuple[tuple[float, Any], ...]:
    """Return the terms of a potential; one that does not inherit the operators is its only term."""
    return potential.as_terms() if hasattr(potential, "as_terms") else ((1.0, potential),)
