r"""Semi-implicit backward differences of order three, with a fixed step.

The stiff linear part is taken implicitly, which costs a division as it is diagonal, the rest extrapolated [1]_:

.. math:: \tfrac{11}{6} y_{n+1} - 3 y_n + \tfrac32 y_{n-1} - \tfrac13 y_{n-2}
          = h L y_{n+1} + h\,(3 N_n - 3 N_{n-1} + N_{n-2}) .

One evaluation a step, where exponential Runge-Kutta takes four. The first two steps are made by the latter.

.. [1] U. M. Ascher, S. J. Ruuth, B. T. R. Wetton, SIAM J. Numer. Anal. 32, 797 (1995), SBDF of order 3.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from meanfield import InvalidInput
from meanfield.arguments import checked

from ..bases import Floats
from .exponential import coefficients, krogstad_step
from .system import System


@checked
@dataclass(frozen=True)
class SBDF3:
    """Semi-implicit backward differences of order three.

    Parameters
    ----------
    step
        The fixed step, positive.

    Raises
    ------
    InvalidInput
        If the step is not positive and finite.
    """

    step: float

    needs_jacobian: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0.0 < self.step < math.inf:
            raise InvalidInput(
                f"the step of SBDF3 must be positive and finite, not {self.step!r}; try SBDF3(0.001)"
            )

    @property
    def name(self) -> str:
        """Name of the method, with its step."""
        return f"SBDF3 with step {self.step:g}"

    def started(
        self, system: System, time: float, unknown: Floats, end: float, tolerance: float, tail: float
    ) -> "SemiImplicitStepper":
        """Return the path of a system from a density."""
        return SemiImplicitStepper(system, time, unknown, self.step)


class SemiImplicitStepper:
    """A path by semi-implicit backward differences; between steps it is cubic.

    Attributes
    ----------
    time, unknown
        The time reached and the unknowns at that time.
    steps, evaluations : int
        Counters.
    """

    def __init__(self, system: System, time: float, unknown: Floats, step: float) -> None:
        self.system, self.time, self.unknown = system, time, unknown
        self.steps, self.evaluations = 0, 1
        self._step = step
        self._inverse = 1.0 / (11.0 / 6.0 - step * system.linear)
        self._nonlinear = system.nonlinear_at(time, unknown)
        # The last two steps before this one: unknowns and N there.
        self._earlier: list[tuple[Floats, Floats]] = []
        self._before = (time, unknown, self._nonlinear)

    def advance(self, limit: float, steps: int) -> None:
        """Make at most ``steps`` steps, stopping after the first that passes a time limit."""
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(steps):
                if self.time >= limit:
                    return
                self._advance()

    def _advance(self) -> None:
        self._before = (self.time, self.unknown, self._nonlinear)
        if len(self._earlier) < 2:
            weights = coefficients(self.system.linear, self._step)
            made = krogstad_step(self.system, self.time, self._step, self.unknown, self._nonlinear, weights)
            following, nonlinear = made.unknown, made.nonlinear
            self.evaluations += 4
        else:
            (y_1, n_1), (y_2, n_2) = self._earlier
            known = 3.0 * self.unknown - 1.5 * y_1 + y_2 / 3.0
            following = self._inverse * (known + self._step * (3.0 * (self._nonlinear - n_1) + n_2))
            nonlinear = self.system.nonlinear_at(self.time + self._step, following)
            self.evaluations += 1
        self._earlier = [(self.unknown, self._nonlinear), *self._earlier][:2]
        self.unknown, self._nonlinear = following, nonlinear
        self.time += self._step
        self.steps += 1

    def at(self, time: float) -> Floats:
        """Return the unknowns at a time within the last step, by cubic interpolation."""
        start, first, nonlinear = self._before
        if time == self.time or self.time == start:
            return self.unknown
        linear, step = self.system.linear, self.time - start
        share = (time - start) / step
        rest = 1.0 - share
        slopes = step * (linear * first + nonlinear), step * (linear * self.unknown + self._nonlinear)
        from_first = (1.0 + 2.0 * share) * first + share * slopes[0]
        from_last = (1.0 + 2.0 * rest) * self.unknown - rest * slopes[1]
        return np.asarray(rest * rest * from_first + share * share * from_last)
