r"""The transformer on spheres: a continuous transition up to :math:`\beta^*(d)` and a discontinuous one beyond, T1.

.. math:: W = -\tfrac1\beta e^{\beta u}, \qquad \frac{I_{d/2+1}(\beta^*)}{I_{d/2}(\beta^*)} = \frac1d .
"""

from collections.abc import Iterator

import numpy as np

from meanfield import Branch, Diagram, Equation, tricritical_beta

from ..claims import FREE_ENERGY, Evidence, at_least, claim, compare, missing, worst
from ..hypotheses import transformer
from ..measures import EPS, LOCATION, MOMENT, clustered_states
from ..tools import Tools
from .measures import SIGNIFICANT_DEGREE, gap, gibbs, multipliers, polar_rule, polynomials, unit_coupling

# Roots found with thirty digits.
REFERENCE = {
    3: 1.816154525435883,
    4: 1.575257150092130,
    8: 1.266553024520917,
    16: 1.128971575483152,
    64: 1.031494426247243,
}
TRIALS, TRIED_DEGREES = 100, 6
# Relative couplings: below and above the threshold, where states are searched, and the ends of the diagrams.
BELOW, ABOVE = 0.95, 1.05
CONTINUOUS = (0.5, 1.2)


@claim(
    "sphere.T1",
    "the transformer's transition turns discontinuous at beta*(d)",
    statement=(
        "I_{d/2+1}/I_{d/2} increases in beta and is 1/d at beta*(d) alone. For beta <= beta* uniform is the unique "
        "minimiser up to kappa_1, and no nonuniform zonal state lies below; for beta > beta* the branch of degree "
        "1 folds and states of lower energy exist below kappa_1: kappa_fold < kappa_c < kappa_1."
    ),
    assumptions="transformer, beta > 0; zonal states",
    source="Mun, Rosenzweig, arXiv:2606.05140; the sign of c of T2 changes at the same beta*",
    hypotheses=transformer,
    needs=FREE_ENERGY,
)
def dichotomy(problem: Equation, tools: Tools) -> Evidence:
    """Check the root beta* and the diagram for the continuous or discontinuous transition at beta."""
    found = list(_root_evidence(problem))
    beta = float(problem.potential.parameters()["beta"])
    if beta <= tricritical_beta(1, problem.domain):
        found += _continuous(problem, tools)
    else:
        found += _discontinuous(problem, tools)
    return worst(found)


def _root_evidence(problem: Equation) -> Iterator[Evidence]:
    from scipy.special import ive

    dimension = problem.domain.dimension
    root = tricritical_beta(1, problem.domain)

    def ratio(beta: float | np.ndarray) -> np.ndarray:
        return np.asarray(ive(dimension / 2 + 1, beta) / ive(dimension / 2, beta))

    # scipy's Bessel functions are good to about three digits less than the rounding unit.
    yield compare(float(ratio(root)), 1 / dimension, 1e3 * EPS, f"I_(d/2+1)/I_(d/2) at beta*({dimension})")
    steps = np.diff(ratio(np.linspace(0.1, 20.0, 200)))
    yield at_least(float(steps.min()), 0.0, 0.0, "least growth of the ratio of Bessel functions")
    if dimension in REFERENCE:
        expected = REFERENCE[dimension]
        yield compare(root, expected, 8 * EPS * expected, f"beta*({dimension})")


def _continuous(problem: Equation, tools: Tools) -> Iterator[Evidence]:
    critical = unit_coupling(problem)
    diagram = tools.diagram(problem, (CONTINUOUS[0] * critical, CONTINUOUS[1] * critical), 1)
    clustered = [branch for branch in diagram.branches if branch.symmetry != 0]
    below = sum(int((branch.coupling < critical * (1 - LOCATION)).sum()) for branch in clustered)
    yield compare(below, 0.0, 0.0, "nonuniform states of the diagram below kappa_1")
    states = tools.states(problem.at(coupling=BELOW * critical))
    yield compare(len(states), 1.0, 0.0, f"states at {BELOW} kappa_1")
    yield at_least(_lowest_trial(problem, critical), 0.0, 64 * EPS, f"least gap of {TRIALS} densities at kappa_1")
    lowest = min((gap(s) for s in tools.states(problem.at(coupling=ABOVE * critical))), default=0.0)
    if lowest >= -64 * EPS:
        yield missing(f"no state of lower energy than uniform at {ABOVE} kappa_1")


def _discontinuous(problem: Equation, tools: Tools) -> Iterator[Evidence]:
    critical = unit_coupling(problem)
    diagram = tools.diagram(problem, (0.0, ABOVE * critical), 1)
    folds, transitions = (_couplings(diagram, kind) for kind in ("fold", "transition"))
    if not folds or not transitions:
        yield missing(f"{len(folds)} folds and {len(transitions)} transitions of degree 1 below kappa_1")
        return
    fold, transition = min(folds), min(transitions)
    yield at_least(transition, fold * (1 + LOCATION), 0.0, "transition above the fold")
    yield at_least(critical * (1 - LOCATION), transition, 0.0, "transition below kappa_1")
    between = tools.diagram(problem, (transition, critical), 1)
    lowest = min((gap(state) for state in clustered_states(between)), default=0.0)
    if lowest >= -MOMENT:
        yield missing("no state of lower energy than uniform between the transition and kappa_1")


def _of_first_degree(branch: Branch) -> bool:
    return branch.symmetry == 1 and branch.moments.has_axis


def _couplings(diagram: Diagram, kind: str) -> list[float]:
    return [
        float(point.coupling)
        for point in diagram.special_points
        if point.type == kind and _of_first_degree(diagram.branches[point.branch])
    ]


def _lowest_trial(problem: Equation, coupling: float) -> float:
    """Return the least (F - F_0)/D over random zonal Gibbs densities, entropies by quadrature."""
    generator = np.random.default_rng(np.random.SeedSequence(7))
    dimension = problem.domain.dimension
    weights, table = polar_rule(dimension)[1], polynomials(dimension, SIGNIFICANT_DEGREE)
    strengths = 0.5 * coupling / problem.noise * multipliers(problem, SIGNIFICANT_DEGREE)
    gaps = []
    for _ in range(TRIALS):
        size = generator.uniform(0.0, 2.0)
        field = size * np.concatenate([[0.0], generator.normal(size=TRIED_DEGREES)])
        density, _ = gibbs(field, dimension)
        entropy = float(weights @ (density * np.log(density)))
        gaps.append(entropy + float(strengths @ (table @ (weights * density)) ** 2))
    return min(gaps)
