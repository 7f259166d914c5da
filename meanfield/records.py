"""What all records of results have in common: read-only arrays, equality by content, a short text."""

import dataclasses
from typing import Any, ClassVar

import numpy as np

# Longest text of a field.
SHOWN = 60


class Record:
    """The base of frozen dataclasses that hold results.

    Arrays are read-only: one that could be written to is copied, so that nobody else changes the record. Records
    are equal where all of their fields are, nan being equal to nan, and equal they remain when they are copied or
    pickled. Their text names arrays by their shapes and leaves out what is at its default.
    """

    is_record: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        self.__setstate__(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the fields of a copy, whose arrays numpy has made writeable."""
        for name, value in list(state.items()):
            object.__setattr__(self, name, read_only(value))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self is other or all(same(value, vars(other)[name]) for name, value in vars(self).items())

    def __hash__(self) -> int:
        # Numbers are left out: 0.0 equals -0.0, and nan nan.
        shapes = (getattr(value, "shape", None) for value in vars(self).values())
        return hash((type(self), *shapes, *(value for value in vars(self).values() if isinstance(value, str))))

    def __repr__(self) -> str:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        shown = [field.name for field in fields if field.name != "provenance" and not _is_default(self, field)]
        return f"{type(self).__name__}({', '.join(f'{name}={brief(getattr(self, name))}' for name in shown)})"


def _is_default(record: Any, field: Any) -> bool:
    default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    return default is not dataclasses.MISSING and same(getattr(record, field.name), default)


def read_only(value: Any) -> Any:
    """Return a value whose arrays are read-only, those in tuples included: itself, or a copy where one is not."""
    if type(value) is tuple:
        entries = tuple(map(read_only, value))
        return value if all(map(_is, entries, value)) else entries
    if not isinstance(value, np.ndarray) or _is_fixed(value):
        return value
    copied = value.copy()
    copied.flags.writeable = False
    return copied


def _is_fixed(array: Any) -> bool:
    """Whether nobody can write to an array, nor to one that it is a view of."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return True


def _is(one: object, other: object) -> bool:
    return one is other


def same(one: Any, other: Any) -> bool:
    """Whether two values of a field are equal, arrays entry by entry, nan being equal to nan."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        arrays = isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.dtype == other.dtype
        return arrays and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    if isinstance(one, tuple | list) and type(one) is type(other):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    return bool(one == other or (one != one and other != other))


def brief(value: Any) -> str:
    """Return a short text of a value of a field."""
    if isinstance(value, np.ndarray):
        return f"<{value.dtype} {' x '.join(map(str, value.shape))}>"
    if isinstance(value, tuple) and len(value) > 2:
        kinds = dict.fromkeys(type(entry).__name__ for entry in value)
        return f"<{len(value)} {' and '.join(kinds)}>"
    text = repr(value.item() if isinstance(value, np.generic) and not isinstance(value, np.longdouble) else value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
