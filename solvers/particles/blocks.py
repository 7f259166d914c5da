"""Blocks of replicas: the tasks of a simulation. Small replicas are advanced together, by the same calls.

No number depends on the block a replica is in: it has its own streams, and the arithmetic is that of a replica
alone, in the same order. One that fails leaves its block, and the others continue.
"""

import time
from collections.abc import Generator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .drift import OVERSHOOTING
from .replicas import BETWEEN_REPORTS, Recorded, Replica, failed, interrupted, running
from .settings import Several
from .stepping import advance, too_long
from .streams import Streams, streams

Block: TypeAlias = tuple[Replica, ...]


def blocks_of(replicas: Sequence[Replica]) -> list[Block]:
    """Return the replicas of a simulation in blocks; those with checkpoints of their own stay alone."""
    first = replicas[0]
    several = None if first.checkpoint is not None else first.setting.several
    size = 1 if several is None else several.together(first.particles)
    return [tuple(replicas[start : start + size]) for start in range(0, len(replicas), size)]


def run_block(block: Block) -> list[Recorded]:
    """Return the records of the replicas of a block, run to their end; the task for an executor."""
    steps = running_block(block)
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            recorded: list[Recorded] = stop.value
            return recorded


def running_block(block: Block) -> Generator[int, None, list[Recorded]]:
    """Run a block, yielding the number of steps done from time to time, and return the record of each replica."""
    several = block[0].setting.several
    if several is None or len(block) == 1:
        return [(yield from running(block[0]))]
    started = time.process_time()
    walks = _Walks(block, several)
    stopped = False
    try:
        yield from walks.to_the_end()
    except KeyboardInterrupt:
        stopped = True
    return walks.recorded(stopped, time.process_time() - started)


class _Walks:
    """The replicas of a block during their simulation."""

    def __init__(self, block: Block, several: Several) -> None:
        self.block, self.first, self.several = block, block[0], several
        first, setting = self.first, self.first.setting
        pairs = [streams(replica.seed, replica.index) for replica in block]
        positions = np.array(
            [setting.placed(r.start, r.particles, sampling) for r, (sampling, _) in zip(block, pairs, strict=True)]
        )
        self._streams = Streams([noise for _, noise in pairs], positions[0].size)
        self._clouds = several.clouds(positions, self._streams)
        self._running: NDArray[np.intp] = np.arange(len(block))
        self._contractions = np.zeros(len(block))
        self._failures = [""] * len(block)
        self._time = 0.0
        shape = (len(block), len(first.timetable.times))
        self._moments = {name: np.full((*shape, *one), np.nan) for name, one in setting.shapes.items()}
        if first.timetable.counts[0] == 0:
            self._record(0)

    def to_the_end(self) -> Generator[int, None, None]:
        """Take all steps of all replicas that do not fail, yielding the number of steps done."""
        first = self.first
        between = max(1, BETWEEN_REPORTS // (first.particles * len(self.block)))
        for done, (record, remaining, step) in enumerate(first.timetable.steps_from(0), start=1):
            advance(first.scheme, self._clouds, step)
            self._time = first.timetable.times[record] - remaining * step
            self._watch(step)
            if remaining == 0 and self._running.size:
                self._record(record)
                self._watch(step)
            if self._running.size == 0:
                return
            if done % between == 0:
                yield done

    def recorded(self, stopped: bool, cpu_seconds: float) -> list[Recorded]:
        """Return the records of all replicas so far."""
        rows = {place: self._clouds.rows[number] for number, place in enumerate(self._running.tolist())}
        share = cpu_seconds / len(self.block)
        return [
            self._recorded(place, None if stopped else rows.get(place), share) for place in range(len(self.block))
        ]

    def _recorded(self, place: int, row: NDArray[np.float64] | None, cpu_seconds: float) -> Recorded:
        replica, failure = self.block[place], self._failures[place]
        stopped = row is None and not failure
        positions, counts = (None, None) if row is None else replica.setting.ended(row)
        return Recorded(
            index=replica.index,
            moments={name: values[place] for name, values in self._moments.items()},
            histogram=counts,
            positions=positions if replica.keep_positions else None,
            contraction=float(self._contractions[place]),
            cpu_seconds=cpu_seconds,
            failure=interrupted(replica, self._time) if stopped else failure,
            interrupted=stopped,
        )

    def _record(self, record: int) -> None:
        for name, values in self.several.record_all(self._clouds).items():
            self._moments[name][self._running, record] = values

    def _watch(self, step: float) -> None:
        """Remove the replicas for which the step is too long."""
        self._contractions[self._running] = steepest = self._clouds.contractions
        over = steepest > OVERSHOOTING
        if not over.any():
            return
        for place, contraction in zip(self._running[over].tolist(), steepest[over].tolist(), strict=True):
            self._failures[place] = failed(self.block[place], self._time, too_long(step, contraction))
        kept = np.flatnonzero(~over)
        self._running = self._running[kept]
        if kept.size:
            self._streams.keep(kept)
            carried = self._clouds.carried
            self._clouds = self.several.clouds(self._clouds.rows[kept], self._streams)
            self._clouds.carried.update(
                {name: array[kept] if array.ndim else array for name, array in carried.items()}
            )
            self._clouds.contractions[:] = steepest[kept]
