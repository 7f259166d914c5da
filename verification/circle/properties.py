r"""Exact properties every solver must have: rotation, n-fold embedding, tricritical ratio, repulsion."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from meanfield import (
    Branch,
    Diagram,
    Domain,
    Equation,
    McKeanVlasov,
    Potential,
    State,
    Transformer,
    critical_couplings,
    dissipation,
    free_energy_parts,
    tricritical_beta,
)
from meanfield.potentials import Array, Number

from ..claims import FREE_ENERGY, Evidence, claim, compare, missing, worst
from ..hypotheses import anywhere, transformer
from ..measures import nothing_but_uniform
from ..tools import Tools
from .measures import (
    EIGENVALUE,
    LOCATION,
    MOMENT,
    clustered_states,
    fixed_point_error,
    interval,
    polynomial_at_zero,
    primary_branch,
    unit_coupling,
)
from .uniform import attractive

FOLD = 2
ANGLE = 0.7
CONCENTRATED = 0.9
# The embedded potential has twice as many branches; a shorter interval of relative couplings keeps them few.
EMBEDDED = (0.8, 1.5)


@dataclass(frozen=True)
class Embedded(Potential):
    """The potential W(n t) for a given potential W, whose multiplier of degree k becomes that of degree nk.

    Parameters
    ----------
    potential
        W.
    fold
        n.
    """

    potential: Potential
    fold: int
    name: ClassVar[str] = "embedded"
    formula: ClassVar[str] = "W(n t)"

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return W(n t)."""
        return self.potential.values(self.fold * np.asarray(angle, dtype=float))

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return n W'(n t)."""
        return self.fold * self.potential.slope(self.fold * np.asarray(angle, dtype=float))

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_0, 0, ..., w_1, 0, ..., those of W at multiples of n."""
        inner = self.potential.multipliers(domain, degree // self.fold)
        result = np.zeros(degree + 1, dtype=inner.dtype)
        result[:: self.fold] = inner
        return result

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return the tail bound of W beyond degree/n."""
        return self.potential.tail_bound(domain, degree // self.fold)

    def parameters(self) -> dict[str, Any]:
        """Return the description of W and n."""
        return {"potential": self.potential.name, "fold": self.fold}


@claim(
    "circle.rotation",
    "rotation equivariance",
    statement=(
        "Rotating a stationary density by any angle leaves it stationary, with the same free energy, "
        "dissipation and spectrum."
    ),
    assumptions="no confinement; some clustered state exists",
    source="W depends on differences of angles only",
    hypotheses=attractive,
    needs=FREE_ENERGY,
)
def rotations(problem: Equation, tools: Tools) -> Evidence:
    """Check residual, free energy, dissipation and spectrum of rotated states against those computed."""
    diagram = tools.diagram(problem, interval(problem))
    found: list[Evidence] = []
    candidates = [state for state in clustered_states(diagram, 5) if _moderate(state)]
    for state in sorted(candidates, key=lambda state: state.modes)[:2]:
        found += _rotation_evidence(state, rotated(state, ANGLE), tools)
    return worst(found)


def _moderate(state: State) -> bool:
    return 0.05 < state.order_parameter(max(state.symmetry, 1)) < CONCENTRATED


def rotated(state: State, angle: float) -> State:
    """Return the state rotated by an angle."""
    moments = (state.cosine + 1j * state.sine) * np.exp(1j * np.arange(state.cosine.size) * angle)
    return state.replace(cosine=np.asarray(moments.real), sine=np.asarray(moments.imag))


def _rotation_evidence(state: State, turned: State, tools: Tools) -> Iterator[Evidence]:
    where = f"of the rotated {state.label} at coupling {state.coupling:.9g}"
    yield compare(fixed_point_error(turned), 0.0, MOMENT, f"residual {where}")
    before, after = (free_energy_parts(s.problem, s.cosine, s.sine).gap for s in (state, turned))
    yield compare(after, before, MOMENT * (1 + abs(before)), f"free energy gap {where}")
    lost = dissipation(turned.problem, turned.cosine, turned.sine)
    yield compare(lost, 0.0, MOMENT * state.problem.noise**2, f"dissipation {where}")
    first, second = tools.spectrum(state).eigenvalues[:4], tools.spectrum(turned).eigenvalues[:4]
    for position, (old, new) in enumerate(zip(first, second, strict=True), start=1):
        bound = EIGENVALUE * (abs(old) + state.problem.noise)
        yield compare(new, old, bound, f"eigenvalue {position} {where}")


@claim(
    "circle.embedding",
    "n-fold embedding",
    statement=(
        "For W_n(t) = W(n t): kappa_{nk}(W_n) = kappa_k(W); the stationary states of W_n are those of W in "
        "n t, with folds and transitions at the same couplings; their n-periodic eigenvalues are n^2 as large."
    ),
    assumptions="no confinement; some clustered state exists; n = 2",
    source="substitution t -> n t",
    hypotheses=attractive,
    needs=FREE_ENERGY,
)
def embedding(problem: Equation, tools: Tools) -> Evidence:
    """Compare two independent diagrams, and spectra of the same state in both."""
    embedded = problem.replace(potential=Embedded(problem.potential, FOLD))
    unit = unit_coupling(problem)
    plain, folded = (tools.diagram(p, (EMBEDDED[0] * unit, EMBEDDED[1] * unit)) for p in (problem, embedded))
    found = list(_critical_evidence(problem, embedded))
    for mode in (1, 2):
        inner, outer = primary_branch(plain, mode), primary_branch(folded, FOLD * mode)
        if (inner is None) != (outer is None):
            found.append(missing(f"the branch of mode {mode} is in one of the diagrams only"))
        elif inner is not None and outer is not None:
            found += _same_events(plain, folded, inner, outer)
            found += _same_states(folded, outer, problem)
    for state in clustered_states(plain, 2):
        if _moderate(state):
            found += _scaled_eigenvalues(state, embedded, tools)
    return worst(found)


def _critical_evidence(problem: Equation, embedded: Equation) -> Iterator[Evidence]:
    inner, outer = critical_couplings(problem, 4), critical_couplings(embedded, 4 * FOLD)
    for mode in range(1, 5):
        if np.isfinite(inner[mode]):
            yield compare(outer[FOLD * mode], inner[mode], 0.0, f"critical coupling of mode {FOLD * mode}")


def _same_events(plain: Diagram, folded: Diagram, inner: Branch, outer: Branch) -> Iterator[Evidence]:
    for kind in ("fold", "transition"):
        one = [
            float(p.coupling) for p in plain.special_points if p.type == kind and plain.branches[p.branch] is inner
        ]
        two = [
            float(p.coupling)
            for p in folded.special_points
            if p.type == kind and folded.branches[p.branch] is outer
        ]
        yield compare(len(two), len(one), 0.0, f"number of {kind}s on the {outer.label} branch")
        for first, second in zip(sorted(one), sorted(two), strict=False):
            yield compare(second, first, 2 * LOCATION * abs(first), f"{kind} of the {outer.label} branch")


def _same_states(folded: Diagram, outer: Branch, problem: Equation) -> Iterator[Evidence]:
    index = folded.branches.index(outer)
    for point in range(1, len(outer), max(1, len(outer) // 4)):
        state = folded.state(index, point)
        inner = state.replace(
            problem=problem.at(coupling=state.coupling),
            cosine=state.cosine[::FOLD],
            sine=state.sine[::FOLD],
            modes=state.modes // FOLD + 1,
        )
        text = f"residual of the {outer.label} seen in n t, coupling {state.coupling:.9g}"
        yield compare(fixed_point_error(inner), 0.0, MOMENT, text)


def _scaled_eigenvalues(state: State, embedded: Equation, tools: Tools) -> Iterator[Evidence]:
    cosine, sine = (np.zeros(FOLD * (part.size - 1) + 1) for part in (state.cosine, state.sine))
    cosine[::FOLD], sine[::FOLD] = state.cosine, state.sine
    outer = state.replace(
        problem=embedded.at(coupling=state.coupling),
        cosine=cosine,
        sine=sine,
        modes=FOLD * state.modes,
        symmetry=FOLD * state.symmetry,
        unstable=None,
    )
    inner_values, outer_values = tools.spectrum(state).eigenvalues[:3], tools.spectrum(outer).eigenvalues
    for value in inner_values:
        expected = FOLD**2 * float(value)
        nearest = float(outer_values[np.abs(outer_values - expected).argmin()])
        bound = EIGENVALUE * (abs(expected) + state.problem.noise)
        text = f"{FOLD}-periodic eigenvalue on the {state.label} at coupling {state.coupling:.9g}"
        yield compare(nearest, expected, bound, text)


@claim(
    "circle.tricritical",
    "the ratio 3/4 at the tricritical point",
    statement=(
        "As beta decreases to beta*_1 the fold and the transition of the transformer satisfy "
        "(1 - kappa_T/kappa_1)/(1 - kappa_fold/kappa_1) -> 3/4."
    ),
    assumptions="transformer, beta > 0; a statement on the family",
    source="Landau form (1-lambda) x + (b1/2) x^2 + (b2/3) x^3",
    hypotheses=transformer,
    needs=FREE_ENERGY,
)
def tricritical_ratio(problem: Equation, tools: Tools) -> Evidence:
    """Compare the ratio of transition to fold, extrapolated from five values of beta to beta*_1, with 3/4."""
    excess = np.array([0.04, 0.06, 0.08, 0.10, 0.12])
    ratios, noise = [], []
    for step in excess:
        near = McKeanVlasov(problem.domain, Transformer(tricritical_beta(1) + float(step)), noise=problem.noise)
        critical = unit_coupling(near)
        diagram = tools.diagram(near, (0.95 * critical, 1.05 * critical))
        folds, transitions = ([float(p.coupling) for p in diagram.events(kind)] for kind in ("fold", "transition"))
        if len(folds) != 1 or len(transitions) != 1:
            return missing(f"{len(folds)} folds and {len(transitions)} transitions at beta*_1 + {step:g}, not 1")
        depth = 1 - folds[0] / critical
        ratios.append((1 - transitions[0] / critical) / depth)
        noise.append(2 * LOCATION / depth)
    value, error = polynomial_at_zero(excess, np.array(ratios), np.array(noise), 0)
    return compare(value, 0.75, error, "extrapolated ratio of the distances from kappa_1")


def repulsive(problem: Equation) -> str | None:
    """Return the reason why the potential is not purely repulsive, or None if it is."""
    reason = anywhere(problem)
    if reason is None and attractive(problem) is None:
        reason = "some mode attracts"
    return reason


@claim(
    "circle.repulsive",
    "repulsion leaves the uniform state alone",
    statement="If all w_k >= 0, uniform is the only stationary state and is stable for every kappa > 0.",
    assumptions="no mode attracts",
    source="F is strictly convex; Carrillo, Gvalani, Pavliotis, Schlichting (ARMA 235, 2020), H-stability",
    hypotheses=repulsive,
)
def only_uniform(problem: Equation, tools: Tools) -> Evidence:
    """Count branches, events, unstable directions and states besides uniform."""
    return worst(list(nothing_but_uniform(problem, tools, interval(problem), unit_coupling(problem))))
