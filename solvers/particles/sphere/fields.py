r"""The drift :math:`-\kappa\nabla W*\mu - \nabla V` of particles on a sphere, as a function of the place.

A field is gathered from all particles and then evaluated at any points, its own particles or others. What it
returns may have a part along x, which does not move particles on the sphere.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from meanfield import ComputationFailed, Equation

from .harmonics import SolidGradient, SolidHarmonics
from .significant import SphereDegrees
from .tensors import Monomials, power_coefficients

Floats = NDArray[np.float64]

EPS = float(np.finfo(float).eps)
# Numbers in a block of work: it stays in the second-level cache, and its products are too small for threads.
BLOCK_NUMBERS = 2**17
PAIRS_AT_ONCE = 2**15
# Each nonuniform transform has a grid to fill besides; so many points outweigh it.
DUCC_BLOCK = 2**14
# The smallest error that its transforms admit to.
FINEST = 1e-13
# Points closer than this in 1 - |<x, y>| are the same or opposite, in rounding.
COINCIDENT = 4.0 * EPS


class Field(Protocol):
    """Protocol of the drift of particles as a function of the place.

    Attributes
    ----------
    block
        Number of points that are evaluated at a time most cheaply.
    """

    block: int

    def gather(self, positions: Floats) -> None:
        """Compute the field of particles (d, N)."""

    def drift(self, points: Floats, own: slice | None = None) -> Floats:
        """Return the drift at points (d, n), up to a part along them, (d, n).

        ``own`` is the part of the gathered particles that the points are, if they are any.
        """


class HarmonicField:
    """The drift on S^2, from the moments with all significant harmonics."""

    def __init__(self, significant: SphereDegrees) -> None:
        degree = significant.degree
        self._harmonics, self._below = SolidHarmonics(degree), SolidHarmonics(max(degree - 1, 0))
        self._gradient = SolidGradient(degree)
        self._interaction = -significant.interaction[self._harmonics.degrees]
        self._force = np.where(self._harmonics.orders == 0, -significant.confinement[self._harmonics.degrees], 0.0)
        self._matrix: Floats = np.zeros((3, 2 * self._below.size))
        self.block = block_of(self._harmonics.size)

    def gather(self, positions: Floats) -> None:
        """Compute the field of particles (3, N)."""
        cosine, sine = self._harmonics.means(positions, self.block)
        self._matrix = self._gradient.matrix(self._interaction * cosine + self._force, self._interaction * sine)

    def drift(self, points: Floats, own: slice | None = None) -> Floats:
        """Return the drift at points (3, n)."""
        values = self._below.values(points)
        return np.asarray(self._matrix @ values.reshape(-1, points.shape[1]))


class DuccField:
    """The drift on S^2 by the nonuniform transforms of ducc0, to the precision asked for."""

    def __init__(self, significant: SphereDegrees, tolerance: float, library: Any) -> None:
        self._sht, self._degree = library.sht, significant.degree
        self._options = {"lmax": significant.degree, "epsilon": max(0.25 * tolerance, FINEST), "nthreads": 1}
        orders = np.repeat(
            np.arange(significant.degree + 1), significant.degree + 1 - np.arange(significant.degree + 1)
        )
        degrees = np.concatenate([np.arange(m, significant.degree + 1) for m in range(significant.degree + 1)])
        # ducc0's harmonics are orthonormal: P_l of the angle is the sum of their products times 4 pi/(2l + 1).
        self._interaction = -significant.interaction[degrees] * (4.0 * math.pi / (2.0 * degrees + 1.0))
        norms = np.sqrt(4.0 * math.pi / (2.0 * degrees + 1.0))
        self._force = np.where(orders == 0, -significant.confinement[degrees] * norms, 0.0)
        self._waves: NDArray[np.complex128] = np.zeros((1, degrees.size), dtype=complex)
        self._places: Floats = np.empty((0, 2))
        self.block = DUCC_BLOCK

    def gather(self, positions: Floats) -> None:
        """Compute the field of particles (3, N)."""
        count = positions.shape[1]
        if self._places.shape[0] != count:
            self._places = np.empty((count, 2))
        sums = np.zeros_like(self._waves)
        for part in equal_parts(count, self.block):
            places = self._places[part]
            _angles(positions[:, part], places)
            ones = np.ones((1, places.shape[0]))
            sums += self._sht.adjoint_synthesis_general(map=ones, spin=0, loc=places, **self._options)
        self._waves = self._interaction * sums / count + self._force

    def drift(self, points: Floats, own: slice | None = None) -> Floats:
        """Return the drift at points (3, n), from its components along the meridian and the parallel."""
        places = np.empty((points.shape[1], 2)) if own is None else self._places[own]
        if own is None:
            _angles(points, places)
        south, east = self._sht.synthesis_general(
            alm=self._waves, spin=1, loc=places, mode="DERIV1", **self._options
        )
        sine = np.sqrt(points[0] * points[0] + points[1] * points[1])
        inverse = 1.0 / np.maximum(sine, np.finfo(float).tiny)
        # At a pole the azimuth is 0, as arctan2 has it.
        cosines, sines = np.where(sine > 0.0, points[0] * inverse, 1.0), points[1] * inverse
        result = np.empty_like(points)
        np.multiply(south, sine, out=result[2])
        np.negative(result[2], out=result[2])
        south *= points[2]
        np.subtract(south * cosines, east * sines, out=result[0])
        np.add(south * sines, east * cosines, out=result[1])
        return result


class TensorField:
    """The drift from the means of products of coordinates, for polynomials of low degree in any dimension."""

    def __init__(self, significant: SphereDegrees, dimension: int) -> None:
        self._monomials = Monomials(dimension, max(significant.degree - 1, 0))
        degrees = self._monomials.degrees
        powers = np.append(power_coefficients(dimension, significant.interaction), 0.0)
        self._slopes = (-(degrees + 1.0) * powers[degrees + 1])[:, np.newaxis]
        self._confinement = AxialForce(significant.confinement, dimension)
        self._matrix: Floats = np.zeros((dimension, self._monomials.size))
        self.block = block_of(self._monomials.size)

    def gather(self, positions: Floats) -> None:
        """Compute the field of particles (d, N)."""
        count = positions.shape[1]
        total = np.zeros((self._monomials.size, positions.shape[0]))
        for start in range(0, count, self.block):
            part = positions[:, start : start + self.block]
            total += self._monomials.values(part) @ part.T
        self._matrix = (self._slopes * total / count).T

    def drift(self, points: Floats, own: slice | None = None) -> Floats:
        """Return the drift at points (d, n)."""
        result = np.asarray(self._matrix @ self._monomials.values(points))
        self._confinement.add(points, result)
        return result


def tangent(points: Floats, vectors: Floats) -> Floats:
    """Return the parts of vectors (d, n) tangent to the sphere at points (d, n)."""
    return np.asarray(vectors - points * np.einsum("in,in->n", points, vectors))


class AllPairs:
    """What sums over all pairs share: the particles, the force of the confinement and the points taken at once."""

    def __init__(self, problem: Equation, significant: SphereDegrees) -> None:
        self._problem = problem
        self._confinement = confining_force(problem, significant)
        self._positions: Floats = np.empty((problem.domain.dimension, 0))
        self.block = 64

    def gather(self, positions: Floats) -> None:
        """Keep the particles (d, N) that act on points."""
        self._positions = positions.copy()
        self.block = max(1, PAIRS_AT_ONCE // positions.shape[1])

    def cosines(self, points: Floats) -> Floats:
        """Return the inner products (n, N) of points (d, n) and particles."""
        return np.asarray(np.clip(points.T @ self._positions, -1.0, 1.0))


class PairField(AllPairs):
    r"""The drift by sums over all pairs, :math:`\nabla W = -W'(\gamma)\,y/\sin\gamma` up to a part along x."""

    def drift(self, points: Floats, own: slice | None = None) -> Floats:
        """Return the drift at points (d, n).

        Raises
        ------
        ComputationFailed
            If a force is not finite.
        """
        count = self._positions.shape[1]
        cosines = self.cosines(points)
        angles = np.arccos(cosines)
        apart = 1.0 - np.abs(cosines) > COINCIDENT
        slopes = np.asarray(self._problem.potential.slope(angles), dtype=float)
        sines = np.sqrt((1.0 - cosines) * (1.0 + cosines))
        weights = np.divide(slopes, sines, out=np.zeros_like(slopes), where=apart)
        # Slopes beyond the range of doubles come with couplings as far below it.
        factor = float(self._problem.fixed_coupling / count)
        result = np.asarray(factor * (self._positions @ weights.T))
        self._confinement.add(points, result)
        if not np.all(np.isfinite(result)):
            raise ComputationFailed("the force between two particles that are close together is not finite")
        return result


class AxialForce:
    r"""The force of a confinement, :math:`-\sum_l v_l P_l'(\langle x, e\rangle)\,e`, e the north pole."""

    def __init__(self, weights: Floats, dimension: int) -> None:
        degrees = np.arange(1, weights.size)
        # P_l' is l (l + d - 2)/(d - 1) times the polynomial of degree l - 1 in two dimensions more.
        self._weights = -weights[1:] * degrees * (degrees + dimension - 2.0) / (dimension - 1)
        self._dimension = dimension + 2
        self._present = bool(np.any(weights))

    def add(self, points: Floats, drift: Floats) -> None:
        """Add the force at points (d, n) to a drift (d, n)."""
        if not self._present:
            return
        height = points[-1]
        for weight, values in zip(self._weights, zonal_values(height, self._dimension), strict=False):
            drift[-1] += weight * values


class PlacedForce:
    """The force of a confinement without an axis, minus its gradient at the points."""

    def __init__(self, confinement: Any) -> None:
        self._confinement = confinement

    def add(self, points: Floats, drift: Floats) -> None:
        """Add the force at points (d, n) to a drift (d, n)."""
        drift -= self._confinement.gradient_at(points.T).T


class MeridianForce:
    r"""The force of a confinement about the north pole e, :math:`V'(\theta)\,e/\sin\theta` up to a part along x."""

    def __init__(self, confinement: Any) -> None:
        self._confinement = confinement

    def add(self, points: Floats, drift: Floats) -> None:
        """Add the force at points (d, n) to a drift (d, n); at the poles there is none."""
        across = np.sqrt((points[:-1] ** 2).sum(axis=0))
        slopes = np.asarray(self._confinement.slope(np.arctan2(across, points[-1])), dtype=float)
        drift[-1] += np.divide(slopes, across, out=np.zeros_like(slopes), where=across > 0.0)


class Force(Protocol):
    """Protocol of the force of a confinement."""

    def add(self, points: Floats, drift: Floats) -> None:
        """Add the force at points (d, n), up to a part along them, to a drift (d, n)."""


def confining_force(problem: Equation, significant: SphereDegrees) -> Force:
    """Return the force of the confinement of a problem: by degrees about the pole, or at the points."""
    if not significant.placed:
        return AxialForce(significant.confinement, problem.domain.dimension)
    return MeridianForce(problem.confinement) if problem.zonal else PlacedForce(problem.confinement)


class ConfinedField:
    """The drift of a field of particles and of a confinement that acts at the points."""

    def __init__(self, field: Field, force: Force) -> None:
        self._field, self._force = field, force
        self.block = field.block

    def gather(self, positions: Floats) -> None:
        """Compute the field of particles (3, N)."""
        self._field.gather(positions)
        self.block = self._field.block

    def drift(self, points: Floats, own: slice | None = None) -> Floats:
        """Return the drift at points (3, n)."""
        result = self._field.drift(points, own)
        self._force.add(points, result)
        return result


def zonal_values(cosines: Floats, dimension: int) -> Iterator[Floats]:
    """Yield P_0, P_1, ... at cosines, without end."""
    before, values, degree = np.zeros_like(cosines), np.ones_like(cosines), 0
    while True:
        yield values
        following = (2 * degree + dimension - 2) * cosines * values - degree * before
        before, values = values, following / (degree + dimension - 2)
        degree += 1


def equal_parts(count: int, block: int) -> list[slice]:
    """Return a range divided into parts of nearly equal length, none longer than a block."""
    number = -(-count // block)
    bounds = [count * part // number for part in range(number + 1)]
    return [slice(start, stop) for start, stop in itertools.pairwise(bounds)]


def _angles(points: Floats, places: Floats) -> None:
    """Write the angles of points from the pole and about it, the latter from 0 to 2 pi, to ``places`` (n, 2)."""
    sine = np.sqrt(points[0] * points[0] + points[1] * points[1])
    np.arctan2(sine, points[2], out=places[:, 0])
    azimuth = np.arctan2(points[1], points[0])
    azimuth += np.where(azimuth < 0.0, 2.0 * math.pi, 0.0)
    places[:, 1] = azimuth


def block_of(numbers: int) -> int:
    """Return the number of points, a power of two, of which arrays of so many numbers each fit a block."""
    return 1 << (min(max(BLOCK_NUMBERS // numbers, 16), 4096).bit_length() - 1)
