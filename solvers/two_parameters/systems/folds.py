r"""Fold curves: states at which the stationary equation is singular in the block of their own symmetry.

In the condition of :mod:`.singular`, with :math:`\chi = \sum_k S_k\psi_k c_k`,
:math:`\phi = \sum_k (\sigma_k u_k/S_k) c_k` and the change :math:`d\!f` of the field,
:math:`dC = \langle\tilde c\,\tilde c^T d\tilde f\rangle` gives

.. math:: dh = \langle\tilde\chi\,\tilde\phi\,d\tilde f\rangle + \chi^T C\, d\Sigma\, S^{-1}u,

tildes being deviations from means: one moment of the Gibbs density. At a cusp the third moment of
:math:`\phi`, :math:`\langle\tilde\phi^3\rangle`, vanishes.
"""

from collections.abc import Sequence

import numpy as np

from meanfield.equations import Capability

from ...bases import Basis, Floats
from ...branches.continuation import End, Point
from ...equations.counts import Counts
from ...execution.computed import computed_once
from ..in_plane.at_place import state_at
from ..in_plane.blocks import Borders
from ..in_plane.current_states import CurrentState
from ..in_plane.plane import Plane
from ..in_plane.stability import class_determinants
from ..in_plane.states import AtState
from .branch_points import born_at, branch_point_start, classes_beside, determinants, nearest_block
from .singular import SingularEquation, SingularSystem
from .starts import MOVED, Start, beside, first_point, located
from .system import System
from .tested import Margins, Tests


class FoldSystem(SingularSystem):
    """The extended system of folds at one point: its matrix is J of the state."""

    def __init__(self, state: AtState, borders: Borders) -> None:
        super().__init__(state, state.matrix, borders)

    @computed_once
    def condition_slopes(self) -> tuple[Floats, Floats]:
        """The derivatives of h in the unknowns of the state, and in x and q."""
        (right, left), (state,) = self.null, self.states
        weights = state.weighted.weights
        in_moments, in_place = state.response_slopes(weights * left, right / weights)
        return in_moments / weights, in_place

    @computed_once
    def double_rate(self) -> float:
        """The number that vanishes where the growth rate zero is a double one; one where rates are real."""
        (right, left), (state,) = self.null, self.states
        if not isinstance(state, CurrentState):
            return 1.0
        return state.double_rate(right / state.weighted.weights, state.weighted.weights * left)

    @property
    def normal(self) -> Floats:
        """Psi times the derivatives of G in x and q, (2,)."""
        return np.asarray(self.states[0].slopes @ self.null[1])


class FoldEquation(SingularEquation):
    """The extended system of folds; parameters are those of the base."""

    kind = "fold"

    def _system(self, states: tuple[AtState, ...], b: Floats) -> FoldSystem:
        (state,) = states
        return FoldSystem(state, self.borders)

    def label(self, names: Sequence[str]) -> str:
        """Return the name of the curve of folds of a branch."""
        return f"fold of the {names[0]}"

    @property
    def tests(self) -> Tests:
        """The third moment that vanishes at cusps, and what vanishes where the zero growth rate is a double one."""
        return {("cusp", None): self._asymmetry, **self.double_rates}

    def margins(self, point: Point) -> Margins:
        """Return the determinants of blocks that vanish where the state is at a branch point too, by class."""
        (state,) = self.system(point.unknowns_on(self)[0], point.q).states
        found = determinants(state, self.plane) | class_determinants(state)
        return {(0, number): each for number, each in found.items()}

    def states_with_margins(self, before: tuple[Counts, ...], after: tuple[Counts, ...]) -> set[int]:
        """Return the states of which margins are compared, by default where the unstable directions change.

        Two of several classes may become singular and their number be what it was. Without a Gibbs map classes take
        long.
        """
        return {0} if self._has_several_classes else self.changed_states(before, after)

    @computed_once
    def _has_several_classes(self) -> bool:
        if self.plane.problem.lacks(Capability.GIBBS_MAP):
            return False
        return self.basis.invariants is not None or len(classes_beside(self.basis, self.plane)) > 1

    def _asymmetry(self, point: Point) -> float:
        found = self.system(point.unknowns_on(self)[0], point.q)
        assert isinstance(found, FoldSystem)
        return found.states[0].asymmetry(found.null)

    def in_bases(self, bases: tuple[Basis, ...]) -> "FoldEquation":
        """Return the same system with another basis of the state."""
        (old,), (new,) = self.bases, bases
        borders = np.zeros((2, new.degrees.size))
        borders[:, np.isin(new.degrees, old.degrees)] = self.borders
        return FoldEquation(self.plane, bases, (borders[0], borders[1]))

    def bordered_by(self, found: System) -> "FoldEquation":
        """Return the same system with its null vectors at a point as borders."""
        assert isinstance(found, FoldSystem)
        right, left = (vector / np.linalg.norm(vector) for vector in found.null)
        return FoldEquation(self.plane, self.bases, (left, right))


def fold_start(start: Start, plane: Plane) -> Point | End:
    """Return the first point of the curve of folds through a start, of branch points if a double rate is theirs."""
    if start.halves:
        born = born_at(start, plane)
        place, basis, b = born.place, born.basis, born.unknown
    else:
        place, basis, b = located(start, plane, start.first)
    if start.organising == "Bogdanov-Takens" and nearest_block(state_at(plane, basis, place, b), plane, MOVED):
        return branch_point_start(start, plane)
    equation = FoldEquation(plane, (basis,), null_vectors(plane, basis, place, b))
    b, q = np.append(b, place[0]), place[1]
    if start.uniform or start.halves:
        b, q = beside([equation], b, q, np.append(equation.borders[1], 0.0))
        return first_point(equation, b, q, start.organising)
    return first_point(equation, b, q)


def null_vectors(plane: Plane, basis: Basis, place: tuple[float, float], b: Floats) -> tuple[Floats, Floats]:
    """Return the left and the right singular vector of the least singular value of J at a state.

    Of the uniform state of waves, where its phase is neutral as well, the cosine of the mode whose phase is held.
    """
    if plane.rotates and not np.any(b):
        assert basis.fourier is not None
        assert basis.fourier.held_by is not None
        cosine = np.eye(b.size)[basis.fourier.held_by - b.size // 2]
        return cosine, cosine
    left, _, right = np.linalg.svd(state_at(plane, basis, place, b).matrix)
    return np.asarray(left[:, -1]), np.asarray(right[-1])
