r"""Stationary states that carry a current, at a point of the plane of two parameters.

The drift g of a density with moments a and the change of the density with it are those of
:mod:`solvers.equations.current`: a mean changes by :math:`d\langle\chi\rangle = \langle w\rho\,dg\rangle`, w being
the weight of :math:`\chi`. With the unknowns of :mod:`.states`

.. math:: J = 1 - S\,\frac{\partial\langle c\rangle}{\partial g}\,\partial_a g\,S^{-1}, \qquad
          \partial_x G = -S\,\frac{\partial\langle c\rangle}{\partial g}\,\partial_x g .

The change of :math:`\langle\chi\rangle` under a change u of the moments, with :math:`g_u = \partial_a g\,u` and the
change :math:`\rho_u` of the density, has along any change :math:`dg` of the drift the derivative

.. math:: \langle(w\rho_u + z\rho)\,dg\rangle + \langle w\rho\,dg_u\rangle ,

z being the weight of the mean of :math:`w g_u`.
"""

import numpy as np

from ...bases import Floats, FourierBasis, Gibbs, Integers
from ...domains import solvers_of
from ...equations.current import MOST, AtRest, CurrentEquation
from ...equations.sizing import in_confinement
from ...execution.computed import computed_once
from .blocks import Borders, ComplementaryBlock
from .law_states import LawState


class CurrentState(LawState):
    """The stationary equation of densities with a current at one state; parameters are those of the base."""

    @computed_once
    def _law(self) -> CurrentEquation:
        """The equation in the coupling at the place, also where something reflects the problem."""
        problem = self.coefficients.place.problem
        geometry = solvers_of(problem).geometry
        basis = in_confinement(problem, self.weighted.basis, geometry)
        return CurrentEquation(problem, basis, self._plane.sign, geometry)

    @computed_once
    def _at_rest(self) -> AtRest:
        return self._law.at_rest(*self._at)

    def _gibbs(self) -> Gibbs:
        return Gibbs(self._law.stacked(self._at_rest.moments, 1.0), 0.0)

    @property
    def nodal_density(self) -> Floats:
        """The density on the grid."""
        return self._at_rest.density

    @property
    def largest(self) -> float:
        """The size of the linearised equation over the noise: the square of its degrees."""
        return float(self.nodal_basis.symmetry * self.nodal_basis.nodes) ** 2

    @property
    def most_nodes(self) -> int:
        """The most nodes on which the state is looked for: its linear equation is dense where the drift is."""
        return MOST

    def mean(self, values: Floats) -> float:
        """Return the mean of values on the grid under the density."""
        return float(np.mean(values * self.nodal_density))

    def _response(self, change: Floats) -> Floats:
        """Return the change of the means under a change of the drift on the grid."""
        (moved,) = self._at_rest.responses(change[None])
        return self.nodal_basis.means(self._law.stacked(moved, 0.0))

    @computed_once
    def field_changes(self) -> Floats:
        """The derivatives of the drift in the moments on the grid, one row each."""
        directions = np.diag(self._law.scales)
        return self._in_frame(self._law.drift_changes(*self._at, directions), directions)

    def _drift_along(self, changes: Floats) -> tuple[Floats, Floats]:
        """Return the change of the drift along changes of the moments, without and with that of the frame."""
        directions = (self._law.scales * changes)[None]
        of_law = self._law.drift_changes(*self._at, directions)
        return of_law[0], self._in_frame(of_law, directions)[0]

    def _in_frame(self, changes: Floats, directions: Floats | None = None) -> Floats:
        """Return changes of the drift in the frame in which the density rests, one row each.

        Parameters
        ----------
        changes
            Those on the grid.
        directions
            Those of the unknown with which the drift changes so, one row each; None if it stays as it is.
        """
        return changes

    def _in_frame_form(self, chi: Floats) -> Floats:
        """Return the linear form of the changes of the means that is chi, the velocity of the frame following."""
        return chi

    def response_slopes(self, chi: Floats, changes: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of the change of <chi> under changes of the moments, in these and in x and q."""
        law, rest, scaled = self._law, self._at_rest, self._law.scales * changes
        of_law, along = self._drift_along(changes)
        (moved,) = rest.responses(along[None])
        weight = rest.weight(law.form_of(self._in_frame_form(chi)))
        of_change = rest.weight(rest.form(weight * along))
        both = weight * rest.change_on_grid(moved) + of_change * rest.density
        weighted = weight * rest.density
        curvatures = law.drift_curvatures(*self._at, scaled, np.diag(law.scales))
        changed = self.slopes_in_place(of_law, lambda own: law.law_slope_change(*self._at, own, scaled))
        in_moments = self.field_changes @ both + curvatures @ weighted
        in_place = self.nodal_slopes @ both + changed @ weighted
        return in_moments / both.size, in_place / both.size

    def double_rate(self, changes: Floats, chi: Floats) -> float:
        r"""Return a number that vanishes where the growth rate zero is a double one (Bogdanov and Takens).

        Growth rates are the eigenvalues of :math:`-DK(L - B\,\partial_a g)` in all moments, K having the degrees.
        With the right null vector :math:`L^{-1}Bg_u` and the left one :math:`K^{-1}L^{-T}\chi` it is their product.

        Parameters
        ----------
        changes, chi : (size,) float
            The null vectors, as changes of the moments and as a sum of the modes.
        """
        rest, law = self._at_rest, self._law
        (right,) = rest.responses(self._drift_along(changes)[1][None])
        cells = np.arange(1, right.size // 2 + 1)
        left = rest.adjoint(law.form_of(self._in_frame_form(chi))) / np.tile(cells, 2)
        return float(left @ right) / float(np.linalg.norm(left) * np.linalg.norm(right))

    def halved(self, cells: Integers) -> "CurrentState":
        """Return the state among the densities of half its symmetry, an even one, with some cells of these."""
        basis = self.weighted.basis
        assert basis.fourier is not None
        own, held_by = 2 * basis.cells, basis.fourier.held_by
        every = np.union1d(own, cells)
        if held_by is not None:
            held_by = every.size + int(np.searchsorted(every, own[held_by - own.size]))
        wider = FourierBasis(every, 2 * basis.nodes, basis.symmetry // 2, held_by=held_by)
        unknown = np.zeros(wider.degrees.size)
        unknown[np.tile(np.isin(wider.cells, own), 2)] = self.unknown
        return self.on(wider, self._plane.coefficients(*self.place, wider.degrees, wider), unknown)


class CurrentBlock(ComplementaryBlock):
    """The linearisation among cosines and sines of odd multiples of half the symmetry; parameters of the base."""

    state: CurrentState

    @computed_once
    def halved(self) -> CurrentState:
        """The state among the densities of half its symmetry."""
        cells = self.degrees[: self.degrees.size // 2] // (self.state.weighted.basis.symmetry // 2)
        return self.state.halved(cells)

    @computed_once
    def places(self) -> Integers:
        """The places of the modes among those of half the symmetry."""
        return np.flatnonzero(self.halved.weighted.basis.degrees % self.state.weighted.basis.symmetry)

    def _matrix(self) -> Floats:
        return np.asarray(self.halved.matrix[np.ix_(self.places, self.places)])

    def slopes(self, null: Borders) -> tuple[Floats, Floats]:
        """Return the derivatives of the condition in the unknowns of the state, and in x and q."""
        changes, chi = self._in_moments(null)
        in_moments, in_place = self.halved.response_slopes(chi, changes)
        own = np.setdiff1d(np.arange(in_moments.size), self.places)
        return in_moments[own] / self.state.weighted.weights, in_place

    def double_rate(self, null: Borders) -> float:
        """Return a number that vanishes where the growth rate zero is a double one, see the state's."""
        return self.halved.double_rate(*self._in_moments(null))

    def _in_moments(self, null: Borders) -> Borders:
        """Return null vectors as changes of all moments and as a test function, (size,) each."""
        changes, chi = np.zeros((2, self.halved.unknown.size))
        changes[self.places], chi[self.places] = null[0] / self.weights, self.weights * null[1]
        return changes, chi
