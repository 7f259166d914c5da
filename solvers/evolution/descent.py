r"""Free energy, dissipation and extreme values along a path of densities.

With 1 + f the density over the uniform one, g its field and :math:`\langle\cdot\rangle` the uniform mean, per unit
of noise

.. math::

    \frac{F - F_0}{D} = \langle (1+f)\log(1+f)\rangle - \tfrac12\sum_{l\ge1} N_l\lambda_l |m_l|^2
                        + \sum_l \tfrac{v_l}{D} p_l, \qquad
    -\frac{\dot F}{D} = D\,\Bigl\langle \frac{|\nabla f - (1+f)\nabla g|^2}{1+f}\Bigr\rangle ,

as in :mod:`meanfield.energy`, with N_l = 2 on the circle. Grids are refined until two agree, path by path. Near
uniform the quadratic part :math:`\frac12\sum N_l|m_l|^2` of the entropy is summed exactly. Where the density is
smaller than its own error its logarithm is not known: the free energy does not notice, but the dissipation of two
clusters that exchange mass over a gap lives in that gap. It is nan where more than a share of it comes from there.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py

from meanfield import Domain, Equation
from meanfield.entropy import excess_beyond_square
from meanfield.equations import Interaction
from meanfield.harmonics import Modes

from ..bases import EPS, Floats
from .multiplicities import multiplicities
from .multistep import ABSOLUTE_SHARE

Indices = NDArray[np.intp]

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
    """Along a path of T densities: (F - F_uniform)/D, minus its time derivative, smallest and largest density.

    The first two are nan where the density is negative beyond 1e-10 of its largest value or an integral does not
    settle, the second also where it is not known.
    """

    gap: Floats
    dissipation: Floats
    minimum: Floats
    maximum: Floats


class Grid(Protocol):
    """Protocol of grids on which moments are summed."""

    weights: Floats

    def error(self, cosine: Floats, accuracy: float) -> Floats | float:
        """Return the error of the values of densities by an accuracy of the moments, beyond rounding."""

    def values(self, cosine: Floats, sine: Floats) -> Floats:
        """Return sums of harmonics with coefficients (T, size) on the nodes, (T, points)."""

    def gradient(self, cosine: Floats, sine: Floats) -> list[Floats]:
        """Return the components of the gradients of the sums."""

    def rounding(self, cosine: Floats, sine: Floats) -> Floats:
        """Return bounds on sums of moduli of the terms, (T, points) or (T, 1)."""


class Means(NamedTuple):
    """Means over one grid and their rounding, and the extreme values of the density there."""

    entropy: Floats
    entropy_error: Floats
    dissipation: Floats
    dissipation_error: Floats
    minimum: Floats
    maximum: Floats


def settled_means(
    means: Callable[[Grid, Indices], Means], grids: Iterable[Grid], count: int
) -> tuple[Floats, Floats, Floats, Floats]:
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


def _unsettled(coarse: Means, fine: Means) -> NDArray[np.bool_]:
    entropy = np.abs(coarse.entropy - fine.entropy) > fine.entropy_error
    entropy |= fine.entropy_error > USELESS * np.abs(fine.entropy) + LOST
    # Diffusion and drift cancel at stationary states; what remains is the rounding of their sizes.
    lost = np.abs(coarse.dissipation - fine.dissipation) > fine.dissipation_error
    return np.asarray(entropy | lost)


Grids = Callable[[int], Iterator[Grid]]


class Path(NamedTuple):
    """Densities as coefficients of f and of the field, (T, size) each, by degree or by degree and order."""

    cosine: Floats
    sine: Floats
    field_cosine: Floats
    field_sine: Floats

    def rows(self, chosen: "slice | np.ndarray") -> "Path":
        """Return the chosen densities."""
        return Path(*(part[chosen] for part in self))


def descent(
    problem: Equation, modes: Modes, grids: Grids, cosine: Floats, sine: Floats, accuracy: float = 0.0
) -> Descent:
    """Return free energy, dissipation and extreme values of densities.

    Parameters
    ----------
    problem
        With a coupling.
    modes, grids
        The modes of the moments, and ever finer grids for functions of a degree.
    cosine, sine : (T, size) float
        Moments of densities of mass one.
    accuracy
        Error of the density relative to uniform, beyond rounding.
    """
    degree, degrees = modes.degree(cosine.shape[1]), modes.degrees(cosine.shape[1])
    counts, interaction = multiplicities(problem.domain, degree), Interaction(problem)
    attraction = interaction.attractions(degree)
    forced, force, sine_force = interaction.placed_forces(modes, degree)
    squares = cosine**2 + sine**2
    counted = np.where(degrees > 0, counts[degrees], 0.0)
    near = np.sqrt(squares) @ counted < NEAR
    path = Path(counted * cosine, counted * sine, attraction[degrees] * cosine, attraction[degrees] * sine)
    path.field_cosine[:, forced] += force
    path.field_sine[:, forced] += sine_force
    parts = [_block(problem, path.rows(rows), near[rows], grids(degree), accuracy) for rows in blocks(path)]
    gap, dissipation, minimum, maximum = (np.concatenate(part) for part in zip(*parts, strict=True))
    gap += 0.5 * (np.where(near, squares @ counted, 0.0) - squares @ attraction[degrees])
    gap -= cosine[:, forced] @ force + sine[:, forced] @ sine_force
    minimum, maximum = (per_unit(problem.domain, values) for values in (minimum, maximum))
    return Descent(gap, dissipation, minimum, maximum)


def per_unit(domain: Domain, relative: Floats) -> Floats:
    """Return densities per unit of length or surface from those over uniform; nan where they are no number.

    The surface of a sphere of hundreds of dimensions is below the range of doubles.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        densities = relative / domain.volume
    return np.where(np.isfinite(densities), densities, np.nan)


def blocks(path: Path) -> Iterator[slice]:
    """Yield the rows of the densities that are treated at a time."""
    count, size = path.cosine.shape
    rows = max(1, BLOCK // (4 * size))
    return (slice(start, start + rows) for start in range(0, count, rows))


def _block(
    problem: Equation, path: Path, near: np.ndarray, grids: Iterator[Grid], accuracy: float
) -> tuple[Floats, Floats, Floats, Floats]:
    def means(grid: Grid, chosen: np.ndarray) -> Means:
        return _means(problem, grid, path.rows(chosen), near[chosen], accuracy)

    return settled_means(means, grids, near.size)


def _means(problem: Equation, grid: Grid, path: Path, near: np.ndarray, accuracy: float) -> Means:
    f = grid.values(path.cosine, path.sine)
    density = 1.0 + f
    floor = 8.0 * EPS * (1.0 + grid.rounding(path.cosine, path.sine)) + np.zeros_like(f)
    floor += grid.error(path.cosine, ABSOLUTE_SHARE * accuracy)
    entropy, size = np.empty((2, near.size))
    for rows, function in ((near, excess_beyond_square), (~near, excess_of_large)):
        if rows.any():
            values = function(np.maximum(f[rows], -1.0))
            entropy[rows], size[rows] = values @ grid.weights, np.abs(values) @ grid.weights
    # The derivative of the entropy times the rounding of the values.
    rounding = np.where(near, 0.0, (floor * np.abs(np.log(np.maximum(density, floor)))) @ grid.weights)
    lowest = np.argmin(density, axis=1)
    minimum, maximum = density.min(axis=1), density.max(axis=1)
    below = np.take_along_axis(floor, lowest[:, None], axis=1)[:, 0]
    minimum[(np.abs(minimum) < 4.0 * below) & (below > LOST)] = np.nan
    least = np.maximum(floor, -4.0 * np.nan_to_num(minimum)[:, None])
    weight = problem.noise / np.maximum(density, least)
    local, sizes = np.zeros((2, *f.shape))
    fields = grid.gradient(path.field_cosine, path.field_sine)
    for slope, field in zip(grid.gradient(path.cosine, path.sine), fields, strict=True):
        drift = density * field
        local += (slope - drift) ** 2
        sizes += (np.abs(slope) + np.abs(drift)) ** 2
    local *= weight
    dissipation, whole = local @ grid.weights, (sizes * weight) @ grid.weights
    doubtful = np.where(density < np.maximum(least, accuracy), local, 0.0) @ grid.weights
    # What is at the level of rounding is as good as zero, and known to be.
    known = (doubtful <= DOUBTFUL * dissipation) | (dissipation <= 1e-13 * whole)
    dissipation = np.where(known, dissipation, np.nan)
    return Means(entropy, SETTLED * size + rounding, dissipation, SETTLED * whole, minimum, maximum)


def excess_of_large(f: Floats) -> Floats:
    """Return (1+f) log(1+f) - f, to the rounding of f: its mean over a density away from uniform is much larger."""
    return np.asarray(xlog1py(1.0 + f, f) - f)
