"""Readers of the texts of options, and the types of their values in a configuration file."""

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..potentials import Number


@dataclass(frozen=True)
class Kind:
    """Kind of value that a configuration file may hold for an option: in words, in the plural, and as types."""

    one: str
    many: str
    types: tuple[type, ...]

    def admits(self, value: object) -> bool:
        """Return whether a value is of this kind; true and false are not numbers."""
        return isinstance(value, self.types) and not isinstance(value, bool)


def number(text: str) -> Number:
    """Read a real number, also one beyond the range of doubles."""
    try:
        value = float(text)
        with warnings.catch_warnings():
            # Beyond the range of these, too, a number is infinite, which every option refuses by itself.
            warnings.simplefilter("ignore", RuntimeWarning)
            wide = np.longdouble(text.strip()) if value == 0 or np.isinf(value) else None
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text.strip()!r} is not a number") from None
    return value if wide is None or wide == value else wide


def whole(text: str) -> int:
    """Read an integer."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text.strip()!r} is not a whole number") from None


def word(text: str) -> str:
    """Read a text as it was typed."""
    return text[1:] if text.startswith(" -") else text


_NUMBERS = (int, float, np.floating)
_KINDS: dict[Callable[[str], Any], Kind] = {
    number: Kind("a number", "numbers", _NUMBERS),
    whole: Kind("a whole number", "whole numbers", (int,)),
    word: Kind("a text", "texts", (str,)),
}
_ANY = Kind("a number or a text", "numbers or texts", (*_NUMBERS, str))


def kind_of(read: Any) -> Kind:
    """Return the kind of value in a file for a reader; numbers and texts for a reader that is not listed."""
    return _KINDS.get(read, _ANY)
