"""Sweeps: the same numbers wherever they are computed, one store that goes on, and what it refuses."""

import concurrent.futures
import contextlib
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.special import iv

from meanfield import (
    Circle,
    ComputationFailed,
    Custom,
    HegselmannKrause,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    Outcome,
    Transformer,
    open_sweep,
)
from meanfield.export import Store, write_files
from solvers import bifurcation_diagram, simulate, stationary_states, sweep
from tests import sweep_functions as functions

FAMILY = McKeanVlasov(Circle(), Transformer(1.0))
BETAS = [0.5, 1.0, 3.0, 4.0]
DIAGRAM = {"rates": False, "depth": 1}
EPS = np.finfo(float).eps


@pytest.fixture(scope="module")
def diagrams(tmp_path_factory):
    """A sweep of diagrams with its store."""
    return sweep(FAMILY, {"beta": BETAS}, "diagram", DIAGRAM, store=tmp_path_factory.mktemp("sweep") / "runs")


def numbers_of(found):
    """Return the numbers as their shortest texts, by which nan is equal to nan and all others to the same bits."""
    return {name: repr(values.tolist()) for name, values in found.numbers.items()}


# What is computed


def test_critical_couplings_are_those_of_the_closed_form(diagrams):
    # kappa_c = beta/I_1(beta); the library and scipy each sum a series.
    expected = np.array(BETAS) / iv(1, BETAS)
    np.testing.assert_allclose(diagrams.numbers["critical_coupling"], expected, rtol=16 * EPS)
    assert diagrams.outcome is Outcome.SWEPT
    assert diagrams.dimensions == ("beta",)


def test_numbers_and_records_are_those_of_the_diagrams(diagrams):
    opened = open_sweep(diagrams.store)
    for index, beta in enumerate(BETAS):
        alone = bifurcation_diagram(McKeanVlasov(Circle(), Transformer(beta)), **DIAGRAM)
        stored = opened.record(beta=beta)
        assert stored.branches == alone.branches
        assert opened.record(index).special_points == alone.special_points
        folds = alone.events("fold")
        assert diagrams.numbers["fold_count"][index] == len(folds)
        lowest = min((point.coupling for point in folds), default=np.nan)
        np.testing.assert_equal(diagrams.numbers["lowest_fold"][index], lowest)
        rows = [row for row in opened.table_rows("special_point") if row["value"] == index]
        assert [row["coupling"] for row in rows] == [point.coupling for point in alone.special_points]


def test_the_store_is_one_labelled_dataset(diagrams):
    dataset = open_sweep(diagrams.store).to_xarray()
    assert dataset.critical_coupling.dims == ("beta",)
    assert dataset.special_point_coupling.dims == ("beta", "special_point")
    counts = dataset.special_point_count.values
    known = ~np.isnan(dataset.special_point_coupling.values)
    # Behind the last special point there is nothing, and nothing is missing before it.
    assert np.array_equal(known.sum(axis=1), counts)
    assert np.array_equal(known, np.arange(known.shape[1]) < counts[:, None])


@pytest.mark.parametrize("suffix", [".nc", ".json"])
def test_a_saved_sweep_is_read_back_exactly(diagrams, tmp_path, suffix):
    path = tmp_path / f"sweep{suffix}"
    diagrams.save(path)
    assert open_sweep(path) == diagrams
    assert open_sweep(path).record(1).special_points == diagrams.record(1).special_points


def test_a_table_has_a_row_for_every_value_and_every_special_point(diagrams, tmp_path):
    diagrams.save(tmp_path / "sweep.csv")
    lines = (tmp_path / "sweep.csv").read_text().splitlines()
    assert len(lines) == 1 + len(BETAS)
    assert lines[0].startswith("value,beta,status,critical_coupling")
    special = (tmp_path / "sweep.special_point.csv").read_text().splitlines()
    assert len(special) == 1 + int(diagrams.numbers["special_point_count"].sum())


def test_a_grid_is_the_product_and_points_are_not():
    grid = sweep(FAMILY, {"beta": [1.0, 2.0, 3.0], "noise": [0.5, 2.0]}, functions.threshold)
    assert grid.numbers["threshold"].shape == grid.shape == (3, 2)
    # Couplings are proportional to the noise.
    np.testing.assert_allclose(grid.numbers["threshold"][:, 1], 4 * grid.numbers["threshold"][:, 0], rtol=4 * EPS)
    points = sweep(FAMILY, [{"beta": 1.0, "noise": 0.5}, {"beta": 3.0, "noise": 2.0}], functions.threshold)
    assert points.numbers["threshold"].tolist() == [
        grid.numbers["threshold"][0, 0],
        grid.numbers["threshold"][2, 1],
    ]
    assert points.to_xarray().threshold.dims == ("value",)
    assert [grid.at(index) for index in (1, 4)] == [{"beta": 1.0, "noise": 2.0}, {"beta": 3.0, "noise": 0.5}]
    assert grid.index(beta=3.0, noise=0.5) == 4


def test_states_and_rates_over_couplings(tmp_path):
    family = McKeanVlasov(Circle(), Kuramoto())
    couplings = [1.0, 3.0]
    states = sweep(family, {"coupling": couplings}, "states", store=tmp_path / "states")
    rates = sweep(family, {"relative_coupling": [0.5, 1.5]}, "rate", {"fit": False}, store=tmp_path / "rates")
    for index, coupling in enumerate(couplings):
        alone = stationary_states(family.at(coupling=coupling))
        assert states.numbers["state_count"][index] == len(alone)
        moments = states.tables["state"]["m1"][index]
        assert moments[~np.isnan(moments)].tolist() == [state.moments.named("m1") for state in alone]
        assert rates.numbers["gap"][index] == pytest.approx(alone[0].slowest_rate, rel=1e3 * EPS)
        (stored,) = rates.record(index)
        # Half and three halves of the critical coupling 2 are these couplings.
        assert stored.coupling == coupling


def test_every_value_has_a_seed_of_its_own():
    family = McKeanVlasov(Circle(), Kuramoto(), coupling=1.0)
    options = {"particles": 8, "until": 0.1, "times": 1}
    found, again, other = (
        sweep(family, {"noise": [1.0, 1.0]}, "ensemble", options, seed=seed) for seed in (3, 3, 4)
    )
    assert numbers_of(found) == numbers_of(again)
    first, second = found.numbers["order_parameter"]
    assert first != second
    assert other.numbers["order_parameter"][0] not in (first, second)
    seeds = sweep(family, {"noise": [1.0]}, functions.drawn, seed=3).numbers["drawn"]
    alone = simulate(family, seed=int(seeds[0]), **options)
    assert [*alone.rows()][-1]["order_parameter"] == first


# Where it runs


class Backwards(concurrent.futures.Executor):
    """Runs what was submitted, the last first, once all that it is given at a time is there."""

    def __init__(self, at_a_time):
        self.at_a_time, self.waiting, self.unfinished, self.most = at_a_time, [], 0, 0

    def submit(self, function, /, *arguments):
        future = concurrent.futures.Future()
        self.waiting.append((future, function, arguments))
        self.unfinished += 1
        self.most = max(self.most, self.unfinished)
        if len(self.waiting) == self.at_a_time:
            waiting, self.waiting = self.waiting, []
            threading.Thread(target=self.run, args=(waiting,)).start()
        return future

    def run(self, waiting):
        # Time enough for a caller that submits more than it was told.
        time.sleep(0.05)
        for future, function, arguments in reversed(waiting):
            self.unfinished -= 1
            future.set_result(function(*arguments))

    def shutdown(self, wait=True, *, cancel_futures=False):
        raise AssertionError("an executor that was given is not shut down")


def test_the_numbers_do_not_depend_on_the_executor(kept_processes):
    values, options = {"beta": BETAS}, {"offset": 1}
    here = numbers_of(sweep(FAMILY, values, functions.drawn, options))
    backwards = Backwards(2)
    assert numbers_of(sweep(FAMILY, values, functions.drawn, options, executor=backwards, ahead=2)) == here
    assert backwards.most == 2
    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        assert numbers_of(sweep(FAMILY, values, functions.drawn, options, executor=threads)) == here
    assert numbers_of(sweep(FAMILY, values, functions.drawn, options, workers=2)) == here
    assert kept_processes == [2]


def test_processes_write_the_same_diagrams(diagrams, tmp_path, kept_processes):
    found = sweep(FAMILY, {"beta": BETAS}, "diagram", DIAGRAM, workers=2, store=tmp_path / "runs")
    assert kept_processes == [2]
    assert numbers_of(found) == numbers_of(diagrams)
    assert found.record(2).branches == diagrams.record(2).branches


def test_workers_have_one_thread_each(monkeypatch):
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(variable, "2")
    found = sweep(FAMILY, {"beta": [1.0, 2.0]}, functions.threads, workers=2)
    assert found.numbers["result"].tolist() == [1.0, 1.0]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_dask_computes_the_same_and_outlives_a_worker(tmp_path, dask_client):
    executor = dask_client.get_executor(pure=False)
    values = {"beta": BETAS}
    here = sweep(FAMILY, values, functions.threshold)
    assert numbers_of(sweep(FAMILY, values, functions.threshold, executor=executor)) == numbers_of(here)
    options = {"folder": str(tmp_path)}
    found = sweep(FAMILY, values, functions.fatal, options, executor=executor, store=tmp_path / "runs")
    assert found.status.tolist() == ["complete", "complete", "failed", "complete"]
    assert "KilledWorker" in found.failures[0]
    (tmp_path / "killed").unlink()
    once = sweep(FAMILY, values, functions.fatal, options | {"always": False}, executor=executor)
    assert once.numbers["result"].tolist() == [beta**2 for beta in BETAS]


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    import dask

    # A value is given up, and tried once more alone, after two deaths of workers and not four: each takes seconds.
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(
            2, processes=True, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


# The store


def test_what_is_complete_is_not_computed_again(tmp_path):
    calls, store = tmp_path / "calls", tmp_path / "runs"
    calls.mkdir()
    call = {
        "values": {"beta": BETAS},
        "compute": functions.counted,
        "options": {"folder": str(calls)},
        "store": store,
    }
    whole = sweep(FAMILY, **call)
    assert functions.calls(calls) == {"0.5": 1, "1": 1, "3": 1, "4": 1}
    # As a kill leaves it: no result, a result that is not whole, a record of another length.
    shutil.rmtree(store / "000001")
    (store / "000002" / "result.json").write_text('{"format": "meanfi')
    half = open_sweep(store)
    assert half.status.tolist() == ["complete", "missing", "missing", "complete"]
    assert half.outcome is Outcome.PARTIAL
    again = sweep(FAMILY, **call)
    assert functions.calls(calls) == {"0.5": 1, "1": 2, "3": 2, "4": 1}
    assert numbers_of(again) == numbers_of(whole)


def test_a_changed_result_and_a_lost_record_are_computed_again(diagrams, tmp_path):
    store = tmp_path / "runs"
    shutil.copytree(diagrams.store, store)
    path = store / "000000" / "result.json"
    values = json.loads(path.read_text())
    values["numbers"]["critical_coupling"] *= 2
    path.write_text(json.dumps(values))
    (store / "000003" / "diagram.nc").unlink()
    assert open_sweep(store).status.tolist() == ["missing", "complete", "complete", "missing"]


@pytest.mark.parametrize("place", [0.0, 0.3, 0.9, 1.0])
def test_a_record_with_a_changed_byte_is_computed_again(diagrams, tmp_path, place):
    """In its content or in the seal of its format."""
    store = tmp_path / "runs"
    shutil.copytree(diagrams.store, store)
    path = store / "000001" / "diagram.nc"
    content = bytearray(path.read_bytes())
    content[int(place * (len(content) - 1))] ^= 1
    path.write_bytes(content)
    assert open_sweep(store).status.tolist() == ["complete", "missing", "complete", "complete"]


def test_a_changed_record_of_states_is_computed_again(tmp_path):
    """These are texts."""
    store = tmp_path / "runs"
    sweep(FAMILY.at(coupling=0.3), {"beta": [0.5, 1.0]}, "states", {"rates": False}, store=store)
    record = next(path for path in (store / "000001").iterdir() if path.name != "result.json")
    text = record.read_text()
    record.write_text(text.replace("uniform", "uniforn", 1))
    assert open_sweep(store).status.tolist() == ["complete", "missing"]
    record.write_text(text)
    assert open_sweep(store).status.tolist() == ["complete", "complete"]


def test_a_result_counts_for_its_own_sweep_and_value_only(tmp_path):
    store, calls = tmp_path / "store", tmp_path / "calls"
    calls.mkdir()

    def run(values):
        return sweep(FAMILY, {"beta": values}, functions.counted, {"folder": str(calls)}, store=store)

    wanted = run([1.0, 2.0, 3.0]).numbers["result"].tolist()
    (store / "000001").rename(store / "other")
    (store / "000002").rename(store / "000001")
    (store / "other").rename(store / "000002")
    assert run([1.0, 2.0, 3.0]).numbers["result"].tolist() == wanted
    # Another sweep goes on in a directory that has lost what identified the first one.
    (store / "sweep.json").unlink()
    assert run([4.0, 5.0, 6.0]).numbers["result"].tolist() == [16.0, 25.0, 36.0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"family": FAMILY.with_parameter("noise", 2.0)}, "its problem noise is 1.0, not 2.0"),
        ({"values": {"beta": [1.0, 2.0]}}, r"its parameters beta is \[1.0\], not \[1.0, 2.0\]"),
        ({"values": [{"beta": 1.0}]}, "its grid is true, not false"),
        ({"values": {"noise": [1.0]}}, r"its parameters beta is \[1.0\], and this one has none"),
        ({"compute": functions.drawn, "options": None}, "its computation is"),
        ({"options": {"where": "2"}}, "its options folder is"),
        ({"options": {"folder": functions.drawn}}, "its options folder is .*, not .tests.sweep_functions.drawn"),
    ],
)
def test_the_store_of_another_sweep_is_refused(tmp_path, change, words):
    call = {
        "family": FAMILY, "values": {"beta": [1.0]}, "compute": functions.counted,
        "options": {"folder": str(tmp_path)}, "store": tmp_path / "runs",
    }  # fmt: skip
    sweep(**call)
    with pytest.raises(InvalidInput, match=f"belongs to another sweep: {words}"):
        sweep(**(call | change))


def test_functions_of_one_name_are_told_apart(tmp_path):
    one, other = (
        McKeanVlasov(Circle(), Custom(function=function))
        for function in (lambda t: -np.cos(t), lambda t: -np.cos(2 * t))
    )
    sweep(one, {"noise": [1.0]}, functions.drawn, store=tmp_path / "runs")
    with pytest.raises(InvalidInput, match="another sweep: its problem potential"):
        sweep(other, {"noise": [1.0]}, functions.drawn, store=tmp_path / "runs")


def test_other_directories_are_refused(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(InvalidInput, match="holds other files and no sweep"):
        sweep(FAMILY, {"beta": [1.0]}, functions.threshold, store=tmp_path)
    with pytest.raises(InvalidInput, match="can be no store"):
        sweep(FAMILY, {"beta": [1.0]}, functions.threshold, store=tmp_path / "no" / "where")
    with pytest.raises(InvalidInput, match="holds no sweep"):
        open_sweep(tmp_path)


def test_failures_are_kept_beside_their_sentence_and_tried_again_when_asked(tmp_path):
    calls = tmp_path / "calls"
    calls.mkdir()
    call = {
        "values": {"beta": BETAS}, "compute": functions.counted, "store": tmp_path / "runs",
        "options": {"folder": str(calls), "where": "3"},
    }  # fmt: skip
    found = sweep(FAMILY, **call)
    assert found.failures == ("beta = 3: ValueError: no answer at 3",)
    assert found.partial
    assert open_sweep(tmp_path / "runs").failure.tolist() == ["", "", "ValueError: no answer at 3", ""]
    assert sweep(FAMILY, **call).failures == found.failures
    assert functions.calls(calls) == {"0.5": 1, "1": 1, "3": 1, "4": 1}
    sweep(FAMILY, **call, retry=True)
    assert functions.calls(calls) == {"0.5": 1, "1": 1, "3": 2, "4": 1}
    with pytest.raises(InvalidInput, match="no record at beta = 3: it is failed ValueError"):
        found.record(beta=3.0)


def test_inadmissible_values_fail_alone():
    family = McKeanVlasov(Circle(), HegselmannKrause(1.0))
    found = sweep(family, {"radius": [-1.0, 1.0]}, functions.threshold)
    assert found.status.tolist() == ["failed", "complete"]
    assert "radius must be in (0, pi]" in found.failures[0]
    assert np.isnan(found.numbers["threshold"][0])


def test_two_runs_share_a_store(tmp_path, processes):
    """Together they compute every value once, and both return all of them."""
    calls, store = tmp_path / "calls", tmp_path / "runs"
    calls.mkdir()
    both = [processes.submit(run_on, store, calls) for _ in range(2)]
    found = [each.result(60).numbers["result"].tolist() for each in both]
    expected = [float(beta) ** 2 for beta in range(1, 21)]
    assert found == [expected, expected]
    assert functions.calls(calls) == {f"{beta}": 1 for beta in range(1, 21)}


def run_on(store, calls):
    options = {"folder": str(calls), "pause": 0.05}
    return sweep(FAMILY, {"beta": np.arange(1.0, 21.0)}, functions.counted, options, store=store)


def test_a_claim_ends_with_its_process(tmp_path):
    """What a killed run had claimed is computed by the next."""
    store = tmp_path / "runs"
    calls = tmp_path / "calls"
    calls.mkdir()
    owner = multiprocessing.get_context("spawn").Process(target=claim_for_ever, args=(store, calls))
    owner.start()
    while not (tmp_path / "claimed").exists():
        assert owner.is_alive()
        owner.join(0.05)
    killer = threading.Timer(1.0, owner.kill)
    killer.start()
    found = sweep(FAMILY, {"beta": [1.0, 2.0]}, functions.counted, {"folder": str(calls)}, store=store)
    owner.join()
    assert found.numbers["result"].tolist() == [1.0, 4.0]
    assert owner.exitcode == -9


def claim_for_ever(store, calls):
    identity = identity_of(calls)
    kept = Store(store)
    with kept.opened(identity):
        assert kept.claim(1)
        (store.parent / "claimed").touch()
        threading.Event().wait()


def identity_of(calls):
    """What identifies the sweep of the test above, from a store that such a sweep begins."""
    other = calls.parent / "other"
    sweep(FAMILY, {"beta": [1.0, 2.0]}, functions.counted, {"folder": str(calls)}, store=other)
    values = Store(other).identity()
    return {
        name: values[name]
        for name in values
        if name not in ("format", "schema_version", "meanfield_version", "digest")
    }


# Processes and executors that die


def test_the_task_that_kills_its_process_is_to_blame(tmp_path):
    options = {"folder": str(tmp_path)}
    found = sweep(FAMILY, {"beta": BETAS}, functions.fatal, options, workers=2, store=tmp_path / "runs")
    assert found.status.tolist() == ["complete", "complete", "failed", "complete"]
    assert "the process that computed it died" in found.failures[0]


def test_a_process_that_is_killed_from_outside_costs_nothing(tmp_path):
    options = {"folder": str(tmp_path), "always": False}
    found = sweep(FAMILY, {"beta": BETAS}, functions.fatal, options, workers=2)
    assert (tmp_path / "killed").exists()
    assert found.numbers["result"].tolist() == [beta**2 for beta in BETAS]


def test_a_given_executor_that_breaks_ends_the_run_and_not_the_store(tmp_path):
    options = {"folder": str(tmp_path), "always": False}
    call = {"values": {"beta": BETAS}, "compute": functions.fatal, "options": options, "store": tmp_path / "runs"}
    context = multiprocessing.get_context("spawn")
    with (
        concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool,
        pytest.raises(ComputationFailed, match=r"the executor is gone, .*: BrokenProcessPool") as raised,
    ):
        sweep(FAMILY, executor=pool, **call)
    partial = raised.value.partial
    assert partial.outcome is Outcome.PARTIAL
    assert "missing" in partial.status
    assert "failed" not in partial.status
    assert sweep(FAMILY, **call).outcome is Outcome.SWEPT


SCHEDULER = "import sys; from distributed.cli.dask_scheduler import main; sys.exit(main())"
WORKER = "import sys; from distributed.cli.dask_worker import main; sys.exit(main())"


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.usefixtures("kept_processes")
def test_a_scheduler_that_goes_away_ends_the_run_and_not_the_store(tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    address = tmp_path / "scheduler.json"
    options = ["--scheduler-file", str(address), "--no-dashboard"]
    # Workers import the functions of these tests.
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    quiet = {"stderr": subprocess.DEVNULL, "cwd": tmp_path, "env": environment}
    calls = tmp_path / "calls"
    calls.mkdir()
    call = {
        "values": {"beta": np.arange(1.0, 41.0)}, "compute": functions.counted, "store": tmp_path / "runs",
        "options": {"folder": str(calls), "pause": 0.2},
    }  # fmt: skip
    with contextlib.ExitStack() as stack:
        scheduler = stack.enter_context(
            process_of([SCHEDULER, *options, "--host", "127.0.0.1", "--port", "0"], quiet)
        )
        while not address.exists() and scheduler.poll() is None:
            time.sleep(0.05)
        stack.enter_context(process_of([WORKER, *options, "--nthreads", "1"], quiet))
        client = distributed.Client(scheduler_file=str(address), timeout=30)
        client.wait_for_workers(1, timeout=30)

        def kill_at_the_third(done, total, label):
            if done == 3:
                scheduler.kill()

        with pytest.raises(ComputationFailed, match="the executor is gone") as raised:
            sweep(FAMILY, executor=client.get_executor(pure=False), watch=kill_at_the_third, **call)
        with contextlib.suppress(Exception):
            client.close(timeout=1)
    kept = raised.value.partial.status.tolist()
    assert 3 <= kept.count("complete") < 40
    assert "failed" not in kept
    assert open_sweep(tmp_path / "runs").status.tolist() == kept
    once = functions.calls(calls)
    whole = sweep(FAMILY, **call, workers=2)
    assert whole.numbers["result"].tolist() == [float(beta) ** 2 for beta in range(1, 41)]
    again = functions.calls(calls)
    assert all(
        again[f"{index + 1}"] == once[f"{index + 1}"] for index, each in enumerate(kept) if each == "complete"
    )


@contextlib.contextmanager
def process_of(arguments, settings):
    """A process of Python, ended at the end."""
    process = subprocess.Popen([sys.executable, "-c", *arguments], **settings)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


class Blaming(concurrent.futures.Executor):
    """Blames every value once for the death of a worker, and one always."""

    def __init__(self):
        self.blamed = []

    def submit(self, function, /, task):
        future = concurrent.futures.Future()
        if task.index != 2 and task.index in self.blamed:
            future.set_result(function(task))
        else:
            self.blamed.append(task.index)
            future.set_exception(RuntimeError("its worker died"))
        return future


def test_a_value_blamed_for_another_is_computed_alone(tmp_path):
    found = sweep(FAMILY, {"beta": BETAS}, functions.threshold, executor=Blaming(), store=tmp_path / "runs")
    assert found.status.tolist() == ["complete", "complete", "failed", "complete"]
    assert "its worker died" in found.failures[0]


class Interrupting(concurrent.futures.Executor):
    """Computes the first tasks it is given, and presses Ctrl-C at the last."""

    def submit(self, function, /, task):
        future = concurrent.futures.Future()
        if task.index == 3:
            raise KeyboardInterrupt
        if task.index != 1:
            future.set_result(function(task))
        return future


def test_an_interrupt_keeps_what_is_finished(tmp_path):
    call = {"values": {"beta": BETAS}, "compute": functions.threshold, "store": tmp_path / "runs"}
    found = sweep(FAMILY, executor=Interrupting(), on_failure="return", **call)
    assert found.outcome is Outcome.INTERRUPTED
    assert found.status.tolist() == ["complete", "missing", "complete", "missing"]
    assert open_sweep(tmp_path / "runs").status.tolist() == found.status.tolist()
    with pytest.raises(KeyboardInterrupt):
        sweep(FAMILY, executor=Interrupting(), **call)


def test_a_disk_that_takes_no_more_ends_the_run_in_one_sentence(tmp_path, monkeypatch):
    """From the third file on the system refuses all but a few bytes of each; then there is room again."""
    resource = pytest.importorskip("resource")
    call = {"values": {"beta": BETAS}, "compute": functions.threshold, "store": tmp_path / "runs"}
    kind, written = resource.RLIMIT_FSIZE, []
    usual = resource.getrlimit(kind)

    def write(writers, force=False):
        if len(written) == 2:
            resource.setrlimit(kind, (16, usual[1]))
        written.append(writers)
        return write_files(writers, force)

    monkeypatch.setattr("meanfield.export.stores.write_files", write)
    try:
        with pytest.raises(ComputationFailed, match=r"could not be written \(File too large\)") as raised:
            sweep(FAMILY, **call)
    finally:
        resource.setrlimit(kind, usual)
    monkeypatch.undo()
    assert raised.value.partial.status.tolist() == ["complete", "missing", "missing", "missing"]
    assert not list((tmp_path / "runs").glob("**/*.part"))
    assert sweep(FAMILY, **call).outcome is Outcome.SWEPT


# What is refused


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"values": {"bta": [1.0]}}, "no continuous parameter 'bta'; did you mean beta"),
        ({"values": {}}, "there are no values to sweep over"),
        ({"values": {"beta": []}}, "the values of beta must be finite numbers in a list"),
        ({"values": {"beta": [np.nan]}}, "the values of beta must be finite numbers in a list"),
        ({"values": 3.0}, "values must be a mapping"),
        ({"values": [{"beta": 1.0}, {"noise": 1.0}]}, "all points must have the same parameters"),
        ({"values": {"beta": np.zeros(1001), "noise": np.ones(1001)}}, "at most 1000000 values"),
        ({"values": {"coupling": [1.0]}}, "a diagram runs over the coupling itself"),
        ({"compute": "diagrm"}, "did you mean diagram"),
        ({"compute": lambda problem: 1.0}, "a function of a module"),
        ({"options": {"dept": 1}}, "did you mean depth"),
        ({"options": {"watch": 1}}, "'watch' is decided by the sweep itself"),
        ({"workers": 0}, "workers must be from 1"),
        ({"ahead": 0}, "ahead must be at least 1"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"workers": 2, "executor": Interrupting()}, "an executor or a number of workers, not both"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(change, words):
    with pytest.raises(InvalidInput, match=words) as raised:
        sweep(**({"family": FAMILY, "values": {"beta": [1.0]}} | change))
    assert "\n" not in str(raised.value)


def test_a_function_that_returns_no_numbers_says_so():
    found = sweep(FAMILY, {"beta": [1.0]}, functions.wordy)
    assert "must return a record, a number or a mapping" in found.failures[0]


def test_values_and_quantities_that_are_not_there(diagrams):
    with pytest.raises(InvalidInput, match="the nearest is beta = 3"):
        diagrams.record(beta=2.9)
    with pytest.raises(InvalidInput, match="no quantity 'lowest_fld'; did you mean lowest_fold"):
        diagrams.quantity("lowest_fld")
    with pytest.raises(InvalidInput, match="none of number 4"):
        diagrams.at(4)
    with pytest.raises(InvalidInput, match="given by beta, not by noise"):
        diagrams.index(noise=1.0)


# Pictures


def test_a_picture_has_the_special_points_of_every_value(diagrams):
    ax = diagrams.plot()
    lines = {line.get_label(): line.get_xydata() for line in ax.lines}
    folds = diagrams.tables["special_point"]
    meant = folds["type"] == "fold"
    drawn = lines["fold, 1-cluster"]
    assert np.array_equal(drawn[~np.isnan(drawn[:, 1]), 1], folds["relative_coupling"][meant])
    assert ax.get_ylabel() == r"$\kappa/\kappa_c$"


def test_unstable_states_are_hollow():
    family = McKeanVlasov(Circle(), Kuramoto())
    found = sweep(family, {"coupling": [1.0, 3.0]}, "states", {"rates": False})
    stable, unstable = found.plot().lines
    assert unstable.get_markerfacecolor() == "white"
    # Above the coupling 2 the uniform state is unstable.
    assert unstable.get_xydata().tolist() == [[3.0, 0.0]]
    assert len(stable.get_ydata()) == 2


def test_a_map_has_a_colour_for_every_value():
    found = sweep(FAMILY, {"beta": [3.0, 1.0], "noise": [0.5, 1.0, 2.0]}, functions.threshold)
    ax = found.plot("threshold")
    (mesh,) = ax.collections
    # Columns are sorted, whatever the order of the values.
    assert np.array_equal(mesh.get_array(), found.numbers["threshold"][::-1])
    with pytest.raises(InvalidInput, match="one or two parameters"):
        sweep(FAMILY, {"beta": [1.0], "noise": [1.0], "coupling": [1.0]}, functions.drawn).plot()
