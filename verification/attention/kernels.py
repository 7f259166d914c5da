r"""Attention with other kernels: which functions of the inner product make tokens gather.

With :math:`W = -\varphi(\langle x,y\rangle)` tokens follow :math:`\kappa\,\nabla(\varphi*\mu)`. On the circle they
gather if the Taylor coefficients of :math:`\varphi'` decrease and are not negative, on spheres if :math:`\varphi`
increases and is convex on [-1, 1], which on the circle is not enough. A finite cosine series is a polynomial
:math:`-\varphi` in the inner product on every sphere.
"""

import numpy as np
from numpy.polynomial import Polynomial, chebyshev

from meanfield import CosineSeries, Equation

from ..claims import Evidence, claim
from ..hypotheses import anywhere
from ..tools import Tools
from .gathering import PATIENCE, STEP, TOGETHER, scattered, waiting
from .laws import COUPLING


def force(problem: Equation) -> Polynomial:
    """Return the derivative of phi by the inner product."""
    cosines = [0.0, *problem.law.parameters()["w"]]
    return -Polynomial(chebyshev.cheb2poly(cosines)).deriv()


def least(function: Polynomial) -> float:
    """Return the least value of a polynomial on [-1, 1]."""
    stationary = function.deriv().roots() if function.degree() > 1 else np.zeros(0)
    inside = stationary.real[(np.abs(stationary.imag) < 1e-9) & (np.abs(stationary.real) < 1)]
    return float(function(np.array([-1.0, 1.0, *inside])).min())


def gathering_kernel(problem: Equation) -> str | None:
    """Return the reason why tokens need not gather, or None if they do."""
    if not isinstance(problem.law, CosineSeries) or problem.noise > 0:
        return "it is about finite cosine series without noise"
    reason, slope = anywhere(problem), force(problem)
    if reason is None and slope(-1.0) <= 0:
        return "the antipode of a cluster does not repel, so that there is no time to wait for"
    if reason is None and problem.domain.turns and not _decrease(slope.coef):
        return "the Taylor coefficients of phi' do not decrease"
    if reason is None and not problem.domain.turns and min(least(slope), least(slope.deriv())) < 0:
        return "phi does not increase or is not convex"
    return reason


def _decrease(coefficients: np.ndarray) -> bool:
    return bool(coefficients[-1] >= 0 and (np.diff(coefficients) <= 0).all())


@claim(
    "attention.other-kernels",
    "other kernels that make tokens gather",
    statement=(
        "Under W = -phi(<x, y>) tokens from almost all starts meet in one point: on the circle if the Taylor "
        "coefficients of phi' decrease to zero, on spheres if phi increases and is convex."
    ),
    assumptions="no noise; every token sees all others; independent uniform starts; false alarm below 1e-4",
    source=(
        "Criscitiello, Rebjock, McRae, Boumal, arXiv:2405.18273; 20 systems of 3 to 12 tokens, fixed seed; late "
        "systems counted by benchmarks/gathering.py"
    ),
    hypotheses=gathering_kernel,
    needs=(),
)
def other_kernels(problem: Equation, tools: Tools) -> Evidence:
    """Count the systems that are not in one cluster in the end."""
    coupled = problem.at(coupling=COUPLING)
    until = waiting(coupled, rates(coupled), PATIENCE, TOGETHER)
    return scattered(coupled, until, STEP / steepest_slope(coupled), tools)


def rates(problem: Equation) -> tuple[float, float]:
    """Return the exponents of a cluster and of its antipode."""
    slope = force(problem)
    return problem.fixed_coupling * float(slope(1.0)), problem.fixed_coupling * float(slope(-1.0))


def steepest_slope(problem: Equation) -> float:
    """Return a bound on the slope of the velocity."""
    weights = np.abs(problem.law.parameters()["w"])
    return float(problem.fixed_coupling * (weights * np.arange(1, weights.size + 1) ** 2).sum())
