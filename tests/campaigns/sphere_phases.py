"""Phase diagrams and curves on S^2 against brute force among all densities."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from meanfield import Curve, GegenbauerSeries, McKeanVlasov, PhaseDiagram, Sphere, critical_coupling
from solvers import phase_diagram
from tests import brute_force
from tests.campaigns import Finding, Subject
from tests.campaigns.phases import CLOSE, TIE, judged, neutral_sizes, random_place

NODES, STARTS, PLACES, POINTS = 24, 256, 3, 3
# A state is resolved by the nodes of brute force if these give the same moments to this.
FINER, RESOLVED = 33, 1e-10
# Of differences of densities along rotations.
STEP = 1e-4
WINDOW = (0.6, 1.6)


class Truth(NamedTuple):
    """The problem of a diagram for brute force: its coefficients and those of its confinement by the parameter."""

    weights: Callable[[float], Any]
    field: Callable[[float], Any]

    @property
    def confined(self) -> bool:
        """Whether there is a confinement."""
        return len(self.field(0.0)) > 0

    def spaces(self, value: float) -> list[brute_force.Discretisation]:
        """Return all densities on some nodes and on more."""
        return [brute_force.sphere(self.weights(value), self.field(value), nodes) for nodes in (NODES, FINER)]


def diagrams(generator: np.random.Generator) -> Finding:
    """Judge the regions of a random phase diagram of up to four degrees, and the states of its curves."""
    weights, numbers = _weights(generator)
    place = int(generator.integers(weights.size))
    low, high = _interval(generator, weights[place], numbers[place] / 3.0)
    made = f"McKeanVlasov(Sphere(3), GegenbauerSeries({tuple(weights.tolist())}))"
    call = f"phase_diagram({made}, ('w{place + 1}', ({low}, {high})), relative={WINDOW})"
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(tuple(weights.tolist())))
    truth = Truth(lambda value: np.where(np.arange(weights.size) == place, value, weights), lambda _: ())
    made_by = partial(phase_diagram, problem, (f"w{place + 1}", (low, high)), relative=WINDOW)
    return _judged(call, made_by, truth, generator)


def in_fields(generator: np.random.Generator) -> Finding:
    """Judge a phase diagram of two degrees in a confinement of up to two, over one of their coefficients."""
    # Of more degrees in a field there are dozens of curves of unstable states without an axis.
    weights, numbers = _weights(generator, most=2)
    critical = float(critical_coupling(McKeanVlasov(Sphere(3), GegenbauerSeries(tuple(weights.tolist())))) or 1.0)
    field = np.round(generator.uniform(-0.5, 0.5, int(generator.integers(1, 3))), 3)
    if generator.integers(2):
        field[0] = 0.0 if field.size > 1 else field[0]
    of_field = bool(generator.integers(2))
    moved = field if of_field else weights
    place = int(generator.integers(moved.size))
    low, high = _interval(generator, moved[place], 0.5 if of_field else numbers[place] / 3.0)
    name = f"{'confinement_' if of_field else ''}w{place + 1}"
    window = tuple(float(f"{critical * share:.4g}") for share in WINDOW)
    series, force = (tuple(each.tolist()) for each in (weights, field))
    made = f"McKeanVlasov(Sphere(3), GegenbauerSeries({series}), confinement=GegenbauerSeries({force}))"
    call = f"phase_diagram({made}, ({name!r}, ({low}, {high})), coupling={window})"
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(series), confinement=GegenbauerSeries(force))

    def changed(own: Any, moves: bool) -> Any:
        return lambda value: np.where(np.arange(own.size) == place, value, own) if moves else own

    truth = Truth(changed(weights, not of_field), changed(field, of_field))
    made_by = partial(phase_diagram, problem, (name, (low, high)), coupling=window)
    return _judged(call, made_by, truth, generator)


def _weights(generator: np.random.Generator, most: int = 4) -> tuple[Any, Any]:
    """Return the coefficients of a random series of two degrees or more, and the numbers of their harmonics."""
    count = int(generator.integers(2, most + 1))
    numbers = 2.0 * np.arange(1, count + 1) + 1.0
    weights = np.round(generator.uniform(-0.4, 0.2, count) * numbers, 3)
    if weights.min() > -0.3:
        weights[0] = -1.0
    return weights, numbers


def _interval(generator: np.random.Generator, middle: float, width: float) -> tuple[float, float]:
    low, high = (float(np.round(middle + side * generator.uniform(0.1, 0.6) * width, 3)) for side in (-1, 1))
    return low, high


def _judged(call: str, made_by: Any, truth: Truth, generator: np.random.Generator) -> Finding:
    wrong_curve = partial(_wrong_curve, truth=truth, generator=generator)
    return judged(call, made_by, wrong_curve, partial(_wrong_region, truth=truth, generator=generator))


def _wrong_region(diagram: PhaseDiagram, truth: Truth, generator: np.random.Generator) -> str:
    """Return what brute force finds otherwise at a random point, in words; empty if it agrees or cannot tell."""
    chosen = random_place(diagram, generator)
    if chosen is None:
        return ""
    region, first, height, coupling = chosen
    space, finer = truth.spaces(first)
    states = brute_force.stationary_states(space, coupling, starts=STARTS)
    stable = [state for state in states if state.unstable == 0]
    if not all(_resolved(space, finer, coupling, state.moments) for state in stable):
        return ""
    if len(states) > 1 and states[1].gap - states[0].gap < TIE:
        return ""
    kind, known = _kind(space, states[0], truth), "uniform" if region.minimiser == "uniform" else "clustered"
    if truth.confined:
        # Without an axis states have the symbols of Schoenflies.
        known = "without an axis" if re.match("[A-Z]_", region.minimiser) else "about the axis"
    if (known, region.stable) == (kind, len(stable)):
        return ""
    found = f"{kind}, {len(stable)} stable"
    return f"at ({first:.6g}, {height:.6g}) {region.name}, and brute force finds {found}"


def _kind(space: brute_force.Discretisation, state: brute_force.BruteState, truth: Truth) -> str:
    """Return what is told of a state: whether it is uniform or, in a confinement, has the axis of that."""
    if not truth.confined:
        return "uniform" if state.gap >= -TIE else "clustered"
    # Orders run from minus to plus the degree.
    first = np.flatnonzero(np.diff(space.degrees, prepend=0))
    along = np.zeros(space.degrees.size, dtype=bool)
    along[first + space.degrees[first]] = True
    return (
        "about the axis"
        if np.abs(state.moments[~along]).max(initial=0.0) <= brute_force.SAME
        else "without an axis"
    )


def _resolved(space: Any, finer: Any, coupling: float, moments: Any) -> bool:
    """Return whether the nodes of brute force give the moments of the Gibbs density of some as others do."""
    one, other = (each.values @ brute_force.gibbs(each, coupling, 1.0, moments[None])[0] for each in (space, finer))
    return bool(np.abs(one - other).max() < RESOLVED)


def _wrong_curve(curve: Curve, truth: Truth, generator: np.random.Generator) -> str:
    """Return what is wrong at random points of a curve, in words: no state, or not what makes it special."""
    for place in generator.integers(len(curve), size=POINTS).tolist():
        value, coupling = float(curve.first[place]), float(curve.coupling[place])
        space, finer = truth.spaces(value)
        gaps: list[float] = []
        for other in (False, True)[: 1 if curve.other_cosine is None else 2]:
            state = curve.state(place, other=other)
            moments = space.values @ (_density(state, _points()) * space.weights)
            if not _resolved(space, finer, coupling, moments):
                break
            masses = brute_force.gibbs(space, coupling, 1.0, moments[None])[0]
            apart = float(np.abs(space.values @ masses - moments).max())
            if apart > CLOSE:
                return f"{curve.label} at {value:.9g}, {coupling:.9g} is no state: {apart:.1e}"
            gaps.append(float(state.free_energy_gap))
        if len(gaps) == 2 and abs(gaps[0] - gaps[1]) > CLOSE:
            return f"the states of {curve.label} at {value:.9g} differ in energy by {gaps[0] - gaps[1]:.1e}"
        if curve.type in ("fold", "branch point") and gaps:
            rotations = _rotations(state, _points(), space.weights, truth.confined)
            neutral = neutral_sizes(space, coupling, masses)[rotations]
            if neutral > np.sqrt(CLOSE):
                return f"{curve.label} at {value:.9g}, {coupling:.9g} has no neutral direction but {neutral:.1e}"
    return ""


def _rotations(state: Any, points: Any, weights: Any, confined: bool) -> int:
    """Return the dimension of the orbit of a density: two about an axis, three of others, none of the uniform one.

    In a confinement it is that of its rotations about the pole.
    """
    changes = []
    for axis in np.eye(3)[2 if confined else 0 :]:
        moved = [_density(state, points + side * STEP * np.cross(axis, points)) for side in (1, -1)]
        changes.append((moved[0] - moved[1]) / (2 * STEP))
    products = (np.array(changes) * weights) @ np.array(changes).T
    return int((np.linalg.eigvalsh(products) > STEP**2).sum())


def _density(state: Any, points: Any) -> Any:
    """Return the density with respect to the uniform probability at points (n, 3) of the directions."""
    x, y, z = points.T
    return 4.0 * np.pi * state.density(np.arctan2(np.hypot(x, y), z), np.arctan2(y, x))


def _points() -> Any:
    """Return the nodes of brute force as unit vectors (n, 3)."""
    u, _ = np.polynomial.legendre.leggauss(NODES)
    phi = 2.0 * np.pi * np.arange(2 * NODES) / (2 * NODES)
    polar, azimuth = (grid.ravel() for grid in np.meshgrid(np.arccos(u), phi, indexing="ij"))
    return np.stack([np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)], axis=1)


SUBJECTS: dict[str, Subject] = {"sphere-phase-diagrams": diagrams, "sphere-fields": in_fields}
