"""The command ``meanfield verify [PATTERN]``."""

import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from meanfield import InvalidInput
from meanfield.command_line import (
    Parser,
    add_common,
    add_force,
    add_workers,
    note,
    progress_bar,
    require_workers,
    say,
    say_json,
    set_verbosity,
    word,
    worker_processes,
)
from meanfield.export import check_file, text_writer, write_files

if TYPE_CHECKING:
    from ..claims import Claim, Result


def verify(argv: Sequence[str]) -> int:
    """Check the theorems on representative problems and report every verdict."""
    parser = Parser("verify", "Check the theorems on representative problems; exit code 1 if any fails.", argv)
    parser.add_argument(
        "pattern",
        nargs="?",
        type=word,
        default="",
        metavar="PATTERN",
        help="part of a claim's name or a glob: circle, attention, sphere.T5, 'circle.T*' (default: all)",
    )
    parser.add_argument("--list", action="store_true", help="list the claims and check none")
    add_workers(parser)
    parser.add_argument("--to", type=word, metavar="FILE", help="write a report in Markdown (.md)")
    add_force(parser)
    add_common(parser, quiet="progress, the table and the name of the report", verbose="one line a check")
    settings = parser.settings()
    from ..catalogue import representative_problems
    from ..claims import Verdict
    from ..judging import matching
    from ..judging import verify as judged
    from ..report import markdown

    claims = matching(settings.pattern)
    require_workers(settings)
    if settings.list:
        _say_claims(claims, settings.json)
        return 0
    _check_report(settings.to, settings.force)
    set_verbosity(settings.verbose)
    started = time.perf_counter()
    total = sum(len(representative_problems(claim.domain)) for claim in claims)
    with (
        progress_bar(not settings.quiet and not settings.verbose, "claims", "checks") as advance,
        worker_processes(settings.workers, total) as executor,
    ):
        done = itertools.count(1)
        advance(0, total, "")
        results = judged(
            settings.pattern,
            progress=lambda last: advance(next(done), total, last.claim.identifier),
            executor=executor,
        )
    origin = _origin(parser, time.perf_counter() - started)
    try:
        if settings.to is not None:
            _write(settings.to, markdown(results, origin), settings.force, settings.quiet)
    finally:
        _print(results, origin, settings)
    return int(any(result.verdict is Verdict.FAILS for result in results))


def _say_claims(claims: "Sequence[Claim]", as_json: bool) -> None:
    """Print identifier and title of claims, and on how many problems each is tried."""
    from ..catalogue import representative_problems

    problems = {claim.domain: len(representative_problems(claim.domain)) for claim in claims}
    if as_json:
        rows = [
            {"claim": item.identifier, "title": item.title, "problems": problems[item.domain]} for item in claims
        ]
        say_json({"claims": rows})
        return
    width = max(len(claim.identifier) for claim in claims)
    lines = [f"{claim.identifier:<{width}}  {claim.title}" for claim in claims]
    counts = ", ".join(f"{count} {domain} problems" for domain, count in problems.items())
    say("\n".join([*lines, "", f"{len(claims)} claims, {counts}"]))


def _check_report(name: str | None, force: bool) -> None:
    if name is None:
        return
    if Path(name).suffix.lower() not in (".md", ".markdown"):
        raise InvalidInput(f"a report is written as Markdown, not {name!r}; give a name that ends in .md")
    check_file(name, force)


def _write(name: str, text: str, force: bool, quiet: bool) -> None:
    for path in write_files({Path(name): text_writer(text)}, force):
        if not quiet:
            note(f"wrote {path}")


def _print(results: "Sequence[Result]", origin: dict[str, Any], settings: Any) -> None:
    from ..report import json_object, terminal_table

    if settings.json:
        say_json(json_object(results, origin))
    elif not settings.quiet:
        say(terminal_table(results))


def _origin(parser: Parser, seconds: float) -> dict[str, Any]:
    import platform
    from datetime import UTC, datetime

    import numpy as np
    import scipy

    from meanfield.export import package_version

    return {
        "meanfield": package_version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": parser.command_line,
        "seconds": round(seconds, 1),
    }
