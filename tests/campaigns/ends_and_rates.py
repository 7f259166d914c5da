"""Diagrams: unstable counts of every point, rates at folds, states that are left out, and concentrated rates."""

from collections.abc import Callable
from typing import Any

import numpy as np

from meanfield import (
    Circle,
    CosineSeries,
    Diagram,
    GegenbauerSeries,
    Kuramoto,
    McKeanVlasov,
    NotResolved,
    Sphere,
    State,
    Transformer,
    critical_coupling,
)
from solvers import bifurcation_diagram, spectrum, stationary_states
from solvers.domains import solvers_of
from tests import brute_force, sphere_galerkin, zonal_galerkin
from tests.campaigns import Finding, Verdict

# Eigenvalues of the form closer to zero than this do not decide a count.
UNDECIDED = 1e-6
NODES = 256
# Share of a rate, or of the noise, to which rates of dense matrices of growing degree agree.
AGREED = 1e-4


def _called(problem: McKeanVlasov, interval: tuple[float, float], options: str = "rates=False") -> str:
    """Return the call that shows a diagram."""
    return f"bifurcation_diagram({problem!r}, ({interval[0]!r}, {interval[1]!r}), {options})"


def _random_problem(rng: np.random.Generator) -> McKeanVlasov:
    """Return a problem of up to six modes on the circle, one in three with a field, or zonal on a sphere."""
    weights = -rng.standard_normal(rng.integers(1, 6)) * rng.uniform(0.3, 1.5)
    weights[rng.integers(weights.size)] = -rng.uniform(0.3, 1.5)
    series = tuple(float(w) for w in np.round(weights, 3))
    noise = float(np.round(rng.uniform(0.5, 1.5), 2))
    kind = rng.integers(4)
    if kind == 3:
        dimension = int(rng.integers(3, 8))
        return McKeanVlasov(Sphere(dimension), GegenbauerSeries(series, dimension), noise=noise)
    field = np.round(rng.standard_normal(rng.integers(1, 4)) * 10 ** rng.uniform(-2, 0), 3)
    confinement = CosineSeries(tuple(float(v) for v in field)) if kind == 2 else None
    return McKeanVlasov(Circle(), CosineSeries(series), noise=noise, confinement=confinement)


def _random_interval(problem: McKeanVlasov, rng: np.random.Generator) -> tuple[float, float]:
    """Return couplings around a threshold, one end at times close to it."""
    space, noise = _space(problem), problem.noise
    attractive = -noise / np.unique(space.multipliers[space.multipliers < 0])
    middle = float(rng.choice(attractive[attractive < 4.0 * attractive.min()]))
    low, high = middle * rng.uniform(0.4, 0.99), middle * rng.uniform(1.01, 1.8)
    if rng.uniform() < 0.3:
        low = middle * (1.0 - 10 ** rng.uniform(-5, -1))
    return float(low), float(high)


def _space(problem: McKeanVlasov, order: int = 0) -> Any:
    weights = problem.potential.parameters()["w"]
    if isinstance(problem.domain, Circle):
        field = () if problem.confinement is None else problem.confinement.parameters()["w"]
        return brute_force.circle(weights, field, NODES)
    return brute_force.zonal(problem.domain.dimension, weights, NODES, order)


def _masses(problem: McKeanVlasov, cosine: Any, sine: Any, coupling: float) -> Any:
    """Return the Gibbs density of recorded moments, as masses at the nodes."""
    space = _space(problem)
    root, half = np.sqrt(2.0), space.degrees.size // 2
    cosine, sine = (np.pad(part, (0, space.degrees.max() + 1)) for part in (cosine, sine))
    if isinstance(problem.domain, Circle):
        degrees = space.degrees[:half]
        moments = root * np.concatenate([cosine[degrees], sine[degrees]])
    else:
        counts = [brute_force.multiplicity(problem.domain.dimension, int(k)) for k in space.degrees]
        moments = cosine[space.degrees] * np.sqrt(counts)
    return brute_force.gibbs(space, coupling, problem.noise, moments[None])[0]


def _counted(problem: McKeanVlasov, masses: Any, coupling: float) -> tuple[int, int] | None:
    """Return the fewest and most unstable directions that a form with doubtful eigenvalues allows."""
    neutral_by_rotation = problem.confinement is None
    fewest = most = 0
    on_circle = isinstance(problem.domain, Circle)
    for order in range(1 if on_circle else int(_space(problem).degrees.max()) + 1):
        space = _space(problem, order)
        if not space.degrees.size:
            continue
        covariance = (space.values * masses) @ space.values.T
        if order == 0:
            means = space.values @ masses
            covariance -= np.multiply.outer(means, means)
        values, vectors = np.linalg.eigh(covariance)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        form = np.linalg.eigvalsh(np.eye(len(root)) + coupling / problem.noise * (root * space.multipliers) @ root)
        rotations = int(neutral_by_rotation and (on_circle or order == 1))
        doubtful = form[np.abs(form) <= UNDECIDED].size - rotations
        copies = 1 if on_circle else brute_force.multiplicity(problem.domain.dimension - 1, order)
        least = copies * int((form < -UNDECIDED).sum())
        fewest, most = fewest + least, most + least + copies * max(doubtful, 0)
    return fewest, most


def counts_at_ends(rng: np.random.Generator) -> Finding:
    """Compare the unstable count of every recorded point that is no event with its own inertia."""
    problem = _random_problem(rng)
    interval = _random_interval(problem, rng)
    call = _called(problem, interval)
    diagram = bifurcation_diagram(problem, interval, rates=False)
    wrong, said = [], True
    for branch in diagram.branches[0 if problem.confinement is not None else 1 :]:
        for point in np.flatnonzero([label in ("", "EP", "TR") for label in branch.point_labels]):
            if branch.layout == "order" or (point == len(branch) - 1 and branch.outcome.name == "JOINED_BRANCH"):
                continue
            coupling = float(branch.coupling[point])
            masses = _masses(problem, branch.cosine[point], branch.sine[point], coupling)
            fewest, most = _counted(problem, masses, coupling)
            if not fewest <= branch.unstable[point] <= most:
                wrong.append(f"{branch.label}[{point}] at {coupling!r}: {branch.unstable[point]}, not {fewest}")
                said &= any(branch.label in warning for warning in diagram.warnings)
    if not wrong:
        return Finding(Verdict.RIGHT, call)
    return Finding(Verdict.SAID if said else Verdict.SILENT, call, "; ".join(wrong[:4]))


def limits_said(rng: np.random.Generator) -> Finding:
    """Look for states at a coupling by brute force and compare with the diagram and its warnings."""
    problem = _random_problem(rng)
    interval = _random_interval(problem, rng)
    call = _called(problem, interval)
    diagram = bifurcation_diagram(problem, interval, rates=False)
    coupling = interval[1]
    states = brute_force.stationary_states(_space(problem), coupling, problem.noise, 512, int(rng.integers(2**31)))
    missing = [state for state in states if not _has(diagram, state, coupling)]
    if not missing:
        return Finding(Verdict.RIGHT, call)
    detail = f"at {coupling!r} not on a branch: " + ", ".join(
        f"gap {state.gap:.9g} ({state.unstable} unstable)" for state in missing
    )
    return Finding(Verdict.SAID if diagram.warnings else Verdict.SILENT, call, f"{detail}; {diagram.warnings}")


def _has(diagram: Diagram, state: Any, coupling: float) -> bool:
    """Whether a branch ends at a state, by the free energy."""
    noise = diagram.problem.noise
    uniform = diagram.problem.confinement is None and np.abs(state.moments).max() < 1e-6
    gaps = [
        branch.free_energy_gap[point] * noise
        for branch in diagram.branches
        for point in np.flatnonzero(np.abs(branch.coupling / coupling - 1.0) < 1e-12)
    ]
    return uniform or any(abs(gap - state.gap) < 1e-7 * max(1.0, abs(state.gap)) for gap in gaps)


def rates_at_folds(rng: np.random.Generator) -> Finding:
    """Follow a branch over its fold: the rate there is zero, elsewhere that of the moment equations."""
    beta, kind = float(rng.uniform(2.6, 9.0)), rng.integers(5)
    field = CosineSeries((float(np.round(10 ** rng.uniform(-4, -1.5), 6)),)) if kind == 1 else None
    problem = McKeanVlasov(Circle(), Transformer(beta), confinement=field)
    if kind == 0:
        field = GegenbauerSeries((float(np.round(10 ** rng.uniform(-4, -1.5), 6)),), 3) if rng.integers(2) else None
        problem = McKeanVlasov(Sphere(3), Transformer(beta), confinement=field)
    critical = float(critical_coupling(McKeanVlasov(problem.domain, problem.potential)))
    interval = (0.5 * critical, float(rng.uniform(1.05, 1.5)) * critical)
    call = _called(problem, interval, "depth=1")
    diagram = bifurcation_diagram(problem, interval, depth=1)
    wrong = []
    for fold in diagram.events("fold"):
        branch = diagram.branches[fold.branch]
        rate = branch.slowest_rate[fold.point]
        # The least unstable direction is neutral at the fold of a branch that is stable on one side.
        neutral = 0 in (fold.unstable_before, fold.unstable_after)
        if neutral and not abs(rate) <= 1e-8 and not (np.isnan(rate) and diagram.warnings):
            wrong.append(f"rate {rate!r} at the fold {fold.coupling!r} of {branch.label}")
    for branch in diagram.branches[1:] if kind > 1 else ():
        point = int(rng.integers(1, len(branch)))
        expected = _moment_rate(problem, branch.cosine[point], float(branch.coupling[point]))
        found = branch.slowest_rate[point]
        if not np.isnan(found) and abs(found - expected) > 1e-6 * max(1.0, abs(expected)):
            wrong.append(f"rate {found!r}, not {expected!r}, on {branch.label} at {branch.coupling[point]!r}")
    return Finding(Verdict.SILENT if wrong else Verdict.RIGHT, call, "; ".join(wrong))


def _moment_rate(problem: McKeanVlasov, cosine: Any, coupling: float) -> float:
    r"""Return the slowest rate at an even state of the circle, rotation left out, from the equations of the moments.

    :math:`\dot c_k = D(-k^2 c_k + k \sum_{j\ne0} j\lambda_{|j|} c_j c_{k-j})`, linearised at the c_k.
    """
    size = int(np.flatnonzero(np.abs(cosine) > 1e-15).max()) + 12
    moments = np.pad(cosine, (0, 4 * size))
    multipliers = problem.potential.multipliers(problem.domain, 4 * size).astype(float)
    lambdas = -coupling * multipliers / (2.0 * problem.noise)
    lambdas[0] = 0.0
    k, j = np.arange(1, size + 1)[:, None], np.arange(1, size + 1)
    near, far = np.abs(k - j), k + j
    largest = []
    for sign in (1.0, -1.0):
        matrix = (k - j) * lambdas[near] * moments[near] + sign * far * lambdas[far] * moments[far]
        matrix = k * (matrix + j * lambdas[j] * (moments[near] - sign * moments[far])) - np.diag(j**2.0)
        values = np.sort(np.linalg.eigvals(matrix).real)
        largest.append(float(values[-1]) if sign > 0 else float(np.delete(values, np.argmin(np.abs(values)))[-1]))
    return -problem.noise * max(largest)


def _concentrated(rng: np.random.Generator) -> State | None:
    """Return a random zonal state, most of them with densities over hundreds of orders of magnitude."""
    dimension = int(rng.choice([3, 4, 5, 8, 12, 16, 24, 40]))
    kind = rng.integers(4)
    potential: Any = Transformer(float(np.round(rng.uniform(1.0, 12.0), 3)))
    if kind == 1:
        potential = Kuramoto()
    elif kind >= 2:
        weights = np.round(-rng.uniform(0.0, 1.0, rng.integers(1, 5)) * rng.choice([0.1, 1.0], 1), 3) - 0.01
        potential = GegenbauerSeries(tuple(float(w) for w in weights), dimension)
    field = None
    if rng.uniform() < 0.2:
        field = GegenbauerSeries((float(np.round(rng.normal(), 3)), float(np.round(rng.normal(), 3))), dimension)
    noise = float(np.round(rng.uniform(0.3, 1.5), 2))
    # The logarithm of the density falls by about twice or once this from pole to pole.
    depth = 10 ** rng.uniform(1.5, 3.0)
    degree = 200
    strength = float(np.abs(potential.multipliers(Sphere(dimension), degree)[1:]).sum())
    coupling = float(depth * noise / strength)
    problem = McKeanVlasov(Sphere(dimension), potential, noise=noise, coupling=coupling, confinement=field)
    moments = zonal_galerkin.attracted(problem, np.ones(degree))
    if moments is None or np.abs(moments[1:]).max() < 1e-3:
        return None
    significant = np.abs(moments) > 1e-16
    return State(
        problem=problem,
        cosine=moments,
        sine=np.zeros(degree),
        observables={"free_energy_gap": 0.0},
        unstable=None,
        symmetry=1,
        residual=1e-15,
        modes=int(np.flatnonzero(significant).max()),
    )


def _resolved(
    drawn: Callable[[np.random.Generator], State | None],
    reference: Callable[[State], Any],
    rng: np.random.Generator,
) -> tuple[State, Any]:
    """Return a state at random that a reference resolves, and the reference of it."""
    while True:
        state = drawn(rng)
        found = None if state is None else reference(state)
        if state is not None and found is not None:
            return state, found


def concentrated_rates(rng: np.random.Generator) -> Finding:
    """Compare slowest rate and spectrum of a concentrated zonal state with a dense Galerkin method."""
    state, reference = _resolved(_concentrated, _reference, rng)
    problem = state.problem
    u = np.linspace(-1.0, 1.0, 2001)
    depth = float(np.ptp(zonal_galerkin.exponent(problem, state.cosine, u)[0]))
    call = f"contraction_rate of the densest state of {problem!r}, log(max/min) = {depth:.0f}"
    slowest = min(float(rates[0]) for rates, _ in reference)
    try:
        found, told = solvers_of(problem).geometry.slowest_rate(state), spectrum(state)
    except NotResolved as error:
        return Finding(Verdict.REFUSED, call, str(error))
    error = max(error for _, error in reference)
    wrong = [] if abs(found - slowest) <= 1e-7 * abs(slowest) + error else [f"slowest {found!r}, not {slowest!r}"]
    # All rates below this are listed; pairs at the end of a list may be cut apart.
    last = -min(sector[-1] for sector in told.sectors if sector.size) * (1.0 - 1e-6)
    for order, ((rates, rounding), sector) in enumerate(zip(reference, told.sectors, strict=False)):
        expected, given = rates[rates < last], -sector[-sector < last][: rates.size]
        if expected.size != given.size or not np.allclose(given, expected, 1e-6, 10 * rounding):
            wrong.append(f"order {order}: {given[:6]}, not {expected[:6]}")
    return Finding(Verdict.SILENT if wrong else Verdict.RIGHT, call, "; ".join(wrong))


def _reference(state: State) -> list[tuple[Any, float]] | None:
    found = []
    for order in range(4):
        resolved = zonal_galerkin.resolved_rates(state.problem, state.cosine, order, 8)
        if resolved is None:
            return None
        found.append(resolved)
    return found


def rates_beside_degrees(rng: np.random.Generator) -> Finding:
    """Compare the slowest rate of a state on S^2 without an axis, beside a degree that it has not, with dense matrices.

    The state does not know of that degree, whose strength either way only its perturbations know.
    """
    state, expected = _resolved(_beside, _dense_rate, rng)
    problem = state.problem
    call = f"slowest rate of the state {state.label!r} of a degree alone in {problem!r}"
    try:
        found = solvers_of(problem).geometry.slowest_rate(state)
    except NotResolved as error:
        return Finding(Verdict.REFUSED, call, str(error))
    right = abs(found - expected) <= AGREED * max(abs(expected), problem.noise)
    return Finding(
        Verdict.RIGHT if right else Verdict.SILENT, call, "" if right else f"{found!r}, not {expected!r}"
    )


def _beside(rng: np.random.Generator) -> State | None:
    """Return a state of one degree at random in a problem with another degree, in which it has no moment."""
    degree, coupling = int(rng.choice([3, 4, 6])), float(rng.uniform(1.0, 1.15))
    # All couplings are relative to the critical one, N_l D.
    coupling = float(f"{coupling * (2 * degree + 1):.6g}")
    alone = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0,) * (degree - 1) + (-1.0,)), coupling=coupling)
    states = [state for state in stationary_states(alone, rates=False) if state.layout == "order"]
    others = [other for other in range(degree + 1, 17) if not any(_has_degree(state, other) for state in states)]
    if not states or not others:
        return None
    other = int(rng.choice(others))
    weights = np.zeros(other)
    weights[degree - 1] = -1.0
    weights[other - 1] = float(f"{-rng.uniform(-1.0, 1.4) * (2 * other + 1) / coupling:.6g}")
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(tuple(weights.tolist())), coupling=coupling)
    return states[int(rng.integers(len(states)))].replace(problem=problem)


def _has_degree(state: State, degree: int) -> bool:
    return degree <= state.modes and state.order_parameter(degree) > 1e-12


def _dense_rate(state: State) -> float | None:
    """Return the smallest of the dense rates but those of the three rotations, None where they are not resolved."""
    before = None
    for degree in (20, 26, 32):
        found = sphere_galerkin.rates(state.problem, state.cosine, state.sine, degree)
        rates = np.delete(found, np.argsort(np.abs(found))[:3])
        if before is not None and abs(rates[0] - before) <= 0.1 * AGREED * max(abs(before), state.problem.noise):
            return float(rates[0])
        before = rates[0]
    return None


SUBJECTS = {
    "counts-at-ends": counts_at_ends,
    "limits-said": limits_said,
    "rates-at-folds": rates_at_folds,
    "concentrated-rates": concentrated_rates,
    "rates-beside-degrees": rates_beside_degrees,
}
