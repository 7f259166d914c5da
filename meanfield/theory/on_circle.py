r"""The uniform state of the circle and the von Mises states in closed form.

With :math:`q = w_{2n}/w_n` and :math:`p = w_{3n}/w_n` the normal form of the n-branch of the gradient law has

.. math:: b_1 = \frac{1 - 2q}{2(1-q)} ;

the criterion is that of Mun and Rosenzweig. Of any law let
:math:`2\pi\rho = 1 + 2\,\mathrm{Re}(a z + b z^2)` with :math:`z = e^{i(n\theta - \omega t)}`, and
:math:`\sigma, \tau, \varsigma` be the changes of its
:class:`speed <meanfield.equations.speed_response.SpeedResponse>`, and :math:`e = e^{in\alpha}` for a phase lag
:math:`\alpha`. At the threshold mode 2n follows :math:`a^2`,

.. math:: b = \beta a^2, \qquad \beta = \frac{e\,(1 + e\sigma_n)}{2\cos n\alpha + i\sin n\alpha - 2qe^2} ,

and the growth of a to third order makes the wave, or without a lag the state, of the amplitude a one of

.. math:: \frac{\kappa}{\kappa_n} = 1 - \frac{\mathrm{Re}\,G}{\cos n\alpha}\,|a|^2, \qquad
          G = \beta\,\bigl(2qe\,(e + \sigma_n) - e\sigma_{2n} - \bar e\bigr)
              + e\,(\tau_n + 3n^2\varsigma_n) + e^2\sigma_n .
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
from .normal_forms import require_normal_form, unlagged_potential
from .results import ROUNDING, BranchShape, GlobalCriterion
from .scaling import normalised_multipliers

_CHECKED_DEGREE = 2**12
_ONE = np.longdouble(1.0)
_EPS = float(np.finfo(float).eps)


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
        form = CubicForm.of(problem, n)
        extended = unlagged_potential(problem).extended_multipliers(problem.domain, 3 * n)
        growing = extended * np.cos(problem.velocity.lag * np.arange(extended.size))
        # Adding 0 turns -0.0, the ratio of a vanishing mode, into 0.0.
        q, p = growing[2 * n] / growing[n] + 0.0, growing[3 * n] / growing[n] + 0.0
        curvature = form.curvature(extended[2 * n] / extended[n])
        quartic = _quartic(q, p) if form.plain else math.nan
        kind, note = _classified(n, curvature, quartic, float(p), form.plain)
        return BranchShape(n, coupling, curvature, quartic, float(q), float(p), kind, note)

    def tricritical_excess(self, problem: Equation, n: int) -> float:
        """Return b_1 times its denominator over the norm of the multipliers, w_n - 2 w_(2n) of the gradient law."""
        multipliers = normalised_multipliers(unlagged_potential(problem), problem.domain, 2 * n)
        return CubicForm.of(problem, n).excess(multipliers[n], multipliers[2 * n])

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


@dataclass(frozen=True)
class CubicForm:
    r"""The cubic term of the growth of a mode at its threshold; by default that of the gradient law.

    Attributes
    ----------
    turn
        :math:`e^{in\alpha}`, complex with a lag; without one 1, real.
    own, double
        :math:`\sigma_n` and :math:`\sigma_{2n}`.
    second
        :math:`\tau_n + 3n^2\varsigma_n`.
    plain
        Whether the law is the gradient law on densities of the symmetry of the mode.
    """

    turn: Any = _ONE
    own: float = 0.0
    double: float = 0.0
    second: float = 0.0

    @classmethod
    def of(cls, problem: Equation, n: int) -> "CubicForm":
        """Return that of a mode of a problem."""
        require_normal_form(problem)
        law, domain = problem.velocity.unturned, problem.domain
        first, second, slope = law.speed_response(domain, 2 * n)
        turn = _turn(law.lag, n) if law.lag else _ONE
        bent = second[n] + 3 * n**2 * slope[n]
        return cls(turn, first[n], first[2 * n], bent)

    @property
    def plain(self) -> bool:
        """Whether the law is the gradient law on densities of the symmetry of the mode, whose waves rest."""
        return self.turn == 1 and not (self.own or self.double or self.second)

    def terms(self, one: Any, two: Any) -> tuple[Any, Any]:
        """Return numerator and denominator of G, times the multiplier of mode n, from it and that of mode 2n."""
        e, back, own = self.turn, np.conj(self.turn), self.own
        denominator = (2 * e.real + 1j * e.imag if e.imag else 2 * e) * one - 2 * two * e**2
        slaved = e * (1 + e * own) * (2 * two * e * (e + own) - (e * self.double + back) * one)
        return slaved + e * (self.second + e * own) * denominator, denominator

    def curvature(self, q: Any) -> float:
        """Return b_1 at q = w_(2n)/w_n; nan where mode 2n is critical too, so that the branch is transcritical."""
        numerator, denominator = self.terms(1, q)
        if abs(denominator) <= 2 * ROUNDING:
            return math.nan
        if abs(self._real(numerator, denominator)) <= ROUNDING:
            return 0.0
        return float(-(numerator / denominator).real / self.turn.real)

    def excess(self, one: Any, two: Any) -> float:
        """Return a function of the multipliers that changes its sign where b_1 vanishes, else by jumps only.

        It is scaled by the size of the changes of the speed, with whose square b_1 grows.
        """
        return float(-self._real(*self.terms(one, two)) / np.sqrt(1.0 + self.own**4 + self.second**2))

    def _real(self, numerator: Any, denominator: Any) -> Any:
        """Return the real part of G times the denominator, with a lag, where that is complex, times its modulus."""
        if np.isrealobj(self.turn):
            return numerator
        # Where it vanishes, where waves rest, G has a pole and no zero.
        return (numerator * np.conj(denominator)).real / abs(denominator) if denominator else numerator.real


def _turn(lag: float, n: int) -> Any:
    """Return e^(i n alpha), real where it is to rounding: there waves of n clusters are states at rest."""
    turn = np.exp(1j * np.longdouble(lag) * n)
    return np.rint(turn.real) + 0j if abs(turn.imag) <= _EPS * (1.0 + n * abs(lag)) else turn


def _quartic(q: Any, p: Any) -> float:
    if abs(q - 1) <= ROUNDING or abs(p - 1) <= ROUNDING:
        return math.nan
    if abs(1 - 2 * q) <= ROUNDING:
        return 0.0 if abs(1 - 3 * p) <= ROUNDING else float(2 * (1 - 3 * p) / (3 * (1 - p)))
    of_p = ((24 * q - 42) * q + 21) * q - 6
    of_one = ((-20 * q + 42) * q - 24) * q + 5
    return float((p * of_p + of_one) / (12 * (p - 1) * (q - 1) ** 3))


def _classified(n: int, curvature: float, quartic: float, p: float, plain: bool) -> tuple[str, str]:
    if math.isnan(curvature):
        told = (
            f"w_{2 * n} = w_{n}: see resonance(problem, {n}, {2 * n})" if plain else f"mode {2 * n} is critical too"
        )
        return "transcritical", f"exact 1:2 resonance{' ' if plain else ': '}{told}"
    third = ""
    if abs(p - 1) <= ROUNDING:
        third = f"exact 1:3 resonance: mode {3 * n} is critical too"
    if curvature:
        return ("supercritical" if curvature > 0 else "subcritical"), third
    if not plain:
        return "degenerate", third or "b1 = 0, and b2, which decides, is known of the gradient law only"
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
