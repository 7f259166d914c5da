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
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg.blas import ddot

from meanfield import Equation, Number
from meanfield.equations import has_free_energy
from meanfield.records import FREE_ENERGY_GAP

from ..bases import (
    EPS,
    Basis,
    Floats,
    Gibbs,
    Integers,
    log1p_beyond_linear,
    resolved,
)
from ..bases.limits import MAX_UNKNOWNS
from ..execution.computed import computed_once
from ..linear_algebra.projectors import orthonormal, plus_projector
from ..linear_algebra.weak import Partition, covariance_change, strong_modes
from .significant import (
    SignificantDegrees,
    even_size,
    significant_among,
    strengths,
)

if TYPE_CHECKING:
    from ..root_finding.solution import Solution
    from .geometry import Geometry

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


class OwnMeans(NamedTuple):
    """Means of modes under the response of a density, the mass of the response, and means under the density."""

    response: Floats
    mass: float
    density: Floats


class StationaryEquation:
    """The stationary equation of a problem in a basis.

    Parameters
    ----------
    problem
        The equation; its coupling is ignored.
    basis
        Modes and quadrature.
    sign
        Sign of the couplings covered: coupling = sign * q * unit with q > 0.
    geometry
        The geometry of the domain.
    significant
        The significant modes of the potential, as far as known; by default the basis has all of them.
    truncation
        Estimate of the error of moments from cutting a confinement that decays slowly.

    Attributes
    ----------
    densities : Densities
        Symmetry and perturbations of the densities of the basis.
    unit : float
        Coupling at q = 1, where the first of the modes is critical at the uniform state, if it attracts.
    gain : float
        kappa max |w| / (2 D) over the modes of the basis at q = 1; one on the circle, where all modes have the same
        mean square, and large on spheres of high dimension, where those of high degree have a small one.
    signs, scales : (size,) float
        sigma and A.
    weights : (size, size) float
        The factors of covariances in J over q.
    strongest : float
        The strongest multiplier of the basis relative to the strongest of the potential; one if all vanish.
    complete : bool
        Whether the basis has every significant mode of its symmetry.
    reach : int
        The degree up to which it has them in any case.
    symmetric : bool
        Whether J is symmetric, and the number of its negative eigenvalues that of unstable directions.
    parameter, words : str
        The name of what q measures, and how it is called in sentences.
    ends : (float, float) or None
        The q between which the equation is known, and at which branches end; None where any q > 0 will do.
    """

    symmetric = True
    parameter = "coupling"
    words = "the coupling"
    ends: tuple[float, float] | None = None
    # A step of continuation is at most so many times as long as the one before.
    most_growth = 2.0

    def __init__(
        self,
        problem: Equation,
        basis: Basis,
        sign: int,
        geometry: "Geometry",
        significant: SignificantDegrees | None = None,
        truncation: float = 0.0,
    ) -> None:
        self.problem = problem
        self.basis = basis
        self.sign = sign
        self.geometry = geometry
        self.densities = geometry.densities(basis, symmetric=self.symmetric)
        self.truncation = truncation
        known = strengths(problem, int(basis.degrees.max()))
        relative = known.relative[basis.degrees]
        # A potential that does not act on these densities leaves the one state that the confinement has there.
        strongest = float(np.abs(relative).max()) or 1.0
        self.strongest = strongest
        signed = -sign * relative / strongest
        self.gain = 0.5 / float((np.abs(signed) * basis.squares).max() or basis.squares.max())
        self.unit = 2.0 * problem.positive_noise / (known.scale * strongest) * self.gain
        self.signs = np.where(signed == 0.0, 1.0, np.sign(signed))
        self.scales = np.sqrt(np.abs(signed))
        self.signed_scales = self.signs * self.scales
        self.doubled = 2.0 * self.gain
        self.repulsive = int(np.count_nonzero(self.signs < 0))
        self._attractive = self.repulsive == 0
        significant = (
            SignificantDegrees(basis.degrees, True, int(basis.degrees.max()))
            if significant is None
            else significant
        )
        self.complete, self.reach = significant.complete, significant.reach
        self._prepare()

    @computed_once
    def weights(self) -> Floats:
        """What multiplies q times the covariances of the modes in the Jacobian, (size, size)."""
        return np.asarray(-self.doubled * np.multiply.outer(self.signed_scales, self.signed_scales))

    def _prepare(self) -> None:
        """Compute what equations of other laws need besides."""

    def coupling(self, q: float) -> Number:
        """Return the coupling at the dimensionless coupling q."""
        return self.sign * q * self.unit

    def value(self, q: float) -> Number:
        """Return the value of the parameter at q."""
        return self.coupling(q)

    def values(self, q: Floats) -> Floats:
        """Return the values of the parameter at several q."""
        return np.asarray(self.sign * q * self.unit)

    def q_at(self, value: Number) -> float:
        """Return q at a value of the parameter."""
        return float(value / (self.sign * self.unit))

    def change(self, values: Number) -> float:
        """Return the change of q over a change of the parameter."""
        return float(values / (self.sign * self.unit))

    def apart(self, one: Number, other: Number) -> float:
        """Return how far a value of the parameter is from another, relative to it."""
        return abs(float(one / other) - 1.0)

    def rounding(self, value: Number) -> Number:
        """Return the rounding error of a value of the parameter."""
        rounding: Number = 4 * EPS * np.abs(value)
        return rounding

    def critical_places(self, modes: Sequence[int]) -> Integers:
        """Return the places of some modes, along which branches leave the uniform state."""
        return np.flatnonzero((self.basis.degrees[:, None] == np.array(modes, dtype=int)).any(axis=1))

    def threshold(self, place: int, near: float) -> tuple[Number, float]:
        """Return the value of the parameter, and q, at which an unknown is critical at the uniform state.

        Parameters
        ----------
        place
            That of the unknown.
        near
            The q next to which it is, for parameters that may have several.
        """
        inverse = self.doubled * self.scales[place] ** 2 * self.basis.squares[place]
        return self.sign * self.unit / inverse, float(1.0 / inverse)

    def gap_slope(self, b: Floats, q: float, moments: Floats) -> float:
        """Return the derivative of the free energy gap along stationary states with respect to q."""
        return -self.gain * self._signed_square(b)

    def _signed_square(self, b: Floats) -> float:
        """Return sum sigma_k b_k^2."""
        return float(ddot(b, b if self._attractive else self.signs * b))

    def force(self, residual: Floats, q: float) -> Floats:
        """Return the gradient of the free energy in b, over :meth:`strength`, where there is a residual."""
        return residual

    def strength(self, q: float) -> float:
        """Return the factor by which the residual is the gradient of the free energy in b."""
        return self.doubled * q

    def lifted(self, equation: "StationaryEquation | None") -> "StationaryEquation | None":
        """Return the equation in another basis, that of an equation in the coupling, along the same parameter."""
        return equation

    def field(self, b: Floats, q: float) -> Floats:
        """Return the coefficients of the field of (b, q) in the modes."""
        field: Floats = self.doubled * q * self.signed_scales * b
        return field

    def evaluate(self, b: Floats, q: float) -> Evaluation:
        """Return residual and Gibbs density at (b, q)."""
        return self.evaluation(b, self.basis.gibbs(self.field(b, q)))

    def evaluation(self, b: Floats, gibbs: Gibbs) -> Evaluation:
        """Return residual and Gibbs density, which is known."""
        signed = b if self._attractive else self.signs * b
        return Evaluation(signed - self.signed_scales * self.basis.means(gibbs.moments), gibbs)

    def linearise(self, b: Floats, q: float, moments: Floats) -> tuple[Floats, Floats]:
        """Return the symmetric Jacobian and the derivative in q, rotation deflated.

        Where rotations act within the basis, the generator's rank-one projector is added to J: the residual
        is orthogonal to it, so Newton's steps do not rotate the state, and the zero eigenvalue moves to one.
        """
        jacobian = self.basis.covariance(moments)
        jacobian *= self.weights
        derivative = jacobian.dot(b)
        jacobian *= q
        jacobian.reshape(-1)[:: b.size + 1] += self.signs
        generator = self.basis.rotation(moments)
        if generator is not None:
            jacobian = plus_projector(jacobian, (self.scales * generator.T).T)
        return jacobian, derivative

    def negative(self, jacobian: Floats, q: float) -> int:
        """Return the number of eigenvalues of a Jacobian, not symmetric, with negative real parts; zero of nan."""
        return int(np.count_nonzero(np.linalg.eigvals(jacobian).real < 0.0)) if np.isfinite(jacobian).all() else 0

    def field_slopes(self, solutions: "Sequence[Solution]") -> tuple[Integers, Floats]:
        """Return cells, and the derivatives of the fields of solutions along their tangents, one row a solution."""
        coupling, slope = np.array([(solution.q, solution.tangent_q) for solution in solutions]).T[:, :, None]
        b, tangent = (np.array(rows) for rows in zip(*((s.b, s.tangent_b) for s in solutions), strict=True))
        return self.basis.cells, np.asarray(2.0 * self.signed_scales * (slope * b + coupling * tangent))

    def response(self, b: Floats, q: float, moments: Floats) -> Floats:
        """Return the moments from which second moments of modes have the linearisation: those of the density."""
        return moments

    def masses(self, b: Floats, q: float) -> Floats:
        """Return the masses of the nodes of a basis of densities about an axis, (n,) with sum one."""
        assert self.basis.profiles is not None
        return self.basis.profiles.masses(self.field(b, q))

    def response_masses(self, b: Floats, q: float) -> Floats:
        """Return the masses from which second moments of modes have the linearisation: those of the density."""
        return self.masses(b, q)

    def factor_changes(self, solutions: "Sequence[Solution]") -> Floats | None:
        """Return the changes of moments along tangents beside those by the field of the modes; None without any."""
        return None

    def moment_slopes(self, solution: "Solution") -> Floats:
        """Return the derivatives of the moments of densities on spheres along the tangent of a solution."""
        harmonics = self.basis.profiles or self.basis.invariants
        assert harmonics is not None
        change = self.field(solution.b, solution.tangent_q) + self.field(solution.tangent_b, solution.q)
        return harmonics.response(self.field(solution.b, solution.q), change)

    def own_block(self, b: Floats, q: float, moments: Floats) -> Floats | None:
        """Return the Jacobian, rotation deflated; None if the covariance of the modes gives it."""
        return None

    def perturbed(self, q: float, second: Floats, relative: Floats, own: OwnMeans | None) -> tuple[Floats, int]:
        """Return the symmetric Jacobian on a class of modes, rotations not deflated, and how many of them repel.

        Parameters
        ----------
        second
            The means of their products under the response; overwritten.
        relative
            Their multipliers, relative to the strongest of the potential.
        own
            Their means in the class that contains the density itself; None in others, where all vanish.
        """
        if own is not None:
            second -= np.multiply.outer(own.response, own.response)
        signs = np.sign(relative)
        scaled = signs * np.sqrt(np.abs(relative))
        second *= np.multiply.outer(scaled, scaled) * (-self.doubled * q / self.strongest)
        second.flat[:: signs.size + 1] += -self.sign * signs
        return second, int(np.count_nonzero(self.sign * signs > 0.0))

    def partition(self, q: float, moments: Floats) -> Partition | None:
        """Return the Jacobian partitioned into strong and weak modes, or None if a dense one is cheaper."""
        cosines = self.basis.cosines
        if cosines is None or self.basis.needs_second_rule:
            return None
        strong = strong_modes(self.scales, q * self.doubled, moments)
        if strong is None:
            return None
        count, below = strong
        rows = cosines.first_covariances(moments, count)
        rows *= (-q * self.doubled * self.signed_scales[:count])[:, None]
        rows *= self.signed_scales
        rows.reshape(-1)[:: self.scales.size + 1] += self.signs[:count]
        return Partition(rows[:, :count], rows[:, count:], self.signs[count:], below)

    def departure(self, q: float, moments: Floats, new_q: float, new_moments: Floats) -> float:
        """Return a bound of the norm by which the Jacobian of even densities changes between two of them."""
        before, after = ((each, of, self.basis.means(of)) for each, of in ((q, moments), (new_q, new_moments)))
        return self.doubled * covariance_change(self.scales, before, after)

    def products(self, b: Floats, q: float, moments: Floats) -> tuple[Callable[[Floats], Floats], Floats]:
        """Return a function that multiplies rows by the Jacobian of even densities, and the derivative in q."""
        cosines = self.basis.cosines
        assert cosines is not None
        covariances, weights = cosines.covariance_products(moments), -self.doubled * self.signed_scales

        def times(rows: Floats) -> Floats:
            answer = q * weights * covariances(self.signed_scales * rows)
            return np.asarray(answer + (rows if self._attractive else self.signs * rows))

        return times, weights * covariances((self.signed_scales * b)[None])[0]

    def distances(self, q: float) -> Floats:
        """Return 1 - q/q_k for the couplings q_k at which modes are critical at the uniform state: sigma_k J_kk."""
        return np.asarray(1.0 - q * self.doubled * self.signed_scales * self.scales * self.basis.squares)

    def unknown_from(self, moments: Floats) -> Floats:
        """Return b of a density with the given moments in the basis' layout."""
        return self.scales * self.basis.means(moments)

    def unknown_with(self, cosine: Floats, sine: Floats) -> Floats:
        """Return b of a density with the given moments by degree."""
        return self.unknown_from(self.basis.moments_from(cosine, sine))

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
