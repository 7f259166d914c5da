r"""Groups of tokens under softmax attention hold each other for a time that is exponential in beta.

Two equal groups at the angle D collapse at once, and from then on meet as two tokens do, after

.. math:: T \approx \frac{e^{\beta(1-\cos D)}}{2\kappa\beta\sin^2 D}
          \Bigl(1 + \frac{2\cos D}{\beta\sin^2 D} + \frac{2+6\cos^2 D}{\beta^2\sin^4 D} + \dots\Bigr).

In the time s, :math:`dt = e^{\beta(1-\cos D)}\,ds/\kappa`, of the closest pair, at the angle D, this pair alone
moves as :math:`\beta\to\infty`: each of its tokens towards the other, :math:`dD/ds = -2\sin D`.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np

from meanfield import Equation

from ..claims import Evidence, at_least, claim, compare, worst
from ..measures import EPS, Floats
from ..tools import Tools
from .gathering import ending
from .laws import COUPLING, SHARE, beta_of, is_softmax, on_circle, steepest, velocities
from .tokens import ORDER_FOUR, meeting_time

# From this beta on groups are separated; and the larger ones that are tried besides that of a problem.
SEPARATED, COLDER, COLDEST = 4.0, (1.0, 1.25, 1.5), (2.0, 4.0, 8.0)
# Steps over the inverse of the steepest slope.
STEPS = (0.4, 0.2)
# Two groups: places in them, their angle, that at which they count as met, and how often they shrink by e first.
GROUP, APART, MET, SHRUNK = np.array([-0.05, 0.01, 0.05]), 2.0, 0.1, 12.0
# Two tokens at these angles are the closest pair beside the others.
PAIRS, OTHERS = (0.8, 1.0, 1.1), (2.9, -2.0)


def separated(problem: Equation) -> str | None:
    """Return the reason why groups are not separated, or None if they are."""
    reason = on_circle(problem)
    if reason is None and not (is_softmax(problem) and beta_of(problem) >= SEPARATED):
        return f"groups are separated under softmax attention with beta >= {SEPARATED:g}"
    return reason


@claim(
    "attention.metastability",
    "separated groups collapse, and hold each other for an exponential time",
    statement=(
        "Two equal groups at the angle D are points after a time that beta does not change, and meet at a time "
        "T_2 by exponential integrals, e^(beta (1 - cos D))/(2 kappa beta sin^2 D) to leading order: log T_2 ~ "
        "beta (1 - cos D)."
    ),
    assumptions="no noise; softmax, beta >= 4; the circle; D = 2, groups of three tokens within 0.1",
    source="Geshkovski, Koubbi, Polyanskiy, Rigollet, arXiv:2410.06833; Laplace's method; steps halved",
    hypotheses=separated,
    needs=(),
)
def metastability(problem: Equation, tools: Tools) -> Evidence:
    """Compare the time until two groups meet with the exponential integrals and with its leading order."""
    found: list[Evidence] = []
    for share in COLDER:
        coupled = problem.at(coupling=COUPLING).with_parameter("beta", share * beta_of(problem))
        found += _meeting(coupled, tools)
    return worst(found)


def _meeting(problem: Equation, tools: Tools) -> Iterator[Evidence]:
    """Yield the evidence of the two groups at a beta."""
    beta, first = beta_of(problem), SHRUNK / problem.fixed_coupling
    start = np.concatenate([GROUP, APART + GROUP])
    collapsed = ending(problem, start, start.size, first, STEPS[1] / steepest(problem), tools)
    halves = collapsed.reshape(2, GROUP.size)
    # Each group pulls itself together at the coupling, less what the other takes of its weights.
    left = float(np.ptp(GROUP)) * math.exp(-SHRUNK * (1 - 2 * (1 + beta) * math.exp(beta * (math.cos(APART) - 1))))
    spread = float(np.ptp(halves, axis=1).max())
    yield at_least(left, spread, 0.0, f"size of the groups at time {first:g}, beta = {beta:g}")
    angle = _angle(collapsed)
    duration = meeting_time(problem, angle, MET)
    times = [first + duration + _late(problem, collapsed, duration, share, tools) for share in STEPS]
    # The mean of a group feels the square of its size; angles are rounded at every step, and times by their
    # slowness.
    rounding = 64 * EPS * math.sqrt(1 + duration * steepest(problem) / STEPS[1])
    felt = (4 * ((1 + beta) * spread) ** 2 + 2 * (1 + beta) * rounding) * duration
    bound = 2 * abs(times[1] - times[0]) / ORDER_FOUR + felt
    yield compare(times[1], first + duration, bound, f"time T_2 of two groups, beta = {beta:g}")
    cosine, square = math.cos(APART), math.sin(APART) ** 2
    leading = math.exp(beta * (1 - cosine)) / (2 * problem.fixed_coupling * beta * square)
    terms = 2 * abs(cosine) / (beta * square) + (2 + 6 * cosine**2) / (beta * square) ** 2
    yield compare(times[1] / leading, 1.0, terms, f"T_2 over its leading order, beta = {beta:g}")


def _late(problem: Equation, start: Floats, duration: float, share: float, tools: Tools) -> float:
    """Return how much later than expected two groups are at the angle at which they count as met."""
    places = ending(problem, start, start.size, duration, share / steepest(problem), tools)
    angle = _angle(places)
    return math.copysign(meeting_time(problem, max(angle, MET), min(angle, MET)), angle - MET)


def _angle(places: Floats) -> float:
    """Return the angle of the two groups."""
    first, second = places.reshape(2, GROUP.size)
    return float(np.abs(np.remainder(second.mean() - first.mean() + np.pi, 2 * np.pi) - np.pi))


@claim(
    "attention.closest-pair",
    "only the closest pair of tokens moves in its slow time",
    statement=(
        "In the time dt = e^(beta (1 - cos D)) ds/kappa of the closest pair, at the angle D, softmax attention "
        "moves its tokens towards each other at sin D, so that D' = -2 sin D, and no others, with errors "
        "exponential in beta."
    ),
    assumptions="no noise; softmax; the circle; four tokens, beta of the problem times 2, 4 and 8",
    source="Bruno, Pasqualotto, Agazzi, arXiv:2410.23228, as quoted for the limit; errors by the other weights",
    hypotheses=separated,
    needs=(),
)
def closest_pair(problem: Equation, tools: Tools) -> Evidence:
    """Compare velocities of tokens in the slow time with those of the closest pair alone."""
    found: list[Evidence] = []
    for share in COLDEST:
        coupled = problem.at(coupling=COUPLING).with_parameter("beta", share * beta_of(problem))
        found += [_slow(coupled, angle, tools) for angle in PAIRS]
    return worst(found)


def _slow(problem: Equation, angle: float, tools: Tools) -> Evidence:
    """Return the evidence of the velocities with a closest pair at an angle."""
    angles = np.array([0.0, angle, *OTHERS])
    beta, closest = beta_of(problem), math.cos(angle)
    slowness = math.exp(beta * (1 - closest)) / problem.fixed_coupling
    measured = slowness * velocities(problem, angles[np.newaxis], tools)[0]
    expected = math.sin(angle) * np.array([1.0, -1.0, *(0.0 for _ in OTHERS)])
    pairs = np.cos([one - other for one, other in itertools.combinations(angles, 2)])
    # The weight of a token on itself is one, less those of all others; other pairs pull by their share of the
    # closest.
    next_one = float(np.sort(pairs)[-2])
    bound = angles.size * (math.exp(beta * (next_one - closest)) + math.exp(beta * (closest - 1)))
    rounding = 64 * EPS * math.pi * steepest(problem) / SHARE * slowness
    where = f"velocities in the slow time beside the closest pair at the angle {angle:g}, beta = {beta:g}"
    return compare(float(np.abs(measured - expected).max()), 0.0, bound + rounding, where)
