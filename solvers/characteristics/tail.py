r"""The initial density near the separatrix label, and with it the mass that is in flight at late times.

With a density like :math:`A |u|^k` at the distance u the mass within a small u is :math:`A u^{d-1+k}/(d-1+k)`, up
to the area of the sphere of directions, so it leaves like :math:`e^{-(d-1+k)\lambda t}`.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..bases import Floats
from .labels import LabelDensity
from .measured import Collapse

# Distances from the separatrix label halve from the first of these, down to the second if the label is as accurate.
FIRST, LAST = 0.25, 1e-9
# A density counts as of one order where this many ratios in a row agree to the second number.
ROWS, AGREE = 4, 0.02


@dataclass(frozen=True)
class Tail:
    """The initial density beside the separatrix label.

    Attributes
    ----------
    order : float or None
        k; None if the density vanishes there, or nothing is known.
    vanishes
        Whether it is zero within a distance of the label.
    heights : (sides,) float
        A on each side, over the uniform density, zero on a side where it is of higher order.
    doubt
        What is not known, in words; empty if all is known.
    """

    order: float | None
    vanishes: bool
    heights: Floats
    doubt: str = ""

    @property
    def known(self) -> bool:
        """Whether the order is known, or that there is no mass."""
        return not self.doubt


def tail_of(density: LabelDensity, label: float, label_error: float) -> Tail:
    """Return the behaviour of a density beside a label that is known to an error."""
    smallest = max(LAST, 100.0 * label_error)
    count = max(1, math.floor(math.log2(FIRST / smallest)) + 1)
    distances = np.asarray(FIRST * 0.5 ** np.arange(count), dtype=np.float64)
    sides = np.array([-1.0]) if density.even else np.array([1.0, -1.0])
    values = np.array([density.profile(_within(density, label + side * distances)) for side in sides])
    total = np.maximum(values, 0.0).sum(axis=0)
    noise = 16.0 * density.accuracy
    if count < 2 * ROWS:
        around = density.profile(_within(density, label + np.linspace(-1.0, 1.0, 257) * smallest))
        if around.min() > 100.0 * noise:
            return Tail(0.0, False, np.maximum(values[:, -1], 0.0))
    nearest = total[-ROWS:]
    if nearest.max() == 0.0 and noise == 0.0:
        return Tail(None, True, np.zeros(sides.size))
    if nearest.min() > 100.0 * noise and nearest.max() - nearest.min() < AGREE * nearest.max():
        return Tail(0.0, False, np.maximum(values[:, -1], 0.0))
    trusted = np.flatnonzero(total > 1e4 * max(noise, 1e-300))
    if (noise == 0.0 and nearest.max() > 0.0) or trusted.size > ROWS:
        found = _power(np.asarray(distances[trusted]), values[:, trusted])
        if found is not None:
            return found
    if noise > 0.0 and total.max() <= 100.0 * noise:
        return Tail(None, False, np.zeros(sides.size), _below_rounding(total, noise))
    if trusted.size and trusted[-1] + ROWS < total.size and noise == 0.0:
        return Tail(None, True, np.zeros(sides.size))
    return Tail(None, False, np.zeros(sides.size), "the density is of no clear order at the separatrix label")


def _power(distances: Floats, values: Floats) -> Tail | None:
    """Return the tail of a density that is a power of the distance over the last distances, or None."""
    if distances.size <= ROWS:
        return None
    total = np.maximum(values, 0.0).sum(axis=0)[-ROWS - 1 :]
    orders = np.log2(total[:-1] / total[1:])
    order = float(orders[-1])
    if orders.max() - orders.min() > AGREE or abs(order - round(order)) > AGREE:
        return None
    order = float(round(order))
    return Tail(order, False, np.maximum(values[:, -1], 0.0) / distances[-1] ** order)


def _within(density: LabelDensity, angles: Floats) -> Floats:
    return angles if density.even else np.mod(angles + math.pi, 2.0 * math.pi) - math.pi


def _below_rounding(total: Floats, noise: float) -> str:
    return (
        f"the density at the separatrix label, {total[-1]:.1g} of the uniform one, is below the rounding "
        f"{noise:.1g} of its moments, so whether there is mass is not known; a function of the angle is taken "
        "as exact"
    )


def log_amplitude(density: LabelDensity, found: Collapse, tail: Tail, exponent: float) -> float | None:
    """Return ln C of the mass C e^(-exponent t) farther than a right angle from the cluster at late times."""
    if tail.order is None or found.tracers is None or not tail.heights.any():
        return None
    power = density.dimension - 1.0 + tail.order
    last = found.tracers.distances[:, -1]
    largest = float(last.max())
    # |S^(d-2)| / |S^(d-1)|, the mass of the uniform density by the angle near a point, for both sides if even.
    constant = float(density.measure(np.array([0.5 * math.pi]))[0])
    mass = float((tail.heights * np.exp(power * (last - largest))).sum()) * constant / power
    return math.log(mass) + power * largest + exponent * float(found.tracers.times[-1])
