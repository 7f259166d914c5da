r"""The continuous parameters of potentials: their names and values, and derivatives by differences.

Potentials with a formula differentiate it. For any other the multipliers are differenced: with the central
difference :math:`T_0(h) = (w(p+h) - w(p-h))/2h`, steps halved, and the extrapolation of Richardson

.. math:: T_{n+1}(h) = \frac{4^{n+1}\,T_n(h) - T_n(2h)}{4^{n+1} - 1},

the best entry of the table is that of the least error, estimated as the larger distance to the two entries it is
made of (Ridders, Advances in Engineering Software 4 (1982) 75) plus the rounding of the differences. A kink at the
parameter itself is seen by no central difference: second differences over h tend to the jump of the derivative,
which is an error as well.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..arguments import shown
from ..domains import Domain
from ..errors import InvalidInput, did_you_mean
from ..harmonics.gegenbauer import Extended
from .arrays import Array, Number, narrowed
from .series import SMALLEST_SIZE

if TYPE_CHECKING:
    from .protocol import Potential

# What is kept in the place of zero: the least number that potentials admit.
LEAST_VALUE = SMALLEST_SIZE
# Domain, last degree, and the method whose coefficients are asked for.
_Asked = tuple[Domain, int, str]
# Names that a sentence lists, and with which an unknown one is compared.
_LISTED, _COMPARED = 12, 256
# Error of an extrapolated derivative over the largest beyond which it is refused.
LARGEST_ERROR = 1e-8
_LEVELS = 10
# The first step over the parameter, and the smallest at which a neighbour is looked for.
_FIRST_STEP, _SMALLEST_STEP = 0.125, 1e-4
# Roundings, of the largest, that a multiplier may have.
_ROUNDINGS = 8


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


def extrapolated(
    potential: "Potential", name: str, domain: Domain, degree: int, *, of: str = "multipliers"
) -> tuple[Array, Array]:
    """Return the derivatives of w_0, ..., w_degree in a parameter by extrapolated differences, and their errors.

    Parameters
    ----------
    name
        One of its ``parameter_names``.
    of
        The method whose coefficients are differentiated: ``multipliers``, ``sine_multipliers`` or
        ``harmonic_multipliers``.

    Returns
    -------
    derivatives, errors : (degree + 1,), or (2, places) of harmonics
        The errors are estimates of the truncation, plus what 8 roundings of the largest multiplier come to, or the
        jump of the derivative.

    Raises
    ------
    InvalidInput
        If the potential refuses all neighbouring values on one side.
    """
    asked = (domain, degree, of)
    middle = _read(potential, asked)
    value = values_of(potential)[name]
    steps = _first_step(potential, name, value, asked) * 0.5 ** np.arange(_LEVELS)
    previous: list[tuple[Extended, Extended]] = []
    best, least = np.zeros_like(middle), np.full(middle.shape, np.longdouble(np.inf))
    bends: list[Extended] = []
    for step in steps.tolist():
        upper, lower = (_at(potential, name, place, asked) for place in (value + step, value - step))
        current = [_difference(upper, lower, (value + step) - (value - step))]
        bends.append((upper - 2 * middle + lower) / np.longdouble(step))
        for order, (coarse, coarse_rounding) in enumerate(previous, start=1):
            fine, rounding = current[-1]
            better = fine + (fine - coarse) / (4**order - 1)
            truncation = np.maximum(np.abs(better - fine), np.abs(better - coarse))
            error = truncation + 2 * np.maximum(rounding, coarse_rounding)
            best, least = np.where(error < least, better, best), np.minimum(error, least)
            current.append((better, rounding))
        previous = current
    return narrowed(best), narrowed(np.maximum(least, np.abs(_limit(bends)) - 8 * current[0][1]))


def differenced(
    potential: "Potential", name: str, domain: Domain, degree: int, *, of: str = "multipliers"
) -> Array:
    """Return the derivatives by extrapolated differences, each known to 1e-8 of the largest.

    The largest is that of the derivatives or of the multipliers over the parameter, 1 where it is 0.

    Parameters
    ----------
    name
        One of its ``parameter_names``.
    of
        The method whose coefficients are differentiated, as in :func:`extrapolated`.

    Raises
    ------
    InvalidInput
        If they are not known that well, or the potential refuses all neighbouring values on one side.
    """
    derivatives, errors = extrapolated(potential, name, domain, degree, of=of)
    size = abs(values_of(potential)[name]) or 1.0
    largest = max(np.abs(derivatives).max(), np.abs(_read(potential, (domain, degree, of))).max() / size)
    # An error that is no number is none that is small.
    if not errors.max() <= LARGEST_ERROR * largest:
        raise InvalidInput(
            f"the derivatives of the multipliers of {potential.name!r} in {name} by differences have errors of "
            f"{float(errors.max()):.1e} beside {float(largest):.1e}; write it as a formula, as in "
            "Custom.from_expression('-Max(b - Abs(t), 0)', b=1), or give them as the method "
            f"{of.removesuffix('s')}_derivatives of a class of its own"
        )
    return derivatives


def _limit(bends: list[Extended]) -> Extended:
    """Return the limit of second differences over h, whose errors are of the orders h and h^3."""
    coarse, fine = (2 * after - before for before, after in pairwise(bends[-3:]))
    return np.asarray((8 * fine - coarse) / 7)


def _first_step(potential: "Potential", name: str, value: float, asked: _Asked) -> float:
    """Return the largest step in a parameter with finite multipliers that the potential admits on both sides."""
    size = abs(value) or 1.0
    step = _FIRST_STEP * size
    while step >= _SMALLEST_STEP * size:
        try:
            beside = [_at(potential, name, place, asked) for place in (value + step, value - step)]
        except ValueError:
            step /= 2
            continue
        if all(np.isfinite(multipliers).all() for multipliers in beside):
            return step
        step /= 2
    raise InvalidInput(
        f"the multipliers of {potential.name!r} cannot be differenced in {name} at {value:g}, beside which it "
        "refuses values; give their derivatives as the method multiplier_derivatives of its class"
    )


def _at(potential: "Potential", name: str, value: float, asked: _Asked) -> Extended:
    return _read(potential.with_parameter(name, value), asked)


def _read(potential: "Potential", asked: _Asked) -> Extended:
    """Return the coefficients of a potential that are asked for in longdouble."""
    domain, degree, of = asked
    if of == "harmonic_multipliers":
        return potential.harmonic_multipliers(degree).astype(np.longdouble)
    found: Extended = getattr(potential, of)(domain, degree).astype(np.longdouble)
    return found


def _difference(upper: Extended, lower: Extended, width: float) -> tuple[Extended, npt.NDArray[np.longdouble]]:
    """Return a central difference and the size of its rounding."""
    largest = max(np.abs(upper).max(), np.abs(lower).max())
    rounding = 2 * _ROUNDINGS * np.finfo(float).eps * largest / np.longdouble(width)
    return (upper - lower) / np.longdouble(width), np.full(upper.shape, rounding)
