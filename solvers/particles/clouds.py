r"""Particles, their drift and the noise that moves them: the state of one replica between two steps.

Positions are counted in cells of the circle and wrapped only after many turns.
"""

import math

import numpy as np
from numpy.typing import NDArray

from meanfield import ComputationFailed, InvalidInput, McKeanVlasov

from .drift import MomentForce, Truncation
from .kernels import ArrayKernel, Kernel

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

# Positions beyond this are wrapped when a record is made. Up to the second they have five digits left in a cell.
FAR, FARTHEST = 2.0**24, 2.0**36
PAIRS_AT_ONCE = 2**19


class MomentCloud:
    """Particles whose drift comes from their moments, in passes over blocks."""

    def __init__(
        self,
        problem: McKeanVlasov,
        modes: Truncation,
        degrees: int,
        positions: Floats,
        generator: np.random.Generator,
        kernel: Kernel,
    ) -> None:
        self.positions = positions
        self.generator = generator
        self.contraction = 0.0
        self._noise = problem.noise
        self._force = MomentForce(modes, degrees)
        self._kernel = kernel
        self._drift: Floats = np.empty(0)
        kernel.deposit(positions, self._force.sums)

    def moments(self) -> Complexes:
        """Return c_0, c_1, ... of the particles."""
        return self._force.moments(self.positions.size)

    def euler(self, step: float) -> None:
        """Advance by the drift and the noise of a step."""
        force = self._force
        self._prepare(step)
        width = amplitude(self._noise, step, force.cells)
        self._kernel.euler(self.positions, force.table, width, self.generator, force.sums)

    def second_order(self, step: float) -> None:
        """Advance by the mean of the drifts before and after, and the noise of a step."""
        force = self._force
        if self._drift.size == 0:
            self._drift = np.empty_like(self.positions)
        self._prepare(step)
        width = amplitude(self._noise, step, force.cells)
        self._kernel.predict(self.positions, force.table, width, self.generator, self._drift, force.sums)
        force.prepare(self.moments(), step)
        self._kernel.correct(self.positions, force.table, self._drift, force.sums)

    def _prepare(self, step: float) -> None:
        moments = self.moments()
        self._force.prepare(moments, step)
        self.contraction = max(self.contraction, self._force.contraction(moments, step, self._noise))


class PairCloud:
    """Particles whose drift is summed over all pairs; moments serve for the record and to watch the step."""

    def __init__(
        self,
        problem: McKeanVlasov,
        modes: Truncation,
        degrees: int,
        positions: Floats,
        generator: np.random.Generator,
    ) -> None:
        self.positions = positions
        self.generator = generator
        self.contraction = 0.0
        self._problem = problem
        self._force = MomentForce(modes, degrees)
        self._kernel = ArrayKernel(modes.cells)
        self._kernel.deposit(positions, self._force.sums)

    def moments(self) -> Complexes:
        """Return c_0, c_1, ... of the particles."""
        return self._force.moments(self.positions.size)

    def euler(self, step: float) -> None:
        """Advance by the drift and the noise of a step."""
        self._watch(step)
        self.positions += self._displacements(step) + self._draw(step)
        self._kernel.deposit(self.positions, self._force.sums)

    def second_order(self, step: float) -> None:
        """Advance by the mean of the drifts before and after, and the noise of a step."""
        self._watch(step)
        first, noise = self._displacements(step), self._draw(step)
        start = self.positions.copy()
        self.positions += first + noise
        self.positions[:] = start + 0.5 * (first + self._displacements(step)) + noise
        self._kernel.deposit(self.positions, self._force.sums)

    def _displacements(self, step: float) -> Floats:
        width = 2.0 * np.pi / self._force.cells
        return pair_drift(self._problem, self.positions * width) * (step / width)

    def _draw(self, step: float) -> Floats:
        width = amplitude(self._problem.noise, step, self._force.cells)
        return width * self.generator.standard_normal(self.positions.size)

    def _watch(self, step: float) -> None:
        moments = self.moments()
        self._force.prepare(moments, step)
        self.contraction = max(self.contraction, self._force.contraction(moments, step, self._problem.noise))


def pair_drift(problem: McKeanVlasov, angles: Floats) -> Floats:
    """Return the drift of every particle by the sum over all others, O(N^2).

    Raises
    ------
    ComputationFailed
        If a force is not finite: two particles coincide under a singular potential.
    """
    count = angles.size
    drift = np.zeros(count)
    rows = max(1, PAIRS_AT_ONCE // count)
    # Slopes beyond the range of doubles come with couplings as far below it.
    factor = -problem.fixed_coupling / count
    for start in range(0, count, rows):
        part = slice(start, min(start + rows, count))
        slopes = np.asarray(problem.potential.slope(angles[part, np.newaxis] - angles))
        own = np.arange(part.start, part.stop)
        slopes[own - part.start, own] = 0.0
        drift[part] = factor * slopes.sum(axis=1)
    if problem.confinement is not None:
        drift -= np.asarray(problem.confinement.slope(angles), dtype=np.float64)
    if not np.all(np.isfinite(drift)):
        raise ComputationFailed("two particles coincide, where the slope of the potential is not finite")
    return drift


def in_cells(angles: Floats, cells: int) -> Floats:
    """Return angles as positions in cells."""
    return angles * (cells / (2.0 * np.pi))


def in_radians(positions: Floats, cells: int) -> Floats:
    """Return positions in cells as angles in [-pi, pi)."""
    # The number of cells is a power of two, so that the remainder is exact.
    turns = np.floor(positions / cells + 0.5)
    return np.asarray((positions - turns * cells) * (2.0 * np.pi / cells))


def wrap(positions: Floats, cells: int) -> None:
    """Bring positions in cells (..., N) back to the first turn in rows that have gone far; that is exact."""
    if max(-float(positions.min()), float(positions.max())) > FAR:
        far = np.abs(positions).max(axis=-1, keepdims=True) > FAR
        # The number of cells is a power of two.
        positions -= np.where(far, cells * np.rint(positions / cells), 0.0)


def require_range(problem: McKeanVlasov, cells: int, interval: float) -> None:
    """Refuse noise by which particles go round so often between two records that their place is lost in rounding.

    Raises
    ------
    InvalidInput
        Then.
    """
    farthest = 8.0 * math.sqrt(2.0 * problem.noise) * math.sqrt(interval)
    if not farthest * cells / (2.0 * math.pi) <= FARTHEST:
        raise InvalidInput(
            f"particles move by up to {farthest:.3g} radians within a time of {interval:g}, too far for their "
            "place on the circle to be known; record more times"
        )


def amplitude(noise: float, step: float, cells: int) -> float:
    """Return the standard deviation of the noise of a step, in cells."""
    return math.sqrt(2.0 * noise) * math.sqrt(step) * cells / (2.0 * math.pi)
