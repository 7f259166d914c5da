"""The unit of rates in an evolution."""

from meanfield import Equation
from meanfield.equations import Capability


def rate_unit(problem: Equation) -> float:
    r"""Return the unit of rates: the noise D or, without noise, the strongest multiplier of the drift.

    That is the largest of :math:`|\kappa w_l|` and :math:`|v_l|`, or 1 where nothing moves, the w_l being those of
    the gradient law with the same linearisation at the uniform density. In the place of the strongest one of a law
    without a drive stands the bound of its slope, if it has one, or 1.
    """
    if problem.noise > 0.0:
        return problem.noise
    domain, confinement = problem.domain, problem.confinement
    strengths = [abs(problem.fixed_coupling) * _strength(problem)]
    if confinement is not None:
        strengths.append(float(confinement.scale(domain)))
    return max(strengths) or 1.0


def _strength(problem: Equation) -> float:
    if problem.lacks(Capability.DRIVE):
        return problem.velocity.steepness() or 1.0
    return float(problem.velocity.at_uniform(problem.domain).scale(problem.domain))


def diffuses(problem: Equation) -> float:
    """Return the noise in the unit of rates: 1 with noise, 0 without."""
    return float(problem.noise > 0.0)
