"""Marching forward in time, with a suitable integrator, growing resolution and relative accuracy.

After every few steps the path is examined. Where its last moments are not negligible any more, the march goes back
to the last time at which they were and on from there with more of them. Where the size of the perturbation has
changed by orders of magnitude, the integrator starts anew, so that its tolerance is relative to the new size.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from meanfield import ComputationFailed, Equation, NotResolved
from meanfield.equations import Capability

from ..bases import EPS, Floats, resolved
from ..bases.base import RESOLUTION_TOLERANCE
from ..bases.limits import MAX_DEGREE
from ..equations.bounds import bounded_below
from .exponential import ETDRK4, too_large
from .growth import Growth
from .integrators import Integrator, Stepper
from .multistep import LEAST_SIZE, LSODA
from .system import System

# Local tolerances relative to the accuracy asked for; global errors add up from them.
LOCAL = 0.5
# The last moments may be this share of the accuracy asked for.
TAIL_SHARE = 1e-2
# Without noise no diffusion damps the rounding of the last moments, which adds up: that of some thousand modes over
# some thousand steps.
ROUNDING_OF_LAST = 4096.0 * EPS
# Share of that which the integrator may contribute in a step.
NOISE = 0.1
# Steps between two looks at the path.
LOOK = 8
# A confinement with significant coefficients beyond this degree has a kink or a singularity.
SMOOTH_DEGREE = 512
# Where this share of the moments holds the density so much better than asked for, half of them are enough.
SUPERFLUOUS = 3 / 8
MUCH_BETTER = 1e-3
LEAST_HALVED = 128
# The same on the full sphere, where their number is the square of the degree.
LEAST_HALVED_FULL = 48
# Change of size at which an integrator starts anew.
ORDERS = 1e2
# Up to this size multistep formulas always pay; beyond it their cost is compared with that of exponential ones.
ALWAYS_MULTISTEP = 200
MULTIPLE = 16
# A tail that halving the step reduces to less than this share was made by the step.
MADE_BY_STEP = 0.5


@dataclass
class Counters:
    """Numbers of steps and evaluations so far."""

    steps: int = 0
    evaluations: int = 0
    restarts: int = 0


class March:
    """A path from one density, evaluated at increasing times.

    Parameters
    ----------
    system
        The equation with its first resolution.
    time, unknown
        Where the path starts.
    end
        Its last time; may be infinite.
    method
        An integrator, or None for the one that suits the size.
    tolerance
        Accuracy asked for, relative to the size of the perturbation of the uniform density.
    watch
        Called with the time reached, now and then.
    growth
        Updated with the growth of errors along the path; None if it is not needed.
    share
        Share of the largest number of moments that may be used.

    Raises
    ------
    NotResolved
        From :meth:`to`, if more moments are needed than ``MAX_DEGREE``.
    ComputationFailed
        From :meth:`to`, if the integrator fails or a fixed step is too large.
    """

    def __init__(
        self,
        system: System,
        time: float,
        unknown: Floats,
        end: float,
        method: Integrator | None,
        tolerance: float,
        watch: Callable[[float], None] | None = None,
        growth: Growth | None = None,
        share: float = 1.0,
    ) -> None:
        self.system = system
        self.counters = Counters()
        self.methods: list[Integrator] = []
        self._end, self._method, self._tolerance, self._watch = end, method, tolerance, watch
        self._share = share
        rounding = RESOLUTION_TOLERANCE if system.problem.noise > 0.0 else ROUNDING_OF_LAST
        self._tail = max(TAIL_SHARE * tolerance, rounding)
        self._safe = (time, unknown)
        # Up to this time more moments are known to be needed.
        self._grown = -math.inf
        self._stepper = self._started()
        self._growth = growth
        if growth is not None:
            growth.begin(system, time, unknown)

    @property
    def method(self) -> Integrator:
        """The integrator in use."""
        if self._method is not None:
            return self._method
        return suitable(self.system, self._end - self._safe[0])

    def to(self, time: float) -> Floats:
        """Return the unknowns at a time, which must not precede that of an earlier call."""
        while self._stepper.time < time:
            # Not where the change was seen: times within that last step may still be asked for.
            if self._shrunk() or self._changed_size():
                self._restart()
            self._stepper.advance(time, LOOK)
            self._examine()
            if self._watch is not None:
                self._watch(min(self._stepper.time, time))
        return self._stepper.at(time)

    @property
    def safe(self) -> tuple[float, Floats]:
        """The last time at which the density was examined and resolved, and the unknowns at that time."""
        return self._safe

    def counted(self) -> Counters:
        """Return the numbers of steps and evaluations so far."""
        counters, stepper = self.counters, self._stepper
        return Counters(
            counters.steps + stepper.steps, counters.evaluations + stepper.evaluations, counters.restarts
        )

    def _started(self) -> Stepper:
        time, unknown = self._safe
        self._size = max(float(np.abs(unknown).max()), LEAST_SIZE)
        method, local = self.method, LOCAL * self._tolerance
        if method not in self.methods:
            self.methods.append(method)
        return method.started(self.system, time, unknown, self._end, local, NOISE * self._tail)

    def _restart(self) -> None:
        self.counters = self.counted()
        self.counters.restarts += 1
        self._stepper = self._started()

    def _examine(self) -> None:
        time, unknown = self._stepper.time, self._stepper.unknown
        size = float(np.abs(unknown).max())
        if not size < math.inf:
            self._not_finite()
        if not resolved(self.system, unknown, self._tail):
            self._grow(unknown)
            return
        self._safe = (time, unknown)
        if self._growth is not None:
            self._growth.go_on(self.system, time, unknown)

    def _shrunk(self) -> bool:
        """Halve the number of moments if the others are negligible, and return whether that was done."""
        time, unknown = self._safe
        degree = self.system.degree
        if degree < (LEAST_HALVED if self.system.multistep else LEAST_HALVED_FULL) or time <= self._grown:
            return False
        last = self.system.sizes(unknown)[int(SUPERFLUOUS * degree) :].max()
        if last > MUCH_BETTER * self._tail:
            return False
        moments = self.system.unpack(unknown)
        self.system = self.system.resized(MULTIPLE * math.ceil(degree / (2 * MULTIPLE)))
        self._safe = (time, self.system.pack(*moments))
        return True

    def _changed_size(self) -> bool:
        size = max(float(np.abs(self._safe[1]).max()), LEAST_SIZE)
        return not self._size / ORDERS < size < self._size * ORDERS

    def _grow(self, unknown: Floats) -> None:
        """Return to the last time at which the density was resolved, with more moments."""
        self._blame_step()
        self._grown = self._stepper.time
        needed = needed_degree(self.system, unknown, self._tail)
        cosine, sine = self.system.unpack(self._safe[1])
        symmetry, largest = self.system.symmetry, int(self._share * min(MAX_DEGREE, self.system.largest))
        if symmetry * needed > largest:
            if symmetry * self.system.degree >= self._last_attempt(largest):
                raise NotResolved(
                    f"at time {self._safe[0]:.6g} the density is too concentrated for {largest} modes, it needs "
                    f"about {symmetry * needed}; {_why_concentrated(self.system.problem)}"
                )
            needed = largest // symmetry
        self.system = self.system.resized(needed)
        self._safe = (self._safe[0], self.system.pack(cosine, sine))
        self._restart()

    def _last_attempt(self, largest: int) -> int:
        """Return the degree from which on a density that needs more than the largest is given up.

        One that collapses at an exponential rate is taken as far as possible.
        """
        return largest // 2 if self.system.problem.noise > 0.0 else largest - 2 * MULTIPLE * self.system.symmetry

    def _not_finite(self) -> None:
        if self.method.step is not None:
            raise ComputationFailed(
                too_large(self.system, self._safe[1], type(self.method).__name__, self.method.step, self._safe[0])
            )
        raise ComputationFailed(f"the density is not finite any more at time {self._stepper.time:.6g}")

    def _blame_step(self) -> None:
        """Raise an error if the instability of a fixed step, not the density, has filled the last moments."""
        method = self.method
        if method.step is None:
            return
        time, unknown = self._safe
        tails = []
        for parts in (1, 8):
            finer: Any = method if parts == 1 else replace(method, step=method.step / parts)  # type: ignore[type-var]
            stepper = finer.started(self.system, time, unknown, math.inf, 1.0, 1.0)
            stepper.advance(math.inf, parts * max(1, LOOK // 2))
            tails.append(self.system.tail(stepper.unknown))
        if tails[1] < MADE_BY_STEP * tails[0]:
            raise ComputationFailed(too_large(self.system, unknown, type(method).__name__, method.step, time))


def suitable(system: System, duration: float) -> Integrator:
    """Return the faster integrator for a system over a duration.

    The evolution of a density that may collapse ends early, whatever the final time.
    """
    if not system.multistep:
        return ETDRK4()
    if system.size <= ALWAYS_MULTISTEP:
        return LSODA()
    if system.problem.noise == 0.0:
        # Nothing is stiff, so that no matrix needs to be factorised.
        return ETDRK4()
    multistep, exponential = system.costs(duration)
    bounded = bounded_below(system.problem)
    return ETDRK4() if exponential < multistep or not bounded else LSODA()


def needed_degree(system: System, unknown: Floats, tolerance: float) -> int:
    """Return an estimate of the degree that resolves a density, by the decay of the second half of its moments."""
    degree, tail = system.degree, max(system.tail(unknown), 1e-300)
    sizes = system.sizes(unknown)
    middle = float(sizes[degree // 2 - degree // 16 : degree // 2 + 1].max())
    rate = math.log(max(middle / tail, 1.0001)) / (0.5 * degree)
    # A margin of ten, so that the next look does not ask for more.
    needed = degree + math.log(10.0 * tail / tolerance) / rate
    return MULTIPLE * math.ceil(min(max(needed, 1.25 * degree), 2.0 * degree) / MULTIPLE)


def _why_concentrated(problem: Equation) -> str:
    """Return a clause on why a density may need more modes than are allowed, and what to do where that is known."""
    confinement = problem.confinement
    if problem.lacks(Capability.DRIVE) or problem.velocity.radial(problem.domain, 1) is not None:
        where = "where it jumps" if problem.lacks(Capability.DRIVE) else "where the average of the tokens vanishes"
        return (
            f"a velocity that is not smooth, as that of {problem.velocity.name} {where}, makes such densities; "
            "take a larger tolerance, such as tolerance=1e-5 (--tolerance 1e-5), or particles (simulate)"
        )
    if confinement is None or confinement.relative_tail_bound(problem.domain, SMOOTH_DEGREE) <= EPS:
        return "it may collapse to a point, which no resolution follows"
    return (
        f"the coefficients of the confinement {confinement.name!r} decay slowly, and so do the moments; take "
        "a larger tolerance, such as tolerance=1e-6 (--tolerance 1e-6), or particles (simulate)"
    )
