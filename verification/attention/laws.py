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
    """Return a bound on the error of an entry of the Jacobian: some roundings of angles over the step and spacing.

    The differences of order 4 leave the fourth power of the spacing times the fifth derivative over 30, which for
    sums of exp(beta cos) is below the sixth power of 1 + abs(beta) times that of the velocity.
    """
    step, size = SHARE / steepest(problem), 1.0 + abs(beta_of(problem))
    return 64 * EPS * math.pi / step / SPACING + SPACING**4 / 30 * size**4 * steepest(problem)
