"""The protocol of what is particular to the domain of a simulation.

The loop over steps and replicas, random streams, checkpoints and the gathering of the ensemble are the same
everywhere. A setting has the rest: where particles start, what moves them, which steps are short enough and
what is recorded.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation
from meanfield.harmonics import Layout

from .drift import MomentDrift, PairDrift
from .stepping import Cloud, Clouds
from .streams import Streams
from .timing import Timetable

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

HISTOGRAM_BINS = 128
# Step times the steepest possible slope of the drift, for the step chosen by default. Without noise nothing else
# limits the accuracy: with four drifts a step, 1e-7 of the rate of a cluster.
DEFAULT_SHARE, SHARE_WITHOUT_NOISE = 0.2, 0.05


def default_share(noise: float) -> float:
    """Return the product of the default step and the steepest possible slope of the drift."""
    return DEFAULT_SHARE if noise > 0.0 else SHARE_WITHOUT_NOISE


class Start(Protocol):
    """Protocol of the starts of the particles of a replica."""

    def digest(self) -> str:
        """Return the digest that identifies this start."""


class Starts(NamedTuple):
    """The starts of all replicas, their description in words, and warnings."""

    each: Sequence[Start]
    description: str
    warnings: tuple[str, ...]


class Several(Protocol):
    """Protocol of settings that advance several replicas together; results do not depend on it."""

    def together(self, particles: int) -> int:
        """Return how many replicas are advanced together most cheaply."""

    def clouds(self, positions: Floats, streams: Streams) -> Clouds:
        """Return the particles of several replicas (R, ...)."""

    def record_all(self, clouds: Clouds) -> dict[str, Floats]:
        """Return the recorded values of several replicas, as in ``shapes`` with a first axis for the replicas."""


class Setting(Protocol):
    """A domain with the drift on it; plain and picklable."""

    @property
    def problem(self) -> Equation:
        """The equation."""

    @property
    def drift(self) -> MomentDrift | PairDrift:
        """The method of summing the drift."""

    @property
    def flat(self) -> bool:
        """Whether the domain is flat, so that displacements add up."""

    @property
    def layout(self) -> Layout:
        """Layout of the recorded moments, as in :class:`~meanfield.Ensemble`."""

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the values recorded at a time."""

    def position_shape(self, particles: int) -> tuple[int, ...]:
        """Return the shape of the positions in the record."""

    def with_kernel(self, kernel: str, work: float) -> "Setting":
        """Return the setting with a kernel chosen, if none is, for a number of particle-steps.

        Raises
        ------
        InvalidInput
            If the kernel is unknown or not installed.
        """

    def default_step(self, until: float) -> float:
        """Return the default step."""

    def starts(self, initial: Any, particles: int, replicas: int) -> Starts:
        """Return the starts of all replicas from an initial state.

        Raises
        ------
        InvalidInput
            If the initial state is not admissible.
        """

    def require_steps(self, starts: Sequence[Start], table: Timetable) -> None:
        """Refuse steps that are too long.

        Raises
        ------
        InvalidInput
            If they are too long.
        """

    def placed(self, start: Any, particles: int, generator: np.random.Generator) -> Floats:
        """Return positions at the start, in the form of the cloud."""

    def cloud(self, positions: Floats, generator: np.random.Generator) -> Cloud:
        """Return the particles at positions, with their drift and their noise."""

    @property
    def several(self) -> "Several | None":
        """The setting itself if replicas are advanced together faster than one by one, else None."""

    def record(self, cloud: Cloud) -> dict[str, Floats]:
        """Return the recorded values of the particles, named and shaped as in ``shapes``."""

    def ended(self, positions: Floats) -> tuple[Floats, Counts]:
        """Return the positions at the end, as in the record, and their histogram."""

    def warnings(self, particles: int) -> list[str]:
        """Return the warnings that are known before anything is computed."""

    def identity(self) -> str:
        """Return the text that identifies the drift and its rounding in checkpoints."""

    def described(self) -> dict[str, Any]:
        """Return the options and errors of the drift, for the provenance."""


# How particles move on a domain: the setting of a problem, the drift or None for the cheapest, the degrees to be
# recorded and the number of particles.
Motion = Callable[[Equation, MomentDrift | PairDrift | None, int, int], Setting]
