"""Ensembles as files: netCDF and JSON exactly, CSV as a table with one row a time."""

from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import checked
from ..ensembles import Ensemble
from ..outcomes import Outcome
from ..problem import McKeanVlasov
from . import records
from .datasets import Arrays, Content, Variable, open_content
from .plausible import require_ensemble

RECORD = "ensemble"
_WORDS = {
    "degree": "mean of P_l(cos theta) over the particles",
    "order": "mean of the harmonics with cos(m phi) over the particles, degree l and order m at l (l + 1)/2 + m",
}


def ensemble_content(ensemble: Ensemble) -> Content:
    """Take an ensemble apart into a header, labelled arrays and a table."""
    if not ensemble.on_circle:
        return _content(ensemble, _on_sphere(ensemble))
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
    return _content(ensemble, variables)


def _on_sphere(ensemble: Ensemble) -> dict[str, Variable]:
    bins = ensemble.histogram.shape[1]
    by_degree = ("replica", "time", "degree")
    moments = ("replica", "time", "place") if ensemble.layout == "order" else by_degree
    angles = (np.arange(bins) + 0.5) * np.pi / bins
    variables = {
        "time": Variable(("time",), ensemble.time, "time", ""),
        "replica": Variable(("replica",), np.arange(ensemble.replicas), "number of the replica"),
        "degree": Variable(("degree",), np.arange(ensemble.degrees + 1), "degree of the moment"),
        "angle": Variable(("angle",), angles, "centre of a bin of the angle from the north pole", "rad"),
        "cosine": Variable(moments, ensemble.cosine, _WORDS[ensemble.layout]),
        "sine": Variable(moments, ensemble.sine, "mean of the harmonics with sin(m phi), if there are any"),
        "histogram": Variable(("replica", "angle"), ensemble.histogram, "particles in a bin at the last time"),
    }
    if ensemble.moduli is not None:
        variables["moduli"] = Variable(by_degree, ensemble.moduli, "length of the moment of a degree")
    if ensemble.mean_vector is not None:
        vectors = ("replica", "time", "component")
        variables["mean_vector"] = Variable(vectors, ensemble.mean_vector, "mean of the unit vectors")
    if ensemble.positions is not None:
        dimensions = ("replica", "particle", "component")
        variables["positions"] = Variable(dimensions, ensemble.positions, "unit vectors at the last time")
    return variables


def _content(ensemble: Ensemble, variables: dict[str, Variable]) -> Content:
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
    } | ({} if ensemble.on_circle else {"layout": ensemble.layout})


def ensemble_to_json_object(ensemble: Ensemble) -> dict[str, Any]:
    """Return header and table of an ensemble as one object that JSON can hold: what ``--json`` prints."""
    rows = [records.plain(row) for row in ensemble.rows()]
    header: dict[str, Any] = records.plain(ensemble_header(ensemble))
    return {"record": RECORD} | header | {"rows": rows}


@checked
def open_ensemble(path: str | Path, *, check: bool = True) -> Ensemble:
    """Read an ensemble from netCDF or JSON, exactly.

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
    return open_content(path, RECORD, _ensemble, require_ensemble, check)


def _ensemble(header: dict[str, Any], arrays: Arrays) -> Ensemble:
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
        layout=header.get("layout", "degree"),
        mean_vector=arrays.get("mean_vector"),
        moduli=arrays.get("moduli"),
    )
