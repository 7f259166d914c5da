"""The accuracy that an evolution has reached: by the growth of errors, or by a second run where they may grow.

Where errors grow no more than the density does, they are about the tolerance. Elsewhere, for fixed steps, and where
the growth is not known, the evolution is made once more and the difference of the recorded moments tells: by LSODA
where that is affordable, another method if the first was exponential, else with a smaller tolerance or step.
"""

from collections.abc import Sequence

import numpy as np

from meanfield import ComputationFailed

from ..bases import Floats
from .exponential import ETDRK4
from .growth import Growth
from .march import March, Method
from .multistep import LSODA
from .plan import Plan
from .system import system_for

# Errors of LSODA in units of the tolerance where they do not grow, and the smallest tolerance that is far from
# rounding.
STEADY = 4.0
SHARP = 1e-11
# Ratio of the tolerances of the two runs, and the tolerance beside a fixed step.
RATIO, TIGHT = 10.0, 1e-12
# Unknowns up to which LSODA is affordable.
AFFORDABLE = 512
# What the difference is multiplied by: the second run has an error too.
FACTOR = 1.5
# No accuracy better than this is stated, nor one better than the tolerance.
ROUNDING = 1e-12
# Times at which two runs are compared.
MOST_TIMES = 64


def estimated(
    plan: Plan, times: Floats, moments: Sequence[Floats], growth: Growth, methods: Sequence[str]
) -> float:
    """Return the error of the recorded moments relative to their size, the largest over the times.

    Parameters
    ----------
    plan
        The request.
    times : (T,) float
        Times recorded.
    moments : sequence of (n,) complex
        Moments then, in the layout of the plan, those of degree 0 first.
    growth
        How errors grew on the way.
    methods
        Names of the integrators that were used.

    Raises
    ------
    ComputationFailed
        If a second run is needed and fails.
    """
    if times[-1] == 0.0:
        return 0.0
    if growth.calm and plan.tolerance > SHARP and not any("ETDRK4" in name for name in methods):
        return STEADY * plan.tolerance
    chosen = np.unique(np.linspace(0, times.size - 1, MOST_TIMES).round().astype(int))
    fixed = isinstance(plan.method, ETDRK4) and plan.method.step is not None
    others = _again(plan, times[chosen], TIGHT if fixed else plan.tolerance / RATIO)
    apart = [_apart(moments[place], other) for place, other in zip(chosen, others, strict=True)]
    return max(FACTOR * max(apart), ROUNDING if fixed else plan.tolerance)


def _again(plan: Plan, times: Floats, tolerance: float) -> list[Floats]:
    """Return the moments at the times by another run."""
    start = plan.start
    system = system_for(plan.problem, start.cosine, start.sine, plan.degree, start.layout, plan.full)
    method: Method | None = plan.method
    if system.multistep and system.size <= AFFORDABLE:
        method = LSODA()
    elif isinstance(method, ETDRK4) and method.step is not None:
        method = ETDRK4(0.5 * method.step)
    march = March(system, 0.0, system.pack(start.cosine, start.sine), float(times[-1]), method, tolerance)
    found = []
    for time in times:
        unknown = march.to(float(time)).copy()
        cosine, sine = march.system.unpack(unknown)
        found.append(cosine - 1j * sine)
    return found


def _apart(one: Floats, other: Floats) -> float:
    """Return the largest difference of moments relative to the largest of them."""
    size = max(one.size, other.size)
    difference = np.pad(one, (0, size - one.size)) - np.pad(other, (0, size - other.size))
    largest = max(float(np.abs(moments[1:]).max(initial=0.0)) for moments in (one, other))
    return float(np.abs(difference).max()) / largest if largest > 0.0 else 0.0


def too_coarse(error: ComputationFailed) -> str:
    """Say why the accuracy is not known."""
    return f"the accuracy reached is not known, for the second run that tells it failed: {error}"
