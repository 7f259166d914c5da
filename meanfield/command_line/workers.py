"""The option for the number of worker processes of commands whose work comes in independent pieces."""

import argparse

from ..errors import InvalidInput
from .options import Parser
from .readers import whole

MOST_WORKERS = 1024


def add_workers(parser: Parser) -> None:
    """Add ``--workers``."""
    parser.add_argument("--workers", type=whole, default=1, metavar="W", help="processes (default: 1)")


def require_workers(settings: argparse.Namespace) -> None:
    """Refuse a number of workers outside 1 to 1024.

    Raises
    ------
    InvalidInput
        If it is not from 1 to 1024.
    """
    if not 1 <= settings.workers <= MOST_WORKERS:
        raise InvalidInput(f"--workers must be from 1 to {MOST_WORKERS}, not {settings.workers}; try --workers 2")
