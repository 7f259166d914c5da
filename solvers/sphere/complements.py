r"""Perturbations of a state about an axis of a sphere beside those of its own symmetry, by azimuthal order.

The harmonics :math:`\varphi_l^m(u)Y_m(\omega)` of :mod:`solvers.bases.gegenbauer` have no means at such a state for
m > 0, and neither have odd degrees at one even about the equator. The :math:`Y_m` have mean square one, so that
means of products of two of one order, and of those with a function of u, are integrals over u. A rotation moves the
means by :math:`\sqrt{l(l + d - 2)}\,p_l` in order one.
"""

from typing import NamedTuple

import numpy as np

from ..bases import Basis, Floats, Integers
from ..bases.gegenbauer import sector_functions
from ..geometry import Density, Measure


class AzimuthalComplement(NamedTuple):
    """The harmonics of an order in a dimension, of the degrees of a ``parity`` unless that is None."""

    dimension: int
    order: int
    parity: int | None

    @property
    def symmetry(self) -> int:
        """The distance of two neighbouring degrees."""
        return 1 if self.parity is None else 2

    @property
    def rotates(self) -> bool:
        """Whether rotations of the state are among its modes."""
        return self.order == 1 and self.parity != 1

    def degrees(self, last: int) -> Integers:
        """Return the degrees up to a last one."""
        degrees: Integers = np.arange(max(self.order, 1), last + 1)
        return degrees if self.parity is None else degrees[degrees % 2 == self.parity]

    def rotation(self, density: Density, degrees: Integers) -> Floats:
        """Return the derivatives of the means of the modes under rotation of the state."""
        cells = degrees // density.basis.symmetry
        known = cells < density.moments.size
        moments = np.where(known, density.moments.take(cells, mode="clip"), 0.0)
        return np.asarray(np.sqrt(degrees * (degrees + self.dimension - 2.0)) * moments)

    def covariance(self, measure: Measure, degrees: Integers) -> Floats:
        """Return the integrals of products of two modes of some degrees, (size, size)."""
        table = self._table(measure.basis, degrees)
        return np.asarray((table * measure.masses) @ table.T)

    def products(self, measure: Measure, degrees: Integers, chi: Floats, phi: Floats) -> tuple[Floats, float]:
        """Return the integrals of chi phi c, c being the own modes, and of chi phi, sums over ``degrees``."""
        basis, table = measure.basis, self._table(measure.basis, degrees)
        moments = basis.analyse(measure.values * (chi @ table) * (phi @ table))
        return basis.means(moments), moments.item(0)

    @property
    def halves(self) -> bool:
        """Whether a perturbation and its negative are images of each other, and squares are of the own symmetry."""
        return self.order == 0

    def even_moments(self, density: Density, degrees: Integers, phi: Floats) -> tuple[float, float]:
        """Return <phi^2> and <phi^4> of a sum phi over some degrees of order zero."""
        squares, masses = (phi @ self._table(density.basis, degrees)) ** 2, density.masses
        return float(masses @ squares), float(masses @ squares**2)

    def _table(self, basis: Basis, degrees: Integers) -> Floats:
        profiles = basis.profiles
        assert profiles is not None
        table = sector_functions(self.dimension, self.order, profiles.rule, int(degrees[-1]))
        return table[degrees - self.order]


def complements(basis: Basis, last: int) -> tuple[AzimuthalComplement, ...]:
    """Return the orders up to a last degree beside the own modes of states about an axis; none of other states."""
    if basis.profiles is None:
        return ()
    dimension = basis.profiles.domain.dimension
    parities: tuple[int | None, ...] = (None,) if basis.symmetry == 1 else (0, 1)
    found = [AzimuthalComplement(dimension, order, parity) for order in range(last + 1) for parity in parities]
    return tuple(each for each in found if each.order > 0 or each.parity == 1)
