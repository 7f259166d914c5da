"""Curves from special points of random diagrams along random parameters, against the same curves in finer steps.

Both have the same ends and organising points, and each passes the points of the other; numbers of unstable directions
along folds and branch points change at organising points only.
"""

from typing import Any

import numpy as np

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    Curve,
    Equation,
    GegenbauerSeries,
    InvalidInput,
    McKeanVlasov,
    NormalisedAttention,
    Onsager,
    SoftmaxAttention,
    SpecialPoint,
    Sphere,
    Transformer,
    critical_coupling,
)
from solvers import Arclength, bifurcation_diagram, curve
from tests.campaigns import Finding, Verdict

FINER = Arclength(max_step=0.02, tolerance=2.5e-4)
# Organising points of two curves are one if so near; nearer than this to an end of the interval they may be beyond.
SAME, EDGE = 1e-7, 1e-6
# Points of the one curve are on the other to this, relative to the extent of both.
PASSED = 1e-3
# The length of the moments of states whose stability is known.
LARGE = 1e-3
FOLLOWED = ("fold", "transition", "branch point")


def on_circle(generator: np.random.Generator) -> Finding:
    """Series of two to four modes, with or without a field, attention and rods, on the circle."""
    return same_curve(generator, _on_circle(generator), (0.5, 4.0))


def at_one_coupling(generator: np.random.Generator) -> Finding:
    """The same in two other parameters, the coupling fixed."""
    return same_curve(generator, _on_circle(generator), (0.5, 4.0), fixed=True)


def _on_circle(generator: np.random.Generator) -> Equation:
    confinement = None
    if generator.uniform() < 0.35:
        field = np.round(generator.uniform(-0.4, 0.4, int(generator.integers(1, 3))), 3)
        confinement = CosineSeries(tuple(field.tolist()))
    potential: Any = CosineSeries(_weights(generator, int(generator.integers(2, 5))))
    kind = generator.uniform()
    if kind < 0.15:
        potential = Transformer(round(float(generator.uniform(1.0, 8.0)), 3))
    elif kind < 0.25:
        potential = Onsager() + potential
    return McKeanVlasov(Circle(), potential, confinement=confinement)


def on_sphere(generator: np.random.Generator) -> Finding:
    """Series of two to four degrees on spheres of dimensions two to four."""
    dimension = int(generator.choice([3, 3, 3, 4, 5]))
    weights = np.array(_weights(generator, int(generator.integers(2, 5))))
    numbers = [Sphere(dimension).multiplicity(degree) for degree in range(1, weights.size + 1)]
    series = tuple(np.round(0.5 * weights * numbers, 3).tolist())
    return same_curve(generator, McKeanVlasov(Sphere(dimension), GegenbauerSeries(series, dimension)), (0.6, 2.5))


def of_laws(generator: np.random.Generator) -> Finding:
    """Softmax attention and attention normalised as in nGPT, on circle and spheres, with or without a field."""
    dimension = int(generator.choice([2, 2, 3, 3, 4]))
    law = (SoftmaxAttention, NormalisedAttention)[int(generator.integers(2))]
    confinement, domain = None, Circle() if dimension == 2 else Sphere(dimension)
    if generator.uniform() < 0.4:
        field = tuple(np.round(generator.uniform(-0.4, 0.4, int(generator.integers(1, 3))), 3).tolist())
        confinement = CosineSeries(field) if dimension == 2 else GegenbauerSeries(field, dimension)
    beta = round(float(generator.uniform(0.5, 6.0)), 3)
    problem = ContinuityEquation(domain, law(beta), noise=1.0, confinement=confinement)
    interval = (0.5, 4.0) if confinement is not None else (0.3 * (high := critical_coupling(problem)), 2.0 * high)
    return same_curve(generator, problem, interval)


SUBJECTS = {
    "curves-in-finer-steps": on_circle,
    "sphere-curves-in-finer-steps": on_sphere,
    "law-curves-in-finer-steps": of_laws,
    "curves-at-one-coupling-in-finer-steps": at_one_coupling,
}


def same_curve(
    generator: np.random.Generator, problem: Equation, interval: tuple[float, float], *, fixed: bool = False
) -> Finding:
    """Judge the curve of a random special point of a diagram along a random parameter by one in finer steps.

    In another random parameter and a fixed coupling, or in the coupling.
    """
    made = f"bifurcation_diagram({problem!r}, {interval}, rates=False)"
    try:
        diagram = bifurcation_diagram(problem, interval, rates=False)
    except InvalidInput as error:
        return Finding(Verdict.REFUSED, made, str(error))
    events = [event for event in diagram.special_points if event.type in FOLLOWED and event.branch]
    if not events:
        return Finding(Verdict.RIGHT, made, "no special point")
    event = events[int(generator.integers(len(events)))]
    names = [name for name in event.problem.parameters if name != "coupling"]
    name = names[int(generator.integers(len(names)))]
    others = [other for other in names if other != name]
    against = others[int(generator.integers(len(others)))] if fixed and others else None
    value = float(event.problem.parameters[name])
    low, high = (value + side * (0.2 + abs(value)) * generator.uniform(0.1, 0.6) for side in (-1, 1))
    along = (round(low, 4), round(high, 4))
    number = diagram.special_points.index(event)
    call = f"curve({made}.special_points[{number}], {name!r}, {along}, against={against!r})"
    try:
        one, other = (curve(event, name, along, against=against, method=method) for method in (None, FINER))
    except InvalidInput as error:
        return Finding(Verdict.REFUSED, call, str(error))
    errors = [*_differences(one, other, event), *_unexplained(one)]
    if not errors:
        return Finding(Verdict.RIGHT, call)
    said = bool(one.warnings or other.warnings or event.status == "guess")
    return Finding(
        Verdict.SAID if said else Verdict.SILENT, call, "; ".join([*errors, *one.warnings, *other.warnings])
    )


def _weights(generator: np.random.Generator, count: int) -> tuple[float, ...]:
    weights = np.round(generator.uniform(-1.3, 0.6, count), 3)
    if weights.min() > -0.2:
        weights[0] = -1.0
    return tuple(weights.tolist())


def _differences(one: Curve, other: Curve, event: SpecialPoint) -> list[str]:
    """Return in which ends, organising points and places a curve differs from the same in finer steps, in words."""
    found = []
    if {one.first_outcome, one.outcome} != {other.first_outcome, other.outcome}:
        found.append(f"ends: {one.first_outcome}, {one.outcome}; finer {other.first_outcome}, {other.outcome}")
    for kind, curve_one, curve_other in (("only in plain steps", one, other), ("only in finer steps", other, one)):
        lacking = [
            f"{point.type} {point.values}"
            for point in curve_one.special_points
            if not any(_same(point, each) for each in curve_other.special_points) and _inside(point, one)
        ]
        found += [f"{kind}: {', '.join(lacking)}"] if lacking else []
    extent = np.ptp(np.vstack([one.values, other.values]), axis=0)
    # A parameter that does not change along the curve does so by rounding.
    extent[extent <= SAME] = 1.0
    track = other.track / extent
    missed = [float(np.linalg.norm(track - place / extent, axis=1).min()) for place in one.values]
    # Between points of a finer curve a way of its largest step may lie.
    step = float(np.linalg.norm(np.diff(track, axis=0), axis=1).max(initial=0.0))
    if max(missed) > PASSED + step:
        found.append(f"point {int(np.argmax(missed))} is not on the finer curve: {max(missed):.2g}")
    return found


def _same(point: Any, other: Any) -> bool:
    if point.type != other.type:
        return False
    near = np.abs(point.values - other.values) <= SAME * np.maximum(1.0, np.abs(point.values))
    # Of one that is a guess the interval is all that is said.
    said = "guess" in (point.status, other.status)
    return bool(near.all()) or (said and max(point.lower, other.lower) <= min(point.upper, other.upper))


def _inside(point: Any, found: Curve) -> bool:
    low, high = (float(end) for end in found.interval)
    return low + EDGE < point.values[0] < high - EDGE


def _unexplained(found: Curve) -> list[str]:
    """Return where the number of unstable directions of folds and branch points changes without a point, in words."""
    if found.type == "transition":
        return []
    # Beside the uniform state eigenvalues are lost in rounding.
    apart = np.linalg.norm(found.cosine[:, 1:], axis=1) > LARGE
    changes = np.flatnonzero((np.diff(found.unstable) != 0) & apart[1:] & apart[:-1])
    if found.problem.confinement is not None:
        # Where a field vanishes rotations become stable or unstable.
        fields = found.values[:, [name.startswith("confinement") for name in found.parameters]]
        changes = changes[(fields[changes] * fields[changes + 1] > 0.0).all(axis=1)]
    explained = [place for place, label in enumerate(found.point_labels) if label not in ("", "EP")]
    return [
        f"unstable {found.unstable[place]} -> {found.unstable[place + 1]} at {found.values[place]} without a point"
        for place in changes
        if place not in explained and place + 1 not in explained
    ]
