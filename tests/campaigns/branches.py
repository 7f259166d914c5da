"""Branches of random problems near resonances, and the first points of new branches, against dense inertia.

A diagram is asked for on an interval, and what it has at the ends is compared with all states that Newton finds there
from random starts; unstable directions are counted anew from the moments at the first points. States that only a
search or a deeper tree of branches reaches are not missing: the subject is what is born where.
"""

import warnings
from collections.abc import Iterator

import numpy as np

from meanfield import Circle, CosineSeries, Diagram, GegenbauerSeries, McKeanVlasov, Sphere
from solvers import bifurcation_diagram
from tests import brute_force
from tests.campaigns import Finding, Verdict

# Eigenvalues below this, relative to the noise, are not decided by dense inertia of moments in double precision.
UNDECIDED = 1e-13
# States of the diagram and of brute force agree to this in moments; states this near each other are not told apart.
SAME = 1e-6
# A state with more of its mass than this at one node is not resolved by brute force.
RESOLVED = 0.2
# Zonal states of more modes than this are not resolved by its nodes.
MOST_MODES = 90
# So many first points of a branch are counted anew.
FIRST = 4


def sphere_resonances(generator: np.random.Generator) -> Finding:
    """Degrees l and m critical nearly or exactly together, often m = 2 l; others repulsive, weaker or as near."""
    dimension = int(generator.choice([3, 3, 4, 5, 8, 16]))
    low = int(generator.choice([1, 1, 1, 2, 3] if dimension < 8 else [1]))
    high = 2 * low if generator.uniform() < 0.8 else low + 1
    strengths = {low: 1.0, high: _detuned(generator)}
    for degree in range(1, 5):
        if degree not in strengths and generator.uniform() < 0.4:
            strengths[degree] = _beside(generator)
    numbers = [brute_force.multiplicity(dimension, degree) for degree in range(max(strengths) + 1)]
    weights = tuple(-strengths.get(degree, 0.0) * numbers[degree] for degree in range(1, max(strengths) + 1))
    problem = McKeanVlasov(Sphere(dimension), GegenbauerSeries(weights, dimension))
    return _judged_sphere(problem, dimension, weights, _interval(generator, weights, numbers))


def circle_resonances(generator: np.random.Generator) -> Finding:
    """Two or three modes critical nearly or exactly together on the circle, others beside."""
    low = int(generator.integers(1, 4))
    high = int(generator.choice([2 * low, 3 * low, low + 1, low + 2, 2 * low + 1]))
    strengths = {low: 1.0, high: _detuned(generator)}
    for mode in range(1, 6):
        if mode not in strengths and generator.uniform() < 0.3:
            strengths[mode] = _beside(generator)
    weights = tuple(-strengths.get(mode, 0.0) for mode in range(1, max(strengths) + 1))
    problem = McKeanVlasov(Circle(), CosineSeries(weights))
    interval = _interval(generator, weights, [2] * (len(weights) + 1))
    diagram, call = _diagram(problem, interval)
    space = brute_force.circle(weights, nodes=384)
    even = _even(space)
    errors = [*_wrong_counts(diagram, space), *_missing(diagram, weights, even, space)]
    return _finding(errors, diagram, call)


def first_steps(generator: np.random.Generator) -> Finding:
    """Random problems on circle and spheres: the first points of every branch, and the sides of every birth."""
    if generator.uniform() < 0.5:
        modes = int(generator.integers(2, 8))
        weights = tuple(np.round(generator.uniform(-1.0, 0.7, modes), 3).tolist())
        problem = McKeanVlasov(Circle(), CosineSeries(weights))
        space = brute_force.circle(weights, nodes=384)
        dimension = 2
    else:
        dimension = int(generator.choice([3, 3, 3, 4, 8]))
        numbers = [brute_force.multiplicity(dimension, degree) for degree in range(7)]
        modes = int(generator.integers(2, 6 if dimension == 3 else 4))
        weights = tuple(float(np.round(generator.uniform(-1.0, 0.5), 3)) * numbers[k + 1] for k in range(modes))
        problem = McKeanVlasov(Sphere(dimension), GegenbauerSeries(weights, dimension))
        space = None
    if min(weights) >= 0.0:
        return Finding(Verdict.RIGHT, f"{problem!r}")
    diagram, call = _diagram(problem, None)
    if space is None:
        errors = list(_wrong_counts_on_sphere(diagram, dimension, weights))
    else:
        errors = list(_wrong_counts(diagram, space))
    return _finding([*errors, *_wrong_sides(diagram)], diagram, call)


SUBJECTS = {
    "sphere-resonances": sphere_resonances,
    "circle-resonances": circle_resonances,
    "first-steps": first_steps,
}


def _detuned(generator: np.random.Generator) -> float:
    """Return the ratio of two thresholds: within 10^-1.5 to 10^-13 of one on either side, or one."""
    if generator.uniform() < 0.1:
        return 1.0
    return float(1.0 + generator.choice([-1.0, 1.0]) * 10.0 ** -generator.uniform(1.5, 13.0))


def _beside(generator: np.random.Generator) -> float:
    """Return the strength of a further mode: repulsive, weaker, or a third one nearly critical."""
    kind = generator.uniform()
    if kind < 0.5:
        return float(np.round(generator.uniform(-1.0, 0.0), 3))
    return float(np.round(generator.uniform(0.0, 0.8), 3)) if kind < 0.8 else _detuned(generator)


def _interval(
    generator: np.random.Generator, weights: tuple[float, ...], numbers: list[int]
) -> tuple[float, float]:
    """Return an interval around the thresholds, of a width from a few times 10^-2."""
    critical = min(-numbers[k + 1] / w for k, w in enumerate(weights) if w < 0.0)
    reach = 10.0 ** generator.uniform(-1.7, -0.5, 2)
    return float(critical * (1.0 - reach[0])), float(critical * (1.0 + reach[1]))


def _diagram(problem: McKeanVlasov, interval: tuple[float, float] | None) -> tuple[Diagram, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"relative": (0.7, 1.6)} if interval is None else {"interval": interval}
        diagram = bifurcation_diagram(problem, rates=False, **options)
    call = f"bifurcation_diagram(McKeanVlasov({problem.domain!r}, {problem.potential!r}), **{options!r})"
    return diagram, call


def _finding(errors: list[str], diagram: Diagram, call: str) -> Finding:
    if not errors:
        return Finding(Verdict.RIGHT, call)
    said = any(
        word in warning
        for warning in diagram.warnings
        for word in ("taken for one", "may be missing", "may have been found", "no state was found", "not known",
                     "passed in one step", "left unfinished", "without a located event")
    )  # fmt: skip
    return Finding(Verdict.SAID if said else Verdict.SILENT, call, "; ".join([*errors[:6], *diagram.warnings]))


def _ends(diagram: Diagram) -> Iterator[tuple[int, int, int]]:
    """Yield branch, point and end (0 lower, 1 upper) wherever a branch is at an end of the interval."""
    for index, branch in enumerate(diagram.branches):
        for point in (0, len(branch) - 1):
            for end, coupling in enumerate(diagram.interval):
                if abs(branch.coupling[point] - coupling) <= 1e-12 * abs(coupling):
                    yield index, point, end


def _even(space: brute_force.Discretisation) -> brute_force.Discretisation:
    half = space.degrees.size // 2
    return brute_force.Discretisation(
        space.values[:half], space.weights, space.multipliers[:half], space.degrees[:half], space.confinement
    )


def _missing(
    diagram: Diagram,
    weights: tuple[float, ...],
    space: brute_force.Discretisation,
    whole: brute_force.Discretisation | None,
) -> Iterator[str]:
    """Yield the states at the ends of the interval that the diagram lacks."""
    deeper: list[Diagram] = []
    for end, coupling in enumerate(diagram.interval):
        known = _states(diagram, end, space)
        for state in brute_force.stationary_states(space, float(coupling), starts=256, seed=end):
            if _among(state, known) or float((state.density * space.weights).max()) > RESOLVED:
                continue
            if not deeper:
                options = {"interval": diagram.interval, "depth": 4, "search": True}
                deeper.append(bifurcation_diagram(diagram.problem, rates=False, **options))
            if _among(state, _states(deeper[0], end, space)):
                continue
            yield (
                f"at {float(coupling)!r} no state of gap {state.gap:.9g}, powers {np.round(state.powers, 6)}, "
                + (f"{_counted(whole, float(coupling), state)} unstable" if whole is not None else "")
            )


def _states(diagram: Diagram, end: int, space: brute_force.Discretisation) -> list[tuple[float, np.ndarray]]:
    """Return gap and powers of the states at an end of the interval."""
    return [
        (float(diagram.branches[index].free_energy_gap[point]), _powers(diagram, index, point, space))
        for index, point, place in _ends(diagram)
        if place == end
    ]


def _among(state: brute_force.BruteState, known: list[tuple[float, np.ndarray]]) -> bool:
    size = SAME * max(1.0, abs(state.gap))
    return any(
        abs(gap - state.gap) < size and np.abs(powers - state.powers).max() < 10 * size for gap, powers in known
    )


def _counted(space: brute_force.Discretisation, coupling: float, state: brute_force.BruteState) -> int:
    return brute_force.unstable_directions(space, coupling, 1.0, state.density * space.weights)[0]


def _powers(diagram: Diagram, branch: int, point: int, space: brute_force.Discretisation) -> np.ndarray:
    curve, dimension = diagram.branches[branch], diagram.problem.domain.dimension
    degrees = np.unique(space.degrees)
    state = diagram.state(branch, point) if curve.label != "uniform" else None
    values = [0.0 if state is None else state.order_parameter(int(degree)) for degree in degrees]
    roots = [np.sqrt(brute_force.multiplicity(dimension, int(degree))) for degree in degrees]
    return np.abs(np.array(values)) * np.array(roots)


def _recounted(diagram: Diagram) -> Iterator[tuple[int, int]]:
    """Yield the points to count anew: the first ones of every branch, and the ends."""
    for index, branch in enumerate(diagram.branches):
        if branch.label != "uniform":
            yield from ((index, point) for point in range(1, min(FIRST + 1, len(branch) - 1)))


def _wrong_counts(diagram: Diagram, space: brute_force.Discretisation) -> Iterator[str]:
    """Yield the points on the circle whose unstable directions are not those recorded."""
    for index, point in _recounted(diagram):
        branch = diagram.branches[index]
        cosine, sine = np.zeros(space.degrees.max() + 1), np.zeros(space.degrees.max() + 1)
        count = min(cosine.size, branch.cosine.shape[1])
        cosine[:count], sine[:count] = branch.cosine[point, :count], branch.sine[point, :count]
        degrees = space.degrees[: space.degrees.size // 2]
        moments = np.sqrt(2.0) * np.concatenate([cosine[degrees], sine[degrees]])
        values = _form(space, float(branch.coupling[point]), moments)
        yield from _compared(values, 1, diagram, index, point)


def _form(
    space: brute_force.Discretisation, coupling: float, moments: np.ndarray, masses: np.ndarray | None = None
) -> np.ndarray:
    """Return the eigenvalues of 1 + kappa C^1/2 w C^1/2 at a density."""
    masses = brute_force.gibbs(space, coupling, 1.0, moments) if masses is None else masses
    centred = space.values - (space.values @ masses)[:, None]
    covariance = (centred * masses) @ centred.T
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.linalg.eigvalsh(np.eye(root.shape[0]) + coupling * (root * space.multipliers) @ root)


def _compared(values: np.ndarray, rotations: int, diagram: Diagram, index: int, point: int) -> Iterator[str]:
    """Compare a recorded count with eigenvalues of which some, rotations, are zero."""
    branch = diagram.branches[index]
    if int((np.abs(values) <= UNDECIDED).sum()) > rotations:
        return
    if np.sort(np.abs(values))[rotations] <= 10.0 * UNDECIDED:
        return
    without = np.delete(values, np.argsort(np.abs(values))[:rotations])
    unstable, recorded = int((without < 0.0).sum()), int(branch.unstable[point])
    if unstable != recorded and recorded >= 0:
        yield (
            f"{branch.label} point {point} at {float(branch.coupling[point])!r} has {unstable} unstable directions, "
            f"recorded {recorded}"
        )


def _wrong_counts_on_sphere(diagram: Diagram, dimension: int, weights: tuple[float, ...]) -> Iterator[str]:
    """Yield the points about an axis whose unstable directions are not those recorded, sector by sector."""
    spaces = [brute_force.zonal(dimension, weights, 120, order) for order in range(len(weights) + 1)]
    for index, point in _recounted(diagram):
        branch = diagram.branches[index]
        if branch.layout != "degree" or branch.modes[point] > MOST_MODES:
            continue
        coupling, space = float(branch.coupling[point]), spaces[0]
        padded = np.zeros(len(weights) + 1)
        count = min(padded.size, branch.cosine.shape[1])
        padded[:count] = branch.cosine[point, :count]
        roots = np.sqrt([brute_force.multiplicity(dimension, int(degree)) for degree in space.degrees])
        masses = brute_force.gibbs(space, coupling, 1.0, roots * padded[space.degrees])
        signed: list[float] = []
        for order, sector in enumerate(spaces):
            if sector.degrees.size:
                values = (
                    _form(space, coupling, np.zeros(0), masses) if order == 0 else _sector(sector, coupling, masses)
                )
                signed += np.repeat(values, brute_force.multiplicity(dimension - 1, order)).tolist()
        yield from _compared(np.array(signed), dimension - 1, diagram, index, point)


def _sector(space: brute_force.Discretisation, coupling: float, masses: np.ndarray) -> np.ndarray:
    covariance = (space.values * masses) @ space.values.T
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.linalg.eigvalsh(np.eye(root.shape[0]) + coupling * (root * space.multipliers) @ root)


def _wrong_sides(diagram: Diagram) -> Iterator[str]:
    """Yield the branches whose count is not what exchange of stability at a simple pitchfork gives."""
    for branch in diagram.branches:
        if branch.parent is None or len(branch) < 3:
            continue
        birth = diagram.special_points[branch.parent]
        parent = diagram.branches[birth.branch]
        if birth.kernel_dimension != 1 or birth.unstable_before is None or birth.unstable_after is None:
            continue
        before, after = birth.unstable_before, birth.unstable_after
        rises = float(parent.tangent_coupling[birth.point]) > 0.0
        below, above = (before, after) if rises else (after, before)
        there = float(branch.coupling[1] - branch.coupling[0])
        if abs(there) <= 1e-13 * abs(branch.coupling[0]):
            continue
        expected = below if there > 0.0 else above
        if branch.unstable[1] not in (-1, expected):
            yield f"{branch.label} has {branch.unstable[1]} unstable directions at birth, not {expected}"


def _judged_sphere(
    problem: McKeanVlasov, dimension: int, weights: tuple[float, ...], interval: tuple[float, float]
) -> Finding:
    diagram, call = _diagram(problem, interval)
    space = brute_force.zonal(dimension, weights, 64 if dimension < 8 else 100)
    errors = [*_wrong_counts_on_sphere(diagram, dimension, weights), *_missing(diagram, weights, space, None)]
    return _finding(errors, diagram, call)
