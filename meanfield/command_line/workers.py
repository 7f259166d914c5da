"""Worker processes for commands whose work comes in independent pieces."""

import argparse
import concurrent.futures
import contextlib
import multiprocessing
from collections.abc import Iterator

from ..errors import InvalidInput
from .options import Parser
from .readers import whole

MOST_WORKERS = 1024


def add_workers(parser: Parser) -> None:
    """Add ``--workers``."""
    parser.add_argument("--workers", type=whole, default=1, metavar="W", help="processes (default: 1)")


def require_workers(settings: argparse.Namespace) -> None:
    """Refuse a number of workers that no computer has.

    Raises
    ------
    InvalidInput
        If it is not from 1 to 1024.
    """
    if not 1 <= settings.workers <= MOST_WORKERS:
        raise InvalidInput(f"--workers must be from 1 to {MOST_WORKERS}, not {settings.workers}; try --workers 2")


@contextlib.contextmanager
def worker_processes(workers: int, tasks: int) -> Iterator[concurrent.futures.Executor | None]:
    """Give an executor of so many processes, or None where one process does it all."""
    if min(workers, tasks) == 1:
        yield None
        return
    # Plans of FFTW and compiled functions must not be copied into a child by a fork.
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(workers, mp_context=context) as executor:
        yield executor
