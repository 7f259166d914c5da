"""The scheme of Euler and Maruyama."""

from dataclasses import dataclass
from typing import ClassVar

from meanfield.arguments import checked

from .stepping import Cost, Particles


@checked
@dataclass(frozen=True)
class EulerMaruyama:
    r"""Euler-Maruyama, weak order 1, one drift a step.

    .. math:: X_{n+1} = X_n + h\,b(X_n) + \sqrt{2Dh}\,\xi_n .

    On a sphere the displacement is a tangent vector that is followed along its great circle, and the variance of
    its random part is chosen so that noise alone has the right mean direction, :math:`E X \propto e^{-(d-1)Dt}`.
    """

    name: ClassVar[str] = "euler-maruyama"
    weak_order: ClassVar[int] = 1
    stationary_order: ClassVar[int] = 1
    curved: ClassVar[bool] = True

    def cost(self, flat: bool) -> Cost:
        """Return the evaluations of the drift and the draws of noise in a step."""
        return Cost(drifts=1, draws=1)

    def width_bias(self, share: float, flat: bool) -> float:
        r"""Return the relative bias of the variance in a force of slope -s, :math:`1/(1-sh/2) - 1`, share = sh."""
        return 1.0 / max(1.0 - 0.5 * share, 1e-3) - 1.0

    def advance(self, particles: Particles, step: float) -> None:
        """Advance all particles by one step."""
        particles.move(particles.drift(step) + particles.noise(step))
