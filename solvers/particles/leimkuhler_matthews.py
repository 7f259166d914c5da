r"""The scheme of Leimkuhler and Matthews: at the cost of Euler-Maruyama, means at rest of order 2.

.. math:: X_{n+1} = X_n + h\,b(X_n) + \sqrt{2Dh}\,\tfrac12(\xi_n + \xi_{n+1}) .

B. Leimkuhler and C. Matthews, Applied Mathematics Research eXpress 2013, 34-56; with M. Tretyakov, Proc. R. Soc. A
470, 20140120 (2014), where the bias at a time t is of order :math:`h e^{-\lambda t} + h^2`. The order at rest holds
for drifts that are gradients, as that of all particles together is.

What is carried from one step to the next is the noise :math:`\xi_{n+1}`, half of which is still to come. Between
steps of lengths g and h its other part is

.. math:: \sqrt{2D}\,\Bigl(\sqrt{\tfrac34 h + \tfrac14 g} - \tfrac12\sqrt g\Bigr)\,\xi_n ,

half of it for g = h: so noise alone is Brownian motion at every step, whatever the lengths. The first step is one
after a step of length 0, and its law that of Euler-Maruyama.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from meanfield.arguments import checked

from .stepping import Cost, Particles


@checked
@dataclass(frozen=True)
class LeimkuhlerMatthews:
    r"""Leimkuhler-Matthews on the circle, one drift a step: weak order 1, and order 2 at rest.

    .. math:: X_{n+1} = X_n + h\,b(X_n) + \sqrt{2Dh}\,\tfrac12(\xi_n + \xi_{n+1}) .

    For stationary means rather than for transients. The variance in a linear force is exact at rest.
    """

    name: ClassVar[str] = "leimkuhler-matthews"
    weak_order: ClassVar[int] = 1
    stationary_order: ClassVar[int] = 2
    curved: ClassVar[bool] = False

    def cost(self, flat: bool) -> Cost:
        """Return the evaluations of the drift and the draws of noise in a step; the first draws once more."""
        return Cost(drifts=1, draws=1)

    def width_bias(self, share: float, flat: bool) -> float:
        """Return 0, the relative bias of the variance in a linear force at rest."""
        return 0.0

    def advance(self, particles: Particles, step: float) -> None:
        """Advance all particles by one step."""
        carried = particles.carried
        if carried:
            share, noise = math.sqrt(0.75 * step / float(carried["step"]) + 0.25) - 0.5, carried.pop("noise")
        else:
            share, noise = math.sqrt(0.75), particles.noise(step)
        displacements = particles.drift(step)
        # In place: of many particles no more arrays are held than in other schemes.
        noise *= share
        displacements += noise
        noise = particles.noise(step)
        displacements += 0.5 * noise
        particles.move(displacements)
        carried.update(noise=noise, step=np.asarray(step))
