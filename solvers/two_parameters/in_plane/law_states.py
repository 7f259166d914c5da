r"""Stationary states of laws whose field is no sum of modes, at a point of the plane of two parameters.

The field f of a density with moments a is known on the nodes with its derivatives, see
:mod:`solvers.equations.nodal`, and with the unknowns of :mod:`.states`

.. math:: J = 1 - S\,\mathrm{Cov}(c, \partial_a f)\,S^{-1}, \qquad
          \partial_x G = -S\,\mathrm{Cov}(c, \partial_x f) .

The change of :math:`\langle\chi\rangle` under a change u of the moments is
:math:`\langle\tilde\chi g\rangle`, :math:`g = \partial_a f\,u`, tildes being deviations from means, and its
derivative along any change :math:`d\!f` of the field

.. math:: \langle(\tilde\chi\tilde g - \langle\tilde\chi\tilde g\rangle)\,d\!f\rangle
          + \langle\tilde\chi\, dg\rangle .
"""

from collections.abc import Callable
from typing import Self, cast

import numpy as np

from ...bases import Basis, Floats, Gibbs
from ...domains import solvers_of
from ...equations.geometry import Sampled
from ...equations.nodal import NodalEquation
from ...equations.sizing import equation_in, in_confinement
from ...equations.softmax import SoftmaxEquation
from ...equations.velocity import VelocityEquation
from ...execution.computed import computed_once
from .coefficients import Coefficients
from .plane import Plane
from .states import AtState, WeightedBasis


class LawState(AtState):
    """The stationary equation of a law at one state; parameters are those of the base, and the plane."""

    def __init__(
        self,
        plane: Plane,
        weighted: WeightedBasis,
        place: tuple[float, float],
        coefficients: Coefficients,
        b: Floats,
    ) -> None:
        self._plane = plane
        super().__init__(weighted, place, coefficients, b)

    def on(self, basis: Basis, coefficients: Coefficients, b: Floats) -> Self:
        """Return the stationary equation of the law at the place with another basis, coefficients and unknown."""
        return type(self)(self._plane, WeightedBasis.of(basis), self.place, coefficients, b)

    def _gibbs(self) -> Gibbs:
        return self._law.evaluate(*self._at).gibbs

    @computed_once
    def _law(self) -> NodalEquation:
        """The equation of the law in the coupling at the place."""
        problem = self.coefficients.place.problem
        geometry = solvers_of(problem).geometry
        basis = in_confinement(problem, self.weighted.basis, geometry)
        return cast("NodalEquation", equation_in(problem, basis, self._plane.sign, geometry))

    @computed_once
    def _at(self) -> tuple[Floats, float]:
        """The unknown and the dimensionless coupling of that equation."""
        return self._law.scales * self.moments, self._law.q_at(self.coefficients.place.problem.fixed_coupling)

    @computed_once
    def nodal_density(self) -> Floats:
        """The density on the nodes."""
        weights = self._law.weighted(*self._at)
        return weights / float(self._law.basis.analyse(weights).item(0))

    @property
    def nodal_basis(self) -> Basis:
        """The basis on whose nodes the field is known."""
        return self._law.basis

    @computed_once
    def finer(self) -> "LawState":
        """The same state on twice as many nodes."""
        basis = self.weighted.basis
        return self.on(basis.resized(basis.cells, 2 * basis.nodes), self.coefficients, self.unknown)

    def among(self, basis: Basis, unknown: Floats) -> "LawState":
        """Return the state among the densities of a basis of less symmetry, by its unknown from the axis there."""
        own, whole = self.weighted.basis.degrees, np.zeros(basis.degrees.size)
        kept = np.isin(own, basis.degrees)
        whole[np.searchsorted(basis.degrees, own[kept])] = unknown[kept]
        return self.on(basis, self._plane.coefficients(*self.place, basis.degrees, basis), whole)

    def averages(self, values: Floats, slopes: Floats) -> tuple[tuple[Floats, Floats, Floats | None], float]:
        """Return drive, slope and radial drive where the modes have some values and slopes, and their rounding."""
        law, (b, _) = self._law, self._at
        assert isinstance(law, VelocityEquation)
        return law.averages(b, values, slopes), law.averages_rounding(b)

    @computed_once
    def field_changes(self) -> Floats:
        """The derivatives of the field in the moments on the nodes, one row each."""
        return self._law.drift_changes(*self._at, np.diag(self._law.scales))

    def _jacobian(self) -> Floats:
        """Return J, (size, size)."""
        weights = self.weighted.weights
        return np.asarray(np.eye(weights.size) - weights[:, None] * self.responses.T / weights)

    @computed_once
    def responses(self) -> Floats:
        """The derivatives of the means in the moments, one row for each of these, (size, size)."""
        return np.array([self._response(change) for change in self.field_changes])

    @computed_once
    def nodal_slopes(self) -> Floats:
        """The derivatives of the field in x and q at fixed moments on the nodes, (2, ...)."""
        law = self._law
        found = np.zeros((2, *law.drift_field(*self._at).shape))
        for name, changes in zip(self._plane.names, self.coefficients.place.slopes, strict=True):
            slope = law.place_slope(*self._at, *self._plane.roles[name])
            found += np.multiply.outer(changes, slope)
        if np.any(forces := self.coefficients.slopes[1]):
            found += np.array([law.forced_field(row) for row in forces])
        return found

    @computed_once
    def slopes(self) -> Floats:
        """The derivatives of G in x and q, (2, size)."""
        return np.array([-self.weighted.weights * self._response(slope) for slope in self.nodal_slopes])

    def response_slopes(self, chi: Floats, changes: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of the change of <chi> under changes of the moments, in these and in x and q."""
        law, scaled = self._law, self._law.scales * changes
        (along,) = law.drift_changes(*self._at, scaled[None])
        deviation = law.basis.synthesise(chi) - chi @ self.means
        both = deviation * (along - self.mean(along))
        both -= self.mean(both)
        curvatures = law.drift_curvatures(*self._at, scaled, np.diag(law.scales))
        in_moments = [
            self.mean(both * change + deviation * curvature)
            for change, curvature in zip(self.field_changes, curvatures, strict=True)
        ]
        moved = self.slopes_in_place(along, lambda own: law.law_slope_change(*self._at, own, scaled))
        in_place = [
            self.mean(both * slope + deviation * change)
            for slope, change in zip(self.nodal_slopes, moved, strict=True)
        ]
        return np.array(in_moments), np.array(in_place)

    @property
    def field_bound(self) -> float:
        """One and the size of the terms of which the field is a sum."""
        return 1.0 + self._law.field_bound(*self._at)

    def field_along(self, changes: Floats) -> tuple[float, float]:
        """Return the largest modulus of the change of the field along moments, and the mean of its square."""
        (along,) = self._law.drift_changes(*self._at, (self._law.scales * changes)[None])
        return float(np.abs(along).max()), self.mean(along * along)

    def responses_along(self, direction: Floats, changes: Floats, amounts: Floats) -> Floats:
        """Return the changes of the means under changes of the moments, away from the state, one row each.

        At its moments plus each of some amounts of a direction.
        """
        law, (b, q), rows = self._law, self._at, []
        for amount in amounts.tolist():
            moved = b + amount * law.scales * direction
            (along,) = law.drift_changes(moved, q, (law.scales * changes)[None])
            (response,) = law.responses(moved, q, along[None])
            rows.append(law.basis.means(response))
        return np.array(rows)

    def asymmetry(self, null: tuple[Floats, Floats]) -> float:
        """Return the second derivative of G between two null vectors of J, in moments of unit length."""
        weights = self.weighted.weights
        chi, changes = weights * null[1], null[0] / weights
        changes /= np.linalg.norm(changes)
        return float(self.response_slopes(chi / np.linalg.norm(chi), changes)[0] @ changes)

    def resolves(self) -> bool:
        """Return whether the quadrature resolves the density."""
        return self._law._nodes_suffice(*self._at, self.gibbs.moments)

    def slopes_in_place(self, linear: Floats, of_law: Callable[[str], Floats]) -> Floats:
        """Return the derivatives in x and q of what is proportional to kappa/D and depends on the law, (2, ...).

        Parameters
        ----------
        linear
            Its values on the nodes.
        of_law
            A function of the name of a parameter of the law that returns the derivatives in it.
        """
        place, noise = self.coefficients.place, self.coefficients.place.problem.positive_noise
        found = np.zeros((2, *linear.shape))
        for name, changes in zip(self._plane.names, place.slopes, strict=True):
            role, own = self._plane.roles[name]
            if role == "coupling":
                slope = linear / place.problem.fixed_coupling
            elif role == "noise":
                slope = -linear / noise
            elif role == place.problem.law_field:
                slope = of_law(own)
            else:
                continue
            found += np.multiply.outer(changes, slope)
        return found

    def _response(self, change: Floats) -> Floats:
        """Return the change of the means under a change of the field on the nodes."""
        law = self._law
        return law.basis.means(law.covariances_with(change, self.nodal_density))

    def mean(self, values: Floats) -> float:
        """Return the mean of values on the nodes under the density."""
        return float(self._law.basis.analyse(values * self.nodal_density).item(0))


class SoftmaxState(LawState):
    r"""The stationary equation of softmax attention at one state; parameters are those of the base.

    With :math:`f = p\log u`, :math:`u = 1 + F/p` and :math:`dF = \sum_k\sigma_k\,da_k\,c_k` the derivatives of
    means in the coefficients of F are
    :math:`\langle cc^T/u\rangle - \langle c\rangle\langle c/u\rangle^T`, and those of the change
    :math:`h = \langle\tilde\chi\phi/u\rangle` of a mean, for :math:`df` and :math:`du`,

    .. math:: dh = \Bigl\langle\Bigl(\tilde\chi\,\widetilde{(\phi/u)} - h\Bigr) df\Bigr\rangle
              - \langle\tilde\chi\phi\,du/u^2\rangle ,

    of which the moments have :math:`df = \sigma c/u`, :math:`du = \sigma c/p`.
    """

    @property
    def exponent(self) -> float:
        """The exponent p of the stationary density."""
        law = self._law
        assert isinstance(law, SoftmaxEquation)
        return law.exponent(self._at[1])

    @property
    def saturation(self) -> float:
        """S = 1/p."""
        return 1.0 / self.exponent

    def measure(self, power: int) -> Sampled:
        """Return the density over a power of the average u."""
        return Sampled(self.nodal_basis, self.nodal_density / self.average**power)

    @computed_once
    def _covariance(self) -> Floats:
        """The derivatives of the means in the coefficients of F, (size, size), not symmetric."""
        basis, response = self.weighted.basis, self.measure(1).moments
        means = basis.means(response)
        return np.asarray(basis.covariance(response) + np.multiply.outer(means - self.means, means))

    def _jacobian(self) -> Floats:
        """Return J, (size, size)."""
        weights = self.weighted.weights
        scaled = weights[:, None] * self._covariance * (self.coefficients.attractions / weights)
        return np.asarray(np.eye(weights.size) - scaled)

    def response_slopes(self, chi: Floats, changes: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of the change of <chi> under changes of the moments, in these and in x and q."""
        basis, attractions, u = self.nodal_basis, self.coefficients.attractions, self.average
        deviation = basis.synthesise(chi) - chi @ self.means
        along = basis.synthesise(attractions * changes) / u
        both = deviation * (along - self.mean(along))
        both -= self.mean(both)
        curved = deviation * along / u
        third = basis.means(basis.analyse(self.nodal_density * (both / u - curved * self.saturation)))
        in_place = self.coefficients.slopes[0] @ (changes * (chi @ self._covariance))
        for row, (slope, change) in enumerate(zip(self.nodal_slopes, self.average_slopes, strict=True)):
            in_place[row] += self.mean(both * slope - curved * change)
        return third * attractions, in_place

    @computed_once
    def average(self) -> Floats:
        """The average u on the nodes."""
        law = self._law
        assert isinstance(law, SoftmaxEquation)
        return law.average(self._at[0])

    @computed_once
    def average_slopes(self) -> Floats:
        """The derivatives of u in x and q at fixed moments on the nodes, (2, ...)."""
        place, p = self.coefficients.place, self.exponent
        logarithmic = np.zeros(2)
        for name, changes in zip(self._plane.names, place.slopes, strict=True):
            role, own = self._plane.roles[name]
            if role == place.problem.law_field:
                logarithmic += changes * place.problem.velocity.slopes(own, place.problem.domain, 1).speed
            elif role == "coupling":
                logarithmic += changes / place.problem.fixed_coupling
            elif role == "noise":
                logarithmic -= changes / place.problem.positive_noise
        relative = self.coefficients.slopes[0] - np.multiply.outer(logarithmic, self.coefficients.attractions)
        return np.array([self._law.basis.synthesise(row * self.moments / p).copy() for row in relative])
