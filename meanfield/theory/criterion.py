r"""Whether the transition from the uniform state is continuous: the global criterion."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arguments import checked
from ..base import Record
from ..equations import McKeanVlasov
from ..potentials import Kuramoto, Logarithmic, Transformer
from .branches import ROUNDING, branch_shape
from .exact import tricritical_beta
from .thresholds import critical_coupling, critical_modes, require_uniform

_CHECKED_DEGREE = 2**12


@checked
@dataclass(frozen=True, eq=False, repr=False)
class GlobalCriterion(Record):
    """Whether uniform is the unique global minimiser up to its linear threshold.

    On the sphere there is no criterion for all potentials: ``holds`` is True where a theorem about the potential
    says so, False where the branch at the threshold excludes it, else None.

    Attributes
    ----------
    holds
        True: continuous transition at kappa_n, the transition coupling; False: the criterion is
        violated at ``violated_at``; None: it does not apply.
    mode
        n, the fundamental attractive mode, or None.
    violated_at
        The mode k at which (k/n) max(-w_k, 0) exceeds -w_n the most, or None.
    continuous
        True or False where the transition is known to be continuous or not, else None.
    statement
        The conclusion about the transition coupling, a sentence.
    certain
        Whether the bound is established for all modes, not only for the degree checked.
    """

    holds: bool | None
    mode: int | None
    violated_at: int | None
    continuous: bool | None
    statement: str
    certain: bool = True


@checked
def global_criterion(problem: McKeanVlasov) -> GlobalCriterion:
    r"""Decide whether the transition is continuous at the linear threshold.

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
        If the problem has a confinement.
    """
    require_uniform(problem)
    if problem.domain.dimension > 2:
        return _on_sphere(problem)
    relative = problem.potential.relative_multipliers(problem.domain, _CHECKED_DEGREE)
    attractive = np.flatnonzero(relative < 0)
    if attractive.size == 0:
        return GlobalCriterion(
            None,
            None,
            None,
            None,
            "no mode attracts: uniform is the unique minimiser at every coupling >= 0",
        )
    n = int(np.gcd.reduce(attractive))
    if relative[n] >= 0:
        return GlobalCriterion(
            None,
            None,
            None,
            None,
            f"the criterion does not apply: modes {_listed(attractive)} attract but mode {n} does not",
        )
    strength = np.maximum(-relative[::n], 0.0) * np.arange(relative[::n].size) / -relative[n]
    strength[1] = 0.0
    worst = int(strength.argmax())
    if strength[worst] > 1 + ROUNDING:
        return _violated(relative, n, worst * n)
    return _satisfied(problem, relative, n, strength)


def _on_sphere(problem: McKeanVlasov) -> GlobalCriterion:
    threshold = critical_coupling(problem)
    if threshold is None:
        statement = "no degree attracts: uniform is the unique minimiser at every coupling >= 0"
        return GlobalCriterion(None, None, None, None, statement)
    first = critical_modes(problem, threshold, threshold)[0].modes
    n = next((mode for mode in first if mode % 2 == 0), first[0])
    shape = branch_shape(problem, n)
    if shape.type in ("transcritical", "subcritical"):
        statement = f"discontinuous: the {n}-branch is {shape.type}, so the transition is strictly below kappa_{n}"
        return GlobalCriterion(False, n, None, False, statement)
    if isinstance(problem.potential, Logarithmic):
        statement = f"the transition is at kappa_{n}, where a whole family of states has the energy of uniform"
        return GlobalCriterion(True, n, None, None, statement)
    if _known_continuous(problem):
        statement = f"continuous: uniform is the unique minimiser up to and at kappa_{n}, the transition coupling"
        return GlobalCriterion(True, n, None, True, statement)
    statement = f"undecided: the {n}-branch is {shape.type}, the transition is at or below kappa_{n}"
    return GlobalCriterion(None, n, None, None, statement)


def _known_continuous(problem: McKeanVlasov) -> bool:
    potential = problem.potential
    if isinstance(potential, Transformer):
        return 0 < potential.beta <= tricritical_beta(1, problem.domain)
    return isinstance(potential, Kuramoto)


def _violated(relative: npt.NDArray[np.float64], n: int, worst: int) -> GlobalCriterion:
    q = float(relative[2 * n] / relative[n])
    if relative.min() < relative[n] * (1 + ROUNDING):
        lowest = int(relative.argmin())
        statement = f"mode {lowest} is unstable before mode {n}: the transition is at or below kappa_{lowest}"
        return GlobalCriterion(False, n, worst, None, statement)
    if 0.5 + ROUNDING < q <= 1 + ROUNDING:
        shape = "transcritical" if q >= 1 - ROUNDING else "subcritical"
        statement = f"discontinuous: the {n}-branch is {shape}, so the transition is strictly below kappa_{n}"
        return GlobalCriterion(False, n, worst, False, statement)
    statement = f"undecided: the criterion is violated at mode {worst}, the transition is at or below kappa_{n}"
    return GlobalCriterion(False, n, worst, None, statement)


def _satisfied(
    problem: McKeanVlasov, relative: npt.NDArray[np.float64], n: int, strength: npt.NDArray[np.float64]
) -> GlobalCriterion:
    all_equal = bool((strength[2:] >= 1 - ROUNDING).all())
    certain = _tail_certified(problem, float(-relative[n]), n)
    if all_equal:
        statement = f"the transition is at kappa_{n}, where a whole family of states has the energy of uniform"
        return GlobalCriterion(True, n, None, None, statement, certain)
    statement = f"continuous: uniform is the unique minimiser up to and at kappa_{n}, the transition coupling"
    return GlobalCriterion(True, n, None, True, statement, certain)


def _tail_certified(problem: McKeanVlasov, reference: float, n: int) -> bool:
    """Whether (k/n) |w_k| <= |w_n| beyond the degree checked, by dyadic blocks while they can fail."""
    bound, domain = problem.potential.relative_tail_bound, problem.domain
    blocks = [2 * degree / n * bound(domain, degree) for degree in (_CHECKED_DEGREE, 2 * _CHECKED_DEGREE)]
    return max(blocks) <= reference and blocks[1] <= blocks[0]


def _listed(modes: npt.NDArray[np.intp]) -> str:
    return ", ".join(map(str, modes[:5].tolist())) + (", ..." if modes.size > 5 else "")
