"""The end of an evolution without noise whose density becomes too narrow for its moments, in one sentence."""

import numpy as np

from meanfield import Equation, InvalidInput, NotResolved
from meanfield.equations import Capability, Interaction

from ..bases.limits import MAX_DEGREE
from .initial import Initial
from .space import Space
from .units import rate_unit

# Share of the largest number of moments that an evolution without noise uses: the second run, which measures its
# accuracy by a tenth of its tolerance, needs up to a fifth more of them at the same time.
HEADROOM = 0.75
RATE = "; contraction_rate (meanfield rate) has the rate at which it collapses to a point"


def collapse(problem: Equation, space: Space, start: Initial, time: float, degree: int) -> NotResolved:
    """Return the reason why a density without noise is followed up to a time only, and what follows it further.

    Parameters
    ----------
    problem, space, start
        The equation without noise, the space of the density and its moments at time 0.
    time, degree
        When it was last resolved, and by how many moments.
    """
    to_a_point = _to_a_point(problem, start)
    rate = contraction(problem) if to_a_point else None
    narrows = "it grows ever steeper"
    if rate is not None and rate > 0.0:
        narrows = f"where it collapses to a point its width falls as exp(-{rate:.4g} t)"
    return NotResolved(
        f"without noise nothing smooths the density, {narrows}, and from time {time:.6g} on it is too narrow for "
        f"{degree} moments; {_further(problem, space, start)}{RATE if to_a_point else ''}"
    )


def _to_a_point(problem: Equation, start: Initial) -> bool:
    """Return whether a density may collapse to one point by its interaction alone, as rates of contraction need."""
    turned = bool(np.hypot(start.cosine[1:2], start.sine[1:2]).any())
    known = not (problem.lacks(Capability.DRIVE) or problem.lacks(Capability.AUTONOMOUS))
    return known and problem.confinement is None and turned


def contraction(problem: Equation) -> float | None:
    r"""Return the rate :math:`\kappa W''(0)` at which a point of the whole mass attracts its neighbourhood.

    It is :math:`\sum_l \kappa w_l P_l'(1)` but for the sign, :math:`P_l'(1) = l(l+d-2)/(d-1)`, :math:`l^2` on the
    circle. None where no degrees suffice for the sum, and for other laws than gradients.
    """
    if problem.lacks(Capability.GRADIENT):
        return None
    interaction, dimension = Interaction(problem, rate_unit(problem)), problem.domain.dimension
    if interaction.significant_degree > MAX_DEGREE:
        return None
    attractions = interaction.attractions(interaction.significant_degree)
    degrees = np.arange(attractions.size)
    return rate_unit(problem) * float(degrees * (degrees + dimension - 2) @ attractions) / (dimension - 1)


def _further(problem: Equation, space: Space, start: Initial) -> str:
    if space.harmonic(problem, start) is not None:
        return "method=WatanabeStrogatz() (--method watanabe-strogatz) follows it to any time"
    if _has_flow(problem, space, start):
        return "method=Characteristics() (--method characteristics) goes on along characteristics"
    return "particles go on (simulate)"


def _has_flow(problem: Equation, space: Space, start: Initial) -> bool:
    """Return whether a density can be followed along characteristics."""
    if problem.lacks(Capability.DRIVE):
        return False
    try:
        return space.flow(problem, start, False) is not None
    except InvalidInput:
        return False
