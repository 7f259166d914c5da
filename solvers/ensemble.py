"""Particle systems: replicas run one after the other or on an executor, gathered into an Ensemble."""

import concurrent.futures
import dataclasses
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from meanfield import ComputationFailed, Ensemble, Equation, InvalidInput, Outcome
from meanfield.arguments import checked

from .domains import motion_of
from .execution.arguments import require_on_failure
from .execution.checkpoints import Checkpoint
from .execution.defaults import DEGREES
from .execution.executors import completed
from .execution.provenance import provenance
from .execution.watching import Watch, unwatched
from .particles.blocks import Block, blocks_of, run_block, running_block
from .particles.drift import MomentDrift, PairDrift
from .particles.planning import Options, Plan, plan
from .particles.replicas import Recorded
from .particles.schemes import default_scheme
from .particles.settings import HISTOGRAM_BINS
from .particles.stepping import Scheme

# A step is called coarse where it changes local widths by more than this.
COARSE = 0.05


@checked
def simulate(
    problem: Equation,
    particles: int,
    until: float,
    seed: int,
    *,
    initial: Any = None,
    step: float | None = None,
    replicas: int = 1,
    scheme: Scheme | None = None,
    times: int | ArrayLike | None = None,
    degrees: int = DEGREES,
    drift: MomentDrift | PairDrift | None = None,
    executor: concurrent.futures.Executor | None = None,
    checkpoint: Checkpoint | None = None,
    keep_positions: bool = False,
    kernel: str = "auto",
    on_failure: str = "raise",
    watch: Watch | None = None,
) -> Ensemble:
    r"""Simulate replicas of N interacting particles and return their ensemble.

    .. math:: dX_i = -\frac\kappa N\sum_j W'(X_i - X_j)\,dt - V'(X_i)\,dt + \sqrt{2D}\,dB_i ,

    on a sphere with gradients in the place of derivatives and Brownian motion on the sphere, whose generator is the
    Laplacian; by any other velocity law v with :math:`\kappa\,v[\mu_N](X_i)` in the place of the first term, the
    averages of which run over all particles, i itself included. Particles on a sphere are unit vectors and stay so
    exactly: every step follows great circles.

    Parameters
    ----------
    problem
        The equation, its coupling fixed.
    particles
        N, at least 1.
    until
        The final time; it is hit exactly, whatever the step.
    seed
        Determines every number, together with the other arguments; the executor has no part in it, nor, on the
        circle, the kernel.
    initial
        Any initial density of :func:`~solvers.evolve`, sampled exactly and independently for every replica; or the
        angles of the particles, (N,) for all replicas or (R, N), on a sphere unit vectors, (N, d) or (R, N, d),
        whose last component points north; uniform by default.
    step
        Longest step. By default a fifth of the inverse of the steepest slope the drift can have; on a sphere also
        at most 0.1/((d - 1) D), a tenth of the time in which directions decorrelate by noise. Without noise a
        twentieth.
    replicas
        Independent systems; standard errors need two at least.
    scheme
        ``WeakSecondOrder()`` (default), ``EulerMaruyama()`` or, on the circle, ``LeimkuhlerMatthews()``; any
        :class:`~solvers.particles.stepping.Scheme`. On a sphere the first takes half of the noise, the drift by the
        midpoint rule and the other half of the noise. Without noise ``RungeKutta4()`` is the default.
    times
        Times to record, increasing, or a number of equal intervals; 0 and about a hundred more by default.
    degrees
        Moments are recorded up to this degree.
    drift
        ``MomentDrift(tolerance=1e-9)``, O(N), or ``PairDrift()``, O(N^2). By default moments; on a sphere of more
        than three dimensions pairs where the moments of significant degree are too many to be cheaper, which the
        record says. By other velocity laws than the gradient of a potential pairs for up to 64 particles on the
        circle and 256 on the ordinary sphere, and always in more dimensions.
    executor
        Any ``concurrent.futures.Executor``, one task a replica, or a block of replicas where their particles are so
        few that they are moved together; it is not shut down.
    checkpoint
        Where to save every replica and how often; if the files are there, the run goes on from them.
    keep_positions
        Whether the record holds the positions at the end.
    kernel
        ``"numpy"``, ``"numba"`` (the extra ``fast``) or ``"auto"``; the numbers are the same, bit for bit. On the
        ordinary sphere ``"numpy"``, ``"ducc0"`` (the extra ``sphere``) or ``"auto"``, ducc0 if it is installed;
        the numbers are the same up to the tolerance of the drift, and the record says which it was.
    on_failure
        ``"raise"``, or ``"return"`` for the partial record if no replica reached the end or the user interrupts.
    watch
        Called with the steps done, of all replicas together, those to be done, and an empty name.

    Returns
    -------
    Ensemble
        With outcome PARTIAL if some, but not all, replicas are missing or ended early.

    Raises
    ------
    InvalidInput
        If an argument is not admissible: also a step that overshoots from the start, and a checkpoint of another
        run.
    ComputationFailed
        If no replica reached the end; its attribute ``partial`` holds the partial record.

    Examples
    --------
    >>> from meanfield import Circle, Kuramoto, McKeanVlasov
    >>> problem = McKeanVlasov(Circle(), Kuramoto(), coupling=1.0)
    >>> ensemble = simulate(problem, 1000, until=0.5, seed=1, replicas=3)
    >>> ensemble.cosine.shape
    (3, 4, 7)
    """
    require_on_failure(on_failure)
    started = time.process_time()
    options = Options(
        particles,
        seed,
        replicas,
        degrees,
        default_scheme(problem.noise) if scheme is None else scheme,
        drift,
        keep_positions,
    )
    planned = plan(problem, motion_of(problem), options, until, step, times, initial, checkpoint, kernel)
    outcomes: dict[int, Recorded | Exception] = {}
    interrupted = False
    try:
        if executor is None:
            _inline(planned, outcomes, watch or unwatched)
        else:
            _on_executor(planned, outcomes, executor, watch or unwatched)
    except KeyboardInterrupt:
        interrupted = True
    return _gathered(planned, outcomes, interrupted, on_failure, time.process_time() - started)


def _on_executor(
    planned: Plan, outcomes: dict[int, Recorded | Exception], executor: concurrent.futures.Executor, watch: Watch
) -> None:
    share = planned.timetable.steps
    blocks = blocks_of(planned.replicas)
    for number, outcome in completed(run_block, blocks, executor):
        _note(blocks[number], outcome, outcomes)
        watch(len(outcomes) * share, len(planned.replicas) * share, "")


def _inline(planned: Plan, outcomes: dict[int, Recorded | Exception], watch: Watch) -> None:
    share = planned.timetable.steps
    for block in blocks_of(planned.replicas):
        outcome = _watched(block, len(outcomes) * share, len(planned.replicas) * share, watch)
        _note(block, outcome, outcomes)
        if isinstance(outcome, list) and any(one.interrupted for one in outcome):
            raise KeyboardInterrupt


def _note(block: Block, outcome: list[Recorded] | Exception, outcomes: dict[int, Recorded | Exception]) -> None:
    """Store the outcome of each replica of a block in ``outcomes``; an exception is that of all of them."""
    each: Sequence[Recorded | Exception] = [outcome] * len(block) if isinstance(outcome, Exception) else outcome
    outcomes.update((replica.index, one) for replica, one in zip(block, each, strict=True))


def _watched(block: Block, before: int, total: int, watch: Watch) -> list[Recorded] | Exception:
    """Return the records of a block or its exception, passing on an exception of the watch."""
    steps = running_block(block)
    while True:
        try:
            done = next(steps)
        except StopIteration as stop:
            recorded: list[Recorded] = stop.value
            return recorded
        except Exception as error:
            return error
        watch(before + len(block) * done, total, "")


def _gathered(
    planned: Plan,
    outcomes: Mapping[int, Recorded | Exception],
    interrupted: bool,
    on_failure: str,
    cpu_seconds: float,
) -> Ensemble:
    """Return the ensemble of the replicas that ran; those that are missing are nan.

    Raises
    ------
    InvalidInput
        If a replica was refused its arguments.
    ComputationFailed
        If no replica reached the end.
    KeyboardInterrupt
        If the user interrupted.
    """
    refused = next((outcome for outcome in outcomes.values() if isinstance(outcome, InvalidInput)), None)
    if refused is not None:
        raise refused
    failures = _failures(outcomes, len(planned.replicas))
    ensemble = _ensemble(planned, outcomes, failures, cpu_seconds)
    if interrupted:
        ensemble = dataclasses.replace(ensemble, outcome=Outcome.INTERRUPTED)
    if on_failure == "return" or (not interrupted and ensemble.completed.any()):
        return ensemble
    if interrupted:
        raise KeyboardInterrupt
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    failed = ComputationFailed(failures[0] + more)
    failed.partial = ensemble
    raise failed from next((outcome for outcome in outcomes.values() if isinstance(outcome, Exception)), None)


def _failures(outcomes: Mapping[int, Recorded | Exception], replicas: int) -> tuple[str, ...]:
    """Return sentences on which replicas are missing, grouped by reason, and which ended early."""
    missing: dict[str, list[int]] = {}
    ended = []
    for index in range(replicas):
        outcome = outcomes.get(index)
        if outcome is None:
            missing.setdefault("not done before the interrupt", []).append(index)
        elif isinstance(outcome, Exception):
            reason = " ".join(str(outcome).split()) or "no reason given"
            missing.setdefault(f"{type(outcome).__name__}: {reason}", []).append(index)
        elif outcome.failure:
            ended.append(outcome.failure)
    return (*ended, *(f"{_named(indices)} missing: {reason}" for reason, indices in missing.items()))


def _named(indices: Sequence[int]) -> str:
    if len(indices) == 1:
        return f"replica {indices[0]} is"
    if len(indices) > 2 and indices[-1] - indices[0] == len(indices) - 1:
        return f"replicas {indices[0]} to {indices[-1]} are"
    return f"replicas {', '.join(map(str, indices[:-1]))} and {indices[-1]} are"


def _ensemble(
    planned: Plan, outcomes: Mapping[int, Recorded | Exception], failures: tuple[str, ...], cpu_seconds: float
) -> Ensemble:
    options, table = planned.options, planned.timetable
    found = {index: outcome for index, outcome in sorted(outcomes.items()) if isinstance(outcome, Recorded)}
    shapes = planned.setting.shapes
    moments = {name: np.full((options.replicas, len(table.times), *one), np.nan) for name, one in shapes.items()}
    histogram = np.zeros((options.replicas, HISTOGRAM_BINS), dtype=np.int64)
    shape = (options.replicas, *planned.setting.position_shape(options.particles))
    positions = np.full(shape, np.nan) if options.keep_positions else None
    for index, recorded in found.items():
        for name, values in recorded.moments.items():
            moments[name][index] = values
        if recorded.histogram is not None:
            histogram[index] = recorded.histogram
        if positions is not None and recorded.positions is not None:
            positions[index] = recorded.positions
    contraction = max((recorded.contraction for recorded in found.values()), default=0.0)
    spent = sum(recorded.cpu_seconds for recorded in found.values())
    return Ensemble(
        problem=planned.problem,
        particles=options.particles,
        replicas=options.replicas,
        seed=options.seed,
        step=table.largest_step,
        scheme=options.scheme.name,
        time=np.array(table.times),
        histogram=histogram,
        positions=positions,
        layout=planned.setting.layout,
        **moments,
        outcome=Outcome.PARTIAL if failures else Outcome.COMPLETED,
        failures=failures,
        warnings=_all_warnings(planned, list(found.values()), contraction),
        provenance=provenance(planned.problem, _described(planned, contraction), max(cpu_seconds, spent)),
    )


def _all_warnings(planned: Plan, found: Sequence[Recorded], contraction: float) -> tuple[str, ...]:
    warnings = list(planned.warnings)
    bias = planned.options.scheme.width_bias(contraction, planned.setting.flat)
    if bias > COARSE:
        step = planned.timetable.largest_step
        warnings.append(
            f"the step {step:g} is coarse: step * slope of the drift reached {contraction:.2g}, which changes the "
            f"variance of a cluster by about {bias:.0%}; compare with half the step"
        )
    for recorded in found:
        warnings += recorded.warnings
    return tuple(warnings)


def _described(planned: Plan, contraction: float) -> dict[str, Any]:
    options = planned.options
    return {
        "particles": options.particles,
        "replicas": options.replicas,
        "seed": options.seed,
        "until": planned.timetable.times[-1],
        "step": planned.timetable.largest_step,
        "steps": planned.timetable.steps,
        "scheme": options.scheme.name,
        "drifts_a_step": options.scheme.cost(planned.setting.flat).drifts,
        "initial": planned.initial,
        "step_times_slope": contraction,
    } | planned.setting.described()
