"""The base of systems of moments of densities that follow any velocity law."""

import numpy as np

from meanfield import InvalidInput

from ..bases import Floats
from .system import System


class LawSystem(System):
    """A system of a velocity law, integrated by exponential formulas, which need no Jacobian."""

    multistep = False
    weights: Floats | None = None

    def advected(self, unknown: Floats, pace: float) -> Floats:
        """Return the derivative by advection with the velocity times a factor, and by the confinement."""
        raise NotImplementedError

    def nonlinear(self, unknown: Floats) -> Floats:
        """Return the derivative by advection at time 0."""
        return self.nonlinear_at(0.0, unknown)

    def nonlinear_at(self, time: float, unknown: Floats) -> Floats:
        """Return the derivative by advection at a time."""
        return self.advected(unknown, self.problem.velocity.pace(time))

    def jacobian(self, time: float, unknown: Floats) -> Floats:
        """Refuse a Jacobian, as :attr:`multistep` says.

        Raises
        ------
        InvalidInput
            Always.
        """
        raise InvalidInput("the Jacobian of the moments is known for gradient laws only; use ETDRK4()")

    def steps(self, duration: float) -> float:
        """Return an estimate of the number of steps of exponential formulas in a duration."""
        linear = np.abs(self.linear).max() if self.problem.noise > 0.0 else 0.0
        return duration * (float(np.sqrt(linear)) + self.unit * self.degree)
