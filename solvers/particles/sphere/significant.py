r"""The degrees of the potential that are significant to particles on a sphere, and what is lost with the others.

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

from meanfield import McKeanVlasov

from ..drift import MomentDrift

Floats = NDArray[np.float64]

SEARCHED_DEGREE = 2**12


@dataclass(frozen=True, eq=False)
class SignificantDegrees:
    r"""The degrees a drift is made of, and what is lost by that.

    Attributes
    ----------
    interaction, confinement : (L + 1,) float
        :math:`\kappa w_l` and :math:`v_l`; entry 0 is 0.
    scale
        :math:`\sum_l \sqrt{P_l'(1)}(|\kappa w_l| + |v_l|)` over all degrees considered: a bound of the drift.
    truncation_error
        Bound of the drift of the degrees left out, relative to ``scale``; None where their sum does not converge.
    random_share
        Root mean square of the degrees left out relative to that of all, in the drift between independent
        particles; None where the sum does not converge.
    stiffness
        :math:`\sum_l P_l'(1)(|\kappa w_l| + |v_l|)` over the degrees kept: a bound of the slope of the drift.
    complete
        Whether the degrees left out are within the tolerance.
    """

    interaction: Floats
    confinement: Floats
    scale: float
    truncation_error: float | None
    random_share: float | None
    stiffness: float
    complete: bool

    @property
    def degree(self) -> int:
        """Largest degree L kept."""
        return self.interaction.size - 1


def significant_degrees(problem: McKeanVlasov, drift: MomentDrift, largest: int) -> SignificantDegrees:
    """Choose the degrees of a problem on a sphere, at most ``largest``.

    Raises
    ------
    InvalidInput
        If the coupling is free.
    """
    interaction, confinement, beyond = _strengths(problem, drift.tolerance)
    slopes = steepness(problem.domain.dimension, interaction.size - 1)
    weights = np.sqrt(slopes) * (np.abs(interaction) + np.abs(confinement))
    scale = float(weights.sum())
    tails = np.append(np.cumsum(weights[::-1])[::-1][1:], 0.0) + beyond
    enough = np.flatnonzero(tails <= 0.5 * drift.tolerance * scale)
    limit = min(largest, drift.largest_degree, tails.size - 1)
    # Without any force there is still a degree, of strength 0.
    degree = max(1, min(int(enough[0]) if enough.size else limit, limit))
    kept = slice(0, degree + 1)
    return SignificantDegrees(
        interaction=interaction[kept],
        confinement=confinement[kept],
        scale=scale,
        truncation_error=_relative(float(tails[degree]), scale) if beyond <= 0.01 * scale else None,
        random_share=_random_share(problem, interaction, degree, beyond),
        stiffness=float((slopes * (np.abs(interaction) + np.abs(confinement)))[kept].sum()),
        complete=bool(enough.size and degree >= enough[0]),
    )


def steepness(dimension: int, degree: int) -> Floats:
    """Return P_l'(1) = l (l + d - 2)/(d - 1) for l = 0..degree."""
    degrees = np.arange(degree + 1.0)
    return degrees * (degrees + dimension - 2) / (dimension - 1)


def _strengths(problem: McKeanVlasov, tolerance: float) -> tuple[Floats, Floats, float]:
    """Return kappa w_l and v_l up to a degree beyond which they sum to the last value, an estimate."""
    pairs = [(problem.potential, problem.fixed_coupling)]
    if problem.confinement is not None:
        pairs.append((problem.confinement, 1.0))
    degree = 32
    while True:
        rows, beyond = [], 0.0
        slopes = np.sqrt(steepness(problem.domain.dimension, degree))
        for potential, factor in pairs:
            strength = float(factor * potential.scale(problem.domain))
            rows.append(strength * potential.relative_multipliers(problem.domain, degree))
            tail = potential.relative_tail_bound(problem.domain, degree)
            beyond += abs(strength) * degree * float(slopes[-1]) * tail
        scale = sum(float((slopes * np.abs(row)).sum()) for row in rows)
        if beyond <= 0.1 * tolerance * scale or degree >= SEARCHED_DEGREE:
            return rows[0], rows[1] if len(rows) > 1 else np.zeros(degree + 1), beyond
        degree *= 2


def _random_share(problem: McKeanVlasov, interaction: Floats, last: int, beyond: float) -> float | None:
    """Return the share of the degrees left out: a degree has the mean square (kappa w_l)^2 l (l + d - 2)/N_l."""
    dimension = problem.domain.dimension
    degrees = np.arange(interaction.size)
    logarithms = np.array([math.log(problem.domain.multiplicity(degree)) for degree in degrees.tolist()])
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
