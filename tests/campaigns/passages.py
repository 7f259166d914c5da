"""Curves of special points of random diagrams on the ordinary sphere and the circle, none of which is passed twice.

Two points of a curve at the same parameters whose states have the same lengths of moments by degree are one state and
an image of it. A curve may cross itself in the plane of its parameters, but not in these invariants, and has no
stretch in common with itself.
"""

from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from meanfield import (
    Circle,
    CosineSeries,
    Curve,
    Equation,
    GegenbauerSeries,
    InvalidInput,
    McKeanVlasov,
    Sphere,
    critical_coupling,
)
from meanfield.harmonics import moments_of
from solvers import bifurcation_diagram, curve
from tests.campaigns import Finding, Verdict

FOLLOWED = ("fold", "transition", "branch point")
# Degrees whose lengths are compared, and places between two points.
DEGREES, BETWEEN = 6, 24
# A stretch of so many points is on another one if each is so near to it, as a share of the steps beside it, and of
# the way between the two.
STRETCH, NEAR, OF_WAY = 4, 5e-3, 1e-2
# Curves of one diagram.
MOST = 6


def on_sphere(generator: np.random.Generator) -> Finding:
    """Series of three or four degrees, of strengths that are critical near each other or not."""
    degrees = np.arange(1, int(generator.integers(4, 6)))
    weights = generator.uniform(-6.0, 0.5, degrees.size)
    if generator.uniform() < 0.7:
        weights = -(2 * degrees + 1) * generator.uniform(0.3, 0.5, degrees.size)
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(tuple(np.round(weights, 3).tolist())))
    return passed_once(generator, problem)


def on_circle(generator: np.random.Generator) -> Finding:
    """Series of three or four modes."""
    weights = np.round(generator.uniform(-1.3, 0.3, int(generator.integers(3, 5))), 3)
    return passed_once(generator, McKeanVlasov(Circle(), CosineSeries(tuple(weights.tolist()))))


SUBJECTS = {
    "sphere-curves-pass-once": on_sphere,
    "circle-curves-pass-once": on_circle,
}


def passed_once(generator: np.random.Generator, problem: Equation) -> Finding:
    """Judge curves of random special points of a diagram, in random coefficients, by whether they are passed twice."""
    try:
        low = critical_coupling(problem)
        interval = round(0.8 * low, 3), round(1.4 * low, 3)
        diagram = bifurcation_diagram(problem, interval, rates=False)
    except InvalidInput as error:
        return Finding(Verdict.REFUSED, repr(problem), str(error))
    made = f"bifurcation_diagram({problem!r}, {interval}, rates=False)"
    starts = [
        place for place, event in enumerate(diagram.special_points) if event.type in FOLLOWED and event.branch
    ]
    for place in generator.permutation(starts)[:MOST].tolist():
        event = diagram.special_points[place]
        names = [name for name in event.problem.parameters if name.startswith("w")]
        name = names[int(generator.integers(len(names)))]
        value = float(event.problem.parameters[name])
        along = round(value - 1.0, 3), round(value + 1.0, 3)
        try:
            found = curve(event, name, along)
        except InvalidInput:
            continue
        stretches = passed_twice(found)
        if stretches:
            call = f"curve({made}.special_points[{place}], {name!r}, {along})"
            return Finding(Verdict.SILENT, call, f"rows {stretches} are passed twice; {found.warnings}")
    return Finding(Verdict.RIGHT, made)


def passed_twice(found: Curve) -> list[tuple[int, int]]:
    """Return the first and last rows of the stretches of a curve that are on other stretches of it."""
    length, signs = np.unique(found.arclength, return_index=True)
    invariants = invariants_of(found)[signs]
    if length.size <= STRETCH:
        return []
    shares = np.arange(BETWEEN) / BETWEEN
    places = np.append((length[:-1, None] + np.diff(length)[:, None] * shares).ravel(), length[-1])
    track = CubicSpline(length, invariants)(places)
    steps = np.linalg.norm(np.diff(invariants, axis=0), axis=1)
    rows = range(1, length.size - 1)
    again = [False, *(_is_again(row, length, invariants, steps, places, track) for row in rows), False]
    changes = np.diff(np.array(again, dtype=int))
    pairs = zip(np.flatnonzero(changes > 0) + 1, np.flatnonzero(changes < 0), strict=True)
    return [(int(first), int(last)) for first, last in pairs if last - first + 1 >= STRETCH]


def _is_again(row: int, length: Any, invariants: Any, steps: Any, places: Any, track: Any) -> bool:
    """Return whether a row is on another stretch of the curve."""
    own = length[row]
    apart = np.abs(places - own) > 1.5 * max(length[row + 1] - own, own - length[row - 1])
    if not apart.any():
        return False
    missed = np.linalg.norm(track[apart] - invariants[row], axis=1)
    other = places[apart][int(np.argmin(missed))]
    between = (length >= min(own, other)) & (length <= max(own, other))
    way = np.linalg.norm(invariants[between] - invariants[row], axis=1).max()
    return bool(missed.min() <= NEAR * (steps[row - 1] + steps[row]) and missed.min() <= OF_WAY * way)


def invariants_of(found: Curve) -> np.ndarray:
    """Return the parameters of the points of a curve, and symmetric functions of the squared lengths of moments."""
    states = [_lengths(found, found.cosine, found.sine)]
    if found.other_cosine is not None:
        states.append(_lengths(found, found.other_cosine, found.other_sine))
        states = [states[0] + states[1], states[0] * states[1]]
    return np.column_stack([found.values, *states])


def _lengths(found: Curve, cosine: Any, sine: Any) -> np.ndarray:
    moments = moments_of(found.problem.domain, found.layout, cosine, sine)
    return np.stack([moments.length(degree) ** 2 for degree in range(1, min(DEGREES, moments.degree) + 1)], axis=1)
