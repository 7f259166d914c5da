"""Where the values of a sweep are computed: here, in processes of our own, or on an executor that was given.

Tasks are drawn from an iterator when there is room for them, so that a claim is made when it is needed, and few
results wait in memory. An exception raised by the computation is a result; what comes through the executor as an
exception is a fault of the executor.
"""

import concurrent.futures
from collections.abc import Callable, Iterable, Iterator

from meanfield import ComputationFailed
from meanfield.export import Result
from meanfield.workers import process_pool

from ..execution.executors import outcome_of
from .tasks import Computed, Task, reason, run

# Called with every task that is finished, also with those that are when the user interrupts.
Keep = Callable[[Task, Computed], None]

# What an executor answers that is gone: a broken pool, a scheduler without connection.
GONE = (concurrent.futures.BrokenExecutor, concurrent.futures.CancelledError, OSError)
DIED = (
    "the process that computed it died, and so did one that computed this value alone: it was killed, as for too "
    "much memory, or crashed"
)


class ExecutorGone(ComputationFailed):
    """An executor that computes nothing any more."""


def one_by_one(tasks: Iterable[Task], keep: Keep) -> None:
    """Compute the tasks in this process, one after the other."""
    for task in tasks:
        keep(task, run(task))


def on_executor(tasks: Iterable[Task], keep: Keep, executor: concurrent.futures.Executor, ahead: int) -> None:
    """Compute the tasks on an executor, at most ``ahead`` of them submitted at a time.

    Those that it could not compute are tried once more, each alone: a task may be blamed for the death of a worker
    that computed another.

    Raises
    ------
    ExecutorGone
        If the executor computes nothing any more; what was finished is kept.
    """
    suspects: list[Task] = []
    lost = _submitted(iter(tasks), keep, executor, ahead, suspects)
    if suspects and not lost:
        lost = _submitted(_draining(suspects), keep, executor, 1)
    if lost:
        first = next(iter(lost.values()))
        cancelled = isinstance(first, concurrent.futures.CancelledError)
        why = "it cancelled its tasks, as Dask does that has lost its scheduler" if cancelled else reason(first)
        raise ExecutorGone(f"the executor is gone, and with it what it had not finished: {why}")


def on_processes(tasks: Iterable[Task], keep: Keep, workers: int) -> None:
    """Compute the tasks in so many processes of our own; those of a pool that broke once more, each alone.

    A pool breaks when one of its processes dies, and does not say with which task. The task that breaks a pool that
    has no other is to blame; that is its failure.
    """
    remaining = iter(tasks)
    while True:
        with process_pool(workers) as pool:
            suspects = _submitted(remaining, keep, pool, 2 * workers)
        if not suspects:
            return
        alone = list(suspects)
        while alone:
            with process_pool(1) as pool:
                lost = _submitted(_draining(alone), keep, pool, 1)
            for task in lost:
                keep(task, Computed(Result(failure=DIED)))


def _draining(tasks: list[Task]) -> Iterator[Task]:
    while tasks:
        yield tasks.pop(0)


def _submitted(
    tasks: Iterator[Task],
    keep: Keep,
    executor: concurrent.futures.Executor,
    ahead: int,
    suspects: list[Task] | None = None,
) -> dict[Task, BaseException]:
    """Compute tasks on an executor and return those that were lost with it, with what it answered.

    Those that it could not compute are failures or, if a list is given, added to that.
    """
    waiting: dict[concurrent.futures.Future[Computed | Exception], Task] = {}
    lost: dict[Task, BaseException] = {}
    try:
        while True:
            while not lost and len(waiting) < ahead and (task := next(tasks, None)) is not None:
                try:
                    waiting[executor.submit(run, task)] = task
                except GONE as error:
                    lost[task] = error
            if not waiting:
                return lost
            done, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                _settle(waiting.pop(future), outcome_of(future), keep, lost, suspects)
    except KeyboardInterrupt:
        for future in [future for future in waiting if future.done()]:
            _settle(waiting.pop(future), outcome_of(future), keep, lost, suspects)
        raise
    finally:
        for future in waiting:
            future.cancel()


def _settle(
    task: Task,
    outcome: Computed | Exception,
    keep: Keep,
    lost: dict[Task, BaseException],
    suspects: list[Task] | None = None,
) -> None:
    if isinstance(outcome, GONE):
        lost[task] = outcome
    elif isinstance(outcome, ComputationFailed):
        raise outcome
    elif isinstance(outcome, Exception) and suspects is not None:
        suspects.append(task)
    elif isinstance(outcome, Exception):
        keep(task, Computed(Result(failure=f"the executor could not compute it: {reason(outcome)}")))
    else:
        keep(task, outcome)
