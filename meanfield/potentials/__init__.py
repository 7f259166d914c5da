"""All potentials under one roof, and how to find one by name.

A package adds its own through an entry point of the group ``meanfield.potentials`` whose name is the
potential's and whose object is the class.
"""

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidInput, did_you_mean
from .custom import Custom
from .kernels import (
    CosineSeries,
    HegselmannKrause,
    KellerSegel,
    Kuramoto,
    Logarithmic,
    Onsager,
    Transformer,
)
from .protocol import Array, Number, Potential

__all__ = [
    "POTENTIALS",
    "Array",
    "CosineSeries",
    "Custom",
    "HegselmannKrause",
    "KellerSegel",
    "Kuramoto",
    "Logarithmic",
    "Number",
    "Onsager",
    "Potential",
    "Transformer",
    "known_potentials",
    "potential_class",
    "potential_from",
]

ENTRY_POINT_GROUP = "meanfield.potentials"

POTENTIALS: dict[str, type[Potential]] = {
    kind.name: kind
    for kind in (
        Transformer,
        Kuramoto,
        CosineSeries,
        HegselmannKrause,
        Onsager,
        Logarithmic,
        KellerSegel,
        Custom,
    )
}


def known_potentials() -> list[str]:
    """Return the sorted names of the built-in and the installed potentials."""
    return sorted({*POTENTIALS, *(entry.name for entry in _entry_points())})


def potential_class(name: str) -> type[Potential]:
    """Return the class registered under a name.

    Raises
    ------
    InvalidInput
        If there is none; the message suggests the nearest names and lists all.
    """
    if name in POTENTIALS:
        return POTENTIALS[name]
    for entry in _entry_points():
        if entry.name == name:
            return _loaded(entry)
    known = known_potentials()
    hint = did_you_mean(str(name), known, most=2)
    raise InvalidInput(f"unknown potential {name!r}; {hint}known potentials: {', '.join(known)}")


def potential_from(name: str, parameters: Mapping[str, Any]) -> Potential:
    """Build a potential from its name and the dictionary its ``parameters()`` returns.

    Raises
    ------
    InvalidInput
        If the name is unknown or the parameters do not fit the class.
    """
    kind = potential_class(name)
    try:
        return kind(**parameters)
    except TypeError as error:
        given = ", ".join(sorted(map(str, parameters))) or "none"
        raise InvalidInput(
            f"the potential {name!r} does not take the parameters given ({given}): {error}"
        ) from error


def _entry_points() -> Any:
    from importlib.metadata import entry_points

    return entry_points(group=ENTRY_POINT_GROUP)


def _loaded(entry: Any) -> type[Potential]:
    try:
        kind: type[Potential] = entry.load()
    except Exception as error:
        raise InvalidInput(
            f"the potential {entry.name!r} is registered by an installed package but does not load: {error}"
        ) from error
    return kind
