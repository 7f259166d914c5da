"""The arguments of a simulation and its replicas, checked before anything is computed."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from meanfield import Equation, InvalidInput
from meanfield.arguments import shown

from ..bases.limits import require_memory
from ..execution.checkpoints import Checkpoint, described, digest_of, require_writable
from ..execution.defaults import DEGREES
from ..execution.provenance import version
from .drift import MomentDrift, PairDrift
from .paced import require_paced
from .replicas import Replica
from .saving import replica_path
from .schemes import require_scheme
from .settings import HISTOGRAM_BINS, Motion, Setting, Start
from .stepping import Scheme
from .timing import Timetable, timetable

LARGEST_COUNT = 10**9
LARGEST_SEED = 2**128 - 1
# The smallest and the largest of each whole number, and one to try.
LIMITS = {
    "particles": (1, LARGEST_COUNT, 10000),
    "replicas": (1, LARGEST_COUNT, 8),
    "seed": (0, LARGEST_SEED, 1),
    "degrees": (1, LARGEST_COUNT, DEGREES),
}
# Arrays of the size of the positions that a step needs, and doubles that the task of a replica takes.
WORKING_ARRAYS = 4
TASK = 100


@dataclass(frozen=True)
class Options:
    """The arguments of :func:`~solvers.simulate` that describe the result, with their defaults filled in."""

    particles: int
    seed: int
    replicas: int
    degrees: int
    scheme: Scheme
    drift: MomentDrift | PairDrift | None
    keep_positions: bool


@dataclass(frozen=True, eq=False)
class Plan:
    """The checked arguments of a simulation, with its replicas.

    Attributes
    ----------
    initial
        The initial state in words.
    warnings
        Warnings that are known before anything is computed.
    """

    problem: Equation
    options: Options
    timetable: Timetable
    setting: Setting
    initial: str
    replicas: tuple[Replica, ...]
    warnings: tuple[str, ...]


def plan(
    problem: Equation,
    motion: Motion,
    options: Options,
    until: float,
    step: float | None,
    times: int | ArrayLike | None,
    initial: Any,
    checkpoint: Checkpoint | None,
    kernel: str,
) -> Plan:
    """Return the checked arguments of a simulation with its replicas.

    Parameters
    ----------
    motion
        Motion of particles on the domain.

    Raises
    ------
    InvalidInput
        If one of them is not admissible.
    """
    options = _checked(options)
    require_paced(problem)
    setting = motion(problem, options.drift, options.degrees, options.particles)
    require_scheme(options.scheme, setting.flat, problem.noise)
    table = timetable(until, setting.default_step(until) if step is None else step, times)
    _require_memory(options, setting, table)
    starts = setting.starts(initial, options.particles, options.replicas)
    setting.require_steps(starts.each, table)
    setting = setting.with_kernel(kernel, float(options.particles) * table.steps)
    common = Replica(
        index=0,
        particles=options.particles,
        seed=options.seed,
        start=starts.each[0],
        timetable=table,
        scheme=options.scheme,
        setting=setting,
        keep_positions=options.keep_positions,
        checkpoint=checkpoint,
        run=_identity(problem, options, setting, table),
    )
    replicas = tuple(_replica(common, index, start, options.replicas) for index, start in enumerate(starts.each))
    warnings = (*starts.warnings, *_warnings(options), *setting.warnings(options.particles))
    return Plan(problem, options, table, setting, starts.description, replicas, warnings)


def _identity(problem: Equation, options: Options, setting: Setting, table: Timetable) -> dict[str, Any]:
    """Return the values that identify a run in a checkpoint."""
    return {
        "version": version(),
        "problem": described(problem),
        "particles": options.particles,
        "seed": options.seed,
        "times": digest_of(np.array(table.times)),
        "steps": digest_of(np.array(table.counts)),
        "scheme": options.scheme.name,
        "drift": setting.identity(),
        "degrees": options.degrees,
    }


def _replica(common: Replica, index: int, start: Start, replicas: int) -> Replica:
    """Return the replica of an index and a start, after a check that its checkpoints can be written."""
    checkpoint = common.checkpoint
    if checkpoint is not None:
        checkpoint = Checkpoint(replica_path(checkpoint.path, index, replicas), checkpoint.every)
        require_writable(checkpoint.path)
    run = common.run | {"replica": index, "initial": start.digest()}
    return dataclasses.replace(common, index=index, start=start, checkpoint=checkpoint, run=run)


def _checked(options: Options) -> Options:
    limited: dict[str, Any] = {name: whole_within_limits(name, getattr(options, name)) for name in LIMITS}
    return dataclasses.replace(options, **limited)


def whole_within_limits(name: str, value: int) -> int:
    """Return one of the whole numbers of a simulation, refusing one that is too small or too large."""
    lowest, largest, tried = LIMITS[name]
    if not lowest <= value <= largest:
        most = f"{largest:.3g}" if largest > 10**6 else str(largest)
        raise InvalidInput(
            f"{name} must be a whole number from {lowest} to {most}, not {shown(value)}; try {name}={tried}"
        )
    return int(value)


def _require_memory(options: Options, setting: Setting, table: Timetable) -> None:
    """Refuse more particles or a longer record than memory holds."""
    positions = float(np.prod(setting.position_shape(options.particles)))
    require_memory(
        WORKING_ARRAYS * positions, f"{options.particles} particles", "take fewer, as in --particles 10000"
    )
    recorded = len(table.times) * sum(float(np.prod(shape)) for shape in setting.shapes.values())
    each = recorded + HISTOGRAM_BINS + TASK + (positions if options.keep_positions else 0.0)
    require_memory(
        options.replicas * each,
        f"the record of {options.replicas} replicas at {len(table.times)} times",
        "take fewer replicas (--replicas), times (--times) or degrees (--degrees)",
    )


def _warnings(options: Options) -> list[str]:
    if options.particles > 1:
        return []
    return ["a single particle does not interact and its statistics say nothing about a density"]
