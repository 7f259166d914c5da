r"""Numbers that the user gives by name to a formula or a function: its continuous parameters.

A function is differentiated in one of them by a complex step,
:math:`\partial_b f(t, b) = \mathrm{Im}\, f(t, b + ih)/h` with h so small that its square is lost (Squire and Trapp,
SIAM Review 40 (1998) 110), where it is analytic in it and takes complex numbers; differences tell whether it does.
"""

import inspect
import keyword
from collections.abc import Callable, ItemsView, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..arguments import shown
from ..errors import InvalidInput
from .expressions import TAKEN
from .sampling import name_of, probes
from .series import as_number

# By name; kept as pairs.
Numbers: TypeAlias = Mapping[str, float] | tuple[tuple[str, float], ...]
LONGEST_NAME = 32
# The complex step, and that of the differences at every so many of the probes, which agree with it to such a share.
_STEP, _DIFFERENCE, _STRIDE, _AGREEING = 2.0**-332, 2.0**-17, 64, 1e-6


def given_numbers(given: Any) -> dict[str, float]:
    """Return numbers given by name, sorted, refusing names that a formula has already and what is no number.

    Raises
    ------
    InvalidInput
        If a name is none, is taken, or stands for something else than a finite number.
    """
    pairs = given.items() if isinstance(given, Mapping) else given
    listed = isinstance(pairs, tuple | list | ItemsView)
    if not (listed and all(isinstance(pair, Sequence) and len(pair) == 2 for pair in pairs)):
        raise InvalidInput(f"given must be a mapping of names to numbers, such as {{'b': 3.0}}, not {shown(given)}")
    found = {}
    for name, value in pairs:
        if not (isinstance(name, str) and name.isidentifier() and len(name) <= LONGEST_NAME):
            raise InvalidInput(
                f"a number given by name needs one of letters, digits and _, at most {LONGEST_NAME} of them, not "
                f"{shown(name)}; try b=3.0"
            )
        if name in TAKEN or keyword.iskeyword(name):
            raise InvalidInput(
                f"the name {name!r} has a meaning in formulas already; call the number {name}1 or so"
            )
        found[name] = as_number(value, name, "a finite number")
    return dict(sorted(found.items()))


def passing(function: Callable[..., Any], given: dict[str, float]) -> Callable[[Any], Any]:
    """Return the function of the angle alone that passes on numbers by name, under the name of the callable."""
    if not given:
        return function

    def of_angle(angle: Any) -> Any:
        return function(angle, **given)

    of_angle.__name__ = at_numbers(name_of(function), given)
    return of_angle


def at_numbers(text: str, given: Numbers) -> str:
    """Return what a formula or a function is called in messages, with the numbers at which it was looked at."""
    numbers = " and ".join(f"{name} = {value:.9g}" for name, value in dict(given).items())
    return f"{text} with {numbers}" if numbers else text


def require_given(function: Callable[..., Any], given: dict[str, float]) -> None:
    """Refuse a callable that does not take the angle and the numbers given by name, as far as it says so.

    Raises
    ------
    InvalidInput
        The message is that of the call.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(0.0, **given)
    except TypeError as error:
        raise InvalidInput(
            f"{name_of(function)}{signature} is called with the angle"
            + "".join(f" and {name}={shown(value)}" for name, value in given.items())
            + f", and that fails: {error}; give the numbers it takes by name, as in from_callable(function, b=3.0)"
        ) from error


def complex_step(function: Callable[..., Any], given: dict[str, float], name: str) -> Callable[[Any], Any] | None:
    """Return the derivative of a function in a number given by name, None if a complex step does not give it."""
    value = given[name]

    def derivative(angle: Any) -> Any:
        return np.imag(function(angle, **{**given, name: complex(value, _STEP)})) / _STEP

    angles, step = probes()[::_STRIDE], _DIFFERENCE * (abs(value) or 1.0)
    try:
        with np.errstate(all="ignore"):
            slopes = np.asarray(derivative(angles), dtype=float)
            high, low = (
                np.asarray(function(angles, **{**given, name: value + side}), dtype=float) for side in (step, -step)
            )
    except Exception:
        return None
    missed = np.abs(slopes - (high - low) / (2.0 * step))
    scale = np.abs(slopes).max() + np.abs(high).max() / (abs(value) or 1.0)
    derivative.__name__ = name_of(function)
    return derivative if slopes.shape == angles.shape and bool(missed.max() <= _AGREEING * scale) else None
