r"""
Tokens on the sphere
====================

Sixty-four tokens on the unit sphere of :math:`\mathbb R^3`, uniformly drawn, under softmax attention without noise,

.. math:: \dot x_i = P_{x_i} \sum_j \frac{e^{\beta\langle x_i,x_j\rangle}}{\sum_k e^{\beta\langle x_i,x_k\rangle}}\,
          x_j ,

:math:`P_x` being the projection onto the tangent plane. In :math:`d\ge3` dimensions almost every start ends in one
point (Geshkovski, Letrouit, Polyanskiy, Rigollet, *A mathematical perspective on transformers*, 2023). The last
tokens come from opposite to the cluster. Once all are near it, their distances shrink like :math:`e^{-t}` whatever
:math:`\beta` is, and :math:`1 - r`, r being the length of the mean token, like :math:`e^{-2t}`.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from meanfield import ContinuityEquation, Ensemble, SoftmaxAttention, Sphere
from meanfield.plotting import COLOURS, caption, entitle_figure
from solvers import simulate

# %%
# Parameters
# ----------

BETA = 1.0
COUNT = 64
TIMES = (0.0, 3.0, 5.0, 7.0, 15.0)
SEED = 7

# %%
# Problem and solution
# --------------------
# An ensemble keeps positions at its end. The same seed has the same start, so that one run a time shows the same
# tokens on their way.


def problem() -> ContinuityEquation:
    """Return the equation without noise."""
    return ContinuityEquation(Sphere(3), SoftmaxAttention(BETA), noise=0.0, coupling=1.0)


def tokens(until: float) -> Ensemble:
    """Simulate the tokens until a time."""
    return simulate(problem(), COUNT, until, SEED, step=0.05, times=150, degrees=1, keep_positions=True)


# Tokens at time 0 are those after a time in which nothing moves.
clouds = {time: tokens(max(time, 1e-9)) for time in TIMES}
print(clouds[TIMES[-1]].summary())

# %%
# Plot
# ----
# Above the tokens, pale where they are behind the globe, all seen from one side; below one minus the order
# parameter.


def draw(clouds: dict[float, Ensemble]) -> Figure:
    """Draw the tokens at all times on globes, and 1 - r over time."""
    figure = plt.figure(figsize=(10.0, 5.2), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(1.0, 1.1))
    last = clouds[TIMES[-1]]
    assert last.positions is not None
    axis = last.positions[0].mean(axis=0)
    side = np.cross(axis, (0.0, 0.0, 1.0))
    for ax, (time, ensemble) in zip(upper.subplots(1, len(clouds)), clouds.items(), strict=True):
        ensemble.plot_cloud(ax, view=axis + 1.2 * side)
        ax.set_title(f"$t = {time:g}$", fontsize=10)
    ax = lower.subplots()
    remainder = 1.0 - last.order_parameter().mean
    ax.semilogy(last.time, np.where(remainder > 1e-13, remainder, np.nan), color=COLOURS[0], linewidth=1.8)
    late = np.array([9.0, 15.0])
    start = remainder[np.argmin(np.abs(last.time - late[0]))]
    ax.semilogy(late, 5.0 * start * np.exp(-2.0 * (late - late[0])), "k--", linewidth=1.0)
    ax.annotate("$e^{-2t}$", (12.0, 10.0 * start * np.exp(-6.0)), fontsize=11)
    ax.set(xlabel="$t$", ylabel="$1 - r$", xlim=(0.0, TIMES[-1]))
    ax.spines[["top", "right"]].set_visible(False)
    entitle_figure(figure, f"{COUNT} tokens, {caption(problem())}")
    return figure


draw(clouds)
plt.show()

# %%
# Numbers
# -------
# All tokens are in one point at the end, to which they contract at the exact rate.


def check(clouds: dict[float, Ensemble]) -> None:
    """Compare the end and the late rate with theirs."""
    last = clouds[TIMES[-1]]
    assert last.positions is not None
    tokens = last.positions[0]
    assert np.linalg.norm(tokens - tokens[0], axis=1).max() < 1e-3
    remainder = 1.0 - last.order_parameter().mean
    late = (last.time > 11.0) & (remainder > 1e-12)
    slope = -np.polyfit(last.time[late], np.log(remainder[late]), 1)[0]
    # The rate at a distance x from the cluster differs by a share of x^2, less than 2 N (1 - r) = 1e-4.
    assert abs(slope / 2.0 - 1.0) < 1e-4
    assert np.all(np.diff(remainder[remainder > 1e-12]) < 0.0)


check(clouds)
