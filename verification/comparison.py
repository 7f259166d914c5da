r"""Comparison of particles with their mean-field limit.

.. math:: \hat c_k = \frac1N\sum_i e^{-ikX_i} \to c_k(t), \qquad
          W_p\Bigl(\frac1N\sum_i\delta_{X_i(t)},\ \rho(t)\Bigr) = O(N^{-1/2})

as N grows: propagation of chaos, with exponent -1/2. A part of it is independent of the interaction: N
independent points of a density are at a distance of order :math:`N^{-1/2}` from it as well, and are measured along.

A comparison says little where deviations grow, for then the particles' own fluctuations, of size
:math:`N^{-1/2}` at the start, grow by the same factor; and where a particle has hardly any other within the reach
of the potential, as in the transformer with beta beyond :math:`N^2`. Both are detected and said in the record.

Without noise densities collapse, and are followed by Moebius maps or along characteristics. Finitely many particles
leave their limit in the end: once none of them is on its way from the separatrix, they contract at the rate of a
cluster alone. The record says from what time on.
"""

import dataclasses
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from meanfield import (
    Comparison,
    ComputationFailed,
    Ensemble,
    Equation,
    InvalidInput,
    Outcome,
)
from meanfield.arguments import checked
from solvers import Scheme, Watch, require_on_failure, simulate, unwatched
from solvers.evolution import Initial

from .defaults import DEGREES, REPLICAS, SIZES, TIMES
from .limit import beyond, limit
from .measured import PARTICLE_STREAM, stream, transport
from .statistics import CONFIDENCE, student
from .tabulation import tabulated

Floats = NDArray[np.float64]


@checked
def compare(
    problem: Equation,
    initial: Any,
    until: float,
    *,
    particles: Sequence[int] = SIZES,
    replicas: int = REPLICAS,
    seed: int,
    step: float | None = None,
    scheme: Scheme | None = None,
    times: int | ArrayLike = TIMES,
    degrees: int = DEGREES,
    confidence: float = CONFIDENCE,
    executor: Executor | None = None,
    on_failure: str = "raise",
    watch: Watch | None = None,
) -> Comparison:
    r"""Compare particles with the equation: moments over time, Wasserstein distances at the end, powers of N.

    Parameters
    ----------
    problem
        With a coupling.
    initial
        Initial density, in any of the forms of :func:`solvers.moments_of`; the particles are drawn from it.
    until
        Final time.
    particles
        Sizes N of the systems, at least one; a power of N needs two, a test of that power three.
    replicas
        Independent systems of every size; bands need two.
    seed
        All random numbers follow from it.
    step, scheme
        Time step and scheme of the particles, as in :func:`solvers.simulate`. A bias of the step does not shrink
        with N.
    times
        When the moments are compared, 0 and ``until`` always among them, or a number of equal intervals.
    degrees
        Moments 1 to this one are compared.
    confidence
        Of the bands and intervals.
    executor
        Runs the replicas and their distances; the numbers do not depend on it.
    on_failure
        ``"raise"``, or ``"return"`` for the sizes done before a failure or an interrupt, marked by the outcome.
    watch
        Called with the particle-steps done, those to be done, and an empty name.

    Returns
    -------
    Comparison

    Raises
    ------
    InvalidInput
        If the coupling is free or an argument is inadmissible.
    ComputationFailed
        If the equation cannot be solved or no replica of a size finishes; its attribute ``partial`` holds the
        comparison of the sizes done before, if there are any.

    Notes
    -----
    Where deviations grow on the way (a cluster forms out of a nearly uniform density), the particles' own
    fluctuations grow as well, and differences prove little; so they do where a particle has hardly any
    neighbour. ``warnings`` says so.
    """
    sizes = checked_sizes(particles)
    require_on_failure(on_failure)
    _check_seed(seed)
    student(confidence, 1)
    # The growth of deviations is counted from the start.
    recorded = times if isinstance(times, int) else np.union1d(0.0, np.asarray(times, dtype=float))
    trajectory = limit(problem, initial, until, recorded)
    # A vector of angles is a density here; particles would take it for their positions.
    start = Initial(trajectory.cosine[0], trajectory.sine[0], "moments", (), trajectory.layout)
    settings: dict[str, Any] = {"initial": start, "step": step, "replicas": replicas, "scheme": scheme}
    settings |= {"times": trajectory.time, "degrees": degrees, "executor": executor, "keep_positions": True}
    ensembles: list[Ensemble] = []
    distances: list[Floats] = []
    complaints: list[str] = [*beyond(trajectory, start, sizes)]
    stopped: ComputationFailed | KeyboardInterrupt | None = None
    try:
        for size in sizes:
            told = _told(watch or unwatched, size, sizes)
            ensemble = simulate(problem, size, until, stream(seed, PARTICLE_STREAM, size), **settings, watch=told)
            values, complaint = transport(trajectory, ensemble, seed, executor)
            # The positions of all sizes together need not fit into memory.
            ensembles.append(dataclasses.replace(ensemble, positions=None))
            distances.append(values)
            complaints += complaint
    except (ComputationFailed, KeyboardInterrupt) as error:
        if not ensembles:
            raise
        stopped = error
        complaints.append(f"particles of N = {sizes[len(ensembles)]} and more are missing: {_reason(error)}")
    found = tabulated(trajectory, ensembles, np.stack(distances, axis=1), seed, confidence, complaints)
    return found if stopped is None else _marked(found, stopped, on_failure)


def _marked(found: Comparison, stopped: ComputationFailed | KeyboardInterrupt, on_failure: str) -> Comparison:
    """Return a comparison without all sizes, or raise the exception that stopped it, with the record."""
    interrupted = isinstance(stopped, KeyboardInterrupt)
    partial = dataclasses.replace(found, outcome=Outcome.INTERRUPTED if interrupted else Outcome.PARTIAL)
    if on_failure == "return":
        return partial
    if isinstance(stopped, ComputationFailed):
        stopped.partial = partial
    raise stopped


def _reason(error: BaseException) -> str:
    return "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)


def checked_sizes(particles: Sequence[int]) -> list[int]:
    """Return the sizes in increasing order.

    Raises
    ------
    InvalidInput
        If there is none, or one occurs twice or is below 2.
    """
    sizes = sorted(map(int, particles))
    if not sizes or sizes[0] < 2 or len(set(sizes)) < len(sizes):
        raise InvalidInput(
            f"particles must be different whole numbers from 2, not {particles!r}; "
            "try particles=(1000, 4000, 16000)"
        )
    return sizes


def _check_seed(seed: int) -> None:
    if seed < 0:
        raise InvalidInput(f"seed must be a whole number from 0, not {seed!r}; try seed=1")


def _told(watch: Watch, size: int, sizes: Sequence[int]) -> Watch:
    """Return a watch for the steps of one size, which counts the particle-steps of all sizes."""
    before, whole = sum(other for other in sizes if other < size), sum(sizes)
    return lambda done, total, label: watch(before * (total or 0) + size * done, whole * (total or 0), label)
