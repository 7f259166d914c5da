"""The states found at one coupling as files: a table (CSV), or everything (JSON, NPZ).

The columns are those of the tables of diagrams, see :mod:`meanfield.export.tables`.
"""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..states import State
from . import records, tables
from .files import Writer, bytes_writer, check_writable, checked_suffix, text_writer, write_files

FORMAT = "meanfield states"
SCHEMA_VERSION = 1
STATE_KINDS = (".json", ".npz", ".csv")
STATE_COLUMNS = (
    "state", "label", "coupling", "relative_coupling", "m1", "m2", "m3", "m4", "free_energy_gap", "unstable",
    "slowest_rate", "residual", "modes", "symmetry", "minimiser",
)  # fmt: skip


def check_states_target(path: str | Path, force: bool = False) -> Path:
    """Check, before anything is computed, that :func:`save_states` could write there.

    Raises
    ------
    InvalidInput
        If the suffix is none of .json, .npz and .csv or the file cannot be written there.
    """
    path = Path(path)
    checked_suffix(path, STATE_KINDS, "a format of states")
    check_writable(path, force)
    return path


def state_rows(states: Sequence[State], critical_coupling: Any = None) -> list[dict[str, Any]]:
    """Return states as table rows with the keys of ``STATE_COLUMNS``."""
    return [_row(index, state, critical_coupling) for index, state in enumerate(states)]


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
        What ``relative_coupling`` refers to; None where there is none.
    coefficients
        Whether the moments of every state are included.
    """
    rows = state_rows(states, critical_coupling)
    if coefficients:
        rows = [
            row | {"cosine": state.cosine, "sine": state.sine, "layout": state.layout}
            for row, state in zip(rows, states, strict=True)
        ]
    return {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "meanfield_version": records.package_version(),
        "problem": records.problem_values(states[0].problem) if states else None,
        "critical_coupling": critical_coupling,
        "states": rows,
        "provenance": dict(provenance or {}),
    }


def save_states(
    states: Sequence[State],
    path: str | Path,
    critical_coupling: Any = None,
    provenance: Mapping[str, Any] | None = None,
    force: bool = False,
) -> Path:
    """Write states in the format of the suffix.

    Raises
    ------
    InvalidInput
        If the suffix is unknown or the file cannot be written there.
    ComputationFailed
        If the disk refuses; an existing file is unchanged.
    """
    path = check_states_target(path, force)
    write_files({path: _writer(states, path, critical_coupling, provenance)}, force)
    return path


def _writer(
    states: Sequence[State], path: Path, critical_coupling: Any, provenance: Mapping[str, Any] | None
) -> Writer:
    if path.suffix.lower() == ".csv":
        return text_writer(tables.table_text(STATE_COLUMNS, state_rows(states, critical_coupling)))
    whole = states_to_json_object(states, critical_coupling, provenance, coefficients=True)
    if path.suffix.lower() == ".json":
        return text_writer(records.dump(whole) + "\n")
    return bytes_writer(_archive(states, whole))


def _archive(states: Sequence[State], whole: dict[str, Any]) -> bytes:
    arrays: dict[str, Any] = {f"state_{index}_cosine": state.cosine for index, state in enumerate(states)}
    arrays |= {f"state_{index}_sine": state.sine for index, state in enumerate(states)}
    rows = [{key: row[key] for key in (*STATE_COLUMNS, "layout")} for row in whole["states"]]
    stream = io.BytesIO()
    header: Any = np.array(records.dump(whole | {"states": rows}))
    np.savez_compressed(stream, header=header, **arrays)
    return stream.getvalue()


def _row(index: int, state: State, critical_coupling: Any) -> dict[str, Any]:
    relative = None
    if critical_coupling is not None:
        relative = float(np.longdouble(state.coupling) / np.longdouble(critical_coupling))
    moments = {f"m{degree}": state.moment(degree) for degree in (1, 2, 3, 4)}
    given = {name: getattr(state, name) for name in STATE_COLUMNS[8:]}
    return {
        "state": index,
        "label": state.label,
        "coupling": state.coupling,
        "relative_coupling": relative,
        **moments,
        **given,
    }
