"""The mean-field limit at the times of a comparison, and without noise what lies beyond its reach."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from meanfield import ComputationFailed, Contraction, Equation, InvalidInput, NotResolved, Trajectory
from meanfield.equations import in_rotating_frame
from solvers import Characteristics, WatanabeStrogatz, contraction_rate, evolve

# Of the moments, far below the fluctuations of any number of particles.
TOLERANCE = 1e-10
# Last moments above this do not resolve the density.
UNRESOLVED = 1e-6


def limit(problem: Equation, initial: Any, until: float, times: int | ArrayLike) -> Trajectory:
    """Return the density of an equation at times, without noise by Moebius maps or along characteristics.

    Raises
    ------
    ComputationFailed
        If it cannot be followed to the end.
    """
    beyond_collapse = () if problem.noise > 0.0 else (WatanabeStrogatz(), Characteristics())
    for method in (*beyond_collapse, None):
        try:
            trajectory = evolve(problem, initial, until, times=times, tolerance=TOLERANCE, method=method)
        except InvalidInput:
            if method is None:
                raise
            continue
        break
    if trajectory.time[-1] >= until:
        return trajectory
    raise ComputationFailed(
        f"without noise the equation was followed to time {trajectory.time[-1]:.6g} of {until:g} only, where its "
        "density is too narrow for its moments; compare up to there"
    )


def resolves(trajectory: Trajectory) -> bool:
    """Return whether the last density is resolved by the moments that are kept, so that it can be drawn from."""
    sizes = np.hypot(trajectory.cosine[-1], trajectory.sine[-1])
    return bool(sizes[-(sizes.size // 8) :].max() <= UNRESOLVED)


def beyond(trajectory: Trajectory, initial: Any, sizes: Sequence[int]) -> Iterator[str]:
    """Yield the sentence on the times from which particles without noise no longer follow their limit."""
    problem = trajectory.problem
    if problem.noise > 0.0:
        return
    try:
        rate = contraction_rate(in_rotating_frame(problem), initial=initial)
    except (InvalidInput, NotResolved) as error:
        yield f"without noise particles leave their limit in the end, and from what time on is not known: {error}"
        return
    assert isinstance(rate, Contraction)
    crossovers = {size: rate.crossover(size) for size in sizes}
    known = [f"{time:.3g} for N = {size}" for size, time in crossovers.items() if time is not None]
    if known:
        yield (
            "without noise N particles follow their limit up to the time from which none of them is on its way "
            f"from the separatrix, about {', '.join(known)}; beyond, 1 - r falls at the rate "
            f"{2 * rate.local_exponent:.6g} of a cluster alone, and differences from the limit are no errors"
        )
