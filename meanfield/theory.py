r"""Closed-form theory of the uniform state on the circle and of the branches leaving it.

With :math:`\lambda_k = -\kappa w_k / 2D = \kappa/\kappa_k`, :math:`q = w_{2n}/w_n`, :math:`p = w_{3n}/w_n`
and :math:`c_k = \int e^{-ikt}\rho`, the gap of a density near uniform is

.. math:: (F - F_0)/D = \sum_k (1-\lambda_k)|c_k|^2 + \langle (1+f)\log(1+f) - f^2/2 \rangle,
          \qquad 2\pi\rho = 1 + f ,

and eliminating the modes that are not critical gives the normal forms below. Translation of papers:
Carrillo, Gvalani, Pavliotis, Schlichting (ARMA 235, 2020) write :math:`\beta^{-1} = D` and
:math:`\tilde W(k) = \sqrt\pi w_k`; Mun, Rosenzweig (arXiv:2604.16288) write :math:`K = \kappa/2D` and
:math:`-W` for W. All ratios come from relative multipliers, so nothing overflows at large beta.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InvalidInput
from .exact import (
    VerticalBranch,
    continuous_radius,
    kuramoto_gap,
    kuramoto_order_parameter,
    tricritical_beta,
    vertical_branches,
    vertical_spectrum,
)
from .problem import McKeanVlasov
from .protocol import Number
from .thresholds import (
    CriticalPoint,
    checked_mode,
    critical_coupling,
    critical_couplings,
    critical_modes,
    growth_rates,
    plain_number,
    require_uniform,
)

__all__ = [
    "BranchShape",
    "CriticalPoint",
    "GlobalCriterion",
    "Resonance",
    "VerticalBranch",
    "branch_shape",
    "continuous_radius",
    "critical_coupling",
    "critical_couplings",
    "critical_modes",
    "global_criterion",
    "growth_rates",
    "kuramoto_gap",
    "kuramoto_order_parameter",
    "resonance",
    "tricritical_beta",
    "vertical_branches",
    "vertical_spectrum",
]

_EPS = float(np.finfo(float).eps)
_ROUNDING = 16 * _EPS
_CHECKED_DEGREE = 2**12


@dataclass(frozen=True)
class BranchShape:
    r"""How the n-branch leaves uniform: :math:`\kappa/\kappa_n = 1 + b_1 m_n^2 + b_2 m_n^4 + O(m_n^6)`.

    Attributes
    ----------
    mode
        n.
    coupling
        kappa_n.
    curvature
        b_1; nan when transcritical.
    quartic
        b_2; nan when transcritical or when w_(3n) = w_n.
    q, p
        w_(2n)/w_n and w_(3n)/w_n.
    type
        "supercritical", "subcritical", "degenerate" (b_1 = 0) or "transcritical" (q = 1).
    note
        A sentence where the type alone does not tell the whole, else empty.
    """

    mode: int
    coupling: Number
    curvature: float
    quartic: float
    q: float
    p: float
    type: str
    note: str = ""


@dataclass(frozen=True)
class GlobalCriterion:
    """Whether uniform is the unique global minimiser up to its linear threshold.

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


@dataclass(frozen=True)
class Resonance:
    r"""The reduced energy of two modes n < m at a common critical coupling, x = |z|^2, y = |w|^2.

    .. math:: (F-F_0)/D = (1-\lambda_n)x + (1-\lambda_m)y + \tfrac{b_n}{2}x^2 + \tfrac{b_m}{2}y^2 - Cxy
              + r\,\mathrm{Re}(z^{m/n}\bar w)

    Attributes
    ----------
    kind
        "1:2" (r = -1, quartic terms are then of higher order), "1:3" or "generic" (r = 0).
    modes
        (n, m).
    detuning
        kappa_m/kappa_n - 1; the resonance is exact when it is at rounding level.
    cross
        C = s/(1-s) + t/(1-t), s = lambda_(m-n), t = lambda_(m+n) at kappa_n; nan for 1:2.
    resonant
        r.
    curvatures
        (b_n, b_m); b_n is nan for 1:2.
    """

    kind: str
    modes: tuple[int, int]
    detuning: float
    cross: float
    resonant: float
    curvatures: tuple[float, float]

    def mixed_slopes(self) -> tuple[float, float]:
        """Return (sqrt 2, -1): on the transcritical branch of an exact 1:2, kappa = kappa_n (1 + delta).

        There |m_n| = sqrt 2 |delta| and m_2n = -delta to first order.

        Raises
        ------
        InvalidInput
            If the resonance is not 1:2.
        """
        if self.kind != "1:2":
            raise InvalidInput(f"mixed slopes belong to a 1:2 resonance, not to modes {self.modes}")
        return math.sqrt(2.0), -1.0


def branch_shape(problem: McKeanVlasov, n: int) -> BranchShape:
    r"""Return how the n-branch leaves the uniform state.

    .. math:: b_1 = \frac{1-2q}{2(1-q)}, \qquad
       b_2 = \frac{24pq^3-42pq^2+21pq-6p-20q^3+42q^2-24q+5}{12(p-1)(q-1)^3} .

    Hypotheses: no confinement, :math:`w_n \ne 0`; the branch lives in the n-periodic densities, so other
    critical modes matter only if they are multiples of n. Supercritical iff q < 1/2 or q > 1, subcritical
    iff 1/2 < q < 1. At q = 1/2, :math:`b_2 = 2(1-3p)/(3(1-p))` decides.

    Raises
    ------
    InvalidInput
        If n is not a positive integer, w_n = 0 or there is a confinement.
    """
    require_uniform(problem)
    coupling = plain_number(critical_couplings(problem, checked_mode(n))[n])
    if not np.isfinite(coupling):
        raise InvalidInput(f"mode {n} has w_{n} = 0, so no branch leaves the uniform state along it")
    extended = problem.potential.extended_multipliers(problem.domain, 3 * n)
    # Adding 0 turns -0.0, the ratio of a vanishing mode, into 0.0.
    q, p = extended[2 * n] / extended[n] + 0.0, extended[3 * n] / extended[n] + 0.0
    curvature, quartic = _curvature(q), _quartic(q, p)
    kind, note = _classified(n, curvature, quartic, float(p))
    return BranchShape(n, coupling, curvature, quartic, float(q), float(p), kind, note)


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

    Raises
    ------
    InvalidInput
        If the problem has a confinement.
    """
    require_uniform(problem)
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
    if strength[worst] > 1 + _ROUNDING:
        return _violated(relative, n, worst * n)
    return _satisfied(problem, relative, n, strength)


def resonance(problem: McKeanVlasov, n: int, m: int) -> Resonance:
    """Return the reduced energy of modes n < m near their common critical coupling.

    Hypotheses: no confinement, w_n and w_m of the same sign and nearly equal; no third critical mode.
    A potential with only these two modes has C = 0.

    Raises
    ------
    InvalidInput
        If n < m fails, a multiplier vanishes, their signs differ or mode m - n or m + n is critical too.
    """
    require_uniform(problem)
    if checked_mode(n) >= checked_mode(m):
        nearest = f"resonance(problem, {min(n, m)}, {max(n, m) + (n == m)})"
        raise InvalidInput(f"modes must ascend, not {n}, {m}; try {nearest}")
    relative = problem.potential.relative_multipliers(problem.domain, 3 * m)
    if relative[n] * relative[m] <= 0:
        raise InvalidInput(
            f"modes {n} and {m} have no common critical coupling: w_{n} and w_{m} differ in sign or vanish"
        )
    share = relative / relative[n]
    detuning = float(relative[n] / relative[m] - 1)
    curvatures = (_curvature(float(share[2 * n])), _curvature(float(relative[2 * m] / relative[m])))
    if m == 2 * n:
        return Resonance("1:2", (n, m), detuning, math.nan, -1.0, (math.nan, curvatures[1]))
    for third in (m - n, m + n):
        if abs(share[third] - 1) <= _ROUNDING:
            raise InvalidInput(
                f"mode {third} is critical together with {n} and {m}; two modes do not describe this"
            )
    cross = sum(float(share[third] / (1 - share[third])) for third in (m - n, m + n))
    if m == 3 * n:
        return Resonance("1:3", (n, m), detuning, cross, 2 / 3 - 1 / (1 - float(share[2 * n])), curvatures)
    return Resonance("generic", (n, m), detuning, cross, 0.0, curvatures)


def _curvature(q: Any) -> float:
    if abs(q - 1) <= _ROUNDING:
        return math.nan
    if abs(1 - 2 * q) <= _ROUNDING:
        return 0.0
    return float((1 - 2 * q) / (2 * (1 - q)))


def _quartic(q: Any, p: Any) -> float:
    if abs(q - 1) <= _ROUNDING or abs(p - 1) <= _ROUNDING:
        return math.nan
    if abs(1 - 2 * q) <= _ROUNDING:
        return 0.0 if abs(1 - 3 * p) <= _ROUNDING else float(2 * (1 - 3 * p) / (3 * (1 - p)))
    of_p = ((24 * q - 42) * q + 21) * q - 6
    of_one = ((-20 * q + 42) * q - 24) * q + 5
    return float((p * of_p + of_one) / (12 * (p - 1) * (q - 1) ** 3))


def _classified(n: int, curvature: float, quartic: float, p: float) -> tuple[str, str]:
    if math.isnan(curvature):
        return "transcritical", f"exact 1:2 resonance w_{2 * n} = w_{n}: see resonance(problem, {n}, {2 * n})"
    third = ""
    if math.isnan(quartic):
        third = f"exact 1:3 resonance w_{3 * n} = w_{n}: mode {3 * n} is critical too"
    if curvature:
        return ("supercritical" if curvature > 0 else "subcritical"), third
    if abs(1 - 3 * p) <= _ROUNDING:
        return "degenerate", "b1 = b2 = 0: vertical to this order, as for the logarithmic potential"
    order = "quartically " + ("supercritical" if quartic > 0 else "subcritical")
    return "degenerate", third or f"b1 = 0 and b2 = {quartic:.6g} decides: {order}"


def _listed(modes: npt.NDArray[np.intp]) -> str:
    return ", ".join(map(str, modes[:5].tolist())) + (", ..." if modes.size > 5 else "")


def _violated(relative: npt.NDArray[np.float64], n: int, worst: int) -> GlobalCriterion:
    q = float(relative[2 * n] / relative[n])
    if relative.min() < relative[n] * (1 + _ROUNDING):
        lowest = int(relative.argmin())
        statement = f"mode {lowest} is unstable before mode {n}: the transition is at or below kappa_{lowest}"
        return GlobalCriterion(False, n, worst, None, statement)
    if 0.5 + _ROUNDING < q <= 1 + _ROUNDING:
        shape = "transcritical" if q >= 1 - _ROUNDING else "subcritical"
        statement = f"discontinuous: the {n}-branch is {shape}, so the transition is strictly below kappa_{n}"
        return GlobalCriterion(False, n, worst, False, statement)
    statement = f"undecided: the criterion is violated at mode {worst}, the transition is at or below kappa_{n}"
    return GlobalCriterion(False, n, worst, None, statement)


def _satisfied(
    problem: McKeanVlasov, relative: npt.NDArray[np.float64], n: int, strength: npt.NDArray[np.float64]
) -> GlobalCriterion:
    all_equal = bool((strength[2:] >= 1 - _ROUNDING).all())
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
