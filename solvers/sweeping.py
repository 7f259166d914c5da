"""Sweeps: one computation at many values of the parameters of a problem, on any executor, kept in a store."""

import concurrent.futures
import contextlib
import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from meanfield import ComputationFailed, Equation, InvalidInput
from meanfield.arguments import ITSELF, checked, shown
from meanfield.errors import did_you_mean
from meanfield.export import Result, Store, assembled, plain
from meanfield.records import COUPLING, Sweep

from .execution.arguments import require_on_failure
from .execution.checkpoints import described
from .execution.provenance import provenance
from .execution.watching import Watch, unwatched
from .sweeps import (
    COMPUTATIONS,
    Computed,
    Task,
    Values,
    on_executor,
    on_processes,
    one_by_one,
    require_options,
    seed_of,
    takes_seed,
    values_from,
)

# Tasks given to an executor at a time, of which nobody knows how many it runs at once.
AHEAD = 256
MOST_WORKERS = 1024
# Seconds between two looks at the values that another run computes.
BETWEEN_LOOKS = 0.25


@checked
def sweep(
    family: Equation,
    values: Annotated[Any, ITSELF],
    compute: Annotated[str | Callable[..., Any], ITSELF] = "diagram",
    options: Mapping[str, Any] | None = None,
    *,
    store: str | Path | None = None,
    executor: concurrent.futures.Executor | None = None,
    workers: int = 1,
    seed: int = 1,
    retry: bool = False,
    ahead: int = AHEAD,
    on_failure: str = "raise",
    watch: Watch | None = None,
) -> Sweep:
    """Compute diagrams, states, rates or ensembles at many values of the parameters of a problem.

    Parameters
    ----------
    family
        The equation whose parameters are changed.
    values
        For each parameter a list of values, whose product grid is meant: ``{"beta": [1.0, 2.0, 4.0]}``; or a list
        of points: ``[{"beta": 1.0, "noise": 0.5}, {"beta": 2.0, "noise": 0.7}]``. The parameters are those of
        ``family.parameters``, and ``coupling`` or ``relative_coupling``.
    compute
        ``"diagram"``, ``"states"``, ``"rate"`` or ``"ensemble"``; or a function of a module, called with the
        problem, the options and, if it has an argument ``seed``, a seed of its own, which returns a record, a
        number or a mapping of names to numbers.
    options
        Options of the computation by name: those of :func:`~solvers.bifurcation_diagram`,
        :func:`~solvers.stationary_states`, :func:`~solvers.contraction_rate` and :func:`~solvers.simulate`. The
        last three take ``relative`` as well, a relative coupling, and rates ``fit=False``, the spectral gap alone.
    store
        A directory, new or that of the same sweep, which keeps the record of every value. What is complete there is
        not computed again. Several runs may work on one store.
    executor
        Any ``concurrent.futures.Executor``, one task a value; it is not shut down, and the numbers do not depend on
        it. The store is written by this process.
    workers
        In the place of an executor so many processes of this machine. One that dies is replaced.
    seed
        Determines the seeds of all values, each from its index.
    retry
        Whether to compute again the values that failed before.
    ahead
        Tasks given to the executor at a time: at least as many as it runs at once.
    on_failure
        ``"raise"``, or ``"return"`` for the partial record if the user interrupts, the disk refuses or the executor
        is gone. A value that fails ends nothing: the record says why.
    watch
        Called with the values done, all of them, and the value just done in words.

    Returns
    -------
    Sweep

    Raises
    ------
    InvalidInput
        If an argument is not admissible, or the store belongs to another sweep.
    ComputationFailed
        If the disk refuses or the executor is gone; its attribute ``partial`` holds the partial record, and the
        store what is complete.

    Examples
    --------
    >>> from meanfield import Circle, McKeanVlasov, Transformer
    >>> found = sweep(McKeanVlasov(Circle(), Transformer(1.0)), {"beta": [1.0, 2.0]}, options={"rates": False})
    >>> found.status.tolist(), found.numbers["transition_count"].tolist()
    (['complete', 'complete'], [0.0, 1.0])
    """
    require_on_failure(on_failure)
    _require_places(executor, workers, ahead, seed)
    name, function = _computation(compute)
    given = dict(options or {})
    require_options(name, function, given)
    points = values_from(family, values)
    along = given.get("parameter", COUPLING) if name == "diagram" else ""
    if along in points.axes or (along == COUPLING and "relative_coupling" in points.axes):
        itself = "the coupling" if along == COUPLING else along
        raise InvalidInput(
            f"a diagram runs over {itself} itself; sweep over other parameters, or compute 'states' at its values"
        )
    run = _Run(family, points, name, function, given, seed, store, retry, watch or unwatched)
    where: Callable[..., None] = one_by_one
    if executor is not None:
        where = partial(on_executor, executor=executor, ahead=ahead)
    elif workers > 1:
        where = partial(on_processes, workers=workers)
    return run.to_the_end(where, on_failure)


class _Run:
    """A sweep during its computation."""

    def __init__(
        self,
        family: Equation,
        values: Values,
        name: str,
        function: Callable[..., Any],
        options: dict[str, Any],
        seed: int,
        store: str | Path | None,
        retry: bool,
        watch: Watch,
    ) -> None:
        self.family, self.values, self.function, self.options = family, values, function, options
        self.seed = seed if takes_seed(function) else None
        self.retry, self.watch = retry, watch
        self.store = None if store is None else Store(store)
        self.results: dict[int, Result] = {}
        self.failed: dict[int, Result] = {}
        self.elsewhere: list[int] = []
        self.identity = {
            "problem": described(family),
            "parameters": {parameter: axis.tolist() for parameter, axis in values.axes.items()},
            "grid": values.grid,
            "computed": name,
            "options": plain({name: _described(value) for name, value in options.items()}),
            "seed": self.seed,
        }

    def to_the_end(self, where: Callable[..., None], on_failure: str) -> Sweep:
        """Compute what is missing, and return the record."""
        started = time.process_time()
        opened = contextlib.nullcontext() if self.store is None else self.store.opened(self.identity)
        with opened:
            try:
                self._compute(where)
            except KeyboardInterrupt:
                if on_failure == "raise":
                    raise
                return self._record(started, interrupted=True)
            except ComputationFailed as error:
                partial_record = self._record(started, warnings=(str(error),))
                if on_failure == "return":
                    return partial_record
                error.partial = partial_record
                raise
        return self._record(started)

    def _compute(self, where: Callable[..., None]) -> None:
        missing = list(self._missing())
        self._tell("")
        where(self._claimed(missing), self._keep)
        while self.elsewhere:
            waiting, self.elsewhere = self.elsewhere, []
            done = len(self.results)
            where(self._claimed(waiting), self._keep)
            if len(self.results) == done:
                time.sleep(BETWEEN_LOOKS)

    def _missing(self) -> Iterator[int]:
        """Yield the indices to be computed, having read the results of the others."""
        for index in range(len(self.values)):
            result = None if self.store is None else self.store.result(index)
            if result is not None and result.failure and self.retry:
                self.failed[index] = result
            elif result is not None:
                self.results[index] = result
            if index not in self.results:
                yield index

    def _claimed(self, indices: Sequence[int]) -> Iterator[Task]:
        """Yield the tasks that no other run computes or has computed meanwhile, claiming each."""
        for index in indices:
            if self.store is None:
                yield self._task(index)
            elif not self.store.claim(index):
                self.elsewhere.append(index)
            else:
                result = self.store.result(index)
                if result is None or result == self.failed.get(index):
                    yield self._task(index)
                else:
                    self.results[index] = result
                    self.store.release(index)
                    self._tell("")

    def _task(self, index: int) -> Task:
        seed = None if self.seed is None else seed_of(self.seed, index)
        stored = self.store is not None
        return Task(index, self.family, self.values.at(index), self.function, self.options, seed, stored)

    def _keep(self, task: Task, computed: Computed) -> None:
        if self.store is not None:
            self.store.write(task.index, computed.result, computed.record)
            self.store.release(task.index)
        self.results[task.index] = computed.result
        self._tell(", ".join(f"{name} = {value:.6g}" for name, value in task.values.items()))

    def _tell(self, label: str) -> None:
        self.watch(len(self.results), len(self.values), label)

    def _record(self, started: float, *, interrupted: bool = False, warnings: Sequence[str] = ()) -> Sweep:
        spent = sum(result.cpu_seconds for result in self.results.values()) + time.process_time() - started
        return assembled(
            self.family,
            self.identity,
            self.failed | self.results,
            self.store,
            interrupted=interrupted,
            warnings=warnings,
            provenance=provenance(self.family, self.identity["options"], spent),
        )


def _described(value: Any) -> Any:
    """Return an option as it identifies a sweep: a function by its name, since its text differs from run to run."""
    return f"{value.__module__}.{value.__qualname__}" if inspect.isroutine(value) else value


def _require_places(executor: Any, workers: int, ahead: int, seed: int) -> None:
    if not 1 <= workers <= MOST_WORKERS:
        raise InvalidInput(f"workers must be from 1 to {MOST_WORKERS}, not {shown(workers)}")
    if executor is not None and workers != 1:
        raise InvalidInput("give an executor or a number of workers, not both; an executor knows its own number")
    if ahead < 1:
        raise InvalidInput(f"ahead must be at least 1, not {shown(ahead)}")
    if seed < 0:
        raise InvalidInput(f"seed must be a whole number, 0 or more, not {shown(seed)}")


def _computation(compute: Any) -> tuple[str, Callable[..., Any]]:
    """Return the name of a computation and its function.

    Raises
    ------
    InvalidInput
        If there is none of that name, or it is not a function that another process can import.
    """
    if isinstance(compute, str):
        if compute not in COMPUTATIONS:
            raise InvalidInput(
                f"nothing is called {compute!r} that could be computed; {did_you_mean(compute, COMPUTATIONS)}there "
                f"are {', '.join(COMPUTATIONS)}"
            )
        return compute, COMPUTATIONS[compute]
    name = getattr(compute, "__qualname__", "<")
    if isinstance(compute, type) or not callable(compute) or "<" in name:
        raise InvalidInput(
            f"compute must be one of {', '.join(COMPUTATIONS)} or a function of a module, which other processes "
            f"can import, not {shown(compute)}"
        )
    known = next((own for own, function in COMPUTATIONS.items() if function is compute), None)
    return known or f"{compute.__module__}.{name}", compute
