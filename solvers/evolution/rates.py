"""The coefficients of the moment equations, cell by cell, and estimates of the steps of integrators."""

import math
from typing import Any

import numpy as np

from meanfield import Equation
from meanfield.equations import Interaction

from ..bases import Floats
from .units import diffuses, rate_unit

# Steps of exponential integrators in a cluster, as a share of its largest rate, and without any.
EXPLICIT_SHARE = 0.3
EXPLICIT_LEAST = 50.0


class Rates:
    """Coefficients of the system by cell j = 1..K, the degree being n j.

    Attributes
    ----------
    problem
        The equation.
    noise, unit : float
        n^2 D, and n^2 times the unit of rates in its place, which is D unless there is no noise.
    cells, attraction, force : (K,) float
        j, j lambda_nj and -j v_nj/(2D), so that g = attraction c + force; the unit stands for D. Where the
        confinement has sines v_nj - i u_nj stands for v_nj, and the force is complex.
    linear, divergence : (K,) float
        L and n^2 j times the unit.
    """

    def __init__(self, problem: Equation, degree: int, symmetry: int) -> None:
        cells, interaction = np.arange(1.0, degree + 1.0), Interaction(problem, rate_unit(problem))
        strengths = interaction.strengths(symmetry * degree)[symmetry::symmetry]
        self.problem = problem
        self.noise, self.unit = problem.noise * symmetry**2, rate_unit(problem) * symmetry**2
        self.cells = cells
        self.attraction: Floats = cells * strengths
        self.linear = -self.unit * cells**2 * (diffuses(problem) - strengths)
        self.divergence = self.unit * cells
        self.confined = problem.confinement is not None
        self.force: Any = 0.5 * cells * interaction.phased_forces(symmetry * degree)[symmetry::symmetry]

    def explicit_steps(self) -> float:
        r"""Return an estimate of the number of steps in a unit of time if N is explicit.

        Advection by the field has the largest rate K' max f', in a cluster resolved by K' modes. In a single
        cluster :math:`|f'| \le 2\sum k\lambda_k`, and its variance :math:`1/(2\sum k^2\lambda_k)` determines K'.
        """
        attraction = np.maximum(self.attraction, 0.0)
        slope = 2.0 * float(attraction.sum()) + 2.0 * float(np.abs(self.force).sum())
        modes = 12.0 * math.sqrt(float(self.cells @ attraction))
        return self.unit * (EXPLICIT_LEAST + EXPLICIT_SHARE * modes * slope)
