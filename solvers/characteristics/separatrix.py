r"""The separatrix, its label, and tracers beside it, backward through the stored field.

Backward in time all particles but those of the cluster gather at the separatrix s(t), the particle that stays at
the antipode. So its label :math:`s(0)` is found by integrating the antipode backward, which is stable, and the
label :math:`s(0) + u` of the particle that passes a point :math:`x` at time t by integrating

.. math:: \frac{d}{dt} \ln|u| = \frac{v(s+u) - v(s)}{u}

from there, which keeps all digits of u however small it is.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from ..bases import Floats
from ..evolution.medium import Medium
from ..transforms import waves_at
from .collapse import History

# Tracers start here relative to the cluster, on both sides.
PLACE = 0.5 * math.pi
# Logarithm of the distance below which the flow is linear to all digits, and distances would underflow in the end.
NEAREST = -200.0
# No point is farther than a turn; stages of the integrator may be.
FARTHEST = math.log(2.0 * math.pi)


@dataclass(frozen=True)
class Backward:
    """The separatrix and tracers, integrated backward to time 0.

    Attributes
    ----------
    label
        The separatrix label.
    times : (n,) float
        Times at which tracers pass a right angle from the cluster.
    distances : (sides, n) float
        Logarithms of the distances of their labels from the separatrix label; above it first, then below it.
    """

    label: float
    times: Floats
    distances: Floats


def cluster_of(medium: Medium, history: History) -> float:
    """Return the angle of the cluster at the last time."""
    return 0.0 if medium.even else float(np.angle(history.moments[-1, -1, 1]))


def end_of_separatrix(medium: Medium, history: History) -> float:
    """Return the position of the separatrix at the last time.

    The field still changes like e^(-lambda t), so its zero is twice as far from the limit as the separatrix is.
    """
    antipode = cluster_of(medium, history) + math.pi
    if medium.even:
        return math.pi
    fields = medium.fields(history.moments[-1, -1])
    rate = medium.divergence(antipode, fields)
    velocity = float(medium.velocity(waves_at(np.array([antipode]), medium.degree), fields)[0])
    return antipode - 0.5 * velocity / rate if rate > 0.0 else antipode


def backward(medium: Medium, history: History, times: Floats, tolerance: float) -> Backward:
    """Return the separatrix label and the tracers of increasing times."""
    sides = np.array([-1.0]) if medium.even else np.array([1.0, -1.0])
    state = np.array([end_of_separatrix(medium, history)])
    moment = history.until
    for start in [*times[::-1], 0.0]:
        state = _carried(medium, history, state, moment, float(start), tolerance)
        moment = float(start)
        if start > 0.0:
            centre = 0.0 if medium.even else float(np.angle(history.at(moment)[1]))
            offset = (centre + math.pi - state[0] + math.pi) % (2.0 * math.pi) - math.pi
            state = np.concatenate([state, np.log(np.abs(offset + sides * PLACE))])
    # The last time was appended first.
    distances = state[1:].reshape(times.size, sides.size).T[:, ::-1]
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
