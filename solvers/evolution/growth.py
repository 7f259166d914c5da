r"""How far errors grow on the way, beyond the growth of the density itself.

An integrator keeps each of its errors below the tolerance times the size of the moments at that time. By the time t
an error made at s has grown by :math:`\exp\int_s^t r` at most, r the largest rate of the linearised equation about
the density, and relative to the moments by the factor

.. math:: M(t) = \max_{s\le t} \frac{|c(s)|}{|c(t)|} \exp\int_s^t r .

A perturbation that grows as the fastest mode keeps M = 1; only the errors of its rate add up. Where a tiny mode
grows beside large ones, M is large, and the errors of that mode with it. Rates come from the Jacobian among the
least damped moments, at a few of the densities.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from ..bases import Floats
from .system import System

# Moments among which the largest rate is sought: the fewest, their share of all, and the most.
LEAST_DAMPED, SHARE, MOST = 16, 0.25, 64
# The rate is computed anew after the density has changed by this share, or an error by this exponent.
CHANGED = 0.25
EXPONENT = 0.5
# Logarithm of the largest growth that is counted.
MOST_ORDERS = 300.0
# Up to this M errors stay about the tolerance, unless those of the rate add up for long: where the density remains
# smaller than this, grows by more than the first or decays by more than the second factor.
CALM = 4.0
SMALL, GROWN, DECAYED = 0.1, 30.0, 5.0


@dataclass
class Growth:
    """The growth of errors relative to the density, carried along a path.

    Attributes
    ----------
    factor, largest : float
        M now, and the largest so far.
    least, most, decayed : float
        Range of the sizes of the density, and the largest factor by which it has shrunk.
    known : bool
        Whether there was a Jacobian all the way.
    """

    factor: float = 1.0
    largest: float = 1.0
    least: float = math.inf
    most: float = 0.0
    decayed: float = 1.0
    known: bool = True
    _time: float = 0.0
    _size: float = 0.0
    _rate: float = 0.0
    _at: Floats = field(default_factory=lambda: np.zeros(0))
    _from: float = 0.0

    @property
    def calm(self) -> bool:
        """Whether errors are known to have stayed about the tolerance."""
        lasting = self.most < SMALL or self.most > GROWN * self.least or self.decayed > DECAYED
        return self.known and self.largest <= CALM and not lasting

    def begin(self, system: System, time: float, unknown: Floats) -> None:
        """Take up a path where it stands."""
        self._measure(time, float(np.abs(unknown).max()))
        self._judge(system, time, unknown)

    def go_on(self, system: System, time: float, unknown: Floats) -> None:
        """Follow the path to a later time."""
        size, before, elapsed = float(np.abs(unknown).max()), self._rate, time - self._time
        if self._outdated(time, unknown, size):
            self._judge(system, time, unknown)
        shrunk = self._size / size if size > 0.0 else 1.0
        exponent = min(0.5 * (before + self._rate) * elapsed, MOST_ORDERS)
        self.factor = min(max(1.0, self.factor * math.exp(exponent) * shrunk), math.exp(MOST_ORDERS))
        self.largest = max(self.largest, self.factor)
        self._measure(time, size)

    def kept(self) -> list[float]:
        """Return what a checkpoint must hold for another path to go on from here, in the order of attributes."""
        return [self.factor, self.largest, self.least, self.most, self.decayed, self.known]

    def _measure(self, time: float, size: float) -> None:
        self._time, self._size = time, size
        self.least, self.most = min(self.least, size), max(self.most, size)
        self.decayed = max(self.decayed, self.most / size if size > 0.0 else 1.0)

    def _outdated(self, time: float, unknown: Floats, size: float) -> bool:
        if self._at.size != unknown.size or self._rate * (time - self._from) > EXPONENT:
            return True
        return float(np.abs(unknown - self._at).max()) > CHANGED * max(size, self._size)

    def _judge(self, system: System, time: float, unknown: Floats) -> None:
        self._at, self._from, self.known = unknown.copy(), time, self.known and system.multistep
        self._rate = largest_rate(system, unknown) if self.known and self.largest <= CALM else self._rate


def largest_rate(system: System, unknown: Floats) -> float:
    """Return the largest rate of the linearised equation about a density, among its least damped moments."""
    count = min(max(LEAST_DAMPED, int(SHARE * system.size)), MOST)
    chosen = np.argsort(-system.linear, kind="stable")[:count]
    block = system.jacobian(0.0, unknown)[np.ix_(chosen, chosen)]
    return float(np.linalg.eigvals(block).real.max())
