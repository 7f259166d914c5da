r"""Perturbations of a state on a sphere beside those of its own symmetry: by azimuthal order, or by subgroup.

The harmonics :math:`\varphi_l^m(u)Y_m(\omega)` of :mod:`solvers.bases.gegenbauer` have no means at such a state for
m > 0, and neither have odd degrees at one even about the equator. The :math:`Y_m` have mean square one, so that
means of products of two of one order, and of those with a function of u, are integrals over u. A rotation moves the
means by :math:`\sqrt{l(l + d - 2)}\,p_l` in order one.
"""

import functools
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from ..bases import Basis, Floats, Integers, InvariantBasis
from ..bases.gegenbauer import sector_functions
from ..bases.representations import Group
from ..geometry import Density, Measure
from ..significant import even_size
from .subgroups import subgroups


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
    def nested(self) -> bool:
        """False: no two classes have a mode in common."""
        return False

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


class GroupComplement(NamedTuple):
    """The harmonics invariant under a subgroup, without those invariant under the group of a state.

    Attributes
    ----------
    subgroup, group
        The subgroup, and the symmetry of the state, which has no axis.
    """

    subgroup: Group
    group: Group

    @property
    def symmetry(self) -> int:
        """The distance of two neighbouring degrees."""
        return 1

    @property
    def nested(self) -> bool:
        """True: a class has the modes of those of larger subgroups."""
        return True

    @property
    def rotates(self) -> bool:
        """Whether rotations of the state are among its modes."""
        return bool(self.subgroup.free_axes.size)

    @property
    def halves(self) -> bool:
        """False: squares have parts that are not of the own symmetry, which are not eliminated."""
        return False

    def degrees(self, last: int) -> Integers:
        """Return the degrees up to a last one, each as often as there are harmonics of it."""
        every = range(1, last + 1)
        counts = [self.subgroup.dimension(degree) - self.group.dimension(degree) for degree in every]
        return np.repeat(np.array(every, dtype=np.int64), counts)

    def rotation(self, density: Density, degrees: Integers) -> Floats:
        """Return the derivatives of the means of the modes under rotations of the state, (size, k)."""
        modes = _Modes.of(self, density.basis, degrees)
        turned = modes.basis.rotation(modes.moments(density))
        assert turned is not None
        return np.asarray(modes.further @ turned)

    def covariance(self, measure: Measure, degrees: Integers) -> Floats:
        """Return the integrals of products of two modes of some degrees, (size, size)."""
        modes = _Modes.of(self, measure.basis, degrees)
        return np.asarray(modes.further @ modes.basis.covariance(modes.moments(measure)) @ modes.further.T)

    def products(self, measure: Measure, degrees: Integers, chi: Floats, phi: Floats) -> tuple[Floats, float]:
        """Return the integrals of chi phi c, c being the own modes, and of chi phi, sums over ``degrees``."""
        modes = _Modes.of(self, measure.basis, degrees)
        assert isinstance(measure, Density)
        field = modes.basis.synthesise(modes.own.T @ measure.field).copy()
        values = np.exp(field - field.max())
        values /= modes.basis.analyse(values).item(0)
        for function in (chi, phi):
            values *= modes.basis.synthesise(modes.further.T @ function)
        moments = modes.basis.analyse(values)
        return np.asarray(modes.own @ modes.basis.means(moments)), moments.item(0)

    def even_moments(self, density: Density, degrees: Integers, phi: Floats) -> tuple[float, float]:
        """Return <phi^2> and <phi^4> of a sum phi over some degrees."""
        modes = _Modes.of(self, density.basis, degrees)
        field = modes.basis.synthesise(modes.own.T @ density.field).copy()
        values = np.exp(field - field.max())
        squares = modes.basis.synthesise(modes.further.T @ phi) ** 2
        mass, *means = (modes.basis.analyse(values * squares**power).item(0) for power in (0, 1, 2))
        return means[0] / mass, means[1] / mass


class _Modes(NamedTuple):
    """The invariants of a subgroup, and what the own modes and the further ones are among them, as rows."""

    basis: InvariantBasis
    own: Floats
    further: Floats

    @classmethod
    def of(cls, complement: GroupComplement, basis: Basis, degrees: Integers) -> "_Modes":
        """Return those of a basis of the group, and some degrees of the further ones."""
        own, further = np.unique(basis.degrees), np.unique(degrees)
        return _modes(complement, tuple(own.tolist()), tuple(further.tolist()), basis.nodes)

    def moments(self, measure: Measure) -> Floats:
        """Return the moments of a measure with the symmetry of the group in the basis of the subgroup."""
        return self.basis.moments_from(*measure.basis.expand(measure.moments))


@functools.lru_cache(maxsize=16)
def _modes(complement: GroupComplement, own: tuple[int, ...], further: tuple[int, ...], nodes: int) -> _Modes:
    cells = np.union1d(own, further)
    # Products of two modes have degrees up to twice theirs.
    basis = InvariantBasis(complement.subgroup, cells, max(nodes, even_size(2 * int(cells[-1]))))
    of_own, of_further = [], []
    for degree in cells.tolist():
        invariants, smaller = complement.subgroup.harmonics(degree), complement.group.harmonics(degree)
        inside = smaller @ invariants.T
        _, _, rows = np.linalg.svd(inside)
        of_own.append(inside if degree in own else np.zeros((0, len(invariants))))
        of_further.append(rows[len(smaller) :] if degree in further else np.zeros((0, len(invariants))))
    return _Modes(basis, block_diag(*of_own), block_diag(*of_further))


def complements(basis: Basis, last: int) -> tuple[AzimuthalComplement | GroupComplement, ...]:
    """Return the classes up to a last degree beside the own modes of a state.

    The orders, of one about an axis; of others the invariants of subgroups, so that a direction that is simple in
    one of them is that of a branch with this symmetry (equivariant branching lemma).
    """
    if basis.invariants is not None:
        group = basis.invariants.group
        found = [GroupComplement(subgroup, group) for subgroup in subgroups(group)]
        return tuple(each for each in found if each.degrees(last).size)
    if basis.profiles is None:
        return ()
    dimension = basis.profiles.domain.dimension
    parities: tuple[int | None, ...] = (None,) if basis.symmetry == 1 else (0, 1)
    orders = [AzimuthalComplement(dimension, order, parity) for order in range(last + 1) for parity in parities]
    return tuple(each for each in orders if each.order > 0 or each.parity == 1)
