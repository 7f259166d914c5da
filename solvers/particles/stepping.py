r"""The protocols of time-stepping schemes, and of the drift, the noise and the displacements of particles.

The three are independent. Particles implement the motion on their domain and the forces, a scheme for
:math:`dX = b(X)\,dt + \sqrt{2D}\,dB` uses neither. One more is a frozen dataclass in a file of its own, as
:mod:`solvers.particles.leimkuhler_matthews` is, and a line of ``solvers.execution.defaults.SCHEMES``, which gives
its name to the command line.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .drift import OVERSHOOTING

Floats = NDArray[np.float64]
Passes: TypeAlias = Mapping[type, Callable[[float], None]]


class Particles(Protocol):
    """Particles between two steps, as a scheme sees them.

    Attributes
    ----------
    carried
        What a scheme keeps from one step to the next: displacements, or arrays without an axis. It is empty at the
        start and saved with the positions. Places do not belong there: particles are wrapped round the circle.
    """

    carried: dict[str, Floats]

    @property
    def flat(self) -> bool:
        """Whether the domain is flat, so that displacements add up in any order."""

    @property
    def places(self) -> Floats:
        """Positions, with particles along the last axis; a scheme that needs them after a move copies them."""

    @property
    def passes(self) -> Passes:
        """Faster steps by the class of the scheme, the same up to rounding."""

    def drift(self, step: float, watched: bool = True) -> Floats:
        """Return the displacements of a step by the drift of all particles at their positions.

        Where it is ``watched``, its slope times the step is noted, which says whether the step overshoots: once a
        step, for the whole of it.
        """

    def noise(self, time: float) -> Floats:
        """Return displacements by new noise of a duration, of variance 2D times it in every direction."""

    def move(self, displacements: Floats) -> None:
        """Move the particles by displacements, which may be overwritten, on spheres along great circles."""

    def place(self, origins: Floats, displacements: Floats) -> None:
        """Set the positions to origins plus displacements, projected to the domain."""


class Cloud(Particles, Protocol):
    """The particles of a replica."""

    generator: np.random.Generator

    @property
    def positions(self) -> Floats:
        """Positions: (N,) on the circle, in units of cells, on any turn; (d, N) on spheres, unit vectors."""

    @property
    def contraction(self) -> float:
        """Largest product so far of a step and the slope of the drift, inwards."""


class Clouds(Particles, Protocol):
    """The particles of several replicas, moved by the same calls and otherwise independent.

    Attributes
    ----------
    contractions : (R,) float
        Contraction of each replica so far.
    """

    contractions: Floats

    @property
    def rows(self) -> Floats:
        """Positions of each replica, (R, ...)."""


class Cost(NamedTuple):
    """Evaluations of the drift of all particles in a step, and Gaussian displacements drawn for each."""

    drifts: int
    draws: int


@runtime_checkable
class Scheme(Protocol):
    """A time-stepping scheme with its options, a frozen dataclass."""

    @property
    def name(self) -> str:
        """Name of the scheme in records and on the command line, with its options."""

    @property
    def weak_order(self) -> int:
        """Power of the step in the bias of means at a fixed time."""

    @property
    def stationary_order(self) -> int:
        """Power of the step in the bias of means at rest, at least the weak order."""

    @property
    def curved(self) -> bool:
        """Whether it applies on curved domains too, where displacements do not add up."""

    def cost(self, flat: bool) -> Cost:
        """Return the evaluations of the drift and the draws of noise in a step, on flat or curved domains."""

    def width_bias(self, share: float, flat: bool) -> float:
        """Return the relative bias of the variance in a force of slope -s, share = s times the step."""

    def advance(self, particles: Particles, step: float) -> None:
        """Advance all particles by one step."""


def advance(scheme: Scheme, particles: Particles, step: float) -> None:
    """Advance particles by one step, by their faster step for the class of the scheme if they have one."""
    quicker = particles.passes.get(type(scheme))
    if quicker is None:
        scheme.advance(particles, step)
    else:
        quicker(step)


def too_long(step: float, contraction: float) -> str:
    """Return the sentence that a step overshoots, with an admissible step."""
    return (
        f"the step {step:g} is too long: the drift is so steep that step * slope = {contraction:.3g} where at most "
        f"{OVERSHOOTING:g} is stable; use a step of at most {0.5 * OVERSHOOTING * step / contraction:.2g}"
    )
