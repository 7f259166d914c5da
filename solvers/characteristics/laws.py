r"""Velocity laws :math:`v = \kappa\, s(h, |\nabla h|^2, R)\, \nabla h`, with a zonal convolution h = k * rho.

==============  ==============================  ===================================  =========================
law             k                               s                                    R
==============  ==============================  ===================================  =========================
gradient        :math:`-W`                      1                                    none
softmax         :math:`e^{\beta\cos t}/\beta`   :math:`1/(\beta h)`                  none
normalised      :math:`e^{\beta\cos t}/\beta`   :math:`(|\nabla h|^2+R^2)^{-1/2}`    convolution with
                                                                                     cos t exp(beta cos t)
==============  ==============================  ===================================  =========================

The first is the McKean-Vlasov equation without noise. With the second every token moves towards the mean of all
tokens under the weights of softmax attention, with the third along the normalised output of attention, as in the
normalised transformer.
"""

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from meanfield import Potential, Transformer
from meanfield.domains import Domain

Floats: TypeAlias = NDArray[np.float64]
# Speeds are differentiated by a complex step, so they take and return real or complex arrays.
Numbers: TypeAlias = NDArray[Any]


class VelocityLaw(Protocol):
    """A velocity law, frozen; the coupling is no part of it."""

    @property
    def is_gradient(self) -> bool:
        """Whether s = 1, so that the flow is the gradient flow of the energy that k makes."""
        ...

    def kernels(self, domain: Domain, degree: int) -> tuple[Floats, ...]:
        """Return the multipliers 0, ..., degree of k, and of the kernel of R where the speed depends on R."""
        ...

    def speed(self, field: Numbers, slope_squared: Numbers, radial: Numbers) -> Numbers:
        """Return s at values of h, of the square of its gradient and of R; analytic in all three."""
        ...


@dataclass(frozen=True)
class GradientLaw:
    r"""The velocity :math:`-\kappa\nabla W*\rho` of the McKean-Vlasov equation without noise."""

    potential: Potential

    @property
    def is_gradient(self) -> bool:
        """Whether s = 1, as it is."""
        return True

    def kernels(self, domain: Domain, degree: int) -> tuple[Floats, ...]:
        """Return the multipliers of -W."""
        return (-np.asarray(self.potential.multipliers(domain, degree), dtype=np.float64),)

    def speed(self, field: Numbers, slope_squared: Numbers, radial: Numbers) -> Numbers:
        """Return 1."""
        return np.ones_like(field)


@dataclass(frozen=True)
class SoftmaxLaw:
    """The velocity of softmax attention, the gradient of log(k * rho) over beta."""

    beta: float

    @property
    def is_gradient(self) -> bool:
        """Whether s = 1, as it is not."""
        return False

    def kernels(self, domain: Domain, degree: int) -> tuple[Floats, ...]:
        """Return the multipliers of exp(beta cos t) / beta."""
        return (-np.asarray(Transformer(self.beta).multipliers(domain, degree), dtype=np.float64),)

    def speed(self, field: Numbers, slope_squared: Numbers, radial: Numbers) -> Numbers:
        """Return 1 / (beta h)."""
        return np.asarray(1.0 / (self.beta * field))


@dataclass(frozen=True)
class NormalisedLaw:
    """The velocity of attention whose output is normalised to length one before it is projected."""

    beta: float

    @property
    def is_gradient(self) -> bool:
        """Whether s = 1, as it is not."""
        return False

    def kernels(self, domain: Domain, degree: int) -> tuple[Floats, ...]:
        r"""Return the multipliers of exp(beta cos t) / beta and of its product with beta cos t.

        The second is :math:`\partial_\beta e^{\beta\cos t} = -W - \beta\,\partial_\beta W`.
        """
        potential = Transformer(self.beta)
        first = np.asarray(potential.multipliers(domain, degree), dtype=np.float64)
        change = np.asarray(potential.multiplier_derivatives("beta", domain, degree), dtype=np.float64)
        return -first, -first - self.beta * change

    def speed(self, field: Numbers, slope_squared: Numbers, radial: Numbers) -> Numbers:
        """Return the reciprocal length of the output of attention."""
        return np.asarray(1.0 / np.sqrt(slope_squared + radial * radial))
