r"""The sharp rate at which densities contract to a point: the mass that leaves the antipode, or the cluster itself.

.. math:: 1 - r \sim e^{-\min(2L,\,(d-1)\lambda)t}, \qquad L = \kappa e^{\beta}, \quad \lambda = \kappa e^{-\beta}

without normalisation, :math:`L = \lambda = \kappa` for softmax attention, on the sphere :math:`S^{d-1}`; the rate
of :math:`W_2` is the half.
"""

from meanfield import Equation

from ..claims import Evidence, Undecided, claim, compare, worst
from ..measures import EPS
from ..tools import Tools
from .laws import COUPLING, attention, exponents

# Where the exponents are further apart than this, e^{2 |beta|}, the collapse is not waited for.
FURTHEST = 10.0
# What the solvers promise of rates, relative to them.
PROMISED = 1e-6


def soon(problem: Equation) -> str | None:
    """Return the reason why a statement on the collapse is not checked, or None if it is."""
    return attention(problem) or too_far(exponents(problem.at(coupling=1.0)))


def too_far(rates: tuple[float, float]) -> str | None:
    """Return the reason why a collapse with the exponents of cluster and antipode takes too long, or None."""
    if max(rates) > FURTHEST * min(rates):
        return "the exponents of cluster and antipode are too far apart for the collapse to be waited for"
    return None


@claim(
    "attention.contraction",
    "the sharp rate of contraction of a density",
    statement=(
        "1 - r decays at min(2 L, (d-1) lambda), W_2 at the half, L = kappa e^beta and lambda = kappa e^-beta "
        "without normalisation and both kappa for softmax, not at the local rate alone."
    ),
    assumptions="no noise; a density that is positive everywhere and collapses to one point",
    source="linearisation at cluster and antipode; sharper than exp(-t/100) of W_2 in arXiv:2504.14697",
    hypotheses=soon,
    needs=(),
)
def contraction(problem: Equation, tools: Tools) -> Evidence:
    """Compare the rates of 1 - r and W2 with the exponents, within their stated errors and what is promised."""
    coupled = problem.at(coupling=COUPLING)
    cluster, antipode = exponents(coupled)
    expected = min(2 * cluster, (problem.domain.dimension - 1) * antipode)
    measured = tools.contraction(coupled)
    found = []
    for quantity, share in (("1 - r", 1.0), ("W2", 0.5)):
        rate = measured.rate_of(quantity)
        if rate.rate is None or rate.error is None:
            raise Undecided(f"the rate of {quantity} is not known")
        allowed = min(rate.error, PROMISED * expected) + 64 * EPS * expected
        found.append(compare(rate.rate, share * expected, allowed, f"rate of {quantity}"))
        found.append(compare(rate.error, 0.0, PROMISED * expected, f"stated error of the rate of {quantity}"))
    return worst(found)
