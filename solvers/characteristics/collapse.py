r"""The collapse of a density along its characteristics, and the history of its moments.

Labels move in the field of their own moments, by the Runge-Kutta method of order 8 of Dormand and Prince with its
error control. Where labels have come so close to each other that they act like one, they are merged into it, which
takes the stiffness of a collapsed cluster away as well as its cost. The moments of every step are stored at
Chebyshev nodes, so that the field is known at all times.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853

from ..bases import Floats
from ..bases.transforms import waves_at
from ..evolution.medium import Complexes, Medium
from .labels import Labels

# Moments of a step are stored at this many Chebyshev nodes; the dense output of the integrator is of degree 7.
NODES = 9
CHEBYSHEV = 0.5 - 0.5 * np.cos(np.pi * np.arange(NODES) / (NODES - 1))
BARYCENTRIC = (-1.0) ** np.arange(NODES)
BARYCENTRIC[[0, -1]] *= 0.5
# Labels merge once they are this close, which moves moments by the square, and have come closer by this factor.
MERGED, CLOSER = 1e-6, 1e-5
# Merging restarts the integrator, so it waits for as large a share of the labels.
WORTHWHILE = 0.1
MOST_STEPS = 12000
# Moments that change by less in half of a time that is at least as long in units of the kernel are at rest; this is
# looked at every so many steps.
RESTING, LATE, RESTING_STEPS = 1e-9, 60.0, 20


@dataclass(frozen=True)
class History:
    """The moments of a density at all times of its collapse.

    Attributes
    ----------
    ends : (n + 1,) float
        Times at which steps begin and end.
    moments : (n, NODES, K + 1) complex
        The means of e^(ilx) at Chebyshev nodes of each step.
    remainder : (n + 1,) float
        1 - r at the ends of steps.
    finished
        Whether 1 - r has fallen to what was asked.
    angles, masses : (L,) float
        The labels at the last time.
    """

    ends: Floats
    moments: Complexes
    remainder: Floats
    finished: bool
    angles: Floats
    masses: Floats

    def at(self, time: float) -> Complexes:
        """Return the moments at a time."""
        index = min(max(int(np.searchsorted(self.ends, time, side="right")) - 1, 0), self.moments.shape[0] - 1)
        start, end = self.ends[index], self.ends[index + 1]
        offsets = (time - start) / (end - start) - CHEBYSHEV
        exact = np.flatnonzero(np.abs(offsets) < 1e-15)
        if exact.size:
            return np.asarray(self.moments[index, exact[0]])
        weights = BARYCENTRIC / offsets
        return np.asarray(weights @ self.moments[index] / weights.sum())

    @property
    def until(self) -> float:
        """The last time."""
        return float(self.ends[-1])


class _Cloud:
    """Labels on their way: positions, masses, and the gaps that they had at first."""

    def __init__(self, labels: Labels) -> None:
        self.angles, self.masses = labels.angles.copy(), labels.masses.copy()
        self.first = labels.angles.copy()
        self.last = labels.angles.copy()

    def mergeable(self) -> NDArray[np.bool_]:
        """Return for each label but the first whether it merges with the one before."""
        gaps, initial = np.diff(self.angles), self.last[1:] - self.first[:-1]
        return np.asarray((np.abs(gaps) < MERGED) & (np.abs(gaps) < CLOSER * initial))

    def merge(self, together: NDArray[np.bool_]) -> None:
        """Replace runs of labels by their centres of mass."""
        heads = np.flatnonzero(np.concatenate([[True], ~together]))
        masses = np.add.reduceat(self.masses, heads)
        # Offsets from the first of each run keep the digits.
        lengths = np.diff(np.append(heads, self.masses.size))
        offsets = self.angles - np.repeat(self.angles[heads], lengths)
        self.angles = self.angles[heads] + np.add.reduceat(offsets * self.masses, heads) / masses
        self.first = self.first[heads]
        self.last = self.last[heads + lengths - 1]
        self.masses = masses


def remainder_of(angles: Floats, masses: Floats, even: bool) -> float:
    """Return 1 - r as the mean of 2 sin^2 of half the distance from the mean angle, which loses no digits."""
    centre = 0.0 if even else math.atan2(float(masses @ np.sin(angles)), float(masses @ np.cos(angles)))
    return float(masses @ (2.0 * np.sin(0.5 * (angles - centre)) ** 2))


def collapse(medium: Medium, labels: Labels, goal: float, tolerance: float, longest: float) -> History:
    """Return the history of a density until 1 - r has fallen to a goal, or the longest time is reached."""
    cloud = _Cloud(labels)
    ends: list[float] = [0.0]
    stored: list[Complexes] = []
    remainders = [remainder_of(cloud.angles, cloud.masses, medium.even)]
    solver = _started(medium, cloud, 0.0, tolerance, longest, None)
    while remainders[-1] > goal and solver.status == "running" and len(stored) < MOST_STEPS:
        solver.step()
        if not np.isfinite(solver.y).all():
            break
        cloud.angles = solver.y
        stored.append(_moments_of_step(medium, solver, cloud.masses))
        ends.append(float(solver.t))
        remainders.append(remainder_of(cloud.angles, cloud.masses, medium.even))
        if _at_rest(medium, ends, stored):
            break
        together = cloud.mergeable()
        if solver.status == "running" and np.count_nonzero(together) > max(WORTHWHILE * together.size, 4):
            cloud.merge(together)
            solver = _started(medium, cloud, float(solver.t), tolerance, longest, solver.h_abs)
    finished = remainders[-1] <= goal
    return History(np.array(ends), np.array(stored), np.array(remainders), finished, cloud.angles, cloud.masses)


def _at_rest(medium: Medium, ends: list[float], stored: list[Complexes]) -> bool:
    """Return whether the moments have not changed since half of the time, which is many units of time."""
    strength = abs(medium.coupling) * float(np.abs(medium.multipliers[0][1:]).max())
    if len(ends) % RESTING_STEPS or ends[-1] * strength < LATE:
        return False
    before = int(np.searchsorted(ends, 0.5 * ends[-1]))
    return float(np.abs(stored[-1][-1] - stored[before - 1][-1]).max()) < RESTING


def _started(
    medium: Medium, cloud: _Cloud, time: float, tolerance: float, longest: float, step: float | None
) -> DOP853:
    masses = cloud.masses

    def velocity(_: float, angles: Any) -> Any:
        waves = waves_at(angles, medium.degree)
        return medium.velocity(waves, medium.fields(waves @ masses))

    return DOP853(velocity, time, cloud.angles, longest, rtol=tolerance, atol=tolerance, first_step=step)


def _moments_of_step(medium: Medium, solver: DOP853, masses: Floats) -> Complexes:
    dense = solver.dense_output()
    times = solver.t_old + (solver.t - solver.t_old) * CHEBYSHEV
    positions = dense(times)
    waves = waves_at(positions.T.ravel(), medium.degree).reshape(medium.degree + 1, NODES, masses.size)
    return np.asarray((waves @ masses).T)
