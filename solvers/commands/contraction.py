"""The part of the command ``rate`` for equations without noise: the contraction of a density to a point."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from meanfield import Contraction, Equation, InvalidInput
from meanfield.command_line import (
    Parser,
    add_files,
    check_targets,
    draw_record,
    formatted,
    origin,
    say,
    say_json,
    table,
    word,
    write_all,
)
from meanfield.export import RECORD_KINDS, check_contraction_target

from .initial_option import HELP, PREFIX, add_initial_parameters, initial_of

OPTIONS = {"initial": "--initial", "quantity": "--quantity"}


def add_contraction(parser: Parser) -> None:
    """Add the options that belong to equations without noise: the initial density, the quantity and files."""
    generic = "(1 + 0.6 cos t + 0.3 sin 2t) / 2 pi, on spheres 1 + 0.6 cos t over the uniform density"
    group = parser.add_argument_group("without noise (--noise 0)")
    group.add_argument("--initial", type=word, metavar="DENSITY", help=f"{HELP} (default: {generic})")
    group.add_argument(
        "--quantity",
        type=word,
        metavar="NAME",
        help="what contracts: 1-r (default), W1, W2, energy-gap or support-diameter",
    )
    add_initial_parameters(parser)
    add_files(parser, f"the contraction ({', '.join(RECORD_KINDS)})")


def require_noise(settings: argparse.Namespace) -> None:
    """Refuse options of equations without noise beside noise.

    Raises
    ------
    InvalidInput
        If there is one.
    """
    given = [option for name, option in OPTIONS.items() if getattr(settings, name) is not None]
    given += [f"--{name.removeprefix(PREFIX)}" for name, value in vars(settings).items() if _is_given(name, value)]
    given += ["--to"] if settings.to else []
    if given:
        raise InvalidInput(
            f"{given[0]} belongs to contraction without noise; leave it out, or give --noise 0 instead of "
            f"{settings.noise:g}"
        )


def _is_given(name: str, value: object) -> bool:
    return name.startswith(PREFIX) and value is not None


def contract(parser: Parser, problem: Equation, settings: argparse.Namespace) -> int:
    """Compute how fast a density contracts to a point without noise, and return the exit code."""
    from ..relaxation import contraction_rate

    _require_alone(settings)
    check_targets(
        settings.to, [settings.plot] if settings.plot else [], settings.force, check=check_contraction_target
    )
    found = contraction_rate(problem, initial=_initial(settings), quantity=settings.quantity)
    assert isinstance(found, Contraction)
    where = origin(parser, settings)
    writers = [_saver(found, name, settings.force) for name in settings.to]
    if settings.plot:
        writers.append(lambda: [draw_record(found, settings.plot, force=settings.force)])
    try:
        write_all(writers, settings.quiet)
    finally:
        if settings.json:
            say_json({"problem": problem.to_dict(), **found.to_dict(), "provenance": where})
        elif not settings.quiet:
            say(_text(found))
    return 0


def _require_alone(settings: argparse.Namespace) -> None:
    for option, given in (("--no-fit", settings.no_fit), ("--on-failure", settings.on_failure != "raise")):
        if given:
            raise InvalidInput(f"{option} belongs to rates with noise; leave it out, or give --noise 1")


def _initial(settings: argparse.Namespace) -> object:
    if settings.initial is None:
        given = [name.removeprefix(PREFIX) for name, value in vars(settings).items() if _is_given(name, value)]
        if given:
            raise InvalidInput(f"--{given[0]} belongs to a named density; say which, as in --initial von-mises")
        return None
    return initial_of(settings)


def _saver(found: Contraction, name: str, force: bool) -> Callable[[], Sequence[Path]]:
    return lambda: found.save(Path(name), force=force)


def _text(found: Contraction) -> str:
    columns = {
        "quantity": [rate.quantity for rate in found.rates],
        "rate": [formatted(rate.rate, 15) for rate in found.rates],
        "error": [formatted(rate.error, 2) for rate in found.rates],
        "governed by": [rate.governed_by for rate in found.rates],
        "cluster alone": [formatted(rate.local_rate) for rate in found.rates],
        "mass in flight": [formatted(rate.separatrix_rate) for rate in found.rates],
    }
    return "\n".join([found.summary().partition("\n  ")[0], "", table(columns, "  "), *_further(found)])


def _further(found: Contraction) -> list[str]:
    lines = [
        "",
        f"limit point {formatted(found.limit_point, 12)}, separatrix label {formatted(found.separatrix, 12)}",
    ]
    if found.angular_velocity:
        lines[-1] += f", in the frame that turns at {formatted(found.angular_velocity, 12)} with the cluster"
    times = [found.crossover(particles) for particles in (100, 10000)]
    if times[0] is not None:
        shown = " and ".join(formatted(time, 4) for time in times)
        lines.append(f"100 and 10000 particles follow the local rate from the times {shown} on")
    return [*lines, *(f"  - {warning}" for warning in found.warnings)]
