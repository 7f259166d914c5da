r"""Densities on S^2 that are invariant under a finite group, down to all densities for the trivial one.

The modes are the invariant harmonics of the significant degrees of the potential, orthonormal combinations of
:math:`e^c_{lm}` and :math:`e^s_{lm}`, so that the invariant part of :math:`P_l(\langle x,y\rangle)` is the sum of
their products. Moments are those with all harmonics up to ``nodes``, packed cosines and then packed sines.
"""

import copy
import functools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from meanfield.errors import InvalidInput
from meanfield.harmonics import Modes, SphereModes, packed_size, place

from .actions import moved_by, turnings
from .base import (
    COLLAPSE,
    LARGE_FIELD,
    SMALL_FIELD,
    Basis,
    Floats,
    Gibbs,
    Integers,
    Involution,
    exp_beyond_quadratic,
)
from .confining import ConfiningField
from .limits import MAX_HARMONIC_DEGREE, MAX_SPHERICAL_DEGREE
from .orientation import Orientation, orientation_of
from .representations import TRIVIAL, Group
from .second_moments import SecondMoments, second_moments
from .spherical import SphericalTransform


class InvariantBasis(Basis):
    """Invariant harmonics of given degrees, with a Gauss rule in the polar angle and equal steps in azimuth.

    Parameters
    ----------
    group
        The symmetry.
    cells : (count,) int
        The degrees of the unknown modes, ascending; every degree brings all its invariants.
    nodes
        Largest resolved degree; at least twice the largest cell. The rule integrates degree 2 nodes + 1.
    confinement
        The fixed part -V/D of the field, None if there is none.
    held_by
        A field whose symmetries images and rotations keep; by default the confinement.

    Attributes
    ----------
    degrees : (size,) int
        The degree of every mode, ascending.
    squares : (size,) float
        Their uniform mean squares, 1/(2 l + 1).

    Raises
    ------
    InvalidInput
        If the confinement is not invariant under the group.
    """

    modes: Modes = SphereModes()
    even: bool = False
    most_nodes: int = MAX_SPHERICAL_DEGREE
    axis: float = 0.0
    most_cells: int = MAX_HARMONIC_DEGREE
    needs_second_rule: bool = False
    symmetry: int = 1

    def __init__(
        self,
        group: Group,
        cells: Integers,
        nodes: int,
        confinement: ConfiningField | None = None,
        held_by: ConfiningField | None = None,
    ) -> None:
        self.group = group
        self.cells = cells
        self.degrees: Integers = np.repeat(cells, [group.dimension(degree) for degree in cells.tolist()])
        self.squares = np.array(1.0 / (2.0 * self.degrees + 1.0), dtype=float)
        self.confinement = confinement
        self.held_by = held_by or confinement
        self._reference: Floats | None = None
        self._field_modes = mode_matrix(group, cells, int(cells.max()))
        self._resolve(nodes)

    def _resolve(self, nodes: int) -> None:
        """Take another resolution, on which the modes and their products do not depend."""
        self.nodes = nodes
        self._transform = grid = SphericalTransform(nodes, symmetry=self.group.turns)
        # A field has the degrees of the modes only, the density has all.
        top = int(self.cells.max())
        self._of_fields = SphericalTransform(top, grid.rings, grid.meridians, symmetry=self.group.turns)
        self._size = packed_size(nodes)
        self._modes = mode_matrix(self.group, self.cells, nodes)
        self._fixed = None if self.confinement is None else self._confined(self.confinement)

    def _confined(self, confinement: ConfiningField) -> Floats:
        """Return the field -V/D of the confinement on the grid."""
        if not confinement.allows(self.group):
            raise InvalidInput(
                f"densities of symmetry {self.group.name} cannot stand in a confinement that does not have it; "
                "use a group that leaves the confinement as it is, about the z axis such as pyramidal(m)"
            )
        return self._transform.synthesise(*confinement.up_to(self.nodes))

    @property
    def invariants(self) -> "InvariantBasis":
        """The basis itself."""
        return self

    def resized(self, cells: Integers, nodes: int) -> "InvariantBasis":
        """Return the same basis with other degrees and another resolution, products shared if the degrees stay."""
        if not np.array_equal(cells, self.cells):
            other = InvariantBasis(self.group, cells, nodes, self.confinement, self.held_by)
            return other if self._reference is None else other.beside(self._among(other, self._reference))
        basis = copy.copy(self)
        basis._resolve(nodes)
        return basis

    def beside(self, reference: Floats) -> "InvariantBasis":
        """Return the same basis with phase conditions that keep states from turning beside one, if any may turn.

        See :class:`solvers.bases.orientation.Orientation`.
        """
        if not self._turnings:
            return self
        basis = copy.copy(self)
        basis._reference = reference
        vars(basis).pop("_orientation", None)
        return basis

    def _among(self, other: "InvariantBasis", b: Floats) -> Floats:
        """Return the unknown of a state in a basis of other degrees, zero in those that this has not."""
        moved = np.zeros(other.degrees.size)
        moved[np.isin(other.degrees, self.degrees)] = b[np.isin(self.degrees, other.degrees)]
        return moved

    def confined(self, confinement: Floats) -> "InvariantBasis":
        """Return the same basis in another confinement of one angle, given by the coefficients of its field."""
        return self.standing_in(ConfiningField.of_one_angle(confinement))

    def standing_in(self, field: ConfiningField | None) -> "InvariantBasis":
        """Return the same basis in another confinement, by which states are held, or in none; products are shared.

        Raises
        ------
        InvalidInput
            If the confinement is not invariant under the group.
        """
        basis = copy.copy(self)
        basis.confinement = basis.held_by = field
        basis._fixed = None if field is None else basis._confined(field)
        for held in ("_turnings", "_companions", "_orientation"):
            vars(basis).pop(held, None)
        return basis

    def in_field(self, field: ConfiningField) -> "InvariantBasis":
        """Return the same basis in the confinement of a field that has the symmetries of the group."""
        basis = copy.copy(self)
        basis.confinement = field
        basis._fixed = self._transform.synthesise(*field.up_to(self.nodes))
        return basis

    def admissible(self, limit: int) -> Integers:
        """Return the degrees up to a limit that have invariant harmonics."""
        return self.group.admissible(limit)

    def field_of(self, series: NDArray[np.complex128]) -> Floats:
        """Return the coefficients in the modes of Re sum_l c_l P_l(cos t), t from the z axis."""
        return np.asarray(series[self.degrees].real * self.along_axis)

    def field_of_harmonics(self, coefficients: Floats) -> Floats:
        """Return the coefficients in the modes of an invariant sum of harmonics, packed, (2, places)."""
        top = int(self.cells.max())
        kept = ConfiningField(coefficients, zonal=False).up_to(top)
        return np.asarray(self._field_modes @ kept.ravel())

    def harmonics(self, field: Floats) -> tuple[Floats, Floats]:
        """Return packed cosine and sine coefficients of a sum of modes."""
        cosine, sine = np.split(self._modes.T @ field, 2)
        return cosine, sine

    def _values(self, field: Floats) -> Floats:
        """Return a field on the grid, without the confinement."""
        cosine, sine = np.split(self._field_modes.T @ field, 2)
        return self._of_fields.synthesise(cosine, sine)

    @property
    def confining(self) -> Floats | None:
        """The field of the confinement on the grid; None if there is none."""
        return self._fixed

    def synthesise(self, field: Floats) -> Floats:
        """Return the values of a sum of modes on the grid."""
        return self._values(field)

    def analyse(self, values: Floats) -> Floats:
        """Return the packed uniform means of values on the grid times the harmonics up to degree ``nodes``."""
        return np.concatenate(self._transform.analyse(values))

    def with_moments(self, moments: Floats) -> Floats:
        """Return the values on the grid of the function with given packed moments up to degree ``nodes``."""
        return self._transform.synthesise(*(self._transform.multiplicities * moments.reshape(2, -1)))

    def gibbs(self, field: Floats) -> Gibbs:
        """Return the packed moments up to degree ``nodes`` and the logarithm of Z, the uniform mean of e^f."""
        values = self._values(field)
        if self._fixed is not None:
            values += self._fixed
        top = float(values.max())
        if top < SMALL_FIELD and float(values.min()) > -SMALL_FIELD:
            return self._near_uniform(values)
        shift = top if top > LARGE_FIELD else 0.0
        values -= shift
        moments = np.concatenate(self._transform.analyse(np.exp(values, out=values)))
        mass = moments.item(0)
        moments /= mass
        return Gibbs(moments, shift + math.log(mass))

    def _near_uniform(self, values: Floats) -> Gibbs:
        """Return the Gibbs density from e^f - 1, with moments accurate relative to f, however small f is."""
        moments = np.concatenate(self._transform.analyse(np.expm1(values, out=values)))
        excess = moments.item(0)
        moments /= 1.0 + excess
        moments[0] = 1.0
        return Gibbs(moments, math.log1p(excess))

    def response(self, field: Floats, change: Floats) -> Floats:
        """Return the derivative of the moments of the Gibbs density of a field along a change of the field."""
        values = self._values(field)
        if self._fixed is not None:
            values += self._fixed
        density = np.exp(values - values.max())
        density /= self._transform.mean(density)
        slopes = self._values(change)
        slopes -= self._transform.mean(density * slopes)
        return np.concatenate(self._transform.analyse(density * slopes))

    def mean_beyond_quadratic(self, field: Floats) -> float:
        """Return the uniform mean of e^f - 1 - f - f^2/2, without cancellation for small fields."""
        return self._transform.mean(exp_beyond_quadratic(self._values(field)))

    def means(self, moments: Floats) -> Floats:
        """Return the means of the modes."""
        return np.asarray(self._modes @ moments, dtype=float)

    @functools.cached_property
    def _products(self) -> SecondMoments:
        return second_moments(self.group, self._modes, np.unique(self.degrees))

    def covariance(self, moments: Floats) -> Floats:
        """Return the covariance matrix of the modes."""
        means = self.means(moments)
        matrix = self._products(*np.split(moments, 2))
        matrix -= np.multiply.outer(means, means)
        return matrix

    @functools.cached_property
    def along_axis(self) -> Floats:
        """The coefficient in each mode of the harmonic of its degree about the z axis, (size,)."""
        return np.asarray(self._field_modes[:, place(np.arange(int(self.cells.max()) + 1), 0)].sum(axis=1))

    @property
    def _axes(self) -> Floats | None:
        """The axes about which states may be turned, (k, 3); None if they are all."""
        return None if self.held_by is None else self.held_by.axes

    @functools.cached_property
    def _turnings(self) -> list[csr_array]:
        """Derivatives of the means under the rotations that lead to other densities of the basis."""
        return turnings(self.group, np.unique(self.degrees), self._axes)

    def rotation(self, moments: Floats) -> Floats | None:
        """Return the derivatives of the means under rotations within the basis, (size, k), or None if none exists.

        There are as many columns as the group has free axes: three for all densities, one where a confinement
        has an axis, none where it has none. A state that is itself invariant under some of the rotations makes
        them dependent.
        """
        return self.turning(self.means(moments)) if self._turnings else None

    def turning(self, means: Floats) -> Floats:
        """Return the derivatives of given means under rotations within the basis, (size, k)."""
        return np.stack([turning @ means for turning in self._turnings], axis=1)

    @functools.cached_property
    def _orientation(self) -> Orientation | None:
        """What keeps states from turning; None without a reference."""
        if self._reference is None:
            return None
        return orientation_of(self.group, self.degrees, self._turnings, self._axes, self._keeps, self._reference)

    @property
    def phase_conditions(self) -> Floats | None:
        """The rows that keep states from turning, (k, size); None if none are needed."""
        return None if self._orientation is None else self._orientation.rows

    def keeps_in_place(self, b: Floats) -> bool:
        """Return whether the rows keep a state from turning, which one far from the reference may do."""
        return self._orientation is None or self._orientation.holds(b)

    def _keeps(self, element: Floats) -> bool:
        """Return whether a transformation keeps the field by which states are held."""
        return self.held_by is None or self.held_by.keeps(element)

    @functools.cached_property
    def _companions(self) -> list[csr_array]:
        """Actions on the means of the transformations that lead to other densities of the basis."""
        elements = self.group.companions(self._axes)
        elements = elements[[self._keeps(element) for element in elements]]
        degrees = np.unique(self.degrees)
        return [moved_by(self.group, degrees, element) for element in elements]

    def images(self, b: Floats) -> list[Floats]:
        """Return a state and its images under the transformations that keep its symmetry, modulo rotation."""
        return [b, *(np.asarray(companion @ b) for companion in self._companions)]

    def involutions(self, b: Floats) -> list[Involution]:
        """Return the transformations that take a state to an image, each its own inverse.

        Of one beside a reference, those by which it may come to more symmetry in the way that it stands.
        """
        return super().involutions(b) if self._orientation is None else self._orientation.involutions(b)

    def image(self, b: Floats, involution: Involution) -> Floats:
        """Return the image of a state by a transformation that is one of its own or of a state beside it."""
        if self._orientation is None:
            return super().image(b, involution)
        return self._orientation.image(b, involution)

    def images_beside(self, b: Floats, other: Floats, confined: bool) -> list[Floats]:
        """Return the state and its images, those that may turn where they are nearest to another one."""
        images, orientation = super().images_beside(b, other, confined), self._orientation
        if orientation is None:
            return images
        return [turned for image in images for turned in orientation.nearest(image, other)]

    def collapses(self, last: Floats, b: Floats) -> bool:
        """Return whether a state is its own image, but not the uniform one, and that before it is not."""
        size = float(np.abs(last).max())
        if float(np.abs(b).max()) <= COLLAPSE * size:
            return False
        pairs = ((last - companion @ last, b - companion @ b) for companion in self._companions)
        sizes = ((float(np.abs(before).max()), float(np.abs(after).max())) for before, after in pairs)
        return any(before > COLLAPSE * size and after <= COLLAPSE * before for before, after in sizes)

    def agrees(self, field: Floats, moments: Floats) -> bool:
        """Return True, since on S^2 the error of a moment shows in the tail of the others."""
        return True

    def moments_from(self, cosine: Floats, sine: Floats) -> Floats:
        """Return moments in this basis from packed ones, cut off or zero-padded."""
        moments = np.zeros((2, self._size))
        count = min(self._size, cosine.size)
        moments[0, :count], moments[1, :count] = cosine[:count], sine[:count]
        return moments.ravel()

    def expand(self, moments: Floats) -> tuple[Floats, Floats]:
        """Return the packed cosine and sine moments up to degree ``nodes``."""
        cosine, sine = np.split(moments, 2)
        return cosine, sine

    def tail(self, moments: Floats) -> float:
        """Return the largest modulus of the moments in the last eighth of the degrees."""
        last = packed_size(self.nodes - self.nodes // 8)
        return float(np.abs(moments.reshape(2, -1)[:, last:]).max())


class FullBasis(InvariantBasis):
    """All harmonics of given degrees, among which every state may be rotated, see :meth:`rotation`.

    Parameters
    ----------
    cells : (count,) int
        The degrees of the unknown modes, ascending.
    nodes
        Largest resolved degree; at least twice the largest cell.
    confinement
        The fixed part -V/D of the field, None if there is none.
    """

    def __init__(self, cells: Integers, nodes: int, confinement: ConfiningField | None = None) -> None:
        super().__init__(TRIVIAL, cells, nodes, confinement)


def mode_matrix(group: Group, cells: Integers, nodes: int) -> csr_array:
    """Return the modes in packed harmonics up to a degree, (size, 2 n), cosines first."""
    size = packed_size(nodes)
    rows, columns, entries = [], [], []
    start = 0
    for degree in cells.tolist():
        functions = group.harmonics(degree)
        first = place(degree, 0)
        places = np.concatenate([first + np.arange(degree + 1), size + first + np.arange(1, degree + 1)])
        row, column = np.nonzero(functions)
        rows.append(start + row)
        columns.append(places[column])
        entries.append(functions[row, column])
        start += len(functions)
    where = (np.concatenate(rows), np.concatenate(columns))
    return csr_array((np.concatenate(entries), where), shape=(start, 2 * size))
