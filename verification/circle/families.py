r"""Families solved in closed form: Kuramoto (T8) and the logarithmic potential (T9)."""

from collections.abc import Iterator

import numpy as np

from meanfield import Equation, Kuramoto, Logarithmic, State

from ..claims import FREE_ENERGY, Evidence, claim, compare, missing, worst
from ..measures import uniform_state
from ..tools import Tools
from .measures import EIGENVALUE, LOCATION, MOMENT, clustered_states, interval
from .uniform import LEADING


def kuramoto(problem: Equation) -> str | None:
    """Return the reason why the problem is not Kuramoto's, or None if it is."""
    if isinstance(problem.potential, Kuramoto) and problem.confinement is None:
        return None
    return "it is about the Kuramoto potential W = -cos t"


def attractive_logarithm(problem: Equation) -> str | None:
    """Return the reason why the potential is not the attractive logarithm, or None if it is."""
    if isinstance(problem.potential, Logarithmic) and problem.potential.sign > 0 and problem.confinement is None:
        return None
    return "it is about the attractive logarithmic potential"


def repulsive_logarithm(problem: Equation) -> str | None:
    """Return the reason why the potential is not the repulsive logarithm, or None if it is."""
    if isinstance(problem.potential, Logarithmic) and problem.potential.sign < 0 and problem.confinement is None:
        return None
    return "it is about the repulsive logarithmic potential"


@claim(
    "circle.T8",
    "Kuramoto states in closed form",
    statement=(
        "W = -cos t: uniform alone for kappa <= 2D, exactly one further state up to rotation above, with "
        "r = I_1(x)/I_0(x), x = kappa r/D, m_2 = 1 - 2D/kappa and (F - F_0)/D = x r/2 - log I_0(x)."
    ),
    assumptions="the Kuramoto potential",
    source="classical; Bertini, Giacomin, Pakdaman (J. Stat. Phys. 138, 2010) with D = 1/2",
    hypotheses=kuramoto,
    needs=FREE_ENERGY,
)
def kuramoto_states(problem: Equation, tools: Tools) -> Evidence:
    """Check the identity on every state of the diagram and count the states at fixed couplings."""
    diagram = tools.diagram(problem, interval(problem))
    clustered = [branch for branch in diagram.branches if branch.symmetry != 0]
    found = [compare(len(clustered), 1.0, 0.0, "clustered branches")]
    for state in clustered_states(diagram, 100):
        found += _kuramoto_evidence(state)
    for ratio, count in ((1.5, 1), (3.0, 2), (6.0, 2)):
        states = tools.states(problem.at(coupling=ratio * problem.noise))
        found.append(compare(len(states), count, 0.0, f"stationary states at kappa/D = {ratio}"))
        for state in states:
            if state.symmetry != 0:
                found += _kuramoto_evidence(state)
    return worst(found)


def _kuramoto_evidence(state: State) -> Iterator[Evidence]:
    from scipy.special import ive

    ratio = state.coupling / state.problem.noise
    r, second = state.order_parameter(1), state.order_parameter(2)
    x = ratio * r
    where = f"at kappa/D = {ratio:.9g}"
    yield compare(second, 1 - 2 / ratio, MOMENT, f"m_2 {where}")
    yield compare(r, float(ive(1, x) / ive(0, x)), MOMENT, f"self-consistency of m_1 {where}")
    gap = x * r / 2 - x - float(np.log(ive(0, x)))
    yield compare(state.free_energy_gap, gap, MOMENT * (1 + x), f"gap {where}")


@claim(
    "circle.T9",
    "states of the attractive logarithm",
    statement=(
        "W = log|2 sin(t/2)|: clustered states exist for kappa = 2Dn only and are the Poisson kernels in n "
        "t: m_jn = r^j, all with the energy of uniform; at kappa = 2D it has the double eigenvalues -D k(k-1)."
    ),
    assumptions="the attractive logarithmic potential",
    source="the quadratic system is triangular: (k-s) c_k = s sum_{j<k} c_j c_{k-j}, s = kappa/2D",
    hypotheses=attractive_logarithm,
    needs=FREE_ENERGY,
)
def poisson_kernels(problem: Equation, tools: Tools) -> Evidence:
    """Check every clustered state of the diagram, one spectrum, and that no state exists at other couplings."""
    diagram = tools.diagram(problem, interval(problem))
    states = list(clustered_states(diagram, 6))
    found: list[Evidence] = [] if states else [missing("the vertical branches are not in the diagram")]
    for state in states:
        found += _poisson_evidence(state)
    for ratio in (1.5, 2.5):
        others = [s for s in tools.states(problem.at(coupling=ratio * problem.noise)) if s.symmetry != 0]
        found.append(compare(len(others), 0.0, 0.0, f"clustered states at kappa/D = {ratio}"))
    for radius in (0.2, 0.5):
        found += _poisson_spectrum(_poisson_kernel(problem, radius), tools)
    return worst(found)


def _poisson_evidence(state: State) -> Iterator[Evidence]:
    n = state.symmetry
    unit = 2 * state.problem.noise * n
    where = f"on the {state.label}, r = {state.order_parameter(n):.6g}"
    yield compare(state.coupling, unit, LOCATION * unit, f"coupling {where}")
    for j in (2, 3):
        expected = state.order_parameter(n) ** j
        yield compare(state.order_parameter(j * n), expected, MOMENT, f"m_{j * n} {where}")
    yield compare(state.free_energy_gap, 0.0, MOMENT, f"gap {where}")


def _poisson_kernel(problem: Equation, radius: float) -> State:
    degree = int(np.ceil(np.log(1e-18) / np.log(radius)))
    moments = radius ** np.arange(degree + 1.0)
    return uniform_state(problem.at(coupling=2 * problem.noise)).replace(
        cosine=moments, sine=np.zeros_like(moments), symmetry=1, modes=degree, label="Poisson kernel"
    )


def _poisson_spectrum(state: State, tools: Tools) -> Iterator[Evidence]:
    spectrum = tools.spectrum(state)
    for parity, values, first in (("even", spectrum.even, 1), ("odd", spectrum.odd, 2)):
        for position, k in enumerate(range(first, first + LEADING)):
            expected = -state.problem.noise * k * (k - 1)
            bound = EIGENVALUE * state.problem.noise * k**2
            text = f"{parity} eigenvalue {k} of the Poisson kernel r = {state.order_parameter(1):g}"
            yield compare(values[position], expected, bound, text)


@claim(
    "circle.T9-repulsive",
    "the repulsive logarithm has the uniform state only",
    statement="W = -log|2 sin(t/2)|: uniform only, mu_k = -(D k^2 + kappa k/2), spectral gap D + kappa/2.",
    assumptions="the repulsive logarithmic potential, kappa > 0",
    source="exact multipliers w_k = 1/k; uniqueness by convexity",
    hypotheses=repulsive_logarithm,
)
def circular_gas(problem: Equation, tools: Tools) -> Evidence:
    """Count branches and states, and compare the spectrum at uniform."""
    diagram = tools.diagram(problem, interval(problem))
    found = [compare(len(diagram.branches), 1.0, 0.0, "branches of the diagram")]
    noise = problem.noise
    for ratio in (2.0, 10.0):
        at = problem.at(coupling=ratio * noise)
        found.append(compare(len(tools.states(at)), 1.0, 0.0, f"stationary states at kappa/D = {ratio}"))
        spectrum = tools.spectrum(uniform_state(at))
        gap = noise * (1 + ratio / 2)
        found.append(compare(spectrum.slowest_rate, gap, EIGENVALUE * gap, f"spectral gap at kappa/D = {ratio}"))
        for values in (spectrum.even, spectrum.odd):
            for k in range(1, LEADING + 1):
                rate = noise * (k**2 + ratio * k / 2)
                found.append(compare(-values[k - 1], rate, EIGENVALUE * rate, f"decay of mode {k}, {ratio}"))
    return worst(found)
