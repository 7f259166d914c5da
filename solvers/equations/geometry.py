"""The protocols of what is particular to a domain in following branches.

The stationary equation, its continuation and the events along it are the same everywhere. What differs is the
symmetry: how perturbations split into blocks, which branches are born where, and which states are copies of each
other. Two objects answer these questions: the :class:`Geometry` of the domain, and its :class:`Densities` of one
kind, even or not on the circle, about an axis or not on spheres. Every equation carries both, and the table of
:mod:`solvers.domains` has the geometry of a domain.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from meanfield import CriticalPoint, Curve, Diagram, Equation, Number, Spectrum, State

from ..bases import Basis, Floats, Integers
from ..bases.representations import Group
from ..execution.computed import computed_once
from ..linear_algebra.inertia import below_and_above
from .counts import Counts

if TYPE_CHECKING:
    from meanfield.records import StationaryStates

    from ..branches.arrivals import Arrival
    from ..branches.continuation import Point
    from ..branches.detection import Event
    from ..branches.junctions import Departure
    from ..branches.recording import Register
    from ..root_finding.searched import Searched
    from .equation import StationaryEquation
    from .sizing import Size


# Imaginary parts up to this are noise of a double real eigenvalue: its errors are roots of rounding errors.
PAIRED = 1e-7


class Block(Hashable, Protocol):
    """One symmetry block of the perturbations of a state."""

    @property
    def own(self) -> bool:
        """Whether the block has the symmetry of the branch itself, so that folds are zeros of its eigenvalues."""

    @property
    def multiplicity(self) -> int:
        """Number of copies of the block by symmetry."""

    def words(self, symmetry: int) -> str:
        """Return the block of a state of a symmetry in words, such as "cosine modes of class 1 modulo 2"."""


class BlockMatrix(NamedTuple):
    """The symmetric matrix of a block, the degrees it acts on and its number of repulsive modes."""

    matrix: Floats
    degrees: Integers
    repulsive: int

    def eigenvalues(self) -> Floats:
        """Return the eigenvalues, ascending; at the uniform state the matrix is diagonal."""
        diagonal = self.matrix.diagonal()
        if np.count_nonzero(self.matrix) == np.count_nonzero(diagonal):
            return np.sort(diagonal)
        return np.asarray(np.linalg.eigvalsh(self.matrix), dtype=float)

    def vanishing(self, index: int) -> Floats | None:
        """Return the eigenvector of an eigenvalue near zero by its place beyond those of repulsive modes."""
        return np.asarray(np.linalg.eigh(self.matrix)[1][:, self.repulsive + index], dtype=float)

    def below_and_above(self, width: float) -> tuple[int, int]:
        """Return how many eigenvalues are below minus a width, and how many below the width."""
        return below_and_above(self.matrix, width)


class UnsymmetricMatrix(BlockMatrix):
    """The matrix of a block under a law without a symmetric linearisation; real parts stand for its eigenvalues."""

    def eigenvalues(self) -> Floats:
        """Return the real parts of the eigenvalues, ascending."""
        return np.sort(np.linalg.eigvals(self.matrix).real)

    def vanishing(self, index: int) -> Floats | None:
        """Return the eigenvector of a real eigenvalue near zero; None if it is not real."""
        values, vectors = np.linalg.eig(self.matrix)
        place = np.argsort(values.real, kind="stable")[index]
        return None if abs(values[place].imag) > PAIRED else np.asarray(vectors[:, place].real, dtype=float)

    def below_and_above(self, width: float) -> tuple[int, int]:
        """Return how many real parts are below minus a width, and how many below the width."""
        values = self.eigenvalues()
        return int(np.count_nonzero(values < -width)), int(np.count_nonzero(values < width))


class Threshold(NamedTuple):
    """A critical point of the uniform state, with the number of directions that are unstable before it.

    ``parent`` is its index among the special points; None outside the interval of the diagram.
    """

    point: CriticalPoint
    unstable: int
    parent: int | None


class Measure(Protocol):
    """A measure with the symmetry of the densities of a basis."""

    @property
    def basis(self) -> Basis:
        """The basis."""

    @property
    def values(self) -> Floats:
        """Its density on the nodes, over that of the uniform density."""

    @property
    def moments(self) -> Floats:
        """The integrals of all resolved modes from degree 0."""

    @property
    def masses(self) -> Floats:
        """The masses of the nodes of a basis of densities about an axis of a sphere."""


class Density(NamedTuple):
    """The density of a field on the modes of a basis, with its moments: a measure of mass one."""

    basis: Basis
    field: Floats
    moments: Floats

    @property
    def values(self) -> Floats:
        """The density on the nodes, over that of the uniform density."""
        return self.basis.density(self.field, self.basis.gibbs(self.field).log_partition)

    @property
    def masses(self) -> Floats:
        """The masses of the nodes."""
        assert self.basis.profiles is not None
        return self.basis.profiles.masses(self.field)


class Sampled(NamedTuple):
    """A measure by its density on the nodes of a basis, over that of the uniform density."""

    basis: Basis
    values: Floats

    @property
    def moments(self) -> Floats:
        """The integrals of all resolved modes from degree 0."""
        return self.basis.analyse(self.values)

    @property
    def masses(self) -> Floats:
        """The masses of the nodes."""
        assert self.basis.profiles is not None
        weights = self.basis.profiles.rule.weights
        return np.asarray(self.values * weights / weights.sum())


class Complement(Protocol):
    """A class of modes beside those of the symmetry of states, which have no means there."""

    @property
    def symmetry(self) -> int:
        """The distance by which degrees of the class recur."""

    def rotates(self, confined: bool) -> bool:
        """Return whether rotations of the state are among its modes, in a confinement those that this admits."""

    @property
    def nested(self) -> bool:
        """Whether classes contain each other, so that a direction belongs to the first in which it is simple."""

    def degrees(self, last: int) -> Integers:
        """Return the degrees up to a last one, each as often as there are modes of it."""

    def rotation(self, density: Measure, degrees: Integers) -> Floats:
        """Return the derivatives of the means of the modes of some degrees under rotation, (size,) or (size, k)."""

    def covariance(self, measure: Measure, degrees: Integers) -> Floats:
        """Return the integrals of products of two modes of some degrees, (size, size)."""

    def products(self, measure: Measure, degrees: Integers, chi: Floats, phi: Floats) -> tuple[Floats, float]:
        """Return the integrals of chi phi c, c being the own modes, and of chi phi, sums over ``degrees``."""

    @property
    def pitchfork(self) -> bool:
        """Whether a perturbation and its negative are images of each other, as at a pitchfork."""

    @property
    def born(self) -> Group | None:
        """The symmetry of the states born on the ordinary sphere without an axis; None of others."""

    @property
    def born_symmetry(self) -> int:
        """The symmetry of the states born on the circle, zero of those that only lose an axis, and of others."""

    @property
    def odd(self) -> bool:
        """Whether the modes are odd about the axis of a state on the circle, and may be even about another."""

    @property
    def uneven(self) -> bool:
        """Whether states on the circle born with a perturbation are even about no axis."""

    @property
    def squares(self) -> "Complement | None":
        """The class of which, beside the own modes, squares of such perturbations have parts; None without any."""

    @property
    def quarters(self) -> bool:
        """Whether there are two kinds of such branches, about two axes of a state on the circle."""

    @property
    def thirds(self) -> bool:
        """Whether perturbations leave a third of the symmetry of a state on the circle, as their squares do."""

    @property
    def untold(self) -> str:
        """Why the shape of the branches born as pitchforks is not known; empty if it is."""

    def nodes(self, basis: Basis, degrees: Integers) -> int:
        """Return how many nodes of a basis resolve products of four sums over some degrees."""

    def integral(self, measure: Measure, degrees: Integers, factors: Floats) -> float:
        """Return the integral of the product of sums over some degrees, an even number of them, (k, size)."""

    def square_products(
        self, measure: Measure, degrees: Integers, chi: Floats, phi: Floats, further: Integers
    ) -> Floats:
        """Return the integrals of chi phi c, c being the modes of some degrees of the class of squares."""


class Birth(NamedTuple):
    """A branch about to be followed: its departure, name and symmetry."""

    departure: "Departure"
    name: str
    symmetry: int


class Side(NamedTuple):
    """A side of a branch at the uniform state: unit direction, leading power of its amplitude, first amplitude.

    The power is that in the coupling, see :class:`solvers.branches.junctions.Departure`.
    """

    direction: Floats
    order: int | None
    amplitude: float


class GrowthMatrix:
    """The linearised equation in a class of perturbations, which is made when it is first asked for.

    Parameters
    ----------
    make
        What returns the matrix, (n, n), with rotations moved behind all others.
    copies
        How often the class occurs.
    degree
        The last degree of the perturbations.
    """

    def __init__(self, make: Callable[[], Floats], copies: int, degree: int) -> None:
        self._make, self.copies, self.degree = make, copies, degree

    @computed_once
    def matrix(self) -> Floats:
        """The matrix."""
        return self._make()


class Densities(Protocol):
    """Symmetry and perturbations of the densities of one kind on a domain."""

    def birth(self, departure: "Departure") -> Birth:
        """Return a branch about to be followed under its name and symmetry."""

    def births_on_branch(self, event: "Event") -> list[Birth]:
        """Return the branches born at a branch point of a non-uniform branch, one of each group orbit."""

    def unstable_counts(self, point: "Point", neutral: float = ...) -> Counts:
        """Return the numbers of unstable directions, of those that keep the axis of the state and of the others.

        Eigenvalues of J above ``-neutral`` do not count.
        """

    def strength(self, point: "Point") -> float:
        """Return the relative coupling at a point, with which the rounding of J grows."""
        return float(point.q)

    def is_counted(self, point: "Point") -> bool:
        """Return whether rounding determines the unstable counts at a point where no direction is neutral."""
        return True

    def growth_matrices(self, point: "Point", degree: int | None = None) -> Sequence["GrowthMatrix"]:
        """Return the linearised equation at a point by classes, where growth rates may be complex; else none.

        Up to a degree, by default one with which counts are right.
        """
        return ()

    def unstable_along(self, points: Sequence["Point"]) -> list[Counts]:
        """Return the unstable counts at points of a branch."""
        return [self.unstable_counts(point) for point in points]

    def counted_together(self, point: "Point") -> int:
        """Return how many points of a branch are counted at once most cheaply."""
        return 1

    def turns_freely(self, point: "Point", error: float) -> bool:
        """Return whether the confinement on a branch vanishes, and states turn, at a q known to an error."""
        return False

    def blocks_of(self, point: "Point") -> Sequence[Block]:
        """Return all symmetry blocks at a point."""

    def block_matrix(self, point: "Point", block: Any) -> BlockMatrix:
        """Return the matrix of one block at a point."""

    def copies(self, point: "Point", one: Any, other: Any) -> bool:
        """Return whether two blocks have the same eigenvalues by symmetry."""

    def rotations(self, point: "Point", block: Any) -> int:
        """Return how many rotations of a state, which the matrix moves to one, are in a block."""

    def meeting(self, last: "Point", point: "Point") -> "Arrival | None":
        """Return the arrival of a curve at a more symmetric one between two points, or None if it meets none."""

    def meets_none(self, points: Sequence["Point"]) -> list[bool]:
        """Return whether :meth:`meeting` finds none between neighbouring points, as far as many tell it at once."""
        return [False] * (len(points) - 1)

    def nearest_image(self, symmetric: "Point", last: "Point") -> Floats:
        """Return the image of a more symmetric state nearest to a branch that meets it, in its unknowns."""

    def name_of(self, point: "Point") -> str:
        """Return a state in words, such as "2-cluster"."""

    def moment_arrays(self, points: list["Point"]) -> Floats:
        """Return moments and derivatives along the branch of points of one equation, (4, points, places).

        Cosine and sine moments, then their derivatives, in the layout of the records.
        """


class Frame(Protocol):
    """A turned frame, and how what is found there stands in the given one.

    Attributes
    ----------
    problem
        The problem in the frame.
    """

    problem: Equation

    def moments(self, cosine: Floats, sine: Floats) -> tuple[Floats, Floats]:
        """Return packed moments of a state in the given frame as they stand in the turned one."""

    def curve(self, found: Curve) -> Curve:
        """Return a curve of special points as it stands in the given frame."""

    def states(self, found: "StationaryStates") -> "StationaryStates":
        """Return stationary states as they stand in the given frame."""

    def diagram(self, found: Diagram) -> Diagram:
        """Return a diagram as it stands in the given frame."""


class Geometry(Protocol):
    """Symmetries of a domain, the branches they allow, and the linearisation there.

    Attributes
    ----------
    fewest_nodes
        Number of nodes to start with.
    takes_kinks
        Whether a confinement with kinks is taken as it is; else its degrees are cut.
    """

    fewest_nodes: int
    takes_kinks: bool

    def densities(self, basis: Basis, *, symmetric: bool = True) -> Densities:
        """Return the densities of a basis; their linearisation is symmetric or not."""

    def basis(self, problem: Equation, symmetry: int, size: "Size", *, even: bool) -> Basis:
        """Return the basis of the densities of a symmetry, even about an axis or not."""

    def frame(self, problem: Equation, samples: Sequence[Equation] = ()) -> "Frame | None":
        """Return a frame in which the confinement stands as the solvers ask for, None if it does so here.

        Where the confinement changes with parameters ``samples`` are the problem at several values.

        Raises
        ------
        InvalidInput
            If the confinement has no axis and coefficients that decay slowly.
        """

    def symmetries(self, modes: tuple[int, ...]) -> list[int]:
        """Return the symmetries that densities on some critical modes can have."""

    def sides(
        self,
        equation: "StationaryEquation",
        direction: Floats,
        mode: int | None,
        threshold: Threshold,
        register: "Register",
    ) -> list[Side]:
        """Return the sides of the branch along a direction, of one mode or, if it is None, of several together."""

    def further_births(
        self, problem: Equation, threshold: Threshold, found: list[Birth], register: "Register"
    ) -> list[Birth]:
        """Return the branches born on the uniform state among other densities than those of :meth:`basis`."""

    def first_threshold(self, problem: Equation) -> "Number | None":
        """Return the coupling up to which thresholds are always examined, None if there is no threshold."""

    def reaches_down(self, problem: Equation, point: CriticalPoint) -> bool:
        """Return whether a branch born at a critical point may extend to smaller couplings in modulus."""

    def follows_all(self, problem: Equation) -> bool:
        """Return whether branches of all symmetries are followed."""

    def folds_apart(self, low: int, high: int) -> bool:
        """Return whether pairs of states may be born at folds of their own where two modes are nearly critical."""

    def complements(self, basis: Basis, last: int) -> Sequence[Complement]:
        """Return the classes of modes up to a degree beside those of the states of a basis; none if unknown."""

    def symmetry(self, divisor: int) -> int:
        """Return the symmetry, as State.symmetry counts it, of densities whose degrees have a greatest divisor.

        Zero, that of no degree at all, stands for the uniform density.
        """

    def compared(self, departure: "Departure", arrival: "Arrival") -> tuple[NDArray[Any], NDArray[Any]] | None:
        """Return the moments by which two branch points at one coupling, not uniform, are compared, or None.

        From degree zero, and turned to where both would stand if they were one place; None if they cannot be.
        """

    def are_images(self, one: "Point", other: "Point") -> bool:
        """Return whether states whose energies and lengths of moments agree are images of each other."""

    def carries_current(self, problem: Equation) -> bool:
        """Return whether stationary densities in a confinement have a flux, since nothing reflects the equation."""

    def searches(self, problem: Equation) -> bool:
        """Return whether :meth:`search_all` takes an equation, by its free energy or by a Gibbs map."""

    def search_covers(self, problem: Equation, coupling: Number) -> bool:
        """Return whether the search has all significant modes, and what it meets has a name by its symmetry."""

    def search_resolves(self, problem: Equation, coupling: Number) -> bool:
        """Return whether the search resolves all densities and tells them apart, so that branches add no states."""

    def search_all(
        self, problem: Equation, sign: int, coupling: Number, known: list["Point"], *, minima: bool = False
    ) -> "Searched":
        """Return the states that a search from random starts finds at a coupling beside the known ones.

        With ``minima`` it is made of relaxations alone, and finds stable states.
        """

    def spectrum(self, state: State) -> Spectrum:
        """Return the eigenvalues of the equation linearised at a state."""

    def slowest_rate(self, state: State) -> float:
        """Return the contraction rate of a state, by the cheapest accurate method."""

    def slowest_rates(self, states: Sequence[State]) -> list[float | Exception]:
        """Return the contraction rate, or the error instead, of each of several states of one equation."""
