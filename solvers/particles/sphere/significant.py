r"""The degrees of the potential that are significant to particles on a sphere, and errors of truncation.

.. math::

    b(x) = -\nabla\sum_{l\ge1}\Bigl(\frac{\kappa w_l}N\sum_j P_l(\langle x, X_j\rangle)
    + v_l P_l(\langle x, e\rangle)\Bigr), \qquad
    |\nabla P_l| \le \sqrt{P_l'(1)}, \quad P_l'(1) = \frac{l(l+d-2)}{d-1} ;

the second derivatives of :math:`P_l` along great circles are at most :math:`P_l'(1)`. Both bounds follow from
the addition theorem by the inequality of Cauchy and Schwarz, and are those of the circle for d = 2.
"""

import math

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation
from meanfield.equations import Interaction

from ..drift import DriftDegrees, MomentDrift, force_coefficients, steepness

Floats = NDArray[np.float64]

SEARCHED_DEGREE = 2**12
# A confinement without an axis is bounded by these degrees of it; kinks beyond do not make motion stiff.
BOUNDING_DEGREE = 64


def significant_degrees(problem: Equation, drift: MomentDrift, largest: int) -> DriftDegrees:
    """Return the significant degrees of the drift of a problem on a sphere, at most ``largest``.

    Raises
    ------
    InvalidInput
        If the coupling is free.
    """
    interaction, confinement, beyond = force_coefficients(problem, drift.tolerance, SEARCHED_DEGREE)
    slopes = steepness(problem.domain.dimension, interaction.size - 1)
    weights = np.sqrt(slopes) * (np.abs(interaction) + np.abs(confinement))
    scale = float(weights.sum())
    tails = np.append(np.cumsum(weights[::-1])[::-1][1:], 0.0) + beyond
    enough = np.flatnonzero(tails <= 0.5 * drift.tolerance * scale)
    limit = min(largest, drift.largest_degree, tails.size - 1)
    steep, stiff = without_axis(problem)
    # Without any force there is still a degree, of strength 0.
    degree = max(1, min(int(enough[0]) if enough.size else limit, limit))
    kept = slice(0, degree + 1)
    return DriftDegrees(
        interaction=interaction[kept],
        confinement=confinement[kept],
        scale=scale + steep,
        truncation_error=_relative(float(tails[degree]), scale) if beyond <= 0.01 * scale else None,
        random_share=_random_share(problem, interaction, degree, beyond),
        stiffness=float((slopes * (np.abs(interaction) + np.abs(confinement)))[kept].sum()) + stiff,
        complete=bool(enough.size and degree >= enough[0]),
    )


def without_axis(problem: Equation) -> tuple[float, float]:
    """Return bounds of slope and second derivatives of a confinement without an axis, by its lower degrees."""
    if problem.zonal:
        return 0.0, 0.0
    lengths = Interaction(problem, 1.0).force_lengths(BOUNDING_DEGREE)
    slopes = steepness(problem.domain.dimension, BOUNDING_DEGREE)
    return float(np.sqrt(slopes) @ lengths), float(slopes @ lengths)


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
