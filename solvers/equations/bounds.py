"""Whether the free energy is bounded below."""

import numpy as np

from meanfield import Equation
from meanfield.equations import Interaction


def bounded_below(problem: Equation) -> bool:
    r"""Return whether the free energy is bounded below, judged by the multipliers of degree 2048 to 4095.

    On Poisson kernels of the circle, :math:`m_k = r^k`, its gap is :math:`\sum_k (1/k - \lambda_k) r^{2k}`, which
    tends to minus infinity as r tends to 1 if :math:`k \lambda_k` stays above 1. In any dimension a potential like
    :math:`a\log|x-y|` at short distance has :math:`w_l \approx -\frac a2(\frac1l + \frac1{l+d-2})`, and by the
    logarithmic Hardy-Littlewood-Sobolev inequality the entropy bounds it exactly up to :math:`\kappa a = 2(d-1)D`.
    """
    degrees, dimension = np.arange(2**11, 2**12), problem.domain.dimension
    strengths = Interaction(problem).attractions(int(degrees[-1]))[degrees]
    strengths *= degrees * (degrees + dimension - 2) / (degrees + 0.5 * (dimension - 2))
    return bool(strengths.min() <= 2.0 * (dimension - 1))
