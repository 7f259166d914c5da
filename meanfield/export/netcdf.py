"""netCDF-4 and xarray: a tree with one group a branch and one group of special points.

Attributes follow CF-1.11 where it can describe the data. CF knows no standard names for these quantities,
so every variable has a ``long_name`` and a unit instead. Nothing is complex.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..domains import Domain
from ..errors import InvalidInput
from ..harmonics import CircleModes, Modes
from ..records.branch import Branch, SpecialPoint
from ..records.columns import COUPLING, parameter_column, tangent_column
from ..records.diagram import Diagram
from ..records.observables import observable_named
from ..records.state import State
from . import digests, records
from .sealed import netcdf_bytes, netcdf_groups

if TYPE_CHECKING:
    import xarray

EVENTS_GROUP = "special_points"
REFERENCES = "https://doi.org/10.1007/s00205-019-01430-4"
# What the moments are counted by: the degree, or the place of degree and order.
NOT_COUNTED = {"valid_min": 0, "comment": "-1 where not counted"}

# name: (long_name, units, further attributes)
DESCRIPTIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "coupling": ("coupling strength kappa", "1", {}),
    "relative_coupling": ("coupling over the smallest positive critical coupling", "1", {}),
    "arclength": ("length along the branch in moments and relative coupling", "1", {}),
    "unstable": ("unstable directions among all densities, rotation excluded", "1", NOT_COUNTED),
    "slowest_rate": (
        "slowest decay rate, rotation excluded", "1", {"comment": "per unit of time; nan where not computed"},
    ),
    "residual": ("largest error of the self-consistency equation", "1", {}),
    "modes": ("degree up to which the density was resolved", "1", {}),
    "cosine": (CircleModes.words[0], "1", {}),
    "sine": (CircleModes.words[1], "1", {}),
    "tangent_coupling": ("derivative of the coupling along the branch", "1", {}),
    "tangent_cosine": ("derivative of the moments 'cosine' along the branch", "1", {}),
    "tangent_sine": ("derivative of the moments 'sine' along the branch", "1", {}),
    "point_labels": (
        "kind of special point", "", {"comment": "BP branch point, LP fold, TR equal free energy, EP end"},
    ),
    "branch": ("index of the branch", "1", {}),
    "point": ("index of the point on the branch", "1", {}),
    "degree": ("degree of the moment", "1", {}),
    "order": ("azimuthal order of the moment", "1", {}),
    "layout": ("moments by degree, or by degree and order", "", {}),
    "lower": ("lower end of an interval of couplings that contains the event", "1", {}),
    "upper": ("upper end of an interval of couplings that contains the event", "1", {}),
    "unstable_before": ("unstable directions before the event", "1", NOT_COUNTED),
    "unstable_after": ("unstable directions after the event", "1", NOT_COUNTED),
    "kernel_dimension": ("dimension of the kernel, rotation excluded", "1", NOT_COUNTED),
    "type": ("kind of event", "", {}),
    "status": ("how the location ended", "", {}),
    "description": ("the event in words", "", {}),
    "moments": ("number of moments that are stored; the rest is padding", "1", {}),
    "other_moments": ("number of moments of a second state of equal free energy, 0 if there is none", "1", {}),
    "other_cosine": ("moments 'cosine' of the second state", "1", {}),
    "other_sine": ("moments 'sine' of the second state", "1", {}),
}  # fmt: skip


def state_to_xarray(state: State) -> "xarray.Dataset":
    """Return the moments of a state on the dimension ``degree`` with its scalars as variables.

    Returns
    -------
    xarray.Dataset
        ``cosine`` and ``sine`` of shape (degree,), scalar ``coupling``, ``residual``, ``slowest_rate`` (nan where
        not computed), ``unstable`` (-1 where not counted) and ``modes``, and the observables of the state.
    """
    import xarray

    scalars: dict[str, Any] = {
        "coupling": state.coupling,
        **state.observables,
        "residual": state.residual,
        "slowest_rate": np.nan if state.slowest_rate is None else state.slowest_rate,
        "unstable": -1 if state.unstable is None else state.unstable,
        "modes": state.modes,
    }
    if not records.fits(scalars["coupling"]):
        scalars |= {"coupling": np.nan, "coupling_decimal": records.decimal(state.coupling)}
    variables = {name: _variable(name, (), np.asarray(value)) for name, value in scalars.items()}
    modes = state.moments.modes
    dimension = _dimension(modes)
    variables |= {name: _variable(name, (dimension,), getattr(state, name)) for name in records.EVENT_MOMENTS}
    _say_moments(variables, modes)
    attributes = conventions(state.provenance) | {
        "title": "stationary state of a McKean-Vlasov equation",
        **_domain_attributes(state.problem.domain),
        "problem": records.dump(records.problem_values(state.problem)),
        "label": state.label,
        "symmetry": state.symmetry,
        "outcome": state.outcome.name,
        "layout": state.layout,
    }
    if state.minimiser is not None:
        attributes["minimiser"] = int(state.minimiser)
    return xarray.Dataset(variables, _moment_coordinates(state.cosine.size, modes), attributes)


def diagram_to_xarray(diagram: Diagram) -> "xarray.DataTree":
    """Return a diagram as a tree: groups ``branch_000``, ``branch_001``, ... and ``special_points``."""
    import xarray

    groups = {"/": xarray.Dataset(attrs=_root_attributes(diagram))}
    for index, branch in enumerate(diagram.branches):
        groups[branch_group(index)] = _branch_dataset(branch)
    groups[EVENTS_GROUP] = _events_dataset(diagram.special_points)
    return xarray.DataTree.from_dict(groups)


def branch_group(index: int) -> str:
    """Return the name of the group of the branch with an index."""
    return f"branch_{index:03d}"


def diagram_netcdf(diagram: Diagram) -> bytes:
    """Return the content of a netCDF-4 file; values survive bit for bit."""
    tree = diagram_to_xarray(diagram)
    encoding = {
        node.path: {name: _encoding(variable) for name, variable in node.dataset.variables.items()}
        for node in tree.subtree
        if node.dataset.variables
    }
    return netcdf_bytes(lambda path: tree.to_netcdf(path, engine="netcdf4", encoding=encoding))


def diagram_from_netcdf(path: Path, check: bool = True) -> Diagram:
    """Return the diagram in a file of :func:`diagram_netcdf`, with ``check`` compared with its digest.

    Raises
    ------
    InvalidInput
        If it is another netCDF file, or was changed.
    """
    import xarray

    groups = {name: xarray.decode_cf(group) for name, group in netcdf_groups(path, check).items()}
    attributes = groups["/"].attrs
    if "header" not in attributes:
        raise InvalidInput("it is not a diagram written by meanfield")
    values = records.check_header(records.load(attributes["header"]))
    branches = [_branch_from(groups[branch_group(index)]) for index in range(values["branches"])]
    events = _events_from(groups[EVENTS_GROUP])
    return digests.checked_diagram(values, branches, events, check)


def _branch_from(columns: "xarray.Dataset") -> Branch:
    values = records.load(columns.attrs["header"])
    arrays = {str(name): variable.values for name, variable in columns.variables.items()}
    return records.branch_from(values, arrays, columns["point_labels"].values.tolist())


def _events_from(table: "xarray.Dataset") -> list[SpecialPoint]:
    columns = {str(name): variable.values for name, variable in table.variables.items()}
    header = records.load(table.attrs["header"]) if "header" in table.attrs else {}
    numbers = columns | {name: records.stored_array(columns, name) for name in _number_names(header)}
    events = []
    for index, size in enumerate(columns["moments"]):
        values = {name: column[index] for name, column in numbers.items() if name != "degree"}
        values |= header | {name: values[name][:size] for name in records.EVENT_MOMENTS}
        if others := int(values.get("other_moments", 0)):
            values |= {name: values[name][:others] for name in records.EVENT_OTHERS}
        else:
            values |= dict.fromkeys(records.EVENT_OTHERS)
        events.append(records.event_from(values))
    return events


def _branch_dataset(branch: Branch) -> "xarray.Dataset":
    import xarray

    arrays = records.branch_arrays(branch)
    modes = branch.moments.modes
    moments = _dimension(modes)
    variables = {name: _variable(name, ("point", moments)[: array.ndim], array) for name, array in arrays.items()}
    _say_moments(variables, modes)
    places = ["coupling", "relative_coupling"]
    if branch.parameter != COUPLING:
        places.insert(0, parameter_column(branch.parameter))
        variables[tangent_column(branch.parameter)].attrs["long_name"] = (
            f"derivative of {branch.parameter} along the branch"
        )
        variables[places[0]].attrs["long_name"] = f"parameter {branch.parameter} of the problem"
    variables["point_labels"] = _variable("point_labels", ("point",), np.array(branch.point_labels, np.str_))
    coordinates = {
        "point": _variable("point", ("point",), np.arange(len(branch))),
        **_moment_coordinates(branch.cosine.shape[1], modes),
        **{name: variables.pop(name) for name in places},
    }
    header = records.branch_header(branch)
    attributes = {
        "long_name": f"branch of stationary states: {branch.label}",
        "label": branch.label,
        "symmetry": header["symmetry"],
        "outcome": str(branch.outcome),
        "layout": branch.layout,
        "residual_max": float(np.max(branch.residual, initial=0.0)),
        "resolution": int(np.max(branch.modes, initial=0)),
        "header": records.dump(header),
    }
    return xarray.Dataset(variables, coordinates, attributes)


def _events_dataset(events: Sequence[SpecialPoint]) -> "xarray.Dataset":
    import xarray

    width = max((event.cosine.size for event in events), default=1)
    columns: dict[str, NDArray[Any]] = {
        name: np.array([getattr(event, name) for event in events], np.str_) for name in records.EVENT_TEXTS
    }
    header = {"parameter": events[0].parameter} if events and events[0].parameter != COUPLING else {}
    for name in records.EVENT_NUMBERS:
        columns |= records.portable({name: _event_numbers(events, name)})
    if header:
        columns |= records.portable({parameter_column(header["parameter"]): _event_numbers(events, "value")})
    for name in records.EVENT_INDICES:
        columns[name] = np.array([getattr(event, name) for event in events], dtype=np.int64)
    for name in records.EVENT_COUNTS:
        counts = [getattr(event, name) for event in events]
        columns[name] = np.array([-1 if count is None else count for count in counts], dtype=np.int64)
    columns |= _padded_moments(events, "moments", records.EVENT_MOMENTS)
    others = _padded_moments(events, "other_moments", records.EVENT_OTHERS)
    # Events of branches of both layouts share a table: its columns are places.
    used = {event.layout: event.moments.modes for event in events}
    modes = [used[layout] for layout in sorted(used)]
    dimension = "harmonic" if any(_by_order(each) for each in modes) else "degree"
    variables = {
        name: _variable(name, ("event", dimension)[: column.ndim], column) for name, column in columns.items()
    }
    if others["other_moments"].any():
        variables |= {
            name: _variable(name, ("event", "other_" + dimension)[: column.ndim], column)
            for name, column in others.items()
        }
    _say_moments(variables, *modes)
    attributes = {"long_name": "special points of all branches"}
    if header:
        variables[parameter_column(header["parameter"])].attrs["long_name"] = f"parameter {header['parameter']}"
        attributes["header"] = records.dump(header)
    coordinates = {"degree": _degrees(width)} if dimension == "degree" else {}
    return xarray.Dataset(variables, coordinates, attributes)


def _padded_moments(events: Sequence[SpecialPoint], count: str, names: tuple[str, str]) -> dict[str, NDArray[Any]]:
    """Return moments of special points with zeros behind, and under ``count`` how many each has."""
    known = ([getattr(event, name) for name in names] for event in events)
    rows = [np.zeros((2, 0)) if row[0] is None else np.array(row) for row in known]
    sizes = np.array([row.shape[1] for row in rows], dtype=np.int64)
    padded = np.zeros((2, len(events), int(sizes.max(initial=1))))
    for index, (row, size) in enumerate(zip(rows, sizes.tolist(), strict=True)):
        padded[:, index, :size] = row
    columns: dict[str, NDArray[Any]] = {count: sizes, **dict(zip(names, padded, strict=True))}
    return columns


def _number_names(header: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of the numbers of special points, that of the parameter of a header among them."""
    own = (parameter_column(header["parameter"]),) if header else ()
    return (*records.EVENT_NUMBERS, *own)


def _event_numbers(events: Sequence[SpecialPoint], name: str) -> NDArray[Any]:
    values = [getattr(event, name) for event in events]
    return records.number_array(np.array([np.nan if value is None else value for value in values]))


def _root_attributes(diagram: Diagram) -> dict[str, Any]:
    header = digests.header(diagram)
    header["branches"] = len(diagram.branches)
    attributes = conventions(diagram.provenance) | {
        "title": "bifurcation diagram of a McKean-Vlasov equation",
        **_domain_attributes(diagram.problem.domain),
        "problem": records.dump(header["problem"]),
        "interval": _attribute(diagram.interval),
        "warnings": "\n".join(header["warnings"]),
        digests.KEY: header[digests.KEY],
        "header": records.dump(header),
    }
    if diagram.parameter != COUPLING:
        attributes["parameter"] = diagram.parameter
    if diagram.critical_coupling is not None:
        attributes["critical_coupling"] = _attribute(diagram.critical_coupling)
    return attributes


def _attribute(value: Any) -> Any:
    """Return numbers as a netCDF attribute: doubles, or the decimal digits if a double does not hold them."""
    numbers = np.asarray(value)
    if records.fits(numbers):
        return numbers.astype(np.float64)[()]
    return " ".join(records.decimal(number) for number in numbers.ravel())


def conventions(provenance: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes that every file has: conventions, version, references and origin."""
    version = records.package_version()
    attributes = {
        "Conventions": "CF-1.11",
        "source": f"meanfield {version}",
        "meanfield_version": version,
        "references": REFERENCES,
        "provenance": records.dump(provenance),
    }
    created = str(provenance.get("created", ""))
    command = records.plain(str(provenance.get("command", "computed by meanfield")))
    attributes["history"] = f"{created} {command}".strip()
    if created:
        attributes["date_created"] = created
    return attributes


def _variable(name: str, dimensions: tuple[str, ...], values: NDArray[Any]) -> "xarray.Variable":
    import xarray

    base = name.removesuffix(records.DECIMAL_SUFFIX)
    long_name, units, further = DESCRIPTIONS.get(base) or _observed(base)
    if base != name:
        further = {"comment": "decimal digits, for numbers beyond the range of doubles"}
    attributes = {"long_name": long_name, **({"units": units} if units else {}), **further}
    return xarray.Variable(dimensions, values, attributes)


def _observed(name: str) -> tuple[str, str, dict[str, Any]]:
    known = observable_named(name)
    return known.description, known.units, {}


def _say_moments(variables: "dict[str, xarray.Variable]", *modes: Modes) -> None:
    """Set the long names of the moments among variables, in the words of all given modes."""
    words = [each.words for each in modes]
    for position, name in enumerate(records.EVENT_MOMENTS):
        if words:
            variables[name].attrs["long_name"] = ", or ".join(pair[position] for pair in words)


def _domain_attributes(domain: Domain) -> dict[str, Any]:
    return {"domain": domain.name, "dimension": domain.dimension}


def _by_order(modes: Modes) -> bool:
    return modes.orders(1) is not None


def _dimension(modes: Modes) -> str:
    return "harmonic" if _by_order(modes) else "degree"


def _moment_coordinates(size: int, modes: Modes) -> dict[str, "xarray.Variable"]:
    dimension, orders = (_dimension(modes),), modes.orders(size)
    coordinates = {"degree": _variable("degree", dimension, modes.degrees(size))}
    return coordinates if orders is None else coordinates | {"order": _variable("order", dimension, orders)}


def _degrees(size: int) -> "xarray.Variable":
    return _variable("degree", ("degree",), np.arange(size))


def _encoding(variable: "xarray.Variable") -> dict[str, Any]:
    # Without this xarray adds a fill value to floats, which CF forbids on coordinates.
    encoding: dict[str, Any] = {"_FillValue": None}
    if variable.ndim == 2 and variable.size:
        encoding |= {"zlib": True, "complevel": 1, "shuffle": True}
    return encoding
