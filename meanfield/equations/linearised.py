r"""The pair potential whose gradient law linearises, at the uniform density, as a velocity law with a speed does.

With the drive :math:`h = -W*\rho` and the speed :math:`s_0` at the uniform density it is :math:`s_0 W`. Its
multipliers :math:`w_l = -s_0 h_l` depend on a parameter p of the law by both,

.. math:: \partial_p w_l = -s_0\,\partial_p h_l + w_l\,\partial_p\log s_0 .
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..domains import Domain
from ..potentials import Array, Number, Potential
from .velocity import VelocityLaw


@dataclass(frozen=True)
class AtUniform(Potential):
    """The potential of a law times its speed at the uniform density, with the continuous parameters of the law.

    Parameters
    ----------
    law
        The velocity law, which has ``slopes``.
    speed
        Its speed at the uniform density.
    """

    law: VelocityLaw
    speed: float
    name: ClassVar[str] = "potential at the uniform density"
    formula: ClassVar[str] = "s W"

    @cached_property
    def _multiple(self) -> Potential:
        return self.law.potential * self.speed

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return the values at angles."""
        return self._multiple.values(angle)

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return the slopes at angles."""
        return self._multiple.slope(angle)

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return s w_k, k = 0..degree."""
        return self._multiple.multipliers(domain, degree)

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return a bound of the moduli of the multipliers beyond a degree."""
        return self._multiple.tail_bound(domain, degree)

    def scale(self, domain: Domain) -> Number:
        """Return the largest modulus of the multipliers beyond the mean."""
        return self._multiple.scale(domain)

    def extended_multipliers(self, domain: Domain, degree: int) -> npt.NDArray[np.longdouble]:
        """Return the multipliers over the scale, which do not depend on the speed."""
        return self._multiple.extended_multipliers(domain, degree)

    def parameters(self) -> dict[str, Any]:
        """Return the law by its name and parameters, and the speed."""
        return {"law": {"name": self.law.name, "parameters": self.law.parameters()}, "speed": self.speed}

    def parameter_values(self) -> dict[str, float]:
        """Return the continuous parameters of the law."""
        return self.law.parameter_values()

    def multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        """Return the derivatives of the multipliers in a parameter of the law.

        Raises
        ------
        InvalidInput
            If those of the law are not known.
        """
        changes = self.law.slopes(name, domain, degree)
        derivatives = changes.at_uniform * self.multipliers(domain, degree) - self.speed * changes.drive
        return np.asarray(derivatives)
