"""The digest of the content of a record, the same in every format, by which damage is detected.

It is the SHA-256 of all values and arrays of the record under their names, of numbers as doubles and of texts as
JSON. Entries about the format or the version of a file are no part of it.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..records.branch import Branch, SpecialPoint
from ..records.diagram import Diagram
from . import plausible, records

KEY = "digest"
ALGORITHM = "sha256:"
# What of the header of a diagram is content.
CONTENT = ("problem", "interval", "critical_coupling", "warnings", "provenance")
# Whole numbers up to here are doubles.
LARGEST_WHOLE = 2**53


def digest_of(parts: Mapping[str, Any]) -> str:
    """Return the digest of values and arrays by name, such as ``sha256:6b86b2...``."""
    total = hashlib.sha256()
    for name in sorted(parts):
        content = _canonical(parts[name])
        # With its length no part can pass for the beginning of the next.
        total.update(f"{name} {len(content)}\n".encode() + content)
    return ALGORITHM + total.hexdigest()


def header(diagram: Diagram) -> dict[str, Any]:
    """Return a diagram without its branches and special points, with the digest of all of it."""
    values = records.header(diagram)
    return values | {KEY: digest_of(dict(_parts(values, diagram.branches, diagram.special_points)))}


def checked_diagram(
    values: Mapping[str, Any], branches: Sequence[Branch], events: Sequence[SpecialPoint], check: bool
) -> Diagram:
    """Return the diagram of a header, branches and special points, if it agrees with its digest.

    Raises
    ------
    InvalidInput
        If its content does not agree with its digest or, in a file from before there were digests, is none that a
        diagram can have.
    """
    diagram = records.diagram_from(values, branches, events)
    if check and not require_digest(values, dict(_parts(values, branches, events))):
        plausible.require_diagram(diagram)
    return diagram


def require_digest(values: Mapping[str, Any], parts: Mapping[str, Any]) -> bool:
    """Refuse content that does not agree with the digest in a header; return whether it has a digest.

    Raises
    ------
    InvalidInput
        If they do not agree.
    """
    if KEY not in values:
        return False
    if values[KEY] != digest_of(parts):
        raise InvalidInput(
            "its content does not agree with its digest, so that a number or a text was changed after it was "
            "written; take another copy, or open it unchecked with check=False"
        )
    return True


def _parts(
    values: Mapping[str, Any], branches: Sequence[Branch], events: Sequence[SpecialPoint]
) -> Iterator[tuple[str, Any]]:
    for name in CONTENT:
        yield name, values[name]
    # In files of diagrams in the coupling no parameter is named.
    if "parameter" in values:
        yield "parameter", values["parameter"]
    yield "branches", [_without_names(branch) | {"labels": list(branch.point_labels)} for branch in branches]
    yield "special_points", [records.event_header(event) for event in events]
    for index, branch in enumerate(branches):
        for name, array in records.branch_columns(branch).items():
            yield f"branch_{index}_{name}", array
    for index, event in enumerate(events):
        for name in records.EVENT_MOMENTS:
            yield f"special_{index}_{name}", np.asarray(getattr(event, name), dtype=np.float64)


def _without_names(branch: Branch) -> dict[str, Any]:
    """Return the scalars of a branch; the names of its observables are those of its arrays."""
    return {name: value for name, value in records.branch_header(branch).items() if name != "observables"}


def _canonical(value: Any) -> bytes:
    """Return a value as bytes that do not depend on the format it came from."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub" and records.fits(value):
        numbers = value.astype("<f8")
        numbers[np.isnan(numbers)] = np.nan
        # JSON keeps no shape of an array without entries, but tells 1 from 1.0.
        kind = f"{'numbers' if value.dtype.kind == 'f' else 'counts'} {value.shape}"
        return (kind if value.size else "").encode() + numbers.tobytes()
    return json.dumps(_settled(records.plain(value)), sort_keys=True).encode()


def _settled(value: Any) -> Any:
    """Return plain values with integers as doubles, since some formats return them so."""
    if isinstance(value, dict):
        return {key: _settled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_settled(item) for item in value]
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST_WHOLE
    return float(value) if whole else value
