r"""Whether the transition from the uniform state is continuous: the global criterion."""

from ..arguments import checked
from ..equations import Capability, Equation
from .forms import theory_of
from .results import GlobalCriterion
from .thresholds import require_threshold, require_uniform


@checked
def global_criterion(problem: Equation) -> GlobalCriterion:
    r"""Return the global criterion: whether the transition is continuous at the linear threshold.

    Mun, Rosenzweig (arXiv:2604.16288): if :math:`w_1 < 0` and :math:`k\max(-w_k, 0) \le -w_1` for all
    k >= 2, uniform is the unique minimiser of F for all :math:`0 \le \kappa \le \kappa_1` (at
    :math:`\kappa_1` unless all are equalities). Reason (Lebedev, Milin):
    :math:`\int\rho\log 2\pi\rho \ge \sum_k |c_k|^2/k`. When only multiples of n attract,
    averaging over rotations by :math:`2\pi/n` lowers F and the
    same holds for the modes nk. Converse: 1/2 < q < 1 makes the branch subcritical, hence the transition
    discontinuous and below :math:`\kappa_n`; so does q = 1, where the cubic term of the reduced energy is
    negative for one phase already at :math:`\kappa_n`.

    On the sphere: the transition is discontinuous if the first critical degree is even, since the cubic term
    :math:`\int P_n^3 > 0` of the reduced energy is negative for one sign already at :math:`\kappa_n`, or if the
    branch of degree 1 is subcritical. It is continuous for Kuramoto's potential (Frouvelle, Liu, SIAM J. Math.
    Anal. 44, 2012: below :math:`\kappa_1` uniform is the only state) and for the transformer with
    :math:`0 < \beta \le \beta^*(d)` (Mun, Rosenzweig, arXiv:2606.05140). For the attractive logarithm the
    Hardy-Littlewood-Sobolev inequality (Carlen, Loss, GAFA 2, 1992; Beckner, Ann. Math. 138, 1993) says that
    uniform is a minimiser up to :math:`\kappa_1 = 2(d-1)D` and there with all its conformal images.

    Raises
    ------
    InvalidInput
        If the problem has a confinement or no noise.
    """
    require_uniform(problem)
    if problem.lacks(Capability.GRADIENT) and problem.positive_noise:
        statement = f"no global criterion is known: {problem.lacks(Capability.FREE_ENERGY)}"
        return GlobalCriterion(None, None, None, None, statement)
    require_threshold(problem)
    return theory_of(problem.domain).criterion(problem)
