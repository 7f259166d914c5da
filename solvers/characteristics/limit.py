r"""The flow that the field of a single point makes, to which the velocity tends when a density collapses.

Near a point at the angle 0 it is :math:`v(t) = \kappa\,s\,k'(t)`. Its exponents at the point and at the antipode,
its other zeros, and with them whether a density that is positive everywhere can collapse to a point at all, decide
about contraction.

With a phase lag the point turns at :math:`v(\alpha)`. In the frame that turns with it the flow is
:math:`v(t + \alpha) - v(\alpha)`, and where this vanishes beside the point takes the place of the antipode: for
Kuramoto's potential the angle :math:`\pi - 2\alpha`, with the exponent :math:`\kappa\cos\alpha` of both.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from meanfield import InvalidInput

from ..bases import Floats
from ..bases.transforms import waves_at
from ..evolution.medium import EPS, Complexes, Medium, point_fields

# Averages below this share of the largest have hardly any digits.
LEAST_AVERAGE = 1e-11
# Slopes below this share of the largest are none: what the rounding of the multipliers leaves is about 1e-15.
FLAT = 1e-11
# A slope is one where it is as many times its rounding.
RESOLVED = 100.0
SAMPLES_PER_DEGREE, SHIFT = 32, 0.381966
# Samples below this share of the largest may be close to a zero without a change of sign.
CLOSE = 1e-2
# Regular polygons of clusters are looked at up to so many.
MOST_CLUSTERS = 12


@dataclass(frozen=True)
class LimitFlow:
    """The flow in the field of a point.

    Attributes
    ----------
    local
        Exponent with which displacements from the point shrink.
    unstable
        Exponent with which displacements from the antipode grow.
    equilibria : tuple of float
        Other angles between 0 and pi at which particles rest, with a phase lag between 0 and 2 pi.
    attracting : tuple of float
        Those that attract, pi among them where it does.
    antipode
        The angle of the antipode from the point, pi, or of what takes its place with a phase lag.
    turning
        The angular velocity of the point.
    polygons : tuple of int
        Numbers of equal clusters that are stable at equal angles of a great circle as well; of gradients only.
    """

    local: float
    unstable: float
    equilibria: tuple[float, ...]
    attracting: tuple[float, ...]
    antipode: float = math.pi
    turning: float = 0.0
    polygons: tuple[int, ...] = ()

    @property
    def basin(self) -> float:
        """Angle around the point from within which everything is attracted to it."""
        return min((min(angle, 2.0 * math.pi - angle) for angle in self.equilibria), default=math.pi)


def limit_flow(medium: Medium) -> LimitFlow:
    """Return the flow in the field of a point.

    Raises
    ------
    InvalidInput
        If there is no velocity, the point does not attract, or the antipode is degenerate.
    """
    fields, lag = point_fields(medium), medium.law.lag
    _require_averages(medium, fields)
    local, turning = -medium.divergence(0.0, fields), 0.0
    if lag:
        turning = float(medium.velocity(waves_at(np.zeros(1), medium.degree), fields)[0])

    def velocity(angles: Floats) -> Floats:
        return medium.velocity(waves_at(angles, medium.degree), fields) - turning

    count = SAMPLES_PER_DEGREE * max(medium.degree, 16) * (2 if lag else 1)
    # An irrational shift keeps samples off the zeros that symmetry makes.
    angles = np.asarray((np.arange(count) + SHIFT) * ((2.0 if lag else 1.0) * math.pi / count), dtype=np.float64)
    # Divided by this the velocity has no zeros but those that are looked for.
    pulls = -velocity(angles) / (2.0 * np.sin(0.5 * angles) if lag else np.sin(angles))
    largest = max(abs(local), float(np.abs(pulls).max()))
    if largest == 0.0:
        raise InvalidInput("without noise and without coupling nothing moves; give a coupling other than 0")
    if local <= FLAT * largest:
        raise InvalidInput(_repulsive(local, medium.coupling, lag))
    # The sign of the pull changes at every zero, from the point outwards; odd ones do not attract.
    if lag:
        zeros = _zeros(velocity, angles, pulls, FLAT * largest)
        unstable = _leaving(medium, zeros[0], fields)
        others = tuple(zeros) if len(zeros) > 1 else ()
        return LimitFlow(local, unstable, others, tuple(zeros[1::2]), zeros[0], turning)
    unstable = _leaving(medium, math.pi, fields)
    zeros = _zeros(velocity, angles, pulls, FLAT * largest)
    attracting = (*zeros[1::2], *((math.pi,) if unstable < 0.0 else ()))
    return LimitFlow(local, unstable, tuple(zeros), attracting, polygons=_stable_polygons(medium, fields))


def _stable_polygons(medium: Medium, fields: tuple[Complexes, ...]) -> tuple[int, ...]:
    r"""Return the numbers k of equal clusters at angles 2 pi j/k of a great circle that are stable in gradients.

    With :math:`w(\cos x)` the potential of the force, :math:`s_j` its second derivative at :math:`x_j=2\pi j/k` and
    :math:`g_j=w'(\cos x_j)`, the Hessian of the energy consists of circulant matrices: along the circle with the
    eigenvalues :math:`\sum_j s_j(1-\cos mx_j)`, across it :math:`\sum_j g_j(\cos mx_j-\cos x_j)`, all positive but
    for rotations, m = 0 and m = 1. Particles stay with their clusters if :math:`\sum_j s_j` and
    :math:`-\sum_j g_j\cos x_j` are positive.
    """
    if not medium.is_gradient:
        return ()
    least = RESOLVED * medium.rounding(0.0, fields)
    stable = []
    for count in range(2, MOST_CLUSTERS + 1):
        places = 2.0 * math.pi * np.arange(count) / count
        slopes = np.array([-medium.divergence(place, fields) for place in places.tolist()])
        pulls = medium.velocity(medium.waves(places), fields)
        # The quotient of the force and the sine, at 0 and pi that of their derivatives.
        ends = np.abs(np.sin(places)) < np.sqrt(EPS)
        gradients = np.where(ends, -slopes * np.cos(places), pulls / np.where(ends, 1.0, np.sin(places)))
        waves = np.cos(np.multiply.outer(np.arange(count), places))
        along = [slopes.sum(), *((1.0 - waves[1:]) @ slopes)]
        others = [wave for wave in range(count) if wave not in (1, count - 1)]
        across = [-(np.cos(places) @ gradients), *((waves[others] - np.cos(places)) @ gradients)]
        # As often as there are directions across.
        if min(along + (medium.dimension - 2) * across) > least:
            stable.append(count)
    return tuple(stable)


def _leaving(medium: Medium, antipode: float, fields: tuple[Complexes, ...]) -> float:
    """Return the exponent with which displacements from the antipode grow.

    Raises
    ------
    InvalidInput
        If it is lost in rounding.
    """
    unstable, unknown = medium.divergence(antipode, fields), medium.rounding(antipode, fields)
    if abs(unstable) <= RESOLVED * unknown:
        raise InvalidInput(
            f"at the antipode of a point the velocity has the slope {unstable:.2g}, known to {unknown:.1g} only: "
            "densities positive there contract algebraically, or too slowly to be told from that; change the "
            "potential, for a transformer to a smaller abs(beta)"
        )
    return unstable


def _require_averages(medium: Medium, fields: tuple[Complexes, ...]) -> None:
    """Refuse laws whose averages in the field of a point are rounding opposite to it.

    Raises
    ------
    InvalidInput
        If that is so.
    """
    if medium.is_gradient:
        return
    ends = (fields[0] @ waves_at(np.array([0.0, math.pi]) - medium.law.lag, medium.degree)).real
    if abs(ends[1]) <= LEAST_AVERAGE * abs(ends[0]):
        raise InvalidInput(
            f"the averages of {medium.law.name} opposite to a cluster are {abs(ends[1] / ends[0]):.0e} of those "
            "beside it, below what their modes tell; rates without noise are computed for abs(beta) up to about 12"
        )


def _zeros(velocity: Callable[[Floats], Floats], angles: Floats, pulls: Floats, flat: float) -> list[float]:
    """Return the zeros of the velocity between samples.

    Raises
    ------
    InvalidInput
        If the velocity is flat somewhere, so that the flow stands still or almost so.
    """
    weak = _touched(velocity, angles, np.abs(pulls), flat)
    if weak is not None:
        raise InvalidInput(
            f"the velocity in the field of a point vanishes without a change of sign near the angle {weak:.4g} "
            "from it, so particles stand still there and there is no exponential rate; change the potential a "
            "little"
        )
    places = np.flatnonzero(np.signbit(pulls[1:]) != np.signbit(pulls[:-1]))
    return [
        float(brentq(lambda angle: _at(velocity, angle), angles[place], angles[place + 1], xtol=1e-14))
        for place in places
    ]


def _at(velocity: Callable[[Floats], Floats], angle: float) -> float:
    return float(velocity(np.array([angle]))[0])


def _touched(velocity: Callable[[Floats], Floats], angles: Floats, sizes: Floats, flat: float) -> float | None:
    """Return an angle at which the velocity vanishes without a change of its sign, or None if there is none."""
    if (sizes <= flat).any():
        return float(angles[np.argmin(sizes)])
    inner = sizes[1:-1]
    lows = np.flatnonzero((inner <= sizes[:-2]) & (inner <= sizes[2:]) & (inner <= CLOSE * sizes.max())) + 1
    for low in lows:
        # Signs on both sides agree, else it is a zero that is found as one.
        around = velocity(angles[[low - 1, low, low + 1]])
        if np.unique(np.sign(around)).size > 1:
            continue
        found = minimize_scalar(
            lambda angle: abs(_at(velocity, angle)),
            bounds=(angles[low - 1], angles[low + 1]),
            method="bounded",
            options={"xatol": 1e-12},
        )
        if found.fun <= math.sqrt(flat * sizes.max()) * CLOSE:
            return float(found.x)
    return None


def _repulsive(local: float, coupling: float, lag: float) -> str:
    if lag:
        return (
            f"with the phase lag {lag:g} particles move away from a point, with the exponent {-local:.6g} at "
            f"coupling {coupling:g}, so no density contracts to one; take a smaller lag"
        )
    if local < 0.0:
        return (
            f"the interaction repels at short distance, with the exponent {-local:.6g} at coupling "
            f"{coupling:g}, so no density contracts to a point; change the sign of the coupling or of the potential"
        )
    return (
        "the interaction has no curvature at short distance, so densities contract algebraically at best and there "
        "is no exponential rate; take a potential with a second derivative at 0"
    )
