"""The command that needs no solver: closed forms as tables."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..equations import Capability, Equation
from ..errors import InvalidInput
from ..potentials import MaierSaupe, Transformer
from ..theory import (
    GlobalCriterion,
    branch_shape,
    critical_coupling,
    critical_couplings,
    global_criterion,
    growth_rates,
    maier_saupe_fold,
    maier_saupe_transition,
    tricritical_beta,
)
from ..theory.forms import theory_of
from ..wording import describe
from .options import Parser, add_common, add_coupling
from .potential_options import add_problem, at_coupling, problem_from
from .progress import progress_bar
from .readers import whole
from .terminal import UNKNOWN, formatted, say, say_json, table

DEFAULT_MODES = 8
LARGEST_MODES = 4096


def theory(argv: Sequence[str]) -> int:
    """List the closed forms: critical couplings, shapes of branches, global criterion."""
    parser = Parser("theory", "List the closed-form theory of the uniform state and its branches.", argv)
    about = f"modes 1 to N, on the sphere degrees (default: {DEFAULT_MODES})"
    parser.add_argument("--modes", type=whole, default=DEFAULT_MODES, metavar="N", help=about)
    add_coupling(parser)
    add_common(parser)
    add_problem(parser)
    settings = parser.settings()
    if not 1 <= settings.modes <= LARGEST_MODES:
        raise InvalidInput(f"--modes must be from 1 to {LARGEST_MODES}, not {settings.modes}; try --modes 8")
    problem = at_coupling(problem_from(parser, settings), settings)
    rows = []
    with progress_bar(True, "modes") as advance:
        for mode in range(1, settings.modes + 1):
            rows.append(_mode_row(problem, mode))
            advance(mode, settings.modes, "")
    if settings.json:
        say_json(_theory_object(problem, rows))
    else:
        say(_theory_text(problem, rows))
    return 0


def _mode_row(problem: Equation, mode: int) -> dict[str, Any]:
    multiplier = problem.velocity.at_uniform(problem.domain).multipliers(problem.domain, mode)[mode]
    coupling = critical_couplings(problem, mode)[mode]
    critical = critical_coupling(problem)
    row: dict[str, Any] = {
        "mode": mode,
        "multiplier": multiplier,
        "coupling": None,
        "relative_coupling": None,
        "b1": None,
        "b2": None,
        "tricritical_beta": _tricritical(problem, mode),
        "type": None,
        "note": "",
    }
    more = {"multiplicity": problem.domain.multiplicity(mode), "slope": None}
    row |= {name: more[name] for name in theory_of(problem.domain).more}
    if problem.coupling is not None:
        row["growth_rate"] = float(growth_rates(problem, mode)[mode])
    if not np.isfinite(coupling):
        return row
    row["coupling"] = coupling
    if critical is not None:
        row["relative_coupling"] = float(np.longdouble(coupling) / np.longdouble(critical))
    try:
        shape = branch_shape(problem, mode)
    except InvalidInput as error:
        return row | {"note": str(error)}
    known = {
        "b1": _known(shape.curvature),
        "b2": _known(shape.quartic),
        "type": shape.type,
        "note": shape.note,
    }
    if "slope" in row:
        known["slope"] = shape.slope
    return row | known


def _tricritical(problem: Equation, mode: int) -> float | None:
    # For beta < 0 the even modes repel, so that the value belongs to beta > 0 only.
    potential = problem.law
    if not isinstance(potential, Transformer) or potential.beta < 0:
        return None
    if mode > theory_of(problem.domain).last_tricritical:
        return None
    return tricritical_beta(mode, problem.domain)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _theory_object(problem: Equation, rows: list[dict[str, Any]]) -> dict[str, Any]:
    criterion = global_criterion(problem)
    known: dict[str, Any] = {
        "problem": problem.to_dict() | {"coupling": problem.coupling},
        "critical_coupling": critical_coupling(problem),
        "global_criterion": dataclasses.asdict(criterion),
    }
    if _is_nematic(problem, criterion):
        known |= {"fold": _nematic_fold(problem), "transition": _nematic_transition(problem)}
    return known | {"modes": rows}


def _is_nematic(problem: Equation, criterion: GlobalCriterion) -> bool:
    """Return whether clustered states are born in the fold of the Maier-Saupe potential, before its transition."""
    return isinstance(problem.law, MaierSaupe) and criterion.continuous is False


def _nematic_fold(problem: Equation) -> float:
    return problem.noise * maier_saupe_fold(problem.domain.dimension).ratio


def _nematic_transition(problem: Equation) -> float:
    return problem.noise * maier_saupe_transition(problem.domain.dimension).ratio


def _theory_text(problem: Equation, rows: list[dict[str, Any]]) -> str:
    critical, criterion = critical_coupling(problem), global_criterion(problem)
    known = theory_of(problem.domain)
    modes, letter = f"{known.word.capitalize()}s", known.letter
    lines = [
        describe(problem),
        _formula(problem),
        f"transition: {_criterion(criterion)}",
        *_nematic_lines(problem, criterion),
        "",
        f"{modes} of the uniform state (kappa_c = {formatted(critical)}, the smallest positive kappa_{letter})"
        if critical is not None
        else f"{modes} of the uniform state (no kappa_{letter} is positive)",
        "",
        table(_mode_columns(rows, letter), "  "),
    ]
    shaped = [row for row in rows if row["type"] is not None]
    if shaped:
        lines += ["", known.expansion, "", table(_branch_columns(shaped, known.columns), "  ")]
    notes = [f"  {known.word} {modes}: {note}" for note, modes in _notes(rows).items()]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def _notes(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return the notes with the modes that have them, a list in words."""
    modes: dict[str, list[str]] = {}
    for row in rows:
        if row["note"]:
            modes.setdefault(row["note"], []).append(str(row["mode"]))
    return {note: ", ".join(having) for note, having in modes.items()}


def _nematic_lines(problem: Equation, criterion: GlobalCriterion) -> list[str]:
    if not _is_nematic(problem, criterion):
        return []
    fold, transition = formatted(_nematic_fold(problem)), formatted(_nematic_transition(problem))
    return [f"clustered states from kappa = {fold}, with the free energy of uniform at kappa = {transition}"]


def _formula(problem: Equation) -> str:
    series, formula = theory_of(problem.domain).series, problem.law.formula
    if problem.lacks(Capability.GRADIENT):
        return f"v = {formula}"
    return f"W(t) = {series}" if formula == series else f"W(t) = {formula} = {series}"


def _criterion(criterion: GlobalCriterion) -> str:
    return criterion.statement + ("" if criterion.certain else " (all modes up to 4096 checked)")


def _mode_columns(rows: list[dict[str, Any]], letter: str) -> dict[str, list[str]]:
    columns = {
        letter: [str(row["mode"]) for row in rows],
        f"kappa_{letter}": [formatted(row["coupling"]) for row in rows],
        f"kappa_{letter}/kappa_c": [formatted(row["relative_coupling"]) for row in rows],
        f"w_{letter}": [formatted(row["multiplier"]) for row in rows],
    }
    if "multiplicity" in rows[0]:
        columns[f"N_{letter}"] = [str(row["multiplicity"]) for row in rows]
    if "growth_rate" in rows[0]:
        columns["growth rate"] = [formatted(row["growth_rate"]) for row in rows]
    return columns


def _branch_columns(rows: list[dict[str, Any]], known: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the columns of a table of branches, without those in which no value is known."""
    columns = {name: [_shown(row[key]) for row in rows] for name, key in known.items()}
    return {name: texts for name, texts in columns.items() if any(text != UNKNOWN for text in texts)}


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, str | int) else formatted(value)
