"""The accuracy that an evolution has reached: by the growth of errors, or by a second run where they may grow.

Where errors grow no more than the density does, they are about the tolerance. Elsewhere, for fixed steps, and where
the growth is not known, the evolution is made once more and compared in the recorded moments: by LSODA
where that is affordable, another method if the first was exponential, else with a smaller tolerance or step. Errors
of both runs are magnified alike as long as they are small beside the density. Where the runs differ by more than
that, the difference bounds nothing, and the accuracy is not known.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from meanfield import ComputationFailed

from ..bases import Floats, Integers
from .growth import CALM, Growth
from .integrators import Integrator
from .march import March
from .multistep import LSODA
from .plan import Plan

# The smallest tolerance that is far from rounding: of some hundred steps, each of which rounds sums of size one.
SHARP = 1e-11
# Ratio of the tolerances of the two runs: the smallest at which their errors are clearly of different size; and the
# tolerance beside a fixed step, whose error no tolerance bounds: the smallest there is.
RATIO, TIGHT = 10.0, 1e-12
# Unknowns up to which LSODA is affordable: its factorisations cost the cube.
AFFORDABLE = 512
# Steps that LSODA may make in a second run. It needs some hundred for all but densities that decay by hundreds of
# orders of magnitude, each of which takes as many again, and those whose errors are below rounding.
MOST_STEPS = 20_000
# What the difference is multiplied by: errors fall less regularly than the tolerance, and the second run may have a
# third of the error of the first, which is then within 1/(1 - 1/3) of the difference.
FACTOR = 1.5
# The largest difference, relative to the moments, that is told as an accuracy. Products of errors, that the density
# magnifies in another way, are a tenth of the errors there.
LINEAR = 0.1
# No accuracy better than this is stated, nor one better than the tolerance: rounding of some hundred steps.
ROUNDING = 1e-12
# Times at which two runs are compared; errors change no faster than the density between them.
MOST_TIMES = 64


def compared(count: int) -> Integers:
    """Return the places, among ``count`` times, of those at which two runs are compared."""
    return np.unique(np.linspace(0, count - 1, MOST_TIMES).round().astype(int))


def estimated(
    plan: Plan, times: Floats, moments: Sequence[Floats], growth: Growth, methods: Sequence[str]
) -> float:
    """Return the error of the recorded moments relative to their size, the largest over the times.

    Parameters
    ----------
    plan
        The checked arguments.
    times : (T,) float
        Times recorded.
    moments : sequence of (n,) complex
        Moments then, in the layout of the plan, those of degree 0 first.
    growth
        The growth of errors along the path.
    methods
        Names of the integrators that were used.

    Raises
    ------
    ComputationFailed
        If it is not known: a second run is needed and fails, or is too far from the first.
    """
    if times[-1] == 0.0:
        return 0.0
    if growth.calm and plan.tolerance > SHARP and set(methods) <= {LSODA().name}:
        return CALM * plan.tolerance
    chosen = compared(times.size)
    fixed = plan.method is not None and plan.method.step is not None
    try:
        others = _again(plan, times[chosen], TIGHT if fixed else plan.tolerance / RATIO)
    except ComputationFailed as error:
        raise ComputationFailed(f"the second run that tells it failed: {error}") from error
    apart = np.array([_apart(moments[place], other) for place, other in zip(chosen, others, strict=True)])
    if not apart.max() <= LINEAR:
        first = times[chosen[np.argmin(apart <= LINEAR)]]
        raise ComputationFailed(
            f"errors have grown until two runs differ by {apart.max():.2g} of the largest moment, by more than "
            f"{LINEAR:g} of it from time {first:.4g} on; an evolution that ends before has a known accuracy"
        )
    return max(FACTOR * float(apart.max()), ROUNDING if fixed else plan.tolerance)


def _again(plan: Plan, times: Floats, tolerance: float) -> list[Floats]:
    """Return the moments at the recorded times by a second run."""
    start = plan.start
    system = plan.space.system(plan.problem, start, plan.degree, plan.full)
    method: Integrator | None = plan.method
    # Without noise a density needs as many modes as there may be in the end.
    if system.multistep and system.size <= AFFORDABLE and plan.problem.noise > 0.0:
        method = LSODA()
    elif method is not None and method.step is not None:
        method = replace(method, step=0.5 * method.step)  # type: ignore[type-var]

    def watch(time: float) -> None:
        if march.method.needs_jacobian and march.counted().steps > MOST_STEPS:
            raise ComputationFailed(f"it needs more than {MOST_STEPS} steps, at time {time:.4g}")

    march = March(system, 0.0, system.pack(start.cosine, start.sine), float(times[-1]), method, tolerance, watch)
    found = []
    for time in times:
        unknown = march.to(float(time)).copy()
        cosine, sine = march.system.unpack(unknown)
        found.append(cosine - 1j * sine)
    return found


def _apart(one: Floats, other: Floats) -> float:
    """Return the largest difference of two vectors of moments relative to the largest moment."""
    size = max(one.size, other.size)
    difference = np.pad(one, (0, size - one.size)) - np.pad(other, (0, size - other.size))
    largest = max(float(np.abs(moments[1:]).max(initial=0.0)) for moments in (one, other))
    return float(np.abs(difference).max()) / largest if largest > 0.0 else 0.0
