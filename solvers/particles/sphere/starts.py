"""Starts of particles on a sphere: drawn from zonal densities, from any density on S^2, or given."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation, InvalidInput, Sphere
from meanfield.harmonics import SphereModes, ZonalModes, degrees_and_orders, largest_degree, place
from meanfield.transport import NEGATIVE_ROUNDING, PolarLaw, polar_law, zonal_law

from ...evolution import Initial, VonMises
from ...evolution.sphere.initial import moments_of
from ...evolution.sphere.profiles import Lobe, lobes_of
from ...evolution.starts import Watson
from ...execution.checkpoints import digest_of
from ..settings import Starts
from .harmonics import SolidHarmonics

Floats = NDArray[np.float64]

BLOCK = 4096
# Given vectors may miss length 1 by this, and are then divided by their length.
LENGTH_TOLERANCE = 1e-6


class SphereStart(Protocol):
    """Protocol of the starts of the particles of a replica on a sphere."""

    def positions(self, particles: int, generator: np.random.Generator) -> Floats:
        """Return the initial unit vectors of particles, (d, N)."""

    def digest(self) -> str:
        """Return the digest that identifies this start."""


@dataclass(frozen=True, eq=False)
class FromLobes:
    """Start of independent particles from a sum of zonal densities, each about its axis.

    Attributes
    ----------
    shares : (k,) float
        Masses of the densities.
    axes : (k, d) float
        Their axes.
    laws
        The laws of the angle from each axis.
    """

    shares: Floats
    axes: Floats
    laws: tuple[PolarLaw, ...]

    def positions(self, particles: int, generator: np.random.Generator) -> Floats:
        """Return unit vectors (d, N) by the density, the angle from its axis, and a uniform direction about it."""
        dimension = self.axes.shape[1]
        chosen = np.zeros(particles, dtype=np.int64)
        if self.shares.size > 1:
            bounds = np.cumsum(self.shares)[:-1]
            chosen = np.searchsorted(bounds, generator.random(particles), side="right")
        uniforms = generator.random(particles)
        angles = np.empty(particles)
        for lobe, law in enumerate(self.laws):
            angles[chosen == lobe] = law.angles(uniforms[chosen == lobe])
        result = np.empty((dimension, particles))
        around = generator.standard_normal((dimension - 1, particles))
        around /= np.sqrt((around**2).sum(axis=0))
        result[:-1] = np.sin(angles) * around
        result[-1] = np.cos(angles)
        for lobe, axis in enumerate(self.axes):
            _turn(result, chosen == lobe, axis)
        return result

    def digest(self) -> str:
        """Return the digest that identifies this start."""
        return digest_of(self.shares, self.axes, *(law.masses for law in self.laws))


@dataclass(frozen=True, eq=False)
class FromOrders:
    """Start of independent particles from a density on S^2 with packed moments."""

    cosine: Floats
    sine: Floats

    def positions(self, particles: int, generator: np.random.Generator) -> Floats:
        """Return the initial unit vectors of particles, (3, N).

        The angle from the pole has the law of the zonal part; given it, the azimuth is drawn uniformly until it
        falls below the density, which is bounded by the sum of the moduli of its Fourier coefficients.

        Raises
        ------
        InvalidInput
            If the density is negative somewhere.
        """
        degree = largest_degree(self.cosine.size)
        zonal = self.cosine[[place(k, 0) for k in range(degree + 1)]]
        polar = zonal_law(zonal, 3).angles(generator.random(particles))
        azimuth = np.empty(particles)
        for start in range(0, particles, BLOCK):
            part = slice(start, start + BLOCK)
            azimuth[part] = _azimuths(*self._waves(degree, polar[part]), generator)
        sine = np.sin(polar)
        return np.array([sine * np.cos(azimuth), sine * np.sin(azimuth), np.cos(polar)])

    def digest(self) -> str:
        """Return the digest that identifies this start."""
        return digest_of(self.cosine, self.sine)

    def _waves(self, degree: int, polar: Floats) -> tuple[Floats, Floats]:
        """Return the Fourier coefficients in the azimuth at polar angles, (L + 1, n) each."""
        degrees, orders = degrees_and_orders(degree)
        meridian = np.array([np.sin(polar), np.zeros_like(polar), np.cos(polar)])
        values = SolidHarmonics(degree).values(meridian)[0]
        weights = (2.0 * degrees + 1.0) * (np.arange(degree + 1)[:, np.newaxis] == orders)
        return (weights * self.cosine) @ values, (weights * self.sine) @ values


@dataclass(frozen=True, eq=False)
class FromVectors:
    """Start of particles at given unit vectors (N, d)."""

    vectors: Floats

    def positions(self, particles: int, generator: np.random.Generator) -> Floats:
        """Return the initial unit vectors of particles, (d, N)."""
        return np.ascontiguousarray(self.vectors.T)

    def digest(self) -> str:
        """Return the digest that identifies this start."""
        return digest_of(self.vectors)


def sphere_starts(problem: Equation, initial: Any, particles: int, replicas: int) -> Starts:
    """Return the starts of all replicas on a sphere from an initial state.

    Raises
    ------
    InvalidInput
        If the initial state is not admissible.
    """
    sphere = cast(Sphere, problem.domain)
    vectors = _vectors(initial, (replicas, particles, sphere.dimension))
    if vectors is not None:
        return Starts([FromVectors(row) for row in vectors], f"{particles} given positions", ())
    if initial is None:
        return Starts([uniform_start(sphere.dimension)] * replicas, "uniform", ())
    lobes = lobes_of(initial, sphere)
    if lobes is not None:
        return Starts([_from_lobes(initial, lobes, sphere)] * replicas, repr(initial), ())
    density = moments_of(problem, initial)
    start = OF_LAYOUT[density.layout](density, sphere.dimension)
    start.positions(1, np.random.default_rng(0))
    return Starts([start] * replicas, density.description, density.warnings)


def uniform_start(dimension: int) -> FromLobes:
    """Return the start from the uniform density."""
    return about_pole(np.ones(1), dimension)


def about_pole(moments: Floats, dimension: int) -> FromLobes:
    """Return the start from the density with the moments p_l about the north pole."""
    pole = np.zeros((1, dimension))
    pole[0, -1] = 1.0
    return FromLobes(np.ones(1), pole, (zonal_law(moments, dimension),))


# How a start is made from moments in the layouts that they come in, of a given dimension.
OF_LAYOUT: dict[str, Callable[[Initial, int], SphereStart]] = {
    ZonalModes.layout: lambda density, dimension: about_pole(density.cosine, dimension),
    SphereModes.layout: lambda density, dimension: FromOrders(density.cosine, density.sine),
}


def _from_lobes(initial: Any, lobes: list[Lobe], sphere: Sphere) -> FromLobes:
    laws = tuple(_law(initial, lobe, sphere.dimension) for lobe in lobes)
    return FromLobes(
        np.array([lobe.share for lobe in lobes]), np.array([_axis(lobe, sphere) for lobe in lobes]), laws
    )


def _law(initial: Any, lobe: Lobe, dimension: int) -> PolarLaw:
    """Return the law of the angle from a lobe's axis, in high dimensions from the function, not its moments."""
    exponents: dict[type, Callable[[Floats], Floats]] = {
        VonMises: lambda angles: initial.concentration * (np.cos(angles) - 1.0),
        Watson: lambda angles: initial.concentration * np.cos(angles) ** 2 - max(initial.concentration, 0.0),
    }
    exponent = exponents.get(type(initial))
    if exponent is None:
        return zonal_law(lobe.profile(), dimension)
    return polar_law(partial(_exponential, exponent, dimension), dimension)


def _exponential(exponent: Callable[[Floats], Floats], dimension: int, angles: Floats) -> Floats:
    values = exponent(angles)
    # In high dimensions the mass is far from the largest value, where the density itself has underflown.
    grid = np.linspace(0.0, np.pi, 4097)[1:-1]
    peak = float((exponent(grid) + (dimension - 2) * np.log(np.sin(grid))).max())
    return np.exp(np.minimum(values - peak, 700.0))


def _axis(lobe: Lobe, sphere: Sphere) -> Floats:
    axis = np.zeros(sphere.dimension)
    sine = np.sin(lobe.polar)
    axis[0], axis[1], axis[-1] = sine * np.cos(lobe.azimuth), sine * np.sin(lobe.azimuth), np.cos(lobe.polar)
    return axis


def _turn(positions: Floats, chosen: NDArray[np.bool_], axis: Floats) -> None:
    """Reflect chosen vectors of (d, N), in place, so that the north pole becomes the axis."""
    normal = -axis
    normal[-1] += 1.0
    size = float(normal @ normal)
    if size > 0.0:
        part = positions[:, chosen]
        positions[:, chosen] = part - np.outer(normal, (2.0 / size) * (normal @ part))


def _azimuths(cosine: Floats, sine: Floats, generator: np.random.Generator) -> Floats:
    bounds = np.hypot(cosine, sine).sum(axis=0)
    orders = np.arange(cosine.shape[0])[:, np.newaxis]
    azimuth = np.empty(bounds.size)
    waiting = np.arange(bounds.size)
    while waiting.size:
        tried = 2.0 * np.pi * generator.random(waiting.size)
        heights = generator.random(waiting.size) * bounds[waiting]
        values = (cosine[:, waiting] * np.cos(orders * tried) + sine[:, waiting] * np.sin(orders * tried)).sum(
            axis=0
        )
        if np.any(values < -NEGATIVE_ROUNDING * bounds[waiting]):
            raise InvalidInput("the initial density is negative; give a density >= 0 with all its moments")
        azimuth[waiting] = tried
        waiting = waiting[values < heights]
    return azimuth


def _vectors(initial: Any, shape: tuple[int, int, int]) -> Floats | None:
    """Return unit vectors (R, N, d) if the initial state is an array of as many, else None."""
    if callable(initial) or hasattr(initial, "moments") or hasattr(initial, "cosine") or isinstance(initial, tuple):
        return None
    try:
        given = np.asarray(initial)
    except ValueError:
        return None
    if given.dtype.kind not in "fiu" or given.ndim == 0:
        return None
    if given.shape not in (shape, shape[1:]):
        raise InvalidInput(
            f"positions on the sphere are unit vectors of shape {shape[1:]} or {shape}, not an array of shape "
            f"{given.shape}; give as many as particles, or a density"
        )
    vectors = np.array(np.broadcast_to(given, shape), dtype=float)
    lengths = np.sqrt((vectors**2).sum(axis=2, keepdims=True))
    bad = np.argwhere(~(np.abs(lengths - 1.0) <= LENGTH_TOLERANCE))
    if bad.size:
        raise InvalidInput(
            f"the initial position of particle {bad[0][1]} has the length {lengths[tuple(bad[0])]:.6g}; all must "
            "be unit vectors: divide them by their lengths"
        )
    return np.asarray(vectors / lengths)
