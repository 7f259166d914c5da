"""Diagrams as CSV tables, JSON and NPZ.

CSV stays plain, so that every spreadsheet and every reader opens it with its defaults: the points in
``NAME.csv``, the special points in ``NAME.special.csv``, the origin of both in ``NAME.provenance.json``.
JSON and NPZ hold every field of the diagram exactly.

The moments are named as everywhere, see :mod:`meanfield.harmonics.moments`.
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..records.branch import Branch, SpecialPoint
from ..records.diagram import Diagram
from . import digests, records, sets
from .files import beside


def csv_paths(path: Path) -> tuple[Path, Path, Path]:
    """Return the paths of the table of points, the table of special points and the file of their origin."""
    return (
        path,
        beside(path, f"{path.stem}.special.csv"),
        beside(path, path.stem + sets.PROVENANCE),
    )


def csv_texts(diagram: Diagram) -> tuple[str, str, str]:
    """Return the content of the three files named by :func:`csv_paths`."""
    points = table_text(diagram.point_columns, diagram.point_rows())
    special = table_text(diagram.special_columns, diagram.special_rows())
    origin = digests.header(diagram) | {sets.KEY: sets.digests_of({".csv": points, ".special.csv": special})}
    return points, special, records.dump(origin, indent=1) + "\n"


def diagram_to_json_object(diagram: Diagram, coefficients: bool = False) -> dict[str, Any]:
    """Return a diagram as one object that JSON can hold.

    Parameters
    ----------
    coefficients
        Whether moments and tangents are included, under ``branches`` and in ``special_points``; with them
        the object holds every field of the diagram.

    Returns
    -------
    dict
        The header with ``points`` and ``special_points``, rows with the keys of the CSV tables, and
        ``branches``. Unknown values are None.
    """
    result = digests.header(diagram)
    result["points"] = [records.plain(row) for row in diagram.point_rows()]
    result["special_points"] = [
        _event(event, row, coefficients)
        for event, row in zip(diagram.special_points, diagram.special_rows(), strict=True)
    ]
    result["branches"] = [_branch(branch, coefficients) for branch in diagram.branches]
    return result


def json_text(diagram: Diagram) -> str:
    """Return the exact JSON form of a diagram."""
    return records.dump(diagram_to_json_object(diagram, coefficients=True)) + "\n"


def diagram_from_json(text: str, check: bool = True) -> Diagram:
    """Return the diagram of its exact JSON form, with ``check`` compared with its digest.

    Raises
    ------
    InvalidInput
        If the text is other JSON, JSON of a diagram without its coefficients, or was changed.
    """
    values = records.check_header(records.load(text))
    if any("cosine" not in branch for branch in values["branches"]):
        raise InvalidInput("it holds the tables only, without coefficients; write a .json or .nc file instead")
    branches = [records.branch_from(item, item, item["point_labels"]) for item in values["branches"]]
    events = [records.event_from(item) for item in values["special_points"]]
    diagram = digests.checked_diagram(values, branches, events, check)
    # The tables say again what the branches say; those of another version may say it in other columns.
    if check and digests.KEY in values and values["meanfield_version"] == records.package_version():
        _require_tables(values, diagram)
    return diagram


def _require_tables(values: Mapping[str, Any], diagram: Diagram) -> None:
    expected = records.load(records.dump(diagram_to_json_object(diagram)))
    columns = {"points": diagram.point_columns, "special_points": diagram.special_columns}
    for table, names in columns.items():
        found = [{name: row[name] for name in names} for row in values[table]]
        if found != expected[table]:
            raise InvalidInput(
                f"its table {table!r} does not agree with its branches, so that one was changed after it was "
                "written; take another copy, or open it unchecked with check=False"
            )


def npz_bytes(diagram: Diagram) -> bytes:
    """Return a diagram as an archive of numpy arrays: ``header`` (JSON text), ``branch_I_NAME`` and so on."""
    header = digests.header(diagram)
    header["branches"] = [records.branch_header(branch) for branch in diagram.branches]
    arrays: dict[str, Any] = {}
    for index, branch in enumerate(diagram.branches):
        arrays |= {f"branch_{index}_{name}": array for name, array in records.branch_arrays(branch).items()}
        arrays[f"branch_{index}_point_labels"] = np.array(branch.point_labels, dtype=np.str_)
    header["special_points"] = []
    for index, event in enumerate(diagram.special_points):
        values = records.event_values(event)
        for name in records.EVENT_MOMENTS:
            arrays[f"special_{index}_{name}"] = np.asarray(getattr(event, name), dtype=np.float64)
            del values[name]
        header["special_points"].append(values)
    stream = io.BytesIO()
    np.savez_compressed(stream, header=np.array(records.dump(header)), **arrays)
    return stream.getvalue()


def diagram_from_npz(path: Path, check: bool = True) -> Diagram:
    """Return the diagram in an archive of :func:`npz_bytes`, with ``check`` compared with its digest."""
    # A damaged archive given by name would leave its file open.
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
        if "header" not in archive:
            raise InvalidInput("it is not a diagram written by meanfield")
        values = records.check_header(records.load(str(archive["header"])))
        branches = [
            records.branch_from(item, *_archived_branch(archive, index))
            for index, item in enumerate(values["branches"])
        ]
        events = [
            records.event_from(item | {name: archive[f"special_{index}_{name}"] for name in records.EVENT_MOMENTS})
            for index, item in enumerate(values["special_points"])
        ]
        return digests.checked_diagram(values, branches, events, check)


def _archived_branch(archive: Mapping[str, Any], index: int) -> tuple[dict[str, Any], Sequence[str]]:
    start = f"branch_{index}_"
    arrays = {name.removeprefix(start): archive[name] for name in archive if name.startswith(start)}
    return arrays, arrays.pop("point_labels").tolist()


def _event(event: SpecialPoint, row: dict[str, Any], coefficients: bool) -> dict[str, Any]:
    values: dict[str, Any] = records.plain(row)
    if coefficients:
        values |= records.plain({name: getattr(event, name) for name in (*records.EVENT_MOMENTS, "layout")})
        values |= records.varied(event.parameter) | records.second_state(event)
    return values


def _branch(branch: Branch, coefficients: bool) -> dict[str, Any]:
    values = records.branch_header(branch)
    if coefficients:
        values |= records.plain(records.branch_columns(branch))
        values["point_labels"] = list(branch.point_labels)
    else:
        values |= {"points": len(branch), "ending": str(branch.outcome)}
    return values


def table_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as CSV under their headings, every number exact; a cell is empty where a value is not known."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(_cells(columns, row) for row in rows)
    return stream.getvalue()


def _cells(columns: Sequence[str], row: Mapping[str, Any]) -> Iterator[str]:
    for column in columns:
        value = row[column]
        if value is None or (isinstance(value, (float, np.floating)) and math.isnan(value)):
            yield ""
        elif isinstance(value, np.longdouble):
            yield np.format_float_scientific(value, unique=True, trim="0")
        elif isinstance(value, (float, np.floating)):
            yield repr(float(value))
        else:
            yield str(value)
