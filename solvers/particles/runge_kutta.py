"""The classical scheme of Runge and Kutta, for particles without noise."""

import math
from dataclasses import dataclass
from typing import ClassVar

from meanfield.arguments import checked

from .stepping import Cost, Particles

# Beyond this product of step and slope, where the scheme is unstable, its rate means nothing.
STABLE = 2.7


@checked
@dataclass(frozen=True)
class RungeKutta4:
    r"""The classical scheme of Runge and Kutta, order 4, four drifts a step and no noise.

    .. math:: X_{n+1} = \Pi\Bigl(X_n + \tfrac h6\,(k_1 + 2k_2 + 2k_3 + k_4)\Bigr), \qquad
              k_2 = b\bigl(\Pi(X_n + \tfrac h2 k_1)\bigr), \quad k_3 = b\bigl(\Pi(X_n + \tfrac h2 k_2)\bigr),
              \quad k_4 = b\bigl(\Pi(X_n + h k_3)\bigr),

    :math:`k_1 = b(X_n)`, :math:`\Pi` being the projection to the domain. On a sphere :math:`b\circ\Pi` is a smooth
    field around it whose flow stays on it, so that the order is that in flat space (Hairer, Lubich, Wanner,
    Geometric Numerical Integration (2006), section IV.4).
    """

    name: ClassVar[str] = "runge-kutta-4"
    weak_order: ClassVar[int] = 4
    stationary_order: ClassVar[int] = 4
    curved: ClassVar[bool] = True

    def cost(self, flat: bool) -> Cost:
        """Return the evaluations of the drift in a step; no noise is drawn."""
        return Cost(drifts=4, draws=0)

    def width_bias(self, share: float, flat: bool) -> float:
        """Return the relative error of the rate at which a cluster shrinks in a force of slope -s, share = sh."""
        if not 0.0 < share < STABLE:
            return 0.0 if share <= 0.0 else math.inf
        return abs(math.log(_factor(share)) / share + 1.0)

    def advance(self, particles: Particles, step: float) -> None:
        """Advance all particles by one step."""
        start = particles.places.copy()
        first = particles.drift(step)
        total = first.copy()
        particles.place(start, 0.5 * first)
        second = particles.drift(step, watched=False)
        total += 2.0 * second
        particles.place(start, 0.5 * second)
        third = particles.drift(step, watched=False)
        total += 2.0 * third
        particles.place(start, third)
        total += particles.drift(step, watched=False)
        particles.place(start, total / 6.0)


def _factor(share: float) -> float:
    """Return the factor of a step in a linear force, the Taylor polynomial of exp(-share)."""
    return 1.0 - share + share**2 / 2.0 - share**3 / 6.0 + share**4 / 24.0
