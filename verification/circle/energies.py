r"""Free energy: the sharp global criterion T5, its converse, and the envelope T10.

.. math:: \frac{d(F-F_0)}{d\kappa} = \tfrac12 \sum_k w_k |c_k|^2 \quad\text{along a branch}, \qquad
          \min F \text{ is concave in } \kappa .
"""

from collections.abc import Iterator

import numpy as np

from meanfield import Branch, Equation, Logarithmic, global_criterion

from ..claims import FREE_ENERGY, Evidence, Undecided, at_least, claim, compare, missing, worst
from ..envelope import slopes_along_branches
from ..tools import Tools
from .measures import (
    EPS,
    LOCATION,
    MOMENT,
    Floats,
    clustered_states,
    gap,
    interval,
    order,
    relative_entropy,
    shares,
    slope,
    unit_coupling,
)
from .uniform import attractive

TRIALS = 200
# Relative couplings at which the states are searched.
BELOW, ABOVE = 0.9, 1.3


def satisfies_criterion(problem: Equation) -> str | None:
    """Return the reason why the global criterion does not apply, or None if it does."""
    reason = attractive(problem)
    if reason is not None:
        return reason
    criterion = global_criterion(problem)
    return None if criterion.holds else f"its condition is not met: {criterion.statement}"


def violates_at_second(problem: Equation) -> str | None:
    """Return the reason why the transition need not be discontinuous, or None if it must be."""
    reason = attractive(problem)
    if reason is not None:
        return reason
    criterion = global_criterion(problem)
    return None if criterion.continuous is False else f"1/2 < w_2n/w_n <= 1 is not met: {criterion.statement}"


@claim(
    "circle.T5",
    "sharp global criterion",
    statement=(
        "If w_n < 0 and (k/n) max(-w_k, 0) <= -w_n for all multiples k of n, and only these attract, uniform "
        "is the unique global minimiser of F for all 0 <= kappa <= kappa_n and the transition is continuous."
    ),
    assumptions="the inequality on the multipliers",
    source="Mun, Rosenzweig, arXiv:2604.16288 (Lebedev-Milin duality)",
    hypotheses=satisfies_criterion,
    needs=FREE_ENERGY,
)
def global_minimiser(problem: Equation, tools: Tools) -> Evidence:
    """Compare the free energies of random densities, branches and states up to kappa_n with that of uniform."""
    critical = unit_coupling(problem)
    diagram = tools.diagram(problem, interval(problem))
    below = [point for point in diagram.events("transition") if point.coupling < critical * (1 - LOCATION)]
    found = [compare(len(below), 0.0, 0.0, "transitions below the critical coupling")]
    lowest, details = _lowest_trial(problem, critical)
    found.append(at_least(lowest, 0.0, 64 * EPS, details))
    for state in clustered_states(diagram, 40):
        if state.coupling <= critical:
            text = f"gap of the {state.label} at coupling {state.coupling:.9g}"
            found += [
                at_least(gap(state), 0.0, MOMENT, text),
                at_least(state.free_energy_gap, 0.0, MOMENT, text),
            ]
    found += _uniform_is_lowest(problem.at(coupling=BELOW * critical), tools)
    return worst(found)


def _uniform_is_lowest(problem: Equation, tools: Tools) -> Iterator[Evidence]:
    for state in tools.states(problem):
        text = f"gap of the state {state.label!r} at coupling {problem.fixed_coupling:.9g}"
        yield at_least(gap(state), 0.0, MOMENT, text)
        if state.symmetry != 0:
            yield compare(bool(state.minimiser), 0.0, 0.0, f"{text}: chosen as minimiser")


def _lowest_trial(problem: Equation, coupling: float) -> tuple[float, str]:
    """Return the least (F - F_0)/D over random positive densities, entropies by the trapezoid rule."""
    generator = np.random.default_rng(np.random.SeedSequence(5))
    points, degree = 256, 64
    angles = 2 * np.pi * np.arange(points) / points
    modes = np.arange(1, 9)
    lam = shares(problem, coupling, degree)[1:]
    amplitudes = generator.normal(size=(TRIALS, modes.size)) * generator.uniform(0, 1.5, size=(TRIALS, 1)) / modes
    phases = generator.uniform(0, 2 * np.pi, size=amplitudes.shape)
    waves = np.cos(phases[:, :, None] + np.multiply.outer(modes, angles))
    exponent = np.einsum("tk,tka->ta", amplitudes, waves)
    density = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    density /= density.mean(axis=1, keepdims=True)
    entropy = (density * np.log(density)).mean(axis=1)
    squares = np.abs(np.fft.rfft(density, axis=1)[:, 1 : degree + 1] / points) ** 2
    gaps = entropy - squares @ lam
    return float(gaps.min()), f"least gap of {TRIALS} random densities at coupling {coupling:.9g}"


@claim(
    "circle.T5-converse",
    "subcritical branches make the transition discontinuous",
    statement=(
        "If 1/2 < w_2n/w_n <= 1 for the most attractive mode n, states of lower energy than uniform exist "
        "below kappa_n: the transition is discontinuous and kappa_T < kappa_n."
    ),
    assumptions="the inequality on the multipliers",
    source="arXiv:2604.16288 and the sign of b1; Carrillo, Gvalani, Pavliotis, Schlichting (ARMA 235, 2020)",
    hypotheses=violates_at_second,
    needs=FREE_ENERGY,
)
def discontinuous_transition(problem: Equation, tools: Tools) -> Evidence:
    """Check for a transition below kappa_n and a state of negative gap between the two."""
    critical = unit_coupling(problem)
    diagram = tools.diagram(problem, interval(problem))
    transitions = [
        float(p.coupling) for p in diagram.events("transition") if p.coupling < critical * (1 - LOCATION)
    ]
    if not transitions:
        return missing(f"no equal-energy transition below the critical coupling {critical:.9g}")
    between = 0.5 * (min(transitions) + critical)
    lowest = min((gap(state) for state in tools.states(problem.at(coupling=between))), default=0.0)
    text = f"lowest gap at coupling {between:.9g}, halfway from the transition to kappa_n"
    if lowest > -64 * EPS:
        return missing(f"{text}: {lowest:.3e}")
    return at_least(-lowest, 0.0, 0.0, text)


@claim(
    "circle.T10",
    "envelope identity along branches",
    statement="d(F - F_0)/dkappa = (1/2) sum_k w_k |c_k|^2 along every branch of stationary states.",
    assumptions="some clustered branch exists",
    source="F is affine in kappa and stationary in rho",
    hypotheses=attractive,
    needs=FREE_ENERGY,
)
def envelope(problem: Equation, tools: Tools) -> Evidence:
    """Differentiate the gap along branches by interpolation, and recompute the gap itself."""
    diagram = tools.diagram(problem, interval(problem))
    found = list(slopes_along_branches(diagram, slope, _coordinates, lambda gaps: 1.0))
    for state in clustered_states(diagram, 8):
        text = f"gap of the {state.label} at coupling {state.coupling:.9g}"
        found.append(compare(state.free_energy_gap, gap(state), MOMENT * (1 + abs(gap(state))), text))
    return worst(found)


def _coordinates(branch: Branch, window: slice) -> list[Floats]:
    """Return the first moment and the coupling at some points of a branch."""
    coupling = branch.coupling[window]
    return [order(branch, max(branch.symmetry, 1))[window], coupling / np.abs(coupling).max()]


@claim(
    "circle.T10-minimum",
    "the least free energy is an infimum of affine functions",
    statement=(
        "min F is concave in kappa: the minimiser at kappa lies below the line "
        "F(rho) + (kappa - kappa') (1/2) sum w_k |c_k(rho)|^2 of every state rho at every other kappa'."
    ),
    assumptions="some mode attracts; F bounded below",
    source="F(rho) is affine in kappa for fixed rho",
    hypotheses=lambda problem: _bounded_below(problem),
    needs=FREE_ENERGY,
)
def concavity(problem: Equation, tools: Tools) -> Evidence:
    """Compare the minimisers at two couplings with the tangents of all states of the diagram."""
    diagram = tools.diagram(problem, interval(problem))
    states = list(clustered_states(diagram, 60))
    found: list[Evidence] = []
    for factor in (BELOW, ABOVE):
        coupling = factor * unit_coupling(problem)
        minimisers = [state for state in tools.states(problem.at(coupling=coupling)) if state.minimiser]
        found.append(compare(len(minimisers), 1.0, 0.0, f"minimisers at coupling {coupling:.9g}"))
        for minimiser in minimisers[:1]:
            lines = [gap(s) + slope(s) * (coupling - s.coupling) / problem.noise for s in states]
            lowest = min([0.0, *lines])
            text = f"least line over the {minimiser.label} at coupling {coupling:.9g}"
            found.append(at_least(lowest, gap(minimiser), MOMENT * (1 + abs(lowest)), text))
    return worst(found)


def _bounded_below(problem: Equation) -> str | None:
    if isinstance(problem.potential, Logarithmic) and attractive(problem) is None:
        return "the free energy is unbounded below beyond the collapse"
    return attractive(problem)


@claim(
    "circle.T10-kink",
    "latent heat of a discontinuous transition",
    statement=(
        "At equal free energy kappa_T times the jump of d(min F)/dkappa is minus D times the relative "
        "entropy int rho log(2 pi rho) of the clustered state."
    ),
    assumptions="the transition is discontinuous",
    source="F = F_0 at kappa_T and the envelope identity",
    hypotheses=violates_at_second,
    needs=FREE_ENERGY,
)
def kink(problem: Equation, tools: Tools) -> Evidence:
    """Compare the jump of the slope at every located transition with the relative entropy."""
    diagram = tools.diagram(problem, interval(problem))
    found: list[Evidence] = []
    for event in diagram.events("transition"):
        coupling = float(event.coupling)
        state = diagram.state(event.branch, event.point).replace(
            problem=problem.at(coupling=coupling), cosine=event.cosine, sine=event.sine
        )
        expected = -problem.noise * relative_entropy(state)
        bound = MOMENT * problem.noise * (1 + abs(expected))
        text = f"kappa_T times the slope jump at coupling {coupling:.9g}"
        found.append(compare(coupling * slope(state), expected, bound, text))
    if not found:
        raise Undecided("the diagram has no transition")
    return worst(found)
