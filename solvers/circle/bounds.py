"""Whether the free energy is bounded below."""

import numpy as np

from meanfield import McKeanVlasov


def bounded_below(problem: McKeanVlasov) -> bool:
    r"""Whether the free energy is bounded below, judged by the multipliers of degree 2048 to 4095.

    On Poisson kernels :math:`m_k = r^k` its gap is :math:`\sum_k (1/k - \lambda_k) r^{2k}`, which tends to minus
    infinity as r tends to 1 if :math:`k \lambda_k` stays above 1.
    """
    degrees = np.arange(2**11, 2**12)
    relative = problem.potential.relative_multipliers(problem.domain, int(degrees[-1]))[degrees]
    scale = problem.potential.scale(problem.domain)
    strengths = -float(problem.fixed_coupling * scale / (2.0 * problem.noise)) * relative
    return bool((degrees * strengths).min() <= 1.0)
