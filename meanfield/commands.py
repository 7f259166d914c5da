"""The commands that solve nothing: closed forms, and diagrams that are in a file already."""

import argparse
import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .diagrams import Diagram
from .errors import InvalidInput
from .export import diagram_to_json_object, open_diagram, save
from .options import Parser, add_common, add_coupling, add_force, check_targets, whole, word
from .potential_options import add_problem, at_coupling, problem_from
from .potentials import Transformer
from .problem import McKeanVlasov
from .summary import describe
from .terminal import UNKNOWN, note, number, say, say_json, table
from .theory import (
    GlobalCriterion,
    branch_shape,
    critical_coupling,
    critical_couplings,
    global_criterion,
    growth_rates,
    tricritical_beta,
)

DEFAULT_MODES = 8
LARGEST_MODES = 4096


def theory(argv: Sequence[str]) -> int:
    """List the closed forms: critical couplings, shapes of branches, global criterion."""
    parser = Parser("theory", "List the closed-form theory of the uniform state and its branches.", argv)
    parser.add_argument("--modes", type=whole, metavar="N", help=f"modes 1 to N (default: {DEFAULT_MODES})")
    add_coupling(parser)
    add_common(parser)
    add_problem(parser)
    settings = parser.settings(modes=DEFAULT_MODES, json=False)
    if not 1 <= settings.modes <= LARGEST_MODES:
        raise InvalidInput(f"--modes must be from 1 to {LARGEST_MODES}, not {settings.modes}; try --modes 8")
    problem = at_coupling(problem_from(parser, settings), settings)
    rows = [_mode_row(problem, mode) for mode in range(1, settings.modes + 1)]
    if settings.json:
        say_json(_theory_object(problem, rows))
    else:
        say(_theory_text(problem, rows))
    return 0


def show(argv: Sequence[str]) -> int:
    """Summarise a diagram in a file."""
    parser = Parser("show", "Summarise a diagram written by meanfield bifurcation.", argv)
    _add_file(parser)
    add_common(parser, config=False)
    settings = parser.settings(file=None, json=False)
    diagram = _open(parser, settings)
    if settings.json:
        say_json(diagram_to_json_object(diagram))
    else:
        say(diagram.summary())
    return 0


def plot(argv: Sequence[str]) -> int:
    """Draw a diagram in a file."""
    parser = Parser("plot", "Draw a diagram written by meanfield bifurcation.", argv)
    _add_file(parser)
    parser.add_argument("--to", action="append", type=word, metavar="FIGURE", help=".png, .pdf or .svg; repeatable")
    drawing = parser.add_mutually_exclusive_group()
    drawing.add_argument(
        "--y",
        type=word,
        metavar="QUANTITY",
        help="amplitude (largest |m_k|, default), m1, m2, ..., norm, free_energy_gap or slowest_rate",
    )
    drawing.add_argument("--panels", action="store_true", help="four panels instead of one quantity")
    add_force(parser)
    add_common(parser, config=False)
    settings = parser.settings(file=None, to=[], y="amplitude", panels=False, force=False, json=False, quiet=False)
    diagram = _open(parser, settings)
    _require_target(parser, settings.to, settings.file, "diagram.pdf")
    check_targets([], settings.to, settings.force)
    for target in settings.to:
        draw(diagram, target, settings.y, settings.panels, settings.force)
    _report_written(settings, settings.to)
    return 0


def export(argv: Sequence[str]) -> int:
    """Convert a diagram in a file to other formats."""
    parser = Parser("export", "Convert a diagram to the formats chosen by the suffixes.", argv)
    _add_file(parser)
    parser.add_argument(
        "--to",
        action="append",
        type=word,
        metavar="FILE",
        help=".nc, .csv, .json, .npz, .mat or .auto; repeatable",
    )
    add_force(parser)
    add_common(parser, config=False)
    settings = parser.settings(file=None, to=[], force=False, json=False, quiet=False)
    diagram = _open(parser, settings)
    _require_target(parser, settings.to, settings.file, "diagram.csv")
    check_targets(settings.to, [], settings.force)
    written = [path for target in settings.to for path in save(diagram, target, force=settings.force)]
    _report_written(settings, written)
    return 0


def draw(diagram: Diagram, target: str, y: str = "amplitude", panels: bool = False, force: bool = False) -> Path:
    """Draw a diagram into a file, one quantity or the four panels."""
    from matplotlib.figure import Figure

    from .plotting import save_figure

    if panels:
        figure = diagram.plot_panels()
    else:
        figure = Figure(figsize=(6.0, 4.0), layout="constrained")
        diagram.plot(y, figure.subplots())
    return save_figure(figure, target, force, diagram.provenance)


def _add_file(parser: Parser) -> None:
    parser.add_argument("file", nargs="?", type=word, metavar="FILE", help="a .nc, .json, .npz or .auto file")


def _open(parser: Parser, settings: argparse.Namespace) -> Diagram:
    if settings.file is None:
        raise InvalidInput(f"no file is given; try {parser.prog} diagram.nc")
    return open_diagram(settings.file)


def _require_target(parser: Parser, targets: list[str], file: str, example: str) -> None:
    if not targets:
        raise InvalidInput(f"no file to write is given; try {parser.prog} {file} --to {example}")


def _report_written(settings: argparse.Namespace, written: Sequence[str | Path]) -> None:
    if settings.json:
        say_json({"written": [str(path) for path in written]})
    elif not settings.quiet:
        note(f"wrote {', '.join(str(path) for path in written)}")


def _mode_row(problem: McKeanVlasov, mode: int) -> dict[str, Any]:
    multiplier = problem.potential.multipliers(problem.domain, mode)[mode]
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
    if problem.coupling is not None:
        row["growth_rate"] = float(growth_rates(problem, mode)[mode])
    if not np.isfinite(coupling):
        return row
    shape = branch_shape(problem, mode)
    if critical is not None:
        row["relative_coupling"] = float(np.longdouble(coupling) / np.longdouble(critical))
    known = {
        "b1": _known(shape.curvature),
        "b2": _known(shape.quartic),
        "type": shape.type,
        "note": shape.note,
    }
    return row | {"coupling": coupling} | known


def _tricritical(problem: McKeanVlasov, mode: int) -> float | None:
    # For beta < 0 the even modes repel, so that the value belongs to beta > 0 only.
    potential = problem.potential
    if not isinstance(potential, Transformer) or potential.beta < 0 or mode > 300:
        return None
    return tricritical_beta(mode)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _theory_object(problem: McKeanVlasov, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "problem": problem.to_dict() | {"coupling": problem.coupling},
        "critical_coupling": critical_coupling(problem),
        "global_criterion": dataclasses.asdict(global_criterion(problem)),
        "modes": rows,
    }


def _theory_text(problem: McKeanVlasov, rows: list[dict[str, Any]]) -> str:
    critical = critical_coupling(problem)
    lines = [
        describe(problem),
        _formula(problem),
        f"transition: {_criterion(global_criterion(problem))}",
        "",
        f"Modes of the uniform state (kappa_c = {number(critical)}, the smallest positive kappa_k)"
        if critical is not None
        else "Modes of the uniform state (no kappa_k is positive)",
        "",
        table(_mode_columns(rows), "  "),
    ]
    shaped = [row for row in rows if row["type"] is not None]
    if shaped:
        lines += ["", "Branches leaving it, kappa/kappa_n = 1 + b1 m_n^2 + b2 m_n^4 + ...", ""]
        lines.append(table(_branch_columns(shaped), "  "))
    notes = [f"  mode {row['mode']}: {row['note']}" for row in shaped if row["note"]]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def _formula(problem: McKeanVlasov) -> str:
    series = "sum_k w_k cos kt"
    formula = problem.potential.formula
    return f"W(t) = {series}" if formula == series else f"W(t) = {formula} = {series}"


def _criterion(criterion: GlobalCriterion) -> str:
    return criterion.statement + ("" if criterion.certain else " (all modes up to 4096 checked)")


def _mode_columns(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    columns = {
        "k": [str(row["mode"]) for row in rows],
        "kappa_k": [number(row["coupling"]) for row in rows],
        "kappa_k/kappa_c": [number(row["relative_coupling"]) for row in rows],
        "w_k": [number(row["multiplier"]) for row in rows],
    }
    if "growth_rate" in rows[0]:
        columns["growth rate"] = [number(row["growth_rate"]) for row in rows]
    return columns


def _branch_columns(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    columns = {
        "n": [str(row["mode"]) for row in rows],
        "b1": [number(row["b1"]) for row in rows],
        "b2": [number(row["b2"]) for row in rows],
        "beta*_n": [number(row["tricritical_beta"]) for row in rows],
        "type": [row["type"] for row in rows],
    }
    if all(text == UNKNOWN for text in columns["beta*_n"]):
        del columns["beta*_n"]
    return columns
