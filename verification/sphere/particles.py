r"""Particles on spheres: Brownian motion alone, and the Gibbs density of a confinement.

.. math:: E\,\frac1N\sum_i P_l(\langle X_i(t), e\rangle) = p_l(0)\,e^{-Dl(l+d-2)t}

without any force; with a confinement and no interaction particles tend to :math:`e^{-V/D}/Z`, up to a bias of the
step that vanishes with it.
"""

import math
from collections.abc import Iterator

import numpy as np

from meanfield import Equation
from solvers import schemes

from ..circle.confined import confined
from ..circle.fluctuations import FALSE_ALARM, SEED
from ..claims import Evidence, claim, compare, worst
from ..hypotheses import anywhere
from ..statistics import band, student
from ..tools import Tools
from .confined import gibbs_moments

SYSTEMS, PARTICLES = 32, 10_000
# The slowest direction is forgotten by a factor e; the mean direction is exact at every step.
FORGETTING, STEPS = 1.0, 4
CONFINED_SYSTEMS, CONFINED_PARTICLES = 16, 1000
# Rest is reached from the uniform density; the step is long enough for its bias to be seen.
RESTING, STEP = 6.0, 0.05


def free(problem: Equation) -> str | None:
    """Return the reason why a problem needs no check of its own for particles without any force, or None."""
    if problem.potential.name not in ("kuramoto", "o-n"):
        return "without interaction all potentials are the same; it is checked once a dimension"
    return anywhere(problem)


@claim(
    "sphere.free-particles",
    "noise alone is Brownian motion",
    statement="Without any force the mean direction decays like exp(-(d-1) D t), for every N and every step.",
    assumptions="no interaction, no confinement; false alarm with probability 1e-4",
    source="the heat equation; 32 systems of 10000 particles, 4 steps of every scheme, fixed seed",
    hypotheses=free,
)
def free_particles(problem: Equation, tools: Tools) -> Evidence:
    """Compare particles that start at the pole, driven by noise only, with Brownian motion."""
    dimension = problem.domain.dimension
    end = FORGETTING / ((dimension - 1) * problem.noise)
    pole = np.zeros((PARTICLES, dimension))
    pole[:, -1] = 1.0
    found = []
    for scheme in schemes(flat=False):
        ensemble = tools.simulate(
            problem.at(coupling=0.0), PARTICLES, end, SEED, initial=pole,
            step=end / STEPS, replicas=SYSTEMS, times=1, degrees=1, scheme=scheme,
        )  # fmt: skip
        found.append(_mean(ensemble.cosine[:, -1], float(np.exp(-FORGETTING)), scheme.name))
    return worst(found)


def _mean(values: np.ndarray, expected: float, what: str) -> Evidence:
    """Compare the moment of degree one about the pole with its expectation."""
    # Place l (l + 1)/2 + m holds order m of degree l; that of degree 1 and order 0 is at 1 in both layouts.
    found = band(values[:, 1])
    bound = student(1 - FALSE_ALARM, SYSTEMS - 1) * float(found.standard_error)
    text = f"mean direction, {what}, {SYSTEMS} systems of {PARTICLES} particles"
    return compare(float(found.mean), expected, bound, text)


@claim(
    "sphere.confined-particles",
    "particles in a confinement have its Gibbs density",
    statement="Without interaction the law of a particle tends to exp(-V/D)/Z.",
    assumptions="a confinement; false alarm with probability 1e-4; the bias of the step measured by halving it",
    source="invariant measure of the overdamped Langevin equation; every scheme, fixed seed",
    hypotheses=confined,
)
def confined_particles(problem: Equation, tools: Tools) -> Evidence:
    """Compare particles simulated to rest, with a step and its half, with the Gibbs density."""
    return worst(_rests(problem.at(coupling=0.0), tools))


def _rests(problem: Equation, tools: Tools) -> Iterator[Evidence]:
    dimension = problem.domain.dimension
    unit = 1.0 / ((dimension - 1) * problem.noise)
    expected = float(gibbs_moments(problem, np.array([1.0, 0.0, 0.0]))[0][1])
    for scheme in schemes(flat=False):
        means, errors = [], []
        for step in (2 * STEP, STEP):
            ensemble = tools.simulate(
                problem, CONFINED_PARTICLES, RESTING * unit, SEED, step=step * unit,
                replicas=CONFINED_SYSTEMS, times=1, degrees=1, scheme=scheme,
            )  # fmt: skip
            found = band(ensemble.cosine[:, -1, 1])
            means.append(float(found.mean))
            errors.append(float(found.standard_error))
        noise = student(1 - FALSE_ALARM, CONFINED_SYSTEMS - 1) * math.hypot(*errors)
        # A bias of order p is the difference of the two over 2^p - 1; its estimate scatters like they do.
        bound = abs(means[0] - means[1]) / (2**scheme.stationary_order - 1) + noise
        yield compare(means[1], expected, bound, f"mean direction at rest, {scheme.name}")
