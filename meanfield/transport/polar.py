r"""The law of the angle from an axis on a sphere: distribution function, samples and Wasserstein distances.

The angle of a zonal density f has the density proportional to :math:`f(\theta)\sin^{d-2}\theta` on
:math:`[0, \pi]`. Its integrals over small intervals come from Gauss's rule; between the nodes the distribution
function is the cubic with its values and slopes at both ends. Half of the nodes are equally spaced, half divide
the mass equally, so that narrow densities have as many as broad ones; the distribution function is right to about
1e-10.

For two laws on an interval the best coupling joins equal quantiles,
:math:`W_p^p = \int_0^1 |F^{-1}(u) - G^{-1}(u)|^p\,du`. These are distances between the laws of the angle, not
between measures on the sphere, whose distances they bound from below.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..base import Record
from ..errors import InvalidInput
from ..harmonics import zonal_density

Floats = NDArray[np.float64]

INTERVALS = 2048
GAUSS, GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(8)
SHARES, SHARE_WEIGHTS = np.polynomial.legendre.leggauss(4)
# Negative values of this size relative to the largest are rounding; no sample can fall there.
NEGATIVE_ROUNDING = 1e-10
NEWTON_STEPS = 40
EPS = float(np.finfo(float).eps)


@checked
@dataclass(frozen=True, eq=False, repr=False)
class PolarLaw(Record):
    """The law of an angle between 0 and pi.

    Attributes
    ----------
    nodes, masses, slopes : (n,) float
        Angles, the distribution function there and its derivative.
    """

    nodes: Floats
    masses: Floats
    slopes: Floats

    def angles(self, uniforms: Floats) -> Floats:
        """Return the angles at which the distribution function takes values in [0, 1)."""
        cell = np.clip(np.searchsorted(self.masses, uniforms, side="right") - 1, 0, self.nodes.size - 2)
        width, low = np.diff(self.nodes)[cell], self.masses[cell]
        rise = self.masses[cell + 1] - low
        first, second = self.slopes[cell] * width, self.slopes[cell + 1] * width
        wanted, left, right = uniforms - low, np.zeros_like(uniforms), np.ones_like(uniforms)
        place = np.divide(wanted, rise, out=np.full_like(rise, 0.5), where=rise > 0.0)
        for _ in range(NEWTON_STEPS):
            value, slope = _cubic(place, rise, first, second)
            excess = value - wanted
            left, right = np.where(excess < 0.0, place, left), np.where(excess < 0.0, right, place)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                moved = place - excess / slope
            inside = (moved >= left) & (moved <= right)
            following = np.where(inside, moved, 0.5 * (left + right))
            done = np.abs(following - place).max(initial=0.0) <= 4.0 * EPS
            place = following
            if done:
                break
        return np.asarray(self.nodes[cell] + place * width)


@checked
def polar_distances(angles: Floats, law: PolarLaw) -> tuple[float, float]:
    """Return the Wasserstein distances of order 1 and 2 between a sample of angles and a law, in radians.

    The quantile function is integrated over the share of each point by a rule of four nodes, whose error is far
    below the distance of any N points from a law.

    Parameters
    ----------
    angles : (N,) float
        Between 0 and pi, in any order.
    law
        The law of the angle.
    """
    count = angles.size
    shares = (np.arange(count)[:, np.newaxis] + 0.5 * (1.0 + SHARES)) / count
    apart = np.abs(law.angles(shares.ravel()).reshape(shares.shape) - np.sort(angles)[:, np.newaxis])
    first, second = (float((apart**order @ SHARE_WEIGHTS).sum()) / (2.0 * count) for order in (1, 2))
    return first, math.sqrt(second)


def polar_law(density: Callable[[Floats], Floats], dimension: int) -> PolarLaw:
    """Return the law of the angle from the axis of a zonal density, given up to a factor.

    Raises
    ------
    InvalidInput
        If the density is negative somewhere.
    """
    even = np.linspace(0.0, np.pi, INTERVALS + 1)
    first = _tabulated(density, dimension, even)
    # Where the distribution function stands still, its inverse jumps over the interval.
    rising = np.concatenate([[True], np.diff(first.masses) > 0.0])
    shares = np.linspace(0.0, 1.0, INTERVALS + 1)
    by_mass = np.interp(shares, first.masses[rising], first.nodes[rising])
    return _tabulated(density, dimension, np.union1d(even, by_mass))


@checked
def zonal_law(moments: Floats, dimension: int) -> PolarLaw:
    """Return the law of the angle from the axis of a density with the moments p_l."""
    return polar_law(lambda angles: zonal_density(moments, dimension, angles), dimension)


def _tabulated(density: Callable[[Floats], Floats], dimension: int, nodes: Floats) -> PolarLaw:
    half = 0.5 * np.diff(nodes)[:, np.newaxis]
    points = nodes[:-1, np.newaxis] + half * (1.0 + GAUSS)
    inner, ends = _values(density, dimension, points), _values(density, dimension, nodes)
    lowest, largest = min(inner.min(), ends.min()), max(inner.max(), ends.max())
    if lowest < -NEGATIVE_ROUNDING * largest:
        raise InvalidInput(
            f"the initial density is negative: {lowest / largest:.3g} of its largest value at some angle from its "
            "axis; give a density >= 0 with as many moments as it needs"
        )
    masses = np.concatenate([[0.0], np.cumsum((half * np.maximum(inner, 0.0)) @ GAUSS_WEIGHTS)])
    return PolarLaw(nodes, masses / masses[-1], np.maximum(ends, 0.0) / masses[-1])


def _values(density: Callable[[Floats], Floats], dimension: int, angles: Floats) -> Floats:
    return np.asarray(density(angles) * np.sin(angles) ** (dimension - 2))


def _cubic(place: Floats, rise: Floats, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Return the cubic from 0 to ``rise`` with given slopes at 0 and 1, and its derivative."""
    bend, twist = 3.0 * rise - 2.0 * first - second, first + second - 2.0 * rise
    value = place * (first + place * (bend + place * twist))
    return value, first + place * (2.0 * bend + 3.0 * place * twist)
