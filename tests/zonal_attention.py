r"""Zonal states of attention with normalised weights on the nodes of a meridian, their folds and neutral directions.

Nothing is shared with the code under test. With the angle t from the axis, z = beta sin t sin t' and the average
:math:`F_\nu(z) = \Gamma(\nu+1)(2/z)^\nu I_\nu(z)` of :math:`e^{z\cos\varphi}` over the directions about the axis,
:math:`\nu = (d-3)/2`, tokens of a zonal density average to a vector with the components

.. math:: \int\cos t'\, e^{\beta\cos t\cos t'} F_\nu\,d\rho, \qquad
          \int\sin t'\, e^{\beta\cos t\cos t'} F_\nu'\,d\rho

along the axis and across, :math:`F_\nu' = z F_{\nu+1}/(2\nu+2)`. The field is kappa/D times the integral of the
velocity along the meridian.
"""

import functools
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from scipy import optimize
from scipy.special import gamma, ive

NODES = 64


@functools.lru_cache(maxsize=4)
def meridian(dimension: int) -> tuple[Any, Any, Any]:
    """Return Chebyshev nodes in the angle, the masses of the uniform density, and the matrix of integrals from 0."""
    x = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    angles = 0.5 * np.pi * (1.0 - x)
    inverse = np.linalg.inv(chebyshev.chebvander(x, NODES - 1))
    integrals = np.array([0.5 * np.pi * chebyshev.chebint(row, lbnd=1) for row in np.eye(NODES)])
    antiderivative = -chebyshev.chebvander(x, NODES) @ integrals.T @ inverse
    whole = np.array([0.5 * np.pi * (chebyshev.chebval(1, c) - chebyshev.chebval(-1, c))
                      for c in (chebyshev.chebint(row) for row in np.eye(NODES))])  # fmt: skip
    masses = (whole @ inverse) * np.sin(angles) ** (dimension - 2)
    return angles, masses / masses.sum(), antiderivative


def average(index: float, z: Any) -> Any:
    """Return F_nu(z) e^-z."""
    small = z < 1e-12
    z = np.where(small, 1.0, z)
    return np.where(small, 1.0, gamma(index + 1.0) * (2.0 / z) ** index * ive(index, z))


@functools.lru_cache(maxsize=64)
def kernels(dimension: int, beta: float) -> tuple[Any, Any, Any]:
    """Return e^(beta(<x, y> - 1)) on the nodes, averaged about the axis, and its parts along the axis and across."""
    angles, _, _ = meridian(dimension)
    cosines, sines = np.cos(angles), np.sin(angles)
    z, index = beta * np.multiply.outer(sines, sines), 0.5 * (dimension - 3)
    factor = np.exp(beta * (np.cos(np.subtract.outer(angles, angles)) - 1.0))
    whole = factor * average(index, z)
    return whole, whole * cosines, factor * average(index + 1.0, z) * z / (2.0 * index + 2.0) * sines


def field_of(normalisation: str, dimension: int, beta: float, masses: Any) -> Any:
    """Return the integral of the velocity of attention on the nodes, softmax or ngpt, from the masses of the nodes."""
    angles, _, antiderivative = meridian(dimension)
    total, up, across = (kernel @ masses for kernel in kernels(dimension, beta))
    if normalisation == "softmax":
        return np.log(total) / beta
    along = np.cos(angles) * across - np.sin(angles) * up
    return antiderivative @ (along / np.hypot(across, up))


def second_polynomial(dimension: int) -> Any:
    """Return P_2 on the nodes."""
    return (dimension * np.cos(meridian(dimension)[0]) ** 2 - 1.0) / (dimension - 1.0)


def branch_state(
    normalisation: str, dimension: int, beta: float, mode: Any, amplitude: float, start: tuple[Any, float]
) -> tuple[Any, float, Any]:
    """Return masses of the nodes, kappa/D and field of a zonal state with a given mean of a mode, near a start."""
    _, uniform, _ = meridian(dimension)

    def density(field: Any) -> Any:
        masses = uniform * np.exp(field - field.max())
        return masses / masses.sum()

    def missed(unknown: Any) -> Any:
        field, ratio = unknown[:-1], unknown[-1]
        masses = density(field)
        mapped = ratio * field_of(normalisation, dimension, beta, masses)
        return np.append(field - mapped + uniform @ mapped, mode @ masses - amplitude)

    ended = optimize.root(missed, np.append(*start), method="hybr", tol=1e-15)
    assert np.abs(ended.fun).max() < 1e-11
    return density(ended.x[:-1]), float(ended.x[-1]), ended.x[:-1]


def fold(normalisation: str, dimension: int, beta: float, second: float, width: float, start: Any) -> float:
    """Return kappa/D at the fold near a <P_2>, where it is stationary along the branch.

    By the polynomial through states at Chebyshev points of an interval of <P_2>.
    """
    places = second + width * np.cos(np.pi * (np.arange(9) + 0.5) / 9)
    ratios = []
    for place in sorted(places, key=lambda place: abs(place - second)):
        _, ratio, field = branch_state(normalisation, dimension, beta, second_polynomial(dimension), place, start)
        start = (field, ratio)
        ratios.append((place, ratio))
    known = np.array(sorted(ratios))
    series = np.polynomial.Chebyshev.fit(known[:, 0], known[:, 1], 8)
    (turn,) = [
        root.real for root in series.deriv().roots() if abs(root.imag) < 1e-9 and abs(root.real - second) < width
    ]
    return float(series(turn))


def neutral_ratio(dimension: int, beta: float, order: int, around: tuple[float, float], start: Any) -> float:
    """Return kappa/D at which a zonal state of softmax attention on S^2 is neutral in an azimuthal order.

    Attention among perturbations of the order is the kernel averaged with :math:`\\cos m\\varphi`, which has Bessel's
    function of order m, times the density over the average of the kernel; p times its largest eigenvalue is one.
    """
    angles, uniform, _ = meridian(dimension)
    assert dimension == 3
    z = beta * np.multiply.outer(np.sin(angles), np.sin(angles))
    kernel = np.exp(beta * (np.cos(np.subtract.outer(angles, angles)) - 1.0)) * ive(order, z)
    known = {"field": start[0]}

    def excess(ratio: float) -> float:
        def missed(field: Any) -> Any:
            masses = uniform * np.exp(field - field.max())
            mapped = ratio * field_of("softmax", dimension, beta, masses / masses.sum())
            return field - mapped + uniform @ mapped

        ended = optimize.root(missed, known["field"], tol=1e-15)
        assert np.abs(ended.fun).max() < 1e-11
        known["field"] = ended.x
        masses = uniform * np.exp(ended.x - ended.x.max())
        masses /= masses.sum()
        attention = kernel * masses / (kernels(dimension, beta)[0] @ masses)[:, None]
        return float(ratio / beta * np.linalg.eigvals(attention).real.max() - 1.0)

    return float(optimize.brentq(excess, *around, xtol=1e-14, rtol=1e-14))
