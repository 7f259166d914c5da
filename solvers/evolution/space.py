"""The protocol of spaces of densities that evolve among themselves, for every domain."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from meanfield import Equation, State
from meanfield.harmonics import Modes

from ..bases import Floats
from .descent import Descent
from .flow import Flow
from .initial import Initial
from .rest import Rest
from .system import System


class Space(Protocol):
    """Densities of one kind: all on the circle, those with an axis on a sphere, all on the ordinary sphere.

    Attributes
    ----------
    modes
        The modes of their moments.
    axis : float or Floats
        Rotation of the initial density, to be undone in the record.
    multistep : bool
        Whether a Jacobian, and with it LSODA, is affordable.
    unsearched : str
        Addition to sentences about stationary states that are not searched for.
    """

    @property
    def modes(self) -> Modes:
        """The modes of their moments."""
        ...

    @property
    def axis(self) -> float | Floats:
        """Rotation of the initial density."""
        ...

    @property
    def multistep(self) -> bool:
        """Whether a Jacobian is affordable."""
        ...

    @property
    def unsearched(self) -> str:
        """Addition to sentences about stationary states that are not searched for."""
        ...

    def system(self, problem: Equation, start: Initial, degree: int, full: bool) -> System:
        """Return the smallest system whose symmetry a density has and keeps; with ``full`` that of all densities.

        Moments that vanish exactly by a symmetry of the equation stay so. ``degree`` is counted without symmetry.
        """
        ...

    def system_of(self, problem: Equation, even: bool, degree: int, symmetry: int) -> System:
        """Return the system of a degree and a symmetry, of even densities or of all."""
        ...

    def curvature(self, problem: Equation, degree: int) -> float | None:
        r"""Return half the curvature of the field of a point, :math:`\sum_k k^2\lambda_k` of attractive modes.

        None if no guess of the resolution is made from it.
        """
        ...

    def harmonic(self, problem: Equation, start: Initial) -> int | None:
        """Return the only degree of a potential by which a density evolves under Moebius maps, or None."""
        ...

    def flow(self, problem: Equation, start: Initial, full: bool) -> Flow | None:
        """Return the flow of a density by a velocity law with a drive; None for densities with more than one angle.

        Raises
        ------
        InvalidInput
            If the field has too many degrees.
        """
        ...

    def descent(self, problem: Equation, cosine: Floats, sine: Floats, accuracy: float) -> Descent:
        """Return free energy, dissipation and extreme values of densities (T, n)."""
        ...

    def state_near(self, problem: Equation, cosine: Floats, sine: Floats) -> Rest | None:
        """Return the stationary state nearest to a density, or None if no state is found near it."""
        ...

    def distance(self, state: State, cosine: Floats, sine: Floats) -> float:
        """Return the distance of a density from a state, modulo the rotations that the equation allows."""
        ...

    def recorded(self, cosine: Floats, sine: Floats) -> tuple[Floats, Floats, Modes]:
        """Return moments (T, n) rotated back, and their modes."""
        ...


class EvolutionSpaces(NamedTuple):
    """Evolution on a domain: the moments of initial densities, and their spaces.

    Attributes
    ----------
    moments_of
        Function of a problem and an initial density in any of its forms.
    space_for
        Function of a problem, the moments and whether all moments shall be unknown, which returns the space and the
        density turned onto its axis where it has one.
    """

    moments_of: Callable[[Equation, object], Initial]
    space_for: Callable[[Equation, Initial, bool], tuple[Space, Initial]]
