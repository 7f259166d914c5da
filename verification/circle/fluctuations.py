r"""Finitely many particles: their fluctuations about uniform (T12) and propagation of chaos.

In the uniform phase a mode obeys :math:`dc = -Dk^2(1-\lambda_k)c\,dt + \sqrt{2Dk^2/N}\,dB` as N grows. The scheme
of weak order two takes it from c to :math:`e^{-a}(1+s+s^2/2)c + (1+s/2)\xi`, :math:`a = Dk^2h`,
:math:`s = \lambda_k a`, :math:`N E|\xi|^2 = 1-e^{-2a}`; its stationary variance gives the exact bias of the step.
"""

import math

import numpy as np

from meanfield import Ensemble, Equation

from ..claims import Evidence, Undecided, claim, compare, worst
from ..statistics import band, student
from ..tools import Tools
from .dynamics import bump
from .measures import shares, unit_coupling
from .uniform import attractive

MODES = (1, 2)
# Half the critical coupling: fluctuations of the critical mode are twice as strong as without interaction.
FACTOR = 0.5
SYSTEMS, PARTICLES, SEED = 32, 1000, 20240611
# In units of 1/D; the slowest of these modes forgets its start with the rate 1/2.
STEP, WARM_UP, DURATION = 0.1, 8.0, 40.0
# Probability that a right simulation with another seed would be taken for a wrong one, each mode by itself.
FALSE_ALARM = 1e-4
SIZES = (250, 1000, 4000)
# An exponent that is known no better than this says nothing.
MEANINGFUL = 0.25
# Forces of modes beyond these would be cut off, and are slow to simulate.
SIMULATED_DEGREE, NEGLIGIBLE = 64, 1e-10


def smooth(problem: Equation) -> str | None:
    """Return the reason why the particles of a problem are not simulated, or None if they are."""
    if problem.confinement is not None:
        return "there is a confinement"
    tail = problem.potential.relative_tail_bound(problem.domain, SIMULATED_DEGREE)
    return None if tail <= NEGLIGIBLE else f"particles are simulated for potentials of {SIMULATED_DEGREE} modes"


def smooth_and_attractive(problem: Equation) -> str | None:
    """Return the reason why there is no critical coupling or no simulation of particles, or None."""
    return attractive(problem) or smooth(problem)


@claim(
    "circle.T12",
    "fluctuations in the uniform phase",
    statement="For kappa < min kappa_k, N E|c_k|^2 -> 1/(1 - lambda_k) as N -> infinity.",
    assumptions="uniform phase; smooth potential; false alarm with probability 1e-4 a mode",
    source="Ornstein-Uhlenbeck limit of the modes; 32 systems of 1000 particles with a fixed seed",
    hypotheses=smooth_and_attractive,
)
def uniform_fluctuations(problem: Equation, tools: Tools) -> Evidence:
    """Compare simulated fluctuations with the prediction; the known bias of the time step is in the bound."""
    problem = _uniform_phase(problem)
    ensemble = _simulated(problem, tools)
    if not ensemble.completed.all():
        raise Undecided(f"{int((~ensemble.completed).sum())} of {SYSTEMS} systems did not reach the end")
    found = []
    for mode in MODES:
        share = float(shares(problem, problem.fixed_coupling, mode)[mode])
        limit = 1 / (1 - share)
        squares = PARTICLES * (ensemble.cosine[:, :, mode] ** 2 + ensemble.sine[:, :, mode] ** 2)
        averaged = band(squares.mean(axis=1))
        noise = student(1 - FALSE_ALARM, SYSTEMS - 1) * float(averaged.standard_error)
        # The correction of finite size is of relative order limit/N.
        bound = noise + abs(_stepped_variance(mode, share) - limit) + limit**2 / PARTICLES
        text = f"N E|c_{mode}|^2 over {SYSTEMS} independent systems of {PARTICLES} particles"
        found.append(compare(float(averaged.mean), limit, bound, text))
    return worst(found)


def _simulated(problem: Equation, tools: Tools) -> Ensemble:
    records = np.arange(round(WARM_UP / STEP), round((WARM_UP + DURATION) / STEP) + 1) * (STEP / problem.noise)
    return tools.simulate(
        problem, PARTICLES, float(records[-1]), SEED,
        step=STEP / problem.noise, replicas=SYSTEMS, times=records, degrees=MODES[-1],
    )  # fmt: skip


def _stepped_variance(mode: int, share: float) -> float:
    """Return the stationary N E|c_k|^2 of the scheme of weak order two."""
    decay = math.exp(-(mode**2) * STEP)
    drift = share * mode**2 * STEP
    factor = decay * (1 + drift + drift**2 / 2)
    return (1 + drift / 2) ** 2 * (1 - decay**2) / (1 - factor**2)


def _uniform_phase(problem: Equation) -> Equation:
    return problem.at(coupling=FACTOR * unit_coupling(problem))


@claim(
    "circle.chaos",
    "propagation of chaos",
    statement=(
        "The empirical measure of N particles at a fixed time is at a Wasserstein distance of order N^(-1/2) from "
        "the solution of the equation, in W_1 and in W_2."
    ),
    assumptions="uniform phase, where deviations do not grow; smooth potential; false alarm with probability 1e-4",
    source="Sznitman, Topics in propagation of chaos; 32 replicas of 250, 1000 and 4000 particles, fixed seed",
    hypotheses=smooth,
)
def chaos(problem: Equation, tools: Tools) -> Evidence:
    """Compare the fitted power of N with -1/2; its interval is the bound, and must be short enough."""
    moments = bump(1.0, 0.5)
    found = tools.compare(
        _uniform_phase(problem), (moments.real, -moments.imag), 1.0 / problem.noise,
        particles=SIZES, replicas=SYSTEMS, seed=SEED, confidence=1 - FALSE_ALARM, times=4, degrees=1,
    )  # fmt: skip
    evidence = []
    for name in ("w1", "w2"):
        fit = found.fit(name)
        if fit is None or fit.low is None or fit.high is None:
            raise Undecided(f"no power of N was fitted to {name}")
        half = 0.5 * (fit.high - fit.low)
        if half > MEANINGFUL:
            raise Undecided(f"the exponent of {name} is known to {half:.2g} only")
        evidence.append(compare(fit.exponent, -0.5, half, f"exponent of N in {name} from {SIZES} particles"))
    return worst(evidence)
