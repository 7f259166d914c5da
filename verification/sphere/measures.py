r"""Independent measurements on zonal densities of spheres, none of them a formula of the solvers.

A stationary density is :math:`e^f/Z`, :math:`f = -(\kappa/D)\sum_{l\ge1} w_l\sum_j m_{lj}e_{lj}`, and its gap is
:math:`\tfrac{\kappa}{2D}\sum_{l\ge1}(-w_l)|m_l|^2 - \log Z`. Integrals over the polar angle are sums of Gauss
rules of sixteen points on panels that shrink towards the poles, where concentrated densities sit.
"""

import functools
import math

import numpy as np

from meanfield import Equation, Potential, Sphere, State

from ..measures import Floats
from ..measures import unit_coupling as unit_coupling
from .harmonics import degrees_of, gibbs_of_orders, moments_of_orders

# Couplings relative to the smallest positive critical one between which the diagrams of most claims are computed.
LOW, HIGH = 0.5, 1.5
# Equal panels, geometric ones towards each pole, the smallest of these, and the points of each.
PANELS, GRADED, SMALLEST, POINTS = 64, 24, 1e-3, 16
# Degree beyond which no potential of the catalogue differs from zero by more than rounding, at moderate beta.
SIGNIFICANT_DEGREE = 64


def interval(problem: Equation) -> tuple[float, float]:
    """Return the couplings over which the diagrams of the claims are computed."""
    unit = unit_coupling(problem)
    return LOW * unit, HIGH * unit


def multipliers(problem: Equation, degree: int) -> Floats:
    """Return w_0 = 0, w_1, ..., w_degree."""
    values = np.array(problem.potential.multipliers(problem.domain, degree), dtype=float)
    values[0] = 0.0
    return values


def numbers(dimension: int, degree: int) -> Floats:
    """Return N_0, ..., N_degree."""
    return np.array([float(Sphere(dimension).multiplicity(each)) for each in range(degree + 1)])


@functools.lru_cache(maxsize=16)
def polar_rule(dimension: int) -> tuple[Floats, Floats]:
    """Return polar angles and weights of total one."""
    graded = np.concatenate([[0.0], np.geomspace(SMALLEST, 0.5 * np.pi, GRADED)])
    edges = np.unique(np.concatenate([np.linspace(0.0, np.pi, PANELS + 1), graded, np.pi - graded]))
    points, shares = np.polynomial.legendre.leggauss(POINTS)
    half = 0.5 * np.diff(edges)
    angles = (edges[:-1] + half)[:, np.newaxis] + half[:, np.newaxis] * points
    weights = half[:, np.newaxis] * shares * np.sin(angles) ** (dimension - 2)
    return angles.ravel(), weights.ravel() / math.fsum(weights.ravel())


@functools.lru_cache(maxsize=16)
def polynomials(dimension: int, degree: int) -> Floats:
    """Return P_0, ..., P_degree at the angles of the rule, by the recurrence in l."""
    cosine = np.cos(polar_rule(dimension)[0])
    table = np.ones((degree + 1, cosine.size))
    if degree:
        table[1] = cosine
    for k in range(1, degree):
        table[k + 1] = (2 * k + dimension - 2) * cosine * table[k] - k * table[k - 1]
        table[k + 1] /= k + dimension - 2
    return table


def product_mean(dimension: int, *degrees: int) -> float:
    """Return the uniform mean of a product of the P_l."""
    table = polynomials(dimension, max(degrees))
    weights = polar_rule(dimension)[1]
    return math.fsum(weights * np.prod([table[degree] for degree in degrees], axis=0))


def gibbs(field: Floats, dimension: int) -> tuple[Floats, float]:
    """Return e^f / Z over uniform at the angles of the rule and log Z, f = sum of field[l] P_l."""
    exponent = field @ polynomials(dimension, field.size - 1)
    top = float(exponent.max())
    values = np.exp(exponent - top)
    mean = math.fsum(polar_rule(dimension)[1] * values)
    return values / mean, top + math.log(mean)


def field_of(state: State) -> Floats:
    """Return the coefficients of f in its harmonics, place by place, from the moments of the state."""
    degrees = degrees_of(state)
    strengths = -state.coupling / state.problem.noise * multipliers(state.problem, int(degrees[-1]))
    return np.asarray(strengths[degrees])


def gibbs_moments(state: State) -> tuple[Floats, Floats, float]:
    """Return cosine and sine moments of e^f / Z, with f from the moments of the state, and log Z."""
    strengths = field_of(state)
    if not state.moments.has_axis:
        values, logarithm = gibbs_of_orders(strengths * state.cosine, strengths * state.sine)
        return *moments_of_orders(values, int(degrees_of(state)[-1])), logarithm
    dimension = state.problem.domain.dimension
    values, logarithm = gibbs(strengths * state.cosine, dimension)
    moments = polynomials(dimension, strengths.size - 1) @ (polar_rule(dimension)[1] * values)
    return moments, np.zeros_like(moments), logarithm


def fixed_point_error(state: State) -> float:
    """Return the largest error of the moments as those of e^f / Z."""
    cosine, sine, _ = gibbs_moments(state)
    return float(max(np.abs(cosine - state.cosine).max(), np.abs(sine - state.sine).max()))


def gap(state: State) -> float:
    """Return (F - F_uniform)/D of a stationary state from its self-consistent field."""
    products = field_of(state) * (state.cosine**2 + state.sine**2)
    return 0.5 * math.fsum(products) - gibbs_moments(state)[2]


def slope(state: State) -> float:
    """Return (1/2) sum_{l >= 1} w_l |m_l|^2, the derivative of F - F_uniform in the coupling."""
    degrees = degrees_of(state)
    weights = multipliers(state.problem, int(degrees[-1]))[degrees]
    return 0.5 * math.fsum(weights * (state.cosine**2 + state.sine**2))


def multiplier(potential: Potential, dimension: int, degree: int) -> tuple[float, float]:
    """Return w_l by quadrature of the potential's values, and the difference from a rule of half the points.

    Substituting t = pi (1 - cos s)/2 smooths what the potential does at 0 and pi.
    """
    estimates = [_projected(potential, dimension, degree, points) for points in (2048, 4096)]
    sphere = Sphere(dimension)
    number = sphere.multiplicity(degree)
    return number * estimates[1], number * abs(estimates[1] - estimates[0])


def _projected(potential: Potential, dimension: int, degree: int, points: int) -> float:
    from scipy.special import eval_gegenbauer

    middles = np.pi * (np.arange(points) + 0.5) / points
    angles = 0.5 * np.pi * (1.0 - np.cos(middles))
    weights = np.sin(angles) ** (dimension - 2) * np.sin(middles)
    index = 0.5 * (dimension - 2)
    shapes = eval_gegenbauer(degree, index, np.cos(angles)) / eval_gegenbauer(degree, index, 1.0)
    return math.fsum(weights * shapes * potential.values(angles)) / math.fsum(weights)
