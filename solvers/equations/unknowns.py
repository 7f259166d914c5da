r"""The unknowns of the stationary equation: scaled means of the significant modes, and the dimensionless coupling.

As in :mod:`.equation`, :math:`b = A a` with the means a of the modes, and :math:`\lambda_k = q\,\sigma_k A_k^2`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from meanfield import Equation, Number

from ..bases import EPS, Basis, Floats, Integers
from .significant import SignificantDegrees, strengths

if TYPE_CHECKING:
    from .geometry import Geometry


class Unknowns:
    """The unknowns of the stationary equation of a problem in a basis.

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

    def distances(self, q: float) -> Floats:
        """Return 1 - q/q_k for the couplings q_k at which modes are critical at the uniform state: sigma_k J_kk."""
        return np.asarray(1.0 - q * self.doubled * self.signed_scales * self.scales * self.basis.squares)

    def field(self, b: Floats, q: float) -> Floats:
        """Return the coefficients of the field of (b, q) in the modes."""
        field: Floats = self.doubled * q * self.signed_scales * b
        return field

    def unknown_from(self, moments: Floats) -> Floats:
        """Return b of a density with the given moments in the basis' layout."""
        return self.scales * self.basis.means(moments)

    def unknown_with(self, cosine: Floats, sine: Floats) -> Floats:
        """Return b of a density with the given moments by degree."""
        return self.unknown_from(self.basis.moments_from(cosine, sine))
