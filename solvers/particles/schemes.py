"""Schemes by their names, and the check that they apply."""

import importlib

from meanfield import InvalidInput

from ..defaults import SCHEMES
from .stepping import Scheme


def scheme_named(name: str) -> Scheme:
    """Return the scheme of a name.

    Raises
    ------
    InvalidInput
        If no scheme has that name.
    """
    if name not in SCHEMES:
        raise InvalidInput(f"unknown scheme {name!r}; known: {', '.join(SCHEMES)}")
    module, _, kind = SCHEMES[name].partition(":")
    scheme: Scheme = getattr(importlib.import_module(module), kind)()
    return scheme


def schemes(flat: bool) -> list[Scheme]:
    """Return all schemes that apply on flat domains, or on curved ones."""
    return [scheme for scheme in map(scheme_named, SCHEMES) if flat or scheme.curved]


def require_scheme(scheme: Scheme, flat: bool) -> None:
    """Refuse a class in the place of a scheme, and on curved domains a scheme for flat ones.

    Raises
    ------
    InvalidInput
        If it is a class or does not apply.
    """
    if isinstance(scheme, type):
        raise InvalidInput(f"scheme must be {scheme.__name__}() with its options, not the class itself")
    if not (flat or scheme.curved):
        others = " or ".join(other.name for other in schemes(flat))
        raise InvalidInput(
            f"the scheme {scheme.name} adds displacements up, which has no meaning on a sphere; take {others} there"
        )
