r"""Perturbations of a state on a sphere beside those of its own symmetry: by azimuthal order, or by subgroup.

The harmonics :math:`\varphi_l^m(u)Y_m(\omega)` of :mod:`solvers.bases.gegenbauer` have no means at such a state for
m > 0, and neither have odd degrees at one even about the equator. The :math:`Y_m` have mean square one, so that
means of products of two of one order, and of those with a function of u, are integrals over u. A rotation moves the
means by :math:`\sqrt{l(l + d - 2)}\,p_l` in order one.
"""

import functools
import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from meanfield.domains import unit_sphere

from ..bases import Basis, Floats, Integers, InvariantBasis
from ..bases.confining import ConfiningField
from ..bases.gegenbauer import sector_functions
from ..bases.representations import Group
from ..equations.geometry import Density, Measure
from ..equations.significant import even_size
from .groups import breaking_group
from .subgroups import larger_by_two, subgroups

NO_DEGREES = np.zeros(0, dtype=np.int64)


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

    def rotates(self, confined: bool) -> bool:
        """Return whether rotations of the state are among its modes; those about the axis leave it as it is."""
        return self.order == 1 and self.parity != 1 and not confined

    def degrees(self, last: int) -> Integers:
        """Return the degrees up to a last one."""
        degrees: Integers = np.arange(max(self.order, 1), last + 1)
        return degrees if self.parity is None else degrees[degrees % 2 == self.parity]

    def rotation(self, density: Measure, degrees: Integers) -> Floats:
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
    def pitchfork(self) -> bool:
        """Whether a perturbation and its negative are images of each other.

        Reflected, or turned about the axis, as those of even orders are where they are all alike.
        """
        return self._alike or self.order % 2 == 1

    @property
    def born(self) -> Group | None:
        """The symmetry of the states born on the ordinary sphere, which have no axis; None of other ones."""
        without_axis = self.order > 0 and unit_sphere(self.dimension).has_azimuth
        return breaking_group(self.order, self.parity) if without_axis else None

    @property
    def born_symmetry(self) -> int:
        """The symmetry of the states born in order zero, which keep the axis; zero of others."""
        return 0 if self.order else 1

    @property
    def odd(self) -> bool:
        """False: a zonal state has one axis."""
        return False

    @property
    def uneven(self) -> bool:
        """False: densities without an axis have a symmetry group here."""
        return False

    @property
    def squares(self) -> "AzimuthalComplement | None":
        """The class of twice the order; None of order zero."""
        if self.order == 0:
            return None
        return AzimuthalComplement(self.dimension, 2 * self.order, None if self.parity is None else 0)

    @property
    def quarters(self) -> bool:
        """False: one class has one kind of branches."""
        return False

    @property
    def thirds(self) -> bool:
        """False: there is no symmetry but an axis."""
        return False

    @property
    def untold(self) -> str:
        """Why the shape of the branches born as pitchforks is not known; empty if it is."""
        if self.pitchfork and not self._alike:
            return f"those born in azimuthal order {self.order} on S^{self.dimension - 1} have several symmetries"
        return ""

    def nodes(self, basis: Basis, degrees: Integers) -> int:
        """Return how many nodes of a basis resolve products of four sums over some degrees."""
        return basis.nodes

    def integral(self, measure: Measure, degrees: Integers, factors: Floats) -> float:
        """Return the integral of the product of two or four sums over some degrees, (k, size)."""
        power = self._fourth if len(factors) == 4 else 1.0
        return power * float(measure.masses @ np.prod(factors @ self._table(measure.basis, degrees), axis=0))

    def square_products(
        self, measure: Measure, degrees: Integers, chi: Floats, phi: Floats, further: Integers
    ) -> Floats:
        r"""Return the integrals of chi phi c, c being the modes of some degrees of the class of squares.

        The part of :math:`Y^2` there is :math:`(\langle Y^4\rangle - 1)^{1/2}` times one of unit mean square.
        """
        assert self.squares is not None
        table, basis = self._table(measure.basis, degrees), measure.basis
        squares = measure.masses * (chi @ table) * (phi @ table)
        return np.asarray(math.sqrt(self._fourth - 1.0) * (self.squares._table(basis, further) @ squares))

    @property
    def _alike(self) -> bool:
        """Whether all harmonics of the order are images of each other under rotations about the axis."""
        return self.order <= 1 or unit_sphere(self.dimension - 1).multiplicity(self.order) == 2

    @property
    def _fourth(self) -> float:
        """The mean of Y^4, Y of unit mean square being that of order zero or one, on the ordinary sphere of any."""
        across = self.dimension - 1
        return 3.0 * across / (across + 2.0) if self.order else 1.0

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
    held_by
        A field whose symmetries rotations keep; None if all do.
    """

    subgroup: Group
    group: Group
    held_by: ConfiningField | None

    @property
    def symmetry(self) -> int:
        """The distance of two neighbouring degrees."""
        return 1

    @property
    def nested(self) -> bool:
        """True: a class has the modes of those of larger subgroups."""
        return True

    def rotates(self, confined: bool) -> bool:
        """Return whether rotations of the state are among its modes, those that ``held_by`` admits."""
        return bool(self.subgroup.free_among(None if self.held_by is None else self.held_by.axes).size)

    @property
    def pitchfork(self) -> bool:
        """Whether a perturbation and its negative are images of each other, by an element of the group.

        Of a direction that is simple here, and in no larger subgroup.
        """
        return larger_by_two(self.subgroup, self.group) is not None

    @property
    def born(self) -> Group:
        """The symmetry of the states born."""
        return self.subgroup

    @property
    def born_symmetry(self) -> int:
        """Zero: the states born have no axis."""
        return 0

    @property
    def odd(self) -> bool:
        """False: the state has no axis."""
        return False

    @property
    def uneven(self) -> bool:
        """False: densities without an axis have a symmetry group here."""
        return False

    @property
    def squares(self) -> "GroupComplement | None":
        """The class of the subgroup that has these elements as well; None if that is the group."""
        larger = larger_by_two(self.subgroup, self.group)
        return None if larger is None or larger.order == self.group.order else self._replace(subgroup=larger)

    @property
    def quarters(self) -> bool:
        """False: one class has one kind of branches."""
        return False

    @property
    def thirds(self) -> bool:
        """False: simple directions whose negatives are no images of them are not looked at."""
        return False

    @property
    def untold(self) -> str:
        """Empty: a simple direction has one shape."""
        return ""

    def nodes(self, basis: Basis, degrees: Integers) -> int:
        """Return how many nodes of a basis resolve products of four sums over some degrees."""
        return max(basis.nodes, even_size(4 * int(degrees[-1])))

    def degrees(self, last: int) -> Integers:
        """Return the degrees up to a last one, each as often as there are harmonics of it."""
        every = range(1, last + 1)
        counts = [self.subgroup.dimension(degree) - self.group.dimension(degree) for degree in every]
        return np.repeat(np.array(every, dtype=np.int64), counts)

    def rotation(self, density: Measure, degrees: Integers) -> Floats:
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
        moments = modes.product(measure, (chi, phi))
        return np.asarray(modes.own @ modes.basis.means(moments)), moments.item(0)

    def integral(self, measure: Measure, degrees: Integers, factors: Floats) -> float:
        """Return the integral of the product of sums over some degrees, (k, size)."""
        return _Modes.of(self, measure.basis, degrees).product(measure, factors).item(0)

    def square_products(
        self, measure: Measure, degrees: Integers, chi: Floats, phi: Floats, further: Integers
    ) -> Floats:
        """Return the integrals of chi phi c, c being the modes of some degrees of the class of squares."""
        assert self.squares is not None
        modes = _Modes.of(self, measure.basis, degrees, further)
        moments = modes.basis.means(modes.product(measure, (chi, phi)))
        return np.asarray(_among(self.squares, further, self.subgroup, modes.basis.cells) @ moments)


class _Modes(NamedTuple):
    """The invariants of a subgroup, and what the own modes and the further ones are among them, as rows."""

    basis: InvariantBasis
    own: Floats
    further: Floats

    @classmethod
    def of(
        cls, complement: GroupComplement, basis: Basis, degrees: Integers, others: Integers = NO_DEGREES
    ) -> "_Modes":
        """Return those of a basis of the group, and degrees of the further ones; the invariants have others too."""
        own, further, also = (tuple(np.unique(each).tolist()) for each in (basis.degrees, degrees, others))
        return _modes(complement, own, further, also, basis.nodes)

    def product(self, measure: Measure, factors: Iterable[Floats]) -> Floats:
        """Return the moments of the product of a measure and sums over the further modes."""
        values = self._values(measure)
        for function in factors:
            values *= self.basis.synthesise(self.further.T @ function)
        return self.basis.analyse(values)

    def _values(self, measure: Measure) -> Floats:
        """Return a measure on the grid of the subgroup: the exponential of a field, or what has its moments."""
        if not isinstance(measure, Density):
            return self.basis.with_moments(self.moments(measure))
        field = self.basis.synthesise(self.own.T @ measure.field).copy()
        values = np.exp(field - field.max())
        return np.asarray(values / self.basis.analyse(values).item(0))

    def moments(self, measure: Measure) -> Floats:
        """Return the moments of a measure with the symmetry of the group in the basis of the subgroup."""
        return self.basis.moments_from(*measure.basis.expand(measure.moments))


@functools.lru_cache(maxsize=16)
def _modes(
    complement: GroupComplement, own: tuple[int, ...], further: tuple[int, ...], others: tuple[int, ...], nodes: int
) -> _Modes:
    cells = np.array(sorted({*own, *further, *others}))
    # Products of two modes have degrees up to twice theirs.
    nodes = max(nodes, even_size(2 * int(cells[-1])))
    basis = InvariantBasis(complement.subgroup, cells, nodes, held_by=complement.held_by)
    of_own, of_further = [], []
    for degree in cells.tolist():
        inside, rows = _within(complement, degree)
        of_own.append(inside if degree in own else inside[:0])
        of_further.append(rows if degree in further else rows[:0])
    return _Modes(basis, block_diag(*of_own), block_diag(*of_further))


@functools.lru_cache(maxsize=1024)
def _within(complement: GroupComplement, degree: int) -> tuple[Floats, Floats]:
    """Return the own modes of a degree and the further ones, as rows, among the invariants of the subgroup."""
    inside = complement.group.harmonics(degree) @ complement.subgroup.harmonics(degree).T
    return inside, np.linalg.svd(inside)[2][len(inside) :]


def _among(complement: GroupComplement, degrees: Integers, subgroup: Group, cells: Integers) -> Floats:
    """Return the further modes of some degrees of a class among the invariants of a subgroup of its own."""
    blocks, known = [], np.unique(degrees).tolist()
    for degree in cells.tolist():
        rows = _within(complement, degree)[1] @ complement.subgroup.harmonics(degree)
        blocks.append((rows if degree in known else rows[:0]) @ subgroup.harmonics(degree).T)
    return np.asarray(block_diag(*blocks))


def complements(basis: Basis, last: int) -> tuple[AzimuthalComplement | GroupComplement, ...]:
    """Return the classes up to a last degree beside the own modes of a state.

    The orders, of one about an axis; of others the invariants of subgroups, so that a direction that is simple in
    one of them is that of a branch with this symmetry (equivariant branching lemma).
    """
    if basis.invariants is not None:
        group, held_by = basis.invariants.group, basis.invariants.held_by
        found = [GroupComplement(subgroup, group, held_by) for subgroup in subgroups(group)]
        return tuple(each for each in found if each.degrees(last).size)
    if basis.profiles is None:
        return ()
    dimension = basis.profiles.domain.dimension
    parities: tuple[int | None, ...] = (None,) if basis.symmetry == 1 else (0, 1)
    orders = [AzimuthalComplement(dimension, order, parity) for order in range(last + 1) for parity in parities]
    return tuple(each for each in orders if each.order > 0 or each.parity == 1)
