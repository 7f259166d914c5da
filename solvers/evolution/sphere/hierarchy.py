r"""The moment equations of zonal densities in high dimensions, from products of polynomials instead of quadrature.

Where degrees have many harmonics, the values of a density span more decades than double precision has, and means
that vanish exactly come out of quadrature as rounding of the largest value. The moments themselves are of size one.
With :math:`P_j P_l = \sum_k c_{jlk} P_k`, whose coefficients are positive with sum one, and
:math:`\nabla a\cdot\nabla b = \frac12[\Delta(ab) - a\Delta b - b\Delta a]`,

.. math::

    \bigl\langle \nabla P_l\cdot\nabla g\bigr\rangle_\rho
        = \tfrac12 \sum_j g_j \sum_{k=|l-j|}^{l+j} c_{jlk}\,(e_l + e_j - e_k)\, p_k, \qquad e_l = l(l+d-2),

so that a moment depends on its neighbours only, and rounding does not spread. The cost is that of the number of
degrees times the square of that of the significant ones.
"""

import functools

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ...bases import Floats
from .rates import significant_degree
from .zonal import ZonalSystem


class HierarchySystem(ZonalSystem):
    """The equations of :class:`ZonalSystem`, their means taken by products of polynomials."""

    def _prepare(self) -> None:
        """Compute the tables of products."""
        symmetry, last = self.symmetry, self.symmetry * self.degree
        significant = significant_degree(self.rates)
        self._hierarchy = Hierarchy(self.problem.domain.dimension, last, significant)
        self._moments = np.zeros(last)
        self._own = slice(symmetry - 1, None, symmetry)
        self._in_field = slice(symmetry - 1, significant, symmetry)
        self._significant = significant // symmetry

    def nonlinear(self, unknown: Floats) -> Floats:
        """Return the nonlinear part of the derivative: the quadratic terms and those of the confinement."""
        result = self._by_field(unknown, 0.0) @ self._field(unknown)
        result *= self.rates.unit
        if self.rates.confined:
            result += self.rates.constant
        return np.asarray(result)

    def jacobian(self, time: float, unknown: Floats) -> Floats:
        """Return the Jacobian of the derivative in the moments."""
        field = np.zeros(self._hierarchy.significant)
        field[self._in_field] = self._field(unknown)
        matrix = self._hierarchy.by_moments(field)[self._own, self._own].copy()
        matrix[:, : self._significant] += self._by_field(unknown, 1.0) * self.rates.attraction[: self._significant]
        matrix *= self.rates.unit
        matrix.flat[:: self.degree + 1] -= self._diffusion
        return matrix

    def costs(self, duration: float) -> tuple[float, float]:
        """Return estimates of the seconds that LSODA and exponential formulas take for a duration."""
        steps, products = duration * self.rates.explicit_steps(), 2.0 * self.size * self._significant**2
        return 5e-9 * self.size**3 + 1e-7 * products, steps * (4e-5 + 4e-9 * products)

    def _field(self, unknown: Floats) -> Floats:
        significant = self._significant
        return np.asarray(
            self.rates.attraction[:significant] * unknown[:significant] + self.rates.force[:significant]
        )

    def _by_field(self, unknown: Floats, mass: float) -> Floats:
        self._moments[self._own] = unknown
        return self._hierarchy.by_field(self._moments, mass)[self._own, self._in_field]


class Hierarchy:
    """Sums over products of polynomials.

    Parameters
    ----------
    dimension
        d.
    degree
        Largest degree K of the moments.
    significant
        Largest degree J of the field.
    """

    def __init__(self, dimension: int, degree: int, significant: int) -> None:
        self.significant = significant
        self._table = product_table(dimension, degree, significant)
        # p_k at place k + J, k = -J..K + J, zero where there is no such degree or it is beyond K.
        self._moments = np.zeros(degree + 2 * significant + 1)
        self._windows = sliding_window_view(self._moments, 2 * significant + 1)[1:]

    def by_field(self, moments: Floats, mass: float) -> Floats:
        """Return the matrix (K, J) that maps the coefficients g_1..g_J of the field to the means, l = 1..K.

        The mean is over the density with the moments p_1..p_K and p_0 = mass.
        """
        self._moments[self.significant] = mass
        self._moments[self.significant + 1 : self.significant + 1 + moments.size] = moments
        return np.asarray(np.matmul(self._table, self._windows[:, :, None])[..., 0])

    def by_moments(self, field: Floats) -> Floats:
        """Return the matrix (K, K) that maps the moments p_1..p_K to the means for given g_1..g_J."""
        degree, significant = self._table.shape[0], self.significant
        bands = np.einsum("j,ljs->ls", field, self._table)
        # Row l has its band from column l - J to l + J.
        matrix = np.zeros((degree + 1, degree + 2 * significant + 1))
        rows = np.arange(1, degree + 1)[:, None]
        matrix[rows, rows + np.arange(2 * significant + 1)] = bands
        return matrix[1:, significant + 1 : significant + 1 + degree]


@functools.lru_cache(maxsize=4)
def product_table(dimension: int, degree: int, significant: int) -> Floats:
    """Return c_jlk (e_l + e_j - e_k)/2, shape (K, J, 2 J + 1), at l - 1, j - 1, k - l + J.

    Multiplication by u is u P_l = ((l+d-2) P_(l+1) + l P_(l-1))/(2l+d-2); that by P_j follows from the recurrence.
    """
    last = degree + significant
    degrees = np.arange(last + 1.0)
    up = np.where(degrees > 0, (degrees + dimension - 2) / np.maximum(2 * degrees + dimension - 2, 1), 1.0)
    down = 1.0 - up
    values = degrees * (degrees + dimension - 2)
    table = np.zeros((degree, significant, 2 * significant + 1))
    # Row l holds P_j P_l at the columns k - l + J.
    before, current = np.zeros((2, last + 1, 2 * significant + 3))
    current[:, significant + 1] = 1.0
    shifts = np.arange(-significant - 1, significant + 2)
    columns = np.arange(last + 1)[:, None] + shifts
    inside = (columns >= 0) & (columns <= last)
    known = np.where(inside, columns, 0)
    raised, lowered = np.where(inside, up[known], 0.0), np.where(inside, down[known], 0.0)
    laplace = np.where(inside, values[known], 0.0)
    for j in range(significant):
        shifted = np.zeros_like(current)
        shifted[:, 1:] += (raised * current)[:, :-1]
        shifted[:, :-1] += (lowered * current)[:, 1:]
        step = (shifted - down[j] * before) / up[j]
        before, current = current, np.where(inside, step, 0.0)
        factors = 0.5 * (values[1 : degree + 1, None] + values[j + 1] - laplace[1 : degree + 1])
        table[:, j] = (current[1 : degree + 1] * factors)[:, 1:-1]
    table.flags.writeable = False
    return table
