r"""Free energy, dissipation and extreme values of many densities along a path, computed together.

The formulas are those of :mod:`meanfield.energy`. Per unit of noise,

.. math::

    g = \frac{F - F_0}{D}, \qquad
    -\dot g = \frac1D\int\rho\,\bigl|\partial_\theta(D\log\rho + \kappa W*\rho + V)\bigr|^2 ,

both by the trapezoid rule on grids doubled until two agree, path by path. Where the density is smaller than its own
error, log rho is not known: the free energy is not affected, but the dissipation of two clusters that exchange mass
over a gap comes from that gap. It is nan where more than a share of it does.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.special import xlog1py

from .entropy import excess_beyond_square
from .equations import Interaction, McKeanVlasov
from .harmonics import growing

Vector = npt.NDArray[np.float64]
Complexes = npt.NDArray[np.complex128]
Indices = npt.NDArray[np.intp]
Grid = TypeVar("Grid")

EPS = float(np.finfo(float).eps)
LARGEST_GRID = 2**17
# Densities nearer to uniform than this have their quadratic part summed exactly.
NEAR = 0.02
# Negative values beyond this share of the largest value are no rounding.
NEGATIVE = 1e-10
# Share of the dissipation that may come from where the density is below its error.
DOUBTFUL = 0.1
SETTLED = 64.0 * EPS
# In high dimensions values far from the peak are lost in the errors of the terms they are summed from; where these
# are beyond this share of the uniform density a smallest value is not known.
LOST = 1e-6
# Free energies with a larger relative error are not given.
USELESS = 1e-3
# Numbers of values treated at a time, to stay within the caches.
BLOCK = 2**17


class Descent(NamedTuple):
    """Along a path of T densities: (F - F_uniform)/D, minus its time derivative, and the smallest density."""

    gap: Vector
    dissipation: Vector
    minimum: Vector
    maximum: Vector


def descent(problem: McKeanVlasov, cosine: Vector, sine: Vector, accuracy: float = 0.0) -> Descent:
    """Return free energy, dissipation and extreme values of densities.

    Parameters
    ----------
    problem
        With a coupling.
    cosine, sine : (T, n + 1) float
        Moments of densities of mass one.
    accuracy
        Error of the density relative to uniform, beyond rounding.

    Returns
    -------
    Descent
        Four arrays (T,). ``gap`` and ``dissipation`` are nan where the density is negative beyond 1e-10 of its
        largest value or an integral does not settle, ``dissipation`` also where it is not known.
    """
    degree = cosine.shape[1] - 1
    rows = max(1, BLOCK // (1 << (2 * degree + 16).bit_length()))
    parts = [
        _block(problem, cosine[start : start + rows], sine[start : start + rows], accuracy)
        for start in range(0, cosine.shape[0], rows)
    ]
    return Descent(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _block(problem: McKeanVlasov, cosine: Vector, sine: Vector, accuracy: float) -> Descent:
    moments = cosine - 1j * sine
    sizes = np.abs(moments[:, 1:]).sum(axis=1)
    floor = 8.0 * EPS * (1.0 + 2.0 * sizes)
    strengths, force = _strengths(problem, cosine.shape[1] - 1)
    points = 1 << (2 * cosine.shape[1] + 14).bit_length()

    def means(points: int, chosen: Indices) -> Means:
        return _on_grid(problem, moments[chosen], strengths, force, floor[chosen], accuracy, points)

    grids = growing(points, max(points, LARGEST_GRID))
    gap, dissipation, minimum, maximum = settled_means(means, grids, cosine.shape[0])
    near = 2.0 * sizes < NEAR
    squares = np.abs(moments[:, 1:]) ** 2
    gap += np.where(near, squares @ (1.0 - strengths[1:]), -(squares @ strengths[1:]))
    gap += cosine[:, 1:] @ force[1:]
    scale = 1.0 / (2.0 * np.pi)
    return Descent(gap, dissipation, scale * minimum, scale * maximum)


class Means(NamedTuple):
    """Means over one grid and their rounding, and the extreme values of the density there."""

    entropy: Vector
    entropy_error: Vector
    dissipation: Vector
    dissipation_error: Vector
    minimum: Vector
    maximum: Vector


def settled_means(
    means: Callable[[Grid, Indices], Means], grids: Iterable[Grid], count: int
) -> tuple[Vector, Vector, Vector, Vector]:
    """Return entropy, dissipation, smallest and largest value of densities, refined until two grids agree on each.

    Parameters
    ----------
    means
        Those of some of the densities on a grid.
    grids
        Ever finer ones, at least one.
    count
        Of the densities.
    """
    grids, chosen = iter(grids), np.arange(count)
    first = settled = means(next(grids), chosen)
    entropy, dissipation = first.entropy.copy(), first.dissipation.copy()
    for grid in grids:
        fine = means(grid, chosen)
        entropy[chosen], dissipation[chosen] = fine.entropy, fine.dissipation
        open_ = _unsettled(settled, fine)
        chosen, settled = chosen[open_], Means(*(column[open_] for column in fine))
        if not chosen.size:
            break
    entropy[chosen] = dissipation[chosen] = np.nan
    negative = np.nan_to_num(first.minimum) < -NEGATIVE * first.maximum
    entropy[negative] = dissipation[negative] = np.nan
    return entropy, dissipation, first.minimum, first.maximum


def _unsettled(coarse: Means, fine: Means) -> npt.NDArray[np.bool_]:
    entropy = np.abs(coarse.entropy - fine.entropy) > fine.entropy_error
    entropy |= fine.entropy_error > USELESS * np.abs(fine.entropy) + LOST
    # Diffusion and drift cancel at stationary states; what remains is the rounding of their sizes.
    lost = np.abs(coarse.dissipation - fine.dissipation) > fine.dissipation_error
    return np.asarray(entropy | lost)


def _on_grid(
    problem: McKeanVlasov,
    moments: Complexes,
    strengths: Vector,
    force: Vector,
    floor: Vector,
    accuracy: float,
    points: int,
) -> Means:
    degrees = np.arange(moments.shape[1])
    fluctuation = moments.copy()
    fluctuation[:, 0] = 0.0
    f = _values(fluctuation, points)
    density = 1.0 + f
    minimum, maximum = density.min(axis=1), density.max(axis=1)
    near = 2.0 * np.abs(fluctuation).sum(axis=1) < NEAR
    entropy, entropy_size = np.empty((2, moments.shape[0]))
    for rows, function in ((near, excess_beyond_square), (~near, excess_of_large)):
        if rows.any():
            values = function(np.maximum(f[rows], -1.0))
            entropy[rows], entropy_size[rows] = values.mean(axis=1), np.abs(values).mean(axis=1)
    slope = _values(1j * degrees * moments, points)
    drift = density * _values(1j * degrees * (0.5 * force - strengths * moments), points)
    least = np.maximum(floor, -4.0 * minimum)[:, None]
    weight = problem.noise / np.maximum(density, least)
    local = (slope + drift) ** 2 * weight
    dissipation = local.mean(axis=1)
    doubtful = np.where(density < np.maximum(least, accuracy), local, 0.0).mean(axis=1)
    size = ((np.abs(slope) + np.abs(drift)) ** 2 * weight).mean(axis=1)
    # What is at the level of rounding is as good as zero, and known to be.
    known = (doubtful <= DOUBTFUL * dissipation) | (dissipation <= 1e-13 * size)
    dissipation = np.where(known, dissipation, np.nan)
    return Means(entropy, SETTLED * entropy_size, dissipation, SETTLED * size, minimum, maximum)


def excess_of_large(f: Vector) -> Vector:
    """Return (1+f) log(1+f) - f, to the rounding of f, enough for a mean over a density away from uniform."""
    return np.asarray(xlog1py(1.0 + f, f) - f)


def _values(coefficients: Complexes, points: int) -> Vector:
    """Return c_0 + 2 Re sum_k c_k e^{ikt} on equispaced angles from 0, row by row."""
    import scipy.fft

    padded = np.zeros((coefficients.shape[0], points // 2 + 1), dtype=complex)
    padded[:, : coefficients.shape[1]] = coefficients
    return np.asarray(scipy.fft.irfft(padded, points, axis=1, norm="forward", overwrite_x=True))


def _strengths(problem: McKeanVlasov, degree: int) -> tuple[Vector, Vector]:
    """Return lambda_k and v_k/D, k = 0..degree."""
    interaction = Interaction(problem)
    return interaction.strengths(degree), -interaction.forces(degree)
