r"""The linearisation at a state with an axis among modes beside those of its symmetry, by law.

For the gradient law, with the covariance C and the strengths of these modes, whose means vanish, it is
:math:`J = 1 - S\,C\,\Sigma\,S^{-1}` as in :mod:`.states`. Without a confinement the sines of
the own degrees, or the harmonics of azimuthal order one, contain the rotation mode, on the circle
:math:`r_k = S_k k a_k`, of which J is singular everywhere; the matrix is :math:`J + r r^T/|r|^2` there, which moves
that eigenvalue to one. Where another vanishes its null vectors are orthogonal to r, so that the derivative of the
condition does not change.

The field of softmax attention is :math:`f = p\log u`, :math:`u = 1 + F/p`, see :mod:`solvers.equations.softmax`,
and C has the integrals :math:`\langle c c^T/u\rangle`. With the changes :math:`d\!f` and :math:`du` of both, those
of the own modes being :math:`dF/u` and :math:`dF/p`,

.. math:: d\langle\chi\phi/u\rangle = \langle\chi\phi\, d\tilde f/u\rangle - \langle\chi\phi\, du/u^2\rangle .
"""

import numpy as np

from ...bases import Floats, Integers
from ...equations.geometry import Complement, Density, Measure, Sampled
from ...execution.computed import computed_once
from ...linear_algebra.projectors import plus_projector
from .law_states import SoftmaxState
from .plane import Plane
from .states import AtState, GradientState

# Null vectors of a matrix, or of one bordered: the right and the left, or the two borders.
Borders = tuple[Floats, Floats]


class ComplementaryBlock:
    """The matrix J of the linearisation and what it consists of; the base of laws.

    Parameters
    ----------
    state
        The stationary equation at the state.
    plane
        The two parameters.
    complement
        The class of the modes.
    degrees : (size,) int
        Their degrees.
    """

    def __init__(self, state: AtState, plane: Plane, complement: Complement, degrees: Integers) -> None:
        self.state, self.complement, self.degrees = state, complement, degrees
        self.weights = 1.0 / degrees
        self.coefficients = state.coefficients.among(degrees)
        self.matrix = self._matrix()
        if complement.rotates(plane.confined):
            density = Density(state.weighted.basis, state.field, state.gibbs.moments)
            turns = (self.weights * complement.rotation(density, degrees).T).T
            # The uniform state, at which a curve may end, has none.
            if turns.any():
                self.matrix = plus_projector(self.matrix, turns)

    @property
    def resolved(self) -> bool:
        """Whether what the matrix leaves out is rounding, of more modes than its own where it has some."""
        return True

    def _matrix(self) -> Floats:
        """Return J where rotations are not moved."""
        raise NotImplementedError

    def slopes(self, null: Borders) -> tuple[Floats, Floats]:
        """Return the derivatives of the condition in the unknowns of the state, and in x and q."""
        raise NotImplementedError


class GibbsBlock(ComplementaryBlock):
    """The linearisation under a law with a Gibbs map; parameters are those of the base."""

    @computed_once
    def covariance(self) -> Floats:
        """The integrals of products of two modes, (size, size)."""
        return self.complement.covariance(self._response, self.degrees)

    def _matrix(self) -> Floats:
        attractions = self.coefficients.attractions / self.weights
        matrix: Floats = -self.weights[:, None] * self.covariance * attractions
        matrix.reshape(-1)[:: self.degrees.size + 1] += 1.0
        return matrix

    @computed_once
    def _response(self) -> Measure:
        """The measure under which integrals of products of two modes are the change of their means."""
        return self.state.measure(1)

    def slopes(self, null: Borders) -> tuple[Floats, Floats]:
        """Return the derivatives of the condition in the unknowns of the state, and in x and q."""
        (right, left), state = null, self.state
        changes, chi = right / self.weights, self.weights * left
        in_moments, in_field = self._response_slopes(chi, self.coefficients.attractions * changes)
        in_place = in_field + self.coefficients.slopes[0] @ (changes * (self.covariance @ chi))
        return in_moments / state.weighted.weights, in_place

    def _response_slopes(self, chi: Floats, phi: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of the change of <chi> under phi in the moments of the state, and in x and q."""
        raise NotImplementedError


class GradientBlock(GibbsBlock):
    """The linearisation under the gradient law; parameters are those of the base."""

    state: GradientState

    def _response_slopes(self, chi: Floats, phi: Floats) -> tuple[Floats, Floats]:
        third, product = self.complement.products(self._response, self.degrees, chi, phi)
        third = third - product * self.state.means
        in_place, change = self.state.field_slopes @ third, self.state.factor_change
        if change is not None:
            with_psi = float(chi @ self.complement.covariance(change.measure, self.degrees) @ phi)
            in_place = in_place + self.state.coefficients.factor_slopes * (with_psi - product * change.mean)
        return third * self.state.coefficients.attractions, in_place


class SoftmaxBlock(GibbsBlock):
    """The linearisation under softmax attention; parameters are those of the base."""

    state: SoftmaxState

    def _response_slopes(self, chi: Floats, phi: Floats) -> tuple[Floats, Floats]:
        state, basis = self.state, self.state.nodal_basis
        response = self._response
        p, attractions = state.exponent, state.coefficients.attractions
        _, product = self.complement.products(response, self.degrees, chi, phi)
        further = state.measure(2)
        third, _ = self.complement.products(further, self.degrees, chi, phi)
        in_moments = ((1.0 - 1.0 / p) * third - product * basis.means(response.moments)) * attractions

        def integral(values: Floats) -> float:
            return self.complement.products(Sampled(basis, values), self.degrees, chi, phi)[1]

        in_place = [
            integral(response.values * (slope - state.mean(slope)) - further.values * change)
            for slope, change in zip(state.nodal_slopes, state.average_slopes, strict=True)
        ]
        return in_moments, np.array(in_place)
