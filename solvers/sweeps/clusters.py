"""Dask's ``distributed``, an extra, as an executor: a scheduler that runs already, or processes of this machine."""

import concurrent.futures
import contextlib
import logging
from collections.abc import Iterator
from multiprocessing import resource_tracker
from typing import Any

from meanfield import InvalidInput
from meanfield.workers import without_interrupts

# Seconds in which a scheduler answers, and in which it is taken leave of.
PATIENCE = 10.0
LEAVE = 2.0


@contextlib.contextmanager
def dask_executor(scheduler: str | None, workers: int) -> Iterator[tuple[concurrent.futures.Executor, int]]:
    """Yield an executor on a Dask cluster and the number of tasks to submit to it at a time.

    Parameters
    ----------
    scheduler
        Address such as ``tcp://10.0.0.1:8786``; None to start a cluster on this machine, which ends with the
        context.
    workers
        Processes of that one.

    Raises
    ------
    InvalidInput
        If distributed is not installed, or no scheduler answers.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise InvalidInput(
            "--executor dask needs the package distributed; install meanfield-pde[distributed], or use --executor "
            "processes"
        ) from error
    # What a lost connection means is said in one sentence by the sweep.
    for name in [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    with contextlib.ExitStack() as stack:
        if scheduler is None:
            # Where the tracker is started, signals are no longer blocked.
            resource_tracker.ensure_running()
            with without_interrupts():
                cluster = LocalCluster(
                    workers,
                    processes=True,
                    threads_per_worker=1,
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
            stack.callback(_close, cluster)
        try:
            client = Client(scheduler or cluster, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"no Dask scheduler answers at {scheduler!r} ({error}); give its address as in --scheduler "
                "tcp://10.0.0.1:8786"
            ) from error
        stack.callback(_close, client)
        threads = sum(client.nthreads().values())
        yield client.get_executor(pure=False), 2 * max(threads, workers)


def _close(side: Any) -> None:
    """Close a client or a cluster; its other side may be gone, and what was computed is kept already."""
    with contextlib.suppress(Exception):
        side.close(timeout=LEAVE)
