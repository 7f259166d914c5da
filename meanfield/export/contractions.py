"""Contractions as files."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..arguments import checked
from ..equations import equation_from
from ..records.contraction import RATE_COLUMNS, Contraction, QuantityRate
from . import records
from .datasets import Arrays, Content, Variable, open_content, target_check
from .plausible import require_contraction

RECORD = "contraction"
SCALARS = (
    "initial",
    "quantity",
    "reason",
    "theory",
    "local_exponent",
    "local_exponent_error",
    "separatrix_exponent",
    "separatrix_exponent_error",
    "order",
    "limit_point",
    "limit_point_error",
    "separatrix",
    "separatrix_error",
    "log_amplitude",
)


check_contraction_target = target_check(RECORD)


@checked
def open_contraction(path: str | Path, *, check: bool = True) -> Contraction:
    """Read a contraction from netCDF or JSON, bit for bit.

    Parameters
    ----------
    check
        Whether to compare the content with its digest or, where there is none, with what is possible at all.

    Raises
    ------
    InvalidInput
        If the file is missing, damaged, changed or another record.
    """
    return open_content(path, RECORD, _contraction, require_contraction, check)


def _contraction(header: dict[str, Any], arrays: Arrays) -> Contraction:
    return Contraction(
        problem=equation_from(header["problem"]),
        **{name: header[name] for name in SCALARS},
        # Files written before there were lags have none.
        angular_velocity=header.get("angular_velocity", 0.0),
        rates=tuple(_rate(values) for values in header["rates"]),
        time=arrays["time"],
        remainder=arrays["remainder"],
        warnings=records.texts(header["warnings"], "warnings"),
        provenance=dict(header["provenance"]),
    )


def _rate(values: dict[str, Any]) -> QuantityRate:
    window = values["window"]
    return QuantityRate(**(values | {"window": None if window is None else tuple(window)}))


def contraction_content(contraction: Contraction) -> Content:
    """Return the content of a contraction: header, labelled arrays and the table of rates."""
    header = {
        "problem": records.problem_values(contraction.problem),
        **{name: getattr(contraction, name) for name in (*SCALARS, "angular_velocity")},
        "rates": [asdict(rate) for rate in contraction.rates],
        "warnings": list(contraction.warnings),
        "provenance": contraction.provenance,
    }
    variables = {
        "time": Variable(("time",), contraction.time, "time"),
        "remainder": Variable(("time",), contraction.remainder, "1 - r, r the order parameter"),
    }
    return Content(
        record=RECORD,
        title="contraction of a density to a point",
        header=header,
        variables=variables,
        tables={"": (RATE_COLUMNS, contraction.rows())},
    )
