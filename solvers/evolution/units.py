"""The unit of rates in an evolution."""

from meanfield import Equation


def rate_unit(problem: Equation) -> float:
    r"""Return the unit of rates: the noise D or, without noise, the strongest multiplier of the drift.

    That is the largest of :math:`|\kappa w_l|` and :math:`|v_l|`, or 1 where nothing moves, the w_l being those of
    the gradient law with the same linearisation at the uniform density.
    """
    if problem.noise > 0.0:
        return problem.noise
    domain, confinement = problem.domain, problem.confinement
    strengths = [abs(problem.fixed_coupling) * float(problem.velocity.at_uniform(domain).scale(domain))]
    if confinement is not None:
        strengths.append(float(confinement.scale(domain)))
    return max(strengths) or 1.0


def diffuses(problem: Equation) -> float:
    """Return the noise in the unit of rates: 1 with noise, 0 without."""
    return float(problem.noise > 0.0)
