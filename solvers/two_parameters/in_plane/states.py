r"""Stationary states at a point of the plane of two parameters, in unknowns whose weights do not change with it.

A state is that of its moments, :math:`a = \langle c\rangle_{\sigma a + f}`. The unknowns are

.. math:: b_k = a_k/k, \qquad G = b - S\langle c\rangle, \quad S_k = 1/k, \quad
          J = \partial_b G = 1 - S\,C\,\Sigma\,S^{-1}, \qquad C = \mathrm{Cov}(c), \ \Sigma = \mathrm{diag}\,\sigma,

so that modes whose multiplier passes zero or changes sign are like any other, and that a length in them is
bounded however many modes there are. The matrix is not symmetric; its left null vector is :math:`S^{-1}\Sigma u`
for a right null vector :math:`S u`. All modes of the potential and of the confinement are unknowns; the basis
has no confinement of its own. Of a confinement with a kink on the circle it has the factor :math:`e^{-V/D}`, and
the field is that of the potential alone.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dasum

from ...bases import EPS, Basis, Floats, Gibbs, Integers, log1p_beyond_linear, resolved
from ...branches.continuation import length
from ...equations.geometry import Density, Measure, Sampled
from ...execution.computed import computed_once
from .coefficients import Coefficients

# Below this sum of sigma a^2 the terms of the free energy are summed without their common second order.
SMALL = 2e-3


class WeightedBasis(NamedTuple):
    """A basis with the weights S of its modes."""

    basis: Basis
    weights: Floats

    @classmethod
    def of(cls, basis: Basis) -> "WeightedBasis":
        """Return a basis with its weights."""
        return cls(basis, 1.0 / basis.degrees)


class AtState:
    """The stationary equation at one state: its field and density, residual, and matrix; the base of laws.

    The residual is G, or G + L P b where the phase conditions P of the basis keep a state from turning: the columns
    of L are the unit left null vectors of rotations. They are orthogonal to G at every b, so that the sum vanishes
    where both terms do: the field F of the moments commutes with rotations, and the change of F by one has no
    integral with the density of these moments, nor with that of any field that is a function of F.

    Parameters
    ----------
    weighted
        The basis and the weights.
    place : (float, float)
        x and q.
    coefficients
        Those of the field there.
    b : (size,) float
        The unknown.

    Attributes
    ----------
    unknown : (size,) float
        b.
    moments, means : (size,) float
        The moments a of the unknown, and those of the Gibbs density of their field.
    residual : (size,) float
        G + L P b.
    missing : (count,) int or None
        The next degrees beyond those of the basis that move the density, once they are known.
    """

    missing: Integers | None = None

    def __init__(
        self, weighted: WeightedBasis, place: tuple[float, float], coefficients: Coefficients, b: Floats
    ) -> None:
        basis, weights = weighted
        self.weighted, self.place, self.coefficients = weighted, place, coefficients
        self.unknown = b
        self.moments = b / weights
        self.field = coefficients.attractions * self.moments + coefficients.forces_in_field
        self.gibbs = self._gibbs()
        self.means = basis.means(self.gibbs.moments)
        self.residual = b - weights * self.means
        if basis.phase_conditions is not None:
            self.residual += self.left_null @ (basis.phase_conditions @ b)

    @computed_once
    def left_null(self) -> Floats:
        """L, (size, k); zero at the uniform state."""
        basis = self.weighted.basis
        left = basis.turning(self.moments) * (self.coefficients.attractions / self.weighted.weights)[:, None]
        return np.asarray(left / np.maximum(np.linalg.norm(left, axis=0), np.finfo(float).tiny))

    @property
    def in_place(self) -> bool:
        """Whether the rows keep the state from turning, if any have to."""
        return self.weighted.basis.keeps_in_place(self.unknown)

    def _gibbs(self) -> Gibbs:
        """Return the density of the field."""
        raise NotImplementedError

    @computed_once
    def matrix(self) -> Floats:
        """The derivative of the residual where it vanishes, (size, size): J + L P."""
        conditions, matrix = self.weighted.basis.phase_conditions, self._jacobian()
        return matrix if conditions is None else matrix + self.left_null @ conditions

    def _jacobian(self) -> Floats:
        """Return J, (size, size)."""
        raise NotImplementedError

    @computed_once
    def slopes(self) -> Floats:
        """The derivatives of G in x and q, (2, size)."""
        raise NotImplementedError

    def response_slopes(self, chi: Floats, changes: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of the change of <chi> under changes of the moments, in these and in x and q.

        Chi being a sum of the modes with coefficients (size,), as many as there are changes.
        """
        raise NotImplementedError

    def asymmetry(self, null: tuple[Floats, Floats]) -> float:
        """Return a multiple of the second derivative of G along null vectors of J, which vanishes at a cusp."""
        raise NotImplementedError

    def resolves(self) -> bool:
        """Return whether the quadrature resolves the density: its last moments are at rounding level."""
        raise NotImplementedError

    @property
    def largest(self) -> float:
        """The size of the matrix of which unstable directions are counted."""
        # Modes that the state has not may be the strongest.
        attractions = float(np.abs(self.coefficients.attractions).max(initial=0.0))
        return max(1.0, attractions, self.coefficients.largest)

    @property
    def most_nodes(self) -> int:
        """The most nodes on which the state is looked for."""
        return self.weighted.basis.most_nodes

    def on(self, basis: Basis, coefficients: Coefficients, b: Floats) -> "AtState":
        """Return the stationary equation of the law at the place with another basis, coefficients and unknown."""
        raise NotImplementedError

    @property
    def saturation(self) -> float:
        """S = 1/p of a density that is the power p of an average u, zero of one with u = 1."""
        return 0.0

    def measure(self, power: int) -> Measure:
        """Return the density over a power of the average u."""
        raise NotImplementedError


class GradientState(AtState):
    """The stationary equation of the gradient law at one state; parameters are those of the base."""

    def _gibbs(self) -> Gibbs:
        return self.weighted.basis.gibbs(self.field)

    @computed_once
    def covariance(self) -> Floats:
        """C, (size, size)."""
        covariance: Floats = self.weighted.basis.covariance(self.gibbs.moments)
        return covariance

    def _jacobian(self) -> Floats:
        """Return J, (size, size)."""
        weights = self.weighted.weights
        matrix: Floats = self.covariance * (self.coefficients.attractions / weights)
        matrix *= -weights[:, None]
        matrix.reshape(-1)[:: weights.size + 1] += 1.0
        return matrix

    @computed_once
    def field_slopes(self) -> Floats:
        """The derivatives of the field in x and q at fixed moments, (2, size)."""
        return np.asarray(self.coefficients.slopes[0] * self.moments + self.coefficients.force_slopes_in_field)

    @computed_once
    def slopes(self) -> Floats:
        """The derivatives of G in x and q, (2, size)."""
        changes = self.field_slopes @ self.covariance
        if self.factor_change is not None:
            changes = changes + np.multiply.outer(self.coefficients.factor_slopes, self.factor_change.covariances())
        return np.asarray(-changes * self.weighted.weights)

    @computed_once
    def factor_change(self) -> "FactorChange | None":
        """What follows from the change of the factor of a confinement with kinks; None if it does not change."""
        if not self.coefficients.factor_slopes.any():
            return None
        basis = self.weighted.basis
        assert basis.kinked is not None
        return FactorChange(self, Sampled(basis, basis.kinked.slope(self.field, self.gibbs.log_partition)))

    def response_slopes(self, chi: Floats, changes: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of the change of <chi> under changes of the moments, in these and in x and q."""
        third = self.third_moments(chi, self.coefficients.attractions * changes)
        in_place = self.field_slopes @ third + self.coefficients.slopes[0] @ (changes * (self.covariance @ chi))
        if self.factor_change is not None:
            phi = self.coefficients.attractions * changes
            in_place = in_place + self.coefficients.factor_slopes * self.factor_change.third_moment(chi, phi)
        return third * self.coefficients.attractions, in_place

    def asymmetry(self, null: tuple[Floats, Floats]) -> float:
        """Return <(phi - <phi>)^3> over the power 3/2 of the variance, which vanishes at a cusp.

        Phi being the change of the field along the right one of two null vectors of J.
        """
        phi = self.coefficients.attractions * null[0] / self.weighted.weights
        phi /= length(phi, 0.0)
        variance = float(phi @ self.covariance @ phi)
        return float(phi @ self.third_moments(phi, phi) / variance**1.5)

    def on(self, basis: Basis, coefficients: Coefficients, b: Floats) -> "GradientState":
        """Return the stationary equation of the law at the place with another basis, coefficients and unknown."""
        return GradientState(WeightedBasis.of(basis), self.place, coefficients, b)

    def measure(self, power: int) -> Density:
        """Return the density, the average being one."""
        return Density(self.weighted.basis, self.field, self.gibbs.moments)

    def third_moments(self, chi: Floats, phi: Floats) -> Floats:
        """Return <(chi - <chi>)(phi - <phi>)(c - <c>)> of the modes c, chi and phi being sums of them."""
        basis = self.weighted.basis
        density = basis.density(self.field, self.gibbs.log_partition)
        density *= basis.synthesise(chi) - chi @ self.means
        density *= basis.synthesise(phi) - phi @ self.means
        moments = basis.analyse(density)
        third: Floats = basis.means(moments) - moments.item(0) * self.means
        return third

    @property
    def _confined(self) -> bool:
        """Whether a confinement acts."""
        return self.weighted.basis.kinked is not None or bool(self.coefficients.forces.any())

    @computed_once
    def energy(self) -> float:
        """The free energy over the noise, sum sigma a^2/2 - log Z, above that of the uniform density.

        Near the uniform state without forces both terms agree to second order; see
        :meth:`solvers.equations.equation.StationaryEquation.invariant`.
        """
        basis, sigma = self.weighted.basis, self.coefficients.attractions
        quadratic = 0.5 * sigma * self.moments**2
        if self._confined or dasum(quadratic) > SMALL:
            return float(quadratic.sum()) - self.gibbs.log_partition
        strengths = sigma * basis.squares
        cubic = basis.mean_beyond_quadratic(self.field)
        excess = float(quadratic @ strengths) + cubic
        return float(quadratic @ (1.0 - strengths)) - cubic - log1p_beyond_linear(excess)

    @property
    def energy_gradient(self) -> Floats:
        """The derivatives of the free energy in b, (size,)."""
        return np.asarray(self.coefficients.attractions * (self.moments - self.means) / self.weighted.weights)

    @property
    def energy_slopes(self) -> Floats:
        """The derivatives of the free energy in x and q, (2,)."""
        coefficients = self.coefficients
        slopes = coefficients.slopes[0] @ (self.moments * (0.5 * self.moments - self.means))
        if self.factor_change is not None:
            slopes = slopes - coefficients.factor_slopes * self.factor_change.mean
        return np.asarray(slopes - coefficients.force_slopes_in_field @ self.means)

    def resolves(self) -> bool:
        """Return whether the quadrature resolves the density: its last moments are at rounding level."""
        basis = self.weighted.basis
        if not resolved(basis, self.gibbs.moments):
            largest = float(np.abs(self.field).sum())
            if not resolved(basis, self.gibbs.moments, EPS * largest):
                return False
        return not basis.needs_second_rule or basis.agrees(self.field, self.gibbs.moments)


class FactorChange(NamedTuple):
    r"""Means with the change :math:`\psi = \partial_p(-V/D)` of the field of a confinement with kinks.

    Attributes
    ----------
    state
        The state.
    measure
        The density times psi.
    """

    state: GradientState
    measure: Sampled

    @property
    def mean(self) -> float:
        """<psi>."""
        return float(self.measure.moments.item(0))

    def covariances(self) -> Floats:
        """Return those of psi with the modes, (size,)."""
        return self.state.weighted.basis.means(self.measure.moments) - self.mean * self.state.means

    def third_moment(self, chi: Floats, phi: Floats) -> float:
        """Return <(chi - <chi>)(phi - <phi>)(psi - <psi>)>, chi and phi being sums of the modes."""
        moments, means, basis = self.measure.moments, self.state.means, self.state.weighted.basis
        mean, of_modes = self.mean, basis.means(moments)
        with_psi = basis.covariance(moments) + np.multiply.outer(of_modes, of_modes)
        with_psi += mean * np.multiply.outer(means, means)
        with_psi -= np.multiply.outer(means, of_modes) + np.multiply.outer(of_modes, means)
        return float(chi @ (with_psi - mean * self.state.covariance) @ phi)
