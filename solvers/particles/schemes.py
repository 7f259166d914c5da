r"""Time-stepping schemes for :math:`dX = b(X)\,dt + \sqrt{2D}\,dB` with noise that does not depend on the state."""

from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from meanfield import InvalidInput
from meanfield.arguments import checked

from ..defaults import EULER_MARUYAMA, WEAK_SECOND_ORDER
from .drift import OVERSHOOTING


class Steps(Protocol):
    """What a scheme asks of particles."""

    def euler(self, step: float) -> None:
        """Advance by the drift and the noise of a step, weak order 1."""

    def second_order(self, step: float) -> None:
        """Advance by a step of weak order 2."""


class Cloud(Steps, Protocol):
    """The particles of a replica."""

    generator: np.random.Generator

    @property
    def positions(self) -> NDArray[np.float64]:
        """On the circle (N,), in cells, some turns away; on the sphere (d, N), unit vectors."""

    @property
    def contraction(self) -> float:
        """Largest product of a step and the slope of the drift, inwards, met so far."""


class Clouds(Steps, Protocol):
    """The particles of several replicas, moved by the same calls and otherwise independent.

    Attributes
    ----------
    rows : (R, ...) float
        Positions of each.
    contractions : (R,) float
        Contraction of each met so far.
    """

    rows: NDArray[np.float64]
    contractions: NDArray[np.float64]


@checked
@dataclass(frozen=True)
class EulerMaruyama:
    r"""Euler-Maruyama, weak order 1, one drift a step.

    .. math:: X_{n+1} = X_n + h\,b(X_n) + \sqrt{2Dh}\,\xi_n .

    On a sphere the displacement is a tangent vector that is followed along its great circle, and the variance of
    its random part is chosen so that noise alone has the right mean direction, :math:`E X \propto e^{-(d-1)Dt}`.
    """

    name: ClassVar[str] = EULER_MARUYAMA
    weak_order: ClassVar[int] = 1

    def advance(self, cloud: Steps, step: float) -> None:
        """Advance all particles by one step."""
        cloud.euler(step)

    def width_bias(self, share: float) -> float:
        r"""Relative bias of the variance in a force of slope -s, :math:`1/(1 - sh/2) - 1`, share = sh."""
        return 1.0 / max(1.0 - 0.5 * share, 1e-3) - 1.0


@checked
@dataclass(frozen=True)
class WeakSecondOrder:
    r"""Platen's explicit scheme of weak order 2 for additive noise, two drifts a step.

    .. math:: Y = X_n + h\,b(X_n) + \sqrt{2Dh}\,\xi_n, \qquad
              X_{n+1} = X_n + \tfrac h2 \bigl(b(X_n) + b(Y)\bigr) + \sqrt{2Dh}\,\xi_n ,

    Kloeden and Platen, Numerical Solution of Stochastic Differential Equations (1992), section 15.1. The drift at
    Y is that of all the particles' Y together.

    On a sphere, where displacements do not commute, half of the noise comes first, then the drift by the midpoint
    rule, then the other half of the noise: a splitting of Strang, of weak order 2 as well.
    """

    name: ClassVar[str] = WEAK_SECOND_ORDER
    weak_order: ClassVar[int] = 2

    def advance(self, cloud: Steps, step: float) -> None:
        """Advance all particles by one step."""
        cloud.second_order(step)

    def width_bias(self, share: float) -> float:
        r"""Relative bias of the variance in a force of slope -s, share = sh.

        The exact :math:`2a(1-a/2)^2/(1-(1-a+a^2/2)^2) - 1` for a = sh, in modulus, with
        :math:`1-(1-a+a^2/2)^2 = a(1-a/2)(2-a(1-a/2))`.
        """
        half = 1.0 - 0.5 * share
        return abs(2.0 * half**2 / max(half * (2.0 - share * half), 1e-3) - 1.0)


Scheme: TypeAlias = EulerMaruyama | WeakSecondOrder
SCHEMES: dict[str, type[Scheme]] = {kind.name: kind for kind in (EulerMaruyama, WeakSecondOrder)}


def scheme_named(name: str) -> Scheme:
    """Return the scheme of a name.

    Raises
    ------
    InvalidInput
        If there is none.
    """
    if name not in SCHEMES:
        raise InvalidInput(f"unknown scheme {name!r}; known: {', '.join(SCHEMES)}")
    return SCHEMES[name]()


def too_long(step: float, contraction: float) -> str:
    """Say that a step overshoots, and how long it may be."""
    return (
        f"the step {step:g} is too long: the drift is so steep that step * slope = {contraction:.3g} where at most "
        f"{OVERSHOOTING:g} is stable; use a step of at most {0.5 * OVERSHOOTING * step / contraction:.2g}"
    )
