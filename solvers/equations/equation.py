r"""The stationary equation of a problem in a basis, in symmetric slaved form.

A density is stationary iff it is the Gibbs density of its own field,

.. math:: \rho = e^{f}/Z, \qquad f = -(\kappa W*\rho + V)/D = \sum_k 2\lambda_k a_k c_k - V/D,
          \qquad a_k = \langle c_k\rangle_\rho, \quad \lambda_k = -\kappa w_k/(2D),

with :math:`c_k` the cosines (and sines) of the basis, on the sphere its harmonics :math:`e_{lj}`, for which
:math:`P_l(\langle x, y\rangle) = \sum_j e_{lj}(x) e_{lj}(y)` as for cosine and sine. Only modes with a
non-negligible multiplier enter; all others are slaved, so the size of the system does not depend on the
resolution. Write
:math:`\lambda_k = q\,\sigma_k A_k^2` with the dimensionless coupling q > 0, signs :math:`\sigma_k = \pm 1`
and :math:`\max A_k = 1`, and take :math:`b = A a` as unknown. Then

.. math::

    g(b, q) &= \sigma b - \sigma A \langle c\rangle_{f}, \qquad f = 2 q \sigma A b - V/D, \\
    J = \partial_b g &= \sigma - 2 q\, \sigma A\,\mathrm{Cov}\,A\sigma, \qquad
    \partial_q g = -\sigma A\,\mathrm{Cov}\,(2 \sigma A b).

On spheres q is measured in a unit of its own, the gain: 2 q stands for 2 q gain there.

J is symmetric. By Haynsworth's inertia formula, applied to the second variation of the free energy bordered by
the modes, the number of its negative eigenvalues minus the number of repulsive modes is the number of unstable
directions of the equation, within the basis.
"""

import copy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg.blas import ddot

from meanfield.equations import has_free_energy
from meanfield.records import FREE_ENERGY_GAP

from ..bases import EPS, Basis, Floats, Gibbs, Integers, log1p_beyond_linear, resolved
from ..bases.limits import MAX_UNKNOWNS
from ..linear_algebra.projectors import orthonormal
from .linearisation import LinearisedEquation
from .significant import SignificantDegrees, even_size, significant_among

if TYPE_CHECKING:
    from ..root_finding.solution import Solution

# Degree at which a confinement that decays slowly is cut where no basis takes its kinks.
SLOW = 512
# Below this free energy the terms of the gap are summed without their common second order.
SMALL = 2e-3
# Share of that rounding that may be left in a moment, to which many values contribute.
FIELD_ROUNDING = 1.0


class Evaluation(NamedTuple):
    """The equation at one (b, q): residual vector and the Gibbs density behind it."""

    residual: Floats
    gibbs: Gibbs


class StationaryEquation(LinearisedEquation):
    """The stationary equation of a problem in a basis.

    Its residual and free energy, what continuation asks of it, whether it resolves a density and how it is refined.
    Parameters and attributes are those of :class:`.Unknowns`.
    """

    def evaluate(self, b: Floats, q: float) -> Evaluation:
        """Return residual and Gibbs density at (b, q)."""
        return self.evaluation(b, self.basis.gibbs(self.field(b, q)))

    def evaluation(self, b: Floats, gibbs: Gibbs) -> Evaluation:
        """Return residual and Gibbs density, which is known."""
        signed = b if self._attractive else self.signs * b
        return Evaluation(signed - self.signed_scales * self.basis.means(gibbs.moments), gibbs)

    def force(self, residual: Floats, q: float) -> Floats:
        """Return the gradient of the free energy in b, over :meth:`strength`, where there is a residual."""
        return residual

    def strength(self, q: float) -> float:
        """Return the factor by which the residual is the gradient of the free energy in b."""
        return self.doubled * q

    def lifted(self, equation: "StationaryEquation | None") -> "StationaryEquation | None":
        """Return the equation in another basis, that of an equation in the coupling, along the same parameter."""
        return equation

    def gap_slope(self, b: Floats, q: float, moments: Floats) -> float:
        """Return the derivative of the free energy gap along stationary states with respect to q."""
        return -self.gain * self._signed_square(b)

    def invariant(self, b: Floats, q: float, log_partition: float) -> float:
        """Return (F - F_uniform)/D at a stationary state: sum lambda_k a_k^2 - log(Z / 2 pi).

        Near the uniform state both terms agree to second order in the amplitude, and the difference is summed
        without them: with y = Z / (2 pi) - 1 = sum lambda_k^2 a_k^2 + <e^f - 1 - f - f^2/2>,
        gap = sum lambda_k (1 - lambda_k) a_k^2 - <e^f - 1 - f - f^2/2> - (log(1 + y) - y). With the harmonics of a
        sphere the second lambda_k is multiplied by twice the uniform mean of c_k^2, one on the circle.
        """
        q *= self.gain
        square = q * ddot(b, b)
        if self.basis.confinement is not None or square > SMALL:
            return q * self._signed_square(b) - log_partition
        if square == 0.0:
            return 0.0
        weights = self.signs * b * b
        strengths = 2.0 * q * self.signs * self.scales**2 * self.basis.squares
        cubic = self.basis.mean_beyond_quadratic(2.0 * q * self.signed_scales * b)
        excess = q * float(weights @ strengths) + cubic
        return q * float(weights @ (1.0 - strengths)) - cubic - float(log1p_beyond_linear(excess))

    @property
    def invariant_name(self) -> str | None:
        """The observable that :meth:`invariant` is, None if it is none."""
        return FREE_ENERGY_GAP if has_free_energy(self.problem) else None

    def invariant_rounding(self, b: Floats, q: float) -> float:
        """Return the rounding error of the gap: that of its terms, and of log Z unless this is summed apart."""
        size = q * self.gain * float(ddot(b, b))
        if self.basis.confinement is not None or size > SMALL:
            return 2.0 * EPS * (1.0 + 2.0 * size)
        return 8.0 * EPS * size

    def _signed_square(self, b: Floats) -> float:
        """Return sum sigma_k b_k^2."""
        return float(ddot(b, b if self._attractive else self.signs * b))

    def extent(self, b: Floats, q: float) -> float:
        """Return the size of the parameters, with which the steps of the continuation may grow."""
        return q

    def unturned(self, guess: Floats, b: Floats, moments: Floats) -> Floats:
        """Return a guess for the unknowns beside others, without what turns the state.

        Newton's steps do not turn it either, and what extrapolation added would grow from step to step.
        """
        generator = self.basis.rotation(moments)
        if generator is None:
            return guess
        turns = orthonormal((self.scales * generator.T).T.reshape(b.size, -1))
        return np.asarray(guess - turns @ (turns.T @ (guess - b)))

    def leaves(self, last: "Solution", found: "Solution") -> bool:
        """Return whether a solution found beside another is on another curve than that."""
        return self.basis.collapses(last.b, found.b)

    def resolves(self, b: Floats, q: float, moments: Floats) -> bool:
        """Return whether quadrature and unknowns resolve the density of (b, q)."""
        return self._nodes_suffice(b, q, moments) and self._unknowns_suffice(b)

    def _nodes_suffice(self, b: Floats, q: float, moments: Floats) -> bool:
        """Return whether the last moments are at rounding level, that of a field f being eps max |f| in each value.

        Where the tail of the moments does not show it, a second quadrature rule must give the same moments.
        """
        if not resolved(self.basis, moments):
            largest = float(np.abs(self.field(b, q)).sum())
            if not resolved(self.basis, moments, FIELD_ROUNDING * EPS * largest):
                return False
        return not self.basis.needs_second_rule or self.basis.agrees(self.field(b, q), moments)

    def _unknowns_suffice(self, b: Floats) -> bool:
        if self.complete:
            return True
        last = self.basis.degrees >= self.reach - 3 * self.basis.symmetry
        return bool(np.abs(self.scales[last] * b[last]).max(initial=0.0) <= EPS)

    def truncation_at(self, moments: Floats) -> float:
        """Return an estimate of the error of moments from what they leave out."""
        return self.truncation

    def refined(self, b: Floats, q: float, moments: Floats) -> "StationaryEquation | None":
        """Return the equation with twice the nodes or unknowns that do not suffice, or None at the limits."""
        basis = self.basis
        nodes = basis.nodes if self._nodes_suffice(b, q, moments) else 2 * basis.nodes
        cells, significant = basis.cells, SignificantDegrees(basis.degrees, self.complete, self.reach)
        if not self._unknowns_suffice(b):
            significant = self._significant(basis.admissible(2 * self.reach))
            if significant.reach > basis.symmetry * basis.most_cells:
                return None
            cells = significant.degrees // basis.symmetry
            nodes = max(nodes, even_size(2 * int(cells.max())))
        if nodes > basis.most_nodes or cells.size > MAX_UNKNOWNS:
            return None
        resized = basis.resized(cells, nodes)
        if resized.degrees.size > 2 * MAX_UNKNOWNS:
            return None
        if resized.degrees.size == basis.degrees.size:
            finer = self.on(resized)
            finer.complete, finer.reach = significant.complete, significant.reach
            return finer
        return self._resized(resized, significant)

    def _significant(self, degrees: Integers) -> SignificantDegrees:
        """Return which of some degrees are significant."""
        return significant_among(self.problem, degrees)

    def _resized(self, basis: Basis, significant: SignificantDegrees) -> "StationaryEquation":
        """Return the same equation in a basis of other modes."""
        return type(self)(self.problem, basis, self.sign, self.geometry, significant, self.truncation)

    def on(self, basis: Basis) -> "StationaryEquation":
        """Return the same equation in a basis of the same modes."""
        equation = copy.copy(self)
        equation.basis = basis
        return equation

    def transfer(self, b: Floats, to: "StationaryEquation") -> Floats:
        """Return the unknown of a refined equation that has the same moments."""
        if to.basis.degrees.size == self.basis.degrees.size:
            return b
        means = np.zeros(to.basis.degrees.size)
        known = np.bincount(self.basis.degrees, minlength=int(to.basis.degrees.max()) + 1) > 0
        means[known[to.basis.degrees]] = b / self.scales
        return to.scales * means
