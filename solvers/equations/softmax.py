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

import numpy as np

from ..bases import EPS, Floats
from ..linear_algebra.projectors import plus_projector
from .equation import Evaluation
from .linearisation import OwnMeans
from .nodal import NodalEquation

# Values of u below this share of its mean are rounding noise; the density there is this to a power beyond one.
FLOOR = EPS


class SoftmaxEquation(NodalEquation):
    """The stationary equation of softmax attention; parameters are those of the base.

    Attributes
    ----------
    exponent_unit : float
        p at q = 1, with the sign of the couplings.
    factor : float
        w.
    """

    def _prepare(self) -> None:
        super()._prepare()
        beta = self.problem.velocity.parameter_values()["beta"]
        self.exponent_unit = self.sign * float(self.unit) / (beta * self.problem.positive_noise)
        self.factor = self.doubled / abs(self.exponent_unit)

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
        u = self.average(b)
        correlated = self.basis.means(self.covariances_with(np.log(u), self.weighted(b, q)))
        derivative = self._reduced(b, -self.exponent_unit * self.scales * correlated)
        return self.own_block(b, q, moments), derivative

    def own_block(self, b: Floats, q: float, moments: Floats) -> Floats:
        """Return the symmetric Jacobian of the residual, rotation deflated."""
        response = self.response(b, q, moments)
        means = self.basis.means(response)
        second = self.basis.covariance(response) + np.multiply.outer(means, means)
        form = self._form(q, second, self.scales, OwnMeans(means, response.item(0), b / self.scales))
        generator = self.basis.rotation(moments)
        return form if generator is None else plus_projector(form, (self.scales * generator.T).T)

    def perturbed(self, q: float, second: Floats, relative: Floats, own: OwnMeans | None) -> tuple[Floats, int]:
        """Return the symmetric Jacobian on a class of modes, and 0: every negative eigenvalue is unstable."""
        return self._form(q, second, np.sqrt(np.abs(relative) / self.strongest), own), 0

    def _form(self, q: float, second: Floats, scales: Floats, own: OwnMeans | None) -> Floats:
        """Return M^-1 B M^-1 on modes of some scales A from the means of their products under rho/u."""
        p = self.exponent(q)
        form = np.eye(scales.size) - (p * self.factor) * np.multiply.outer(scales, scales) * second
        if own is None:
            return np.asarray(form)
        m, g = (math.sqrt(self.factor) * scales * means for means in (own.density, own.response))
        cross = np.multiply.outer(m, g)
        form += p * (cross + cross.T) + (1.0 - p * own.mass) * np.multiply.outer(m, m)
        along = m / (1.0 + m @ m)
        form -= np.multiply.outer(along, m @ form)
        form -= np.multiply.outer(form @ m, along)
        return np.asarray(0.5 * (form + form.T))

    def response(self, b: Floats, q: float, moments: Floats) -> Floats:
        """Return the moments of rho/u, whose products with two modes are those of the linearisation."""
        weights = self.weighted(b, q)
        mass = float(self.basis.analyse(weights)[0])
        return self.basis.analyse(weights / self.average(b)) / mass

    def response_masses(self, b: Floats, q: float) -> Floats:
        """Return the masses of the nodes over u."""
        return np.asarray(self.masses(b, q) / self.average(b))

    def drift_field(self, b: Floats, q: float) -> Floats:
        """Return p log u on the nodes."""
        return np.asarray(self.exponent(q) * np.log1p(np.maximum(self._excess(b), FLOOR - 1.0)))

    def drift_changes(self, b: Floats, q: float, directions: Floats) -> Floats:
        """Return the derivatives of p log u along directions of b on the nodes."""
        factor = self.exponent(q) / self.average(b)
        return np.array([factor * self._excess(direction) for direction in directions])

    def drift_curvatures(self, b: Floats, q: float, direction: Floats, directions: Floats) -> Floats:
        """Return the second derivatives of p log u, -p times the product of two changes of u over its square."""
        factor = -self.exponent(q) / self.average(b) ** 2 * self._excess(direction)
        return np.array([factor * self._excess(other) for other in directions])

    def law_slope(self, b: Floats, q: float, name: str) -> Floats:
        r"""Return the derivative of p log u in beta: :math:`p(\partial_\beta h/h - \log(u)/\beta)`, h = K*rho/beta.

        That is up to a constant, which no density feels.
        """
        mean, drive, speed = self._law_slopes(name)
        change = (mean + self.basis.synthesise(drive * b)) / self.average(b)
        return np.asarray(self.exponent(q) * change + speed * self.drift_field(b, q))

    def law_slope_change(self, b: Floats, q: float, name: str, direction: Floats) -> Floats:
        """Return the derivative of that along a direction of b."""
        mean, drive, speed = self._law_slopes(name)
        u, moved = self.average(b), self._excess(direction).copy()
        change = mean + self.basis.synthesise(drive * b)
        slope = self.basis.synthesise(drive * direction) / u - change * moved / u**2
        return np.asarray(self.exponent(q) * (slope + speed * moved / u))

    def _law_slopes(self, name: str) -> tuple[float, Floats, float]:
        """Return the derivatives in beta of the mean of h and of its modes, b being 1, over h, and of log s."""
        problem, degrees = self.problem, self.basis.degrees
        slopes = problem.velocity.slopes(name, problem.domain, int(degrees.max()))
        drive = slopes.drive / float(problem.velocity.drive(problem.domain, 0)[0])
        return float(drive[0]), drive[degrees] / self.scales, slopes.speed

    def field_bound(self, b: Floats, q: float) -> float:
        """Return abs(p) times the sum of the moduli of the terms of u - 1."""
        return abs(self.exponent(q)) * self.factor * float(np.abs(b).sum())

    def _excess(self, b: Floats) -> Floats:
        """Return u - 1 on the nodes, which is linear in b; the next transform may overwrite it."""
        return self.basis.synthesise(self.factor * self.scales * b)

    def average(self, b: Floats) -> Floats:
        """Return u on the nodes."""
        return np.maximum(1.0 + self._excess(b), FLOOR)

    def _reduced(self, b: Floats, vector: Floats) -> Floats:
        """Return M^-1 times a vector."""
        square = self.factor * float(b @ b)
        return np.asarray(vector - b * (self.factor * float(b @ vector) / (1.0 + square)))
