r"""Degrees 1 and 2 nearly critical together: the reduced energy of third order and its critical points.

With the field :math:`v\cdot x + x^TQx`, Q symmetric of trace zero, :math:`g_l = -\kappa w_l/D`,
:math:`\epsilon_l = \tfrac12(1/g_l - 1/N_l)` and the uniform means of products of coordinates,

.. math:: \Phi = \epsilon_1|v|^2 + \tfrac{d-1}{d}\epsilon_2|Q|^2 - \frac{v\cdot Qv}{d(d+2)}
                 - \frac{4\operatorname{tr}Q^3}{3d(d+2)(d+4)} .

Where v is not zero it is an eigenvector of Q. About an axis, :math:`v = F_1e`, :math:`Q = F_2(d\,ee^T - 1)/(d-1)`,
:math:`c = \langle P_1^2P_2\rangle`, :math:`t = \langle P_2^3\rangle`: pure states :math:`F_2 = 4\epsilon_2/t`,
mixed ones :math:`F_2 = 2\epsilon_1/c`, :math:`F_1^2 = (2/c)(2\epsilon_2F_2 - tF_2^2/2)`. On :math:`S^2` there are
other critical points at one coupling only, where pure and mixed states exchange the stability across the axis.
"""

import numpy as np

from meanfield import Equation, critical_couplings

from ..claims import Evidence, claim, worst
from ..hypotheses import anywhere
from ..measures import Floats
from ..reduced import OTHERS, SMALLEST, Critical, held_against, unstable
from ..tools import Tools
from .measures import multipliers, numbers, product_mean

# Largest distance of both thresholds times the dimension, of which amplitudes are multiples, and degrees looked at.
LARGEST, DEGREES = 0.05, 16


def near_resonance(problem: Equation) -> str | None:
    """Return the reason why degrees 1 and 2 alone are not nearly critical together, or None if they are."""
    reason = anywhere(problem)
    if reason is not None:
        return reason
    couplings = np.asarray(critical_couplings(problem, DEGREES)[1:], dtype=float)
    if not (couplings[:2].min() > 0.0 and np.isfinite(couplings[:2]).all()):
        return "degrees 1 and 2 do not both attract"
    distances = np.abs(couplings / couplings[0] - 1.0)
    if not SMALLEST < distances[1] <= LARGEST / problem.domain.dimension:
        return f"the thresholds of degrees 1 and 2 are at a relative distance of {distances[1]:.3g}"
    if distances[2:].min() < OTHERS:
        return "a third degree is nearly critical too"
    return None


@claim(
    "sphere.unfolding",
    "degrees 1 and 2 nearly critical together",
    statement=(
        "Between and beside all couplings at which its critical points change, the small states about an axis are "
        "those of the reduced energy of third order in (v, Q): as many, with their moments to leading order, and "
        "with as many unstable directions among all as its Hessian has."
    ),
    assumptions="thresholds of degrees 1 and 2 at a small distance, no third one near",
    source="reduction of the energy to the fields of two degrees",
    hypotheses=near_resonance,
)
def unfolding(problem: Equation, tools: Tools) -> Evidence:
    """Compare the states between and beside the couplings of change with the critical points."""
    first, second = (float(coupling) for coupling in critical_couplings(problem, 2)[1:])
    return worst(list(held_against(problem, tools, (1, 2), (first, second), _Reduced(problem).critical)))


class _Reduced:
    """The reduced energy as a function of the coupling."""

    def __init__(self, problem: Equation) -> None:
        self.dimension = problem.domain.dimension
        self.noise = problem.noise
        self.weights = multipliers(problem, 2)[1:]
        self.squares = 1.0 / numbers(self.dimension, 2)[1:]
        self.mixing = product_mean(self.dimension, 1, 1, 2)
        self.cube = product_mean(self.dimension, 2, 2, 2)

    def critical(self, coupling: float) -> list[Critical]:
        """Return the critical points about an axis beside the uniform one."""
        strengths = -coupling * self.weights / self.noise
        first, second = 0.5 * (1.0 / strengths - self.squares)
        found = [("pure", 0.0, 4.0 * second / self.cube)]
        tied = 2.0 * first / self.mixing
        square = 2.0 / self.mixing * (2.0 * second * tied - 0.5 * self.cube * tied**2)
        if square > 0.0:
            found.append(("mixed", float(np.sqrt(square)), tied))
        return [
            Critical(
                kind,
                abs(one / strengths[0]),
                abs(two / strengths[1]),
                unstable(self._hessian(one, two, first, second)),
            )
            for kind, one, two in found
        ]

    def _hessian(self, one: float, two: float, first: float, second: float) -> list[tuple[Floats, int]]:
        """Return the second derivatives at v = one e, Q = two (d ee^T - 1)/(d - 1), order by order about the axis.

        In orthonormal coordinates: along e and its own Q, along another direction with the product of both, and in
        the Q of trace zero across the axis.
        """
        d = self.dimension
        axis, other, third = np.eye(d)[:3]
        diagonal = (d * np.outer(axis, axis) - np.eye(d)) / (d - 1)
        v, q = one * axis, two * diagonal
        pairs = ((axis, diagonal), (other, np.outer(axis, other) + np.outer(other, axis)))
        blocks = []
        for (direction, matrix), copies in zip(pairs, (1, d - 1), strict=True):
            matrix = matrix / np.linalg.norm(matrix)
            coupled = -2.0 * float(direction @ matrix @ v) / (d * (d + 2))
            along = 2.0 * first - 2.0 * float(direction @ q @ direction) / (d * (d + 2))
            blocks.append((np.array([[along, coupled], [coupled, self._twice(matrix, q, second)]]), copies))
        across = (np.outer(other, third) + np.outer(third, other)) / np.sqrt(2.0)
        return [*blocks, (np.array([[self._twice(across, q, second)]]), d * (d - 1) // 2 - 1)]

    def _twice(self, matrix: Floats, q: Floats, second: float) -> float:
        """Return the second derivative of the reduced energy along a matrix of unit length."""
        d = self.dimension
        return 2.0 * second * (d - 1) / d - 8.0 * float(np.trace(matrix @ q @ matrix)) / (d * (d + 2) * (d + 4))
