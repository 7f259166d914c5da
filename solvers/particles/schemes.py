"""Schemes by their names, and the check that they apply."""

import importlib

from meanfield import InvalidInput

from ..execution.defaults import SCHEME, SCHEME_WITHOUT_NOISE, SCHEMES
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


def default_scheme(noise: float) -> Scheme:
    """Return the default scheme for particles with a noise, or without if it is 0."""
    return scheme_named(SCHEME if noise > 0.0 else SCHEME_WITHOUT_NOISE)


def schemes(flat: bool) -> list[Scheme]:
    """Return all schemes for particles with noise that apply on flat domains, or on curved ones."""
    return [one for one in map(scheme_named, SCHEMES) if _draws(one, flat) and (flat or one.curved)]


def require_scheme(scheme: Scheme, flat: bool, noise: float) -> None:
    """Refuse a class in the place of a scheme, one for flat domains on curved ones, and one that draws no noise.

    Raises
    ------
    InvalidInput
        If it is a class or does not apply.
    """
    if isinstance(scheme, type):
        raise InvalidInput(f"scheme must be {scheme.__name__}() with its options, not the class itself")
    if not (flat or scheme.curved):
        others = " or ".join(
            one.name for one in map(scheme_named, SCHEMES) if one.curved and (noise == 0.0 or _draws(one, flat))
        )
        raise InvalidInput(
            f"the scheme {scheme.name} adds displacements up, which has no meaning on a sphere; take {others} there"
        )
    if noise > 0.0 and not _draws(scheme, flat):
        raise InvalidInput(
            f"the scheme {scheme.name} moves particles without noise, and the noise is {noise:g}; take {SCHEME}, "
            "or noise=0 (--noise 0)"
        )


def _draws(scheme: Scheme, flat: bool) -> bool:
    return scheme.cost(flat).draws > 0
