r"""Growth of errors along a path, in units of the tolerance and relative to the density.

An error made at s has grown by :math:`\exp\int_s^t r` by the time t, r the largest rate of the linearised equation
about the density, while the density has grown by :math:`|c(t)|/|c(s)|`. New errors come in proportion to the change
of the density: whenever it changes by its own size, formulas of order five make a number of steps that is
proportional to the root of degree -6 of the tolerance :math:`\tau`, each with an error of some share of it. So the
relative error e, in units of the tolerance, obeys

.. math:: \dot e = \Bigl(r - \frac{d}{dt}\log|c|\Bigr)\,e + a\,\tau^{-1/6}\,\frac{|\dot c|}{|c|}, \qquad e(0) = 1.

While the fastest mode grows, or the slowest decays, only the second term is left; near a stable state errors decay
with r; where a tiny mode grows beside large ones, e is large. Rates come from the Jacobian among the least damped
moments, at a few of the densities. So e shows where errors stay small; where they grow, a second run measures them.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from ..bases import Floats
from .system import System

# Moments among which the largest rate is sought: the fewest, their share of all, and the most. The fastest mode of
# a density is made of those damped least; the eigenvalues of so many are cheap beside a step.
LEAST_DAMPED, SHARE, MOST = 16, 0.25, 64
# The rate is computed anew after the density has changed by this share, or an error has grown by this exponent: the
# mean of two rates is then wrong by less than about a quarter of them, and the exponent by 0.1.
CHANGED = 0.25
EXPONENT = 0.5
# Largest exponent of an error that is counted, so that none overflows.
MOST_EXPONENT = 300.0
# a tau^(-1/6) at the tolerance 1e-8, for densities that grow and that shrink. Single modes with rates from 0.1 D to
# 1.5 D collect up to 0.8 and 1.7 tolerances an e-folding there, and 2.1 and 2.7 at 1e-10.
GROWING, SHRINKING, AT = 1.0, 1.8, 1e-8
# Errors up to so many tolerances are what was asked for.
CALM = 4.0


@dataclass
class Growth:
    """The growth of errors relative to the density, carried along a path.

    Attributes
    ----------
    tolerance : float
        The accuracy asked for.
    error, largest : float
        e now, and the largest so far.
    known : bool
        Whether there was a Jacobian all along the path, and noise: without it no moment is damped more than
        another, and the fastest modes are anywhere.
    """

    tolerance: float
    error: float = 1.0
    largest: float = 1.0
    known: bool = True
    _time: float = 0.0
    _rate: float = 0.0
    _last: Floats = field(default_factory=lambda: np.zeros(0))
    _at: Floats = field(default_factory=lambda: np.zeros(0))
    _from: float = 0.0

    @property
    def calm(self) -> bool:
        """Whether errors are known to have stayed about the tolerance."""
        return self.known and self.largest <= CALM

    def begin(self, system: System, time: float, unknown: Floats) -> None:
        """Begin at a time and density of a path, with the error so far."""
        self._time, self._last = time, unknown.copy()
        self._judge(system, time, unknown)

    def go_on(self, system: System, time: float, unknown: Floats) -> None:
        """Update the error to a later time and density of the path."""
        size, last, before, elapsed = _size(unknown), _size(self._last), self._rate, time - self._time
        if self._outdated(time, unknown, max(size, last)):
            self._judge(system, time, unknown)
        mean = math.sqrt(size) * math.sqrt(last)
        if mean > 0.0:
            grown = math.exp(min(0.5 * (before + self._rate) * elapsed, MOST_EXPONENT)) * last / size
            changed = _size(unknown[: self._last.size] - self._last[: unknown.size]) / mean
            steps = (AT / self.tolerance) ** (1 / 6) * (GROWING if size >= last else SHRINKING)
            self.error = min(self.error * grown + steps * changed, math.exp(MOST_EXPONENT))
        self.largest = max(self.largest, self.error)
        self._time, self._last = time, unknown.copy()

    def kept(self) -> list[float]:
        """Return the attributes after the tolerance as numbers, for a checkpoint from which the path is resumed."""
        return [self.error, self.largest, self.known]

    def _outdated(self, time: float, unknown: Floats, size: float) -> bool:
        if self._at.size != unknown.size or self._rate * (time - self._from) > EXPONENT:
            return True
        return _size(unknown - self._at) > CHANGED * size

    def _judge(self, system: System, time: float, unknown: Floats) -> None:
        self._at, self._from = unknown.copy(), time
        self.known = self.known and system.multistep and system.problem.noise > 0.0
        self._rate = largest_rate(system, unknown) if self.calm else self._rate


def _size(unknown: Floats) -> float:
    return float(np.abs(unknown).max(initial=0.0))


def largest_rate(system: System, unknown: Floats) -> float:
    """Return the largest rate of the linearised equation about a density, among its least damped moments."""
    count = min(max(LEAST_DAMPED, int(SHARE * system.size)), MOST)
    chosen = np.argsort(-system.linear, kind="stable")[:count]
    block = system.jacobian(0.0, unknown)[np.ix_(chosen, chosen)]
    return float(np.linalg.eigvals(block).real.max())
