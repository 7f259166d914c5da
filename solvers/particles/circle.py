"""The circle as the setting of a simulation: positions in units of cells, drifts from a table or from pairs."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation, InvalidInput
from meanfield.harmonics import Layout

from ..evolution.circle.initial import moments_of
from ..execution.compiling import available
from .clouds import MomentCloud, PairCloud, in_cells, in_radians, require_range, wrap
from .drift import OVERSHOOTING, MomentDrift, MomentForce, PairDrift, Truncation, truncation
from .few import FewParticles, are_few, together
from .kernels import ArrayKernel, Kernel
from .sampling import FromDensity, FromPositions
from .settings import HISTOGRAM_BINS, Several, Starts, default_share
from .stepping import too_long
from .streams import Streams
from .timing import Timetable

Floats = NDArray[np.float64]

KERNELS = ("auto", "numpy", "numba")
# Fewer particle-steps than this are done before numba is loaded.
WORTH_COMPILING = 5e7
# Sums over modes are known to some roundings, relative to their scale.
EVALUATION_ROUNDING = 64.0 * float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class CircleSetting:
    """The circle as the domain of a simulation, with the drift on it.

    Attributes
    ----------
    modes
        The modes of the drift and of the record.
    degrees
        Moments are recorded up to this degree.
    kernel
        ``auto`` while it is not chosen, ``numpy`` or ``numba``; both give the same bits.
    few
        Whether the particles are so few that their drift is summed mode by mode.
    """

    problem: Equation
    drift: MomentDrift | PairDrift
    modes: Truncation
    degrees: int
    kernel: str = "auto"
    few: bool = False

    layout: Layout = "degree"
    flat: ClassVar[bool] = True

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the values recorded at a time."""
        return {"cosine": (self.degrees + 1,), "sine": (self.degrees + 1,)}

    def position_shape(self, particles: int) -> tuple[int, ...]:
        """Return the shape of the positions in the record."""
        return (particles,)

    def with_kernel(self, kernel: str, work: float) -> "CircleSetting":
        """Return the setting with a kernel chosen for a number of particle-steps."""
        if kernel not in KERNELS:
            raise InvalidInput(f"kernel must be one of {', '.join(KERNELS)}, not {kernel!r}")
        if kernel == "numba" and not available():
            raise InvalidInput("numba is not installed; pip install 'meanfield-pde[fast]', or leave kernel='auto'")
        if kernel == "auto":
            kernel = "numba" if work >= WORTH_COMPILING and available() else "numpy"
        return dataclasses.replace(self, kernel=kernel)

    def default_step(self, until: float) -> float:
        """Return the default step, by the steepest slope that the drift can have."""
        modes = self.modes
        if modes.truncation_error is None:
            raise InvalidInput(
                "the modes of potential or confinement decay so slowly that no step can be chosen from them; give "
                "one, such as step=0.01, and see whether half of it changes the result"
            )
        return until if modes.stiffness == 0.0 else min(until, default_share(self.problem.noise) / modes.stiffness)

    def starts(self, initial: Any, particles: int, replicas: int) -> Starts:
        """Return the starts of all replicas from an initial state."""
        if initial is None:
            return Starts([FromDensity(np.ones(1), np.zeros(1))] * replicas, "uniform", ())
        positions = _positions(initial, (replicas, particles))
        if positions is not None:
            return Starts([FromPositions(row) for row in positions], f"{particles} given positions", ())
        density = moments_of(self.problem, initial)
        start = FromDensity(density.cosine, density.sine)
        start.angles(0, np.random.default_rng(0))
        return Starts([start] * replicas, density.description, density.warnings)

    def require_steps(self, starts: Sequence[Any], table: Timetable) -> None:
        """Refuse steps that overshoot from the start, and noise by which positions are lost in rounding."""
        intervals = (count * length for count, length in zip(table.counts, table.lengths, strict=True))
        require_range(self.problem, self.modes.cells, max(intervals))
        step = table.largest_step
        for start in set(starts):
            force = MomentForce(self.modes, 0)
            moments = start.moments(self.modes.degree)
            force.prepare(moments, step)
            contraction = force.contraction(moments, step, self.problem.noise)
            if contraction > OVERSHOOTING:
                raise InvalidInput(too_long(step, contraction))

    def placed(self, start: Any, particles: int, generator: np.random.Generator) -> Floats:
        """Return positions at the start, in units of cells."""
        return in_cells(start.angles(particles, generator), self.modes.cells)

    def cloud(self, positions: Floats, generator: np.random.Generator) -> MomentCloud | PairCloud | FewParticles:
        """Return the particles at positions, with their drift and their noise."""
        if isinstance(self.drift, PairDrift):
            return PairCloud(self.problem, self.modes, self.degrees, positions, generator)
        if self.few:
            return FewParticles(self.problem.noise, self.modes, positions[np.newaxis], generator)
        kernel = kernel_named(self.kernel, self.modes.cells)
        return MomentCloud(self.problem, self.modes, self.degrees, positions, generator, kernel)

    @property
    def several(self) -> Several | None:
        """The setting itself if replicas of few particles are advanced together, else None."""
        return self if self.few else None

    def together(self, particles: int) -> int:
        """Return how many replicas of few particles are advanced together most cheaply."""
        return together(particles, self.modes)

    def clouds(self, positions: Floats, streams: Streams) -> FewParticles:
        """Return the particles of several replicas (R, N)."""
        return FewParticles(self.problem.noise, self.modes, positions, streams)

    def record_all(self, clouds: Any) -> dict[str, Floats]:
        """Return the moments of each of several replicas by name, wrapping particles that have gone far."""
        wrap(clouds.rows, self.modes.cells)
        moments = clouds.moments(self.degrees)
        return {"cosine": moments.real, "sine": -moments.imag}

    def record(self, cloud: Any) -> dict[str, Floats]:
        """Return the moments of the particles by name, wrapping them if they have gone far."""
        if self.few:
            return {name: values[0] for name, values in self.record_all(cloud).items()}
        wrap(cloud.positions, self.modes.cells)
        moments = cloud.moments()[: self.degrees + 1]
        return {"cosine": moments.real, "sine": -moments.imag}

    def ended(self, positions: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """Return the angles of positions at the end and their histogram."""
        angles = in_radians(positions, self.modes.cells)
        return angles, histogram(angles)

    def warnings(self, particles: int) -> list[str]:
        """Return the warnings that are known before anything is computed."""
        modes = self.modes
        if isinstance(self.drift, PairDrift) or modes.complete:
            return []
        if modes.random_share == 0.0:
            return [
                f"the coefficients of the confinement decay slowly and those beyond degree {modes.degree} are left "
                f"out, which smooths its force over distances of {2.0 * math.pi / modes.degree:.2g}; "
                "drift=PairDrift() takes it as it is, in a time that grows with the square of the particles"
            ]
        share = (
            "their forces do not add up to a finite variance"
            if modes.random_share is None
            else f"they carry {modes.random_share:.1%} of the random part of the drift (root mean square)"
        )
        return [
            f"the modes of the potential decay slowly and those beyond degree {modes.degree} are left out: {share} "
            f"and forces are smoothed over distances of {2.0 * math.pi / modes.degree:.2g}; drift=PairDrift() "
            "takes all of them, in a time that grows with the square of the particles"
        ]

    def identity(self) -> str:
        """Return the text that identifies the drift in checkpoints; kernels give the same bits."""
        return repr(self.drift)

    def described(self) -> dict[str, Any]:
        """Return the options and errors of the drift, for the provenance."""
        modes = self.modes
        if isinstance(self.drift, PairDrift):
            return {"kernel": self.kernel, "cells": modes.cells, "drift": "pairs"}
        return {
            "kernel": self.kernel,
            "cells": modes.cells,
            "drift": "moments",
            "drift_sums": "modes" if self.few else "cells",
            "drift_tolerance": self.drift.tolerance,
            "drift_degree": modes.degree,
            "drift_scale": modes.scale,
            "drift_truncation_error": modes.truncation_error,
            "drift_evaluation_error": EVALUATION_ROUNDING if self.few else modes.evaluation_error,
            "drift_random_share_left_out": modes.random_share,
        }


def circle_setting(
    problem: Equation, drift: MomentDrift | PairDrift | None, degrees: int, particles: int
) -> CircleSetting:
    """Return the setting of a problem on the circle, with the drift from moments by default.

    Raises
    ------
    InvalidInput
        If the coupling is free or the moments asked for need too many cells.
    """
    drift = drift or MomentDrift()
    by_moments = drift if isinstance(drift, MomentDrift) else MomentDrift()
    modes = truncation(problem, by_moments, degrees)
    few = isinstance(drift, MomentDrift) and are_few(particles, modes)
    return CircleSetting(problem, drift, modes, degrees, few=few)


def histogram(angles: Floats) -> NDArray[np.int64]:
    """Return the counts of angles in equal bins of [-pi, pi)."""
    bins = ((angles + np.pi) * (HISTOGRAM_BINS / (2.0 * np.pi))).astype(np.int64)
    return np.bincount(np.minimum(bins, HISTOGRAM_BINS - 1), minlength=HISTOGRAM_BINS)


def _positions(initial: Any, shape: tuple[int, int]) -> Floats | None:
    """Return angles (R, N) if the initial state is an array of as many angles as particles, else None."""
    if callable(initial) or hasattr(initial, "moments") or hasattr(initial, "cosine") or _is_pair(initial):
        return None
    try:
        angles = np.asarray(initial)
    except ValueError:
        return None
    if angles.dtype.kind not in "fiu" or angles.shape not in (shape, shape[1:]):
        return None
    angles = np.ascontiguousarray(np.broadcast_to(angles, shape), dtype=float)
    bad = np.argwhere(~np.isfinite(angles))
    if bad.size:
        raise InvalidInput(
            f"the initial position of particle {bad[0][1]} is {angles[tuple(bad[0])]}; all must be finite"
        )
    return np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi


def _is_pair(initial: Any) -> bool:
    """Return whether an initial state is a pair of vectors of moments, and no tuple of angles."""
    return isinstance(initial, tuple) and any(np.ndim(part) > 0 for part in initial)


def kernel_named(name: str, cells: int) -> Kernel:
    """Return the passes of a name over particles in cells."""
    if name == ArrayKernel.name:
        return ArrayKernel(cells)
    from .compiled import CompiledKernel

    return CompiledKernel(cells)
