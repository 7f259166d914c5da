r"""Exact samples of a density given by its moments: the inverse of its distribution function, to rounding.

.. math:: F(x) = \frac{x+\pi}{2\pi} + \frac1\pi\sum_{k\ge1}\frac{m_k\sin kx - s_k(\cos kx - \cos k\pi)}{k} .

The distribution function on a grid brackets each root, Newton's method on the series finds it, and bisection
takes over where a step leaves the bracket. The grid limits nothing but the number of iterations.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from meanfield import InvalidInput

from ..evolution.starts import empirical_moments
from ..execution.checkpoints import digest_of

Floats = NDArray[np.float64]

BLOCK = 4096
NODES_PER_MODE = 32
SMALLEST_GRID = 256
MOST_ITERATIONS = 80
# Negative values of this size relative to the largest are rounding of the series; no sample can fall there.
NEGATIVE_ROUNDING = 1e-10
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class FromDensity:
    """Start of independent particles from a density with moments ``cosine`` and ``sine``, (n + 1,) each."""

    cosine: Floats
    sine: Floats

    def angles(self, particles: int, generator: np.random.Generator) -> Floats:
        """Return the initial angles of particles, (N,)."""
        return sample_density(self.cosine, self.sine, generator.random(particles))

    def moments(self, degree: int) -> NDArray[np.complex128]:
        """Return m_k - i s_k for k = 0..degree."""
        known = min(degree + 1, self.cosine.size)
        result = np.zeros(degree + 1, dtype=complex)
        result[:known] = self.cosine[:known] - 1j * self.sine[:known]
        return result

    def digest(self) -> str:
        """Return the digest that identifies this start."""
        return digest_of(self.cosine, self.sine)


@dataclass(frozen=True, eq=False)
class FromPositions:
    """Start of particles at given angles (N,)."""

    positions: Floats

    def angles(self, particles: int, generator: np.random.Generator) -> Floats:
        """Return the initial angles of particles, (N,)."""
        return self.positions

    def moments(self, degree: int) -> NDArray[np.complex128]:
        """Return the means of exp(-ikx) for k = 0..degree."""
        return empirical_moments(self.positions, degree)

    def digest(self) -> str:
        """Return the digest that identifies this start."""
        return digest_of(self.positions)


Start: TypeAlias = FromDensity | FromPositions


def sample_density(cosine: Floats, sine: Floats, uniforms: Floats) -> Floats:
    """Return the angles in [-pi, pi] at which the distribution function takes the given values.

    Parameters
    ----------
    cosine, sine : (n + 1,) float
        Moments of the density; ``cosine[0]`` is 1.
    uniforms : (N,) float
        Values in [0, 1).

    Raises
    ------
    InvalidInput
        If the density is negative somewhere.
    """
    used = np.flatnonzero((cosine != 0.0) | (sine != 0.0))
    degree = int(used[-1]) if used.size else 0
    if degree == 0:
        return 2.0 * np.pi * uniforms - np.pi
    coefficients = np.asarray((cosine - 1j * sine)[1 : degree + 1] / np.pi, dtype=complex)
    nodes, values, densities = _distribution_on_grid(coefficients)
    angles = np.empty_like(uniforms)
    for start in range(0, uniforms.size, BLOCK):
        part = slice(start, start + BLOCK)
        angles[part] = _inverted(coefficients, uniforms[part], nodes, values, densities)
    return angles


def _distribution_on_grid(coefficients: NDArray[np.complex128]) -> tuple[Floats, Floats, Floats]:
    """Return nodes from -pi to pi, F and the density there, after a check that the density is not negative."""
    size = max(SMALLEST_GRID, 2 ** int(np.ceil(np.log2(NODES_PER_MODE * (coefficients.size + 1)))))
    nodes = np.linspace(-np.pi, np.pi, size + 1)
    values, density = np.empty_like(nodes), np.empty_like(nodes)
    for start in range(0, nodes.size, BLOCK):
        part = slice(start, start + BLOCK)
        values[part], density[part] = _distribution(coefficients, nodes[part])
    lowest = int(np.argmin(density))
    if density[lowest] < -NEGATIVE_ROUNDING * density.max():
        raise InvalidInput(
            f"the initial density is negative, {density[lowest]:.3g} at angle {nodes[lowest]:.4g}; give a density "
            ">= 0 with as many moments as it needs"
        )
    return nodes, np.maximum.accumulate(values), density


def _inverted(
    coefficients: NDArray[np.complex128], uniforms: Floats, nodes: Floats, values: Floats, densities: Floats
) -> Floats:
    """Return the solutions of F(x) = u for all u, by safeguarded Newton's method."""
    cell = np.clip(np.searchsorted(values, uniforms, side="right") - 1, 0, nodes.size - 2)
    low, high = nodes[cell], nodes[cell + 1]
    angles = _hermite(uniforms, cell, nodes, values, densities)
    active = np.arange(uniforms.size)
    for _ in range(MOST_ITERATIONS):
        old = angles[active]
        value, density = _distribution(coefficients, old)
        excess = value - uniforms[active]
        high[active] = np.where(excess > 0.0, old, high[active])
        low[active] = np.where(excess <= 0.0, old, low[active])
        newton = old - np.divide(excess, density, out=np.full_like(old, np.inf), where=density > 0.0)
        outside = ~((newton >= low[active]) & (newton <= high[active]))
        new = np.where(outside, 0.5 * (low[active] + high[active]), newton)
        # F and the angle are known to a few roundings only; nothing is gained beyond.
        found = np.abs(excess) <= 4.0 * EPS
        angles[active] = np.where(found, old, new)
        active = active[~found & (np.abs(new - old) > 4.0 * np.pi * EPS)]
        if active.size == 0:
            break
    return angles


def _hermite(
    uniforms: Floats, cell: NDArray[np.integer], nodes: Floats, values: Floats, densities: Floats
) -> Floats:
    """Return the cubic with the values and slopes of the inverse at both ends of each cell, kept inside it."""
    low, width = nodes[cell], nodes[1] - nodes[0]
    rise = values[cell + 1] - values[cell]
    share = np.divide(uniforms - values[cell], rise, out=np.full_like(rise, 0.5), where=rise > 0.0)
    share = np.clip(share, 0.0, 1.0)
    slopes = [
        np.divide(rise, densities[end] * width, out=np.ones_like(rise), where=densities[end] * width > rise / 3.0)
        for end in (cell, cell + 1)
    ]
    rest = 1.0 - share
    inner = share * rest * (rest * (slopes[0] - 1.0) - share * (slopes[1] - 1.0))
    return np.asarray(low + width * np.clip(share + inner, 0.0, 1.0))


def _distribution(coefficients: NDArray[np.complex128], angles: Floats) -> tuple[Floats, Floats]:
    r"""Return F and its derivative, :math:`\sum_k c_k z^k` by Horner's rule in :math:`z = e^{ix}`."""
    wave = np.exp(1j * angles)
    degrees = np.arange(1, coefficients.size + 1)
    integrals = coefficients / (1j * degrees)
    total, slope = np.zeros_like(wave), np.zeros_like(wave)
    for integral, coefficient in zip(integrals[::-1], coefficients[::-1], strict=True):
        total += integral
        total *= wave
        slope += coefficient
        slope *= wave
    start = float((integrals * (-1.0) ** degrees).sum().real)
    return (angles + np.pi) / (2.0 * np.pi) + total.real - start, 1.0 / (2.0 * np.pi) + slope.real
