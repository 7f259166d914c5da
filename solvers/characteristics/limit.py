r"""The flow that the field of a single point makes, to which the velocity tends when a density collapses.

Near a point at the angle 0 it is :math:`v(t) = \kappa\,s\,k'(t)`. Its exponents at the point and at the antipode,
its other zeros, and with them whether a density that is positive everywhere can collapse to a point at all, decide
about contraction.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from meanfield import InvalidInput

from ..bases import Floats
from ..evolution.medium import Complexes, Medium, point_fields
from ..transforms import waves_at

# Averages below this share of the largest have hardly any digits.
LEAST_AVERAGE = 1e-11
# Slopes below this share of the largest are none: what the rounding of the multipliers leaves is about 1e-15.
FLAT = 1e-11
# A slope is one where it is as many times its rounding.
RESOLVED = 100.0
SAMPLES_PER_DEGREE, SHIFT = 32, 0.381966
# Samples below this share of the largest may be close to a zero without a change of sign.
CLOSE = 1e-2


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
        Other angles between 0 and pi at which particles rest.
    attracting : tuple of float
        Those that attract, pi among them where it does.
    """

    local: float
    unstable: float
    equilibria: tuple[float, ...]
    attracting: tuple[float, ...]

    @property
    def basin(self) -> float:
        """Angle around the point from within which everything is attracted to it."""
        return min(self.equilibria, default=math.pi)


def limit_flow(medium: Medium) -> LimitFlow:
    """Return the flow in the field of a point.

    Raises
    ------
    InvalidInput
        If there is no velocity, the point does not attract, or the antipode is degenerate.
    """
    fields = point_fields(medium)
    _require_averages(medium, fields)
    local, unstable = -medium.divergence(0.0, fields), medium.divergence(math.pi, fields)
    count = SAMPLES_PER_DEGREE * max(medium.degree, 16)
    # An irrational shift keeps samples off the zeros that symmetry makes.
    angles = np.asarray((np.arange(count) + SHIFT) * (math.pi / count), dtype=np.float64)
    # Divided by sin t the velocity has no zeros but those that are looked for.
    pulls = -_velocity(medium, angles) / np.sin(angles)
    largest = float(np.abs([local, unstable, *pulls]).max())
    if largest == 0.0:
        raise InvalidInput("without noise and without coupling nothing moves; give a coupling other than 0")
    if local <= FLAT * largest:
        raise InvalidInput(_repulsive(local, medium.coupling))
    unknown = medium.rounding(math.pi, fields)
    if abs(unstable) <= RESOLVED * unknown:
        raise InvalidInput(
            f"at the antipode of a point the velocity has the slope {unstable:.2g}, known to {unknown:.1g} only: "
            "densities positive there contract algebraically, or too slowly to be told from that; change the "
            "potential, for a transformer to a smaller abs(beta)"
        )
    zeros = _zeros(medium, angles, pulls, FLAT * largest)
    # The sign of the pull changes at every zero, from the point outwards; odd ones do not attract.
    attracting = (*zeros[1::2], *((math.pi,) if unstable < 0.0 else ()))
    return LimitFlow(local, unstable, tuple(zeros), tuple(attracting))


def _require_averages(medium: Medium, fields: tuple[Complexes, ...]) -> None:
    """Refuse laws whose averages in the field of a point are rounding opposite to it.

    Raises
    ------
    InvalidInput
        If that is so.
    """
    if medium.is_gradient:
        return
    ends = (fields[0] @ waves_at(np.array([0.0, math.pi]), medium.degree)).real
    if abs(ends[1]) <= LEAST_AVERAGE * abs(ends[0]):
        raise InvalidInput(
            f"the averages of {medium.law.name} opposite to a cluster are {abs(ends[1] / ends[0]):.0e} of those "
            "beside it, below what their modes tell; rates without noise are computed for abs(beta) up to about 12"
        )


def _velocity(medium: Medium, angles: Floats) -> Floats:
    fields = point_fields(medium)
    return medium.velocity(waves_at(angles, medium.degree), fields)


def _zeros(medium: Medium, angles: Floats, pulls: Floats, flat: float) -> list[float]:
    """Return the zeros of the velocity between samples.

    Raises
    ------
    InvalidInput
        If the velocity is flat somewhere, so that the flow stands still or almost so.
    """
    weak = _touched(medium, angles, np.abs(pulls), flat)
    if weak is not None:
        raise InvalidInput(
            f"the velocity in the field of a point vanishes without a change of sign near the angle {weak:.4g} "
            "from it, so particles stand still there and there is no exponential rate; change the potential a "
            "little"
        )
    places = np.flatnonzero(np.signbit(pulls[1:]) != np.signbit(pulls[:-1]))

    def velocity(angle: float) -> float:
        return float(_velocity(medium, np.array([angle]))[0])

    return [float(brentq(velocity, angles[place], angles[place + 1], xtol=1e-14)) for place in places]


def _touched(medium: Medium, angles: Floats, sizes: Floats, flat: float) -> float | None:
    """Return an angle at which the velocity vanishes without a change of its sign, or None if there is none."""
    if (sizes <= flat).any():
        return float(angles[np.argmin(sizes)])
    inner = sizes[1:-1]
    lows = np.flatnonzero((inner <= sizes[:-2]) & (inner <= sizes[2:]) & (inner <= CLOSE * sizes.max())) + 1
    for low in lows:
        # Signs on both sides agree, else it is a zero that is found as one.
        around = _velocity(medium, angles[[low - 1, low, low + 1]])
        if np.unique(np.sign(around)).size > 1:
            continue
        found = minimize_scalar(
            lambda angle: abs(float(_velocity(medium, np.array([angle]))[0])),
            bounds=(angles[low - 1], angles[low + 1]),
            method="bounded",
            options={"xatol": 1e-12},
        )
        if found.fun <= math.sqrt(flat * sizes.max()) * CLOSE:
            return float(found.x)
    return None


def _repulsive(local: float, coupling: float) -> str:
    if local < 0.0:
        return (
            f"the interaction repels at short distance, with the exponent {-local:.6g} at coupling "
            f"{coupling:g}, so no density contracts to a point; change the sign of the coupling or of the potential"
        )
    return (
        "the interaction has no curvature at short distance, so densities contract algebraically at best and there "
        "is no exponential rate; take a potential with a second derivative at 0"
    )
