"""Trajectories as files: netCDF and JSON exactly, CSV as a table with one row a time."""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..arguments import checked
from ..equations import equation_from
from ..records.flow_map import FlowMap
from ..records.observables import DISSIPATION, FREE_ENERGY_GAP, observable_named
from ..records.outcome import Outcome
from ..records.trajectory import Trajectory
from . import records
from .datasets import Arrays, Content, Variable, open_content, target_check
from .layouts import check_layout, layout_of
from .plausible import require_trajectory

RECORD = "trajectory"
# What all trajectories had before they said themselves which observables they have.
FORMER_OBSERVABLES = (FREE_ENERGY_GAP, DISSIPATION)
OPTIONAL = ("tolerance", "distance", "slowest_rate")


def trajectory_content(trajectory: Trajectory) -> Content:
    """Return the content of a trajectory: header, labelled arrays and a table."""
    labels = _labels(trajectory)
    moments = ("time", next(iter(labels.values())).dimensions[0])
    cosine, sine = trajectory.moments.modes.words
    variables = {
        "time": Variable(("time",), trajectory.time, "time", ""),
        **labels,
        "cosine": Variable(moments, trajectory.cosine, cosine),
        "sine": Variable(moments, trajectory.sine, sine),
        "modes": Variable(("time",), trajectory.modes, "degree up to which the density was resolved"),
        "minimum": Variable(
            ("time",), trajectory.minimum, "smallest value of the density", trajectory.moments.modes.unit
        ),
    }
    variables |= {name: _observed(name, values) for name, values in trajectory.observables.items()}
    variables |= _flow_variables(trajectory)
    rows = list(trajectory.rows())
    return Content(
        record=RECORD,
        title="evolution of a McKean-Vlasov equation",
        header=_header(trajectory),
        variables=variables,
        tables={"": (tuple(rows[0]), rows)},
    )


def _flow_variables(trajectory: Trajectory) -> dict[str, Variable]:
    """Return the flow map of a trajectory as labelled arrays; empty if it has none."""
    flow = trajectory.flow_map
    if flow is None:
        return {}
    places, unit = ("flow_time", "label"), trajectory.moments.modes.unit
    return {
        "flow_time": Variable(("flow_time",), flow.time, "times of the flow map", ""),
        "label": Variable(("label",), flow.labels, "angle of a point at time 0", "rad"),
        "position": Variable(places, flow.positions, "angle of a point", "rad"),
        "label_density": Variable(places, flow.densities, "density at a point", unit),
    }


def _flow_map(header: dict[str, Any], arrays: Arrays) -> FlowMap | None:
    # Other methods have none, nor have files of before.
    if header.get("cluster") is None:
        return None
    return FlowMap(
        time=arrays["flow_time"],
        labels=arrays["label"],
        positions=arrays["position"],
        densities=arrays["label_density"],
        cluster=float(header["cluster"]),
    )


def _observed(name: str, values: NDArray[Any]) -> Variable:
    known = observable_named(name)
    return Variable(("time",), values, known.description, known.units)


def _labels(trajectory: Trajectory) -> dict[str, Variable]:
    """Return the degrees of the moments, and their orders if they have any, as labelled arrays."""
    modes, size = trajectory.moments.modes, trajectory.cosine.shape[1]
    degrees, orders, words = modes.degrees(size), modes.orders(size), "degree of the moment"
    if orders is None:
        return {"degree": Variable(("degree",), degrees, words)}
    return {
        "moment_degree": Variable(("moment",), degrees, words),
        "moment_order": Variable(("moment",), orders, "order of the moment"),
    }


def _header(trajectory: Trajectory) -> dict[str, Any]:
    """Return a trajectory without its arrays, as plain values."""
    return {
        "problem": records.problem_values(trajectory.problem),
        "outcome": trajectory.outcome.name,
        "method": trajectory.method,
        "tolerance": trajectory.tolerance,
        "accuracy": trajectory.accuracy,
        "steps": trajectory.steps,
        "evaluations": trajectory.evaluations,
        "mass_error": trajectory.mass_error,
        "distance": trajectory.distance,
        "slowest_rate": trajectory.slowest_rate,
        "unstable": trajectory.unstable,
        "layout": trajectory.layout,
        "cluster": None if trajectory.flow_map is None else trajectory.flow_map.cluster,
        "observables": list(trajectory.observables),
        "warnings": list(trajectory.warnings),
        "provenance": trajectory.provenance,
    }


check_trajectory_target = target_check(RECORD)


@checked
def open_trajectory(path: str | Path, *, check: bool = True) -> Trajectory:
    """Read a trajectory from netCDF or JSON, exactly.

    Parameters
    ----------
    check
        Whether to compare the content with its digest or, in a file from before there were digests, with what is
        possible at all.

    Raises
    ------
    InvalidInput
        If the file is missing, damaged, changed or another record.
    """
    return open_content(path, RECORD, _trajectory, require_trajectory, check)


def _trajectory(header: dict[str, Any], arrays: Arrays) -> Trajectory:
    problem, layout = equation_from(header["problem"]), layout_of(header)
    check_layout(layout, problem.domain, arrays["cosine"].shape[1], "the trajectory")
    # Files of before have no accuracy.
    accuracy = header.get("accuracy")
    optional = {name: None if header[name] is None else float(header[name]) for name in OPTIONAL}
    return Trajectory(
        problem=problem,
        time=arrays["time"],
        cosine=arrays["cosine"],
        sine=arrays["sine"],
        modes=arrays["modes"],
        observables={name: arrays[name] for name in records.observables_in(header, FORMER_OBSERVABLES)},
        minimum=arrays["minimum"],
        mass_error=float(header["mass_error"]),
        outcome=Outcome[header["outcome"]],
        method=str(header["method"]),
        steps=int(header["steps"]),
        evaluations=int(header["evaluations"]),
        unstable=None if header["unstable"] is None else int(header["unstable"]),
        accuracy=None if accuracy is None else float(accuracy),
        layout=layout,
        flow_map=_flow_map(header, arrays),
        warnings=tuple(header["warnings"]),
        provenance=dict(header["provenance"]),
        **optional,
    )
