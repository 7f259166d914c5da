"""The numbers that a sweep keeps of a record: a few by name, and tables where their number differs.

Numbers beyond the range of doubles are not among them; the record has them.
"""

from collections.abc import Mapping
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from meanfield import Contraction, Diagram, Ensemble, InvalidInput, Relaxation, State
from meanfield.arguments import is_number, shown
from meanfield.base import SavedRecord
from meanfield.equations import Capability
from meanfield.records import COUPLING, Outcome, StationaryStates, parameter_column

Rows = list[dict[str, Any]]
# Columns of the rows of special points and states.
SPECIAL = ("type", "branch_label", "coupling", "relative_coupling", "lower", "upper", "m1", "m2", "status")
# What else a variable of a sweep is called.
TAKEN = ("value", "status", "failure", "file")


class Numbers(NamedTuple):
    """Numbers and texts by name, and tables: rows by name, each row by column."""

    numbers: dict[str, Any]
    tables: dict[str, Rows]


@singledispatch
def numbers_of(result: Any) -> Numbers:
    """Return the numbers of what was computed.

    Raises
    ------
    InvalidInput
        If it is neither a record nor numbers by name.
    """
    raise InvalidInput(
        "the function of a sweep must return a record, a number or a mapping of names to numbers, not "
        f"{shown(result)}"
    )


@numbers_of.register
def _of_number(result: float | int | np.number) -> Numbers:
    return _of_mapping({"result": result})


@numbers_of.register
def _of_mapping(result: Mapping) -> Numbers:  # type: ignore[type-arg]
    for name, value in result.items():
        if not isinstance(name, str) or not name.isidentifier() or name in TAKEN:
            raise InvalidInput(f"{shown(name)} cannot be the name of a number of a sweep; call it otherwise")
        if not (value is None or isinstance(value, str | bool | np.bool_) or is_number(value)):
            raise InvalidInput(f"{name} must be a number or a text, not {shown(value)}")
    return Numbers({name: _double(value) for name, value in result.items()}, {})


@numbers_of.register
def _of_diagram(diagram: Diagram) -> Numbers:
    place = COUPLING if diagram.parameter == COUPLING else parameter_column(diagram.parameter)
    columns = tuple(dict.fromkeys((*SPECIAL[:2], place, *SPECIAL[2:])))
    rows = [{name: _double(row[name]) for name in columns} for row in diagram.special_rows()]
    # Under a free energy growth rates are real.
    complex_rates = diagram.problem.lacks(Capability.FREE_ENERGY)
    kinds = {"fold": "fold", "transition": "transition", **({"hopf": "Hopf"} if complex_rates else {})}
    numbers = {
        "critical_coupling": _double(diagram.critical_coupling),
        "branch_count": len(diagram.branches),
        **{f"{name}_count": sum(row["type"] == kind for row in rows) for name, kind in kinds.items()},
        **{f"lowest_{name}": _lowest(rows, kind, place) for name, kind in kinds.items()},
        **{f"relative_{name}": _lowest(rows, kind, "relative_coupling") for name, kind in kinds.items()},
        "warning_count": len(diagram.warnings),
    }
    return Numbers(numbers, {"special_point": rows})


@numbers_of.register
def _of_states(states: StationaryStates) -> Numbers:
    minimiser = next((state for state in states if state.minimiser), None)
    numbers = {
        "coupling": _double(states[0].coupling) if states else None,
        "stable_count": sum(state.unstable == 0 for state in states),
        "minimiser": "" if minimiser is None else minimiser.label,
        "minimiser_m1": None if minimiser is None else _double(minimiser.moments.named("m1")),
        "minimiser_rate": None if minimiser is None else minimiser.slowest_rate,
        "complete": states.complete,
    }
    return Numbers({name: _double(value) for name, value in numbers.items()}, {"state": [*map(_row, states)]})


@numbers_of.register
def _of_state(state: State) -> Numbers:
    return Numbers(_row(state), {})


@numbers_of.register
def _of_relaxation(found: Relaxation) -> Numbers:
    numbers = {
        "coupling": found.problem.coupling,
        "gap": found.gap,
        "gap_error": found.gap_error,
        "theory": found.theory,
        "m1": found.state.moments.named("m1"),
    }
    rows = [
        {"norm": fit.norm, "rate": fit.rate, "error": fit.error, "expected": found.expected(fit)}
        for fit in found.fits
    ]
    return Numbers({name: _double(value) for name, value in numbers.items()}, {"fit": rows} if rows else {})


@numbers_of.register
def _of_contraction(found: Contraction) -> Numbers:
    rate = found.rate_of(found.quantity)
    numbers = {
        "coupling": found.problem.coupling,
        "rate": rate.rate,
        "rate_error": rate.error,
        "governed_by": rate.governed_by,
        "theory": found.theory,
        "local_exponent": found.local_exponent,
        "separatrix_exponent": found.separatrix_exponent,
    }
    columns = ("quantity", "rate", "error", "governed_by")
    rows = [{name: _double(getattr(each, name)) for name in columns} for each in found.rates]
    return Numbers({name: _double(value) for name, value in numbers.items()}, {"quantity": rows})


@numbers_of.register
def _of_ensemble(ensemble: Ensemble) -> Numbers:
    *_, last = ensemble.rows()
    numbers = {"coupling": ensemble.problem.coupling, **last, "completed": ensemble.outcome is Outcome.COMPLETED}
    return Numbers({name: _double(value) for name, value in numbers.items()}, {})


@numbers_of.register
def _of_record(record: SavedRecord) -> Numbers:
    return Numbers({}, {})


def _row(state: State) -> dict[str, Any]:
    values = {
        "label": state.label,
        "m1": state.moments.named("m1"),
        "m2": state.moments.named("m2"),
        "unstable": state.unstable,
        "slowest_rate": state.slowest_rate,
        **state.observables,
        "minimiser": state.minimiser,
    }
    return {name: _double(value) for name, value in values.items()}


def _lowest(rows: Rows, kind: str, name: str) -> float | None:
    return min((row[name] for row in rows if row["type"] == kind and row[name] is not None), default=None)


def _double(value: Any) -> Any:
    """Return texts as they are, and numbers and truth values as doubles; None for what no double holds."""
    if value is None or isinstance(value, str):
        return value
    with np.errstate(over="ignore", under="ignore"):
        number = float(value)
    lost = (number == 0.0 and value != 0) or (np.isinf(number) and not np.isinf(value))
    return None if lost or np.isnan(number) else number
