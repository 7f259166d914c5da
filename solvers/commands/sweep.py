"""The command ``sweep``."""

import argparse
import contextlib
import csv
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from meanfield import ComputationFailed, Equation, InvalidInput, Outcome, Sweep
from meanfield.command_line import (
    Parser,
    add_common,
    add_figure,
    add_files,
    add_problem,
    add_workers,
    check_targets,
    draw_sweep,
    entry,
    exit_code,
    note,
    number,
    problem_from,
    progress_bar,
    publish,
    require_potential,
    require_workers,
    set_verbosity,
    varied,
    whole,
    word,
)
from meanfield.export import RECORD_KINDS, check_sweep_target, to_json_object

from ..execution.defaults import DEGREES
from .bifurcation import require_step
from .initial_option import HELP, initial_of

COMPUTED = ("diagram", "states", "rate", "ensemble")
EXECUTORS = ("here", "processes", "dask")
# The options of each computation, beside the coupling.
OPTIONS = {
    "diagram": ("depth", "search", "no_rates", "max_step"),
    "states": ("depth", "no_rates", "on_failure"),
    "rate": ("no_fit",),
    "ensemble": ("particles", "until", "step", "replicas", "scheme", "initial", "times", "degrees", "seed"),
}
COUPLINGS = frozenset({"coupling", "relative_coupling"})
# Values that are tried for a parameter that is not given; the others may be refused, each by itself.
MOST_TRIED = 1000
EXAMPLE = "--over beta 0.5 10 20"


def sweep(argv: Sequence[str]) -> int:
    """Compute diagrams, states, rates or ensembles at many values of parameters, on one machine or many."""
    parser = _parser(argv)
    settings = parser.settings()
    require_potential(parser, settings, f"{EXAMPLE} --store runs")
    _require_given(parser, settings)
    values = _values(settings)
    problem = _family(parser, settings, values)
    options = _options(problem, settings, values)
    check = partial(check_sweep_target, computed=settings.compute)
    check_targets(settings.to, [settings.plot] if settings.plot else [], settings.force, lambda *each: check(*each))
    set_verbosity(False)
    found = _swept(problem, values, options, settings)
    _require_ended(found, settings)
    writers: list[Callable[[], Sequence[Path]]]
    writers = [partial(found.save, target, force=settings.force) for target in settings.to]
    if settings.plot is not None:
        writers.append(lambda: [draw_sweep(found, settings.plot, settings.y, settings.force)])
    warnings = (*found.failures, *found.warnings)
    publish(writers, warnings, partial(to_json_object, found), found.summary, settings)
    return exit_code(found.outcome, found.partial)


def _require_ended(found: Sweep, settings: argparse.Namespace) -> None:
    """Refuse to write files of a sweep that was ended by the disk, by its executor or by the user.

    Raises
    ------
    ComputationFailed, KeyboardInterrupt
        If it was.
    """
    complete = int(np.count_nonzero(found.status == "complete"))
    kept = (
        f"{complete} of {len(found)} values are complete in {settings.store}; the same command goes on from there"
    )
    if found.outcome is Outcome.INTERRUPTED:
        note(f"meanfield: {kept}")
        raise KeyboardInterrupt
    if found.warnings:
        raise ComputationFailed(f"{found.warnings[0]}; {kept}")


def _parser(argv: Sequence[str]) -> Parser:
    parser = Parser("sweep", "Compute at many values of parameters, into a store from which it can go on.", argv)
    parser.add_argument(
        "--over",
        nargs=4,
        type=entry,
        action="append",
        default=[],
        metavar=("NAME", "LOW", "HIGH", "COUNT"),
        help="a parameter and COUNT values of it, equally spaced; repeat it for a grid of several",
    )
    parser.add_argument("--values", type=word, metavar="FILE", help="values from a CSV table headed by parameters")
    parser.add_argument(
        "--compute", type=word, default="diagram", metavar="WHAT", help=f"{', '.join(COMPUTED)} (default: diagram)"
    )
    parser.add_argument(
        "--store", type=word, metavar="DIRECTORY", help="keep every result there, and go on from there"
    )
    parser.add_argument("--retry", action="store_true", help="compute again what failed before")
    _add_places(parser)
    _add_options(parser)
    add_files(parser, f"the numbers ({', '.join(RECORD_KINDS)})")
    add_figure(parser, "--plot", "what is critical against the parameter, or a map over two")
    parser.add_argument("--y", type=word, metavar="QUANTITY", help="draw this quantity instead, such as gap")
    add_common(parser, quiet="the summary, progress and the names of the files written")
    add_problem(parser)
    return parser


def _add_places(parser: Parser) -> None:
    group = parser.add_argument_group("where it runs")
    group.add_argument(
        "--executor", type=word, metavar="WHERE", help="here (default), processes (with --workers) or dask"
    )
    group.add_argument("--scheduler", type=word, metavar="ADDRESS", help="of Dask, such as tcp://10.0.0.1:8786")
    add_workers(parser)


def _add_options(parser: Parser) -> None:
    couplings = parser.add_mutually_exclusive_group()
    for name, unit in (("coupling", "kappa"), ("relative", "in units of the smallest positive critical one")):
        couplings.add_argument(
            f"--{name}", nargs="+", type=number, metavar="K", help=f"coupling {unit}; of diagrams LOW HIGH"
        )
    group = parser.add_argument_group("options of what is computed")
    group.add_argument("--depth", type=whole, metavar="N", help="generations of branches (diagram, states)")
    group.add_argument("--search", action="store_true", help="look for other branches as well (diagram)")
    group.add_argument("--max-step", type=number, metavar="S", help="longest step (diagram)")
    group.add_argument("--no-rates", action="store_true", help="leave decay rates out (diagram, states)")
    group.add_argument("--no-fit", action="store_true", help="the spectral gap alone (rate)")
    group.add_argument(
        "--on-failure",
        choices=("raise", "return"),
        help="if a branch cannot be followed to the coupling: let the value fail (default), or return the states "
        "that can be had (states)",
    )
    group.add_argument("--particles", type=whole, metavar="N", help="particles (ensemble; default: 10000)")
    group.add_argument("--until", type=number, metavar="T", help="final time (ensemble)")
    group.add_argument("--step", type=number, metavar="H", help="longest time step (ensemble)")
    group.add_argument("--replicas", type=whole, metavar="R", help="independent systems (ensemble)")
    group.add_argument("--scheme", type=word, metavar="NAME", help="time-stepping scheme (ensemble)")
    group.add_argument("--times", type=whole, metavar="N", help="record after each of N intervals (ensemble)")
    group.add_argument("--degrees", type=whole, metavar="K", help=f"moments (ensemble; default: {DEGREES})")
    group.add_argument("--seed", type=whole, metavar="S", help="seed of all randomness (ensemble; default: 1)")
    group.add_argument("--initial", type=word, metavar="DENSITY", help=f"{HELP} (ensemble; default: uniform)")


def _require_given(parser: Parser, settings: argparse.Namespace) -> None:
    if settings.compute not in COMPUTED:
        raise InvalidInput(f"--compute must be one of {', '.join(COMPUTED)}, not {settings.compute!r}")
    if bool(settings.over) == bool(settings.values):
        raise InvalidInput(f"{parser.prog} needs either --over or --values FILE; try {EXAMPLE}")
    if settings.store is None:
        raise InvalidInput(f"{parser.prog} needs a directory for its results; add --store runs")
    if settings.y is not None and settings.plot is None:
        raise InvalidInput("--y belongs to --plot FIGURE, which is not given")
    require_workers(settings)
    _require_own(settings)
    _require_place(settings)


def _require_own(settings: argparse.Namespace) -> None:
    """Refuse the options of other computations."""
    own = OPTIONS[settings.compute]
    for name in dict.fromkeys(name for names in OPTIONS.values() for name in names):
        if name not in own and getattr(settings, name) not in (None, False):
            others = " and ".join(what for what, names in OPTIONS.items() if name in names)
            raise InvalidInput(f"--{name.replace('_', '-')} belongs to --compute {others}, not {settings.compute}")
    if settings.compute == "ensemble" and settings.until is None:
        raise InvalidInput("--compute ensemble needs a final time; add --until 3")


def _require_place(settings: argparse.Namespace) -> None:
    if settings.executor not in (None, *EXECUTORS):
        raise InvalidInput(f"--executor must be one of {', '.join(EXECUTORS)}, not {settings.executor!r}")
    if settings.scheduler is not None and settings.executor not in (None, "dask"):
        raise InvalidInput(f"--scheduler belongs to --executor dask, not {settings.executor}")
    if settings.executor == "here" and settings.workers > 1:
        raise InvalidInput("--workers belongs to --executor processes or dask; leave one of them out")


def _values(settings: argparse.Namespace) -> Any:
    """Return the values as :func:`~solvers.sweep` takes them."""
    if settings.values is not None:
        return _points(settings.values)
    axes: dict[str, Any] = {}
    for name, low, high, count in settings.over:
        try:
            ends, size = (float(low), float(high)), int(count)
        except ValueError:
            raise InvalidInput(
                f"--over takes a name, two numbers and a whole number, not {name} {low} {high} {count}; try "
                f"{EXAMPLE}"
            ) from None
        if not (np.isfinite(ends).all() and 1 <= size <= 10**6):
            raise InvalidInput(
                f"--over {name} takes finite ends and from 1 to a million values, not {low} {high} {count}"
            )
        if name in axes:
            raise InvalidInput(f"--over {name} is given twice; give its values in a table, --values FILE")
        axes[name] = np.linspace(*ends, size)
    return axes


def _points(name: str) -> list[dict[str, float]]:
    """Return the rows of a CSV table headed by the names of parameters."""
    try:
        with Path(name).open(newline="", encoding="utf-8") as stream:
            header, first, *rows = [row for row in csv.reader(stream) if row]
        names = [key.strip() for key in header]
        points = [{key: float(entry) for key, entry in zip(names, row, strict=True)} for row in (first, *rows)]
    except OSError as error:
        raise InvalidInput(f"the values {name} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InvalidInput(
            f"{name} is no table of values: its first line names the parameters, as in beta,noise, and each "
            "further line has a number for each"
        ) from error
    if len(points[0]) < len(names):
        twice = next(key for key in names if names.count(key) > 1)
        raise InvalidInput(f"{name} has two columns {twice}; leave one of them")
    return points


def _family(parser: Parser, settings: argparse.Namespace, values: Any) -> Equation:
    """Return the problem; a swept parameter that is not given has the first value at which it is one of it."""
    axes = values if isinstance(values, dict) else {name: [point[name] for point in values] for name in values[0]}
    problem = _first_admissible(parser, settings, axes)
    if settings.coupling is not None and len(settings.coupling) == 1:
        return problem.at(coupling=settings.coupling[0])
    return problem


def _first_admissible(parser: Parser, settings: argparse.Namespace, axes: dict[str, Any]) -> Equation:
    """Return the problem of the settings, each parameter that they leave out at a value of its axis.

    At the first value that is admissible a term may vanish and its parameter with it.
    """
    first, refused = None, None
    for tried in range(min(MOST_TRIED, max((len(axis) for axis in axes.values()), default=1))):
        for name, axis in axes.items():
            setattr(settings, varied(name), float(axis[min(tried, len(axis) - 1)]))
        try:
            problem = problem_from(parser, settings)
        except InvalidInput as error:
            refused = refused or error
            continue
        if {*axes} <= {*problem.parameters, *COUPLINGS}:
            return problem
        first = first or problem
    if first is None:
        assert refused is not None
        raise refused
    return first


def _options(problem: Equation, settings: argparse.Namespace, values: Any) -> dict[str, Any]:
    """Return the options of the computation."""
    diagram = settings.compute == "diagram"
    given = settings.coupling or settings.relative
    names = set(values) if isinstance(values, dict) else set(*values[:1])
    swept = bool(COUPLINGS & names)
    wanted = "two couplings, LOW HIGH" if diagram else "one coupling"
    if given is not None and len(given) != 1 + diagram:
        raise InvalidInput(f"--compute {settings.compute} takes {wanted}, not {len(given)}")
    if not diagram and (given is None) != swept:
        raise InvalidInput(
            f"--compute {settings.compute} needs a coupling; add --coupling K, --relative K, or --over "
            "coupling 1 3 20"
            if given is None
            else "the coupling is given and swept; leave one of them out"
        )
    options: dict[str, Any] = {}
    if diagram and settings.coupling is not None:
        options["interval"] = tuple(settings.coupling)
    if settings.relative is not None:
        if len(settings.relative) == 1 and not math.isfinite(settings.relative[0]):
            raise InvalidInput(f"--relative takes a finite number, not {settings.relative[0]}")
        options["relative"] = tuple(settings.relative) if diagram else settings.relative[0]
    own = {name: getattr(settings, name) for name in OPTIONS[settings.compute]}
    alike = ("depth", "replicas", "times", "degrees", "on_failure")
    options |= {name: own[name] for name in alike if own.get(name) is not None}
    options |= {name.removeprefix("no_"): False for name in ("no_rates", "no_fit") if own.get(name)}
    if own.get("search"):
        options["search"] = True
    if own.get("max_step") is not None:
        from ..branches.arclength import Arclength

        require_step("max-step", own["max_step"])
        options["method"] = Arclength(max_step=float(own["max_step"]))
    return options | (_of_particles(problem, settings) if settings.compute == "ensemble" else {})


def _of_particles(problem: Equation, settings: argparse.Namespace) -> dict[str, Any]:
    from ..particles.schemes import scheme_named

    options: dict[str, Any] = {"until": float(settings.until)}
    options["particles"] = 10_000 if settings.particles is None else settings.particles
    if settings.step is not None:
        options["step"] = float(settings.step)
    if settings.scheme is not None:
        options["scheme"] = scheme_named(settings.scheme)
    if settings.initial is not None:
        options["initial"] = initial_of(settings)
    return options


def _swept(problem: Equation, values: Any, options: dict[str, Any], settings: argparse.Namespace) -> Sweep:
    from ..sweeping import sweep as compute

    with _place(settings) as place, progress_bar(not settings.quiet, "values", "values") as advance:
        return compute(
            problem,
            values,
            settings.compute,
            options,
            store=settings.store,
            seed=1 if settings.seed is None else settings.seed,
            retry=settings.retry,
            on_failure="return",
            watch=advance,
            **place,
        )


@contextlib.contextmanager
def _place(settings: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the arguments that say where to compute."""
    if settings.executor == "dask" or settings.scheduler is not None:
        from ..sweeps.clusters import dask_executor

        with dask_executor(settings.scheduler, settings.workers) as (executor, ahead):
            yield {"executor": executor, "ahead": ahead}
    else:
        yield {"workers": settings.workers}
