"""Bound on the threads of linear algebra: one while a solver runs.

Its matrices are small; on a few hundred unknowns the threads of BLAS wait for each other longer than they compute,
so that with the threads that libraries take by default a diagram costs several times the time it costs with one.
The bound holds for the calls of the solvers only; the number before is restored when they end. Only the
main thread sets it: OpenBLAS does not restore in one thread what another has set.
"""

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Bound the threads of BLAS by one, as a context or a decorator; other threads than the main one do nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield


@functools.cache
def _controller() -> Any:
    """Return the cached controller of the BLAS libraries; those of numpy and scipy must be loaded before."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
