"""The continuous parameters of potentials: their names and values."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..arguments import shown
from ..errors import InvalidInput, did_you_mean
from .arrays import Number
from .series import SMALLEST_SIZE

if TYPE_CHECKING:
    from .protocol import Potential

# What is kept in the place of zero: the least number that potentials admit.
LEAST_VALUE = SMALLEST_SIZE
# Names that a sentence lists, and with which an unknown one is compared.
_LISTED, _COMPARED = 12, 256


def continuous(arguments: Mapping[str, Any]) -> dict[str, float]:
    """Return the floats among constructor arguments by name, the entries of a list ``w`` as ``w1``, ``w2``, ..."""
    found: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, list | tuple):
            found |= numbered(name, value)
        else:
            found[name] = value
    return {name: value for name, value in found.items() if isinstance(value, float)}


def numbered(name: str, entries: Sequence[Any]) -> dict[str, Any]:
    """Return the entries of a sequence by the name of the whole and their place, counted from 1."""
    return {f"{name}{place}": entry for place, entry in enumerate(entries, start=1)}


def exchanged(arguments: Mapping[str, Any], name: str, value: float) -> dict[str, Any]:
    """Return constructor arguments with one of their ``continuous`` numbers replaced by a value."""
    changed = {name: value}
    return {
        key: [changed.get(own, entry) for own, entry in numbered(key, given).items()]
        if isinstance(given, list | tuple)
        else changed.get(key, given)
        for key, given in arguments.items()
    }


def values_of(potential: "Potential") -> dict[str, float]:
    """Return the continuous parameters of a potential; none if it does not inherit the protocol."""
    return potential.parameter_values() if hasattr(potential, "parameter_values") else {}


def keeping(changed: Any, name: str, value: Number) -> Any:
    """Return a potential or a velocity law with one continuous parameter changed that it has at zero too.

    What would leave it with zero has the least value in its place, see :meth:`Equation.keeping_parameter`.

    Raises
    ------
    InvalidInput
        If there is no such parameter, or its value is not admitted.
    """
    found = changed.with_parameter(name, value)
    return changed.with_parameter(name, LEAST_VALUE) if value == 0 and name not in values_of(found) else found


def interpolated_in(changed: Any, name: str) -> Any:
    """Return a potential or a velocity law, prepared for many values of a parameter if it knows how."""
    return changed.interpolated_in(name) if hasattr(changed, "interpolated_in") else changed


def require_named(name: str, known: Sequence[str], owner: str) -> None:
    """Refuse a name that is none of the continuous parameters of an owner.

    Raises
    ------
    InvalidInput
        The message suggests the nearest name and lists the first.
    """
    if name in known:
        return
    more = ", ..." if len(known) > _LISTED else ""
    have = f"it has {', '.join(known[:_LISTED])}{more}" if known else "it has none"
    hint = did_you_mean(name, known[:_COMPARED])
    raise InvalidInput(f"{owner} has no continuous parameter {shown(name)}; {hint}{have}")
