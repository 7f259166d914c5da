r"""Few particles in many replicas: the drift by direct sums over modes, for all replicas at once.

.. math::

    c_k = \frac1N\sum_j e^{-ikX_j}, \qquad
    b(X_j) = \sum_k k\,(a_k \sin kX_j + b_k \cos kX_j), \quad a_k + i b_k = \kappa w_k c_k + v_k .

With few particles these N K terms cost less than the transforms of :mod:`.drift`, and the calls of the interpreter
more than either; so the particles of many replicas are moved by the same calls. Every operation is one of real
numbers that does not look at other replicas, so that a replica has the same bits alone and among others.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .clouds import CircleParticles, in_radians
from .drift import OVERSHOOTING, Truncation
from .euler_maruyama import EulerMaruyama
from .second_order import WeakSecondOrder
from .stepping import Passes

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

# Particles, degrees and products of both up to which the sums are the faster way.
MOST_PARTICLES, LARGEST_DEGREE, MOST_TERMS = 128, 64, 4096
# Replicas moved together, and terms of all of them, which stay in the second-level cache.
MOST_REPLICAS, MOST_TERMS_TOGETHER = 256, 2**14
# The slope of the drift is sampled at so many points for each period of its highest degree, and at least at these.
POINTS_PER_PERIOD, FEWEST_POINTS = 16, 64
BOUND_ROUNDING = 1e-9


def are_few(particles: int, modes: Truncation) -> bool:
    """Return whether direct sums over the modes are faster; a single particle is not summed so."""
    degree = modes.degree
    return 2 <= particles <= MOST_PARTICLES and 1 <= degree <= LARGEST_DEGREE and particles * degree <= MOST_TERMS


def together(particles: int, modes: Truncation) -> int:
    """Return how many replicas are moved by the same calls most cheaply; results do not depend on it."""
    return min(MOST_REPLICAS, max(1, MOST_TERMS_TOGETHER // (particles * modes.degree)))


class FewParticles(CircleParticles):
    """The particles of several replicas.

    Parameters
    ----------
    noise
        D.
    modes
        The modes of the drift.
    positions : (R, N) float
        In cells; they are moved in place.
    streams
        Fills arrays (R, N) with the noise of all replicas.

    Attributes
    ----------
    contractions : (R,) float
        Largest product of a step and the slope -b' of each met so far.
    """

    def __init__(self, noise: float, modes: Truncation, positions: Floats, streams: Any) -> None:
        super().__init__(noise, modes.cells, positions, streams)
        self.contractions: Floats = np.zeros(positions.shape[0])
        self._modes = modes
        degrees = np.arange(1, modes.degree + 1)
        self._degrees = degrees
        self._waves = _Waves(modes.degree, positions.shape)
        points = max(FEWEST_POINTS, POINTS_PER_PERIOD * modes.degree)
        grid = np.linspace(0.0, 2.0 * np.pi, points, endpoint=False)
        phases = degrees[:, np.newaxis] * grid
        self._table: Floats = np.concatenate([-np.cos(phases), np.sin(phases)])

    @property
    def passes(self) -> Passes:
        """Faster steps by the class of the scheme, which add one displacement after the other."""
        return {EulerMaruyama: self.euler, WeakSecondOrder: self.second_order}

    @property
    def rows(self) -> Floats:
        """The positions (R, N)."""
        return self.places

    @property
    def positions(self) -> Floats:
        """The positions (N,) of the only replica."""
        return np.asarray(self.places[0])

    @property
    def contraction(self) -> float:
        """The contraction of the only replica."""
        return float(self.contractions[0])

    def moments(self, degree: int) -> Complexes:
        """Return c_0, ..., c_degree of each replica, (R, degree + 1)."""
        waves = _Waves(max(degree, 1), self.places.shape)
        waves.fill(in_radians(self.places, self._modes.cells))
        cosine, sine = waves.means()
        return np.concatenate([np.ones((len(self.places), 1)), (cosine - 1j * sine)[:, :degree]], axis=1)

    def euler(self, step: float) -> None:
        """Advance the particles by the drift and the noise of a step."""
        self.places += self.drift(step)
        self.places += self.noise(step)

    def second_order(self, step: float) -> None:
        """Advance the particles by the mean of the drifts before and after, and the noise of a step."""
        first = self.drift(step)
        self.places += first
        self.places += self.noise(step)
        self.places += 0.5 * (self.drift(step, watched=False) - first)

    def drift(self, step: float, watched: bool = True) -> Floats:
        """Return the displacements by the drift of a step, in units of cells."""
        modes = self._modes
        self._waves.fill(in_radians(self.places, modes.cells))
        cosine, sine = self._waves.means()
        real = modes.interaction[1:] * cosine + modes.confinement[1:].real
        imaginary = modes.confinement[1:].imag - modes.interaction[1:] * sine
        if watched:
            self._watch(real, imaginary, step)
        factor = self._degrees * (step * modes.cells / (2.0 * np.pi))
        return self._waves.sum(factor * imaginary, factor * real)

    def _watch(self, real: Floats, imaginary: Floats, step: float) -> None:
        """Record the largest slope -b', over the noise of a step where it overshoots, as :mod:`.drift` says."""
        weights = step * self._degrees**2
        bounds = (weights * np.hypot(real, imaginary)).sum(axis=1)
        # A bound that is no larger leaves the maximum as it is; its own rounding is allowed for.
        steeper = np.flatnonzero(bounds * (1.0 + BOUND_ROUNDING) > self.contractions)
        if steeper.size == 0:
            return
        slopes = self._steepest(weights * real[steeper], weights * imaginary[steeper])
        over = np.flatnonzero(slopes > OVERSHOOTING)
        if over.size:
            weights = weights * np.exp(-self._noise * step * self._degrees**2)
            among = steeper[over]
            slopes[over] = self._steepest(weights * real[among], weights * imaginary[among])
        self.contractions[steeper] = np.maximum(self.contractions[steeper], slopes)

    def _steepest(self, real: Floats, imaginary: Floats) -> Floats:
        """Return the largest of sum_k (-real_k cos kx + imaginary_k sin kx) over a grid, of each replica."""
        strengths = np.concatenate([real, imaginary], axis=1)
        # One product a replica: that of all at once would round differently with their number.
        return np.asarray((strengths[:, np.newaxis, :] @ self._table).max(axis=(1, 2)))


class _Waves:
    """Cosines and sines of the multiples k = 1..K of angles (R, N): (K, R, N) each."""

    def __init__(self, degree: int, shape: tuple[int, ...]) -> None:
        self._cosines, self._sines, self._products = (np.empty((degree, *shape)) for _ in range(3))

    def fill(self, angles: Floats) -> None:
        """Compute the waves of other angles, in place."""
        cosines, sines, products = self._cosines, self._sines, self._products
        np.cos(angles, out=cosines[0])
        np.sin(angles, out=sines[0])
        known, degree = 1, len(cosines)
        while known < degree:
            more = min(known, degree - known)
            lower, upper, last = slice(0, more), slice(known, known + more), known - 1
            np.multiply(cosines[lower], cosines[last], out=cosines[upper])
            np.multiply(sines[lower], sines[last], out=products[lower])
            cosines[upper] -= products[lower]
            np.multiply(sines[lower], cosines[last], out=sines[upper])
            np.multiply(cosines[lower], sines[last], out=products[lower])
            sines[upper] += products[lower]
            known += more

    def means(self) -> tuple[Floats, Floats]:
        """Return the means of cosines and sines over the particles of each replica, (R, K)."""
        particles = self._cosines.shape[-1]
        cosine, sine = (np.add.reduce(waves, axis=-1) / particles for waves in (self._cosines, self._sines))
        return cosine.T, sine.T

    def sum(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the sum over k of the waves times their coefficients (R, K), (R, N)."""
        np.multiply(self._cosines, cosine.T[..., np.newaxis], out=self._products)
        result = np.add.reduce(self._products, axis=0)
        np.multiply(self._sines, sine.T[..., np.newaxis], out=self._products)
        result += np.add.reduce(self._products, axis=0)
        return np.asarray(result)
