"""The beta at which a branch of the transformer turns from super- to subcritical."""

import functools

import numpy as np

from ..domains import Domain
from ..harmonics.gegenbauer import multiplicities
from ..potentials.formulas import formulas_of


@functools.lru_cache(maxsize=256)
def tricritical_between(n: int, domain: Domain, bracket: tuple[float, float]) -> float:
    r"""Return the root of :math:`\hat w_{2n}/\hat w_n = 1/d` of the transformer in an interval of beta."""
    from scipy.optimize import brentq

    dimension, numbers = domain.dimension, multiplicities(domain, 2 * n)

    def excess(beta: float) -> float:
        terms = formulas_of(domain).exponential(beta, 2 * n)[: 2 * n + 1] / numbers
        return float(dimension * terms[2 * n] / terms[n] - 1)

    return float(brentq(excess, *bracket, xtol=1e-300, rtol=4 * np.finfo(float).eps))
