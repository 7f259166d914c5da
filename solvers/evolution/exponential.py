r"""Exponential Runge-Kutta of order four for y' = L y + N(t, y), L diagonal, and its step control.

Krogstad's scheme [1]_, with :math:`z = hL`, :math:`\varphi_1(z) = (e^z-1)/z` and
:math:`\varphi_{k+1}(z) = (\varphi_k(z) - 1/k!)/z`:

.. math::

    a &= e^{z/2} y + \tfrac h2 \varphi_1(\tfrac z2) N(y), \qquad
    b = a + h\varphi_2(\tfrac z2) (N(a) - N(y)), \\
    c &= e^z y + h\varphi_1 N(y) + 2 h\varphi_2 (N(b) - N(y)), \\
    y_+ &= e^z y + h\varphi_1 N(y) + h(4\varphi_3 - 3\varphi_2) N(y) + h(2\varphi_2 - 4\varphi_3)(N(a) + N(b))
           + h(4\varphi_3 - \varphi_2) N(c) ,

N being taken at the middle of the step in the stages a and b, at its end in c and at :math:`y_+`.

With :math:`N(y_+)`, which the next step needs anyway, in place of N(c) the last line has order three; the
difference :math:`h(4\varphi_3-\varphi_2)(N(y_+) - N(c))` estimates the error of a step (the pair of [2]_).

Steps are taken from a discrete set, so that the coefficients of most are cached. Values between two steps
are steps of their own from the one before, with their own coefficients, so that the path does not depend on where
it is asked for.

References
----------
.. [1] S. Krogstad, Generalized integrating factor methods for stiff PDEs, J. Comput. Phys. 203 (2005).
.. [2] P. Whalen, M. Brio, J. V. Moloney, Exponential time-differencing with embedded Runge-Kutta adaptive step
       control, J. Comput. Phys. 280 (2015).
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from meanfield import ComputationFailed, InvalidInput
from meanfield.arguments import checked

from ..bases import Floats
from .system import System

SERIES_BELOW = 1.0
SERIES_TERMS = 20
# Steps are powers of this number times one unit, so that few coefficients serve a whole run.
RATIO = 2.0**0.25
CACHED = 24
SAFETY = 0.85
SHRINK, GROW = 0.1, 3.0
# The estimate belongs to order three and exceeds the error of the result: on the noisy transformer at beta = 4 and
# twice the critical coupling the error after 1000 steps is an eighth of the tolerance for each.
SHARE = 2.0
SMALLEST_STEP = 1e-14
# The share of the moments whose error is bounded on its own: noise there would look like a lack of resolution.
LAST = 0.25
# Rates of moments are squared, and divided by.
FASTEST = 1e140
# Beyond this relative error a fixed step has nothing to do with the solution.
HOPELESS = 0.01


@checked
@dataclass(frozen=True)
class ETDRK4:
    """Exponential Runge-Kutta of order four (Krogstad), for many modes.

    Parameters
    ----------
    step
        A fixed step, positive; None lets the estimated error choose it.

    Raises
    ------
    InvalidInput
        If the step is not positive and finite.
    """

    step: float | None = None

    needs_jacobian: ClassVar[bool] = False

    def __post_init__(self) -> None:
        step = self.step
        if step is not None and not 0.0 < step < math.inf:
            raise InvalidInput(f"the step of ETDRK4 must be positive and finite, not {step!r}; None adapts it")

    @property
    def name(self) -> str:
        """Name of the method, with its options."""
        return "adaptive ETDRK4" if self.step is None else f"ETDRK4 with step {self.step:g}"

    def started(
        self, system: System, time: float, unknown: Floats, end: float, tolerance: float, tail: float
    ) -> "ExponentialStepper":
        """Return the path of a system from a density."""
        return ExponentialStepper(system, time, unknown, self, tolerance, tail)


class Coefficients(NamedTuple):
    """Coefficients of the formulas for one step size.

    ``linear`` and ``known``, (4, size) each, are the factors of y and of N(y) in the four stages; the others,
    (size,) each, those of the later nonlinear terms.
    """

    linear: Floats
    known: Floats
    mend_half: Floats
    mend_whole: Floats
    middle: Floats
    last: Floats


class Step(NamedTuple):
    """The end of a step, N there, and the estimated error."""

    unknown: Floats
    nonlinear: Floats
    error: Floats


def phi_functions(z: Floats) -> tuple[Floats, Floats, Floats]:
    """Return phi_1, phi_2, phi_3 of real arguments, to a few roundings: by series near zero, else by recurrence."""
    near = np.abs(z) < SERIES_BELOW
    small = np.where(near, z, 0.0)
    # phi_3 = sum z^k / (k + 3)!, and phi_k = z phi_{k+1} + 1/k! downwards.
    third = np.full_like(small, 1.0 / math.factorial(SERIES_TERMS + 3))
    for k in range(SERIES_TERMS - 1, -1, -1):
        third = third * small + 1.0 / math.factorial(k + 3)
    second = small * third + 0.5
    first = small * second + 1.0
    away = np.where(near, 1.0, z)
    one = np.expm1(away) / away
    two = (one - 1.0) / away
    three = (two - 0.5) / away
    return np.where(near, first, one), np.where(near, second, two), np.where(near, third, three)


def coefficients(linear: Floats, step: float) -> Coefficients:
    """Return the coefficients of a step size."""
    z = step * linear
    one, two, three = phi_functions(z)
    one_half, two_half, _ = phi_functions(0.5 * z)
    half, whole = np.exp(0.5 * z), np.exp(z)
    mend_half, mend_whole = step * two_half, 2.0 * step * two
    to_half, to_whole = 0.5 * step * one_half, step * one
    first = step * (4.0 * three - 3.0 * two)
    return Coefficients(
        linear=np.array([half, half, whole, whole]),
        known=np.array([to_half, to_half - mend_half, to_whole - mend_whole, to_whole + first]),
        mend_half=mend_half,
        mend_whole=mend_whole,
        middle=step * (2.0 * two - 4.0 * three),
        last=step * (4.0 * three - two),
    )


def krogstad_step(
    system: System, time: float, step: float, unknown: Floats, nonlinear: Floats, weights: Coefficients
) -> Step:
    """Return one step from y with N(y) at a time, by the coefficients of its size."""
    stages = weights.linear * unknown
    stages += weights.known * nonlinear
    first, second, third, end = stages
    at_first = system.nonlinear_at(time + 0.5 * step, first)
    second += weights.mend_half * at_first
    at_second = system.nonlinear_at(time + 0.5 * step, second)
    third += weights.mend_whole * at_second
    at_third = system.nonlinear_at(time + step, third)
    at_first += at_second
    at_first *= weights.middle
    end += at_first
    end += weights.last * at_third
    at_end = system.nonlinear_at(time + step, end)
    np.subtract(at_end, at_third, at_third)
    at_third *= weights.last
    return Step(end, at_end, at_third)


class ExponentialStepper:
    """A path by exponential Runge-Kutta, the step adapted or fixed.

    Parameters
    ----------
    system, time, unknown
        Where the path starts.
    method
        Options.
    tolerance
        Local error, relative to the size of the unknowns; not used by a fixed step.
    tail
        Local error of the last quarter of the unknowns, absolute: noise there would look like a lack of resolution.

    Attributes
    ----------
    time, unknown
        The time reached and the unknowns at that time.
    steps, evaluations : int
        Counters.
    """

    def __init__(
        self, system: System, time: float, unknown: Floats, method: ETDRK4, tolerance: float, tail: float
    ) -> None:
        self.system, self.time, self.unknown = system, time, unknown
        self.steps = 0
        self.evaluations = 1
        self._method = method
        self._tolerance, self._tail = tolerance * SHARE, tail
        self._nonlinear = system.nonlinear_at(time, unknown)
        self._before: tuple[float, Floats, Floats] = (time, unknown, self._nonlinear)
        self._known: dict[float, Coefficients] = {}
        # Without noise most of L is zero.
        self._least_rate = 1e-300 if system.problem.noise > 0.0 else system.unit
        self._step = method.step if method.step is not None else self._first_step()

    def advance(self, limit: float, steps: int) -> None:
        """Make at most ``steps`` steps, stopping after the first that passes a time limit."""
        # A step that is not finite any more overflows before its error refuses it.
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(steps):
                if self.time >= limit:
                    return
                if self._method.step is None:
                    self._adapted()
                else:
                    self._fixed()

    def at(self, time: float) -> Floats:
        """Return the unknowns at a time within the last step."""
        if time == self.time:
            return self.unknown
        start, unknown, nonlinear = self._before
        self.evaluations += 4
        step = time - start
        made = krogstad_step(self.system, start, step, unknown, nonlinear, coefficients(self.system.linear, step))
        return made.unknown

    def _fixed(self) -> None:
        step = self._step
        made = self._made(step)
        self.evaluations += 4
        if not self._relative_error(made) <= HOPELESS:
            raise ComputationFailed(
                too_large(self.system, self.unknown, type(self._method).__name__, step, self.time)
            )
        self._accept(made, step)

    def _adapted(self) -> None:
        while True:
            step = self._step
            fastest = max(float(np.abs(self.system.linear).max()), self._least_rate)
            if step < SMALLEST_STEP * max(self.time, 1.0 / fastest):
                raise ComputationFailed(
                    f"the step fell to {step:.1e} at time {self.time:.6g}; the density changes ever faster there"
                )
            made = self._made(step)
            self.evaluations += 4
            error = self._error(made)
            factor = SHRINK if not error < math.inf else SAFETY * max(error, 1e-12) ** -0.25
            self._step = discrete(step * min(max(factor, SHRINK), GROW))
            if error <= 1.0:
                self._accept(made, step)
                return

    def _made(self, step: float) -> Step:
        """Return a step from the density reached."""
        return krogstad_step(self.system, self.time, step, self.unknown, self._nonlinear, self._coefficients(step))

    def _accept(self, made: Step, step: float) -> None:
        self._before = (self.time, self.unknown, self._nonlinear)
        self.time += step
        self.unknown, self._nonlinear = made.unknown, made.nonlinear
        self.steps += 1

    def _error(self, made: Step) -> float:
        """Return the estimated error of a step in units of the tolerances; nan if the step is not finite."""
        last = self.system.beyond(made.error, 1.0 - LAST)
        of_tail = math.sqrt(float(last.dot(last))) / self._tail
        error = max(self._relative_error(made) / self._tolerance, of_tail)
        weights = self.system.weights
        if weights is None:
            return error
        # The coefficients, relative to the largest of them.
        size, errors = float(np.linalg.norm(weights * made.unknown)), weights * made.error
        of_last = float(np.linalg.norm(self.system.beyond(errors, 1.0 - LAST))) / max(1.0, size) / self._tail
        return max(error, of_last, float(np.linalg.norm(errors)) / (size * self._tolerance) if size > 0.0 else 0.0)

    def _relative_error(self, made: Step) -> float:
        size = float(made.unknown.dot(made.unknown))
        return math.sqrt(float(made.error.dot(made.error)) / size) if size != 0.0 else 0.0

    def _coefficients(self, step: float) -> Coefficients:
        if step not in self._known:
            if len(self._known) >= CACHED:
                self._known.pop(next(iter(self._known)))
            self._known[step] = coefficients(self.system.linear, step)
        return self._known[step]

    def _first_step(self) -> float:
        """Return a first step, in which N changes the unknowns by a small share."""
        size, speed = float(np.linalg.norm(self.unknown)), float(np.linalg.norm(self._nonlinear, np.inf))
        if not speed <= FASTEST:
            raise ComputationFailed(
                f"the moments change at the rate {speed:.3g} at time {self.time:.6g}, beyond the range in which "
                "steps are controlled; measure time in another unit, by a smaller coupling"
            )
        speed = float(np.linalg.norm(self._nonlinear))
        slowest = 1.0 / max(float(np.abs(self.system.linear).min()), self._least_rate)
        if size == 0.0 or speed == 0.0:
            # The uniform density, which a force or a velocity of its own may move.
            return discrete(self._tolerance**0.25 * slowest if speed > 0.0 else slowest)
        return discrete(min(self._tolerance**0.25 * size / speed, slowest))


def discrete(step: float) -> float:
    """Return the largest step of the discrete set that is not above the given one."""
    return float(RATIO ** math.floor(math.log(step, RATIO)))


def too_large(system: System, unknown: Floats, name: str, step: float, time: float) -> str:
    """Return the sentence that a fixed step is too large, with an admissible one, whose halves agree with it."""
    nonlinear = system.nonlinear_at(time, unknown)
    smaller = step
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(40):
            smaller *= 0.5
            made = krogstad_step(system, time, smaller, unknown, nonlinear, coefficients(system.linear, smaller))
            size = max(float(made.unknown.dot(made.unknown)), 1e-300)
            if math.sqrt(float(made.error.dot(made.error) / size)) < 1e-4:
                break
    return (
        f"the step {step:g} of {name} is too large: the path grows without bound near time {time:.6g}; take a step "
        f"of {smaller:.2g} or less, or ETDRK4() without a step, which adapts it"
    )
