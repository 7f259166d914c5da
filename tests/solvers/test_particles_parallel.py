"""Replicas on executors: the same bits whatever runs them, and what is left when something dies."""

import concurrent.futures
import multiprocessing
import os
import threading

import numpy as np
import pytest

from meanfield import Circle, ComputationFailed, Custom, InvalidInput, McKeanVlasov, Outcome
from solvers import EulerMaruyama, WeakSecondOrder, simulate
from solvers.execution.executors import completed
from solvers.particles.replicas import Replica
from tests import problems
from tests.particle_runs import same

PROBLEM = problems.ATTENTION_AT_08.problem
OPTIONS = {"step": 0.05, "replicas": 5, "keep_positions": True}


def run(executor=None, problem=PROBLEM, **others):
    return simulate(problem, 300, 0.5, 17, executor=executor, **(OPTIONS | others))


@pytest.fixture(scope="module")
def inline():
    return run()


class Backwards(concurrent.futures.Executor):
    """Runs what was submitted once three tasks are there, the last first."""

    def __init__(self):
        self.waiting = []

    def submit(self, function, /, *arguments):
        assert len(arguments) == 1
        future = concurrent.futures.Future()
        self.waiting.append((future, function, arguments))
        if len(self.waiting) == 3:
            threading.Thread(target=self.run).start()
        return future

    def run(self):
        for future, function, arguments in reversed(self.waiting):
            try:
                future.set_result(function(*arguments))
            except Exception as error:
                future.set_exception(error)

    def shutdown(self, wait=True, *, cancel_futures=False):
        raise AssertionError("an executor that was given is not shut down")


class Replacing(concurrent.futures.Executor):
    """Runs something else in the place of one replica."""

    def __init__(self, inner, index, function, *arguments):
        self.inner, self.index, self.replacement = inner, index, (function, *arguments)

    def submit(self, function, /, task):
        (replica,) = task
        assert isinstance(replica, Replica)
        if replica.index == self.index:
            return self.inner.submit(*self.replacement)
        return self.inner.submit(function, task)


def test_order_of_completion_does_not_matter():
    expected = run(replicas=3)
    assert same(run(Backwards(), replicas=3), expected)
    assert expected.outcome is Outcome.COMPLETED


@pytest.mark.parametrize("workers", [1, 3])
def test_threads_give_the_same_bits(inline, workers):
    with concurrent.futures.ThreadPoolExecutor(workers) as executor:
        assert same(run(executor), inline)
        # It was not shut down.
        assert executor.submit(int, "7").result() == 7


def test_processes_give_the_same_bits(inline, processes):
    assert same(run(processes), inline)
    assert same(run(processes, scheme=EulerMaruyama()), run(scheme=EulerMaruyama()))
    assert processes.submit(int, "7").result() == 7


def test_a_replica_that_fails_is_missing_and_named(inline):
    with concurrent.futures.ThreadPoolExecutor(2) as inner:
        ensemble = run(Replacing(inner, 3, int, "seven"))
    assert ensemble.outcome is Outcome.PARTIAL
    assert len(ensemble.failures) == 1
    assert ensemble.failures[0].startswith("replica 3 is missing: ValueError: invalid literal")
    others = np.array([0, 1, 2, 4])
    assert np.array_equal(ensemble.completed, [True, True, True, False, True])
    assert np.array_equal(ensemble.cosine[others], inline.cosine[others])
    assert np.isnan(ensemble.cosine[3]).all()
    assert np.isnan(ensemble.positions[3]).all()
    assert ensemble.histogram[3].sum() == 0
    expected = np.hypot(inline.cosine[others, :, 1], inline.sine[others, :, 1])
    assert np.allclose(ensemble.order_parameter().mean, expected.mean(axis=0), rtol=1e-14)
    assert np.allclose(ensemble.order_parameter().standard_error, expected.std(axis=0, ddof=1) / 2, rtol=1e-12)


def test_a_worker_that_dies_loses_only_what_it_had_not_done(inline):
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as inner:
        ensemble = run(Replacing(inner, 2, os._exit, 1))
    assert ensemble.outcome is Outcome.PARTIAL
    assert len(ensemble.failures) == 1
    assert ensemble.failures[0].startswith("replicas 2 to 4 are missing: BrokenProcessPool: ")
    assert np.array_equal(ensemble.cosine[:2], inline.cosine[:2])
    assert "2 of 5 replicas reached the end" in ensemble.summary()


def test_nothing_left_is_an_error():
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        pass
    with pytest.raises(ComputationFailed, match=r"replicas 0 to 4 are missing: RuntimeError: cannot schedule"):
        run(executor)


def test_what_cannot_be_pickled_is_said(processes):
    problem = McKeanVlasov(Circle(), Custom.from_callable(lambda t: -np.cos(t)), coupling=1.0)
    assert run(problem=problem).outcome is Outcome.COMPLETED
    with pytest.raises(ComputationFailed, match=r"replicas 0 to 4 are missing: .*[Pp]ickl"):
        run(processes, problem=problem)


def test_tasks_that_were_not_started_are_cancelled():
    release, started = threading.Event(), threading.Event()

    def work(task):
        started.set()
        release.wait(10)
        return task

    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        steps = completed(work, [1, 2, 3], executor)
        waiting = threading.Thread(target=lambda: next(steps))
        waiting.start()
        started.wait(10)
        release.set()
        waiting.join()
        steps.close()
        assert executor.submit(int, "7").result() == 7


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("pure", [True, False])
def test_dask_gives_the_same_bits(inline, dask_client, pure):
    executor = dask_client.get_executor(pure=pure)
    assert same(run(executor), inline)
    ensemble = run(Replacing(executor, 1, int, "seven"))
    assert ensemble.failures == (
        "replica 1 is missing: ValueError: invalid literal for int() with base 10: 'seven'",
    )


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    with (
        distributed.LocalCluster(2, processes=True, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


# Kernels


@pytest.mark.parametrize("scheme", [EulerMaruyama(), WeakSecondOrder()])
def test_numba_gives_the_same_bits(scheme):
    pytest.importorskip("numba", reason="numba is not installed")
    # More than one block of either kernel, and a last one that is not full.
    options = {"scheme": scheme, "step": 0.01, "keep_positions": True, "replicas": 2}
    one, other = (simulate(PROBLEM, 20_000, 0.3, 5, kernel=kernel, **options) for kernel in ("numpy", "numba"))
    assert same(one, other)
    assert (one.provenance["options"]["kernel"], other.provenance["options"]["kernel"]) == ("numpy", "numba")


def test_numba_draws_the_same_normal_numbers_even_rare_ones():
    numba = pytest.importorskip("numba", reason="numba is not installed")

    @numba.njit
    def fill(generator, numbers):
        for index in range(numbers.size):
            numbers[index] = generator.standard_normal()

    one, other = (np.random.Generator(np.random.SFC64(3)) for _ in range(2))
    numbers = np.empty(2_000_000)
    fill(one, numbers)
    # Beyond 3.65 the ziggurat method uses logarithms: some 500 of these numbers.
    assert np.count_nonzero(np.abs(numbers) > 3.66) > 300
    assert np.array_equal(numbers, other.standard_normal(numbers.size))


def test_numba_is_asked_for_in_vain(monkeypatch):
    monkeypatch.setattr("solvers.execution.compiling.numba_module", lambda: None)
    with pytest.raises(InvalidInput, match=r"numba is not installed; pip install 'meanfield-pde\[fast\]'"):
        run(kernel="numba")
    assert run(kernel="auto").provenance["options"]["kernel"] == "numpy"
