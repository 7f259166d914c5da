"""Checks that a potential of another package fulfils the protocol, before anything is computed with it."""

import functools
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import is_potential, shown
from ..domains import Domain
from ..errors import ComputationFailed, InvalidInput, MeanfieldError
from .consistency import require_consistent
from .consistent_harmonics import require_consistent_harmonics
from .derived import Derived
from .formulas import formulas_of
from .protocol import Combination
from .terms import require_hashable

# Degrees at which the answers are looked at.
_DEGREES = (4, 33)
_INHERITED = (
    "scale", "extended_multipliers", "relative_multipliers", "relative_tail_bound", "even", "amplitudes", "zonal",
    "require_domain", "harmonic_multipliers", "values_at", "gradient_at",
)  # fmt: skip


def require_interaction(potential: Any, domain: Domain) -> None:
    """Refuse what is no potential on a domain, or not even, as the force between two particles needs it.

    Raises
    ------
    InvalidInput, ComputationFailed
        As :func:`require_potential`.
    """
    require_potential(potential, domain, "potential")
    if domain.has_azimuth and not potential.zonal:
        raise InvalidInput(
            f"an interaction potential is a function of the angle between two points, and {_name(potential)} has "
            "directions of its own; it may be a confinement, as in confinement=..."
        )
    if not potential.even:
        raise InvalidInput(
            f"an interaction potential must be even, and {_name(potential)} has sines; it may be a confinement, "
            "as in confinement=...; a phase lag of the interaction is PhaseLag(potential, lag)"
        )


def require_confinement(potential: Any, domain: Domain) -> None:
    """Refuse what is no potential on a domain: on spheres odd functions of the angle to the north pole.

    Raises
    ------
    InvalidInput, ComputationFailed
        As :func:`require_potential`.
    """
    require_potential(potential, domain, "confinement")
    for _, term in potential.as_terms():
        term.require_domain(domain)
        if term.zonal and not term.even:
            formulas_of(domain).require_uneven(
                f"{_name(term)} is no even function of that; leave its odd part out, or take the circle"
            )


def require_potential(potential: Any, domain: Domain, role: str) -> None:
    """Refuse objects that are no potentials, and potentials of other packages with results of the wrong kind.

    Raises
    ------
    InvalidInput
        If it is a class, lacks a method, is not hashable, or answers with the wrong type, shape or numbers, or with
        numbers that contradict each other.
    ComputationFailed
        If a method raises; the message names the degree, the cause is chained.
    """
    if not is_potential(potential):
        advice = "wrap a function as Custom.from_callable(function)"
        if isinstance(potential, type):
            advice = f"give an instance of the class {potential.__name__}"
        raise InvalidInput(
            f"{role} must be a potential such as Transformer(beta=4), not {shown(potential)}; {advice}"
        )
    if isinstance(potential, Combination):
        for _, term in potential.terms:
            require_potential(term, domain, role)
        return
    if isinstance(potential, Derived):
        require_potential(potential.potential, domain, role)
        return
    if type(potential).__module__.partition(".")[0] == __name__.partition(".")[0]:
        return
    missing = [method for method in _INHERITED if not hasattr(potential, method)]
    if missing:
        raise InvalidInput(
            f"the {role} {_name(potential)} has no {missing[0]}; let its class inherit meanfield.Potential, which "
            "has it"
        )
    require_hashable(potential, f"the {role}")
    _probe(potential, domain, role)


@functools.lru_cache(maxsize=64)
def _probe(potential: Any, domain: Domain, role: str) -> None:
    has_axis = potential.zonal or not domain.has_azimuth
    if has_axis:
        _probe_multipliers(potential, domain, role)
    named = f"{role} {_name(potential)}"
    try:
        if has_axis:
            require_consistent(potential, domain, named)
        else:
            require_consistent_harmonics(potential, named)
    except MeanfieldError:
        raise
    except Exception as error:
        raise _raised(error, "a method", named) from error


def _probe_multipliers(potential: Any, domain: Domain, role: str) -> None:
    for degree in _DEGREES:
        multipliers = _asked(potential, domain, degree, "multipliers", role)
        kind = getattr(multipliers, "dtype", None)
        if kind is None or not np.issubdtype(kind, np.floating) or multipliers.shape != (degree + 1,):
            shape = "" if kind is None else f" of shape {multipliers.shape} and dtype {kind}"
            raise InvalidInput(
                f"multipliers(domain, {degree}) of the {role} {_name(potential)} must be an array of {degree + 1} "
                f"floats, not {type(multipliers).__name__}{shape}"
            )
        if not np.isfinite(multipliers).all():
            raise InvalidInput(
                f"multipliers(domain, {degree}) of the {role} {_name(potential)} must be finite; that of degree "
                f"{int(np.argmin(np.isfinite(multipliers)))} is not"
            )
        bound = _asked(potential, domain, degree, "tail_bound", role)
        if isinstance(bound, bool) or not isinstance(bound, int | float | np.number) or not 0 <= bound < np.inf:
            raise InvalidInput(
                f"tail_bound(domain, {degree}) of the {role} {_name(potential)} must be a finite number, a bound "
                f"of the multipliers beyond, not {bound!r}"
            )


def _asked(potential: Any, domain: Domain, degree: int, method: str, role: str) -> Any:
    try:
        return getattr(potential, method)(domain, degree)
    except Exception as error:
        raise _raised(error, f"{method}(domain, {degree})", f"{role} {_name(potential)}") from error


def _raised(error: Exception, call: str, named: str) -> ComputationFailed:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return ComputationFailed(
        f"{call} of the {named} raised {type(error).__name__} in {place.name} ({Path(place.filename).name}, "
        f"line {place.lineno}): {error}"
    )


def _name(potential: Any) -> str:
    return repr(getattr(potential, "name", type(potential).__name__))
