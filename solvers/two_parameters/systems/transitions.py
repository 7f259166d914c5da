r"""First-order lines: places of the plane where two states have equal free energy.

The unknowns are both states, or one where the other is uniform, and the condition is the difference of

.. math:: F/D = \tfrac12\sum_k \sigma_k a_k^2 - \log Z, \qquad
          dF/D = \sum_k \bigl(\tfrac12 a_k^2 - a_k m_k\bigr) d\sigma_k - \sum_k m_k\, df_k
          + \sum_k \sigma_k (a_k - m_k)\, da_k,

m being the moments of the Gibbs density, whose constant, that of the uniform state, cancels. Against the uniform
state it is divided by :math:`|b|^2`: both vanish together at every uniform state, and those are not of the line.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...bases import Basis, Floats
from ...branches.continuation import Point, length
from ...equations.counts import Counts
from ...equations.geometry import Complement
from ...execution.computed import computed_once
from ..in_plane.coefficients import Place
from ..in_plane.plane import Plane
from ..in_plane.stability import class_determinants
from ..in_plane.states import AtState, GradientState
from ..in_plane.unknowns import moments_from
from .branch_points import ClassBeside, classes_beside, determinants
from .extended import ExtendedEquation
from .merging import Refined, refined
from .system import System, followed_by
from .tested import Margins, Tests

# Two states of one symmetry that approach each other this closely are followed no farther: beside is the cusp in
# which they merge, where the system of both is singular.
NEAR = 0.05
# In a step in which they approach each other by this factor the square of their distance is halved, and vanishes
# within one more.
APPROACHING = 0.7
# Points are refined where so small a share of the derivatives of the free energy is left of their difference,
# and beside the uniform state where the square of the unknown is so small. Of 200 points with slopes known in 50
# digits some of less than a tenth of either were wrong by more than 1e-9; of more, only some of slopes near zero.
CANCELLED, SMALL_SQUARE = 0.25, 1e-3
# And where one of the parameters changes by so small a share of what the other does, each in units of its value:
# the states differ by moments that vanish nearby, which are known less well the smaller they are. At shares of 2e-5
# slopes were wrong by 1e-9 of themselves, and by more at smaller ones.
FLAT = 0.02
# And where more of a residual is left than roundings of terms of size one.
ROUGH = 1e-13
# Closer states are one up to rounding.
MERGED = 1e-6


class LineSystem(System):
    """The base of systems of equal free energies."""

    @property
    def _is_rough(self) -> bool:
        """Whether double precision leaves a residual, as where a mode repels strongly."""
        return float(np.abs(self.residual).max()) > ROUGH


class UniformTransition(LineSystem):
    """The system of a state and the uniform one at one point; b is the unknown of the state."""

    states: tuple[GradientState, ...]

    def __init__(self, states: tuple[GradientState, ...], b: Floats) -> None:
        (state,) = states
        self._b, self._square = b, float(b @ b)
        super().__init__(states, followed_by(state.residual, state.energy / self._square))

    @computed_once
    def derivatives(self) -> tuple[Floats, Floats]:
        """The derivatives of the residual in the unknowns, (size, size), and in q, (size,)."""
        (state,) = self.states
        along_x, along_q = state.slopes
        in_x, in_q = state.energy_slopes / self._square
        matrix = np.empty((self.residual.size, self.residual.size), order="F")
        matrix[:-1, :-1], matrix[:-1, -1] = state.matrix, along_x
        matrix[-1, :-1] = (state.energy_gradient - 2.0 * self.residual[-1] * self._b) / self._square
        matrix[-1, -1] = in_x
        return matrix, followed_by(along_q, in_q)

    @property
    def normal(self) -> Floats:
        """The derivatives of the free energy in x and q, (2,): Clausius and Clapeyron."""
        return self.states[0].energy_slopes if self.refined is None else self.refined.normal(self.states)

    @computed_once
    def refined(self) -> Refined | None:
        """The point in extended precision where the state is small, or double precision is not enough otherwise."""
        normal = self.states[0].energy_slopes
        if self._square > SMALL_SQUARE and not (self._is_rough or _is_flat(normal, self.place)):
            return None
        return refined(self.states, self.derivatives, normal)


class Transition(LineSystem):
    """The system of two states at one point."""

    states: tuple[GradientState, GradientState]

    def __init__(self, states: tuple[GradientState, GradientState]) -> None:
        one, other = states
        super().__init__(states, np.concatenate([one.residual, other.residual, [one.energy - other.energy]]))

    @computed_once
    def derivatives(self) -> tuple[Floats, Floats]:
        """The derivatives of the residual in the unknowns, (size, size), and in q, (size,)."""
        one, other = self.states
        cut = one.residual.size
        matrix = np.zeros((self.residual.size, self.residual.size), order="F")
        matrix[:cut, :cut], matrix[cut:-1, cut:-1] = one.matrix, other.matrix
        slopes = np.concatenate([one.slopes, other.slopes], axis=1)
        in_place = one.energy_slopes - other.energy_slopes
        matrix[:-1, -1], matrix[-1, -1] = slopes[0], in_place[0]
        matrix[-1, :cut], matrix[-1, cut:-1] = one.energy_gradient, -other.energy_gradient
        return matrix, followed_by(slopes[1], in_place[1])

    @property
    def normal(self) -> Floats:
        """The derivatives of the difference of free energies in x and q, (2,): Clausius and Clapeyron."""
        one, other = self.states
        return one.energy_slopes - other.energy_slopes if self.refined is None else self.refined.normal(self.states)

    @computed_once
    def refined(self) -> Refined | None:
        """The point in extended precision where the normal cancels, or double precision is not enough otherwise."""
        one, other = (state.energy_slopes for state in self.states)
        apart = np.asarray(one - other)
        whole = length(apart, 0.0) > CANCELLED * length(one, 0.0)
        if whole and not (self._is_rough or _is_flat(apart, self.place)):
            return None
        return refined(self.states, self.derivatives, apart)


class TransitionEquation(ExtendedEquation):
    """The extended system of equal free energies: of two states or, in one basis, of one and the uniform one."""

    kind = "transition"
    of_margins = "end point"

    def __init__(self, plane: Plane, bases: tuple[Basis, ...]) -> None:
        super().__init__(plane, bases)
        self.ends_tricritically = len(bases) == 1

    def _system(self, states: tuple[AtState, ...], b: Floats) -> System:
        gradient = tuple(map(gradient_state, states))
        return UniformTransition(gradient, b[:-1]) if len(gradient) == 1 else Transition((gradient[0], gradient[1]))

    def label(self, names: Sequence[str]) -> str:
        """Return the name of the line between two branches."""
        rival = names[1] if len(names) > 1 else "uniform"
        return f"transition {rival} | {names[0]}"

    @property
    def record_fields(self) -> dict[str, Any]:
        """The symmetry of the second state."""
        return {"other_symmetry": 0 if len(self.bases) == 1 else self.bases[1].symmetry}

    @property
    def tests(self) -> Tests:
        """Functions that vanish where a state is neutral to those of half its symmetry, the uniform one to any.

        And where the uniform state has the free energy of two others.
        """
        found: Tests = {
            ("end point", (place, each.number)): partial(self._margin, place, each) for place, each in self._halving
        }
        if len(self.bases) == 1:
            found["end point", None] = self._uniform_margin
        elif not self.plane.confined:
            found["triple point", None] = self._energy
        return found

    def tests_between(self, last: Point, point: Point) -> Tests:
        """Return those of the functions that tell organising points between two points.

        Where one of two states passes through the uniform one, of which it is born with amplitudes of both signs,
        its free energy changes its sign like the cube of the amplitude: it is divided by that.
        """
        found = self.tests
        if ("triple point", None) not in found:
            return found
        passing = [number for number in range(len(self.bases)) if self.arrives(last, point, number) is not None]
        if len(passing) == 1:
            (number,) = passing
            before = last.unknowns_on(self)[0][self.places(number)]
            del found["triple point", None]
            found["triple point", number] = partial(self._energy_over_cube, number, before / length(before, 0.0))
        return found

    @computed_once
    def _halving(self) -> list[tuple[int, ClassBeside]]:
        """The states by their numbers, with the classes of perturbations that halve their symmetry."""
        return [
            (place, each)
            for place, basis in enumerate(self.bases)
            for each in classes_beside(basis, self.plane)
            if self._halves(each.complement)
        ]

    def margins(self, point: Point) -> Margins:
        """Return numbers that vanish where a state is neutral to others than the test for end points has."""
        return {
            (place, number): determinant
            for place, state in enumerate(self.system(point.unknowns_on(self)[0], point.q).states)
            for number, determinant in (
                determinants(state, self.plane, self._is_further) | class_determinants(state)
            ).items()
        }

    def _halves(self, complement: Complement) -> bool:
        """Return whether perturbations of a class halve the symmetry of a state."""
        return complement.pitchfork and complement.squares is None

    def _is_further(self, complement: Complement) -> bool:
        return not self._halves(complement)

    def changed_states(self, before: tuple[Counts, ...], after: tuple[Counts, ...]) -> set[int]:
        """Return the states that become unstable between two points."""
        changed = super().changed_states(before, after)
        return {
            place
            for place in changed
            if not any(before[place]) or not any(after[place]) or self.bases[place].invariants is not None
        }

    def states_with_margins(self, before: tuple[Counts, ...], after: tuple[Counts, ...]) -> set[int]:
        """Return the states that become unstable, of which alone margins are compared."""
        return self.changed_states(before, after)

    def _margin(self, place: int, beside: ClassBeside, point: Point) -> float:
        """Return the determinant of one class of perturbations of a state."""
        return beside.determinant(self.system(point.unknowns_on(self)[0], point.q).states[place], self.plane)

    def _uniform_margin(self, point: Point) -> float:
        """Return one minus the largest lambda of the modes, which vanishes where the uniform state is critical."""
        (state,) = self.system(point.unknowns_on(self)[0], point.q).states
        return 1.0 - float(state.coefficients.strengths.max())

    def _energy(self, point: Point) -> float:
        """Return the free energy of the first state above that of the uniform one."""
        return gradient_state(self.system(point.unknowns_on(self)[0], point.q).states[0]).energy

    def _energy_over_cube(self, number: int, direction: Floats, point: Point) -> float:
        """Return the free energy of the states above that of the uniform one over the cube of the part of one."""
        part = float(direction @ point.unknowns_on(self)[0][self.places(number)])
        return self._energy(point) / part**3

    def arrival(self, last: Point, point: Point) -> int | None:
        """Return the critical degree where all states of a line meet the uniform one, None if they do not."""
        found = [self.arrives(last, point, place) for place in range(len(self.bases))]
        return None if None in found else found[0]

    def merges(self, last: Point, point: Point) -> bool:
        """Return whether the two states, or images of them, become one between two points or soon after.

        About two axes of the circle they do so only in a state that is its own image, see :meth:`halved`.
        """
        if len(self.bases) == 1 or not _alike(*self.bases):
            return False
        before, after = self._separations(last, point)
        size, former = length(after, 0.0), length(before, 0.0)
        near = NEAR if self.bases[0].symmetry == self.bases[1].symmetry else 0.0
        # Of states that approach by less the cusp, at whose distance they differ by its root, is far away.
        return bool(before @ after < 0.0 or (size < near and size <= APPROACHING * former))

    def _separations(self, last: Point, point: Point) -> tuple[Floats, Floats]:
        """Return the differences of the two states at two points, by the image that is nearest at the first."""
        one, other = self.bases
        if one.symmetry != other.symmetry or group_of(one) is not group_of(other):
            return self.separation(last), self.separation(point)
        ends = [(each.unknowns_on(self)[0], each.q) for each in (last, point)]
        oriented = any(self._is_oriented(*each) for each in ends)
        before, after = (self._apart_from_images(unknown, oriented) for unknown, _ in ends)
        number = min(range(len(before)), key=lambda place: length(before[place], 0.0))
        return before[number], after[number]

    def is_degenerate(self, point: Point) -> bool:
        """Return whether one of two states is the uniform one, or both are one."""
        if len(self.bases) == 1:
            return False
        return self.has_uniform(point.unknowns_on(self)[0]) or length(self.separation(point), 0.0) <= MERGED

    def separation(self, point: Point) -> Floats:
        """Return the difference of the two states in the unknowns of the first.

        Of states of two symmetries, what the less symmetric one has beyond the other, whichever image that is; of
        states in subspaces of two groups, all that they have; about two axes of the circle, that in both moments.
        """
        b, (one, other) = point.unknowns_on(self)[0], self.bases
        if group_of(one) is not group_of(other):
            return b[:-1]
        if one.symmetry != other.symmetry:
            larger = max(one.symmetry, other.symmetry)
            beyond = np.concatenate([one.degrees, other.degrees]) % larger != 0
            return np.asarray(b[:-1][beyond])
        if not _alike(one, other):
            return _apart(*((basis, b[self.places(number)]) for number, basis in enumerate(self.bases))).ravel()
        apart = self._apart_from_images(b, self._is_oriented(b, point.q))
        return min(apart, key=lambda each: length(each, 0.0))

    def beside_first(self, unknown: Floats, q: float) -> tuple[Floats, Floats]:
        """Return the first state, and the image of the second one nearest to it in the unknowns of the first."""
        own, images = self._images(unknown, self._is_oriented(unknown, q))
        return own, min(images, key=lambda image: length(image - own, 0.0))

    def _is_oriented(self, unknown: Floats, q: float) -> bool:
        """Return whether the confinement vanishes at a point, as along lines of two orientations of a state."""
        if not self.plane.confined:
            return False
        return self.plane.coefficients(float(unknown[-1]), q, self.basis.degrees, self.basis).forces_vanish

    def _apart_from_images(self, unknown: Floats, oriented: bool) -> list[Floats]:
        """Return the differences of the first state from all images of the second, in one order along the line."""
        own, images = self._images(unknown, oriented)
        return [own - image for image in images]

    def _images(self, unknown: Floats, oriented: bool) -> tuple[Floats, list[Floats]]:
        """Return the first state and, in its unknowns, images of the second, turned to where that is nearest.

        Only itself, as it stands, where orientations count.
        """
        one, other = self.bases
        own, second = unknown[: one.degrees.size], unknown[one.degrees.size : -1]
        moved = np.zeros(one.degrees.size)
        moved[np.isin(one.degrees, other.degrees)] = second[np.isin(other.degrees, one.degrees)]
        return own, [moved] if oriented else one.images_beside(moved, own, self.plane.confined)


def _is_flat(normal: Floats, place: Place) -> bool:
    """Return whether one of the parameters changes little along a line, each in units of its value."""
    across, down = normal
    first, second = np.abs(place.slopes @ (-down, across) * place.values[::-1])
    return bool(min(first, second) < FLAT * max(first, second))


def gradient_state(state: AtState) -> GradientState:
    """Return a state, which has a free energy."""
    assert isinstance(state, GradientState)
    return state


def _alike(one: Basis, other: Basis) -> bool:
    """Return whether the densities of two bases are about one axis or, without an axis, of one symmetry."""
    uneven = one.fourier is not None, other.fourier is not None
    return uneven[0] == uneven[1] and one.axis == other.axis and (not uneven[0] or one.symmetry == other.symmetry)


def _apart(one: tuple[Basis, Floats], other: tuple[Basis, Floats]) -> Floats:
    """Return the difference of the cosine and sine moments of two states on the circle, (2, n) by degree."""
    apart = np.zeros((2, int(max(basis.degrees[-1] for basis, _ in (one, other))) + 1))
    for (basis, b), sign in ((one, 1.0), (other, -1.0)):
        moments = np.stack(moments_from(basis, b))
        apart[:, : moments.shape[1]] += sign * moments
    return apart


def group_of(basis: Basis) -> object:
    """Return the group of the densities of a basis on S^2 without an axis, None for others."""
    return None if basis.invariants is None else basis.invariants.group
