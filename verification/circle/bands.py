r"""The errors that a comparison states: coverage of its bands and size of its standard errors.

Without interaction and confinement the particles are independent Brownian motions,

.. math:: E\,\hat c_k(t) = c_k(0)\,e^{-Dk^2t}, \qquad
          \mathrm{var}\,\frac1N\sum_i\cos kX_i = \frac1N\Bigl(\frac{1+m_{2k}}2 - m_k^2\Bigr),

exactly, for every N, and with every step.
"""

import math

import numpy as np
from scipy.special import bdtr, bdtrc, chdtri

from meanfield import Equation

from ..claims import Evidence, claim, compare, worst
from ..tools import Tools
from .dynamics import bump
from .fluctuations import FALSE_ALARM, SEED, smooth

SEEDS, SYSTEMS = 8, 3
# Every size is simulated by itself, so that each gives a band of its own.
SIZES = tuple(range(100, 120))
BANDS = SEEDS * len(SIZES)
CONFIDENCE = 0.7
NAMES = ("m1", "s1", "m2", "s2")


def free(problem: Equation) -> str | None:
    """Return the reason why a problem needs no check of its own for particles without any force, or None."""
    reason = smooth(problem)
    if reason is None and problem.potential.name != "kuramoto":
        return "without interaction all potentials are the same; it is checked once"
    return reason


@claim(
    "circle.bands",
    "confidence bands cover as often as they say",
    statement="Bands of confidence p contain the equation's moments with probability p; N R se^2 is the variance.",
    assumptions="no interaction, where both are exact; false alarm with probability 1e-4",
    source="Student's law of means; 160 times 3 systems of 100 to 119 particles, fixed seeds",
    hypotheses=free,
)
def bands(problem: Equation, tools: Tools) -> Evidence:
    """Count the bands that contain the exact moment, and average the squares of the standard errors."""
    moments, end = bump(1.5, 0.6), 0.4 / problem.noise
    exact = _means(moments, problem.noise * end)[:, np.newaxis]
    inside, squares = np.zeros(len(NAMES), dtype=int), np.zeros(len(NAMES))
    for seed in range(SEEDS):
        found = tools.compare(
            problem.at(coupling=0.0), (moments.real, -moments.imag), end, particles=SIZES,
            replicas=SYSTEMS, seed=SEED + seed, confidence=CONFIDENCE, times=1, degrees=2,
        )  # fmt: skip
        rows = [found.moments.index(name) for name in NAMES]
        low, high, errors = (
            getattr(found.moments, name)[rows, :, -1] for name in ("low", "high", "standard_error")
        )
        inside += ((low <= exact) & (exact <= high)).sum(axis=1)
        squares += (SYSTEMS * np.array(SIZES) * errors**2).sum(axis=1)
    evidence = [_coverage(name, int(count)) for name, count in zip(NAMES, inside, strict=True)]
    variances = _variances(moments, problem.noise * end)
    for name, measured, expected in zip(NAMES, squares / BANDS, variances, strict=True):
        evidence.append(_spread(name, float(measured), float(expected)))
    return worst(evidence)


def _decayed(moments: np.ndarray, time: float) -> np.ndarray:
    return np.asarray(moments * np.exp(-(np.arange(moments.size) ** 2) * time))


def _means(moments: np.ndarray, time: float) -> np.ndarray:
    c = _decayed(moments, time)
    return np.array([c[1].real, -c[1].imag, c[2].real, -c[2].imag])


def _variances(moments: np.ndarray, time: float) -> np.ndarray:
    """Return the variances of cos X, sin X, cos 2X and sin 2X of free particles at a time."""
    c = _decayed(moments, time)
    means = _means(moments, time)
    second = [0.5 * (1 + sign * c[2 * mode].real) for mode in (1, 2) for sign in (1, -1)]
    return np.asarray(np.array(second) - means**2)


def _coverage(name: str, count: int) -> Evidence:
    """Compare the number of bands that contain the exact value with the quantiles of the binomial law."""
    counts = np.arange(BANDS + 1)
    least = int(counts[bdtr(counts, BANDS, CONFIDENCE) > FALSE_ALARM / 2][0])
    most = int(counts[bdtrc(counts, BANDS, CONFIDENCE) < FALSE_ALARM / 2][0])
    expected = CONFIDENCE * BANDS
    bound = (most - expected if count > expected else expected - least) / BANDS
    return compare(count / BANDS, CONFIDENCE, bound, f"share of {BANDS} bands of {name} that contain the moment")


def _spread(name: str, measured: float, expected: float) -> Evidence:
    """Compare the mean squared standard error with the variance; it is nearly chi-squared over its freedom."""
    freedom = BANDS * (SYSTEMS - 1)
    high = float(chdtri(freedom, FALSE_ALARM / 2)) / freedom - 1
    low = 1 - float(chdtri(freedom, 1 - FALSE_ALARM / 2)) / freedom
    text = f"N R times the squared standard error of {name}, mean of {BANDS}"
    # Means of N bounded numbers are normal up to 1/N.
    bound = expected * (max(high, low) + 1 / math.sqrt(SIZES[0] * BANDS))
    return compare(measured, expected, bound, text)
