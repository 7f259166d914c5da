r"""The curves and organising points of the uniform branch, in closed form.

On the threshold of mode k, :math:`\lambda_k(\kappa, p) = 1`, and :math:`\lambda_k` is proportional to the coupling,
so :math:`d\kappa/dp = -\kappa\,\partial_p\lambda_k`.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from meanfield import Curve, Equation, InvalidInput, OrganisingPoint, Outcome
from meanfield.equations import at_uniform, has_free_energy
from meanfield.records import FREE_ENERGY_GAP
from meanfield.theory import (
    UniformPoint,
    critical_couplings,
    critical_modes,
    mode_interactions,
    tricritical_points,
    unresolved_points,
)

from ..two_parameters import threshold_label
from .window import Window

Floats = npt.NDArray[np.float64]

# Values of the parameter at which modes are looked for and thresholds begin; the share of the coupling to which
# cubics between neighbouring points are exact, and the number of times that a step is halved for it.
FIRST, EXACT, HALVINGS = 25, 1e-6, 12


def threshold_modes(window: Window) -> list[int]:
    """Return the modes whose thresholds are in the window at any of some values of the parameter."""
    found: set[int] = set()
    for value in np.linspace(*window.interval, FIRST).tolist():
        points = critical_modes(window.along(value), *window.couplings(value))
        found |= {mode for point in points for mode in point.modes}
    return sorted(found)


def uniform_points(window: Window, modes: Sequence[int]) -> list[UniformPoint]:
    """Return the tricritical points and mode interactions in the window, by ascending parameter."""
    if not modes:
        return []
    found = mode_interactions(window.prepared, window.parameter, window.interval, modes)
    found += tricritical_points(window.prepared, window.parameter, window.interval, modes)
    inside = [point for point in found if window.contains(point.value, float(point.coupling))]
    return sorted(inside, key=lambda point: point.value)


def unresolved(window: Window, modes: Sequence[int]) -> list[str]:
    """Return warnings of tricritical points and mode interactions that may not all be known."""
    if not modes:
        return []
    return [
        f"{'interactions' if len(own) > 1 else 'tricritical points'} of mode {' and '.join(map(str, own))} may be "
        f"missing: their multipliers change too fast in {window.parameter} for the values taken; ask for a "
        "narrower range"
        for own in unresolved_points(window.prepared, window.parameter, window.interval, modes)
    ]


def threshold_curves(window: Window, mode: int, points: Sequence[UniformPoint]) -> list[Curve]:
    """Return the pieces of the threshold of a mode that are in the window.

    Parameters
    ----------
    points
        The organising points, which are points of the curves.
    """
    own = {point.value: point.type for point in points if mode in point.modes}
    places = np.unique(np.concatenate([np.linspace(*window.interval, 4 * FIRST), list(own)])).tolist()
    inside = [window.contains(place, _coupling(window, mode, place)) for place in places]
    pieces, start = [], None
    for index, (place, within) in enumerate(zip(places, inside, strict=True)):
        if within and start is None:
            start = place if index == 0 else _end(window, mode, place, places[index - 1])
        elif not within and start is not None:
            pieces.append((start, _end(window, mode, places[index - 1], place)))
            start = None
    if start is not None:
        pieces.append((start, places[-1]))
    return [_threshold(window, mode, piece, own) for piece in pieces if piece[0] < piece[1]]


def organising_point(window: Window, point: UniformPoint) -> OrganisingPoint:
    """Return an organising point of the uniform branch as a record."""
    names = " and ".join(str(mode) for mode in point.modes)
    word = "thresholds of the modes" if len(point.modes) > 1 else "the transition at the threshold of mode"
    how = "cross" if len(point.modes) > 1 else "turns from continuous to discontinuous"
    degree = point.modes[-1]
    critical = window.critical(point.value)
    return OrganisingPoint(
        type="tricritical" if point.type == "tricritical" else "mode interaction",
        parameters=(window.parameter, "coupling"),
        values=np.array([point.value, float(point.coupling)]),
        coupling=float(point.coupling),
        relative_coupling=None if critical is None else float(point.coupling) / critical,
        lower=point.lower,
        upper=point.upper,
        status="converged",
        curves=tuple(threshold_label(mode) for mode in point.modes),
        cosine=np.eye(degree + 1)[0],
        sine=np.zeros(degree + 1),
        description=f"{word} {names} {how}",
        domain=window.problem.domain,
    )


def _coupling(window: Window, mode: int, place: float) -> float:
    """Return the critical coupling of a mode, inf where it is not coupled."""
    return float(critical_couplings(window.along(place), mode)[mode])


def _end(window: Window, mode: int, inside: float, outside: float) -> float:
    """Return the value of the parameter in the window at which a threshold leaves it."""
    while True:
        middle = 0.5 * (inside + outside)
        if middle in (inside, outside):
            return inside
        if window.contains(middle, _coupling(window, mode, middle)):
            inside = middle
        else:
            outside = middle


def _threshold(window: Window, mode: int, piece: tuple[float, float], own: dict[float, str]) -> Curve:
    width = window.interval[1] - window.interval[0]
    places = _places(window, mode, [piece[0], *sorted(v for v in own if piece[0] < v < piece[1]), piece[1]])
    first = np.array(places)
    coupling, slope = np.array([_slope(window, mode, place) for place in places]).T
    critical = [window.critical(place) for place in places]
    speed = np.hypot(1.0 / width, slope / coupling)
    arclength = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(first))])
    problems = [window.along(place).at(coupling=value) for place, value in zip(places, coupling, strict=True)]
    states = np.zeros((len(places), mode + 1))
    ends = ["EP" if index in (0, len(places) - 1) else "" for index in range(len(places))]
    return Curve(
        problem=problems[0],
        label=threshold_label(mode),
        type="threshold",
        parameters=(window.parameter, "coupling"),
        interval=window.interval,
        values=np.column_stack([first, coupling]),
        coupling=coupling,
        relative_coupling=coupling / np.array([np.nan if each is None else each for each in critical]),
        cosine=states + np.eye(mode + 1)[0],
        sine=states,
        observables={FREE_ENERGY_GAP: np.zeros(len(places))} if has_free_energy(window.problem) else {},
        residual=np.array([abs(1.0 - at_uniform(each).strengths(mode)[mode]) for each in problems]),
        unstable=np.array([_unstable(each, mode) for each in problems], dtype=np.int64),
        modes=np.full(len(places), mode, dtype=np.int64),
        arclength=arclength,
        tangent=np.column_stack([1.0 / speed, slope / speed]),
        point_labels=tuple(own.get(place, end) for place, end in zip(places, ends, strict=True)),
        outcome=Outcome.LEFT_INTERVAL,
        symmetry=0,
    )


def _places(window: Window, mode: int, places: list[float]) -> list[float]:
    """Return values of the parameter between which cubics give the logarithm of the coupling."""
    known = {place: _slope(window, mode, place) for place in places}

    def refined(low: float, high: float, depth: int) -> list[float]:
        middle = 0.5 * (low + high)
        known.setdefault(middle, _slope(window, mode, middle))
        (left, rising), (right, falling) = known[low], known[high]
        exact = False
        if np.sign(left) == np.sign(right) != 0.0:
            predicted = 0.5 * (np.log(abs(left)) + np.log(abs(right)))
            predicted += (high - low) / 8 * (rising / left - falling / right)
            exact = abs(predicted - np.log(abs(known[middle][0]))) <= EXACT
        if depth == 0 or (exact and depth <= HALVINGS - 3):
            return [middle, high]
        return [*refined(low, middle, depth - 1), *refined(middle, high, depth - 1)]

    return [places[0], *(p for pair in pairwise(places) for p in refined(*pair, HALVINGS))]


def _slope(window: Window, mode: int, place: float) -> tuple[float, float]:
    """Return the critical coupling of a mode and its derivative in the parameter."""
    coupling = _coupling(window, mode, place)
    derivatives = at_uniform(window.along(place).at(coupling=coupling)).strength_derivatives(window.parameter, mode)
    return coupling, float(-coupling * derivatives[mode])


def _unstable(problem: Equation, mode: int) -> int:
    """Return the number of directions in which the uniform state is unstable already where a mode is critical."""
    coupling = problem.fixed_coupling
    try:
        points = critical_modes(problem, min(coupling, 0.0), max(coupling, 0.0))
    except InvalidInput:
        return -1
    below = {degree for point in points if mode not in point.modes for degree in point.modes}
    return sum(problem.domain.multiplicity(degree) for degree in below)
