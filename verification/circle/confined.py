r"""With a confinement V: the Gibbs map, the free energy, and relaxation to the Gibbs density.

A density is stationary if and only if :math:`\rho = e^{-(\kappa W*\rho + V)/D}/Z`, and

.. math:: \frac{F - F_0}{D} = \int\rho\log(2\pi\rho) + \frac{\kappa}{4D}\sum_k w_k|c_k|^2
          + \frac1D\int V\Bigl(\rho - \frac1{2\pi}\Bigr) .

V is taken by its values on a grid, W by its multipliers.
"""

import numpy as np

from meanfield import Diagram, Equation, State

from ..claims import FREE_ENERGY, Evidence, claim, compare, worst
from ..measures import MOMENT, RESIDUAL, Floats, spaced
from ..tools import Tools
from .dynamics import DURATION, EDGES, IDENTITY, LONG, NODES, PRECISE, WEIGHTS, start
from .measures import shares, unit_coupling

FACTORS = (0.5, 1.5)
POINTS = 1024
STATES = 6
# A density far from rest and one that has forgotten its start.
FORGOTTEN = 1e-7


def confined(problem: Equation) -> str | None:
    """Return the reason why a statement about a confinement does not apply, or None if it does."""
    return None if problem.confinement is not None else "there is no confinement"


def _field(problem: Equation) -> tuple[Floats, Floats]:
    """Return the angles of a grid and V/D at these."""
    angles = 2 * np.pi * np.arange(POINTS) / POINTS
    assert problem.confinement is not None
    # Functions are asked for on [-pi, pi].
    values = np.asarray(
        problem.confinement.values(np.where(angles > np.pi, angles - 2 * np.pi, angles)), dtype=float
    )
    return angles, values / problem.noise


def _interaction(problem: Equation, moments: Floats) -> Floats:
    """Return kappa W*rho/D, less its mean, on the grid for complex moments m - i s."""
    lam = shares(problem, problem.fixed_coupling, moments.size - 1)
    spectrum = np.zeros(POINTS // 2 + 1, dtype=complex)
    used = min(moments.size, spectrum.size)
    spectrum[:used] = (lam * moments)[:used]
    return np.asarray(-np.fft.irfft(spectrum, POINTS) * POINTS)


def _gibbs_defect(state: State) -> Floats:
    """Return the differences of a state's moments from those of exp(-(kappa W*rho + V)/D)/Z."""
    moments = state.cosine - 1j * state.sine
    field = _interaction(state.problem, moments) + _field(state.problem)[1]
    density = np.exp(field.min() - field)
    expected = np.fft.rfft(density / density.mean()) / POINTS
    count = min(moments.size, expected.size)
    return np.abs(moments[:count] - expected[:count])


def energy(problem: Equation, cosine: Floats, sine: Floats) -> float:
    """Return (F - F_0)/D of a density with a confinement, its entropy and V by the trapezoid rule."""
    moments = cosine - 1j * sine
    spectrum = np.zeros(POINTS // 2 + 1, dtype=complex)
    used = min(moments.size, spectrum.size)
    spectrum[:used] = moments[:used]
    density = np.fft.irfft(spectrum, POINTS) * POINTS
    entropy = float(np.mean(density * np.log(np.maximum(density, np.finfo(float).tiny))))
    lam = shares(problem, problem.fixed_coupling, moments.size - 1)
    _, field = _field(problem)
    return entropy - float(lam @ np.abs(moments) ** 2) + float(np.mean((density - 1) * field))


def _states(diagram: Diagram) -> list[State]:
    return [
        diagram.state(index, point)
        for index, branch in enumerate(diagram.branches)
        for point in spaced(len(branch), STATES)
    ]


@claim(
    "circle.confined-states",
    "with a confinement states are fixed points of the Gibbs map",
    statement=(
        "rho = exp(-(kappa W*rho + V)/D)/Z along every branch and at every state found; its free energy is "
        "entropy, interaction and int V rho; without coupling it is exp(-V/D)/Z."
    ),
    assumptions="a confinement",
    source="the equation, divided by rho; V by its values, integrals by the trapezoid rule",
    hypotheses=confined,
    needs=FREE_ENERGY,
)
def confined_states(problem: Equation, tools: Tools) -> Evidence:
    """Apply the Gibbs map and recompute the free energy at the states of a diagram and of two couplings."""
    unit = unit_coupling(problem)
    found = _states(tools.diagram(problem, (0.0, FACTORS[-1] * unit), 1))
    for factor in (0.0, *FACTORS):
        found += tools.states(problem.at(coupling=factor * unit))
    evidence = []
    for state in found:
        where = f"{state.label} at coupling {float(state.coupling):.9g}"
        evidence.append(compare(float(_gibbs_defect(state).max()), 0.0, RESIDUAL, f"moments, {where}"))
        expected = energy(state.problem, state.cosine, state.sine)
        bound = MOMENT * (1 + abs(expected))
        evidence.append(compare(state.free_energy_gap, expected, bound, f"free energy, {where}"))
    return worst(evidence)


@claim(
    "circle.confined-evolution",
    "with a confinement the free energy falls by its dissipation",
    statement=(
        "F(0) - F(t) = int_0^t int rho |d/dtheta (D log rho + kappa W*rho + V)|^2; without coupling every density "
        "tends to exp(-V/D)/Z."
    ),
    assumptions="a confinement",
    source="gradient flow of F; its values by the trapezoid rule, dissipation integrated by Gauss's rule",
    hypotheses=confined,
    needs=FREE_ENERGY,
)
def confined_evolution(problem: Equation, tools: Tools) -> Evidence:
    """Recompute the free energy and its dissipation along an evolution, and relax without coupling."""
    coupled = problem.at(coupling=FACTORS[-1] * unit_coupling(problem))
    half = 0.5 * np.diff(EDGES) / problem.noise
    times = (EDGES[:-1, np.newaxis] / problem.noise + half[:, np.newaxis] * (1 + NODES)).ravel()
    end = DURATION / problem.noise
    path = tools.evolve(coupled, start(), end, times=[0.0, *times, end], tolerance=PRECISE)
    first, last = (energy(coupled, path.cosine[at], path.sine[at]) for at in (0, -1))
    integral = float((half[:, np.newaxis] * WEIGHTS).ravel() @ path.dissipation[1:-1])
    bound = IDENTITY * (1 + abs(first - last))
    evidence = [
        compare(integral, first - last, bound, f"integrated dissipation until time {end:g}"),
        compare(path.free_energy_gap[0] - path.free_energy_gap[-1], first - last, bound, "fall of the free energy"),
    ]
    free = problem.at(coupling=0.0)
    rest = tools.evolve(free, start(), LONG / problem.noise, times=20)
    density = np.exp(_field(free)[1].min() - _field(free)[1])
    expected = np.fft.rfft(density / density.mean()) / POINTS
    count = min(rest.cosine.shape[1], expected.size)
    apart = np.abs((rest.cosine - 1j * rest.sine)[-1, :count] - expected[:count]).max()
    text = f"distance from exp(-V/D)/Z without coupling at time {LONG / problem.noise:g}"
    return worst([*evidence, compare(float(apart), 0.0, FORGOTTEN, text)])
