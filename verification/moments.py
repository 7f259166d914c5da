"""Moments of the equation and of the particles by degree, on every domain and in every layout."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from meanfield import Ensemble, Trajectory

Floats = NDArray[np.float64]


class Compared(NamedTuple):
    """A quantity over time: that of the equation, (T,), and of the replicas of every size, (R, T) each."""

    name: str
    expected: Floats
    replicas: list[Floats]
    vectors: "Vectors | None" = None


class Vectors(NamedTuple):
    """The components of a modulus for every size, (R, T, m) each, and their number."""

    components: list[Floats]
    dimensions: int


def compared_moments(trajectory: Trajectory, ensembles: Sequence[Ensemble]) -> Iterator[Compared]:
    """Yield cosine and sine moment and modulus of every degree; on spheres the zonal moment and the modulus."""
    for degree in degrees_known(ensembles):
        moduli = [ensemble.moments_in_modulus(degree) for ensemble in ensembles]
        for kind in trajectory.moments.modes.linear:
            replicas = [ensemble.moments.named(f"{kind}{degree}") for ensemble in ensembles]
            yield Compared(f"{kind}{degree}", trajectory.moments.named(f"{kind}{degree}"), replicas)
        dimensions = int(trajectory.problem.domain.multiplicity(degree))
        vectors = Vectors([_vector(ensemble, degree) for ensemble in ensembles], dimensions)
        yield Compared(f"r{degree}", trajectory.order_parameter(degree), moduli, vectors)


def degrees_known(ensembles: Sequence[Ensemble]) -> list[int]:
    """Return the degrees whose moduli were recorded; in high dimensions there are harmonics of few degrees only."""
    first = ensembles[0]
    return [
        degree
        for degree in range(1, first.degrees + 1)
        if first.moduli is None or not np.isnan(first.moduli[first.completed, -1, degree]).any()
    ]


def deviations(trajectory: Trajectory, ensemble: Ensemble, degree: int) -> Floats:
    """Return the distance of the empirical moment of a degree from the equation's at the last time, (R,)."""
    modes = ensemble.modes
    if modes.has_sines:
        places, last = modes.places_of(degree), trajectory.moments[-1]
        apart = [
            values[:, -1, places] - _padded(known[last.modes.places_of(degree)], places.stop - places.start)
            for values, known in ((ensemble.cosine, last.cosine), (ensemble.sine, last.sine))
        ]
        return np.asarray(np.sqrt((apart[0] ** 2 + apart[1] ** 2).sum(axis=1)))
    # The equation's moment is p_l times the harmonics at the pole, a unit vector.
    zonal = ensemble.moments.named(f"p{degree}")[:, -1]
    length, expected = ensemble.moments_in_modulus(degree)[:, -1], trajectory.moment(degree)[-1]
    return np.asarray(np.sqrt(np.maximum(length**2 - 2.0 * zonal * expected + expected**2, 0.0)))


def squared_moments(ensemble: Ensemble, degree: int) -> Floats:
    """Return the squared modulus of the moment of a degree of every replica, (R, T)."""
    if ensemble.moduli is None:
        return ensemble.cosine[:, :, degree] ** 2 + ensemble.sine[:, :, degree] ** 2
    return ensemble.moduli[:, :, degree] ** 2


def zonal_moments(trajectory: Trajectory) -> Floats:
    """Return the moments p_l about the north pole over time, (T, L + 1)."""
    return trajectory.moments.about_axis().cosine


def _vector(ensemble: Ensemble, degree: int) -> Floats:
    """Return the recorded components of the moment of a degree, (R, T, m)."""
    places = ensemble.modes.places_of(degree)
    parts = [ensemble.cosine[:, :, places], *([ensemble.sine[:, :, places]] if ensemble.modes.has_sines else [])]
    return np.concatenate(parts, axis=-1)


def _padded(values: Floats, size: int) -> Floats:
    """Return moments of a degree zero-padded to a size, as a zonal density has order 0 only."""
    return np.pad(values, (0, size - values.size))
