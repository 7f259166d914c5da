r"""Curves of branch points: states whose stationary equation is singular in a block beside that of their symmetry.

The matrix is that of :mod:`.blocks`, the condition that of
:mod:`.singular`, and its derivative as in :mod:`.folds`,

.. math:: dh = \langle\chi\,\phi\,d\tilde f\rangle + \chi^T C\, d\Sigma\, S^{-1}u,

the change of the field being one of the state's own modes.

Where the branches born there turn from continuous to discontinuous see :mod:`.turning`.
"""

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from meanfield import InvalidInput
from meanfield.equations import Capability

from ...bases import EPS, Basis, Floats, Integers
from ...bases.limits import MAX_UNKNOWNS
from ...branches.continuation import End, Point
from ...domains import solvers_of
from ...equations.geometry import Complement
from ...execution.computed import computed_once
from ..in_plane.at_place import block_at, state_at
from ..in_plane.blocks import Borders, ComplementaryBlock
from ..in_plane.current_states import CurrentBlock
from ..in_plane.plane import Plane
from ..in_plane.stability import class_determinants
from ..in_plane.states import AtState
from ..in_plane.unknowns import basis_of, in_group, moments_from, packed_moments, uneven_basis, unknown_among
from .extended import ExtendedEquation
from .law_turning import quadratic_of_law, turning_of_law
from .singular import SingularEquation, SingularSystem
from .starts import MOVED, Start, first_point, located
from .system import System
from .tested import Blurred, Margins, Tests
from .turning import Turning, about_other_axis, quadratic, turning

# A direction is simple in a class where all others are farther from neutral by so much.
SIMPLE = 1e3
# Of classes that contain each other one is nearer to singular if its singular values differ by more than rounding.
ROUNDINGS = 64
# What is asked of an event at several points about it, its value and its error, is kept for so many.
KEPT = 64
# The number of the class of the modes of a state itself.
OWN = -1
# The name of what vanishes where branches about both axes of a state are alike.
ALIKE = "alike"


class BranchPointSystem(SingularSystem):
    """The extended system of branch points at one point.

    Attributes
    ----------
    block
        The block that is singular.
    """

    def __init__(self, state: AtState, block: ComplementaryBlock, borders: Borders) -> None:
        super().__init__(state, block.matrix, borders)
        self.block = block

    @computed_once
    def condition_slopes(self) -> tuple[Floats, Floats]:
        """The derivatives of h in the unknowns of the state, and in x and q."""
        return self.block.slopes(self.null)

    @computed_once
    def double_rate(self) -> float:
        """The number that vanishes where the growth rate zero is a double one; one where rates are real."""
        return self.block.double_rate(self.null) if isinstance(self.block, CurrentBlock) else 1.0


class BranchPointEquation(SingularEquation):
    """The extended system of branch points.

    Parameters
    ----------
    plane
        The two parameters.
    bases
        The basis of the state.
    complement
        The class of the critical modes.
    degrees : (size,) int
        Their degrees, the significant ones up to ``last``.
    last
        The degree up to which they are.
    borders
        The unit vectors v and w.
    """

    kind = "branch point"
    ends_tricritically = False

    def __init__(
        self,
        plane: Plane,
        bases: tuple[Basis, ...],
        complement: Complement,
        degrees: Integers,
        last: int,
        borders: Borders,
    ) -> None:
        super().__init__(plane, bases, borders)
        self.complement, self.degrees, self.last = complement, degrees, last

    def _system(self, states: tuple[AtState, ...], b: Floats) -> BranchPointSystem:
        (state,) = states
        block = block_at(state, self.plane, self.complement, self.degrees)
        return BranchPointSystem(state, block, self.borders)

    def label(self, names: Sequence[str]) -> str:
        """Return the name of the curve of branch points of a branch."""
        return f"branch point of the {names[0]}"

    @property
    def tests(self) -> Tests:
        """Functions that vanish where a branch born there turns, and where the zero growth rate is a double one."""
        found = self.double_rates
        if self.complement.pitchfork and not self.untested:
            kinds = (False, True) if self.complement.quarters else (False,)
            found |= {("tricritical", other): Blurred(partial(_turning_of, self, other)) for other in kinds}
            if self.complement.quarters:
                found["mode interaction", ALIKE] = Blurred(partial(_apart_of, self))
        if self.complement.thirds:
            found["mode interaction", ALIKE] = Blurred(partial(_quadratic_of, self))
        return found

    def tests_between(self, last: Point, point: Point) -> Tests:
        """Return those of the functions that tell organising points between two points.

        Where the state passes through the uniform one, as its confinement changes its sign, branches in all
        directions are alike, also between the axes: what tells them apart vanishes there like a power of the state.
        """
        found = self.tests
        before, after = (each.unknowns_on(self)[0][:-1] for each in (last, point))
        if before @ after < 0.0:
            found.pop(("mode interaction", ALIKE), None)
        return found

    def margins(self, point: Point) -> Margins:
        """Return the determinants of J of the state, zero at its folds, and of the blocks of other classes."""
        (state,) = self.system(point.unknowns_on(self)[0], point.q).states
        found: dict[Hashable, float] = {OWN: float(np.linalg.det(state.matrix))}
        # Of subgroups that contain each other several are singular all along the curve.
        if not self.complement.nested:
            found |= determinants(state, self.plane, lambda complement: complement != self.complement)
        found |= class_determinants(state)
        return {(0, number): each for number, each in found.items()}

    @property
    def untested(self) -> str:
        """Why no turning branches are looked for."""
        if not self.complement.pitchfork:
            return ""
        problem = self.plane.problem
        if problem.lacks(Capability.GIBBS_MAP) and not self.complement.born_symmetry:
            return f"that of states without an axis is not known under {problem.velocity.name}, without a Gibbs map"
        return self.complement.untold

    def turning_at(self, b: Floats, q: float, about_other: bool) -> tuple[float, float]:
        """Return a number that vanishes where branches even about the state's own or its other axis turn.

        And its error, zero where that is rounding of the unknowns.
        """
        found = self._turning(b, q, about_other, own=True)
        return found.value, found.error

    def apart_at(self, b: Floats, q: float) -> tuple[float, float]:
        """Return a number that vanishes where branches about the state's own and its other axis are alike.

        To third order in the amplitude; and its error.
        """
        one, other = (self._turning(b, q, about_other, own=False) for about_other in (False, True))
        return one.apart(other)

    def quadratic_at(self, b: Floats, q: float) -> tuple[float, float]:
        """Return a number that vanishes where branches of both signs, of a third of the symmetry, are alike.

        To second order in the amplitude; and its error.
        """
        found = self.system(b, q)
        assert isinstance(found, BranchPointSystem)
        if self.plane.problem.lacks(Capability.GIBBS_MAP):
            return quadratic_of_law(found.block, found.null, self.plane)
        return quadratic(found.block, found.null), 0.0

    def _turning(self, b: Floats, q: float, about_other: bool, *, own: bool) -> Turning:
        found = self.system(b, q)
        assert isinstance(found, BranchPointSystem)
        block, null = found.block, found.null
        if about_other:
            block, null = about_other_axis(block, null, self.plane)
        of_law = self.plane.problem.lacks(Capability.GIBBS_MAP)
        return (turning_of_law if of_law else turning)(block, null, self.plane, self.last, own=own)

    def about_other(self, b: Floats, q: float) -> bool:
        """Return whether the branch that turns at (b, q) is even about the other axis of a state on the circle."""
        if not self.complement.quarters:
            return self.complement.odd
        return abs(self.turning_at(b, q, True)[0]) < abs(self.turning_at(b, q, False)[0])

    def partners(self, degree: int, last: int) -> list[int]:
        """Return the modes one of which is critical with that of a degree where the curve meets the uniform state.

        They are those of the class and, as on spheres a class may have the degree as well, those of the states.
        """
        own = super().partners(degree, last)
        return sorted({*own, *(int(mode) for mode in self.complement.degrees(last))})

    def resolves(self, b: Floats, q: float, moments: Floats) -> bool:
        """Return whether quadrature and unknowns resolve the state and the critical direction."""
        found = self.system(b, q)
        assert isinstance(found, BranchPointSystem)
        return super().resolves(b, q, moments) and found.block.resolved and self._degrees_suffice(found)

    def _degrees_suffice(self, found: System) -> bool:
        """Return whether the critical direction has no part beyond its degrees."""
        assert isinstance(found, BranchPointSystem)
        block = found.block
        phi = np.abs(block.coefficients.attractions * found.null[0] / block.weights)
        last = self.degrees >= self.degrees[-1] - 3 * self.complement.symmetry
        return bool(phi[last].max() <= EPS * phi.max()) or not self._beyond(found).size

    def _beyond(self, found: System) -> Integers:
        """Return the next significant degrees beyond those of the critical direction, if the potential has any."""
        (state,), last = found.states, self.last
        limit = self.basis.most_cells * self.basis.symmetry
        while last <= limit and not self.plane.ends_by(last, *state.place):
            last *= 2
            degrees = self.plane.significant(*state.place, self.complement.degrees(last))
            if degrees[-1:] > self.degrees[-1]:
                return degrees
        return np.zeros(0, dtype=int)

    def refined(self, b: Floats, q: float, moments: Floats) -> ExtendedEquation | None:
        """Return the system with more nodes, unknowns or degrees, or other borders; None at the limits."""
        found = self.system(b, q)
        assert isinstance(found, BranchPointSystem)
        if not found.block.resolved:
            return None
        if self._degrees_suffice(found) or not (
            self._borders_fit(found) and all(map(self._suffices, found.states))
        ):
            return super().refined(b, q, moments)
        kept = np.union1d(self.degrees, self._beyond(found))
        last = max(2 * self.last, int(kept[-1]))
        every = self.complement.degrees(int(kept[-1]))
        degrees = every[np.isin(every, kept)]
        if degrees.size > MAX_UNKNOWNS or last > self.basis.most_nodes:
            return None
        borders = np.zeros((2, degrees.size))
        borders[:, np.isin(degrees, self.degrees)] = self.borders
        return type(self)(self.plane, self.bases, self.complement, degrees, last, (borders[0], borders[1]))

    def in_bases(self, bases: tuple[Basis, ...]) -> "BranchPointEquation":
        """Return the same system with another basis of the state."""
        return type(self)(self.plane, bases, self.complement, self.degrees, self.last, self.borders)

    def bordered_by(self, found: System) -> "BranchPointEquation":
        """Return the same system with its null vectors at a point as borders."""
        assert isinstance(found, BranchPointSystem)
        right, left = (vector / np.linalg.norm(vector) for vector in found.null)
        return type(self)(self.plane, self.bases, self.complement, self.degrees, self.last, (left, right))


@lru_cache(maxsize=KEPT)
def _turning_of(equation: BranchPointEquation, about_other: bool, point: Point) -> tuple[float, float]:
    """Return what vanishes where branches turn at a point of a curve, and its error."""
    return equation.turning_at(point.unknowns_on(equation)[0], point.q, about_other)


@lru_cache(maxsize=KEPT)
def _apart_of(equation: BranchPointEquation, point: Point) -> tuple[float, float]:
    """Return what vanishes where branches about both axes are alike at a point of a curve, and its error."""
    return equation.apart_at(point.unknowns_on(equation)[0], point.q)


@lru_cache(maxsize=KEPT)
def _quadratic_of(equation: BranchPointEquation, point: Point) -> tuple[float, float]:
    """Return what vanishes where branches of both signs are alike at a point of a curve, and its error."""
    return equation.quadratic_at(point.unknowns_on(equation)[0], point.q)


def branch_point_start(start: Start, plane: Plane) -> Point | End:
    """Return the first point of the curve of branch points through a start.

    Raises
    ------
    InvalidInput
        If the state has no direction of another symmetry that is neutral, or such directions are not known.
    """
    place, basis, b = located(start, plane, start.first)
    state = state_at(plane, basis, place, b)
    nearest = nearest_block(state, plane, MOVED)
    if nearest is None:
        raise InvalidInput(
            "curves of branch points are followed where a state has one neutral direction of another symmetry than "
            "its own, and none was found alone at the start: where a part of a rotation symmetry is lost, two are "
            "neutral at once; start from a fold or a transition"
        )
    return first_point(nearest, np.append(b, place[0]), place[1])


class Born(NamedTuple):
    """The branch that turns at a tricritical point, in the state there.

    ``curve`` is the system of the branch points at which such branches are born, and ``parent`` the unknown of the
    state in its basis; ``place`` has x and q.
    """

    curve: BranchPointEquation
    parent: Floats
    place: tuple[float, float]
    basis: Basis
    unknown: Floats


def born_at(start: Start, plane: Plane) -> Born:
    """Return the branch that turns at a tricritical point.

    Raises
    ------
    InvalidInput
        If its states may turn, or the state is none of which branches are born.
    """
    return born_of(plane, *located(start, plane, start.first))


def born_of(plane: Plane, place: tuple[float, float], basis: Basis, b: Floats) -> Born:
    """Return the branch that is born of a state at x and q, of which b is the unknown.

    Raises
    ------
    InvalidInput
        If its states may turn, or the state is none of which branches are born.
    """
    curve = nearest_block(state_at(plane, basis, place, b), plane, MOVED)
    complement = None if curve is None else curve.complement
    if curve is not None and complement is not None and complement.born is not None:
        return Born(curve, b, place, *in_group(plane, complement.born, packed_moments(basis, b), place))
    if curve is not None and complement is not None and complement.uneven:
        lengths = np.hypot(*moments_from(basis, b))
        if complement.born_symmetry:
            # The basis takes its symmetry from the moments there are.
            lengths[complement.born_symmetry :: complement.born_symmetry] = 1.0
        uneven = uneven_basis(plane, lengths, place)
        return Born(curve, b, place, uneven, unknown_among(uneven, basis, b))
    if curve is None or complement is None or not complement.born_symmetry:
        raise InvalidInput(
            "no branch is known to be born at the start whose folds and first-order lines are followed; start from "
            "one of them"
        )
    axis = basis.axis
    if curve.about_other(np.append(b, place[0]), place[1]):
        if plane.confined:
            axis += np.pi / basis.symmetry
        else:
            # The state is turned instead, and sines with it become cosines.
            b = np.where(basis.cells % 2, -1.0, 1.0) * b
            curve = nearest_block(state_at(plane, basis, place, b), plane, MOVED, _about_own_axis)
            assert curve is not None
    named = np.zeros(int(basis.degrees[-1]) + 1)
    named[complement.born_symmetry :: complement.born_symmetry] = 1.0
    born = basis_of(plane, named, place, axis)
    return Born(curve, b, place, born, unknown_among(born, basis, b))


def _about_own_axis(complement: Complement) -> bool:
    """Return whether perturbations of a class may be even about the axis of the state."""
    return not (complement.odd or complement.uneven)


def nearest_block(
    state: AtState, plane: Plane, least: float = np.inf, admitted: Callable[[Complement], bool] = lambda _: True
) -> BranchPointEquation | None:
    """Return the system of branch points in the block that is nearest to a singular one at a state.

    Of the classes that are admitted. None if no block has a singular value below ``least``.
    """
    basis, nearest = state.weighted.basis, None
    last = max(int(basis.degrees[-1]) + basis.symmetry, plane.last)
    for complement in solvers_of(plane.problem).geometry.complements(basis, last):
        degrees = plane.significant(*state.place, complement.degrees(last))
        if not degrees.size or not admitted(complement):
            continue
        left, sizes, right = np.linalg.svd(block_at(state, plane, complement, degrees).matrix)
        simple = not complement.nested or sizes.size == 1 or sizes[-2] > SIMPLE * sizes[-1]
        margin = ROUNDINGS * EPS * sizes[0] if complement.nested and nearest is not None else 0.0
        if simple and sizes[-1] < least - margin:
            least = float(sizes[-1])
            nearest = BranchPointEquation(plane, (basis,), complement, degrees, last, (left[:, -1], right[-1]))
    return nearest


def determinants(
    state: AtState, plane: Plane, admitted: Callable[[Complement], bool] = lambda _: True
) -> dict[Hashable, float]:
    """Return the determinants of the blocks of perturbations in the classes beside a state, by their numbers.

    Of those that are admitted, and without those that contain modes of the state.
    """
    return {
        each.number: each.determinant(state, plane)
        for each in classes_beside(state.weighted.basis, plane)
        if admitted(each.complement)
    }


class ClassBeside(NamedTuple):
    """A class of perturbations beside those of a state: its number, itself, and its degrees that may act."""

    number: int
    complement: Complement
    degrees: Integers

    def determinant(self, state: AtState, plane: Plane) -> float:
        """Return the determinant of its block at a state; modes that do not act leave it as it is."""
        return float(np.linalg.det(block_at(state, plane, self.complement, self.degrees).matrix))


def classes_beside(basis: Basis, plane: Plane) -> list[ClassBeside]:
    """Return the classes of perturbations beside the states of a basis, without those that contain modes of it."""
    last = max(int(basis.degrees[-1]) + basis.symmetry, plane.last)
    classes = enumerate(solvers_of(plane.problem).geometry.complements(basis, last))
    found = (ClassBeside(number, complement, complement.degrees(last)) for number, complement in classes)
    return [each for each in found if each.degrees.size and not each.complement.nested]
