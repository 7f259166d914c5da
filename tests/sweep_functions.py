"""Functions that sweeps compute in tests, importable by other processes."""

import os
import signal
import time
from pathlib import Path

from meanfield import critical_coupling


def threshold(problem):
    return {"threshold": critical_coupling(problem), "name": problem.law.name}


def drawn(problem, seed, offset=0):
    return {"drawn": seed + offset}


def counted(problem, folder, pause=0.0, where=""):
    """Leave a file for every call, and fail where the parameter asks for it."""
    beta = problem.parameters["beta"]
    time.sleep(pause)
    (Path(folder) / f"{beta:g}-{time.monotonic_ns()}").touch()
    if f"{beta:g}" == where:
        raise ValueError(f"no answer at {beta:g}")
    return beta**2


def fatal(problem, folder, always=True):
    """Kill the process that computes at beta = 3, always or the first time."""
    beta = problem.parameters["beta"]
    marker = Path(folder) / "killed"
    if beta == 3.0 and (always or not marker.exists()):
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return beta**2


def threads(problem):
    """Return the threads of linear algebra."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


def wordy(problem):
    return object()


def calls(folder):
    """Return how often each parameter was computed by ``counted``."""
    names = [path.name.partition("-")[0] for path in Path(folder).iterdir()]
    return {name: names.count(name) for name in names}
