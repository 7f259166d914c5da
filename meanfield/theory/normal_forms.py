r"""The saturation of the field of a law at the threshold of a mode, on which normal forms of branches depend.

The field of softmax attention is :math:`f = p\log(1 + F/p)`, F being that of the gradient law with the same
linearisation at the uniform density and :math:`p = \kappa/(\beta D)`; the gradient law is its limit
:math:`p\to\infty`. At the threshold of degree n

.. math:: s = \frac1p = \frac{K_n}{N_n K_0} = -\frac{\beta w_n}{N_n},

with the coefficients :math:`K_l` of :math:`e^{\beta\langle x,y\rangle}` and the multipliers w of that law. With the
critical mode :math:`\psi` of mean square one, :math:`\psi^2 = 1 + \sum_k c_k\chi_k`, and the strengths
:math:`q_k` of the degrees of :math:`\chi_k` over that of n, the branch born there has the field
:math:`a\psi + \dots`,

.. math:: \frac{\kappa_n}{\kappa} = 1 + \frac{1-s}2\langle\psi^3\rangle\,a + b\,a^2 + \dots, \qquad
          b = (1-s)\Bigl(\frac{1-s}2\sum_k\frac{q_k c_k^2}{1-q_k} + \frac{1-2s}6\langle\psi^4\rangle
              - \frac12\Bigr) ,

by expansion of the logarithm to third order; b where the third moment vanishes.
"""

import numpy as np

from ..equations import Capability, Equation, SoftmaxAttention, require
from ..errors import InvalidInput
from .thresholds import require_threshold, require_uniform


def saturation(problem: Equation, n: int) -> np.longdouble:
    """Return s at the threshold of a degree: 0 for the gradient law.

    Raises
    ------
    InvalidInput
        If no normal form of the branches of the law is known.
    """
    require_normal_form(problem)
    law, domain = problem.velocity, problem.domain
    if not isinstance(law, SoftmaxAttention):
        return np.longdouble(0.0)
    multiplier = law.at_uniform(domain).multipliers(domain, n)[n]
    return np.longdouble(-law.beta * multiplier / domain.multiplicity(n))


def require_normal_form(problem: Equation) -> None:
    """Refuse an equation without thresholds, and laws of which no normal form is known.

    Raises
    ------
    InvalidInput
        If that is so.
    """
    if not problem.lacks(Capability.GRADIENT):
        require_threshold(problem)
        return
    require_uniform(problem)
    require(problem, Capability.STATIONARY_MAP, "normal forms of branches")
    if lacking := lacks_normal_form(problem):
        raise InvalidInput(f"{lacking}; there are those of pair potentials and of SoftmaxAttention")


def lacks_normal_form(problem: Equation) -> str:
    """Return a clause that no normal form of the branches of the law is known; empty if one is."""
    if not problem.lacks(Capability.GRADIENT) or isinstance(problem.velocity, SoftmaxAttention):
        return ""
    return f"no normal form of the branches of {problem.velocity.name} is known"
