r"""With a confinement V about the north pole: the Gibbs map, the free energy, and relaxation to the Gibbs density.

.. math:: \rho = e^{-(\kappa W*\rho + V)/D}/Z, \qquad
          \frac{F-F_0}{D} = \int\rho\log\frac\rho{\rho_0} + \frac\kappa{2D}\sum_{l\ge1} w_l|m_l|^2
          + \frac1D\int V(\rho-\rho_0) .

Integrals over the polar angle by the rule of the claims, V by its values.
"""

import math

import numpy as np

from meanfield import Equation, State

from ..circle.confined import FACTORS, FORGOTTEN, confined
from ..claims import FREE_ENERGY, Evidence, Undecided, claim, compare, worst
from ..measures import MOMENT, Floats, spaced
from ..tools import Tools
from .dynamics import PRECISE, two_lobes
from .measures import multipliers, polar_rule, polynomials, unit_coupling

STATES = 5
LONG = 12.0


def gibbs_moments(problem: Equation, moments: Floats) -> tuple[Floats, float]:
    """Return the moments of exp(-(kappa W*rho + V)/D)/Z, W*rho from zonal moments, and its (F - F_0)/D."""
    dimension = problem.domain.dimension
    angles, weights = polar_rule(dimension)
    table = polynomials(dimension, moments.size - 1)
    strengths = problem.fixed_coupling / problem.noise * multipliers(problem, moments.size - 1)
    assert problem.confinement is not None
    field = np.asarray(problem.confinement.values(angles), dtype=float) / problem.noise
    exponent = -(strengths * moments) @ table - field
    values = np.exp(exponent - exponent.max())
    values /= math.fsum(weights * values)
    entropy = math.fsum(weights * values * np.log(np.maximum(values, np.finfo(float).tiny)))
    energy = entropy + 0.5 * math.fsum(strengths * moments**2) + math.fsum(weights * (values - 1) * field)
    return table @ (weights * values), energy


@claim(
    "sphere.confined-states",
    "with a confinement states are fixed points of the Gibbs map",
    statement=(
        "rho = exp(-(kappa W*rho + V)/D)/Z along every branch about the axis of V and at every such state found; "
        "its free energy is entropy, interaction and int V rho; without coupling it is exp(-V/D)/Z."
    ),
    assumptions="a confinement",
    source="critical points of F; by quadrature of its own",
    hypotheses=confined,
    needs=FREE_ENERGY,
)
def confined_states(problem: Equation, tools: Tools) -> Evidence:
    """Apply the Gibbs map and recompute the free energy at zonal states of a diagram and of two couplings."""
    unit = unit_coupling(problem)
    diagram = tools.diagram(problem, (0.0, FACTORS[-1] * unit), 1)
    states: list[State] = [
        diagram.state(index, point)
        for index, branch in enumerate(diagram.branches)
        for point in spaced(len(branch), STATES)
    ]
    for factor in (0.0, *FACTORS):
        states += tools.states(problem.at(coupling=factor * unit))
    found = []
    for state in states:
        if state.moments.has_axis:
            where = f"{state.label} at coupling {float(state.coupling):.9g}"
            moments, energy = gibbs_moments(state.problem, state.cosine)
            apart = float(np.abs(moments - state.cosine).max())
            found.append(compare(apart, 0.0, MOMENT, f"moments, {where}"))
            found.append(compare(state.free_energy_gap, energy, MOMENT * (1 + abs(energy)), f"energy, {where}"))
    return worst(found)


@claim(
    "sphere.confined-evolution",
    "without coupling every density tends to the Gibbs density of the confinement",
    statement="For kappa = 0 rho(t) tends to exp(-V/D)/Z, and the free energy to its minimum -log of its mean.",
    assumptions="a confinement",
    source="Fokker-Planck equation with a spectral gap; by quadrature of its own",
    hypotheses=confined,
    needs=FREE_ENERGY,
)
def confined_evolution(problem: Equation, tools: Tools) -> Evidence:
    """Compare two lobes evolved without coupling to rest with the Gibbs density."""
    free = problem.at(coupling=0.0)
    path = tools.evolve(free, two_lobes(problem.domain.dimension), LONG / problem.noise, times=4, tolerance=PRECISE)
    if not path.moments.has_axis:
        raise Undecided("a density about the axis was evolved as if it had none")
    last = path.cosine[-1]
    expected, energy = gibbs_moments(free, last)
    where = f"at time {LONG / problem.noise:g}"
    return worst(
        [
            compare(float(np.abs(last - expected).max()), 0.0, FORGOTTEN, f"moments {where}"),
            compare(path.free_energy_gap[-1], energy, FORGOTTEN * (1 + abs(energy)), f"free energy {where}"),
        ]
    )
