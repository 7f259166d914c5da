r"""The equation in time for densities symmetric about the north pole of :math:`S^{d-1}`, any d.

With :math:`u = \cos\theta`, :math:`p_l = \int\rho P_l(u)` and the density :math:`1 + f = \sum N_l p_l P_l` relative
to uniform, in weak form

.. math::

    \dot p_l = -D\,l(l+d-2)\,p_l + D \int (1 + f)\,(1-u^2)\,P_l'(u)\,g'(u)\,d\mu(u),
    \qquad g = \sum_l \bigl(N_l\lambda_l p_l - \tfrac{v_l}{D}\bigr) P_l,

:math:`\mu` the uniform probability. The term with 1 in place of 1 + f is linear and joins the diffusion. The other
is the mean of a polynomial of degree 3 K, which a Gauss rule of (3 K + 1)/2 nodes integrates exactly: three
products with small dense matrices make a time derivative, and no transform is faster at these sizes. The mass is no
unknown.

:math:`\sqrt{1-u^2}\,P_l'` comes from :math:`P_l' = \frac{l(l+d-2)}{d-1} P_{l-1}^{(d+2)}`, the polynomials of two
dimensions more, which is free of cancellation at the poles.

In high dimensions :math:`N_l` grows so fast that moments far below rounding still shape the density. So there the
coefficients :math:`\sqrt{N_l}\,p_l` of orthonormal functions must be accurate relative to the largest of them,
beside the moments. Beyond a hundred dimensions moments are all that double precision holds.
"""

import functools

import numpy as np

from meanfield import Equation
from meanfield.harmonics import gauss_rule, northern_half, polynomials

from ...bases import Floats
from ..multiplicities import MOST_HARMONICS
from ..system import AxialSystem
from .rates import WEIGHTED, SphereRates

# Dense tables of this degree take some fifty megabytes.
LARGEST = 1024
# Tables in use by one run: some resolutions of one dimension.
KEPT_TABLES = 8


class ZonalSystem(AxialSystem):
    """Zonal densities: the unknowns are p_n, p_2n, ..., p_nK.

    Parameters
    ----------
    problem
        The equation on a sphere, with its coupling.
    degree
        K.
    symmetry
        2 for densities even about the equator, which have even degrees only; otherwise 1.
    """

    multistep = True
    weights: Floats | None

    def __init__(self, problem: Equation, degree: int, symmetry: int = 1) -> None:
        self.problem, self.degree, self.size, self.symmetry = problem, degree, degree, symmetry
        dimension = problem.domain.dimension
        self.largest = min(LARGEST, largest_degree(dimension))
        self.rates = rates = SphereRates(problem, degree, symmetry)
        self.unit = rates.unit * symmetry * (symmetry + dimension - 2)
        self.linear = rates.linear
        self.weights = np.sqrt(rates.harmonics) if dimension in WEIGHTED else None
        self._diffusion = problem.noise * rates.eigenvalues
        self._prepare()

    def _prepare(self) -> None:
        """Compute the tables of products by quadrature."""
        problem, rates = self.problem, self.rates
        values, slopes, weights = zonal_tables(problem.domain.dimension, self.degree, self.symmetry)
        self._nodes = nodes = weights.size
        # Density and slope of the field at the nodes, one below the other.
        self._synthesis = np.concatenate([rates.harmonics * values, rates.attraction * slopes])
        self._projection = np.ascontiguousarray(rates.unit * (weights[:, None] * slopes).T)
        self._offset = slopes @ rates.force if rates.confined else None
        self._points, self._products = np.empty(2 * nodes), np.empty(nodes)
        self._weighted: Floats | None = None

    def nonlinear(self, unknown: Floats) -> Floats:
        """Return the nonlinear part of the derivative: the quadratic terms and those of the confinement."""
        points, nodes = self._points, self._nodes
        self._synthesis.dot(unknown, out=points)
        slope = points[nodes:]
        if self._offset is not None:
            slope += self._offset
        np.multiply(points[:nodes], slope, self._products)
        result: Floats = self._projection.dot(self._products)
        if self._offset is not None:
            result += self.rates.constant
        return result

    def jacobian(self, time: float, unknown: Floats) -> Floats:
        """Return the Jacobian of the derivative in the moments.

        A change of the density multiplies the slope, a change of the slope the density: both in one product.
        """
        nodes = self._nodes
        if self._weighted is None:
            self._weighted = np.empty((self.degree, 2 * nodes))
        points = self._synthesis.dot(unknown)
        if self._offset is not None:
            points[nodes:] += self._offset
        points[:nodes] += 1.0
        np.multiply(self._projection, points[nodes:], self._weighted[:, :nodes])
        np.multiply(self._projection, points[:nodes], self._weighted[:, nodes:])
        matrix: Floats = self._weighted.dot(self._synthesis)
        matrix.flat[:: self.degree + 1] -= self._diffusion
        return matrix

    def sizes(self, unknown: Floats) -> Floats:
        """Return the moduli of the moments, or of the coefficients relative to the largest if these are larger."""
        moduli = np.abs(unknown)
        if self.weights is None:
            return moduli
        coefficients = self.weights * moduli
        return np.maximum(moduli, coefficients / max(1.0, float(coefficients.max())))

    def costs(self, duration: float) -> tuple[float, float]:
        """Return estimates of the seconds that LSODA and exponential formulas take for a duration.

        A step of the latter makes four derivatives of three matrix products each.
        """
        steps, area = duration * self.rates.explicit_steps(), float(self.size * self._nodes)
        return 5e-9 * self.size**3 + 1e-7 * area, steps * (4e-5 + 4e-9 * area)

    def resized(self, degree: int) -> "ZonalSystem":
        """Return the same system with another K."""
        return type(self)(self.problem, degree, self.symmetry)


@functools.lru_cache(maxsize=KEPT_TABLES)
def zonal_tables(dimension: int, degree: int, symmetry: int) -> tuple[Floats, Floats, Floats]:
    r"""Return P_l and :math:`\sqrt{1-u^2}P_l'` of the cells, (nodes, K) each, and the weights, (nodes,).

    The nodes suffice for products of three of them. For even degrees only, the northern ones are enough.
    """
    last = symmetry * degree
    rule = gauss_rule(dimension, (3 * last + 2) // 2)
    if symmetry == 2:
        rule = northern_half(rule)
    degrees = np.arange(symmetry, last + 1, symmetry)
    sine = np.sqrt(rule.complements * (2.0 - rule.complements))
    values = polynomials(dimension, rule, last)[degrees].T
    factors = degrees * (degrees + dimension - 2.0) / (dimension - 1.0)
    slopes = factors * polynomials(dimension + 2, rule, last - 1)[degrees - 1].T * sine[:, None]
    tables = (values.copy(), slopes, rule.weights.copy())
    for table in tables:
        table.flags.writeable = False
    return tables


@functools.cache
def largest_degree(dimension: int) -> int:
    """Return the largest degree up to ``LARGEST`` with a number of harmonics that double precision can handle."""
    from meanfield import Sphere

    sphere = Sphere(dimension)
    degree = LARGEST
    while sphere.multiplicity(degree) >= MOST_HARMONICS:
        degree //= 2
    return degree
