"""Spaces of densities that evolve among themselves: what an evolution asks of the domain it runs on."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from meanfield import McKeanVlasov, State
from meanfield.harmonics import Modes

from ..bases import Floats
from .descent import Descent
from .initial import Initial
from .rest import Rest
from .system import System


class Space(Protocol):
    """Densities of one kind: all on the circle, those with an axis on a sphere, all on the ordinary sphere.

    Attributes
    ----------
    modes
        What their moments mean.
    axis : float or Floats
        How the initial density was turned, to be undone in the record.
    multistep : bool
        Whether a Jacobian, and with it LSODA, is affordable.
    unsearched : str
        What a sentence adds about stationary states that are not looked for.
    """

    @property
    def modes(self) -> Modes:
        """What their moments mean."""
        ...

    @property
    def axis(self) -> float | Floats:
        """How the initial density was turned."""
        ...

    @property
    def multistep(self) -> bool:
        """Whether a Jacobian is affordable."""
        ...

    @property
    def unsearched(self) -> str:
        """What a sentence adds about stationary states that are not looked for."""
        ...

    def system(self, problem: McKeanVlasov, start: Initial, degree: int, full: bool) -> System:
        """Return the smallest system that holds a density and keeps holding it; with ``full`` one for all.

        Moments that vanish exactly by a symmetry of the equation stay so. ``degree`` is counted without symmetry.
        """
        ...

    def system_of(self, problem: McKeanVlasov, even: bool, degree: int, symmetry: int) -> System:
        """Return a system by its sizes."""
        ...

    def curvature(self, problem: McKeanVlasov, degree: int) -> float | None:
        r"""Return half the curvature of the field of a point, :math:`\sum_k k^2\lambda_k` of attractive modes.

        None where no guess of the resolution is made from it.
        """
        ...

    def descent(self, problem: McKeanVlasov, cosine: Floats, sine: Floats, accuracy: float) -> Descent:
        """Return free energy, dissipation and extreme values of densities (T, n)."""
        ...

    def state_near(self, problem: McKeanVlasov, cosine: Floats, sine: Floats) -> Rest | None:
        """Return the stationary state nearest to a density, or None if none is found near."""
        ...

    def distance(self, state: State, cosine: Floats, sine: Floats) -> float:
        """Return the distance of a density from a state, modulo the rotations that the equation allows."""
        ...

    def recorded(self, cosine: Floats, sine: Floats) -> tuple[Floats, Floats, Modes]:
        """Return moments (T, n) turned back, and what they mean then."""
        ...


class Room(NamedTuple):
    """Evolution on a domain: how initial densities become moments, and the space that holds one of them.

    Attributes
    ----------
    moments_of
        Function of a problem and an initial density in any of its forms.
    space_for
        Function of a problem, the moments and whether all moments shall be unknown, which returns the space and the
        density turned onto its axis where it has one.
    """

    moments_of: Callable[[McKeanVlasov, object], Initial]
    space_for: Callable[[McKeanVlasov, Initial, bool], tuple[Space, Initial]]
