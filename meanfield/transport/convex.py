"""The minimum of a convex function of one number, whose derivative may jump."""

import math
from collections.abc import Callable

import numpy as np

EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)
# An excess of the cost below this is no matter.
SMALLEST = EPS**2
STEPS = 100
LONGER = 8.0


def minimiser(function: Callable[[float], tuple[float, float]], low: float, high: float, rounding: float) -> float:
    """Return the minimiser of a convex cost, the root of its derivative, between two bounds.

    Newton's steps go a rounding too far, so that in the end they close the bracket from both sides. Where a step
    does not halve the derivative, for it may rise steeply over a width of rounding or be rounding itself, the next
    is longer. The cost exceeds the least one by derivative times bracket at most.

    Parameters
    ----------
    function
        Returns first and second derivative of the cost, up to a common factor.
    low, high
        Where the derivative is not positive, and not negative.
    rounding
        The bracket is not made smaller than this.
    """
    root, before, length = 0.5 * (low + high), math.inf, 1.0
    for _ in range(STEPS):
        value, slope = function(root)
        low, high = (low, root) if value > 0 else (root, high)
        if high - low <= rounding or abs(value) * (high - low) <= SMALLEST:
            break
        stuck = before * value > 0 and abs(value) > 0.5 * abs(before)
        length = LONGER * length if stuck else 1.0
        moved = root - length * (value / max(slope, TINY) + math.copysign(0.5 * rounding, value))
        root, before = moved if low < moved < high else 0.5 * (low + high), value
    return root
