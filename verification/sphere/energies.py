r"""Free energy along branches: the envelope identity and the gap itself.

.. math:: \frac{d(F-F_0)}{d\kappa} = \tfrac12 \sum_{l\ge1} w_l |m_l|^2 \quad\text{along a branch}.
"""

from collections.abc import Iterator

import numpy as np

from meanfield import Branch, Diagram, Equation

from ..claims import FREE_ENERGY, Evidence, Undecided, claim, compare, missing, worst
from ..measures import MOMENT, RESIDUAL, Floats, clustered_states, polynomial_at_zero
from ..tools import Tools
from .measures import fixed_point_error, gap, interval, slope, unit_coupling
from .uniform import attractive

WINDOW = 4


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
    found: list[Evidence] = []
    for index, branch in enumerate(diagram.branches):
        if branch.symmetry != 0:
            found += _slopes_along(diagram, index, branch)
    return worst(found)


def _slopes_along(diagram: Diagram, index: int, branch: Branch) -> Iterator[Evidence]:
    unit = unit_coupling(diagram.problem)
    for centre in range(WINDOW, len(branch) - WINDOW, 5):
        window = slice(centre - WINDOW, centre + WINDOW + 1)
        x = _coordinate(branch, window, unit)
        if x is None:
            continue
        state = diagram.state(index, centre)
        rate = slope(state) / diagram.problem.noise
        defect = (branch.free_energy_gap - rate * branch.coupling)[window]
        y = defect - defect[WINDOW]
        # The error estimate adds the points one by one, nearest first.
        ranked = np.argsort(np.abs(x), kind="stable")
        size = 1 + float(np.abs(branch.free_energy_gap[window]).max())
        noise = np.full(x.size, size * MOMENT / 10 + abs(rate) * unit * RESIDUAL)
        try:
            derivative, error = polynomial_at_zero(x[ranked], y[ranked], noise, 1)
        except Undecided:
            # Too sharp a bend for the spacing of the points; other windows on the branch are not.
            continue
        text = f"d(gap - slope kappa) along the {branch.label} at coupling {state.coupling:.9g}"
        yield compare(derivative, 0.0, error, text)


def _coordinate(branch: Branch, window: slice, unit: float) -> Floats | None:
    """Return a coordinate along the branch, 0 at the centre: a moment or the coupling."""
    candidates = [np.asarray(branch.moment(degree)[window]) for degree in (1, 2, 3, 4)]
    candidates.append(branch.coupling[window] / unit)
    usable = [x - x[WINDOW] for x in candidates if _evenly_monotone(x)]
    return max(usable, key=lambda x: float(np.abs(x).max())) if usable else None


def _evenly_monotone(x: Floats) -> bool:
    steps = np.diff(x) * np.sign(x[-1] - x[0])
    return bool(steps.min() > 0.05 * steps.max() > 1e-4)
