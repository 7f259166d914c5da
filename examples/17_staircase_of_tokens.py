r"""
Tokens climb a staircase
========================

Five tokens with softmax attention on the circle, without noise,

.. math:: \dot\theta_i = \frac{\sum_j \sin(\theta_j-\theta_i)\,e^{\beta\cos(\theta_j-\theta_i)}}
          {\sum_j e^{\beta\cos(\theta_j-\theta_i)}},

end in one point. On the way neighbours meet within a time of order one, and groups at an angle :math:`\Delta` hold
each other for a time :math:`\sim e^{\beta(1-\cos\Delta)}`. In between the energy

.. math:: E = \frac1{N^2}\sum_{ij} e^{\beta(\cos(\theta_i-\theta_j)-1)}

rests at :math:`\sum_k\alpha_k^2`, where :math:`\alpha_k` are the shares of the groups: tokens of one group count
fully, those of different groups hardly at all. When groups i and j meet it rises by :math:`2\alpha_i\alpha_j`.
Steps that last longer than anyone waits are called metastable (Geshkovski, Koubbi, Polyanskiy, Rigollet, *Dynamic
metastability in the self-attention model*, 2024, from where the five tokens are).
"""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

from meanfield import Circle, ContinuityEquation, SoftmaxAttention
from meanfield.plotting import COLOURS, caption
from solvers import simulate

# %%
# Parameters
# ----------
# The sharper attention is, the later is the end. Plateaus are those of two pairs and a single token, of a pair and
# a triple, and of all.

TOKENS = [0.0622, 0.2143, 1.8191, 2.9111, -3.0952]
UNTIL = {4.0: 400.0, 9.0: 1e7}
PLATEAUS = {(2, 2, 1): 0.36, (3, 2): 0.52, (5,): 1.0}

# %%
# Problem and solution
# --------------------
# ``simulate`` has steps of one length, and would need 50 million of them at :math:`\beta=9`; the equation of five
# tokens is stiff and short, and an implicit method of scipy takes some thousand steps to any time.


class Climb(NamedTuple):
    """Times (T,), angles (T, 5) and energies (T,) of the tokens."""

    time: np.ndarray
    angles: np.ndarray
    energy: np.ndarray


def problem(beta: float) -> ContinuityEquation:
    """Return the equation without noise."""
    return ContinuityEquation(Circle(), SoftmaxAttention(beta), noise=0.0, coupling=1.0)


def velocity(beta: float, angles: np.ndarray) -> np.ndarray:
    """Return the velocities of tokens."""
    differences = angles - angles[:, np.newaxis]
    weights = np.exp(beta * (np.cos(differences) - 1.0))
    return np.asarray((weights * np.sin(differences)).sum(axis=1) / weights.sum(axis=1))


def energy(beta: float, angles: np.ndarray) -> np.ndarray:
    """Return the energy of tokens (..., 5)."""
    differences = angles[..., np.newaxis] - angles[..., np.newaxis, :]
    return np.asarray(np.exp(beta * (np.cos(differences) - 1.0)).mean(axis=(-2, -1)))


def climb(beta: float) -> Climb:
    """Follow the tokens to the final time."""
    times = np.geomspace(0.05, UNTIL[beta], 600)
    times[-1] = UNTIL[beta]
    found = solve_ivp(
        lambda _, angles: velocity(beta, angles), (0.0, times[-1]), TOKENS, "LSODA", times, rtol=1e-10, atol=1e-12
    )
    return Climb(times, found.y.T, energy(beta, found.y.T))


climbs = {beta: climb(beta) for beta in UNTIL}

# %%
# Plot
# ----
# Above the energy, below the angles of the tokens. The time is logarithmic, and the steps of the staircase are
# long: at :math:`\beta=9` the last two groups stay apart until four million.


def draw(climbs: dict[float, Climb]) -> Figure:
    """Draw energies and angles over time for both temperatures."""
    figure, axes = plt.subplots(2, 2, figsize=(10.0, 5.8), sharex="col", sharey="row", layout="constrained")
    for (beta, found), (upper, lower) in zip(climbs.items(), axes.T, strict=True):
        for sizes, level in PLATEAUS.items():
            upper.axhline(level, color="0.6", linestyle=":", linewidth=1.0, zorder=1.0)
            squares = " + ".join(f"({size}/5)^2" for size in sizes)
            upper.text(
                0.5,
                level + 0.02,
                f"${squares} = {level:g}$",
                transform=upper.get_yaxis_transform(),
                fontsize=8,
            )
        upper.semilogx(found.time, found.energy, color=COLOURS[0], linewidth=1.8)
        for number, angles in enumerate(found.angles.T):
            # Lines that have met stay visible below each other.
            settings = {"color": COLOURS[number], "linewidth": 4.5 - 0.8 * number}
            lower.semilogx(found.time, np.mod(angles + 0.5, 2.0 * np.pi) - 0.5, **settings)
        upper.set_title(caption(problem(beta)), fontsize=9)
        lower.set(xlabel="$t$", xlim=(found.time[0], found.time[-1]), ylim=(-0.2, np.pi + 0.5))
        lower.set_yticks([0.0, 0.5 * np.pi, np.pi], ["0", r"$\pi/2$", r"$\pi$"])
        for ax in (upper, lower):
            ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set(ylabel="$E$", ylim=(0.0, 1.1))
    axes[1, 0].set_ylabel(r"$\theta_i$")
    return figure


draw(climbs)
plt.show()

# %%
# Numbers
# -------
# The energies on the steps up to the cross terms, and particles simulated at :math:`\beta = 4` against the implicit
# method.

# Times well inside of the steps.
STEPS = {4.0: {50.0: 0.52, 200.0: 0.52, 400.0: 1.0}, 9.0: {7.0: 0.36, 1e3: 0.52, 1e6: 0.52, 1e7: 1.0}}


def check(climbs: dict[float, Climb]) -> None:
    """Compare plateaus and particles."""
    for beta, steps in STEPS.items():
        found = climbs[beta]
        for time, level in steps.items():
            index = np.argmin(np.abs(np.log(found.time / time)))
            assert abs(found.energy[index] - level) < 1e-3, (beta, time, found.energy[index])
        assert np.all(np.diff(found.energy) > -1e-9)
    index = np.argmin(np.abs(climbs[4.0].time - 100.0))
    until = climbs[4.0].time[index]
    (particles,) = simulate(
        problem(4.0), 5, until, 1, initial=TOKENS, step=0.05, times=[until], keep_positions=True
    ).positions
    assert np.abs(np.exp(1j * particles) - np.exp(1j * climbs[4.0].angles[index])).max() < 1e-5


check(climbs)
