"""Worker processes for commands whose work comes in independent pieces."""

import argparse
import concurrent.futures
import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from multiprocessing.process import BaseProcess
from typing import Any

from ..errors import InvalidInput
from .options import Parser
from .readers import whole

MOST_WORKERS = 1024
# Seconds a worker is given to end.
PATIENCE = 0.5


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


@contextlib.contextmanager
def worker_processes(workers: int, tasks: int) -> Iterator[concurrent.futures.Executor | None]:
    """Yield an executor with a process for each worker or task, whichever are fewer, or None if that is one.

    They end with this context, even in the middle of a task, and with this process, however it ends. An interrupt
    is handled by this process alone, also where a terminal sends it to all.
    """
    if min(workers, tasks) < 2:
        yield None
        return
    # Plans of FFTW and compiled functions must not be copied into a child by a fork.
    context = multiprocessing.get_context("spawn")
    with _without_interrupts():
        executor = _Workers(min(workers, tasks), context, _begin)
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        _end(multiprocessing.active_children())


class _Workers(concurrent.futures.ProcessPoolExecutor):
    """Processes that are started with their first tasks."""

    def submit(self, *arguments: Any, **settings: Any) -> concurrent.futures.Future[Any]:
        """Submit a task; the process that it may start sees no interrupts."""
        with _without_interrupts():
            return super().submit(*arguments, **settings)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block the signals of a terminal in processes started within the context; here they are only delayed."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGHUP))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Prepare a worker: it ends when its parent does, however that ends."""
    threading.Thread(target=_follow_the_parent, daemon=True).start()


def _follow_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _end(workers: Sequence[BaseProcess]) -> None:
    """Wait for idle processes to end, then terminate, and at last kill, those that have not ended."""
    for end in (BaseProcess.terminate, BaseProcess.kill):
        _join(workers)
        for worker in workers:
            end(worker)
    _join(workers)


def _join(workers: Sequence[BaseProcess]) -> None:
    until = time.monotonic() + PATIENCE
    for worker in workers:
        worker.join(max(0.0, until - time.monotonic()))
