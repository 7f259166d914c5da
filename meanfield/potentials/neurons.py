r"""The interaction of unit neurons of a two-layer network, the arc-cosine kernel of first order.

A network of rectified neurons :math:`f(x) = \int \langle x, w\rangle_+\,d\rho(w)`, inputs x and weights w on the
circle, that fits a function :math:`f^*` on uniform inputs has the loss

.. math:: \tfrac12\,\mathbb E (f^* - f)^2 = \mathrm{const} + \int V\,d\rho + \tfrac12\iint W\,d\rho\,d\rho, \qquad
          W = \mathbb E\,\langle x, w\rangle_+ \langle x, w'\rangle_+, \qquad
          V = -\mathbb E\, f^*(x)\,\langle x, w\rangle_+ ,

with :math:`W = ((\pi - t)\cos t + \sin t)/(4\pi)`, :math:`0 \le t \le \pi` (Cho and Saul, NeurIPS 2009), whose
coefficients are :math:`w_0 = c_0^2` and :math:`w_m = 2c_m^2` with those :math:`c_0 = 1/\pi`, :math:`c_1 = 1/4`,
:math:`c_{2j} = (-1)^{j+1}/(\pi(4j^2-1))` of a neuron: odd degrees from 3 on cannot be learned. All repel, so that
with noise there is one stationary state.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked
from ..domains import Domain
from ..harmonics.gegenbauer import Extended
from .arrays import Array, Number
from .formulas import formulas_of
from .protocol import Potential
from .series import wrapped


@methods_checked
@dataclass(frozen=True)
class ArcCosine(Potential):
    r"""The arc-cosine kernel of first order, :math:`W = ((\pi - t)\cos t + \sin t)/(4\pi)`, on the circle.

    It is repulsive: the interaction of the unit neurons of a two-layer network on uniform inputs, see
    :func:`~meanfield.equations.two_layer`.
    """

    name: ClassVar[str] = "arc-cosine"
    formula: ClassVar[str] = "((pi - t) cos t + sin t)/(4 pi)"

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return W at the angles."""
        distance = np.abs(wrapped(angle))
        return np.asarray(((np.pi - distance) * np.cos(distance) + np.sin(distance)) / (4 * np.pi))

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return -(pi - abs(t)) sin(t)/(4 pi)."""
        reduced = wrapped(angle)
        return np.asarray(-(np.pi - np.abs(reduced)) * np.sin(reduced) / (4 * np.pi))

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_0, ..., w_degree."""
        return formulas_of(domain).arc_cosine(int(degree)).astype(np.float64)

    def extended_multipliers(self, domain: Domain, degree: int) -> Extended:
        """Return w_k / w_1 for k = 1..degree behind a leading 0."""
        relative = 8 * formulas_of(domain).arc_cosine(int(degree))
        relative[0] = 0
        return relative

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return the multiplier of the next even degree, 1/8 before degree 1."""
        return float(formulas_of(domain).arc_cosine(int(degree) + 2)[int(degree) + 1 :].max())

    def parameters(self) -> dict[str, Any]:
        """Return an empty dictionary, since there are no parameters."""
        return {}
