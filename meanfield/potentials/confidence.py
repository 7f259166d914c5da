"""Bounded confidence on the circle and the spheres."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked
from ..domains import Domain
from ..errors import InvalidInput
from .arrays import Array, Number
from .formulas import formulas_of
from .protocol import Potential
from .series import as_number, wrapped


@methods_checked
@dataclass(frozen=True)
class HegselmannKrause(Potential):
    r"""Bounded confidence (noisy Hegselmann-Krause), :math:`W = -\tfrac12 (R - |t|)_+^2`.

    On the circle :math:`w_k = -(2/\pi)(kR - \sin kR)/k^3`. On spheres the multipliers are integrals by quadrature,
    of errors near eps of the largest, in dimensions 3 and 4. The jump of W'' at t = R leaves
    :math:`w_l \sim l^{d/2-4}`, too slow to bound what is beyond a degree usefully in higher dimensions.

    Parameters
    ----------
    radius
        Radius of confidence R, 0 < R <= pi.

    Raises
    ------
    InvalidInput
        If the radius is outside (0, pi]; for the multipliers on a sphere of dimension 5 or more.
    """

    radius: float
    name: ClassVar[str] = "hegselmann-krause"
    formula: ClassVar[str] = "-(1/2) max(radius - abs(t), 0)^2"

    def __post_init__(self) -> None:
        radius = as_number(self.radius, "radius", "in (0, pi]")
        if not 1e-50 <= radius <= math.pi:
            raise InvalidInput(f"radius must be in (0, pi], not {self.radius!r}; try HegselmannKrause(radius=1.0)")
        object.__setattr__(self, "radius", radius)

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return W at the angles."""
        return np.asarray(-0.5 * np.maximum(self.radius - np.abs(wrapped(angle)), 0.0) ** 2)

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return W' at the angles; 0 at the kink t = 0."""
        reduced = wrapped(angle)
        return np.asarray(np.sign(reduced) * np.maximum(self.radius - np.abs(reduced), 0.0))

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_0, ..., w_degree, on the circle w_0 = -R^3/(6 pi)."""
        return formulas_of(domain).confidence(self.radius).multipliers(int(degree))

    def extended_multipliers(self, domain: Domain, degree: int) -> npt.NDArray[np.longdouble]:
        """Return w_k / scale for k = 1..degree behind a leading 0."""
        formula = formulas_of(domain).confidence(self.radius)
        relative = formula.relative(int(degree), lambda: self.scale(domain))
        relative[0] = 0.0
        return relative

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return the modulus of w_(degree+1) on the circle, on spheres a bound from the Laplacian of W."""
        return formulas_of(domain).confidence(self.radius).bound(int(degree) + 1)

    def multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        r"""Return the derivatives in the radius: the multipliers of :math:`-(R - |t|)_+`.

        The boundary at t = R adds nothing, where W and W' vanish. On the circle
        :math:`w_k' = -\frac4\pi \sin^2(kR/2)/k^2` and :math:`w_0' = -R^2/(2\pi)`; on spheres integrals by the
        quadrature of the multipliers.
        """
        self._require_parameter(name)
        return formulas_of(domain).confidence(self.radius).derivatives(int(degree))

    def parameters(self) -> dict[str, Any]:
        """Return the radius."""
        return {"radius": self.radius}
