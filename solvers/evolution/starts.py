r"""Densities to start from, by name, with their exact moments :math:`m_k = \int\rho\cos k\theta`, likewise s_k.

==================  ==================================================================================
PerturbedUniform    :math:`(1 + a\cos k(\theta-\mu))/2\pi`
RandomPerturbation  :math:`(1 + a\,g(\theta))/2\pi`, g a random trigonometric sum with :math:`|g|\le1`
VonMises            :math:`e^{\gamma\cos(\theta-\mu)}/(2\pi I_0(\gamma))`, :math:`m_k = I_k/I_0`
Bumps               wrapped normal densities at equal distances, :math:`m_k = e^{-k^2\sigma^2/2}` each
Watson              :math:`e^{\gamma\cos^2(\theta-\mu)}/Z`, :math:`m_{2k} = I_k(\gamma/2)/I_0(\gamma/2)`
Mixture             weighted sums of these
Samples             kernel density estimate with a wrapped normal kernel
==================  ==================================================================================

On a sphere the same names stand for the densities of :math:`\langle x, n\rangle` with an axis n at the polar angle
``mean`` and the azimuth ``azimuth``; see :mod:`~solvers.evolution.sphere.profiles`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ive

from meanfield import InvalidInput
from meanfield.arguments import checked, shown
from meanfield.base import brief, read_only

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Values = TypeVar("Values", Floats, Complexes)

EPS = float(np.finfo(float).eps)
# Moments beyond this are not looked for: the density is too narrow.
LARGEST_DEGREE = 8192
# Degrees whose sample moments decide on the width of the kernel, and the widths that are tried.
JUDGED_DEGREES = 256
BANDWIDTHS = np.geomspace(0.02, 1.5, 120)
# A wrapped normal density of a larger width is uniform to all digits.
UNIFORM_WIDTH = 9.0


@checked
@dataclass(frozen=True)
class PerturbedUniform:
    r"""The density :math:`(1 + a\cos k(\theta-\mu))/2\pi`.

    Parameters
    ----------
    amplitude
        a, from -1 to 1; the moment of degree k is a/2.
    degree
        k, at least 1.
    mean
        :math:`\mu`, in radians.
    azimuth
        Only on the sphere: the angle of the axis about the north pole.

    Examples
    --------
    >>> PerturbedUniform(0.1).moments(2)
    array([1.  +0.j, 0.05+0.j, 0.  +0.j])
    """

    amplitude: float = 0.1
    degree: int = 1
    mean: float = 0.0
    azimuth: float = 0.0

    def __post_init__(self) -> None:
        _require(-1.0 <= self.amplitude <= 1.0, "amplitude", "from -1 to 1", self.amplitude)
        _require(self.degree >= 1, "degree", "a whole number >= 1", self.degree)
        _require_angles(self.mean, self.azimuth)

    def moments(self, degree: int) -> Complexes:
        """Return m_k - i s_k for k = 0..degree."""
        result = np.zeros(degree + 1, dtype=complex)
        result[0] = 1.0
        if self.degree <= degree:
            result[self.degree] = 0.5 * self.amplitude
        return turned(result, self.mean)

    def relative(self, angles: ArrayLike) -> Floats:
        """Return the density over the uniform one at angles."""
        return np.asarray(1.0 + self.amplitude * np.cos(self.degree * (np.asarray(angles) - self.mean)))


@checked
@dataclass(frozen=True)
class RandomPerturbation:
    """The uniform density with random low modes, the same for the same seed.

    Parameters
    ----------
    amplitude
        Bound on the relative deviation from uniform, from 0 to 1.
    seed
        Seed of the random coefficients, a whole number.
    degrees
        Number of degrees that take part, from 1.
    """

    amplitude: float
    seed: int
    degrees: int = 8

    def __post_init__(self) -> None:
        _require(0.0 <= self.amplitude <= 1.0, "amplitude", "from 0 to 1", self.amplitude)
        _require(self.degrees >= 1, "degrees", "a whole number >= 1", self.degrees)
        _require(self.seed >= 0, "seed", "a whole number >= 0", self.seed)

    def moments(self, degree: int) -> Complexes:
        """Return m_k - i s_k for k = 0..degree."""
        generator = np.random.Generator(np.random.PCG64(self.seed))
        drawn = generator.standard_normal(self.degrees) + 1j * generator.standard_normal(self.degrees)
        result = np.zeros(max(degree, self.degrees) + 1, dtype=complex)
        result[0] = 1.0
        result[1 : self.degrees + 1] = 0.5 * self.amplitude * drawn / np.abs(drawn).sum()
        return result[: degree + 1]

    def relative(self, angles: ArrayLike) -> Floats:
        """Return the density over the uniform one at angles."""
        waves = np.exp(1j * np.multiply.outer(angles, np.arange(1, self.degrees + 1)))
        return np.asarray(1.0 + 2.0 * (waves @ self.moments(self.degrees)[1:]).real)


@checked
@dataclass(frozen=True)
class VonMises:
    r"""The density :math:`e^{\gamma\cos(\theta-\mu)}/(2\pi I_0(\gamma))`.

    Parameters
    ----------
    mean
        :math:`\mu`, in radians.
    concentration
        :math:`\gamma\ge0`; 0 is uniform, and the width is about :math:`\gamma^{-1/2}`.
    azimuth
        Only on the sphere: the angle of the axis about the north pole.
    """

    mean: float = 0.0
    concentration: float = 1.0
    azimuth: float = 0.0

    def __post_init__(self) -> None:
        _require_angles(self.mean, self.azimuth)
        _require(0.0 <= self.concentration < math.inf, "concentration", "finite and >= 0", self.concentration)

    def moments(self, degree: int) -> Complexes:
        """Return m_k - i s_k for k = 0..degree."""
        ratios = ive(np.arange(degree + 1), self.concentration) / ive(0, self.concentration)
        return turned(ratios.astype(complex), self.mean)

    def relative(self, angles: ArrayLike) -> Floats:
        """Return the density over the uniform one at angles, with all digits where it is small."""
        fallen = -2.0 * self.concentration * np.sin(0.5 * (np.asarray(angles) - self.mean)) ** 2
        return np.asarray(np.exp(fallen) / ive(0, self.concentration))


@checked
@dataclass(frozen=True)
class Bumps:
    r"""Wrapped normal densities at :math:`\mu + 2\pi j/n`, j = 0..n-1.

    Parameters
    ----------
    count
        n, at least 1.
    width
        Standard deviation of each, in radians, positive.
    weights
        Their masses, divided by their sum; equal by default.
    mean
        :math:`\mu`, where the first one is.
    azimuth
        Only on the sphere: all are on the great circle through the north pole with this azimuth.

    Examples
    --------
    >>> Bumps(2, width=0.5).moments(2).round(6)
    array([1.      +0.j, 0.      +0.j, 0.606531+0.j])
    """

    count: int
    width: float = 0.3
    weights: tuple[float, ...] | None = None
    mean: float = 0.0
    azimuth: float = 0.0

    def __post_init__(self) -> None:
        _require(self.count >= 1 and self.count == int(self.count), "count", "a whole number >= 1", self.count)
        _require(0.0 < self.width < math.inf, "width", "positive", self.width)
        _require_angles(self.mean, self.azimuth)
        if self.weights is not None:
            object.__setattr__(self, "weights", tuple(float(weight) for weight in self.weights))
            _check_weights(self.weights, self.count)

    def moments(self, degree: int) -> Complexes:
        """Return m_k - i s_k for k = 0..degree."""
        degrees = np.arange(degree + 1)
        single = np.exp(-0.5 * (degrees * self.width) ** 2)
        if self.weights is None or len(set(self.weights)) == 1:
            return turned(np.where(degrees % self.count == 0, single, 0.0).astype(complex), self.mean)
        shares = np.array(self.weights) / math.fsum(self.weights)
        # Turns between -1/2 and 1/2, so that mirror images have exactly opposite sines.
        turns = np.multiply.outer(degrees, np.arange(self.count)) % self.count
        turns = np.where(2 * turns > self.count, turns - self.count, turns)
        combined = np.asarray(np.exp(-2j * np.pi * turns / self.count) @ shares, dtype=complex)
        combined[0] = 1.0
        return turned(without_rounding(combined) * single, self.mean)

    def relative(self, angles: ArrayLike) -> Floats:
        """Return the density over the uniform one at angles, with all digits where it is small."""
        shares = np.full(self.count, 1.0) if self.weights is None else np.array(self.weights)
        centres = self.mean + 2.0 * math.pi * np.arange(self.count) / self.count
        if self.width > UNIFORM_WIDTH:
            return np.ones(np.shape(angles))
        # Images farther away are rounding of the nearest one.
        last = 1 + math.ceil(1.5 * self.width)
        images = 2.0 * math.pi * np.arange(-last, last + 1)
        total = np.zeros(np.shape(angles))
        for share, centre in zip(shares / math.fsum(shares), centres, strict=True):
            distances = np.remainder(np.asarray(angles) - centre + math.pi, 2.0 * math.pi) - math.pi
            total += share * np.exp(-0.5 * ((distances[..., None] + images) / self.width) ** 2).sum(axis=-1)
        return np.asarray(math.sqrt(2.0 * math.pi) / self.width * total)


@checked
@dataclass(frozen=True)
class Watson:
    r"""The density :math:`e^{\gamma\cos^2(\theta-\mu)}/Z`: as much mass at an end of the axis as at the other.

    Parameters
    ----------
    concentration
        :math:`\gamma`; positive for mass at both ends of the axis, negative for mass between them.
    mean
        :math:`\mu`, in radians.
    azimuth
        Only on the sphere: the angle of the axis about the north pole.
    """

    concentration: float
    mean: float = 0.0
    azimuth: float = 0.0

    def __post_init__(self) -> None:
        _require(math.isfinite(self.concentration), "concentration", "finite", self.concentration)
        _require_angles(self.mean, self.azimuth)

    def moments(self, degree: int) -> Complexes:
        """Return m_k - i s_k for k = 0..degree."""
        half = 0.5 * abs(self.concentration)
        orders = np.arange(degree // 2 + 1)
        signs = np.where((orders % 2 == 1) & (self.concentration < 0.0), -1.0, 1.0)
        result = np.zeros(degree + 1, dtype=complex)
        result[::2] = signs * ive(orders, half) / ive(0, half)
        return turned(result, self.mean)

    def relative(self, angles: ArrayLike) -> Floats:
        """Return the density over the uniform one at angles, with all digits where it is small."""
        offset = np.asarray(angles) - self.mean
        fallen = np.sin(offset) ** 2 if self.concentration > 0.0 else np.cos(offset) ** 2
        return np.asarray(np.exp(-abs(self.concentration) * fallen) / ive(0, 0.5 * abs(self.concentration)))


@checked
@dataclass(frozen=True)
class Mixture:
    """A weighted sum of named densities.

    Parameters
    ----------
    parts
        The densities.
    weights
        Their masses, divided by their sum; equal by default.

    Examples
    --------
    >>> Mixture((VonMises(0.0, 5.0), PerturbedUniform(0.0)), (3.0, 1.0)).shares
    (0.75, 0.25)
    """

    parts: tuple[Any, ...]
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        wrong = [part for part in self.parts if not hasattr(part, "moments") or isinstance(part, Samples)]
        if wrong or not self.parts:
            raise InvalidInput(
                f"a mixture is one of named densities such as VonMises(0.0, 4.0), not of {shown(wrong)}"
            )
        if self.weights is not None:
            object.__setattr__(self, "weights", tuple(float(weight) for weight in self.weights))
            _check_weights(self.weights, len(self.parts), "parts")

    @property
    def shares(self) -> tuple[float, ...]:
        """The weights divided by their sum."""
        weights = self.weights or (1.0,) * len(self.parts)
        return tuple(weight / math.fsum(weights) for weight in weights)

    @property
    def azimuth(self) -> float:
        """Azimuth of a part that has one."""
        return next((part.azimuth for part in self.parts if getattr(part, "azimuth", 0.0)), 0.0)

    def moments(self, degree: int) -> Complexes:
        """Return m_k - i s_k for k = 0..degree."""
        result = sum(share * part.moments(degree) for share, part in zip(self.shares, self.parts, strict=True))
        result[0] = 1.0
        return np.asarray(result)

    def relative(self, angles: ArrayLike) -> Floats:
        """Return the density over the uniform one at angles."""
        return np.asarray(
            sum(share * part.relative(angles) for share, part in zip(self.shares, self.parts, strict=True))
        )


@checked
class Samples:
    r"""A density estimated from angles: each is replaced by a wrapped normal density of one width.

    Parameters
    ----------
    angles : (N,) float
        In radians.
    bandwidth
        Width h of the kernel. By default the one that minimises the unbiased estimate of the mean integrated
        squared error, :math:`\sum_k |\hat c_k|^2 g_k^2 - 2 g_k (N|\hat c_k|^2-1)/(N-1)` with
        :math:`g_k = e^{-k^2h^2/2}` (least-squares cross-validation, exact on the circle).
    """

    def __init__(self, angles: ArrayLike, bandwidth: float | None = None) -> None:
        self.angles: Floats = read_only(np.array(angles, dtype=float).ravel())
        if self.angles.size < 2:
            raise InvalidInput(f"a density cannot be estimated from {self.angles.size} angles; give two at least")
        if bandwidth is not None:
            _require(0.0 < bandwidth < math.inf, "bandwidth", "positive", bandwidth)
        self.bandwidth = float(bandwidth) if bandwidth is not None else self._chosen()

    def __repr__(self) -> str:
        return f"Samples({brief(self.angles)}, bandwidth={self.bandwidth:.6g})"

    def moments(self, degree: int) -> Complexes:
        """Return m_k - i s_k for k = 0..degree."""
        # Beyond this degree the kernel is below rounding.
        last = min(degree, math.ceil(9.0 / self.bandwidth))
        result = np.zeros(degree + 1, dtype=complex)
        kernel = np.exp(-0.5 * (np.arange(last + 1) * self.bandwidth) ** 2)
        result[: last + 1] = without_rounding(empirical_moments(self.angles, last)) * kernel
        return result

    def _chosen(self) -> float:
        degrees, count = np.arange(1, JUDGED_DEGREES + 1), self.angles.size
        squares = np.abs(empirical_moments(self.angles, JUDGED_DEGREES)[1:]) ** 2
        kernels = np.exp(-0.5 * np.multiply.outer(BANDWIDTHS, degrees) ** 2)
        risk = kernels**2 @ squares - 2.0 * kernels @ ((count * squares - 1.0) / (count - 1.0))
        return float(BANDWIDTHS[int(np.argmin(risk))])


def empirical_moments(angles: Floats, degree: int) -> Complexes:
    """Return the means of exp(-ikx) over angles for k = 0..degree."""
    wave = np.exp(-1j * angles)
    power, means = np.ones_like(wave), np.ones(degree + 1, dtype=complex)
    for k in range(1, degree + 1):
        power *= wave
        means[k] = power.mean()
    return means


def turned(moments: Complexes, angle: float) -> Complexes:
    """Return the moments of a density rotated by an angle; at multiples of pi an even one stays exactly even."""
    if abs(math.sin(angle)) <= 4.0 * EPS * max(1.0, abs(angle)):
        return np.asarray(moments * np.where(np.arange(moments.size) % 2 == 1, round(math.cos(angle)), 1))
    return np.asarray(moments * np.exp(-1j * angle * np.arange(moments.size)))


def without_rounding(moments: Complexes, level: float = 16.0 * EPS) -> Complexes:
    """Return moments with real and imaginary parts set to zero where they are rounding noise of sums of phases."""
    real = np.where(np.abs(moments.real) <= level, 0.0, moments.real)
    return np.asarray(real + 1j * np.where(np.abs(moments.imag) <= level, 0.0, moments.imag))


def sufficient(moments: Callable[[int], Values], largest: int = LARGEST_DEGREE) -> Values:
    """Return moments of increasing degree up to the last that is significant beside the largest.

    Raises
    ------
    InvalidInput
        If the density is so narrow that this takes too many.
    """
    degree = 32
    while degree <= largest:
        values = moments(degree)
        sizes = np.abs(values[1:])
        if not np.isfinite(sizes).all():
            break
        large = np.flatnonzero(sizes > 0.1 * EPS * sizes.max())
        last = int(large[-1]) + 1 if large.size else 0
        if last < degree:
            return values[: last + 1]
        degree *= 2
    raise too_narrow(largest)


def too_narrow(degree: int) -> InvalidInput:
    """Return the error that moments up to a degree do not resolve a density."""
    return InvalidInput(
        f"the initial density is so narrow that moments up to degree {degree} do not hold it; give a wider one"
    )


def _require_angles(mean: float, azimuth: float) -> None:
    _require(math.isfinite(mean), "mean", "finite", mean)
    _require(math.isfinite(azimuth), "azimuth", "finite", azimuth)


def _check_weights(weights: Sequence[float], count: int, what: str = "bumps") -> None:
    if len(weights) != count:
        raise InvalidInput(
            f"{count} {what} need {count} weights, not {len(weights)}; leave them out for equal ones"
        )
    if not (all(math.isfinite(weight) and weight >= 0.0 for weight in weights) and sum(weights) > 0.0):
        raise InvalidInput(f"the weights of {what} must be >= 0 and not all 0, not {list(weights)}")


def _require(fits: bool, name: str, admissible: str, value: object) -> None:
    if not fits:
        raise InvalidInput(f"the {name} of an initial density must be {admissible}, not {shown(value)}")
