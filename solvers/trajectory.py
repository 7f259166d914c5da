"""The evolution of a density as a record: checks of the arguments, the run, and its trajectory."""

import math
import time as clock
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from meanfield import ComputationFailed, Equation, NotResolved, Outcome, Trajectory
from meanfield.arguments import checked
from meanfield.equations import Capability, has_free_energy, in_rotating_frame

from .bases import Floats
from .domains import solvers_of
from .equations.observables import along_path
from .evolution.descent import NEGATIVE, Descent
from .evolution.direct import DirectMethod, MomentPath, cut_short
from .evolution.growth import CALM
from .evolution.initial import Initial
from .evolution.integrators import Integrator
from .evolution.plan import TOLERANCES, Plan, plan
from .evolution.rest import Rest
from .evolution.rotating_frame import turned
from .evolution.running import Evolution, Progress, padded
from .execution.arguments import require_on_failure
from .execution.checkpoints import Checkpoint
from .execution.provenance import provenance
from .execution.threads import one_thread


@checked
@one_thread()
def evolve(
    problem: Equation,
    initial: Any,
    until: float,
    *,
    times: int | ArrayLike | None = None,
    tolerance: float = 1e-8,
    stop_at_stationarity: bool = False,
    method: Integrator | DirectMethod | None = None,
    checkpoint: Checkpoint | None = None,
    modes: int | None = None,
    full: bool = False,
    on_failure: str = "raise",
    progress: Progress | None = None,
) -> Trajectory:
    """Return the trajectory of a density evolving in time.

    Parameters
    ----------
    problem
        The equation, with its coupling.
    initial
        The density at time 0: ``VonMises(0.0, 2.0)`` or another named one, a State, a function of the angle,
        moments, or samples; see :func:`moments_of`.
    until
        Final time. It may be infinite if ``stop_at_stationarity`` is set.
    times
        Times to record, increasing, or a number of equal intervals; by default 100 of them, and times at equal
        ratios where the final time is infinite. The last time reached is always recorded.
    tolerance
        Accuracy of the moments relative to their size, from 1e-12 to 1e-2. Errors are controlled step by step; an
        unstable density amplifies them like any perturbation. ``accuracy`` of the record is what was reached;
        where errors may have grown, and for fixed steps, a second run measures it, which costs as much again or
        twice that.
    stop_at_stationarity
        Whether to end once the density has settled at a stable stationary state, within the tolerance, or is as
        close to an unstable one.
    method
        ``LSODA()``, ``ETDRK4()``, or ``ETDRK4(step=...)`` for a fixed step; by default the faster one for the size.
        Without noise also ``WatanabeStrogatz()``, exact for Kuramoto's equation at any time, and
        ``Characteristics()``, which follows densities with one angle beyond their collapse.
    checkpoint
        Where to save the run, and how often. If it was killed, the same call goes on from there to the same bits.
        The integrator starts anew at these times, so digits below the tolerance depend on their distance.
    modes
        Number of moments to begin with; by default what the density and a cluster of this potential need. More are
        taken as soon as the last ones are not negligible.
    full
        Whether to follow all moments, even those that symmetry keeps zero. Densities with an axis need few: on the
        circle the cosines, on a sphere one moment by degree.
    on_failure
        ``"raise"``, or ``"return"`` for the part computed before a failure or an interrupt, marked by its outcome.
    progress
        Called with the simulated time, every few steps.

    Returns
    -------
    Trajectory

    Raises
    ------
    InvalidInput
        If anything is inadmissible, or the checkpoint belongs to another run.
    NotResolved
        If the density concentrates beyond all resolution, as under an attractive logarithmic potential. Without
        noise that is how evolutions end, and the trajectory up to there is returned, with its outcome and reason.
    ComputationFailed
        If the integrator fails or a fixed step is too large. The attribute ``partial`` of both holds the trajectory
        up to there.

    Examples
    --------
    >>> from meanfield import Circle, Kuramoto, McKeanVlasov
    >>> from solvers import PerturbedUniform, evolve
    >>> problem = McKeanVlasov(Circle(), Kuramoto(), coupling=3.0)
    >>> trajectory = evolve(problem, PerturbedUniform(0.1), 40.0)
    >>> trajectory.outcome.name, round(float(trajectory.order_parameter()[-1]), 6)
    ('STATIONARY', 0.724159)
    """
    require_on_failure(on_failure)
    started = clock.process_time()
    frame = in_rotating_frame(problem)
    spaces, stop = solvers_of(frame).evolution, stop_at_stationarity
    direct = method if isinstance(method, DirectMethod) else None
    marched = None if isinstance(method, DirectMethod) else method
    request = plan(frame, spaces, initial, until, times, marched, tolerance, stop, checkpoint, modes, full)
    if frame is problem:
        return _followed(request, direct, on_failure, progress, started)
    try:
        return turned(_followed(request, direct, on_failure, progress, started), problem)
    except ComputationFailed as error:
        if isinstance(error.partial, Trajectory):
            error.partial = turned(error.partial, problem)
        raise


def _followed(
    request: Plan, direct: DirectMethod | None, on_failure: str, progress: Progress | None, started: float
) -> Trajectory:
    """Return the trajectory of a plan, by a direct method or by steps.

    Raises
    ------
    ComputationFailed
        If it fails, with the trajectory up to there in the attribute ``partial``.
    """
    if direct is not None:
        path = direct.follow(request, progress)
        if path.outcome is Outcome.INTERRUPTED and on_failure == "raise":
            raise KeyboardInterrupt
        return record_of(request, direct, path, started)
    evolution = Evolution(request, progress)
    outcome: Outcome | None = None
    failure: BaseException | None = None
    try:
        for _ in evolution:
            pass
    except ComputationFailed as error:
        failure, outcome = error, Outcome.NOT_RESOLVED if isinstance(error, NotResolved) else Outcome.PARTIAL
    except KeyboardInterrupt as error:
        failure, outcome = error, Outcome.INTERRUPTED
    if failure is None:
        collapsed = evolution.collapsed
        return record(evolution, None if collapsed is None else Outcome.NOT_RESOLVED, collapsed, started)
    evolution.keep_last()
    if not evolution.frames:
        raise failure
    partial = record(evolution, outcome, failure, started)
    if on_failure == "return":
        return partial
    if isinstance(failure, ComputationFailed):
        _stopped(failure, partial)
    raise failure


def _stopped(failure: ComputationFailed, partial: Trajectory) -> None:
    """Give a failure what was computed before, and its time, which a function of the problem does not know."""
    failure.partial = partial
    if "time" not in str(failure):
        failure.args = (f"the evolution stopped at time {partial.time[-1]:.6g}: {failure}",)


@checked
def moments_of(problem: Equation, initial: Any) -> Initial:
    """Return the moments of an initial density.

    Parameters
    ----------
    problem
        The equation; every density must live on its domain.
    initial
        One of the named densities (``VonMises(0.0, 2.0)`` and the like); a :class:`~meanfield.State` or anything
        else with the attributes ``cosine`` and ``sine``; a pair (cosine, sine) of vectors of moments from degree 0;
        a complex vector of m_k - i s_k from k = 0; a function of the angle in radians; a real vector of angles,
        taken as samples of the density (see :class:`Samples`).

        On a sphere a function has the angle to the north pole, and on the ordinary one may have the azimuth
        besides; a pair holds moments by degree, or where sines occur, by degree and order as in a State.

    Raises
    ------
    InvalidInput
        If it is none of these, not finite, negative beyond rounding, or not of mass one.
    NotResolved
        If a function has corners or jumps, so that its moments do not decay.
    """
    return solvers_of(problem).evolution.moments_of(problem, initial)


def record(
    evolution: Evolution, outcome: Outcome | None, failure: BaseException | None, started: float
) -> Trajectory:
    """Return the trajectory of an evolution, complete or partial."""
    plan, rest, frames = evolution.plan, evolution.rest, evolution.frames
    cosine, sine = padded(frames)
    time = np.array([frame.time for frame in frames])
    # Free energy and dissipation do not know the axis, and are cheaper without it.
    values = plan.space.descent(plan.problem, cosine, sine, plan.tolerance)
    cosine, sine, modes = plan.space.recorded(cosine, sine)
    if outcome is None:
        outcome = _reached(plan) if rest is None else rest.outcome(plan.tolerance)
    fixed = plan.method is not None and plan.method.step is not None
    counters, has_energies = evolution.counters, has_free_energy(plan.problem)
    return Trajectory(
        problem=plan.problem,
        time=time,
        cosine=cosine,
        sine=sine,
        modes=np.array([frame.degree for frame in frames], dtype=np.int64),
        observables=along_path(plan.problem, values.gap, values.dissipation),
        minimum=values.minimum,
        mass_error=float(np.abs(cosine[:, 0] - 1.0).max()),
        outcome=outcome,
        method=", then ".join(evolution.methods),
        tolerance=None if fixed else plan.tolerance,
        accuracy=evolution.accuracy,
        steps=counters.steps,
        evaluations=counters.evaluations,
        distance=None if rest is None else rest.distance,
        slowest_rate=None if rest is None else rest.rate,
        unstable=None if rest is None else rest.state.unstable,
        warnings=(
            *evolution.warnings,
            *cut_short(failure, time[-1], plan.until),
            *_inaccurate(evolution.accuracy, None if fixed else plan.tolerance),
            *_negative(values, time, has_energies),
            *(_doubts(values, time) if has_energies else ()),
            *_neutral(rest, outcome),
            *_beyond_tolerance(rest, outcome, plan.tolerance),
        ),
        layout=modes.layout,
        provenance=provenance(plan.problem, plan.options(), clock.process_time() - started),
    )


def record_of(request: Plan, method: DirectMethod, path: MomentPath, started: float) -> Trajectory:
    """Return the trajectory of moments that a method gave at all times at once."""
    values = request.space.descent(request.problem, path.cosine, path.sine, request.tolerance)
    cosine, sine, modes = request.space.recorded(path.cosine, path.sine)
    options = request.options() | {"method": repr(method)}
    return Trajectory(
        problem=request.problem,
        time=path.time,
        cosine=cosine,
        sine=sine,
        modes=np.full(path.time.size, modes.degree(cosine.shape[1]), dtype=np.int64),
        observables={**along_path(request.problem, values.gap, values.dissipation), **path.observables},
        minimum=path.minimum,
        mass_error=float(np.abs(cosine[:, 0] - 1.0).max()),
        outcome=path.outcome,
        method=method.name,
        tolerance=request.tolerance,
        accuracy=path.accuracy,
        steps=path.steps,
        evaluations=path.evaluations,
        warnings=(
            *request.start.warnings,
            *path.warnings,
            *_inaccurate(path.accuracy, request.tolerance),
        ),
        layout=modes.layout,
        flow_map=path.flow_map,
        provenance=provenance(request.problem, options, clock.process_time() - started),
    )


def _reached(request: Plan) -> Outcome:
    """Return the outcome at the final time for a density with no state of rest near it."""
    lacking = request.problem.lacks(Capability.GIBBS_MAP)
    return Outcome.UNEXAMINED if lacking else Outcome.REACHED_TIME


def _inaccurate(accuracy: float | None, tolerance: float | None) -> Iterator[str]:
    """Yield a warning if the accuracy asked for was not reached."""
    if accuracy is None or tolerance is None or accuracy <= CALM * tolerance:
        return
    smaller = 10.0 ** math.floor(math.log10(tolerance**2 / accuracy))
    advice = f"a tolerance of {smaller:.0e} may reach it" if smaller >= TOLERANCES[0] else "no tolerance reaches it"
    yield (
        f"the moments are known to about {accuracy:.1e} of their size, not to the tolerance {tolerance:g}: errors "
        f"grow or add up on the way; {advice}"
    )


def _negative(values: Descent, time: Floats, energies: bool) -> Iterator[str]:
    """Yield the warning about a density that is negative at some times, with the energies missing there."""
    negative = _is_negative(values)
    if negative.any():
        worst = int(np.argmin(values.minimum))
        missing = "free energy and dissipation are left out at these times; " if energies else ""
        yield (
            f"the density is negative at {int(negative.sum())} of {time.size} times, down to "
            f"{values.minimum[worst]:.2e} at time {time[worst]:.6g}: it is smaller than its error there, and not "
            f"clipped; {missing}a smaller tolerance helps"
        )


def _is_negative(values: Descent) -> NDArray[np.bool_]:
    return np.asarray(values.minimum < -NEGATIVE * values.maximum)


def _doubts(values: Descent, time: Floats) -> Iterator[str]:
    """Yield warnings about free energies and dissipations of positive densities that are not known."""
    negative = _is_negative(values)
    lost = np.isnan(values.gap) & ~negative
    if lost.any():
        yield f"the free energy could not be integrated at {int(lost.sum())} of {time.size} times"
    unknown = np.isnan(values.dissipation) & ~negative & ~lost
    if unknown.any():
        yield (
            f"the dissipation is not known at {int(unknown.sum())} of {time.size} times: it comes from where the "
            "density is smaller than its error; a smaller tolerance helps"
        )


def _neutral(rest: Rest | None, outcome: Outcome) -> Iterator[str]:
    if rest is not None and rest.rate is None and outcome in (Outcome.STATIONARY, Outcome.METASTABLE):
        yield (
            "near the last density some direction neither grows nor decays as far as rounding lets one tell, so no "
            "rate is given"
        )


def _beyond_tolerance(rest: Rest | None, outcome: Outcome, tolerance: float) -> Iterator[str]:
    """Yield a warning if rounding keeps the density farther from its state of rest than the tolerance."""
    if rest is None or rest.rate is None or outcome not in (Outcome.STATIONARY, Outcome.UNDECIDED):
        return
    if rest.distance > tolerance:
        yield (
            f"the density is at a distance of {rest.distance:.1e} from a stationary state, not within the "
            f"tolerance {tolerance:g}: rounding errors over the slowest rate there, {rest.rate:.1e}, let it be "
            f"known to {rest.rounding:.1e} only"
        )
