"""The range of a command: of couplings, or of another parameter at one coupling."""

import argparse
from typing import Any, NamedTuple

from ..equations import Equation
from ..errors import InvalidInput
from ..records import COUPLING
from .options import Parser, add_coupling
from .potential_options import at_coupling, problem_from, range_example, varied
from .readers import number, word


class Range(NamedTuple):
    """A parameter with its lowest and highest value, None where it is left to its default."""

    parameter: str
    interval: tuple[Any, Any] | None


def add_range(parser: Parser) -> None:
    """Add ``--over NAME LOW HIGH``, and ``--coupling`` and ``--relative`` with a range or, beside it, one value."""
    if _named(parser) in (None, COUPLING):
        _add_coupling_ranges(parser, "; with --over NAME one coupling K", "0.5 3")
    else:
        add_coupling(parser)
        for option in ("--coupling", "--relative"):
            parser.surplus[option] = (
                f"beside --over, {option} takes one value; for ranges of both ask for meanfield phase POTENTIAL "
                f"--over NAME LOW HIGH {option} LOW HIGH"
            )
    _add_over(
        parser,
        "range of another continuous parameter, such as beta, noise, radius, w2, confinement_weights1 or "
        "confinement_external_factor",
    )


def _add_coupling_ranges(parser: Parser, beside: str, default: str) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--coupling",
        nargs=2,
        type=number,
        metavar=("LOW", "HIGH"),
        help=f"range of couplings kappa{beside}",
    )
    group.add_argument(
        "--relative",
        nargs=2,
        type=number,
        metavar=("LOW", "HIGH"),
        help=f"the same in units of the smallest positive critical coupling (default: {default})",
    )


def _add_over(parser: Parser, words: str) -> None:
    parser.add_argument("--over", nargs=3, type=entry, metavar=("NAME", "LOW", "HIGH"), help=words)


def add_plane(parser: Parser) -> None:
    """Add ``--over NAME LOW HIGH``, and ``--coupling LOW HIGH`` or ``--relative LOW HIGH`` beside it."""
    _add_over(parser, "the parameter to the right and its range, such as beta, noise, radius or w2")
    _add_coupling_ranges(parser, "", "0.4 1.6")


def entry(text: str) -> str:
    """Read a name or a number as it was typed."""
    return word(text)


def range_from(settings: argparse.Namespace) -> Range:
    """Return the range of ``--over``, or of the coupling.

    A parameter that has a range need not be given: it is set to the lowest value.

    Raises
    ------
    InvalidInput
        If its ends are no numbers, or the coupling has a range twice.
    """
    if settings.over is None:
        return Range(COUPLING, _pair(settings.coupling))
    name, *ends = settings.over
    try:
        low, high = map(number, ends)
    except argparse.ArgumentTypeError as error:
        raise InvalidInput(
            f"--over {name} LOW HIGH takes two numbers: {error}; try --over {range_example(settings)}"
        ) from None
    if name == COUPLING and (settings.coupling is not None or settings.relative is not None):
        raise InvalidInput("the coupling has two ranges; give one of --over coupling, --coupling and --relative")
    setattr(settings, varied(name), low)
    return Range(name, (low, high))


def plane_from(settings: argparse.Namespace) -> tuple[Range, tuple[Any, Any] | None, tuple[Any, Any] | None]:
    """Return the range of ``--over``, and those of the coupling and of the relative coupling.

    Raises
    ------
    InvalidInput
        If there is no range of a parameter.
    """
    if settings.over is None:
        raise InvalidInput(
            f"a phase diagram has a second parameter beside the coupling; add --over {range_example(settings)}"
        )
    return range_from(settings), _pair(settings.coupling), _pair(settings.relative)


def relative_range(settings: argparse.Namespace, along: Range) -> tuple[Any, Any] | None:
    """Return the range of couplings relative to the critical one, None if there is none."""
    return _pair(settings.relative) if along.parameter == COUPLING else None


def problem_over(parser: Parser, settings: argparse.Namespace, along: Range) -> Equation:
    """Return the problem that the settings describe.

    A parameter that has a range and is not given has the lowest value of it, and the highest where at the lowest
    the term vanishes to which it belongs, as the confinement ``a*cos(t)`` at 0.
    """
    problem = problem_from(parser, settings)
    if along.interval is None or along.parameter in (COUPLING, *problem.parameters):
        return problem
    setattr(settings, varied(along.parameter), along.interval[1])
    return problem_from(parser, settings)


def at_fixed_coupling(problem: Equation, settings: argparse.Namespace, along: Range) -> Equation:
    """Return the problem at the coupling that is fixed where another parameter has a range.

    Raises
    ------
    InvalidInput
        If none is given.
    """
    if along.parameter == COUPLING:
        return problem
    if settings.coupling is None and settings.relative is None:
        raise InvalidInput(
            f"--over {along.parameter} needs a coupling; add --coupling K, or --relative K in units of the "
            "critical one"
        )
    return at_coupling(problem, settings)


def _pair(values: Any) -> tuple[Any, Any] | None:
    return None if values is None else (values[0], values[1])


def _named(parser: Parser) -> str | None:
    """Return the name that stands behind ``--over`` on the command line or in the configuration, None if none."""
    if "--over" in parser.argv[:-1]:
        return parser.argv[parser.argv.index("--over") + 1]
    configured = parser.config.get("over")
    return str(configured[0]) if isinstance(configured, list) and configured else None
