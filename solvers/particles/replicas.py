"""One replica: its steps, its checkpoints and its record.

Its streams come from the seed and its index alone, so that no result depends on where and with what it runs.
"""

import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meanfield import ComputationFailed
from meanfield.equations import Capability

from ..execution.checkpoints import Checkpoint
from .drift import OVERSHOOTING
from .paced import paced
from .saving import Progress, due, load, save
from .settings import Setting, Start
from .stepping import Scheme, advance, too_long
from .streams import streams
from .timing import Timetable

Floats = NDArray[np.float64]

# Particle-steps between two reports of progress.
BETWEEN_REPORTS = 2**21


@dataclass(frozen=True, eq=False)
class Replica:
    """The task of one replica; plain and picklable.

    Attributes
    ----------
    index
        Its number, from 0.
    setting
        The domain and the drift.
    run
        What identifies the run in a checkpoint.
    """

    index: int
    particles: int
    seed: int
    start: Start
    timetable: Timetable
    scheme: Scheme
    setting: Setting
    keep_positions: bool
    checkpoint: Checkpoint | None
    run: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Recorded:
    """The record of a replica.

    Attributes
    ----------
    moments : dict of (T, ...) float
        What was recorded of the particles, by name; nan from the time on at which it failed.
    histogram : (B,) int or None
        Particles in bins at the end; None if it failed.
    positions : (N, ...) float or None
        At the end, if they are kept.
    contraction
        Largest product of a step and the slope -b' of the drift.
    failure
        Why it ended early; empty if it did not.
    interrupted
        Whether the user ended it.
    """

    index: int
    moments: dict[str, Floats]
    histogram: NDArray[np.int64] | None
    positions: Floats | None
    contraction: float
    cpu_seconds: float
    failure: str = ""
    interrupted: bool = False
    warnings: tuple[str, ...] = ()


def running(replica: Replica) -> Generator[int, None, Recorded]:
    """Run a replica, yielding the number of steps done from time to time, and return its record."""
    started = time.process_time()
    walk = _Walk(replica)
    failure, stopped = "", False
    try:
        yield from walk.to_the_end()
    except ComputationFailed as error:
        failure = failed(replica, walk.progress.time, str(error))
    except KeyboardInterrupt:
        failure, stopped = interrupted(replica, walk.progress.time), True
    return walk.recorded(failure, stopped, time.process_time() - started)


def failed(replica: Replica, reached: float, reason: str) -> str:
    """Return the sentence that a replica ended early."""
    return f"replica {replica.index} stopped at time {reached:.6g}: {reason}"


def interrupted(replica: Replica, reached: float) -> str:
    """Return the sentence that the user ended a replica."""
    return f"replica {replica.index} was interrupted at time {reached:.6g}"


class _Walk:
    """A replica during its simulation."""

    def __init__(self, replica: Replica) -> None:
        self.replica = replica
        setting, times = replica.setting, len(replica.timetable.times)
        sampling, noise = streams(replica.seed, replica.index)
        self.progress = Progress({name: np.full((times, *one), np.nan) for name, one in setting.shapes.items()})
        resumed = None if replica.checkpoint is None else load(replica.checkpoint.path, replica.run, noise)
        if resumed is not None:
            self.progress = resumed.progress
            self.cloud = setting.cloud(resumed.positions, noise)
            self.cloud.carried.update(resumed.carried)
            return
        self.cloud = setting.cloud(setting.placed(replica.start, replica.particles, sampling), noise)
        if replica.timetable.counts[0] == 0:
            self._record(0)

    def to_the_end(self) -> Generator[int, None, None]:
        """Take all remaining steps, yielding the number of steps done."""
        replica, cloud, progress = self.replica, self.cloud, self.progress
        between = max(1, BETWEEN_REPORTS // replica.particles)
        problem = replica.setting.problem
        law, changing = problem.velocity, bool(problem.lacks(Capability.AUTONOMOUS))
        for record, remaining, step in replica.timetable.steps_from(progress.done):
            moving = paced(law, cloud, progress.time, step) if changing else cloud
            advance(replica.scheme, moving, step)
            before, progress.time = progress.time, replica.timetable.times[record] - remaining * step
            progress.done += 1
            self._watch(step)
            if remaining == 0:
                self._record(record)
                self._watch(step)
            self._save_if_due(before)
            if progress.done % between == 0:
                yield progress.done

    def recorded(self, failure: str, interrupted: bool, cpu_seconds: float) -> Recorded:
        """Return the record of the replica so far."""
        replica, progress = self.replica, self.progress
        positions, counts = (None, None) if failure else replica.setting.ended(self.cloud.positions)
        return Recorded(
            index=replica.index,
            moments=progress.recorded,
            histogram=counts,
            positions=positions if replica.keep_positions else None,
            contraction=progress.contraction,
            cpu_seconds=cpu_seconds,
            failure=failure,
            interrupted=interrupted,
            warnings=progress.warnings,
        )

    def _save_if_due(self, before: float) -> None:
        checkpoint, progress = self.replica.checkpoint, self.progress
        if checkpoint is None:
            return
        if progress.done == self.replica.timetable.steps or due(before, progress.time, checkpoint.every):
            save(checkpoint.path, self.replica.run, self.cloud, progress)

    def _record(self, record: int) -> None:
        for name, values in self.replica.setting.record(self.cloud).items():
            self.progress.recorded[name][record] = values

    def _watch(self, step: float) -> None:
        progress = self.progress
        progress.contraction = max(progress.contraction, self.cloud.contraction)
        if progress.contraction > OVERSHOOTING:
            raise ComputationFailed(too_long(step, progress.contraction))
