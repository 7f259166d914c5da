"""Tokens from random starts: that they end in one cluster, and how fast the last of them gather."""

import math

import numpy as np

from meanfield import Ensemble, Equation
from solvers import PairDrift

from ..claims import Evidence, claim, compare, missing
from ..measures import EPS, Floats
from ..tools import Tools
from .contraction import soon
from .laws import COUPLING, beta_of, cluster_exponent, exponents, steepest, unnormalised
from .tokens import vectors

# Random starts: tokens, systems, seed, and the longest step times the steepest slope.
SIZES, SYSTEMS, SEED, STEP = (3, 5, 8, 12), 5, 20240611, 0.4
# How long tokens may take to find one side, see waiting. Of 300 starts of each size benchmarks/gathering.py finds
# at most 9 late at 10, of 32 tokens 44. Few that they are, their number falls like exp(-0.55 t) or faster, to
# shares below 1e-6 at 30, of 32 tokens 3e-6.
PATIENCE = 30.0
# Tokens this close are in an open hemisphere, and so meet.
TOGETHER = 1e-3
# The last tokens: how many, the distance at which their spread is measured, and how exact a step is by default.
TOKENS, CLOSE, PROMISED = 32, 3e-4, 1e-6


def synchronising(problem: Equation) -> str | None:
    """Return the reason why random starts are not tried, or None if they are."""
    reason = unnormalised(problem) or soon(problem)
    if reason is None and beta_of(problem) < (-0.16 if problem.domain.turns else 0.0):
        return "it is about beta >= -0.16 on the circle and beta >= 0 on spheres"
    return reason


def waiting(problem: Equation, rates: tuple[float, float], patience: float, distance: float) -> float:
    """Return the time in which tokens leave the antipode of the others, and then are within a distance.

    The rates are the exponents of the cluster and of its antipode. Patience is in units of the inverse of the
    latter, on spheres of its half: there the last tokens leave in two directions or more, and their number falls at
    twice the exponent or faster.
    """
    cluster, antipode = rates
    unit = 1.0 / antipode / (1.0 if problem.domain.turns else 2.0)
    return patience * unit - math.log(distance) / cluster


def scattered(problem: Equation, until: float, step: float, tools: Tools) -> Evidence:
    """Return the evidence that random starts of all sizes are in one cluster at a time."""
    apart = 0
    for count in SIZES:
        found = tools.simulate(
            problem, count, until, SEED, step=step, replicas=SYSTEMS, times=1, drift=PairDrift(),
            keep_positions=True,
        )  # fmt: skip
        tokens = [vectors(system) for system in np.asarray(found.positions)]
        apart += sum(float(np.linalg.norm(system - system[0], axis=1).max()) > TOGETHER for system in tokens)
    return compare(apart, 0.0, 0.0, f"systems of {len(SIZES) * SYSTEMS} that are not in one cluster")


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
        "fixed seed; late systems counted by benchmarks/gathering.py"
    ),
    hypotheses=synchronising,
    needs=(),
)
def synchronisation(problem: Equation, tools: Tools) -> Evidence:
    """Count the systems that are not in one cluster in the end."""
    coupled = problem.at(coupling=COUPLING)
    until = waiting(coupled, exponents(coupled), PATIENCE, TOGETHER)
    return scattered(coupled, until, STEP / steepest(coupled), tools)


@claim(
    "attention.local-rate",
    "finitely many tokens contract at the local rate in the end",
    statement=(
        "Once 32 tokens from a random start are together, their variance decays at 2 kappa e^beta: at the rate of "
        "the cluster, and not at that of a density, of which some mass is always on its way."
    ),
    assumptions="no noise; no normalisation; independent uniform starts; false alarm with probability below 1e-4",
    source="linearisation at the cluster; fixed seed; late as in synchronisation; steps of order 4",
    hypotheses=synchronising,
    needs=(),
)
def local_rate(problem: Equation, tools: Tools) -> Evidence:
    """Compare the rate of the variance, once it is small, with twice the exponent of the cluster."""
    coupled = problem.at(coupling=COUPLING)
    until = waiting(coupled, exponents(coupled), PATIENCE, CLOSE)
    return decay(coupled, None, TOKENS, until, tools)


def decay(problem: Equation, start: Floats | None, count: int, until: float, tools: Tools) -> Evidence:
    """Return the evidence of the rate of the variance of tokens once they are close, which they are by a time.

    The start is where they are in the beginning, random if it is None.
    """
    path = tools.simulate(
        problem, count, until, SEED, initial=start, step=STEP / steepest(problem), times=400, degrees=1,
        drift=PairDrift(),
    )  # fmt: skip
    near = 1.0 - _radii(path) < CLOSE**2
    if not bool(near.any()):
        return missing(f"the tokens were not together by time {until:.6g}")
    first, rate = float(path.time[int(np.argmax(near))]), cluster_exponent(problem)
    places = ending(problem, start, count, first, STEP / steepest(problem), tools)
    after = ending(problem, places, count, 1.0 / rate, None, tools)
    variances = [_variance(vectors(tokens)) for tokens in (places, after)]
    measured = rate * math.log(variances[0] / variances[1])
    # The field is linear in the cluster up to the square of its size, N times its variance at most.
    bent = 2 * rate * (1 + abs(beta_of(problem))) ** 2 * count * variances[0]
    rounding = 64 * EPS / math.sqrt(variances[1]) * rate
    return compare(
        measured, 2 * rate, 2 * rate * PROMISED + bent + rounding, f"rate of the variance of {count} tokens"
    )


def ending(
    problem: Equation, start: Floats | None, count: int, until: float, step: float | None, tools: Tools
) -> Floats:
    """Return where tokens are at a time."""
    found = tools.simulate(
        problem, count, until, SEED, initial=start, step=step, times=1, drift=PairDrift(), keep_positions=True
    )
    places: Floats = np.asarray(found.positions)[0]
    return places


def _radii(path: Ensemble) -> Floats:
    """Return the order parameter of the first system over time."""
    if path.mean_vector is not None:
        return np.asarray(np.linalg.norm(path.mean_vector[0], axis=-1))
    return np.asarray(np.hypot(path.cosine[0, :, 1], path.sine[0, :, 1]))


def _variance(tokens: Floats) -> float:
    """Return the mean squared distance of tokens (N, d) from their mean, by differences that lose no digits."""
    moved = tokens - tokens[0]
    return float(((moved - moved.mean(axis=0)) ** 2).sum(axis=1).mean())
