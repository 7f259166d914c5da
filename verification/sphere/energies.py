r"""Free energy along branches: the envelope identity and the gap itself.

.. math:: \frac{d(F-F_0)}{d\kappa} = \tfrac12 \sum_{l\ge1} w_l |m_l|^2 \quad\text{along a branch}.
"""

from functools import partial

import numpy as np

from meanfield import Branch, Equation

from ..claims import FREE_ENERGY, Evidence, claim, compare, missing, worst
from ..envelope import slopes_along_branches
from ..measures import MOMENT, Floats, clustered_states
from ..tools import Tools
from .measures import fixed_point_error, gap, interval, slope, unit_coupling
from .uniform import attractive


@claim(
    "sphere.states",
    "states are fixed points of the Gibbs map",
    statement="rho = e^f/Z, f = -(kappa/D) W*rho, on every branch, and (F - F_0)/D is that of its field.",
    assumptions="some clustered branch exists",
    source="critical points of F; Shalova, Schlichting (arXiv:2412.14813); by quadrature of its own",
    hypotheses=attractive,
    needs=FREE_ENERGY,
)
def fixed_points(problem: Equation, tools: Tools) -> Evidence:
    """Recompute the moments and the energy of states of every branch."""
    found: list[Evidence] = []
    for state in clustered_states(tools.diagram(problem, interval(problem), 1)):
        where = f"of the {state.label} at coupling {state.coupling:.9g}"
        found.append(compare(fixed_point_error(state), 0.0, MOMENT, f"error of the moments {where}"))
        exact = gap(state)
        found.append(compare(state.free_energy_gap, exact, MOMENT * (1 + abs(exact)), f"gap {where}"))
    return worst(found) if found else missing("the diagram has no clustered branch")


@claim(
    "sphere.envelope",
    "envelope identity along branches",
    statement="d(F - F_0)/dkappa = (1/2) sum_{l >= 1} w_l |m_l|^2 along every branch of stationary states.",
    assumptions="some clustered branch exists",
    source="F is affine in kappa and stationary in rho",
    hypotheses=attractive,
    needs=FREE_ENERGY,
)
def envelope(problem: Equation, tools: Tools) -> Evidence:
    """Differentiate the gap along branches by interpolation."""
    diagram = tools.diagram(problem, interval(problem), 1)
    coordinates = partial(_coordinates, unit_coupling(problem))
    found = slopes_along_branches(diagram, slope, coordinates, lambda gaps: 1 + float(np.abs(gaps).max()))
    return worst(list(found))


def _coordinates(unit: float, branch: Branch, window: slice) -> list[Floats]:
    """Return the moments of the first degrees and the coupling at some points of a branch."""
    moments = [np.asarray(branch.moment(degree)[window]) for degree in (1, 2, 3, 4)]
    return [*moments, branch.coupling[window] / unit]
