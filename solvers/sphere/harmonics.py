r"""Unstable directions of a state on S^2 that is not axisymmetric, among all harmonics.

The matrix of the stationary equation on all significant harmonics of the potential,

.. math:: S = \sigma - 2 A\sigma\,\mathrm{Cov}\,\sigma A ,

splits into classes: harmonics with the same signs under the reflections of coordinates that leave the state
invariant, and of the same order modulo the rotations about the z axis that do. The three rotations are zero modes,
known from the state, and are moved to one.
"""

import functools
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np

from meanfield import Equation

from ..bases import Floats, Integers
from ..bases.invariant import FullBasis
from ..bases.representations import Group, axis_rotation
from ..bases.second_moments import ClassProducts, RingWaves
from ..branches.continuation import Point
from ..equations.counts import Counts
from ..equations.equation import StationaryEquation
from ..equations.geometry import BlockMatrix
from ..equations.linearisation import OwnMeans
from ..equations.significant import significant_degrees, strengths
from ..equations.sizing import confining_field
from ..linear_algebra.inertia import signature
from ..linear_algebra.projectors import orthonormal
from ..root_finding.newton import NEUTRAL, neutral_at
from .subgroups import groups_between

# Signs of x, y and z.
Signs = tuple[int, int, int]
Reflections = tuple[Signs, ...]

# Densities kept: all classes of two neighbouring points are asked for one after the other.
KEPT = 3


@dataclass(frozen=True)
class HarmonicClass:
    """A class of harmonics that is invariant under the linearisation.

    Attributes
    ----------
    signs : tuple of int
        Signs under the reflections of coordinates in the group of the state.
    residue : int
        Order m modulo the rotations about the z axis, up to its sign.
    own : bool
        Whether it contains the modes of the branch itself, so that folds are zeros of its eigenvalues.
    """

    signs: tuple[int, ...]
    residue: int
    own: bool
    places: tuple[int, ...] = field(compare=False, repr=False)

    @property
    def multiplicity(self) -> int:
        """Number of copies, 1, since every class counts once."""
        return 1

    def words(self, symmetry: int) -> str:
        """Return the name of the class."""
        return "harmonics of the symmetry of the branch" if self.own else "harmonics that break its symmetry"


class HarmonicPerturbations:
    """All significant harmonics of the potential, for states of a group.

    Parameters
    ----------
    problem
        The equation.
    group
        The symmetry of the states.
    largest
        The largest of their own degrees.
    """

    def __init__(self, problem: Equation, group: Group, largest: int) -> None:
        self.group = group
        degrees = significant_degrees(problem, largest)
        # Products of harmonics have degrees up to twice theirs; nothing else is asked of the density.
        nodes = 2 * int(degrees.max())
        self.basis: FullBasis = FullBasis(degrees, nodes, confining_field(problem))
        relative = strengths(problem, int(degrees.max())).relative[self.basis.degrees]
        self.relative: Floats = relative
        self.roots: Floats = np.sqrt(np.abs(relative))
        reflections, turns = reflections_of(self.group), self.group.turns
        self.classes: list[HarmonicClass] = classes_of(reflections, turns, degrees)
        # With a mirror at azimuth 0 the density has cosines only, and cosines and sines are never in one class.
        self.waves: RingWaves | None = RingWaves(int(degrees.max()), turns) if (1, -1, 1) in reflections else None
        self.listed: tuple[Integers, Integers, Integers] = listed(degrees)
        self._known: deque[tuple[Point, _Seen]] = deque(maxlen=KEPT)
        self._products: dict[HarmonicClass, tuple[ClassProducts, Integers]] = {}

    def block(self, point: Point, block: HarmonicClass) -> BlockMatrix:
        """Return the matrix of a class at a point, with the eigenvalues of rotations moved to one."""
        equation = point.equation
        places = self.places(block)
        if not places.size:
            return BlockMatrix(np.zeros((0, 0)), places, 0)
        seen = self._seen_at(point)
        own = seen.means(places) if block.own else None
        matrix, repulsive = equation.perturbed(point.q, seen.products(block), self.relative[places], own)
        if seen.rotations is not None:
            matrix += seen.rotations[places] @ seen.rotations[places].T
        return BlockMatrix(matrix, self.basis.degrees[places], repulsive)

    def places(self, block: HarmonicClass) -> Integers:
        """Return the places of the harmonics of a class that another problem may have given, none if none is in it.

        Along a parameter of the potential the degrees that are significant change.
        """
        own = next((known for known in self.classes if known == block), None)
        return np.array(() if own is None else own.places, dtype=np.int64)

    def beside_own(self, point: Point) -> list[BlockMatrix]:
        """Return the matrices of the parts of the class of the branch that are orthogonal to its own modes."""
        own = next((block for block in self.classes if block.own), None)
        if own is None:
            # The potential acts on none of its modes.
            return []
        matrix, _, _ = self.block(point, own)
        sign, found = point.equation.sign, []
        for columns, degrees in self._parts:
            repulsive = int(np.count_nonzero(sign * self._of(degrees) > 0.0))
            found.append(BlockMatrix(columns.T @ matrix @ columns, degrees, repulsive))
        return found

    def _of(self, degrees: Integers) -> Floats:
        """Return the relative multipliers of some degrees."""
        known = self.listed[0]
        return np.asarray(self.relative[np.searchsorted(known, degrees)])

    @functools.cached_property
    def _parts(self) -> list[tuple[Floats, Integers]]:
        """Orthonormal columns of these parts in the class, with the degree of each.

        A symmetry that neither is a reflection of coordinates nor turns about the z axis is one of the own modes
        only. The parts are what invariants of the groups between have beyond those of larger ones, and the rest.
        """
        diagonal = (np.diag(np.array(signs, dtype=float)) for signs in reflections_of(self.group))
        inner = Group(np.stack([*diagonal, axis_rotation(self.group.turns)]))
        if inner.order == self.group.order:
            return []
        own = next(block for block in self.classes if block.own)
        listed, degrees = self.listed[0], np.unique(self.listed[0])
        taken = {degree: self.group.harmonics(degree) for degree in degrees.tolist()}
        found = []
        for group in (*groups_between(inner, self.group), inner):
            columns, of = [np.zeros((listed.size, 0))], [degrees[:0]]
            for degree in degrees.tolist():
                new = _beyond(group.harmonics(degree), taken[degree])
                taken[degree] = np.concatenate([taken[degree], new])
                columns.append(np.zeros((listed.size, len(new))))
                columns[-1][listed == degree] = new.T
                of.append(np.full(len(new), degree))
            whole = np.concatenate(columns, axis=1)
            if whole.size:
                found.append((whole[list(own.places)], np.concatenate(of)))
        return found

    def rotations(self, point: Point, block: HarmonicClass) -> int:
        """Return the number of rotation modes in a class, the trace of their projector."""
        moved = self._seen_at(point).rotations
        return 0 if moved is None else round(float((moved[self.places(block)] ** 2).sum()))

    def _seen_at(self, point: Point) -> "_Seen":
        """Return the moments, products and rotations of a point, cached for the last points."""
        for known, seen in self._known:
            if known is point:
                return seen
        equation = point.equation
        response = equation.basis.expand(equation.response(point.b, point.q, point.moments))
        seen = _Seen(self, *(self.basis.moments_from(*each) for each in (point.by_degree, response)))
        self._known.append((point, seen))
        return seen

    def products(self, block: HarmonicClass) -> tuple[ClassProducts, Integers]:
        """Return the products of a class, sorted by order, and the places of its own harmonics among them."""
        assert self.waves is not None
        if block not in self._products:
            degree, order, sine = (column[self.places(block)] for column in self.listed)
            ranked = np.lexsort((degree, order))
            products = ClassProducts(self.waves, degree[ranked], order[ranked], bool(sine[0]))
            self._products[block] = products, np.argsort(ranked)
        return self._products[block]


class _Seen:
    """A density for all classes: its moments, products of harmonics under its response, and rotations."""

    def __init__(self, modes: HarmonicPerturbations, moments: Floats, response: Floats) -> None:
        self._modes = modes
        self._moments, self._response = moments, response
        generators = modes.basis.rotation(moments)
        # About the axis of a zonal state, which a confinement leaves as the only one, the generator is rounding.
        size = float(np.linalg.norm(modes.roots * modes.basis.means(moments)))
        self.rotations = None if generators is None else orthonormal(modes.roots[:, None] * generators, size)
        self._covariance: Floats | None = None
        self._waves: Floats | None = None

    def means(self, places: Integers) -> OwnMeans:
        """Return the means of some harmonics under the response, its mass, and those under the density."""
        mean = self._modes.basis.means
        return OwnMeans(mean(self._response)[places], self._response.item(0), mean(self._moments)[places])

    def products(self, block: HarmonicClass) -> Floats:
        """Return the means of the products of the harmonics of a class."""
        if self._modes.waves is None:
            places = self._modes.places(block)
            inside: Floats = self._all()[np.ix_(places, places)]
            return inside
        if self._waves is None:
            rows = self._modes.waves(*np.split(self._response, 2))[..., 0]
            self._waves = np.concatenate([rows, np.zeros((1, rows.shape[1]))])
        products, own = self._modes.products(block)
        ordered: Floats = products(self._waves)[np.ix_(own, own)]
        return ordered

    def _all(self) -> Floats:
        """Return the means of all products of harmonics."""
        if self._covariance is None:
            means = self._modes.basis.means(self._response)
            self._covariance = self._modes.basis.covariance(self._response) + np.multiply.outer(means, means)
        return self._covariance


def harmonic_perturbations(equation: StationaryEquation) -> HarmonicPerturbations:
    """Return the harmonics that decide the stability of the states of an equation."""
    invariants = equation.basis.invariants
    assert invariants is not None
    return _perturbations(equation.problem, invariants.group, int(equation.basis.degrees.max()))


@functools.lru_cache(maxsize=48)
def _perturbations(problem: Equation, group: Group, largest: int) -> HarmonicPerturbations:
    """Return the cached harmonics of a problem for states of a group, which all resolutions share."""
    return HarmonicPerturbations(problem, group, largest)


def classes_of(reflections: Reflections, turns: int, degrees: Integers) -> list[HarmonicClass]:
    """Return the classes of the harmonics of some degrees, ordered cosines 0..l, then sines 1..l in each degree.

    Parameters
    ----------
    reflections
        The group of reflections of coordinates that leave the state invariant, a sign for each of x, y and z.
    turns
        Largest n such that the rotation by 2 pi/n about the z axis leaves it invariant.
    degrees
        The degrees.
    """
    degree, order, sine = listed(degrees)
    signs = [signs_under(reflection, degree, order, sine).tolist() for reflection in reflections]
    residues = np.minimum(order % turns, -order % turns).tolist()
    found: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for place, label in enumerate(zip(zip(*signs, strict=True), residues, strict=True)):
        found.setdefault(label, []).append(place)
    return [
        HarmonicClass(signs, residue, all(sign > 0 for sign in signs) and residue == 0, tuple(places))
        for (signs, residue), places in found.items()
    ]


def _beyond(rows: Floats, taken: Floats) -> Floats:
    """Return orthonormal rows, orthogonal to some orthonormal ones, that span with them what given ones do."""
    rest = rows - rows @ taken.T @ taken
    return orthonormal(rest.T, 1.0).T if rest.size else rest


def reflections_of(group: Group) -> Reflections:
    """Return the reflections of coordinates in a group, the identity among them."""
    diagonals = [np.diag(element) for element in group.elements]
    return tuple(
        (round(x), round(y), round(z)) for x, y, z in diagonals if min(abs(x), abs(y), abs(z)) > 1.0 - 1e-9
    )


def listed(degrees: Integers) -> tuple[Integers, Integers, Integers]:
    """Return degree, order and whether it is a sine of every harmonic of some degrees, in their order."""
    counts = 2 * degrees + 1
    degree = np.repeat(degrees, counts)
    # Within a degree places 0..l are cosines, the others sines of order 1..l.
    within = np.arange(degree.size) - np.repeat(np.cumsum(counts) - counts, counts)
    sine = (within > degree).astype(np.int64)
    order = within - sine * degree
    return degree, order, sine


def signs_under(reflection: Signs, degree: Integers, order: Integers, sine: Integers) -> Integers:
    """Return the signs of harmonics under a reflection of coordinates.

    z -> -z gives (-1)^(l + m); y -> -y changes the sines; x -> -x gives (-1)^m on cosines, -(-1)^m on sines.
    """
    x, y, z = (side < 0 for side in reflection)
    return np.asarray(1 - 2 * ((z * (degree + order) + y * sine + x * (order + sine)) % 2))


def unstable_counts(point: Point, neutral: float = NEUTRAL) -> Counts:
    """Return the numbers of unstable directions in the class of the branch itself, and in all others.

    Those up to rounding are kept with the point.
    """
    if neutral != NEUTRAL:
        return _counted(point, neutral)
    if point.counts is None:
        point.counts = _counted(point, neutral)
    return point.counts


def _counted(point: Point, neutral: float) -> Counts:
    modes, neutral = harmonic_perturbations(point.equation), neutral_at(point.q, neutral)
    counts, determinants = {True: 0, False: 0}, dict[Hashable, float]()
    for block in modes.classes:
        count, determinants[block] = _unstable_in(modes, point, block, neutral)
        counts[block.own] += count
    return Counts(counts[True], counts[False], determinants)


def _unstable_in(
    modes: HarmonicPerturbations, point: Point, block: HarmonicClass, neutral: float
) -> tuple[int, float]:
    """Return the number of unstable directions in a class, and the determinant of its matrix."""
    inside, degrees, repulsive = modes.block(point, block)
    inside.flat[:: degrees.size + 1] += neutral
    negative, determinant = signature(inside)
    return negative - repulsive, determinant


def blocks_of(point: Point) -> list[HarmonicClass]:
    """Return the classes of harmonics at a point."""
    return harmonic_perturbations(point.equation).classes


def block_matrix(point: Point, block: HarmonicClass) -> BlockMatrix:
    """Return the matrix of one class at a point."""
    return harmonic_perturbations(point.equation).block(point, block)


def copies(point: Point, one: HarmonicClass, other: HarmonicClass) -> bool:
    """Return whether two classes may have equal eigenvalues by symmetry; those of one branch point are then merged.

    Classes of harmonics are finer than the symmetry of a polyhedral state, whose eigenvalues are multiple.
    """
    return True


def rotations(point: Point, block: HarmonicClass) -> int:
    """Return the number of rotation modes of a state, whose eigenvalues are moved to one, in a class."""
    return harmonic_perturbations(point.equation).rotations(point, block)
