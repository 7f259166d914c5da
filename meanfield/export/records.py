"""A diagram taken apart into plain values and arrays, and put together again, bit for bit.

Every exact format (netCDF, JSON, NPZ) stores the same fields under the same names; this is the one place
that lists them. Unknown counts are -1 and unknown numbers nan inside arrays.

Couplings kept in extended precision are stored in double precision if they fit. Those beyond its range, such as
2e-343 for a strong transformer, stay exact: as true decimal numbers in JSON; in the binary formats as nan, with
the decimal numbers as text in an array NAME_decimal beside it.
"""

import datetime
import json
import math
import re
import reprlib
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..equations import Equation, equation_from
from ..errors import InvalidInput
from ..records.branch import Branch, SpecialPoint
from ..records.columns import COUPLING, parameter_column, tangent_column
from ..records.diagram import Diagram
from ..records.observables import FREE_ENERGY_GAP
from ..records.outcome import Outcome
from .layouts import check_layout, layout_of

FORMAT = "meanfield diagram"
SCHEMA_VERSION = 2
DISTRIBUTION = "meanfield-pde"

SCALAR_COLUMNS = ("coupling", "relative_coupling", "arclength", "slowest_rate", "residual", "tangent_coupling")
COUNT_COLUMNS = ("unstable", "modes")
MOMENT_COLUMNS = ("cosine", "sine", "tangent_cosine", "tangent_sine")
# What records of every kind had before they said themselves which observables they have.
FORMER_OBSERVABLES = (FREE_ENERGY_GAP,)

# Digits that identify an extended number, beyond the 17 of any double; the mark is no part of a user's text.
DECIMALS = math.ceil(1 + (np.finfo(np.longdouble).nmant + 1) * math.log10(2))
DOUBLE_DIGITS = 17
DECIMAL_SUFFIX = "_decimal"
MARK = "\x02extended "

EVENT_NUMBERS = ("coupling", "relative_coupling", "lower", "upper")
EVENT_INDICES = ("branch", "point")
EVENT_COUNTS = ("unstable_before", "unstable_after", "kernel_dimension")
EVENT_TEXTS = ("type", "status", "description", "layout")
EVENT_MOMENTS = ("cosine", "sine")
# The second state of a transition between two clustered ones; other points have none.
EVENT_OTHERS = ("other_cosine", "other_sine")


def package_version() -> str:
    """Return the version of the installed package, or ``unknown`` in a tree that is not installed."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "unknown"


def fits(values: Any) -> bool:
    """Return whether numbers are representable as doubles: none becomes 0, subnormal or infinite."""
    wide = np.asarray(values) if isinstance(values, (np.ndarray, np.longdouble)) else np.zeros(0)
    if wide.dtype != np.longdouble:
        return True
    known = np.abs(wide[np.isfinite(wide) & (wide != 0)])
    limits = np.finfo(np.float64)
    return bool(np.all((known >= limits.tiny) & (known <= limits.max)))


def number_array(values: Any) -> NDArray[Any]:
    """Return numbers as an array of doubles, or in extended precision if they do not fit."""
    return np.asarray(values, dtype=np.float64 if fits(values) else np.longdouble)


def decimal(value: Any) -> str:
    """Return the text of an extended number with the digits that identify it."""
    return np.format_float_scientific(np.longdouble(value), unique=False, precision=DECIMALS - 1)


def extended(text: str) -> np.longdouble:
    """Return the extended number of a text by :func:`decimal`.

    Raises
    ------
    InvalidInput
        If this platform has no number of that size.
    """
    value = np.longdouble(text)
    if not np.isfinite(value) or (value == 0 and re.search("[1-9]", text.lower().split("e")[0])):
        raise InvalidInput(f"the number {text} is beyond the floating-point range of this platform")
    return value


class ExtendedNumber(str):
    """The decimal digits of a number that does not fit a double; :func:`dump` writes it as a number."""

    __slots__ = ()


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: nan as null, infinities as words, numbers beyond doubles as digits."""
    if isinstance(value, str):
        return value if isinstance(value, ExtendedNumber) else _writable(value)
    if isinstance(value, Mapping):
        return {_writable(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()] if fits(value) else _extended_list(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if not fits(value):
        return ExtendedNumber(decimal(value))
    if isinstance(value, np.generic):
        value = float(value) if isinstance(value, np.floating) else value.item()
    if isinstance(value, float):
        return _plain_number(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return _writable(str(value) if isinstance(value, PurePath) else repr(value))


def _writable(text: str) -> str:
    """Return a text with escapes for characters without an encoding, as in file names of other encodings."""
    return text.encode(errors="backslashreplace").decode()


def _extended_list(values: NDArray[Any]) -> list[Any]:
    return [ExtendedNumber(decimal(item)) if np.isfinite(item) else plain(item) for item in values]


def _plain_number(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def dump(value: Any, indent: int | None = None, ascii_only: bool = False) -> str:
    """Return a value as strict JSON text, every number exact, also beyond double precision."""
    text = json.dumps(_marked(plain(value)), allow_nan=False, ensure_ascii=ascii_only, indent=indent)
    return re.sub(re.escape(json.dumps(MARK)[:-1]) + r'([-+.e\d]+)"', r"\1", text)


def _marked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _marked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_marked(item) for item in value]
    return MARK + value if isinstance(value, ExtendedNumber) else value


def load(text: str) -> Any:
    """Return the value of a JSON text; numbers that fit no double, with their list, in extended precision."""
    return json.loads(text, parse_float=_parsed, object_pairs_hook=_narrowed)


def _parsed(text: str) -> Any:
    # A text with a sign and a point has no more digits than this; that settles nearly all numbers.
    if len(text) <= DOUBLE_DIGITS + 1:
        return float(text)
    mantissa = re.sub(r"[-.]", "", text.lower().split("e")[0]).lstrip("0")
    return extended(text) if len(mantissa) > DOUBLE_DIGITS else float(text)


def _narrowed(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object with doubles for numbers that have more digits than a double but fit one."""
    return {
        name: [*map(_double, value)] if isinstance(value, list) and all(map(fits, value)) else _double(value)
        for name, value in pairs
    }


def _double(value: Any) -> Any:
    return float(value) if isinstance(value, np.longdouble) and fits(value) else value


def problem_values(problem: Equation) -> dict[str, Any]:
    """Return a problem as plain values, its coupling in full precision."""
    return problem.to_dict() | {"coupling": problem.coupling}


def header(diagram: Diagram) -> dict[str, Any]:
    """Return a diagram without its branches and special points, as JSON can hold it."""
    values = frame(FORMAT, SCHEMA_VERSION) | {
        "problem": problem_values(diagram.problem),
        "interval": list(diagram.interval),
        "critical_coupling": diagram.critical_coupling,
        "warnings": list(diagram.warnings),
        "provenance": diagram.provenance,
    }
    reduced: dict[str, Any] = plain(values | varied(diagram.parameter))
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
    require_version(values, SCHEMA_VERSION)
    return values


def frame(form: str, version: int) -> dict[str, Any]:
    """Return the entries that state the format, its version and the version of the package in a file."""
    return {"format": form, "schema_version": version, "meanfield_version": package_version()}


def require_version(values: Mapping[str, Any], known: int) -> None:
    """Refuse a file of a later version of its format than this program reads.

    Raises
    ------
    InvalidInput
        If it is one.
    """
    if values["schema_version"] > known:
        raise InvalidInput(
            f"it has version {values['schema_version']} of the format and this program reads up to {known}; "
            "install a newer meanfield"
        )


def diagram_from(values: Mapping[str, Any], branches: Sequence[Branch], events: Sequence[SpecialPoint]) -> Diagram:
    """Return the diagram of a header, branches and special points."""
    problem = equation_from(values["problem"])
    _check_references(branches, events)
    _check_layouts(problem, branches, events)
    lower, upper = values["interval"]
    return Diagram(
        problem=problem,
        interval=(_number(lower), _number(upper)),
        critical_coupling=None if values["critical_coupling"] is None else _number(values["critical_coupling"]),
        branches=tuple(branches),
        special_points=tuple(events),
        warnings=texts(values["warnings"], "warnings"),
        provenance=dict(values["provenance"]),
        parameter=str(values.get("parameter", COUPLING)),
    )


def _check_references(branches: Sequence[Branch], events: Sequence[SpecialPoint]) -> None:
    for index, event in enumerate(events):
        if not 0 <= event.branch < len(branches):
            raise InvalidInput(f"special point {index} is on branch {event.branch}, and there are {len(branches)}")
        if not 0 <= event.point < len(branches[event.branch]):
            raise InvalidInput(f"special point {index} is at point {event.point}, which its branch does not have")
    for branch in branches:
        if branch.parent is not None and not 0 <= branch.parent < len(events):
            raise InvalidInput(
                f"branch {branch.label!r} is born at special point {branch.parent}, and there are {len(events)}"
            )


def _check_layouts(problem: Equation, branches: Sequence[Branch], events: Sequence[SpecialPoint]) -> None:
    modes = [
        check_layout(branch.layout, problem.domain, branch.cosine.shape[1], f"branch {branch.label!r}")
        for branch in branches
    ]
    for index, event in enumerate(events):
        what = f"special point {index}"
        own = check_layout(event.layout, problem.domain, event.cosine.size, what)
        # A point has the layout of its branch, or that of a second state which needs more.
        if own != modes[event.branch] and event.other_cosine is None:
            raise InvalidInput(f"the moments of {what} are by {event.layout}, unlike those of its branch")


def texts(values: Any, what: str) -> tuple[str, ...]:
    """Return a list of texts as a tuple, refusing a single text, which is a sequence of letters.

    Raises
    ------
    InvalidInput
        If it is anything else.
    """
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
        raise InvalidInput(f"its {what} must be a list of texts, not {reprlib.repr(values)}")
    return tuple(values)


def branch_header(branch: Branch) -> dict[str, Any]:
    """Return the scalar fields of a branch."""
    return {
        "label": branch.label,
        "parent": branch.parent,
        "symmetry": int(branch.symmetry),
        "outcome": branch.outcome.name,
        "layout": branch.layout,
        "observables": list(branch.observables),
    } | varied(branch.parameter)


def varied(parameter: str) -> dict[str, Any]:
    """Return the entry that names a parameter other than the coupling."""
    return {} if parameter == COUPLING else {"parameter": parameter}


def branch_columns(branch: Branch) -> dict[str, NDArray[Any]]:
    """Return the arrays of a branch by name: doubles, integers, and extended numbers beyond doubles."""
    columns = {name: number_array(getattr(branch, name)) for name in SCALAR_COLUMNS + MOMENT_COLUMNS}
    columns |= {name: np.asarray(getattr(branch, name), dtype=np.int64) for name in COUNT_COLUMNS}
    if branch.parameter != COUPLING:
        columns[parameter_column(branch.parameter)] = number_array(branch.values)
        columns[tangent_column(branch.parameter)] = number_array(branch.tangent_values)
    return columns | dict(branch.observables)


def branch_arrays(branch: Branch) -> dict[str, NDArray[Any]]:
    """Return the arrays of a branch by name, in the number types that binary files hold."""
    return portable(branch_columns(branch))


def portable(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return arrays with extended numbers replaced by nan and their digits as text in NAME_decimal."""
    result = dict(arrays)
    for name, array in arrays.items():
        if not fits(array):
            result[name] = np.full(array.shape, np.nan)
            result[name + DECIMAL_SUFFIX] = np.array([decimal(value) for value in array], dtype=np.str_)
    return result


def stored_array(arrays: Mapping[str, Any], name: str) -> NDArray[Any]:
    """Return the numbers of an array as stored by :func:`portable` or in JSON."""
    if name + DECIMAL_SUFFIX in arrays:
        return np.array([extended(str(text)) for text in arrays[name + DECIMAL_SUFFIX]])
    values = arrays[name]
    if isinstance(values, list) and any(isinstance(value, np.longdouble) for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=np.longdouble)
    return _floats(values)


def require_doubles(diagram: Diagram, kind: str) -> None:
    """Refuse a format of doubles for couplings beyond their range.

    Raises
    ------
    InvalidInput
        If a coupling would become zero, subnormal or infinite.
    """
    columns = [getattr(branch, name) for branch in diagram.branches for name in ("coupling", "tangent_coupling")]
    if all(fits(column) for column in [*columns, *map(np.asarray, diagram.interval)]):
        return
    about = np.format_float_scientific(np.longdouble(diagram.interval[1]), precision=1)
    raise InvalidInput(
        f"couplings of about {about} do not fit the double precision of {kind} files; "
        "write .nc, .json, .npz or .csv instead, which hold them exactly"
    )


def branch_from(values: Mapping[str, Any], arrays: Mapping[str, Any], labels: Sequence[str]) -> Branch:
    """Return the branch of a header, JSON lists or numpy arrays, and labels of points."""
    point_labels, observed = texts(labels, "point labels"), observables_in(values, FORMER_OBSERVABLES)
    columns: dict[str, Any] = {
        name: stored_array(arrays, name) for name in (*SCALAR_COLUMNS, *MOMENT_COLUMNS, *observed)
    }
    columns |= {name: np.asarray(arrays[name], dtype=np.int64) for name in COUNT_COLUMNS}
    if (parameter := str(values.get("parameter", COUPLING))) != COUPLING:
        columns["parameter_values"] = stored_array(arrays, parameter_column(parameter))
        columns["tangent_parameter"] = stored_array(arrays, tangent_column(parameter))
    size = columns["coupling"].shape[0]
    if any(column.shape[:1] != (size,) for column in columns.values()) or len(point_labels) != size:
        raise InvalidInput(f"the columns of branch {values['label']!r} differ in length")
    if any(columns[name].ndim != 2 or columns[name].shape != columns["cosine"].shape for name in MOMENT_COLUMNS):
        raise InvalidInput(f"the moments of branch {values['label']!r} differ in number")
    parent = values["parent"]
    return Branch(
        label=str(values["label"]),
        parent=None if parent is None else int(parent),
        symmetry=int(values["symmetry"]),
        outcome=Outcome[values["outcome"]],
        point_labels=point_labels,
        layout=layout_of(values),
        parameter=parameter,
        observables={name: columns.pop(name) for name in observed},
        **columns,
    )


def observables_in(values: Mapping[str, Any], former: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the observables of a record by its header, or those that all had in former versions."""
    return texts(values.get("observables", former), "names of observables")


def event_header(event: SpecialPoint) -> dict[str, Any]:
    """Return all fields of a special point without its moments, as JSON can hold them."""
    names = EVENT_INDICES + EVENT_TEXTS + EVENT_NUMBERS + EVENT_COUNTS
    values: dict[str, Any] = plain({name: getattr(event, name) for name in names} | varied_event(event))
    return values | second_state(event)


def second_state(event: SpecialPoint) -> dict[str, Any]:
    """Return the entries of the second state of a transition, as JSON can hold them, empty where there is none."""
    return {} if event.other_cosine is None else {name: plain(getattr(event, name)) for name in EVENT_OTHERS}


def varied_event(event: SpecialPoint) -> dict[str, Any]:
    """Return the entries that say where an event is in a parameter other than the coupling."""
    own = {} if event.parameter == COUPLING else {parameter_column(event.parameter): event.value}
    return varied(event.parameter) | own


def event_values(event: SpecialPoint) -> dict[str, Any]:
    """Return all fields of a special point, as JSON can hold them."""
    return event_header(event) | {name: plain(getattr(event, name)) for name in EVENT_MOMENTS}


def event_from(values: Mapping[str, Any]) -> SpecialPoint:
    """Return the special point of stored values; unknown numbers are null or nan, unknown counts null or -1."""
    fields: dict[str, Any] = {name: str(values[name]) for name in EVENT_TEXTS if name != "layout"}
    fields["layout"] = layout_of(values)
    fields |= {name: int(values[name]) for name in EVENT_INDICES}
    fields |= {name: _number(values[name]) for name in EVENT_NUMBERS}
    fields |= {name: _count(values[name]) for name in EVENT_COUNTS}
    fields |= {name: _floats(values[name]) for name in EVENT_MOMENTS}
    fields |= {name: _floats(values[name]) for name in EVENT_OTHERS if values.get(name) is not None}
    if (parameter := str(values.get("parameter", COUPLING))) != COUPLING:
        fields |= {"parameter": parameter, "parameter_value": _number(values[parameter_column(parameter)])}
    if math.isnan(fields["relative_coupling"]):
        fields["relative_coupling"] = None
    return SpecialPoint(**fields)


def _number(value: Any) -> Any:
    if isinstance(value, np.longdouble) and not fits(value):
        return value
    return math.nan if value is None else float(value)


def _count(value: Any) -> int | None:
    return None if value is None or int(value) < 0 else int(value)


def _floats(values: Any) -> NDArray[np.float64]:
    # Null has to become nan and the words for infinities numbers; numpy does both for float64.
    return np.array(values, dtype=np.float64)
