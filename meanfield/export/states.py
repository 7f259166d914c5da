"""The states found at one coupling as files: a table and its origin (CSV), or everything (JSON, NPZ).

The columns are those of the tables of diagrams, see :mod:`meanfield.export.tables`.
"""

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..equations import equation_from
from ..errors import InvalidInput
from ..harmonics import moment_columns
from ..records.outcome import Outcome
from ..records.state import State, StationaryStates
from . import digests, plausible, records, sets, tables
from .files import (
    Writer,
    bytes_writer,
    check_file,
    checked_suffix,
    existing_file,
    reading,
    text_writer,
    write_files,
)
from .layouts import check_layout, layout_of

FORMAT = "meanfield states"
SCHEMA_VERSION = 3
MOMENTS = ("cosine", "sine")
# What is known of the completeness of the states, beside them.
SEARCH = ("searched", "complete", "warnings")
STATE_KINDS = (".json", ".npz", ".csv")
# The columns of a table, between which those of the observables stand.
PLACE_COLUMNS = ("state", "label", "coupling", "relative_coupling", "m1", "m2", "m3", "m4")
RESULT_COLUMNS = ("unstable", "slowest_rate", "residual", "modes", "symmetry", "minimiser")


def check_states_target(path: str | Path, force: bool = False) -> tuple[Path, ...]:
    """Check, before anything is computed, that :func:`save_states` could write to a path.

    Raises
    ------
    InvalidInput
        If the suffix is none of .json, .npz and .csv or the file cannot be written there.
    """
    path = Path(path)
    checked_suffix(path, STATE_KINDS, "a format of states")
    for target in _paths(path):
        check_file(target, force)
    return _paths(path)


def _paths(path: Path) -> tuple[Path, ...]:
    """Return the paths of the files written; beside a table, the second holds all other values."""
    table = path.suffix.lower() == ".csv"
    return (path, path.with_name(path.stem + sets.PROVENANCE)) if table else (path,)


def state_rows(states: Sequence[State], critical_coupling: Any = None) -> list[dict[str, Any]]:
    """Return states as table rows: place, observables, the rest, on spheres also moments about the axis."""
    observed = _observables(states)
    return [_row(index, state, critical_coupling, observed) for index, state in enumerate(states)]


def _observables(states: Sequence[State]) -> tuple[str, ...]:
    """Return the names of the observables that any of the states has."""
    return tuple(dict.fromkeys(name for state in states for name in state.observables))


def states_to_json_object(
    states: Sequence[State],
    critical_coupling: Any = None,
    provenance: Mapping[str, Any] | None = None,
    *,
    coefficients: bool = False,
) -> dict[str, Any]:
    """Return the states at one coupling as one object that JSON can hold.

    Parameters
    ----------
    critical_coupling
        What ``relative_coupling`` refers to; None if no critical coupling exists.
    provenance
        Where the states come from; by default their own.
    coefficients
        Whether the moments of every state are included.
    """
    rows = state_rows(states, critical_coupling)
    if coefficients:
        rows = [row | _further(state) for row, state in zip(rows, states, strict=True)]
    frame = records.frame(FORMAT, SCHEMA_VERSION)
    content = {
        "problem": records.problem_values(states[0].problem) if states else None,
        "critical_coupling": critical_coupling,
        "states": rows,
        "provenance": dict(states[0].provenance if provenance is None and states else provenance or {}),
    }
    if isinstance(states, StationaryStates):
        content["search"] = {name: getattr(states, name) for name in SEARCH}
    return frame | ({digests.KEY: digests.digest_of(_parts(content))} if coefficients else {}) | content


def _further(state: State) -> dict[str, Any]:
    """Return the values of a state that are not in a table."""
    return {name: getattr(state, name) for name in (*MOMENTS, "layout", "minimiser_reason")} | {
        "outcome": state.outcome.name,
        "observables": list(state.observables),
    }


def _parts(values: Mapping[str, Any]) -> dict[str, Any]:
    named = ("problem", "critical_coupling", "provenance", "search")
    parts = {name: values[name] for name in named if name in values}
    parts["states"] = [_without_moments(row) for row in values["states"]]
    return parts | {
        f"state_{index}_{name}": np.asarray(row[name], dtype=np.float64)
        for index, row in enumerate(values["states"])
        for name in MOMENTS
    }


def _without_moments(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in MOMENTS}


def save_states(
    states: Sequence[State],
    path: str | Path,
    critical_coupling: Any = None,
    provenance: Mapping[str, Any] | None = None,
    force: bool = False,
) -> Path:
    """Write states in the format of the suffix; beside a table NAME.provenance.json with its origin.

    Parameters
    ----------
    critical_coupling
        What ``relative_coupling`` refers to; None if no critical coupling exists.
    provenance
        Where the states come from; by default their own.
    force
        Whether to replace files.

    Raises
    ------
    InvalidInput
        If the suffix is unknown or the file cannot be written there.
    ComputationFailed
        If the disk refuses; an existing file is unchanged.
    """
    path, *_ = check_states_target(path, force)
    whole = states_to_json_object(states, critical_coupling, provenance, coefficients=True)
    if path.suffix.lower() == ".csv":
        writers = _table_writers(state_rows(states, critical_coupling), whole, path)
    elif path.suffix.lower() == ".json":
        writers = {path: text_writer(records.dump(whole) + "\n")}
    else:
        writers = {path: bytes_writer(_archive(states, whole))}
    write_files(writers, force)
    return path


def _table_writers(rows: list[dict[str, Any]], whole: dict[str, Any], path: Path) -> dict[Path, Writer]:
    """Return the writers of a table and, first, of its origin, which says which table is meant."""
    table, origin = _paths(path)
    text = tables.table_text(tuple(rows[0]) if rows else PLACE_COLUMNS + RESULT_COLUMNS, rows)
    header = {name: value for name, value in whole.items() if name != "states"}
    header[sets.KEY] = sets.digests_of({path.suffix: text})
    return {origin: text_writer(records.dump(header, indent=1) + "\n"), table: text_writer(text)}


def _archive(states: Sequence[State], whole: dict[str, Any]) -> bytes:
    arrays: dict[str, Any] = {
        f"state_{index}_{name}": getattr(state, name) for index, state in enumerate(states) for name in MOMENTS
    }
    rows = [_without_moments(row) for row in whole["states"]]
    stream = io.BytesIO()
    header: Any = np.array(records.dump(whole | {"states": rows}))
    np.savez_compressed(stream, header=header, **arrays)
    return stream.getvalue()


def open_states(path: str | Path, *, check: bool = True) -> StationaryStates:
    """Read states from JSON or NPZ, exactly.

    Parameters
    ----------
    check
        Whether to compare the content with its digest or, in a file from before there were digests, with what is
        possible at all.

    Returns
    -------
    StationaryStates
        ``searched`` is empty and ``complete`` is None if they were not written.

    Raises
    ------
    InvalidInput
        If the file is missing, damaged, changed or holds other than states.
    """
    path = Path(path)
    if path.suffix.lower() == ".csv" and check:
        sets.require_tables(path)
    suffix = checked_suffix(path, (".json", ".npz"), "a format from which states are read")
    existing_file(path)
    with reading(path, "no file of states written by meanfield"):
        values = _read_json(path) if suffix == ".json" else _read_npz(path)
        if values.get("format") != FORMAT:
            raise InvalidInput("it holds no states written by meanfield")
        records.require_version(values, SCHEMA_VERSION)
        states = tuple(_state(row, values) for row in values["states"])
        if check and not digests.require_digest(values, _parts(values)):
            for state in states:
                plausible.require_moments(state.cosine, state.sine, f"the state {state.label!r}")
        search = values.get("search") or values["provenance"]
        found = StationaryStates(
            states, search.get("searched", ""), search.get("complete"), search.get("warnings", ())
        )
    return found


def _read_json(path: Path) -> Any:
    return records.load(path.read_text(encoding="utf-8"))


def _read_npz(path: Path) -> Any:
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
        values = records.load(str(archive["header"]))
        for index, row in enumerate(values["states"]):
            row |= {name: archive[f"state_{index}_{name}"] for name in MOMENTS}
    return values


def _state(row: Mapping[str, Any], values: Mapping[str, Any]) -> State:
    moments: dict[str, Any] = {name: np.asarray(row[name], dtype=np.float64) for name in MOMENTS}
    problem, layout = equation_from(values["problem"]), layout_of(row)
    check_layout(layout, problem.domain, moments["cosine"].size, f"the state {row['label']!r}")
    rate, observed = row["slowest_rate"], records.observables_in(row, records.FORMER_OBSERVABLES)
    return State(
        problem=problem,
        # In JSON a whole number may stand for the double that it is equal to.
        observables={name: math.nan if row[name] is None else float(row[name]) for name in observed},
        residual=float(row["residual"]),
        slowest_rate=None if rate is None else float(rate),
        label=row["label"],
        minimiser=row["minimiser"],
        unstable=None if row["unstable"] is None else int(row["unstable"]),
        symmetry=int(row["symmetry"]),
        modes=int(row["modes"]),
        outcome=Outcome[row.get("outcome", Outcome.CONVERGED.name)],
        layout=layout,
        minimiser_reason=row.get("minimiser_reason", ""),
        provenance=dict(values["provenance"]),
        **moments,
    )


def _row(index: int, state: State, critical_coupling: Any, observed: Sequence[str]) -> dict[str, Any]:
    relative = None
    if critical_coupling is not None:
        relative = float(np.longdouble(state.coupling) / np.longdouble(critical_coupling))
    moments = {name: float(state.moments.named(name)) for name in moment_columns(state.problem.domain)}
    place = {
        "state": index,
        "label": state.label,
        "coupling": state.coupling,
        "relative_coupling": relative,
        **moments,
    }
    given = {name: getattr(state, name) for name in RESULT_COLUMNS}
    known = {name: state.observables.get(name) for name in observed}
    return {name: place[name] for name in PLACE_COLUMNS} | known | given | place
