"""The bound on the threads of linear algebra: one while a solver runs, and afterwards what there was."""

import threading

import scipy.linalg  # noqa: F401
from threadpoolctl import threadpool_info, threadpool_limits

from solvers import bifurcation_diagram
from solvers.execution.threads import one_thread
from tests import problems


def threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_a_solver_takes_one_thread_and_gives_back_what_there_was(monkeypatch):
    seen = []
    monkeypatch.setattr("solvers.branches.walk.warn_of_omissions", lambda *arguments: seen.append(threads()))
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        bifurcation_diagram(problems.KURAMOTO.problem, (1.0, 2.5))
        assert threads() == before
    assert seen == [{1}]


def test_calls_within_calls_and_in_other_threads_give_back_what_there_was():
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with one_thread():
            with one_thread():
                assert threads() == {1}
            assert threads() == {1}
            beside = threading.Thread(target=one_thread()(threads))
            beside.start()
            beside.join()
            assert threads() == {1}
        assert threads() == before
