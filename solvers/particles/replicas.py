"""One replica: its random streams, its steps, its checkpoints and what is recorded of it.

A replica is a task of its own for an executor. Its streams come from the seed and its index alone, so that nothing
depends on where it runs or on what else does.
"""

import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meanfield import ComputationFailed, McKeanVlasov

from ..checkpoints import Checkpoint
from .clouds import Cloud, MomentCloud, PairCloud, in_cells, in_radians, wrap
from .drift import OVERSHOOTING, MomentDrift, PairDrift, Truncation
from .kernels import ArrayKernel, Kernel
from .sampling import Start
from .saving import Progress, due, load, save
from .schemes import Scheme
from .timing import Timetable

Floats = NDArray[np.float64]

HISTOGRAM_BINS = 128
SAMPLING, NOISE = 0, 1
# Particle-steps between two reports of progress.
BETWEEN_REPORTS = 2**21


@dataclass(frozen=True, eq=False)
class Replica:
    """Everything one replica needs; plain and picklable.

    Attributes
    ----------
    index
        Its number, from 0.
    modes
        The modes of the drift and of the record.
    degrees
        Moments are recorded up to this degree.
    kernel
        ``numpy`` or ``numba``; both give the same bits.
    run
        What identifies the run in a checkpoint.
    """

    index: int
    problem: McKeanVlasov
    particles: int
    seed: int
    start: Start
    timetable: Timetable
    scheme: Scheme
    drift: MomentDrift | PairDrift
    modes: Truncation
    degrees: int
    kernel: str
    keep_positions: bool
    checkpoint: Checkpoint | None
    run: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Recorded:
    """What is left of a replica.

    Attributes
    ----------
    cosine, sine : (T, K + 1) float
        Empirical moments; nan from the time on at which it failed.
    histogram : (B,) int
        Particles in equal bins of [-pi, pi) at the end; zeros if it failed.
    positions : (N,) float or None
        Angles at the end.
    contraction
        Largest product of a step and the slope -b' of the drift.
    failure
        Why it ended early, or nothing.
    interrupted
        Whether the user ended it.
    """

    index: int
    cosine: Floats
    sine: Floats
    histogram: NDArray[np.int64]
    positions: Floats | None
    contraction: float
    cpu_seconds: float
    failure: str = ""
    interrupted: bool = False
    warnings: tuple[str, ...] = ()


def run_replica(replica: Replica) -> Recorded:
    """Run a replica to its end: the task for an executor."""
    steps = running(replica)
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            recorded: Recorded = stop.value
            return recorded


def running(replica: Replica) -> Generator[int, None, Recorded]:
    """Run a replica, yield the number of steps done from time to time and return what was recorded."""
    started = time.process_time()
    walk = _Walk(replica)
    failure, interrupted = "", False
    try:
        yield from walk.to_the_end()
    except ComputationFailed as error:
        failure = f"replica {replica.index} stopped at time {walk.progress.time:.6g}: {error}"
    except KeyboardInterrupt:
        failure = f"replica {replica.index} was interrupted at time {walk.progress.time:.6g}"
        interrupted = True
    return walk.recorded(failure, interrupted, time.process_time() - started)


def streams(seed: int, index: int) -> tuple[np.random.Generator, np.random.Generator]:
    """Return the generators of a replica's start and of its noise; the only place where streams are made."""
    return tuple(  # type: ignore[return-value]
        np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(index, purpose))))
        for purpose in (SAMPLING, NOISE)
    )


class _Walk:
    """A replica on its way."""

    def __init__(self, replica: Replica) -> None:
        self.replica = replica
        sampling, noise = streams(replica.seed, replica.index)
        shape = (len(replica.timetable.times), replica.degrees + 1)
        self.progress = Progress(np.full(shape, np.nan), np.full(shape, np.nan))
        resumed = None if replica.checkpoint is None else load(replica.checkpoint.path, replica.run, noise)
        if resumed is not None:
            self.progress, positions = resumed
            self.cloud = _cloud(replica, positions, noise)
            return
        angles = replica.start.angles(replica.particles, sampling)
        self.cloud = _cloud(replica, in_cells(angles, replica.modes.cells), noise)
        if replica.timetable.counts[0] == 0:
            self._record(0)

    def to_the_end(self) -> Generator[int, None, None]:
        """Take all steps that remain."""
        replica, cloud, progress = self.replica, self.cloud, self.progress
        between = max(1, BETWEEN_REPORTS // replica.particles)
        for record, remaining, step in replica.timetable.steps_from(progress.done):
            replica.scheme.advance(cloud, step)
            before, progress.time = progress.time, replica.timetable.times[record] - remaining * step
            progress.done += 1
            progress.contraction = max(progress.contraction, cloud.contraction)
            if progress.contraction > OVERSHOOTING:
                raise ComputationFailed(too_long(step, progress.contraction))
            if remaining == 0:
                self._record(record)
            self._save_if_due(before)
            if progress.done % between == 0:
                yield progress.done

    def recorded(self, failure: str, interrupted: bool, cpu_seconds: float) -> Recorded:
        """Return what is known of the replica now."""
        replica, progress = self.replica, self.progress
        counts, angles = np.zeros(HISTOGRAM_BINS, dtype=np.int64), None
        if not failure:
            angles = in_radians(self.cloud.positions, replica.modes.cells)
            counts = histogram(angles)
        return Recorded(
            index=replica.index,
            cosine=progress.cosine,
            sine=progress.sine,
            histogram=counts,
            positions=angles if replica.keep_positions else None,
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
        wrap(self.cloud.positions, self.replica.modes.cells)
        moments = self.cloud.moments()[: self.replica.degrees + 1]
        self.progress.cosine[record], self.progress.sine[record] = moments.real, -moments.imag


def histogram(angles: Floats) -> NDArray[np.int64]:
    """Count angles in equal bins of [-pi, pi)."""
    bins = ((angles + np.pi) * (HISTOGRAM_BINS / (2.0 * np.pi))).astype(np.int64)
    return np.bincount(np.minimum(bins, HISTOGRAM_BINS - 1), minlength=HISTOGRAM_BINS)


def too_long(step: float, contraction: float) -> str:
    """Say that a step overshoots, and how long it may be."""
    return (
        f"the step {step:g} is too long: the drift is so steep that step * slope = {contraction:.3g} where at most "
        f"{OVERSHOOTING:g} is stable; use a step of at most {0.5 * OVERSHOOTING * step / contraction:.2g}"
    )


def _cloud(replica: Replica, positions: Floats, noise: np.random.Generator) -> Cloud:
    if isinstance(replica.drift, PairDrift):
        return PairCloud(replica.problem, replica.modes, replica.degrees, positions, noise)
    kernel = _kernel(replica.kernel, replica.modes.cells)
    return MomentCloud(replica.problem, replica.modes, replica.degrees, positions, noise, kernel)


def _kernel(name: str, cells: int) -> Kernel:
    if name == ArrayKernel.name:
        return ArrayKernel(cells)
    from .compiled import CompiledKernel

    return CompiledKernel(cells)
