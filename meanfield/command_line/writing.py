"""What commands write: every file that can be written, and where it comes from."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import MeanfieldError
from .options import Parser, resolved_configuration
from .terminal import note


def origin(parser: Parser, settings: argparse.Namespace) -> dict[str, Any]:
    """Return the command and its configuration, for the provenance of results."""
    return {"command": parser.command_line, "configuration": resolved_configuration(settings)}


def write_all(writers: Sequence[Callable[[], Sequence[Path]]], quiet: bool) -> None:
    """Write every file, also when one fails; the first failure is raised at the end."""
    failures: list[MeanfieldError] = []
    for write in writers:
        try:
            for path in write():
                if not quiet:
                    note(f"wrote {path}")
        except MeanfieldError as error:
            failures.append(error)
    if failures:
        raise failures[0]
