"""Output of the commands: lines, tables, numbers and JSON on standard output, messages on standard error."""

import json
import logging
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..process import write_result

LOGGERS = ("meanfield", "solvers", "verification")
UNKNOWN = "-"


def say(text: str) -> None:
    """Write the result to standard output."""
    write_result(text + "\n")


def note(text: str) -> None:
    """Write a message to standard error."""
    sys.stderr.write(text + "\n")


def say_json(value: Mapping[str, Any]) -> None:
    """Write one JSON object: null for what is unknown, every number exact, also beyond double precision."""
    from ..export.records import dump

    wide: dict[str, str] = {}
    text = dump(_without_wide(value, wide))
    for mark, digits in wide.items():
        text = text.replace(json.dumps(mark), digits)
    say(text)


def formatted(value: Any, digits: int = 13) -> str:
    """Format a number with significant digits, also one beyond the range of doubles; ``-`` if unknown."""
    if value is None or math.isnan(value):
        return UNKNOWN
    if _is_wide(value):
        return np.format_float_scientific(value, precision=digits - 1, trim="-")
    return f"{float(value):.{digits}g}"


def table(columns: Mapping[str, Sequence[str]], indent: str = "") -> str:
    """Return columns of texts under their headings, aligned so that minus signs stand out."""
    blocks = []
    for heading, texts in columns.items():
        negative = [text.startswith("-") and text != UNKNOWN for text in texts]
        pad = " " if any(negative) else ""
        cells = [
            heading,
            *(text if below else pad + text for text, below in zip(texts, negative, strict=True)),
        ]
        width = max(map(len, cells))
        blocks.append([cell.ljust(width) for cell in cells])
    return "\n".join((indent + "  ".join(row)).rstrip() for row in zip(*blocks, strict=True))


def set_verbosity(verbose: bool) -> None:
    """Send the packages' log records to standard error: warnings, and all information if verbose."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    level = logging.INFO if verbose else logging.WARNING
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)


def _is_wide(value: Any) -> bool:
    """Return whether a number is neither 0 nor infinite but would become so as a double."""
    if not isinstance(value, np.longdouble) or value == 0 or not np.isfinite(value):
        return False
    limits = np.finfo(float)
    return not limits.tiny <= abs(value) <= limits.max


def _without_wide(value: Any, wide: dict[str, str]) -> Any:
    """Return a value with marks for the numbers that json cannot write, and add their digits to ``wide``."""
    if isinstance(value, Mapping):
        return {key: _without_wide(item, wide) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_wide(item, wide) for item in value]
    if not _is_wide(value):
        return value
    mark = f"\x00{len(wide)}\x00"
    wide[mark] = np.format_float_scientific(value, unique=True, trim="0")
    return mark
