r"""Zonal stationary densities on spheres as what they are, :math:`e^f/Z`.

.. math:: f(u) = -\frac{1}{D} \sum_{l\ge 1} (\kappa w_l p_l + v_l)\, P_l(u), \qquad
          |S|\,\rho(u) = \frac{e^{f(u)}}{\int e^f\,d\mu} .

All of f is of the size of :math:`\kappa W/D`, and the density has the relative error of rounding in f. The sum
:math:`\sum N_l p_l P_l` has the error of the moments times the :math:`N_l`, which are 8e18 at degree 20 in 64
dimensions.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from .errors import ComputationFailed
from .harmonics import zonal_sum
from .problem import McKeanVlasov
from .quadrature import gauss_rule, polynomials

Floats = NDArray[np.float64]

# Nodes beyond twice the degree of the moments; they are doubled until the normalisation agrees.
SPARE_NODES, MOST_NODES = 32, 8192
AGREEMENT = 1e-14


def gibbs_density(problem: McKeanVlasov, moments: Floats, polar: ArrayLike) -> Floats:
    """Return the stationary density with the given moments over the uniform one.

    Parameters
    ----------
    problem
        The equation on a sphere, with its coupling fixed.
    moments : (n + 1,) float
        The moments p_l of a stationary state.
    polar : float
        Angles from the north pole, any shape.

    Returns
    -------
    ndarray
        Of the shape of ``polar``; infinite where it exceeds the range of doubles.
    """
    terms = _exponent(problem, moments)
    normalisation = _log_mean(terms, problem.domain.dimension)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(zonal_sum(terms, problem.domain.dimension, polar) - normalisation))


def _log_mean(terms: Floats, dimension: int) -> float:
    """Logarithm of the uniform mean of exp(sum of terms[l] P_l)."""
    tolerance = AGREEMENT * max(1.0, float(np.sum(np.abs(terms))))
    nodes, last = 2 * terms.size + SPARE_NODES, np.inf
    while nodes <= MOST_NODES:
        rule = gauss_rule(dimension, nodes)
        logarithms = terms @ polynomials(dimension, rule, terms.size - 1) + rule.log_weights
        mean = float(logsumexp(logarithms))
        if abs(mean - last) <= tolerance:
            return mean
        nodes, last = 2 * nodes, mean
    raise ComputationFailed(f"the density is too concentrated to be normalised with {MOST_NODES} nodes")


def _exponent(problem: McKeanVlasov, moments: Floats) -> Floats:
    """Coefficients of f, (n + 1,); the constant is left to the normalisation."""
    domain, degree = problem.domain, moments.size - 1
    # The coupling may be too small for a double where the potential is large.
    strength = problem.fixed_coupling * problem.potential.scale(domain) / problem.noise
    terms = -float(strength) * problem.potential.relative_multipliers(domain, degree) * moments
    if problem.confinement is not None:
        terms = terms - np.asarray(problem.confinement.multipliers(domain, degree), dtype=float) / problem.noise
    terms[0] = 0.0
    return np.asarray(terms, dtype=float)
