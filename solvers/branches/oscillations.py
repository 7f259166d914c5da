r"""Hopf bifurcations between two neighbouring points of a branch: pairs of complex growth rates that cross zero.

Without a free energy growth rates may be complex. Where the real part of a pair vanishes the number of unstable
directions changes by two, no matrix of the stationary equation is singular, and oscillations are born. Of the rates
of a class in the order of their real parts, of which n are positive on the one side and n + 2 on the other, the
pair is that of the numbers n + 1 and n + 2.
"""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..bases import Floats
from ..equations.law_eigenvalues import rounding_in, signs_in
from ..linear_algebra.invariant_planes import invariant_plane, upper_eigenvalue
from .continuation import Point
from .detection import CurveBetween, Event

Complexes = npt.NDArray[np.complex128]
# Rates of a few points, of one class after the other, are kept.
KEPT = 64


def hopf_between(curve: CurveBetween) -> list[Event]:
    """Return the points between two at which pairs of complex growth rates cross the imaginary axis.

    Parameters
    ----------
    curve
        The curve between the points.
    """
    found = []
    ends = [point.equation.densities.growth_matrices(point) for point in (curve.first, curve.second)]
    # Azimuthal orders that one of the points has not decay there.
    for number, pair in enumerate(zip(*ends, strict=False)):
        low, high = sorted(signs_in(each.matrix).growing for each in pair)
        if (high - low) % 2 == 0:
            located = (_located(curve, number, place, pair[0].copies) for place in range(low, high, 2))
            found += [event for event in located if event is not None]
    return found


def _located(curve: CurveBetween, number: int, place: int, copies: int) -> Event | None:
    """Return the point at which two rates of a class, neighbours in their order, cross as a pair, if they do."""

    def real_part(point: Point) -> float:
        return float(_pair(point, number, place).real)

    located = curve.zero(real_part)
    if located is None:
        return None
    point, error = located
    frequency = abs(_pair(point, number, place).imag)
    # Two real rates that meet are known to the root of rounding, as of a Jordan block.
    if not frequency > math.sqrt(rounding_in(_matrix(point, number))):
        return None
    change = 2 * copies if real_part(curve.second) > 0.0 else -2 * copies
    text = f"a pair of growth rates {frequency:.9g}i crosses the imaginary axis"
    return Event("Hopf", point, error, change=change, kernel_dimension=2 * copies, description=text)


def _matrix(point: Point, number: int) -> Floats:
    """Return the linearised equation at a point in one class."""
    return point.equation.densities.growth_matrices(point)[number].matrix


@lru_cache(maxsize=KEPT)
def _rates(point: Point, number: int) -> Complexes:
    """Return the growth rates of a class, the fastest first."""
    rates = np.linalg.eigvals(_matrix(point, number)).astype(complex)
    return np.asarray(rates[np.argsort(-rates.real, kind="stable")])


@lru_cache(maxsize=KEPT)
def _pair(point: Point, number: int, place: int) -> complex:
    """Return the rate above the real axis of a pair of neighbours; the mean of their real parts if it is none."""
    one, other = _rates(point, number)[place : place + 2]
    if one.imag == 0.0 or one != other.conjugate():
        return complex(0.5 * (one.real + other.real))
    matrix = _matrix(point, number)
    plane = invariant_plane(matrix, _rates(point, number), complex(one))
    return upper_eigenvalue(plane.restriction(matrix @ plane.right))
