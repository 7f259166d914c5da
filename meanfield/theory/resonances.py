r"""Two modes that become critical together: the reduced energy and its coefficients."""

import math
from dataclasses import dataclass

from ..arguments import checked
from ..base import Record
from ..equations import Equation
from ..errors import InvalidInput
from .forms import theory_of
from .on_circle import CubicForm
from .results import ROUNDING
from .thresholds import checked_mode, require_threshold


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Resonance(Record):
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


@checked
def resonance(problem: Equation, n: int, m: int) -> Resonance:
    """Return the reduced energy of modes n < m near their common critical coupling.

    Hypotheses: no confinement, w_n and w_m of the same sign and nearly equal; no third critical mode.
    A potential with only these two modes has C = 0.

    Raises
    ------
    InvalidInput
        On the sphere; if n < m fails, a multiplier vanishes, their signs differ or mode m - n or m + n is
        critical too.
    """
    require_threshold(problem)
    theory_of(problem.domain).require_waves("the reduced energy of two modes")
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
    form = CubicForm()
    curvatures = (form.curvature(float(share[2 * n])), form.curvature(float(relative[2 * m] / relative[m])))
    if m == 2 * n:
        return Resonance("1:2", (n, m), detuning, math.nan, -1.0, (math.nan, curvatures[1]))
    for third in (m - n, m + n):
        if abs(share[third] - 1) <= ROUNDING:
            raise InvalidInput(
                f"mode {third} is critical together with {n} and {m}; two modes do not describe this"
            )
    cross = sum(float(share[third] / (1 - share[third])) for third in (m - n, m + n))
    if m == 3 * n:
        return Resonance("1:3", (n, m), detuning, cross, 2 / 3 - 1 / (1 - float(share[2 * n])), curvatures)
    return Resonance("generic", (n, m), detuning, cross, 0.0, curvatures)
