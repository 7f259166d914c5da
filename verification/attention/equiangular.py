r"""The time at which tokens in a high dimension come together, by the equation of equal angles.

Random tokens in a high dimension are nearly orthogonal, and tokens at equal angles, with the inner product g, keep
them:

.. math:: \dot g = 2\kappa\,\frac{(1-g)\,((n-1)g+1)}{e^{\beta(1-g)}+n-1}

for softmax attention. With q = n/(n-1) it takes :math:`1-\delta` at the time

.. math:: \kappa T = \frac1{2n}\Bigl[\mathrm{Ei}(\beta)-\mathrm{Ei}(\beta\delta)
          + e^{\beta q}\bigl(E_1(\beta(q-1))-E_1(\beta(q-\delta))\bigr)\Bigr]
          + \frac{n-1}{2n}\ln\frac{(n-1)(1-\delta)+1}{\delta} .
"""

import math
from collections.abc import Iterator

import numpy as np

from meanfield import Equation, Sphere
from solvers import PairDrift

from ..claims import Evidence, at_least, claim, worst
from ..measures import Floats
from ..tools import Tools
from .laws import COUPLING, attention, beta_of, is_softmax, steepest

TOKENS, SYSTEMS, SEED = 32, 20, 20231217
# The dimension in which tokens are tried; inner products count as one from 1 - DELTA on.
HIGH, DELTA = 1024, 1e-3
# Times in units of T, and the most that may be on the wrong side there. In 100 systems benchmarks/gathering.py
# finds no pair there, and at 0.97 T and 1.03 T shares with standard deviations of 0.01 and 0.04 between systems.
EARLY, LATE, WRONG = 0.95, 1.05, 0.05
STEP = 1.0


def in_high_dimensions(problem: Equation) -> str | None:
    """Return the reason why the time is not looked at for a problem, or None if it is."""
    reason = attention(problem)
    if reason is None and (problem.domain.turns or not is_softmax(problem) or beta_of(problem) <= 0):
        return "it is about softmax attention with beta > 0 on spheres, and tried on one of a high dimension"
    return reason


def transition_time(tokens: int, beta: float, delta: float) -> float:
    """Return the time from 0 to 1 - delta of the common inner product, in units of the inverse coupling."""
    from scipy.special import exp1, expi

    share = tokens / (tokens - 1)
    behind = math.exp(beta * share) * float(exp1(beta * (share - 1)) - exp1(beta * (share - delta)))
    ahead = float(expi(beta) - expi(beta * delta)) + behind
    logarithm = math.log(((tokens - 1) * (1 - delta) + 1) / delta)
    return ahead / (2 * tokens) + (tokens - 1) / (2 * tokens) * logarithm


@claim(
    "attention.phase-transition",
    "tokens in a high dimension come together at one time",
    statement=(
        "Of 32 uniform tokens with d = 1024 and softmax the share of pairs with <x_i, x_j> >= 0.999 is below 0.05 "
        "at 0.95 T and above 0.95 at 1.05 T, T being the time of tokens at equal angles in closed form."
    ),
    assumptions="no noise; 20 systems with a fixed seed; false alarm with probability below 1e-4",
    source="Geshkovski, Letrouit, Polyanskiy, Rigollet (2023); the time by separation of variables",
    hypotheses=in_high_dimensions,
    needs=(),
)
def phase_transition(problem: Equation, tools: Tools) -> Evidence:
    """Compare the shares of pairs that are together before and after the time with none and all."""
    coupled = problem.replace(domain=Sphere(HIGH)).at(coupling=COUPLING)
    time = transition_time(TOKENS, beta_of(problem), DELTA) / coupled.fixed_coupling
    return worst(_shares(coupled, time, tools))


def _shares(problem: Equation, time: float, tools: Tools) -> Iterator[Evidence]:
    """Yield the evidence of the shares at the two times."""
    early, late = (float(together(problem, share * time, tools).mean()) for share in (EARLY, LATE))
    yield at_least(WRONG, early, 0.0, f"share of pairs together at {EARLY:g} T")
    yield at_least(late, 1 - WRONG, 0.0, f"share of pairs together at {LATE:g} T")


def together(problem: Equation, time: float, tools: Tools, seed: int = SEED, systems: int = SYSTEMS) -> Floats:
    """Return the shares of the pairs of tokens that are together at a time, one for every system."""
    step = STEP / steepest(problem)
    found = tools.simulate(
        problem, TOKENS, time, seed, step=step, replicas=systems, times=1, drift=PairDrift(), keep_positions=True
    )
    tokens = np.asarray(found.positions)
    products = (tokens @ tokens.transpose(0, 2, 1))[:, *np.triu_indices(TOKENS, 1)]
    return np.asarray((products >= 1 - DELTA).mean(axis=1))
