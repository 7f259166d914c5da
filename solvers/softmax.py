r"""The stationary equation of softmax attention in a basis, in symmetric form.

With the kernel :math:`K = e^{\beta\langle x,y\rangle}` a density is stationary iff

.. math:: \rho = u^p e^{-V/D}/Z, \qquad u = K*\rho / \hat K_0 = 1 + \sum_k w A_k^2 a_k c_k,
          \qquad p = \frac{\kappa}{\beta D}, \quad a_k = \langle c_k\rangle_\rho ,

with the modes :math:`c_k`, the scales A and the coupling q of :mod:`.equation`, and
:math:`w = 2\,\mathrm{gain}/p_1`, :math:`p_1` being p at q = 1. The factor of u drops out of the density. For the
unknown b = A a

.. math:: g(b, q) = b - A \langle c\rangle, \qquad \partial_b g = 1 - p\,\hat C, \qquad
          \hat C = w A (\langle c c^T/u\rangle - \langle c\rangle\langle c/u\rangle^T) A .

The attention matrix :math:`T = \rho K*/u` has the eigenvector rho with eigenvalue 1, and C is T on the densities
modulo rho. With the constant as a further mode T is the symmetric matrix
:math:`\hat G = S\langle (1, c)(1, c)^T/u\rangle S`, :math:`S = (1, \sqrt w A)`, of which
:math:`(1, m)`, :math:`m = \sqrt w\, b`, is the eigenvector of eigenvalue 1 where g = 0. On its complement
:math:`\{(-m\cdot y, y)\}` the form of :math:`1 - p\hat G` is

.. math:: B = 1 + m m^T - p\,(G - m\hat g^T - \hat g m^T + \gamma\, m m^T), \qquad
          \gamma = \langle 1/u\rangle, \quad \hat g = \sqrt w A \langle c/u\rangle,
          \quad G = w A\langle cc^T/u\rangle A,

and :math:`B = (1 - p\hat C) M`, :math:`M = 1 + m m^T`. So :math:`M^{-1} g` has the symmetric Jacobian
:math:`J = M^{-1} B M^{-1}` at states, with as many negative eigenvalues as T has eigenvalues above 1/p besides the
first: the number of unstable directions, since the linearised equation is :math:`-D\,\mathcal G (1 - pA)` with
:math:`\mathcal G = -\rho^{-1}\mathrm{div}(\rho\nabla)` positive and :math:`1 - pA` symmetric in the measure rho u.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from meanfield import Equation, NotResolved

from .bases import EPS, RESOLUTION_TOLERANCE, SMALL_FIELD, Basis, Floats, Gibbs, Integers, resolved
from .equation import FIELD_ROUNDING, Evaluation, StationaryEquation, plus_projector
from .geometry import Geometry
from .significant import SignificantDegrees, confining_degree

if TYPE_CHECKING:
    from .newton import Solution

# Values of u below this share of its mean are rounding noise; the density there is this to a power beyond one.
FLOOR = EPS


class SoftmaxEquation(StationaryEquation):
    """The stationary equation of softmax attention; parameters and attributes are those of the base.

    Attributes
    ----------
    exponent_unit : float
        p at q = 1, with the sign of the couplings.
    factor : float
        w.

    Raises
    ------
    NotResolved
        If the confinement has a kink or a singularity.
    """

    def __init__(
        self,
        problem: Equation,
        basis: Basis,
        sign: int,
        geometry: Geometry,
        significant: SignificantDegrees | None = None,
        truncation: float = 0.0,
    ) -> None:
        super().__init__(problem, basis, sign, geometry, significant, truncation)
        beta = problem.velocity.parameter_values()["beta"]
        if confining_degree(problem) is None:
            raise NotResolved(
                "stationary states of softmax attention in a confinement with a kink or a singularity, as "
                f"{problem.confinement!r} has, are not computed: its multipliers decay too slowly"
            )
        at_uniform: Any = problem.velocity.at_uniform(problem.domain)
        mean = float(problem.potential.scale(problem.domain)) / float(at_uniform.scale(problem.domain))
        self.unit = self.unit * mean
        self.exponent_unit = sign * float(self.unit) / (beta * problem.positive_noise)
        self.factor = self.doubled / abs(self.exponent_unit)
        # All modes attract at positive couplings, and none at negative ones.
        self.signs = np.ones(basis.degrees.size)
        self.signed_scales = self.scales
        self.repulsive = 0

    def exponent(self, q: float) -> float:
        """Return p at the dimensionless coupling q."""
        return q * self.exponent_unit

    def evaluate(self, b: Floats, q: float) -> Evaluation:
        """Return residual and density at (b, q)."""
        gibbs = self._density(b, q)
        residual = b - self.scales * self.basis.means(gibbs.moments)
        return Evaluation(self._reduced(b, residual), gibbs)

    def linearise(self, b: Floats, q: float, moments: Floats) -> tuple[Floats, Floats]:
        """Return the symmetric Jacobian of the residual and its derivative in q, rotation deflated."""
        derivative = self._reduced(b, -self.exponent_unit * self.scales * self.basis.means(self._correlated(b, q)))
        return self.own_block(b, q, moments), derivative

    def own_block(self, b: Floats, q: float, moments: Floats) -> Floats:
        """Return the symmetric Jacobian of the residual, rotation deflated."""
        p, response = self.exponent(q), self.response(b, q, moments)
        means = self.basis.means(response)
        weights = self.factor * np.multiply.outer(self.scales, self.scales)
        second = weights * (self.basis.covariance(response) + np.multiply.outer(means, means))
        m, g = math.sqrt(self.factor) * b, math.sqrt(self.factor) * self.scales * means
        cross = np.multiply.outer(m, g)
        form = np.eye(b.size) - p * (second - cross - cross.T)
        form += (1.0 - p * response.item(0)) * np.multiply.outer(m, m)
        along = m / (1.0 + m @ m)
        form -= np.multiply.outer(along, m @ form)
        form -= np.multiply.outer(form @ m, along)
        form = np.asarray(0.5 * (form + form.T))
        generator = self.basis.rotation(moments)
        return form if generator is None else plus_projector(form, (self.scales * generator.T).T)

    def response(self, b: Floats, q: float, moments: Floats) -> Floats:
        """Return the moments of rho/u, whose products with two modes are those of the linearisation."""
        u, weights = self._weighted(b, q)
        mass = float(self.basis.analyse(weights)[0])
        return self.basis.analyse(weights / u) / mass

    def masses(self, b: Floats, q: float) -> Floats:
        """Return the masses of the nodes of a basis of densities about an axis, (n,) with sum one."""
        return self._masses(b, q)[1]

    def response_masses(self, b: Floats, q: float) -> Floats:
        """Return the masses of the nodes over u."""
        u, masses = self._masses(b, q)
        return np.asarray(masses / u)

    def moment_slopes(self, solution: "Solution") -> Floats:
        """Return the derivatives of the moments along the tangent of a solution."""
        _, weights = self._weighted(solution.b, solution.q)
        moments = self.basis.analyse(weights)
        total, mass = self.basis.analyse(weights * self._field_slope(solution)), float(moments[0])
        return np.asarray(total / mass - moments * (float(total[0]) / mass**2))

    def field_slopes(self, solutions: "Sequence[Solution]") -> tuple[Integers, Floats]:
        """Return cells, and the derivatives of the fields of solutions along their tangents, one row a solution."""
        cells = np.arange(1, self.basis.nodes // 2 + 1)
        rows = [2.0 * self.basis.analyse(self._field_slope(solution)) for solution in solutions]
        width = self.basis.nodes + 1
        places = np.concatenate([part + cells for part in range(0, rows[0].size, width)])
        return cells, np.array([row[places] for row in rows])

    def _field_slope(self, solution: "Solution") -> Floats:
        """Return the derivative of p log u along the tangent of a solution on the nodes."""
        u, _ = self._weighted(solution.b, solution.q)
        change = self.basis.synthesise(self.factor * self.scales * solution.tangent_b) / u
        return np.asarray(solution.tangent_q * self.exponent_unit * np.log(u) + self.exponent(solution.q) * change)

    def distances(self, q: float) -> Floats:
        """Return 1 - p/p_k for the exponents p_k at which modes are critical at the uniform state."""
        return np.asarray(1.0 - self.exponent(q) * self.factor * self.scales**2 * self.basis.squares)

    def partition(self, q: float, moments: Floats) -> None:
        """Return None: the kernel of attention has few significant modes."""
        return

    def invariant(self, b: Floats, q: float, log_partition: float) -> float:
        """Return log Z, equal for images of a state."""
        return log_partition

    def invariant_rounding(self, b: Floats, q: float) -> float:
        """Return the rounding error of log Z."""
        return 8.0 * EPS * (1.0 + abs(self.exponent(q)))

    def _nodes_suffice(self, b: Floats, q: float, moments: Floats) -> bool:
        """Return whether the last moments are at rounding level, or else a finer rule gives the same moments."""
        rounding = FIELD_ROUNDING * EPS * (1.0 + abs(self.exponent(q)) * self.factor * float(np.abs(b).sum()))
        if not resolved(self.basis, moments, rounding):
            return False
        if not self.basis.needs_second_rule:
            return True
        finer = self.on(self.basis.resized(self.basis.cells, 3 * self.basis.nodes // 2))
        others = finer.basis.means(finer.evaluate(b, q).gibbs.moments)
        return bool(np.abs(others - self.basis.means(moments)).max() <= max(RESOLUTION_TOLERANCE, rounding))

    def _density(self, b: Floats, q: float) -> Gibbs:
        """Return the moments of u^p e^(-V/D) and log Z, relative to the size of b where that is small."""
        p = self.exponent(q)
        excess = self.basis.synthesise(self.factor * self.scales * b)
        field = p * np.log1p(np.maximum(excess, FLOOR - 1.0))
        if self.basis.confining is not None:
            field += self.basis.confining
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

    def _weighted(self, b: Floats, q: float) -> tuple[Floats, Floats]:
        """Return u and the density up to a factor on the nodes."""
        u = np.maximum(1.0 + self.basis.synthesise(self.factor * self.scales * b), FLOOR)
        field = self.exponent(q) * np.log(u)
        if self.basis.confining is not None:
            field += self.basis.confining
        return u, np.exp(field - field.max())

    def _masses(self, b: Floats, q: float) -> tuple[Floats, Floats]:
        """Return u and the masses of the nodes, with sum one."""
        profiles = self.basis.profiles
        assert profiles is not None
        u, weights = self._weighted(b, q)
        masses = profiles.rule.weights * weights
        return u, masses / masses.sum()

    def _correlated(self, b: Floats, q: float) -> Floats:
        """Return the covariances of the modes with log u."""
        u, weights = self._weighted(b, q)
        moments, logarithm = self.basis.analyse(weights), np.log(u)
        total, mass = self.basis.analyse(weights * logarithm), float(moments[0])
        return np.asarray(total / mass - moments * (float(total[0]) / mass**2))

    def _reduced(self, b: Floats, vector: Floats) -> Floats:
        """Return M^-1 times a vector."""
        square = self.factor * float(b @ b)
        return np.asarray(vector - b * (self.factor * float(b @ vector) / (1.0 + square)))
