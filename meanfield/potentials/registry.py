"""Lookup of potentials by name, those of the package and installed ones."""

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..arguments import checked
from ..errors import InvalidInput, did_you_mean

if TYPE_CHECKING:
    from .protocol import Potential

ENTRY_POINT_GROUP = "meanfield.potentials"

# Filled where the package is put together: the interactions that go by a name, and the potentials that files name
# besides, made of others or for confinements.
POTENTIALS: "dict[str, type[Potential]]" = {}
COMPOSED: "dict[str, type[Potential]]" = {}

# The Kuramoto model on a sphere goes by the number of components of its spins.
ALIASES = {"o-n": "kuramoto"}


def known_potentials() -> list[str]:
    """Return the sorted names of the built-in and the installed potentials."""
    return sorted({*POTENTIALS, *(entry.name for entry in _entry_points())})


def potential_class(name: str, besides: Sequence[str] = ()) -> "type[Potential]":
    """Return the class registered under a name.

    Parameters
    ----------
    besides
        Names that are admissible as well where this one was given.

    Raises
    ------
    InvalidInput
        If no class has that name; the message suggests the nearest names and lists all.
    """
    name = ALIASES.get(name, name)
    if name in POTENTIALS:
        return POTENTIALS[name]
    for entry in _entry_points():
        if entry.name == name:
            return _loaded(entry)
    known = sorted({*known_potentials(), *besides})
    hint = did_you_mean(str(name), known, most=2)
    raise InvalidInput(f"unknown potential {name!r}; {hint}known potentials: {', '.join(known)}")


@checked
def potential_from(name: str, parameters: Mapping[str, Any]) -> "Potential":
    """Return the potential of a name and of the dictionary that its ``parameters()`` returns.

    Raises
    ------
    InvalidInput
        If the name is unknown or the parameters do not fit the class.
    """
    kind = COMPOSED[name] if name in COMPOSED else potential_class(name)
    try:
        return kind(**parameters)
    except TypeError as error:
        given = ", ".join(sorted(map(str, parameters))) or "none"
        raise InvalidInput(
            f"the potential {name!r} does not take the parameters given ({given}): {error}"
        ) from error


@functools.cache
def _entry_points() -> Any:
    """Return the installed potentials; to find them, the metadata of every installed package are read."""
    from importlib.metadata import entry_points

    return entry_points(group=ENTRY_POINT_GROUP)


def _loaded(entry: Any) -> "type[Potential]":
    try:
        kind: type[Potential] = entry.load()
    except Exception as error:
        raise InvalidInput(
            f"the potential {entry.name!r} is registered by an installed package but does not load: {error}"
        ) from error
    return kind
