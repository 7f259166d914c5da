"""The rows of the report: a task and, for the tasks of this package, its bare kernel, timed in turn."""

import cProfile
import gc
import io
import os
import pstats
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from dense import dense_branch, dense_solves
from kernel import Work, work_of
from tasks import Result, follow_branch, trace_branch, trace_diagram, whole_diagram

from solvers.bases.transforms import backend_name, fftw
from solvers.execution.compiling import continuation_compiled

DEFAULT_MODES = 32


@dataclass
class Row:
    """A task with what it did and the shortest CPU times of it and its kernel, in seconds."""

    name: str
    modes: int | None
    task: Callable[[], Result]
    result: Result
    work: Work | None
    solver: int
    backend: str | None = None
    seconds: float = float("inf")
    kernel: float = float("inf")

    def once(self) -> None:
        """Time the task and its kernel once."""
        with fft(self.backend):
            self.seconds = min(self.seconds, cpu(self.task))
            if self.work is not None:
                self.kernel = min(self.kernel, cpu(self.work.replay))


@contextmanager
def setting(name: str, value: str | None, known: Any) -> Iterator[None]:
    """Set a variable of the environment inside; ``known`` is the cached function that reads it.

    None leaves it as it is.
    """
    if value is None:
        yield
        return
    before = os.environ.get(name)
    os.environ[name] = value
    known.cache_clear()
    try:
        yield
    finally:
        os.environ.pop(name)
        if before is not None:
            os.environ[name] = before
        known.cache_clear()


def fft(backend: str | None) -> AbstractContextManager[None]:
    """Build transforms with another library inside."""
    return setting("MEANFIELD_FFT", backend, fftw)


def compiled_continuation(on: bool) -> AbstractContextManager[None]:
    """Follow branches by compiled code inside, or not."""
    return setting("MEANFIELD_CONTINUATION", "numba" if on else "", continuation_compiled)


def cpu(task: Callable[[], object]) -> float:
    """Return the CPU seconds of one call, garbage collection put off as `timeit` does."""
    gc.collect()
    gc.disable()
    started = time.process_time()
    task()
    seconds = time.process_time() - started
    gc.enable()
    return seconds


def own(name: str, modes: int | None, task: Callable[[], Result], backend: str | None = None) -> Row:
    """Return the row of a task of this package; it runs twice here, so that nothing is timed cold."""
    with fft(backend):
        result = task()
        work = work_of(task)
        label = f"{name}, {backend_name().split()[0]}"
    return Row(label, modes, task, result, work, work.solver, backend)


def reference(modes: int) -> Row:
    """Return the row of the dense reference."""
    task = partial(dense_branch, modes)
    return Row("A dense reference", modes, task, task(), None, dense_solves(modes))


def all_rows(modes: list[int]) -> list[Row]:
    """Return every row, run but not timed."""
    rows = [own("A trace", n, partial(trace_branch, n)) for n in modes]
    rows += [own("A trace", n, partial(trace_branch, n), "scipy") for n in modes[:: max(1, len(modes) - 1)]]
    rows.append(own("A trace, step 0.2", DEFAULT_MODES, partial(trace_branch, DEFAULT_MODES, 0.2)))
    rows.append(own("B trace", None, partial(trace_diagram, 5.0)))
    rows += [own("A branch", n, partial(follow_branch, n)) for n in modes]
    rows.append(own("A diagram to 3", None, partial(whole_diagram, 3.0)))
    rows.append(own("B diagram to 5", None, partial(whole_diagram, 5.0)))
    rows += [reference(n) for n in modes if n <= 128]
    return rows


def measure(rows: list[Row], rounds: int) -> None:
    """Time all rows in turn, round after round, so that a slow moment of the machine meets all alike."""
    for _ in range(rounds):
        for row in rows:
            row.once()


def profiled(repeats: int = 20, count: int = 15) -> str:
    """Return the functions with the largest own time in tasks A and B."""
    parts = []
    tasks = {"A trace": partial(trace_branch, DEFAULT_MODES), "A branch": partial(follow_branch, DEFAULT_MODES)}
    tasks["B diagram"] = partial(whole_diagram, 5.0)
    for name, task in tasks.items():
        task()
        profiler = cProfile.Profile()
        profiler.enable()
        for _ in range(repeats):
            task()
        profiler.disable()
        stream = io.StringIO()
        pstats.Stats(profiler, stream=stream).sort_stats("tottime").print_stats(count)
        parts.append(f"{name}, {repeats} times\n{stream.getvalue()}")
    return "\n".join(parts)
