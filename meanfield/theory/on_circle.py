r"""The uniform state of the circle and the von Mises states in closed form.

With :math:`q = w_{2n}/w_n` and :math:`p = w_{3n}/w_n`, eliminating the modes that are not critical gives the normal
form of the n-branch,

.. math:: b_1 = \frac{(1-s)\,(1 + 2s - (2+s)\,q)}{2(1-q)} ,

s being the :mod:`saturation <.normal_forms>` of the law, 0 of the gradient law; the criterion is that of Mun and
Rosenzweig.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..domains import Circle
from ..equations import Equation
from ..potentials import Number
from ..potentials.series import scaled_bessel
from .normal_forms import saturation
from .results import ROUNDING, BranchShape, GlobalCriterion
from .scaling import normalised_multipliers

_CHECKED_DEGREE = 2**12


@dataclass(frozen=True)
class CircleTheory:
    """Theory of the circle."""

    domain: Circle

    word: ClassVar[str] = "mode"
    letter: ClassVar[str] = "k"
    series: ClassVar[str] = "sum_k w_k cos kt"
    expansion: ClassVar[str] = "Branches leaving it, kappa/kappa_n = 1 + b1 m_n^2 + b2 m_n^4 + ..."
    columns: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"n": "mode", "b1": "b1", "b2": "b2", "beta*_n": "tricritical_beta", "type": "type"}
    )
    more: ClassVar[tuple[str, ...]] = ()
    last_tricritical: ClassVar[int] = 300
    expansion_limit: ClassVar[float] = 1e4

    def shape(self, problem: Equation, n: int, coupling: Number) -> BranchShape:
        """Return the normal form of the n-branch where it leaves uniform."""
        potential, s = problem.velocity.at_uniform(problem.domain), saturation(problem, n)
        extended = potential.extended_multipliers(problem.domain, 3 * n)
        # Adding 0 turns -0.0, the ratio of a vanishing mode, into 0.0.
        q, p = extended[2 * n] / extended[n] + 0.0, extended[3 * n] / extended[n] + 0.0
        curvature, quartic = curvature_of(q, s), math.nan if s else _quartic(q, p)
        kind, note = _classified(n, curvature, quartic, float(p))
        return BranchShape(n, coupling, curvature, quartic, float(q), float(p), kind, note)

    def tricritical_excess(self, problem: Equation, n: int) -> float:
        """Return (1 + 2s) w_n - (2 + s) w_(2n) over the norm of the multipliers, which vanishes where b_1 does."""
        potential, s = problem.velocity.at_uniform(problem.domain), saturation(problem, n)
        multipliers = normalised_multipliers(potential, problem.domain, 2 * n)
        return float((1 + 2 * s) * multipliers[n] - (2 + s) * multipliers[2 * n])

    def criterion(self, problem: Equation) -> GlobalCriterion:
        """Return the global criterion, decided by the strengths of all modes."""
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

    def tricritical_bracket(self, n: int) -> tuple[float, float]:
        """Return an interval of beta about 3 n^2 / (2 log 2)."""
        guess = 1.5 * n**2 / math.log(2)
        return 0.8 * guess, 1.3 * guess + 1

    def require_waves(self, what: str) -> None:
        """Accept a statement about waves, since the modes are waves."""

    def highest_concentration(self, ratio: float) -> float:
        """Return the ratio kappa/D as a bound of the concentration, since r is at most 1."""
        return ratio

    def large_mean(self, x: float) -> float:
        """Return I_1(x) / I_0(x) for large x."""
        return 1 - 1 / (2 * x) - 1 / (8 * x**2) - 1 / (8 * x**3) - 25 / (128 * x**4)

    def log_scaled_mean(self, x: float) -> float:
        """Return log I_0(x) - x."""
        if x <= self.expansion_limit:
            return float(np.log(scaled_bessel(x, 0)[0]))
        return -0.5 * math.log(2 * math.pi * x) + math.log1p(1 / (8 * x) + 9 / (128 * x**2))


def curvature_of(q: Any, s: Any = 0.0) -> float:
    """Return b_1 at q = w_(2n)/w_n and the saturation s; nan at q = 1, where the branch is transcritical."""
    if abs(q - 1) <= ROUNDING:
        return math.nan
    excess = 1 + 2 * s - (2 + s) * q
    return 0.0 if abs(excess) <= ROUNDING else float((1 - s) * excess / (2 * (1 - q)))


def _quartic(q: Any, p: Any) -> float:
    if abs(q - 1) <= ROUNDING or abs(p - 1) <= ROUNDING:
        return math.nan
    if abs(1 - 2 * q) <= ROUNDING:
        return 0.0 if abs(1 - 3 * p) <= ROUNDING else float(2 * (1 - 3 * p) / (3 * (1 - p)))
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
    if abs(1 - 3 * p) <= ROUNDING:
        return "degenerate", "b1 = b2 = 0: vertical to this order, as for the logarithmic potential"
    order = "quartically " + ("supercritical" if quartic > 0 else "subcritical")
    return "degenerate", third or f"b1 = 0 and b2 = {quartic:.6g} decides: {order}"


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
    problem: Equation, relative: npt.NDArray[np.float64], n: int, strength: npt.NDArray[np.float64]
) -> GlobalCriterion:
    all_equal = bool((strength[2:] >= 1 - ROUNDING).all())
    certain = _tail_certified(problem, float(-relative[n]), n)
    if all_equal:
        statement = f"the transition is at kappa_{n}, where a whole family of states has the energy of uniform"
        return GlobalCriterion(True, n, None, None, statement, certain)
    statement = f"continuous: uniform is the unique minimiser up to and at kappa_{n}, the transition coupling"
    return GlobalCriterion(True, n, None, True, statement, certain)


def _tail_certified(problem: Equation, reference: float, n: int) -> bool:
    """Return whether (k/n) |w_k| <= |w_n| beyond the degree checked, by dyadic blocks while they can fail."""
    bound, domain = problem.potential.relative_tail_bound, problem.domain
    blocks = [2 * degree / n * bound(domain, degree) for degree in (_CHECKED_DEGREE, 2 * _CHECKED_DEGREE)]
    return max(blocks) <= reference and blocks[1] <= blocks[0]


def _listed(modes: npt.NDArray[np.intp]) -> str:
    return ", ".join(map(str, modes[:5].tolist())) + (", ..." if modes.size > 5 else "")
