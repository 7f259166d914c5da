"""The names of columns in tables and files of diagrams, those of the parameter among them."""

import re

from ..domains import Domain
from ..harmonics import modes_of

# The parameter of diagrams where no other is named.
COUPLING = "coupling"
# The columns of tables of points, between which those of the observables stand.
PLACE_COLUMNS = ("branch", "point", "coupling", "relative_coupling", "m1", "m2", "m3", "m4")
RESULT_COLUMNS = ("unstable", "slowest_rate", "residual", "modes", "label", "branch_label")
SPECIAL_COLUMNS = (
    "branch", "type", "coupling", "relative_coupling", "lower", "upper", "m1", "m2",
    "unstable_before", "unstable_after", "kernel_dimension", "status", "point", "description", "branch_label",
)  # fmt: skip
# On spheres these follow, see :mod:`meanfield.harmonics.moments`.
POINT_AXIS_COLUMNS = ("p1", "p2", "p3", "p4")
SPECIAL_AXIS_COLUMNS = ("p1", "p2")
# Names that other columns and variables of files have, beside moments and their tangents.
TAKEN = {
    *PLACE_COLUMNS, *RESULT_COLUMNS, *SPECIAL_COLUMNS, "arclength", "cosine", "sine", "degree", "order", "moments",
    "layout", "curve", "curve_label", "parameter", "point_labels", "points", "parent", "symmetry", "outcome",
    "observables", "ending",
}  # fmt: skip
MOMENT = re.compile(r"[mpcs]_?\d+(_\d+)?")


def parameter_column(parameter: str, observables: tuple[str, ...] = ()) -> str:
    """Return the column of a parameter: its own name, with ``parameter_`` before it where another column has that.

    Parameters
    ----------
    observables
        Those of the diagram, which have columns too.
    """
    taken = parameter in TAKEN or parameter in observables or parameter.startswith("tangent_")
    return f"parameter_{parameter}" if taken or MOMENT.fullmatch(parameter) else parameter


def tangent_column(parameter: str) -> str:
    """Return the name of the derivative of a parameter along a branch."""
    return f"tangent_{parameter_column(parameter)}"


def with_parameter(columns: tuple[str, ...], parameter: str) -> tuple[str, ...]:
    """Return columns of a table with that of a parameter before the coupling."""
    if parameter == COUPLING:
        return columns
    place = columns.index("coupling")
    return (*columns[:place], parameter_column(parameter), *columns[place:])


def of_axis(names: tuple[str, ...], domain: Domain) -> tuple[str, ...]:
    """Return names of moments, restricted to those that tables of a domain have."""
    return tuple(name for name in names if name[0] in modes_of(domain).columns)
