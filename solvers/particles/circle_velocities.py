"""The circle as the setting of particles that follow a velocity law other than the gradient of a potential."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation, InvalidInput

from .circle import CircleSetting, kernel_named
from .clouds import MomentCloud, require_range
from .drift import LARGEST_CELLS, OVERSHOOTING, MomentDrift, PairDrift, Truncation, truncation
from .resolution import LARGEST_ERROR, steepest
from .settings import default_share
from .stepping import too_long
from .timing import Timetable
from .velocity_force import VelocityForce
from .velocity_pairs import VelocityPairs

Floats = NDArray[np.float64]

# Up to so many particles pairs are summed by default: about as fast as moments, and exact.
MOST_PAIRS = 64
# Particles of a density with which a step is tried.
WATCHED = 500
# Chebyshev interpolation of a function with the fourth derivative F on a cell of width w is off by w^4 F/3072.
INTERPOLATION = 3072.0


@dataclass(frozen=True, eq=False)
class VelocitySetting(CircleSetting):
    """The circle with a velocity law: drifts from pairs or from moments."""

    def particles(self, positions: Floats, generator: np.random.Generator) -> VelocityPairs:
        """Return the particles at positions with their drift from pairs."""
        return VelocityPairs(self.problem, self.modes.cells, self.degrees, positions, generator)

    def cloud(self, positions: Floats, generator: np.random.Generator) -> Any:
        """Return the particles at positions, with their drift and their noise."""
        problem, modes, degrees = self.problem, self.modes, self.degrees
        if isinstance(self.drift, PairDrift):
            return self.particles(positions, generator)
        kernel, force = kernel_named(self.kernel, modes.cells), VelocityForce(problem, modes, degrees)
        return MomentCloud(problem, modes, degrees, positions, generator, kernel, force)

    def default_step(self, until: float) -> float:
        """Return the default step, by the steepest slope that the law states."""
        degrees = np.arange(self.modes.degree + 1)
        slope = steepest(self.problem, float((degrees**2 * np.abs(self.modes.confinement)).sum()))
        return until if slope == 0.0 else min(until, default_share(self.problem.noise) / slope)

    def require_steps(self, starts: Sequence[Any], table: Timetable) -> None:
        """Refuse steps that overshoot from the start, and noise by which positions are lost in rounding."""
        intervals = (count * length for count, length in zip(table.counts, table.lengths, strict=True))
        require_range(self.problem, self.modes.cells, max(intervals))
        for start in set(starts):
            generator = np.random.default_rng(0)
            positions = self.placed(start, WATCHED, generator)[:WATCHED]
            cloud = self.particles(positions, generator)
            contraction = cloud.contraction_by(table.largest_step)
            if contraction > OVERSHOOTING:
                raise InvalidInput(too_long(table.largest_step, contraction))

    def record(self, cloud: Any) -> dict[str, Floats]:
        """Return the moments of the particles by name, and record the slope of a drift by pairs."""
        if isinstance(self.drift, PairDrift):
            cloud.watch()
        return super().record(cloud)

    def described(self) -> dict[str, Any]:
        """Return the options and errors of the drift, for the provenance; with moments the errors of the drives."""
        largest = {} if isinstance(self.drift, PairDrift) else {"drift_largest_error": LARGEST_ERROR}
        return super().described() | largest


def velocity_setting(
    problem: Equation, drift: MomentDrift | PairDrift | None, degrees: int, particles: int
) -> VelocitySetting:
    """Return the setting of a problem with a velocity law, by default with pairs if the particles are few.

    Raises
    ------
    InvalidInput
        If the coupling is free or the moments asked for need too many cells.
    """
    if drift is None:
        drift = PairDrift() if particles <= MOST_PAIRS else MomentDrift()
    by_moments = drift if isinstance(drift, MomentDrift) else MomentDrift()
    modes = truncation(problem, by_moments, degrees)
    return VelocitySetting(problem, drift, _finer(problem, modes, by_moments.tolerance), degrees)


def _finer(problem: Equation, modes: Truncation, tolerance: float) -> Truncation:
    """Return the modes with as many cells as the velocity needs, which is steeper than the drive."""
    steepness = problem.velocity.steepness() or 1.0
    wanted = 2.0 * math.pi * steepness / (INTERPOLATION * tolerance) ** 0.25
    cells = modes.cells
    while cells < min(wanted, LARGEST_CELLS):
        cells *= 2
    # Errors of cubics fall with the fourth power of the width of a cell.
    error = modes.evaluation_error * (modes.cells / cells) ** 4
    return dataclasses.replace(modes, cells=cells, evaluation_error=error)
