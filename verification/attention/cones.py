r"""Tokens in an open hemisphere: they stay in their cone about its axis, and meet at the local rate.

At the token of the least height :math:`h_i = \langle x_i, w\rangle > 0` above the plane normal to an axis w

.. math:: \dot h_i = \sum_j a_{ij}\bigl(h_j - \langle x_i,x_j\rangle\,h_i\bigr) \ge
          h_i\sum_j a_{ij}\,(1-\langle x_i,x_j\rangle) \ge 0

for all weights :math:`a_{ij} > 0`, those with and without normalisation among them.
"""

import math
from collections.abc import Iterator

import numpy as np

from meanfield import Equation

from ..claims import Evidence, at_least, claim, worst
from ..measures import EPS, Floats
from ..tools import Tools
from .gathering import CLOSE, SEED, STEP, decay, ending
from .laws import COUPLING, attention, beta_of, cluster_exponent, is_softmax, steepest
from .tokens import positions, vectors

TOKENS, LOWEST = 12, 0.5
# Times at which heights are compared, and the least rise of all together that is no rounding.
STAGES, RISEN = 8, 0.1
# How long tokens of a cone take to be close to each other, in units of the inverse coupling and least weight.
PATIENCE = 2.0
# Of more steps than these the collapse is not waited for.
LONGEST = 1e5


def waited(problem: Equation) -> str | None:
    """Return the reason why tokens of a cone are not followed, or None if they are."""
    reason, coupled = attention(problem), problem.at(coupling=1.0)
    if reason is None and _patience(coupled) * steepest(coupled) / STEP > LONGEST:
        return "tokens on opposite sides of a cone hold each other for too long to be waited for"
    return reason


@claim(
    "attention.cone",
    "tokens in an open hemisphere stay in their cone and meet at the local rate",
    statement=(
        "If all tokens have <x_i, w> > 0, the least of these never falls, and the tokens meet: in the end their "
        "variance decays at 2 kappa e^beta, for softmax at 2 kappa."
    ),
    assumptions="no noise; one start of 12 tokens in the cone <x, w> >= 0.5; steps of order 4",
    source="Geshkovski, Letrouit, Polyanskiy, Rigollet (2023); the rate by linearisation at a point",
    hypotheses=waited,
    needs=(),
)
def hemisphere(problem: Equation, tools: Tools) -> Evidence:
    """Compare the rises of the least height with zero, and the rate of the variance with twice the exponent."""
    coupled = problem.at(coupling=COUPLING)
    tokens, axis = cone(problem.domain.dimension)
    start, until = positions(problem, tokens), _patience(coupled)
    return worst([*_rises(coupled, start, axis, until, tools), decay(coupled, start, TOKENS, until, tools)])


def cone(dimension: int) -> tuple[Floats, Floats]:
    """Return unit vectors (N, d) at equally spaced heights in a cone about an axis (d,), and the axis."""
    generator = np.random.default_rng(np.random.SeedSequence(SEED))
    axis = generator.normal(size=dimension)
    axis /= np.linalg.norm(axis)
    around = generator.normal(size=(TOKENS, dimension))
    around -= np.outer(around @ axis, axis)
    around /= np.linalg.norm(around, axis=1, keepdims=True)
    heights = np.linspace(LOWEST, 1.0, TOKENS)[:, np.newaxis]
    return heights * axis + np.sqrt(1.0 - heights**2) * around, axis


def _patience(problem: Equation) -> float:
    """Return a time by which tokens of the cone are close to each other."""
    # The weights of tokens on opposite sides and at the same place, 2 h^2 - 1 and 1 being their inner products.
    ends = [math.exp(beta_of(problem) * product) for product in (2 * LOWEST**2 - 1, 1.0)]
    least = min(ends) / (max(ends) if is_softmax(problem) else 1.0)
    return PATIENCE / (problem.fixed_coupling * least) - math.log(CLOSE) / cluster_exponent(problem)


def _rises(problem: Equation, start: Floats, axis: Floats, until: float, tools: Tools) -> Iterator[Evidence]:
    """Yield the evidence that the least height rises from stage to stage, and that it does at all."""
    heights, places, step = [float((vectors(start) @ axis).min())], start, STEP / steepest(problem)
    for _ in range(STAGES):
        places = ending(problem, places, TOKENS, until / STAGES, step, tools)
        heights.append(float((vectors(places) @ axis).min()))
    bound = 64 * EPS * math.sqrt(1 + until / step)
    yield at_least(float(np.diff(heights).min()), 0.0, bound, f"least rise of the least height in {STAGES} stages")
    yield at_least(heights[-1] - heights[0], RISEN, 0.0, "rise of the least height in the end")
