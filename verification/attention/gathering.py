"""Tokens from random starts: that they end in one cluster, and how fast the last of them gather."""

import math

import numpy as np

from meanfield import Ensemble, Equation
from solvers import PairDrift

from ..claims import Evidence, claim, compare, missing
from ..measures import EPS, Floats
from ..tools import Tools
from .contraction import soon
from .laws import COUPLING, antipode_exponent, beta_of, cluster_exponent, steepest, unnormalised
from .tokens import vectors

# Random starts: tokens, systems, seed, and the time in units of the inverse exponent of the antipode.
SIZES, SYSTEMS, SEED = (3, 5, 8, 12), 5, 20240611
PATIENCE, STEP = 25.0, 0.4
# Tokens this close are in an open hemisphere, and so meet.
TOGETHER = 1e-3
# The last tokens: how many, when their spread is measured, and how exact a step of order 4 is by default.
# They are waited for longer, since they are more, and have to come closer.
TOKENS, SPREAD, PROMISED, WAITING = 32, 1e-7, 1e-6, 40.0


def synchronising(problem: Equation) -> str | None:
    """Return the reason why random starts are not tried, or None if they are."""
    reason = unnormalised(problem) or soon(problem)
    if reason is None and beta_of(problem) < (-0.16 if problem.domain.turns else 0.0):
        return "it is about beta >= -0.16 on the circle and beta >= 0 on spheres"
    return reason


@claim(
    "attention.synchronisation",
    "tokens from random starts end in one cluster",
    statement=(
        "From almost all starts tokens meet in one point: on spheres for every beta >= 0, on the circle for every "
        "beta >= -0.16."
    ),
    assumptions="no noise, no normalisation; independent uniform starts; false alarm with probability below 1e-4",
    source=(
        "Geshkovski et al. (2023); Polyanskiy, Rigollet, Yao, arXiv:2507.22857; 20 systems of 3 to 12 tokens, "
        "fixed seed; of 1500 starts 12 at most were late at 12/lambda, and their share fell like "
        "exp(-0.6 lambda t) or faster, so that at 25/lambda it is below 5e-6; on spheres the time is half as long"
    ),
    hypotheses=synchronising,
    needs=(),
)
def synchronisation(problem: Equation, tools: Tools) -> Evidence:
    """Count the systems that are not in one cluster in the end."""
    coupled = problem.at(coupling=COUPLING)
    # On spheres the last tokens leave in two directions or more, and their number falls at twice the exponent.
    until = PATIENCE / antipode_exponent(coupled) / (1.0 if problem.domain.turns else 2.0)
    step = STEP / steepest(coupled)
    apart = 0
    for count in SIZES:
        found = tools.simulate(
            coupled, count, until, SEED, step=step, replicas=SYSTEMS, times=1, drift=PairDrift(),
            keep_positions=True,
        )  # fmt: skip
        tokens = [vectors(system) for system in np.asarray(found.positions)]
        apart += sum(float(np.linalg.norm(system - system[0], axis=1).max()) > TOGETHER for system in tokens)
    return compare(apart, 0.0, 0.0, f"systems of {len(SIZES) * SYSTEMS} that are not in one cluster")


@claim(
    "attention.local-rate",
    "finitely many tokens contract at the local rate in the end",
    statement=(
        "The variance of N tokens decays at 2 kappa e^beta from the crossover on, which is about log N over "
        "the exponent of the antipode: not at the rate of the density."
    ),
    assumptions="no noise; no normalisation; independent uniform starts; false alarm with probability below 1e-4",
    source="linearisation at the cluster; 32 tokens, fixed seed, late as in synchronisation; steps of order 4",
    hypotheses=synchronising,
    needs=(),
)
def local_rate(problem: Equation, tools: Tools) -> Evidence:
    """Compare the rate of the variance, once it is small, with twice the exponent of the cluster."""
    coupled = problem.at(coupling=COUPLING)
    until = WAITING / antipode_exponent(coupled)
    path = tools.simulate(coupled, TOKENS, until, SEED, times=400, degrees=1, drift=PairDrift())
    remainder = 1.0 - _radii(path)
    if not bool((remainder < SPREAD).any()):
        return missing(f"the tokens were not together by time {until:.6g}")
    first = float(path.time[int(np.argmax(remainder < SPREAD))])
    near = tools.simulate(coupled, TOKENS, first, SEED, times=1, drift=PairDrift(), keep_positions=True)
    places, rate = np.asarray(near.positions)[0], cluster_exponent(coupled)
    after = tools.simulate(
        coupled, TOKENS, 1.0 / rate, 1, initial=places, times=1, drift=PairDrift(), keep_positions=True
    )
    variances = [_variance(vectors(tokens)) for tokens in (places, np.asarray(after.positions)[0])]
    measured = rate * math.log(variances[0] / variances[1])
    # The field is linear in the cluster up to the square of its size, N times its variance at most.
    bent = 2 * rate * (1 + abs(beta_of(problem))) ** 2 * TOKENS * variances[0]
    rounding = 64 * EPS / math.sqrt(variances[1]) * rate
    return compare(measured, 2 * rate, 2 * rate * PROMISED + bent + rounding, "rate of the variance of 32 tokens")


def _radii(path: Ensemble) -> Floats:
    """Return the order parameter of the first system over time."""
    if path.mean_vector is not None:
        return np.asarray(np.linalg.norm(path.mean_vector[0], axis=-1))
    return np.asarray(np.hypot(path.cosine[0, :, 1], path.sine[0, :, 1]))


def _variance(tokens: Floats) -> float:
    """Return the mean squared distance of tokens (N, d) from their mean, by differences that lose no digits."""
    moved = tokens - tokens[0]
    return float(((moved - moved.mean(axis=0)) ** 2).sum(axis=1).mean())
