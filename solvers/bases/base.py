r"""The protocol of discretisations, as the stationary equation needs them.

A basis lists the significant modes of the potential, turns a field on them into the moments of its Gibbs density
:math:`e^{f}/Z`, and assembles covariances of the modes under that density. Covariances need no integrals: for
cosines,

.. math:: \mathrm{Cov}(\cos k, \cos l) = \tfrac12 (m_{k+l} + m_{|k-l|}) - m_k m_l ,

so the moments up to twice the largest mode are enough (Toeplitz plus Hankel). On the sphere the product of two
modes is likewise a sum of modes, though a longer one.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dger

from meanfield import Domain
from meanfield.harmonics import Modes, Rule

if TYPE_CHECKING:
    from .confining import ConfiningField
    from .fourier import FourierBasis
    from .representations import Group

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Longs = NDArray[np.longdouble]
Numbers = TypeVar("Numbers", Floats, Longs)

EPS = float(np.finfo(float).eps)
# The last resolved moment bounds the quadrature error from far above: a moment k computed on N nodes carries the
# moment N - k, and N is at least twice the last degree. Concentrated densities have rounding noise near 1e-14.
RESOLUTION_TOLERANCE = 512.0 * EPS

# Fields smaller than this are exponentiated as e^f - 1.
SMALL_FIELD = 0.5
# Fields beyond this are shifted before they are exponentiated; e^f would overflow near 709. Below, Z >= 1 (Jensen,
# the mean of a field is zero), and what underflows does not matter.
LARGE_FIELD = 300.0
# Of the series of e^x, from x^22 to x^3 for |x| < 1; those of fewer terms are as good up to a smaller |x|.
COEFFICIENTS = tuple(1.0 / math.factorial(order) for order in range(22, 2, -1))
FEW_COEFFICIENTS, FEW_UP_TO = COEFFICIENTS[10:], 0.125
FINE_COEFFICIENTS = tuple(np.longdouble(1.0) / math.factorial(order) for order in range(22, 2, -1))
# Modes below this share of the largest do not count for the symmetry of a state.
SIGNIFICANT = 1e-8
# Newton's method beside a more symmetric state may fall onto it: what a state has beyond that shrinks by this.
COLLAPSE = 1e-6
# States nearer than this are the same image of one.
SAME_STATE = 1e-7


class Involution(NamedTuple):
    """A transformation to an image, its own inverse: a number, and where it turns with a state its direction.

    That is the azimuth of an axis, or a unit vector along it.
    """

    number: int
    direction: tuple[float, ...] = ()


class Gibbs(NamedTuple):
    """The Gibbs density of a field: ``moments`` in the basis' own layout and log Z, Z the uniform mean of e^f."""

    moments: Floats
    log_partition: float


class Cosines(Protocol):
    """Operations of bases of cosines about one reflection axis of the circle."""

    @property
    def folded_table(self) -> Floats | None:
        """Values of the cosines of even cells up to ``nodes``, then of odd ones, on half of the nodes, in columns.

        None if tables are not for this basis.
        """

    def about(self, axis: float) -> "Basis":
        """Return the basis of the densities even about another reflection axis of the confinement."""

    def confinement_turns(self, cell: int) -> bool:
        """Return whether the confinement, if any, is invariant under rotation by half the angle of a cell."""

    def phases(self, count: int) -> NDArray[np.complex128]:
        """Return exp(-i degree axis) for ``count`` cells from 0, which turns moments from the axis to angle 0."""

    def first_covariances(self, moments: Floats, count: int) -> Floats:
        """Return the first rows of the covariance matrix of the modes."""

    def covariance_products(self, moments: Floats) -> Callable[[Floats], Floats]:
        """Return the function from rows to their products with the covariance matrix, by transforms."""


class Fourier(Protocol):
    """Operations of bases of cosines and sines on the circle.

    A state that no confinement holds keeps its angle by the unknown ``held_by``.
    """

    held_by: int | None

    def with_images(self, mirrors: tuple[float, ...], rotations: int) -> "FourierBasis":
        """Return the same basis with other axes and rotations that give images."""

    def means_from(self, moments: NDArray[np.complex128]) -> Floats:
        """Return the means of the modes by complex moments <exp(-ikt)> of degrees from 0, (size,)."""

    def complex_moments(self, means: Floats) -> NDArray[np.complex128]:
        """Return complex moments <exp(-ikt)> of degrees from 0 by the means of the modes, one of degree 0."""


class Axial(Protocol):
    """Operations of bases of densities about an axis along a half great circle from it.

    The nodes have the ``angles`` from the axis, between 0 and ``extent``, beyond which all is repeated. The uniform
    mean of values on the nodes is their sum times the ``weights``.
    """

    @property
    def extent(self) -> float:
        """Half of the period of the densities on the circle, or the angle from the axis to where they end."""

    @property
    def angles(self) -> Floats:
        """The angles of the nodes from the axis."""

    @property
    def weights(self) -> Floats:
        """The weights of the nodes, whose sum is one."""

    def modes_at(self, angles: Floats) -> tuple[Floats, Floats]:
        """Return the values of the modes at angles and their derivatives by the angle, (size, n) each."""


class Harmonics(Protocol):
    """Operations of bases of densities on spheres."""

    def response(self, field: Floats, change: Floats) -> Floats:
        """Return the derivative of the moments of the Gibbs density of a field along a change of the field."""


class Profiles(Harmonics, Protocol):
    """Operations of bases of densities about an axis of a sphere."""

    domain: Domain
    rule: Rule

    def masses(self, field: Floats) -> Floats:
        """Return the masses of the nodes under the Gibbs density of a field, (n,) with sum one."""


class Invariants(Harmonics, Protocol):
    """Operations of bases of densities on S^2 that are invariant under a finite group.

    ``along_axis`` has the coefficient in each mode of the harmonic of its degree about the z axis, ``held_by`` a
    field whose symmetries images and rotations keep.
    """

    group: "Group"
    held_by: "ConfiningField | None"

    def in_field(self, field: "ConfiningField") -> Any:
        """Return the same basis in the confinement of a field that has the symmetries of the group."""

    def standing_in(self, field: "ConfiningField | None") -> "Basis":
        """Return the same basis in another confinement, by which states are held, or in none."""

    def field_of_harmonics(self, coefficients: Floats) -> Floats:
        """Return the coefficients in the modes of an invariant sum of harmonics, packed, (2, places)."""

    @property
    def along_axis(self) -> Floats:
        """The coefficients, (size,)."""

    def harmonics(self, field: Floats) -> tuple[Floats, Floats]:
        """Return packed cosine and sine coefficients of a sum of modes."""


class Kinked(Protocol):
    """Operations of bases of densities on the circle with a factor exp(-V/D) of a confinement with a kink."""

    def with_factor(self, factor: Any) -> "Basis":
        """Return the same basis with another factor, whose angles count from 0."""

    def slope(self, field: Floats, log_partition: float) -> Floats:
        """Return the derivative of the Gibbs density by that of its factor, Z and the field fixed, as values."""


class Basis(Protocol):
    """Modes of densities invariant under some symmetries of the domain, and a quadrature for these densities.

    Densities even about an axis of the circle have its angle in ``axis``; elsewhere that is 0. ``even`` says that
    sine moments about that axis vanish, ``modes`` what expanded moments mean. ``cosines``, ``fourier``, ``kinked``,
    ``axial``, ``profiles`` and ``invariants`` have operations of some bases only: each is the basis itself if it
    has them, and else None.
    """

    modes: Modes
    even: bool
    most_nodes: int
    most_cells: int
    needs_second_rule: bool
    symmetry: int
    cells: Integers
    degrees: Integers
    squares: Floats
    nodes: int
    confinement: Any
    axis: float

    @property
    def cosines(self) -> Cosines | None:
        """The operations of cosines on the circle; None for other bases."""
        return None

    @property
    def fourier(self) -> Fourier | None:
        """The operations of cosines and sines on the circle; None for other bases."""
        return None

    @property
    def kinked(self) -> Kinked | None:
        """The operations of bases with a factor exp(-V/D); None for other bases."""
        return None

    @property
    def axial(self) -> Axial | None:
        """Operations of bases of densities about an axis, along a half great circle from it."""
        return None

    @property
    def profiles(self) -> Profiles | None:
        """Operations of bases of densities about an axis of a sphere."""
        return None

    @property
    def invariants(self) -> Invariants | None:
        """The operations of densities on S^2 of finite symmetry; None for other bases."""
        return None

    def admissible(self, limit: int) -> Integers:
        """Return the degrees up to a limit that densities of the symmetry can have, ascending."""

    def field_of(self, series: NDArray[np.complex128]) -> Floats:
        """Return the coefficients in the modes of Re sum_k c_k exp(ikt), c of degrees from 0, t from a pole."""
        turned = series[self.degrees]
        if self.axis:
            turned = turned * np.exp(1j * self.axis * self.degrees)
        return np.asarray(turned.real)

    def gibbs(self, field: Floats) -> Gibbs:
        """Return the density proportional to exp(sum field_i mode_i + confinement field)."""

    @property
    def confining(self) -> Floats | None:
        """The field of the confinement on the nodes; None if there is none."""
        return None

    def synthesise(self, field: Floats) -> Floats:
        """Return the values of a sum of modes on the nodes; the next transform of the basis may overwrite them."""

    def fine_table(self) -> tuple[Longs, Longs] | None:
        """Return the modes on the nodes, (size, n), and multiples of their shares in the uniform density, (n,).

        In extended precision; None where densities are functions of two angles or have a factor.
        """
        return None

    def analyse(self, values: Floats) -> Floats:
        """Return the uniform means of values on the nodes times every resolved mode from degree 0."""

    def density(self, field: Floats, log_partition: float) -> Floats:
        """Return the Gibbs density of a field, by its log Z, over the uniform density on the nodes."""
        values, confining = self.synthesise(field), self.confining
        return np.exp((values if confining is None else values + confining) - log_partition)

    def mean_beyond_quadratic(self, field: Floats) -> float:
        """Return the uniform mean of e^f - 1 - f - f^2/2, without cancellation for small fields."""

    def means(self, moments: Floats) -> Floats:
        """Return the (size,) means of the modes."""

    def covariance(self, moments: Floats) -> Floats:
        """Return the (size, size) covariance matrix of the modes."""

    def rotation(self, moments: Floats) -> Floats | None:
        """Return the (size,) derivative of the means under rotation; None if rotation leaves the basis."""

    @property
    def phase_conditions(self) -> Floats | None:
        """Rows with which the product of an unknown is zero, so that the state does not turn, (k, size).

        None where states do not turn, or nothing keeps them from it.
        """
        return None

    def turning(self, means: Floats) -> Floats:
        """Return the derivatives of given means under the rotations within the basis, (size, k)."""
        return np.zeros((means.size, 0))

    def keeps_in_place(self, b: Floats) -> bool:
        """Return whether the phase conditions, if there are any, keep a state from turning."""
        return True

    def beside(self, reference: Floats) -> "Basis":
        """Return the same basis with phase conditions that keep states from turning beside one, if any have to."""
        return self

    def images(self, b: Floats) -> list[Floats]:
        """Return a state and its images within the basis under the symmetries of the domain, itself first.

        Neighbouring states have theirs in one order.
        """

    def involutions(self, b: Floats) -> list[Involution]:
        """Return the transformations that take a state to an image, each its own inverse."""
        images = self.images(b)
        return [
            Involution(number)
            for number in range(1, len(images))
            if np.allclose(self.images(images[number])[number], b, rtol=0.0, atol=SAME_STATE)
        ]

    def image(self, b: Floats, involution: Involution) -> Floats:
        """Return the image of a state by a transformation that is one of its own or of a state beside it."""
        return self.images(b)[involution.number]

    def images_beside(self, b: Floats, other: Floats, confined: bool) -> list[Floats]:
        """Return the state and its images, those that may turn where they are nearest to another one.

        Neighbouring states have theirs in one order. In a confinement there are fewer: some images of
        :meth:`images` are states of the opposite one.
        """
        return [b] if confined else self.images(b)

    def collapses(self, last: Floats, b: Floats) -> bool:
        """Return whether Newton's method fell from a state to one of more symmetry, as far as images show it."""
        return False

    def agrees(self, field: Floats, moments: Floats) -> bool:
        """Return whether a second quadrature rule gives the same moments of a field within rounding."""

    def moments_from(self, cosine: Floats, sine: Floats) -> Floats:
        """Return moments in the basis' own layout from those by degree."""

    def expand(self, moments: Floats) -> tuple[Floats, Floats]:
        """Return cosine and sine moments of every degree from 0 to the largest resolved."""

    def tail(self, moments: Floats) -> float:
        """Return the largest modulus of the last eighth of the moments, which the basis hardly resolves."""

    def resized(self, cells: Integers, nodes: int) -> "Basis":
        """Return the same basis with other modes and another number of nodes."""

    def confined(self, confinement: Any) -> "Basis":
        """Return the same basis in another confinement of the same symmetries, given as to the class itself."""


class Tailed(Protocol):
    """Protocol of bases and systems that give the largest of their last moments."""

    def tail(self, moments: Floats) -> float:
        """Return the largest modulus of the last eighth of the moments."""


def resolved(basis: Tailed, moments: Floats, tolerance: float = RESOLUTION_TOLERANCE) -> bool:
    """Return whether a basis resolves a density: its last moments are at rounding level.

    This is the one rule for resolution, used throughout. A tolerance above
    rounding is for densities that are not known to rounding level themselves.
    """
    return basis.tail(moments) <= max(tolerance, RESOLUTION_TOLERANCE)


def greatest(values: Floats) -> float:
    """Return max |values|, nan if one value is; several times faster than np.abs for the few values of a state."""
    return max(values.item(values.argmax()), -values.item(values.argmin()))


def plus_dyad(matrix: Floats, factor: float, vector: Floats) -> Floats:
    """Return matrix + factor vector vector^T, or the first rows of that; a matrix in C order is overwritten."""
    total: Floats = dger(factor, vector, vector[: len(matrix)], a=matrix.T, overwrite_a=1).T
    return total


def exp_beyond_quadratic(x: Numbers) -> Numbers:
    """Return e^x - 1 - x - x^2/2 without cancellation, of doubles or longdoubles."""
    largest = float(np.abs(x).max(initial=0.0))
    series = np.zeros_like(x)
    coefficients = FEW_COEFFICIENTS if largest < FEW_UP_TO else COEFFICIENTS
    for coefficient in coefficients if x.dtype == float else FINE_COEFFICIENTS:
        series += coefficient
        series *= x
    series *= x * x
    return series if largest < 1.0 else np.where(np.abs(x) < 1.0, series, np.expm1(x) - x - 0.5 * x * x)


def log1p_beyond_linear(y: float) -> float:
    """Return log(1 + y) - y without cancellation."""
    if abs(y) > 0.05:
        return float(np.log1p(y) - y)
    return float(sum((-1.0) ** (order + 1) * y**order / order for order in range(2, 16)))


def significant(b: Floats) -> NDArray[np.bool_]:
    """Return which unknowns of a state are large enough to determine its symmetry, as a mask."""
    return np.asarray(np.abs(b) > SIGNIFICANT * np.abs(b).max(initial=0.0))


def slice_of(cells: Integers) -> slice | Integers:
    """Return equally spaced cells as a slice, which needs no table look-up."""
    first, *others = cells.tolist() or [0]
    step = others[0] - first if others else 1
    spaced = range(first, first + step * cells.size, step)
    return slice(spaced.start, spaced.stop, step) if others == list(spaced[1:]) else cells


def fine_phases(cells: Integers, count: int, places: int) -> Longs:
    """Return cells times the angles of the first places of a circle of a count of points, (size, places)."""
    turn = 8.0 * np.arctan(np.longdouble(1.0))
    return np.asarray(turn * (np.multiply.outer(cells, np.arange(places)) % count) / count)


def multiples(symmetry: int, limit: int) -> Integers:
    """Return the multiples of a symmetry up to a limit."""
    return np.arange(symmetry, limit + 1, symmetry)
