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
from scipy.special import gammaln, ive, lpmv, sph_harm_y

from meanfield import ContinuityEquation, McKeanVlasov

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


def linearised(problem: McKeanVlasov, coupling: float, cosine: Any, sine: Any, degree: int) -> tuple[float, Any]:
    """Return how far a state is from being stationary, and the singular values of its linearisation.

    Those of 1 - Cov S among all harmonics up to a degree beyond which the potential has none, S being the diagonal
    of -coupling w_l/(noise (2l + 1)).
    """
    functions, degrees, weights = harmonics(degree, 32)
    values = np.array(problem.potential.multipliers(problem.domain, degree), dtype=float)
    strengths = -coupling / float(problem.noise) * values[degrees] / (2 * degrees + 1)
    moments = []
    for each in range(degree + 1):
        for order in range(each + 1):
            place = each * (each + 1) // 2 + order
            moments += [part[place] * np.sqrt(2 * each + 1) for part in (cosine, sine)[: 2 if order else 1]]
    exponent = (strengths * moments) @ functions
    density = weights * np.exp(exponent - exponent.max())
    density /= density.sum()
    means = functions @ density
    covariance = (functions * density) @ functions.T - np.outer(means, means)
    sizes = np.linalg.svd(np.eye(degrees.size) - covariance * strengths, compute_uv=False)
    return float(np.abs(means - moments)[1:].max()), sizes


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


def softmax_growth(problem: ContinuityEquation, cosine: Any, sine: Any, degree: int) -> Any:
    r"""Return the growth rates, complex, of softmax attention at a state, among perturbations up to a degree.

    With :math:`\dot u = D\Delta u - (\kappa/\beta)\,\mathrm{div}(u\nabla\log U + \rho\nabla(K*u/U))`, U = K*rho,
    tested with gradients of harmonics on the nodes, which come from scipy. Rotations and the mass are among them.
    """
    beta = problem.velocity.beta
    # The kernel has no significant degrees beyond the last one.
    nodes, last = degree + 24, min(int((np.sqrt(8 * cosine.size + 1) - 3) / 2), 14)
    u, gauss = np.polynomial.legendre.leggauss(nodes)
    polar, azimuth = np.arccos(u), np.pi * np.arange(2 * nodes) / nodes
    weights = np.repeat(0.5 * gauss / (2 * nodes), 2 * nodes)
    ratios = ive(np.arange(max(last, degree) + 1) + 0.5, beta) / ive(0.5, beta)
    fields, degrees = [], []
    averages = np.zeros((3, weights.size))
    for each, order in ((one, two) for one in range(max(last, degree) + 1) for two in range(one + 1)):
        along, (slope, _) = (part.T for part in sph_harm_y(each, order, polar, 0.0, diff_n=1))
        along, slope = ((-1.0) ** order * np.sqrt(4.0 * np.pi) * part.real for part in (along, slope))
        for sine_wave, moments in enumerate((cosine, sine)[: 2 if order else 1]):
            wave, change = np.cos(order * azimuth), -order * np.sin(order * azimuth)
            if sine_wave:
                wave, change = np.sin(order * azimuth), order * np.cos(order * azimuth)
            parts = np.outer(along, wave), np.outer(slope, wave), np.outer(along / np.sin(polar), change)
            field = np.array([part.ravel() for part in parts]) * (np.sqrt(2.0) if order else 1.0)
            if each <= degree:
                fields.append(field)
                degrees.append(each)
            if each <= last:
                moment = np.sqrt(2 * each + 1) * moments[each * (each + 1) // 2 + order]
                averages += ratios[each] * moment * field
    functions, tangents = np.array(fields)[:, 0], np.array(fields)[:, 1:]
    average, gradient, degrees = averages[0], averages[1:], np.array(degrees)
    density = average ** (problem.coupling / (beta * problem.noise))
    density /= weights @ density
    smoothed = ratios[degrees, None] * functions / average
    drift = functions[:, None] * (gradient / average)
    drift += density * (ratios[degrees, None, None] * tangents / average - smoothed[:, None] * gradient / average)
    flat = (degrees.size, -1)
    matrix = (tangents * weights).reshape(flat) @ drift.reshape(flat).T * (problem.coupling / beta)
    matrix -= problem.noise * np.diag(degrees * (degrees + 1.0))
    return np.linalg.eigvals(matrix)
