r"""The stationary equation, on densities about an axis, of velocity laws that have no Gibbs map.

A density even about an axis of the circle, or about an axis of a sphere, has no flux along the meridians, and so a
stationary one is

.. math:: \rho = e^{f}/Z, \qquad f(\theta) = \frac{\kappa}{D}\int_0^\theta v[\rho]\,d\theta - \frac{V}{D},
          \qquad v = s\,\partial_\theta h,

with the drive h, the speed s of :mod:`meanfield.equations.velocity`, and the radial drive R. All three follow from
the means a of the significant modes, so that with :math:`b = A a`, the scales A and the coupling q of
:mod:`.equation`,

.. math:: g(b, q) = b - A\langle c\rangle_f, \qquad \partial_b g = 1 - A\,\mathrm{Cov}(c, \partial_a f)\,A^{-1} .

Where v is the gradient of no function of the density this Jacobian is symmetric in no known inner product. It is
singular where the linearised equation is, but that its negative eigenvalues are as many as the unstable directions
is no theorem: these are counted by the eigenvalues of the linearised equation itself.

Far from all particles the averages may be lost in rounding. There the velocity is regularised to zero: of states
with :math:`\kappa/D` beyond the first threshold the density is of the order of this rounding.

Where a speed has a pole or a branch point, as that of nGPT where the average of the tokens vanishes, f is smooth
only beside it: states there need many nodes, and at one coupling no number of them is enough.
"""

import copy
from typing import NamedTuple

import numpy as np

from ..bases import Basis, Floats, Integrals, Panels, resolved
from .equation import Evaluation
from .law_eigenvalues import regularised_velocity, rounding_of, velocity_slopes
from .nodal import NodalEquation

# With the most nodes the last moments of a density may be this large, and its residual is said to be.
HARDLY_SMOOTH = 1e-6
# Panels on which the velocity is integrated: at least so many, and one for so many nodes.
FEWEST_PANELS, NODES_PER_PANEL = 8, 16


class VelocityEquation(NodalEquation):
    """The stationary equation of any velocity law without a lag, on densities about an axis; else as the base."""

    symmetric = False

    def _prepare(self) -> None:
        super()._prepare()
        problem, basis = self.problem, self.basis
        law, last = problem.velocity, int(basis.degrees.max())
        drive = law.drive(problem.domain, last)
        radial = law.radial(problem.domain, last)
        self._ratio = self.sign * float(self.unit) / problem.positive_noise
        self._drive = (drive[0], drive[basis.degrees])
        self._radial = None if radial is None else (radial[0], radial[basis.degrees])
        self._meridian = _Meridian.of(self)

    def on(self, basis: Basis) -> "VelocityEquation":
        """Return the same equation in a basis of the same modes."""
        equation = copy.copy(self)
        equation.basis = basis
        equation._meridian = _Meridian.of(equation)
        return equation

    def truncation_at(self, moments: Floats) -> float:
        """Return an estimate of the error of moments from what they leave out: the last ones beyond rounding."""
        return max(self.truncation, 0.0 if resolved(self.basis, moments) else self.basis.tail(moments))

    def _nodes_suffice(self, b: Floats, q: float, moments: Floats) -> bool:
        """Return whether the last moments are at rounding level, or small with as many nodes as there may be."""
        finest = self.basis.nodes >= self.basis.most_nodes and self.basis.tail(moments) <= HARDLY_SMOOTH
        return finest or super()._nodes_suffice(b, q, moments)

    def ratio(self, q: float) -> float:
        """Return kappa/D at the dimensionless coupling q."""
        return q * self._ratio

    def evaluate(self, b: Floats, q: float) -> Evaluation:
        """Return residual and density at (b, q)."""
        gibbs = self._density(b, q)
        return Evaluation(b - self.scales * self.basis.means(gibbs.moments), gibbs)

    def linearise(self, b: Floats, q: float, moments: Floats) -> tuple[Floats, Floats]:
        """Return the Jacobian of the residual, which is not symmetric, and its derivative in q."""
        potential = self._ratio * self._potential(b)
        derivative = -self.scales * self.basis.means(self.covariances_with(potential, self.weighted(b, q)))
        return self.own_block(b, q, moments), derivative

    def own_block(self, b: Floats, q: float, moments: Floats) -> Floats:
        """Return the Jacobian of the residual."""
        modes = self._meridian.modes
        masses = self._meridian.weights * self.weighted(b, q)
        masses /= masses.sum()
        changes = self.drift_changes(b, q, np.eye(b.size))
        covariances = (modes * masses) @ changes.T - np.multiply.outer(modes @ masses, changes @ masses)
        return np.asarray(np.eye(b.size) - self.scales[:, None] * covariances)

    def drift_field(self, b: Floats, q: float) -> Floats:
        """Return kappa/D times the integral of the velocity on the nodes."""
        return self.ratio(q) * self._potential(b)

    def drift_changes(self, b: Floats, q: float, directions: Floats) -> Floats:
        """Return the derivatives of the field along directions of b on the nodes."""
        return np.asarray(self.ratio(q) * self._changes(b, directions / self.scales))

    def law_slope(self, b: Floats, q: float, name: str) -> Floats:
        """Return the derivative of the field in a parameter of the law at fixed means."""
        law, domain, degrees = self.problem.velocity, self.problem.domain, self.basis.degrees
        along, means = self._meridian, b / self.scales
        slopes = law.slopes(name, domain, int(degrees.max()))
        averages = self.averages(b, along.values, along.slopes)
        by_drive, by_slope, by_radial = velocity_slopes(law, *averages, self.averages_rounding(b))
        drive = slopes.drive[degrees] * means
        change = by_drive * (slopes.drive[0] + drive @ along.values) + by_slope * (drive @ along.slopes)
        if by_radial is not None and slopes.radial is not None:
            change += by_radial * (slopes.radial[0] + (slopes.radial[degrees] * means) @ along.values)
        return np.asarray(self.ratio(q) * along.potentials(change) + slopes.speed * self.drift_field(b, q))

    def field_bound(self, b: Floats, q: float) -> float:
        """Return the largest modulus of the field."""
        return float(np.abs(self.drift_field(b, q)).max())

    def averages(self, b: Floats, values: Floats, slopes: Floats) -> tuple[Floats, Floats, Floats | None]:
        """Return the drive, its slope and the radial drive where the modes have given values and slopes."""
        means = b / self.scales
        drive = self._drive[1] * means
        radial = None if self._radial is None else self._radial[0] + (self._radial[1] * means) @ values
        return self._drive[0] + drive @ values, drive @ slopes, radial

    def _potential(self, b: Floats) -> Floats:
        """Return the integral of the velocity on the nodes, of mean zero."""
        along = self._meridian
        averages = self.averages(b, along.values, along.slopes)
        return along.potentials(regularised_velocity(self.problem.velocity, *averages, self.averages_rounding(b)))

    def _changes(self, b: Floats, directions: Floats) -> Floats:
        """Return the derivatives of the integral of the velocity along changes of the means, one row each."""
        along = self._meridian
        averages = self.averages(b, along.values, along.slopes)
        slopes = velocity_slopes(self.problem.velocity, *averages, self.averages_rounding(b))
        drives = directions * self._drive[1]
        changes = slopes[0] * (drives @ along.values) + slopes[1] * (drives @ along.slopes)
        if slopes[2] is not None and self._radial is not None:
            changes += slopes[2] * ((directions * self._radial[1]) @ along.values)
        return along.potentials(changes)

    def averages_rounding(self, b: Floats) -> float:
        """Return the rounding error of the slope of the drive and of the radial drive."""
        means = b / self.scales
        terms = [self._drive[1] * self.basis.degrees * means]
        terms += [] if self._radial is None else [self._radial[0], self._radial[1] * means]
        return rounding_of(*terms)


class _Meridian(NamedTuple):
    """The modes of a basis on its nodes, and on the panels along which the velocity is integrated to them."""

    modes: Floats
    weights: Floats
    integrals: Integrals
    values: Floats
    slopes: Floats

    @classmethod
    def of(cls, equation: VelocityEquation) -> "_Meridian":
        """Return that of an equation."""
        basis, axial = equation.basis, equation.basis.axial
        assert axial is not None
        panels = Panels(axial.extent, max(FEWEST_PANELS, basis.nodes // NODES_PER_PANEL))
        modes, _ = axial.modes_at(axial.angles)
        return cls(modes, axial.weights, panels.integrals_to(axial.angles), *axial.modes_at(panels.angles))

    def potentials(self, velocities: Floats) -> Floats:
        """Return the integrals of velocities on the panels, on the nodes and of mean zero, (..., nodes)."""
        integrals = self.integrals(velocities)
        return np.asarray(integrals - (integrals @ self.weights)[..., None])
