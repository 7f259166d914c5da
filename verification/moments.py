"""Moments of the equation and of the particles by degree, whatever the domain and its layout."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from meanfield import Circle, Ensemble, Trajectory
from meanfield.harmonics import largest_degree, place

Floats = NDArray[np.float64]

NAMES = ("cosine", "sine")


class Compared(NamedTuple):
    """A quantity over time: what the equation says, (T,), and the replicas of every size, (R, T) each."""

    name: str
    expected: Floats
    replicas: list[Floats]
    vectors: "Vectors | None" = None


class Vectors(NamedTuple):
    """Of a modulus, the components of every size, (R, T, m) each, and how many there are."""

    components: list[Floats]
    dimensions: int


def compared_moments(trajectory: Trajectory, ensembles: Sequence[Ensemble]) -> Iterator[Compared]:
    """Yield cosine and sine moment and modulus of every degree; on spheres the zonal moment and the modulus."""
    for degree in degrees_known(ensembles):
        moduli = [ensemble.moments_in_modulus(degree) for ensemble in ensembles]
        if isinstance(trajectory.problem.domain, Circle):
            cosines, sines = ([getattr(ensemble, name)[:, :, degree] for ensemble in ensembles] for name in NAMES)
            yield Compared(f"m{degree}", trajectory.moment(degree), cosines)
            yield Compared(f"s{degree}", trajectory.moment(degree, sine=True), sines)
            vectors = [np.stack(pair, axis=-1) for pair in zip(cosines, sines, strict=True)]
        else:
            zonal = [_zonal(ensemble, degree) for ensemble in ensembles]
            yield Compared(f"p{degree}", trajectory.moment(degree), zonal)
            vectors = [_vector(ensemble, degree) for ensemble in ensembles]
        dimensions = int(trajectory.problem.domain.multiplicity(degree))
        yield Compared(f"r{degree}", trajectory.order_parameter(degree), moduli, Vectors(vectors, dimensions))


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
    if isinstance(trajectory.problem.domain, Circle):
        cosine, sine = trajectory.moment(degree)[-1], trajectory.moment(degree, sine=True)[-1]
        apart = ensemble.cosine[:, -1, degree] - cosine, ensemble.sine[:, -1, degree] - sine
        return np.asarray(np.hypot(*apart))
    if ensemble.layout == "order":
        places = slice(place(degree, 0), place(degree + 1, 0))
        differences = [getattr(ensemble, name)[:, -1, places] - _packed(trajectory, name, degree) for name in NAMES]
        return np.asarray(np.sqrt((differences[0] ** 2 + differences[1] ** 2).sum(axis=1)))
    # The equation's moment is p_l times the harmonics at the pole, a unit vector.
    zonal, length = _zonal(ensemble, degree)[:, -1], ensemble.moments_in_modulus(degree)[:, -1]
    expected = trajectory.moment(degree)[-1]
    return np.asarray(np.sqrt(np.maximum(length**2 - 2.0 * zonal * expected + expected**2, 0.0)))


def squared_moments(ensemble: Ensemble, degree: int) -> Floats:
    """Return the squared modulus of the moment of a degree of every replica, (R, T)."""
    if ensemble.moduli is None:
        return ensemble.cosine[:, :, degree] ** 2 + ensemble.sine[:, :, degree] ** 2
    return ensemble.moduli[:, :, degree] ** 2


def zonal_moments(trajectory: Trajectory) -> Floats:
    """Return the moments p_l about the north pole over time, (T, L + 1)."""
    if trajectory.layout == "degree":
        return trajectory.cosine
    degrees = range(largest_degree(trajectory.cosine.shape[1]) + 1)
    return trajectory.cosine[:, [place(degree, 0) for degree in degrees]]


def _zonal(ensemble: Ensemble, degree: int) -> Floats:
    return ensemble.cosine[:, :, place(degree, 0) if ensemble.layout == "order" else degree]


def _vector(ensemble: Ensemble, degree: int) -> Floats:
    """Return the components of a degree on a sphere, (R, T, m): all that were recorded."""
    if ensemble.layout != "order":
        return ensemble.cosine[:, :, degree, None]
    places = slice(place(degree, 0), place(degree + 1, 0))
    return np.concatenate([getattr(ensemble, name)[:, :, places] for name in NAMES], axis=-1)


def _packed(trajectory: Trajectory, name: str, degree: int) -> Floats:
    """Return the moments of a degree at the last time, by order."""
    result = np.zeros(degree + 1)
    if trajectory.layout == "degree":
        result[0] = trajectory.moment(degree, sine=name == "sine")[-1]
        return result
    found = getattr(trajectory, name)[-1, place(degree, 0) : place(degree + 1, 0)]
    result[: found.size] = found
    return result
