"""What a simulation must know of the domain its particles live on.

The loop over steps and replicas, random streams, checkpoints and the gathering of the ensemble are the same
everywhere. A setting answers the rest: where particles start, what moves them, which steps are short enough and
what is recorded.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from meanfield import McKeanVlasov
from meanfield.harmonics import Layout

from .drift import MomentDrift, PairDrift
from .stepping import Cloud, Clouds
from .streams import Streams
from .timing import Timetable

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

HISTOGRAM_BINS = 128


class Start(Protocol):
    """Where the particles of a replica start."""

    def digest(self) -> str:
        """Tell this start from others."""


class Starts(NamedTuple):
    """Where every replica starts, that in words, and what a reader must know about it."""

    each: Sequence[Start]
    description: str
    warnings: tuple[str, ...]


class Several(Protocol):
    """How several replicas are advanced together; no number depends on it."""

    def together(self, particles: int) -> int:
        """Return how many replicas are best advanced together."""

    def clouds(self, positions: Floats, streams: Streams) -> Clouds:
        """Return the particles of several replicas (R, ...)."""

    def record_all(self, clouds: Clouds) -> dict[str, Floats]:
        """Return what is recorded of each, as in ``shapes`` with a first axis for the replicas."""


class Setting(Protocol):
    """A domain with the drift on it; plain and picklable."""

    @property
    def drift(self) -> MomentDrift | PairDrift:
        """How the drift is summed."""

    @property
    def flat(self) -> bool:
        """Whether the domain is flat, so that displacements add up."""

    @property
    def layout(self) -> Layout:
        """Layout of the recorded moments, as in :class:`~meanfield.Ensemble`."""

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of what is recorded at a time."""

    def position_shape(self, particles: int) -> tuple[int, ...]:
        """Return the shape of the positions in the record."""

    def with_kernel(self, kernel: str, work: float) -> "Setting":
        """Return the setting with a kernel chosen, if that is left open, for so many particle-steps.

        Raises
        ------
        InvalidInput
            If the kernel is unknown or not there.
        """

    def default_step(self, until: float) -> float:
        """Return the step taken if none is given."""

    def starts(self, initial: Any, particles: int, replicas: int) -> Starts:
        """Return where every replica starts.

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
            If they are.
        """

    def placed(self, start: Any, particles: int, generator: np.random.Generator) -> Floats:
        """Return positions at the start, as the cloud holds them."""

    def cloud(self, positions: Floats, generator: np.random.Generator) -> Cloud:
        """Return particles that can be moved."""

    @property
    def several(self) -> "Several | None":
        """How replicas are advanced together, if that is quicker than one by one."""

    def record(self, cloud: Cloud) -> dict[str, Floats]:
        """Return what is recorded of the particles, named and shaped as in ``shapes``."""

    def ended(self, positions: Floats) -> tuple[Floats, Counts]:
        """Return the positions as a record holds them and their histogram."""

    def warnings(self, particles: int) -> list[str]:
        """Return what a reader must know before anything is computed."""

    def identity(self) -> str:
        """Return what tells runs with different numbers apart in a checkpoint."""

    def described(self) -> dict[str, Any]:
        """Return what the drift is made of, for the provenance."""


# How particles move on a domain: the setting of a problem, the drift or None for the cheapest, the degrees to be
# recorded and the number of particles.
Motion = Callable[[McKeanVlasov, MomentDrift | PairDrift | None, int, int], Setting]
