"""MATLAB files in the layout of MatCont, one entry of the struct array ``branches`` for each branch.

====  ==================  ==========================================================================
name  shape               content
====  ==================  ==========================================================================
x     (states + 1, P)     cosine moments 1 to n, then sine moments if any state has them, then the parameter;
                          ``state_names`` tells them apart: m1, s1, ..., on spheres p1, ... about an
                          axis, c_1_0, s_1_0, ... by degree and order
v     (states + 1, P)     tangents in the same order
s     struct array        special points: ``index`` (from 1), ``label``, ``msg``, ``data``; the first
                          has the label 00 and the last 99
h     (2, P)              step along the curve; number of corrections (nan: not kept)
f     (1, P)              largest eigenvalue, rotation excluded (nan where not computed)
====  ==================  ==========================================================================

The fields of :class:`meanfield.Branch` follow under their own names, with nan where a count is unknown.
"""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..records.branch import Branch, SpecialPoint
from ..records.columns import COUPLING, parameter_column
from ..records.diagram import Diagram
from . import digests, records

MATCONT_LABELS = {"branch point": "BP", "fold": "LP", "Hopf": "H", "transition": "TR", "endpoint": "EP"}
MESSAGES = {
    "BP": "Branch point",
    "LP": "Limit point",
    "H": "Hopf",
    "TR": "Equal free energy",
    "EP": "End point",
    "00": "This is the first point on the curve",
    "99": "This is the last point on the curve",
}


def mat_bytes(diagram: Diagram) -> bytes:
    """Return the content of a MATLAB 5 file; numbers are exact doubles.

    Raises
    ------
    InvalidInput
        If a coupling is beyond double precision.
    """
    from scipy.io import savemat

    records.require_doubles(diagram, "MATLAB")
    header = digests.header(diagram)
    critical = diagram.critical_coupling
    content = {
        "branches": _struct_array([_branch(diagram, index) for index in range(len(diagram.branches))]),
        "special_points": _struct_array([_event(event) for event in diagram.special_points]),
        "interval": np.array(diagram.interval, dtype=np.float64),
        "critical_coupling": np.empty((0, 0)) if critical is None else float(critical),
        "problem": records.dump(header["problem"]),
        "warnings": _cells(header["warnings"]),
        "provenance": records.dump(header["provenance"]),
        "meanfield_version": header["meanfield_version"],
        "format": f"{records.FORMAT} {records.SCHEMA_VERSION}",
        digests.KEY: header[digests.KEY],
    }
    if diagram.parameter != COUPLING:
        content["parameter"] = diagram.parameter
    stream: Any = io.BytesIO()
    savemat(stream, content, appendmat=False, do_compression=True, oned_as="row")
    return bytes(stream.getvalue())


def _branch(diagram: Diagram, index: int) -> dict[str, Any]:
    branch = diagram.branches[index]
    arrays = records.branch_arrays(branch)
    # All elements of a struct array have the same fields, in the same order.
    arrays = {name: array for name, array in arrays.items() if name not in branch.observables} | {
        name: arrays.get(name, np.full(len(branch), np.nan)) for name in diagram.observables
    }
    chiral = bool(np.any(branch.sine))
    states = _columns(arrays["cosine"], arrays["sine"], np.asarray(branch.values, float), chiral)
    tangents = _columns(
        arrays["tangent_cosine"], arrays["tangent_sine"], np.asarray(branch.tangent_values, float), chiral
    )
    steps = np.diff(arrays["arclength"], prepend=arrays["arclength"][:1])
    unstable = np.where(branch.unstable < 0, np.nan, branch.unstable.astype(np.float64))
    return {
        "x": states,
        "v": tangents,
        "s": _matcont_points(diagram, index, tangents),
        "h": np.vstack([steps, np.full(steps.size, np.nan)]),
        "f": -arrays["slowest_rate"][np.newaxis, :],
        "label": branch.label,
        "parent": 0 if branch.parent is None else branch.parent + 1,
        "symmetry": branch.symmetry,
        "outcome": str(branch.outcome),
        "layout": branch.layout,
        "state_names": _cells(_state_names(branch, chiral)),
        "point_labels": _cells(branch.point_labels),
        **arrays,
        "unstable": unstable,
        "modes": arrays["modes"].astype(np.float64),
    }


def _columns(
    cosine: NDArray[np.float64], sine: NDArray[np.float64], last: NDArray[np.float64], chiral: bool
) -> NDArray[np.float64]:
    moments = [cosine[:, 1:].T, sine[:, 1:].T] if chiral else [cosine[:, 1:].T]
    return np.vstack([*moments, last[np.newaxis, :]])


def _state_names(branch: Branch, chiral: bool) -> list[str]:
    cosines, sines = branch.moments.modes.names(branch.cosine.shape[1])
    return [*cosines, *(sines if chiral else []), branch.parameter]


def _matcont_points(diagram: Diagram, index: int, tangents: NDArray[np.float64]) -> NDArray[Any]:
    last = tangents.shape[1] - 1
    marks: list[tuple[int, str, SpecialPoint | None]] = [
        (event.point, MATCONT_LABELS[event.type], event)
        for event in diagram.special_points
        if event.branch == index and event.type != "endpoint"
    ]
    marks.sort(key=lambda mark: mark[0])
    rows = []
    for point, label, event in [(0, "00", None), *marks, (last, "99", None)]:
        data: dict[str, Any] = {"v": tangents[:, point : point + 1]}
        if event is not None:
            data |= {"coupling": float(event.coupling), "description": event.description}
            if event.parameter != COUPLING:
                data[parameter_column(event.parameter)] = float(event.value)
        rows.append({"index": point + 1, "label": label, "msg": MESSAGES[label], "data": data})
    return _struct_array(rows)


def _event(event: SpecialPoint) -> dict[str, Any]:
    values: dict[str, Any] = {
        name: np.nan if value is None else value for name, value in records.event_values(event).items()
    }
    names = records.EVENT_MOMENTS + records.EVENT_OTHERS
    known = {name: getattr(event, name) for name in names}
    values |= {
        name: np.zeros(0) if each is None else np.asarray(each, dtype=np.float64) for name, each in known.items()
    }
    return values | {"branch": event.branch + 1, "point": event.point + 1}


def _struct_array(rows: Sequence[dict[str, Any]]) -> NDArray[Any]:
    if not rows:
        return np.empty((0, 0))
    array = np.empty((1, len(rows)), dtype=[(name, object) for name in rows[0]])
    for position, row in enumerate(rows):
        array[0, position] = tuple(row.values())
    return array


def _cells(texts: Sequence[str]) -> NDArray[Any]:
    cells = np.empty((1, len(texts)), dtype=object)
    cells[0, :] = list(texts)
    return cells
