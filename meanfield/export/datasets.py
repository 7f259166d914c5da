"""Records that are one set of labelled arrays (trajectories, ensembles, comparisons) as files.

Each is a header of plain values and named arrays on named dimensions. netCDF and JSON hold both exactly and are
read back; CSV holds tables for a reader. The attribute ``record`` tells the kinds of record apart.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput, with_article
from . import digests, records, sets, tables
from .files import (
    Writer,
    beside,
    bytes_writer,
    check_file,
    checked_suffix,
    existing_file,
    reading,
    text_writer,
    write_files,
)
from .netcdf import conventions
from .sealed import netcdf_bytes, netcdf_groups

if TYPE_CHECKING:
    import xarray

RECORD_KINDS = {".nc": "netcdf", ".json": "json", ".csv": "csv"}
# Versions of the formats, of those not named 1.
VERSIONS = {"trajectory": 2}

# What a header says of the file, and not of the record.
FRAME = ("format", "schema_version", "meanfield_version", digests.KEY, sets.KEY)

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]
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
    """The content of a record: header, labelled arrays and tables.

    Attributes
    ----------
    record, title
        The kind of record and its title in words.
    header
        Plain values: all that are not arrays; ``problem`` and ``provenance`` among them.
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


def check_target(
    path: str | Path, force: bool = False, *, record: str, tables: Sequence[str] = ("",)
) -> tuple[Path, ...]:
    """Check, before anything is computed, that a record could be written to a path.

    Parameters
    ----------
    record
        The kind of record.
    tables
        The suffixes of its tables in CSV.

    Returns
    -------
    tuple of Path
        The files it would be written to.

    Raises
    ------
    InvalidInput
        If the suffix is none of .nc, .json and .csv or a file cannot be written there.
    """
    path = Path(path)
    files: tuple[Path, ...] = (path,)
    if checked_suffix(path, tuple(RECORD_KINDS), f"a format of {with_article(record)}") == ".csv":
        names = (*(f"{table}{path.suffix}" for table in tables), sets.PROVENANCE)
        files = tuple(path.with_name(path.stem + name) for name in names)
    for file in files:
        check_file(file, force)
    return files


def target_check(record: str, tables: Sequence[str] = ("",)) -> Callable[..., tuple[Path, ...]]:
    """Return the function that checks, before anything is computed, whether records of a kind could be written."""
    return partial(check_target, record=record, tables=tables)


def save_content(
    content: Content, path: str | Path, kind: str | None = None, force: bool = False
) -> tuple[Path, ...]:
    """Write the content of a record to files and return these; as :func:`meanfield.export.save`."""
    path = Path(path)
    if kind is None:
        check_target(path, force, record=content.record, tables=tuple(content.tables))
        kind = RECORD_KINDS[path.suffix.lower()]
    writers = _writers(content, path, kind)
    write_files(dict(reversed(writers.items())), force)
    return tuple(writers)


def open_content(
    path: str | Path,
    record: str,
    build: Callable[[dict[str, Any], Arrays], T],
    plausible: Callable[[T], None],
    check: bool = True,
) -> T:
    """Read a record from netCDF or JSON, exactly.

    Parameters
    ----------
    build
        Puts the record together from its header and arrays.
    plausible
        Refuses a record that cannot be one.
    check
        Whether to compare it with its digest or, in a file from before there were digests, with what is plausible.

    Raises
    ------
    InvalidInput
        If the file is missing, damaged, changed or another record.
    """
    path = Path(path)
    if path.suffix.lower() == ".csv" and check:
        sets.require_tables(path)
    checked_suffix(path, (".nc", ".json"), f"a format from which {with_article(record)} is read")
    existing_file(path)
    with reading(path, f"not {with_article(record)} written by meanfield"):
        header, arrays = _read_netcdf(path, check) if path.suffix.lower() == ".nc" else _read_json(path)
        _require_record(header, record)
        built = build(header, arrays)
        if check and not digests.require_digest(header, _parts(header, arrays)):
            plausible(built)
    return built


def to_xarray(content: Content) -> "xarray.Dataset":
    """Return a record as a labelled dataset; the header is an attribute in JSON."""
    import xarray

    variables = {
        name: xarray.Variable(item.dimensions, item.values, _attributes(item))
        for name, item in content.variables.items()
    }
    coordinates = {name: item for name, item in variables.items() if item.dims == (name,)}
    header = _complete(content)
    attributes = conventions(content.header.get("provenance", {})) | {
        "title": content.title,
        "record": content.record,
        "problem": records.dump(content.header["problem"]),
        digests.KEY: header[digests.KEY],
        "header": records.dump(header),
    }
    others = {name: item for name, item in variables.items() if name not in coordinates}
    return xarray.Dataset(others, coordinates, attributes)


def json_object(content: Content) -> dict[str, Any]:
    """Return a record as one object that JSON can hold: the header with all arrays as lists."""
    arrays = {name: records.plain(np.asarray(item.values)) for name, item in content.variables.items()}
    return _complete(content) | {"arrays": arrays}


def table_object(content: Content) -> dict[str, Any]:
    """Return header and first table of a record as one object that JSON can hold."""
    _, rows = content.tables[""]
    header: dict[str, Any] = records.plain(content.header)
    return {"record": content.record} | header | {"rows": [records.plain(row) for row in rows]}


def _complete(content: Content) -> dict[str, Any]:
    first = {"record": content.record} | records.frame(
        f"meanfield {content.record}", VERSIONS.get(content.record, 1)
    )
    header: dict[str, Any] = records.plain(content.header)
    arrays = {name: np.asarray(item.values) for name, item in content.variables.items()}
    whole: dict[str, Any] = records.plain(first)
    return whole | {digests.KEY: digests.digest_of(_parts(first | header, arrays))} | header


def _parts(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return header and arrays of a record for its digest, without the entries about format and version."""
    values = {f"header {name}": value for name, value in header.items() if name not in FRAME}
    return values | {f"array {name}": _texts_or_numbers(array) for name, array in arrays.items()}


def _texts_or_numbers(array: NDArray[Any]) -> NDArray[Any]:
    return array if array.dtype.kind in "fiub" else array.astype(str)


def _attributes(item: Variable) -> dict[str, str]:
    return {"long_name": item.long_name} | ({"units": item.units} if item.values.dtype.kind in "fiu" else {})


def _writers(content: Content, path: Path, kind: str) -> dict[Path, Writer]:
    if kind == "netcdf":
        return {path: lambda temporary: bytes_writer(content_netcdf(content))(temporary)}
    if kind == "json":
        return {path: text_writer(records.dump(json_object(content)) + "\n")}
    texts = {
        f"{suffix}{path.suffix}": tables.table_text(columns, rows)
        for suffix, (columns, rows) in content.tables.items()
    }
    origin = _complete(content) | {sets.KEY: sets.digests_of(texts)}
    texts[sets.PROVENANCE] = records.dump(origin, indent=1) + "\n"
    return {beside(path, path.stem + name): text_writer(text) for name, text in texts.items()}


def content_netcdf(content: Content) -> bytes:
    """Return the content of a netCDF-4 file of a record; values survive bit for bit."""
    dataset = to_xarray(content)
    encoding: dict[Any, dict[str, Any]] = {
        # Without this xarray adds a fill value to floats, which CF forbids on coordinates.
        name: {"_FillValue": None} | ({"zlib": True, "complevel": 1, "shuffle": True} if item.ndim > 1 else {})
        for name, item in dataset.variables.items()
        if item.dtype.kind in "fiu"
    }
    return netcdf_bytes(lambda path: dataset.to_netcdf(path, engine="netcdf4", encoding=encoding))


def _read_netcdf(path: Path, check: bool) -> tuple[dict[str, Any], Arrays]:
    dataset = netcdf_groups(path, check)["/"]
    header = records.load(dataset.attrs["header"])
    return header, {str(name): item.values for name, item in dataset.variables.items()}


def _read_json(path: Path) -> tuple[dict[str, Any], Arrays]:
    values = records.load(path.read_text(encoding="utf-8"))
    return values, {name: _array(item) for name, item in values.pop("arrays").items()}


def _array(values: Any) -> NDArray[Any]:
    """Return integers, real numbers or texts as an array; null becomes nan."""
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
        raise InvalidInput(f"it holds {found}, not {with_article(record)} written by meanfield")
    records.require_version(header, VERSIONS.get(record, 1))
