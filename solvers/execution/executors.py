"""Independent tasks on any ``concurrent.futures.Executor``: processes, threads, Dask's or mpi4py's.

Only what they have in common is used: ``submit`` of a module-level function with one picklable argument that holds
its own seed, and ``as_completed``. Results are told apart by their index, so that nothing depends on the number of
workers or on the order in which they finish. An exception is the outcome of its task and of no other. An executor
that was given is never shut down.
"""

import concurrent.futures
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def completed(
    function: Callable[[Task], Result], tasks: Sequence[Task], executor: concurrent.futures.Executor
) -> Iterator[tuple[int, Result | Exception]]:
    """Yield the index of each task with its result or its exception, in the order in which they finish.

    Parameters
    ----------
    function
        A function of a module, so that processes can import it.
    tasks
        Its arguments; equal tasks may be run once only, as Dask does, so each holds a seed of its own.
    executor
        Where to run; tasks that were not started are cancelled if the iteration ends early.
    """
    futures: dict[concurrent.futures.Future[Result], int] = {}
    try:
        for index, task in enumerate(tasks):
            try:
                futures[executor.submit(function, task)] = index
            except Exception as error:
                # A pool whose worker died refuses all further work.
                yield index, error
        for future in concurrent.futures.as_completed(futures):
            outcome: Result | Exception = outcome_of(future)
            yield futures[future], outcome
    finally:
        for future in futures:
            future.cancel()


def outcome_of(future: "concurrent.futures.Future[Result]") -> Result | Exception:
    """Return the result of a finished task, or its exception."""
    try:
        return future.result()
    except Exception as error:
        return error
