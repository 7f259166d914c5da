"""The record of a comparison of a trajectory with ensembles: means, bands, powers and warnings."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meanfield import Ensemble, Equation, Outcome, Trajectory
from meanfield.records import Comparison, Fit, Means

from .measured import INDEPENDENT, transport_names
from .moments import Compared, compared_moments, degrees_known, deviations, squared_moments
from .reach import amplification, neighbours, unstable_modes
from .statistics import Band, band, modulus_band, power_law

Floats = NDArray[np.float64]

# Deviations that grow by more than this make a comparison say little.
AMPLIFIED = 4.0
FEW_NEIGHBOURS = 10.0
# A power of N is doubted where so large a deviation from it has a smaller probability.
CURVED = 1e-3
# A density this close to uniform, in its moments, is uniform.
UNIFORM = 1e-9


def tabulated(
    trajectory: Trajectory,
    ensembles: Sequence[Ensemble],
    transport: Floats,
    seed: int,
    confidence: float,
    complaints: Sequence[str],
) -> Comparison:
    """Return the comparison of a trajectory with ensembles and their distances.

    Parameters
    ----------
    trajectory
        The equation at the times of the ensembles.
    ensembles
        One for every size, increasing.
    transport : (4, S, R) float
        The Wasserstein distances at the last time, in the order of :func:`~.measured.transport_names`.
    seed, confidence
        For the record; the level of the bands.
    complaints
        Reasons why distances are missing, for the warnings.
    """
    sizes = np.array([ensemble.particles for ensemble in ensembles])
    degrees = degrees_known(ensembles)
    apart = [[deviations(trajectory, ensemble, degree) for ensemble in ensembles] for degree in degrees]
    distances = np.concatenate([transport, apart])
    names = (*transport_names(trajectory.problem.domain), *(f"c{degree}" for degree in degrees))
    fits = tuple(_fits(names, sizes, distances, confidence))
    warnings = [warning for ensemble in ensembles for warning in (*ensemble.warnings, *ensemble.failures)]
    warnings += [*trajectory.warnings, *complaints, *_doubts(trajectory, sizes, fits)]
    partial = any(ensemble.outcome is Outcome.PARTIAL for ensemble in ensembles)
    first = ensembles[0]
    return Comparison(
        problem=trajectory.problem,
        particles=sizes,
        replicas=first.replicas,
        seed=seed,
        step=first.step,
        scheme=first.scheme,
        confidence=confidence,
        time=first.time,
        moments=_moments(trajectory, ensembles, confidence),
        distance_names=names,
        distances=distances,
        distance_means=_distance_means(names, sizes, distances, fits, confidence),
        fits=fits,
        fluctuations=_fluctuations(trajectory, ensembles, confidence),
        outcome=Outcome.PARTIAL if partial else Outcome.COMPLETED,
        warnings=tuple(dict.fromkeys(warnings)),
        provenance=_provenance(trajectory, ensembles, seed, confidence),
    )


def _provenance(
    trajectory: Trajectory, ensembles: Sequence[Ensemble], seed: int, confidence: float
) -> dict[str, Any]:
    first, whole = ensembles[0].provenance, trajectory.provenance
    options = {
        "initial": whole["options"]["initial"],
        "until": float(trajectory.time[-1]),
        "particles": [ensemble.particles for ensemble in ensembles],
        "replicas": ensembles[0].replicas,
        "seed": seed,
        "confidence": confidence,
        "equation": trajectory.method,
        "tolerance": trajectory.tolerance,
    }
    of_particles = {key: value for key, value in first["options"].items() if key not in options}
    spent = sum(float(part["cpu_seconds"]) for part in (whole, *(ensemble.provenance for ensemble in ensembles)))
    return first | {"cpu_seconds": round(spent, 3), "options": options | of_particles}


def _moments(trajectory: Trajectory, ensembles: Sequence[Ensemble], confidence: float) -> Means:
    compared = list(compared_moments(trajectory, ensembles))
    turning = trajectory.problem.confinement is None
    bands = [_bands(one, ensembles, confidence, turning) for one in compared]
    return _means([one.name for one in compared], np.array([one.expected for one in compared]), bands)


def _bands(compared: Compared, ensembles: Sequence[Ensemble], confidence: float, turning: bool) -> list[Band]:
    """Return the band of every size, for a modulus that of the modulus of the mean."""
    if compared.vectors is None:
        return [band(values, confidence) for values in compared.replicas]
    components, dimensions = compared.vectors
    return [
        modulus_band(vector, values, dimensions, confidence, ensemble.particles if turning else None)
        for vector, values, ensemble in zip(components, compared.replicas, ensembles, strict=True)
    ]


def _distance_means(
    names: Sequence[str], sizes: NDArray[np.int64], distances: Floats, fits: Sequence[Fit], confidence: float
) -> Means:
    powers = {fit.name: fit.prefactor * sizes**fit.exponent for fit in fits}
    unknown = np.full(sizes.size, np.nan)
    expected = np.array([powers.get(name, unknown) for name in names])
    return _means(names, expected, [[band(row, confidence) for row in rows] for rows in distances])


def _means(names: Sequence[str], expected: Floats, bands: Sequence[Sequence[Band]]) -> Means:
    columns = ("mean", "standard_error", "low", "high")
    arrays = {column: np.array([[getattr(one, column) for one in row] for row in bands]) for column in columns}
    return Means(tuple(names), expected, **arrays)


def _fits(names: Sequence[str], sizes: NDArray[np.int64], distances: Floats, confidence: float) -> Iterator[Fit]:
    for name, values in zip(names, distances, strict=True):
        power = power_law(sizes.astype(float), values, confidence)
        if power is not None:
            low, high = power.interval or (None, None)
            yield Fit(name, power.exponent, power.prefactor, low, high, power.standard_error, power.curvature)


def _fluctuations(trajectory: Trajectory, ensembles: Sequence[Ensemble], confidence: float) -> Means | None:
    """Return N |c_k|^2 averaged over the later half of the time, None unless the equation stays uniform, stably."""
    if not _uniform(trajectory) or unstable_modes(trajectory.problem).size:
        return None
    problem, degrees = trajectory.problem, degrees_known(ensembles)
    shares = _shares(problem, max(degrees))
    late = trajectory.time >= 0.5 * trajectory.time[-1]
    names, expected, bands = [], [], []
    for degree in degrees:
        names.append(f"fluctuation{degree}")
        share = shares[degree - 1]
        rate = 2.0 * problem.noise * -problem.domain.laplacian_eigenvalue(degree) * (1.0 - share)
        start = 1.0 - 1.0 / (1.0 - share)
        expected.append(1.0 / (1.0 - share) + start * np.exp(-rate * trajectory.time[late]).mean())
        squares = [ensemble.particles * squared_moments(ensemble, degree)[:, late] for ensemble in ensembles]
        bands.append([band(values.mean(axis=1), confidence) for values in squares])
    return _means(names, np.array(expected), bands)


def _uniform(trajectory: Trajectory) -> bool:
    return bool(np.abs(trajectory.cosine[:, 1:]).max(initial=0.0) < UNIFORM) and bool(
        np.abs(trajectory.sine[:, 1:]).max(initial=0.0) < UNIFORM
    )


def _shares(problem: Equation, degree: int) -> Floats:
    """Return lambda_k = kappa/kappa_k, k = 1..degree."""
    linearised = problem.velocity.at_uniform(problem.domain)
    weights = np.asarray(linearised.multipliers(problem.domain, degree), dtype=float)[1:]
    modes = np.array([float(problem.domain.multiplicity(k)) for k in range(1, degree + 1)])
    return np.asarray(-float(problem.fixed_coupling) * weights / (modes * problem.noise))


def _doubts(trajectory: Trajectory, sizes: NDArray[np.int64], fits: Sequence[Fit]) -> Iterator[str]:
    """Yield warnings of the reasons why a comparison may not be conclusive."""
    smallest = int(sizes[0])
    growth = float(amplification(trajectory).max())
    if growth > AMPLIFIED:
        yield (
            f"deviations of the initial density grow by a factor of up to {growth:.2g} on the way: the "
            f"fluctuations of the particles, {1 / math.sqrt(smallest):.2g} at the start for N = {smallest}, grow "
            "as well, and differences from the equation of that size prove nothing; compare near a stable state"
        )
    near = neighbours(trajectory.problem, smallest)
    if near is not None and near < FEW_NEIGHBOURS:
        yield (
            f"of N = {smallest} particles each has about {near:.2g} others within reach of the potential, too few "
            "for a mean field; compare more particles"
        )
    for fit in fits:
        if (
            fit.name.startswith("w")
            and not fit.name.endswith(INDEPENDENT)
            and fit.curvature is not None
            and fit.curvature < CURVED
        ):
            yield (
                f"{fit.name} is not a power of N (probability {fit.curvature:.1g}): there is a bias that does not "
                "shrink with N, as that of the time step, or N is too small; try half the step, or more particles"
            )
