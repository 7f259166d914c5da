r"""Rates at a zonal state by a dense Galerkin method in harmonics, whatever the density.

Nothing is shared with the code under test. In the variable :math:`y = u/\sqrt\rho` of a perturbation u both factors of
the linearisation lose their weights: with :math:`\rho = e^f` and the orthonormal harmonics :math:`y_k` of an azimuthal
order m, the rates are the eigenvalues of :math:`D\,H^{1/2} C H^{1/2}`,

.. math:: H_{jk} = \int (\nabla y_j - \tfrac12 y_j\nabla f)\cdot(\nabla y_k - \tfrac12 y_k\nabla f), \qquad
          C = 1 - \sum_l \lambda_l\, v_l v_l^T, \qquad v_{kl} = \int\sqrt\rho\, y_k\, y_l .
"""

import functools
from typing import Any

import numpy as np
from scipy.special import roots_jacobi

from meanfield import McKeanVlasov


@functools.lru_cache(maxsize=8)
def _rule(dimension: int, nodes: int) -> tuple[Any, Any]:
    exponent = (dimension - 3) / 2
    u, weights = roots_jacobi(nodes, exponent, exponent)
    return u, weights / weights.sum()


@functools.lru_cache(maxsize=16)
def _orthonormal(dimension: int, order: int, size: int, nodes: int) -> tuple[Any, Any]:
    """Return the harmonics of an order as functions of u, orthonormal, and their derivatives in u."""
    u, weights = _rule(dimension, nodes)
    index = (dimension - 2) / 2 + order
    degrees = np.arange(1.0, size + 1.0)
    beside = degrees * (degrees + 2 * index - 1) / (4 * (degrees + index) * (degrees + index - 1))
    roots = np.sqrt(beside)
    values, slopes = np.zeros((2, size, u.size))
    across = 1.0 - u**2
    factor = across ** (order / 2)
    values[0] = factor / np.sqrt(weights @ factor**2)
    slopes[0] = -order * u / across * values[0]
    # The recurrence holds for the functions with their factor; so does its derivative.
    for k in range(size - 1):
        before = (values[k - 1], slopes[k - 1]) if k else (0.0, 0.0)
        values[k + 1] = (u * values[k] - (roots[k - 1] if k else 0.0) * before[0]) / roots[k]
        slopes[k + 1] = (values[k] + u * slopes[k] - (roots[k - 1] if k else 0.0) * before[1]) / roots[k]
    return values, slopes


def _multiplicity(dimension: int, degree: int) -> float:
    value = 1.0
    for k in range(1, degree + 1):
        value *= (2 * k + dimension - 2) / (2 * k + dimension - 4) * (k + dimension - 3) / k if k > 1 else dimension
    return value


def exponent(problem: McKeanVlasov, moments: Any, u: Any) -> tuple[Any, Any]:
    """Return f(u) = -(kappa W*rho + V)/D up to a constant, and its derivative, from the moments p_l."""
    coefficients = _coefficients(problem, moments)
    dimension = problem.domain.dimension
    values, slopes = np.zeros_like(u), np.zeros_like(u)
    last, before, rise, rise_before = np.ones_like(u), np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    for degree in range(1, coefficients.size):
        k = degree - 1
        scale = k + dimension - 2
        last, before = ((2 * k + dimension - 2) * u * last - k * before) / scale, last
        rise, rise_before = ((2 * k + dimension - 2) * (before + u * rise) - k * rise_before) / scale, rise
        values += coefficients[degree] * last
        slopes += coefficients[degree] * rise
    return values, slopes


def _coefficients(problem: McKeanVlasov, moments: Any) -> Any:
    """Return the coefficients of f on the polynomials P_l, the constant one 0."""
    degree = np.size(moments) - 1
    coefficients = -problem.coupling * problem.potential.multipliers(problem.domain, degree).astype(float) * moments
    if problem.confinement is not None:
        fixed = problem.confinement.multipliers(problem.domain, 64).astype(float)
        coefficients = np.pad(coefficients, (0, max(0, 65 - coefficients.size)))
        coefficients[:65] -= fixed
    coefficients[0] = 0.0
    return coefficients / problem.noise


def rates(problem: McKeanVlasov, moments: Any, order: int, size: int) -> tuple[Any, float]:
    """Return the rates of an azimuthal order on so many harmonics, ascending, and their rounding error.

    Constant potentials are left out, and turning the axis where that is no perturbation.
    """
    dimension, nodes = problem.domain.dimension, 2 * size + 64
    u, weights = _rule(dimension, nodes)
    values, slopes = _orthonormal(dimension, order, size, nodes)
    f, rise = exponent(problem, moments, u)
    sines = np.sqrt(1.0 - u**2)
    root = np.exp(0.5 * (f - f.max()))
    root /= np.sqrt(weights @ root**2)
    along = (slopes - 0.5 * rise * values) * sines * np.sqrt(weights)
    around = np.sqrt(order * (order + dimension - 3.0)) / sines * values * np.sqrt(weights)
    coupled = (values * weights * root) @ values.T
    degrees = np.arange(order, min(order + size, 300))
    multipliers = problem.potential.multipliers(problem.domain, 299).astype(float)[degrees]
    counts = np.array([_multiplicity(dimension, int(degree)) for degree in degrees])
    lambdas = -problem.coupling * multipliers / counts / problem.noise
    lambdas[degrees == 0] = 0.0
    modes = coupled[:, : degrees.size]
    inner = np.eye(size) - (modes * lambdas) @ modes.T
    form = np.concatenate([along, around], axis=1)
    rest = np.eye(size)
    if order == 0 or (order == 1 and problem.confinement is None):
        kernel = values @ (weights * root * (1.0 if order == 0 else sines * rise))
        rest = np.linalg.qr(kernel[:, None], mode="complete")[0][:, 1:]
    triangle = np.linalg.qr((form.T @ rest), mode="r")
    matrix = triangle @ (rest.T @ inner @ rest) @ triangle.T
    found = problem.noise * np.linalg.eigvalsh(0.5 * (matrix + matrix.T))
    return found, 64 * np.finfo(float).eps * float(np.abs(found).max())


def resolved_rates(problem: McKeanVlasov, moments: Any, order: int, count: int) -> tuple[Any, float] | None:
    """Return so many of the lowest rates that more harmonics do not change, and their error; None if they do."""
    previous = None
    # Fewer harmonics may agree with each other and miss a mode far from where the mass is.
    for size in (400, 600, 900):
        found, rounding = rates(problem, moments, order, size)
        lowest = found[:count]
        if previous is not None and (np.abs(lowest - previous) <= 1e-9 * np.abs(lowest) + rounding).all():
            return lowest, rounding
        previous = lowest
    return None


def attracted(problem: McKeanVlasov, start: Any) -> Any | None:
    """Return the moments p_0, p_1, ... that iterating p = <P>_f reaches from a start; None if it does not settle."""
    dimension = problem.domain.dimension
    # In extended precision: the rounding of exponents of some hundreds moves moments by more than that of doubles.
    u, weights = (part.astype(np.longdouble) for part in _rule(dimension, 1500))
    moments = np.array(start, dtype=np.longdouble)
    degrees, significant = moments.size, _coefficients(problem, moments).size
    table = np.ones((max(significant, 2), u.size), dtype=np.longdouble)
    table[1] = u
    for k in range(1, significant - 1):
        table[k + 1] = ((2 * k + dimension - 2) * u * table[k] - k * table[k - 1]) / (k + dimension - 2)
    for _ in range(2000):
        f = _coefficients(problem, moments) @ table[:significant]
        masses = weights * np.exp(f - f.max())
        new = table[:degrees] @ masses / masses.sum()
        change = float(np.abs(new - moments).max())
        moments = new
        if change < 4e-16:
            return moments.astype(float)
    return moments.astype(float) if change < 2e-15 else None
