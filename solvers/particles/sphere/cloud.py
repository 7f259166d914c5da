r"""Particles as unit vectors that move along great circles, the state of one replica on a sphere.

The exponential map :math:`\exp_x v = x\cos|v| + v\,\frac{\sin|v|}{|v|}` keeps particles on the sphere whatever the
step; the rounding of their lengths is corrected at every step.
"""

import math

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation

from ..drift import OVERSHOOTING
from ..euler_maruyama import EulerMaruyama
from ..second_order import WeakSecondOrder
from ..stepping import Passes
from .fields import Field, equal_parts, tangent
from .noise import tangent_variance

Floats = NDArray[np.float64]

# Numbers in a block of positions: with its noise and drift it stays in the second-level cache.
BLOCK_NUMBERS = 2**14
# sin(r)/r in powers of -r^2, for moves up to a squared length where the first term left out is below rounding.
SINC = [1.0 / math.factorial(2 * power + 1) for power in range(8)]
SHORT = 0.5
# Particles and great circles through each on which the slope of the drift is sampled, and half the distance there.
SAMPLED, CIRCLES = 64, 3
HALF_DISTANCE = 1e-3


class SphereCloud:
    """Particles on a sphere.

    Parameters
    ----------
    problem
        The equation.
    field
        The drift.
    positions : (d, N) float
        Unit vectors; they are moved in place.
    generator
        Source of the noise.

    Attributes
    ----------
    flat, carried
        As in :class:`~solvers.particles.stepping.Particles`.
    """

    flat = False

    def __init__(self, problem: Equation, field: Field, positions: Floats, generator: np.random.Generator) -> None:
        self.positions, self.generator = positions, generator
        self.contraction = 0.0
        self.carried: dict[str, Floats] = {}
        self._field, self._noise, self._step = field, problem.noise, 0.0
        self._few = max(16, BLOCK_NUMBERS // positions.shape[0])
        self._numbers: Floats = np.empty(self._few * positions.shape[0])

    @property
    def places(self) -> Floats:
        """The unit vectors."""
        return self.positions

    @property
    def passes(self) -> Passes:
        """Faster steps by the class of the scheme, in parts that stay in the cache."""
        return {EulerMaruyama: self.euler, WeakSecondOrder: self.second_order}

    def drift(self, step: float, watched: bool = True) -> Floats:
        """Return the tangent vectors of the drift of a step; its slope is sampled when particles are recorded."""
        if watched:
            self._step = step
        self._field.gather(self.positions)
        displacements = np.empty_like(self.positions)
        for part in equal_parts(self.positions.shape[1], self._field.block):
            block = self.positions[:, part]
            displacements[:, part] = step * self._tangent_drift(block, part)
        return displacements

    def noise(self, time: float) -> Floats:
        """Return vectors whose tangent parts are the noise of a duration, drawn a few particles at a time."""
        displacements = np.empty_like(self.positions)
        width = self._width(time)
        for part in self._parts(self.positions.shape[1]):
            displacements[:, part] = self._drawn(part, width)
        return displacements

    def move(self, displacements: Floats) -> None:
        """Move the particles along the great circles of the tangent parts of displacements."""
        for part in self._parts(self.positions.shape[1]):
            follow(self.positions[:, part], displacements[:, part])

    def place(self, origins: Floats, displacements: Floats) -> None:
        """Set the positions to origins plus displacements, projected to the sphere."""
        self.positions[:] = shifted(origins, displacements)

    def euler(self, step: float) -> None:
        r"""Advance the particles by the drift and the noise of a step.

        The tangent vector :math:`h\,b(x) + \sigma\xi` is followed along its great circle.
        """
        self._step = step
        self._field.gather(self.positions)
        width = self._width(step)
        for part in equal_parts(self.positions.shape[1], self._field.block):
            block = self.positions[:, part]
            moves = self._field.drift(block, part)
            moves *= step
            for few in self._parts(block.shape[1]):
                noise = self._drawn(few, width)
                noise += moves[:, few]
                follow(block[:, few], noise)

    def second_order(self, step: float) -> None:
        """Advance the particles by half of the noise, the drift by the midpoint rule, and the other half."""
        self._step = step
        self._diffuse(0.5 * step)
        self._field.gather(self.positions)
        middle = np.empty_like(self.positions)
        for part in equal_parts(self.positions.shape[1], self._field.block):
            block = self.positions[:, part]
            middle[:, part] = shifted(block, 0.5 * step * self._tangent_drift(block, part))
        self._field.gather(middle)
        for part in equal_parts(self.positions.shape[1], self._field.block):
            block = self.positions[:, part]
            block[:] = shifted(block, step * self._tangent_drift(middle[:, part], part))
        self._diffuse(0.5 * step)

    def _diffuse(self, time: float) -> None:
        width = self._width(time)
        for part in self._parts(self.positions.shape[1]):
            follow(self.positions[:, part], self._drawn(part, width))

    def _tangent_drift(self, points: Floats, part: slice) -> Floats:
        """Return the tangent drift at some of the gathered particles."""
        return tangent(points, self._field.drift(points, part))

    def watch(self) -> None:
        """Record the largest slope of the drift at the positions times the last step."""
        self.contraction = max(self.contraction, self.contraction_by(self._step))

    def contraction_by(self, step: float) -> float:
        """Return the step times the largest slope of the drift, inwards: above 2 it overshoots.

        The slope is sampled along great circles through some of the particles. Where it is too large, that over the
        width of a step's noise counts instead: narrower spikes, as kinks of the potential have them, displace a
        particle by less than that noise.
        """
        self._field.gather(self.positions)
        bare = step * self._steepest(HALF_DISTANCE)
        if bare <= OVERSHOOTING:
            return bare
        return step * self._steepest(max(HALF_DISTANCE, min(math.sqrt(2.0 * self._noise * step), 0.5)))

    def _steepest(self, half: float) -> float:
        points = self.positions[:, :SAMPLED]
        directions = np.random.default_rng(0).standard_normal((CIRCLES, *points.shape))
        return max(self._slope(points, direction, half) for direction in directions)

    def _slope(self, points: Floats, direction: Floats, half: float) -> float:
        """Return the largest slope of decrease of the drift along great circles, by differences over an angle."""
        along = tangent(points, direction)
        along /= np.sqrt((along**2).sum(axis=0))
        forward, backward = (self._along(points, along, angle) for angle in (half, -half))
        return float((backward - forward).max()) / (2.0 * half)

    def _along(self, points: Floats, direction: Floats, angle: float) -> Floats:
        """Return the component of the drift along great circles, at an angle from the points."""
        places = math.cos(angle) * points + math.sin(angle) * direction
        onwards = math.cos(angle) * direction - math.sin(angle) * points
        return np.asarray(np.einsum("in,in->n", onwards, self._field.drift(places)))

    def _parts(self, count: int) -> list[slice]:
        """Return a number of particles in parts whose noise is drawn at a time."""
        return [slice(start, min(start + self._few, count)) for start in range(0, count, self._few)]

    def _drawn(self, part: slice, width: float) -> Floats:
        """Return noise of a standard deviation for some of the particles."""
        dimension = self.positions.shape[0]
        noise = self._numbers[: dimension * (part.stop - part.start)].reshape(dimension, -1)
        self.generator.standard_normal(out=noise)
        noise *= width
        return noise

    def _width(self, time: float) -> float:
        return math.sqrt(tangent_variance(self.positions.shape[0] - 1, self._noise * time))


def shifted(points: Floats, displacements: Floats) -> Floats:
    """Return points plus displacements, projected to the sphere."""
    moved = points + displacements
    moved /= np.sqrt(np.einsum("in,in->n", moved, moved))
    return moved


def follow(points: Floats, moves: Floats) -> None:
    """Move points (d, n) along the great circles of the tangent parts of ``moves`` (d, n), in place."""
    moves -= points * np.einsum("in,in->n", points, moves)
    cosines, ratios = _exponential(np.einsum("in,in->n", moves, moves))
    points *= cosines
    moves *= ratios
    points += moves
    # One step of Newton's method for the inverse root of a number within rounding of 1.
    points *= 1.5 - 0.5 * np.einsum("in,in->n", points, points)


def _exponential(squares: Floats) -> tuple[Floats, Floats]:
    """Return cos(r) and sin(r)/r for squares r^2."""
    if squares.max(initial=0.0) <= SHORT:
        ratios = np.full_like(squares, SINC[-1])
        for coefficient in SINC[-2::-1]:
            ratios *= squares
            np.subtract(coefficient, ratios, out=ratios)
        return np.sqrt(1.0 - squares * ratios * ratios), ratios
    lengths = np.sqrt(squares)
    return np.cos(lengths), np.divide(np.sin(lengths), lengths, out=np.ones_like(lengths), where=lengths > 0.0)
