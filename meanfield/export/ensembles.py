"""Ensembles as files: netCDF and JSON exactly, CSV as a table with one row a time."""

from pathlib import Path
from typing import Any

import numpy as np

from ..ensembles import Ensemble
from ..outcomes import Outcome
from ..problem import McKeanVlasov
from . import records
from .datasets import Content, Variable, open_content

RECORD = "ensemble"


def ensemble_content(ensemble: Ensemble) -> Content:
    """Take an ensemble apart into a header, labelled arrays and a table."""
    moments = ("replica", "time", "degree")
    bins = ensemble.histogram.shape[1]
    variables = {
        "time": Variable(("time",), ensemble.time, "time", ""),
        "replica": Variable(("replica",), np.arange(ensemble.replicas), "number of the replica"),
        "degree": Variable(("degree",), np.arange(ensemble.degrees + 1), "degree of the moment"),
        "angle": Variable(("angle",), (np.arange(bins) + 0.5) * 2 * np.pi / bins - np.pi, "centre of a bin", "rad"),
        "cosine": Variable(moments, ensemble.cosine, "mean of cos(k x) over the particles"),
        "sine": Variable(moments, ensemble.sine, "mean of sin(k x) over the particles"),
        "histogram": Variable(("replica", "angle"), ensemble.histogram, "particles in a bin at the last time"),
    }
    if ensemble.positions is not None:
        variables["positions"] = Variable(
            ("replica", "particle"), ensemble.positions, "angle of a particle at the last time", "rad"
        )
    rows = list(ensemble.rows())
    return Content(
        record=RECORD,
        title="particle simulation of a McKean-Vlasov equation",
        header=ensemble_header(ensemble),
        variables=variables,
        tables={"": (tuple(rows[0]), rows)},
    )


def ensemble_header(ensemble: Ensemble) -> dict[str, Any]:
    """Return everything about an ensemble but its arrays."""
    return {
        "problem": records.problem_values(ensemble.problem),
        "particles": ensemble.particles,
        "replicas": ensemble.replicas,
        "seed": ensemble.seed,
        "step": ensemble.step,
        "scheme": ensemble.scheme,
        "outcome": ensemble.outcome.name,
        "failures": list(ensemble.failures),
        "warnings": list(ensemble.warnings),
        "provenance": ensemble.provenance,
    }


def ensemble_to_json_object(ensemble: Ensemble) -> dict[str, Any]:
    """Return header and table of an ensemble as one object that JSON can hold: what ``--json`` prints."""
    rows = [records.plain(row) for row in ensemble.rows()]
    header: dict[str, Any] = records.plain(ensemble_header(ensemble))
    return {"record": RECORD} | header | {"rows": rows}


def open_ensemble(path: str | Path) -> Ensemble:
    """Read an ensemble from netCDF or JSON, exactly.

    Raises
    ------
    InvalidInput
        If the file is missing, damaged or another record.
    """
    header, arrays = open_content(path, RECORD)
    return Ensemble(
        problem=McKeanVlasov.from_dict(header["problem"]),
        particles=int(header["particles"]),
        replicas=int(header["replicas"]),
        seed=int(header["seed"]),
        step=float(header["step"]),
        scheme=str(header["scheme"]),
        time=arrays["time"],
        cosine=arrays["cosine"],
        sine=arrays["sine"],
        histogram=arrays["histogram"],
        positions=arrays.get("positions"),
        outcome=Outcome[header["outcome"]],
        failures=tuple(header["failures"]),
        warnings=tuple(header["warnings"]),
        provenance=dict(header["provenance"]),
    )
