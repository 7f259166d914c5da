"""Ensembles as files: netCDF and JSON exactly, CSV as a table with one row a time."""

from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import checked
from ..equations import equation_from
from ..records.ensemble import Ensemble, Floats
from ..records.outcome import Outcome
from . import records
from .datasets import Arrays, Content, Variable, open_content, target_check
from .plausible import require_ensemble

RECORD = "ensemble"


def ensemble_content(ensemble: Ensemble) -> Content:
    """Return the content of an ensemble: header, labelled arrays and a table."""
    modes, bins = ensemble.modes, ensemble.histogram.shape[1]
    first, last = modes.span
    by_degree = ("replica", "time", "degree")
    moments = by_degree if modes.orders(1) is None else ("replica", "time", "place")
    angles = (np.arange(bins) + 0.5) * (last - first) / bins + first
    cosine, sine = modes.means
    variables = {
        "time": Variable(("time",), ensemble.time, "time", ""),
        "replica": Variable(("replica",), np.arange(ensemble.replicas), "number of the replica"),
        "degree": Variable(("degree",), np.arange(ensemble.degrees + 1), "degree of the moment"),
        "angle": Variable(("angle",), angles, f"centre of a bin of the {modes.angle}", "rad"),
        "cosine": Variable(moments, ensemble.cosine, cosine),
        "sine": Variable(moments, ensemble.sine, sine),
        "histogram": Variable(("replica", "angle"), ensemble.histogram, "particles in a bin at the last time"),
    }
    if ensemble.moduli is not None:
        variables["moduli"] = Variable(by_degree, ensemble.moduli, "length of the moment of a degree")
    if ensemble.mean_vector is not None:
        vectors = ("replica", "time", "component")
        variables["mean_vector"] = Variable(vectors, ensemble.mean_vector, "mean of the unit vectors")
    if ensemble.positions is not None:
        variables["positions"] = _positions(ensemble.positions)
    return _content(ensemble, variables)


def _positions(positions: Floats) -> Variable:
    """Return angles (R, N), or unit vectors (R, N, d), with the names of their dimensions."""
    dimensions = ("replica", "particle", "component")[: positions.ndim]
    if positions.ndim == 2:
        return Variable(dimensions, positions, "angle of a particle at the last time", "rad")
    return Variable(dimensions, positions, "unit vectors at the last time")


def _content(ensemble: Ensemble, variables: dict[str, Variable]) -> Content:
    rows = list(ensemble.rows())
    return Content(
        record=RECORD,
        title="particle simulation of a McKean-Vlasov equation",
        header=_header(ensemble),
        variables=variables,
        tables={"": (tuple(rows[0]), rows)},
    )


def _header(ensemble: Ensemble) -> dict[str, Any]:
    """Return an ensemble without its arrays, as plain values."""
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
        "layout": ensemble.layout,
    }


check_ensemble_target = target_check(RECORD)


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
        problem=equation_from(header["problem"]),
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
