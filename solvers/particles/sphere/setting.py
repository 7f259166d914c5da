r"""Spheres as the setting of a simulation: the choice of the drift, and the recorded values."""

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation, InvalidInput
from meanfield.harmonics import Layout
from meanfield.harmonics import moduli as lengths_of

from ...bases.spherical import ducc
from ..drift import OVERSHOOTING, MomentDrift, PairDrift
from ..settings import HISTOGRAM_BINS, Several, Starts, default_share
from ..stepping import too_long
from ..timing import Timetable
from .cloud import SphereCloud
from .fields import (
    EPS,
    ConfinedField,
    DuccField,
    Field,
    HarmonicField,
    PairField,
    TensorField,
    confining_force,
    zonal_values,
)
from .harmonics import SolidHarmonics
from .significant import SphereDegrees, significant_degrees
from .starts import SphereStart, sphere_starts
from .tensors import Monomials, count, polynomials, power_coefficients

Floats = NDArray[np.float64]

KERNELS = ("auto", "numpy", "ducc0")
# Up to this degree own harmonics are as fast as ducc0's nonuniform transform.
FEW_DEGREES = 4
LARGEST_HARMONIC = 64
# Monomials in the drift, and in a record, which is made a hundred times in a run.
MOST_MONOMIALS, MOST_RECORDED = 20000, 5000
# Pair sums over more particles than this take long enough to be said.
MANY_PAIRS = 5000
# (d - 1) D times the step, for the step chosen by default.
DEFAULT_SPREAD = 0.1
# Beyond this (d - 1) D h the rates of diffusion of a step are off by percents.
LARGEST_SPREAD = 0.5
# Nanoseconds of a monomial and of a pair, for the choice between them.
MONOMIAL_TIME, PAIR_TIME, PRODUCT_TIME = 1.0, 40.0, 0.1
WATCHED = 2000


@dataclass(frozen=True, eq=False)
class SphereSetting:
    """A sphere of any dimension: forces from means of monomials or from pairs, moments about the north pole.

    Attributes
    ----------
    significant
        The degrees of the drift.
    degrees
        Moments are recorded up to this degree.
    kernel
        Library that sums harmonics, if any: ``auto`` while it is not chosen, ``numpy`` or ``ducc0``.
    """

    problem: Equation
    drift: MomentDrift | PairDrift
    significant: SphereDegrees
    degrees: int
    kernel: str = "auto"

    flat: ClassVar[bool] = False
    layout: ClassVar[Layout] = "degree"

    @classmethod
    def suitable_drift(
        cls, significant: SphereDegrees, dimension: int, drift: MomentDrift | PairDrift | None, particles: int
    ) -> MomentDrift | PairDrift:
        """Return the drift asked for, by default the cheaper of moments and pairs.

        Raises
        ------
        InvalidInput
            If moments are asked for that are too many.
        """
        moments = MomentDrift() if drift is None else drift
        if isinstance(moments, PairDrift):
            return moments
        objection = _objection(significant, dimension, moments.tolerance)
        if drift is None and (objection or _pairs_are_cheaper(significant.degree, dimension, particles)):
            return PairDrift()
        if objection:
            raise InvalidInput(objection)
        return moments

    @property
    def dimension(self) -> int:
        """The dimension d of the space around the sphere."""
        return self.problem.domain.dimension

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the values recorded at a time."""
        size = (self.degrees + 1,)
        return {"cosine": size, "sine": size, "mean_vector": (self.dimension,), "moduli": size}

    @property
    def harmonic(self) -> bool:
        """Whether the drift is a sum of harmonics."""
        return False

    @property
    def evaluation_error(self) -> float:
        """Bound of the error made in evaluating the drift from moments, relative to its scale."""
        return _power_error(self.significant, self.dimension)

    def position_shape(self, particles: int) -> tuple[int, ...]:
        """Return the shape of the positions in the record."""
        return (particles, self.dimension)

    def with_kernel(self, kernel: str, work: float) -> "SphereSetting":
        """Return the setting with a kernel chosen, which does not depend on the work."""
        if kernel == "numba":
            raise InvalidInput("numba moves particles on the circle only; on the sphere take kernel='auto'")
        if kernel not in KERNELS:
            raise InvalidInput(f"kernel must be one of {', '.join(KERNELS)}, not {kernel!r}")
        if kernel == "ducc0" and not self.harmonic:
            raise InvalidInput("ducc0 sums harmonics on the ordinary sphere only; leave kernel='auto'")
        if kernel == "ducc0" and ducc() is None:
            raise InvalidInput(
                "ducc0 is not installed; pip install 'meanfield-pde[sphere]', or leave kernel='auto'"
            )
        if kernel == "auto":
            wanted = self.harmonic and self.significant.degree > FEW_DEGREES and ducc() is not None
            kernel = "ducc0" if wanted else "numpy"
        return dataclasses.replace(self, kernel=kernel)

    def default_step(self, until: float) -> float:
        """Return the default step, by the steepest slope that the drift can have and the time of diffusion."""
        significant = self.significant
        if significant.truncation_error is None:
            raise InvalidInput(
                "the degrees of potential or confinement decay so slowly that no step can be chosen from them; "
                "give one, such as step=0.01, and see whether half of it changes the result"
            )
        spread = (self.dimension - 1) * self.problem.noise
        diffusion = DEFAULT_SPREAD / spread if spread > 0.0 else math.inf
        share, stiffness = default_share(self.problem.noise), significant.stiffness
        drift = math.inf if stiffness == 0.0 else share / stiffness
        return min(until, diffusion, drift)

    def starts(self, initial: Any, particles: int, replicas: int) -> Starts:
        """Return the starts of all replicas from an initial state."""
        return sphere_starts(self.problem, initial, particles, replicas)

    def require_steps(self, starts: Sequence[Any], table: Timetable) -> None:
        """Refuse steps in which noise moves particles far round the sphere, or which overshoot from the start."""
        step, noise = table.largest_step, self.problem.noise
        spread = (self.dimension - 1) * noise * step
        if not spread <= LARGEST_SPREAD:
            raise InvalidInput(
                f"the step {step:g} is too long for the noise: (d - 1) D step = {spread:.3g} where at most "
                f"{LARGEST_SPREAD:g} is accurate; use a step of at most "
                f"{DEFAULT_SPREAD / ((self.dimension - 1) * noise):.2g}"
            )
        for start in set(starts):
            generator = np.random.default_rng(0)
            positions = start.positions(WATCHED, generator)[:, :WATCHED]
            slope = SphereCloud(self.problem, self.field(), positions, generator).contraction_by(step)
            if slope > OVERSHOOTING:
                raise InvalidInput(too_long(step, slope))

    def placed(self, start: SphereStart, particles: int, generator: np.random.Generator) -> Floats:
        """Return unit vectors at the start, (d, N)."""
        return start.positions(particles, generator)

    def cloud(self, positions: Floats, generator: np.random.Generator) -> SphereCloud:
        """Return the particles at positions, with their drift and their noise."""
        return SphereCloud(self.problem, self.field(), positions, generator)

    def field(self) -> Field:
        """Return the field of the drift, before particles are gathered."""
        if isinstance(self.drift, PairDrift):
            return PairField(self.problem, self.significant)
        return self.moment_field(self.drift.tolerance)

    def moment_field(self, tolerance: float) -> Field:
        """Return the field of the drift from moments, to a tolerance."""
        return TensorField(self.significant, self.dimension)

    @property
    def several(self) -> Several | None:
        """None, since replicas are advanced one by one."""
        return None

    def record(self, cloud: Any) -> dict[str, Floats]:
        """Return the moments of the particles by name, and record the slope of the drift."""
        cloud.watch()
        return self.moments(cloud.positions) | {"mean_vector": cloud.positions.mean(axis=1)}

    def moments(self, positions: Floats) -> dict[str, Floats]:
        """Return cosine and sine moments and moduli of particles (d, N) by name."""
        heights = zip(range(self.degrees + 1), zonal_values(positions[-1], self.dimension), strict=False)
        zonal = np.array([values.mean() for _, values in heights])
        return {"cosine": zonal, "sine": np.zeros_like(zonal), "moduli": moment_lengths(positions, self.degrees)}

    def ended(self, positions: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """Return the unit vectors (N, d) and the histogram of their angles from the north pole."""
        angles = np.arctan2(np.sqrt((positions[:-1] ** 2).sum(axis=0)), positions[-1])
        bins = np.minimum((angles * (HISTOGRAM_BINS / math.pi)).astype(np.int64), HISTOGRAM_BINS - 1)
        return np.ascontiguousarray(positions.T), np.bincount(bins, minlength=HISTOGRAM_BINS)

    def warnings(self, particles: int) -> list[str]:
        """Return the warnings that are known before anything is computed."""
        significant = self.significant
        if isinstance(self.drift, PairDrift):
            if particles <= MANY_PAIRS:
                return []
            return [
                f"the drift is summed over all pairs of {particles} particles at every step, in a time that grows "
                "with their square: the significant degrees have too many moments in this dimension"
            ]
        if significant.complete:
            return []
        share = (
            "their forces do not add up to a finite variance"
            if significant.random_share is None
            else f"they carry {significant.random_share:.1%} of the random part of the drift (root mean square)"
        )
        return [
            f"the degrees of the potential decay slowly and those beyond {significant.degree} are left out: "
            f"{share} and forces are smoothed over angles of {math.pi / max(significant.degree, 1):.2g}; "
            "drift=PairDrift() takes all of them, in a time that grows with the square of the particles"
        ]

    def identity(self) -> str:
        """Return the text that identifies drift and kernel in checkpoints; ducc0 and numpy round differently."""
        return f"{self.drift!r} by {self.kernel}"

    def described(self) -> dict[str, Any]:
        """Return the options and errors of the drift, for the provenance."""
        significant = self.significant
        if isinstance(self.drift, PairDrift):
            return {"kernel": self.kernel, "drift": "pairs"}
        return {
            "kernel": self.kernel,
            "drift": "moments",
            "drift_tolerance": self.drift.tolerance,
            "drift_degree": significant.degree,
            "drift_scale": significant.scale,
            "drift_truncation_error": significant.truncation_error,
            "drift_evaluation_error": self.evaluation_error,
            "drift_random_share_left_out": significant.random_share,
        }


@dataclass(frozen=True, eq=False)
class OrdinarySphereSetting(SphereSetting):
    """The ordinary sphere: forces from harmonics or from pairs, and all moments."""

    layout: ClassVar[Layout] = "order"

    @classmethod
    def suitable_drift(
        cls, significant: SphereDegrees, dimension: int, drift: MomentDrift | PairDrift | None, particles: int
    ) -> MomentDrift | PairDrift:
        """Return the drift asked for, by default from moments, whose harmonics are never too many."""
        return MomentDrift() if drift is None else drift

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the values recorded at a time."""
        packed = ((self.degrees + 1) * (self.degrees + 2) // 2,)
        return super().shapes | {"cosine": packed, "sine": packed}

    @property
    def harmonic(self) -> bool:
        """Whether the drift is a sum of harmonics."""
        return isinstance(self.drift, MomentDrift)

    @property
    def evaluation_error(self) -> float:
        """Bound of the error made in evaluating the drift from moments, relative to its scale."""
        if self.kernel == "ducc0" and isinstance(self.drift, MomentDrift):
            return self.drift.tolerance
        return 64.0 * EPS

    def moment_field(self, tolerance: float) -> Field:
        """Return the field of the drift from moments, to a tolerance."""
        field: Field = (
            DuccField(self.significant, tolerance, ducc())
            if self.kernel == "ducc0"
            else HarmonicField(self.significant)
        )
        force = confining_force(self.problem, self.significant)
        return ConfinedField(field, force) if self.significant.placed else field

    def moments(self, positions: Floats) -> dict[str, Floats]:
        """Return cosine and sine moments and moduli of particles (3, N) by name."""
        cosine, sine = _harmonics(self.degrees).means(positions)
        return {"cosine": cosine, "sine": sine, "moduli": lengths_of(cosine, sine)}


# Spheres with a setting of their own, by the dimension of the space around them.
OF_DIMENSION: Mapping[int, type[SphereSetting]] = {3: OrdinarySphereSetting}


def sphere_setting(
    problem: Equation,
    drift: MomentDrift | PairDrift | None,
    degrees: int,
    particles: int,
    general: type[SphereSetting] = SphereSetting,
    of_dimension: Mapping[int, type[SphereSetting]] = OF_DIMENSION,
) -> SphereSetting:
    """Return the setting of a problem on a sphere, with the cheaper of moments and pairs by default.

    Parameters
    ----------
    problem, drift, degrees, particles
        The equation, the drift asked for, the degrees of the moments recorded and the number of particles.
    general, of_dimension
        Class of the settings, and those of some dimensions.

    Raises
    ------
    InvalidInput
        If the coupling is free, or moments are asked for that are too many.
    """
    dimension = problem.domain.dimension
    by_moments = drift if isinstance(drift, MomentDrift) else MomentDrift()
    significant = significant_degrees(problem, by_moments, LARGEST_HARMONIC)
    kind = of_dimension.get(dimension, general)
    return kind(problem, kind.suitable_drift(significant, dimension, drift, particles), significant, degrees)


def moment_lengths(positions: Floats, degree: int) -> Floats:
    """Return |m_l| of particles (d, N), l = 0..degree; nan for degrees of too many monomials."""
    dimension = positions.shape[0]
    known = max(k for k in range(degree + 1) if k <= 1 or count(dimension, k) <= MOST_RECORDED)
    monomials = _monomials(dimension, known)
    block = max(16, 2**17 // monomials.size)
    sums = np.zeros(monomials.size)
    for start in range(0, positions.shape[1], block):
        sums += monomials.values(positions[:, start : start + block]).sum(axis=1)
    squares = np.bincount(monomials.degrees, weights=(sums / positions.shape[1]) ** 2)
    result = np.full(degree + 1, np.nan)
    result[: known + 1] = np.sqrt(np.maximum(polynomials(dimension, known) @ squares, 0.0))
    return result


def _objection(significant: SphereDegrees, dimension: int, tolerance: float) -> str:
    """Return the reason why the drift from moments is not affordable; empty if it is."""
    number = count(dimension, max(significant.degree - 1, 0))
    if number > MOST_MONOMIALS:
        return (
            f"degree {significant.degree} has {number:.3g} moments in {dimension} dimensions, more than "
            f"{MOST_MONOMIALS}; take drift=PairDrift(), a larger tolerance or a smaller largest_degree of "
            "MomentDrift"
        )
    if _power_error(significant, dimension) > max(tolerance, 16.0 * EPS):
        return (
            f"powers of the inner product lose {_power_error(significant, dimension):.1g} to rounding up to degree "
            f"{significant.degree}, more than the tolerance {tolerance:g}; take drift=PairDrift() or a larger "
            "tolerance"
        )
    return ""


def _pairs_are_cheaper(degree: int, dimension: int, particles: int) -> bool:
    moments = 2 * count(dimension, max(degree - 1, 0)) * (MONOMIAL_TIME + PRODUCT_TIME * dimension)
    return particles * (PAIR_TIME + PRODUCT_TIME * dimension) < moments


def _power_error(significant: SphereDegrees, dimension: int) -> float:
    """Return a bound of the rounding of the drift in powers of the inner product, relative to its scale."""
    powers = power_coefficients(dimension, significant.interaction)
    total = float(np.abs(np.arange(powers.size) * powers).sum())
    return 8.0 * EPS * total / significant.scale if significant.scale > 0.0 else 0.0


@functools.lru_cache(maxsize=4)
def _harmonics(degree: int) -> SolidHarmonics:
    return SolidHarmonics(degree)


@functools.lru_cache(maxsize=4)
def _monomials(dimension: int, degree: int) -> Monomials:
    return Monomials(dimension, degree)
