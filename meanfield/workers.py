"""Worker processes that end with the process that started them, however it ends."""

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

# Seconds a worker is given to end.
PATIENCE = 0.5


@contextlib.contextmanager
def worker_processes(workers: int, tasks: int) -> Iterator[concurrent.futures.Executor | None]:
    """Yield an executor with a process for each worker or task, whichever are fewer, or None if that is one.

    They end with this context, even in the middle of a task, and with this process, however it ends. An interrupt
    is handled by this process alone, also where a terminal sends it to all.
    """
    if min(workers, tasks) < 2:
        yield None
        return
    with process_pool(min(workers, tasks)) as executor:
        yield executor


@contextlib.contextmanager
def process_pool(workers: int) -> Iterator[concurrent.futures.Executor]:
    """Yield an executor with so many processes, one or more; see :func:`worker_processes`."""
    # Plans of FFTW and compiled functions must not be copied into a child by a fork.
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    with without_interrupts():
        executor = _Workers(workers, context, _begin)
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        _end([child for child in multiprocessing.active_children() if child not in others])


class _Workers(concurrent.futures.ProcessPoolExecutor):
    """Processes that are started with their first tasks."""

    def submit(self, *arguments: Any, **settings: Any) -> concurrent.futures.Future[Any]:
        """Submit a task; the process that it may start sees no interrupts."""
        with without_interrupts():
            return super().submit(*arguments, **settings)


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
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
