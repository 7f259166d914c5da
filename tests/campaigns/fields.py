"""States and diagrams in fields: with several reflection axes, of tiny size, with kinks and singularities.

Brute force sees all densities. A search that has no argument for its completeness is allowed to lack saddles without a
reflection axis of the field; stable states, states on an axis and the minimiser are asked for.
"""

import numpy as np
from scipy.optimize import brentq

from meanfield import (
    Circle,
    CosineSeries,
    HegselmannKrause,
    KellerSegel,
    Logarithmic,
    McKeanVlasov,
    MeanfieldError,
    Onsager,
    State,
)
from solvers import bifurcation_diagram, stationary_states
from tests import brute_force
from tests.campaigns import Finding, Verdict

# Energies and moments of the same state, by two methods.
SAME = 1e-7
# Moments against quadrature with exact values: rounding of some thousand terms, amplified by J at a state.
MOMENTS = 1e-12
# Sines about an axis below this are none.
EVEN = 1e-6
# Nodes of the brute force.
NODES = (128, 1024)


def symmetric(rng: np.random.Generator) -> Finding:
    """Fields of even rotation symmetry: states on every axis, the stable ones and the minimiser are there."""
    order = int(rng.choice([2, 4, 6]))
    field = np.zeros(order * int(rng.integers(1, 3)))
    field[order - 1 :: order] = np.round(rng.normal(size=field.size // order) * rng.choice([0.2, 0.5, 1.0]), 3)
    attraction = np.round(rng.normal(size=int(rng.integers(1, 4))) - 0.5, 3)
    coupling = round(float(rng.uniform(0.5, 7.0)), 3)
    return _compared(attraction, field, coupling, order)


def over_parameters(rng: np.random.Generator) -> Finding:
    """Diagrams over noise or the field, through zero too: at both ends stable states and those on an axis are there."""
    order = int(rng.choice([1, 2, 3]))
    field = np.zeros(order * int(rng.integers(1, 3)))
    field[order - 1 :: order] = np.round(rng.uniform(0.1, 0.5, field.size // order) * rng.choice([-1.0, 1.0]), 3)
    attraction = np.round(rng.normal(size=int(rng.integers(1, 4))) - 0.5, 3)
    coupling = round(float(rng.uniform(0.5, 5.0)), 3)
    problem = _problem(attraction, field, coupling)
    if rng.random() < 0.5:
        name, ends = "noise", np.round(rng.uniform((0.5, 1.2), (1.0, 2.0)), 3)
    else:
        name, ends = f"confinement_w{order}", np.round(rng.uniform((-0.6, 0.1), (-0.1, 0.6)), 3)
    interval = (float(ends[0]), float(ends[1]))
    call = f"bifurcation_diagram({problem!r}, {interval}, parameter={name!r})"
    try:
        diagram = bifurcation_diagram(problem, interval, parameter=name, rates=False)
    except MeanfieldError as error:
        return Finding(Verdict.REFUSED, call, str(error))
    for end in interval:
        there, noise = field.copy(), 1.0
        if name == "noise":
            noise = end
        else:
            there[order - 1] = end
        found = [
            diagram.state(branch.label, point)
            for branch in diagram.branches
            for point in {0, len(branch) - 1}
            if branch.values[point] == end
        ]
        # In units of the noise.
        space = brute_force.circle(attraction, there / noise)
        lacking = _lacking(found, space, coupling / noise, order)
        if lacking:
            return Finding(Verdict.SILENT, call, f"at {name} = {end}: {lacking}")
    return Finding(Verdict.RIGHT, call)


def _lacking(states: list[State], space: brute_force.Discretisation, coupling: float, order: int) -> str:
    """Return which stable states and states on an axis are missing or have another unstable count, in words."""
    for true in brute_force.stationary_states(space, coupling, starts=512):
        near = [state for state in states if _is(true, state, space)]
        if not near and (true.unstable == 0 or _on_axis(true, space, order)):
            return f"no state of energy {true.gap:.6g} with {true.unstable} unstable directions"
        if near and not true.neutral and true.unstable not in {state.unstable for state in near}:
            return f"{near[0].label} has {near[0].unstable} unstable directions, not {true.unstable}"
    return ""


def tiny(rng: np.random.Generator) -> Finding:
    """Fields of relative size 1e-16 to 1e-6: the states without a field, turned to where the field holds them."""
    size = 10.0 ** rng.uniform(-16.0, -6.0)
    field = size * np.round(rng.normal(size=int(rng.integers(1, 3))), 2)
    if not field.any():
        field[0] = size
    coupling = round(float(rng.uniform(0.5, 6.0)), 3)
    if abs(coupling - 2.0) < 0.05:
        # Beside the critical coupling a field moves states by its root.
        coupling += 0.1
    call = _call([-1.0], field, coupling)
    try:
        states = stationary_states(_problem([-1.0], field, coupling), rates=False)
    except MeanfieldError as error:
        return Finding(Verdict.REFUSED, call, str(error))
    gaps = sorted(state.free_energy_gap for state in states)
    lengths = sorted(round(float(np.hypot(state.cosine[1], state.sine[1])), 5) for state in states)
    expected = _without_field(field, coupling)
    if [round(length, 5) for length in sorted(abs(m) for m, _ in expected)] != lengths and len(states) < len(
        expected
    ):
        return Finding(Verdict.SILENT, call, f"first moments {lengths} for {sorted(expected)}")
    for moment, stable in expected:
        near = [state for state in states if abs(float(state.cosine[1]) - moment) <= 1e-4]
        if not any((state.unstable == 0) == stable for state in near):
            return Finding(Verdict.SILENT, call, f"no state at {moment} with stable = {stable}: {lengths}, {gaps}")
    return Finding(Verdict.RIGHT, call)


def _without_field(field: np.ndarray, coupling: float) -> list[tuple[float, bool]]:
    """Return the first moments of the even Kuramoto states in a tiny field, and whether each is stable.

    The state at angle a has the energy int V(t) rho(t - a) = sum v_k m_k cos(ka) to first order; at a = 0 and pi it is
    at rest, stable if that is a minimum there.
    """
    if coupling <= 2.0:
        return [(0.0, True)]
    angles = 2.0 * np.pi * np.arange(2048) / 2048

    def missed(length: float) -> float:
        weights = np.exp(coupling * length * np.cos(angles))
        return float(weights @ np.cos(angles) / weights.sum()) - length

    length = float(brentq(missed, 0.5 * np.sqrt(1.0 - 2.0 / coupling), 1.0, xtol=1e-14))
    weights = np.exp(coupling * length * np.cos(angles))
    means = [float(weights @ np.cos(k * angles) / weights.sum()) for k in range(1, field.size + 1)]
    degrees = np.arange(1, field.size + 1)
    # In a field of even degrees the state at pi is an image of that at 0.
    sides = (1, -1) if np.any(field[::2]) else (1,)
    bends = {side: -float(degrees**2 * side**degrees * field @ means) for side in sides}
    return [(0.0, False), *((side * length, bend > 0.0) for side, bend in bends.items())]


def kinked(rng: np.random.Generator) -> Finding:
    """Fields with kinks and singularities: moments against a graded quadrature with the exact values of V."""
    fields = [
        (Onsager(), [0.0]),
        (HegselmannKrause(radius := round(float(rng.uniform(0.3, 3.0)), 2)), [0.0, radius, -radius]),
        (KellerSegel(round(float(rng.uniform(0.1, 3.0)), 2)), [0.0]),
        (Logarithmic(-1), [0.0]),
        (Logarithmic(1), [0.0]),
    ]
    field, breaks = fields[int(rng.integers(len(fields)))]
    attraction = np.round(rng.normal(size=int(rng.integers(1, 4))), 3)
    noise = round(10.0 ** float(rng.uniform(-0.7, 0.7)), 3)
    coupling = round(noise * float(rng.uniform(0.3, 6.0)), 3)
    problem = McKeanVlasov(
        Circle(), CosineSeries(tuple(attraction)), noise=noise, coupling=coupling, confinement=field
    )
    call = f"stationary_states({problem!r})"
    try:
        states = stationary_states(problem, rates=False)
    except MeanfieldError as error:
        return Finding(Verdict.REFUSED, call, str(error))
    for state in states:
        missed = _moment_error(problem, state, attraction, breaks)
        if missed > MOMENTS:
            said = state.residual >= 0.1 * missed
            return Finding(
                Verdict.SAID if said else Verdict.SILENT, call, f"{state.label}: moments off {missed:.1e}"
            )
    return Finding(Verdict.RIGHT, call)


def _moment_error(problem: McKeanVlasov, state: State, attraction: np.ndarray, breaks: list[float]) -> float:
    """Return the largest difference between the moments of a state and those of its Gibbs density."""
    angles, weights = brute_force.graded(breaks)
    degrees = np.arange(1, attraction.size + 1)
    cosine, sine = state.cosine[degrees], state.sine[degrees]
    waves = np.multiply.outer(degrees, angles)
    interaction = (attraction * cosine) @ np.cos(waves) + (attraction * sine) @ np.sin(waves)
    field = -(problem.coupling * interaction + problem.confinement.values(angles)) / problem.noise
    masses = weights * np.exp(field - field.max())
    masses /= masses.sum()
    return float(max(np.abs(np.cos(waves) @ masses - cosine).max(), np.abs(np.sin(waves) @ masses - sine).max()))


def _compared(attraction: np.ndarray, field: np.ndarray, coupling: float, order: int) -> Finding:
    call = _call(attraction, field, coupling)
    try:
        states = stationary_states(_problem(attraction, field, coupling), rates=False)
    except MeanfieldError as error:
        return Finding(Verdict.REFUSED, call, str(error))
    # What a coarse rule misses or counts in another way is asked of a fine one, which resolves every state.
    for nodes in NODES:
        verdict, detail = _judged(states, brute_force.circle(attraction, field, nodes=nodes), coupling, order)
        if verdict is Verdict.RIGHT:
            break
    return Finding(verdict, call, detail)


def _judged(
    states: tuple[State, ...], space: brute_force.Discretisation, coupling: float, order: int
) -> tuple[Verdict, str]:
    truth = brute_force.stationary_states(space, coupling, starts=512)
    missing = [true for true in truth if not any(_is(true, state, space) for state in states)]
    wanted = [true for true in missing if true.unstable == 0 or _on_axis(true, space, order)]
    detail = f"missing {[(round(t.gap, 6), t.unstable) for t in missing]}"
    if wanted:
        # An unstable lowest state, and so no minimiser named, says that a lower one is missing.
        said = states[0].minimiser is None and not any(_on_axis(true, space, order) for true in wanted)
        return Verdict.SAID if said else Verdict.SILENT, detail
    matches = [(true, [state for state in states if _is(true, state, space)]) for true in truth if not true.neutral]
    # A weak field tells a state from the same one on another axis by less than the invariants do.
    wrong = [
        (found[0].label, found[0].unstable, true.unstable)
        for true, found in matches
        if found and true.unstable not in {state.unstable for state in found}
    ]
    if wrong or (states[0].minimiser and states[0].free_energy_gap > truth[0].gap + SAME):
        return Verdict.SILENT, f"unstable counts {wrong}, lowest {truth[0].gap}"
    return Verdict.RIGHT, detail if missing else ""


def _is(true: brute_force.BruteState, state: State, space: brute_force.Discretisation) -> bool:
    degrees = np.unique(space.degrees)
    padded = [np.pad(moments, (0, int(degrees.max())))[degrees] for moments in (state.cosine, state.sine)]
    powers = np.sqrt(2.0) * np.hypot(*padded)
    return bool(abs(true.gap - state.free_energy_gap) < SAME and np.abs(powers - true.powers).max() < 1e-5)


def _on_axis(true: brute_force.BruteState, space: brute_force.Discretisation, order: int) -> bool:
    """Whether a state is even about one of the multiples of pi/order."""
    half = space.degrees.size // 2
    moments = true.moments[:half] - 1j * true.moments[half:]
    axes = np.pi * np.arange(order) / order
    turned = moments * np.exp(1j * np.multiply.outer(axes, space.degrees[:half]))
    return bool(np.abs(turned.imag).max(axis=1).min() < EVEN)


def _problem(attraction: np.ndarray, field: np.ndarray, coupling: float) -> McKeanVlasov:
    return McKeanVlasov(
        Circle(), CosineSeries(tuple(attraction)), coupling=coupling, confinement=CosineSeries(tuple(field))
    )


def _call(attraction: np.ndarray, field: np.ndarray, coupling: float) -> str:
    return f"stationary_states({_problem(attraction, field, coupling)!r})"


SUBJECTS = {
    "symmetric-fields": symmetric,
    "fields-over-parameters": over_parameters,
    "tiny-fields": tiny,
    "kinked-fields": kinked,
}
