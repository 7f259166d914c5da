"""Checks of the arguments that several calls have in common."""

import numpy as np

from meanfield import InvalidInput, Number
from meanfield.arguments import shown

# Parameters of larger modulus overflow in products.
LARGEST_PARAMETER = 1e100
# Steps along a range are told apart from rounding down to this share of its ends.
NARROWEST = 1e-13
# An example of a small noise.
SOME_NOISE = 0.01


def require_range(interval: tuple[Number, Number], what: str) -> tuple[Number, Number]:
    """Return the ends of a range, refusing one that is not finite, not increasing or as narrow as rounding.

    Parameters
    ----------
    what
        Its name, as in ``relative interval``.
    """
    low, high = interval
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InvalidInput(f"the {what} must be finite and increasing, not [{low:g}, {high:g}]")
    narrowest = NARROWEST * np.maximum(np.abs(low), np.abs(high))
    if not high - low >= narrowest:
        raise InvalidInput(
            f"the {what} from {low:.17g} to {high:.17g} is a few roundings wide; give one of a width of "
            f"{narrowest:.1g} at least"
        )
    return low, high


def require_parameter_range(interval: tuple[Number, Number], parameter: str) -> tuple[Number, Number]:
    """Return the ends of a range of a parameter, refusing no noise, and what is not in the range of products."""
    low, high = require_range(interval, f"interval of {parameter}")
    if not -LARGEST_PARAMETER <= low < high <= LARGEST_PARAMETER:
        raise InvalidInput(
            f"the interval of {parameter} must be within [{-LARGEST_PARAMETER:g}, {LARGEST_PARAMETER:g}], not "
            f"[{low:g}, {high:g}]; only ratios to the noise matter for the states, so measure in another unit"
        )
    if parameter == "noise" and low <= 0.0:
        raise InvalidInput(
            f"stationary states need noise, so its interval is above 0, not from {low:g}; try {SOME_NOISE:g}"
        )
    return low, high


def require_depth(depth: int) -> None:
    """Refuse a negative depth."""
    if depth < 0:
        raise InvalidInput(
            f"depth must be a whole number, 0 or more, not {depth!r}; depth=2 follows secondary branches"
        )


def require_on_failure(on_failure: str) -> None:
    """Refuse a value of ``on_failure`` other than "raise" and "return"."""
    if on_failure not in ("raise", "return"):
        raise InvalidInput(f"on_failure must be 'raise' or 'return', not {shown(on_failure)}")
