"""The arguments of an evolution, checked before anything is computed, and the times of its events."""

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from meanfield import Equation, InvalidInput, NotResolved
from meanfield.arguments import shown
from meanfield.equations import Capability, require

from ..bases import Floats
from ..bases.limits import MAX_DEGREE, MOST_TIMES
from ..execution.checkpoints import Checkpoint, described, digest_of, require_writable
from ..execution.defaults import TIMES
from .initial import Initial
from .integrators import Integrator
from .march import MULTIPLE, TAIL_SHARE
from .space import EvolutionSpaces, Space
from .units import rate_unit

TOLERANCES = (1e-12, 1e-2)
# Looks at whether the density has settled: from this time on, in units of 1/noise, each later by this ratio.
FIRST_LOOK = 1e-2
BETWEEN_LOOKS = 2.0**0.125
# Without a final time the search for rest ends here, in units of 1/noise.
LONGEST = 1e12
# Initial moments above this are kept.
KEPT = 1e-15
LEAST_DEGREE = 32
LARGEST_GUESS = 128


@dataclass(frozen=True, eq=False)
class Plan:
    """The checked arguments of an evolution.

    Attributes
    ----------
    problem, start
        The equation and the initial density, turned onto its axis if it has one.
    full : bool
        Whether all moments are unknown, whatever symmetry there is.
    space
        The space of densities in which it evolves.
    until : float
        Final time; infinite only where rest ends the evolution.
    times : (T,) float or None
        Times to record; None, without a final time, for those of the examinations.
    method
        An integrator, or None for the suitable one.
    tolerance : float
        Accuracy asked for.
    stop : bool
        Whether to end at rest.
    checkpoint
        Where to save, or None for no checkpoints.
    degree : int
        First resolution.
    """

    problem: Equation
    start: Initial
    full: bool
    space: Space
    until: float
    times: Floats | None
    method: Integrator | None
    tolerance: float
    stop: bool
    checkpoint: Checkpoint | None
    degree: int

    def events(self, after: float) -> Iterator[tuple[float, set[str]]]:
        """Yield the times later than ``after`` with their events: ``record``, ``look`` and ``save``."""
        sources = [_marked([] if self.times is None else self.times.tolist(), "record")]
        if self.stop:
            sources.append(_marked(self._looks(), "look"))
        if self.times is None:
            sources += [_marked([0.0], "record"), _marked(self._looks(), "record")]
        if self.checkpoint is not None:
            every = float(self.checkpoint.every)
            counted = (k * every for k in itertools.count(1))
            sources.append(_marked(itertools.takewhile(lambda time: time < self.until, counted), "save"))
        if self.until < math.inf:
            sources.append(_marked([self.until], "record"))
        for time, group in itertools.groupby(heapq.merge(*sources), key=lambda event: event[0]):
            if time > after:
                yield time, {kind for _, kind in group}

    def identity(self) -> dict[str, Any]:
        """Return the values that identify this run, since a checkpoint fits one run only."""
        every = None if self.checkpoint is None else float(self.checkpoint.every)
        full = {"full": True} if self.full else {}
        return full | {
            "problem": described(self.problem),
            "initial density": digest_of(self.start.cosine, self.start.sine, np.array(self.space.axis)),
            "final time": self.until,
            "times": None if self.times is None else digest_of(self.times),
            "method": None if self.method is None else repr(self.method),
            "tolerance": self.tolerance,
            "stop at stationarity": self.stop,
            "time between checkpoints": every,
            "first resolution": self.degree,
        }

    def options(self) -> dict[str, Any]:
        """Return the options for the provenance of the record."""
        return {
            "initial": self.start.description,
            "full": self.full,
            "until": self.until,
            "method": None if self.method is None else repr(self.method),
            "tolerance": self.tolerance,
            "stop_at_stationarity": self.stop,
            "checkpoint_every": None if self.checkpoint is None else float(self.checkpoint.every),
            "degree": self.degree,
        }

    def _looks(self) -> Iterator[float]:
        unit = FIRST_LOOK / rate_unit(self.problem)
        longest = min(self.until, LONGEST / rate_unit(self.problem))
        looks = (unit * BETWEEN_LOOKS**k for k in itertools.count())
        return itertools.takewhile(lambda time: time <= longest, looks)


def _marked(times: Iterable[float], kind: str) -> Iterator[tuple[float, str]]:
    return ((time, kind) for time in times)


def plan(
    problem: Equation,
    spaces: EvolutionSpaces,
    initial: Any,
    until: float,
    times: int | ArrayLike | None,
    method: Integrator | None,
    tolerance: float,
    stop: bool,
    checkpoint: Checkpoint | None,
    modes: int | None,
    full: bool = False,
) -> Plan:
    """Return the checked arguments of an evolution.

    Parameters
    ----------
    spaces
        Evolution on the domain of the problem.
    initial
        The initial density, in any of its forms.

    Raises
    ------
    InvalidInput
        If anything is inadmissible.
    """
    problem.fixed_coupling  # noqa: B018  (refuses a free coupling)
    if stop:
        require(problem, Capability.GIBBS_MAP, "evolutions that end at rest (stop_at_stationarity, --stop)")
    end = _final_time(until, stop)
    _check_options(tolerance, checkpoint)
    space, start = spaces.space_for(problem, spaces.moments_of(problem, initial), full)
    _check_method(method, space)
    if method is not None and method.needs_jacobian:
        require(problem, Capability.GRADIENT, f"evolutions by {type(method).__name__}(), which takes a Jacobian,")
    return Plan(
        problem=problem,
        start=start,
        full=bool(full),
        space=space,
        until=end,
        times=_record_times(times, end),
        method=method,
        tolerance=float(tolerance),
        stop=bool(stop),
        checkpoint=checkpoint,
        degree=first_degree(problem, space, start, tolerance, modes),
    )


def _check_method(method: Integrator | None, space: Space) -> None:
    if method is not None and method.needs_jacobian and not space.multistep:
        raise InvalidInput(
            f"{type(method).__name__}() needs a Jacobian, which densities on the sphere without an axis are too "
            "large for; use ETDRK4(), or leave the method out"
        )


def _final_time(until: float, stop: bool) -> float:
    if not until >= 0.0:
        raise InvalidInput(f"the final time must be a number >= 0, not {until!r}")
    if until == math.inf and not stop:
        raise InvalidInput(
            "an infinite final time needs stop_at_stationarity=True (--stop); otherwise give a finite one"
        )
    return float(until)


def _record_times(times: int | ArrayLike | None, until: float) -> Floats | None:
    if times is None and until == math.inf:
        return None
    if times is None or isinstance(times, (int, np.integer)):
        count = TIMES if times is None else int(times)
        if not 1 <= count <= MOST_TIMES or until == math.inf:
            raise InvalidInput(
                f"times = {shown(times)} asks for that many equal intervals up to the final time {until:g}; give a "
                f"whole number from 1 to {MOST_TIMES} and a finite final time, or the times themselves"
            )
        return np.linspace(0.0, until, count + 1) if until > 0.0 else np.zeros(1)
    values = np.asarray(times, dtype=float)
    if values.ndim != 1 or values.size == 0:
        raise InvalidInput("the times to record must be a vector of finite numbers, at least one")
    if np.any(np.diff(values) <= 0.0):
        first = int(np.argmax(np.diff(values) <= 0.0))
        raise InvalidInput(
            f"the times to record must increase, but {values[first + 1]:g} follows {values[first]:g}; sort them"
        )
    if values[0] < 0.0 or values[-1] > until:
        wrong = values[0] if values[0] < 0.0 else values[-1]
        raise InvalidInput(f"the time {wrong:g} to record is not between 0 and the final time {until:g}")
    return values


def _check_options(tolerance: float, checkpoint: Checkpoint | None) -> None:
    if not TOLERANCES[0] <= tolerance <= TOLERANCES[1]:
        raise InvalidInput(
            f"the tolerance must be from {TOLERANCES[0]:g} to {TOLERANCES[1]:g}, not {tolerance!r}; rounding "
            "allows no smaller one"
        )
    if checkpoint is not None:
        require_writable(checkpoint.path)


def first_degree(problem: Equation, space: Space, start: Initial, tolerance: float, modes: int | None) -> int:
    r"""Return the first degree: the larger of that of the initial density and a guess for the cluster to form.

    A single cluster is a normal density of variance :math:`1/(2\sum_k k^2\lambda_k)`, the sum over the attractive
    modes, so its moments fall to the tolerance at the degree :math:`2 (\log(1/tol) \sum k^2\lambda_k)^{1/2}`.
    """
    if modes is not None and not 1 <= modes <= MAX_DEGREE:
        raise InvalidInput(f"the number of modes must be from 1 to {MAX_DEGREE}, not {shown(modes)}")
    large = np.flatnonzero(np.hypot(start.cosine, start.sine) > KEPT)
    needed = 8 * int(space.modes.degrees(start.cosine.size)[large[-1]]) // 7 + 8
    if needed > MAX_DEGREE:
        raise NotResolved(
            f"the initial density needs about {needed} modes, more than {MAX_DEGREE}; start from a wider one"
        )
    # Without noise a cluster has no width of its own.
    curvature = (space.curvature(problem, LARGEST_GUESS) or 0.0) if problem.noise > 0.0 else 0.0
    cluster = 2.5 * math.sqrt(-math.log(TAIL_SHARE * tolerance) * curvature) if curvature < math.inf else math.inf
    guess = max(needed, LEAST_DEGREE, int(min(cluster, LARGEST_GUESS)), modes or 0)
    return min(MULTIPLE * math.ceil(guess / MULTIPLE), MAX_DEGREE)
