"""Stationary equations of laws whose field is no sum of modes, but is known on the nodes of the basis.

The parts that such equations have in common, see :mod:`.softmax` and :mod:`.velocity`.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from meanfield import NotResolved

from ..bases import EPS, RESOLUTION_TOLERANCE, SMALL_FIELD, Floats, Gibbs, Integers, resolved
from .equation import FIELD_ROUNDING, StationaryEquation
from .significant import confining_degree

if TYPE_CHECKING:
    from ..root_finding.solution import Solution

# Step of central differences, at which truncation and rounding are alike.
DIFFERENCE = EPS ** (1.0 / 3.0)


class NodalEquation(StationaryEquation):
    r"""The stationary equation of a law whose field is known on the nodes; parameters are those of the base.

    The residual is :math:`b - A\langle c\rangle`, without the signs of the base, up to a regular factor, so that
    every negative eigenvalue of J counts as an unstable direction.

    Attributes
    ----------
    attractions : (size,) float
        The signed squares of the scales, positive where a mode attracts.

    Raises
    ------
    NotResolved
        If the confinement has a kink or a singularity.
    """

    def _prepare(self) -> None:
        problem = self.problem
        if confining_degree(problem) is None:
            raise NotResolved(
                f"stationary states of {problem.velocity.name} in a confinement with a kink or a singularity, as "
                f"{problem.confinement!r} has, are not computed: its multipliers decay too slowly; take a smooth "
                "one, of neurons --activation tanh or gelu"
            )
        at_uniform: Any = problem.velocity.unlagged.at_uniform(problem.domain)
        self.unit = (
            self.unit * float(problem.potential.scale(problem.domain)) / float(at_uniform.scale(problem.domain))
        )
        self.attractions = self.signed_scales * self.scales
        self.signs = np.ones(self.basis.degrees.size)
        self.signed_scales = self.scales
        self.repulsive = 0

    def drift_field(self, b: Floats, q: float) -> Floats:
        """Return the field of the law alone, without the confinement, on the nodes."""
        raise NotImplementedError

    def drift_changes(self, b: Floats, q: float, directions: Floats) -> Floats:
        """Return the derivatives of that field along directions of b, one row each."""
        raise NotImplementedError

    def law_slope(self, b: Floats, q: float, name: str) -> Floats:
        """Return the derivative of that field in a parameter of the law at fixed means of the modes."""
        raise NotImplementedError

    def place_slope(self, b: Floats, q: float, role: str, own: str) -> Floats:
        """Return the derivative of that field in a parameter of the equation, by its place, at fixed means.

        Parameters
        ----------
        role, own
            The field of the equation that has the parameter, and its name there.
        """
        if role == "coupling":
            return self.drift_field(b, q) / float(self.problem.fixed_coupling)
        if role == "noise":
            return -self.drift_field(b, q) / self.problem.positive_noise
        return (
            self.law_slope(b, q, own) if role == self.problem.law_field else np.zeros_like(self.drift_field(b, q))
        )

    def forced_field(self, forces: Floats) -> Floats:
        """Return the field of a confinement on the nodes that is a sum of the modes."""
        return np.array(self.basis.synthesise(forces))

    def responses(self, b: Floats, q: float, changes: Floats) -> Floats:
        """Return the changes of all moments under changes of the field on the nodes, one row each."""
        weights = self.weighted(b, q)
        return np.array([self.covariances_with(change, weights) for change in changes])

    def drift_curvatures(self, b: Floats, q: float, direction: Floats, directions: Floats) -> Floats:
        """Return the second derivatives of that field along one direction of b and others, one row each.

        By central differences of the first derivatives unless a law has a formula, to some 1e-10 of them.
        """
        step = DIFFERENCE / (float(np.linalg.norm(direction)) or 1.0)
        after, before = (self.drift_changes(b + side * step * direction, q, directions) for side in (1.0, -1.0))
        return np.asarray((after - before) / (2.0 * step))

    def law_slope_change(self, b: Floats, q: float, name: str, direction: Floats) -> Floats:
        """Return the derivative of :meth:`law_slope` along a direction of b, by differences as above."""
        step = DIFFERENCE / (float(np.linalg.norm(direction)) or 1.0)
        after, before = (self.law_slope(b + side * step * direction, q, name) for side in (1.0, -1.0))
        return np.asarray((after - before) / (2.0 * step))

    def drift_slope(self, solution: "Solution") -> Floats:
        """Return the derivative of the field along the tangent of a solution on the nodes."""
        (change,) = self.drift_changes(solution.b, solution.q, solution.tangent_b[None])
        return np.asarray(solution.tangent_q * self.drift_field(solution.b, 1.0) + change)

    def field_bound(self, b: Floats, q: float) -> float:
        """Return the size of the terms of which the field is a sum, for its rounding."""
        raise NotImplementedError

    def masses(self, b: Floats, q: float) -> Floats:
        """Return the masses of the nodes of a basis of densities about an axis, (n,) with sum one."""
        profiles = self.basis.profiles
        assert profiles is not None
        masses = profiles.rule.weights * self.weighted(b, q)
        return np.asarray(masses / masses.sum())

    def moment_slopes(self, solution: "Solution") -> Floats:
        """Return the derivatives of the moments along the tangent of a solution."""
        return self.covariances_with(self.drift_slope(solution), self.weighted(solution.b, solution.q))

    def field_slopes(self, solutions: "Sequence[Solution]") -> tuple[Integers, Floats]:
        """Return cells, and the derivatives of the fields of solutions along their tangents, one row a solution."""
        cells = np.arange(1, self.basis.nodes // 2 + 1)
        rows = [2.0 * self.basis.analyse(self.drift_slope(solution)) for solution in solutions]
        width = self.basis.nodes + 1
        places = np.concatenate([part + cells for part in range(0, rows[0].size, width)])
        return cells, np.array([row[places] for row in rows])

    def distances(self, q: float) -> Floats:
        """Return 1 - q/q_k for the couplings q_k at which modes are critical at the uniform state."""
        return np.asarray(1.0 - q * self.doubled * self.attractions * self.basis.squares)

    def partition(self, q: float, moments: Floats) -> None:
        """Return None: the kernels of these laws have few significant modes."""
        return

    def invariant(self, b: Floats, q: float, log_partition: float) -> float:
        """Return log Z, equal for images of a state."""
        return log_partition

    def invariant_rounding(self, b: Floats, q: float) -> float:
        """Return the rounding error of log Z."""
        return 8.0 * EPS * (1.0 + self.field_bound(b, q))

    def _nodes_suffice(self, b: Floats, q: float, moments: Floats) -> bool:
        """Return whether the last moments are at rounding level, or else a finer rule gives the same moments."""
        rounding = FIELD_ROUNDING * EPS * (1.0 + self.field_bound(b, q))
        if not resolved(self.basis, moments, rounding):
            return False
        if not self.basis.needs_second_rule:
            return True
        finer = self.on(self.basis.resized(self.basis.cells, 3 * self.basis.nodes // 2))
        others = finer.basis.means(finer.evaluate(b, q).gibbs.moments)
        return bool(np.abs(others - self.basis.means(moments)).max() <= max(RESOLUTION_TOLERANCE, rounding))

    def _density(self, b: Floats, q: float) -> Gibbs:
        """Return the moments of the density and log Z, relative to the size of b where that is small."""
        field = self._whole(self.drift_field(b, q))
        top = float(field.max())
        if top < SMALL_FIELD and float(field.min()) > -SMALL_FIELD:
            moments = self.basis.analyse(np.expm1(field))
            beyond = float(moments[0])
            moments = moments / (1.0 + beyond)
            moments[0] = 1.0
            return Gibbs(moments, math.log1p(beyond))
        moments = self.basis.analyse(np.exp(field - top))
        mass = float(moments[0])
        return Gibbs(moments / mass, top + math.log(mass))

    def weighted(self, b: Floats, q: float) -> Floats:
        """Return the density up to a factor on the nodes."""
        field = self._whole(self.drift_field(b, q))
        return np.asarray(np.exp(field - field.max()))

    def covariances_with(self, values: Floats, weights: Floats) -> Floats:
        """Return the covariances of all moments with values on the nodes under a density up to a factor."""
        moments, total = self.basis.analyse(weights), self.basis.analyse(weights * values)
        mass = float(moments[0])
        return np.asarray(total / mass - moments * (float(total[0]) / mass**2))

    def _whole(self, field: Floats) -> Floats:
        """Return a field with that of the confinement."""
        return field if self.basis.confining is None else field + self.basis.confining
