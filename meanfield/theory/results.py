"""Records of the theory of branches and transitions."""

from dataclasses import dataclass

import numpy as np

from ..arguments import checked
from ..base import Record
from ..potentials import Number

# Ratios of multipliers that agree to this are equal: each carries a few roundings.
ROUNDING = 16 * float(np.finfo(float).eps)


@checked
@dataclass(frozen=True, eq=False, repr=False)
class BranchShape(Record):
    r"""Normal form of the n-branch at uniform: :math:`\kappa/\kappa_n = 1 + b_1 m_n^2 + b_2 m_n^4 + O(m_n^6)`.

    On the sphere the branch is the zonal one and :math:`m_n = \langle P_n\rangle`; for even n the expansion starts
    with ``slope`` :math:`m_n`.

    Attributes
    ----------
    mode
        n.
    coupling
        kappa_n.
    curvature
        b_1; nan when transcritical.
    quartic
        b_2; nan when transcritical, when w_(3n) = w_n, on the sphere and for laws other than the gradient law.
    q, p
        w_(2n)/w_n and w_(3n)/w_n, ratios of the couplings at which modes are critical; on the sphere of w/N.
    type
        "supercritical", "subcritical", "degenerate" (b_1 = 0) or "transcritical" (q = 1; even n on the sphere).
    note
        A sentence if the type alone is not the whole answer, else empty.
    slope
        Coefficient of m_n of a transcritical branch on the sphere, else None.
    """

    mode: int
    coupling: Number
    curvature: float
    quartic: float
    q: float
    p: float
    type: str
    note: str = ""
    slope: float | None = None


@checked
@dataclass(frozen=True, eq=False, repr=False)
class GlobalCriterion(Record):
    """The criterion for uniform to be the unique global minimiser up to its linear threshold.

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
