"""Records that are one set of labelled arrays (trajectories, ensembles, comparisons) as files.

Each is a header of plain values and named arrays on named dimensions. netCDF and JSON hold both exactly and are
read back; CSV holds tables for a reader. The attribute ``record`` tells the kinds of record apart.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput, MeanfieldError
from . import records, tables
from .files import Writer, check_writable, checked_suffix, text_writer, write_files
from .netcdf import conventions

if TYPE_CHECKING:
    import xarray

KINDS = {".nc": "netcdf", ".json": "json", ".csv": "csv"}
SCHEMA_VERSION = 1

Rows = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class Variable:
    """An array with the names of its dimensions; unknown numbers are nan."""

    dimensions: tuple[str, ...]
    values: NDArray[Any]
    long_name: str
    units: str = "1"


@dataclass(frozen=True)
class Content:
    """A record taken apart.

    Attributes
    ----------
    record, title
        The kind of record and its title in words.
    header
        Plain values: whatever is not an array; ``problem`` and ``provenance`` among them.
    variables
        Arrays; one with the name of its only dimension is a coordinate.
    tables
        For CSV: for every file's suffix, such as ``""`` or ``".fits"``, columns and rows.
    """

    record: str
    title: str
    header: dict[str, Any]
    variables: dict[str, Variable]
    tables: Mapping[str, tuple[Sequence[str], Rows]]


def check_target(path: str | Path, record: str, force: bool = False) -> Path:
    """Check, before anything is computed, that a record could be written there.

    Raises
    ------
    InvalidInput
        If the suffix is none of .nc, .json and .csv or a file cannot be written there.
    """
    path = Path(path)
    checked_suffix(path, tuple(KINDS), f"a format of a {record}")
    check_writable(path, force)
    return path


def save_content(
    content: Content, path: str | Path, kind: str | None = None, force: bool = False
) -> tuple[Path, ...]:
    """Write a record, all files of it or none.

    Parameters
    ----------
    kind
        One of the values of ``KINDS``, for a name whose suffix does not tell.
    force
        Whether existing files may be replaced.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    InvalidInput
        If the suffix is unknown or a file cannot be written there.
    ComputationFailed
        If the disk refuses; existing files are unchanged.
    """
    path = Path(path)
    if kind is None:
        check_target(path, content.record, force)
        kind = KINDS[path.suffix.lower()]
    return write_files(_writers(content, path, kind), force)


def open_content(path: str | Path, record: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read header and arrays of a record from netCDF or JSON, exactly.

    Raises
    ------
    InvalidInput
        If the file is missing, damaged or another record.
    """
    path = Path(path)
    checked_suffix(path, (".nc", ".json"), f"a format from which a {record} is read")
    if not path.is_file():
        raise InvalidInput(f"{path} {'is a directory' if path.is_dir() else 'does not exist'}; give a file's name")
    try:
        header, arrays = _read_netcdf(path) if path.suffix.lower() == ".nc" else _read_json(path)
        _require_record(header, record)
    except MeanfieldError as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error
    except Exception as error:
        raise InvalidInput(f"{path} is damaged, truncated or not a {record} written by meanfield") from error
    return header, arrays


def to_xarray(content: Content) -> "xarray.Dataset":
    """Return a record as a labelled dataset; the header is an attribute in JSON."""
    import xarray

    variables = {
        name: xarray.Variable(item.dimensions, item.values, _attributes(item))
        for name, item in content.variables.items()
    }
    coordinates = {name: item for name, item in variables.items() if item.dims == (name,)}
    attributes = conventions(content.header.get("provenance", {})) | {
        "title": content.title,
        "record": content.record,
        "problem": records.dump(content.header["problem"]),
        "header": records.dump(_complete(content)),
    }
    others = {name: item for name, item in variables.items() if name not in coordinates}
    return xarray.Dataset(others, coordinates, attributes)


def json_object(content: Content) -> dict[str, Any]:
    """Return a record as one object that JSON can hold: the header with all arrays as lists."""
    arrays = {name: records.plain(np.asarray(item.values)) for name, item in content.variables.items()}
    return _complete(content) | {"arrays": arrays}


def _complete(content: Content) -> dict[str, Any]:
    first = {
        "format": f"meanfield {content.record}",
        "record": content.record,
        "schema_version": SCHEMA_VERSION,
        "meanfield_version": records.package_version(),
    }
    reduced: dict[str, Any] = records.plain(first | content.header)
    return reduced


def _attributes(item: Variable) -> dict[str, str]:
    return {"long_name": item.long_name} | ({"units": item.units} if item.values.dtype.kind in "fiu" else {})


def _writers(content: Content, path: Path, kind: str) -> dict[Path, Writer]:
    if kind == "netcdf":
        return {path: lambda temporary: _write_netcdf(content, temporary)}
    if kind == "json":
        return {path: text_writer(records.dump(json_object(content)) + "\n")}
    texts = {
        path.with_name(f"{path.stem}{suffix}{path.suffix}"): tables.table_text(columns, rows)
        for suffix, (columns, rows) in content.tables.items()
    }
    origin = records.dump(_complete(content), indent=1) + "\n"
    return {name: text_writer(text) for name, text in texts.items()} | {
        path.with_name(f"{path.stem}.provenance.json"): text_writer(origin)
    }


def _write_netcdf(content: Content, path: Path) -> None:
    dataset = to_xarray(content)
    encoding: dict[Any, dict[str, Any]] = {
        # Without this xarray adds a fill value to floats, which CF forbids on coordinates.
        name: {"_FillValue": None} | ({"zlib": True, "complevel": 1, "shuffle": True} if item.ndim > 1 else {})
        for name, item in dataset.variables.items()
        if item.dtype.kind in "fiu"
    }
    dataset.to_netcdf(path, engine="netcdf4", encoding=encoding)


def _read_netcdf(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    import xarray

    with xarray.open_dataset(path, engine="netcdf4", decode_cf=False) as dataset:
        header = records.load(dataset.attrs["header"])
        return header, {str(name): item.values.copy() for name, item in dataset.variables.items()}


def _read_json(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    values = records.load(path.read_text(encoding="utf-8"))
    return values, {name: _array(item) for name, item in values.pop("arrays").items()}


def _array(values: Any) -> NDArray[Any]:
    """Return whole numbers, numbers or texts as an array; null is nan."""
    array = np.array(values)
    if array.dtype.kind in "iu":
        return array
    try:
        return np.array(values, dtype=np.float64)
    except ValueError:
        return array


def _require_record(header: Any, record: str) -> None:
    if not isinstance(header, dict) or header.get("record") != record:
        found = header.get("record", "another file") if isinstance(header, dict) else "another file"
        raise InvalidInput(f"it holds {found}, not a {record} written by meanfield")
    if header["schema_version"] > SCHEMA_VERSION:
        raise InvalidInput(
            f"it has version {header['schema_version']} of the format and this program reads up to "
            f"{SCHEMA_VERSION}; install a newer meanfield"
        )
