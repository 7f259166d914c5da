"""Marks the tests of ``slow.txt``, which take a third of a second of one core or more, and gives them all one thread."""

import contextlib
import zlib
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path

import pytest

SLOW = Path(__file__).with_name("slow.txt")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that the list names, with all their parameters or with some."""
    slow = set(SLOW.read_text(encoding="utf-8").splitlines())
    for item in items:
        path = item.path.relative_to(SLOW.parent).as_posix()
        if slow & {f"{path}::{item.name}", f"{path}::{item.name.partition('[')[0]}"}:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Linear algebra takes one thread in a process of the tests, which are as many as there are cores.

    What is public takes one by itself, and ``test_threads.py`` asks for two. Oracles and inner functions, called
    directly, would let threads wait for each other, in twice the time. Commands in processes of their own have the
    threads that a user has.
    """
    import scipy.linalg  # noqa: F401, loads the libraries whose threads are limited
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture(autouse=True)
def _random_numbers_of_its_own(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test draws the same numbers whichever tests ran before it: the generator of its module is seeded by its name."""
    if hasattr(request.module, "RANDOM"):
        import numpy as np

        monkeypatch.setattr(request.module, "RANDOM", np.random.default_rng(zlib.crc32(request.node.name.encode())))


@pytest.fixture(scope="session")
def processes() -> Iterator[Executor]:
    """Two worker processes as commands have them, for tests of what is computed there and not of how they end.

    Each imports everything, in some seconds, when the first task comes.
    """
    from meanfield.workers import process_pool

    with process_pool(2) as executor:
        yield executor


@pytest.fixture
def kept_processes(processes: Executor, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let commands and sweeps that ask for two processes have those that are there, and count how often they ask."""
    asked: list[int] = []

    @contextlib.contextmanager
    def kept(workers: int) -> Iterator[Executor]:
        asked.append(workers)
        yield processes

    for name in ("meanfield.workers.process_pool", "solvers.sweeps.running.process_pool"):
        monkeypatch.setattr(name, kept)
    return asked
