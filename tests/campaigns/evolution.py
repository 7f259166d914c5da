"""Evolutions: how they end near branch points, the accuracy they state, fitted rates, and bands of particles."""

import contextlib
import dataclasses
import itertools
import math
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from meanfield import (
    Circle,
    ComputationFailed,
    CosineSeries,
    HegselmannKrause,
    InvalidInput,
    KellerSegel,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Onsager,
    Outcome,
    Sphere,
    State,
    Transformer,
    critical_couplings,
)
from solvers import ETDRK4, PerturbedUniform, bifurcation_diagram, contraction_rate, evolve, stationary_states
from tests import problems
from tests.campaigns import Finding, Verdict
from verification import compare

# What an evolution to rest may take, whatever the coupling.
MOST_STEPS = 200_000


def series(rng: np.random.Generator, most: int = 4, size: float = 1.0) -> CosineSeries:
    """Return a short random series, rounded so that it can be typed."""
    return CosineSeries(tuple(float(w) for w in np.round(size * rng.normal(size=rng.integers(1, most + 1)), 3)))


# How an evolution ends


def hessian_signs(problem: McKeanVlasov, cosine: Any, sine: Any) -> tuple[int, float]:
    """Return the unstable directions at a density of the circle, and the smallest size of an eigenvalue.

    The inertia of 1 - A^(1/2) C A^(1/2), with C twice the covariances of all cosines and sines significant and A the
    strengths lambda_k, less the negative ones of repulsive modes; the direction of rotation is taken out.
    """
    noise, coupling = problem.noise, problem.fixed_coupling
    weights = np.asarray(problem.potential.multipliers(problem.domain, 48), dtype=float)
    strengths = -coupling * weights / (2.0 * noise)
    significant = np.flatnonzero(np.abs(strengths[1:]) > 1e-14) + 1
    angle = 2.0 * math.pi * np.arange(1024) / 1024
    functions = np.concatenate([np.cos(np.outer(significant, angle)), np.sin(np.outer(significant, angle))])
    held = np.zeros(2 * significant.size)
    inside = significant < cosine.size
    held[: significant.size][inside], held[significant.size :][inside] = (
        cosine[significant[inside]],
        sine[significant[inside]],
    )
    both = np.concatenate([strengths[significant]] * 2)
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
        turned = (
            np.concatenate([-significant * means[significant.size :], significant * means[: significant.size]])
            * roots
            * np.sign(both)
        )
        turned /= np.linalg.norm(turned)
        shift = 4.0
        matrix = matrix + shift * np.outer(turned, turned)
    values = np.linalg.eigvalsh(matrix)
    return int((values < 0.0).sum() - (both < 0.0).sum()), float(np.abs(values).min())


def circle_problem(rng: np.random.Generator) -> McKeanVlasov:
    kind = rng.integers(4)
    if kind == 0:
        return problems.KURAMOTO.problem
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
    detail = (
        f"{path.outcome.name} at {path.time[-1]:.3g}, {path.steps} steps, distance {path.distance}, {path.warnings}"
    )
    if path.steps > MOST_STEPS:
        return Finding(Verdict.SILENT, call, f"unbounded work: {detail}")
    if path.outcome is Outcome.UNDECIDED:
        return Finding(Verdict.SAID, call, detail)
    if path.outcome is Outcome.PARTIAL:
        return Finding(Verdict.SAID, call, detail)
    moved = float(
        math.sqrt(2.0)
        * math.hypot(
            *(
                np.linalg.norm(
                    getattr(path, name)[-1]
                    - np.pad(getattr(state, name), (0, max(0, path.cosine.shape[1] - state.cosine.size)))[
                        : path.cosine.shape[1]
                    ]
                )
                for name in ("cosine", "sine")
            )
        )
    )
    stayed = moved <= max(10.0 * offset, 1e-7 if offset == 0.0 else 0.0)
    if stayed:
        allowed = [Outcome.METASTABLE] if state.unstable else [Outcome.STATIONARY]
        if offset > 0.0 and moved > path.tolerance:
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


# The accuracy of an evolution


def tight_moments(weights: Any, coupling: float, noise: float, start: Any, times: Any, force: Any) -> Any:
    """Return c_1..c_K at the times by DOP853 far below any tolerance, each product a plain convolution.

    c_k' = -D k^2 c_k - k sum_j j u_j c_{k-j} with u_j = (kappa w_j c_j + v_j) / 2; even densities, c real.
    """
    degree = len(start)
    k = np.arange(1, degree + 1)

    def derivative(_: float, c: Any) -> Any:
        slope = 0.5 * k * (coupling * weights * c + force)
        both = np.convolve(np.concatenate([-slope[::-1], [0.0], slope]), np.concatenate([c[::-1], [1.0], c]))
        return -noise * k**2 * c - k * both[2 * degree + 1 : 3 * degree + 1]

    path = [np.asarray(start)]
    # Interval by interval, for values between the steps are less accurate.
    for before, after in itertools.pairwise(times):
        solved = solve_ivp(derivative, (before, after), path[-1], "DOP853", rtol=3e-14, atol=1e-20)
        path.append(solved.y[:, -1])
    return np.array(path)


def tolerances(rng: np.random.Generator) -> Finding:
    """Let a tiny mode grow beside larger ones, and compare the accuracy stated with a run of another integrator."""
    weights = np.zeros(28)
    potential = CosineSeries(tuple(float(w) for w in np.round(rng.uniform(-3.0, 0.5, rng.integers(2, 5)), 2)))
    weights[: len(potential.w)] = potential.w
    confinement = series(rng, 3, 0.2) if rng.uniform() < 0.3 else None
    force = np.zeros(28)
    if confinement is not None:
        force[: len(confinement.w)] = confinement.w
    # The strongest mode grows at the rate of two noises at most, so that clusters stay wide.
    coupling = float(np.round(rng.uniform(0.8, 1.6) * 2.0 / max(0.5, -weights.min()), 3))
    problem = McKeanVlasov(Circle(), potential, coupling=coupling, confinement=confinement)
    start = np.zeros(28)
    count = int(rng.integers(2, 5))
    start[:count] = 0.2 * 10.0 ** -rng.uniform(0.0, 8.0, count) * rng.choice([-1.0, 1.0], count)
    until = float(np.round(rng.uniform(1.0, 12.0), 2))
    tolerance = 10.0 ** -float(rng.integers(4, 11))
    methods: list[Any] = [
        None,
        None,
        ETDRK4(),
        ETDRK4(step=float(np.round(0.1 * 10.0 ** -rng.uniform(0.0, 1.5), 4))),
    ]
    method = methods[rng.integers(4)]
    times = np.linspace(0.0, until, 9)
    moments = np.concatenate([[1.0], start])
    call = (
        f"evolve({problem!r}, ({moments[: count + 1].tolist()}, {[0.0] * (count + 1)}), {until}, "
        f"times=8, tolerance={tolerance:g}, method={method!r})"
    )
    path = evolve(problem, (moments, 0.0 * moments), until, times=times, tolerance=tolerance, method=method,
                  on_failure="return")  # fmt: skip
    if path.partial:
        return Finding(Verdict.REFUSED, call, str(path.warnings))
    exact = tight_moments(weights, coupling, 1.0, start, times, force)
    if np.abs(exact[:, -2:]).max() > 1e-12:
        return Finding(Verdict.REFUSED, call, "the density is too narrow for the reference")
    found = np.zeros_like(exact)
    width = min(path.cosine.shape[1] - 1, 28)
    found[:, :width] = path.cosine[:, 1 : width + 1]
    errors = np.abs(found - exact).max(axis=1) / np.abs(exact).max(axis=1)
    error = float(errors.max())
    detail = f"error {error:.2e}, stated {path.accuracy}, tolerance {tolerance:g}, {path.method}; {path.warnings}"
    floor = 1e-12
    if path.accuracy is None:
        said = any("the accuracy reached is not known" in warning for warning in path.warnings)
        return Finding(Verdict.SAID if said else Verdict.SILENT, call, detail)
    if error > max(path.accuracy, floor):
        return Finding(
            Verdict.SILENT, call, f"worse by {error / path.accuracy if path.accuracy else math.inf:.1f}: {detail}"
        )
    exceeds = error > 4.0 * tolerance and path.tolerance is not None
    said = any("not to the tolerance" in warning for warning in path.warnings)
    if exceeds and not said:
        return Finding(Verdict.SILENT, call, detail)
    return Finding(Verdict.SAID if said else Verdict.RIGHT, call, detail)


# Fitted rates


def relaxing_problem(rng: np.random.Generator) -> McKeanVlasov:
    """Return a problem of any kind with its coupling, with a field or without."""
    sphere = rng.uniform() < 0.15
    domain: Any = Sphere(int(rng.integers(3, 6))) if sphere else Circle()
    beta = float(np.round(rng.uniform(0.3, 6.0), 2))
    kinds: list[Any] = [Kuramoto(), Transformer(beta), MaierSaupe()] if sphere else [
        series(rng), series(rng), Kuramoto(), Transformer(beta), KellerSegel(float(np.round(rng.uniform(0.3, 3.0), 2))),
        HegselmannKrause(float(np.round(rng.uniform(0.3, 2.5), 2))), Onsager(),
    ]  # fmt: skip
    problem = McKeanVlasov(domain, kinds[rng.integers(len(kinds))], noise=float(np.round(rng.uniform(0.3, 2.0), 2)))
    criticals = np.abs(critical_couplings(problem, 8))
    unit = float(criticals[np.isfinite(criticals)].min(initial=math.inf))
    coupling = float(np.round(rng.uniform(0.2, 2.5) * (unit if unit < math.inf else 1.0), 4))
    if rng.uniform() < 0.5:
        confinement = series(rng, 3, 0.5) if not sphere else Kuramoto()
        problem = dataclasses.replace(problem, confinement=confinement)
    return problem.at(coupling=coupling)


def relaxations(rng: np.random.Generator) -> Finding:
    """Fit the rate of relaxation, and compare its error with the distance from the spectral gap."""
    problem = relaxing_problem(rng)
    call = f"contraction_rate({problem!r})"
    try:
        found = contraction_rate(problem)
    except (ComputationFailed, InvalidInput) as error:
        return Finding(Verdict.REFUSED, call, str(error))
    misses, errors, unknown = [], [], 0
    for fit in found.fits:
        if fit.rate is None or fit.error is None:
            unknown += 1
            continue
        expected = found.expected(fit)
        errors.append(fit.error / fit.rate)
        away = abs(fit.rate - expected) - fit.multiple * found.gap_error
        if away > fit.error:
            misses.append(f"{fit.norm}: {away:.1e} > {fit.error:.1e} ({away / max(fit.error, 1e-300):.1f} times)")
    detail = f"{misses}; relative errors {np.round(np.log10(errors), 1).tolist()}; {found.warnings}"
    if misses:
        return Finding(Verdict.SILENT, call, detail)
    if unknown:
        return Finding(Verdict.SAID if found.warnings else Verdict.SILENT, call, detail)
    return Finding(Verdict.RIGHT, call, detail)


# Bands of particles

# One band of a trial misses with a probability of 1e-4, so that a miss is no accident.
CONFIDENCE = 0.9999


def bands(rng: np.random.Generator) -> Finding:
    """Compare particles with the equation, and see whether the bands of all moments hold the equation's."""
    sphere = rng.uniform() < 0.3
    domain: Any = Sphere(int(rng.integers(3, 5))) if sphere else Circle()
    potential: Any = Kuramoto() if sphere else series(rng, 3)
    critical = float(critical_couplings(McKeanVlasov(domain, potential), 1)[1])
    coupling = float(np.round(rng.uniform(-0.8, 0.8) * abs(critical), 3))
    confinement = CosineSeries((0.5,)) if not sphere and rng.uniform() < 0.3 else None
    problem = McKeanVlasov(domain, potential, coupling=coupling, confinement=confinement)
    amplitude = float(np.round(0.5 * 10.0 ** -rng.uniform(0.0, 3.0), 4))
    size, until, seed = int(rng.choice([40, 100, 400])), float(rng.choice([0.2, 1.0])), int(rng.integers(1 << 30))
    call = (
        f"compare({problem!r}, PerturbedUniform({amplitude}), {until}, particles=({size},), replicas=32, seed={seed}, "
        f"confidence={CONFIDENCE}, times=2)"
    )
    found = compare(problem, PerturbedUniform(amplitude), until, particles=(size,), replicas=32, seed=seed,
                    confidence=CONFIDENCE, times=2)  # fmt: skip
    moments = found.moments
    missed = (moments.expected[:, None] < moments.low) | (moments.expected[:, None] > moments.high)
    names = [f"{moments.names[row]} {moments.low[row, 0, at]:.4f} to {moments.high[row, 0, at]:.4f}, not "
             f"{moments.expected[row, at]:.4f}" for row, _, at in np.argwhere(missed)]  # fmt: skip
    if not names:
        return Finding(Verdict.RIGHT, call)
    grown = any("deviations of the initial density grow" in warning for warning in found.warnings)
    return Finding(Verdict.SAID if grown else Verdict.SILENT, call, "; ".join(names))


SUBJECTS = {"outcomes": outcomes, "tolerances": tolerances, "relaxations": relaxations, "bands": bands}
