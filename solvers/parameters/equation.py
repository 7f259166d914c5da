r"""The stationary equation along a parameter at a fixed coupling.

The unknowns are :math:`b = S a` with weights S that do not change along the way, so that multipliers may pass zero
and change sign. With the attractions :math:`\sigma(p)` of :mod:`.path` and the Gibbs density of
:math:`f = \sum\sigma_k a_k c_k - V/D`,

.. math::

    g(b, q) = b - S\langle c\rangle_f, \qquad
    \partial_b g = 1 - S\,\mathrm{Cov}\,\sigma\,S^{-1}, \qquad
    \partial_q g = -S\,\mathrm{Cov}(c, \partial_q f) .

The Jacobian is not symmetric, but similar to :math:`1 - \mathrm{Cov}^{1/2}\sigma\,\mathrm{Cov}^{1/2}`: its
eigenvalues are real, and as many of them are negative as directions are unstable, whatever the signs of
:math:`\sigma`. The free energy, the blocks of perturbations and the branches born at a state are those of the
problem at its p, in the :meth:`frozen <ParameterEquation.frozen>` equation in the coupling.
"""

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq

from meanfield import Equation, NotResolved, Number
from meanfield.equations import Capability

from ..bases import EPS, Basis, Floats, Integers, InvariantBasis, multiples
from ..bases.confining import ConfiningField, kept_by
from ..equations.equation import Evaluation, StationaryEquation
from ..equations.geometry import Geometry
from ..equations.significant import SignificantDegrees, confining_degree
from ..equations.sizing import Size, confinement_field, equation_in, in_confinement
from ..linear_algebra.inertia import count_negative
from ..linear_algebra.projectors import plus_projector
from .densities import AlongParameter
from .path import ENDS, Coefficients, Path

if TYPE_CHECKING:
    from ..branches.junctions import Departure
    from ..root_finding.solution import Solution

# Frozen equations that are kept: those of two neighbouring points and of what is located between.
KEPT = 16
# The way from a q, in q, within which a threshold beside it is looked for, and into how many parts it is cut.
BESIDE, PARTS = 0.1, 64


class ParameterEquation(StationaryEquation):
    """The stationary equation in a basis along a path.

    Parameters
    ----------
    path
        The problem along the parameter.
    basis
        Modes and quadrature; its confinement is that somewhere on the path.
    geometry, significant, truncation
        As for the base.
    """

    symmetric = False
    ends = ENDS
    gain = 1.0

    def __init__(
        self, path: Path, basis: Basis, geometry: Geometry, significant: SignificantDegrees, truncation: float = 0.0
    ) -> None:
        self.path, self.problem = path, path.problem
        self.parameter = self.words = path.name
        self.basis, self.geometry, self.truncation = basis, geometry, truncation
        self.sign, self.unit = 1, path.unit
        symmetric = not self.problem.lacks(Capability.GIBBS_MAP)
        self.densities = AlongParameter(geometry.densities(basis, symmetric=symmetric))
        self.scales = path.scales(basis.degrees)
        self.signs, self.signed_scales = np.ones(basis.degrees.size), self.scales
        self.repulsive, self.strongest = 0, 1.0
        self.complete, self.reach = significant.complete, significant.reach
        self._last = int(basis.degrees.max())
        if path.moves_forces:
            self._last = max(self._last, basis.symmetry * basis.nodes)
        self._ratios = np.divide.outer(self.scales, self.scales)
        self._frozen: dict[float, StationaryEquation] = {}

    def value(self, q: float) -> Number:
        """Return the value of the parameter at q."""
        return self.path.value(q)

    def values(self, q: Floats) -> Floats:
        """Return the values of the parameter at several q."""
        return self.path.values(q)

    def q_at(self, value: Number) -> float:
        """Return q at a value of the parameter."""
        return self.path.q_at(value)

    def coupling(self, q: float) -> Number:
        """Return the coupling, which is fixed."""
        return self.path.coupling

    def apart(self, one: Number, other: Number) -> float:
        """Return how far two values of the parameter are apart, in q."""
        return abs(self.change(one - other))

    def rounding(self, value: Number) -> Number:
        """Return the rounding error of a value of the parameter, an end of the interval having it as well."""
        return 4 * EPS * (abs(float(value)) + self.unit)

    def threshold(self, place: int, near: float) -> tuple[Number, float]:
        """Return the value of the parameter, and q, nearby at which an unknown is critical at the uniform state."""

        def distance(q: float) -> float:
            return float(self.distances(q)[place])

        for reach in (BESIDE, ENDS[1] - ENDS[0]):
            grid = np.unique(np.clip(near + reach * np.linspace(-1.0, 1.0, 2 * PARTS + 1), *ENDS))
            values = [distance(q) for q in grid.tolist()]
            crossed = [i for i in range(len(values) - 1) if values[i] * values[i + 1] <= 0.0]
            if crossed:
                first = min(crossed, key=lambda i: abs(grid[i] - near))
                q = float(brentq(distance, grid[first], grid[first + 1], xtol=2 * EPS, rtol=4 * EPS))
                return self.value(q), q
        # None is: the nearest to one, which the arrival says is no more than that.
        q = float(grid[np.argmin(np.abs(values))])
        return self.value(q), q

    def _coefficients(self, q: float) -> Coefficients:
        return self.path.coefficients(q, self._last)

    def _attractions(self, q: float) -> Floats:
        """Return the attractions of the modes."""
        return np.asarray(self._coefficients(q).attractions[self.basis.degrees])

    def _basis_at(self, q: float) -> Basis:
        """Return the basis with the confinement at q."""
        if not self.path.moves_forces:
            return self.basis
        if self.path.factor is None:
            return self._in_forces(self._coefficients(q).forces)
        return self._with_factor(q)

    def _with_factor(self, q: float) -> Basis:
        """Return the basis with the factor exp(-V/D) at q, beyond the ends that at an end."""
        assert self.path.factor is not None
        assert self.basis.kinked is not None
        inside = min(max(q, ENDS[0]), ENDS[1])
        return self.basis.kinked.with_factor(self.path.factor.at(self.path.value(inside), self.basis.symmetry))

    def _in_forces(self, forces: Any) -> Basis:
        """Return the basis in the confinement of some forces by degree, in one with an axis about that."""
        if not self.path.zonal:
            assert self.basis.invariants is not None
            found: Basis = self.basis.invariants.in_field(ConfiningField(forces, zonal=False))
            return found
        symmetry = self.basis.symmetry
        cells = forces[symmetry : symmetry * self.basis.nodes + 1 : symmetry]
        if self.basis.even:
            cells = cells * np.exp(1j * symmetry * self.basis.axis * np.arange(1, cells.size + 1))
            cells = cells.real
        return self.basis.confined(cells)

    def _nodes_suffice(self, b: Floats, q: float, moments: Floats) -> bool:
        """Return whether the nodes resolve the density in the confinement at q."""
        if not self.path.moves_forces:
            return super()._nodes_suffice(b, q, moments)
        there = copy.copy(self)
        there.basis = self._basis_at(q)
        return StationaryEquation._nodes_suffice(there, b, q, moments)

    def _forced(self, b: Floats, q: float) -> tuple[Floats, float]:
        """Return the covariances of all moments with the change of the field of the confinement, and its mean."""
        if self.path.factor is None:
            return self._forcing(b, q, self._force_slope(q))
        basis, field = self._with_factor(q), self.field(b, q)
        gibbs = basis.gibbs(field)
        assert basis.kinked is not None
        moments = self.path.unit * basis.analyse(basis.kinked.slope(field, gibbs.log_partition))
        mean = float(moments[0])
        return moments - mean * gibbs.moments, mean

    def _forcing(self, b: Floats, q: float, values: Floats) -> tuple[Floats, float]:
        """Return the covariances of all moments with values on the nodes under the density, and their mean."""
        basis = self._basis_at(q)
        assert basis.confining is not None
        field = basis.synthesise(self.field(b, q)) + basis.confining
        weights = np.exp(field - field.max())
        moments, total = basis.analyse(weights), basis.analyse(weights * values)
        mass = float(moments[0])
        mean = float(total[0]) / mass
        return np.asarray(total / mass - moments * (mean / mass)), mean

    def _force_slope(self, q: float) -> Floats:
        """Return the derivative of the field of the confinement in q on the nodes."""
        confining = self._in_forces(self._coefficients(q).force_slopes).confining
        assert confining is not None
        return confining

    def field(self, b: Floats, q: float) -> Floats:
        """Return the coefficients of the field of (b, q) in the modes."""
        return np.asarray(self._attractions(q) * b / self.scales)

    def evaluate(self, b: Floats, q: float) -> Evaluation:
        """Return residual and Gibbs density at (b, q)."""
        gibbs = self._basis_at(q).gibbs(self.field(b, q))
        return Evaluation(b - self.scales * self.basis.means(gibbs.moments), gibbs)

    def linearise(self, b: Floats, q: float, moments: Floats) -> tuple[Floats, Floats]:
        """Return the Jacobian and the derivative in q, rotation deflated.

        The derivative of the state under rotation is an eigenvector of the eigenvalue zero, which its dyad moves to
        one; the residual has no part along the other eigenvector, and Newton's steps have none along this one.
        """
        coefficients = self._coefficients(q)
        covariance = self.basis.covariance(moments) * self._ratios
        derivative = -covariance @ (coefficients.slopes[self.basis.degrees] * b)
        if self.path.moves_forces:
            moved, _ = self._forced(b, q)
            derivative -= self.scales * self.basis.means(moved)
        jacobian = covariance * -coefficients.attractions[self.basis.degrees]
        jacobian.flat[:: b.size + 1] += 1.0
        generator = self.basis.rotation(moments)
        if generator is not None:
            jacobian = plus_projector(jacobian, (self.scales * generator.T).T)
        return jacobian, derivative

    def negative(self, jacobian: Floats, q: float) -> int:
        r"""Return the number of negative eigenvalues of the Jacobian.

        Without rotations :math:`\sigma S^{-1} J S = \sigma - \sigma\,\mathrm{Cov}\,\sigma` is symmetric, and has as
        many, by inertia, beside those of repulsive modes; modes that do not act have the eigenvalue one.
        """
        if not self.basis.even:
            return super().negative(jacobian, q)
        attractions = self._attractions(q)
        acting = np.flatnonzero(np.abs(attractions) > EPS * np.abs(attractions).max(initial=0.0))
        roots, signs = np.sqrt(np.abs(attractions[acting])), np.sign(attractions[acting])
        left, right = signs * roots / self.scales[acting], self.scales[acting] / roots
        matrix = left[:, None] * jacobian[np.ix_(acting, acting)] * right
        return count_negative(matrix) - int(np.count_nonzero(signs < 0.0))

    def field_slopes(self, solutions: "Sequence[Solution]") -> tuple[Integers, Floats]:
        """Return cells, and the derivatives of the fields of solutions along their tangents, one row a solution."""
        if self.path.moves_forces and self.path.factor is None:
            return self._slopes_by_cell(solutions)
        return self.basis.cells, np.array([self._field_slope(solution) for solution in solutions])

    def factor_changes(self, solutions: "Sequence[Solution]") -> Floats | None:
        """Return the changes of all moments along tangents by that of the factor exp(-V/D), a row a solution."""
        if self.path.factor is None:
            return None
        return np.array([each.tangent_q * self._forced(each.b, each.q)[0] for each in solutions])

    def _slopes_by_cell(self, solutions: "Sequence[Solution]") -> tuple[Integers, Floats]:
        """Return all resolved cells, and the derivatives of the fields from those on the nodes."""
        cells = np.arange(1, self.basis.nodes // 2 + 1)
        rows = [2.0 * self.basis.analyse(self._nodal_slope(solution)) for solution in solutions]
        places = np.concatenate([part + cells for part in range(0, rows[0].size, self.basis.nodes + 1)])
        return cells, np.array([row[places] for row in rows])

    def _field_slope(self, solution: "Solution") -> Floats:
        coefficients = self._coefficients(solution.q)
        attractions, slopes = (part[self.basis.degrees] for part in coefficients[:2])
        change = slopes * solution.tangent_q * solution.b + attractions * solution.tangent_b
        return np.asarray(change / self.scales)

    def _nodal_slope(self, solution: "Solution") -> Floats:
        """Return the derivative of the field along the tangent of a solution on the nodes."""
        moved = solution.tangent_q * self._force_slope(solution.q)
        return np.asarray(self.basis.synthesise(self._field_slope(solution)) + moved)

    def moment_slopes(self, solution: "Solution") -> Floats:
        """Return the derivatives of the moments of densities on spheres along the tangent of a solution."""
        if self.path.moves_forces:
            return self._forcing(solution.b, solution.q, self._nodal_slope(solution))[0]
        harmonics = self.basis.profiles or self.basis.invariants
        assert harmonics is not None
        return harmonics.response(self.field(solution.b, solution.q), self._field_slope(solution))

    def partition(self, q: float, moments: Floats) -> None:
        """Return None: a dense Jacobian is factorised."""
        return

    def distances(self, q: float) -> Floats:
        """Return 1 - lambda_k at q, which vanish where modes are critical at the uniform state."""
        return np.asarray(1.0 - self._attractions(q) * self.basis.squares)

    def gap_slope(self, b: Floats, q: float, moments: Floats) -> float:
        """Return the derivative of the free energy gap along stationary states with respect to q."""
        means = b / self.scales
        slope = -0.5 * float((self._coefficients(q).slopes[self.basis.degrees] * means) @ means)
        return slope - self._forced(b, q)[1] if self.path.moves_forces else slope

    def invariant(self, b: Floats, q: float, log_partition: float) -> float:
        """Return (F - F_uniform)/D at a stationary state."""
        frozen, unknown, coupling = self.in_frozen(b, q)
        return frozen.invariant(unknown, coupling, log_partition)

    def invariant_rounding(self, b: Floats, q: float) -> float:
        """Return the rounding error of the gap."""
        frozen, unknown, coupling = self.in_frozen(b, q)
        return frozen.invariant_rounding(unknown, coupling)

    def force(self, residual: Floats, q: float) -> Floats:
        """Return the gradient of the free energy in b where there is a residual."""
        return np.asarray(self._attractions(q) * residual / self.scales**2)

    def strength(self, q: float) -> float:
        """Return the factor of the gradient, one."""
        return 1.0

    def frozen(self, q: float) -> StationaryEquation:
        """Return the equation in the coupling of the problem at q, in the same basis."""
        known = self._frozen.get(q)
        if known is None:
            while len(self._frozen) >= KEPT:
                del self._frozen[next(iter(self._frozen))]
            significant = SignificantDegrees(self.basis.degrees, self.complete, self.reach)
            self._frozen[q] = known = self._in_coupling(self._problem_at(q), self._basis_at(q), significant)
        return known

    def _in_coupling(self, problem: Equation, basis: Basis, significant: SignificantDegrees) -> StationaryEquation:
        """Return the equation in the coupling of a problem in a basis."""
        return equation_in(problem, basis, self.path.sign, self.geometry, significant, self.truncation)

    def _problem_at(self, q: float) -> Equation:
        """Return the problem at q."""
        return self.path.problem_at(q)

    def in_frozen(self, b: Floats, q: float) -> tuple[StationaryEquation, Floats, float]:
        """Return the frozen equation at q, and b and the coupling there."""
        frozen = self.frozen(q)
        return frozen, frozen.scales * (b / self.scales), frozen.q_at(self.path.coupling)

    def direction_of(self, departure: "Departure", b: Floats, q: float) -> Floats:
        r"""Return the direction in the unknowns of a departure in the coupling at (b, q).

        It is the response :math:`\mathrm{Cov}\,\varphi` of the moments to the critical field
        :math:`\varphi = \sum\sigma_k u_k c_k`, which has no part in modes that do not act.
        """
        source = departure.equation
        scaled = source.doubled * departure.q * source.signed_scales
        field = placed(source, scaled * departure.direction, self)
        return self.scales * (self.basis.covariance(self.evaluate(b, q).gibbs.moments) @ field)

    def on(self, basis: Basis) -> "ParameterEquation":
        """Return the same equation in a basis of the same modes."""
        equation = copy.copy(self)
        equation.basis, equation._frozen = basis, {}
        return equation

    def _significant(self, degrees: Integers) -> SignificantDegrees:
        return self.path.significant(degrees)

    def _resized(self, basis: Basis, significant: SignificantDegrees) -> "ParameterEquation":
        return type(self)(self.path, basis, self.geometry, significant, self.truncation)

    def lifted(self, equation: StationaryEquation | None) -> "StationaryEquation | None":
        """Return the equation along the path in the basis of one in the coupling; None if nothing acts there."""
        return None if equation is None else along(self.path, equation, type(self))


def placed(source: StationaryEquation, values: Floats, target: StationaryEquation) -> Floats:
    """Return values on the modes of an equation at their places in another, which may have the sines as well."""
    found = np.zeros(target.basis.degrees.size)
    if target.basis.fourier is not None and source.basis.cosines is not None:
        phases = np.exp(1j * source.basis.axis * source.basis.degrees) * values
        cosine, sine = np.split(found, 2)
        known = np.isin(target.basis.degrees[: cosine.size], source.basis.degrees)
        cosine[known], sine[known] = phases.real, phases.imag
        return found
    found[np.isin(target.basis.degrees, source.basis.degrees)] = values
    return found


def _basis_along(path: Path, equation: StationaryEquation) -> Basis:
    """Return the basis of an equation, or that of densities with the symmetries of all confinements only."""
    basis, problem = equation.basis, equation.problem
    if not (path.moves_forces or path.carries_current or path.rotates):
        return basis
    if not path.zonal:
        assert basis.invariants is not None
        group = kept_by(basis.invariants.group, path.field)
        return InvariantBasis(group, basis.cells, basis.nodes, path.field)
    symmetry = int(np.gcd(basis.symmetry, path.confining_symmetry))
    even = basis.even and path.keeps(basis.axis)
    if (symmetry, even) == (basis.symmetry, basis.even):
        return basis
    factor = basis.symmetry // symmetry
    nodes = factor * basis.nodes
    size = Size(factor * basis.cells, nodes, confinement_field(problem, symmetry, nodes))
    found = equation.geometry.basis(problem, symmetry, size, even=even)
    return found if found.cosines is None else found.cosines.about(basis.axis)


def along(
    path: Path, equation: StationaryEquation, kind: type[ParameterEquation] = ParameterEquation
) -> ParameterEquation | None:
    """Return the equation of a kind along a path in the basis of an equation in the coupling somewhere on it.

    It has all degrees that are significant anywhere, in a confinement one at least, which need not act; None if it
    has none.
    """
    basis = _basis_along(path, equation)
    if path.kinked is not None:
        basis = in_confinement(path.kinked, basis, equation.geometry)
    least = int(basis.degrees.max()) // basis.symmetry
    significant = path.starting(basis.admissible, basis.symmetry, least)
    if not significant.degrees.size:
        if path.problem.confinement is None:
            return None
        significant = SignificantDegrees(multiples(basis.symmetry, basis.symmetry), True, basis.symmetry)
    cells = significant.degrees // basis.symmetry
    most = 2 * int(cells.max())
    if path.moves_forces and path.factor is None:
        confining = [confining_degree(problem) for problem in path.samples]
        if None in confining:
            raise NotResolved(
                f"{path.name} is not varied in a confinement with a kink or a singularity, whose multipliers decay "
                "too slowly; take a smooth one, of neurons --activation tanh or gelu"
            )
        most = max(most, *(2 * (degree or 0) // basis.symmetry for degree in confining))
    nodes = basis.nodes
    while nodes < most:
        nodes *= 2
    resized = basis.resized(cells, nodes)
    return kind(path, resized, equation.geometry, significant, equation.truncation)
