"""Evolutions: how they end near branch points, the accuracy they state, fitted rates, and bands of particles."""

import contextlib
import dataclasses
import math
from typing import Any

import numpy as np

from meanfield import (
    Circle,
    ComputationFailed,
    CosineSeries,
    InvalidInput,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Outcome,
    Sphere,
    State,
    Transformer,
    critical_couplings,
)
from solvers import bifurcation_diagram, evolve, stationary_states
from tests.campaigns import Finding, Verdict

# What an evolution to rest may take, whatever the coupling.
MOST_STEPS = 200_000


def series(rng: np.random.Generator, most: int = 4, size: float = 1.0) -> CosineSeries:
    """Return a short random series, rounded so that it can be typed."""
    return CosineSeries(tuple(float(w) for w in np.round(size * rng.normal(size=rng.integers(1, most + 1)), 3)))


# How an evolution ends


def hessian_signs(problem: McKeanVlasov, cosine: Any, sine: Any) -> tuple[int, float]:
    """Return the unstable directions at a density of the circle, and the smallest size of an eigenvalue.

    The inertia of 1 - A^(1/2) C A^(1/2), with C twice the covariances of all cosines and sines felt and A the
    strengths lambda_k, less the negative ones of repulsive modes; the direction of rotation is taken out.
    """
    noise, coupling = problem.noise, problem.fixed_coupling
    weights = np.asarray(problem.potential.multipliers(problem.domain, 48), dtype=float)
    strengths = -coupling * weights / (2.0 * noise)
    felt = np.flatnonzero(np.abs(strengths[1:]) > 1e-14) + 1
    angle = 2.0 * math.pi * np.arange(1024) / 1024
    functions = np.concatenate([np.cos(np.outer(felt, angle)), np.sin(np.outer(felt, angle))])
    held = np.zeros(2 * felt.size)
    inside = felt < cosine.size
    held[: felt.size][inside], held[felt.size :][inside] = cosine[felt[inside]], sine[felt[inside]]
    both = np.concatenate([strengths[felt]] * 2)
    exponent = 2.0 * (both * held) @ functions
    if problem.confinement is not None:
        exponent = exponent - problem.confinement.values(angle) / noise
    density = np.exp(exponent - exponent.max())
    density /= density.sum()
    means = functions @ density
    covariance = 2.0 * ((functions - means[:, None]) * density) @ (functions - means[:, None]).T
    roots = np.sqrt(np.abs(both))
    matrix = np.diag(np.sign(both)) - roots[:, None] * covariance * roots
    shift = 0.0
    if problem.confinement is None and np.abs(means).max() > 1e-9:
        turned = np.concatenate([-felt * means[felt.size :], felt * means[: felt.size]]) * roots * np.sign(both)
        turned /= np.linalg.norm(turned)
        shift = 4.0
        matrix = matrix + shift * np.outer(turned, turned)
    values = np.linalg.eigvalsh(matrix)
    return int((values < 0.0).sum() - (both < 0.0).sum()), float(np.abs(values).min())


def circle_problem(rng: np.random.Generator) -> McKeanVlasov:
    kind = rng.integers(4)
    if kind == 0:
        return McKeanVlasov(Circle(), Kuramoto())
    if kind == 1:
        return McKeanVlasov(Circle(), Transformer(float(np.round(rng.uniform(0.5, 6.0), 2))))
    weights = list(series(rng).w)
    weights[0] = -abs(weights[0]) - 0.3
    noise = float(np.round(rng.uniform(0.3, 2.0), 2))
    confinement = series(rng, 3, 0.3) if kind == 3 else None
    return McKeanVlasov(Circle(), CosineSeries(tuple(weights)), noise=noise, confinement=confinement)


def sphere_problem(rng: np.random.Generator) -> McKeanVlasov:
    sphere = Sphere(int(rng.integers(3, 7)))
    potential = [Kuramoto(), MaierSaupe(), Transformer(float(np.round(rng.uniform(0.3, 4.0), 2)))][rng.integers(3)]
    return McKeanVlasov(sphere, potential)


def thresholds(problem: McKeanVlasov, rng: np.random.Generator) -> list[float]:
    """Return couplings at which states meet: those of the uniform state, or of everything in a diagram."""
    criticals = critical_couplings(dataclasses.replace(problem, confinement=None), 8)
    positive = [float(value) for value in criticals if 0.0 < value < math.inf]
    if not positive or (problem.confinement is None and rng.uniform() < 0.6):
        return positive[:3]
    with contextlib.suppress(ComputationFailed):
        diagram = bifurcation_diagram(problem, interval=(0.3 * min(positive), 1.6 * min(positive)))
        kinds = ("fold", "branch point")
        return [float(point.coupling) for point in diagram.events() if point.type in kinds]
    return []


def near_threshold(rng: np.random.Generator) -> tuple[McKeanVlasov, list[State], float] | None:
    """Return a problem next to a threshold, its states, and the relative distance."""
    problem = circle_problem(rng) if rng.uniform() < 0.75 else sphere_problem(rng)
    found = thresholds(problem, rng)
    if not found:
        return None
    away = 10.0 ** -float(rng.integers(1, 10)) * (1 if rng.uniform() < 0.5 else -1)
    problem = problem.at(coupling=found[rng.integers(len(found))] * (1.0 + away))
    states = [state for state in stationary_states(problem, rates=False) if state.unstable is not None]
    return (problem, states, away) if states else None


def apart(one: State, other: State) -> float:
    size = max(one.cosine.size, other.cosine.size)
    pads = [np.pad(state.cosine - 1j * state.sine, (0, size - state.cosine.size)) for state in (one, other)]
    return float(math.sqrt(2.0) * np.linalg.norm(np.abs(pads[0]) - np.abs(pads[1])))


def outcomes(rng: np.random.Generator) -> Finding:
    """Start at a state next to a threshold, or beside it, and judge the word that the evolution ends with."""
    drawn = near_threshold(rng)
    if drawn is None:
        return Finding(Verdict.REFUSED, "no threshold was drawn")
    problem, states, away = drawn
    # States close to another one are those that matter.
    ranked = sorted(states, key=lambda one: min((apart(one, two) for two in states if two is not one), default=9.0))
    state = ranked[0] if rng.uniform() < 0.7 else states[rng.integers(len(states))]
    near = min((apart(state, other) for other in states if other is not state), default=1.0)
    offset = 0.0 if rng.uniform() < 0.5 else 1e-2 * near * 10.0 ** -rng.uniform(0.0, 3.0)
    cosine, sine = state.cosine.copy(), state.sine.copy()
    if state.layout != "degree":
        return Finding(Verdict.REFUSED, "a state without an axis")
    cosine[1 : min(4, cosine.size)] += offset * rng.uniform(-1.0, 1.0, min(3, cosine.size - 1))
    if state.density(np.linspace(0.0, math.pi, 200)).min() < 4.0 * offset:
        offset, cosine = 0.0, state.cosine.copy()
    until = math.inf if rng.uniform() < 0.5 else 1.0 / problem.noise
    call = (
        f"{problem!r}  # state {state.label!r}, {state.unstable} unstable, next one at {near:.1e}; 1 {away:+.0e} times "
        f"a threshold; moved by {offset:.1e}; until {until}"
    )
    path = evolve(problem, (cosine, sine), until, stop_at_stationarity=True, on_failure="return")
    return judged_outcome(problem, state, path, offset, call)


def judged_outcome(problem: McKeanVlasov, state: State, path: Any, offset: float, call: str) -> Finding:
    detail = f"{path.outcome.name} at {path.time[-1]:.3g}, {path.steps} steps, distance {path.distance}, {path.warnings}"
    if path.steps > MOST_STEPS:
        return Finding(Verdict.SILENT, call, f"unbounded work: {detail}")
    if path.outcome is Outcome.UNDECIDED:
        return Finding(Verdict.SAID, call, detail)
    if path.outcome is Outcome.PARTIAL:
        return Finding(Verdict.SAID, call, detail)
    moved = float(math.sqrt(2.0) * math.hypot(*(np.linalg.norm(
        getattr(path, name)[-1] - np.pad(getattr(state, name), (0, max(0, path.cosine.shape[1] - state.cosine.size)))[: path.cosine.shape[1]]
    ) for name in ("cosine", "sine"))))
    stayed = moved <= max(10.0 * offset, 1e-7 if offset == 0.0 else 0.0)
    if stayed:
        allowed = [Outcome.METASTABLE] if state.unstable else [Outcome.STATIONARY]
        if offset > 1e-8:
            allowed.append(Outcome.REACHED_TIME)
        right = path.outcome in allowed
    elif path.outcome is Outcome.STATIONARY and isinstance(problem.domain, Circle):
        count, smallest = hessian_signs(problem, path.cosine[-1], path.sine[-1])
        right = count == 0
        detail += f"; own count {count}, smallest eigenvalue {smallest:.1e}"
    elif path.outcome is Outcome.METASTABLE:
        right = bool(path.unstable)
    else:
        right = True
    if right and path.outcome is Outcome.REACHED_TIME and path.time[-1] > 1e10 / problem.noise:
        return Finding(Verdict.SAID if path.warnings else Verdict.SILENT, call, detail)
    return Finding(Verdict.RIGHT if right else Verdict.SILENT, call, f"moved {moved:.1e}; {detail}")


SUBJECTS = {"outcomes": outcomes}
