"""How long tokens from random starts take to gather: python benchmarks/gathering.py [--starts 300].

Numbers of systems that are not in one cluster at times in units of 1/lambda, lambda = kappa e^-beta being the
exponent at which tokens leave the antipode of a cluster, on spheres of its half, and beyond the time that the
cluster itself takes to contract. The claims ``attention.synchronisation``, ``attention.local-rate`` and
``attention.other-kernels`` take their patience from here. The last column is the exponent at which the numbers fell
between the last two times with ten late systems or more, in the same unit.

A second table is of ``attention.phase-transition``: over systems of tokens in a high dimension, the mean and the
standard deviation of the share of pairs that are together at times in units of T.
"""

import argparse
import math

from script import one_thread

one_thread()

import numpy as np  # noqa: E402

from meanfield import (  # noqa: E402
    Circle,
    ContinuityEquation,
    CosineSeries,
    Equation,
    McKeanVlasov,
    SoftmaxAttention,
    Sphere,
    Transformer,
)
from solvers import PairDrift, simulate  # noqa: E402
from verification import Tools  # noqa: E402
from verification.attention import equiangular, kernels, laws  # noqa: E402
from verification.attention.gathering import CLOSE, SIZES, STEP, TOGETHER, TOKENS, waiting  # noqa: E402

BETAS = (
    (Circle(), -0.1), (Circle(), 0.5), (Circle(), 1.0), (Sphere(3), 1.0), (Sphere(4), 0.1), (Sphere(8), 0.5),
)  # fmt: skip
SERIES = ((Circle(), (-1.15, -0.2, -0.05)), (Sphere(3), (-1.5, -0.25)))
TIMES = (2.0, 4.0, 6.0, 8.0, 10.0)
MANY = 10
# Times of the second table in units of T, and its beta.
NEAR_T, COLD = (0.95, 0.97, 0.98, 0.99, 1.0, 1.01, 1.02, 1.03, 1.05), (1.0, 2.0, 4.0)


def late(problem: Equation, tokens: int, distance: float, starts: int, seed: int) -> list[int]:
    """Return the numbers of systems with two tokens further apart than a distance at the times."""
    attention = isinstance(problem.law, Transformer)
    rates = laws.exponents(problem) if attention else kernels.rates(problem)
    slope = laws.steepest(problem) if attention else kernels.steepest_slope(problem)
    times = [0.0, *(waiting(problem, rates, patience, distance) for patience in TIMES)]
    found = simulate(
        problem, tokens, times[-1], seed, step=STEP / slope, replicas=starts, times=times, degrees=1,
        drift=PairDrift(),
    )  # fmt: skip
    if found.mean_vector is not None:
        radii = np.linalg.norm(found.mean_vector, axis=-1)
    else:
        radii = np.hypot(found.cosine[..., 1], found.sine[..., 1])
    # Two tokens that far apart leave at least this, at the middle of all others.
    remainder = distance**2 / (4 * tokens)
    return [int(count) for count in (1.0 - radii[:, 1:] > remainder).sum(axis=0)]


def exponent(counts: list[int]) -> str:
    """Return the exponent between the last two times with many late systems, in words."""
    known = [place for place, count in enumerate(counts) if count >= MANY][-2:]
    if len(known) < 2:
        return "-"
    first, last = known
    return f"{math.log(counts[first] / counts[last]) / (TIMES[last] - TIMES[first]):.2f}"


def waits(starts: int, seed: int) -> None:
    """Print the first table."""
    print("| problem | tokens | " + " | ".join(f"{time:g}" for time in TIMES) + " | exponent |")
    print("|---|---|" + "---|" * (len(TIMES) + 1))
    problems = [McKeanVlasov(domain, Transformer(beta), noise=0.0, coupling=1.0) for domain, beta in BETAS]
    problems += [McKeanVlasov(domain, CosineSeries(w), noise=0.0, coupling=1.0) for domain, w in SERIES]
    for problem in problems:
        for count, distance in (*((size, TOGETHER) for size in SIZES), (TOKENS, CLOSE)):
            counts = late(problem, count, distance, starts, seed)
            cells = " | ".join(str(number) for number in counts)
            print(f"| {problem.domain}, {problem.law} | {count} | {cells} | {exponent(counts)} |", flush=True)


def transitions(starts: int, seed: int) -> None:
    """Print the second table."""
    print("\n| beta | " + " | ".join(f"{time:g} T" for time in NEAR_T) + " |\n|---|" + "---|" * len(NEAR_T))
    tools = Tools()
    for beta in COLD:
        problem = ContinuityEquation(Sphere(equiangular.HIGH), SoftmaxAttention(beta), noise=0.0, coupling=1.0)
        unit = equiangular.transition_time(equiangular.TOKENS, beta, equiangular.DELTA)
        cells = []
        for time in NEAR_T:
            shares = equiangular.together(problem, time * unit, tools, seed, starts)
            cells.append(f"{shares.mean():.3g} ({shares.std():.2g})")
        print(f"| {beta:g} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--starts", type=int, default=300, help="systems of every kind")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    waits(given.starts, given.seed)
    # These are larger, and differ less from each other.
    transitions(given.starts // 3, given.seed)


if __name__ == "__main__":
    main()
