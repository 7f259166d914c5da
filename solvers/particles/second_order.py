"""A scheme of weak order 2: Platen's where displacements add up, a splitting of Strang where they do not."""

from dataclasses import dataclass
from typing import ClassVar

from meanfield.arguments import checked

from .stepping import Cost, Particles


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

    name: ClassVar[str] = "weak-second-order"
    weak_order: ClassVar[int] = 2
    stationary_order: ClassVar[int] = 2
    curved: ClassVar[bool] = True

    def cost(self, flat: bool) -> Cost:
        """Return the evaluations of the drift and the draws of noise in a step."""
        return Cost(drifts=2, draws=1 if flat else 2)

    def width_bias(self, share: float, flat: bool) -> float:
        """Return the modulus of the relative bias of the variance in a force of slope -s, share = sh."""
        return _platen_bias(share) if flat else _strang_bias(share)

    def advance(self, particles: Particles, step: float) -> None:
        """Advance all particles by one step."""
        if particles.flat:
            _platen(particles, step)
        else:
            _strang(particles, step)


def _platen(particles: Particles, step: float) -> None:
    start = particles.places.copy()
    first, noise = particles.drift(step), particles.noise(step)
    particles.move(first + noise)
    particles.place(start, 0.5 * (first + particles.drift(step, watched=False)))
    particles.move(noise)


def _strang(particles: Particles, step: float) -> None:
    particles.move(particles.noise(0.5 * step))
    start = particles.places.copy()
    particles.place(start, particles.drift(0.5 * step, watched=False))
    particles.place(start, particles.drift(step))
    particles.move(particles.noise(0.5 * step))


def _platen_bias(share: float) -> float:
    r"""Return :math:`2a(1-a/2)^2/(1-(1-a+a^2/2)^2) - 1`, :math:`1-(1-a+a^2/2)^2 = a(1-a/2)(2-a(1-a/2))`."""
    half = 1.0 - 0.5 * share
    return abs(2.0 * half**2 / max(half * (2.0 - share * half), 1e-3) - 1.0)


def _strang_bias(share: float) -> float:
    r"""Return :math:`a\frac{1+f^2}{1-f^2} - 1`, a = sh: factors :math:`f = 1 - a + a^2/2`."""
    if share <= 0.0:
        return 0.0
    square = (1.0 - share + 0.5 * share**2) ** 2
    return abs(share * (1.0 + square) / max(1.0 - square, 1e-3 * share) - 1.0)
