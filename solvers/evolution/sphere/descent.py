r"""Free energy, dissipation and extreme values along a path of densities on a sphere.

With 1 + f the density over the uniform one, g its field and :math:`\langle\cdot\rangle` the uniform mean, per unit
of noise

.. math::

    \frac{F - F_0}{D} = \langle (1+f)\log(1+f)\rangle - \tfrac12\sum_{l\ge1} N_l\lambda_l |m_l|^2
                        + \sum_l \tfrac{v_l}{D} p_l, \qquad
    -\frac{\dot F}{D} = D\,\Bigl\langle \frac{|\nabla f - (1+f)\nabla g|^2}{1+f}\Bigr\rangle .

Gauss rules are refined until two agree. Near uniform the quadratic part :math:`\frac12\sum N_l|m_l|^2` of the
entropy is summed exactly. Where the density is smaller than its own error its logarithm is not known; the
dissipation is nan where more than a share of it comes from there.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np

from meanfield import McKeanVlasov, Sphere
from meanfield.descent import DOUBTFUL, LOST, NEAR, SETTLED, Descent, Means, excess_of_large, settled_means
from meanfield.entropy import excess_beyond_square
from meanfield.harmonics import Modes, growing, moduli
from meanfield.harmonics.quadrature import gauss_rule, polynomials

from ...bases import EPS, Floats
from ...bases.spherical import SphericalTransform
from ..multistep import ABSOLUTE_SHARE
from .rates import WEIGHTED, SphereRates, multiplicities

LARGEST_RULE = 4096
LARGEST_FULL = 768
# Values treated at a time, to stay within the caches.
BLOCK = 2**17


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


class ZonalGrid:
    """A Gauss rule for zonal functions of a degree."""

    def __init__(self, sphere: Sphere, degree: int, nodes: int) -> None:
        dimension = sphere.dimension
        rule = gauss_rule(dimension, nodes)
        self.weights = rule.weights
        self._values = polynomials(dimension, rule, degree)
        self._norms = np.sqrt(multiplicities(sphere, degree))
        self._dimension = dimension
        self._slopes = np.zeros_like(self._values)
        degrees = np.arange(1.0, degree + 1.0)[:, None]
        sine = np.sqrt(rule.complements * (2.0 - rule.complements))
        factors = degrees * (degrees + dimension - 2) / (dimension - 1)
        if degree:
            self._slopes[1:] = -factors * polynomials(dimension + 2, rule, degree - 1) * sine

    def error(self, cosine: Floats, accuracy: float) -> Floats | float:
        """Return the error of the values by errors of coefficients or of moments, as the integrator bounds them."""
        if self._dimension < WEIGHTED.start:
            return 0.0
        if self._dimension not in WEIGHTED:
            return np.asarray(accuracy * (self._norms**2 @ np.abs(self._values)))
        largest = np.abs(cosine / self._norms).max(axis=1)
        spread = np.sqrt(self._norms**2 @ self._values**2)
        return np.asarray(np.multiply.outer(accuracy * largest, spread))

    def values(self, cosine: Floats, sine: Floats) -> Floats:
        """Return sums of polynomials with coefficients (T, size) on the nodes, (T, points)."""
        return np.asarray(cosine @ self._values)

    def gradient(self, cosine: Floats, sine: Floats) -> list[Floats]:
        """Return the derivatives of the sums in the polar angle."""
        return [np.asarray(cosine @ self._slopes)]

    def rounding(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the sums of the moduli of the terms, (T, points)."""
        return np.asarray(np.abs(cosine) @ np.abs(self._values))


class FullGrid:
    """A product grid for functions on S^2 of a degree."""

    def __init__(self, degree: int, rings: int) -> None:
        self._transform = transform = SphericalTransform(degree, rings, 2 * rings)
        self.weights = np.repeat(transform.weights / (2 * rings), 2 * rings)

    def error(self, cosine: Floats, accuracy: float) -> Floats | float:
        """Return 0, since moments and coefficients have nearly the same errors."""
        return 0.0

    def values(self, cosine: Floats, sine: Floats) -> Floats:
        """Return sums of harmonics with coefficients (T, size) on the nodes, (T, points)."""
        pairs = zip(cosine, sine, strict=True)
        return np.array([self._transform.synthesise(*pair).ravel() for pair in pairs])

    def gradient(self, cosine: Floats, sine: Floats) -> list[Floats]:
        """Return the polar and azimuthal components of the gradients of the sums."""
        pairs = zip(cosine, sine, strict=True)
        parts = [self._transform.gradient(*pair) for pair in pairs]
        return [np.array([part[component].ravel() for part in parts]) for component in (0, 1)]

    def rounding(self, cosine: Floats, sine: Floats) -> Floats:
        """Return bounds on sums of moduli of the terms, since the squares of harmonics of a degree sum to one."""
        return np.asarray(moduli(cosine, sine).sum(axis=1, keepdims=True))


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
    problem: McKeanVlasov, modes: Modes, grids: Grids, cosine: Floats, sine: Floats, accuracy: float = 0.0
) -> Descent:
    """Return free energy, dissipation and extreme values of densities; as :func:`meanfield.descent.descent`.

    Parameters
    ----------
    problem
        On a sphere, with a coupling.
    modes, grids
        The modes of the moments, and ever finer grids for functions of a degree.
    cosine, sine : (T, size) float
        Moments of densities of mass one.
    accuracy
        Error of the density relative to uniform, beyond rounding.
    """
    degree, degrees = modes.degree(cosine.shape[1]), modes.degrees(cosine.shape[1])
    counts, attraction, force = _coefficients(problem, degree)
    squares = cosine**2 + sine**2
    counted = np.where(degrees > 0, counts[degrees], 0.0)
    near = np.sqrt(squares) @ counted < NEAR
    path = Path(counted * cosine, counted * sine, attraction[degrees] * cosine, attraction[degrees] * sine)
    zonal = modes.axial(degree)
    path.field_cosine[:, zonal] += force
    parts = [_block(problem, path.rows(rows), near[rows], grids(degree), accuracy) for rows in _blocks(path)]
    gap, dissipation, minimum, maximum = (np.concatenate(part) for part in zip(*parts, strict=True))
    gap += 0.5 * (np.where(near, squares @ counted, 0.0) - squares @ attraction[degrees])
    gap -= cosine[:, zonal] @ force
    with np.errstate(over="ignore"):
        # The surface of a sphere of hundreds of dimensions is tiny.
        minimum, maximum = minimum / problem.domain.volume, maximum / problem.domain.volume
    return Descent(gap, dissipation, minimum, maximum)


def _coefficients(problem: McKeanVlasov, degree: int) -> tuple[Floats, Floats, Floats]:
    """Return N_l, N_l lambda_l and -v_l/D, l = 0..degree, the latter two from a leading 0."""
    counts = multiplicities(problem.domain, degree)
    attraction, force = np.zeros((2, degree + 1))
    if degree:
        rates = SphereRates(problem, degree)
        attraction[1:], force[1:] = rates.attraction, rates.force
    return counts, attraction, force


def _blocks(path: Path) -> Iterator[slice]:
    count, size = path.cosine.shape
    rows = max(1, BLOCK // (4 * size))
    return (slice(start, start + rows) for start in range(0, count, rows))


def zonal_grids(sphere: Sphere, degree: int) -> Iterator[Grid]:
    """Yield ever finer Gauss rules, the first of which carries products of two densities."""
    return (ZonalGrid(sphere, degree, nodes) for nodes in growing(degree + 24, LARGEST_RULE))


def full_grids(degree: int) -> Iterator[Grid]:
    """Yield ever finer product grids, the first of which carries products of two densities."""
    return (FullGrid(degree, rings) for rings in growing(degree + 24, LARGEST_FULL, 1.5))


def _block(
    problem: McKeanVlasov, path: Path, near: np.ndarray, grids: Iterator[Grid], accuracy: float
) -> tuple[Floats, Floats, Floats, Floats]:
    def means(grid: Grid, chosen: np.ndarray) -> Means:
        return _means(problem, grid, path.rows(chosen), near[chosen], accuracy)

    return settled_means(means, grids, near.size)


def _means(problem: McKeanVlasov, grid: Grid, path: Path, near: np.ndarray, accuracy: float) -> Means:
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
