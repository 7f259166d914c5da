r"""First-order lines: places of the plane where two states have equal free energy.

The unknowns are both states, or one where the other is uniform, and the condition is the difference of

.. math:: F/D = \tfrac12\sum_k \sigma_k a_k^2 - \log Z, \qquad
          dF/D = \sum_k \bigl(\tfrac12 a_k^2 - a_k m_k\bigr) d\sigma_k - \sum_k m_k\, df_k
          + \sum_k \sigma_k (a_k - m_k)\, da_k,

m being the moments of the Gibbs density, whose constant, that of the uniform state, cancels. Against the uniform
state it is divided by :math:`|b|^2`: both vanish together at every uniform state, and those are not of the line.
"""

import contextlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from meanfield import InvalidInput
from meanfield.equations import Capability, require

from ..bases import Basis, Floats
from ..branches.continuation import End, Point, length
from ..computed import computed_once
from ..counts import Counts
from ..geometry import Complement
from ..newton import POLISHED, correct
from .at_place import polished
from .branch_points import Born, ClassBeside, born_at, born_of, classes_beside, determinants
from .extended import ExtendedEquation, Margins, Tests
from .folds import FoldEquation, null_vectors
from .plane import Plane
from .stability import class_determinants
from .starts import Start, all_beside, beside, first_point, inside_first, located, threshold_of
from .states import AtState, GradientState
from .system import System, followed_by
from .unknowns import Pair, Symmetric, basis_of, moments_from, unknown_among

# Organising points at which first-order lines begin.
BEGINNINGS = ("tricritical", "cusp", "end point")
# The free energy of a state at a transition is that of the uniform one to this share of its unknowns squared: its
# coupling is known to a share of 1e-11 and better.
EQUAL = 1e-8
# The share of b at a fold that equal free energy at the same amplitude has, see :func:`_beside_folds`.
AT_SAME_AMPLITUDE = 2.0 / 3.0
# Beside it a state differs from that it is born of by an amplitude, which itself moves by the square of that: by
# more than this share it is another state.
PARENT = 0.5
# Two states of one symmetry that approach each other this closely are followed no farther: beside is the cusp in
# which they merge, where the system of both is singular.
NEAR = 0.05
# Closer states are one up to rounding.
MERGED = 1e-6


class UniformTransition(System):
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
        return self.states[0].energy_slopes


class Transition(System):
    """The system of two states at one point."""

    states: tuple[GradientState, ...]

    def __init__(self, states: tuple[GradientState, ...]) -> None:
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
        return np.asarray(self.states[0].energy_slopes - self.states[1].energy_slopes)


class TransitionEquation(ExtendedEquation):
    """The extended system of equal free energies: of two states or, in one basis, of one and the uniform one."""

    kind = "transition"
    of_margins = "end point"

    def __init__(self, plane: Plane, bases: tuple[Basis, ...]) -> None:
        super().__init__(plane, bases)
        self.ends_tricritically = len(bases) == 1

    def _system(self, states: tuple[AtState, ...], b: Floats) -> System:
        gradient = tuple(map(gradient_state, states))
        return UniformTransition(gradient, b[:-1]) if len(states) == 1 else Transition(gradient)

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

    def arrival(self, last: Point, point: Point) -> int | None:
        """Return the critical degree where all states of a line meet the uniform one, None if they do not."""
        found = [self._arrives(last, point, place) for place in range(len(self.bases))]
        return None if None in found else found[0]

    def merges(self, last: Point, point: Point) -> bool:
        """Return whether the two states, or images of them, become one between two points or soon after.

        About two axes of the circle they do so only in a state that is its own image, see :meth:`halved`.
        """
        if len(self.bases) == 1 or not _alike(*self.bases):
            return False
        before, after = self.separation(last), self.separation(point)
        size, former = length(after, 0.0), length(before, 0.0)
        near = NEAR if self.bases[0].symmetry == self.bases[1].symmetry else 0.0
        return bool(before @ after < 0.0 or (size < near and size < former))

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
            return _apart(*((basis, b[self._places(number)]) for number, basis in enumerate(self.bases))).ravel()
        difference = b[: one.degrees.size].copy()
        mine, theirs = np.isin(one.degrees, other.degrees), np.isin(other.degrees, one.degrees)
        difference[mine] -= b[one.degrees.size : -1][theirs]
        return difference


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


def transition_start(start: Start, plane: Plane) -> Point | End:
    """Return the first point of the first-order line through a start.

    Raises
    ------
    InvalidInput
        If it has one state, which is no uniform one, or two that are one.
    """
    require(plane.problem, Capability.FREE_ENERGY, "first-order lines")
    point = _with_born(start, plane) if start.born else _first_point(start, plane)
    if isinstance(point, Point):
        equation = point.equation
        assert isinstance(equation, TransitionEquation)
        if equation.is_degenerate(point):
            raise InvalidInput(
                "no first-order line was found through the start: its states are one, or one is the uniform one; "
                "start from a transition of a diagram"
            )
    return point


def _first_point(start: Start, plane: Plane) -> Point | End:
    """Return the first point of the line through a start in a plane, whose two states may turn out to be one."""
    if start.second is None and plane.confined and start.organising not in BEGINNINGS:
        raise InvalidInput("a transition in a confinement is between two states, and the start names one")
    place, basis, b = located(start, plane, start.first)
    if start.second is not None:
        aligned = plane.confined and not start.has_orders
        moments = _nearest_image(plane, start.first, start.second) if aligned else start.second
        _, other, second = located(start, plane, moments)
        equation = TransitionEquation(plane, (basis, other))
        return first_point(equation, np.concatenate([b, second, [place[0]]]), place[1])
    if start.organising not in BEGINNINGS:
        equation = TransitionEquation(plane, (basis,))
        if not np.any(b):
            raise InvalidInput("the start of the line names no state but the uniform one")
        state = gradient_state(equation.at_states(np.append(b, place[0]), place[1])[0])
        if abs(state.energy) > EQUAL * float(b @ b):
            raise InvalidInput(
                f"the state of the transition has not the free energy of the uniform one, from which it is "
                f"{state.energy:.3g} apart, and the start names no second one; take it from a diagram computed anew"
            )
        return first_point(equation, np.append(b, place[0]), place[1])
    if start.halves:
        return _from_branch_points(start, plane)
    null = null_vectors(plane, basis, place, b)
    if start.uniform:
        equation = TransitionEquation(plane, (basis,))
        fold = FoldEquation(plane, (basis,), null)
        found = beside([fold, equation], np.append(b, place[0]), place[1], np.append(null[1], 0.0))
    else:
        equation = TransitionEquation(plane, (basis, basis))
        apart = np.concatenate([null[1], -null[1], [0.0]]) / np.sqrt(2.0)
        found = beside([equation], np.concatenate([b, b, [place[0]]]), place[1], apart)
    return first_point(equation, *found, start.organising)


def _nearest_image(plane: Plane, first: Pair, second: Pair) -> Pair:
    """Return the moments of the image of a state, under all that keeps the confinement, nearest to another state.

    Of all images that one may merge with it.
    """
    one, other = (cosine[1:] - 1j * sine[1:] for cosine, sine in (first, second))
    count, images = min(one.size, other.size), plane.images(other)
    apart = np.abs(images[:, :count] - one[:count]) / np.arange(1, count + 1)
    nearest = images[int(np.argmin((apart**2).sum(axis=1)))]
    return np.append(second[0][:1], nearest.real), np.append(second[1][:1], -nearest.imag)


def _with_born(start: Start, plane: Plane) -> Point | End:
    """Return the first point of the line of the state that is born at an end point, beside it.

    Raises
    ------
    InvalidInput
        If none is born of a state of the line.
    """
    place, basis, unknown = located(start, plane, start.first)
    first = basis, unknown
    second = None if start.second is None else located(start, plane, start.second)[1:]
    for kept, parent in ((first, second), (second, first)):
        with contextlib.suppress(InvalidInput):
            born, direction = _born_at(start, plane, place, parent)
            found = _beside_born(plane, place, kept, born, direction)
            if found is not None:
                return first_point(*found)
    raise InvalidInput(
        "no state was found that is born at the end point and whose line with the other one goes on from it"
    )


def _born_at(
    start: Start, plane: Plane, place: tuple[float, float], parent: Symmetric | None
) -> tuple[Symmetric, Floats]:
    """Return the state that is born of one, None being the uniform one, and the direction in which it leaves that.

    Raises
    ------
    InvalidInput
        If none is.
    """
    if parent is not None:
        born = born_of(plane, place, *parent)
        return (born.basis, born.unknown), null_vectors(plane, born.basis, place, born.unknown)[1]
    mode = threshold_of(start)
    basis = basis_of(plane, np.eye(1, mode + 1, mode)[0], place)
    return (basis, np.zeros(basis.degrees.size)), np.where(basis.degrees == mode, 1.0, 0.0)


def _beside_born(
    plane: Plane, place: tuple[float, float], kept: Symmetric | None, born: Symmetric, direction: Floats
) -> tuple[TransitionEquation, Floats, float] | None:
    """Return the system of a state and one that is born, and a point of it along the direction or against that.

    The state that is kept is None for the uniform one. First the way towards it, of which images on two sides would
    not merge where the states do.
    """
    others = () if kept is None else (kept,)
    equation = TransitionEquation(plane, tuple(basis for basis, _ in (*others, born)))
    own = np.concatenate([np.zeros(0), *(unknown for _, unknown in others)])
    b = np.concatenate([own, born[1], [place[0]]])
    towards = 1.0
    if kept is not None:
        towards = float(np.copysign(1.0, unknown_among(kept[0], born[0], direction) @ kept[1]))
    for sign in (towards, -towards):
        away = np.concatenate([np.zeros(own.size), sign * direction, [0.0]])
        with contextlib.suppress(InvalidInput):
            return equation, *beside([equation], b, place[1], away)
    return None


def _from_branch_points(start: Start, plane: Plane) -> Point | End:
    """Return the first point of the line between a state and those born of it, from where these turn."""
    born = born_at(start, plane)
    null = null_vectors(plane, born.basis, born.place, born.unknown)
    equation = TransitionEquation(plane, (born.basis, born.curve.basis))
    found = inside_first(plane, _beside_born_of(born, equation, null))
    if found is None:
        raise InvalidInput("no transition was found to begin at the start; start from a point of it in a diagram")
    return first_point(equation, *found, start.organising)


def _beside_born_of(born: Born, equation: TransitionEquation, null: Pair) -> Iterator[tuple[Floats, float]]:
    """Yield (b, q) of points of a line between a state and those born of it, from where these turn."""
    plane = equation.plane
    apart = np.append(null[1], np.zeros(born.parent.size + 1))
    begin, (x, y) = np.concatenate([born.unknown, born.parent]), born.place
    for states, (near_x, near_y) in _beside_folds(born, FoldEquation(plane, (born.basis,), null)):
        found = correct(equation, np.append(states, near_x), near_y, apart, 0.0, POLISHED)
        if found is None:
            continue
        reach = max(length(states - begin, 0.0), length(np.array([near_x - x, near_y - y]), 0.0))
        moved = max(length(found.b[:-1] - states, 0.0), length(found.b[-1:] - near_x, found.q - near_y))
        state, parent = np.split(found.b[:-1], [born.unknown.size])
        if moved <= reach and _keeps_parent(born, state, states[born.unknown.size :], parent):
            yield found.b, found.q


def _keeps_parent(born: Born, state: Floats, before: Floats, parent: Floats) -> bool:
    """Return whether that which a state is born of has moved by a share only of how far they are apart."""
    apart = state - unknown_among(born.basis, born.curve.basis, parent)
    return length(parent - before, 0.0) <= PARENT * length(apart, 0.0)


def _beside_folds(born: Born, fold: FoldEquation) -> Iterator[tuple[Floats, tuple[float, float]]]:
    r"""Yield guesses of the two states of a line beside the point where a branch turns, and of x and q.

    The branch is :math:`r + b y^2 + c y^4 = 0` there, r vanishing on the curve of branch points and b at its
    tricritical point, so that the fold of amplitude y, which is easier to find, is at
    :math:`r = c y^4, b = -2 c y^2`, and equal free energy at a third of r and two thirds of b.
    """
    plane, basis, here = fold.plane, born.curve.basis, np.array(born.place)
    along = born.curve.system(np.append(born.parent, here[0]), born.place[1]).tangent
    away = np.append(fold.borders[1], 0.0)
    for at_fold, q in all_beside([fold], np.append(born.unknown, here[0]), here[1], away):
        there = np.array([at_fold[-1], q])
        distance = float((there - here) @ along[-2:] / (along[-2:] @ along[-2:]))
        parents = [_along(born, along, share * distance) for share in (1.0, AT_SAME_AMPLITUDE)]
        if None in parents:
            continue
        (before, beside), (after, place) = (each for each in parents if each is not None)
        x, y = place + (there - beside) / 3.0
        parent = polished(plane, basis, (float(x), float(y)), after)
        if parent is not None and _keeps_parent(born, at_fold[:-1], after, parent):
            change = unknown_among(born.basis, basis, parent) - unknown_among(born.basis, basis, before)
            yield np.concatenate([at_fold[:-1] + change, parent]), (float(x), float(y))


def _along(born: Born, tangent: Floats, distance: float) -> tuple[Floats, Floats] | None:
    """Return the parent, and x and q, on the curve of branch points at a distance from where a branch turns."""
    begin, q = np.append(born.parent, born.place[0]), born.place[1]
    border = np.append(np.zeros(born.parent.size), tangent[-2])
    step = distance * tangent
    found = correct(born.curve, begin + step[:-1], q + step[-1], border, float(tangent[-1]), POLISHED)
    return None if found is None else (found.b[:-1], np.array([found.b[-1], found.q]))
