r"""The stationary equation linearised about a density: its Jacobian in every form that is asked for.

In the unknowns of :mod:`.equation` it is :math:`J = \sigma - 2 q\, \sigma A\,\mathrm{Cov}\,A\sigma`: dense, by its
rows of strong modes, by its products with vectors, and for other classes of modes than those of the density.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..bases import Floats, Integers
from ..execution.computed import computed_once
from ..linear_algebra.projectors import plus_projector
from ..linear_algebra.weak import Partition, covariance_change, strong_modes
from .unknowns import Unknowns

if TYPE_CHECKING:
    from ..root_finding.solution import Solution


class OwnMeans(NamedTuple):
    """Means of modes under the response of a density, the mass of the response, and means under the density."""

    response: Floats
    mass: float
    density: Floats


class LinearisedEquation(Unknowns):
    """The stationary equation linearised about a density; parameters and attributes are those of the base.

    Attributes
    ----------
    weights : (size, size) float
        The factors of covariances in J over q.
    """

    @computed_once
    def weights(self) -> Floats:
        """What multiplies q times the covariances of the modes in the Jacobian, (size, size)."""
        return np.asarray(-self.doubled * np.multiply.outer(self.signed_scales, self.signed_scales))

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

    def field_slopes(self, solutions: "Sequence[Solution]") -> tuple[Integers, Floats]:
        """Return cells, and the derivatives of the fields of solutions along their tangents, one row a solution."""
        coupling, slope = np.array([(solution.q, solution.tangent_q) for solution in solutions]).T[:, :, None]
        b, tangent = (np.array(rows) for rows in zip(*((s.b, s.tangent_b) for s in solutions), strict=True))
        return self.basis.cells, np.asarray(2.0 * self.signed_scales * (slope * b + coupling * tangent))

    def factor_changes(self, solutions: "Sequence[Solution]") -> Floats | None:
        """Return the changes of moments along tangents beside those by the field of the modes; None without any."""
        return None

    def moment_slopes(self, solution: "Solution") -> Floats:
        """Return the derivatives of the moments of densities on spheres along the tangent of a solution."""
        harmonics = self.basis.profiles or self.basis.invariants
        assert harmonics is not None
        change = self.field(solution.b, solution.tangent_q) + self.field(solution.tangent_b, solution.q)
        return harmonics.response(self.field(solution.b, solution.q), change)
