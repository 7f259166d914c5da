r"""Drifts of interacting particles: from truncated moments in O(N K), or from all pairs in O(N^2).

.. math::

    b(x) = -\frac\kappa N\sum_j W'(x - X_j) - V'(x)
         = \mathrm{Re} \sum_{k \ge 1} -i k\,(\kappa w_k c_k + v_k)\, e^{ikx},
    \qquad c_k = \frac1N \sum_j e^{-ikX_j} .

Neither the moments nor the drift needs a sine per particle. The circle is cut into M cells of width h; within a
cell, at distance :math:`hd`, :math:`|d| \le 1/2`, from its centre,

.. math:: e^{ikhd} = a_0 + i a_1 d + a_2 d^2 + i a_3 d^3 + \epsilon_k, \qquad
          |\epsilon_k| \lesssim \frac{1}{192}\Bigl(\frac{\pi k}{M}\Bigr)^4,

the truncated Chebyshev series of the exponential (Jacobi-Anger). So the sums over the particles of each cell of
:math:`1, d, d^2, d^3` give all moments by four Fourier transforms, and the drift is a cubic in every cell. The
two uses of the same approximation are adjoint, so that forces between two particles stay opposite and a particle
exerts none on itself. With Taylor in the place of Chebyshev series this is the nonuniform transform of C. Anderson
and M. D. Dahleh, SIAM J. Sci. Comput. 17 (1996) 913-919.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import jv

from meanfield import Equation, InvalidInput, Kuramoto, McKeanVlasov
from meanfield.arguments import checked, shown

from ..bases.transforms import FourierTransform

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

POWERS = 4
# An explicit step in a linear force of slope -s is unstable for step * s above this.
OVERSHOOTING = 2.0
SMALLEST_CELLS = 256
LARGEST_CELLS = 2**18
# The mode of highest degree is still sampled by this number of cells per period.
CELLS_PER_PERIOD = 8
SEARCHED_DEGREE = 2**14
LARGEST_DEGREE = 2**13
# Where modes are left out anyway, the cells need not be finer than a small part of that.
SHARE_OF_TRUNCATION = 0.01


@checked
@dataclass(frozen=True)
class MomentDrift:
    r"""The drift from truncated moments, O(N K).

    Parameters
    ----------
    tolerance
        Bound on the error of the drift relative to :math:`\sum_k k(|\kappa w_k| + |v_k|)`, which bounds the drift
        itself, and on the error of recorded moments.
    largest_degree
        Largest degree K. Potentials with a kink or a singularity need more modes than any K; the particles
        then interact by a potential smoothed over distances of :math:`2\pi/K`, as the record says. On spheres at
        most 64.

    Raises
    ------
    InvalidInput
        If the tolerance is not in [1e-14, 0.1] or the degree not in [1, 8192].
    """

    tolerance: float = 1e-9
    largest_degree: int = 1024

    def __post_init__(self) -> None:
        if not 1e-14 <= self.tolerance <= 0.1:
            raise InvalidInput(
                f"the tolerance of the drift must be from 1e-14 to 0.1, not {self.tolerance!r}; "
                "try MomentDrift(tolerance=1e-9)"
            )
        if not 1 <= self.largest_degree <= LARGEST_DEGREE:
            raise InvalidInput(
                f"largest_degree must be from 1 to {LARGEST_DEGREE}, not {shown(self.largest_degree)}; "
                "try MomentDrift(largest_degree=1024)"
            )


@checked
@dataclass(frozen=True)
class PairDrift:
    """The drift as the sum over all pairs with the potential's own slope, O(N^2): exact and slow."""


@dataclass(frozen=True, eq=False)
class DriftDegrees:
    r"""The degrees of a drift, and the errors of its truncation.

    Attributes
    ----------
    interaction, confinement : (L + 1,) float
        :math:`\kappa w_l` and :math:`v_l`; entry 0 is 0. On the circle the :math:`v_l` may be complex, those of
        cosines less i times those of sines.
    scale
        :math:`\sum_l \sqrt{P_l'(1)}(|\kappa w_l| + |v_l|)` over all degrees considered: a bound of the drift.
    truncation_error
        Bound of the drift of the degrees left out, relative to ``scale``; None if their sum does not converge.
    random_share
        Root mean square of the degrees left out relative to that of all, in the drift between independent
        particles; None if the sum does not converge.
    stiffness
        :math:`\sum_l P_l'(1)(|\kappa w_l| + |v_l|)` over the degrees kept: a bound of the slope of the drift.
    complete
        Whether the degrees left out are within the tolerance.
    """

    interaction: Floats
    confinement: Any
    scale: float
    truncation_error: float | None
    random_share: float | None
    stiffness: float
    complete: bool

    @property
    def degree(self) -> int:
        """Largest degree L kept."""
        return self.interaction.size - 1


@dataclass(frozen=True, eq=False)
class Truncation(DriftDegrees):
    """The degrees of a drift on the circle, and the cells that evaluate it.

    Attributes
    ----------
    cells
        Number of cells M.
    evaluation_error
        Bound of the error made by the cubics, relative to ``scale``.
    """

    cells: int
    evaluation_error: float


def truncation(problem: Equation, drift: MomentDrift, degrees: int = 0) -> Truncation:
    """Return the modes and cells of the drift of a problem.

    Parameters
    ----------
    problem
        With a coupling.
    drift
        Tolerance and largest degree.
    degrees
        Moments up to this degree are to be within the tolerance as well.

    Raises
    ------
    InvalidInput
        If the coupling is free or the moments asked for need too many cells.
    """
    interaction, confinement, beyond = force_coefficients(problem, drift.tolerance, SEARCHED_DEGREE)
    modes = np.arange(interaction.size)
    weights = modes * (np.abs(interaction) + np.abs(confinement))
    scale = float(weights.sum())
    tails = np.append(np.cumsum(weights[::-1])[::-1][1:], 0.0) + beyond
    enough = np.flatnonzero(tails <= 0.5 * drift.tolerance * scale)
    degree = min(int(enough[0]) if enough.size else drift.largest_degree, drift.largest_degree)
    complete = enough.size > 0 and degree == enough[0]
    share = _random_share(problem, interaction, degree, beyond)
    allowed = drift.tolerance if complete else max(drift.tolerance, SHARE_OF_TRUNCATION * (share or 1.0))
    cells = _cells(weights[: degree + 1], scale, 0.5 * allowed, drift.tolerance, degrees)
    kept = slice(0, degree + 1)
    relative = float(tails[degree]) / scale if scale > 0.0 else 0.0
    return Truncation(
        interaction=interaction[kept],
        confinement=confinement[kept],
        cells=cells,
        scale=scale,
        truncation_error=relative if beyond <= 0.01 * scale else None,
        evaluation_error=_evaluation_error(weights[kept], scale, cells),
        random_share=share,
        stiffness=float((modes * weights)[kept].sum()),
        complete=bool(complete),
    )


def confined_alone(problem: Equation, drift: MomentDrift | PairDrift | None) -> Equation:
    """Return the equation of the confinement alone, whose modes a velocity evaluated at the particles needs.

    Raises
    ------
    InvalidInput
        If the coupling is free, or a way of summing the drift is given, of which such a velocity has none.
    """
    if drift is not None:
        raise InvalidInput(
            f"the velocity {problem.velocity.formula} is evaluated at the particles and no sum over pairs or "
            "modes; leave the drift out"
        )
    coupling = problem.fixed_coupling
    return McKeanVlasov(problem.domain, Kuramoto(), problem.noise, 0.0 * coupling, problem.confinement)


def steepness(dimension: int, degree: int) -> Floats:
    """Return P_l'(1) = l (l + d - 2)/(d - 1) for l = 0..degree, l^2 on the circle."""
    degrees = np.arange(degree + 1.0)
    return degrees * (degrees + dimension - 2) / (dimension - 1)


def force_coefficients(problem: Equation, tolerance: float, last: int) -> tuple[Floats, Any, float]:
    """Return kappa w_l and v_l up to a degree, at most about ``last``, and an estimate of the sum of those beyond.

    The v_l of a confinement with sines are complex, those of cosines less i times those of sines; one of a sphere
    that has no axis is taken by its gradient at the particles, and leaves zeros here.

    The estimate L sqrt(P_L'(1)) sup |w_l| over l > L is a bound of sum sqrt(P_l'(1)) |w_l| for multipliers that
    decay like 1/l^3 or faster, and does not shrink for those whose sum diverges.
    """
    pairs = [(problem.potential, problem.fixed_coupling)]
    if problem.confinement is not None and problem.zonal:
        pairs.append((problem.confinement, 1.0))
    degree = 32
    while True:
        rows: list[Any] = []
        beyond = 0.0
        slopes = np.sqrt(steepness(problem.domain.dimension, degree))
        for potential, factor in pairs:
            strength = float(factor * potential.scale(problem.domain))
            row: Any = strength * potential.relative_multipliers(problem.domain, degree)
            if not potential.even:
                row = row - 1j * np.asarray(factor * potential.sine_multipliers(problem.domain, degree), float)
            rows.append(row)
            tail = potential.relative_tail_bound(problem.domain, degree)
            beyond += abs(strength) * degree * float(slopes[-1]) * tail
        scale = sum(float((slopes * np.abs(row)).sum()) for row in rows)
        if beyond <= 0.1 * tolerance * scale or degree >= last:
            return rows[0], rows[1] if len(rows) > 1 else np.zeros(degree + 1), beyond
        degree *= 2


def cell_errors(degrees: NDArray[np.integer], cells: int) -> Floats:
    """Return bounds of |epsilon_k|: the tail 2(J_4 + J_5 + ...) of the Chebyshev series of the exponential."""
    half = np.pi * np.asarray(degrees, dtype=float) / cells
    # Each further term is smaller by at least half/10.
    return np.asarray(2.0 * (half / 2.0) ** POWERS / math.factorial(POWERS) / (1.0 - np.minimum(half, 5.0) / 10.0))


def cubic_factors(degree: int, cells: int) -> Floats:
    """Return a_0, ..., a_3 for k = 0..degree, shape (4, degree + 1)."""
    half = np.pi * np.arange(degree + 1) / cells
    zeroth, first, second, third = (jv(order, half) for order in range(POWERS))
    return np.array([zeroth + 2 * second, 4 * first + 12 * third, -16 * second, -64 * third])


class MomentForce:
    """The maps from cell sums to moments and from moments to the cubics of the drift; one object a thread.

    Attributes
    ----------
    sums, table : (4, M) float
        Sums over the particles of each cell of 1, d, d^2, d^3, and the coefficients of the drift's cubics, as
        displacement per step in cells.
    """

    def __init__(self, modes: Truncation, degrees: int) -> None:
        self.modes = modes
        self.cells = modes.cells
        self._analysis, self._synthesis = (FourierTransform(self.cells, POWERS) for _ in range(2))
        self._smoothed: FourierTransform | None = None
        self.sums: Floats = self._analysis.values
        self.table: Floats = self._synthesis.values
        kept, size = modes.degree + 1, max(modes.degree, degrees) + 1
        phases = np.array([1.0, 1.0j, 1.0, 1.0j])[:, np.newaxis]
        factors = np.asarray(phases * cubic_factors(size - 1, self.cells))
        self._analysing = factors.conj()
        self._parts: Complexes = np.zeros((POWERS, size), dtype=complex)
        # Displacements are counted in cells; half of each coefficient belongs to -k.
        derivative = np.arange(kept) * complex(0.0, -0.25 * self.cells / np.pi)
        self._synthesising: Complexes = factors[:, :kept] * derivative

    def moments(self, particles: int) -> Complexes:
        """Return c_0, c_1, ... of the particles summed into ``sums``."""
        self._analysis.analyse()
        np.multiply(self._analysing, self._analysis.coefficients[:, : self._parts.shape[1]], out=self._parts)
        return np.asarray(self._parts.sum(axis=0) / particles)

    def prepare(self, moments: Complexes, step: float) -> None:
        """Fill ``table`` with the displacements of a step in the field of the given moments."""
        transform, kept = self._synthesis, self.modes.degree + 1
        strength = (self.modes.interaction * moments[:kept] + self.modes.confinement) * step
        # The transform leaves nothing of its input as it was.
        transform.coefficients[:, kept:] = 0.0
        np.multiply(self._synthesising, strength, out=transform.coefficients[:, :kept])
        transform.synthesise()

    def contraction(self, moments: Complexes, step: float, noise: float) -> float:
        r"""Return step times the largest slope -b' at the cell centres: above 2 an explicit step overshoots.

        Where it does, the slope of :math:`E\,b(x + \sqrt{2Dh}\,\xi)` counts instead: spikes narrower than the noise
        of a step, as kinks of the potential have them, displace a particle by less than that noise.
        """
        bare = float(-self.table[1].min())
        if bare <= OVERSHOOTING:
            return bare
        kept = self.modes.degree + 1
        degrees = np.arange(kept)
        strength = self.modes.interaction * moments[:kept] + self.modes.confinement
        transform = self._smoothed = self._smoothed or FourierTransform(self.cells)
        transform.coefficients[:] = 0.0
        transform.coefficients[:kept] = 0.5 * step * degrees**2 * np.exp(-noise * step * degrees**2) * strength
        transform.synthesise()
        return float(-transform.values.min())


def _random_share(problem: Equation, interaction: Floats, degree: int, beyond: float) -> float | None:
    slopes = np.abs(np.arange(interaction.size) * interaction)
    largest = float(slopes.max())
    if largest == 0.0:
        return 0.0
    # Their ratios alone matter, and squares of large ones would overflow.
    squares = (slopes / largest) ** 2
    total = float(squares.sum())
    # The largest degrees searched tell whether the squares still add up to something: k w_k that does not decay.
    last = float(squares[squares.size // 2 :].sum())
    if beyond > 0.0 and last > 0.1 * total:
        return None
    return math.sqrt(float(squares[degree + 1 :].sum()) / total)


def _evaluation_error(weights: Floats, scale: float, cells: int) -> float:
    if scale == 0.0:
        return 0.0
    errors = cell_errors(np.arange(weights.size), cells)
    return float((weights * errors * (2.0 + errors)).sum()) / scale


def _cells(weights: Floats, scale: float, allowed: float, tolerance: float, degrees: int) -> int:
    cells = SMALLEST_CELLS
    while True:
        sampled = cells >= CELLS_PER_PERIOD * max(weights.size - 1, degrees)
        recorded = degrees == 0 or cell_errors(np.array([degrees]), cells)[0] <= tolerance
        if sampled and recorded and _evaluation_error(weights, scale, cells) <= allowed:
            return cells
        if cells >= LARGEST_CELLS:
            if sampled and recorded:
                return cells
            raise InvalidInput(
                f"moments up to degree {degrees} to {tolerance:g} need more than {LARGEST_CELLS} cells; "
                "ask for fewer degrees or a larger tolerance of the drift"
            )
        cells *= 2
