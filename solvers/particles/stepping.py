r"""What a time-stepping scheme is, and what it is made of: the drift, the noise and the displacements of particles.

The three are independent. Particles know how they move on their domain and what drives them, a scheme for
:math:`dX = b(X)\,dt + \sqrt{2D}\,dB` knows neither. One more is a frozen dataclass in a file of its own, as
:mod:`solvers.particles.leimkuhler_matthews` is, and a line of ``solvers.defaults.SCHEMES``, which gives its name to
the command line.
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
        """Where they are, the particles last; a scheme that needs them after a move copies them."""

    @property
    def passes(self) -> Passes:
        """Quicker ways to take a step, by the class of the scheme: the same step up to rounding."""

    def drift(self, step: float, watched: bool = True) -> Floats:
        """Return the displacements by the drift that all particles make together where they are now.

        Where it is ``watched``, its slope times the step is noted, which says whether the step overshoots: once a
        step, for the whole of it.
        """

    def noise(self, time: float) -> Floats:
        """Return displacements by fresh noise of a time, of variance 2D times it in every direction."""

    def move(self, displacements: Floats) -> None:
        """Move by displacements, on spheres along great circles; they may be overwritten."""

    def place(self, origins: Floats, displacements: Floats) -> None:
        """Put the particles where displacements take others, straight and then back to the domain."""


class Cloud(Particles, Protocol):
    """The particles of a replica."""

    generator: np.random.Generator

    @property
    def positions(self) -> Floats:
        """On the circle (N,), in cells, some turns away; on the sphere (d, N), unit vectors."""

    @property
    def contraction(self) -> float:
        """Largest product of a step and the slope of the drift, inwards, met so far."""


class Clouds(Particles, Protocol):
    """The particles of several replicas, moved by the same calls and otherwise independent.

    Attributes
    ----------
    contractions : (R,) float
        Contraction of each met so far.
    """

    contractions: Floats

    @property
    def rows(self) -> Floats:
        """Positions of each, (R, ...)."""


class Cost(NamedTuple):
    """Evaluations of the drift of all particles in a step, and Gaussian displacements drawn for each."""

    drifts: int
    draws: int


@runtime_checkable
class Scheme(Protocol):
    """A time-stepping scheme with its options, a frozen dataclass."""

    @property
    def name(self) -> str:
        """It in records and on the command line, with its options."""

    @property
    def weak_order(self) -> int:
        """Power of the step in the bias of means at a fixed time."""

    @property
    def stationary_order(self) -> int:
        """Power of the step in the bias of means at rest, at least the weak order."""

    @property
    def curved(self) -> bool:
        """Whether it is a scheme on curved domains too, where displacements do not add up."""

    def cost(self, flat: bool) -> Cost:
        """Return what a step takes, on flat domains or on curved ones."""

    def width_bias(self, share: float, flat: bool) -> float:
        """Return the relative bias of the variance in a force of slope -s, share = s times the step."""

    def advance(self, particles: Particles, step: float) -> None:
        """Advance all particles by one step."""


def advance(scheme: Scheme, particles: Particles, step: float) -> None:
    """Advance particles by a step: by the quicker way that they have for the scheme, or as the scheme makes it."""
    quicker = particles.passes.get(type(scheme))
    if quicker is None:
        scheme.advance(particles, step)
    else:
        quicker(step)


def too_long(step: float, contraction: float) -> str:
    """Say that a step overshoots, and how long it may be."""
    return (
        f"the step {step:g} is too long: the drift is so steep that step * slope = {contraction:.3g} where at most "
        f"{OVERSHOOTING:g} is stable; use a step of at most {0.5 * OVERSHOOTING * step / contraction:.2g}"
    )
