r"""The inequality of Polyak and Lojasiewicz: the squared velocity dominates the energy gap.

With :math:`\mathcal E_{\max} = e^\beta/2\beta`, the energy of a point, and the velocity v of the gradient flow

.. math:: \frac1\kappa\int|v|^2\,d\mu \ge c\,(\mathcal E_{\max} - \mathcal E).

For tokens near a point :math:`v = -\kappa e^\beta(x-\bar x)`, and the gap is :math:`\tfrac12 e^\beta` times their
variance, so that :math:`c\to 2\kappa e^\beta`. By the identity of the energy the quotient of both sides is the rate
at which the gap decays, which for a positive density becomes :math:`(d-1)\kappa e^{-\beta}` where that is less: no
constant above it is good for all measures.
"""

import math
from collections.abc import Iterator

import numpy as np

from meanfield import Equation

from ..claims import Evidence, Undecided, claim, compare, worst
from ..measures import EPS, Floats, polynomial_at_zero
from ..tools import Tools
from .contraction import PROMISED, soon
from .laws import COUPLING, SHARE, beta_of, cluster_exponent, exponents, steepest, unnormalised, velocities

# Tokens about a point, and the sizes to which they are scaled.
TOKENS = np.array([-1.0, -0.3, 0.1, 0.8])
SIZES = np.linspace(0.02, 0.12, 6)


def dominated(problem: Equation) -> str | None:
    """Return the reason why the inequality is not checked for a problem, or None if it is."""
    return unnormalised(problem) or soon(problem)


def gap(angles: Floats, beta: float) -> Floats:
    """Return what the energy of tokens (..., N) lacks of its largest value, without cancellation."""
    halves = np.sin(0.5 * (angles[..., :, np.newaxis] - angles[..., np.newaxis, :]))
    return np.asarray(-math.exp(beta) * np.expm1(-2.0 * beta * halves**2).mean(axis=(-2, -1)) / (2.0 * beta))


@claim(
    "attention.dominance",
    "the squared velocity dominates the energy gap",
    statement=(
        "int |v|^2/(kappa (E_max - E)) is 2 kappa e^beta in the limit of tokens at a point, and along a positive "
        "density that collapses it becomes min(2 kappa e^beta, (d-1) kappa e^-beta), the rate of the gap."
    ),
    assumptions="no noise; no normalisation; tokens on the circle, the density on every domain",
    source="expansion at a point; the inequality: Chen, Lin, Polyanskiy, Rigollet, arXiv:2504.14697",
    hypotheses=dominated,
    needs=(),
)
def dominance(problem: Equation, tools: Tools) -> Evidence:
    """Compare the quotient of tokens, extrapolated to a point, and the rate of the gap of a density."""
    coupled = problem.at(coupling=COUPLING)
    found = list(_density(coupled, tools))
    if problem.domain.turns:
        found.append(_at_a_point(coupled, tools))
    return worst(found)


def _at_a_point(problem: Equation, tools: Tools) -> Evidence:
    """Return the evidence of the limit; the quotient is even in the size of the cluster."""
    angles, beta = np.outer(SIZES, TOKENS), beta_of(problem)
    moves = velocities(problem, angles, tools)
    squares = np.asarray((moves**2).mean(axis=1))
    ratios = squares / (problem.fixed_coupling * gap(angles, beta))
    # Angles are rounded, and velocities are their differences over a step.
    rounding = 64 * EPS * math.pi * steepest(problem) / SHARE
    noise = np.asarray(2.0 * ratios * rounding / np.sqrt(squares))
    value, error = polynomial_at_zero(SIZES**2, ratios, noise, 0)
    return compare(value, 2 * cluster_exponent(problem), error, "squared velocity over the gap, tokens at a point")


def _density(problem: Equation, tools: Tools) -> Iterator[Evidence]:
    """Yield the evidence of the rate of the gap of a density."""
    cluster, antipode = exponents(problem)
    expected = min(2 * cluster, (problem.domain.dimension - 1) * antipode)
    measured = tools.contraction(problem).rate_of("energy gap")
    if measured.rate is None or measured.error is None:
        raise Undecided("the rate of the energy gap is not known")
    allowed = min(measured.error, PROMISED * expected) + 64 * EPS * expected
    yield compare(measured.rate, expected, allowed, "rate of the energy gap of a density")
