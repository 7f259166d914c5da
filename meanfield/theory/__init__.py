r"""Closed-form theory of the uniform state on circle and spheres and of the branches leaving it.

On the circle, with :math:`\lambda_k = -\kappa w_k / 2D = \kappa/\kappa_k`, :math:`q = w_{2n}/w_n`,
:math:`p = w_{3n}/w_n` and :math:`c_k = \int e^{-ikt}\rho`, the gap of a density near uniform is

.. math:: (F - F_0)/D = \sum_k (1-\lambda_k)|c_k|^2 + \langle (1+f)\log(1+f) - f^2/2 \rangle,
          \qquad 2\pi\rho = 1 + f ,

and eliminating the modes that are not critical gives the normal forms below; those of spheres are in
:mod:`.spheres`. Translation of papers: Carrillo, Gvalani, Pavliotis, Schlichting (ARMA 235, 2020) write
:math:`\beta^{-1} = D` and :math:`\tilde W(k) = \sqrt\pi w_k`; Mun, Rosenzweig (arXiv:2604.16288) write
:math:`K = \kappa/2D` and :math:`-W` for W. All ratios come from relative multipliers, so nothing overflows at
large beta.
"""

from .branches import branch_shape
from .criterion import global_criterion
from .exact import (
    VerticalBranch,
    continuous_radius,
    tricritical_beta,
    vertical_branches,
    vertical_spectrum,
)
from .families import (
    MaierSaupeState,
    kuramoto_gap,
    kuramoto_order_parameter,
    maier_saupe_fold,
    maier_saupe_state,
    maier_saupe_states,
    maier_saupe_transition,
)
from .forms import theory_of as theory_of
from .in_flight import flight_profile
from .normal_forms import CubicTerms as CubicTerms
from .ott_antonsen import ott_antonsen
from .resonances import Resonance, resonance
from .results import BranchShape, GlobalCriterion
from .thresholds import (
    CriticalPoint,
    critical_coupling,
    critical_couplings,
    critical_modes,
    growth_rates,
)
from .thresholds import plain_number as plain_number
from .thresholds import transition_coupling as transition_coupling
from .two_parameters import UniformPoint, mode_interactions, tricritical_points, unresolved_points

__all__ = [
    "BranchShape",
    "CriticalPoint",
    "GlobalCriterion",
    "MaierSaupeState",
    "Resonance",
    "UniformPoint",
    "VerticalBranch",
    "branch_shape",
    "continuous_radius",
    "critical_coupling",
    "critical_couplings",
    "critical_modes",
    "flight_profile",
    "global_criterion",
    "growth_rates",
    "kuramoto_gap",
    "kuramoto_order_parameter",
    "maier_saupe_fold",
    "maier_saupe_state",
    "maier_saupe_states",
    "maier_saupe_transition",
    "mode_interactions",
    "ott_antonsen",
    "resonance",
    "tricritical_beta",
    "tricritical_points",
    "unresolved_points",
    "vertical_branches",
    "vertical_spectrum",
]
