"""When a step of continuation is accepted, how far it leads and how long the next one is, compiled or not."""

import math

from ..bases import EPS
from ..root_finding.stopping import LAST_STEP

# Points from which the next one is predicted.
PREDICTED_FROM = 3
# Nodes of a prediction closer together than this share of the step would amplify rounding.
CLOSE_NODES = 1e-3
# Steps of fewer roundings of the arclength lead to the same place.
SHORTEST = 16
# The shortest last step of Newton's method that can be asked for.
LEAST_STEP = 2e-15
# A correction is at most so many tolerances long, and as long as this share of the step.
TOLERANCES, SHARE = 10.0, 0.2
# The direction turns by up to about 25 degrees.
LEAST_COSINE = 0.9


def smallest_step(size: float, arclength: float, min_step: float) -> float:
    """Return the length below which steps are not tried from a state of a size at an arclength."""
    return max(min_step * min(1.0, size), SHORTEST * EPS * arclength)


def last_step_beside(distance: float) -> float:
    """Return how long Newton's last step may be for tangents at a distance from a more symmetric state.

    At a distance eps from the branch point at which a branch is born, or from the uniform state, the smallest
    eigenvalue is of order eps^2, and so must be the error of the point at which the tangent is taken.
    """
    error = 1e-4 * distance**2
    return LAST_STEP if error >= LAST_STEP else max(LEAST_STEP, error)


def accepted(distance: float, cosine: float, step: float, tolerance: float) -> bool:
    """Return whether a step is accepted, by the length of its correction and the angle between its tangents."""
    return distance <= min(TOLERANCES * tolerance, SHARE * step) and abs(cosine) > LEAST_COSINE


def arc(chord: float, cosine: float) -> float:
    """Return the length of the circular arc with a chord and the cosine of the angle it turns by."""
    half = math.sqrt(max(0.5 - 0.5 * cosine, 0.0))
    return chord * math.asin(half) / half if half > 0.0 else chord


def growth(distance: float, order: int, tolerance: float, most: float) -> float:
    """Return the next step over the last, by the tolerance over the prediction error, a power of the step."""
    factor: float = (tolerance / max(distance, 1e-300)) ** (1.0 / order)
    return min(most, max(0.3, 0.9 * factor))
