"""Curves of special points and phase diagrams as files: labelled arrays, those of each curve with a prefix."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..equations import equation_from
from ..records.curves import Curve, OrganisingPoint
from ..records.observables import observable_named
from ..records.outcome import Outcome
from ..records.phase_diagram import (
    PhaseDiagram,
    Region,
    curve_columns,
    curve_rows,
    special_columns,
    special_row,
)
from . import records
from .datasets import Arrays, Content, Variable, open_content, target_check
from .plausible import require_curve, require_phase_diagram

CURVE, PHASE_DIAGRAM = "curve", "phase diagram"
SPECIAL = ".special"

# What curves have in their header, beside problem, outcomes and organising points.
TEXTS = (
    "label",
    "type",
    "parameters",
    "interval",
    "symmetry",
    "other_symmetry",
    "point_labels",
    "warnings",
    "layout",
)
ARRAYS = {
    "values": (("point", "parameter"), "the two parameters"),
    "coupling": (("point",), "coupling"),
    "relative_coupling": (("point",), "coupling over the smallest positive critical one"),
    "cosine": (("point", "degree"), "moments of the state"),
    "sine": (("point", "degree"), "sine moments of the state"),
    "other_cosine": (("point", "degree"), "moments of the second state"),
    "other_sine": (("point", "degree"), "sine moments of the second state"),
    "residual": (("point",), "largest error of the equations of the point"),
    "unstable": (("point",), "directions unstable on both sides, -1 where not counted"),
    "modes": (("point",), "degree up to which the density was resolved"),
    "arclength": (("point",), "length along the curve"),
    "tangent": (("point", "parameter"), "derivatives of the two parameters along the curve"),
}
INTEGERS = ("unstable", "modes")
REGION_ARRAYS = {
    "first": "first parameter across the strips of the region",
    "lower": "lower ends of the strips, in units of the window",
    "upper": "upper ends of the strips, in units of the window",
    "strip": "number of the strip",
}
REGION_VALUES = ("minimiser", "stable", "area", "point", "found_minimiser", "found_stable", "agrees")

check_tables_target = target_check(PHASE_DIAGRAM, ("", SPECIAL))


@checked
def open_curve(path: str | Path, *, check: bool = True) -> Curve:
    """Read a curve of special points from netCDF or JSON, bit for bit.

    Parameters
    ----------
    check
        Whether to compare the content with its digest or, where there is none, with what is possible at all.

    Raises
    ------
    InvalidInput
        If the file is missing, damaged, changed or another record.
    """
    return open_content(path, CURVE, _curve, require_curve, check)


@checked
def open_phase_diagram(path: str | Path, *, check: bool = True) -> PhaseDiagram:
    """Read a phase diagram from netCDF or JSON, bit for bit.

    Parameters
    ----------
    check
        Whether to compare the content with its digest or, where there is none, with what is possible at all.

    Raises
    ------
    InvalidInput
        If the file is missing, damaged, changed or another record.
    """
    return open_content(path, PHASE_DIAGRAM, _phase_diagram, require_phase_diagram, check)


def curve_content(curve: Curve) -> Content:
    """Return the content of a curve: header, labelled arrays, and the tables of points and organising points."""
    columns = special_columns(curve.parameters)
    return Content(
        record=CURVE,
        title="curve of special points of a McKean-Vlasov equation",
        header=_curve_header(curve) | {"provenance": curve.provenance},
        variables=_curve_variables(curve, ""),
        tables={
            "": (curve_columns((curve,)), curve_rows((curve,))),
            SPECIAL: (columns, (special_row(point) for point in curve.special_points)),
        },
    )


def phase_diagram_content(diagram: PhaseDiagram) -> Content:
    """Return the content of a phase diagram: header, labelled arrays, and the tables of its curves and points."""
    header = {
        "problem": records.problem_values(diagram.problem),
        **{name: getattr(diagram, name) for name in ("parameter", "interval", "unit", "window", "origins")},
        "curves": [_curve_header(curve) | {"provenance": curve.provenance} for curve in diagram.curves],
        "special_points": [_point_values(point) for point in diagram.special_points],
        "regions": [{name: getattr(region, name) for name in REGION_VALUES} for region in diagram.regions],
        "warnings": list(diagram.warnings),
        "provenance": diagram.provenance,
    }
    variables: dict[str, Variable] = {}
    for index, curve in enumerate(diagram.curves):
        variables |= _curve_variables(curve, _prefix("curve", index))
    for index, region in enumerate(diagram.regions):
        start = _prefix("region", index)
        for name, words in REGION_ARRAYS.items():
            variables[start + name] = Variable((f"{start}place",), getattr(region, name), words)
    return Content(
        record=PHASE_DIAGRAM,
        title="phase diagram of a McKean-Vlasov equation",
        header=header,
        variables=variables,
        tables={
            "": (diagram.curve_columns, diagram.curve_rows()),
            SPECIAL: (diagram.special_columns, diagram.special_rows()),
        },
    )


def _prefix(what: str, index: int) -> str:
    return f"{what}_{index:03d}_"


def _curve_header(curve: Curve) -> dict[str, Any]:
    return {
        "problem": records.problem_values(curve.problem),
        **{name: getattr(curve, name) for name in TEXTS},
        "outcome": curve.outcome.name,
        "first_outcome": curve.first_outcome.name,
        "observables": list(curve.observables),
        "special_points": [_point_values(point) for point in curve.special_points],
    }


def _curve_variables(curve: Curve, start: str) -> dict[str, Variable]:
    variables = {}
    for name, (dimensions, words) in ARRAYS.items():
        values = getattr(curve, name)
        if values is not None:
            # The second state may have another number of moments.
            degree = "other_degree" if name.startswith("other") else "degree"
            own = {"point": f"{start}point", "degree": start + degree, "parameter": "parameter"}
            variables[start + name] = Variable(tuple(own[each] for each in dimensions), values, words)
    for name, values in curve.observables.items():
        variables[start + name] = Variable((f"{start}point",), values, observable_named(name).description)
    return variables


def _curve(header: Mapping[str, Any], arrays: Arrays) -> Curve:
    return _curve_from(header, arrays, "")


def _curve_from(header: Mapping[str, Any], arrays: Arrays, start: str) -> Curve:
    texts = {name: _tuple(header[name]) for name in TEXTS}
    known = {name: arrays.get(start + name) for name in ARRAYS}
    numbers = {
        name: None if values is None else np.asarray(values, dtype=np.int64 if name in INTEGERS else np.float64)
        for name, values in known.items()
    }
    return Curve(
        problem=equation_from(header["problem"]),
        **(texts | {"warnings": records.texts(header["warnings"], "warnings")}),
        **numbers,  # type: ignore[arg-type]
        observables={name: _floats(arrays[start + name]) for name in header["observables"]},
        outcome=Outcome[header["outcome"]],
        first_outcome=Outcome[header["first_outcome"]],
        special_points=tuple(_point_from(values) for values in header["special_points"]),
        provenance=dict(header["provenance"]),
    )


def _phase_diagram(header: dict[str, Any], arrays: Arrays) -> PhaseDiagram:
    problem = equation_from(header["problem"])
    return PhaseDiagram(
        problem=problem,
        parameter=header["parameter"],
        interval=_tuple(header["interval"]),
        unit=header["unit"],
        window=_tuple(header["window"]),
        curves=tuple(
            _curve_from(values, arrays, _prefix("curve", index)) for index, values in enumerate(header["curves"])
        ),
        origins=records.texts(header["origins"], "origins"),
        special_points=tuple(_point_from(values) for values in header["special_points"]),
        regions=tuple(_region(values, arrays, index) for index, values in enumerate(header["regions"])),
        warnings=records.texts(header["warnings"], "warnings"),
        provenance=dict(header["provenance"]),
    )


def _region(values: Mapping[str, Any], arrays: Arrays, index: int) -> Region:
    start = _prefix("region", index)
    columns: dict[str, Any] = {name: _floats(arrays[start + name]) for name in ("first", "lower", "upper")}
    strip = np.asarray(arrays[start + "strip"], dtype=np.int64)
    return Region(strip=strip, **columns, **{name: _tuple(values[name]) for name in REGION_VALUES})


def _point_values(point: OrganisingPoint) -> dict[str, Any]:
    """Return an organising point as plain values; domain and problem are those of what it is on."""
    names = [field.name for field in dataclasses.fields(point) if field.name not in ("domain", "problem")]
    return {name: getattr(point, name) for name in names}


def _point_from(values: Mapping[str, Any]) -> OrganisingPoint:
    own = {name: _tuple(value) for name, value in values.items()}
    arrays = ("values", "cosine", "sine", "other_cosine", "other_sine")
    return OrganisingPoint(**(own | {name: _floats(own[name]) for name in arrays if own.get(name) is not None}))


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _floats(values: Any) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)
