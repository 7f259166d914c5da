"""Phase diagrams and curves on the circle against brute force: regions at random points, states at points of curves."""

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from meanfield import (
    Circle,
    CosineSeries,
    Curve,
    Custom,
    External,
    InvalidInput,
    McKeanVlasov,
    PhaseDiagram,
    Region,
    critical_coupling,
)
from solvers import phase_diagram
from tests import brute_force
from tests.campaigns import Finding, Verdict

NODES, STARTS, PLACES, POINTS = 256, 512, 4, 4
# Nearer to a curve than this share of the window, or to a tie of two energies, nothing is judged.
ASIDE, TIE = 2e-3, 1e-7
# Powers of a degree that a state has; error of a state on a curve and of what makes it special.
PRESENT, CLOSE = 1e-6, 1e-8
WINDOW = (0.6, 1.6)

# Multiples of the degree of a field, and the share of fields without an axis.
OVERTONES, ASKEW = 2, 0.4
# A problem with its coupling free, the parameter with its interval, the coefficients at a value, and the call.
Family = tuple[McKeanVlasov, str, tuple[float, float], Callable[[float], Any], str]


def family_of(generator: np.random.Generator) -> Family:
    """Return a random series of up to five modes over a coefficient, or over a number that all depend on."""
    count = int(generator.integers(2, 6))
    weights = np.round(generator.uniform(-1.2, 0.5, count), 3)
    if weights.min() > -0.1:
        weights[0] = -1.0
    if generator.uniform() < 0.5:
        place = int(generator.integers(count))
        low, high = (float(np.round(weights[place] + side * generator.uniform(0.1, 0.6), 3)) for side in (-1, 1))

        def series(value: float) -> Any:
            return np.where(np.arange(count) == place, value, weights)

        potential: Any = CosineSeries(tuple(weights.tolist()))
        made = f"CosineSeries({tuple(weights.tolist())})"
        return McKeanVlasov(Circle(), potential), f"w{place + 1}", (low, high), series, made
    slopes, bends = np.round(generator.uniform(-0.6, 0.6, (2, count)), 3)
    terms = zip(weights.tolist(), slopes.tolist(), bends.tolist(), range(1, count + 1), strict=True)
    formula = " + ".join(f"({w} + ({s})*a + ({b})*a**2)*cos({k}*t)" for w, s, b, k in terms)

    def coefficients(value: float) -> Any:
        return weights + slopes * value + bends * value**2

    made = f"Custom.from_expression({formula!r}, a=0.0)"
    low, high = (float(np.round(side * generator.uniform(0.1, 0.6), 3)) for side in (-1, 1))
    return McKeanVlasov(Circle(), Custom.from_expression(formula, a=0.0)), "a", (low, high), coefficients, made


class Truth(NamedTuple):
    """The problem of a diagram for brute force: its coefficients and those of its confinement by the parameter.

    The confinement, of cosines and then of sines, is turned by an angle, and so are the densities; ``degree`` divides
    those that it has.
    """

    weights: Callable[[float], Any]
    field: Callable[[float], Any] = lambda _: ((), ())
    degree: int = 0
    angle: float = 0.0

    def space(self, value: float) -> brute_force.Discretisation:
        """Return all densities, turned back."""
        cosines, sines = self.field(value)
        return brute_force.circle(self.weights(value), cosines, NODES, sines=sines)


def diagrams(generator: np.random.Generator) -> Finding:
    """Judge the regions of a random phase diagram at random points and the states of its curves."""
    problem, name, interval, weights, made = family_of(generator)
    call = f"phase_diagram(McKeanVlasov(Circle(), {made}), ({name!r}, {interval}), relative={WINDOW})"
    made_by = partial(phase_diagram, problem, (name, interval), relative=WINDOW)
    return judged(call, made_by, *_judges(Truth(weights), generator))


def in_fields(generator: np.random.Generator) -> Finding:
    """Judge a phase diagram in a field, over its strength, which may pass zero, or a weight.

    The field has one or several axes or, where its second harmonic is turned by another angle than the first, none.
    """
    weights = np.round(generator.uniform(-1.2, 0.4, int(generator.integers(1, 5))), 3)
    weights[int(generator.integers(weights.size))] = -1.0
    degree, angle = int(generator.integers(1, 4)), float(generator.choice([0.0, 0.3, -0.7]))
    field, sines = np.zeros((2, OVERTONES * degree))
    field[degree - 1 :: degree] = np.round(generator.uniform(-0.3, 0.3, OVERTONES), 3)
    if generator.uniform() < ASKEW:
        sines[-1] = float(np.round(generator.uniform(-0.3, 0.3), 3))
    terms = " + ".join(
        f"({c})*{wave}({k + 1}*(t - {angle}))"
        for wave, row in (("cos", field), ("sin", sines))
        for k, c in enumerate(row.tolist())
        if c
    )
    confinement = External.from_expression(f"h*({terms})", h=1.0)
    series = tuple(weights.tolist())
    problem = McKeanVlasov(Circle(), CosineSeries(series), confinement=confinement)
    of_field = bool(generator.integers(2))
    place = int(generator.integers(weights.size))
    middle = float(generator.uniform(-0.5, 1.0)) if of_field else float(weights[place])
    low, high = (float(np.round(middle + side * generator.uniform(0.2, 1.0), 3)) for side in (-1, 1))
    name = "confinement_h" if of_field else f"w{place + 1}"
    critical = float(critical_coupling(McKeanVlasov(Circle(), CosineSeries(series))) or 2.0)
    window = tuple(float(f"{critical * share:.4g}") for share in WINDOW)
    call = (
        f"phase_diagram(McKeanVlasov(Circle(), CosineSeries({series}), confinement=External.from_expression("
        f"'h*({terms})', h=1.0)), ({name!r}, ({low}, {high})), coupling={window})"
    )

    def own(value: float) -> Any:
        return weights if of_field else np.where(np.arange(weights.size) == place, value, weights)

    def fields(value: float) -> Any:
        return np.stack([field, sines]) * (value if of_field else 1.0)

    truth = Truth(own, fields, degree, angle)
    made_by = partial(phase_diagram, problem, (name, (low, high)), coupling=window)
    return judged(call, made_by, *_judges(truth, generator))


def _judges(
    truth: Truth, generator: np.random.Generator
) -> tuple[Callable[[Curve], str], Callable[[PhaseDiagram], str]]:
    """Return the judges of curves and of regions, which know the truth."""
    return partial(_wrong_curve, truth=truth, generator=generator), partial(
        _wrong_region, truth=truth, generator=generator
    )


def judged(
    call: str,
    made_by: Callable[[], PhaseDiagram],
    wrong_curve: Callable[[Curve], str],
    wrong_region: Callable[[PhaseDiagram], str],
) -> Finding:
    """Return what two judges say of a phase diagram: of each of its curves, and of a random point of its regions."""
    try:
        diagram = made_by()
    except InvalidInput as refused:
        return Finding(Verdict.REFUSED, call, str(refused))
    wrong = [words for each in diagram.curves if (words := wrong_curve(each))]
    if wrong:
        return Finding(Verdict.SILENT, call, "; ".join(wrong))
    missed = [words for _ in range(PLACES) if (words := wrong_region(diagram))]
    if missed:
        said = bool(diagram.warnings) or not all(region.agrees for region in diagram.regions)
        return Finding(Verdict.SAID if said else Verdict.SILENT, call, "; ".join([*missed, *diagram.warnings]))
    return Finding(Verdict.RIGHT, call, "; ".join(diagram.warnings))


def random_place(
    diagram: PhaseDiagram, generator: np.random.Generator
) -> tuple[Region, float, float, float] | None:
    """Return a region with a random point of it, the parameter, height and coupling; None beside a curve."""
    (low, high), (bottom, top) = diagram.interval, diagram.window
    x, y = generator.uniform(2 * ASIDE, 1.0 - 2 * ASIDE, 2)
    around = {
        id(diagram.region_at(low + (x + dx) * (high - low), bottom + (y + dy) * (top - bottom)))
        for dx, dy in ((0, 0), (ASIDE, 0), (-ASIDE, 0), (0, ASIDE), (0, -ASIDE))
    }
    first, height = float(low + x * (high - low)), float(bottom + y * (top - bottom))
    region = diagram.region_at(first, height)
    if region is None or len(around) > 1:
        return None
    unit = 1.0
    if diagram.unit == "relative_coupling":
        unit = float(critical_coupling(diagram.problem.with_parameter(diagram.parameter, first)) or np.nan)
    return region, first, height, unit * height


def _wrong_region(diagram: PhaseDiagram, truth: Truth, generator: np.random.Generator) -> str:
    """Return what brute force finds otherwise at a random point, in words; empty if it agrees or is beside a curve."""
    chosen = random_place(diagram, generator)
    if chosen is None:
        return ""
    region, first, height, coupling = chosen
    space = truth.space(first)
    states = brute_force.stationary_states(space, coupling, starts=STARTS)
    stable = [state for state in states if state.unstable == 0]
    if len(states) > 1 and states[1].gap - states[0].gap < TIE:
        return ""
    degrees = np.unique(space.degrees)[states[0].powers > PRESENT]
    lowest, known = f"{math.gcd(*degrees.tolist())}-cluster" if degrees.size else "uniform", region.minimiser
    if truth.degree:
        # The branch that begins without interaction has all rotations of the field, and others may have.
        lowest, known = (_kept(math.gcd(*degrees.tolist()), truth), _kept(_symmetry(known), truth))
    if (known, region.stable) == (lowest, len(stable)):
        return ""
    return f"at ({first:.6g}, {height:.6g}) {region.name}, and brute force finds {lowest}, {len(stable)} stable"


def _symmetry(name: str) -> int:
    """Return the symmetry in the name of a state, 0 of the primary one."""
    found = re.search(r"(\d+)-cluster", name)
    return int(found[1]) if found else 0


def _kept(symmetry: int, truth: Truth) -> str:
    """Return which rotations a state has, in words."""
    return "with the rotations of the field" if symmetry % truth.degree == 0 else f"of symmetry {symmetry}"


def _wrong_curve(curve: Curve, truth: Truth, generator: np.random.Generator) -> str:
    """Return what is wrong at random points of a curve, in words: no state, or not what makes it special."""
    if np.diff(curve.arclength).min(initial=1.0) <= 0.0:
        return f"two points of {curve.label} are one"
    for place in generator.integers(len(curve), size=POINTS).tolist():
        value, coupling = float(curve.first[place]), float(curve.coupling[place])
        space = truth.space(value)
        gaps = []
        others = (False, True)[: 1 if curve.other_cosine is None else 2]
        states = [curve.state(place, other=other) for other in others]
        if max(state.modes for state in states) > NODES // 2:
            # The nodes of brute force do not resolve it.
            continue
        for state in states:
            angles = 2.0 * np.pi * np.arange(NODES) / NODES
            moments = space.values @ (2.0 * np.pi * state.density(angles + truth.angle) * space.weights)
            masses = brute_force.gibbs(space, coupling, 1.0, moments[None])[0]
            apart = float(np.abs(space.values @ masses - moments).max())
            if apart > CLOSE:
                return f"{curve.label} at {value:.9g}, {coupling:.9g} is no state: {apart:.1e}"
            gaps.append(float(state.free_energy_gap))
        if len(gaps) == 2 and abs(gaps[0] - gaps[1]) > CLOSE:
            return f"the states of {curve.label} at {value:.9g} differ in energy by {gaps[0] - gaps[1]:.1e}"
        neutral = neutral_sizes(space, coupling, masses)
        turned = int(np.abs(moments).max() > CLOSE and not np.any(space.confinement))
        if curve.type in ("fold", "branch point") and neutral[turned] > math.sqrt(CLOSE):
            return (
                f"{curve.label} at {value:.9g}, {coupling:.9g} has no neutral direction but {neutral[turned]:.1e}"
            )
    return ""


def neutral_sizes(space: brute_force.Discretisation, coupling: float, masses: Any) -> Any:
    """Return the moduli of the eigenvalues of 1 + kappa w Cov, ascending; that of rotation is among them."""
    means = space.values @ masses
    covariance = (space.values * masses) @ space.values.T - np.multiply.outer(means, means)
    return np.sort(
        np.abs(np.linalg.eigvals(np.eye(means.size) + coupling * space.multipliers[:, None] * covariance))
    )


SUBJECTS = {"phase-diagrams": diagrams, "circle-fields": in_fields}
