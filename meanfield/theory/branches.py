"""Branches born on the uniform state: the normal form of one critical mode."""

from ..arguments import checked
from ..equations import Equation
from .forms import theory_of
from .results import BranchShape
from .thresholds import branching_coupling


@checked
def branch_shape(problem: Equation, n: int) -> BranchShape:
    r"""Return the normal form of the n-branch where it leaves the uniform state.

    .. math:: b_1 = \frac{1-2q}{2(1-q)}, \qquad
       b_2 = \frac{24pq^3-42pq^2+21pq-6p-20q^3+42q^2-24q+5}{12(p-1)(q-1)^3} .

    Hypotheses: no confinement, :math:`w_n \ne 0`; the branch lives in the n-periodic densities, so other
    critical modes matter only if they are multiples of n. Supercritical iff q < 1/2 or q > 1, subcritical
    iff 1/2 < q < 1. At q = 1/2, :math:`b_2 = 2(1-3p)/(3(1-p))` decides.

    On the sphere the branch is that of zonal states, :math:`m_n = \langle P_n\rangle`: transcritical for even n,
    :math:`\kappa/\kappa_n = 1 - \tfrac12 N_n^2 \int P_n^3\,d\mu\; m_n + O(m_n^2)`, a pitchfork for odd n with b_1
    from the modes of even degree up to 2n that are slaved to it. For n = 1,
    :math:`b_1 = \frac{d}{d+2}\frac{1-dr}{1-r}`, :math:`r = \hat w_2/\hat w_1`: supercritical iff r < 1/d.

    Branches of other laws, and of waves with a phase lag, are known to the order of b_1, see
    :mod:`meanfield.theory.normal_forms` and :mod:`meanfield.theory.on_circle`. Of softmax attention
    :math:`b_1 = (1-s)(1 + 2s - (2+s)q)/(2 - 2q)` on the circle with :math:`s = -\beta w_n/N_n`.

    Raises
    ------
    InvalidInput
        If n is not a positive integer, w_n = 0, there is a confinement or no noise, or the law has no
        drive.
    """
    coupling = branching_coupling(problem, n)
    return theory_of(problem.domain).shape(problem, n, coupling)
