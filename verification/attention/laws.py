r"""The two laws of attention that the claims are about, and the velocities of tokens as the solvers move them.

Without normalisation the velocity is :math:`\kappa\,\nabla h`, :math:`h = (K*\rho)/\beta`,
:math:`K = e^{\beta\langle x,y\rangle}`; softmax attention divides it by :math:`K*\rho`.
"""

import math

import numpy as np

from meanfield import Equation, SoftmaxAttention, Transformer
from solvers import EulerMaruyama, PairDrift

from ..asymmetry import SPACING, derivatives, displaced
from ..hypotheses import anywhere
from ..measures import EPS, Floats
from ..tools import Tools

# Not one, so that a factor that is lost is seen.
COUPLING = 1.5
# One explicit step moves tokens by this share of the radius of the field's curvature.
SHARE = 0.02


def beta_of(problem: Equation) -> float:
    """Return the inverse temperature."""
    return float(problem.law.parameters()["beta"])


def is_softmax(problem: Equation) -> bool:
    """Return whether the weights are normalised to one."""
    return isinstance(problem.velocity, SoftmaxAttention)


def attention(problem: Equation) -> str | None:
    """Return the reason why a statement on attention without noise does not apply, or None if it does."""
    if not (is_softmax(problem) or isinstance(problem.law, Transformer)):
        return "it is about attention, without normalisation or with softmax"
    if problem.noise > 0:
        return "it is about tokens without noise"
    return anywhere(problem)


def unnormalised(problem: Equation) -> str | None:
    """Return the reason why a statement on attention without normalisation and noise does not apply, or None."""
    return "it is about attention without normalisation" if is_softmax(problem) else attention(problem)


def on_circle(problem: Equation) -> str | None:
    """Return the reason why a statement on attention without noise on the circle does not apply, or None."""
    return attention(problem) if problem.domain.turns else "it is about the circle"


def cluster_exponent(problem: Equation) -> float:
    """Return the local exponent L: displacements in a cluster shrink like exp(-L t)."""
    return float(problem.fixed_coupling) * (1.0 if is_softmax(problem) else math.exp(beta_of(problem)))


def antipode_exponent(problem: Equation) -> float:
    """Return the exponent at which distances from the antipode of a cluster grow."""
    return float(problem.fixed_coupling) * (1.0 if is_softmax(problem) else math.exp(-beta_of(problem)))


def exponents(problem: Equation) -> tuple[float, float]:
    """Return the exponents of a cluster and of its antipode."""
    return cluster_exponent(problem), antipode_exponent(problem)


def steepest(problem: Equation) -> float:
    """Return a bound on the slope of the velocity."""
    size = 1.0 + abs(beta_of(problem))
    return float(problem.fixed_coupling) * size * (1.0 if is_softmax(problem) else math.exp(size - 1.0))


def velocities(problem: Equation, angles: Floats, tools: Tools) -> Floats:
    """Return the velocities of tokens on the circle in systems (R, N), by one explicit step of a simulation."""
    step = SHARE / steepest(problem)
    found = tools.simulate(
        problem, angles.shape[1], step, 1, initial=angles, replicas=len(angles), step=step, times=1,
        scheme=EulerMaruyama(), drift=PairDrift(), keep_positions=True,
    )  # fmt: skip
    moved = np.remainder(np.asarray(found.positions) - angles + np.pi, 2 * np.pi) - np.pi
    return np.asarray(moved / step)


def jacobian_of(problem: Equation, angles: Floats, tools: Tools) -> Floats:
    """Return the derivatives of the velocities of tokens on the circle by their angles, (N, N)."""
    places = displaced(angles)
    return derivatives(velocities(problem, places.reshape(-1, angles.size), tools).reshape(places.shape))


def jacobian_error(problem: Equation) -> float:
    """Return a bound on the error of an entry of the Jacobian."""
    return difference_error(problem, fifth_derivative(problem))


def difference_error(problem: Equation, fifth: float) -> float:
    """Return a bound on the error of differences of velocities by angles, from that of their fifth derivatives.

    Some roundings of angles are over the step and the spacing, and order 4 leaves the fourth power of the spacing.
    """
    step = SHARE / steepest(problem)
    return 64 * EPS * math.pi / step / SPACING + SPACING**4 / 30 * fifth


def fifth_derivative(problem: Equation) -> float:
    """Return a bound on the fifth derivatives of velocities on the circle by one of the angles.

    Without normalisation they are below the sum of k^6 I_k(b)/b over all k, b = abs(beta), that is the sixth
    derivative of exp(b cosh s)/b at zero. For softmax it is Cauchy's bound: moved by iy with b sinh y = pi/3, the
    weights have arguments within pi/3 and so a sum above half of that of their moduli, and sines are below cosh y.
    """
    size = abs(beta_of(problem))
    if is_softmax(problem):
        radius = strip(size)
        bound = math.factorial(5) * 2.0 * math.cosh(radius) / radius**5
    else:
        bound = (1.0 + 15.0 * size + 15.0 * size**2) * math.exp(size)
    return float(problem.fixed_coupling) * bound


def strip(beta: float) -> float:
    """Return y with abs(beta) sinh y = pi/3."""
    return math.asinh(math.pi / (3.0 * abs(beta)))
