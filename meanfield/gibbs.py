r"""Zonal stationary densities on spheres in their Gibbs form, :math:`e^f/Z`.

.. math:: f(u) = -\frac{1}{D} \sum_{l\ge 1} (\kappa w_l p_l + v_l)\, P_l(u), \qquad
          |S|\,\rho(u) = \frac{e^{f(u)}}{\int e^f\,d\mu} .

All of f is of the size of :math:`\kappa W/D`, and the density has the relative error of rounding in f. The sum
:math:`\sum N_l p_l P_l` has the error of the moments times the :math:`N_l`, which are 8e18 at degree 20 in 64
dimensions.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from .equations import Equation, Interaction
from .harmonics import growing, refined_until_two_agree, zonal_sum
from .harmonics.quadrature import gauss_rule, polynomials

Floats = NDArray[np.float64]

# Nodes beyond twice the degree of the field; they are doubled until the normalisation agrees.
SPARE_NODES, MOST_NODES = 32, 8192
AGREEMENT = 1e-14
# Share of the field that is left out.
NEGLIGIBLE = 1e-18


def gibbs_density(problem: Equation, moments: Floats, polar: ArrayLike) -> Floats:
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
    return GibbsDensity(problem, moments)(polar)


class GibbsDensity:
    """The stationary density with given moments, as :func:`gibbs_density`, normalised once for many angles."""

    def __init__(self, problem: Equation, moments: Floats) -> None:
        self._dimension = problem.domain.dimension
        self._terms = _exponent(problem, moments)
        self._normalisation = _log_mean(self._terms, self._dimension)

    def __call__(self, polar: ArrayLike) -> Floats:
        """Return the density over the uniform one at angles from the north pole, of their shape."""
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.exp(zonal_sum(self._terms, self._dimension, polar) - self._normalisation))


def _log_mean(terms: Floats, dimension: int) -> float:
    """Return the logarithm of the uniform mean of exp(sum of terms[l] P_l)."""
    tolerance = AGREEMENT * max(1.0, float(np.sum(np.abs(terms))))

    def logarithm(nodes: int) -> tuple[float, float]:
        rule = gauss_rule(dimension, nodes)
        logarithms = terms @ polynomials(dimension, rule, terms.size - 1) + rule.log_weights
        return float(logsumexp(logarithms)), tolerance

    otherwise = f"the density is too concentrated to be normalised with {MOST_NODES} nodes"
    return refined_until_two_agree(logarithm, growing(2 * terms.size + SPARE_NODES, MOST_NODES), otherwise)


def _exponent(problem: Equation, moments: Floats) -> Floats:
    """Return the coefficients of f up to the last significant one, without the constant."""
    interaction, degree = Interaction(problem), moments.size - 1
    terms = interaction.attractions(degree) * moments + interaction.forces(degree)
    terms[0] = 0.0
    # The field is smoother than the density and needs far fewer degrees; the rest is below its rounding.
    beyond = np.cumsum(np.abs(terms)[::-1])[::-1]
    kept = max(1, int(np.count_nonzero(beyond > NEGLIGIBLE * beyond[0])))
    return np.asarray(terms[:kept], dtype=float)
