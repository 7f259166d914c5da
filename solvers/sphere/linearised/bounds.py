r"""A lower bound on the decay rates of all azimuthal orders not computed yet.

In a sector the rates are the eigenvalues of :math:`H^{1/2} C H^{1/2}`, at least :math:`c\,h` where
:math:`C \ge c \ge 0` and :math:`H \ge h`. Both bounds hold for all higher sectors at once.

- For functions of u, H of order m is the form :math:`\int\rho\,[(1-u^2) h'^2 + m(m+d-3) h^2/(1-u^2)]`, which grows
  with m by at least :math:`m(m+d-3)`'s own growth since :math:`1-u^2 \le 1`.
- The attractive degrees, sigma_l > 0, take from C/D at most the trace
  :math:`\sum_{l\ge m}\sigma_l \langle(\varphi_l^m)^2\rangle_\rho`. By the addition theorem
  :math:`\sum_m \dim_m\, (\varphi_l^m)^2 = 1`, dim_m harmonics of degree m on :math:`S^{d-2}`, so the sectors
  computed leave a share of each degree to the others, each of which is repeated at least dim_m times. Beyond
  some degree :math:`\max \lambda_l \cdot \sup |S|\rho` is the better bound; the best degree is chosen.
"""

import numpy as np
from numpy.typing import NDArray

from ...bases import EPS, Floats
from .fields import ZonalField
from .interaction import repetitions
from .sectors import SectorMatrices, accumulated


class SectorBounds:
    """Bounds of the sectors not computed yet; sectors are computed in the order m = 0, 1, 2, ...

    Parameters
    ----------
    field
        The field of the state, or of several.
    """

    def __init__(self, field: ZonalField) -> None:
        self._field = field
        self._attraction = np.maximum(field.strengths, 0.0)
        self._left = np.ones_like(field.strengths)
        self._bottom = np.zeros(field.strengths.shape[:-1])
        self._grams: list[tuple[Floats, float]] = []

    def visit(self, sector: SectorMatrices, elsewhere: float) -> None:
        """Add a computed sector, with a lower bound of H, in units of D, off the span of its polynomials."""
        order, dimension = sector.order, self._field.dimension
        seen = min(self._left.shape[-1], order + sector.shares.shape[-1])
        self._left[..., order:seen] -= repetitions(dimension, order) * sector.shares[..., : seen - order]
        if order:
            self._grams.append((sector.gram, elsewhere))

    def above(self, order: int, level: float | Floats) -> NDArray[np.bool_]:
        """Return whether all rates in the sectors from an order on, one more than the last visited, reach a level.

        False where nothing is known.
        """
        left = self._left_of_one(order)
        above = (left >= 0.0) & (left * self._own(order) >= level)
        # What is known of H in the sectors seen costs more, and is rarely of use.
        return np.asarray(above if np.all(above | (left < 0.0)) else self.rate(order) >= level)

    def rate(self, order: int) -> Floats:
        """Return the lower bound on the decay rates of all azimuthal orders not computed yet, from ``order`` on.

        In units of 1/time; minus infinity if no bound is known.
        """
        left = self._left_of_one(order)
        return np.where(left >= 0.0, left * self._grown(order), -np.inf)

    def _left_of_one(self, order: int) -> Floats:
        """Return a lower bound of C, in units of 1/time, in the sectors from an order on."""
        remaining = self._attraction * np.maximum(self._left, 0.0)
        traces = accumulated(remaining[..., order:]) / repetitions(self._field.dimension, order)
        taken = np.min(traces + self._field.beyond(order, self._attraction), axis=-1)
        return np.asarray(self._field.noise * (1.0 - taken))

    def _own(self, order: int) -> float:
        """Return the lower bound of H, in units of D, that an order has by itself."""
        return float(order * (order + self._field.dimension - 3))

    def _grown(self, order: int) -> float | Floats:
        """Return a lower bound of H, in units of D, in the sectors from an order on, from that in those before."""
        if order <= 1:
            return self._own(order)
        return np.maximum(self._own(order), self._lowest() + 2 * order + self._field.dimension - 4)

    def _lowest(self) -> Floats:
        """Return a lower bound of H, in units of D, in the last sectors visited."""
        for gram, elsewhere in self._grams:
            rounding = EPS * np.trace(gram, axis1=-2, axis2=-1)
            lowest = np.linalg.eigvalsh(gram)[..., 0] - rounding
            self._bottom = np.maximum(self._bottom, np.minimum(lowest, elsewhere))
        self._grams.clear()
        return self._bottom

    def part(self, kept: NDArray[np.bool_]) -> "SectorBounds":
        """Return the bounds for some of several states."""
        result = SectorBounds(self._field.part(kept))
        result._left, result._bottom = self._left[kept], self._bottom[kept]
        result._grams = [(gram[kept], elsewhere) for gram, elsewhere in self._grams]
        return result
