r"""A small particle system, for the claim on fluctuations only.

.. math:: dX_i = -\kappa\,\frac1N \sum_j W'(X_i - X_j)\,dt + \sqrt{2D}\,dB_i ,

W a cosine series of two modes, so that the drift is a function of the first two moments. Euler-Maruyama acts
on a mode in the linear regime as :math:`c' = e^{-a h}(1 + \lambda a h)c + \text{noise}`, :math:`a = Dk^2`,
whose stationary variance is known exactly: that is the bias of the step.
"""

import math
from dataclasses import dataclass

import numpy as np

from meanfield import McKeanVlasov

MODES = 2
SYSTEMS, PARTICLES, SEED = 16, 2000, 20240611
STEP, WARM_UP, DURATION = 0.02, 6.0, 16.0


@dataclass(frozen=True)
class Fluctuation:
    """N |c_k|^2 averaged over time and over independent systems.

    Attributes
    ----------
    mean, standard_error : float
        Over the systems, each averaged over time.
    step_bias : float
        Relative bias of the time step, exact in the linear regime.
    size_bias : float
        Order of the correction of relative size 1/N with the square of the variance.
    samples, particles : int
        Independent systems and particles in each.
    """

    mean: float
    standard_error: float
    step_bias: float
    size_bias: float
    samples: int
    particles: int


def uniform_fluctuations(problem: McKeanVlasov) -> tuple[Fluctuation, ...]:
    """Simulate independent systems in the uniform phase; modes 1 and 2."""
    generator = np.random.default_rng(np.random.SeedSequence(SEED))
    noise, coupling = problem.noise, problem.fixed_coupling
    weights = np.asarray(problem.potential.multipliers(problem.domain, MODES), dtype=float)[1:]
    step = STEP / noise
    angles = generator.uniform(0.0, 2 * np.pi, size=(SYSTEMS, PARTICLES))
    total = np.zeros((SYSTEMS, MODES))
    warm, steps = round(WARM_UP / STEP), round((WARM_UP + DURATION) / STEP)
    amplitude = math.sqrt(2 * noise * step)
    for index in range(steps):
        wave = np.exp(1j * angles)
        powers = (wave, wave * wave)
        moments = [power.mean(axis=1, keepdims=True) for power in powers]
        if index >= warm:
            total += np.abs(np.hstack(moments)) ** 2
        drift = sum(
            (k * weights[k - 1]) * (power * moment.conj()).imag
            for k, power, moment in zip((1, 2), powers, moments, strict=True)
        )
        angles += coupling * step * drift + amplitude * generator.standard_normal(angles.shape)
    averages = PARTICLES * total / (steps - warm)
    return tuple(_summary(averages[:, k - 1], k, -coupling * weights[k - 1] / (2 * noise)) for k in (1, 2))


def _summary(averages: np.ndarray, mode: int, share: float) -> Fluctuation:
    decay = math.exp(-(mode**2) * STEP)
    scheme = (1 - decay**2) / (1 - (decay * (1 + share * mode**2 * STEP)) ** 2)
    limit = 1 / (1 - share)
    return Fluctuation(
        mean=float(averages.mean()),
        standard_error=float(averages.std(ddof=1) / math.sqrt(averages.size)),
        step_bias=scheme / limit - 1,
        size_bias=limit**2 / PARTICLES,
        samples=averages.size,
        particles=PARTICLES,
    )
