"""Whether all stationary states on the circle are found at a coupling, with and without a confinement."""

from typing import Any

import numpy as np

from meanfield import Circle, CosineSeries, McKeanVlasov
from solvers import stationary_states
from tests import brute_force
from tests.campaigns import Finding, Verdict

NODES, STARTS = 256, 512
# Moments and energies of one state found twice; states closer than this count as one.
SAME = 3e-6
# A brute state whose density has moments beyond the last node larger than this is not resolved.
RESOLVED = 1e-9
# A minimiser may be above another state by no more than this.
TIE = 1e-9


def without_field(generator: np.random.Generator) -> Finding:
    """Judge the states of a random series of one to eight modes, up to three times its first threshold."""
    return _judged(_series(generator), (), generator.uniform(0.8, 3.0))


def with_field(generator: np.random.Generator) -> Finding:
    """Judge the states of a random series in a random field of up to four modes, weak or strong."""
    field = generator.uniform(-1.0, 1.0, generator.integers(1, 5)) * 10.0 ** generator.uniform(-2.0, 0.3)
    return _judged(_series(generator), tuple(field), generator.uniform(0.3, 3.0))


def _series(generator: np.random.Generator) -> tuple[float, ...]:
    weights = generator.uniform(-1.3, 1.0, generator.integers(1, 9))
    if weights.min() > -0.1:
        weights[generator.integers(weights.size)] = -1.0
    return tuple(weights)


def _judged(weights: tuple[float, ...], field: tuple[float, ...], relative: float) -> Finding:
    weights, field = (tuple(float(f"{value:.6g}") for value in values) for values in (weights, field))
    coupling = float(f"{-2.0 / min(weights) * relative:.6g}")
    confinement = f", confinement=CosineSeries({field})" if field else ""
    call = f"stationary_states(McKeanVlasov(Circle(), CosineSeries({weights}), coupling={coupling}{confinement}))"
    problem = McKeanVlasov(
        Circle(), CosineSeries(weights), coupling=coupling, confinement=CosineSeries(field) if field else None
    )
    found = stationary_states(problem, rates=False)
    space = brute_force.circle(weights, field, NODES)
    truth = [
        state for state in brute_force.stationary_states(space, coupling, starts=STARTS) if _is_resolved(state)
    ]
    wrong = _wrong(found, truth, space, coupling)
    if wrong:
        return Finding(Verdict.SILENT, call, wrong)
    missing = [state for state in truth if not any(_same(state, other) for other in found)]
    if missing:
        words = ", ".join(f"gap {state.gap:.9f} unstable {state.unstable}" for state in missing)
        silent = found.complete is True
        return Finding(Verdict.SILENT if silent else Verdict.SAID, call, f"missing {words}; {found.searched}")
    if found[0].minimiser is None:
        return Finding(Verdict.SAID, call, f"no minimiser: {found[0].minimiser_reason}")
    return Finding(Verdict.RIGHT, call)


def _wrong(found: Any, truth: list[brute_force.BruteState], space: Any, coupling: float) -> str:
    """Return what is wrong in the states that are there, in words."""
    for state in found:
        rest = _residual(state, space, coupling)
        if rest > 1e-8:
            return f"{state.label} at gap {state.free_energy_gap:.9f} is no state: {rest:.1e}"
        twin = next((other for other in truth if _same(other, state)), None)
        near = sum(_same(other, state) for other in truth) > 1 or (twin is not None and _is_degenerate(twin, space))
        if twin is not None and not near and twin.unstable != state.unstable:
            return f"{state.label} at gap {state.free_energy_gap:.9f} has {twin.unstable} unstable, not {state.unstable}"
    if len({id(one) for one in found for other in found if one is not other and _equal(one, other)}):
        return "one state is there twice"
    lowest = min((state.gap for state in truth), default=np.inf)
    if found[0].minimiser and lowest < found[0].free_energy_gap - TIE:
        return f"the minimiser has gap {found[0].free_energy_gap:.9f}, and a state has {lowest:.9f}"
    return ""


def _is_resolved(state: brute_force.BruteState) -> bool:
    moments = np.abs(np.fft.rfft(state.density)) / NODES
    return bool(moments[-NODES // 16 :].max() < RESOLVED)


def _is_degenerate(state: brute_force.BruteState, space: Any) -> bool:
    return state.neutral > (0 if np.any(space.confinement) or not state.powers.max() else 1)


def _lengths(state: Any) -> Any:
    return np.hypot(state.cosine, state.sine)[1:]


def _same(truth: brute_force.BruteState, state: Any) -> bool:
    lengths, degrees = np.zeros(64), np.flatnonzero(state.problem.potential.multipliers(Circle(), 63)[1:])
    count = min(64, _lengths(state).size)
    lengths[:count] = _lengths(state)[:count]
    # A neutral direction of a confined state leaves its angle open, and with it what the confinement adds.
    open_angle = truth.neutral > 0 and state.problem.confinement is not None
    apart = 0.0 if open_angle else np.abs(truth.powers / np.sqrt(2.0) - lengths[degrees]).max()
    return bool(apart < SAME and abs(truth.gap - state.free_energy_gap) < SAME)


def _equal(one: Any, other: Any) -> bool:
    count = min(one.cosine.size, other.cosine.size) - 1
    apart = np.abs(_lengths(one)[:count] - _lengths(other)[:count]).max()
    if one.problem.confinement is not None:
        apart = max(apart, np.abs(one.cosine[:count] - other.cosine[:count]).max())
    return bool(apart < 1e-8 and abs(one.free_energy_gap - other.free_energy_gap) < 1e-11)


def _residual(state: Any, space: Any, coupling: float) -> float:
    """Return how far the moments of a state are from those of its Gibbs density."""
    angles = 2.0 * np.pi * np.arange(NODES) / NODES
    density = 2.0 * np.pi * state.density(angles) * space.weights
    moments = space.values @ density
    return float(np.abs(brute_force.gibbs(space, coupling, 1.0, moments[None])[0] @ space.values.T - moments).max())


SUBJECTS = {"states-circle": without_field, "states-confined": with_field}
