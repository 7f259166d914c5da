r"""Evolution in time on spheres: free energy falls by its dissipation, mass stays, rotation commutes.

.. math:: \frac{dF}{dt} = -\int\rho\,\bigl|\nabla(D\log\rho + \kappa W*\rho)\bigr|^2 \le 0 .

Densities start as two lobes of different width, on one axis and, on :math:`S^2`, without a common one.
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import ive

from meanfield import Equation, Trajectory

from ..claims import FREE_ENERGY, Evidence, Undecided, at_least, claim, compare, worst
from ..hypotheses import anywhere
from ..measures import EPS, RESIDUAL, Floats
from ..tools import Tools
from .harmonics import point_values, turned_to
from .measures import SIGNIFICANT_DEGREE, multipliers, numbers, unit_coupling
from .uniform import significant_degrees

FACTOR = 1.5
START_DEGREE, LEAST_DEGREE = 60, 24
# Times in units of 1/D.
DURATION, LONG, SHORT = 1.5, 4.0, 0.2
# Integrals over time are sums of Gauss's rule between these times, short ones while high degrees die out.
EDGES = np.concatenate([[0.0, 2e-4, 1e-3, 4e-3, 1.2e-2, 3e-2, 6e-2], np.arange(0.1, DURATION + 0.01, 0.1)])
NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)
IDENTITY, PRECISE = 1e-8, 1e-11
MASS = 1e-14
# Densities without an axis are evolved where few degrees are significant: they are many numbers.
SIGNIFICANT = 2
# Largest exponent per direction of a density that has gathered: a spike is too narrow to be known by its moments.
SPIKE = 200.0
# In higher dimensions there are so many harmonics that errors of the moments, one by one, bound nothing any more.
LARGEST_DIMENSION, MEANINGFUL = 8, 1e-2
# Axes of the lobes, and a rotation.
AXES = (np.array([0.3, -0.5, 0.8]), np.array([-0.9, 0.2, -0.1]))
TURN = (0.7, 1.1)
EQUIVARIANCE = 1e-10


def moving(problem: Equation) -> Equation:
    """Return the problem at a coupling at which densities evolve."""
    return problem.at(coupling=FACTOR * unit_coupling(problem))


def spread(problem: Equation) -> str | None:
    """Return the reason why densities are not evolved, that they would concentrate, or None if they are.

    A concentrated density e^f has the exponent f'(1) = -kappa W'(1)/D in u, shared by d - 1 directions.
    """
    reason = anywhere(problem)
    if reason is not None:
        return reason
    dimension = problem.domain.dimension
    degrees = np.arange(SIGNIFICANT_DEGREE + 1)
    # P_l'(1) = l (l + d - 2)/(d - 1).
    steepness = degrees * (degrees + dimension - 2) / (dimension - 1)
    exponent = (
        -moving(problem).fixed_coupling
        / problem.noise
        * float(multipliers(problem, SIGNIFICANT_DEGREE) @ steepness)
    )
    if exponent > SPIKE * (dimension - 1):
        return "a density would gather into a spike too narrow to be known by its moments"
    return None


def moderate(problem: Equation) -> str | None:
    """Return the reason why errors of moments do not bound those of the free energy, or None if they do."""
    if problem.domain.dimension > LARGEST_DIMENSION:
        return f"in more than {LARGEST_DIMENSION} dimensions errors of the moments do not bound those of F"
    return spread(problem)


def without_axis_too(problem: Equation) -> str | None:
    """Return the reason why densities without an axis are not evolved, or None if they are."""
    if not problem.domain.has_azimuth:
        return "it is about densities without an axis on the ordinary sphere"
    if max(significant_degrees(problem), default=SIGNIFICANT_DEGREE) > SIGNIFICANT:
        return f"densities without an axis are evolved for potentials of degree {SIGNIFICANT} at most"
    return anywhere(problem)


def about_the_pole(dimension: int, concentration: float) -> Floats:
    """Return the moments p_l of e^{c u}, up to the last that is not rounding."""
    orders = np.arange(START_DEGREE + 1) + 0.5 * dimension - 1
    moments = ive(orders, concentration) / ive(orders[0], concentration)
    significant = np.flatnonzero(moments * np.sqrt(numbers(dimension, START_DEGREE)) > 0.1 * EPS)
    return np.asarray(moments[: max(int(significant[-1]), LEAST_DEGREE) + 1])


def two_lobes(dimension: int) -> tuple[Floats, Floats]:
    """Return the moments of two lobes at opposite poles, wider in higher dimensions."""
    one, other = (about_the_pole(dimension, size * (dimension - 1) / 2) for size in (2.0, 5.0))
    size = max(one.size, other.size)
    moments = np.zeros(size)
    moments[: one.size] += 0.6 * one
    moments[: other.size] += 0.4 * other * (-1.0) ** np.arange(other.size)
    return moments, np.zeros(size)


def without_axis(turn: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the moments by degree and order of two lobes on S^2, turned by an orthogonal matrix."""
    matrix = np.eye(3) if turn is None else turn
    one, other = (about_the_pole(3, size) for size in (2.0, 5.0))
    size = max(one.size, other.size)
    parts = [turned_to(_padded(part, size), matrix @ axis) for part, axis in zip((one, other), AXES, strict=True)]
    cosine, sine = (0.6 * parts[0][k] + 0.4 * parts[1][k] for k in (0, 1))
    return cosine, sine


def _padded(moments: Floats, size: int) -> Floats:
    return np.concatenate([moments, np.zeros(size - moments.size)])


def gauss_times(noise: float) -> tuple[Floats, Floats, float]:
    """Return times, weights of integration between 0 and the end, and the end."""
    half = 0.5 * np.diff(EDGES) / noise
    times = (EDGES[:-1, np.newaxis] / noise + half[:, np.newaxis] * (1 + NODES)).ravel()
    return times, (half[:, np.newaxis] * WEIGHTS).ravel(), float(EDGES[-1]) / noise


def integrated(values: Floats, weights: Floats) -> float:
    """Return the integral of values at 0, at the Gauss times and at the end."""
    return float(weights @ values[1:-1])


def _starts(problem: Equation) -> dict[str, tuple[Floats, Floats]]:
    starts = {"two lobes on the axis": two_lobes(problem.domain.dimension)}
    if without_axis_too(problem) is None:
        starts["lobes without a common axis"] = without_axis()
    return starts


@claim(
    "sphere.energy-identity",
    "the free energy falls by its dissipation",
    statement="F(0) - F(t) = int_0^t int rho |grad (D log rho + kappa W*rho)|^2 along every solution.",
    assumptions="no confinement; no narrow spikes; densities without an axis where the potential has few degrees",
    source="gradient flow of F; dissipation integrated over time by Gauss's rule",
    hypotheses=spread,
    needs=FREE_ENERGY,
)
def energy_identity(problem: Equation, tools: Tools) -> Evidence:
    """Integrate the dissipation along trajectories and compare with the fall of the free energy."""
    times, weights, end = gauss_times(problem.noise)
    found = []
    for name, start in _starts(problem).items():
        path = tools.evolve(moving(problem), start, end, times=[0.0, *times, end], tolerance=PRECISE)
        fall = float(path.free_energy_gap[0] - path.free_energy_gap[-1])
        text = f"integrated dissipation from {name} beside a fall of (F - F_0)/D by {fall:.9g} until time {end:g}"
        found.append(compare(integrated(path.dissipation, weights), fall, IDENTITY * (1 + abs(fall)), text))
    return worst(found)


@claim(
    "sphere.energy-decrease",
    "the free energy never increases",
    statement="F(rho(t)) is non-increasing in t, and its dissipation is not negative.",
    assumptions="no confinement; no narrow spikes; d <= 8",
    source="gradient flow of F; beyond rounding of F and the errors of the moments",
    hypotheses=moderate,
    needs=FREE_ENERGY,
)
def energy_decrease(problem: Equation, tools: Tools) -> Evidence:
    """Compare the largest increase of the free energy between any two of many times with zero."""
    found: list[Evidence] = []
    for name, path in _long_evolutions(problem, tools):
        # Where densities of high dimension are known to a few digits only their energy is not recorded.
        energies = path.free_energy_gap[~np.isnan(path.free_energy_gap)]
        losses = path.dissipation[~np.isnan(path.dissipation)]
        if energies.size < 2 or losses.size < 2:
            continue
        rise, size = float(np.diff(energies).max()), 1 + float(np.abs(energies).max())
        # Errors of the moments, each of the tolerance, change F by half the sum of N_l times their squares.
        amplified = 0.5 * PRECISE**2 * float(_numbers_of(path).sum())
        text = f"least fall of (F - F_0)/D between {energies.size} times, from {name}"
        found.append(at_least(-rise, 0.0, 64 * EPS * size + amplified, text))
        found.append(at_least(float(losses.min()), 0.0, 0.0, f"least dissipation, from {name}"))
    return worst(found)


@claim(
    "sphere.mass",
    "mass stays one and the density positive",
    statement="int rho(t) = 1 and rho(t) >= 0 for all t.",
    assumptions="no confinement; no narrow spikes",
    source="the equation is in divergence form, with a maximum principle; rho to the accuracy asked for",
    hypotheses=spread,
)
def mass(problem: Equation, tools: Tools) -> Evidence:
    """Compare the largest change of the mass, and the smallest value of the density, with zero."""
    found: list[Evidence] = []
    for name, path in _long_evolutions(problem, tools):
        if path.tolerance is None:
            raise Undecided("the accuracy of the evolution is not known")
        change = float(np.abs(path.cosine[:, 0] - 1).max())
        found.append(compare(change, 0.0, MASS, f"change of the mass from {name}"))
        found.append(compare(path.mass_error, 0.0, MASS, f"error of the mass as reported, from {name}"))
        bound = path.tolerance * float(_numbers_of(path).sum())
        known = path.minimum[~np.isnan(path.minimum)]
        if not known.size or bound > MEANINGFUL:
            continue
        # The density over uniform is the sum of N_l p_l P_l, and errors of the p_l add up there.
        lowest = float(known.min()) * problem.domain.volume
        found.append(at_least(lowest, 0.0, bound, f"smallest value of the density over uniform, from {name}"))
    return worst(found)


def _long_evolutions(problem: Equation, tools: Tools) -> Iterator[tuple[str, Trajectory]]:
    for name, start in _starts(problem).items():
        yield name, tools.evolve(moving(problem), start, LONG / problem.noise, times=60, tolerance=PRECISE)


def _numbers_of(path: Trajectory) -> Floats:
    """Return N_l of the degrees that a trajectory resolved."""
    return numbers(path.problem.domain.dimension, int(path.modes.max()))


@claim(
    "sphere.trajectory-rotation",
    "rotation equivariance of trajectories",
    statement="If rho(t) solves the equation on S^2, so does rho(t) turned by any rotation.",
    assumptions="no confinement; S^2, potentials of few degrees",
    source="W depends on the distance of two points only",
    hypotheses=without_axis_too,
)
def trajectory_rotation(problem: Equation, tools: Tools) -> Evidence:
    """Compare the evolutions of a density and of the rotated one at rotated points."""
    end, turn = SHORT / problem.noise, _rotation(*TURN)
    plain, turned = (
        tools.evolve(moving(problem), without_axis(matrix), end, times=4, tolerance=RESIDUAL)
        for matrix in (None, turn)
    )
    generator = np.random.default_rng(np.random.SeedSequence(11))
    points = generator.normal(size=(40, 3))
    apart = np.abs(_density(plain, points) - _density(turned, points @ turn.T)).max()
    text = f"largest difference of densities over uniform at time {end:g}, one turned by a rotation"
    return compare(float(apart), 0.0, EQUIVARIANCE, text)


def _rotation(polar: float, azimuth: float) -> Floats:
    c, s, a, b = np.cos(polar), np.sin(polar), np.cos(azimuth), np.sin(azimuth)
    tilt = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    spin = np.array([[a, -b, 0.0], [b, a, 0.0], [0.0, 0.0, 1.0]])
    return np.asarray(spin @ tilt)


def _density(path: Trajectory, points: Floats) -> Floats:
    """Return the density over uniform at the last time, at the directions of points."""
    if path.moments.has_axis:
        raise Undecided("the density without an axis was evolved as if it had one")
    polar = np.arccos(points[:, 2] / np.linalg.norm(points, axis=1))
    azimuth = np.arctan2(points[:, 1], points[:, 0])
    cosine, sine = path.cosine[-1], path.sine[-1]
    degrees = np.repeat(np.arange(int(path.modes.max()) + 1), np.arange(1, int(path.modes.max()) + 2))
    counts = 2.0 * degrees + 1.0
    used = counts.size
    return point_values(counts * cosine[:used], counts * sine[:used], polar, azimuth)
