r"""The separatrix, its label, and tracers beside it, backward through the stored field.

Backward in time all particles but those of the cluster gather at the separatrix s(t), the particle that stays at
the antipode. So its label :math:`s(0)` is found by integrating the antipode backward, which is stable, and the
label :math:`s(0) + u` of the particle that passes a point :math:`x` at time t by integrating

.. math:: \frac{d}{dt} \ln|u| = \frac{v(s+u) - v(s)}{u}

from there, which keeps all digits of u however small it is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from ..bases import Floats
from ..bases.transforms import waves_at
from ..evolution.medium import Medium
from .collapse import History
from .labels import Parting

# Logarithm of the distance below which the flow is linear to all digits, and distances would underflow in the end.
NEAREST = -200.0
# No point is farther than a turn; stages of the integrator may be.
FARTHEST = math.log(2.0 * math.pi)
# Fields at so many times, and angles by degree and at least, on which they are searched for points that repel.
SEARCHED_TIMES, SEARCHED_ANGLES = 512, 8
# Labels that part by less than the first of these need no panels of their own; panels beside them that were
# narrower than the second divided by the factor stay narrow. Backward integration has this tolerance.
LEAST_STRETCH, NARROW, FINEST, TOLERANCE = 4.0, 0.1, 1e-9, 1e-8
# Logarithm of the largest factor that is told, far beyond the finest panels and within the range of doubles.
MOST_STRETCH = 100.0
# Labels this close are one that another pass has moved.
SAME = 0.02


@dataclass(frozen=True)
class Backward:
    """The separatrix and tracers, integrated backward to time 0.

    Attributes
    ----------
    label
        The separatrix label.
    times : (n,) float
        Times at which tracers pass half of the way from the separatrix to the cluster, a right angle without lag.
    distances : (sides, n) float
        Logarithms of the distances of their labels from the separatrix label; above it first, then below it.
    """

    label: float
    times: Floats
    distances: Floats


def cluster_of(medium: Medium, history: History) -> float:
    """Return the angle of the cluster at the last time."""
    return 0.0 if medium.even else float(np.angle(history.moments[-1, -1, 1]))


def end_of_separatrix(medium: Medium, history: History, apart: float) -> float:
    """Return the position of the separatrix at the last time, by its angle from the cluster.

    The field still changes like e^(-lambda t), so its zero is twice as far from the limit as the separatrix is.
    """
    antipode = cluster_of(medium, history) + apart
    if medium.even:
        return math.pi
    fields = medium.fields(history.moments[-1, -1])
    rate = medium.divergence(antipode, fields)
    velocity = float(medium.velocity(waves_at(np.array([antipode]), medium.degree), fields)[0])
    return antipode - 0.5 * velocity / rate if rate > 0.0 else antipode


def backward(medium: Medium, history: History, times: Floats, tolerance: float, apart: float = math.pi) -> Backward:
    """Return the separatrix label and the tracers of increasing times.

    Parameters
    ----------
    medium, history
        What moves, and its moments.
    times : (n,) float
        When tracers pass half of the way from the separatrix to the cluster.
    tolerance
        Of the integrator.
    apart
        The angle of the separatrix from the cluster in the end.
    """
    halves = np.array([math.pi - 0.5 * apart, -0.5 * apart])[int(medium.even) :]
    state = np.array([end_of_separatrix(medium, history, apart)])
    moment = history.until
    for start in [*times[::-1], 0.0]:
        state = _carried(medium, history, state, moment, float(start), tolerance)
        moment = float(start)
        if start > 0.0:
            centre = 0.0 if medium.even else float(np.angle(history.at(moment)[1]))
            offset = (centre + apart - state[0] + math.pi) % (2.0 * math.pi) - math.pi
            state = np.concatenate([state, np.log(np.abs(offset + halves))])
    # The last time was appended first.
    distances = state[1:].reshape(times.size, halves.size).T[:, ::-1]
    return Backward(float(state[0]), times, distances)


def _carried(medium: Medium, history: History, state: Floats, start: float, end: float, tolerance: float) -> Floats:
    if start <= end:
        return state
    count = state.size - 1
    signs = np.full(count, -1.0)
    if not medium.even:
        signs[::2] = 1.0

    def slope(time: float, values: Floats) -> Floats:
        fields = medium.fields(history.at(time))
        point = float(values[0])
        own = 0.0
        if not medium.even:
            own = float(medium.velocity(waves_at(values[:1], medium.degree), fields)[0])
        offsets = signs * np.exp(np.clip(values[1:], NEAREST, FARTHEST))
        rates = medium.difference(point, offsets, fields) / offsets if count else offsets
        return np.concatenate([[own], rates])

    found = solve_ivp(
        slope, (start, end), state, method="DOP853", rtol=tolerance, atol=tolerance, max_step=(start - end)
    )
    return np.asarray(found.y[:, -1])


def partings(
    medium: Medium, history: History, separatrix: float, known: Sequence[Parting] = ()
) -> tuple[Parting, ...]:
    """Return the labels at which the flow parts for some time only, in several clusters that meet later.

    While there are several clusters there are as many points that repel. Those of the last time at which there are
    so many are followed backward, as is the separatrix, with the factor by which labels beside them part. Those
    known from a pass before that are not found again are kept.
    """
    low, high = (0.0, math.pi) if medium.even else (-math.pi, math.pi)
    angles = np.linspace(low, high, SEARCHED_ANGLES * max(medium.degree, 16) + 1)
    waves = waves_at(angles, medium.degree)
    steps = history.moments.shape[0]
    found: list[tuple[float, float]] = []
    least = later = 0 if medium.even else 1
    for step in np.unique(np.linspace(0, steps - 1, SEARCHED_TIMES).astype(int))[::-1]:
        velocities = medium.velocity(waves, medium.fields(history.moments[step, -1]))
        places = np.flatnonzero((velocities[:-1] < 0.0) & (velocities[1:] >= 0.0))
        if places.size > max(later, least):
            middle = 0.5 * (angles[places] + angles[places + 1])
            found += _labelled(medium, history, middle, float(history.ends[step + 1]))
        later = places.size
    new = _distinct(found, separatrix)
    lost = [old for old in known if min((_apart(old.label, one.label) for one in new), default=SAME) >= SAME]
    return (*new, *lost)


def _labelled(medium: Medium, history: History, places: Floats, time: float) -> list[tuple[float, float]]:
    """Return the labels of points at a time, and the factors by which labels beside them have parted until then."""

    def slope(moment: float, state: Floats) -> Floats:
        fields = medium.fields(history.at(moment))
        points = state[: places.size]
        velocity = medium.velocity(waves_at(points, medium.degree), fields)
        return np.concatenate([velocity, [medium.divergence(float(point), fields) for point in points]])

    start = np.concatenate([places, np.zeros(places.size)])
    end = solve_ivp(slope, (time, 0.0), start, method="DOP853", rtol=TOLERANCE, atol=TOLERANCE).y[:, -1]
    factors = np.exp(-np.clip(end[places.size :], -MOST_STRETCH, 0.0))
    return list(zip(end[: places.size].tolist(), factors.tolist(), strict=True))


def _distinct(found: list[tuple[float, float]], separatrix: float) -> tuple[Parting, ...]:
    """Return labels that part by some factor, apart from each other and the separatrix as far as they tell."""
    kept: list[Parting] = []
    for label, factor in sorted(found, key=lambda pair: -pair[1]):
        apart = min(_apart(label, other) for other in (separatrix, *(parting.label for parting in kept)))
        if factor > LEAST_STRETCH and apart > max(1.0 / factor, SAME * NARROW):
            kept.append(Parting(math.remainder(label, 2.0 * math.pi), max(FINEST, NARROW / factor)))
    return tuple(kept)


def _apart(one: float, other: float) -> float:
    return abs(math.remainder(one - other, 2.0 * math.pi))
