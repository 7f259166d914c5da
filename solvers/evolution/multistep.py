"""LSODA with the analytic Jacobian: variable order and step, Adams formulas switching to backward differences.

Where its errors are below rounding, LSODA cannot judge whether to switch, and may go on with Adams formulas for
ever, by steps as short as the damping of the fastest mode, while the density hardly changes. Such a stall is
detected, and backward differences go on from there.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from meanfield import ComputationFailed
from meanfield.arguments import checked

from ..bases import EPS, Floats
from .system import System

# Share of the size of the density to which its smaller moments are computed.
ABSOLUTE_SHARE = 1e-2
# First step where nothing moves, in units of 1/noise, or of 1/drift without noise.
AT_REST = 1e-2
# Rounding of the moments, below which nothing can be asked of them.
FLOOR = 8.0 * EPS
# Perturbations smaller than this are zero: below it their products and quotients leave the range of doubles.
LEAST_SIZE = 1e-290
# The smallest relative tolerance that LSODA takes.
SHARPEST = 100.0 * EPS
# A stall: so many steps in succession, several times what LSODA needs to switch formulas, none longer than explicit
# formulas are stable for, in units of the fastest damping, and the last a tenth at most of what first order allows.
STALLED, STABLE, SHORT = 100, 2.0, 0.1
# Errors of single modes by scipy's BDF over those by LSODA at the same tolerance, from 1e-6 to 1e-10: 2 to 8.
COARSER = 8.0


@checked
@dataclass(frozen=True)
class LSODA:
    """Variable-order multistep formulas with the analytic Jacobian, for systems of moderate size."""

    step: ClassVar[None] = None
    needs_jacobian: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Name of the method."""
        return "LSODA"

    def started(
        self, system: System, time: float, unknown: Floats, end: float, tolerance: float, tail: float
    ) -> "MultistepStepper":
        """Return the path of a system from a density."""
        return MultistepStepper(system, time, unknown, end, tolerance)


class MultistepStepper:
    """A path by LSODA.

    Parameters
    ----------
    system, time, unknown
        Where the path starts.
    end
        The last time at which the path is needed.
    tolerance
        Local error, relative to each moment and to ``ABSOLUTE_SHARE`` of the largest.

    Attributes
    ----------
    time, unknown
        The time reached and the unknowns at that time.
    steps, evaluations : int
        Counters.
    """

    def __init__(self, system: System, time: float, unknown: Floats, end: float, tolerance: float) -> None:
        from scipy.integrate import LSODA as Solver

        self._system = system
        size = float(np.abs(unknown).max())
        bound = end if end > time else math.inf
        # LSODA bounds the root mean square over the moments, and the error of a step may be in one of them alone.
        relative = max(tolerance / math.sqrt(unknown.size), SHARPEST)
        share = max(ABSOLUTE_SHARE * relative, FLOOR)
        absolute = share * max(size, LEAST_SIZE) * shares_of(system, unknown, size)
        self.steps = 0
        self._bounds = relative, absolute
        # Without noise nothing is damped, and steps are short for the sake of accuracy.
        damping = float(np.abs(system.linear).max()) if system.problem.noise > 0.0 else math.inf
        self._longest_explicit = STABLE / damping
        self._short = self._evaluated = 0
        self._solver = self._started(Solver, time, unknown, bound)
        self._between: Callable[[float], Floats] | None = None

    @property
    def time(self) -> float:
        """Time reached."""
        return float(self._solver.t)

    @property
    def unknown(self) -> Floats:
        """Unknowns at that time."""
        result: Floats = self._solver.y
        return result

    @property
    def evaluations(self) -> int:
        """Number of right-hand sides, with as many as the Jacobians cost."""
        return int(self._evaluated + self._solver.nfev + self._solver.njev)

    def advance(self, limit: float, steps: int) -> None:
        """Make at most ``steps`` steps, stopping after the first that passes a time limit."""
        if self._short >= STALLED:
            self._leave_stall()
        solver = self._solver
        self._between = None
        with warnings.catch_warnings():
            # The reason of a failure comes back as a status as well.
            warnings.simplefilter("ignore")
            for _ in range(steps):
                if solver.t >= limit:
                    return
                solver.step()
                self.steps += 1
                self._short = self._short + 1 if (solver.step_size or 0.0) <= self._longest_explicit else 0
                if solver.status == "failed":
                    raise ComputationFailed(
                        f"LSODA cannot go on at time {solver.t:.6g} with a step of {solver.step_size or 0.0:.1e}; "
                        "the density changes ever faster there, or the tolerance is too small"
                    )

    def at(self, time: float) -> Floats:
        """Return the unknowns at a time within the last step."""
        if time == self._solver.t:
            return self.unknown
        if self._between is None:
            self._between = self._solver.dense_output()
        return np.asarray(self._between(time), dtype=float)

    def _started(self, solver: type, time: float, unknown: Floats, bound: float) -> Any:
        """Return a solver of scipy from a density; it may keep the Jacobian, which is a copy."""
        system, (relative, absolute) = self._system, self._bounds
        return solver(
            system.derivative,
            time,
            unknown,
            bound,
            jac=lambda time, unknown: system.jacobian(time, unknown).copy(),
            rtol=relative,
            atol=absolute,
            first_step=min(_first_step(system, unknown, relative, absolute), bound - time),
        )

    def _leave_stall(self) -> None:
        """Replace the solver by backward differences if its steps are short for stability alone."""
        from scipy.integrate import BDF

        solver, self._short = self._solver, 0
        if solver.step_size > SHORT * _first_order_step(self._system, solver.y, *self._bounds):
            return
        self._evaluated = self.evaluations
        relative, absolute = self._bounds
        self._bounds, self._longest_explicit = (max(relative / COARSER, SHARPEST), absolute), 0.0
        self._solver = self._started(BDF, solver.t, solver.y, solver.t_bound)


def shares_of(system: System, unknown: Floats, size: float) -> float | Floats:
    """Return factors of the error bound for each moment if all coefficients may have the same error, else 1."""
    if system.weights is None or size == 0.0:
        return 1.0
    largest = float((system.weights * np.abs(unknown)).max())
    return np.minimum(1.0, largest / size / system.weights)


def _first_step(system: System, unknown: Floats, relative: float, absolute: float | Floats) -> float:
    """Return the first step for a density, at most ``AT_REST``; LSODA's own guess fails at rest."""
    step = min(AT_REST / system.unit, _first_order_step(system, unknown, relative, absolute))
    if not step > 0.0:
        raise ComputationFailed(
            "the density changes faster than any step of time can follow; take a smaller coupling or noise, which "
            "is the same in another unit of time"
        )
    return step


def _first_order_step(system: System, unknown: Floats, relative: float, absolute: float | Floats) -> float:
    """Return the step at which the first order has the error of the tolerance; infinite at rest."""
    bounds = relative * np.abs(unknown) + absolute
    with np.errstate(over="ignore"):
        speed = float((np.abs(system.derivative(0.0, unknown)) / bounds).max())
    return 1.0 / (math.sqrt(relative) * speed) if speed > 0.0 else math.inf
