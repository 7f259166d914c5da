"""From the arguments of a simulation to its replicas: everything is checked here, before anything is computed."""

import dataclasses
import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from meanfield import InvalidInput, McKeanVlasov

from ..checkpoints import Checkpoint, digest_of, require_writable
from ..evolution import moments_of
from ..provenance import version
from . import compiled
from .clouds import require_range
from .drift import OVERSHOOTING, MomentDrift, MomentForce, PairDrift, Truncation, truncation
from .replicas import Replica, too_long
from .sampling import FromDensity, FromPositions, Start
from .saving import replica_path
from .schemes import Scheme
from .timing import Timetable, timetable

Floats = NDArray[np.float64]

KERNELS = ("auto", "numpy", "numba")
# Fewer particle-steps than this are done before numba is loaded.
WORTH_COMPILING = 5e7
LARGEST_COUNT = 10**9
LARGEST_SEED = 2**128 - 1
# Step times the steepest possible slope of the drift, for the step chosen by default.
DEFAULT_SHARE = 0.2
DEFAULT_DEGREES = 6


@dataclass(frozen=True)
class Options:
    """The arguments of :func:`~solvers.simulate` that describe the result, with their defaults filled in."""

    particles: int
    seed: int
    replicas: int
    degrees: int
    scheme: Scheme
    drift: MomentDrift | PairDrift
    keep_positions: bool


@dataclass(frozen=True, eq=False)
class Plan:
    """A simulation that has been checked.

    Attributes
    ----------
    initial
        The initial state in words.
    warnings
        What a reader must know before anything is computed.
    """

    problem: McKeanVlasov
    options: Options
    timetable: Timetable
    modes: Truncation
    initial: str
    kernel: str
    replicas: tuple[Replica, ...]
    warnings: tuple[str, ...]


def plan(
    problem: McKeanVlasov,
    options: Options,
    until: float,
    step: float | None,
    times: int | ArrayLike | None,
    initial: Any,
    checkpoint: Checkpoint | None,
    kernel: str,
) -> Plan:
    """Check the arguments of a simulation and make its replicas.

    Raises
    ------
    InvalidInput
        If one of them is not admissible.
    """
    options = _checked(options)
    by_moments = options.drift if isinstance(options.drift, MomentDrift) else MomentDrift()
    modes = truncation(problem, by_moments, options.degrees)
    table = timetable(until, _default_step(modes, until) if step is None else step, times)
    intervals = (count * length for count, length in zip(table.counts, table.lengths, strict=True))
    require_range(problem, modes.cells, max(intervals))
    starts, description, warnings = _starts(problem, initial, options)
    for start in set(starts):
        _require_stable(problem, modes, start, table.largest_step)
    chosen = _chosen_kernel(kernel, options, table)
    common = Replica(
        index=0,
        problem=problem,
        particles=options.particles,
        seed=options.seed,
        start=starts[0],
        timetable=table,
        scheme=options.scheme,
        drift=options.drift,
        modes=modes,
        degrees=options.degrees,
        kernel=chosen,
        keep_positions=options.keep_positions,
        checkpoint=checkpoint,
        run=_identity(problem, options, table),
    )
    replicas = tuple(_replica(common, index, start, options.replicas) for index, start in enumerate(starts))
    noted = (*warnings, *_warnings(options, modes))
    return Plan(problem, options, table, modes, description, chosen, replicas, noted)


def _identity(problem: McKeanVlasov, options: Options, table: Timetable) -> dict[str, Any]:
    """Return what tells one run from another in a checkpoint."""
    return {
        "version": version(),
        "problem": problem.to_dict(),
        "particles": options.particles,
        "seed": options.seed,
        "times": digest_of(np.array(table.times)),
        "steps": digest_of(np.array(table.counts)),
        "scheme": options.scheme.name,
        "drift": repr(options.drift),
        "degrees": options.degrees,
    }


def _replica(common: Replica, index: int, start: Start, replicas: int) -> Replica:
    """Return one of the replicas, after a check that its checkpoints can be written."""
    checkpoint = common.checkpoint
    if checkpoint is not None:
        checkpoint = Checkpoint(replica_path(checkpoint.path, index, replicas), checkpoint.every)
        require_writable(checkpoint.path)
    run = common.run | {"replica": index, "initial": start.digest()}
    return dataclasses.replace(common, index=index, start=start, checkpoint=checkpoint, run=run)


def _checked(options: Options) -> Options:
    if not isinstance(options.drift, (MomentDrift, PairDrift)):
        raise InvalidInput(f"drift must be MomentDrift() or PairDrift(), not {options.drift!r}")
    if not hasattr(options.scheme, "advance"):
        raise InvalidInput(f"scheme must be EulerMaruyama() or WeakSecondOrder(), not {options.scheme!r}")
    return dataclasses.replace(
        options,
        particles=_whole(options.particles, "particles", 1, LARGEST_COUNT, "particles=10000"),
        replicas=_whole(options.replicas, "replicas", 1, LARGEST_COUNT, "replicas=8"),
        seed=_whole(options.seed, "seed", 0, LARGEST_SEED, "seed=1"),
        degrees=_whole(options.degrees, "degrees", 1, LARGEST_COUNT, f"degrees={DEFAULT_DEGREES}"),
    )


def _whole(value: Any, name: str, lowest: int, largest: int, example: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = lowest - 1
    if isinstance(value, bool) or not lowest <= number <= largest:
        most = f"{largest:.3g}" if largest > 10**6 else str(largest)
        raise InvalidInput(f"{name} must be a whole number from {lowest} to {most}, not {value!r}; try {example}")
    return number


def _default_step(modes: Truncation, until: float) -> float:
    if modes.truncation_error is None:
        raise InvalidInput(
            "the modes of this potential decay so slowly that no step can be chosen from them; give one, such as "
            "step=0.01, and see whether half of it changes the result"
        )
    return until if modes.stiffness == 0.0 else min(until, DEFAULT_SHARE / modes.stiffness)


def _starts(problem: McKeanVlasov, initial: Any, options: Options) -> tuple[list[Start], str, tuple[str, ...]]:
    """Return where each replica starts, that in words, and warnings."""
    if initial is None:
        return [FromDensity(np.ones(1), np.zeros(1))] * options.replicas, "uniform", ()
    positions = _positions(initial, options)
    if positions is not None:
        starts: list[Start] = [FromPositions(row) for row in positions]
        return starts, f"{options.particles} given positions", ()
    density = moments_of(problem, initial)
    start = FromDensity(density.cosine, density.sine)
    start.angles(0, np.random.default_rng(0))
    return [start] * options.replicas, density.description, density.warnings


def _positions(initial: Any, options: Options) -> Floats | None:
    """Return (R, N) positions if the initial state is as many angles as there are particles."""
    if callable(initial) or hasattr(initial, "moments") or hasattr(initial, "cosine") or isinstance(initial, tuple):
        return None
    try:
        angles = np.asarray(initial)
    except ValueError:
        return None
    shape = (options.replicas, options.particles)
    if angles.dtype.kind not in "fiu" or angles.shape not in (shape, shape[1:]):
        return None
    angles = np.ascontiguousarray(np.broadcast_to(angles, shape), dtype=float)
    bad = np.argwhere(~np.isfinite(angles))
    if bad.size:
        raise InvalidInput(
            f"the initial position of particle {bad[0][1]} is {angles[tuple(bad[0])]}; all must be finite"
        )
    return np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi


def _require_stable(problem: McKeanVlasov, modes: Truncation, start: Start, step: float) -> None:
    force = MomentForce(modes, 0)
    moments = start.moments(modes.degree)
    force.prepare(moments, step)
    contraction = force.contraction(moments, step, problem.noise)
    if contraction > OVERSHOOTING:
        raise InvalidInput(too_long(step, contraction))


def _chosen_kernel(kernel: str, options: Options, table: Timetable) -> str:
    if kernel not in KERNELS:
        raise InvalidInput(f"kernel must be one of {', '.join(KERNELS)}, not {kernel!r}")
    if kernel == "numba" and not compiled.available():
        raise InvalidInput("numba is not installed; pip install 'meanfield-pde[fast]', or leave kernel='auto'")
    if kernel == "auto":
        large = float(options.particles) * table.steps >= WORTH_COMPILING
        return "numba" if large and compiled.available() else "numpy"
    return kernel


def _warnings(options: Options, modes: Truncation) -> list[str]:
    warnings = []
    if options.particles == 1:
        warnings.append("a single particle does not interact and its statistics say nothing about a density")
    if isinstance(options.drift, MomentDrift) and not modes.complete:
        share = (
            "their forces do not add up to a finite variance"
            if modes.random_share is None
            else f"they carry {modes.random_share:.1%} of the random part of the drift (root mean square)"
        )
        warnings.append(
            f"the modes of the potential decay slowly and those beyond degree {modes.degree} are left out: {share} "
            f"and forces are smoothed over distances of {2.0 * math.pi / modes.degree:.2g}; drift=PairDrift() "
            "takes all of them, in a time that grows with the square of the particles"
        )
    return warnings
