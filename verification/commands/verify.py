"""The command that judges: ``meanfield verify [PATTERN]``."""

import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from meanfield import InvalidInput
from meanfield.command_line import (
    Parser,
    add_common,
    add_force,
    note,
    progress_bar,
    say,
    say_json,
    set_verbosity,
    word,
)
from meanfield.export.files import check_writable, text_writer, write_files

from ..catalogue import representative_problems
from ..claims import Result, Verdict, matching
from ..claims import verify as judged
from ..report import json_object, markdown, terminal_table


def verify(argv: Sequence[str]) -> int:
    """Check the theorems on representative problems and report every verdict."""
    parser = Parser("verify", "Check the theorems on representative problems; exit code 1 if any fails.", argv)
    parser.add_argument(
        "pattern",
        nargs="?",
        type=word,
        default="",
        metavar="PATTERN",
        help="part of a claim's name or a glob: circle, sphere.T5, 'circle.T*' (default: all)",
    )
    parser.add_argument("--to", type=word, metavar="FILE", help="write a report in Markdown (.md)")
    add_force(parser)
    add_common(parser, quiet="progress, the table and the name of the report", verbose="one line a check")
    settings = parser.settings()
    claims = matching(settings.pattern)
    _check_report(settings.to, settings.force)
    set_verbosity(settings.verbose)
    started = time.perf_counter()
    total = sum(len(representative_problems(claim.domain)) for claim in claims)
    with progress_bar(not settings.quiet and not settings.verbose, "claims", "checks") as advance:
        done = itertools.count(1)
        advance(0, total, "")
        results = judged(settings.pattern, progress=lambda last: advance(next(done), total, last.claim.identifier))
    origin = _origin(parser, time.perf_counter() - started)
    try:
        if settings.to is not None:
            _write(settings.to, markdown(results, origin), settings.force, settings.quiet)
    finally:
        _print(results, origin, settings)
    return int(any(result.verdict is Verdict.FAILS for result in results))


def _check_report(name: str | None, force: bool) -> None:
    if name is None:
        return
    if Path(name).suffix.lower() not in (".md", ".markdown"):
        raise InvalidInput(f"a report is written as Markdown, not {name!r}; give a name that ends in .md")
    check_writable(name, force)


def _write(name: str, text: str, force: bool, quiet: bool) -> None:
    for path in write_files({Path(name): text_writer(text)}, force):
        if not quiet:
            note(f"wrote {path}")


def _print(results: Sequence[Result], origin: dict[str, Any], settings: Any) -> None:
    if settings.json:
        say_json(json_object(results, origin))
    elif not settings.quiet:
        say(terminal_table(results))


def _origin(parser: Parser, seconds: float) -> dict[str, Any]:
    import platform
    from datetime import UTC, datetime

    import numpy as np
    import scipy

    from meanfield.export.records import package_version

    return {
        "meanfield": package_version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": parser.command_line,
        "seconds": round(seconds, 1),
    }
