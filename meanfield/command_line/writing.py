"""Writing of all files of a command, with their provenance."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import MeanfieldError
from ..process import INTERRUPTED
from ..records.outcome import Outcome
from .options import Parser, resolved_configuration
from .progress import progress_bar
from .terminal import note, say, say_json


def origin(parser: Parser, settings: argparse.Namespace) -> dict[str, Any]:
    """Return the command and its configuration, for the provenance of results."""
    return {"command": parser.command_line, "configuration": resolved_configuration(settings)}


def write_all(writers: Sequence[Callable[[], Sequence[Path]]], quiet: bool) -> None:
    """Write every file, also when one fails; the first failure is raised at the end."""
    failures: list[MeanfieldError] = []
    written: list[Path] = []
    with progress_bar(not quiet, "files") as advance:
        for number, write in enumerate(writers):
            advance(number, len(writers), "")
            try:
                written += write()
            except MeanfieldError as error:
                failures.append(error)
    if written and not quiet:
        note("\n".join(f"wrote {path}" for path in written))
    if failures:
        raise failures[0]


def publish(
    writers: Sequence[Callable[[], Sequence[Path]]],
    warnings: Sequence[str],
    as_object: Callable[[], dict[str, Any]],
    as_text: Callable[[], str],
    settings: argparse.Namespace,
) -> None:
    """Write every file and print the result, even if writing fails: as JSON, as text, or not at all.

    The text contains the warnings; otherwise they go to standard error.
    """
    try:
        write_all(writers, settings.quiet)
    finally:
        if settings.json or settings.quiet:
            for warning in warnings:
                note(f"meanfield: warning: {warning}")
        if settings.json:
            say_json(as_object())
        elif not settings.quiet:
            say(as_text())


def exit_code(outcome: Outcome, partial: bool) -> int:
    """Return the exit code of a command for the outcome of its computation, complete or partial."""
    if outcome is Outcome.INTERRUPTED:
        return INTERRUPTED
    return 1 if partial else 0
