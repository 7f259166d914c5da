"""Attention and other velocity laws with noise: evolutions, states, counts and rates against dense collocation."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from meanfield import (
    Circle,
    CommonFrequency,
    ComputationFailed,
    ContinuityEquation,
    CosineSeries,
    DepthScaled,
    Equation,
    External,
    InvalidInput,
    McKeanVlasov,
    NormalisedAttention,
    PhaseLag,
    SoftmaxAttention,
    State,
    Transformer,
    critical_coupling,
)
from solvers import evolve, stationary_states
from tests import oracles
from tests.campaigns import Finding, Verdict

# Odd, so that differentiation has no wave of its own sign; densities must have decayed by half of it.
POINTS = 127
ANGLES = 2.0 * np.pi * np.arange(POINTS) / POINTS
LAWS: dict[str, Callable[[float], Any]] = {
    "none": Transformer,
    "softmax": SoftmaxAttention,
    "ngpt": NormalisedAttention,
}
# Moments of evolutions to a tolerance of 1e-9, and rates.
CLOSE, RATES = 1e-6, 1e-6
# Moments of one state found twice, starts of brute force, and what the last moments of a density may be.
SAME, STARTS, RESOLVED = 1e-5, 12, 1e-11


def law_of(generator: np.random.Generator) -> tuple[str, float, Any]:
    """Return a normalisation, beta and the law of it."""
    normalisation = str(generator.choice(list(LAWS)))
    beta = float(np.round(generator.uniform(0.2, 6.0) * generator.choice([1.0, 1.0, 1.0, -0.5]), 2))
    return normalisation, beta, LAWS[normalisation](beta)


def field_of(generator: np.random.Generator, even: bool) -> tuple[Any, Any]:
    """Return no field or one of three modes, and the values of its coefficients (even, odd)."""
    kind = generator.integers(3)
    if kind == 0:
        return None, (np.zeros(0), np.zeros(0))
    cosines = np.round(generator.uniform(-0.5, 0.5, 3), 3)
    if even or kind == 1:
        return CosineSeries(tuple(cosines.tolist())), (cosines, np.zeros(3))
    sines = np.round(generator.uniform(-0.5, 0.5, 3), 3)
    formula = " + ".join(
        f"({a})*cos({k}*t) + ({b})*sin({k}*t)"
        for k, (a, b) in enumerate(zip(cosines.tolist(), sines.tolist(), strict=True), start=1)
    )
    return External.from_expression(formula), (cosines, sines)


def slope_of(parts: tuple[Any, Any]) -> Any:
    """Return V' on the grid."""
    total = np.zeros(POINTS)
    for degree, (a, b) in enumerate(zip(*parts, strict=True), start=1):
        total += degree * (b * np.cos(degree * ANGLES) - a * np.sin(degree * ANGLES))
    return total


def equation(law: Any, **fields: Any) -> Equation:
    kind = McKeanVlasov if isinstance(law, Transformer) else ContinuityEquation
    return kind(Circle(), law, **fields)


def evolutions(generator: np.random.Generator) -> Finding:
    """Compare the moments of an evolution with those of collocation at the same time."""
    normalisation, beta, law = law_of(generator)
    field, parts = field_of(generator, even=False)
    noise, coupling = (
        np.round(generator.uniform(0.3, 1.5), 2).item(),
        np.round(generator.uniform(-1.0, 4.0), 2).item(),
    )
    coupling *= math.exp(-max(abs(beta) - 1.0, 0.0)) if normalisation == "none" else 1.0
    lag = np.round(generator.uniform(-1.5, 1.5), 2).item() if generator.uniform() < 0.4 else 0.0
    power = 0.5 if generator.uniform() < 0.2 else 0.0
    frequency = np.round(generator.uniform(-2.0, 2.0), 2).item() if generator.uniform() < 0.2 else 0.0
    if lag:
        law = PhaseLag(law, lag)
    if power and not field:
        law = DepthScaled(law, power)
    elif frequency:
        law = CommonFrequency(law, frequency)
    power, frequency = (power, 0.0) if power and not field else (0.0, frequency)
    modes = generator.normal(size=(2, 3))
    until = float(np.round(generator.uniform(0.2, 2.0), 2))

    def start(angle: Any) -> Any:
        degrees = np.arange(1, 4)
        phases = np.multiply.outer(angle, degrees)
        return np.exp(0.5 * (np.cos(phases) @ modes[0] + np.sin(phases) @ modes[1]))

    density = start(ANGLES)
    density /= density.mean()
    force, waves = slope_of(parts), 1j * np.fft.fftfreq(POINTS, 1.0 / POINTS)

    def slope(time: float, density: Any) -> Any:
        velocity = oracles.attention_velocity(normalisation, beta, ANGLES, density / POINTS, ANGLES + lag)
        along = frequency + coupling * velocity / (1.0 + time) ** power - force
        spectral = noise * waves**2 * np.fft.fft(density) - waves * np.fft.fft(density * along)
        return np.fft.ifft(spectral).real

    call = f"evolve({law!r}, noise={noise}, coupling={coupling}, field={parts!r}, start={modes!r}, until={until})"
    mass = 2.0 * np.pi * start(2.0 * np.pi * np.arange(512) / 512).mean()
    if not isinstance(law, Transformer) and isinstance(law, PhaseLag | DepthScaled | CommonFrequency):
        problem: Equation = ContinuityEquation(Circle(), law, noise=noise, coupling=coupling, confinement=field)
    else:
        problem = equation(law, noise=noise, coupling=coupling, confinement=field)
    try:
        found = evolve(problem, lambda angle: start(angle) / mass, until=until, tolerance=1e-9)
    except (InvalidInput, ComputationFailed) as error:
        return Finding(Verdict.REFUSED, call, str(error))
    truth = solve_ivp(slope, (0.0, until), density, method="LSODA", rtol=1e-10, atol=1e-12).y[:, -1]
    spectral = np.fft.ifft(truth)
    if np.abs(spectral[POINTS // 2 - 8 : POINTS // 2]).max() > 1e-9:
        return Finding(Verdict.REFUSED, call, "the grid is too coarse")
    missed = max(
        abs(complex(found.cosine[-1][k], found.sine[-1][k]) - spectral[k])
        for k in range(min(6, found.cosine.shape[1]))
    )
    verdict = Verdict.RIGHT if missed < CLOSE else Verdict.SAID if found.warnings else Verdict.SILENT
    return Finding(verdict, call, f"moments are off by {missed:.1e}; {found.warnings}")


def states(generator: np.random.Generator) -> Finding:
    """Hold every state of attention with noise against collocation: rest, count and slowest rate."""
    normalisation, beta, law = law_of(generator)
    field, parts = field_of(generator, even=normalisation == "ngpt")
    noise = float(np.round(generator.uniform(0.4, 1.5), 2))
    first = critical_coupling(equation(law, noise=noise))
    if first is None:
        return Finding(Verdict.REFUSED, f"{law}", "no critical coupling")
    coupling = float(f"{float(first) * generator.uniform(0.5, 2.5):.6g}")
    problem = equation(law, noise=noise, coupling=coupling, confinement=field)
    call = f"stationary_states({problem!r})"
    try:
        found = stationary_states(problem)
    except (InvalidInput, ComputationFailed) as error:
        return Finding(Verdict.REFUSED, call, str(error))
    wrong = next((words for state in found if (words := _wrong(state, normalisation, beta, parts))), "")
    if wrong:
        return Finding(Verdict.SILENT, call, wrong)
    values, tries = _values(parts), int(generator.integers(1 << 30))
    truth = oracles.attention_states(
        normalisation, beta, coupling, noise, values, STARTS, tries, normalisation == "ngpt"
    )
    sizes = [np.hypot(state.cosine, state.sine)[:5] for state in found]
    missing = [
        moments[1:4]
        for moments in (np.abs(np.fft.ifft(density))[:5] for density in truth)
        if not any(np.abs(one - moments[: one.size]).max() < SAME for one in sizes)
    ]
    if missing:
        silent = found.complete is True
        return Finding(Verdict.SILENT if silent else Verdict.SAID, call, f"missing {missing}; {found.searched}")
    return Finding(Verdict.RIGHT, call)


def _wrong(state: State, normalisation: str, beta: float, parts: tuple[Any, Any]) -> str:
    """Return what is wrong with a state against the dense linearisation, the empty text if nothing is."""
    problem = state.problem
    density = 2.0 * np.pi * np.asarray(state.density(ANGLES))
    if np.abs(np.fft.ifft(density))[POINTS // 2 - 8 : POINTS // 2].max() > RESOLVED:
        return ""
    change, jacobian = oracles.collocated_attention(
        normalisation, beta, problem.fixed_coupling, problem.noise, density, -slope_of(parts)
    )
    if np.abs(change).max() > 1e-9 * problem.noise * POINTS**2:
        return f"{state.label} is not at rest: {np.abs(change).max():.1e}"
    values = np.linalg.eigvals(jacobian)
    # Of the mass, and without a field that of rotation.
    turns = problem.confinement is None and np.abs(density - 1.0).max() > 1e-6
    values = values[np.argsort(np.abs(values))][1 + turns :]
    unstable, slowest = int((values.real > 0.0).sum()), -float(values.real.max())
    if np.abs(values.real).min() > 1e-7 and state.unstable not in (None, unstable):
        return f"{state.label} has {state.unstable} unstable directions, {unstable} are there"
    if state.slowest_rate is not None and abs(state.slowest_rate - slowest) > RATES * max(1.0, abs(slowest)):
        return f"{state.label} has the rate {state.slowest_rate}, not {slowest}"
    return ""


def _values(parts: tuple[Any, Any]) -> Any:
    total = np.zeros(POINTS)
    for degree, (a, b) in enumerate(zip(*parts, strict=True), start=1):
        total += a * np.cos(degree * ANGLES) + b * np.sin(degree * ANGLES)
    return total


SUBJECTS = {"law-evolutions": evolutions, "law-states": states}
