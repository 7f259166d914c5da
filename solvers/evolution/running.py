"""The run of an evolution: an iterator of densities at the times asked for, resumed exactly from checkpoints."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from meanfield import ComputationFailed, NotResolved, Outcome
from meanfield.equations import Capability

from ..bases import Floats
from ..execution import checkpoints
from .accuracy import estimated
from .collapse import HEADROOM, collapse
from .growth import Growth
from .march import Counters, March
from .plan import LONGEST, Plan
from .rest import MOVING, Rest, relative_change
from .system import System

Progress = Callable[[float], None]

# A density that has not left an unstable state after so many of its time scales has no share in what grows there.
STAYS = 60.0
# The state found before still counts while the density has not moved this much further away.
DRIFTED = 1.5
# A density near a state changes at least at this share of the slowest rate times its distance.
EXPLAINED = 0.03
# Without a final time an evolution ends once it has made so many steps, or would have to until it is at rest.
MOST_STEPS = 300_000
# Steps after which their pace is known.
PACED = 2000
# A state is looked for again once the change is this much slower than at the last attempt.
SLOWER = 0.3


class Frame(NamedTuple):
    """A density at one time: moments by degree, and the degree up to which it is resolved."""

    time: float
    cosine: Floats
    sine: Floats
    degree: int


class Evolution:
    """An evolution in progress: iterating over it yields the frames to be recorded.

    Attributes
    ----------
    frames : list of Frame
        Recorded so far.
    rest : Rest or None
        The stationary state near the last density, once the evolution is over.
    accuracy : float or None
        Error of the recorded moments relative to their size, once the evolution is over; None if it is not
        known.
    collapsed : NotResolved or None
        Why the evolution ended before the final time, if a density without noise became too narrow.
    warnings : list of str
        What a reader must know of the run.
    """

    def __init__(self, request: Plan, progress: Progress | None = None) -> None:
        self.plan = request
        self.frames: list[Frame] = []
        self.rest: Rest | None = None
        self.accuracy: float | None = None
        self.collapsed: NotResolved | None = None
        self.warnings: list[str] = list(request.start.warnings)
        self._progress = progress
        self._counters = Counters()
        self._methods: list[str] = []
        self._arrived: float | None = None
        self._saves = 0
        self._march: March | None = None
        self._judge = Judge(request)
        self._looked = (0.0, 0)
        self._growth = Growth(request.tolerance)

    @property
    def counters(self) -> Counters:
        """Numbers of steps and evaluations so far."""
        done, march = self._counters, None if self._march is None else self._march.counted()
        if march is None:
            return done
        return Counters(
            done.steps + march.steps, done.evaluations + march.evaluations, done.restarts + march.restarts
        )

    @property
    def methods(self) -> list[str]:
        """Names of the integrators that were used."""
        used = [] if self._march is None else [method.name for method in self._march.methods]
        return list(dict.fromkeys([*self._methods, *used]))

    def __iter__(self) -> Iterator[Frame]:
        start, system, unknown = self._resumed() or self._fresh()
        march = self._begin(system, start, unknown)
        last: Frame | None = self.frames[-1] if self.frames else None
        for time, kinds in self.plan.events(after=start if self._saves else -1.0):
            try:
                unknown = march.to(time)
            except NotResolved as failure:
                self._end_collapse(march, failure)
                last = self._frame(march, *march.safe)
                break
            last = self._frame(march, time, unknown)
            if "record" in kinds:
                self.frames.append(last)
                yield last
            if "look" in kinds and self._finished(march, last, unknown):
                break
            if "save" in kinds:
                march = self._saved(march, time, unknown)
        if last is not None and (not self.frames or self.frames[-1].time < last.time):
            self.frames.append(last)
            yield last
        self._conclude(march)
        self._assess()

    def keep_last(self) -> None:
        """Add the last density that was resolved to the frames, after a failure."""
        if self._march is not None:
            time, unknown = self._march.safe
            if not self.frames or time > self.frames[-1].time:
                self.frames.append(self._frame(self._march, time, unknown))

    def _end_collapse(self, march: March, failure: NotResolved) -> None:
        """Keep why a density without noise is not followed any further; with noise, raise the failure."""
        plan = self.plan
        if plan.problem.noise > 0.0:
            raise failure
        degree = march.system.symmetry * march.system.degree
        self.collapsed = collapse(plan.problem, plan.space, plan.start, march.safe[0], degree)

    def _fresh(self) -> tuple[float, System, Floats]:
        plan, start = self.plan, self.plan.start
        system = plan.space.system(plan.problem, start, plan.degree, plan.full)
        return 0.0, system, system.pack(start.cosine, start.sine)

    def _begin(self, system: System, time: float, unknown: Floats) -> March:
        plan = self.plan
        self._march = March(
            system,
            time,
            unknown,
            plan.until,
            plan.method,
            plan.tolerance,
            self._progress,
            self._growth,
            1.0 if plan.problem.noise > 0.0 else HEADROOM,
        )
        return self._march

    def _frame(self, march: March, time: float, unknown: Floats) -> Frame:
        cosine, sine = march.system.unpack(unknown)
        return Frame(time, cosine, sine, march.system.symmetry * march.system.degree)

    def _finished(self, march: March, frame: Frame, unknown: Floats) -> bool:
        """Return whether a density has settled, so that the evolution may end."""
        change = relative_change(self.plan.problem, unknown, march.system.derivative(frame.time, unknown))
        rest = self._judge.look(frame, change)
        outcome = None if rest is None else rest.outcome(self.plan.tolerance)
        if outcome in (Outcome.STATIONARY, Outcome.UNDECIDED):
            return True
        if rest is None or outcome is not Outcome.METASTABLE or rest.distance > self.plan.tolerance:
            self._arrived = None
            return self._endless(frame.time, rest)
        if self._arrived is None:
            self._arrived = frame.time
        stays = rest.rate is not None and frame.time - self._arrived >= STAYS / abs(rest.rate)
        return self.plan.until == math.inf and (stays or self._endless(frame.time, rest))

    def _endless(self, time: float, rest: Rest | None) -> bool:
        """Return whether an evolution without a final time takes too many steps, at its pace of late."""
        (before, made), steps = self._looked, self.counters.steps
        self._looked = (time, steps)
        if self.plan.until < math.inf:
            return False
        needed = 0.0 if rest is None else rest.time_needed(self.plan.tolerance)
        more = needed * (steps - made) / (time - before)
        if steps < PACED or steps + more <= MOST_STEPS:
            return False
        why = f"at the slowest rate there, about {needed:.2g} more units of time and {more:.2g} steps are needed"
        self.warnings.append(
            f"the evolution was ended at time {time:.4g} after {steps} steps: "
            + (why if needed else "no stationary state was found near it")
            + "; a finite final time takes it further"
        )
        return True

    def _conclude(self, march: March) -> None:
        frame, noise = self.frames[-1], self.plan.problem.noise
        if self.plan.problem.lacks(Capability.GIBBS_MAP):
            return
        unknown = march.system.pack(frame.cosine, frame.sine)
        change = relative_change(self.plan.problem, unknown, march.system.derivative(frame.time, unknown))
        if change <= MOVING:
            self.rest = self.plan.space.state_near(self.plan.problem, frame.cosine, frame.sine)
        if self.rest is None and change <= self.plan.tolerance:
            unsearched = self.plan.space.unsearched
            self.warnings.append(
                f"the density changes at the relative rate {change:.1e} only, but Newton's method finds no "
                f"isolated stationary state near it, so that it is not called stationary{unsearched}"
            )
        rests = self.rest is not None and self.rest.outcome(self.plan.tolerance) is not Outcome.REACHED_TIME
        if self.plan.until == math.inf and 2.0 * frame.time > LONGEST / noise and not rests:
            self.warnings.append(f"the evolution was ended at time {frame.time:.3g} without being at rest")

    def _assess(self) -> None:
        times = np.array([frame.time for frame in self.frames])
        moments = [frame.cosine - 1j * frame.sine for frame in self.frames]
        try:
            self.accuracy = estimated(self.plan, times, moments, self._growth, self.methods)
        except ComputationFailed as error:
            self.warnings.append(f"the accuracy reached is not known: {error}")

    def _saved(self, march: March, time: float, unknown: Floats) -> March:
        """Save the run, and return the march started anew whether or not that succeeded."""
        self._counters, self._methods = self.counters, self.methods
        self._saves += 1
        self._judge = Judge(self.plan)
        path = self.plan.checkpoint.path if self.plan.checkpoint is not None else ""
        try:
            checkpoints.write(path, self._saves, *self._state(march.system, time, unknown))
        except ComputationFailed as error:
            self.warnings.append(f"at time {time:.6g} the run was not saved: {error}; it went on all the same")
        return self._begin(march.system, time, unknown)

    def _state(self, system: System, time: float, unknown: Floats) -> tuple[dict[str, Any], dict[str, Any]]:
        cosine, sine = padded(self.frames)
        arrays = {
            "unknown": unknown,
            "time": np.array([frame.time for frame in self.frames]),
            "cosine": cosine,
            "sine": sine,
            "degree": np.array([frame.degree for frame in self.frames], dtype=np.int64),
        }
        meta = {
            "run": self.plan.identity(),
            "time": time,
            "even": system.even,
            "degree": system.degree,
            "symmetry": system.symmetry,
            "steps": self._counters.steps,
            "evaluations": self._counters.evaluations,
            "restarts": self._counters.restarts,
            "methods": self._methods,
            "arrived": self._arrived,
            "growth": self._growth.kept(),
            "looked": list(self._looked),
            "warnings": self.warnings,
        }
        return arrays, meta

    def _resumed(self) -> tuple[float, System, Floats] | None:
        """Return time, system and unknowns of the newest valid checkpoint, or None if none exists."""
        checkpoint = self.plan.checkpoint
        saved = None if checkpoint is None else checkpoints.read(checkpoint.path)
        if saved is None or checkpoint is None:
            return None
        meta, arrays = saved.meta, saved.arrays
        checkpoints.require_same_run(checkpoint.path, meta["run"], self.plan.identity())
        self._saves = saved.number
        self._counters = Counters(int(meta["steps"]), int(meta["evaluations"]), int(meta["restarts"]))
        self._methods, self._arrived = list(meta["methods"]), meta["arrived"]
        self._looked = tuple(meta.get("looked", self._looked))
        kept = meta.get("growth", [])
        whole = len(kept) == len(self._growth.kept())
        self._growth = Growth(self.plan.tolerance, *kept) if whole else Growth(self.plan.tolerance, known=False)
        self.warnings = [*meta["warnings"], *saved.warnings]
        for row, degree in enumerate(arrays["degree"]):
            size = self.plan.space.modes.places(int(degree))
            cosine, sine = (arrays[name][row, :size].copy() for name in ("cosine", "sine"))
            self.frames.append(Frame(float(arrays["time"][row]), cosine, sine, int(degree)))
        sizes = bool(meta["even"]), int(meta["degree"]), int(meta["symmetry"])
        system = self.plan.space.system_of(self.plan.problem, *sizes)
        return float(meta["time"]), system, arrays["unknown"]


class Judge:
    """Search for the stationary state near an evolving density, with the state found last."""

    def __init__(self, request: Plan) -> None:
        self._problem, self._space = request.problem, request.space
        self._rest: Rest | None = None
        self._attempted = math.inf

    def look(self, frame: Frame, change: float) -> Rest | None:
        """Return the stationary state near a density that changes at a relative rate."""
        if change > MOVING:
            self._rest, self._attempted = None, math.inf
            return None
        if self._rest is not None:
            away = self._space.distance(self._rest.state, frame.cosine, frame.sine)
            if away <= DRIFTED * self._rest.distance and self._explains(change, away):
                self._rest = replace(self._rest, distance=away)
                return self._rest
            self._rest, self._attempted = None, math.inf
        if change <= SLOWER * self._attempted:
            self._attempted = change
            self._rest = self._space.state_near(self._problem, frame.cosine, frame.sine)
        return self._rest

    def _explains(self, change: float, away: float) -> bool:
        """Return whether a density at a distance from the state found last would change at a relative rate."""
        rate = None if self._rest is None else self._rest.rate
        return rate is None or change >= EXPLAINED * abs(rate) / self._problem.noise * away


def padded(frames: list[Frame]) -> tuple[Floats, Floats]:
    """Return the moments of all frames, (T, n + 1) each, zero-padded."""
    width = max((frame.cosine.size for frame in frames), default=1)
    cosine, sine = np.zeros((2, len(frames), width))
    for row, frame in enumerate(frames):
        cosine[row, : frame.cosine.size], sine[row, : frame.sine.size] = frame.cosine, frame.sine
    return cosine, sine
