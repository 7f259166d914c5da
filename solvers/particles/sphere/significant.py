r"""The degrees of the potential that are significant to particles on a sphere, and errors of truncation.

.. math::

    b(x) = -\nabla\sum_{l\ge1}\Bigl(\frac{\kappa w_l}N\sum_j P_l(\langle x, X_j\rangle)
    + v_l P_l(\langle x, e\rangle)\Bigr), \qquad
    |\nabla P_l| \le \sqrt{P_l'(1)}, \quad P_l'(1) = \frac{l(l+d-2)}{d-1} ;

the second derivatives of :math:`P_l` along great circles are at most :math:`P_l'(1)`. Both bounds follow from
the addition theorem by the inequality of Cauchy and Schwarz, and are those of the circle for d = 2.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation
from meanfield.equations import Interaction

from ..drift import DriftDegrees, MomentDrift, force_coefficients, steepness

Floats = NDArray[np.float64]

SEARCHED_DEGREE = 2**12
# A confinement taken at the particles is bounded by these degrees of it; kinks beyond do not make motion stiff.
BOUNDING_DEGREE = 64


@dataclass(frozen=True, eq=False)
class SphereDegrees(DriftDegrees):
    """The degrees of a drift on a sphere, and how the confinement acts.

    Attributes
    ----------
    placed
        Whether the confinement acts by its gradient at the particles, so that ``confinement`` is zero: without an
        axis, and with one where its degrees decay too slowly.
    confining_slope, confining_steepness
        Bounds of the first and second derivatives of the confinement.
    """

    placed: bool
    confining_slope: float
    confining_steepness: float


def significant_degrees(problem: Equation, drift: MomentDrift, largest: int) -> SphereDegrees:
    """Return the significant degrees of the drift of a problem on a sphere, at most ``largest``.

    Raises
    ------
    InvalidInput
        If the coupling is free.
    """
    largest = min(largest, drift.largest_degree)
    if problem.confinement is not None and problem.zonal:
        found = _of_degrees(problem, drift, largest, False, 2 * largest)
        if found.complete:
            return found
    return _of_degrees(problem, drift, largest, problem.confinement is not None, SEARCHED_DEGREE)


def _of_degrees(problem: Equation, drift: MomentDrift, largest: int, placed: bool, searched: int) -> SphereDegrees:
    """Return the significant degrees with the confinement by its degrees, or by its gradient at the particles."""
    by_degrees = problem.replace(confinement=None) if placed else problem
    interaction, confinement, beyond = force_coefficients(by_degrees, drift.tolerance, searched)
    slopes = steepness(problem.domain.dimension, interaction.size - 1)
    weights = np.sqrt(slopes) * (np.abs(interaction) + np.abs(confinement))
    scale = float(weights.sum())
    tails = np.append(np.cumsum(weights[::-1])[::-1][1:], 0.0) + beyond
    enough = np.flatnonzero(tails <= 0.5 * drift.tolerance * scale)
    limit = min(largest, tails.size - 1)
    # Without any force there is still a degree, of strength 0.
    degree = max(1, min(int(enough[0]) if enough.size else limit, limit))
    kept = slice(0, degree + 1)
    lengths = Interaction(problem, 1.0).force_lengths(BOUNDING_DEGREE) if placed else np.abs(confinement[kept])
    steep = steepness(problem.domain.dimension, lengths.size - 1)
    slope, curvature = float(np.sqrt(steep) @ lengths), float(steep @ lengths)
    stiffness = float((slopes * (np.abs(interaction) + np.abs(confinement)))[kept].sum())
    return SphereDegrees(
        interaction=interaction[kept],
        confinement=confinement[kept],
        scale=scale + (slope if placed else 0.0),
        truncation_error=_relative(float(tails[degree]), scale) if beyond <= 0.01 * scale else None,
        random_share=_random_share(by_degrees, interaction, degree, beyond),
        stiffness=stiffness + (curvature if placed else 0.0),
        complete=bool(enough.size and degree >= enough[0]),
        placed=placed,
        confining_slope=slope,
        confining_steepness=curvature,
    )


def _random_share(problem: Equation, interaction: Floats, last: int, beyond: float) -> float | None:
    """Return the share of truncated degrees by mean squares (kappa w_l)^2 l (l + d - 2)/N_l, None if unknown."""
    dimension = problem.domain.dimension
    degrees = np.arange(interaction.size)
    logarithms = np.array([math.log(problem.domain.multiplicity(degree)) for degree in degrees.tolist()])
    # Ratios alone matter, and squares of large ones would overflow; powers of two round nothing.
    interaction = np.ldexp(interaction, -int(np.frexp(np.abs(interaction).max())[1]))
    squares = interaction**2 * degrees * (degrees + dimension - 2) * np.exp(-logarithms)
    total = float(squares.sum())
    if total == 0.0:
        return 0.0
    late = float(squares[squares.size // 2 :].sum())
    if beyond > 0.0 and late > 0.1 * total:
        return None
    return math.sqrt(float(squares[last + 1 :].sum()) / total)


def _relative(value: float, scale: float) -> float:
    return value / scale if scale > 0.0 else 0.0
