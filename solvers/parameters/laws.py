r"""The stationary equation along a parameter of a law whose field is no sum of modes.

The field f[a; p] of a density with means a is that of the equation in the coupling at p, on the nodes of the basis.
With the unknowns :math:`b = S a` of :mod:`.equation`,

.. math::

    g(b, q) = b - S\langle c\rangle_f, \qquad
    \partial_b g = 1 - S\,\mathrm{Cov}(c, \partial_a f)\,S^{-1}, \qquad
    \partial_q g = -S\,\mathrm{Cov}(c, \partial_q f) .

The derivative of f in p has the exact ones of the coefficients of the drives,
:meth:`meanfield.equations.VelocityLaw.slopes`. As many eigenvalues of the Jacobian as directions are unstable are
negative where there is a Gibbs map; else the linearised equation counts these. Where densities carry a current or
turn, f is their drift, and the covariances are the responses of :mod:`solvers.equations.current` to its changes.
"""

from typing import TYPE_CHECKING, cast

import numpy as np

from meanfield import Equation
from meanfield.records import ANGULAR_VELOCITY, MEAN_VELOCITY

from ..bases import Basis, Floats, Integers
from ..equations.current import CurrentEquation
from ..equations.equation import Evaluation, StationaryEquation
from ..equations.nodal import NodalEquation
from ..equations.rotating import RotatingEquation
from ..equations.significant import SignificantDegrees
from ..linear_algebra.projectors import plus_projector
from .equation import ParameterEquation, placed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..branches.junctions import Departure
    from ..root_finding.solution import Solution


class LawEquation(ParameterEquation):
    """The equation of a law along a path; parameters are those of the base."""

    def evaluate(self, b: Floats, q: float) -> Evaluation:
        """Return residual and density at (b, q)."""
        law, unknown, coupling = self._law(b, q)
        gibbs = law.evaluate(unknown, coupling).gibbs
        return Evaluation(b - self.scales * self.basis.means(gibbs.moments), gibbs)

    def linearise(self, b: Floats, q: float, moments: Floats) -> tuple[Floats, Floats]:
        """Return the Jacobian and the derivative in q, rotation deflated."""
        law, unknown, coupling = self._law(b, q)
        changes = law.drift_changes(unknown, coupling, np.diag(law.scales / self.scales))
        moved = law.responses(unknown, coupling, np.concatenate([changes, self._slope(b, q)[None]]))
        *along, along_q = (self.scales * self.basis.means(each) for each in moved)
        jacobian = np.eye(b.size) - np.array(along).T
        generator = self.basis.rotation(moments)
        if generator is not None:
            jacobian = plus_projector(jacobian, (self.scales * generator.T).T)
        return jacobian, -along_q

    def negative(self, jacobian: Floats, q: float) -> int:
        """Return the number of eigenvalues of the Jacobian with negative real parts."""
        return StationaryEquation.negative(self, jacobian, q)

    def field_slopes(self, solutions: "Sequence[Solution]") -> tuple[Integers, Floats]:
        """Return cells, and the derivatives of the fields of solutions along their tangents, one row a solution."""
        return self._slopes_by_cell(solutions)

    def moment_slopes(self, solution: "Solution") -> Floats:
        """Return the derivatives of the moments along the tangent of a solution."""
        law, unknown, coupling = self._law(solution.b, solution.q)
        (moved,) = law.responses(unknown, coupling, self._nodal_slope(solution)[None])
        return np.asarray(moved)

    def direction_of(self, departure: "Departure", b: Floats, q: float) -> Floats:
        """Return the direction in the unknowns of a departure in the coupling, whose unknowns are means as well."""
        source = departure.equation
        return np.asarray(self.scales * placed(source, departure.direction / source.scales, self))

    def _nodal_slope(self, solution: "Solution") -> Floats:
        """Return the derivative of the field along the tangent of a solution on the nodes."""
        law, unknown, coupling = self._law(solution.b, solution.q)
        along = law.scales / self.scales * solution.tangent_b
        (change,) = law.drift_changes(unknown, coupling, along[None])
        return np.asarray(change + solution.tangent_q * self._slope(solution.b, solution.q))

    def _slope(self, b: Floats, q: float) -> Floats:
        """Return the derivative of the field in q at fixed means on the nodes."""
        law, unknown, coupling = self._law(b, q)
        _, unit = self.path.beyond(q)
        slope = unit * law.place_slope(unknown, coupling, *self.problem.place_of(self.path.name))
        return slope + self._force_slope(q) if self.path.moves_forces else slope

    def _law(self, b: Floats, q: float) -> tuple[NodalEquation, Floats, float]:
        """Return the equation in the coupling at q, and b and the coupling there."""
        return cast("tuple[NodalEquation, Floats, float]", self.in_frozen(b, q))

    def _problem_at(self, q: float) -> Equation:
        return self.path.beyond(q)[0]

    def _nodes_suffice(self, b: Floats, q: float, moments: Floats) -> bool:
        """Return whether the nodes resolve the density."""
        law, unknown, coupling = self._law(b, q)
        return law._nodes_suffice(unknown, coupling, moments)


class CurrentLawEquation(LawEquation):
    """The equation along a path of densities with a current, also where something reflects the problem."""

    invariant_name = MEAN_VELOCITY

    def _in_coupling(self, problem: Equation, basis: Basis, significant: SignificantDegrees) -> StationaryEquation:
        return CurrentEquation(problem, basis, self.path.sign, self.geometry, significant, self.truncation)

    def _force_slope(self, q: float) -> Floats:
        """Return the derivative of the drift of the confinement in q on the grid."""
        law = self.frozen(q)
        assert isinstance(law, CurrentEquation)
        return law.forcing(self._in_forces(self._coefficients(q).force_slopes).confinement)


class RotatingLawEquation(LawEquation):
    """The equation along a path of waves that turn by a lag, also where there is none.

    Attributes
    ----------
    phase_cell : int
        That of the equations in the coupling.
    """

    phase_cell = 1
    invariant_name = ANGULAR_VELOCITY

    def evaluate(self, b: Floats, q: float) -> Evaluation:
        """Return the residual, which fixes the angle of a wave, and the density at (b, q)."""
        law, unknown, coupling = self._law(b, q)
        found = law.evaluate(unknown, coupling)
        return Evaluation(self.scales / law.scales * found.residual, found.gibbs)

    def linearise(self, b: Floats, q: float, moments: Floats) -> tuple[Floats, Floats]:
        """Return the Jacobian and the derivative in q, rotation deflated."""
        law, unknown, coupling = self._law(b, q)
        jacobian, _ = law.linearise(unknown, coupling, moments)
        (moved,) = law.responses(unknown, coupling, self._slope(b, q)[None])
        weights = self.scales / law.scales
        return weights[:, None] * jacobian / weights, -self.scales * self.basis.means(moved)

    def unturned(self, guess: Floats, b: Floats, moments: Floats) -> Floats:
        """Return a guess as it is: the residual fixes the angle."""
        return guess

    def moment_slopes(self, solution: "Solution") -> Floats:
        """Return the derivatives of the moments along the tangent of a solution."""
        law, unknown, coupling = self._law(solution.b, solution.q)
        along = law.moments_along(unknown, coupling, law.scales / self.scales * solution.tangent_b)
        (moved,) = law.responses(unknown, coupling, self._slope(solution.b, solution.q)[None])
        return np.asarray(along + solution.tangent_q * moved)

    def _law(self, b: Floats, q: float) -> tuple[RotatingEquation, Floats, float]:
        return cast("tuple[RotatingEquation, Floats, float]", self.in_frozen(b, q))

    def _in_coupling(self, problem: Equation, basis: Basis, significant: SignificantDegrees) -> StationaryEquation:
        found = RotatingEquation(problem, basis, self.path.sign, self.geometry, significant, self.truncation)
        found.phase_cell = self.phase_cell
        return found

    def _resized(self, basis: Basis, significant: SignificantDegrees) -> ParameterEquation:
        found = super()._resized(basis, significant)
        assert isinstance(found, RotatingLawEquation)
        found.phase_cell = self.phase_cell
        return found

    def lifted(self, equation: StationaryEquation | None) -> StationaryEquation | None:
        """Return the equation along the path in the basis of one in the coupling; None if nothing acts there."""
        found = super().lifted(equation)
        if isinstance(found, RotatingLawEquation) and isinstance(equation, RotatingEquation):
            found.phase_cell = equation.phase_cell
        return found
