r"""The two exponents of a collapse, measured in its own field: of the cluster and of the separatrix.

Particles in the cluster approach each other at :math:`-\partial_x v`, the local exponent L. Near the separatrix
distances grow at an exponent :math:`\lambda`, and of the mass near it :math:`e^{-(d-1)\lambda t}` has not left at
time t, because it has d-1 directions to leave in. :math:`\lambda` is read off tracers: the labels of particles that
pass a right angle from the cluster at times :math:`t_j` approach the separatrix label like
:math:`e^{-\lambda t_j}`. The two sides of the circle deviate from that with opposite signs to first order, so their
mean is taken.

Once the mass in flight is small its own field is left out: that changes velocities at time t by as much as this
mass, and the slope between tracers differs from its limit by as much anyway.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..bases import Floats
from ..evolution.medium import Medium, point_fields
from .collapse import NODES, History, collapse
from .labels import PANELS, LabelDensity, Parting, labels_on, panels_of
from .limit import LimitFlow
from .separatrix import Backward, backward, cluster_of, partings

EPS = float(np.finfo(float).eps)
# The remainder 1 - r down to which the field of all labels is followed where the separatrix decides, ...
IN_FLIGHT = 1e-7
# ... and where the cluster does, whose own size enters the local exponent.
CONTRACTED = 1e-15
# Time for which tracers are followed after that and intervals between them, in units of 1/lambda.
FURTHER, INTERVAL, TRACERS = 18.0, 2.0, 4
# Remainders, tolerances and narrowest panels of the passes that only look for the separatrix label.
ROUGH = ((1e-2, 1e-8, 1.0), (1e-5, 1e-9, 1e-4))
# If the flow also parts elsewhere for a time, the last of these is made at most so many times more, until the
# separatrix label moves by less than this.
REPEATED, SETTLED = 6, 1e-4
# Passes have different panels, so that what changes from one to the next tells how well panels resolve the flow.
OTHER_PANELS = PANELS + 4
FORWARD, BACKWARD = 1e-10, 1e-13
# Tracers need no sharper tolerance than this share of the relative rounding of velocities at the antipode: steps
# would shrink to resolve rounding, and the error multiplied by the logarithms of distances is as large as rounding.
ROUNDING_SHARE = 1.0 / 32.0
# Labels shrink to this towards the separatrix.
FINEST = 1e-9
# Beyond this ratio of the exponents of 1 - r the cluster decides however large the errors are.
CLEARLY_FASTER = 1.5
# Longest time, in units of the slower exponent: several clusters may wait long for each other.
LONGEST = 4000.0


class Exponent(NamedTuple):
    """A measured exponent, its error, and the times between which it was measured."""

    value: float
    error: float
    window: tuple[float, float]


@dataclass(frozen=True)
class Collapse:
    """A density followed to its collapse.

    Attributes
    ----------
    history
        The moments, and 1 - r at the ends of steps.
    local
        The exponent of the cluster.
    unstable
        That of the separatrix, None where other equilibria replace the antipode.
    cluster, cluster_error
        Angle at which the density collapses, in the frame of the labels, and how much the last pass moved it.
    tracers
        The separatrix label and tracers beside it, None likewise.
    label_error
        How much the last pass moved the separatrix label.
    """

    history: History
    local: Exponent
    unstable: Exponent | None
    cluster: float
    cluster_error: float
    tracers: Backward | None
    label_error: float


def followed(medium: Medium, density: LabelDensity, flow: LimitFlow, goal: float) -> History | Collapse:
    """Return the collapse of a density, or only its history if that does not end in a point."""
    longest = LONGEST / min(flow.local, abs(flow.unstable))
    located = None if flow.equilibria else _located(medium, density, longest, flow.antipode)
    if isinstance(located, History):
        return located
    labels = labels_on(density, panels_of(density), () if located is None else located.partings)
    history = collapse(medium, labels, goal, FORWARD, longest)
    if not history.finished:
        return history
    cluster = cluster_of(medium, history)
    if located is None:
        return Collapse(history, local_exponent(medium, history, flow), None, cluster, 0.0, None, math.inf)
    extended = alone(medium, history, history.until + FURTHER / flow.unstable)
    local = local_exponent(medium, history if goal <= CONTRACTED else extended, flow)
    times = extended.until - INTERVAL / flow.unstable * np.arange(TRACERS - 1.0, -1.0, -1.0)
    # Where the cluster clearly decides, the other exponent is not needed to all digits.
    clearly = (medium.dimension - 1) * flow.unstable > CLEARLY_FASTER * 2.0 * flow.local
    rounding = medium.rounding(flow.antipode, point_fields(medium))
    tolerance = max(FORWARD if clearly else BACKWARD, ROUNDING_SHARE * rounding / flow.unstable)
    tracers = backward(medium, extended, times, tolerance, flow.antipode)
    moved = 0.0 if medium.even else abs(_turn(tracers.label - located.partings[0].label)) + FORWARD
    unstable = unstable_exponent(tracers, tolerance, rounding)
    return Collapse(history, local, unstable, cluster, located.moved(history), tracers, moved)


@dataclass(frozen=True)
class Located:
    """Where the flow parts, the separatrix label first, and the last of the passes that tell."""

    partings: tuple[Parting, ...]
    history: History

    def moved(self, history: History) -> float:
        """Return by how much the mean angle of another history differs at the last time of the pass."""
        time = min(self.history.until, history.until)
        one, other = self.history.at(time)[1], history.at(time)[1]
        return abs(float(np.angle(one * other.conj())))


def _located(medium: Medium, density: LabelDensity, longest: float, apart: float) -> Located | History:
    """Return where the flow of a density parts, or its history if that does not end in a point."""
    known: tuple[Parting, ...] = (Parting(math.pi, FINEST),) if medium.even else ()
    passes = ROUGH[-1:] if medium.even else ROUGH
    for number, (rough, tolerance, finest) in enumerate((*passes, *[ROUGH[-1]] * REPEATED)):
        edges = panels_of(density, PANELS if number % 2 else OTHER_PANELS)
        history = collapse(medium, labels_on(density, edges, known), rough, tolerance, longest)
        if not history.finished:
            return history
        label = math.pi if medium.even else backward(medium, history, np.zeros(0), tolerance, apart).label
        others = partings(medium, history, label, known[1:])
        settled = len(known) == 1 + len(others) and abs(_turn(label - known[0].label)) < SETTLED
        known = (Parting(label, finest if number else ROUGH[-1][2]), *others)
        if number >= len(passes) - 1 and (settled or not others):
            break
    return Located((Parting(label, FINEST), *others), history)


def alone(medium: Medium, history: History, until: float) -> History:
    """Return a history that goes on with the field of the cluster alone."""
    point = np.exp(1j * medium.degrees * cluster_of(medium, history))
    return History(
        np.append(history.ends, until),
        np.concatenate([history.moments, np.tile(point, (1, NODES, 1))]),
        np.append(history.remainder, history.remainder[-1]),
        history.finished,
        history.angles,
        history.masses,
    )


def local_exponent(medium: Medium, history: History, flow: LimitFlow) -> Exponent:
    """Return the rate at which particles in the cluster approach each other at the last time.

    Its error is what it changed in the time of one e-fold before, what the field of the cluster alone changes, and
    rounding, that of the terms of the second derivative of the kernel.
    """
    last, before = history.until, max(history.until - 1.0 / flow.local, 0.0)
    now, then = (_contraction(medium, history, time) for time in (last, before))
    moments = history.at(last)
    cluster = 0.0 if medium.even else float(np.angle(moments[1]))
    rounding = medium.rounding(cluster, medium.fields(moments))
    return Exponent(now, abs(now - then) + abs(now - flow.local) + rounding, (before, last))


def _contraction(medium: Medium, history: History, time: float) -> float:
    moments = history.at(time)
    cluster = 0.0 if medium.even else float(np.angle(moments[1]))
    return -medium.divergence(cluster, medium.fields(moments))


def unstable_exponent(tracers: Backward, tolerance: float, rounding: float) -> Exponent:
    """Return the rate at which the labels of tracers approach the separatrix label between the last two.

    Its error is the change from the interval before, which is larger than what is left by the factor e^2 at least,
    the error of the distances by a tolerance, and the rounding of the velocity.
    """
    mean = tracers.distances.mean(axis=0)
    slopes: Floats = -np.diff(mean) / np.diff(tracers.times)
    length = float(tracers.times[-1] - tracers.times[-2])
    distances = (tolerance + 4.0 * EPS) * (1.0 + float(np.abs(mean).max())) / length
    error = abs(float(slopes[-1] - slopes[-2])) + distances + rounding
    return Exponent(float(slopes[-1]), error, (float(tracers.times[-2]), float(tracers.times[-1])))


def _turn(angle: float) -> float:
    """Return an angle between -pi and pi."""
    return math.remainder(angle, 2.0 * math.pi)
