r"""Particles, their drift and the noise that moves them: the state of one replica between two steps.

Positions are in units of cells of the circle and wrapped only after many turns.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meanfield import ComputationFailed, Equation, InvalidInput

from .drift import MomentForce, Truncation
from .euler_maruyama import EulerMaruyama
from .kernels import ArrayKernel, Kernel
from .second_order import WeakSecondOrder
from .stepping import Passes

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

# Positions beyond this are wrapped when a record is made. Up to the second they have five digits left in a cell.
FAR, FARTHEST = 2.0**24, 2.0**36
PAIRS_AT_ONCE = 2**19


class CircleParticles:
    """Particles on the circle: displacements in cells are added to their places.

    Parameters
    ----------
    noise
        D.
    cells
        Number of cells of the circle.
    places : (..., N) float
        In cells; they are moved in place.
    generator
        Fills arrays like ``places`` with normal numbers.

    Attributes
    ----------
    flat, carried
        As in :class:`~solvers.particles.stepping.Particles`.
    """

    flat = True

    def __init__(self, noise: float, cells: int, places: Floats, generator: Any) -> None:
        self.places, self.generator = places, generator
        self.carried: dict[str, Floats] = {}
        self._noise, self._cells = noise, cells

    @property
    def passes(self) -> Passes:
        """Faster steps by the class of the scheme: none."""
        return {}

    def noise(self, time: float) -> Floats:
        """Return displacements by the noise of a duration."""
        numbers: Floats = np.empty_like(self.places)
        self.generator.standard_normal(out=numbers)
        numbers *= amplitude(self._noise, time, self._cells)
        return numbers

    def move(self, displacements: Floats) -> None:
        """Add displacements to the positions."""
        self.places += displacements

    def place(self, origins: Floats, displacements: Floats) -> None:
        """Set the positions to origins plus displacements."""
        np.add(origins, displacements, out=self.places)


class SummedParticles(CircleParticles):
    """Particles of one replica with their sums over cells, which give the recorded moments and the slope.

    Attributes
    ----------
    contraction
        Largest product of a step and the slope -b' met so far.
    """

    def __init__(
        self,
        problem: Equation,
        modes: Truncation,
        degrees: int,
        positions: Floats,
        generator: Any,
        kernel: Kernel,
        force: MomentForce | None = None,
    ) -> None:
        super().__init__(problem.noise, modes.cells, positions, generator)
        self.contraction = 0.0
        self._force = MomentForce(modes, degrees) if force is None else force
        self._kernel = kernel
        self._summed = False

    @property
    def positions(self) -> Floats:
        """The positions (N,), in cells."""
        return self.places

    def move(self, displacements: Floats) -> None:
        """Add displacements to the positions."""
        super().move(displacements)
        self._summed = False

    def place(self, origins: Floats, displacements: Floats) -> None:
        """Set the positions to origins plus displacements."""
        super().place(origins, displacements)
        self._summed = False

    def moments(self) -> Complexes:
        """Return c_0, c_1, ... of the particles."""
        if not self._summed:
            self._kernel.deposit(self.places, self._force.sums)
            self._summed = True
        return self._force.moments(self.places.size)

    def _prepare(self, step: float, watched: bool) -> None:
        """Fill the table of the force for a step, and record its slope if watched."""
        moments = self.moments()
        self._force.prepare(moments, step)
        if watched:
            self.contraction = max(self.contraction, self._force.contraction(moments, step, self._noise))


class MomentCloud(SummedParticles):
    """Particles whose drift comes from their moments, in passes over blocks."""

    _drift: Floats = np.empty(0)

    @property
    def passes(self) -> Passes:
        """Faster steps by the class of the scheme, in passes that displace and sum at once."""
        return {EulerMaruyama: self.euler, WeakSecondOrder: self.second_order}

    def drift(self, step: float, watched: bool = True) -> Floats:
        """Return the displacements by the drift of a step."""
        self._prepare(step, watched)
        displacements: Floats = np.empty_like(self.places)
        self._kernel.drift(self.places, self._force.table, displacements)
        return displacements

    def euler(self, step: float) -> None:
        """Advance the particles by the drift and the noise of a step."""
        force = self._force
        self._prepare(step, watched=True)
        width = amplitude(self._noise, step, self._cells)
        self._kernel.euler(self.places, force.table, width, self.generator, force.sums)

    def second_order(self, step: float) -> None:
        """Advance the particles by the mean of the drifts before and after, and the noise of a step."""
        force = self._force
        if self._drift.size == 0:
            self._drift = np.empty_like(self.places)
        self._prepare(step, watched=True)
        width = amplitude(self._noise, step, self._cells)
        self._kernel.predict(self.places, force.table, width, self.generator, self._drift, force.sums)
        self._prepare(step, watched=False)
        self._kernel.correct(self.places, force.table, self._drift, force.sums)


class PairCloud(SummedParticles):
    """Particles whose drift is summed over all pairs; moments serve for the record and the check of the step."""

    def __init__(
        self, problem: Equation, modes: Truncation, degrees: int, positions: Floats, generator: Any
    ) -> None:
        super().__init__(problem, modes, degrees, positions, generator, ArrayKernel(modes.cells))
        self._problem = problem

    def drift(self, step: float, watched: bool = True) -> Floats:
        """Return the displacements by the drift of a step."""
        if watched:
            self._prepare(step, watched)
        width = 2.0 * np.pi / self._cells
        return pair_drift(self._problem, self.places * width) * (step / width)


def pair_drift(problem: Equation, angles: Floats) -> Floats:
    """Return the drift of every particle at angles by the sum over all others, O(N^2).

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
    """Return angles as positions in units of cells."""
    return angles * (cells / (2.0 * np.pi))


def in_radians(positions: Floats, cells: int) -> Floats:
    """Return positions in units of cells as angles in [-pi, pi)."""
    # The number of cells is a power of two, so that the remainder is exact.
    turns = np.floor(positions / cells + 0.5)
    return np.asarray((positions - turns * cells) * (2.0 * np.pi / cells))


def wrap(positions: Floats, cells: int) -> None:
    """Reduce positions in units of cells (..., N) to the first turn, in place and exactly, in rows far from it."""
    if max(-float(positions.min()), float(positions.max())) > FAR:
        far = np.abs(positions).max(axis=-1, keepdims=True) > FAR
        # The number of cells is a power of two.
        positions -= np.where(far, cells * np.rint(positions / cells), 0.0)


def require_range(problem: Equation, cells: int, interval: float) -> None:
    """Refuse noise by which particles make so many turns between two records that rounding loses their angles.

    Raises
    ------
    InvalidInput
        If a particle may move so far that its position in a cell is lost.
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
