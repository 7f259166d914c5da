"""The task of one value: what is computed there, in whatever process, and returned as bytes and numbers."""

import functools
import inspect
import multiprocessing
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from meanfield import ComputationFailed, Contraction, Ensemble, Equation, InvalidInput, Relaxation, State
from meanfield.arguments import is_number, is_whole, shown
from meanfield.base import SavedRecord
from meanfield.errors import did_you_mean
from meanfield.export import Result, encoded
from meanfield.records import StationaryStates

from ..diagram import bifurcation_diagram
from ..ensemble import simulate
from ..execution.arguments import require_depth, require_range
from ..particles.planning import LIMITS, whole_within_limits
from ..particles.timing import positive, require_intervals
from ..relaxation import contraction_rate
from ..spectra import spectrum
from ..stationary import stationary_states
from .numbers import numbers_of
from .values import at_relative, problem_at

# Characters of the reason of a failure.
LONGEST = 500
# Options that may be ranges, and what they are called.
RANGES = {"interval": "interval", "relative": "relative interval"}


@dataclass(frozen=True, eq=False)
class Task:
    """One value of a sweep; plain and picklable.

    Attributes
    ----------
    index
        Its number.
    function
        A function of a module: of the problem, the options by name and, if it takes one, the seed.
    seed
        Seed of this value; None if the function takes none.
    stored
        Whether the record is wanted, and not its numbers alone.
    """

    index: int
    problem: Equation
    values: Mapping[str, float]
    function: Callable[..., Any]
    options: Mapping[str, Any]
    seed: int | None
    stored: bool


@dataclass(frozen=True, eq=False)
class Computed:
    """The result of a value and the bytes of its record, None if there is none."""

    result: Result
    record: bytes | None = None


def run(task: Task) -> Computed:
    """Compute one value; an exception is its result.

    Raises
    ------
    ComputationFailed
        If the disk of the process that computes takes no temporary file: that is no fault of the value.
    """
    _bound_threads()
    started = time.process_time()
    try:
        problem = problem_at(task.problem, task.values)
        seed = {} if task.seed is None else {"seed": task.seed}
        found = task.function(problem, **task.options, **seed)
        numbers, tables = numbers_of(found)
    except Exception as error:
        return Computed(Result(failure=reason(error), cpu_seconds=time.process_time() - started))
    name, content = _encoded(found) if task.stored else ("", None)
    spent = time.process_time() - started
    result = Result(numbers, tables, name, cpu_seconds=spent)
    return Computed(result if content is None else result.about(content), content)


def reason(error: BaseException) -> str:
    """Return an exception as a sentence; one of the package is one."""
    text = " ".join(str(error).split()) or "no reason given"
    text = text if type(error).__module__.startswith("meanfield.") else f"{type(error).__name__}: {text}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def seed_of(seed: int, index: int) -> int:
    """Return the seed of a value, which depends on its index and on no other value."""
    sequence = np.random.SeedSequence(seed, spawn_key=(index,))
    # JSON holds whole numbers up to 2^53 exactly in every program.
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(11))


def takes_seed(function: Callable[..., Any]) -> bool:
    """Return whether a function takes a seed."""
    return "seed" in inspect.signature(function).parameters


def require_options(name: str, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Refuse options that a computation does not take, and numbers that none admits, before anything is computed.

    Raises
    ------
    InvalidInput
        The message names the nearest option, or what is admissible.
    """
    verb: Callable[..., Any] = _VERBS.get(name, function)
    own = inspect.signature(verb).parameters
    known = [each for each in (*list(own)[1:], *_FURTHER.get(name, ())) if each not in OURS]
    free = any(parameter.kind is parameter.VAR_KEYWORD for parameter in own.values())
    unknown = next((each for each in options if each not in known and not (free and each not in OURS)), None)
    if unknown is not None:
        ours = "is decided by the sweep itself" if unknown in OURS else "is no option of it"
        raise InvalidInput(
            f"{name}: {shown(unknown)} {ours}; {did_you_mean(str(unknown), known)}it takes "
            f"{', '.join(known) or 'none'}"
        )
    if name in COMPUTATIONS:
        for each, value in options.items():
            _require_value(each, value)


def _require_value(name: str, value: Any) -> None:
    """Refuse a number that is not admissible at any value of the sweep, whose store would keep that it failed."""
    if is_whole(value) and name == "depth":
        require_depth(value)
    elif is_whole(value) and name == "times":
        require_intervals(value)
    elif is_whole(value) and name in LIMITS:
        whole_within_limits(name, value)
    elif is_number(value) and name in ("until", "step"):
        positive(value, name, {"until": "until=3.0", "step": "step=0.01"}[name])
    elif name in RANGES and isinstance(value, tuple | list) and len(value) == 2 and all(map(is_number, value)):
        require_range((value[0], value[1]), RANGES[name])


def states(problem: Equation, *, relative: float | None = None, **options: Any) -> StationaryStates:
    """Return the stationary states at the coupling of the problem, or at a relative one."""
    return stationary_states(_at(problem, relative), **options)


def rate(
    problem: Equation, *, relative: float | None = None, fit: bool = True, **options: Any
) -> Relaxation | Contraction:
    """Return the rate of contraction at the coupling of the problem, or at a relative one.

    Parameters
    ----------
    fit
        Whether to fit exponentials to an evolution; the spectral gap alone is much cheaper.

    Raises
    ------
    ComputationFailed
        If the minimiser is not known.
    """
    problem = _at(problem, relative)
    if fit or problem.noise == 0:
        return contraction_rate(problem, **options)
    found = stationary_states(problem, rates=False, **options)
    minimiser = next((state for state in found if state.minimiser), None)
    if minimiser is None:
        raise ComputationFailed(f"the minimiser is not known: {found[0].minimiser_reason}")
    spectral = spectrum(minimiser)
    return Relaxation(
        problem, minimiser, spectral.slowest_rate, spectral.error, None, (), np.zeros(0), np.zeros((0, 0))
    )


def ensemble(problem: Equation, *, seed: int, relative: float | None = None, **options: Any) -> Ensemble:
    """Return an ensemble of particles at the coupling of the problem, or at a relative one."""
    return simulate(_at(problem, relative), seed=seed, **options)


COMPUTATIONS: dict[str, Callable[..., Any]] = {
    "diagram": bifurcation_diagram,
    "states": states,
    "rate": rate,
    "ensemble": ensemble,
}
# The verbs whose options these take, and the options they have besides.
_VERBS: dict[str, Callable[..., Any]] = {
    "states": stationary_states,
    "rate": contraction_rate,
    "ensemble": simulate,
}
_FURTHER = {"states": ("relative",), "rate": ("relative", "fit"), "ensemble": ("relative",)}
# What a sweep gives to every value itself.
OURS = ("seed", "executor", "watch", "checkpoint")


def _at(problem: Equation, relative: float | None) -> Equation:
    return problem if relative is None else at_relative(problem, relative)


def _encoded(found: Any) -> tuple[str, bytes | None]:
    """Return the file name and the bytes of the record of what was computed; the state of a rate is its record."""
    if isinstance(found, Relaxation):
        found = found.state
    if isinstance(found, State):
        found = StationaryStates((found,), "", None)
    try:
        return encoded(found) if isinstance(found, SavedRecord | StationaryStates) else ("", None)
    except (OSError, RuntimeError) as error:
        # The netCDF library reports a disk that refuses as either.
        raise ComputationFailed(
            f"a record could not be written among the temporary files of the process that computed it "
            f"({reason(error)}); make room there, or name another place by TMPDIR"
        ) from error


@functools.cache
def _bound_threads() -> None:
    """Bound the threads of linear algebra by one in a process of a pool, once and for all; it is there for tasks.

    Dask runs them outside of the main thread, where :func:`~solvers.execution.threads.one_thread` does nothing.
    """
    if multiprocessing.parent_process() is not None:
        import scipy.linalg  # noqa: F401
        from threadpoolctl import threadpool_limits

        threadpool_limits(limits=1, user_api="blas")
