"""Sweeps: put together from the results in a store, and as files: netCDF and JSON exactly, CSV as tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..equations import Equation, equation_from
from ..errors import InvalidInput
from ..records.outcome import Outcome
from ..records.sweep import COMPLETE, FAILED, MISSING, Sweep, parameter_columns, table_columns
from . import records
from .datasets import Arrays, Content, Variable, check_target, open_content
from .opening import open_record
from .states import open_states
from .stores import Result, Store

RECORD = "sweep"
# Tables of the computations of the library, for the names of their files.
TABLES = {"diagram": ("special_point",), "states": ("state",), "rate": ("fit",), "ensemble": ()}
# Variables of texts that every sweep has.
FILES = ("status", "failure", "file")


@checked
def open_sweep(path: str | Path, *, check: bool = True) -> Sweep:
    """Read a sweep: from its store, as far as it is filled, or from a file in which it was saved.

    Parameters
    ----------
    path
        The directory of a store, or a netCDF or JSON file.
    check
        Whether to compare the content of a file with its digest.

    Raises
    ------
    InvalidInput
        If there is no sweep, or it is damaged.
    """
    if not Path(path).is_dir():
        return open_content(path, RECORD, _sweep, _require_plausible, check)
    store = Store(path)
    identity = store.identity()
    with_problem = equation_from(identity["problem"])
    sizes = [len(values) for values in identity["parameters"].values()]
    number = int(np.prod(sizes)) if identity["grid"] else sizes[0]
    found = {index: store.result(index) for index in range(number)}
    return assembled(with_problem, identity, {key: one for key, one in found.items() if one}, store)


def open_stored(sweep: Sweep, file: str) -> Any:
    """Return the record of a file in the store of a sweep."""
    path = Path(sweep.store) / file
    return open_states(path) if path.suffix == ".json" else open_record(path)


def assembled(
    problem: Equation,
    identity: Mapping[str, Any],
    results: Mapping[int, Result],
    store: Store | None = None,
    *,
    interrupted: bool = False,
    warnings: Sequence[str] = (),
    provenance: Mapping[str, Any] | None = None,
) -> Sweep:
    """Return the sweep of the results at some of its values, by index."""
    values = tuple(np.array(each, dtype=np.float64) for each in identity["parameters"].values())
    shape = tuple(value.size for value in values) if identity["grid"] else values[0].shape
    status, failure = np.full(shape, MISSING, dtype="<U8"), np.full(shape, "", dtype=object)
    files = np.full(shape, "", dtype=object)
    for index, result in results.items():
        status.flat[index] = FAILED if result.failure else COMPLETE
        failure.flat[index] = result.failure
        files.flat[index] = store.file(index, result) if store is not None else ""
    complete = bool(np.all(status == COMPLETE))
    numbers = {index: dict(result.numbers) for index, result in results.items()}
    for index, result in results.items():
        numbers[index] |= {f"{table}_count": len(rows) for table, rows in result.tables.items()}
    return Sweep(
        problem=problem,
        parameters=tuple(identity["parameters"]),
        values=values,
        grid=bool(identity["grid"]),
        computed=identity["computed"],
        options=dict(identity["options"]),
        numbers=_columns(numbers, shape),
        tables=_tables(results, shape),
        status=status,
        failure=failure.astype(str),
        outcome=Outcome.INTERRUPTED if interrupted else Outcome.SWEPT if complete else Outcome.PARTIAL,
        warnings=tuple(warnings),
        provenance=dict(provenance or _of_store(identity, results)) | {"seed": identity["seed"]},
        store="" if store is None else str(store.path),
        files=None if store is None else files.astype(str),
    )


def _of_store(identity: Mapping[str, Any], results: Mapping[int, Result]) -> dict[str, Any]:
    """Return the provenance of a sweep that is read from its store."""
    spent = sum(result.cpu_seconds for result in results.values())
    return {"meanfield_version": identity["meanfield_version"], "cpu_seconds": round(spent, 3)}


def _columns(entries: Mapping[Any, Mapping[str, Any]], shape: tuple[int, ...]) -> dict[str, NDArray[Any]]:
    """Return an array for each name, from the entries at flat indices: of numbers, or of texts if any is a text."""
    names = dict.fromkeys(name for index in sorted(entries) for name in entries[index])
    columns: dict[str, NDArray[Any]] = {}
    for name in names:
        present = {index: entry[name] for index, entry in entries.items() if entry.get(name) is not None}
        text = any(isinstance(value, str) for value in present.values())
        column = np.full(shape, "" if text else np.nan, dtype=object if text else np.float64)
        for index, value in present.items():
            column.flat[index] = value if text or not isinstance(value, str) else float(value)
        columns[name] = column.astype(str) if text else column
    return columns


def _tables(results: Mapping[int, Result], shape: tuple[int, ...]) -> dict[str, dict[str, NDArray[Any]]]:
    names = dict.fromkeys(table for result in results.values() for table in result.tables)
    tables = {}
    for name in names:
        longest = max(len(result.tables.get(name, ())) for result in results.values())
        entries = {
            index * longest + row: values
            for index, result in results.items()
            for row, values in enumerate(result.tables.get(name, ()))
        }
        tables[name] = _columns(entries, (*shape, longest))
    return tables


def check_sweep_target(path: str | Path, force: bool = False, *, computed: str) -> tuple[Path, ...]:
    """Check, before anything is computed, that a sweep of a computation could be written to a path."""
    suffixes = ("", *(f".{table}" for table in TABLES.get(computed, ())))
    return check_target(path, force, record=RECORD, tables=suffixes)


def sweep_content(sweep: Sweep) -> Content:
    """Return the content of a sweep: header, labelled arrays and tables."""
    axes = sweep.dimensions
    variables = {
        column: Variable((column,) if sweep.grid else axes, value, f"parameter {name}")
        for name, column, value in zip(sweep.parameters, sweep.parameter_columns, sweep.values, strict=True)
    }
    files = np.full(sweep.shape, "") if sweep.files is None else sweep.files
    for name, texts in zip(FILES, (sweep.status, sweep.failure, files), strict=True):
        variables[name] = Variable(axes, texts.astype(object), name)
    for name, values in sweep.numbers.items():
        variables[name] = Variable(axes, _written(values), name.replace("_", " "))
    for table, columns in sweep.tables.items():
        for name, values in columns.items():
            variables[f"{table}_{name}"] = Variable(
                (*axes, table), _written(values), f"{table} {name}".replace("_", " ")
            )
    rows = list(sweep.rows())
    tables: dict[str, Any] = {"": (tuple(rows[0]), rows)}
    for table in sweep.tables:
        tables[f".{table}"] = (table_columns(sweep, table), list(sweep.table_rows(table)))
    return Content(RECORD, "sweep over parameters of a McKean-Vlasov equation", _header(sweep), variables, tables)


def _written(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(object) if values.dtype.kind == "U" else values


def _header(sweep: Sweep) -> dict[str, Any]:
    return {
        "problem": records.problem_values(sweep.problem),
        "parameters": list(sweep.parameters),
        "grid": sweep.grid,
        "computed": sweep.computed,
        "options": sweep.options,
        "numbers": list(sweep.numbers),
        "tables": {table: list(columns) for table, columns in sweep.tables.items()},
        "outcome": sweep.outcome.name,
        "warnings": list(sweep.warnings),
        "provenance": sweep.provenance,
        "store": sweep.store,
    }


def _sweep(header: dict[str, Any], arrays: Arrays) -> Sweep:
    texts = {name: arrays[name].astype(str) for name in FILES}
    return Sweep(
        problem=equation_from(header["problem"]),
        parameters=tuple(header["parameters"]),
        values=tuple(
            np.asarray(arrays[name], dtype=np.float64)
            for name in parameter_columns(header["parameters"], header["numbers"], header["tables"])
        ),
        grid=bool(header["grid"]),
        computed=str(header["computed"]),
        options=dict(header["options"]),
        numbers={name: _read(arrays[name]) for name in header["numbers"]},
        tables={
            table: {name: _read(arrays[f"{table}_{name}"]) for name in columns}
            for table, columns in header["tables"].items()
        },
        status=texts["status"],
        failure=texts["failure"],
        outcome=Outcome[header["outcome"]],
        warnings=records.texts(header["warnings"], "warnings"),
        provenance=dict(header["provenance"]),
        store=str(header["store"]),
        files=texts["file"] if header["store"] else None,
    )


def _read(values: NDArray[Any]) -> NDArray[Any]:
    """Return texts or doubles, as a record has them."""
    return values.astype(np.float64) if values.dtype.kind in "fiub" else values.astype(str)


def _require_plausible(sweep: Sweep) -> None:
    """Refuse a sweep whose arrays differ in shape."""
    wrong = [name for name, values in sweep.numbers.items() if values.shape != sweep.shape]
    if wrong or sweep.status.shape != sweep.shape:
        raise InvalidInput(f"its arrays {', '.join(wrong) or 'status'} do not have the shape of its values")
