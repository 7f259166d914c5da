"""Comparisons as files."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import checked
from ..equations import equation_from
from ..records.comparison import BAND, FIT_COLUMNS, ROW_COLUMNS, Comparison, Fit, Means
from ..records.outcome import Outcome
from . import records
from .datasets import Arrays, Content, Variable, open_content, target_check
from .plausible import require_comparison

RECORD = "comparison"
# Suffix of the second table in CSV.
FITS = ".fits"
SCALARS = ("replicas", "seed", "step", "scheme", "confidence")
BAND_NAMES = {
    "expected": "what the equation or the fitted power says",
    "mean": "mean over the replicas",
    "standard_error": "standard error of the mean",
    "low": "lower end of the confidence band",
    "high": "upper end of the confidence band",
}
GROUPS = {
    "moment": ("empirical moment", ("particles", "time"), ("time",)),
    "distance": ("distance at the last time", ("particles",), ("particles",)),
    "fluctuation": ("N |c_k|^2 in the uniform phase", ("particles",), ()),
}


check_comparison_target = target_check(RECORD, ("", FITS))


@checked
def open_comparison(path: str | Path, *, check: bool = True) -> Comparison:
    """Read a comparison from netCDF or JSON, bit for bit.

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
    return open_content(path, RECORD, _comparison, require_comparison, check)


def _comparison(header: dict[str, Any], arrays: Arrays) -> Comparison:
    fluctuations = _means("fluctuation", arrays) if "fluctuation" in arrays else None
    return Comparison(
        problem=equation_from(header["problem"]),
        particles=arrays["particles"],
        **{name: header[name] for name in SCALARS},
        time=arrays["time"],
        moments=_means("moment", arrays),
        distance_names=tuple(arrays["distance"].tolist()),
        distances=arrays["distance_values"],
        distance_means=_means("distance", arrays),
        fits=tuple(Fit(**values) for values in header["fits"]),
        fluctuations=fluctuations,
        outcome=Outcome[header["outcome"]],
        warnings=records.texts(header["warnings"], "warnings"),
        provenance=dict(header["provenance"]),
    )


def comparison_content(comparison: Comparison) -> Content:
    """Return the content of a comparison: header, labelled arrays and tables."""
    variables = {
        "particles": Variable(("particles",), comparison.particles, "number of particles"),
        "time": Variable(("time",), comparison.time, "time"),
        "distance_values": Variable(
            ("distance", "particles", "replica"), comparison.distances, "distance of every replica at the last time"
        ),
    }
    groups = {
        "moment": comparison.moments,
        "distance": comparison.distance_means,
        "fluctuation": comparison.fluctuations,
    }
    for group, means in groups.items():
        if means is not None:
            variables |= _variables(group, means)
    return Content(
        record=RECORD,
        title="particles beside their mean-field limit",
        header=_header(comparison),
        variables=variables,
        tables={"": (ROW_COLUMNS, comparison.rows()), FITS: (FIT_COLUMNS, comparison.fit_rows())},
    )


def _header(comparison: Comparison) -> dict[str, Any]:
    return {
        "problem": records.problem_values(comparison.problem),
        "particles": comparison.particles.tolist(),
        **{name: getattr(comparison, name) for name in SCALARS},
        "outcome": comparison.outcome.name,
        "fits": [asdict(fit) for fit in comparison.fits],
        "warnings": list(comparison.warnings),
        "provenance": comparison.provenance,
    }


def _variables(group: str, means: Means) -> dict[str, Variable]:
    what, dimensions, expected = GROUPS[group]
    names = {group: Variable((group,), np.array(means.names, dtype=np.str_), f"name of the {group}")}
    for column, text in BAND_NAMES.items():
        further = expected if column == "expected" else dimensions
        names[f"{group}_{column}"] = Variable((group, *further), getattr(means, column), f"{what}: {text}")
    return names


def _means(group: str, arrays: Mapping[str, Any]) -> Means:
    columns = {column: np.asarray(arrays[f"{group}_{column}"]) for column in ("expected", *BAND)}
    return Means(tuple(arrays[group].tolist()), **columns)
