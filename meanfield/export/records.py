"""A diagram taken apart into plain values and arrays, and put together again, bit for bit.

Every exact format (netCDF, JSON, NPZ) stores the same fields under the same names; this is the one place
that lists them. Unknown counts are -1 and unknown numbers nan inside arrays. Couplings kept in extended
precision are stored in double precision.
"""

import datetime
import json
import math
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..diagrams import Branch, Diagram, SpecialPoint
from ..errors import InvalidInput
from ..outcomes import Outcome
from ..problem import McKeanVlasov

FORMAT = "meanfield diagram"
SCHEMA_VERSION = 1
DISTRIBUTION = "meanfield-pde"

SCALAR_COLUMNS = (
    "coupling", "relative_coupling", "arclength", "free_energy_gap", "slowest_rate", "residual",
    "tangent_coupling",
)  # fmt: skip
COUNT_COLUMNS = ("unstable", "modes")
MOMENT_COLUMNS = ("cosine", "sine", "tangent_cosine", "tangent_sine")
BRANCH_ARRAYS = SCALAR_COLUMNS + COUNT_COLUMNS + MOMENT_COLUMNS

EVENT_NUMBERS = ("coupling", "relative_coupling", "lower", "upper")
EVENT_INDICES = ("branch", "point")
EVENT_COUNTS = ("unstable_before", "unstable_after", "kernel_dimension")
EVENT_TEXTS = ("type", "status", "description")
EVENT_MOMENTS = ("cosine", "sine")


def package_version() -> str:
    """Version of the installed package, or ``unknown`` in a tree that is not installed."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "unknown"


def plain(value: Any) -> Any:
    """Reduce a value to what JSON can hold: nan becomes null, infinities become words."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = float(value) if isinstance(value, np.floating) else value.item()
    if isinstance(value, float):
        return _plain_number(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value) if isinstance(value, PurePath) else repr(value)


def _plain_number(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def dump(value: Any, indent: int | None = None) -> str:
    """Write a value as strict JSON with the shortest exact decimal numbers."""
    return json.dumps(plain(value), allow_nan=False, ensure_ascii=False, indent=indent)


def header(diagram: Diagram) -> dict[str, Any]:
    """Everything about a diagram but its branches and special points, as JSON can hold it."""
    critical = diagram.critical_coupling
    values = {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "meanfield_version": package_version(),
        "problem": diagram.problem.to_dict(),
        "interval": [float(bound) for bound in diagram.interval],
        "critical_coupling": None if critical is None else float(critical),
        "warnings": list(diagram.warnings),
        "provenance": diagram.provenance,
    }
    reduced: dict[str, Any] = plain(values)
    return reduced


def check_header(values: Any) -> dict[str, Any]:
    """Return the header of a file of ours.

    Raises
    ------
    InvalidInput
        If it is another file, or one of a later version of the format.
    """
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise InvalidInput("it is not a diagram written by meanfield")
    if values["schema_version"] > SCHEMA_VERSION:
        raise InvalidInput(
            f"it has version {values['schema_version']} of the format and this program reads up to "
            f"{SCHEMA_VERSION}; install a newer meanfield"
        )
    return values


def diagram_from(values: Mapping[str, Any], branches: Sequence[Branch], events: Sequence[SpecialPoint]) -> Diagram:
    """Put a diagram together from its header, branches and special points."""
    lower, upper = values["interval"]
    return Diagram(
        problem=McKeanVlasov.from_dict(values["problem"]),
        interval=(_number(lower), _number(upper)),
        critical_coupling=None if values["critical_coupling"] is None else _number(values["critical_coupling"]),
        branches=tuple(branches),
        special_points=tuple(events),
        warnings=tuple(values["warnings"]),
        provenance=dict(values["provenance"]),
    )


def branch_header(branch: Branch) -> dict[str, Any]:
    """Scalars of a branch."""
    return {
        "label": branch.label,
        "parent": branch.parent,
        "symmetry": int(branch.symmetry),
        "outcome": branch.outcome.name,
    }


def branch_arrays(branch: Branch) -> dict[str, NDArray[Any]]:
    """Arrays of a branch in the number types that files hold."""
    floats = SCALAR_COLUMNS + MOMENT_COLUMNS
    arrays: dict[str, NDArray[Any]] = {name: np.asarray(getattr(branch, name), dtype=np.float64) for name in floats}
    arrays |= {name: np.asarray(getattr(branch, name), dtype=np.int64) for name in COUNT_COLUMNS}
    return arrays


def branch_from(values: Mapping[str, Any], arrays: Mapping[str, Any], labels: Sequence[str]) -> Branch:
    """Put a branch together; JSON lists and numpy arrays are both welcome."""
    columns: dict[str, Any] = {name: _floats(arrays[name]) for name in SCALAR_COLUMNS + MOMENT_COLUMNS}
    columns |= {name: np.asarray(arrays[name], dtype=np.int64) for name in COUNT_COLUMNS}
    size = columns["coupling"].shape[0]
    if any(column.shape[:1] != (size,) for column in columns.values()) or len(labels) != size:
        raise InvalidInput(f"the columns of branch {values['label']!r} differ in length")
    parent = values["parent"]
    return Branch(
        label=str(values["label"]),
        parent=None if parent is None else int(parent),
        symmetry=int(values["symmetry"]),
        outcome=Outcome[values["outcome"]],
        point_labels=tuple(str(label) for label in labels),
        **columns,
    )


def event_values(event: SpecialPoint) -> dict[str, Any]:
    """All fields of a special point, reduced to what JSON can hold."""
    names = EVENT_INDICES + EVENT_TEXTS + EVENT_NUMBERS + EVENT_COUNTS + EVENT_MOMENTS
    values: dict[str, Any] = plain({name: getattr(event, name) for name in names})
    return values


def event_from(values: Mapping[str, Any]) -> SpecialPoint:
    """Put a special point together; unknown numbers are null or nan, unknown counts null or -1."""
    fields: dict[str, Any] = {name: str(values[name]) for name in EVENT_TEXTS}
    fields |= {name: int(values[name]) for name in EVENT_INDICES}
    fields |= {name: _number(values[name]) for name in EVENT_NUMBERS}
    fields |= {name: _count(values[name]) for name in EVENT_COUNTS}
    fields |= {name: _floats(values[name]) for name in EVENT_MOMENTS}
    if math.isnan(fields["relative_coupling"]):
        fields["relative_coupling"] = None
    return SpecialPoint(**fields)


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _count(value: Any) -> int | None:
    return None if value is None or int(value) < 0 else int(value)


def _floats(values: Any) -> NDArray[np.float64]:
    # Null has to become nan and the words for infinities numbers; numpy does both for float64.
    return np.array(values, dtype=np.float64)
