r"""When two tokens meet, and how groups of tokens hold each other.

Two tokens of the weights m and m' at the angle D approach each other at

.. math:: \dot D = -\kappa\sin D\,e^{\beta\cos D}, \qquad
          \dot D = -\kappa\sin D\Bigl(\frac{m'}{m\,e^{\beta(1-\cos D)}+m'} + \frac{m}{m'e^{\beta(1-\cos D)}+m}\Bigr)

without normalisation and for softmax. With :math:`u = \cos D` the times for m = m' are exponential integrals.
"""

import math
from typing import NamedTuple

import numpy as np

from meanfield import Equation
from solvers import PairDrift

from ..claims import Evidence, at_least, claim, compare, worst
from ..measures import EPS, Floats
from ..tools import Tools
from .laws import (
    COUPLING,
    attention,
    beta_of,
    cluster_exponent,
    is_softmax,
    on_circle,
    steepest,
)

# Angles of two tokens in the beginning and in the end.
FAR, NEAR = 1.0, 0.01
# Steps over the inverse of the steepest slope; of order 4, the second error is a fifteenth of their difference.
STEPS, ORDER_FOUR = (0.1, 0.05), 15.0
# The five tokens of a staircase, times when two groups are left, and the shares of these.
STAIRCASE = np.array([0.0622, 0.2143, 1.8191, 2.9111, -3.0952])
PLATEAU, GROUPS, MERGED = (20.0, 250.0), (0.4, 0.6), 400.0
STAIRCASE_BETA, STAIRCASE_STEPS = 4.0, (0.4, 0.2)
# Tokens this close to each other are one group.
ONE = 1e-3


def meeting_time(problem: Equation, far: float, near: float) -> float:
    """Return the time in which two equal tokens come from one angle to another."""
    from scipy.special import exp1, expi

    beta, first, last = beta_of(problem), math.cos(far), math.cos(near)
    ahead = math.exp(-beta) * float(expi(beta * (1 - first)) - expi(beta * (1 - last)))
    behind = math.exp(beta) * float(exp1(beta * (1 + first)) - exp1(beta * (1 + last)))
    time = 0.5 * (ahead + behind)
    if is_softmax(problem):
        time = 0.5 * (math.log(math.tan(far / 2) / math.tan(near / 2)) + math.exp(beta) * time)
    return time / problem.fixed_coupling


def attractive(problem: Equation) -> str | None:
    """Return the reason why the time of two tokens is not looked at, or None if it is."""
    reason = attention(problem)
    return "the closed form is about beta > 0" if reason is None and beta_of(problem) < 0 else reason


@claim(
    "attention.two-tokens",
    "when two tokens meet",
    statement=(
        "Two tokens at the angle D approach at kappa sin D e^(beta cos D), with softmax at 2 kappa sin D/(1 + "
        "e^(beta (1 - cos D))): the time from 1 to 0.01 is a sum of exponential integrals."
    ),
    assumptions="no noise; beta > 0; every domain, as two tokens stay on their great circle",
    source="separation of variables; the error of the steps by halving them",
    hypotheses=attractive,
    needs=(),
)
def two_tokens(problem: Equation, tools: Tools) -> Evidence:
    """Compare the time until two tokens are at an angle with the exponential integrals."""
    coupled = problem.at(coupling=COUPLING)
    expected, rate = meeting_time(coupled, FAR, NEAR), cluster_exponent(coupled)
    times = []
    for share in STEPS:
        step = share / steepest(coupled)
        found = tools.simulate(
            coupled, 2, expected, 1, initial=_pair(problem), step=step, times=1, drift=PairDrift(),
            keep_positions=True,
        )  # fmt: skip
        angle = _spread(vectors(np.asarray(found.positions)[0]))
        times.append(expected + math.log(angle / NEAR) / rate)
    # From the angle reached to that wanted the rate is that of the cluster, to the square of the angle.
    short = abs(times[1] - expected) * (1 + beta_of(problem)) * NEAR**2
    rounding = 64 * EPS / NEAR / rate * (1 + expected * steepest(coupled) / STEPS[1]) ** 0.5
    bound = abs(times[1] - times[0]) / ORDER_FOUR * 2 + short + rounding
    return compare(times[1], expected, bound, f"time from the angle {FAR:g} to {NEAR:g}")


def vectors(places: Floats) -> Floats:
    """Return the angles (N,) of tokens on the circle as unit vectors (N, 2); those on spheres (N, d) are."""
    if places.ndim > 1:
        return places
    return np.stack([np.cos(places), np.sin(places)], axis=-1)


def positions(problem: Equation, tokens: Floats) -> Floats:
    """Return unit vectors (N, d) as positions on the domain, angles (N,) on the circle."""
    return np.arctan2(tokens[:, 1], tokens[:, 0]) if problem.domain.turns else tokens


def _pair(problem: Equation) -> Floats:
    """Return two tokens at the first angle, in no special direction."""
    generator = np.random.default_rng(np.random.SeedSequence(1))
    frame = np.linalg.qr(generator.normal(size=(problem.domain.dimension, 2)))[0]
    tokens = np.stack([frame[:, 0], math.cos(FAR) * frame[:, 0] + math.sin(FAR) * frame[:, 1]])
    return positions(problem, tokens)


def _spread(tokens: Floats) -> float:
    """Return the angle of two tokens (2, d)."""
    return 2.0 * math.asin(0.5 * float(np.linalg.norm(tokens[0] - tokens[1])))


def staircase(problem: Equation) -> str | None:
    """Return the reason why the staircase is not looked at, or None if it is."""
    reason = on_circle(problem)
    if reason is None and not (is_softmax(problem) and beta_of(problem) == STAIRCASE_BETA):
        return f"its times are those of softmax attention with beta = {STAIRCASE_BETA:g}"
    return reason


@claim(
    "attention.staircase",
    "groups of tokens hold each other and meet in steps",
    statement=(
        "Five tokens with softmax, beta = 4, are two groups of 2 and 3 within 0.001 from time 20 to 250, kappa = "
        "1, and one at 400. The mean of e^(beta (cos - 1)) is the sum of squares of their shares and the cross "
        "terms at their angle; the groups approach each other as two weighted tokens."
    ),
    assumptions="no noise; the circle; the five tokens of arXiv:2410.06833",
    source="weighted two-token equation by quadrature; the error of the steps by halving them",
    hypotheses=staircase,
    needs=(),
)
def stairs(problem: Equation, tools: Tools) -> Evidence:
    """Compare times and energies of the groups with the weighted equation."""
    coupled = problem.at(coupling=1.0)
    rows = [[_stair(coupled, time, share, tools) for time in (*PLATEAU, MERGED)] for share in STAIRCASE_STEPS]
    found = []
    angles, spread = [[step.angle for step in row[:2]] for row in rows], rows[1][0].spread
    elapsed = [_elapsed(coupled, *pair) for pair in angles]
    # What is left of the size of the groups changes their angle, and the time by that over the speed.
    bound = 2 * abs(elapsed[1] - elapsed[0]) / ORDER_FOUR + 2 * spread * _slowness(coupled, angles[1][0])
    found.append(compare(elapsed[1], PLATEAU[1] - PLATEAU[0], bound, "time of the approach of the two groups"))
    found.append(at_least(ONE, spread, 0.0, f"size of the groups at time {PLATEAU[0]:g}"))
    for step, time in zip(rows[1][:2], PLATEAU, strict=True):
        cross = 2 * GROUPS[0] * GROUPS[1] * math.exp(beta_of(coupled) * (math.cos(step.angle) - 1))
        expected = sum(share**2 for share in GROUPS) + cross
        found.append(
            compare(step.level, expected, 2 * STAIRCASE_BETA * spread, f"level of the energy at time {time:g}")
        )
    found.append(
        compare(rows[1][2].level, 1.0, 2 * STAIRCASE_BETA * spread, f"level of the energy at time {MERGED:g}")
    )
    return worst(found)


class Stair(NamedTuple):
    """The normalised energy of the five tokens, the angle of the first and the last, and the size of the groups."""

    level: float
    angle: float
    spread: float


def _stair(problem: Equation, time: float, share: float, tools: Tools) -> Stair:
    """Return what the five tokens are at a time."""
    step = share / steepest(problem)
    found = tools.simulate(
        problem, STAIRCASE.size, time, 1, initial=STAIRCASE, step=step, times=1, keep_positions=True
    )
    angles = np.asarray(found.positions)[0]
    products = np.cos(angles - angles[:, np.newaxis])
    level = float(np.exp(beta_of(problem) * (products - 1)).mean())
    spread = max(abs(angles[1] - angles[0]), abs(angles[3] - angles[2]), abs(angles[4] - angles[3]))
    return Stair(level, float(np.arccos(products[0, -1])), float(spread))


def _elapsed(problem: Equation, far: float, near: float) -> float:
    """Return the time of the two groups from one angle to another."""
    from scipy.integrate import quad

    return float(quad(lambda angle: _slowness(problem, angle), near, far, epsrel=1e-12)[0])


def _slowness(problem: Equation, angle: float) -> float:
    """Return the inverse of the speed at which the two groups approach each other."""
    push = math.exp(beta_of(problem) * (1 - math.cos(angle)))
    pulls = [other / (own * push + other) for own, other in (GROUPS, GROUPS[::-1])]
    return 1.0 / (problem.fixed_coupling * math.sin(angle) * sum(pulls))
