"""The base of all records of results: read-only arrays, equality by content, a short text."""

import dataclasses
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from .arguments import checked, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kept = TypeVar("Kept", bound="Record")

# Longest text of a field.
SHOWN = 60
# Types of entries that are and hold no arrays.
PLAIN = frozenset((bool, int, float, str, type(None)))


class Record:
    """The base of frozen dataclasses that hold results.

    Arrays are read-only: one that could be written to is copied, so that no other code changes the record. Records
    are equal where all of their fields are, nan being equal to nan, and equal they remain when they are copied or
    pickled. Their text names arrays by their shapes and leaves out what is at its default or not yet computed.
    """

    is_record: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for name, value in list(vars(self).items()):
            fixed = read_only(value)
            if fixed is not value:
                object.__setattr__(self, name, fixed)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the fields of a copy, whose arrays numpy has made writeable, as read-only."""
        for name, value in list(state.items()):
            object.__setattr__(self, name, read_only(value))

    def _changed(self, **changes: Any) -> Self:
        """Return a copy with some fields changed to read-only values of their types, which is not checked."""
        copied = object.__new__(type(self))
        fields: dict[str, Any] = type(self).__dataclass_fields__  # type: ignore[attr-defined]
        vars(copied).update({name: getattr(self, name) for name in fields}, **changes)
        return copied

    def _through(self, package: str, name: str, *arguments: Any, **options: Any) -> Any:
        """Return the result of a function of another package of ``meanfield``, called with this record.

        The one place through which records are written, drawn and summarised: the package is imported on first
        use.
        """
        return getattr(import_module(f".{package}", __package__), name)(self, *arguments, **options)

    def _drawn(self, name: str, *arguments: Any, **options: Any) -> "Axes":
        """Return the axes into which a function of plotting has drawn this record."""
        axes: Axes = self._through("plotting", name, *arguments, **options)
        return axes

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self is other or all(same(getattr(self, name), getattr(other, name)) for name in self._names())

    def __hash__(self) -> int:
        # Numbers are left out: 0.0 equals -0.0, and nan nan.
        values = [vars(self).get(name) for name in self._names()]
        shapes = (value.shape for value in values if isinstance(value, np.ndarray))
        return hash((type(self), *shapes, *(value for value in values if isinstance(value, str))))

    def _names(self) -> list[str]:
        """Return the names of the fields, without those of what was computed from them and is kept."""
        return [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]

    def __repr__(self) -> str:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        known = (field for field in fields if field.name in vars(self) and field.name != "provenance")
        shown = [field.name for field in known if not _is_default(self, field)]
        return f"{type(self).__name__}({', '.join(f'{name}={brief(getattr(self, name))}' for name in shown)})"


class OnDemand:
    """A field of records, by default None, which those of :func:`deferred` compute when it is first read."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, record: Record | None, owner: type) -> Any:
        if record is None:
            return None
        value = vars(record)[self._name] = vars(record)[_computing(self._name)]()
        return value


def deferred(record: Kept, **fields: Callable[[], Any]) -> Kept:
    """Return a copy of a record with some fields, of :class:`OnDemand`, given by functions without arguments.

    A function is called when its field is first read, be it by a comparison, for a file or by ``replace``, and is
    pickled with the record.
    """
    copied = object.__new__(type(record))
    known = {name: value for name, value in vars(record).items() if name not in fields}
    vars(copied).update(known, **{_computing(name): function for name, function in fields.items()})
    return copied


def _computing(name: str) -> str:
    """Return the name by which a record keeps the function that computes a field."""
    return f"_compute_{name}"


class Row(Record):
    """A record of few fields that may be unpacked and indexed as the tuple of them."""

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, name) for name in self._names()])

    def __getitem__(self, index: Any) -> Any:
        return tuple(self)[index]

    def __len__(self) -> int:
        return len(self._names())


@checked
class SavedRecord(Record):
    """A record that can be written to files."""

    def to_xarray(self) -> Any:
        """Return everything as a labelled dataset of xarray, a diagram as a tree with a group for each branch."""
        return self._through("export", "to_xarray")

    def save(self, path: str | Path, *, force: bool = False) -> tuple[Path, ...]:
        """Write the record in the format of the suffix: ``.nc`` and ``.json`` exactly, ``.csv`` as tables.

        Diagrams have ``.npz``, ``.mat`` and ``.auto`` as well.

        Returns
        -------
        tuple of Path
            The files written.

        Raises
        ------
        InvalidInput
            If the suffix is none of these or the file cannot be written there.
        ComputationFailed
            If the disk refuses; existing files are unchanged.
        """
        return self._saved(path, None, force)

    def to_netcdf(self, path: str | Path, *, force: bool = False) -> tuple[Path, ...]:
        """Write netCDF-4; bit-exact."""
        return self._saved(path, "netcdf", force)

    def to_csv(self, path: str | Path, *, force: bool = False) -> tuple[Path, ...]:
        """Write tables as CSV, with ``NAME.provenance.json`` beside them."""
        return self._saved(path, "csv", force)

    def to_json(self, path: str | Path, *, force: bool = False) -> tuple[Path, ...]:
        """Write JSON with shortest exact decimal numbers; bit-exact."""
        return self._saved(path, "json", force)

    def _saved(self, path: str | Path, kind: str | None, force: bool) -> tuple[Path, ...]:
        written: tuple[Path, ...] = self._through("export", "save", path, kind, force)
        return written


def _is_default(record: Any, field: Any) -> bool:
    default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    return default is not dataclasses.MISSING and same(getattr(record, field.name), default)


def read_only(value: Any) -> Any:
    """Return a value whose arrays are read-only, those in tuples and dicts too: itself, or a copy if one is not."""
    if type(value) is tuple:
        if PLAIN.issuperset(map(type, value)):
            return value
        entries = tuple(map(read_only, value))
        return value if all(map(_is, entries, value)) else entries
    if type(value) is dict:
        fixed = {name: read_only(entry) for name, entry in value.items()}
        return value if all(map(_is, fixed.values(), value.values())) else fixed
    if not isinstance(value, np.ndarray) or _is_fixed(value):
        return value
    copied = value.copy()
    copied.flags.writeable = False
    return copied


def _is_fixed(array: Any) -> bool:
    """Return whether an array is read-only, and so is every array that it is a view of."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return True


def _is(one: object, other: object) -> bool:
    return one is other


def same(one: Any, other: Any) -> bool:
    """Return whether two values of a field are equal, arrays entry by entry, nan being equal to nan."""
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
        return f"<{'text' if value.dtype.kind == 'U' else value.dtype} {' x '.join(map(str, value.shape))}>"
    if isinstance(value, dict) and any(isinstance(entry, np.ndarray | dict) for entry in value.values()):
        names = ", ".join(value)
        return f"<{names if len(names) <= SHOWN else f'{len(value)} by name'}>"
    if isinstance(value, tuple) and len(value) > 2:
        kinds = dict.fromkeys(type(entry).__name__ for entry in value)
        return f"<{len(value)} {' and '.join(kinds)}>"
    if isinstance(value, tuple) and any(isinstance(entry, np.ndarray) for entry in value):
        return f"({', '.join(map(brief, value))})"
    try:
        text = repr(
            value.item() if isinstance(value, np.generic) and not isinstance(value, np.longdouble) else value
        )
    except Exception:
        text = shown(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
