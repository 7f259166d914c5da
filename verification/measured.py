r"""Distances between the particles at the last time and the equation's density, replica by replica.

On the circle they are the Wasserstein distances of the measures. On a sphere they are those of the laws of the
angle from the north pole, which is the axis of a zonal density; moments by degree measure the rest.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from meanfield import Circle, Ensemble, MeanfieldError, Sphere, Trajectory
from meanfield.transport import Density, Sample, polar_distances, wasserstein1, wasserstein2, zonal_law

from .limit import resolves
from .moments import zonal_moments

Floats = NDArray[np.float64]

INDEPENDENT = "_independent"
# Streams that come from one seed: of the particles and of the independent points.
PARTICLE_STREAM, INDEPENDENT_STREAM = 0, 1


def transport_names(domain: Any) -> tuple[str, ...]:
    """Return the names of the distances measured on a domain, those of independent points last."""
    names = TASKS[domain.name].names
    return (*names, *(name + INDEPENDENT for name in names))


def transport(
    trajectory: Trajectory, ensemble: Ensemble, seed: int, executor: Executor | None
) -> tuple[Floats, list[str]]:
    """Return the distances at the last time, (4, R), nan for replicas that failed, and the reasons of failures."""
    positions = ensemble.positions
    if positions is None:
        raise ValueError("an ensemble that is compared keeps its positions")
    values = np.full((4, ensemble.replicas), np.nan)
    if not resolves(trajectory):
        return values, ["the last density is narrower than its moments resolve, and distances to it are left out"]
    chosen = np.flatnonzero(ensemble.completed)
    task = TASKS[trajectory.problem.domain.name].of
    seeds = [stream(seed, INDEPENDENT_STREAM, ensemble.particles, int(replica)) for replica in chosen]
    tasks = [task(trajectory, positions[replica], own) for replica, own in zip(chosen, seeds, strict=True)]
    rows, complaints = _measured(tasks, executor)
    values[:, chosen] = np.array(rows).T
    return values, complaints


def stream(seed: int, *key: int) -> int:
    """Return the seed, of 128 bits, of an independent random stream for a key."""
    low, high = np.random.SeedSequence(seed, spawn_key=key).generate_state(2, np.uint64)
    return int(low) + (int(high) << 64)


@dataclass(frozen=True, eq=False)
class _OnCircle:
    """The picklable task of the distances of one replica on the circle."""

    names: ClassVar[tuple[str, str]] = ("w1", "w2")

    cosine: Floats
    sine: Floats
    angles: Floats
    seed: int

    @classmethod
    def of(cls, trajectory: Trajectory, positions: Floats, seed: int) -> "_OnCircle":
        return cls(trajectory.cosine[-1], trajectory.sine[-1], positions, seed)

    def distances(self) -> Floats:
        density = Density(self.cosine, self.sine)
        generator = np.random.default_rng(np.random.SeedSequence(self.seed))
        independent = density.quantile(generator.random(self.angles.size))
        samples = Sample(self.angles), Sample(independent)
        return np.array(
            [distance(sample, density) for sample in samples for distance in (wasserstein1, wasserstein2)]
        )


@dataclass(frozen=True, eq=False)
class _OnSphere:
    """The picklable task of the distances of one replica on a sphere, by angles from the north pole."""

    names: ClassVar[tuple[str, str]] = ("w1_polar", "w2_polar")

    moments: Floats
    dimension: int
    angles: Floats
    seed: int

    @classmethod
    def of(cls, trajectory: Trajectory, positions: Floats, seed: int) -> "_OnSphere":
        angles = np.arctan2(np.sqrt((positions[:, :-1] ** 2).sum(axis=1)), positions[:, -1])
        return cls(zonal_moments(trajectory)[-1], trajectory.problem.domain.dimension, angles, seed)

    def distances(self) -> Floats:
        law = zonal_law(self.moments, self.dimension)
        generator = np.random.default_rng(np.random.SeedSequence(self.seed))
        independent = law.angles(generator.random(self.angles.size))
        return np.array([*polar_distances(self.angles, law), *polar_distances(independent, law)])


TASKS: dict[str, type[_OnCircle | _OnSphere]] = {Circle.name: _OnCircle, Sphere.name: _OnSphere}


def _measured(tasks: Sequence[_OnCircle | _OnSphere], executor: Executor | None) -> tuple[list[Floats], list[str]]:
    if executor is not None:
        try:
            return list(executor.map(_measure, tasks)), []
        except MeanfieldError:
            raise
        except Exception as error:
            complaint = (
                f"the distances were computed here, for the executor failed: {type(error).__name__}: {error}"
            )
            return [_measure(task) for task in tasks], [complaint]
    return [_measure(task) for task in tasks], []


def _measure(task: _OnCircle | _OnSphere) -> Floats:
    """Return the two distances of a replica, and of as many independent points, from the equation's density."""
    return task.distances()
