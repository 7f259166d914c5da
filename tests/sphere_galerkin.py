r"""Decay rates at a state on S^2 by dense matrices of all harmonics: slow, and without anything of the solvers.

With the density :math:`\rho` over the uniform one and a perturbation u of mean zero, :math:`-Lu = A h` with
:math:`h = D u/\rho + \kappa W*u` and the quadratic form :math:`\langle\rho|\nabla h|^2\rangle` of A. In harmonics
that are orthonormal in the uniform mean A, :math:`R = \langle\psi_i\psi_j/\rho\rangle` and the diagonal K of
:math:`\kappa w_l/(2l+1)` are symmetric, and with :math:`A = CC^T` the rates are those of :math:`C^T(DR + K)C`.
The product of gradients is :math:`\nabla\psi_i\cdot\nabla\psi_j = \frac12(\Delta(\psi_i\psi_j) - \psi_i\Delta\psi_j
- \psi_j\Delta\psi_i)`, so that A needs :math:`\rho` and :math:`\Delta\rho` on nodes only.
"""

import functools
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigvalsh
from scipy.special import gammaln, lpmv

from meanfield import McKeanVlasov

Table = tuple[Any, Any, Any]


@functools.lru_cache(maxsize=4)
def harmonics(degree: int, nodes: int) -> Table:
    """Return orthonormal harmonics up to a degree on a product rule, their degrees, and the weights of the rule."""
    u, weights = np.polynomial.legendre.leggauss(nodes)
    azimuth = 2.0 * np.pi * np.arange(2 * nodes) / (2 * nodes)
    rows, degrees = [], []
    for each in range(degree + 1):
        for order in range(each + 1):
            norm = np.sqrt((2 * each + 1) * np.exp(gammaln(each - order + 1) - gammaln(each + order + 1)))
            along = (-1.0) ** order * norm * (np.sqrt(2.0) if order else 1.0) * lpmv(order, each, u)
            rows.append(np.outer(along, np.cos(order * azimuth)).ravel())
            degrees.append(each)
            if order:
                rows.append(np.outer(along, np.sin(order * azimuth)).ravel())
                degrees.append(each)
    return np.array(rows), np.array(degrees), np.repeat(0.5 * weights / (2 * nodes), 2 * nodes)


def moments_in(table: Table, values: Any) -> Any:
    """Return the coefficients of a function on the nodes in the harmonics of a table."""
    functions, _, weights = table
    return functions @ (weights * values)


def solved_density(problem: McKeanVlasov, table: Table, cosine: Any, sine: Any) -> tuple[Any, Any]:
    """Return the Gibbs density of the moments of a state over the uniform one, and its Laplacian, on the nodes.

    Parameters
    ----------
    cosine, sine
        Moments with harmonics of mean square 1/(2l + 1), by degree l and order m at place l(l + 1)/2 + m.
    """
    functions, degrees, _ = table
    largest = int(degrees[-1])
    strengths = (
        -problem.coupling / problem.noise * problem.potential.multipliers(problem.domain, largest).astype(float)
    )
    coefficients, row = np.zeros(degrees.size), 0
    for degree in range(largest + 1):
        for order in range(degree + 1):
            place = degree * (degree + 1) // 2 + order
            pair = (cosine[place], sine[place]) if place < cosine.size else (0.0, 0.0)
            for moment in pair[: 2 if order else 1]:
                coefficients[row] = strengths[degree] * moment / np.sqrt(2 * degree + 1)
                row += 1
    coefficients[0] = 0.0
    eigenvalues = degrees * (degrees + 1.0)
    exponent = coefficients @ functions
    laplacian = -(eigenvalues * coefficients) @ functions
    squared = -(eigenvalues * moments_in(table, exponent**2)) @ functions
    density = np.exp(exponent - exponent.max())
    density /= table[2] @ density
    # |grad F|^2 = Delta(F^2)/2 - F Delta F, and Delta rho = rho (Delta F + |grad F|^2).
    return density, density * (laplacian + 0.5 * squared - exponent * laplacian)


def rates(problem: McKeanVlasov, cosine: Any, sine: Any, degree: int) -> Any:
    """Return all decay rates at a state among perturbations up to a degree, ascending, rotations as zeros."""
    # Exact for products of two harmonics and a density of degree 47.
    table = harmonics(degree, degree + 24)
    functions, degrees, weights = table[0][1:], table[1][1:], table[2]
    density, laplacian = solved_density(problem, table, cosine, sine)

    def gram(values: Any) -> Any:
        return (functions * (weights * values)) @ functions.T

    eigenvalues = degrees * (degrees + 1.0)
    mass = gram(density)
    stiffness = 0.5 * (gram(laplacian) + eigenvalues[:, None] * mass + eigenvalues * mass)
    multipliers = problem.potential.multipliers(problem.domain, degree).astype(float)[degrees]
    second = problem.noise * gram(1.0 / density) + np.diag(problem.coupling * multipliers / (2.0 * degrees + 1.0))
    factor = cholesky(stiffness, lower=True)
    return eigvalsh(factor.T @ second @ factor)
